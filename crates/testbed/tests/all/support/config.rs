//! Settings as applications have them, and every mode of every driver written down in one.
#![allow(dead_code)] // Each test binary uses its part.

use prove::client::{Client, ExpectedValue, Spelt};
use prove::clients::CLIENTS;
use prove::config::{Style, style};

pub const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/config");
/// Of the fixtures; no output may have it.
pub const PASSWORD: &str = "hunter2-is-a-fixture";

/// Settings that look protected, and go on in cleartext with a server that offers no TLS.
pub struct Headline {
    pub file: &'static str,
    pub client: &'static str,
    pub mode: &'static str,
    /// Where the setting stands that looks like it protects.
    pub line: u64,
}

pub const HEADLINES: [Headline; 6] = [
    Headline { file: "aiomysql/db.py", client: "aiomysql", mode: "verified", line: 7 },
    Headline { file: "django/settings.py", client: "mysqlclient", mode: "required", line: 18 },
    Headline { file: "sqlalchemy/.env", client: "mysql-connector-python-c", mode: "verify-cert", line: 3 },
    Headline { file: "mariadb/my.cnf", client: "mariadb-10.11", mode: "ca", line: 6 },
    Headline { file: "rails/database.yml", client: "ruby-mysql2", mode: "verify-identity", line: 6 },
    Headline { file: "go/compose.yml", client: "go-sql-driver", mode: "custom-fallback", line: 6 },
];

/// One mode, in a file of its driver.
pub struct ModeFile {
    pub client: &'static str,
    pub mode: &'static str,
    pub file: &'static str,
    pub text: String,
    pub words: Vec<&'static str>,
}

/// Every way in which every driver's definition spells a mode.
pub fn modes() -> Vec<ModeFile> {
    let mut all = Vec::new();
    for client in CLIENTS {
        let Some(settings) = client.settings else { continue };
        for spelt in settings.spelt {
            all.extend(mode_file(client, spelt));
        }
    }
    assert!(all.len() > 100, "only {}", all.len());
    all
}

fn mode_file(client: &'static Client, spelt: &Spelt) -> Option<ModeFile> {
    let settings = client.settings?;
    let lines = |style: Style| style::write(style, client, spelt, None, style::CA);
    let mut words = Vec::new();
    let python = |call: &str| {
        // A context that is weakened takes more lines, which nobody is ever told to write.
        let has = |wanted: (&str, ExpectedValue)| spelt.settings.contains(&wanted);
        let is_context =
            spelt.settings.iter().any(|(name, is)| *name == "ssl" && matches!(is, ExpectedValue::Word(_)));
        let checks_nothing = has(("ssl.verify_mode", ExpectedValue::Word("CERT_NONE")));
        let is_weakened = is_context && (checks_nothing || has(("ssl.check_hostname", ExpectedValue::Off)));
        let mut lines = lines(Style::Python).join(" ");
        let mut before = String::new();
        if is_weakened {
            let context = lines.trim_start_matches("ssl=").trim_end_matches(',').to_owned();
            before = format!("made = {context}\nmade.check_hostname = False\n");
            if checks_nothing {
                before += "made.verify_mode = ssl.CERT_NONE\n";
            }
            lines = "ssl=made".into();
        }
        let build = match settings.chosen_by {
            Some((name, true)) => format!("{name}=True, "),
            _ => String::new(),
        };
        (
            "db.py",
            format!("import ssl\n{before}{call}(host=\"db1\", password=\"{PASSWORD}\", {build}{lines})\n"),
        )
    };
    let node = |module: &str| {
        let lines = lines(Style::JavaScript).join(", ");
        (
            "db.js",
            format!(
                "const driver = require('{module}');\ndriver.createPool({{ host: 'db1', password: '{PASSWORD}', {lines} }});\n"
            ),
        )
    };
    let query = |front: &str| (".env", format!("DB_URL={front}?{}\n", lines(Style::Query).concat()));
    let (file, text) = match settings.family {
        "pymysql" => python("pymysql.connect"),
        "mysqlclient" => python("MySQLdb.connect"),
        "mysql-connector-python" => python("mysql.connector.connect"),
        "aiomysql" => python("aiomysql.connect"),
        "asyncmy" => python("asyncmy.connect"),
        "node-mysql2" => node("mysql2"),
        "node-mysql" => node("mysql"),
        "node-mariadb" => node("mariadb"),
        "connector-j" => query("jdbc:mysql://db1/x"),
        "mariadb-connector-j" => query("jdbc:mariadb://db1/x"),
        "go-sql-driver" => query(&format!("u:{PASSWORD}@tcp(db1)/x")),
        "rust-mysql" | "rust-mysql-async" | "rust-sqlx" => {
            words.extend(["--driver", settings.family]);
            query(&format!("mysql://u:{PASSWORD}@db1/x"))
        }
        "php-pdo" => (
            "db.php",
            format!(
                "<?php\nnew PDO('mysql:host=db1', 'u', '{PASSWORD}', [{}]);\n",
                lines(Style::Php).join(" ")
            ),
        ),
        "php-mysqli" => {
            let (flags, calls): (Vec<String>, Vec<String>) =
                lines(Style::Php).into_iter().partition(|line| line.starts_with("flags of "));
            let flags = flags
                .first()
                .and_then(|line| line.split_once(": "))
                .map_or("0", |(_, flags)| flags)
                .to_owned();
            let calls = calls.join("\n");
            (
                "db.php",
                format!(
                    "<?php\n$link = mysqli_init();\n{calls}\n$link->real_connect('db1', 'u', '{PASSWORD}', 'x', 3306, null, {flags});\n"
                ),
            )
        }
        "dbd-mysql" => (
            "db.pl",
            format!(
                "DBI->connect('dbi:mysql:host=db1;{}', 'u', '{PASSWORD}');\n",
                lines(Style::Perl).concat()
            ),
        ),
        "dbd-mariadb" => (
            "db.pl",
            format!(
                "DBI->connect('dbi:MariaDB:host=db1;{}', 'u', '{PASSWORD}');\n",
                lines(Style::Perl).concat()
            ),
        ),
        "ruby-mysql2" => {
            let lines = lines(Style::Yaml).join("\n  ");
            (
                "database.yml",
                format!("production:\n  adapter: mysql2\n  host: db1\n  password: {PASSWORD}\n  {lines}\n"),
            )
        }
        _ if !settings.groups.is_empty() => {
            let group = settings.groups.first()?;
            ("my.cnf", format!("[{group}]\npassword={PASSWORD}\n{}\n", lines(Style::OptionFile).join("\n")))
        }
        other => panic!("{other}: where do its settings stand?"),
    };
    Some(ModeFile { client: client.id, mode: spelt.mode, file, text, words })
}
