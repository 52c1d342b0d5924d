//! Rows of deployments and programs in which one given file is laid over another, found by an outsider: the one below was judged as
//! if it decided.

use super::{Row, row};

const GO_SAFE: &str = "u:geheim@tcp(db:3306)/shop?tls=true";
const GO_PLAIN: &str = "u:geheim@tcp(db:3306)/shop";
const LARAVEL: &str = "<?php\nreturn ['connections' => ['mysql' => [\n    'driver' => 'mysql', 'host' => 'db', 'database' => 'x',\n    'options' => [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem'],\n]]];\n";
const FLASK: &str =
    "class Config:\n    SQLALCHEMY_DATABASE_URI = 'mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem'\n";
const KNEX: &str = "module.exports = {\n  production: {\n    client: 'mysql2',\n    connection: { host: 'h', user: 'u', ssl: { rejectUnauthorized: true, verifyIdentity: true } },\n  },\n};\n";
const SEQUELIZE: &str = "{\"production\": {\"username\": \"u\", \"host\": \"h\", \"dialect\": \"mysql\", \"dialectOptions\": {\"ssl\": {\"rejectUnauthorized\": true, \"verifyIdentity\": true}}}}\n";

pub(super) fn rows() -> Vec<Row> {
    let mut all = laravel();
    all.extend(flask());
    all.extend(node());
    all.extend(environments());
    all.extend(spring());
    all.extend(rails());
    all.extend(others());
    all
}

fn laravel() -> Vec<Row> {
    const UNKNOWN: &[&str] = &["app/Tenancy.php unread", "config/database.php connections.mysql unknown"];
    const SAFE: &[&str] = &["app/Tenancy.php unread", "config/database.php connections.mysql safe"];
    let with = |statement: &str, wants, why| {
        let code =
            format!("<?php\nnamespace App;\nclass Tenancy {{ static function boot() {{ {statement} }} }}\n");
        row(&[("config/database.php", LARAVEL), ("app/Tenancy.php", &code)], wants, why)
    };
    vec![
        with("Config::set('database.connections.mysql.options', []);", UNKNOWN, "Tenancy.php"),
        with("config(['database.connections.mysql.options' => []]);", UNKNOWN, "Tenancy.php"),
        with("config(['database' => $all]);", UNKNOWN, "Tenancy.php"),
        with("config()->set('database.connections.mysql.options', [1]);", UNKNOWN, "Tenancy.php"),
        with("config()->set(\"database.connections.$name\", $all);", UNKNOWN, "Tenancy.php"),
        with("app('config')->set('database.connections.mysql', $all);", UNKNOWN, "Tenancy.php"),
        with("app('config')['database.connections.mysql.options'] = [];", UNKNOWN, "Tenancy.php"),
        // To read it, or to set what is no option, changes nothing.
        with("$h = config('database.connections.mysql.host');", SAFE, ""),
        with("$h = Config::get('database.default');", SAFE, ""),
        with("config(['app.name' => 'x']);", SAFE, ""),
        with("config(['database.default' => 'mysql']);", SAFE, ""),
    ]
}

fn flask() -> Vec<Row> {
    const UNKNOWN: &[&str] = &["app.py unread", "config.py SQLALCHEMY_DATABASE_URI unknown"];
    const SAFE: &[&str] = &["app.py unread", "config.py SQLALCHEMY_DATABASE_URI safe"];
    let with = |code: &str, wants, why| {
        let code = format!(
            "from flask import Flask\napp = Flask(__name__)\napp.config.from_object('config.Config')\n{code}\n"
        );
        row(&[("config.py", FLASK), ("app.py", &code)], wants, why)
    };
    vec![
        with("app.config['SQLALCHEMY_ENGINE_OPTIONS'] = {'connect_args': {'ssl': {}}}", UNKNOWN, "app.py"),
        with(
            "app.config['SQLALCHEMY_DATABASE_URI'] = app.config['SQLALCHEMY_DATABASE_URI'].split('?')[0]",
            UNKNOWN,
            "app.py",
        ),
        with("app.config.update(SQLALCHEMY_ENGINE_OPTIONS=opts)", UNKNOWN, "app.py"),
        with("app.config.from_mapping({'SQLALCHEMY_ENGINE_OPTIONS': opts})", UNKNOWN, "app.py"),
        with("app.config.setdefault('SQLALCHEMY_ENGINE_OPTIONS', opts)", UNKNOWN, "app.py"),
        with("app.config['SECRET_KEY'] = key", SAFE, ""),
        with("print(app.config['SQLALCHEMY_DATABASE_URI'])", SAFE, ""),
    ]
}

fn node() -> Vec<Row> {
    let knex = |code: &str, wants, why| row(&[("knexfile.js", KNEX), ("db.js", code)], wants, why);
    let sequelize = |code: &str, wants, why| {
        let code = format!(
            "const Sequelize = require('sequelize');\nconst config = require('../config/config.json').production;\n{code}\n"
        );
        row(&[("config/config.json", SEQUELIZE), ("models/index.js", &code)], wants, why)
    };
    vec![
        knex(
            "const knex = require('knex');\nconst config = require('./knexfile').production;\nconfig.connection.ssl = { rejectUnauthorized: false };\nmodule.exports = knex(config);\n",
            &["db.js unread", "knexfile.js production unknown"],
            "db.js",
        ),
        knex(
            "import knex from 'knex';\nimport all from './knexfile.js';\nexport default knex(Object.assign(all.production, more));\n",
            &["db.js unread", "knexfile.js production unknown"],
            "db.js",
        ),
        knex(
            "const knex = require('knex');\nconst config = require('./knexfile').production;\nmodule.exports = knex(config);\n",
            &["db.js unread", "knexfile.js production safe"],
            "",
        ),
        // The file of another folder is another file.
        row(
            &[
                ("a/knexfile.js", KNEX),
                ("b/db.js", "const c = require('./knexfile');\nc.production.connection.ssl = null;\n"),
            ],
            &["a/knexfile.js production safe", "b/db.js unread"],
            "",
        ),
        sequelize(
            "const s = new Sequelize(config.database, config.username, config.password, { ...config, dialectOptions: {} });",
            &["config/config.json production unknown", "models/index.js unread"],
            "index.js",
        ),
        sequelize(
            "const s = new Sequelize(config.database, config.username, config.password, { ...config, ...more });",
            &["config/config.json production unknown", "models/index.js unread"],
            "index.js",
        ),
        sequelize(
            "const s = new Sequelize(config.database, config.username, config.password, config);",
            &["config/config.json production safe", "models/index.js unread"],
            "",
        ),
    ]
}

/// Of one variable, what one file says comes over what another says.
fn environments() -> Vec<Row> {
    let unit = |value: &str| format!("[Service]\nEnvironment=\"DB_DSN={value}\"\nExecStart=/usr/bin/shop\n");
    let compose = |value: &str| {
        format!("services:\n  api:\n    image: api\n    environment:\n      DB_DSN: \"{value}\"\n")
    };
    let map = |value: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: shop }}\ndata:\n  DB_DSN: \"{value}\"\n")
    };
    let with_file = |value: &str| {
        format!("services:\n  api:\n    env_file: app.env\n    environment:\n      DB_DSN: \"{value}\"\n")
    };
    vec![
        row(
            &[("shop.service", &unit(GO_SAFE)), ("shop.service.d/override.conf", &unit(GO_PLAIN))],
            &["shop.service DB_DSN unknown", "shop.service.d/override.conf DB_DSN high"],
            "override.conf",
        ),
        row(
            &[("shop.service", &unit(GO_SAFE)), ("other.service.d/override.conf", &unit(GO_PLAIN))],
            &["shop.service DB_DSN safe", "other.service.d/override.conf DB_DSN high"],
            "",
        ),
        row(
            &[
                ("shop.service", &unit(GO_SAFE)),
                ("shop.service.d/10-env.conf", "[Service]\nEnvironmentFile=/nowhere/x.env\n"),
            ],
            &["/nowhere/x.env unread", "shop.service DB_DSN unknown"],
            "10-env.conf",
        ),
        // Two of them: the later one counts.
        row(
            &[("shop.service.d/10.conf", &unit(GO_SAFE)), ("shop.service.d/20.conf", &unit(GO_PLAIN))],
            &["shop.service.d/10.conf DB_DSN unknown", "shop.service.d/20.conf DB_DSN high"],
            "20.conf",
        ),
        // The file is given, and named by another.
        row(
            &[("compose.yml", &with_file(GO_PLAIN)), ("app.env", &format!("DB_DSN={GO_SAFE}\n"))],
            &["app.env DB_DSN unknown", "compose.yml services.api.environment.DB_DSN high"],
            "compose.yml",
        ),
        row(
            &[
                ("compose.yml", "services:\n  api:\n    env_file: [common.env, prod.env]\n"),
                ("common.env", &format!("DB_DSN={GO_PLAIN}\n")),
                ("prod.env", &format!("DB_DSN={GO_SAFE}\n")),
            ],
            &["common.env DB_DSN unknown", "prod.env DB_DSN safe"],
            "compose.yml",
        ),
        row(
            &[
                ("shop.service", &format!("{}EnvironmentFile=-shop.env\n", unit(GO_SAFE))),
                ("shop.env", &format!("DB_DSN={GO_PLAIN}\n")),
            ],
            &["shop.env DB_DSN high"],
            "",
        ),
        row(
            &[("docker-compose.yml", &compose(GO_SAFE)), ("docker-compose.override.yml", &compose(GO_PLAIN))],
            &[
                "docker-compose.override.yml services.api.environment.DB_DSN high",
                "docker-compose.yml services.api.environment.DB_DSN unknown",
            ],
            "docker-compose.override.yml",
        ),
        row(
            &[("docker-compose.yml", &compose(GO_SAFE)), ("docker-compose.prod.yml", &compose(GO_PLAIN))],
            &[
                "docker-compose.prod.yml services.api.environment.DB_DSN high",
                "docker-compose.yml services.api.environment.DB_DSN unknown",
            ],
            "docker-compose.prod.yml",
        ),
        row(
            &[
                ("docker-compose.yml", &compose(GO_SAFE)),
                ("docker-compose.override.yml", "services:\n  api:\n    ports: ['1:1']\n"),
            ],
            &[
                "docker-compose.override.yml unread",
                "docker-compose.yml services.api.environment.DB_DSN safe",
            ],
            "",
        ),
        // Another service has another environment.
        row(
            &[
                ("docker-compose.yml", &compose(GO_SAFE)),
                ("docker-compose.override.yml", &compose(GO_PLAIN).replace("api:", "web:")),
            ],
            &[
                "docker-compose.override.yml services.web.environment.DB_DSN high",
                "docker-compose.yml services.api.environment.DB_DSN safe",
            ],
            "",
        ),
        row(
            &[("base/configmap.yaml", &map(GO_SAFE)), ("overlays/prod/patch.yaml", &map(GO_PLAIN))],
            &["base/configmap.yaml data.DB_DSN unknown", "overlays/prod/patch.yaml data.DB_DSN high"],
            "patch.yaml",
        ),
        row(
            &[
                ("base/configmap.yaml", &map(GO_SAFE)),
                ("base/other.yaml", &map(GO_PLAIN).replace("shop }", "web }")),
            ],
            &["base/configmap.yaml data.DB_DSN safe", "base/other.yaml data.DB_DSN high"],
            "",
        ),
        // A container's own variables come over those that it takes from a map.
        row(
            &[(
                "all.yaml",
                &format!(
                    "{}---\nkind: Deployment\nspec:\n  containers:\n    - name: shop\n      envFrom: [ {{ configMapRef: {{ name: shop }} }} ]\n      env:\n        - {{ name: DB_DSN, value: \"{GO_PLAIN}\" }}\n",
                    map(GO_SAFE)
                ),
            )],
            &["all.yaml data.DB_DSN unknown", "all.yaml spec.containers.env.DB_DSN high"],
            "",
        ),
    ]
}

fn spring() -> Vec<Row> {
    const YML: &str = "spring:\n  datasource:\n    url: jdbc:mysql://db/shop?sslMode=VERIFY_IDENTITY\n";
    const PLAIN: &str = "jdbc:mysql://db/shop?useSSL=false";
    let with = |name: &'static str, text: &str, wants, why| {
        row(&[("application.yml", YML), (name, text)], wants, why)
    };
    vec![
        with(
            "compose.yml",
            &format!("services:\n  shop:\n    environment:\n      SPRING_DATASOURCE_URL: {PLAIN}\n"),
            &[
                "application.yml spring.datasource.url unknown",
                "compose.yml services.shop.environment.SPRING_DATASOURCE_URL high",
            ],
            "compose.yml",
        ),
        with(
            "compose.yml",
            &format!("services:\n  shop:\n    command: [\"java\", \"--spring.datasource.url={PLAIN}\"]\n"),
            &["application.yml spring.datasource.url unknown", "compose.yml unread"],
            "compose.yml",
        ),
        with(
            "deployment.yaml",
            "kind: Deployment\nspec:\n  containers:\n    - env:\n        - name: SPRING_APPLICATION_JSON\n          value: '{\"spring\":{\"datasource\":{\"hikari\":{\"data-source-properties\":{\"sslMode\":\"DISABLED\"}}}}}'\n",
            &["application.yml spring.datasource.url unknown", "deployment.yaml unread"],
            "deployment.yaml",
        ),
        with(
            "app.env",
            "SPRING_DATASOURCE_HIKARI_DATA_SOURCE_PROPERTIES_SSLMODE=DISABLED\n",
            &["app.env unread", "application.yml spring.datasource.url unknown"],
            "app.env",
        ),
        with(
            "app.service",
            "[Service]\nExecStart=java -Dspring.datasource.url=x -jar a.jar\n",
            &["app.service unread", "application.yml spring.datasource.url unknown"],
            "app.service",
        ),
        // A login and a profile are no TLS.
        with(
            "compose.yml",
            "services:\n  shop:\n    environment:\n      SPRING_DATASOURCE_PASSWORD: geheim\n      SPRING_MAIN_BANNER_MODE: 'off'\n",
            &["application.yml spring.datasource.url safe", "compose.yml unread"],
            "",
        ),
    ]
}

fn rails() -> Vec<Row> {
    const YML: &str = "production:\n  adapter: mysql2\n  host: db\n  database: x\n  sslca: /ca\n";
    let one = |text: &str, wants, why| row(&[("config/database.yml", text)], wants, why);
    vec![
        // What is shared is merged into every environment, and is none itself.
        one(
            "shared:\n  adapter: mysql2\n  sslca: /ca\nproduction:\n  adapter: mysql2\n  host: db\n  database: x\n",
            &["config/database.yml production critical"],
            "",
        ),
        one(
            "shared:\n  adapter: mysql2\n  host: db\n  sslca: /ca\nproduction:\n  database: x\ndevelopment:\n  database: d\n  host: localhost\n",
            &["config/database.yml development safe", "config/database.yml production critical"],
            "",
        ),
        one(
            "shared:\n  adapter: mysql2\n  default_file: /etc/app.cnf\nproduction:\n  adapter: mysql2\n  host: db\n  sslca: /ca\n",
            &["config/database.yml production unknown"],
            "",
        ),
        row(
            &[
                ("config/database.yml", YML),
                (
                    "config/initializers/db.rb",
                    "cfg = ActiveRecord::Base.connection_db_config.configuration_hash.merge(sslca: nil)\nActiveRecord::Base.establish_connection(cfg)\n",
                ),
            ],
            &["config/database.yml production unknown", "config/initializers/db.rb unread"],
            "db.rb",
        ),
        row(
            &[
                ("config/database.yml", YML),
                (
                    "app/models/a.rb",
                    "class A < ActiveRecord::Base\n  establish_connection :production\nend\n",
                ),
            ],
            &["app/models/a.rb unread", "config/database.yml production critical"],
            "",
        ),
        // NAME_DATABASE_URL is merged into the entry of that name.
        row(
            &[
                (
                    "config/database.yml",
                    "production:\n  primary:\n    adapter: mysql2\n    host: db\n    sslca: /ca\n",
                ),
                (".env.production", "PRIMARY_DATABASE_URL=mysql2://u:geheim@x/shop\n"),
            ],
            &[
                ".env.production PRIMARY_DATABASE_URL unknown",
                "config/database.yml production.primary critical",
            ],
            "database.yml",
        ),
        row(
            &[
                ("config/database.yml", "production:\n  primary:\n    adapter: mysql2\n    host: db\n"),
                (".env.production", "PRIMARY_DATABASE_URL=mysql2://u:geheim@x/shop?sslca=/ca\n"),
            ],
            &[
                ".env.production PRIMARY_DATABASE_URL unknown",
                "config/database.yml production.primary unknown",
            ],
            "",
        ),
    ]
}

fn others() -> Vec<Row> {
    const WORDPRESS: &str = "<?php\ndefine('DB_NAME', 'x');\ndefine('DB_HOST', 'db');\ndefine('MYSQL_CLIENT_FLAGS', MYSQLI_CLIENT_SSL);\n";
    const ENGINE: &str = "from sqlalchemy import create_engine\nengine = create_engine(\"mysql+mysqldb://u:geheim@db/x?ssl_ca=/ca.pem\")\n";
    vec![
        row(
            &[
                ("wp-config.php", WORDPRESS),
                (
                    "wp-content/db.php",
                    "<?php\nclass my_db extends wpdb { function db_connect($a = true) { return f(); } }\n$wpdb = new my_db();\n",
                ),
            ],
            &["wp-config.php DB_HOST (WordPress) unknown", "wp-content/db.php unread"],
            "db.php",
        ),
        // PyMySQL under the name of the other.
        row(
            &[("app/__init__.py", "import pymysql\npymysql.install_as_MySQLdb()\n"), ("app/db.py", ENGINE)],
            &["app/db.py create_engine() unknown"],
            "__init__.py",
        ),
        row(
            &[
                (
                    "etc/my.cnf",
                    "[client]\nhost=db\nssl-mode=VERIFY_IDENTITY\nssl-ca=/ca.pem\n[mysqld]\nport=1\n",
                ),
                ("home/app/.my.cnf", "[mysql]\nssl-mode=PREFERRED\n"),
            ],
            &["etc/my.cnf [client] unknown", "home/app/.my.cnf [mysql] unknown"],
            "",
        ),
    ]
}
