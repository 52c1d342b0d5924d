//! Rows of several files, of which one changes or replaces what another says: what is said of each connection, whichever file it is in.
//! Each kind was a fault once: the file that is replaced was judged as if it decided.

use super::*;

/// Files by their path, and all that is said of them: `file what verdict`, or `file unread`.
struct Row {
    files: Vec<(&'static str, String)>,
    wants: &'static [&'static str],
    /// Words of the reason, where there must be one.
    why: &'static str,
}

const DJANGO: &str = "DATABASES = {'default': {'ENGINE': 'mysql.connector.django', 'HOST': 'db', 'OPTIONS': {'use_pure': True, 'ssl_ca': '/ca.pem', 'ssl_verify_cert': True, 'ssl_verify_identity': True}}}\n";
const LARAVEL_ENV: &str =
    "APP_NAME=Shop\nDB_CONNECTION=mysql\nDB_HOST=db\nDB_DATABASE=shop\nDB_USERNAME=u\nDB_PASSWORD=geheim\n";

/// Laravel's own `config/database.php`, with these options.
fn laravel(options: &str) -> String {
    format!(
        "<?php\n\nreturn [\n    'default' => env('DB_CONNECTION', 'mysql'),\n    'connections' => [\n        'mysql' => [\n            'driver' => 'mysql',\n            'url' => env('DB_URL'),\n            'host' => env('DB_HOST', '127.0.0.1'),\n            'port' => env('DB_PORT', '3306'),\n            'database' => env('DB_DATABASE', 'forge'),\n            'username' => env('DB_USERNAME', 'forge'),\n            'password' => env('DB_PASSWORD', ''),\n            'unix_socket' => env('DB_SOCKET', ''),\n            'charset' => 'utf8mb4',\n            'options' => {options},\n        ],\n    ],\n];\n"
    )
}

const STOCK: &str = "extension_loaded('pdo_mysql') ? array_filter([\n                PDO::MYSQL_ATTR_SSL_CA => env('MYSQL_ATTR_SSL_CA'),\n            ]) : []";

fn rows() -> Vec<Row> {
    let mut all = laravel_rows();
    all.extend(rails_rows());
    all.extend(url_rows());
    all.extend(replaced_rows());
    all.extend(importer_rows());
    all.extend(ordinary_rows());
    all
}

/// What a person's fresh set of ordinary files had, and was not read; and what is like it and must not be.
fn ordinary_rows() -> Vec<Row> {
    let one = |name: &'static str, text: &str, wants| row(&[(name, text)], wants, "");
    const CLASS: &str = "class Config:\n    SQLALCHEMY_DATABASE_URI = 'mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem'\n    SQLALCHEMY_TRACK_MODIFICATIONS = False\n";
    const EXPORTS: &str = "const fs = require('fs');\nconst tls = { ssl: { ca: fs.readFileSync('/ca.pem'), verifyIdentity: true } };\nmodule.exports = { production: { username: 'u', host: 'db', dialect: 'mysql', dialectOptions: tls } };\n";
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
                        "{front}shared: &shared\n  <<: *default\n  host: db\nproduction:\n  <<: *shared\n  sslca: /ca\n  database: x\n"
                    ),
                ),
                (
                    "app/models/legacy.rb",
                    "class Legacy < ActiveRecord::Base\n  establish_connection :shared\nend\n",
                ),
            ],
            &[
                "config/database.yml shared high",
                "config/database.yml production critical",
                "app/models/legacy.rb unread",
            ],
            "",
        ),
    ]
}

/// Code that takes a URL out of the environment, and gives the driver more than it.
fn url_rows() -> Vec<Row> {
    const SAFE: &str = "DATABASE_URL=mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem\n";
    const PLAIN: &str = "DATABASE_URL=mysql+pymysql://u:geheim@db/x\n";
    const NODE: &str = "DATABASE_URL=mysql://u:geheim@db/x\n";
    let engine = |rest: &str| {
        format!(
            "import os\nfrom sqlalchemy import create_engine\nengine = create_engine(os.environ[\"DATABASE_URL\"]{rest})\n"
        )
    };
    let python = |env: &str, code: &str, wants, why| row(&[(".env", env), ("app.py", code)], wants, why);
    let node = |code: &str, wants, why| {
        row(
            &[(".env", NODE), ("db.js", &format!("const mysql = require('mysql2/promise');\n{code}\n"))],
            wants,
            why,
        )
    };
    vec![
        // Handed on as it is.
        python(SAFE, &engine(""), &[".env DATABASE_URL safe", "app.py create_engine() safe"], ""),
        python(
            PLAIN,
            &engine(", pool_pre_ping=True"),
            &[".env DATABASE_URL high", "app.py create_engine() high"],
            "",
        ),
        python(
            SAFE,
            "import os\nSECRET_KEY = os.environ['SECRET_KEY']\nSESSION_COOKIE_SECURE = True\nMAIL_USE_TLS = True\nSQLALCHEMY_DATABASE_URI = os.environ.get('DATABASE_URL', 'mysql+pymysql://localhost/dev')\n",
            &[".env DATABASE_URL safe", "app.py unread"],
            "",
        ),
        // And more.
        python(
            PLAIN,
            &engine(", connect_args={\"ssl\": {\"ca\": \"/ca.pem\"}}"),
            &[".env DATABASE_URL unknown", "app.py create_engine() safe"],
            "app.py",
        ),
        python(
            SAFE,
            &engine(", connect_args={\"ssl_disabled\": True}"),
            &[".env DATABASE_URL unknown", "app.py create_engine() unknown"],
            "app.py",
        ),
        python(
            SAFE,
            &engine(", **extra"),
            &[".env DATABASE_URL unknown", "app.py create_engine() unknown"],
            "app.py",
        ),
        python(
            SAFE,
            "import os\nSQLALCHEMY_DATABASE_URI = os.getenv('DATABASE_URL')\nSQLALCHEMY_ENGINE_OPTIONS = {'connect_args': {'ssl_disabled': True}}\n",
            &[".env DATABASE_URL unknown", "app.py unread"],
            "app.py",
        ),
        python(
            SAFE,
            "import os\nfrom db import connect\nc = connect(os.environ['DATABASE_URL'], more)\n",
            &[".env DATABASE_URL unknown", "app.py unread"],
            "app.py",
        ),
        // By way of another file, and of another name.
        row(
            &[
                (".env", SAFE),
                ("shop/config.py", "import os\nDB = os.environ['DATABASE_URL']\n"),
                (
                    "shop/db.py",
                    "from sqlalchemy import create_engine\nfrom .config import DB\nengine = create_engine(DB, connect_args={'ssl_disabled': True})\n",
                ),
            ],
            &[".env DATABASE_URL unknown", "shop/config.py unread", "shop/db.py unread"],
            "shop/db.py",
        ),
        row(
            &[
                (".env", SAFE),
                (
                    "settings.py",
                    "from pydantic_settings import BaseSettings\nclass Settings(BaseSettings):\n    database_url: str\nsettings = Settings()\n",
                ),
                (
                    "db.py",
                    "from sqlalchemy import create_engine\nfrom settings import settings\nengine = create_engine(settings.database_url, connect_args={'ssl': {'check_hostname': False}})\n",
                ),
            ],
            &[".env DATABASE_URL unknown", "settings.py unread", "db.py unread"],
            "db.py",
        ),
        node(
            "module.exports = mysql.createPool(process.env.DATABASE_URL);",
            &[".env DATABASE_URL high", "db.js mysql.createPool high"],
            "",
        ),
        node(
            "const u = new URL(process.env.DATABASE_URL);\nu.searchParams.set('ssl', '{\"rejectUnauthorized\":false}');\nmodule.exports = mysql.createPool(u.toString());",
            &[".env DATABASE_URL unknown", "db.js mysql.createPool unknown"],
            "db.js",
        ),
        node(
            "module.exports = mysql.createPool({ uri: process.env.DATABASE_URL, ssl: { rejectUnauthorized: false } });",
            &[".env DATABASE_URL unknown", "db.js mysql.createPool unknown"],
            "db.js",
        ),
        row(
            &[
                (".env", "DSN=u:geheim@tcp(db)/x?tls=true\n"),
                (
                    "main.go",
                    "package main\nimport (\n\t\"database/sql\"\n\t\"os\"\n\t_ \"github.com/go-sql-driver/mysql\"\n)\nfunc main() {\n\tdb, err := sql.Open(\"mysql\", os.Getenv(\"DSN\"))\n}\n",
                ),
            ],
            &[".env DSN safe", "main.go a text safe"],
            "",
        ),
        row(
            &[
                (".env", "DSN=u:geheim@tcp(db)/x?tls=true\n"),
                (
                    "main.go",
                    "package main\nimport (\n\t\"database/sql\"\n\t\"os\"\n\t_ \"github.com/go-sql-driver/mysql\"\n)\nfunc main() {\n\tdb, err := sql.Open(\"mysql\", strings.Replace(os.Getenv(\"DSN\"), \"tls=true\", \"tls=skip-verify\", 1))\n}\n",
                ),
            ],
            &[".env DSN unknown", "main.go unread"],
            "main.go",
        ),
        // Rails lays the URL over its database.yml, and what that says of TLS stays.
        row(
            &[
                (".env", "DATABASE_URL=mysql2://u:geheim@db/x\n"),
                (
                    "config/database.yml",
                    "production:\n  adapter: mysql2\n  host: old\n  database: x\n  sslca: /ca\n",
                ),
            ],
            &[".env DATABASE_URL unknown", "config/database.yml production critical"],
            "config/database.yml",
        ),
        // Of two programs each has its own.
        row(
            &[
                ("a/.env", SAFE),
                ("a/app.py", &engine("")),
                ("b/.env", SAFE),
                ("b/app.py", &engine(", connect_args={\"ssl_disabled\": True}")),
            ],
            &[
                "a/.env DATABASE_URL safe",
                "a/app.py create_engine() safe",
                "b/.env DATABASE_URL unknown",
                "b/app.py create_engine() unknown",
            ],
            "b/app.py",
        ),
    ]
}

/// A file that another replaces.
fn replaced_rows() -> Vec<Row> {
    const INI: &str = "[alembic]\nscript_location = alembic\nsqlalchemy.url = mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem\n";
    const STOCK_ENV: &str = "from logging.config import fileConfig\nfrom sqlalchemy import engine_from_config\nfrom sqlalchemy import pool\nfrom alembic import context\nconfig = context.config\nif config.config_file_name is not None:\n    fileConfig(config.config_file_name)\ntarget_metadata = None\ndef run_migrations_offline():\n    url = config.get_main_option(\"sqlalchemy.url\")\n    context.configure(url=url, target_metadata=target_metadata, literal_binds=True, dialect_opts={\"paramstyle\": \"named\"})\n    with context.begin_transaction():\n        context.run_migrations()\ndef run_migrations_online():\n    connectable = engine_from_config(config.get_section(config.config_ini_section, {}), prefix=\"sqlalchemy.\", poolclass=pool.NullPool)\n    with connectable.connect() as connection:\n        context.configure(connection=connection, target_metadata=target_metadata)\n";
    let alembic = |env: &str, wants, why| row(&[("alembic.ini", INI), ("alembic/env.py", env)], wants, why);
    let unread: &[&str] = &["alembic.ini a URL unknown", "alembic/env.py unread"];
    let django = |over: &str, wants, why| {
        row(&[("shop/settings/base.py", DJANGO), ("shop/settings/production.py", over)], wants, why)
    };
    vec![
        row(&[("alembic.ini", INI)], &["alembic.ini a URL safe"], ""),
        alembic(STOCK_ENV, &["alembic.ini a URL safe", "alembic/env.py unread"], ""),
        alembic(
            &STOCK_ENV.replace("target_metadata = None\n", "config.set_main_option(\"sqlalchemy.url\", get_url())\n"),
            unread,
            "alembic/env.py",
        ),
        alembic(
            &STOCK_ENV.replace("    connectable =", "    configuration[\"sqlalchemy.url\"] = get_url()\n    connectable ="),
            unread,
            "alembic/env.py",
        ),
        alembic(
            &STOCK_ENV.replace("poolclass=pool.NullPool", "poolclass=pool.NullPool, connect_args={\"ssl_disabled\": True}"),
            unread,
            "alembic/env.py",
        ),
        alembic(
            &STOCK_ENV.replace("poolclass=pool.NullPool", "poolclass=pool.NullPool, url=settings.url"),
            unread,
            "alembic/env.py",
        ),
        alembic(
            &STOCK_ENV.replace("engine_from_config(config.get_section(config.config_ini_section, {}), prefix=\"sqlalchemy.\", poolclass=pool.NullPool)", "create_engine(settings.url)"),
            unread,
            "alembic/env.py",
        ),
        // Settings of Django over others.
        django(
            "from .base import *\nDEBUG = False\n",
            &["shop/settings/base.py DATABASES.default safe", "shop/settings/production.py unread"],
            "",
        ),
        django(
            "from .base import *\nDATABASES = {'default': {'ENGINE': 'mysql.connector.django', 'HOST': 'db', 'OPTIONS': {'ssl_disabled': True, 'use_pure': True}}}\n",
            &["shop/settings/base.py DATABASES.default unknown", "shop/settings/production.py DATABASES.default high"],
            "production.py",
        ),
        django(
            "from .base import *\nDATABASES['default']['OPTIONS'] = {'ssl_disabled': True}\n",
            &["shop/settings/base.py DATABASES.default unknown", "shop/settings/production.py unread"],
            "production.py",
        ),
        django(
            "from shop.settings.base import *  # noqa\nDATABASES['default'].update(OPTIONS={})\n",
            &["shop/settings/base.py DATABASES.default unknown", "shop/settings/production.py unread"],
            "production.py",
        ),
        django(
            "from .base import DATABASES\ndefault = DATABASES['default']\ndefault['OPTIONS'] = {}\n",
            &["shop/settings/base.py DATABASES.default unknown", "shop/settings/production.py unread"],
            "production.py",
        ),
        row(
            &[
                ("shop/settings.py", DJANGO),
                ("shop/apps.py", "from django.conf import settings\nsettings.DATABASES['default']['OPTIONS'].pop('ssl_ca')\n"),
            ],
            &["shop/settings.py DATABASES.default unknown", "shop/apps.py unread"],
            "apps.py",
        ),
        // It is looked at, and not changed; the settings of another program are its own.
        row(
            &[
                ("shop/settings.py", DJANGO),
                ("shop/backup.py", "from django.conf import settings\nhost = settings.DATABASES['default']['HOST']\nprint(settings.DATABASES['default'].get('NAME'))\n"),
            ],
            &["shop/settings.py DATABASES.default safe", "shop/backup.py unread"],
            "",
        ),
        row(
            &[
                ("a/settings/base.py", DJANGO),
                ("b/settings/base.py", "DATABASES = {}\n"),
                ("b/settings/production.py", "from .base import *\nDATABASES['default'] = {}\n"),
            ],
            &["a/settings/base.py DATABASES.default safe", "b/settings/base.py unread", "b/settings/production.py unread"],
            "",
        ),
    ]
}

/// A dictionary of a module, and what those do to it who import it.
fn importer_rows() -> Vec<Row> {
    const CONFIG: &str = "import pymysql\nDEBUG = False\nDB = {'host': 'db', 'ssl_ca': '/ca.pem', 'ssl_verify_cert': True, 'ssl_verify_identity': True}\ndef connect():\n    return pymysql.connect(**DB)\n";
    let with = |code: &str, wants, why| row(&[("config.py", CONFIG), ("app.py", code)], wants, why);
    let mut all = vec![
        row(&[("config.py", CONFIG)], &["config.py pymysql.connect() safe"], ""),
        // Ordinary importers.
        with(
            "from config import connect\nc = connect()\n",
            &["config.py pymysql.connect() safe", "app.py unread"],
            "",
        ),
        with(
            "import config\nconfig.DEBUG = True\nprint(config.DB['host'])\n",
            &["config.py pymysql.connect() safe", "app.py unread"],
            "",
        ),
        with(
            "from config import DB\nhost = DB['host']\nif DB['host'] == 'x':\n    pass\nmine = dict(DB, host='x')\nmine['ssl_ca'] = None\n",
            &["config.py pymysql.connect() safe", "app.py unread"],
            "",
        ),
        with("from config import DB\nDB = {}\n", &["config.py pymysql.connect() safe", "app.py unread"], ""),
        with(
            "from other import DB\nDB['ssl_disabled'] = True\n",
            &["config.py pymysql.connect() safe", "app.py unread"],
            "",
        ),
    ];
    for code in [
        "from config import DB\nDB['ssl_disabled'] = True\n",
        "from config import (\n    connect,\n    DB,\n)\nDB['ssl_disabled'] = True\n",
        "from config import DB as D\nD.update(ssl_disabled=True)\n",
        "from config import DB\ndel DB['ssl_ca']\n",
        "from config import DB\nDB.pop('ssl_ca')\n",
        "from config import DB\nDB |= {'ssl_disabled': True}\n",
        "from config import DB\nweaken(DB)\n",
        "from config import DB\nd = DB\nd['ssl_disabled'] = True\n",
        "from config import *\nDB['ssl_disabled'] = True\n",
        "import config\nconfig.DB['ssl_disabled'] = True\n",
        "import config\nconfig.DB.update(ssl_disabled=True)\n",
        "import config\nconfig.DB = {}\n",
        "import config as c\nc.DB['ssl_disabled'] = True\n",
        "import config as c\nsetattr(c, 'DB', {})\n",
        "import config as c\ndel c.DB['ssl_ca']\n",
        "import config\nd = config.DB\nd['ssl_disabled'] = True\n",
        "from . import config\nconfig.DB['ssl_disabled'] = True\n",
        "def f():\n    import config\n    config.DB['ssl_disabled'] = True\n",
    ] {
        all.push(with(code, &["config.py pymysql.connect() unknown", "app.py unread"], "app.py"));
    }
    // What is imported is read where it stands, if nobody changes it.
    const SPLIT: &str = "HOST = 'db'\nDB = {'host': HOST, 'password': get(), 'ssl_ca': '/ca.pem', 'ssl_verify_cert': True, 'ssl_verify_identity': True}\n";
    const CONNECTS: &str = "import pymysql\nfrom config import DB\nc = pymysql.connect(**DB)\n";
    let split = |config: &str, code: &str, wants| row(&[("config.py", config), ("db.py", code)], wants, "");
    let unknown: &[&str] = &["config.py unread", "db.py pymysql.connect() unknown"];
    all.push(split(SPLIT, CONNECTS, &["config.py unread", "db.py pymysql.connect() safe"]));
    all.push(split(SPLIT, &CONNECTS.replace("**DB", "**{**DB, 'ssl_disabled': True}"), unknown));
    all.push(split(SPLIT, &CONNECTS.replace("c =", "DB['ssl_disabled'] = True\nc ="), unknown));
    all.push(split(SPLIT, &CONNECTS.replace("c =", "DB = other()\nc ="), unknown));
    all.push(split(SPLIT, &CONNECTS.replace("config import", "settings import"), unknown));
    all.push(split(&format!("{SPLIT}DB['ssl_disabled'] = True\n"), CONNECTS, unknown));
    all.push(split(&format!("{SPLIT}from local import *\n"), CONNECTS, unknown));
    all.push(split(&SPLIT.replace("DB =", "if x:\n    DB ="), CONNECTS, unknown));
    all.push(split(&SPLIT.replace("'/ca.pem'", "ca_of()"), CONNECTS, unknown));
    all.push(row(
        &[
            ("config.py", SPLIT),
            ("db.py", CONNECTS),
            ("boot.py", "import config\nconfig.DB['ssl_disabled'] = True\n"),
        ],
        &["boot.py unread", "config.py unread", "db.py pymysql.connect() unknown"],
        "",
    ));
    // By way of the package.
    all.push(row(
        &[
            ("shop/config.py", CONFIG),
            ("shop/__init__.py", "from .config import DB, connect\n"),
            ("run.py", "from shop import DB, connect\nDB['ssl_disabled'] = True\nconnect()\n"),
        ],
        &["shop/config.py pymysql.connect() unknown", "run.py unread"],
        "run.py",
    ));
    all
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
