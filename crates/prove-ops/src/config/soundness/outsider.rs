//! Rows of an outsider's second set: sockets that were called a danger, connections that were passed over in silence beside others, and
//! words that one reader takes for another thing.

use super::rows::Row;

const OK_PDO: &str =
    "<?php\n$ok = new PDO('mysql:host=ok', 'u', 'p', [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem']);\n";
const OK_ENV: &str = "OK_URL=mysql+pymysql://u:geheim@ok/d?ssl_ca=/ca.pem\n";
const OK_RUBY: &str = "require 'mysql2'\nok = Mysql2::Client.new(host: 'localhost')\n";
const OK_JS: &str = "const mysql = require('mysql2');\nconst a = mysql.createPool({ host: 'a', ssl: { rejectUnauthorized: true, verifyIdentity: true } });\n";
const OK_GO: &str = "package main\nimport (\n\t\"database/sql\"\n)\nfunc main() {\n\tok, _ := sql.Open(\"mysql\", \"u:p@tcp(ok)/x?tls=true\")\n";

pub(super) fn rows() -> Vec<Row> {
    let row = |name: &'static str, text: String, want: &'static str| Row { name, text, want, driver: None };
    let mut all = Vec::new();
    let django = |host: &str| {
        format!(
            "DATABASES = {{'default': {{'ENGINE': 'django.db.backends.mysql', 'NAME': 'd', 'HOST': {host}}}}}\n"
        )
    };
    // mysqlclient and PyMySQL both take Django's path for the socket; without a host only the first does.
    all.push(row("settings.py", django("'/run/mysqld.sock'"), "safe"));
    all.push(Row { driver: Some("mysqlclient"), ..row("settings.py", django("''"), "safe") });
    // The libraries of C have their socket where no host is said, unless an option file says one.
    for (name, text) in [
        ("a.py", "import MySQLdb\nc = MySQLdb.connect(user='u')\n"),
        (".env", "DATABASE_URL=mysql+mysqldb://u:geheim@/d\n"),
        (".env", "RUBY_URL=mysql2:///shop\n"),
        ("database.yml", "test:\n  adapter: mysql2\n  database: d\n"),
        ("a.pl", "use DBI;\nmy $c = DBI->connect(\"DBI:mysql:d\", 'u', 'p');\n"),
        ("a.php", "<?php\n$c = new PDO('mysql:dbname=d', 'u', 'p');\n"),
        ("a.php", "<?php\n$c = new mysqli('p:localhost', 'u', 'p');\n"),
        ("wp-config.php", "<?php\ndefine('DB_NAME', 'x');\ndefine('DB_HOST', 'localhost:3307');\n"),
    ] {
        all.push(row(name, text.into(), "safe"));
    }
    // A host that is filled in, or that an option file may say, is none that is missing.
    for (name, text, want) in [
        (".env", "A_URL=mysql+mysqldb://u:geheim@${H}/d\n", "high"),
        (".env", "E_URL=mysql2://u@/d?host=${H}\n", "high"),
        ("a.rb", "require 'mysql2'\na = Mysql2::Client.new(host: ENV['H'])\n", "high"),
        ("a.rb", "require 'mysql2'\nb = Mysql2::Client.new(hostname: 'h')\n", "high"),
        ("a.rb", "require 'mysql2'\nd = Mysql2::Client.new(username: 'u', default_file: '/x')\n", "unknown"),
        ("a.py", "import MySQLdb\nCFG = {'host': 'h'}\na = MySQLdb.connect(**CFG)\n", "high"),
        ("a.py", "import MySQLdb\nb = MySQLdb.connect(read_default_file='/x')\n", "unknown"),
        ("database.yml", "p:\n  adapter: mysql2\n  default_group: x\n", "unknown"),
        ("a.pl", "use DBI;\nmy $a = DBI->connect(\"DBI:mysql:$db\", 'u', 'p');\n", "unknown"),
        ("a.pl", "use DBI;\nmy $a = DBI->connect('DBI:mysql:d:h:3306', 'u', 'p');\n", "high"),
        ("a.php", "<?php\n$a = new PDO(\"mysql:dbname=d;$rest\", 'u', 'p');\n", "unknown"),
    ] {
        all.push(row(name, text.into(), want));
    }
    // php.ini may have a host of its own for null.
    all.push(row("a.php", "<?php\n$c = new mysqli(null, 'u', 'p');\n".into(), "unknown"));
    all.push(row("a.php", "<?php\n$c = new mysqli('p:db', 'u', 'p');\n".into(), "high"));
    all.push(row(
        "wp-config.php",
        "<?php\ndefine('DB_NAME', 'x');\ndefine('DB_HOST', 'db:3307');\n".into(),
        "high",
    ));
    all.push(row(
        "a.pl",
        "use DBI;\nmy $c = DBI->connect(\"DBI:mysql:d\", $u, $p, $attributes);\n".into(),
        "unknown",
    ));
    all.push(row(
        "database.yml",
        "test:\n  adapter: mysql2\n  host: <%= h %>\n  database: d\n".into(),
        "high",
    ));
    // What dials is the program's own.
    all.push(row(".env", "DSN=u:geheim@cloudsql(p:r:i)/d\n".into(), "unknown"));
    all.push(row(".env", "DSN=u:geheim@myproxy(p:r:i)/d?tls=false\n".into(), "unknown"));

    // Beside one that is read stands one that was passed over.
    for more in [
        "const { createConnection: cc } = require('mysql2');\nconst b = cc({ host: 'b' });\n",
        "const mk = mysql.createPool;\nconst b = mk({ host: 'b' });\n",
        "const b = require('mysql2').createPool({ host: 'b' });\n",
    ] {
        all.push(row("db.js", format!("{OK_JS}{more}"), "unknown"));
    }
    all.push(row(
        "db.mjs",
        "import mysql, { createPool as mk } from 'mysql2/promise';\nconst a = mysql.createPool({ host: 'a', ssl: { rejectUnauthorized: true, verifyIdentity: true } });\nconst b = mk({ host: 'b' });\n".into(),
        "high",
    ));
    for (more, want) in [
        ("$b = new pdo('mysql:host=b;dbname=d', 'u', 'p');\n", "high"),
        ("$b = new MySQLi('b', 'u', 'p');\n", "high"),
        ("$b = MySQLi_Connect('b', 'u', 'p');\n", "high"),
        ("$b = (new mysqli)->real_connect('b', 'u', 'p');\n", "unknown"),
        ("$b = new mysqli();\n$b->connect('b', 'u', 'p', 'd');\n", "unknown"),
        ("$b = mysql_connect('b', 'u', 'p');\n", "unknown"),
        (
            "class Db extends PDO { function __construct() { parent::__construct('mysql:host=b', 'u', 'p'); } }\n",
            "unknown",
        ),
        ("class Db extends \\mysqli {}\n$b = new Db('b', 'u', 'p');\n", "unknown"),
        ("$b = DriverManager::getConnection(['driver' => 'pdo_mysql', 'host' => 'b']);\n", "unknown"),
        ("$b = call_user_func('mysqli_connect', 'b', 'u', 'p');\n", "unknown"),
    ] {
        all.push(row("a.php", format!("{OK_PDO}{more}"), want));
    }
    for (imported, want) in [("use Pdo\\Mysql;", "high"), ("use PDO as Mysql;", "unknown")] {
        all.push(row(
            "a.php",
            OK_PDO.replacen("<?php", &format!("<?php\n{imported}"), 1)
                + "$b = new Mysql('mysql:host=b', 'u', 'p');\n",
            want,
        ));
    }
    all.push(row(
        "a.php",
        OK_PDO.replacen("<?php", "<?php\nuse mysqli as M;", 1) + "$b = new M('b', 'u', 'p');\n",
        "unknown",
    ));
    all.push(row(
        "knexfile.js",
        "module.exports = {\n  a: { client: 'mysql2', connection: { host: 'h', ssl: { rejectUnauthorized: true, verifyIdentity: true } } },\n  b: {\n    client: 'mysql2',\n    connection: async () => ({ host: 'o', ssl: { rejectUnauthorized: false } }),\n  },\n};\n".into(),
        "unknown",
    ));
    for more in [
        "class L < ActiveRecord::Base\n  establish_connection adapter: 'mysql2', host: 'b'\nend\n",
        "ActiveRecord::Base.establish_connection(ENV['DATABASE_URL'])\n",
        "ActiveRecord::Base.establish_connection ENV['DATABASE_URL']\n",
        "c = Mysql2::EM::Client.new(host: 'c')\n",
        "DB = Sequel.mysql2('d', host: 'd')\n",
    ] {
        all.push(row("a.rb", format!("{OK_RUBY}{more}"), "unknown"));
    }
    all.push(row(
        "a.rb",
        format!("{OK_RUBY}class A < ActiveRecord::Base\n  establish_connection :reporting\nend\n"),
        "safe",
    ));
    for (dsn, want) in [
        ("u:p@/d", "high"),
        ("root:geheim@/shop?parseTime=true", "high"),
        ("u:p@tcp/d?charset=utf8mb4", "high"),
        ("/", "high"),
        ("u:what?ever@tcp(b:3306)/d", "high"),
        ("u:what?ever@tcp(b:3306)/d?tls=true", "safe"),
        ("u:p/w?tls=true@tcp(a:3306)/db", "high"),
    ] {
        all.push(row("main.go", format!("{OK_GO}\tb, _ := sql.Open(\"mysql\", \"{dsn}\")\n}}\n"), want));
    }
    all.push(row(".env", format!("{OK_ENV}D_DSN=u:geheim@/d\n"), "high"));
    all.push(row(
        "app.yml",
        "ok: mysql+pymysql://u:geheim@ok/d?ssl_ca=/ca.pem\ngo: u:geheim@/d\n".into(),
        "high",
    ));
    all.push(row("app.yml", "go: someone@/d\nsize: 1/2\nmail: a@b/c\n".into(), "unknown"));
    // A prefix of Celery's, and the rest is SQLAlchemy's.
    all.push(row(".env", "B=db+mysql+pymysql://u:geheim@b/c?ssl_ca=/ca.pem\n".into(), "safe"));
    all.push(row(".env", format!("{OK_ENV}B=db+mysql+pymysql://u:geheim@b/c\n"), "high"));
    all.push(row(".env", format!("{OK_ENV}B=db+mysql://u:geheim@b/c\n"), "unknown"));
    all.push(row(".env", format!("{OK_ENV}B=sqla+mysql+pymysql://u:geheim@b/c\n"), "high"));
    // Schemes of drivers that are not in the matrix.
    for scheme in ["pdo-mysql", "mysqli", "trilogy", "mysqlx", "mysql-async", "pdo_mysql", "r2dbc:mysql"] {
        all.push(row(".env", format!("{OK_ENV}B={scheme}://u:geheim@b/c\n"), "unknown"));
    }
    // Go's text in a file of any form.
    for (name, text) in [
        ("config.toml", "[database]\ndsn = \"u:geheim@tcp(db:3306)/x\"\n"),
        ("app.ini", "[mysql]\ndsn = u:geheim@tcp(db:3306)/x\n"),
        ("run.sh", "#!/bin/sh\nexport DSN='u:geheim@tcp(db:3306)/x'\nexec ./app\n"),
        ("Dockerfile", "FROM a\nENV DB_DSN=\"u:geheim@tcp(db:3306)/x\"\n"),
        ("app.conf", "dsn: u:geheim@tcp(db:3306)/x\n"),
        ("app.json", "{ \"dsn\": \"u:geheim@tcp(db:3306)/x\" }\n"),
        ("ecs.tf", "x = [{ name = \"DSN\", value = \"u:geheim@tcp(db:3306)/x\" }]\n"),
    ] {
        all.push(row(name, text.into(), "high"));
    }
    // Commands, and a URL inside of a value.
    all.push(row(
        "compose.yml",
        "services:\n  a:\n    command: ./app --db mysql2://u:geheim@b/shop\n    environment:\n      - DSN=u:p@tcp(ok)/x?tls=true\n".into(),
        "unknown",
    ));
    all.push(row(
        "compose.yml",
        "services:\n  a:\n    environment:\n      - JAVA_OPTS=-Ddb.url=jdbc:mysql://c/shop?useSSL=false\n      - DSN=u:p@tcp(ok)/x?tls=true\n".into(),
        "unknown",
    ));
    all.push(row(
        "k8s.yaml",
        "spec:\n  containers:\n    - args: [\"--dsn=u:geheim@tcp(d:3306)/shop\", \"--x\"]\n".into(),
        "unknown",
    ));
    all
}
