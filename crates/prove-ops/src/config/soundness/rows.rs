//! The rows: common forms with their real meaning, and every trap that somebody has thought of.

const JS2: &str = "const mysql = require('mysql2/promise'); const fs = require('fs');\n";
const JSM: &str = "import mariadb from 'mariadb'; import fs from 'fs';\n";
const GOOD_JS2: &str = "ssl: { ca: fs.readFileSync('/ca.pem'), verifyIdentity: true }";
const PY: &str = "import pymysql\n";
const GOOD_PY: &str = "ssl_ca='/ca.pem', ssl_verify_cert=True, ssl_verify_identity=True";
const GOOD_MCP: &str = "use_pure=True, ssl_ca='/ca.pem', ssl_verify_cert=True, ssl_verify_identity=True";
const GOOD_J: &str = "sslMode=VERIFY_IDENTITY&trustCertificateKeyStoreUrl=file:/ca.p12";
const GOOD_MJ: &str = "sslMode=verify-full&serverSslCert=/ca.pem";

/// One file, and what is right to say of it.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) text: String,
    pub(super) want: &'static str,
    /// Of `--driver`.
    pub(super) driver: Option<&'static str>,
}

fn row(name: &'static str, text: impl Into<String>, want: &'static str) -> Row {
    Row { name, text: text.into(), want, driver: None }
}

pub(super) fn rows() -> Vec<Row> {
    let mut all = node_rows();
    all.extend(python_rows());
    all.extend(php_rows());
    all.extend(ruby_and_perl_rows());
    all.extend(java_rows());
    all.extend(other_rows());
    all.extend(hostile_rows());
    all.extend(beside_rows());
    all
}

/// A URL that verifies, and what stands beside it in files of which no form reads all. Seen by an outsider with real drivers.
fn beside_rows() -> Vec<Row> {
    const URL: &str = "jdbc:mysql://db/x?sslMode=VERIFY_IDENTITY";
    const PY_URL: &str = "mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem";
    let file = |name: &'static str, text: &str, want: &'static str| {
        row(name, text.replace("GOPY", PY_URL).replace("GOOD", URL), want)
    };
    let mut all = vec![
        // Nothing beside it.
        file("db.json", r#"{ "url": "GOOD", "user": "u", "password": "geheim", "pool": 5 }"#, "safe"),
        file("app.conf", "db.url=GOOD\ndb.user=u\n", "safe"),
        file("context.xml", "<Context>\n  <Resource url=\"GOOD\" username=\"u\"/>\n</Context>\n", "safe"),
        file("db.json", r#"{ "dsn": "u:geheim@tcp(db)/x?tls=true", "user": "u" }"#, "safe"),
        file("Db.kt", "val url = \"GOOD\"\n", "safe"),
        // Each URL is a connection of its own, also where two are on a line.
        file("db.json", r#"{ "a": "GOOD", "b": "jdbc:mysql://db2/x?sslMode=DISABLED" }"#, "high"),
        file("app.conf", "a=GOOD\nb=jdbc:mysql://db2/x?sslMode=DISABLED\n", "high"),
        // A remark of XML is none.
        file(
            "context.xml",
            "<Context>\n  <!-- url=\"GOOD\" -->\n  <Resource url=\"jdbc:mysql://db/x?useSSL=false\"/>\n</Context>\n",
            "high",
        ),
        file("context.xml", "<Context>\n  <!-- url=\"GOOD\" -->\n</Context>\n", "unknown"),
    ];
    all.extend(
        [
            ("db.json", r#"{ "url": "GOOD", "sslMode": "DISABLED" }"#),
            ("db.json", r#"{ "sslMode": "DISABLED", "url": "GOOD" }"#),
            ("db.json", "{\n  \"url\": \"GOOD\",\n  \"SSL-MODE\": \"DISABLED\"\n}\n"),
            ("db.json", r#"{ "url": "GOOD", "properties": { "sslMode": "DISABLED" } }"#),
            ("db.json", r#"{ "a": { "b": { "sslMode": "DISABLED" } }, "c": { "url": "GOOD" } }"#),
            ("source.json", r#"{ "config": { "database.jdbc.url": "GOOD", "driver.sslMode": "DISABLED" } }"#),
            ("sink.json", r#"{ "config": { "connection.url": "GOOD", "connection.sslMode": "DISABLED" } }"#),
            ("db.json", r#"{ "dsn": "u:geheim@tcp(db)/x?tls=true", "tls": "false" }"#),
            ("db.json", r#"{ "url": "GOPY", "connect_args": { "ssl": null } }"#),
            ("db.json", r#"{ "url": "GOPY", "connect_args": {} }"#),
            ("flyway.conf", "flyway.url=GOOD\nflyway.user=u\nflyway.jdbcProperties.sslMode=DISABLED\n"),
            ("app.conf", "sslMode=DISABLED\nurl=GOOD\n"),
            ("app.conf", "url=GOOD\nsslMode=DISABLED\n"),
            ("app.conf", "url=GOOD\n# sslMode=DISABLED\n"),
            ("app.conf", "url=GOOD\nuseSSL=false\n"),
            ("app.conf", "url=GOOD\nrequire.verification=no\n"),
            ("app.conf", "url = \"GOOD\", \"\\u0073slMode\" = DISABLED\n"),
            ("app.conf", "url=GOOD\ninclude \"more.conf\"\n"),
            ("app.conf", "url = \"GOOD\"${EXTRA}\n"),
            ("app.conf", "url = \"GOOD\"\nurl = ${?DATABASE_URL}\n"),
            (
                "config.json",
                r#"{ "a": { "dialect": "mysql", "username": "u", "host": "h" }, "b": "jdbc:mysql://db2/x" }"#,
            ),
            ("app.conf", "url=GOOD;sslMode=DISABLED\n"),
            ("app.conf", "url=GOOD sslMode=DISABLED\n"),
            ("Db.kt", "val c = HikariConfig().apply {\n    jdbcUrl = \"GOOD\"\n    addDataSourceProperty(\"sslMode\", \"DISABLED\")\n}\n"),
            ("Db.kt", "val c = HikariConfig().apply {\n    addDataSourceProperty(\"sslMode\", \"DISABLED\")\n    jdbcUrl = \"GOOD\"\n}\n"),
            ("Db.kt", "val c = HikariConfig().apply {\n    jdbcUrl = \"GOOD\"\n    more(this)\n}\n"),
            ("context.xml", "<Resource url=\"GOOD\"\n  connectionProperties=\"sslMode=DISABLED;useUnicode=true\"/>\n"),
            ("context.xml", "<Resource connectionProperties=\"sslMode=DISABLED;\" url=\"GOOD\"/>\n"),
            ("context.xml", "<Resource url=\"GOOD\"\n  maxIdle=\"5\"\n  a=\"sslMode=DISABLED\"/>\n"),
            ("context.xml", "<Resource url=\"GOOD\" a=\"&#115;&#115;lMode=DISABLED\"/>\n"),
            ("config.py", "DB = { 'url': 'GOPY', 'connect_args': { 'ssl': None } }\n"),
            ("config.py", "URL = 'GOPY'\nSSL_CA = ''\n"),
            ("config.js", "module.exports = { url: 'mysql2://db/x', sslMode: 'disabled' };\n"),
            ("app.yml", "db:\n  url: GOOD\njdbc:\n  sslMode: DISABLED\n"),
            ("app.yml", "app:\n  datasource:\n    url: GOOD\n  tls: off\n"),
            ("db.properties", "db.url=GOOD\nother.sslMode=DISABLED\n"),
            (".env", "DATABASE_URL=GOPY\nSSL_MODE=disabled\n"),
            (".env", "DATABASE_URL=GOPY\nCONNECT_ARGS={\"ssl\": null}\n"),
            (
                "compose.yml",
                "services:\n  a:\n    environment:\n      DB_URL: GOPY\n    command: [app, --tls=false]\n",
            ),
            (
                "compose.yml",
                "services:\n  a:\n    command: app --ssl-mode=disabled\n    environment:\n      - DB_URL=GOPY\n",
            ),
            ("a.service", "[Service]\nEnvironment=DSN=u:geheim@tcp(db)/x?tls=true\nExecStart=/usr/bin/app --tls=false\n"),
        ]
        .into_iter()
        .map(|(name, text)| file(name, text, "unknown")),
    );
    // What is another system's, or a framework's own.
    all.push(file(".env", "DATABASE_URL=GOPY\nMAIL_TLS=true\nREDIS_URL=rediss://h?ssl=1\n", "safe"));
    all.push(file(
        "application.yml",
        "server:\n  ssl:\n    enabled: false\nspring:\n  datasource:\n    url: GOOD\n",
        "safe",
    ));
    all
}

fn node_rows() -> Vec<Row> {
    let js = |code: &str| row("db.js", format!("{JS2}{code}\n"), "unknown");
    let is = |code: &str, want: &'static str| row("db.js", format!("{JS2}{code}\n"), want);
    let mariadb = |code: &str, want: &'static str| row("db.mjs", format!("{JSM}{code}\n"), want);
    let good = GOOD_JS2;
    vec![
        // What a connection was made with is changed behind its back.
        js(&format!("const c = mysql.createConnection({{ host: 'db', {good} }});\nc.config.ssl = null;")),
        is(
            &format!("require('dotenv').config();\nmysql.createConnection({{ host: 'db', {good} }});"),
            "safe",
        ),
        // Passed over by mysql2, and written for Sequelize all the same.
        is("mysql.createPool({ host: 'db', ssl: { require: true, rejectUnauthorized: false } });", "medium"),
        is("mysql.createPool({ host: 'db', ssl: { require: true, rejectUnauthorized: true } });", "low"),
        js("mysql.createPool({ host: 'db', ssl: { require: true } });"),
        is(
            "mysql.createPool({ host: 'db', ssl: { ca: fs.readFileSync('/ca.pem'), rejectUnauthorized: false, verifyIdentity: true } });",
            "medium",
        ),
        is("mysql.createPool({ host: 'db', ssl: { ca: require('fs').readFileSync('/ca.pem') } });", "low"),
        is(
            "mysql.createPool({ host: 'db', ssl: { ca: fs.readFileSync('/ca.pem').toString(), verifyIdentity: true } });",
            "safe",
        ),
        js(
            "mysql.createPool({ host: 'db', ssl: { ca: fs.readFileSync('/ca.pem').toString().slice(9), verifyIdentity: true } });",
        ),
        is(
            "const db = require('knex')({ client: 'mysql2', connection: { host: 'db', ssl: { rejectUnauthorized: false } } });",
            "medium",
        ),
        // The common forms, each with its real meaning.
        is(&format!("const pool = mysql.createPool({{ host: 'db', user: 'u', {good} }});"), "safe"),
        is(
            "mysql.createPool({ host: 'db', port: 3306, user: 'u', password: process.env.PW, connectionLimit: 5 });",
            "high",
        ),
        is("mysql.createPool({ host: 'db', ssl: { rejectUnauthorized: false } });", "medium"),
        is(&format!("const options = {{ host: 'db', {good} }};\nmysql.createConnection(options);"), "safe"),
        is(
            "const ssl = { ca: fs.readFileSync('/ca.pem'), verifyIdentity: true };\nmysql.createConnection({ host: 'db', ssl });",
            "safe",
        ),
        // The last of several counts, also where it stands behind a spread that this file has.
        is(
            &format!("const base = {{ host: 'db', {good} }};\nmysql.createPool({{ ...base, ssl: false }});"),
            "high",
        ),
        is(
            &format!("const base = {{ host: 'db', ssl: false }};\nmysql.createPool({{ ...base, {good} }});"),
            "safe",
        ),
        is(
            &format!("const base = {{ host: 'db', ssl: false }};\nmysql.createPool({{ {good}, ...base }});"),
            "high",
        ),
        is(&format!("mysql.createPool({{ host: 'db', {good}, ssl: undefined }});"), "high"),
        is(
            &format!("mysql.createPool({{ host: 'db', {good}, ssl: {{ rejectUnauthorized: false }} }});"),
            "medium",
        ),
        // A spread of something that is not in this file.
        js(&format!("mysql.createPool({{ {good}, ...config }});")),
        js(&format!("const base = require('./base');\nmysql.createPool({{ {good}, ...base }});")),
        js(&format!("mysql.createPool({{ host: 'db', {good}, ...(prod ? {{}} : {{ ssl: false }}) }});")),
        // A function in between.
        js(&format!("mysql.createPool(withDefaults({{ host: 'db', {good} }}));")),
        js(&format!("mysql.createPool(Object.assign({{ host: 'db', {good} }}, extra));")),
        js(&format!("const o = {{ host: 'db', {good} }};\nweaken(o);\nmysql.createPool(o);")),
        // Changed, set again, conditional.
        js(&format!("const o = {{ host: 'db', {good} }};\no.ssl = false;\nmysql.createPool(o);")),
        js(&format!("const o = {{ host: 'db', {good} }};\ndelete o.ssl;\nmysql.createPool(o);")),
        js(&format!(
            "const o = {{ host: 'db', {good} }};\nconst p = o;\np.ssl = false;\nmysql.createPool(o);"
        )),
        js(&format!("let o;\nif (prod) o = {{ host: 'db', {good} }};\nmysql.createPool(o);")),
        js(&format!("let o;\nif (prod) {{ o = {{ host: 'db', {good} }}; }}\nmysql.createPool(o);")),
        js(&format!("let o = {{ host: 'db', {good} }};\no ||= other;\nmysql.createPool(o);")),
        js(
            "const ssl = { ca: fs.readFileSync('/ca.pem'), verifyIdentity: true };\nfunction make(ssl) { return mysql.createPool({ host: 'db', ssl }); }\nmake(false);",
        ),
        js(
            "const ssl = { ca: fs.readFileSync('/ca.pem'), verifyIdentity: true };\nconst make = (ssl) => mysql.createPool({ host: 'db', ssl });\nmake(false);",
        ),
        js(
            "const ssl = { ca: fs.readFileSync('/ca.pem'), verifyIdentity: true };\nconst make = ({ ssl }) => mysql.createPool({ host: 'db', ssl });",
        ),
        js(&format!("mysql.createPool({{ host: 'db', [key]: 1, {good} }});")),
        js(
            "mysql.createPool({ host: 'db', ssl: { ca: fs.readFileSync('/ca.pem'), verifyIdentity: true, checkServerIdentity: () => undefined } });",
        ),
        js(
            "mysql.createPool({ host: 'db', ssl: { ca: fs.readFileSync('/ca.pem'), verifyIdentity: prod } });",
        ),
        js(
            "mysql.createPool({ host: 'db', ssl: prod ? { ca: fs.readFileSync('/ca.pem'), verifyIdentity: true } : undefined });",
        ),
        js("mysql.createPool({ host: 'db', ssl: 'Amazon RDS' });"),
        js(&format!("mysql.createPool({{ host: 'db', {good}, someNewOption: 1 }});")),
        js(&format!("mysql.createPool({{ uri: 'mysql://u:geheim@db/x', {good} }});")),
        js(&format!("mysql.createPool({{ uri: process.env.URL, {good} }});")),
        js(
            "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';\nmysql.createPool({ host: 'db', ssl: { ca: fs.readFileSync('/ca.pem'), verifyIdentity: true } });",
        ),
        // Whose words these are: by import alone.
        row(
            "db.js",
            format!(
                "const driver = process.argv[2] === 'mysql2' ? 'mysql' : 'mariadb';\nconst mysql = require(driver);\nmysql.createPool({{ host: 'db', {good} }});\n"
            ),
            "unknown",
        ),
        row(
            "db.js",
            format!(
                "// uses mysql2\nconst name = 'mysql2';\nconst mysql = require('./db');\nmysql.createPool({{ host: 'db', {good} }});\n"
            ),
            "unknown",
        ),
        row(
            "db.js",
            "const mysql = require('mysql');\nconst maria = require('mariadb');\nmysql.createPool({ host: 'db', ssl: { rejectUnauthorized: false } });\n",
            "medium",
        ),
        mariadb("mariadb.createPool({ host: 'db', ssl: { ca: fs.readFileSync('/ca.pem') } });", "safe"),
        mariadb("mariadb.createPool({ host: 'db', ssl: true });", "safe"),
        mariadb(
            "mariadb.createPool({ host: 'db', ssl: { ca: fs.readFileSync('/ca.pem'), checkServerIdentity: noop } });",
            "unknown",
        ),
        mariadb(
            "const base = { host: 'db', ssl: true };\nmariadb.createPool({ ...base, ssl: false });",
            "high",
        ),
        mariadb("mariadb.createPool({ ...base, ssl: true, ...more });", "unknown"),
        // Libraries that hand on.
        row(
            "knexfile.js",
            "module.exports = { client: 'mysql2', connection: { host: 'db', ssl: { rejectUnauthorized: false } } };\n",
            "medium",
        ),
        row(
            "knexfile.js",
            format!(
                "const fs = require('fs');\nmodule.exports = merge({{ client: 'mysql2', connection: {{ host: 'db', {good} }} }}, local);\n"
            ),
            "unknown",
        ),
        row(
            "knexfile.js",
            format!(
                "const fs = require('fs');\nmodule.exports = {{ client: 'mysql2', connection: async () => ({{ host: 'db', {good} }}) }};\n"
            ),
            "unknown",
        ),
        row(
            "config.json",
            "{ \"production\": { \"dialect\": \"mysql\", \"username\": \"u\", \"database\": \"x\", \"host\": \"db\", \"dialectOptions\": { \"ssl\": { \"rejectUnauthorized\": false } } } }\n",
            "medium",
        ),
        row(
            "config.json",
            "{ \"production\": { \"dialect\": \"mysql\", \"username\": \"u\", \"database\": \"x\", \"host\": \"db\", \"ssl\": true } }\n",
            "unknown",
        ),
        row(
            "config.json",
            "{ \"production\": { \"dialect\": \"mysql\", \"use_env_variable\": \"DB\", \"dialectOptions\": { \"ssl\": { \"ca\": \"x\", \"verifyIdentity\": true } } } }\n",
            "unknown",
        ),
    ]
}

fn python_rows() -> Vec<Row> {
    let py = |code: &str, want: &'static str| row("db.py", format!("{PY}{code}\n"), want);
    let good = GOOD_PY;
    let connector =
        |code: &str, want: &'static str| row("db.py", format!("import mysql.connector\n{code}\n"), want);
    let aio = |module: &str, code: &str, want: &'static str| {
        row("db.py", format!("import ssl\nimport {module}\n{code}\n"), want)
    };
    let mysqlclient = |row: Row| Row { driver: Some("mysqlclient"), ..row };
    let django = |rest: &str, want: &'static str| {
        mysqlclient(row(
            "settings.py",
            format!(
                "DATABASES = {{'default': {{'ENGINE': 'django.db.backends.mysql', 'HOST': 'db', 'OPTIONS': {{'ssl_mode': 'VERIFY_IDENTITY', 'ssl': {{'ca': '/ca.pem'}}}}}}}}\n{rest}"
            ),
            want,
        ))
    };
    // Whose driver is not said: what both do.
    let either = |options: &str, rest: &str, want: &'static str| {
        row(
            "settings.py",
            format!(
                "{rest}DATABASES = {{'default': {{'ENGINE': 'django.db.backends.mysql', 'HOST': 'db', 'OPTIONS': {options}}}}}\n"
            ),
            want,
        )
    };
    let ca = "{'ssl': {'ca': '/ca.pem'}}";
    vec![
        // A dictionary that is spread in Django's settings, in its place.
        mysqlclient(row(
            "settings.py",
            "C = {'ENGINE': 'django.db.backends.mysql', 'HOST': 'db'}\nT = {'OPTIONS': {'ssl_mode': 'VERIFY_IDENTITY', 'ssl': {'ca': '/ca'}}}\nDATABASES = {'default': {**C, **T, 'NAME': 'x'}}\n",
            "safe",
        )),
        mysqlclient(row(
            "settings.py",
            "C = dict(ENGINE='django.db.backends.mysql', HOST='db')\nT = {'OPTIONS': {'ssl_mode': 'VERIFY_IDENTITY', 'ssl': {'ca': '/ca'}}}\nDATABASES = {'default': {**C, **T, 'OPTIONS': {}}}\n",
            "high",
        )),
        mysqlclient(row(
            "settings.py",
            "C = {'ENGINE': 'django.db.backends.mysql', 'HOST': 'db'}\nT = {'OPTIONS': {'ssl_mode': 'VERIFY_IDENTITY', 'ssl': {'ca': '/ca'}}}\nT['OPTIONS'] = {}\nDATABASES = {'default': {**C, **T}}\n",
            "unknown",
        )),
        mysqlclient(row(
            "settings.py",
            "T = {'OPTIONS': {'ssl_mode': 'VERIFY_IDENTITY', 'ssl': {'ca': '/ca'}}}\nDATABASES = {'default': {'ENGINE': 'django.db.backends.mysql', **T, **other()}}\n",
            "unknown",
        )),
        either(ca, "", "unknown"),
        either("{'ssl_mode': 'VERIFY_IDENTITY', 'ssl': {'ca': '/ca.pem'}}", "", "unknown"),
        either("{}", "", "high"),
        either("{'charset': 'utf8mb4'}", "", "high"),
        either(ca, "import pymysql\npymysql.install_as_MySQLdb()\n", "safe"),
        either(
            ca,
            "try:\n    import MySQLdb\nexcept ImportError:\n    import pymysql\n    pymysql.install_as_MySQLdb()\n",
            "unknown",
        ),
        either(ca, "import pymysql\nif OLD: pymysql.install_as_MySQLdb()\n", "unknown"),
        either(ca, "import mine as pymysql\npymysql.install_as_MySQLdb()\n", "unknown"),
        mysqlclient(either(ca, "", "critical")),
        Row { driver: Some("pymysql"), ..either(ca, "", "safe") },
        // A driver that Django's engine does not load is for other files.
        Row { driver: Some("node-mysql2"), ..either(ca, "", "unknown") },
        // Which of the two builds connects is not said: what both do.
        connector(&format!("c = mysql.connector.connect(host='db', {GOOD_PY})"), "safe"),
        connector(
            "c = mysql.connector.connect(host='db', ssl_ca='/ca.pem', ssl_verify_cert=True)",
            "unknown",
        ),
        connector(
            "c = mysql.connector.connect(host='db', use_pure=False, ssl_ca='/ca.pem', ssl_verify_cert=True)",
            "critical",
        ),
        connector(
            "c = mysql.connector.connect(host='db', use_pure=True, ssl_ca='/ca.pem', ssl_verify_cert=True)",
            "low",
        ),
        row(
            ".env",
            "URL=mysql+mysqlconnector://u:geheim@db/x?ssl_ca=/ca&ssl_verify_cert=true&ssl_verify_identity=true\n",
            "unknown",
        ),
        // Contexts of PyMySQL, and dictionaries whose CA a word beside them takes away.
        py(
            "import ssl\npymysql.connect(host='db', ssl=ssl.create_default_context(cafile='/ca.pem'))",
            "safe",
        ),
        py("import ssl\npymysql.connect(host='db', ssl=ssl.create_default_context())", "safe"),
        py(
            "import ssl\nc = ssl.create_default_context(cafile='/ca.pem')\nc.check_hostname = False\npymysql.connect(host='db', ssl=c)",
            "low",
        ),
        py(
            "import ssl\nc = ssl.create_default_context(cafile='/ca.pem')\nc.check_hostname = False\nc.verify_mode = ssl.CERT_NONE\npymysql.connect(host='db', ssl=c)",
            "medium",
        ),
        py(
            "import ssl\nc = ssl.create_default_context(cafile='/ca.pem')\nweaken(c)\npymysql.connect(host='db', ssl=c)",
            "unknown",
        ),
        py("pymysql.connect(host='db', ssl={})", "high"),
        py("pymysql.connect(host='db', ssl=True)", "unknown"),
        row(
            "db.py",
            "from sqlalchemy import create_engine\ne = create_engine('mysql+pymysql://u:geheim@db/x?ssl_ca=/ca&ssl_verify_cert=true&ssl_verify_identity=true')\n",
            "low",
        ),
        // Nothing, or off, inside of a value is no absence: the driver finds the word.
        py("pymysql.connect(host='db', ssl={'ca': '/ca.pem', 'check_hostname': None})", "unknown"),
        py(
            "pymysql.connect(host='db', ssl={'ca': '/ca.pem', 'check_hostname': False, 'verify_mode': False})",
            "medium",
        ),
        py("pymysql.connect(host='db', ssl={'ca': ''})", "unknown"),
        py("pymysql.connect(host='db', ssl={'ca': '', 'check_hostname': False})", "unknown"),
        py("pymysql.connect(host='db', ssl={'ca': '/ca.pem'}, ssl_ca=None, charset=None)", "safe"),
        row(
            "db.py",
            "import asyncmy\nasyncmy.connect(host='db', ssl={'ca': '/ca.pem', 'check_hostname': None})\n",
            "unknown",
        ),
        row("db.py", "import MySQLdb\nMySQLdb.connect(host='db', ssl={'ca': ''})\n", "unknown"),
        // The class says which build connects, and asyncio is a third one.
        row(
            "db.py",
            format!("from mysql.connector import MySQLConnection\nMySQLConnection(host='db', {GOOD_PY})\n"),
            "safe",
        ),
        row(
            "db.py",
            "from mysql.connector import MySQLConnection\nMySQLConnection(host='db', ssl_ca='/ca.pem', ssl_verify_cert=True)\n",
            "low",
        ),
        row(
            "db.py",
            format!(
                "from mysql.connector import MySQLConnection\nMySQLConnection(host='db', use_pure=False, {GOOD_PY})\n"
            ),
            "unknown",
        ),
        row(
            "db.py",
            format!("import mysql.connector.aio\nmysql.connector.aio.connect(host='db', {GOOD_PY})\n"),
            "unknown",
        ),
        row(
            "settings.py",
            "DATABASES = {'default': {'ENGINE': 'mysql.connector.django', 'HOST': 'db', 'OPTIONS': {'ssl_ca': '/ca', 'ssl_verify_cert': True}}}\n",
            "unknown",
        ),
        // A module of the project's own that is loaded behind it.
        django("import local\n", "unknown"),
        django("from .local import SECRET\n", "unknown"),
        django("import logging\nfrom django.utils.translation import gettext_lazy as _\n", "safe"),
        py(&format!("c = pymysql.connect(host='db', user='u', password=pw, {good})"), "safe"),
        py("c = pymysql.connect(host='db', user='u', charset='utf8mb4', autocommit=True)", "high"),
        py("c = pymysql.connect(host='db', ssl_ca='/ca.pem')", "high"),
        py(&format!("OPTIONS = dict(host='db', {good})\nc = pymysql.connect(**OPTIONS)"), "safe"),
        py(
            &format!(
                "OPTIONS = dict(host='db', {good})\nOPTIONS.update(ssl_disabled=True)\nc = pymysql.connect(**OPTIONS)"
            ),
            "unknown",
        ),
        py(
            &format!(
                "OPTIONS = dict(host='db', {good})\nOPTIONS |= {{'ssl_disabled': True}}\nc = pymysql.connect(**OPTIONS)"
            ),
            "unknown",
        ),
        py(
            &format!(
                "OPTIONS = dict(host='db', {good})\ndel OPTIONS['ssl_verify_cert']\nc = pymysql.connect(**OPTIONS)"
            ),
            "unknown",
        ),
        py(
            &format!(
                "OPTIONS = dict(host='db', {good})\nOPTIONS.pop('ssl_verify_cert')\nc = pymysql.connect(**OPTIONS)"
            ),
            "unknown",
        ),
        py(
            &format!("OPTIONS = dict(host='db', {good})\nweaken(OPTIONS)\nc = pymysql.connect(**OPTIONS)"),
            "unknown",
        ),
        py(
            &format!("if PROD:\n    OPTIONS = dict(host='db', {good})\nc = pymysql.connect(**OPTIONS)"),
            "unknown",
        ),
        py(&format!("c = pymysql.connect(host='db', {good}, **extra)"), "unknown"),
        py(
            &format!("def make(**kwargs):\n    return pymysql.connect(host='db', {good}, **kwargs)"),
            "unknown",
        ),
        py(&format!("c = pymysql.connect(*args, {good})"), "unknown"),
        py(&format!("c = pymysql.connect(host='db', {good}, ssl_disabled=DISABLED)"), "unknown"),
        py(&format!("c = pymysql.connect(host='db', {good}, ssl_disabled=True)"), "unknown"),
        py("KEY = 'x'\nc = pymysql.connect(**{'host': 'db', KEY: 1})", "unknown"),
        py(
            "def connect(ssl_verify_cert=True):\n    return pymysql.connect(host='db', ssl_ca='/ca.pem', ssl_verify_cert=ssl_verify_cert)\nssl_verify_cert = True",
            "unknown",
        ),
        py(
            &format!(
                "import functools\nmake = functools.partial(pymysql.connect, {good})\nmake(host='db', ssl_verify_cert=False)"
            ),
            "unknown",
        ),
        row("db.py", format!("import mydb as pymysql\nc = pymysql.connect(host='db', {good})\n"), "unknown"),
        row("db.py", "import pymysql as db\nc = db.connect(host='db', ssl_ca='/ca.pem')\n", "high"),
        row("db.py", "from pymysql import connect\nc = connect(host='db', ssl_ca='/ca.pem')\n", "high"),
        row("db.py", "import MySQLdb\nc = MySQLdb.connect(host='db', ssl_mode='REQUIRED')\n", "critical"),
        row("db.py", "import MySQLdb\nc = MySQLdb.connect('db', 'u', 'geheim', 'x')\n", "high"),
        row(
            "db.py",
            "import MySQLdb\nc = MySQLdb.connect(host='db', ssl={'ca': '/ca.pem', **more})\n",
            "unknown",
        ),
        connector(&format!("c = mysql.connector.connect(host='db', {GOOD_MCP})"), "safe"),
        connector(
            &format!("c = mysql.connector.connect(host='db', {GOOD_MCP}, ssl_disabled=True)"),
            "unknown",
        ),
        connector(
            "config = {'host': 'db', 'use_pure': True}\nconfig['ssl_ca'] = '/ca.pem'\nc = mysql.connector.connect(**config)",
            "unknown",
        ),
        connector(
            &format!(
                "c = mysql.connector.connect(host='db', {GOOD_MCP}, failover=[{{'host': 'b', 'ssl_disabled': True}}])"
            ),
            "unknown",
        ),
        connector(
            &format!("c = mysql.connector.connect(host='db', {GOOD_MCP}, pool_name='p', pool_size=3)"),
            "safe",
        ),
        aio(
            "aiomysql",
            "ctx = ssl.create_default_context(cafile='/ca.pem')\nasync def go():\n    return await aiomysql.connect(host='db', ssl=ctx)",
            "critical",
        ),
        aio(
            "asyncmy",
            "ctx = ssl.create_default_context(cafile='/ca.pem')\nctx.check_hostname = False\nctx.verify_mode = ssl.CERT_NONE\nasyncmy.connect(host='db', ssl=ctx)",
            "medium",
        ),
        aio(
            "asyncmy",
            "ctx = ssl.create_default_context(cafile='/ca.pem')\nif DEBUG:\n    ctx.check_hostname = False\nasyncmy.connect(host='db', ssl=ctx)",
            "unknown",
        ),
        aio(
            "asyncmy",
            "ctx = ssl.create_default_context(cafile='/ca.pem')\nweaken(ctx)\nasyncmy.connect(host='db', ssl=ctx)",
            "unknown",
        ),
        aio(
            "asyncmy",
            "ctx = ssl.create_default_context(cafile='/ca.pem')\nssl._create_default_https_context = None\nasyncmy.connect(host='db', ssl=ctx)",
            "unknown",
        ),
        row(
            "db.py",
            "engine = create_engine('mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem&ssl_verify_cert=true&ssl_verify_identity=true', pool_pre_ping=True)\n",
            "low",
        ),
        row(
            "db.py",
            "from sqlalchemy import create_engine\nengine = create_engine('mysql+pymysql://u:geheim@db/x', connect_args={'ssl_ca': '/ca.pem', 'ssl_verify_cert': True, 'ssl_verify_identity': True}, pool_recycle=60)\n",
            "safe",
        ),
        row(
            "db.py",
            "from sqlalchemy import create_engine\nengine = create_engine('mysql+pymysql://u:geheim@db/x', connect_args={'ssl_ca': '/ca.pem', 'ssl_verify_cert': True, 'ssl_verify_identity': True}, creator=make)\n",
            "unknown",
        ),
        row(
            "db.py",
            "from sqlalchemy import create_engine\nengine = create_engine('mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem', connect_args=ARGS)\n",
            "unknown",
        ),
        row(
            "db.py",
            "from sqlalchemy import create_engine\nengine = create_engine('mysql+mysqldb://u:geheim@db/x?ssl_ca=' + CA)\n",
            "unknown",
        ),
        row(
            "db.py",
            "from sqlalchemy import create_engine, event\nengine = create_engine('mysql+pymysql://u:geheim@db/x', connect_args={'ssl_ca': '/ca.pem', 'ssl_verify_cert': True, 'ssl_verify_identity': True})\n@event.listens_for(engine, 'do_connect')\ndef receive(dialect, record, cargs, cparams):\n    cparams.pop('ssl_ca')\n",
            "unknown",
        ),
        django("", "safe"),
        django("DATABASES['default']['OPTIONS'] = {}\n", "unknown"),
        django("DATABASES['default'].update(OPTIONS={})\n", "unknown"),
        django("from .local import *\n", "unknown"),
        django("del DATABASES['default']['OPTIONS']\n", "unknown"),
        row(
            "settings.py",
            "DATABASES = {'default': {'ENGINE': 'mysql.connector.django', 'HOST': 'db', 'OPTIONS': {'use_pure': True, 'ssl_ca': '/ca', 'ssl_verify_cert': True, 'ssl_verify_identity': True}}}\n",
            "safe",
        ),
        row(
            "settings.py",
            "import os\nDATABASES = {'default': {'ENGINE': 'mysql.connector.django', 'OPTIONS': {'use_pure': True, 'ssl_ca': '/ca', 'ssl_verify_cert': True, 'ssl_verify_identity': True, **os.environ}}}\n",
            "unknown",
        ),
    ]
}

fn php_rows() -> Vec<Row> {
    let pdo = |code: &str, want: &'static str| row("db.php", format!("<?php\n{code}\n"), want);
    let good = "[PDO::MYSQL_ATTR_SSL_CA => '/ca.pem', PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]";
    let wordpress = |rest: &str, want: &'static str| {
        row(
            "wp-config.php",
            format!(
                "<?php\ndefine('DB_NAME', 'x');\ndefine('DB_USER', 'u');\ndefine('DB_PASSWORD', 'geheim');\ndefine('DB_HOST', 'db');\n{rest}$table_prefix = 'wp_';\nrequire_once ABSPATH . 'wp-settings.php';\n"
            ),
            want,
        )
    };
    vec![
        pdo(
            "new PDO('mysql:host=db', 'u', 'p', [PDO::MYSQL_ATTR_SSL_KEY => '/k', PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => true]);",
            "unknown",
        ),
        pdo("new PDO('mysql:host=db', 'u', 'p', [PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => true]);", "high"),
        pdo(
            "$m = mysqli_init();\n$m->options(MYSQLI_OPT_SSL_VERIFY_SERVER_CERT, true);\n$m->real_connect('db', 'u', 'p', null, 3306, null, MYSQLI_CLIENT_SSL);",
            "medium",
        ),
        // A CA that is empty, or nothing, switches TLS on all the same; null is off.
        pdo("new PDO('mysql:host=db', 'u', 'p', [PDO::MYSQL_ATTR_SSL_CA => '']);", "unknown"),
        pdo("new PDO('mysql:host=db', 'u', 'p', [PDO::MYSQL_ATTR_SSL_CA => false]);", "unknown"),
        pdo("new PDO('mysql:host=db', 'u', 'p', [PDO::MYSQL_ATTR_SSL_CA => null]);", "unknown"),
        pdo(
            "new PDO('mysql:host=db', 'u', 'p', [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem', PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => null]);",
            "unknown",
        ),
        pdo(
            "$m = mysqli_init();\n$m->ssl_set('/key.pem', null, null, null, null);\n$m->real_connect('db', 'u', 'p');",
            "unknown",
        ),
        pdo(
            "$m = mysqli_init();\n$m->ssl_set(null, null, null, null, null);\n$m->real_connect('db', 'u', 'p');",
            "high",
        ),
        pdo(&format!("$c = new PDO('mysql:host=db;dbname=x', 'u', $p, {good});"), "safe"),
        pdo("$c = new PDO('mysql:host=db;dbname=x', 'u', $p);", "high"),
        pdo(
            "$c = new PDO(\"mysql:host=$host;dbname=$name\", $u, $p, [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem', PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => false]);",
            "medium",
        ),
        pdo(
            &format!("$c = new PDO(dsn: 'mysql:host=db', username: 'u', password: $p, options: {good});"),
            "safe",
        ),
        pdo(
            "$c = new PDO(dsn: 'mysql:host=db', options: [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem', PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => false], username: 'u');",
            "medium",
        ),
        pdo("$c = new PDO('mysql:host=db', 'u', $p, [1009 => '/ca.pem', 1014 => false]);", "unknown"),
        pdo(
            &format!(
                "$o = {good};\nunset($o[PDO::MYSQL_ATTR_SSL_CA]);\n$c = new PDO('mysql:host=db', 'u', $p, $o);"
            ),
            "unknown",
        ),
        pdo(
            &format!("$o = {good};\nif ($dev) $o = [];\n$c = new PDO('mysql:host=db', 'u', $p, $o);"),
            "unknown",
        ),
        pdo(
            &format!("$o = {good};\ninclude 'local.php';\n$c = new PDO('mysql:host=db', 'u', $p, $o);"),
            "unknown",
        ),
        pdo(&format!("$o = {good};\nweaken($o);\n$c = new PDO('mysql:host=db', 'u', $p, $o);"), "unknown"),
        pdo(
            &format!("$o = {good};\n$r = &$o;\n$r = [];\n$c = new PDO('mysql:host=db', 'u', $p, $o);"),
            "unknown",
        ),
        pdo(
            &format!("$o = {good};\nfunction f() {{ return new PDO('mysql:host=db', 'u', $p, $o); }}"),
            "unknown",
        ),
        pdo(&format!("$c = new PDO('mysql:host=db', 'u', $p, {good} + $more);"), "unknown"),
        pdo(
            "$c = new PDO('mysql:host=db', 'u', $p, array_merge([PDO::MYSQL_ATTR_SSL_CA => '/ca.pem'], $more));",
            "unknown",
        ),
        pdo(
            "$c = new PDO('mysql:host=db', 'u', $p, [...$base, PDO::MYSQL_ATTR_SSL_CA => '/ca.pem']);",
            "unknown",
        ),
        pdo(
            "$c = new PDO('mysql:host=db', 'u', $p, [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem', $key => false]);",
            "unknown",
        ),
        pdo(&format!("$c = new PDO($dsn, 'u', $p, {good});"), "unknown"),
        pdo(
            "$l = mysqli_init();\n$l->ssl_set(null, null, '/ca.pem', null, null);\n$l->real_connect('db', 'u', $p, 'x', 3306, null, MYSQLI_CLIENT_SSL);",
            "safe",
        ),
        pdo(
            "$l = mysqli_init();\nif ($tls) { $l->ssl_set(null, null, '/ca.pem', null, null); }\n$l->real_connect('db', 'u', $p, 'x', 3306, null, MYSQLI_CLIENT_SSL);",
            "unknown",
        ),
        pdo(
            "$l = mysqli_init();\n$l->real_connect('db', 'u', $p);\n$l->ssl_set(null, null, '/ca.pem', null, null);",
            "high",
        ),
        pdo(
            "$l = mysqli_init();\n$l->ssl_set(null, null, '/ca.pem', null, null);\n$l->real_connect('db', 'u', $p, 'x', 3306, null, 2048 | 64);",
            "unknown",
        ),
        pdo(
            "$l = mysqli_init();\n$l->ssl_set(null, null, '/ca.pem', null, null);\n$l->real_connect('db', 'u', $p, flags: MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT);",
            "medium",
        ),
        pdo(
            "$l = mysqli_init();\nprepare($l);\n$l->ssl_set(null, null, '/ca.pem', null, null);\n$l->real_connect('db', 'u', $p, 'x', 3306, null, MYSQLI_CLIENT_SSL);",
            "unknown",
        ),
        pdo("$l = new mysqli('db', 'u', $p, 'x');", "high"),
        row(
            "database.php",
            "<?php\nreturn ['connections' => ['mysql' => ['driver' => 'mysql', 'host' => 'db', 'options' => [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem']]]];\n",
            "safe",
        ),
        row(
            "database.php",
            "<?php\nreturn ['connections' => ['mysql' => ['driver' => 'mysql', 'url' => env('DB_URL'), 'host' => 'db', 'options' => [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem']]]];\n",
            "unknown",
        ),
        row(
            "database.php",
            "<?php\nreturn array_merge(['connections' => ['mysql' => ['driver' => 'mysql', 'host' => 'db', 'options' => [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem']]]], $local);\n",
            "unknown",
        ),
        wordpress("", "high"),
        wordpress("define('MYSQL_CLIENT_FLAGS', MYSQLI_CLIENT_SSL);\n", "medium"),
        wordpress("if ($tls) { define('MYSQL_CLIENT_FLAGS', MYSQLI_CLIENT_SSL); }\n", "unknown"),
        wordpress("define('MYSQL_CLIENT_FLAGS', FLAGS);\n", "unknown"),
    ]
}

fn ruby_and_perl_rows() -> Vec<Row> {
    let rails = |lines: &str, want: &'static str| {
        row("database.yml", format!("production:\n  adapter: mysql2\n  host: db\n  pool: 5\n{lines}"), want)
    };
    let perl = |code: &str, want: &'static str| row("db.pl", format!("use DBI;\n{code}\n"), want);
    let all_rails = "  sslca: /ca.pem\n  sslverify: true\n";
    vec![
        // Ruby lays what `<<` brings over what stands in front of it.
        row(
            "database.yml",
            "d: &d\n  adapter: mysql2\n  host: db\n  sslca:\nproduction:\n  sslca: /ca.pem\n  <<: *d\n",
            "high",
        ),
        rails("  sslca: ''\n", "unknown"),
        rails("  sslverify: false\n", "unknown"),
        rails(all_rails, "critical"),
        rails("  ssl_mode: :required\n", "critical"),
        rails("  ssl_mode: required\n", "critical"),
        rails("  ssl_mode: \":required\"\n", "unknown"),
        rails("  ssl_mode: <%= ENV['M'] %>\n", "unknown"),
        rails("  url: <%= ENV['DATABASE_URL'] %>\n", "unknown"),
        rails("  flags: [SSL]\n", "unknown"),
        rails("  ssl_mode: !env MODE\n", "unknown"),
        row(
            "db.rb",
            "require 'mysql2'\nc = Mysql2::Client.new(host: 'db', sslca: '/ca.pem', ssl_mode: :verify_identity)\n",
            "critical",
        ),
        row("db.rb", "require 'mysql2'\nc = Mysql2::Client.new(**options, sslca: '/ca.pem')\n", "unknown"),
        row(
            "db.rb",
            "require 'mysql2'\no = { host: 'db' }\no.delete(:sslca)\nc = Mysql2::Client.new(o)\n",
            "unknown",
        ),
        row("db.rb", "require 'mysql2'\nc = Mysql2::Client.new({ host: 'db' }.merge(extra))\n", "unknown"),
        perl(
            "my $d = DBI->connect('dbi:MariaDB:database=x;host=db;mariadb_ssl=1;mariadb_ssl_ca_file=/ca.pem', 'u', $p, { RaiseError => 1 });",
            "safe",
        ),
        perl(
            "my $d = DBI->connect('dbi:MariaDB:database=x;host=db;mariadb_ssl=1', 'u', $p, { mariadb_ssl_ca_file => '/ca.pem' });",
            "safe",
        ),
        perl(
            "my $d = DBI->connect(\"dbi:MariaDB:$rest;mariadb_ssl=1;mariadb_ssl_ca_file=/ca.pem\", 'u', $p);",
            "unknown",
        ),
        perl(
            "my $d = DBI->connect('dbi:MariaDB:host=db;mariadb_ssl=1;mariadb_ssl_ca_file=/ca.pem', 'u', $p, { %$extra });",
            "unknown",
        ),
        perl(
            "my %a = (mariadb_ssl => 1, mariadb_ssl_ca_file => '/ca.pem');\n$a{mariadb_ssl} = 0;\nmy $d = DBI->connect('dbi:MariaDB:host=db', 'u', $p, \\%a);",
            "unknown",
        ),
        perl(
            "my $d = DBI->connect('dbi:MariaDB:host=db;mariadb_ssl=1;mariadb_ssl_ca_file=/ca.pem', 'u', $p, { mariadb_ssl => 0 });",
            "unknown",
        ),
    ]
}

fn java_rows() -> Vec<Row> {
    let properties = |lines: &str, want: &'static str| row("application.properties", lines, want);
    let yaml = |lines: &str, want: &'static str| row("application.yml", lines, want);
    let url = format!("spring.datasource.url=jdbc:mariadb://db/x?{GOOD_MJ}\n");
    vec![
        // Words of older series.
        properties(
            "spring.datasource.url=jdbc:mariadb://db/x?useSsl=true&trustServerCertificate=true\n",
            "medium",
        ),
        properties("spring.datasource.url=jdbc:mariadb://db/x?useSSL=false\n", "high"),
        properties("spring.datasource.url=jdbc:mariadb://db/x?useSsl=true&serverSslCert=/ca.pem\n", "low"),
        properties("spring.datasource.url=jdbc:mariadb://db/x?useSsl=true\n", "unknown"),
        properties(
            "spring.datasource.url=jdbc:mariadb://db/x?useSsl=true&sslMode=verify-full&serverSslCert=/ca.pem\n",
            "unknown",
        ),
        // Words that say nothing about TLS may stand in another document; a file that is read over this one may say anything.
        yaml(
            &format!(
                "spring:\n  datasource:\n    url: jdbc:mariadb://db/x?{GOOD_MJ}\n---\nspring:\n  datasource:\n    username: u\n    hikari:\n      maximum-pool-size: 3\n"
            ),
            "low",
        ),
        yaml(
            &format!(
                "spring:\n  config:\n    import: optional:file:./more.properties\n  datasource:\n    url: jdbc:mariadb://db/x?{GOOD_MJ}\n"
            ),
            "unknown",
        ),
        properties(&format!("spring.config.import=configserver:\n{url}"), "unknown"),
        properties(
            &format!("spring.datasource.url=jdbc:mysql://db/x?{GOOD_J}\nspring.datasource.username=u\n"),
            "safe",
        ),
        properties(
            "spring.datasource.url=jdbc:mysql://db/x?useSSL=false\nspring.datasource.password=geheim\n",
            "high",
        ),
        properties(&format!("{url}spring.datasource.hikari.maximum-pool-size=5\n"), "low"),
        properties(
            &format!("{url}spring.datasource.hikari.data-source-properties.sslMode=disable\n"),
            "unknown",
        ),
        properties(
            &format!("{url}spring.datasource.hikari.dataSourceProperties.cachePrepStmts=true\n"),
            "low",
        ),
        properties(
            &format!("{url}spring.datasource.tomcat.connection-properties=sslMode=disable;\n"),
            "unknown",
        ),
        properties(
            &format!("{url}spring.datasource.tomcat.connectionProperties=sslMode=disable;\n"),
            "unknown",
        ),
        properties(&format!("{url}spring.datasource.hikari.jdbc-url=jdbc:mariadb://db/x\n"), "unknown"),
        properties(
            &format!(
                "{url}#---\nspring.config.activate.on-profile=dev\nspring.datasource.url=jdbc:mariadb://db/x\n"
            ),
            "unknown",
        ),
        properties(
            "spring.datasource.url=jdbc:mariadb://db/x?sslMode=disable\nspring.datasource.url=jdbc:mariadb://db/x?sslMode=verify-full&serverSslCert=/ca.pem\n",
            "low",
        ),
        properties(
            "spring.datasource.url=jdbc:mariadb://db/x?sslMode=verify-full&serverSslCert=/ca.pem\nspring.datasource.url=jdbc:mariadb://db/x?sslMode=disable\n",
            "high",
        ),
        properties(
            "spring.datasource.url=jdbc:mariadb://db/x?sslMode=${MODE}&serverSslCert=/ca.pem\n",
            "unknown",
        ),
        properties(
            "spring.datasource.url=jdbc:mariadb://db/x?serverSslCert=/ca.pem&sslMode=verify-full&${EXTRA}\n",
            "unknown",
        ),
        properties("spring.datasource.url=jdbc:mariadb://db/x${OPTIONS}\n", "unknown"),
        yaml(
            &format!(
                "spring:\n  datasource:\n    url: jdbc:mariadb://db/x?{GOOD_MJ}\n    hikari:\n      maximum-pool-size: 5\n"
            ),
            "low",
        ),
        yaml(
            &format!(
                "spring:\n  datasource:\n    url: jdbc:mariadb://db/x?{GOOD_MJ}\n    hikari:\n      data-source-properties:\n        sslMode: disable\n"
            ),
            "unknown",
        ),
        yaml(
            &format!(
                "spring:\n  datasource:\n    url: jdbc:mariadb://db/x?{GOOD_MJ}\n---\nspring:\n  config.activate.on-profile: dev\n  datasource:\n    url: jdbc:mariadb://db/x\n"
            ),
            "unknown",
        ),
        yaml(
            &format!(
                "spring:\n  datasource:\n    url: jdbc:mariadb://db/x?{GOOD_MJ}\n---\nspring:\n  datasource:\n    hikari:\n      data-source-properties:\n        sslMode: disable\n"
            ),
            "unknown",
        ),
        yaml(
            &format!(
                "base: &b\n  sslMode: disable\nspring:\n  datasource:\n    url: jdbc:mariadb://db/x?{GOOD_MJ}\n    hikari:\n      data-source-properties:\n        <<: *b\n"
            ),
            "unknown",
        ),
        yaml(
            &format!(
                "spring.datasource.url: jdbc:mariadb://db/x?{GOOD_MJ}\nspring.datasource.tomcat.connection-properties: sslMode=disable\n"
            ),
            "unknown",
        ),
        row(
            "A.java",
            format!(
                "class A {{ void f() throws Exception {{ java.sql.DriverManager.getConnection(\"jdbc:mariadb://db/x?{GOOD_MJ}\", \"u\", p); }} }}\n"
            ),
            "low",
        ),
        row(
            "A.java",
            format!(
                "class A {{ void f() throws Exception {{ java.sql.DriverManager.getConnection(\"jdbc:mariadb://db/x?{GOOD_MJ}\", props); }} }}\n"
            ),
            "unknown",
        ),
        row(
            "A.java",
            format!(
                "class A {{ void f() {{ HikariConfig c = new HikariConfig(); c.setJdbcUrl(\"jdbc:mariadb://db/x?{GOOD_MJ}\"); c.addDataSourceProperty(\"sslMode\", \"disable\"); }} }}\n"
            ),
            "unknown",
        ),
        row(
            "A.java",
            format!(
                "class A {{ void f() {{ java.sql.DriverManager.getConnection(\"jdbc:mariadb://db/x?{GOOD_MJ}\" + extra); }} }}\n"
            ),
            "unknown",
        ),
    ]
}

fn other_rows() -> Vec<Row> {
    let go = |code: &str, want: &'static str| {
        row(
            "main.go",
            format!(
                "package main\nimport (\n\t\"database/sql\"\n\t_ \"github.com/go-sql-driver/mysql\"\n)\nfunc main() {{\n{code}\n}}\n"
            ),
            want,
        )
    };
    vec![
        go("\tdb, err := sql.Open(\"mysql\", \"u:geheim@tcp(db)/x?tls=true\")", "safe"),
        go(
            "\tdb, err := sql.Open(\"mysql\", \"u:geheim@tcp(db)/x?tls=skip-verify&parseTime=true\")",
            "medium",
        ),
        go("\tdb, err := sql.Open(\"mysql\", \"u:geheim@tcp(db)/x?tls=true\"+extra)", "unknown"),
        go(
            "\tdb, err := sql.Open(\"mysql\", fmt.Sprintf(\"u:geheim@tcp(db)/x?tls=true&%s\", extra))",
            "unknown",
        ),
        go(
            "\tcfg, err := mysql.ParseDSN(\"u:geheim@tcp(db)/x?tls=true\")\n\tcfg.TLSConfig = \"skip-verify\"",
            "unknown",
        ),
        go(
            "\tcfg := mysql.Config{Addr: \"db:3306\", TLSConfig: \"skip-verify\"}\n\tc, _ := mysql.NewConnector(&cfg)",
            "unknown",
        ),
        go("\tdb, err := sql.Open(\"mysql\", \"u:geheim@tcp(db)/x?tls=true&tls=skip-verify\")", "medium"),
        row(".env", "DATABASE_URL=mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem\n", "safe"),
        row(".env", "DB_URL=u:geheim@tcp(db)/x?tls=true\nDB_URL=u:geheim@tcp(db)/x\n", "high"),
        row(".env", "DB_URL=u:geheim@tcp(db)/x?tls=${TLS}\n", "unknown"),
        row(".env", "DB_URL=u:geheim@tcp(db)/x?tls=true\nDB_SSL_MODE=disabled\n", "unknown"),
        row(".env", "DB_CONNECTION=mysql\nDB_HOST=db\nMYSQL_ATTR_SSL_CA=/ca.pem\n", "unknown"),
        row(".env", "DB_CONNECTION=mysql\nDB_HOST=db\n", "high"),
        row(
            ".env",
            "DB_CONNECTION=mysql\nDB_URL=mysql://u:geheim@db/x\nMYSQL_ATTR_SSL_CA=/ca.pem\n",
            "unknown",
        ),
        row("a.service", "[Service]\nEnvironment=DSN=u:geheim@tcp(db)/x?tls=true\n", "safe"),
        row(
            "a.service",
            "[Service]\nEnvironment=DSN=u:geheim@tcp(db)/x?tls=true\nEnvironment=DSN=u:geheim@tcp(db)/x\n",
            "high",
        ),
        row(
            "a.service",
            "[Service]\nEnvironment=DSN=u:geheim@tcp(db)/x?tls=true\nEnvironment=\nEnvironment=DSN=u:geheim@tcp(db)/x\n",
            "high",
        ),
        row(
            "a.service",
            "[Service]\nEnvironment=DSN=u:geheim@tcp(db)/x?tls=true\nUnsetEnvironment=DSN\n",
            "unknown",
        ),
        row("a.service", "[Service]\nEnvironment=DSN=u:geheim@tcp(db)/x?tls=%i\n", "unknown"),
        row(
            "compose.yml",
            "services:\n  a:\n    environment:\n      - DSN=u:geheim@tcp(db)/x?tls=true\n      - DSN=u:geheim@tcp(db)/x\n",
            "high",
        ),
        row("my.cnf", "[mariadb-client]\nssl-ca=/ca.pem\nssl-verify-server-cert\n", "safe"),
        row("my.cnf", "[mariadb-client]\nssl-ca=/ca.pem\nssl-verify-server-cert\nskip-ssl\n", "unknown"),
        row("my.cnf", "[mariadb-client]\nssl-ca=/ca.pem\nssl-verify-server-cert\nssl-verify=0\n", "unknown"),
        row(
            "my.cnf",
            "[mysql]\nssl-mode=VERIFY_IDENTITY\nssl-ca=/ca.pem\nenable-cleartext-plugin\n",
            "unknown",
        ),
        Row {
            driver: Some("rust-sqlx"),
            ..row(
                "main.rs",
                "let p = MySqlPool::connect(\"mysql://u:geheim@db/x?ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca.pem\").await?;\n",
                "safe",
            )
        },
        Row {
            driver: Some("rust-sqlx"),
            ..row(
                "main.rs",
                "let p = MySqlConnectOptions::from_str(\"mysql://u:geheim@db/x?ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca.pem\")?.ssl_mode(MySqlSslMode::Disabled);\n",
                "unknown",
            )
        },
        row("notes.txt", "u mysql+pymysql://u:geheim@db/x and more\n", "high"),
    ]
}

/// What a second, hostile reading of the reader found.
fn hostile_rows() -> Vec<Row> {
    let js = |code: &str, want: &'static str| row("db.js", format!("{JS2}{code}\n"), want);
    let good = GOOD_JS2;
    vec![
        js(
            &format!(
                "mysql.createPool = wrap(mysql.createPool);\nmysql.createPool({{ host: 'db', {good} }});"
            ),
            "unknown",
        ),
        js(
            &format!("const make = mysql.createPool;\nmysql.createPool({{ host: 'db', {good} }});"),
            "unknown",
        ),
        js("mysql.createPool({ host: 'db', 'ssl.ca': 'x', 'ssl.verifyIdentity': true });", "unknown"),
        js(&format!("mysql.createPool({{ host: 'db', {good} }}); // it's fine\nconst re = /'/g;"), "safe"),
        js(
            &format!("const s = `a ${{b ? `it's` : ''}} c`;\nmysql.createPool({{ host: 'db', {good} }});"),
            "safe",
        ),
        js(&format!("const s = 'it is\nbroken;\nmysql.createPool({{ host: 'db', {good} }});"), "unknown"),
        js(&format!("mysql.createPool({{ host: 'db', {good} }};"), "unknown"),
        js("const { ssl } = config;\nmysql.createPool({ host: 'db', ssl });", "unknown"),
        js("for (const ssl of all) { mysql.createPool({ host: 'db', ssl }); }", "unknown"),
        js("mysql.createPool({ host: 'db', get ssl() { return undefined; } });", "unknown"),
        js(&format!("mysql.createPool({{ host: 'db', {good} }} && other);"), "unknown"),
        js(&format!("mysql.createPool(prod ? {{ host: 'db', {good} }} : {{}});"), "unknown"),
        js(&format!("mysql.createPool({{ host: 'db', stream: open, {good} }});"), "unknown"),
        js(&format!("mysql.createPool({{ host: 'db', flags: ['-SSL'], {good} }});"), "unknown"),
        js(
            &format!(
                "const o = {{ host: 'db', {good} }};\nconst p = {{ o }};\np.o.ssl = false;\nmysql.createPool(o);"
            ),
            "unknown",
        ),
        js(
            &format!(
                "const o = {{ host: 'db', {good} }};\nconst {{ o: q }} = {{ o }};\nq.ssl = 0;\nmysql.createPool(o);"
            ),
            "unknown",
        ),
        Row {
            driver: Some("node-mysql2"),
            ..row(".env", "URL=mysql://u:geheim@db/x?ssl.ca=/ca&ssl.verifyIdentity=true\n", "unknown")
        },
        Row {
            driver: Some("node-mysql2"),
            ..row(".env", "URL=mysql://u:geheim@db/x?ssl={\"rejectUnauthorized\":false}\n", "medium")
        },
        row(
            "db.py",
            "try:\n    import pymysql\nexcept ImportError:\n    import MySQLdb as pymysql\nc = pymysql.connect(host='db', ssl_ca='/ca')\n",
            "unknown",
        ),
        row(
            "db.py",
            format!(
                "import pymysql\npymysql.connect = wrap(pymysql.connect)\nc = pymysql.connect(host='db', {GOOD_PY})\n"
            ),
            "unknown",
        ),
        row(
            "db.py",
            format!(
                "import pymysql\npool = PooledDB(pymysql, 5, host='db')\nc = pymysql.connect(host='db', {GOOD_PY})\n"
            ),
            "unknown",
        ),
        row(
            "db.py",
            "import pymysql\nOPTIONS = {'ssl_ca': '/ca'} | OTHER\nc = pymysql.connect(host='db', **OPTIONS)\n",
            "unknown",
        ),
        row(
            "db.py",
            format!(
                "import pymysql\nexec(open('x').read())\nO = dict({GOOD_PY})\nc = pymysql.connect(host='db', **O)\n"
            ),
            "unknown",
        ),
        row(
            "db.py",
            format!(
                "import pymysql\nO = dict({GOOD_PY})\nP = O\nP['ssl_ca'] = None\nc = pymysql.connect(host='db', **O)\n"
            ),
            "unknown",
        ),
        row(
            "db.py",
            format!(
                "import pymysql\nO = dict({GOOD_PY})\nfor O in all:\n    c = pymysql.connect(host='db', **O)\n"
            ),
            "unknown",
        ),
        row(
            "db.py",
            format!(
                "import pymysql\nO = dict({GOOD_PY})\ndef f(O):\n    return pymysql.connect(host='db', **O)\n"
            ),
            "unknown",
        ),
        row(
            "db.py",
            format!(
                "import pymysql\nO = dict({GOOD_PY})\nO, x = {{}}, 1\nc = pymysql.connect(host='db', **O)\n"
            ),
            "unknown",
        ),
        row(
            "db.py",
            "import ssl, aiomysql\nctx = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)\naiomysql.connect(host='db', ssl=ctx)\n",
            "unknown",
        ),
        row(
            "db.py",
            "import ssl, asyncmy\nctx = ssl.create_default_context(cafile='/ca.pem')\ndef weaken():\n    ctx.check_hostname = False\n    ctx.verify_mode = ssl.CERT_NONE\nweaken()\nasyncmy.connect(host='db', ssl=ctx)\n",
            "unknown",
        ),
        row(
            "db.py",
            "import ssl, asyncmy\nctx = ssl.create_default_context(cafile='/ca.pem')\ndef go():\n    return asyncmy.connect(host='db', ssl=ctx)\nctx.check_hostname = False\nctx.verify_mode = ssl.CERT_NONE\ngo()\n",
            "medium",
        ),
        row(
            "db.py",
            "import ssl, aiomysql\nctx = ssl.create_default_context(cafile='/ca.pem')\nD = {'host': 'db', 'ssl': ctx}\nasync def go():\n    return await aiomysql.create_pool(minsize=1, **D)\n",
            "critical",
        ),
        row(
            "db.py",
            "import ssl, asyncmy\nctx = ssl.create_default_context(cafile='/ca.pem')\nD = {'host': 'db', 'ssl': ctx}\nD['ssl'].check_hostname = False\nasyncmy.connect(**D)\n",
            "unknown",
        ),
        row(
            "db.py",
            "import ssl, asyncmy\nctx = ssl.create_default_context(cafile='/ca.pem')\nD = {'host': 'db', 'ssl': ctx}\nweaken(D)\nE = {'host': 'db', 'ssl': ctx}\nasyncmy.connect(**E)\n",
            "unknown",
        ),
        row(
            "db.php",
            "<?php\n$c = new PDO('mysql:host=db', 'u', $p, array_filter([PDO::MYSQL_ATTR_SSL_CA => '/ca.pem', PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => false]));\n",
            "safe",
        ),
        row(
            "db.php",
            "<?php\n$t = <<<EOT\nit's\nEOT;\n$c = new PDO('mysql:host=db', 'u', $p, [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem']);\n?>\n<p>don't</p>\n",
            "safe",
        ),
        row(
            "db.php",
            "<?php\n$o = [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem'];\nforeach ($all as $o) { $c = new PDO('mysql:host=db', 'u', $p, $o); }\n",
            "unknown",
        ),
        row(
            "db.php",
            "<?php\n$o = [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem'];\nextract($_POST);\n$c = new PDO('mysql:host=db', 'u', $p, $o);\n",
            "unknown",
        ),
        row(
            "db.php",
            "<?php\n$o = [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem'];\n[$o, $x] = f();\n$c = new PDO('mysql:host=db', 'u', $p, $o);\n",
            "unknown",
        ),
        row(
            "db.rb",
            "require 'mysql2'\na = Mysql2::Client.new host: 'db'\nc = Mysql2::Client.new(socket: '/run/mysqld.sock')\n",
            "unknown",
        ),
        row(
            "application.yml",
            format!(
                "datasources:\n  - url: jdbc:mariadb://a/x?sslMode=disable\n  - url: jdbc:mariadb://b/x?{GOOD_MJ}\n"
            ),
            "high",
        ),
        row(
            "map.yaml",
            "kind: ConfigMap\ndata:\n  a: mysql2://u@db/x?sslca=/ca\n  application.properties: |\n    spring.datasource.url=jdbc:mysql://db/x\n    a=b\n",
            "unknown",
        ),
        row(
            "app.toml",
            format!(
                "[db]\nurl = \"jdbc:mariadb://db/x?{GOOD_MJ}\"\n[db.properties]\nsslMode = \"disable\"\n"
            ),
            "unknown",
        ),
        row(
            "context.xml",
            format!(
                "<Resource url=\"jdbc:mariadb://db/x?{GOOD_MJ}\" connectionProperties=\"sslMode=disable\"/>\n"
            )
            .replace("&ser", "&amp;ser"),
            "unknown",
        ),
        row(
            "main.go",
            "package main\nimport _ \"github.com/go-sql-driver/mysql\"\nfunc main() {\n\tmysql.RegisterTLSConfig(\"shop\", &tls.Config{InsecureSkipVerify: true})\n\tsql.Open(\"mysql\", \"u:geheim@tcp(db)/x?tls=shop\")\n}\n",
            "unknown",
        ),
        row(".env", "DSN=u:geheim@tcp(db)/x?tls=shop\n", "unknown"),
        row(".env", "DSN=u:geheim@tcp(db)/x?tls=shop&allowFallbackToPlaintext=true\n", "critical"),
        row(".env", "DSN=u:geheim@tcp(db)/x?tls=true OTHER=1\n", "unknown"),
        row(
            "a.service",
            "[Service]\nEnvironment=A=u:geheim@tcp(db)/x?tls=true\nExecStart=/usr/bin/app --dsn 'u:geheim@tcp(db)/x'\n",
            "unknown",
        ),
        row(
            "my.cnf",
            "[mysqldump]\nssl-mode=VERIFY_IDENTITY\nssl-ca=/ca.pem\nenable-cleartext-plugin\n",
            "unknown",
        ),
        row(
            "database.yml",
            "a:\n  adapter: mysql2\n  socket: /s\nb:\n  adapter: <%= ENV['A'] %>\n  host: db\n",
            "unknown",
        ),
        row(
            "db.py",
            format!(
                "import pymysql\nfrom peewee import MySQLDatabase\na = pymysql.connect(host='db', {GOOD_PY})\nb = MySQLDatabase('x', host='db', ssl_disabled=True)\n"
            ),
            "unknown",
        ),
        js(
            &format!(
                "mysql.createPool({{ host: 'db', {good} }});\nnew MySQLStore({{ host: 'db', user: 'u' }});"
            ),
            "unknown",
        ),
        js(
            &format!(
                "mysql.createPool({{ host: 'db', {good} }});\nmodule.exports = {{ client: process.env.C, connection: {{ host: 'db' }} }};"
            ),
            "unknown",
        ),
        row(
            "wp-config.php",
            "<?php\ndefine('DB_NAME', 'x');\ndefine('DB_HOST', 'db');\nrequire_once ABSPATH . 'wp-settings.php';\ndefine('MYSQL_CLIENT_FLAGS', MYSQLI_CLIENT_SSL);\n",
            "unknown",
        ),
        row(
            "database.php",
            "<?php\nreturn ['a' => ['driver' => 'mysql', 'unix_socket' => '/s', 'database' => 'x'], 'b' => ['driver' => env('D'), 'host' => 'db', 'database' => 'x']];\n",
            "unknown",
        ),
    ]
}
