//! A URL in the environment, and code that takes it: the driver is given what the code makes of it.

use formats::settings::code::Variables;
use formats::settings::pairs::Pair;

use super::{Member, Set};
use crate::config::{
    ConnectionSettings, Driver, Setting, SettingValue, Style, beside, forms, is_about_tls, is_socket_key,
    settle,
};

/// A variable that is a connection, and the file that sets it.
pub(super) struct Definition {
    file: usize,
    name: String,
    /// Where the file is an environment and nothing else.
    pair: Option<Pair>,
}

/// How often a URL may be given another name.
const NAMES_MAX: usize = 6;

/// What the code in this file gets for a URL that it asks for: where one file says it, or all say the same.
pub(super) fn variables(set: &Set, index: usize) -> Variables {
    Variables { pairs: answers(set, index), ..Variables::default() }
}

fn answers(set: &Set, index: usize) -> Vec<Pair> {
    let Some(code) = set.members.get(index) else { return vec![] };
    if code.source().is_none() {
        return vec![];
    }
    let mut names: Vec<&str> = definitions(set).iter().map(|one| one.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .filter_map(|name| {
            let all = nearest(set, code, name);
            let first = all.first()?.pair.as_ref()?;
            let is_same = |one: &Definition| one.pair.as_ref().is_some_and(|pair| pair.value == first.value);
            all.iter().all(|one| is_same(one)).then(|| first.clone())
        })
        .collect()
}

/// The files that a program at this place would get the variable from: those that lie nearest to it.
fn nearest<'a>(set: &'a Set, code: &Member, name: &str) -> Vec<&'a Definition> {
    let of = |one: &Definition| set.members.get(one.file);
    let all: Vec<&Definition> = definitions(set).iter().filter(|one| one.name == name).collect();
    // One that is there to be copied counts where there is no other.
    let real: Vec<&Definition> =
        all.iter().copied().filter(|one| of(one).is_some_and(|file| !file.is_example())).collect();
    let all = if real.is_empty() { all } else { real };
    let common = |one: &Definition| of(one).map_or(0, |file| file.common(code));
    let most = all.iter().map(|one| common(one)).max().unwrap_or(0);
    all.into_iter().filter(|one| common(one) == most).collect()
}

fn definitions(set: &Set) -> &[Definition] {
    set.definitions.get_or_init(|| {
        let is_environment = |member: &Member| matches!(member.form.id, "env" | "systemd" | "yaml");
        set.members()
            .filter(|(_, member)| is_environment(member))
            .flat_map(|(file, member)| {
                let pairs = member.pairs();
                let read = (member.form.read)(&member.bytes, &Variables::default());
                let found = read.map(|read| read.found).unwrap_or_default();
                let names: Vec<String> =
                    found.iter().filter_map(|one| variable_of(&one.what)).map(str::to_owned).collect();
                names.into_iter().map(move |name| Definition {
                    file,
                    pair: pairs.iter().rev().find(|pair| pair.key == name).cloned(),
                    name,
                })
            })
            .collect()
    })
}

/// `DATABASE_URL` of `services.web.environment.DATABASE_URL`.
fn variable_of(what: &str) -> Option<&str> {
    let last = what.rsplit('.').next().unwrap_or(what);
    let is_of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    (last.len() >= 3 && last.chars().all(is_of_name)).then_some(last)
}

/// `DATABASE_URL`, `databaseUrl`: a name that a constant has.
fn constant_of(what: &str) -> Option<&str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (what.len() >= 3 && what.chars().all(is_of_name)).then_some(what)
}

/// Code that takes this connection's variable, and does more than hand it on.
pub(super) fn look(set: &Set, index: usize, found: &mut ConnectionSettings) {
    let Some(own) = set.members.get(index) else { return };
    rails(set, own, found);
    let is_environment = matches!(own.form.id, "env" | "systemd" | "yaml") && found.style != Style::Env;
    let is_constant = own.source().is_some() && found.style == Style::Query;
    let variable = if is_environment { variable_of(&found.what) } else { constant_of(&found.what) };
    let Some(variable) = variable.filter(|_| is_environment || is_constant).map(str::to_owned) else {
        return;
    };
    let names = names(set, &variable);
    let mut drivers: Vec<&'static str> = Vec::new();
    for (at, code) in set.members().filter(|(at, code)| *at != index && code.source().is_some()) {
        let is_taker = if is_environment {
            nearest(set, code, &variable).iter().any(|one| one.file == index)
        } else {
            // A constant is taken by a file that has it from there; of other languages than Python any that names it may.
            code.form.id == own.form.id
                && (code.form.id != "python" || super::modules::has_name_of(set, at, index, &variable))
        };
        if !is_taker {
            continue;
        }
        match taken(set, at, code, &variable, &names, found) {
            Taken::Not => {}
            Taken::Plain(driver) => drivers.extend(driver),
            Taken::Changed(obstacle) => return found.settings.push(obstacle),
        }
    }
    drivers.sort_unstable();
    drivers.dedup();
    // Who takes it is known.
    if let ([family], Driver::Unknown { one_of, .. }) = (&drivers[..], &found.driver)
        && one_of.contains(family)
    {
        found.driver = Driver::Family(family);
        settle(found);
    }
}

/// What some code does with a URL.
enum Taken {
    Not,
    /// The driver gets it as it is; which driver, where that is known.
    Plain(Option<&'static str>),
    Changed(Setting),
}

fn taken(
    set: &Set,
    at: usize,
    code: &Member,
    variable: &str,
    names: &[String],
    found: &ConnectionSettings,
) -> Taken {
    let Some(source) = code.source() else { return Taken::Not };
    let mentions: Vec<_> = names
        .iter()
        // What everybody calls a URL is this one only where it is said to be.
        .filter(|name| {
            name.as_str() == variable || !is_general(name) || source.named_by(variable).contains(name)
        })
        .flat_map(|name| source.mentions(name))
        .collect();
    let Some(first) = mentions.iter().min_by_key(|mention| mention.line) else { return Taken::Not };
    // The connections that are only there with it.
    let whole = set.variables(at);
    let mut without = whole.clone();
    without.pairs.retain(|pair| pair.key != variable);
    without.names.retain(|(name, _)| !names.contains(name));
    let has_it = (whole.pairs.len(), whole.names.len()) != (without.pairs.len(), without.names.len());
    let read = |variables: &Variables| {
        let read = crate::config::read_in(&code.name, &code.bytes, variables);
        read.map(|(_, read)| read.found).unwrap_or_default()
    };
    let own = read(&without);
    let built: Vec<ConnectionSettings> =
        if has_it { read(&whole).into_iter().filter(|one| !own.contains(one)).collect() } else { vec![] };
    if let Some(other) = built.iter().find(|one| !is_same(found, one)) {
        let why = "what the driver is given there is more than this URL, or something else";
        return Taken::Changed(code.obstacle(other.line, why));
    }
    if let [one, ..] = &built[..] {
        let family = match one.driver {
            Driver::Family(family) => Some(family),
            Driver::Unknown { .. } => None,
        };
        return Taken::Plain(family);
    }
    let tls = source.first_word(&speaks_of_tls);
    if let Some(line) = tls {
        let why = format!("it takes {variable} (line {}), and says something of TLS besides", first.line);
        return Taken::Changed(code.obstacle(line, &why));
    }
    // A connection of its own may be made of the parts of the URL, without what it says of TLS.
    let is_apart = |one: &&formats::settings::code::Mention| {
        one.within.as_deref().is_some_and(takes_apart)
            || one.then.as_deref().is_some_and(|then| !leaves_it(then))
    };
    let apart = mentions.iter().find(is_apart).map(|one| one.line);
    // What stands on the same line is for the case that the variable is not set.
    let of_its_own = own.iter().find(|one| mentions.iter().all(|mention| mention.line != one.line));
    if let Some(line) = apart.or_else(|| of_its_own.map(|one| one.line)) {
        let why =
            format!("it takes {variable} (line {}), and may connect with parts of it alone", first.line);
        return Taken::Changed(code.obstacle(line, &why));
    }
    // Nothing of this language's drivers is read: what edits texts may edit this one.
    if let Some(line) = source.first_word(&edits_texts).filter(|_| code.form.id == "source") {
        let why =
            format!("it takes {variable} (line {}), and may connect with parts of it alone", first.line);
        return Taken::Changed(code.obstacle(line, &why));
    }
    let mut more = mentions.iter().filter(|one| one.has_more);
    if let Some((line, called)) = more.find_map(|one| Some((one.line, one.within.as_deref()?))) {
        let why = format!("it hands {variable} to {called}() with more that is not read");
        return Taken::Changed(code.obstacle(line, &why));
    }
    Taken::Plain(None)
}

/// Functions that make parts of a URL, or another one.
fn takes_apart(called: &str) -> bool {
    const FUNCTIONS: [&str; 11] = [
        "urlparse",
        "urlsplit",
        "parse",
        "parse_url",
        "parseUrl",
        "URL",
        "URI",
        "make_url",
        "ParseDSN",
        "ConnectionString",
        "from_str",
    ];
    FUNCTIONS.contains(&called.rsplit(['.', ':', '>', '\\']).next().unwrap_or_default())
}

/// Functions of Go, Java, Kotlin, C# and Rust that make another text of one.
fn edits_texts(word: &str) -> bool {
    const EDITING: [&str; 14] = [
        "split",
        "cut",
        "replace",
        "trim",
        "index",
        "substring",
        "substr",
        "regexp",
        "regex",
        "sprintf",
        "format",
        "fields",
        "join",
        "builder",
    ];
    let last = word.rsplit(['.', ':']).next().unwrap_or_default().to_ascii_lowercase();
    // `strings.TrimSpace`, `trim()`: the text as it was.
    last != "trimspace" && last != "trim" && EDITING.iter().any(|name| last.starts_with(name))
        || word.starts_with("regexp.")
}

/// Methods whose result is the URL as it was, or no URL.
fn leaves_it(method: &str) -> bool {
    const METHODS: [&str; 19] = [
        "strip",
        "trim",
        "toString",
        "to_s",
        "get_secret_value",
        "unicode_string",
        "as_str",
        "clone",
        "to_string",
        "unwrap",
        "expect",
        "is_empty",
        "isEmpty",
        "startswith",
        "startsWith",
        "start_with",
        "includes",
        "length",
        "freeze",
    ];
    METHODS.contains(&method)
}

/// Whether code gives the driver this URL as it is.
fn is_same(found: &ConnectionSettings, built: &ConnectionSettings) -> bool {
    let mut own = ConnectionSettings { driver: built.driver.clone(), style: built.style, ..found.clone() };
    settle(&mut own);
    let of = |one: &ConnectionSettings| {
        let mut all: Vec<(String, SettingValue)> =
            one.settings.iter().map(|setting| (setting.key.clone(), setting.given.clone())).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    };
    // What is not known of the URL alone is not known of it in the code either.
    of(&own) == of(built) || (built.obstacle().is_none() && own.obstacle().is_some())
}

/// The names that the URL has in all this code: its variable, and what is given its value.
fn names(set: &Set, variable: &str) -> Vec<String> {
    let mut all = vec![variable.to_owned()];
    let mut done = 0;
    while let Some(name) = all.get(done).cloned().filter(|_| done < NAMES_MAX) {
        done += 1;
        for source in set.members().filter_map(|(_, member)| member.source()) {
            for other in source.named_by(&name) {
                // A name of one letter, or one that everything has, says nothing of where the URL is.
                if other.len() > 1 && !all.contains(&other) && !is_common(&other) {
                    all.push(other);
                }
            }
        }
    }
    all
}

fn is_general(name: &str) -> bool {
    matches!(
        name.to_ascii_lowercase().as_str(),
        "url" | "uri" | "dsn" | "u" | "database" | "db_url" | "conn" | "parsed"
    )
}

fn is_common(name: &str) -> bool {
    matches!(
        name,
        "exports"
            | "default"
            | "value"
            | "name"
            | "config"
            | "settings"
            | "engine"
            | "pool"
            | "db"
            | "app"
            | "client"
            | "connection"
    )
}

/// A word of the code that may be about the TLS of a database.
fn speaks_of_tls(word: &str) -> bool {
    const WORDS: [&str; 6] =
        ["connect_args", "connectargs", "searchparams", "connectionproperties", "ca_cert", "ca_file"];
    if word.len() > 120 || word.contains(char::is_whitespace) || beside::is_of_another(word) {
        return false;
    }
    let small = word.to_ascii_lowercase();
    // What secures the sessions of a web site, or is a URL itself.
    let is_other =
        ["https", "secure_", "_secure", "csrf", "hsts", "redirect"].iter().any(|part| small.contains(part));
    let is_module = matches!(small.as_str(), "ssl" | "tls" | "node:tls" | "crypto/tls");
    let is_url = word.contains("://") || word.contains("@tcp(");
    if is_other || is_url {
        return false;
    }
    is_module
        || WORDS.iter().any(|part| small.contains(part))
        || (is_about_tls(word) && word != "..." && !is_socket_key(word) && !small.contains("password"))
}

/// Rails lays `DATABASE_URL` over the environment of its `database.yml`, word by word, and `ANIMALS_DATABASE_URL` over the one that is
/// called `animals` there.
///
/// # Source
/// `ActiveRecord::DatabaseConfigurations#environment_value_for`, Rails 7.1: an environment with one database has `primary`.
fn rails(set: &Set, own: &Member, found: &mut ConnectionSettings) {
    const VARIABLE: &str = "DATABASE_URL";
    const FILE: &str = "database.yml";
    let is_of = |env: &Member, yaml: &Member| {
        let folder = yaml.folder();
        yaml.file_name() == FILE
            && env.form.id == "env"
            && !env.is_example()
            && (env.folder() == folder
                || folder.split_last().is_some_and(|(last, root)| last == "config" && env.folder() == root))
    };
    let rails_of = |yaml: &Member| {
        let read = (forms::form(FILE).read)(&yaml.bytes, &Variables::default());
        read.map(|read| read.found).unwrap_or_default()
    };
    let variables_of = |what: &str| {
        let name = what.split_once('.').map_or("primary", |(_, name)| name).to_uppercase();
        let of_all = (name == "PRIMARY").then(|| VARIABLE.to_owned());
        [Some(format!("{name}_{VARIABLE}")), of_all].into_iter().flatten().collect::<Vec<_>>()
    };
    if found.what.ends_with(VARIABLE) && own.form.id == "env" {
        let takes = |one: &ConnectionSettings| {
            one.style == Style::Yaml
                && (found.what == VARIABLE || variables_of(&one.what).contains(&found.what))
        };
        let over = set
            .members()
            .filter(|(_, yaml)| is_of(own, yaml))
            .find_map(|(_, yaml)| Some((yaml, rails_of(yaml).into_iter().find(takes)?)));
        if let Some((yaml, over)) = over {
            found.settings.push(yaml.obstacle(over.line, "Rails uses this URL instead of what stands there"));
        }
    } else if found.style == Style::Yaml && own.file_name() == FILE {
        let envs = set.members().map(|(_, env)| env).filter(|env| is_of(env, own));
        for env in envs {
            let pairs = env.pairs();
            let of = |name: &String| pairs.iter().rev().find(|pair| pair.key == *name);
            let Some(pair) = variables_of(&found.what).iter().find_map(of) else { continue };
            let url = crate::config::urls::found(&pair.value, pair.line, &pair.key);
            let says_more =
                url.is_none_or(|url| url.settings.iter().any(|setting| is_about_tls(&setting.key)));
            if says_more {
                let why = format!("Rails uses {} instead of this, and it has a setting of TLS", pair.key);
                return found.settings.push(env.obstacle(pair.line, &why));
            }
        }
    }
}
