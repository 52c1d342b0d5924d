use std::fs;

use report::shape::ProveCaseRow;

use super::*;

fn looked(name: &str, text: &str) -> ConfigReview {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(name);
    fs::write(&path, text).expect("written");
    let matrix = Matrix::built_in().expect("it is built in");
    look(&ConfigRequest { files: &[path], texts: &[], driver: None }, &matrix)
}

/// Worst severity and first fix of the only connection.
fn only(looked: &ConfigReview) -> (&Connection, Option<Severity>, String) {
    let [one] = looked.connections.as_slice() else { panic!("not one: {looked:#?}") };
    let fix = one.predictions.iter().find_map(|prediction| prediction.fix.as_ref());
    (one, one.severity(), fix.map_or_else(String::new, |fix| format!("{} ({})", fix.set.join(" "), fix.note)))
}

#[test]
fn every_mode_that_settings_can_be_has_a_row_in_the_matrix() {
    let matrix = Matrix::built_in().expect("it is built in");
    for client in prove::clients::CLIENTS {
        let Some(settings) = client.settings else { continue };
        for spelt in settings.spelt {
            assert!(
                matrix.row(client, spelt.mode).is_some(),
                "{} {}: run prove clients --page",
                client.id,
                spelt.mode
            );
        }
    }
}

#[test]
fn the_matrix_and_its_page_are_of_one_run() {
    let page = include_str!("../../../../docs/src/reference/clients.md");
    let matrix = Matrix::built_in().expect("it is built in");
    let mut rows = 0;
    for client in &matrix.report.clients {
        let Some(version) = &client.version else { continue };
        let tables = client.modes.iter().flat_map(|mode| [(mode, &mode.cases), (mode, &mode.logins)]);
        for (mode, cases) in tables.filter(|(_, cases)| !cases.is_empty()) {
            let letters: Vec<String> = cases.iter().map(|case| page_letters(mode, case)).collect();
            let row = format!(
                "| {} {version} | `{}` | {} | {} |",
                client.name,
                mode.options.replace('|', "\\|"),
                mode.promises,
                letters.join(" | ")
            );
            let plain: String = row.replace('*', "");
            assert!(page.lines().any(|line| line.replace('*', "") == plain), "the page lacks {row}");
            rows += 1;
        }
    }
    assert_eq!(
        page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| client ")).count(),
        rows
    );
}

fn page_letters(mode: &ProveModeRow, case: &ProveCaseRow) -> String {
    if mode.is_controlled { case.verdict.clone() } else { format!("*{}*", case.verdict) }
}

#[test]
fn the_fix_of_every_mode_is_a_mode_again_and_a_better_one() {
    let matrix = Matrix::built_in().expect("it is built in");
    for client in prove::clients::CLIENTS {
        let Some(settings) = client.settings else { continue };
        for spelt in settings.spelt {
            let given = spelt.settings.iter().map(|(name, is)| Setting {
                key: (*name).to_owned(),
                given: match is {
                    prove::client::ExpectedValue::On => SettingValue::Flag(true),
                    prove::client::ExpectedValue::Off => SettingValue::Flag(false),
                    other => SettingValue::Text(other.text("/ca.pem").to_owned()),
                },
                line: 1,
                file: None,
            });
            let found = ConnectionSettings {
                line: 1,
                what: String::new(),
                driver: Driver::Family(settings.family),
                host: String::new(),
                settings: given.collect(),
                style: Style::Query,
                front: None,
            };
            // What it spells is what it is read as.
            assert_eq!(
                choose::choose(client, &found.settings),
                Choice::Mode { mode: spelt.mode, provided: spelt.provided },
                "{}",
                client.id
            );
            let prediction = predict(client, &found, &matrix);
            let (Some(falls), Some(fix)) = (prediction.falls(), &prediction.fix) else { continue };
            assert!(falls.severity().is_some(), "{} {}: {fix:?}", client.id, spelt.mode);
            assert!(!fix.set.is_empty() || !fix.note.is_empty(), "{} {}", client.id, spelt.mode);
        }
    }
}

#[test]
fn a_fix_is_written_as_the_file_is_and_says_what_goes() {
    let said = looked(
        "app.properties",
        "spring.datasource.url=jdbc:mysql://db/x?useSSL=true&user=u&password=geheim\n",
    );
    let (one, severity, fix) = only(&said);
    assert_eq!(severity, Some(Severity::High));
    assert!(fix.starts_with("sslMode=VERIFY_IDENTITY&trustCertificateKeyStoreUrl=/path/to/ca.pem"), "{fix}");
    let removed = &one.predictions[0].fix.as_ref().expect("a fix").remove;
    assert_eq!(removed.iter().map(|setting| setting.key.as_str()).collect::<Vec<_>>(), ["useSSL"]);
    assert!(!format!("{said:?}").contains("geheim"));
}

#[test]
fn where_no_setting_helps_that_is_said() {
    let said = looked(
        "database.yml",
        "production:\n  adapter: mysql2\n  host: db\n  sslca: /ca\n  ssl_mode: verify_identity\n",
    );
    let (_, severity, fix) = only(&said);
    assert_eq!(severity, Some(Severity::Critical));
    assert!(fix.contains("use another driver"), "{fix}");
}

#[test]
fn what_is_safe_has_no_severity_and_no_fix() {
    let said = looked(
        ".env",
        "URL=mysql+mysqlconnector://u:p@db/x?ssl_ca=/ca&ssl_verify_cert=true&ssl_verify_identity=true&use_pure=true\n",
    );
    let (one, severity, fix) = only(&said);
    assert_eq!((severity, fix.as_str(), one.is_unknown()), (None, "", false));
}

#[test]
fn a_text_is_what_its_driver_takes_it_for_or_unknown() {
    // (file, text, severity, unknown); each was seen with the driver itself.
    let check = |name: &str, text: &str, wanted: Option<Severity>, is_unknown: bool| {
        let said = looked(name, text);
        let all: Vec<_> = said.connections.iter().map(|one| (one.severity(), one.is_unknown())).collect();
        assert!(
            !all.is_empty() && all.iter().all(|one| *one == (wanted, is_unknown)),
            "{name} {text}: {all:?} {said:#?}"
        );
    };
    let option_file = |line: &str| format!("[mariadb-client]\nssl-ca=/ca.pem\n{line}\n");
    for safe in ["ssl-verify-server-cert=On", "ssl_verify_server_cert", "skip-ssl-verify-server-cert=0"] {
        check("my.cnf", &option_file(safe), None, false);
    }
    for unknown in ["ssl-verify-server-cert=yes", "ssl-verify-server-cert=", "ssl=", "ssl=yes", "skip-ssl-ca"]
    {
        check("my.cnf", &option_file(unknown), None, true);
    }
    check("my.cnf", "[mariadb-client]\nskip-ssl\n", Some(Severity::High), false);
    check("my.cnf", "[mariadb-client]\nskip-ssl\nssl-cipher=AES128-SHA\n", None, true);
    let mysql = |lines: &str| {
        let said = looked("my.cnf", &format!("[mysql]\n{lines}\n"));
        let all = said.connections.iter().flat_map(|one| &one.predictions);
        let one = all.clone().find(|one| one.client.id == "mysql-9.7").expect("it reads the group");
        (one.severity(), one.is_unknown())
    };
    assert_eq!(mysql("ssl-ca=/ca.pem\nssl-mode=verify_identity"), (None, false));
    assert_eq!(mysql("ssl-ca=/ca.pem\nssl-mode=verify-identity"), (None, true));
    assert_eq!(mysql("ssl-mode="), (None, true));
    let python = |words: &str| {
        format!(
            "import mysql.connector\nc = mysql.connector.connect(host='h', use_pure=True, ssl_ca='/ca', \
             ssl_verify_cert=True, ssl_verify_identity=True, {words})\n"
        )
    };
    check("a.py", &python("ssl_disabled=False"), None, false);
    check("a.py", &python("ssl_disabled='False'"), None, true);
    check("a.py", &python("ssl_disabled=0"), None, true);
    let url =
        "mysql+mysqlconnector://u@h/x?use_pure=true&ssl_ca=/ca&ssl_verify_cert=true&ssl_verify_identity=true";
    check(".env", &format!("URL={url}&ssl_disabled=False\n"), None, true);
    check(".env", &format!("URL={}\n", url.replace("use_pure=true", "use_pure=false")), None, true);
    let pdo = |value: &str| {
        format!(
            "<?php $c = new PDO('mysql:host=h;dbname=x', 'u', $p, [PDO::MYSQL_ATTR_SSL_CA => '/ca', \
             PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => {value}]);\n"
        )
    };
    for (value, is_unknown) in
        [("true", false), ("1", false), ("'1'", false), ("'true'", true), ("'yes'", true)]
    {
        let said = looked("a.php", &pdo(value));
        assert_eq!(only(&said).0.is_unknown(), is_unknown, "{value}");
    }
    let node = |value: &str| {
        format!(
            "const m = require('mysql2');\nm.createConnection({{host: 'h', ssl: {{ca: fs.readFileSync('/ca'), \
             rejectUnauthorized: {value}}}}});\n"
        )
    };
    check("a.js", &node("false"), Some(Severity::Medium), false);
    for value in ["'false'", "'no'", "0"] {
        check("a.js", &node(value), None, true);
    }
    check("main.go", "sql.Open(\"mysql\", \"u:p@tcp(h:3306)/x?tls=skip_verify\")\n", None, true);
    check("main.go", "sql.Open(\"mysql\", \"u:p@tcp(h:3306)/x?tls=tRuE\")\n", None, true);
}

#[test]
fn who_goes_through_a_socket_is_accused_of_nothing() {
    let is_local = |name: &str, text: &str| {
        let said = looked(name, text);
        let (one, severity, fix) = only(&said);
        let means = one.predictions[0].means().unwrap_or_default();
        assert_eq!(
            (severity, fix.as_str(), means.contains("Unix socket")),
            (None, "", true),
            "{name} {text}: {said:#?}"
        );
        assert!(!one.is_unknown());
    };
    is_local("a.js", "const m = require('mysql2');\nm.createConnection({socketPath: '/run/mysqld.sock'});\n");
    is_local("a.py", "import pymysql\nc = pymysql.connect(unix_socket='/run/mysqld.sock')\n");
    is_local("database.yml", "production:\n  adapter: mysql2\n  socket: /run/mysqld.sock\n");
    is_local("a.php", "<?php $c = new PDO('mysql:unix_socket=/run/mysqld.sock;dbname=x', 'u', $p);\n");
    is_local("a.php", "<?php $c = mysqli_connect('localhost', 'u', $p);\n");
    is_local("main.go", "sql.Open(\"mysql\", \"u:p@unix(/run/mysqld.sock)/x\")\n");
    is_local("my.cnf", "[mysqldump]\nprotocol=SOCKET\nsocket=/run/mysqld.sock\n");
    is_local("d.env", "DB_CONNECTION=mysql\nDB_SOCKET=/run/mysqld.sock\n");
    // A word of the file that is not about TLS stays.
    let said = looked(
        "database.yml",
        "production:\n  adapter: mysql2\n  host: db\n  socket: /s\n  sslverify: true\n",
    );
    let fix = only(&said).0.predictions[0].fix.clone().expect("it goes on in cleartext");
    assert!(fix.remove.iter().all(|setting| setting.key != "socket"), "{fix:?}");
    // Beside another host PHP takes no socket, Go's `localhost` is a network's, and a file's socket is for who names no host.
    for (name, text) in [
        ("a.php", "<?php $c = new PDO('mysql:host=db;unix_socket=/run/mysqld.sock', 'u', $p);\n"),
        ("main.go", "sql.Open(\"mysql\", \"u:p@tcp(localhost:3306)/x\")\n"),
        // Words of other drivers, which these pass over.
        (
            "a.js",
            "const m = require('mysql2');\nm.createConnection({host: 'h', socket: '/run/mysqld.sock'});\n",
        ),
        (".env", "URL=jdbc:mysql://h/x?socket=/run/mysqld.sock\n"),
        ("my.cnf", "[mysql]\nssl-mode=DISABLED\nsocket=/run/mysqld.sock\n"),
    ] {
        let said = looked(name, text);
        assert!(said.connections[0].severity().is_some(), "{name} {text}: {said:#?}");
    }
}

#[test]
fn a_forgotten_sign_gives_no_password_away() {
    let said = looked("my.cnf", "[client]\nhost=h\nssl-passphrase HUNTER2\npassword tls-HUNTER3\n");
    assert!(said.connections.iter().all(Connection::is_unknown), "{said:#?}");
    let matrix = Matrix::built_in().expect("it is built in");
    let report = rows::report(&said, &matrix, false).to_json();
    assert!(!format!("{said:?}{report}").contains("HUNTER"), "{said:#?}");
}

#[test]
fn a_pipe_that_nobody_writes_to_is_no_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let pipe = dir.path().join("my.cnf");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let matrix = Matrix::built_in().expect("it is built in");
    let said = look(&ConfigRequest { files: &[pipe], texts: &[], driver: None }, &matrix);
    assert_eq!(said.unread[0].why, "it is no file");
}

#[test]
fn unknown_is_said_and_never_rounded_up() {
    let said = looked("db.py", "import pymysql\nc = pymysql.connect(host='db', ssl_ca=os.environ['CA'])\n");
    let (one, severity, _) = only(&said);
    assert!(one.is_unknown() && severity.is_none());
    let said = looked(".env", "DATABASE_URL=mysql://u:p@db/x\n");
    assert!(only(&said).0.is_unknown());
    // A file without one is no clean one.
    assert_eq!(looked("settings.py", "DEBUG = True\n").unread.len(), 1);
    assert_eq!(looked("values.yaml", "a: 1\n{{ b }}\n").unread.len(), 1);
}

#[test]
fn each_client_reads_an_option_file_and_its_includes_for_itself() {
    let dir = tempfile::tempdir().expect("a directory");
    let (top, inner) = (dir.path().join("my.cnf"), dir.path().join("tls.cnf"));
    fs::write(&inner, "[client]\nssl-ca=/etc/ssl/db-ca.pem\n").expect("written");
    fs::write(&top, format!("[client]\npassword=geheim\n!include {}\n", inner.display())).expect("written");
    let matrix = Matrix::built_in().expect("it is built in");
    let said = look(&ConfigRequest { files: std::slice::from_ref(&top), texts: &[], driver: None }, &matrix);
    let (one, severity, _) = only(&said);
    assert_eq!(one.found.settings[0].file.as_deref(), Some(inner.display().to_string().as_str()));
    let of = |id: &str| one.predictions.iter().find(|one| one.client.id == id).expect("it reads [client]");
    // The same line is enough for one client, and not for another.
    assert_eq!(of("mariadb-10.11").severity(), Some(Severity::Critical));
    assert_eq!(of("mariadb-11.8").severity(), None);
    assert_eq!(of("mysql-9.7").severity(), Some(Severity::Low));
    assert_eq!(severity, Some(Severity::Critical));
    assert!(!format!("{said:?}").contains("geheim"));
}

#[test]
fn what_cannot_be_opened_or_is_no_file_stops_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let matrix = Matrix::built_in().expect("it is built in");
    let files = [dir.path().join("missing.env"), dir.path().to_owned(), PathBuf::from("/dev/zero")];
    let said = look(
        &ConfigRequest {
            files: &files,
            texts: &["jdbc:mysql://u:geheim@db/x".into(), "geheim".into()],
            driver: None,
        },
        &matrix,
    );
    assert_eq!((said.connections.len(), said.unread.len()), (1, 4), "{said:?}");
    assert!(!format!("{said:?}").contains("geheim"));
}

#[test]
fn environment_files_are_followed_from_where_they_are_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("compose.yml");
    fs::write(&path, "services:\n  web:\n    env_file: web.env\n  other:\n    env_file: missing.env\n")
        .expect("written");
    fs::write(dir.path().join("web.env"), "DB_URL=jdbc:mysql://u:geheim@db/x?useSSL=false\n")
        .expect("written");
    let matrix = Matrix::built_in().expect("it is built in");
    let said = look(&ConfigRequest { files: &[path], texts: &[], driver: None }, &matrix);
    assert_eq!(said.connections.len(), 1, "{said:?}");
    assert!(said.connections[0].file.ends_with("web.env") && said.unread.len() == 1, "{said:?}");
}

#[test]
fn a_broken_option_file_is_told_without_its_words() {
    let said = looked("my.cnf", "[client]\n=geheim\n[geheim\n");
    assert_eq!(said.unread.len(), 1, "{said:?}");
    let said = format!("{:?}{:?}", said, looked("my.cnf", "[client]\npassword geheim\u{0}\n"));
    assert!(!said.contains("geheim") && said.contains("not shown"), "{said}");
}

#[test]
fn a_second_connection_in_several_variables_is_never_passed_over() {
    let url = "DATABASE_URL=mysql+pymysql://u:geheim@db1/x?ssl_ca=/ca.pem\n";
    let said = looked(".env", &format!("{url}DB_HOST=db2\nDB_USERNAME=app\nDB_PASSWORD=geheim\n"));
    assert_eq!((said.connections.len(), said.unread.len()), (1, 1), "{said:?}");
    let why = &said.unread[0].why;
    assert!(
        why.starts_with("not read: DB_HOST db2 with DB_USERNAME") && said.unread[0].line == Some(2),
        "{why}"
    );
    assert!(!format!("{said:?}").contains("geheim"));
    // The same host, another database, a server of another kind, and a host alone.
    for rest in [
        "DB_HOST=db1\nDB_USERNAME=app\n",
        "DB_HOST=db2\nDB_USERNAME=app\nDB_PORT=5432\n",
        "DB_HOST=db2\nDB_USERNAME=app\nDB_CONNECTION=pgsql\n",
        "DB_HOST=db2\n",
    ] {
        assert!(looked(".env", &format!("{url}{rest}")).unread.is_empty(), "{rest}");
    }
}

#[test]
fn a_fix_fits_what_reads_the_file() {
    // Laravel hands on one variable; the other attributes stand in its config/database.php.
    let said = looked(".env", "DB_CONNECTION=mysql\nDB_HOST=db\nMYSQL_ATTR_SSL_VERIFY_SERVER_CERT=true\n");
    let (one, severity, fix) = only(&said);
    assert_eq!((severity, fix.as_str()), (Some(Severity::High), "MYSQL_ATTR_SSL_CA=/path/to/ca.pem ()"));
    assert!(one.found.settings.is_empty());
    // The CA that is named already, the name that is given already, and what is fewer of the same kind.
    let said = looked(".env", "A=jdbc:mariadb://db/x?sslMode=verify-ca&serverSslCert=/my/ca.pem\n");
    assert_eq!(
        only(&said).2,
        "sslMode=verify-full&serverSslCert=/my/ca.pem (the best that was measured; still low: it sends the user name, and a response that can be cracked offline, before it refuses the server)"
    );
    let said = looked(".env", "A=u:p@tcp(db)/x?tls=shop&allowFallbackToPlaintext=true\n");
    assert!(only(&said).2.starts_with("tls=shop ("), "{}", only(&said).2);
    // What is written anew is not to be removed.
    let said = looked("a.js", "const m = require('mysql2');\nm.createPool({ host: 'db', ssl: {} });\n");
    let fix = only(&said).0.predictions[0].fix.clone().expect("a fix");
    assert!(fix.remove.is_empty() && fix.set[0].starts_with("ssl: { ca: "), "{fix:?}");
}

#[test]
fn the_remedy_for_wordpress_is_a_line_of_its_own_file() {
    let front = "<?php\ndefine('DB_NAME', 'x');\ndefine('DB_HOST', 'db');\n";
    let said = looked("wp-config.php", front);
    let (_, severity, fix) = only(&said);
    assert_eq!(severity, Some(Severity::High));
    assert!(fix.starts_with("define('MYSQL_CLIENT_FLAGS', MYSQLI_CLIENT_SSL); (the best"), "{fix}");
    assert!(fix.contains("accepts any certificate") && fix.contains("wp-content/db.php"), "{fix}");
    // With it the file is what was said.
    let said = looked("wp-config.php", &format!("{front}define('MYSQL_CLIENT_FLAGS', MYSQLI_CLIENT_SSL);\n"));
    assert_eq!(only(&said).1, Some(Severity::Medium));
}

#[test]
fn what_was_not_read_is_told_with_its_line_and_why() {
    let said = looked(
        "db.py",
        "import pymysql\nO = dict(ssl_ca='/ca')\nO.pop('ssl_ca')\nc = pymysql.connect(**O)\n",
    );
    let (one, severity, _) = only(&said);
    let PredictedOutcome::Unknown(why) = &one.predictions[0].said else { panic!("{one:#?}") };
    assert_eq!((severity, one.is_unknown()), (None, true));
    assert!(why.starts_with("line ") && why.contains("line 3"), "{why}");
}

/// What is said of the first of these files, and of `named` alone: `None` where it is unknown.
fn beside(files: &[(&str, &str)], named: &[&str]) -> Vec<(String, Option<Severity>, bool)> {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    let paths: Vec<PathBuf> = named.iter().map(|name| dir.path().join(name)).collect();
    let looked = look(
        &ConfigRequest { files: &paths, texts: &[], driver: None },
        &Matrix::built_in().expect("it is built in"),
    );
    let of = |one: &Connection| (one.found.what.clone(), one.severity(), one.is_unknown());
    looked.connections.iter().map(of).collect()
}

#[test]
fn all_files_of_spring_are_read_as_one() {
    const SAFE: &str =
        "spring:\n  datasource:\n    url: jdbc:mariadb://db/x?sslMode=verify-full&serverSslCert=/ca.pem\n";
    const WEAK: &str = "spring.datasource.hikari.data-source-properties.sslMode=disable\n";
    let is_unknown = |files: &[(&str, &str)], named: &[&str]| {
        beside(files, named).first().is_none_or(|(_, _, is_unknown)| *is_unknown)
    };
    assert!(!is_unknown(&[("application.yml", SAFE)], &["application.yml"]));
    for other in [
        "application-dev.properties",
        "application.properties",
        "bootstrap.properties",
        "config/application.properties",
        "config/prod/application.properties",
    ] {
        // Whether it is named too or not.
        assert!(is_unknown(&[("application.yml", SAFE), (other, WEAK)], &["application.yml"]), "{other}");
        assert!(
            is_unknown(&[("application.yml", SAFE), (other, WEAK)], &["application.yml", other]),
            "{other}"
        );
    }
    assert!(is_unknown(
        &[("config/application.yml", SAFE), ("application.properties", WEAK)],
        &["config/application.yml"]
    ));
    for other in ["spring.config.import=file:x.properties\n", "spring.datasource.url=jdbc:mariadb://db/y\n"] {
        assert!(is_unknown(
            &[("application.yml", SAFE), ("application-dev.properties", other)],
            &["application.yml"]
        ));
    }
    assert!(is_unknown(&[("application.yml", SAFE), ("application-dev.yml", "a: [")], &["application.yml"]));
    // A profile's file comes over the one of all, key by key.
    let base = "spring.datasource.url=jdbc:mariadb://db/x\n";
    let profile = [("application-prod.yml", SAFE), ("application.properties", base)];
    assert!(!is_unknown(&profile, &["application-prod.yml"]));
    for other in ["application-x.properties", "config/application.properties"] {
        assert!(
            is_unknown(&[("application-prod.yml", SAFE), (other, base)], &["application-prod.yml"]),
            "{other}"
        );
    }
    assert!(is_unknown(
        &[("application-prod.yml", SAFE), ("application.properties", WEAK)],
        &["application-prod.yml"]
    ));
    let jndi =
        [("application.yml", SAFE), ("application-x.properties", "spring.datasource.jndi-name=java:db\n")];
    assert!(is_unknown(&jndi, &["application.yml"]));
    let two = [("application-prod-eu.yml", SAFE), ("application-prod.properties", base)];
    assert!(is_unknown(&two, &["application-prod-eu.yml"]));
    // What says nothing about TLS, or is none of Spring's files.
    let harmless =
        "spring.datasource.username=u\nspring.datasource.hikari.maximum-pool-size=3\nserver.port=1\n";
    assert!(!is_unknown(
        &[("application.yml", SAFE), ("application-dev.properties", harmless)],
        &["application.yml"]
    ));
    assert!(!is_unknown(&[("application.yml", SAFE), ("other.properties", WEAK)], &["application.yml"]));
}

#[test]
fn what_a_compose_file_sets_counts_over_its_environment_files() {
    const SAFE: &str = "DATABASE_URL=mysql+pymysql://h/x?ssl_ca=/ca\n";
    let of = |service: &str, other: &str| {
        let compose = format!("services:\n  app:\n{service}");
        let all = beside(&[("compose.yml", &compose), ("a.env", SAFE), ("b.env", other)], &["compose.yml"]);
        all.first().map(|(_, _, is_unknown)| *is_unknown)
    };
    assert_eq!(of("    env_file: a.env\n", ""), Some(false));
    assert_eq!(of("    env_file: a.env\n    environment:\n      OTHER: 1\n", ""), Some(false));
    for again in [
        "      DATABASE_URL: mysql+pymysql://h/x\n",
        "      DATABASE_URL:\n",
        "      - DATABASE_URL=x\n",
        "      - DATABASE_URL\n",
    ] {
        assert_eq!(of(&format!("    env_file: a.env\n    environment:\n{again}"), ""), Some(true), "{again}");
    }
    assert_eq!(of("    env_file: [a.env, b.env]\n", "OTHER=1\n"), Some(false));
    assert_eq!(of("    env_file: [a.env, b.env]\n", "DATABASE_URL=mysql+pymysql://h/x\n"), Some(true));
}

#[test]
fn which_driver_django_loads_is_told_by_the_package_around_its_settings() {
    const SETTINGS: &str = "DATABASES = {'default': {'ENGINE': 'django.db.backends.mysql', 'HOST': 'db', 'OPTIONS': {'ssl': {'ca': '/ca.pem'}}}}\n";
    const INSTALLS: &str = "import pymysql\npymysql.install_as_MySQLdb()\n";
    const TRIES: &str = "try:\n    import MySQLdb\nexcept ImportError:\n    import pymysql\n    pymysql.install_as_MySQLdb()\n";
    let of = |package: &str, start: &str, wsgi: &str, named: &[&str]| {
        let files = [
            ("shop/settings.py", SETTINGS),
            ("shop/__init__.py", package),
            ("shop/wsgi.py", wsgi),
            ("manage.py", start),
        ];
        let all = beside(&files, named);
        all.first().map(|(_, severity, is_unknown)| (*severity, *is_unknown)).expect("a connection")
    };
    let (alone, whole) = (&["shop/settings.py"], &["shop/settings.py", "shop/__init__.py", "manage.py"]);
    // The package runs before the settings, whether it is named or not.
    assert_eq!(of(INSTALLS, "", "", alone), (None, false));
    assert_eq!(of(INSTALLS, "", "", whole), (None, false));
    // Any other file may.
    assert_eq!(of("", "", "", alone), (None, true));
    assert_eq!(of("", "", "", &whole[..2]), (None, true));
    assert_eq!(of("", "", "", whole), (Some(Severity::Critical), false));
    for (package, start, wsgi) in [(TRIES, "", ""), ("", INSTALLS, ""), ("", TRIES, ""), ("", "", INSTALLS)] {
        assert_eq!(of(package, start, wsgi, whole), (None, true), "{package}|{start}|{wsgi}");
    }
    // Which one is to be said is said.
    let said = looked("settings.py", SETTINGS);
    let Driver::Unknown { why, one_of } = &only(&said).0.found.driver else { panic!("{said:#?}") };
    assert!(
        why.starts_with("Django uses mysqlclient, or PyMySQL where install_as_MySQLdb() is called"),
        "{why}"
    );
    assert_eq!(one_of, &["mysqlclient", "pymysql"]);
}

#[test]
fn without_use_pure_both_builds_are_in_the_answer() {
    let said = looked(
        "db.py",
        "import mysql.connector\nc = mysql.connector.connect(host='db', ssl_ca='/ca', ssl_verify_cert=True)\n",
    );
    let (one, severity, _) = only(&said);
    assert_eq!((severity, one.is_unknown()), (Some(Severity::Critical), true));
    let of = |id: &str| one.predictions.iter().find(|one| one.client.id == id).map(Prediction::severity);
    assert_eq!(of("mysql-connector-python-c"), Some(Some(Severity::Critical)));
    assert_eq!(of("mysql-connector-python"), Some(Some(Severity::Low)));
    assert!(one.undecided().is_some_and(|why| why.contains("use_pure")), "{one:#?}");
    let matrix = Matrix::built_in().expect("it is built in");
    assert!(rows::report(&said, &matrix, false).to_json().contains("use_pure decides"));
}

#[test]
fn what_stands_beside_a_url_is_told_with_its_line_and_its_word() {
    let said = looked(
        "db.json",
        "{\n\"url\": \"jdbc:mysql://db/x?sslMode=VERIFY_IDENTITY\",\n\"sslMode\": \"geheim\"\n}\n",
    );
    let (one, ..) = only(&said);
    let PredictedOutcome::Unknown(why) = &one.predictions[0].said else { panic!("{one:#?}") };
    assert_eq!(why, "line 3: \"sslMode\" stands beside the URL, and may reach the driver too");
    assert!(!format!("{said:?}").contains("geheim"));
}
