//! What is recommended, read again: whoever follows it must be in the mode that it promises. A recommendation was wrong once where
//! SQLAlchemy stands between a URL and its driver, and makes another thing of two words than of one.

use super::*;

/// A file in which a recommendation is put in the place of `{}`, what stands between its lines, and `--driver`.
const FILES: &[(&str, &str, &str, Option<&str>)] = &[
    (".env", "DB_URL=mysql+pymysql://u@db/x?{}\n", "&", None),
    (".env", "DB_URL=mysql+mysqldb://u@db/x?{}\n", "&", None),
    (".env", "DB_URL=mysql+mysqlconnector://u@db/x?use_pure=true&{}\n", "&", None),
    (".env", "DB_URL=mysql+mysqlconnector://u@db/x?use_pure=false&{}\n", "&", None),
    (".env", "DB_URL=mysql+aiomysql://u@db/x?{}\n", "&", None),
    (".env", "DB_URL=mysql+asyncmy://u@db/x?{}\n", "&", None),
    (".env", "DB_URL=jdbc:mysql://db/x?{}\n", "&", None),
    (".env", "DB_URL=jdbc:mariadb://db/x?{}\n", "&", None),
    (".env", "DB_URL=mysql2://u@db/x?{}\n", "&", None),
    (".env", "DB_URL=u@tcp(db)/x?{}\n", "&", None),
    (".env", "DB_URL=mysql://u@db/x?{}\n", "&", Some("rust-sqlx")),
    (".env", "DB_URL=mysql://u@db/x?{}\n", "&", Some("rust-mysql")),
    (".env", "DB_URL=mysql://u@db/x?{}\n", "&", Some("rust-mysql-async")),
    (".env", "DB_URL=mysql://u@db/x?{}\n", "&", Some("node-mysql2")),
    (".env", "DB_URL=mysql://u@db/x?{}\n", "&", Some("node-mysql")),
    (".env", "DB_URL=mysql://u@db/x?{}\n", "&", Some("node-mariadb")),
    ("my.cnf", "[client]\nhost=db\n{}\n", "\n", None),
    ("application.properties", "spring.datasource.url=jdbc:mysql://db/x?{}\n", "&", None),
    ("application.properties", "spring.datasource.url=jdbc:mariadb://db/x?{}\n", "&", None),
    ("database.yml", "p:\n  adapter: mysql2\n  host: db\n  {}\n", "\n  ", None),
    (
        "config.json",
        "{\"p\": {\"username\": \"u\", \"host\": \"db\", \"dialect\": \"mysql\", \"dialectOptions\": { {} }}}\n",
        ", ",
        None,
    ),
    (
        "config.json",
        "{\"p\": {\"username\": \"u\", \"host\": \"db\", \"dialect\": \"mariadb\", \"dialectOptions\": { {} }}}\n",
        ", ",
        None,
    ),
    (
        "db.js",
        "const fs = require('fs');\nconst d = require('mysql2');\nd.createPool({ host: 'db', {} });\n",
        ", ",
        None,
    ),
    (
        "db.js",
        "const fs = require('fs');\nconst d = require('mysql');\nd.createPool({ host: 'db', {} });\n",
        ", ",
        None,
    ),
    (
        "db.js",
        "const fs = require('fs');\nconst d = require('mariadb');\nd.createPool({ host: 'db', {} });\n",
        ", ",
        None,
    ),
    ("db.py", "import pymysql, ssl\npymysql.connect(host='db', {})\n", " ", None),
    ("db.py", "import MySQLdb, ssl\nMySQLdb.connect(host='db', {})\n", " ", None),
    ("db.py", "import mysql.connector\nmysql.connector.connect(host='db', use_pure=True, {})\n", " ", None),
    ("db.py", "import mysql.connector\nmysql.connector.connect(host='db', use_pure=False, {})\n", " ", None),
    ("db.py", "import aiomysql, ssl\naiomysql.connect(host='db', {})\n", " ", None),
    ("db.py", "import asyncmy, ssl\nasyncmy.connect(host='db', {})\n", " ", None),
    ("settings.py", DJANGO, " ", Some("mysqlclient")),
    ("settings.py", DJANGO, " ", Some("pymysql")),
    (
        "settings.py",
        "DATABASES = {'default': {'ENGINE': 'mysql.connector.django', 'HOST': 'db', 'OPTIONS': {'use_pure': True, {}}}}\n",
        " ",
        None,
    ),
    ("db.php", "<?php\nnew PDO('mysql:host=db', 'u', 'p', [{}]);\n", " ", None),
    (
        "db.php",
        "<?php\n$link = mysqli_init();\n{}\n$link->real_connect('db', 'u', 'p', 'x', 3306, null, FLAGS);\n",
        "\n",
        None,
    ),
    (
        "database.php",
        "<?php\nreturn ['p' => ['driver' => 'mysql', 'host' => 'db', 'options' => [{}]]];\n",
        " ",
        None,
    ),
    ("wp-config.php", "<?php\ndefine('DB_NAME', 'x');\ndefine('DB_HOST', 'db');\n{}\n", "\n", None),
    ("db.rb", "require 'mysql2'\nMysql2::Client.new(host: 'db', {})\n", " ", None),
    ("db.pl", "use DBI;\nmy $d = DBI->connect('DBI:mysql:host=db;{}', 'u', 'p');\n", ";", None),
    ("db.pl", "use DBI;\nmy $d = DBI->connect('DBI:MariaDB:host=db;{}', 'u', 'p');\n", ";", None),
];

const DJANGO: &str = "import ssl\nDATABASES = {'default': {'ENGINE': 'django.db.backends.mysql', 'HOST': 'db', 'OPTIONS': {{}}}}\n";

fn looked(name: &str, text: &str, driver: Option<&'static str>, matrix: &Matrix) -> ConfigReview {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(name);
    std::fs::write(&path, text).expect("written");
    look(&ConfigRequest { files: &[path], texts: &[], driver }, matrix)
}

fn filled(text: &str, joint: &str, lines: &[String]) -> String {
    const FLAGS: &str = "flags of real_connect(): ";
    let flags = lines.iter().find_map(|line| line.strip_prefix(FLAGS)).unwrap_or("0");
    let others: Vec<&str> =
        lines.iter().filter(|line| !line.starts_with(FLAGS)).map(String::as_str).collect();
    text.replace("FLAGS", flags).replacen("{}", &others.join(joint), 1)
}

#[test]
fn whoever_does_what_is_recommended_is_in_the_mode_that_it_promises() {
    let matrix = Matrix::built_in().expect("it is built in");
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for (name, text, joint, driver) in FILES {
        let before = looked(name, &filled(text, joint, &[]), *driver, &matrix);
        assert!(!before.connections.is_empty(), "{name}: {text}\n{before:#?}");
        for prediction in before.connections.iter().flat_map(|one| &one.predictions) {
            let Some(fix) = prediction.fix.as_ref().filter(|fix| !fix.set.is_empty()) else { continue };
            tried += 1;
            let followed = filled(text, joint, &fix.set);
            let after = looked(name, &followed, *driver, &matrix);
            let modes: Vec<String> = after
                .connections
                .iter()
                .flat_map(|one| &one.predictions)
                .filter(|one| one.client.id == prediction.client.id)
                .map(|one| match &one.said {
                    PredictedOutcome::Row { row, .. } => row.mode.clone(),
                    other => format!("{other:?}"),
                })
                .collect();
            if modes != [fix.mode] {
                wrong.push(format!(
                    "{} promised {}, and is {modes:?}:\n{followed}",
                    prediction.client.id, fix.mode
                ));
            }
        }
    }
    assert!(tried > 40, "only {tried}");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}
