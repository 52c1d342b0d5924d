//! Rows of what works from afar: signs that readers do not agree on, names that are not the driver's, and what happens to an object
//! after it was made. A driver of each kind was seen to do something else than its settings say, by an outsider.

use super::rows::Row;

const PY: &str = "import os\nimport pymysql\nc = pymysql.connect(host='db', ssl_ca='/ca.pem', ssl_verify_cert=True, ssl_verify_identity=True)\n";
const DJANGO: &str = "import os\nDATABASES = {'default': {'ENGINE': 'mysql.connector.django', 'HOST': 'db', 'OPTIONS': {'use_pure': True, 'ssl_ca': '/ca.pem', 'ssl_verify_cert': True, 'ssl_verify_identity': True}}}\n";
const MCP: &str = "import mysql.connector\nc = mysql.connector.connect(host='db', use_pure=True, ssl_ca='/ca.pem', ssl_verify_cert=True, ssl_verify_identity=True)\n";
const SA: &str = "engine = create_engine('mysql+mysqldb://u@db/x?ssl_mode=VERIFY_IDENTITY&ssl_ca=/ca.pem')\n";
const JS: &str = "const fs = require('fs');\nconst mysql = require('mysql2/promise');\nconst pool = mysql.createPool({ host: 'db', ssl: { ca: fs.readFileSync('/ca.pem'), verifyIdentity: true } });\nmodule.exports = pool;\n";
const PDO: &str = "$p = new PDO('mysql:host=db;dbname=x', 'u', $w, [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem']);\n";
const GO: &str = "package main\nimport (\n\t\"database/sql\"\n)\nfunc main() {\n\tdb, err := sql.Open(\"mysql\", \"u:p@tcp(db)/x?tls=true\")\n}\n";
const SPRING: &str = "spring.datasource.url=jdbc:mysql://db/x";

pub(super) fn rows() -> Vec<Row> {
    let row = |name: &'static str, text: String, want: &'static str| Row { name, text, want, driver: None };
    let unknown = |name: &'static str, text: String| row(name, text, "unknown");
    let sqlx = |text: &str| Row { driver: Some("rust-sqlx"), ..unknown(".env", text.to_owned()) };
    let mut all = vec![
        // As they are, nothing is in doubt.
        row("db.py", PY.into(), "safe"),
        row("settings.py", DJANGO.into(), "safe"),
        row("db.js", JS.into(), "safe"),
        row("db.php", format!("<?php\n{PDO}"), "safe"),
        row("db.php", format!("<?php\nnamespace App;\nuse PDO;\n{PDO}"), "safe"),
        row("db.go", GO.into(), "safe"),
        row("db.py", format!("import logging\nfrom sqlalchemy import create_engine\n{SA}"), "safe"),
        row("db.js", format!("const log = require('./log');\n{JS}log.info('made');\npool.query('SELECT 1');\n"), "safe"),
        // Words that are not the driver's.
        sqlx("DATABASE_URL=mysql://u@db/x?ssl_mode=VERIFY_IDENTITY&ssl_ca=/ca.pem\n"),
        row(".env", "DSN=u:p@tcp(db)/x?%74ls=true\n".into(), "high"),
        unknown("db.php", format!("<?php\n{}", PDO.replace("PDO::MYSQL_ATTR_SSL_CA", "'PDO::MYSQL_ATTR_SSL_CA'"))),
        // The last of two counts.
        row(
            "database.php",
            "<?php\nreturn ['driver' => 'mysql', 'host' => 'db', 'options' => [PDO::MYSQL_ATTR_SSL_CA => '/ca'], 'options' => []];\n".into(),
            "high",
        ),
        row(
            "knexfile.js",
            "module.exports = { client: 'mysql2', connection: { host: 'db', ssl: { ca: 'x', verifyIdentity: true } }, connection: { host: 'db' } };\n".into(),
            "high",
        ),
        // Which host counts decides whether it is a socket.
        row("db.py", "import MySQLdb\nc = MySQLdb.connect(host='Localhost')\n".into(), "high"),
        row("db.py", "import MySQLdb\nL = dict(host='localhost')\nc = MySQLdb.connect(**{**L, 'host': 'db'})\n".into(), "high"),
        row("db.py", "from sqlalchemy import create_engine\ne = create_engine('mysql+mysqldb://localhost/x?host=db')\n".into(), "high"),
        unknown("db.php", "<?php\n$p = new PDO('mysql:host=localhost;host=db', 'u', $w);\n".into()),
        unknown("db.pl", "use DBI;\nmy $d = DBI->connect('DBI:mysql:host=localhost;hostname=db', 'u', 'p');\n".into()),
        unknown("my.cnf", "[client]\nhost=db\nprotocol=socket\n".into()),
        unknown("my.cnf", "[client]\nhost=localhost\nport=3306\n".into()),
        // A module or a class of the same name.
        unknown("db.py", format!("from shopdb import create_engine\n{SA}")),
        unknown("db.py", format!("import shopdb\n{}", SA.replace("create_", "shopdb.create_"))),
        unknown("db.py", PY.replace("c =", "from legacy import *\nc =")),
        unknown("db.php", format!("<?php\nnamespace App;\n{PDO}")),
        unknown("db.go", GO.replace("func main", "var sql opener\nfunc main")),
        unknown("db.go", GO.replace("\t\"database", "\td \"database")),
        // Something else is done to the driver or to what it made.
        unknown("db.py", PY.replace("c =", "import patches\nc =")),
        unknown("settings.py", format!("import tools\n{DJANGO}tools.apply_to_caller()\n")),
        unknown("settings.py", format!("import tools\n{DJANGO}x = tools.apply(vars())\n")),
        unknown("db.py", format!("{PY}c.ssl = False\nc.connect()\n")),
        unknown("db.py", format!("{MCP}c.config(ssl_disabled=True)\nc.reconnect()\n")),
        unknown("db.py", format!("import hooks\nfrom sqlalchemy import create_engine\n{SA}x = hooks.install(engine)\n")),
        unknown("db.js", format!("{JS}require('./patch');\n")),
        unknown("db.js", format!("const tune = require('./tune');\n{JS}tune(pool);\n")),
        unknown("db.js", format!("{JS}pool.pool.x = require('./plain')(pool.pool);\n")),
        unknown("db.php", format!("<?php\n{}", PDO.replace("[PDO", "$o = [PDO").replace("$p =", "@include 'l.php';\n$p ="))),
        unknown(
            "db.php",
            "<?php\n$d = mysqli_init();\n$d->ssl_set(null, null, '/ca', null, null);\n$d->ssl_set(null, null, null, null, null);\n$d->real_connect('db', 'u', $w, 'x', 3306, null, MYSQLI_CLIENT_SSL);\n".into(),
        ),
        unknown(
            "db.py",
            "import ssl\nimport asyncmy\nasync def f():\n    c = ssl.create_default_context(cafile='/ca.pem')\n    p = await asyncmy.create_pool(host='db', ssl=c)\n    c.check_hostname = False\n".into(),
        ),
        // Signs that readers do not agree on.
        unknown("db.py", format!("{PY}# x\rc = None\n")),
        unknown("db.py", format!("# coding: utf-7\n{PY}")),
        unknown("db.js", format!("{JS}// x\u{2028}pool.end()\n")),
        unknown("db.js", format!("{JS}if (pool) /\"/.test(x), y = 1; // \"\n")),
        unknown("db.php", format!("<?php // x ?>\n<?php\n{PDO}")),
        row("db.php", format!("<?php\n{PDO}__halt_compiler();\nnew PDO('mysql:host=db');\n"), "safe"),
        unknown("database.yml", "p:\n  adapter: mysql2\n  host: db\n  sslca: /ca\n  # <%= x %>\n".into()),
        unknown(".env", "DSN=u:p@tcp(db)/x?tls=true\nDSN: u:p@tcp(db)/x\n".into()),
        unknown(".env", "DSN=u:p@tcp(db)/x?tls=true\nN=\"a\nDSN=u:p@tcp(db)/x\n\"\n".into()),
    ];
    for handed_on in [
        "spring.datasource.tomcat.connection-properties=sslMode=VERIFY_IDENTITY",
        "spring.datasource.dbcp2.connection-properties=sslMode=VERIFY_IDENTITY",
        "spring.datasource.data-source-properties.sslMode=VERIFY_IDENTITY",
        "spring.datasource.connectionProperties=sslMode=VERIFY_IDENTITY",
        "spring.datasource.type=a.B\nspring.datasource.hikari.data-source-properties.sslMode=VERIFY_IDENTITY",
    ] {
        all.push(unknown("application.properties", format!("{SPRING}\n{handed_on}\n")));
    }
    all
}
