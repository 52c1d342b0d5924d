//! Rows of code that takes what another file says, and changes it or hands it on.

use super::{Row, row};

const SPLIT: &str = "HOST = 'db'\nDB = {'host': HOST, 'password': get(), 'ssl_ca': '/ca.pem', 'ssl_verify_cert': True, 'ssl_verify_identity': True}\n";
const CONNECTS: &str = "import pymysql\nfrom config import DB\nc = pymysql.connect(**DB)\n";
const DJANGO: &str = "DATABASES = {'default': {'ENGINE': 'mysql.connector.django', 'HOST': 'db', 'OPTIONS': {'use_pure': True, 'ssl_ca': '/ca.pem', 'ssl_verify_cert': True, 'ssl_verify_identity': True}}}\n";

/// Code that takes a URL out of the environment, and gives the driver more than it.
pub(super) fn url_rows() -> Vec<Row> {
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
        row(
            &[
                (".env", SAFE),
                ("config.py", "import os\nclass Config:\n    DB_URI = os.environ['DATABASE_URL']\n"),
                (
                    "db.py",
                    "from sqlalchemy import create_engine\nfrom config import Config\nengine = create_engine(Config.DB_URI.split('?')[0])\n",
                ),
            ],
            &[".env DATABASE_URL unknown", "config.py unread", "db.py unread"],
            "db.py",
        ),
        python(
            SAFE,
            "import os\nrun(os.environ['DATABASE_URL'].replace('?', ';'))\n",
            &[".env DATABASE_URL unknown", "app.py unread"],
            "app.py",
        ),
        python(
            SAFE,
            "import os\nrun(os.environ['DATABASE_URL'].strip())\n",
            &[".env DATABASE_URL safe", "app.py unread"],
            "",
        ),
        // Taken apart, of which the driver gets the place and the login.
        python(
            SAFE,
            "import os\nimport pymysql\nfrom urllib.parse import urlparse\nu = urlparse(os.environ['DATABASE_URL'])\nc = pymysql.connect(host=u.hostname, user=u.username)\n",
            &[".env DATABASE_URL unknown", "app.py pymysql.connect() high"],
            "app.py",
        ),
        python(
            SAFE,
            "import os\nurl = os.environ['DATABASE_URL']\nparts = urlparse(url)\nrun(parts.hostname)\n",
            &[".env DATABASE_URL unknown", "app.py unread"],
            "app.py",
        ),
        row(
            &[
                (".env", SAFE),
                ("app.py", "import os\nurl = os.environ['DATABASE_URL']\nrun(url)\n"),
                (
                    "web.py",
                    "from urllib.parse import urlparse\ndef host(url):\n    return urlparse(url).hostname\n",
                ),
            ],
            &[".env DATABASE_URL safe", "app.py unread", "web.py unread"],
            "",
        ),
        // A constant of another module is one like it.
        row(
            &[
                ("shop/config.py", "URL = 'mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem'\n"),
                (
                    "shop/db.py",
                    "from sqlalchemy import create_engine\nfrom .config import URL\nengine = create_engine(URL)\n",
                ),
            ],
            &["shop/config.py URL safe", "shop/db.py create_engine() safe"],
            "",
        ),
        row(
            &[
                ("shop/config.py", "URL = 'mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem'\n"),
                (
                    "shop/db.py",
                    "from sqlalchemy import create_engine\nfrom .config import URL\nengine = create_engine(URL, connect_args={'ssl': {'check_hostname': False}})\n",
                ),
            ],
            &["shop/config.py URL unknown", "shop/db.py create_engine() medium"],
            "shop/db.py",
        ),
        row(
            &[
                ("config.js", "const dbUrl = 'mysql2://u:geheim@db/x?sslca=/ca';\nmodule.exports = dbUrl;\n"),
                (
                    "db.js",
                    "const dbUrl = require('./config');\nmodule.exports = connect(dbUrl, { ssl: false });\n",
                ),
            ],
            &["config.js dbUrl unknown", "db.js unread"],
            "",
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
pub(super) fn replaced_rows() -> Vec<Row> {
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
pub(super) fn importer_rows() -> Vec<Row> {
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
