//! Connection texts: which driver reads one, told by its scheme.

use formats::settings::url::{self, Parts};
use formats::settings::{HOLE, yaml};

use super::nodes;
use super::{
    Choice, ConnectionSettings, Driver, Setting, SettingValue, Style, choose, is_about_tls, is_socket_key,
    obstacle, style,
};
use crate::client::{Client, Settings, Spelt};

/// Schemes that one family reads, with the driver's own words behind the question mark.
// Source: Connector/J 9.5, ConnectionUrl.Type; MariaDB Connector/J 3.5, HaMode.
const SCHEMES: [(&str, &str); 12] = [
    ("jdbc:mysql", "connector-j"),
    ("jdbc:mysql:loadbalance", "connector-j"),
    ("jdbc:mysql:replication", "connector-j"),
    ("jdbc:mysql+srv", "connector-j"),
    ("jdbc:mysql+srv:loadbalance", "connector-j"),
    ("jdbc:mysql+srv:replication", "connector-j"),
    ("jdbc:mariadb", "mariadb-connector-j"),
    ("jdbc:mariadb:sequential", "mariadb-connector-j"),
    ("jdbc:mariadb:loadbalance", "mariadb-connector-j"),
    ("jdbc:mariadb:load-balance-read", "mariadb-connector-j"),
    ("jdbc:mariadb:replication", "mariadb-connector-j"),
    ("mysql2", "ruby-mysql2"),
];

/// Of SQLAlchemy, `mysql+…` and `mariadb+…`.
const DIALECTS: [(&str, &str); 5] = [
    ("pymysql", "pymysql"),
    ("mysqldb", "mysqlclient"),
    ("mysqlconnector", "mysql-connector-python"),
    ("aiomysql", "aiomysql"),
    ("asyncmy", "asyncmy"),
];

/// Who reads `mysql://`: its scheme names no driver.
const ANYBODY: [&str; 6] =
    ["node-mysql2", "node-mysql", "node-mariadb", "rust-sqlx", "rust-mysql", "rust-mysql-async"];

/// The connection of this text, if it is one.
pub(super) fn found(text: &str, line: usize, what: &str) -> Option<ConnectionSettings> {
    let trimmed = text.trim();
    if trimmed.len() < 8 || trimmed.contains('\n') {
        return None;
    }
    by_url(trimmed, line, what).or_else(|| by_dsn(trimmed, line, what))
}

/// What Go's driver is given as its DSN: nothing else could be meant, however short it is.
pub(super) fn of_go(text: &str, line: usize, what: &str) -> Option<ConnectionSettings> {
    url::go_dsn_given(text).map(|parts| go(&parts, text, line, what))
}

fn go(parts: &Parts, text: &str, line: usize, what: &str) -> ConnectionSettings {
    let mut settings = settings(parts, line);
    if let Some(why) = filled_in(text) {
        settings.push(obstacle(line, why));
    }
    match parts.scheme.as_str() {
        "go:unix" => settings.push(Setting::new("socket", SettingValue::Text("in the DSN".into()), line)),
        "go:tcp" | "go:tcp4" | "go:tcp6" => {}
        url::GO_SLASH => settings.push(obstacle(
            line,
            "a slash stands behind its question mark, and the driver takes the last one for the end of the address",
        )),
        _ => settings.push(obstacle(line, "the program dials this network itself, perhaps through a tunnel")),
    }
    ConnectionSettings {
        line,
        what: what.to_owned(),
        driver: Driver::Family("go-sql-driver"),
        host: place(&parts.host),
        settings,
        style: Style::Query,
        front: None,
    }
}

fn by_url(text: &str, line: usize, what: &str) -> Option<ConnectionSettings> {
    // Celery puts a word of its own in front of a URL of SQLAlchemy.
    let of_celery = ["db+", "sqla+"].iter().find_map(|front| {
        text.strip_prefix(front).filter(|rest| rest.starts_with("mysql") || rest.starts_with("mariadb"))
    });
    let is_of_celery = of_celery.is_some();
    let text = of_celery.unwrap_or(text);
    let parts = url::url(text)?;
    let scheme = parts.scheme.as_str();
    let mut settings = settings(&parts, line);
    let driver = if let Some((_, family)) = SCHEMES.iter().find(|(known, _)| *known == scheme) {
        let is_asked_for = |name: &str| parts.params.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
        // MariaDB's driver takes the other's scheme where it is told to.
        Driver::Family(if *family == "connector-j" && is_asked_for("permitMysqlScheme") {
            "mariadb-connector-j"
        } else {
            family
        })
    } else if let Some(dialect) = scheme.strip_prefix("mysql+").or_else(|| scheme.strip_prefix("mariadb+")) {
        match DIALECTS.iter().find(|(known, _)| *known == dialect) {
            Some((_, family)) => {
                settings = by_sqlalchemy(family, settings);
                Driver::Family(family)
            }
            None => Driver::Unknown { why: "its driver is not in the matrix".into(), one_of: vec![] },
        }
    } else if is_of_celery {
        Driver::Unknown {
            why: "SQLAlchemy takes MySQLdb for it, or what is put in its place".into(),
            one_of: vec!["mysqlclient", "pymysql"],
        }
    } else if matches!(scheme, "mysql" | "mariadb") {
        // Node's drivers read a value as JSON, Rust's as a `bool`: these two words are the same to all.
        for setting in &mut settings {
            match &setting.given {
                SettingValue::Text(text) if text == "true" => setting.given = SettingValue::Flag(true),
                SettingValue::Text(text) if text == "false" => setting.given = SettingValue::Flag(false),
                _ => {}
            }
        }
        of_anybody(&settings)
    } else if scheme.starts_with("jdbc:") && (scheme.contains("mysql") || scheme.contains("mariadb")) {
        Driver::Unknown {
            why: "a wrapper stands in front of the driver".into(),
            one_of: vec!["connector-j", "mariadb-connector-j"],
        }
    } else if ["mysql", "maria", "trilogy"].iter().any(|word| scheme.contains(word)) {
        Driver::Unknown { why: "its driver is not in the matrix".into(), one_of: vec![] }
    } else {
        return None;
    };
    // Drivers do not agree on what a fragment is, nor on which of two parameters of one name counts. SQLAlchemy has no fragments.
    if text.contains('#') && !scheme.contains('+') {
        settings.push(obstacle(line, "it has a #, behind which some drivers read nothing"));
    }
    let is_twice = parts.params.iter().enumerate().any(|(at, (key, _))| {
        parts.params.iter().skip(at + 1).any(|(other, _)| other.eq_ignore_ascii_case(key))
    });
    if is_twice && matches!(scheme, "mysql" | "mariadb") {
        settings.push(obstacle(
            line,
            "a parameter stands in it twice, and drivers do not agree which one counts",
        ));
    }
    let hosts = hosts(&parts.host);
    let takes_several = matches!(&driver, Driver::Family("connector-j" | "mariadb-connector-j"));
    if let Some(why) = filled_in(text) {
        settings.push(obstacle(line, why));
    }
    if text.contains(char::is_whitespace) {
        settings
            .push(obstacle(line, "white space stands in it, and what is behind that may be something else"));
    }
    if scheme.contains('+') && !scheme.starts_with("jdbc:") && has_twice(&parts) {
        settings.push(obstacle(line, "SQLAlchemy makes a list of what stands twice"));
    }
    let mut unread = |why: &str| settings.push(obstacle(line, why));
    if hosts.have_settings {
        unread("a host has settings of its own");
    } else if hosts.names.len() > 1 && !takes_several && matches!(driver, Driver::Family(_)) {
        unread("several hosts are named, and this driver takes one");
    }
    // What a name service says is not known here, and one host stands for all.
    let front = (takes_several && hosts.names.len() > 1 && !scheme.contains("+srv")).then(|| {
        let places: Vec<&str> = hosts.names.iter().map(|_| "{host}:{port}").collect();
        format!("{scheme}://{}", places.join(","))
    });
    let host = hosts.names.join(",");
    let mut found = ConnectionSettings {
        line,
        what: what.to_owned(),
        driver,
        host: place(&host),
        settings,
        style: Style::Query,
        front,
    };
    if parts.host.is_empty() {
        super::without_host(&mut found);
    }
    Some(found)
}

fn has_twice(parts: &Parts) -> bool {
    let mut keys: Vec<&str> = parts.params.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair.first() == pair.last())
}

/// Why what is filled in when the program runs may be more than one host, name or value.
fn filled_in(text: &str) -> Option<&'static str> {
    let (front, query) = text.split_once('?').map_or((text, None), |(front, query)| (front, Some(query)));
    let query = query.unwrap_or_default();
    let is_key = |part: &str| part.split_once('=').map_or(part, |(key, _)| key).contains(HOLE);
    // Behind a part of a value that is written out, a variable may well go on with the next parameter.
    let is_open = |part: &str| {
        part.ends_with(HOLE) && part.split_once('=').is_none_or(|(_, value)| value.chars().count() != 1)
    };
    if query.split(['&', ';']).any(|part| is_key(part) || is_open(part)) {
        return Some("a part of its parameters is filled in when the program runs");
    }
    let rest = front.split_once("://").map_or(front, |(_, rest)| rest);
    let is_open = match rest.rsplit_once('/') {
        None => rest.ends_with(HOLE),
        Some((_, last)) => last.ends_with(HOLE) && last.chars().count() > 1,
    };
    (is_open && query.is_empty())
        .then_some("what is filled in at its end when the program runs may hold parameters")
}

/// The hosts of a URL.
struct Hosts {
    names: Vec<String>,
    /// One has words about TLS beside its name.
    have_settings: bool,
}

/// `a,b`, `address=(host=a)(port=1),(host=b,port=1)` and both mixed, as the drivers of Java take them.
fn hosts(text: &str) -> Hosts {
    let mut all = Hosts { names: Vec::new(), have_settings: false };
    let (mut depth, mut is_named) = (0_u32, false);
    let mut word = String::new();
    let mut end = |word: &mut String, depth: u32, is_named: &mut bool| {
        let text = std::mem::take(word);
        let text = text.trim();
        let pair = text.split_once('=').filter(|_| depth > 0);
        match pair {
            Some((key, value)) if key.trim().eq_ignore_ascii_case("host") => {
                all.names.push(value.trim().to_owned());
                *is_named = true;
            }
            Some((key, _)) => all.have_settings |= is_about_tls(key.trim()),
            None if depth == 0
                && !text.is_empty()
                && !text.eq_ignore_ascii_case("address=")
                && !*is_named =>
            {
                all.names.push(text.to_owned());
            }
            None => {}
        }
    };
    for letter in text.chars() {
        match letter {
            '(' => {
                end(&mut word, depth, &mut is_named);
                depth += 1;
            }
            ')' => {
                end(&mut word, depth, &mut is_named);
                depth = depth.saturating_sub(1);
            }
            ',' => {
                end(&mut word, depth, &mut is_named);
                is_named &= depth > 0;
            }
            letter => word.push(letter),
        }
    }
    end(&mut word, depth, &mut is_named);
    all
}

/// A host for people: a hole is what it is.
fn place(host: &str) -> String {
    if host.contains(['(', '=']) { String::new() } else { host.replace(HOLE, "…") }
}

fn settings(parts: &Parts, line: usize) -> Vec<Setting> {
    let mut all = Vec::new();
    for (key, value) in &parts.params {
        // What is one word here is no key of a map.
        if key.contains('.') {
            all.push(obstacle(line, "a dot stands in the name of a parameter"));
            continue;
        }
        // `ssl={"rejectUnauthorized":true}` of Node.
        let inner = if value.starts_with('{') { yaml::read(value.as_bytes()).ok() } else { None };
        match inner.as_deref() {
            Some([object]) => {
                let mut inner = Vec::new();
                nodes::flatten(key, object, &nodes::Plain, &mut inner);
                all.extend(inner.into_iter().map(|setting| Setting { line, ..setting }));
            }
            _ => all.push(Setting::new(key, SettingValue::Text(value.clone()), line)),
        }
    }
    all
}

/// What SQLAlchemy makes keys of one `ssl`.
const OF_SSL: [&str; 6] = ["ssl_ca", "ssl_key", "ssl_cert", "ssl_capath", "ssl_cipher", "ssl_check_hostname"];

/// `ssl_ca` becomes the key `ca` of what the driver gets as `ssl`, and the text of a switch stays a text.
// Source: SQLAlchemy 2.0, lib/sqlalchemy/dialects/mysql/mysqldb.py and mysqlconnector.py, create_connect_args().
fn by_sqlalchemy(family: &str, settings: Vec<Setting>) -> Vec<Setting> {
    if family == "mysql-connector-python" {
        return settings.into_iter().map(|setting| coerced(setting, &COERCED)).collect();
    }
    settings
        .into_iter()
        .map(|mut setting| {
            if OF_SSL.contains(&setting.key.as_str()) {
                setting = coerced(setting, &["ssl_check_hostname"]);
                setting.key = setting.key.replacen("ssl_", "ssl.", 1);
            } else if matches!(&setting.given, SettingValue::Text(text) if matches!(text.to_ascii_lowercase().as_str(), "false" | "0" | "no" | "off")) {
                setting.given = SettingValue::Unread("SQLAlchemy hands it over as a text, and a text is not false".into());
            }
            setting
        })
        .collect()
}

/// What SQLAlchemy makes a `bool` for mysql-connector-python, of all that is about TLS.
const COERCED: [&str; 2] = ["ssl_verify_cert", "use_pure"];

/// As `util.asbool()` says.
fn coerced(setting: Setting, keys: &[&str]) -> Setting {
    let SettingValue::Text(text) = &setting.given else { return setting };
    if !keys.contains(&setting.key.as_str()) {
        return setting;
    }
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "y" | "t" | "1" => Setting { given: SettingValue::Flag(true), ..setting },
        "false" | "no" | "off" | "n" | "f" | "0" => Setting { given: SettingValue::Flag(false), ..setting },
        _ => setting,
    }
}

/// Whether a mode can be written behind the question mark of a URL: where a driver that is given the URL would be in that mode.
/// What stands between the URL and the driver may make another thing of a word, as SQLAlchemy does.
pub(super) fn is_writable(client: &'static Client, settings: &Settings, spelt: &Spelt) -> bool {
    let dialect = DIALECTS.iter().find(|(_, known)| *known == settings.family);
    let scheme = SCHEMES.iter().find(|(_, known)| *known == settings.family);
    let front = match (settings.family, dialect, scheme) {
        ("go-sql-driver", ..) => "u@tcp(h)/d".to_owned(),
        (_, Some((dialect, _)), _) => format!("mysql+{dialect}://h/d"),
        (_, None, Some((scheme, _))) => format!("{scheme}://h/d"),
        _ => "mysql://h/d".to_owned(),
    };
    let [query] = &style::write(Style::Query, client, spelt, None, style::CA)[..] else { return false };
    let Some(mut found) = found(&format!("{front}?{query}"), 1, "") else { return false };
    found.driver = Driver::Family(settings.family);
    super::settle(&mut found);
    match choose(client, &found.settings) {
        Choice::Mode { mode, .. } => mode == spelt.mode,
        Choice::Unknown(_) => false,
    }
}

/// The word in a URL of SQLAlchemy for what its driver is given as a key of `ssl`.
pub(super) fn word_of_sqlalchemy(family: &str, name: &str) -> Option<String> {
    let is_one_of_its =
        DIALECTS.iter().any(|(_, known)| *known == family) && family != "mysql-connector-python";
    let word = name.replacen("ssl.", "ssl_", 1);
    (is_one_of_its && OF_SSL.contains(&word.as_str())).then_some(word)
}

/// Its scheme names none: whose parameters these may be.
fn of_anybody(settings: &[Setting]) -> Driver {
    let knows = |family: &&&str| {
        super::family(family).iter().any(|client| {
            client.settings.is_some_and(|known| {
                let mut others = settings
                    .iter()
                    .filter(|setting| is_about_tls(&setting.key) && !is_socket_key(&setting.key));
                others.all(|setting| known.keys.iter().any(|key| key.name == setting.key))
            })
        })
    };
    let able: Vec<&'static str> = ANYBODY.iter().filter(knows).copied().collect();
    if able.is_empty() {
        return Driver::Unknown {
            why: "no driver that reads such a URL knows its parameters".into(),
            one_of: ANYBODY.to_vec(),
        };
    }
    Driver::Unknown { why: "several drivers read such a URL, each in its own way".into(), one_of: able }
}

fn by_dsn(text: &str, line: usize, what: &str) -> Option<ConnectionSettings> {
    if let Some(parts) = url::go_dsn(text) {
        return Some(go(&parts, text, line, what));
    }
    let parts = url::dsn(text)?;
    let family = match parts.scheme.as_str() {
        "pdo:mysql" => "php-pdo",
        "dbi:mysql" => "dbd-mysql",
        "dbi:mariadb" => "dbd-mariadb",
        _ => return None,
    };
    let is_pdo = family == "php-pdo";
    // PDO's own host is localhost. Without a database it may be any text.
    let is_whole = !text.contains(HOLE);
    let has_no_host = parts.get("host").is_none() && parts.get("hostname").is_none();
    if is_pdo
        && has_no_host
        && parts.get("unix_socket").is_none()
        && !(is_whole && parts.get("dbname").is_some())
    {
        return None;
    }
    let style = if is_pdo { Style::Php } else { Style::Perl };
    // What stands behind `mysql:` is no option of PDO's: those are in its fourth argument.
    let mut settings = settings(&parts, line);
    let hosts: Vec<&String> = parts
        .params
        .iter()
        // PDO takes a word in its own case alone.
        .filter(|(key, _)| {
            key == "host" || (!is_pdo && matches!(key.to_ascii_lowercase().as_str(), "host" | "hostname"))
        })
        .map(|(_, host)| host)
        .collect();
    let has_two_hosts = hosts.windows(2).any(|pair| pair.first() != pair.last());
    settings.retain(|setting| !is_pdo || is_socket_key(&setting.key));
    if has_two_hosts {
        settings.push(obstacle(line, "it names two hosts, and drivers do not agree which of them counts"));
    }
    if !is_pdo {
        let rest = text.splitn(3, ':').nth(2).unwrap_or_default();
        if rest.split(';').any(|part| {
            part.split_once('=').map_or(part, |(key, _)| key).contains(HOLE) && part.contains('=')
                || part.chars().all(|c| c == HOLE) && !part.is_empty()
        }) {
            settings.push(obstacle(line, "a part of it is filled in when the program runs"));
        }
        if text.split(':').nth(1).is_some_and(|driver| driver.contains('(')) {
            settings.push(obstacle(line, "attributes in front of the database are not read"));
        }
    }
    let mut found = ConnectionSettings {
        line,
        what: what.to_owned(),
        driver: Driver::Family(family),
        host: place(&parts.host),
        settings,
        style,
        front: None,
    };
    // `dbi:mysql:name:host:port` is an old way of writing it.
    let rest = text.splitn(3, ':').nth(2).unwrap_or_default();
    if has_no_host && is_whole && (is_pdo || !rest.contains([':', '@'])) {
        super::without_host(&mut found);
    }
    Some(found)
}
