//! Settings in one file, and code in another that connects with parts of them. Each had a row of its own among files that a stranger
//! wrote, where the driver went into cleartext and the settings were called safe. Beside it: the same, handed on as it is.

use super::*;

const GO: &str = "package main\n\nimport (\n\t\"database/sql\"\n\t\"os\"\n\t\"strings\"\n\n\t_ \"github.com/go-sql-driver/mysql\"\n)\n\nfunc main() {\n";
const PROPERTIES: &str = "jdbc.url=jdbc:mysql://db:3306/app?sslMode=VERIFY_IDENTITY\njdbc.username=app\n";
const JSON: &str = r#"{"production": {"host": "db", "dialect": "mysql", "dialectOptions": {"ssl": {"rejectUnauthorized": true}}}}"#;
const YAML: &str = "production:\n  adapter: mysql2\n  host: db\n  sslca: /ca.pem\n";

pub(super) fn rows() -> Vec<Row> {
    let java = |body: &str| {
        format!(
            "public class Db {{\n  static void open(java.util.Properties p) throws Exception {{\n    {body}\n  }}\n}}\n"
        )
    };
    vec![
        row(
            &[
                (".env", "MYSQL_DSN=app:geheim@tcp(db:3306)/app?tls=true\n"),
                (
                    "main.go",
                    &format!(
                        "{GO}\tdsn := strings.SplitN(os.Getenv(\"MYSQL_DSN\"), \"?\", 2)[0]\n\tsql.Open(\"mysql\", dsn)\n}}\n"
                    ),
                ),
            ],
            &[".env MYSQL_DSN unknown", "main.go unread"],
            "main.go",
        ),
        row(
            &[
                (".env", "MYSQL_DSN=app:geheim@tcp(db:3306)/app?tls=true\n"),
                (
                    "main.go",
                    &format!("{GO}\tsql.Open(\"mysql\", os.Getenv(\"MYSQL_DSN\"))\n}}\n")
                        .replace("\t\"strings\"\n", ""),
                ),
            ],
            &[".env MYSQL_DSN safe", "main.go a text safe"],
            "",
        ),
        row(
            &[
                ("db.properties", PROPERTIES),
                (
                    "Db.java",
                    &java("DriverManager.getConnection(p.getProperty(\"jdbc.url\").split(\"\\\\?\")[0]);"),
                ),
            ],
            &["db.properties jdbc.url unknown", "Db.java unread"],
            "Db.java",
        ),
        row(
            &[
                ("config/config.json", JSON),
                (
                    "db.js",
                    "const { Sequelize } = require('sequelize');\nconst config = require('./config/config.json').production;\n\
                     module.exports = new Sequelize(config.database, config.username, config.password, { host: config.host, dialect: config.dialect });\n",
                ),
            ],
            &["config/config.json production unknown", "db.js unread"],
            "db.js",
        ),
        row(
            &[
                ("config/config.json", JSON),
                (
                    "db.js",
                    "const { Sequelize } = require('sequelize');\nconst config = require('./config/config.json').production;\n\
                     module.exports = new Sequelize(config.database, config.username, config.password, config);\n",
                ),
            ],
            &["config/config.json production low", "db.js unread"],
            "",
        ),
        row(
            &[
                ("config/database.yml", YAML),
                (
                    "job.rb",
                    "require 'mysql2'\ncfg = YAML.load_file(File.join(__dir__, 'config/database.yml'))['production']\n\
                     Mysql2::Client.new(cfg.slice('host', 'username').transform_keys(&:to_sym))\n",
                ),
            ],
            &["config/database.yml production unknown", "job.rb Mysql2::Client.new unknown"],
            "job.rb",
        ),
        row(
            &[
                (
                    "application.yml",
                    "spring:\n  datasource:\n    url: jdbc:mysql://db:3306/app?sslMode=VERIFY_IDENTITY\n",
                ),
                ("Db.java", &java("pool.addDataSourceProperty(\"sslMode\", \"DISABLED\");")),
            ],
            &["application.yml spring.datasource.url unknown", "Db.java unread"],
            "Db.java",
        ),
    ]
}
