//! Rows of several files, of which one changes or replaces what another says: what is said of each connection, whichever file it is in.
//! Each kind was a fault once: the file that is replaced was judged as if it decided.

use super::*;

mod code;
mod overrides;
mod takers;

/// Files by their path, and all that is said of them: `file what verdict`, or `file unread`.
struct Row {
    files: Vec<(&'static str, String)>,
    wants: &'static [&'static str],
    /// Words of the reason, where there must be one.
    why: &'static str,
}

const LARAVEL_ENV: &str =
    "APP_NAME=Shop\nDB_CONNECTION=mysql\nDB_HOST=db\nDB_DATABASE=shop\nDB_USERNAME=u\nDB_PASSWORD=geheim\n";

/// Laravel's own `config/database.php`, with these options.
fn laravel(options: &str) -> String {
    format!(
        "<?php\n\nreturn [\n    'default' => env('DB_CONNECTION', 'mysql'),\n    'connections' => [\n        'mysql' => [\n            'driver' => 'mysql',\n            'url' => env('DB_URL'),\n            'host' => env('DB_HOST', '127.0.0.1'),\n            'port' => env('DB_PORT', '3306'),\n            'database' => env('DB_DATABASE', 'forge'),\n            'username' => env('DB_USERNAME', 'forge'),\n            'password' => env('DB_PASSWORD', ''),\n            'unix_socket' => env('DB_SOCKET', ''),\n            'charset' => 'utf8mb4',\n            'options' => {options},\n        ],\n    ],\n];\n"
    )
}

const STOCK: &str = "extension_loaded('pdo_mysql') ? array_filter([\n                PDO::MYSQL_ATTR_SSL_CA => env('MYSQL_ATTR_SSL_CA'),\n            ]) : []";

const CLASS: &str = "class Config:\n    SQLALCHEMY_DATABASE_URI = 'mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem'\n    SQLALCHEMY_TRACK_MODIFICATIONS = False\n";

const EXPORTS: &str = "const fs = require('fs');\nconst tls = { ssl: { ca: fs.readFileSync('/ca.pem'), verifyIdentity: true } };\nmodule.exports = { production: { username: 'u', host: 'db', dialect: 'mysql', dialectOptions: tls } };\n";

fn rows() -> Vec<Row> {
    let mut all = laravel_rows();
    all.extend(rails_rows());
    all.extend(code::url_rows());
    all.extend(code::replaced_rows());
    all.extend(code::importer_rows());
    all.extend(ordinary_rows());
    all.extend(overrides::rows());
    all.extend(takers::rows());
    all
}

/// What a person's fresh set of ordinary files had, and was not read; and what is like it and must not be.
fn ordinary_rows() -> Vec<Row> {
    let one = |name: &'static str, text: &str, wants| row(&[(name, text)], wants, "");
    vec![
        one("config.py", CLASS, &["config.py SQLALCHEMY_DATABASE_URI safe"]),
        one(
            "config.py",
            &format!(
                "{CLASS}class Test(Config):\n    SQLALCHEMY_DATABASE_URI = 'mysql+pymysql://u:geheim@test/x'\n"
            ),
            &["config.py SQLALCHEMY_DATABASE_URI safe", "config.py SQLALCHEMY_DATABASE_URI high"],
        ),
        one(
            "config.py",
            &format!("{CLASS}Config.SQLALCHEMY_DATABASE_URI = make()\n"),
            &["config.py SQLALCHEMY_DATABASE_URI unknown"],
        ),
        one(
            "config.py",
            &format!("{CLASS}    SQLALCHEMY_DATABASE_URI = make()\n"),
            &["config.py SQLALCHEMY_DATABASE_URI unknown"],
        ),
        one(
            "config.py",
            &CLASS.replace("    SQLALCHEMY_DATABASE_URI", "    if PROD:\n        SQLALCHEMY_DATABASE_URI"),
            &["config.py SQLALCHEMY_DATABASE_URI unknown"],
        ),
        one(
            "config.py",
            &CLASS.replace("class Config", "def config()"),
            &["config.py SQLALCHEMY_DATABASE_URI unknown"],
        ),
        one("config.js", EXPORTS, &["config.js production safe"]),
        one("config.js", &format!("{EXPORTS}tls.ssl = undefined;\n"), &["config.js production unknown"]),
        one(
            "config.js",
            &EXPORTS.replace("dialectOptions: tls", "dialectOptions: f({ a: tls })"),
            &["config.js production unknown"],
        ),
        one(
            "db.rb",
            "require 'sequel'\nDB = Sequel.connect('mysql2://u:geheim@db/x')\n",
            &["db.rb Sequel.connect high"],
        ),
        one(
            "db.rb",
            "require 'sequel'\nDB = Sequel.connect('mysql2://u:geheim@db/x', more)\n",
            &["db.rb a text unknown"],
        ),
        one(
            "db.php",
            "<?php\n$p = new PDO('mysql:host=db', 'u', $w, [PDO::MYSQL_ATTR_SSL_CA => __DIR__ . '/ca.pem']);\n",
            &["db.php new PDO() safe"],
        ),
        one(
            "db.php",
            "<?php\n$p = new PDO('mysql:host=db', 'u', $w, [PDO::MYSQL_ATTR_SSL_CA => CA . '/ca.pem']);\n",
            &["db.php new PDO() unknown"],
        ),
        // Files of one line.
        one(
            "config.json",
            "{\"a\":{\"username\":\"u\",\"host\":\"h\",\"dialect\":\"mysql\",\"dialectOptions\":{\"ssl\":{\"ca\":\"x\",\"verifyIdentity\":true}}},\"b\":{\"username\":\"u\",\"host\":\"h\",\"dialect\":\"mysql\"}}",
            &["config.json a safe", "config.json b high"],
        ),
        one(
            "database.php",
            "<?php\nreturn ['a' => ['driver' => 'mysql', 'host' => 'db', 'options' => [PDO::MYSQL_ATTR_SSL_CA => '/ca']], 'b' => ['driver' => 'mysql', 'host' => 'db']];\n",
            &["database.php a safe", "database.php b high"],
        ),
        one(
            "lib.rs",
            "use mysql::*;\nfn main() {\n    let pool = Pool::new(\"mysql://u:geheim@db/x\").unwrap();\n}\n",
            &["lib.rs a text high"],
        ),
        one(
            "Db.java",
            "import java.sql.*;\nclass Db {\n    private static final String URL = \"jdbc:mysql://db/x?sslMode=DISABLED\";\n    Connection c() throws SQLException { return DriverManager.getConnection(URL, \"u\", \"geheim\"); }\n}\n",
            &["Db.java a text high"],
        ),
        one(
            "values.yml",
            "app:\n  url: jdbc:mariadb:loadbalance://a,b/x?sslMode=verify-full&serverSslCert=/ca.pem\n",
            &["values.yml app.url low"],
        ),
        one(
            "values.yml",
            "app: {url: 'jdbc:mariadb://a/x', sslMode: disable, other: jdbc:mariadb://b/y}\n",
            &["values.yml app.other unknown", "values.yml app.url unknown"],
        ),
    ]
}

fn row(files: &[(&'static str, &str)], wants: &'static [&'static str], why: &'static str) -> Row {
    Row { files: files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect(), wants, why }
}

/// What stands in `config/database.php` reaches PDO, and the `.env` is only what it asks.
fn laravel_rows() -> Vec<Row> {
    let literal = laravel("[PDO::MYSQL_ATTR_SSL_CA => '/etc/ssl/ca.pem']");
    let stock = laravel(STOCK);
    let with = |more: &str| format!("{LARAVEL_ENV}{more}");
    let both =
        |env: &str, php: &str, wants, why| row(&[(".env", env), ("config/database.php", php)], wants, why);
    vec![
        row(&[(".env", LARAVEL_ENV)], &[".env DB_CONNECTION (Laravel) high"], ""),
        both(LARAVEL_ENV, &literal, &["config/database.php connections.mysql safe"], ""),
        both(
            &with("MYSQL_ATTR_SSL_CA=/x.pem\n"),
            &literal,
            &["config/database.php connections.mysql safe"],
            "",
        ),
        both(LARAVEL_ENV, &stock, &["config/database.php connections.mysql high"], ""),
        both(&with("MYSQL_ATTR_SSL_CA=\n"), &stock, &["config/database.php connections.mysql high"], ""),
        both(
            &with("MYSQL_ATTR_SSL_CA=/etc/ssl/ca.pem\n"),
            &stock,
            &["config/database.php connections.mysql safe"],
            "",
        ),
        // What is asked for is not handed on.
        both(
            &with("MYSQL_ATTR_SSL_CA=/ca.pem\n"),
            &laravel("[]"),
            &["config/database.php connections.mysql high"],
            "",
        ),
        // What cannot be read decides all the same.
        both(LARAVEL_ENV, &laravel("$options"), &["config/database.php connections.mysql unknown"], ""),
        both(
            LARAVEL_ENV,
            "<?php\nreturn App\\Database::settings();\n",
            &[".env DB_CONNECTION (Laravel) unknown", "config/database.php unread"],
            "config/database.php",
        ),
        both(
            &with("DB_URL=mysql://u:geheim@db/shop?options[1009]=x\n"),
            &stock,
            &[".env DB_URL unknown", "config/database.php connections.mysql unknown"],
            "",
        ),
        // A variable of a container comes over the `.env`.
        row(
            &[
                (".env", LARAVEL_ENV),
                ("config/database.php", &stock),
                ("compose.yml", "services:\n  app:\n    environment:\n      MYSQL_ATTR_SSL_CA: /ca.pem\n"),
            ],
            &["config/database.php connections.mysql unknown", "compose.yml unread"],
            "",
        ),
        // Which of two is loaded is not known.
        row(
            &[
                (".env", LARAVEL_ENV),
                (".env.production", &with("MYSQL_ATTR_SSL_CA=/ca.pem\n")),
                ("config/database.php", &stock),
            ],
            &[
                ".env DB_CONNECTION (Laravel) unknown",
                ".env.production DB_CONNECTION (Laravel) unknown",
                "config/database.php connections.mysql unknown",
            ],
            "config/database.php",
        ),
        row(
            &[
                (".env", &with("MYSQL_ATTR_SSL_CA=/ca.pem\n")),
                (".env.testing", LARAVEL_ENV),
                ("config/database.php", &stock),
            ],
            &[".env.testing DB_CONNECTION (Laravel) unknown", "config/database.php connections.mysql safe"],
            "config/database.php",
        ),
        // An example is loaded by nobody.
        row(
            &[(".env", LARAVEL_ENV), (".env.example", LARAVEL_ENV), ("config/database.php", &stock)],
            &["config/database.php connections.mysql high"],
            "",
        ),
        // Another program's: whether it has a DB_URL is not known.
        row(
            &[("shop/.env", LARAVEL_ENV), ("blog/config/database.php", &literal)],
            &["shop/.env DB_CONNECTION (Laravel) high", "blog/config/database.php connections.mysql unknown"],
            "",
        ),
    ]
}

/// Templates are no connections.
fn rails_rows() -> Vec<Row> {
    let one = |text: &str, wants| row(&[("config/database.yml", text)], wants, "");
    let front = "default: &default\n  adapter: mysql2\n  username: u\n";
    vec![
        one(
            &format!(
                "{front}shared: &shared\n  <<: *default\n  host: db\n  sslca: /ca\nproduction:\n  <<: *shared\n  database: x\n"
            ),
            &["config/database.yml production critical"],
        ),
        one(
            &format!(
                "{front}shared: &shared\n  <<: *default\n  host: db\nproduction:\n  <<: *default\n  host: db\n  database: x\n"
            ),
            &["config/database.yml production high"],
        ),
        // A name that Rails would use is an environment, whoever merges it.
        one(
            &format!(
                "{front}development: &dev\n  <<: *default\n  host: db\n  database: d\ntest:\n  <<: *dev\n  database: t\n"
            ),
            &["config/database.yml development high", "config/database.yml test high"],
        ),
        // With a database of its own it may be connected to by its name.
        one(
            &format!(
                "{front}legacy: &legacy\n  <<: *default\n  host: db\n  database: l\nproduction:\n  <<: *legacy\n  database: p\n"
            ),
            &["config/database.yml legacy high", "config/database.yml production high"],
        ),
        one(
            "legacy:\n  adapter: mysql2\n  host: db\nproduction:\n  adapter: mysql2\n  host: db\n  sslca: /ca\n",
            &["config/database.yml legacy high", "config/database.yml production critical"],
        ),
        // Two levels inside an environment.
        one(
            &format!(
                "{front}production:\n  primary: &primary\n    <<: *default\n    host: db\n    database: p\n  replica:\n    <<: *primary\n    replica: true\n"
            ),
            &["config/database.yml production.primary high", "config/database.yml production.replica high"],
        ),
        // Used by its name elsewhere.
        row(
            &[
                (
                    "config/database.yml",
                    &format!(
                        "{front}rds: &rds\n  <<: *default\n  host: db\nproduction:\n  <<: *rds\n  sslca: /ca\n  database: x\n"
                    ),
                ),
                (
                    "app/models/legacy.rb",
                    "class Legacy < ActiveRecord::Base\n  establish_connection :rds\nend\n",
                ),
            ],
            &[
                "config/database.yml rds high",
                "config/database.yml production critical",
                "app/models/legacy.rb unread",
            ],
            "",
        ),
    ]
}

fn said(files: &[(&'static str, String)]) -> (Vec<String>, String) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, text).expect("written");
        paths.push(path);
    }
    let matrix = Matrix::built_in().expect("it is built in");
    let looked = look(&ConfigRequest { files: &paths, texts: &[], driver: None }, &matrix);
    let front = format!("{}/", dir.path().display());
    let bare = |file: &str| file.strip_prefix(&front).unwrap_or(file).to_owned();
    let of = |one: &Connection| {
        let word = if one.is_unknown() {
            "unknown".to_owned()
        } else {
            one.severity().map_or_else(|| "safe".to_owned(), |severity| severity.to_string())
        };
        format!("{} {} {word}", bare(&one.file), one.found.what)
    };
    let mut all: Vec<String> = looked.connections.iter().map(of).collect();
    let mut unread: Vec<String> =
        looked.unread.iter().map(|one| format!("{} unread", bare(&one.file))).collect();
    unread.sort();
    unread.dedup();
    all.extend(unread);
    all.sort();
    (all, format!("{looked:#?}").replace(&front, ""))
}

#[test]
fn what_another_file_changes_or_replaces_is_not_judged_as_if_it_decided() {
    let mut wrong = Vec::new();
    for (index, row) in rows().iter().enumerate() {
        let (all, shown) = said(&row.files);
        let mut wants: Vec<&str> = row.wants.to_vec();
        wants.sort_unstable();
        // The file of a setting that is not the connection's own.
        let of_others = shown.split("file: Some(").skip(1).filter_map(|rest| rest.split('"').nth(1));
        let has_reason = row.why.is_empty() || of_others.into_iter().any(|file| file.ends_with(row.why));
        if all != wants || !has_reason {
            wrong.push(format!(
                "row {index} said {all:?}, wanted {wants:?} (reason: {has_reason})\n{:?}\n{}",
                row.files,
                if std::env::var_os("SHOW").is_some() { shown.as_str() } else { "" }
            ));
        }
        assert!(!shown.contains("geheim"), "row {index}: a secret is in what was read");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n---\n"));
}
