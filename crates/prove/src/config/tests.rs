use proptest::prelude::*;

use super::*;

/// `line what family: key=value …` of each connection, in the order of the file.
fn said(name: &str, text: &str) -> Vec<String> {
    let (_, read) = read(name, text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
    read.found.iter().map(line).collect()
}

fn line(found: &ConnectionSettings) -> String {
    let driver = match &found.driver {
        Driver::Family(family) => (*family).to_owned(),
        Driver::Unknown { one_of, .. } => format!("?{}", one_of.len()),
    };
    let settings: Vec<String> = found
        .settings
        .iter()
        .map(|setting| match &setting.given {
            SettingValue::Text(text) => format!("{}={text}", setting.key),
            SettingValue::Flag(is_on) => format!("{}={is_on}", setting.key),
            SettingValue::Content => format!("{}=(content)", setting.key),
            SettingValue::Unread(_) => format!("{}=?", setting.key),
        })
        .collect();
    format!("{} {} {driver}@{}: {}", found.line, found.what, found.host, settings.join(" "))
        .trim_end()
        .to_owned()
}

fn check(name: &str, text: &str, want: &[&str]) {
    assert_eq!(said(name, text), want, "{name}\n{text}");
}

#[test]
fn several_hosts_are_one_connection_with_several_places() {
    let check = |url: &str, want: &str, front: Option<&str>| {
        let found = text(url).unwrap_or_else(|| panic!("{url}"));
        assert_eq!((line(&found).as_str(), found.front.as_deref()), (want, front), "{url}");
        assert!(!format!("{found:?}").contains("geheim"), "{found:?}");
    };
    let two = |scheme: &str| format!("{scheme}://{{host}}:{{port}},{{host}}:{{port}}");
    for (scheme, family) in [
        ("jdbc:mysql", "connector-j"),
        ("jdbc:mysql:loadbalance", "connector-j"),
        ("jdbc:mysql:replication", "connector-j"),
        ("jdbc:mariadb", "mariadb-connector-j"),
        ("jdbc:mariadb:sequential", "mariadb-connector-j"),
        ("jdbc:mariadb:loadbalance", "mariadb-connector-j"),
        ("jdbc:mariadb:load-balance-read", "mariadb-connector-j"),
        ("jdbc:mariadb:replication", "mariadb-connector-j"),
    ] {
        check(
            &format!("{scheme}://u:geheim@h1:3306,h2/db?sslMode=trust"),
            &format!("1  {family}@h1,h2: sslMode=trust"),
            Some(&two(scheme)),
        );
        check(&format!("{scheme}://h1/db"), &format!("1  {family}@h1:"), None);
    }
    let pairs = "address=(host=h1)(port=1)(password=geheim),(host=h2,port=2)";
    check(
        &format!("jdbc:mysql://{pairs}/db?useSSL=true"),
        "1  connector-j@h1,h2: useSSL=true",
        Some(&two("jdbc:mysql")),
    );
    // What one host has for itself alone is not read as if it were for all.
    check(
        "jdbc:mysql://address=(host=h1)(sslMode=DISABLED),address=(host=h2)/db?sslMode=REQUIRED",
        "1  connector-j@h1,h2: sslMode=REQUIRED ...=?",
        Some(&two("jdbc:mysql")),
    );
    // Only a name service knows how many they are.
    check("jdbc:mysql+srv://h1/db?sslMode=REQUIRED", "1  connector-j@h1: sslMode=REQUIRED", None);
    check("mysql+pymysql://u:geheim@h1,h2/db", "1  pymysql@h1,h2: ...=?", None);
}

#[test]
fn environments_of_all_kinds() {
    check(
        ".env",
        "A=1\nAPP_DATABASE_URL=mysql+pymysql://u:geheim@db/x?ssl_ca=/ca.pem\nDB_CONNECTION=mysql\nDB_HOST=h\nMYSQL_ATTR_SSL_CA=/ca\n",
        &[
            "2 APP_DATABASE_URL pymysql@db: ssl.ca=/ca.pem",
            "3 DB_CONNECTION (Laravel) php-pdo@h: MYSQL_ATTR_SSL_CA=/ca ...=?",
        ],
    );
    check(
        "app.service",
        "[Service]\nEnvironment=\"DSN=app:geheim@tcp(db:3306)/shop?tls=custom&allowFallbackToPlaintext=true\"\nEnvironmentFile=/e\n",
        &["2 DSN go-sql-driver@db: tls=custom allowFallbackToPlaintext=true"],
    );
    check(
        "compose.yml",
        "services:\n  web:\n    environment:\n      - DB_URL=jdbc:mysql://db/x?sslMode=REQUIRED\n  php:\n    environment:\n      DB_CONNECTION: mysql\n      DB_HOST: db\n",
        &[
            "4 services.web.environment.DB_URL connector-j@db: sslMode=REQUIRED",
            "7 DB_CONNECTION (Laravel) php-pdo@db:",
        ],
    );
    check(
        "deployment.yaml",
        "kind: Deployment\nspec:\n  env:\n  - name: DATABASE_URL\n    value: mysql2://u@db/x?sslca=/ca\n  - name: JDBC_URL\n    valueFrom: {secretKeyRef: {name: a, key: b}}\n",
        &["5 spec.env.DATABASE_URL ruby-mysql2@db: sslca=/ca"],
    );
    let (_, all) = read("compose.yml", b"services:\n  a:\n    env_file:\n    - .env\n    - path: b.env\n")
        .expect("YAML");
    assert_eq!(all.environment_files, [(".env".to_owned(), 4), ("b.env".to_owned(), 5)]);
    let (_, all) = read("d.yaml", b"- name: JDBC_URL\n  valueFrom: {x: y}\n").expect("YAML");
    assert_eq!(all.unread.len(), 1, "{all:?}");
}

#[test]
fn java_and_its_pools() {
    check(
        "application.properties",
        "spring.datasource.url=jdbc:mariadb://${DB_HOST:db}:3306/x?sslMode=trust\nspring.datasource.hikari.data-source-properties.serverSslCert=/ca\nspring.datasource.password=geheim\n",
        &["1 spring.datasource.url mariadb-connector-j@…: sslMode=trust serverSslCert=/ca"],
    );
    check(
        "application.yml",
        "spring:\n  datasource:\n    url: jdbc:mysql://db/x?useSSL=true\n    hikari:\n      data-source-properties:\n        requireSSL: true\n",
        &["3 spring.datasource.url connector-j@db: useSSL=true requireSSL=true"],
    );
    check(
        "A.java",
        "String u = \"jdbc:mysql://db/x?useSSL=false\"; // \"jdbc:mysql://no\"\n",
        &["1 u connector-j@db: useSSL=false"],
    );
}

#[test]
fn python_and_its_contexts() {
    check(
        "settings.py",
        "DATABASES = {\n  'default': {\n    'ENGINE': 'django.db.backends.mysql',\n    'HOST': 'db',\n    'PASSWORD': 'geheim',\n    'OPTIONS': {'ssl_mode': 'REQUIRED', 'ssl': {'ca': '/ca'}, 'charset': 'utf8mb4'},\n  },\n  'other': env.db(),\n}\n",
        &["2 DATABASES.default ?2@db: ssl_mode=REQUIRED ssl.ca=/ca"],
    );
    check(
        "db.py",
        "import aiomysql, ssl\nctx = ssl.create_default_context(cafile='/ca')\nctx.check_hostname = True\nasync def go():\n    return await aiomysql.create_pool(host='db', ssl=ctx, password=PW)\n",
        &["5 aiomysql.create_pool() aiomysql@db: ssl=create_default_context ssl.cafile=/ca"],
    );
    check(
        "db.py",
        "ctx = ssl.create_default_context()\nctx.check_hostname = False\nctx.verify_mode = ssl.CERT_NONE\nasyncmy.connect(ssl=ctx)\n",
        &[
            "4 asyncmy.connect() asyncmy@: ssl=create_default_context ssl.check_hostname=false ssl.verify_mode=CERT_NONE",
        ],
    );
    check(
        "db.py",
        "OPTIONS = dict(host='db', ssl_ca='/ca', ssl_verify_cert=True)\ncnx = mysql.connector.connect(**OPTIONS)\nlater = pymysql.connect(ssl_ca=os.environ['CA'])\n",
        &[
            "2 mysql.connector.connect() mysql-connector-python@: ssl_ca=/ca ssl_verify_cert=true",
            "3 pymysql.connect() pymysql@: ssl_ca=?",
        ],
    );
    check(
        "db.py",
        "engine = create_engine('mysql+mysqlconnector://u:geheim@db/x?ssl_ca=/ca&ssl_verify_cert=true', connect_args={'use_pure': True})\nURI = f'mysql+aiomysql://{u}:{p}@{h}/x'\n",
        &[
            "1 create_engine() mysql-connector-python@db: ssl_ca=/ca ssl_verify_cert=true use_pure=true",
            // What the engine is told besides is for the engine; nobody knows of the other.
            "2 URI aiomysql@…: ...=?",
        ],
    );
    check("db.py", "URI = f'mysql+aiomysql://{u}:{p}@{h}/x'\n", &["1 URI aiomysql@…:"]);
    check(
        "db.py",
        "a = ssl.create_default_context()\nif x:\n    a = None\naiomysql.connect(ssl=a)\n",
        &["4 aiomysql.connect() aiomysql@: ssl=create_default_context ...=?"],
    );
}

#[test]
fn node_its_drivers_and_what_stands_on_them() {
    check(
        "db.js",
        "const mysql = require('mysql2/promise');\nconst pool = mysql.createPool({ host: 'db', password: 'geheim', ssl: { ca: fs.readFileSync('/ca'), rejectUnauthorized: true } });\n",
        &["2 mysql.createPool node-mysql2@db: ssl.ca=(content) ssl.rejectUnauthorized=true"],
    );
    check(
        "db.mjs",
        "import mariadb from 'mariadb';\nconst options = { host: 'db', ssl: process.env.TLS };\nmariadb.createPool(options);\n",
        &["3 mariadb.createPool node-mariadb@db: ssl=?"],
    );
    check(
        "config.json",
        "{\n\t\"production\": { \"dialect\": \"mysql\", \"host\": \"db\", \"password\": \"geheim\",\n\t\t\"dialectOptions\": { \"ssl\": { \"rejectUnauthorized\": false } } }\n}\n",
        &["2 production node-mysql2@db: ssl.rejectUnauthorized=false"],
    );
    check(
        "knexfile.js",
        "module.exports = { client: 'mysql2', connection: { host: 'db', ssl: {} } };\n",
        &["1 an object node-mysql2@db: ssl={}"],
    );
    check(
        "db.js",
        "const m = require('mysql2');\nm.createConnection('mysql://u:geheim@db/x?ssl={\"rejectUnauthorized\":true}');\n",
        &["2 m.createConnection node-mysql2@db: ssl.rejectUnauthorized=true"],
    );
}

#[test]
fn php_ruby_perl_and_the_others() {
    check(
        "db.php",
        "<?php\n$pdo = new PDO(\"mysql:host=db;dbname=x\", $u, $p, [PDO::MYSQL_ATTR_SSL_CA => '/ca', PDO::ATTR_TIMEOUT => 3]);\n\
         $link = mysqli_init();\n$link->ssl_set(null, null, '/ca', null, null);\n$link->real_connect('db', 'u', 'geheim', 'x', 3306, null, MYSQLI_CLIENT_SSL | MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT);\n",
        &[
            "2 new PDO() php-pdo@db: MYSQL_ATTR_SSL_CA=/ca",
            "5 $link->real_connect() php-mysqli@db: ssl_set=/ca MYSQLI_CLIENT_SSL=true MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT=true",
        ],
    );
    check(
        "database.php",
        "<?php\nreturn ['connections' => ['mysql' => [\n 'driver' => 'mysql',\n 'options' => extension_loaded('pdo_mysql') ? array_filter([PDO::MYSQL_ATTR_SSL_CA => env('MYSQL_ATTR_SSL_CA')]) : [],\n]]];\n",
        &["2 connections.mysql php-pdo@: MYSQL_ATTR_SSL_CA=?"],
    );
    check(
        "wp-config.php",
        "<?php\ndefine('DB_NAME', 'wp');\ndefine('DB_PASSWORD', 'geheim');\ndefine('DB_HOST', 'db');\ndefine('MYSQL_CLIENT_FLAGS', MYSQLI_CLIENT_SSL);\n",
        &["4 DB_HOST (WordPress) php-mysqli@db: MYSQLI_CLIENT_SSL=true"],
    );
    check(
        "database.yml",
        "default: &default\n  adapter: mysql2\n  sslca: /ca\nproduction:\n  <<: *default\n  host: db\n  ssl_mode: verify_identity\n  password: <%= ENV['P'] %>\n",
        &["5 production ruby-mysql2@db: sslca=/ca ssl_mode=verify_identity"],
    );
    check(
        "db.rb",
        "c = Mysql2::Client.new(host: 'db', sslca: '/ca', :ssl_mode => :required)\n",
        &["1 Mysql2::Client.new ruby-mysql2@db: sslca=/ca ssl_mode=required"],
    );
    check(
        "db.pl",
        "my $d = DBI->connect(\"dbi:mysql:database=x;host=db;mysql_ssl=1\", $u, 'geheim', { mysql_ssl_ca_file => '/ca' });\n",
        &["1 DBI->connect dbd-mysql@db: mysql_ssl=1 mysql_ssl_ca_file=/ca"],
    );
    check(
        "main.go",
        "db, err := sql.Open(\"mysql\", \"u:geheim@tcp(db)/x?tls=skip-verify\")\n",
        &["1 a text go-sql-driver@db: tls=skip-verify"],
    );
    check(
        "main.rs",
        "let url = \"mysql://u:geheim@db/x?ssl-mode=VERIFY_CA&ssl-ca=/ca\";\n",
        &["1 url ?1@db: ssl-mode=VERIFY_CA ssl-ca=/ca"],
    );
    check(
        "notes",
        "see <mysql+asyncmy://u:geheim@db/x> and mysql://u@db/y\n",
        &["1 a URL asyncmy@db:", "1 a URL ?6@db:"],
    );
}

#[test]
fn what_is_changed_later_is_not_read_as_if_it_were_all() {
    check(
        "settings.py",
        "DATABASES = {'default': {'ENGINE': 'django.db.backends.mysql'}}\nif TLS:\n    DATABASES['default']['OPTIONS'] = {'ssl_mode': 'VERIFY_CA'}\n",
        &["1 DATABASES.default ?2@: ...=?"],
    );
    check(
        "a.py",
        "o = {'ssl_ca': '/ca'}\no['ssl_verify_cert'] = True\npymysql.connect(**o)\n",
        &["3 pymysql.connect() pymysql@: ...=?"],
    );
    check(
        "a.php",
        "<?php\n$o = [];\nif ($tls) { $o[PDO::MYSQL_ATTR_SSL_CA] = '/ca'; }\nnew PDO('mysql:host=db', 'u', 'p', $o);\n",
        &["4 new PDO() php-pdo@db: ...=?"],
    );
    check(
        "a.js",
        "const mysql = require('mysql2');\nconst o = { host: 'db' };\nif (tls) o.ssl = { ca };\nmysql.createPool(o);\n",
        &["4 mysql.createPool node-mysql2@: ...=?"],
    );
    check(
        "config.js",
        "const c = { dialect: 'mysql', host: 'db' };\nc.dialectOptions = { ssl: {} };\n",
        &["1 an object ?2@db: ...=?"],
    );
}

#[test]
fn names_that_lead_in_a_circle_or_to_very_much_end() {
    check(
        "a.php",
        "<?php\n$o = array_filter($o);\nnew PDO('mysql:host=db', 'u', 'p', $o);\n",
        &["3 new PDO() php-pdo@db: ...=?"],
    );
    check(
        "a.py",
        "a = ssl.create_default_context(cafile=b)\nb = ssl.create_default_context(cafile=a)\naiomysql.connect(ssl=a)\n",
        &["3 aiomysql.connect() aiomysql@: ssl=create_default_context ssl.cafile=? ...=?"],
    );
    let mut many = "const m = require('mysql2');\nm.createPool({ ssl: a0 });\n".to_owned();
    for level in 0..9 {
        let next = level + 1;
        let entries: Vec<String> = (0..20).map(|index| format!("k{index}: a{next}")).collect();
        many += &format!("const a{level} = {{ {} }};\n", entries.join(", "));
    }
    many += "const a9 = { x: null };\n";
    let (_, all) = read("a.js", many.as_bytes()).expect("short");
    let settings = &all.found.first().expect("a connection").settings;
    let is_said = settings.iter().any(|one| {
        one.key == ANY && matches!(&one.given, SettingValue::Unread(why) if why.contains("more values"))
    });
    assert!(is_said && settings.len() <= 512, "{}", settings.len());
}

#[test]
fn option_files_are_read_by_each_client_for_itself() {
    let all = said("my.cnf", "[client]\npassword=geheim\nssl-ca=/ca\n[mysqldump]\nssl-mode=REQUIRED\n");
    assert!(all.iter().any(|one| one.contains(" mysql-cli@: ssl-ca=/ca")), "{all:#?}");
    assert!(all.iter().any(|one| one.contains(" mysqldump@: ssl-ca=/ca ssl-mode=REQUIRED")), "{all:#?}");
    assert!(said("my.cnf", "[mysqld]\nssl-ca=/ca\n").is_empty());
}

#[test]
fn a_login_file_says_that_it_is_one_and_never_its_password() {
    let text = b"[client]\nuser = u\npassword = geheim\nhost = db1\n[root]\nhost = db2\n";
    let bytes = formats::mylogin::encode(text, &[7; 20]).expect("short lines");
    let (form, read) = read(".mylogin.cnf", &bytes).expect("a login file");
    let notes = read.notes.join("\n");
    assert_eq!(form.id, "mylogin");
    assert!(
        notes.contains("login path client: host db1, with a password")
            && notes.contains("login path root: host db2, without"),
        "{notes}"
    );
    assert!(!notes.contains("geheim"), "{notes}");
}

#[test]
fn a_large_file_of_few_words_ends_in_every_form() {
    let words = [
        "[",
        "{",
        "(",
        "[{",
        "a: [",
        "mysql://h/d\n",
        "'mysql://h/d',",
        "a = 'mysql+pymysql://h/d'\n",
        "DB_URL=u:p@tcp(h)/d\n",
        "a.url=jdbc:mysql://h/d\n",
        "a: jdbc:mysql://h/d\n",
        "pymysql.connect(ssl=a)\n",
        "m.createPool(a);\n",
        "new PDO($a);\n",
        "$a->real_connect($b);\n",
        "mysql:a;",
        "dbi:mysql:a;",
        "?a=b&",
        "DATABASES={}\n",
        "x = {'driver': 'mysql'}\n",
        "define('DB_HOST', 1);\n",
    ];
    for name in NAMES {
        for (index, word) in words.iter().enumerate() {
            let bytes = if index < 3 { 1024 * 1024 - 64 } else { 64 * 1024 };
            let front = match name {
                "a.js" => "const m = require('mysql2'); const a = {};\n",
                "a.php" => "<?php $a = 1;\n",
                _ => "",
            };
            let text = format!("{front}{}", word.repeat((bytes - front.len()) / word.len()));
            let _ = read(name, text.as_bytes());
        }
    }
}

const NAMES: [&str; 14] = [
    ".mylogin.cnf",
    "my.cnf",
    "a.service",
    ".env",
    "a.properties",
    "a.yml",
    "a.json",
    "a.js",
    "a.py",
    "a.php",
    "a.rb",
    "a.pl",
    "a.go",
    "a",
];

/// Places for a secret in every form: what is read must not have it, whatever stands around.
const SECRETS: [(&str, &str); 14] = [
    ("my.cnf", "[client]\npassword=SECRET\nssl-mode=REQUIRED\n"),
    ("a.service", "[Service]\nEnvironment=DATABASE_URL=mysql+pymysql://u:SECRET@h/d DB_PASSWORD=SECRET\n"),
    (".env", "DATABASE_URL=mysql://u:SECRET@h/d\nDB_CONNECTION=mysql\nDB_PASSWORD=SECRET\n"),
    (
        "a.properties",
        "spring.datasource.url=jdbc:mysql://h/d?user=u&password=SECRET&trustCertificateKeyStorePassword=SECRET\n",
    ),
    ("a.yml", "production:\n  adapter: mysql2\n  password: SECRET\n  sslca: /ca\n"),
    (
        "a.json",
        "{\"dialect\": \"mysql\", \"password\": \"SECRET\", \"dialectOptions\": {\"ssl\": {\"passphrase\": \"SECRET\"}}}",
    ),
    ("a.js", "const m = require('mysql2'); m.createPool({password: 'SECRET', ssl: {ca: x}})"),
    (
        "a.py",
        "DATABASES = {'default': {'ENGINE': 'django.db.backends.mysql', 'PASSWORD': 'SECRET', 'OPTIONS': {'ssl_key_password': 'SECRET'}}}",
    ),
    ("b.py", "pymysql.connect(password='SECRET', ssl={'ca': '/ca'}, ssl_key_password='SECRET')"),
    (
        "a.php",
        "<?php new PDO('mysql:host=h;password=SECRET', 'u', 'SECRET', []); new mysqli('h', 'u', 'SECRET');",
    ),
    ("a.rb", "Mysql2::Client.new(password: 'SECRET', sslca: '/ca')"),
    ("a.pl", "DBI->connect('dbi:mysql:host=h;password=SECRET', 'u', 'SECRET', {})"),
    ("a.go", "sql.Open(\"mysql\", \"u:SECRET@tcp(h)/d?tls=true\")"),
    ("a", "jdbc:mariadb://u:SECRET@h/d?password=SECRET\n"),
];

#[test]
fn a_url_where_a_name_belongs_is_not_shown() {
    for (name, text) in [
        ("a.yml", "\"mysql://u:geheim@h\":\n  url: jdbc:mysql://h/d\n"),
        ("a.json", "{\"dialect\": \"mysql\", \"dialectOptions\": {\"ssl\": {\"mysql://u:geheim@h\": 1}}}"),
        (
            "b.yml",
            "services:\n  a:\n    environment:\n      jdbc:mysql://u:geheim@h/d: mysql2://u:geheim@h/d\n",
        ),
    ] {
        let said = said(name, text);
        assert!(!said.is_empty() && !said.concat().contains("geheim"), "{said:?}");
    }
}

#[test]
fn every_form_has_a_connection_in_these_examples() {
    for (name, text) in SECRETS {
        assert!(!said(name, text).is_empty(), "{name}");
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for name in NAMES {
            let _ = read(name, &bytes);
        }
    }

    #[test]
    fn no_password_is_in_what_was_read(secret in "[A-Za-z0-9!*~^.-]{8,24}") {
        for (name, text) in SECRETS {
            let text = text.replace("SECRET", &secret);
            let shown = match read(name, text.as_bytes()) {
                Ok((_, read)) => format!("{read:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            prop_assert!(!shown.contains(&secret), "{}: {}", name, shown);
        }
    }

    #[test]
    fn no_broken_file_quotes_its_password(secret in "[A-Za-z0-9!*~^.-]{8,24}", cut in 0_usize..200, at in 0_usize..200) {
        for (name, text) in SECRETS {
            let mut text = text.replace("SECRET", &secret);
            // Something is missing, or one bracket too many: errors must not quote it either.
            let end = cut.min(text.len());
            text.truncate((0..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0));
            let place = (0..=at.min(text.len())).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0);
            text.insert_str(place, "\n[{(");
            let shown = match read(name, text.as_bytes()) {
                Ok((_, read)) => format!("{read:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            prop_assert!(!shown.contains(&secret), "{}: {}", name, shown);
        }
    }
}
