//! `sealion audit` on real servers: each rule is seen failing on a server that earns it, and passing on one that does not.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use model::fact::LookBy;
use net::{Client, ConnectOptions, Endpoint};
use serde_json::Value;
use testbed::real::bundled::{Bundled, bundle};
use testbed::real::{LabSpec, Program, ProgramOutput, RealLab, lab_slot, wait_for};

use crate::lab_audit_disguises::{
    DISGUISED, DISGUISED_MARIADB, DISGUISED_MYSQL, DISGUISES, EMPTY_IS_NULL, INIT_CONNECT, MODES,
};
use crate::lab_audit_host::{BY_HOST, GALERA_FAILS, OwnLeaf, close, plugins};
use crate::lab_audit_kept::is_as_kept;
use crate::lab_audit_plan::{is_followed, waits_for_cleartext};
use crate::lab_audit_search::{BY_JOBS, BY_SEARCH};
use crate::lab_audit_statements::BY_TEXT;
use crate::lab_keys::BY_KEYRING;

/// `lab::namespace::NOT_LOOPBACK`
const NETWORK: &str = "10.99.0.1";
const UP: Duration = Duration::from_secs(60);

/// A rule, and a part of the subject that it is about; empty: the server itself.
pub type Expected = (&'static str, &'static str);

/// What a MariaDB server with every fault of the first families is told.
/// What an application that puts values into its statements sends for somebody, and what says so afterwards.
const INJECTED: &[(&str, &str)] = &[
    ("SL2601", "SELECT User FROM mysql.db WHERE Db = 'x' OR 1=1"),
    ("SL2602", "SELECT User FROM mysql.db WHERE Db = 'x' UNION ALL SELECT CONCAT(0x71, VERSION())"),
    ("SL2603", "SELECT User FROM mysql.db WHERE Db = 'x' AND SLEEP(0)"),
    (
        "SL2605",
        "SELECT User FROM mysql.db WHERE Db = 'x' AND EXTRACTVALUE(1, CONCAT(0x5c, (SELECT VERSION())))",
    ),
    ("SL2606", "SELECT User FROM mysql.db WHERE Db = LOAD_FILE('/nonexistent')"),
    (
        "SL2607",
        "SELECT User FROM mysql.db WHERE Db = 'x' AND ASCII(SUBSTRING((SELECT VERSION()), 1, 1)) > 64",
    ),
];

/// What honest programs send: none of it is a sign.
const HONEST: &[&str] = &[
    "SELECT User FROM mysql.db WHERE 1=1 AND Db = 'or 1=1 literally'",
    "SELECT User FROM mysql.db WHERE Db = 'a;b' OR User = '--dash'",
    "SELECT Db FROM mysql.db WHERE Db = 'x' UNION SELECT USER FROM performance_schema.accounts WHERE USER = 'union select'",
    "SELECT SUBSTRING(User, 1, 1), COUNT(*) FROM mysql.db GROUP BY 1",
    "SELECT SLEEP(0)",
    "SELECT EXTRACTVALUE('<a>b</a>', '/a')",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'mysql' LIMIT 1",
];

/// A server tells of what was sent, and of nothing else.
fn injections(lab: &RealLab, server: &Bundled, is_mariadb: bool) {
    let of_statements = |seen: &Audited| -> Vec<(String, String)> {
        let rows = seen.findings().filter(|one| one.0.starts_with("SL260"));
        rows.map(|one| (one.0.to_owned(), format!("{}: {}", one.1, one.3))).collect()
    };
    let mut client = root(server);
    client.execute("TRUNCATE TABLE performance_schema.events_statements_summary_by_digest").unwrap();
    for statement in HONEST {
        client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    let before = of_statements(&audit(lab, server, "root"));
    assert_eq!(before.len(), 8, "{before:#?}");
    assert!(before.iter().all(|(_, verdict)| verdict.starts_with("pass")), "a false alarm: {before:#?}");
    for (_, statement) in INJECTED {
        // One of them is made to fail.
        let _ = client.query(statement);
    }
    if is_mariadb {
        let mut two = lab.command(&["lab", "exec", "--", "mariadb", "--no-defaults", "-u", "root"]);
        two.arg("-S").arg(server.dir.join("socket")).args([
            "--delimiter=//",
            "-e",
            "SELECT 1 FROM mysql.db; SELECT 2",
        ]);
        Program::start(two).finish(UP).exits(0);
    }
    let seen = audit(lab, server, "root");
    seen.fails(&INJECTED.iter().map(|(rule, _)| (*rule, "")).collect::<Vec<_>>());
    if is_mariadb {
        seen.fails(STACKED);
    }
    let told = format!("{:?}", of_statements(&seen));
    assert!(!told.contains("nonexistent") && !told.contains("0x5c"), "a value is told: {told}");
}

const STACKED: &[Expected] = &[("SL2608", "")];

const MARIADB_FAILS: &[Expected] = &[
    ("SL2002", ""),
    ("SL2010", ""),
    ("SL2012", ""),
    ("SL2017", ""),
    ("SL2018", ""),
    ("SL2021", ""),
    ("SL2101", "sessions of 'e1'@'10.99.0.1'"),
    ("SL2101", "sessions of 'unauthenticated user'@"),
    ("SL2102", ""),
    ("SL2103", "sessions of 'cbc'@"),
    ("SL2106", "sessions of 'adm'@'10.99.0.1'"),
    ("SL2107", "sessions of 'rep'@"),
    ("SL2108", ""),
    ("SL2109", "sessions of 'e1'@'localhost'"),
    ("SL2201", "account 'e1'@'%'"),
    ("SL2202", "account 'adm'@'%'"),
    ("SL2204", "account 'e1'@'%'"),
    ("SL2205", "account ''@'localhost'"),
    ("SL2206", "account 'e1'@'%'"),
    ("SL2207", "account 'e1'@'%'"),
    ("SL2208", "account 'old'@'%'"),
    ("SL2210", "account 'pam'@'%'"),
    ("SL2212", "account 'two'@'%'"),
    ("SL2214", "account 'web'@'10.%'"),
    ("SL2215", "account 'adm'@'%'"),
    ("SL2216", "account 'web'@'10.%'"),
    ("SL2218", "account ''@'localhost'"),
    ("SL2219", ""),
    ("SL2220", ""),
    ("SL2221", ""),
    ("SL2223", "account 'rep'@'%'"),
    ("SL2226", ""),
    ("SL2810", ""),
    ("SL2811", ""),
    ("SL3011", "channel '' from"),
    ("SL3012", "channel 'tls' from"),
    ("SL3013", "channel 'tls' from"),
    ("SL2230", ""),
    ("SL2231", ""),
    ("SL2615", ""),
    ("SL2616", ""),
    ("SL2704", ""),
    ("SL2812", ""),
    ("SL2814", ""),
    ("SL2815", ""),
    ("SL2901", ""),
    ("SL4011", ""),
    ("SL4015", ""),
    ("SL4104", ""),
    ("SL4105", ""),
    ("SL4201", ""),
    ("SL4205", ""),
    ("SL4206", ""),
    ("SL4208", ""),
    ("SL4212", ""),
    ("SL4217", ""),
    ("SL4219", ""),
    ("SL4220", ""),
    ("SL2217", "account 'filer'"),
    ("SL2232", ""),
    ("SL2613", "account 'web'@'10.%'"),
    ("SL2614", ""),
    ("SL2617", ""),
    ("SL2801", ""),
    ("SL2803", ""),
    ("SL2817", ""),
    ("SL3015", ""),
    ("SL4009", ""),
    ("SL4020", ""),
    ("SL4019", ""),
    ("SL4102", ""),
    ("SL4103", ""),
    ("SL4107", ""),
    ("SL4207", ""),
];
/// The same of a MySQL server.
const MYSQL_FAILS: &[Expected] = &[
    ("SL2002", ""),
    ("SL2012", ""),
    ("SL2015", ""),
    ("SL2019", ""),
    ("SL2021", ""),
    ("SL2023", ""),
    ("SL2101", "sessions of 'e1'@'10.99.0.1'"),
    ("SL2101", "sessions of 'unauthenticated user'@"),
    ("SL2106", "sessions of 'adm'@'10.99.0.1'"),
    ("SL2107", "sessions of 'rep'@"),
    ("SL2109", "sessions of 'e1'@'localhost'"),
    ("SL2201", "account 'e1'@'%'"),
    ("SL2202", "account 'adm'@'%'"),
    ("SL2204", "account 'e1'@'%'"),
    ("SL2205", "account ''@'localhost'"),
    ("SL2206", "account 'e1'@'%'"),
    ("SL2209", "account 'sha'@'%'"),
    ("SL2214", "account 'web'@'10.%'"),
    ("SL2215", "account 'adm'@'%'"),
    ("SL2216", "account 'web'@'10.%'"),
    ("SL2218", "account ''@'localhost'"),
    ("SL2219", ""),
    ("SL2220", ""),
    ("SL2221", ""),
    ("SL2223", "account 'rep'@'%'"),
    ("SL2226", ""),
    ("SL2811", ""),
    ("SL3011", "channel '' from"),
    ("SL3012", "channel 'tls' from"),
    ("SL3013", "channel 'tls' from"),
    ("SL2227", ""),
    ("SL2704", ""),
    ("SL2814", ""),
    ("SL2816", ""),
    ("SL2901", ""),
    ("SL3014", "channel '' from"),
    ("SL3301", ""),
    ("SL3302", ""),
    ("SL3303", ""),
    ("SL3307", ""),
    ("SL4012", ""),
    ("SL4201", ""),
    ("SL4202", ""),
    ("SL4205", ""),
    ("SL4206", ""),
    ("SL4208", ""),
    ("SL4212", ""),
    ("SL4217", ""),
    ("SL4219", ""),
    ("SL4220", ""),
    ("SL1124", ""),
    ("SL2217", "account 'filer'"),
    ("SL2229", ""),
    ("SL2232", ""),
    ("SL2234", ""),
    ("SL2235", ""),
    ("SL2613", "account 'web'@'10.%'"),
    ("SL2614", ""),
    ("SL2617", ""),
    ("SL4009", ""),
    ("SL4017", ""),
    ("SL4019", ""),
    ("SL4207", ""),
];
/// Of servers without TLS, and without accounts.
const WITHOUT_TLS: &[Expected] = &[("SL2001", ""), ("SL2014", "")];
/// Of a MariaDB server that was told nothing.
const PLAIN_MARIADB: &[Expected] = &[
    ("SL2233", ""),
    ("SL2110", ""),
    ("SL3107", ""),
    ("SL4001", ""),
    ("SL4003", ""),
    ("SL4004", ""),
    ("SL4006", ""),
    ("SL4008", ""),
    ("SL4010", ""),
    ("SL4014", ""),
    ("SL4018", ""),
    ("SL4101", ""),
];
/// Of such a MySQL server with the plugin of Group Replication.
const PLAIN_MYSQL: &[Expected] =
    &[("SL3305", ""), ("SL3306", ""), ("SL3308", ""), ("SL4003", ""), ("SL4016", "")];
/// As well, and it needs a keyring to pass: `lab_rest` has one.
pub const WITHOUT_KEYRING: &[Expected] =
    &[("SL4001", ""), ("SL4004", ""), ("SL4005", ""), ("SL4006", ""), ("SL4007", ""), ("SL4101", "")];
const WITHOUT_ACCOUNTS: &[Expected] = &[("SL2225", "")];

pub struct Audited(Value);

impl Audited {
    pub fn of(said: &ProgramOutput) -> Self {
        Self::of_json(said.json())
    }

    pub fn of_json(seen: Value) -> Self {
        Self(seen)
    }

    pub fn findings(&self) -> impl Iterator<Item = (&str, &str, &str, &str)> {
        self.0["findings"].as_array().unwrap().iter().map(|one| {
            let text = |key: &str| one[key].as_str().unwrap();
            (text("rule"), text("verdict"), text("subject"), text("why"))
        })
    }

    #[track_caller]
    pub fn fails(&self, all: &[Expected]) {
        let mut not_seen = Vec::new();
        for (rule, about) in all {
            let is_seen = self
                .findings()
                .any(|(id, verdict, subject, _)| id == *rule && verdict == "fail" && subject.contains(about));
            if !is_seen {
                let said: Vec<_> = self.findings().filter(|one| one.0 == *rule).collect();
                not_seen.push(format!("{rule} does not fail of \"{about}\": {said:?}"));
            }
        }
        assert!(not_seen.is_empty(), "{}", not_seen.join("\n"));
    }

    /// No subject of these fails, and one passes at least.
    #[track_caller]
    pub fn passes<'r>(&self, rules: impl IntoIterator<Item = &'r str>) {
        let mut not_passed = Vec::new();
        for rule in rules {
            let said: Vec<_> =
                self.findings().filter(|one| one.0 == rule && one.1 != "not-applicable").collect();
            if said.is_empty() || said.iter().any(|one| one.1 != "pass") {
                not_passed.push(format!("{rule}: {said:?}"));
            }
        }
        assert!(not_passed.is_empty(), "{}", not_passed.join("\n"));
    }
}

pub fn audit(lab: &RealLab, server: &Bundled, user: &str) -> Audited {
    audit_with(lab, server, user, &[])
}

pub fn audit_with(lab: &RealLab, server: &Bundled, user: &str, words: &[&str]) -> Audited {
    let socket = server.dir.join("socket").display().to_string();
    let said = lab.run(&[&["--format", "json", "audit", "-S", &socket, "-u", user], words].concat());
    Audited::of(&said.exits(0))
}

pub const PASSWORD: &str = "a Long 1 password!";
const LACKS: &str = "this account lacks the privilege";

/// A session of root, who has this password or none yet.
pub fn root(server: &Bundled) -> Client {
    let login = ConnectOptions::new(Endpoint::unix(server.dir.join("socket")), "root");
    Client::connect(&login)
        .or_else(|_| Client::connect(&ConnectOptions { password: Some(PASSWORD.into()), ..login }))
        .unwrap()
}

/// In modes that hide rows the audit says of accounts what it said without them.
#[track_caller]
fn says_the_same_in(modes: &[&str], lab: &RealLab, server: &Bundled, before: &Audited) {
    let of_accounts = |audited: &Audited| -> Vec<String> {
        let is_of_one = |one: &(&str, &str, &str, &str)| one.2.contains(" account ");
        audited.findings().filter(is_of_one).map(|one| format!("{one:?}")).collect()
    };
    let expected = of_accounts(before);
    for mode in modes {
        root(server).execute(mode).unwrap_or_else(|error| panic!("{mode}: {error}"));
        let differs: Vec<String> = of_accounts(&audit(lab, server, "root"))
            .into_iter()
            .filter(|one| !expected.contains(one))
            .collect();
        assert!(differs.is_empty(), "after {mode}: {differs:#?}");
    }
}

/// How an account with that password logs in.
pub fn password(lab: &RealLab) -> [&'static str; 2] {
    let file = lab.home().join("password");
    std::fs::write(&file, PASSWORD).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    // The working directory of whoever is asked.
    ["--password-file", "password"]
}

/// An account with nothing is told what it lacks, and nothing passes for it that rests on a privilege; one with what is printed lacks
/// nothing.
fn privileges(lab: &RealLab, server: &Bundled, flavour: &str) {
    let words = password(lab);
    let create = format!("CREATE USER nothing@localhost IDENTIFIED BY '{PASSWORD}'");
    let printed = lab.run(&["audit", "--print-grants", "--flavour", flavour]).exits(0).stdout;
    let printed = printed.replace("<NEW_PASSWORD>", &format!("'{PASSWORD}'"));
    let statements =
        printed.lines().filter(|line| !line.starts_with("--")).map(|line| line.trim_end_matches(';'));
    let mut root = root(server);
    for sql in [create.as_str()].into_iter().chain(statements.filter(|sql| !sql.is_empty())) {
        root.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    // Before both: it is one of the things that are told.
    root.execute("SET GLOBAL log_output = 'TABLE', GLOBAL general_log = ON").unwrap();
    let seen = audit_with(lab, server, "nothing", &words);
    let lacking: Vec<_> = seen.findings().filter(|one| one.1 == "unknown" && one.3.contains(LACKS)).collect();
    for rule in [
        "SL2101", "SL2103", "SL2107", "SL2201", "SL2204", "SL2214", "SL2216", "SL2223", "SL2226", "SL2704",
        "SL2105", "SL2601", "SL2609", "SL2610", "SL2611", "SL2612", "SL2613", "SL2614", "SL2617", "SL2814",
        "SL3011", "SL4001", "SL4009", "SL4207",
    ] {
        assert!(
            lacking.iter().any(|one| one.0 == rule),
            "{rule} is not unknown for want of a privilege: {lacking:#?}"
        );
        let passed = seen.findings().any(|one| one.0 == rule && one.1 == "pass");
        assert!(!passed, "{rule} passes for an account that sees nothing");
    }
    let all = audit_with(lab, server, "sealion_audit", &words);
    root.execute("SET GLOBAL general_log = OFF, GLOBAL log_output = 'FILE'").unwrap();
    let lacking: Vec<_> = all.findings().filter(|one| one.3.contains(LACKS)).collect();
    assert!(lacking.is_empty(), "{lacking:#?}");
    all.passes(["SL2204", "SL2223", "SL2226", "SL3011"]);
    blind_is_told_nothing_else(&seen, &all);
    only_the_allowed_is_sent(&mut root, flavour);
}

/// Of every rule: what an account without a privilege is told as pass or fail, one that has what it needs is told as well; and what it is
/// not told it is told to lack a privilege for.
#[track_caller]
fn blind_is_told_nothing_else(blind: &Audited, all: &Audited) {
    // Each is connected as itself, and has its own account.
    let is_own =
        |one: &(&str, &str, &str, &str)| one.2.contains("nothing") || one.2.contains("sealion_audit");
    let is_word = |one: &(&str, &str, &str, &str)| one.1 != "unknown" && !is_own(one);
    let said = |of: &Audited| -> std::collections::BTreeSet<[String; 3]> {
        of.findings().filter(is_word).map(|one| [one.0, one.1, one.2].map(str::to_owned)).collect()
    };
    let (blind_said, all_said) = (said(blind), said(all));
    let invented: Vec<_> = blind_said.difference(&all_said).collect();
    assert!(invented.is_empty(), "an account that sees nothing is told: {invented:#?}");
    let mut rules = std::collections::BTreeSet::new();
    let mut silent = Vec::new();
    for [rule, verdict, subject] in all_said.difference(&blind_said) {
        rules.insert(rule.clone());
        let is_told =
            blind.findings().any(|one| one.0 == rule && one.1 == "unknown" && one.3.contains(LACKS));
        if !is_told {
            let told: Vec<_> = blind.findings().filter(|one| one.0 == rule).collect();
            silent.push(format!("{rule} {subject} is {verdict}; without a privilege: {told:?}"));
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
    eprintln!("{} rules rest on a privilege, and each says so: {rules:?}", rules.len());
    assert!(rules.len() > 40, "{rules:?}");
}

/// From where an audit reads, by the server's own log: tables of the server, none of which holds a row of an application.
const READS: &[&str] = &["information_schema.", "performance_schema.", "mysql."];
/// What else an audit sends.
const SENDS: &[&str] = &["SHOW ", "SET SESSION ", "SET NAMES "];
/// What would wait for somebody, or hold somebody up.
const NEVER: &[&str] = &[
    " FOR UPDATE",
    " LOCK IN",
    " FOR SHARE",
    " INTO ",
    "LOCK ",
    "SLEEP(",
    "GET_LOCK",
    "FLUSH",
    "LOAD_FILE",
    "BENCHMARK(",
];

/// Nothing else than reads of the server's own tables is sent, by what the server has written down.
#[track_caller]
fn only_the_allowed_is_sent(root: &mut Client, flavour: &str) {
    let log = "SELECT CONVERT(argument USING utf8mb4) AS sent FROM mysql.general_log \
               WHERE user_host LIKE '%sealion_audit%' AND command_type IN ('Query', 'Prepare', 'Execute')";
    let rows = root.query(log).unwrap();
    let of_server = INIT_CONNECT.split('\'').nth(1).unwrap();
    let sent = rows.iter().map(|row| row.text("sent").unwrap().into_owned());
    let sent: Vec<String> = sent.filter(|statement| statement != of_server).collect();
    assert!(sent.len() > 20, "{sent:#?}");
    let mut not_allowed = Vec::new();
    for statement in &sent {
        // So that a log of any size holds nobody up.
        let upper = statement.to_ascii_uppercase();
        let upper = upper.strip_prefix("SET STATEMENT MAX_STATEMENT_TIME = 5 FOR ").unwrap_or(&upper);
        // Behind each FROM and JOIN stands a table, or a query in brackets.
        let mut words = upper.split_whitespace().peekable();
        let mut tables = Vec::new();
        while let Some(word) = words.next() {
            if ["FROM", "JOIN"].contains(&word) && !upper.starts_with("SHOW ") {
                tables.extend(words.peek().copied());
            }
        }
        let is_read = |table: &&str| {
            table.starts_with('(')
                || READS.iter().any(|schema| table.starts_with(&schema.to_ascii_uppercase()))
        };
        // Without a table it is a function or a variable.
        let is_select =
            (upper.starts_with("SELECT ") || upper.starts_with("WITH ")) && tables.iter().all(is_read);
        let is_sent = SENDS.iter().any(|begin| upper.starts_with(&begin.to_ascii_uppercase()));
        let is_never = NEVER.iter().any(|word| upper.contains(word));
        if is_never || !(is_select || (is_sent && tables.is_empty())) {
            not_allowed.push(statement);
        }
    }
    assert!(not_allowed.is_empty(), "{not_allowed:#?}");
    eprintln!("{flavour}: {} statements were sent, and each is allowed", sent.len());
}

/// Every path has one word, and none is called protected where a finding speaks against it.
fn map(seen: &Value, wanted: &[(&str, &str)]) {
    let rows = seen["map"].as_array().expect("it has one");
    for (path, stand) in wanted {
        let row = rows.iter().find(|row| row["path"] == *path).expect("it is a path");
        assert_eq!(row["stand"], *stand, "{path}: {row:#}");
        assert_eq!(row["why"] == "", ["none", "configured-only"].contains(stand), "{row:#}");
    }
}

/// What a thief could read is made of findings, and what nobody could say of is not nothing. `web` may read files and hashes.
fn leaks(lab: &RealLab, server: &Bundled) {
    let socket = server.dir.join("socket").display().to_string();
    let ask = |leak: &str, more: &[&str]| lab.run(&[&["audit", "-S", &socket, "--if", leak], more].concat());
    let as_root = ["-u", "root"];
    let disk = ask("disk", &as_root).exits(0).stdout;
    for words in
        ["SL4201  every statement with its values, in the general log", "hold against it", "status rest"]
    {
        assert!(disk.contains(words), "{words}: {disk}");
    }
    assert!(!disk.contains("SL2201"), "an account without TLS is no matter of the disk: {disk}");
    let json = ask("app-account=web", &[&as_root[..], &["--format", "json"]].concat()).exits(0).json();
    let reads = json["reads"].as_array().expect("it has");
    let of = |rule: &str| reads.iter().filter(|row| row["because"]["rule"] == rule).collect::<Vec<_>>();
    for rule in ["SL2214", "SL2216"] {
        let rows = of(rule);
        assert!(
            rows.len() == 1 && rows[0]["because"]["subject"].to_string().contains("'web'@'10.%'"),
            "{rule}: {reads:#?}"
        );
    }
    assert_eq!(of("SL2811").len(), 1, "{reads:#?}");
    ask("app-account=web", &[&as_root[..], &["--fail-on", "high"]].concat()).exits(1);
    let nobody = ask("app-account=nobody", &as_root).exits(2);
    assert!(
        nobody.stderr.contains("there is no account nobody") && nobody.stderr.contains("'web'@'10.%'"),
        "{nobody}"
    );
    let mut root = root(server);
    root.execute(&format!("CREATE USER blind@localhost IDENTIFIED BY '{PASSWORD}'")).expect("it may");
    let blind = ask("link", &[&["-u", "blind"], &password(lab)[..]].concat()).exits(0).stdout;
    assert!(blind.contains("May be read: it could not be determined") && blind.contains("SL2101"), "{blind}");
    root.execute("DROP USER blind@localhost").expect("it may");
}

/// A session that stays.
fn hold(lab: &RealLab, server: &Bundled, user: &str, host: &str, words: &[&str]) -> Program {
    let mut command = lab.command(&["lab", "exec", "--", "mariadb", "--no-defaults", "--protocol=tcp"]);
    command.args(["-h", host, "-P", &server.port.to_string(), "-u", user]).args(words);
    command.args(["-e", "SELECT SLEEP(300)"]);
    let program = Program::start(command);
    // Servers look the name up.
    let seen_from = if host == "127.0.0.1" { "localhost" } else { host };
    let is_there = wait_for(UP, || {
        let rows = root(server).query("SHOW PROCESSLIST").ok()?;
        let found = rows.iter().any(|row| {
            row.text("User").as_deref() == Some(user)
                && row.text("Host").is_some_and(|from| from.starts_with(seen_from))
        });
        found.then_some(())
    });
    assert!(is_there.is_some(), "{user} is not connected from {seen_from}: {}", program.stderr());
    program
}

/// Somebody who reads the binary log, in cleartext.
fn read_log(lab: &RealLab, server: &Bundled, user: &str, is_mysql: bool) -> Program {
    let log = server.sql().query("SHOW BINARY LOGS").unwrap().text(0, "Log_name").unwrap().into_owned();
    // MariaDB's program reads no log of MySQL.
    let lib = bundle("mysql-9.7").join("usr/lib/x86_64-linux-gnu").display().to_string();
    let loader = format!("{lib}/ld-linux-x86-64.so.2");
    let mysqlbinlog = bundle("mysql-9.7").join("usr/bin/mysqlbinlog").display().to_string();
    let (program, cleartext) = if is_mysql {
        (vec![loader.as_str(), "--library-path", &lib, &mysqlbinlog], "--ssl-mode=DISABLED")
    } else {
        (vec!["mariadb-binlog"], "--skip-ssl")
    };
    let mut command = lab.command(&["lab", "exec", "--"]);
    command.args(program).args([
        "--no-defaults",
        "--protocol=tcp",
        cleartext,
        "--read-from-remote-server",
        "--stop-never",
        if is_mysql { "--connection-server-id=77" } else { "--stop-never-slave-server-id=77" },
    ]);
    command.args(["-h", NETWORK, "-P", &server.port.to_string(), "-u", user]).arg(log);
    let program = Program::start(command);
    let reads = wait_for(UP, || {
        let rows = server.sql().query("SHOW PROCESSLIST").ok()?;
        rows.iter()
            .any(|row| row.text("Command").is_some_and(|text| text.starts_with("Binlog Dump")))
            .then_some(())
    });
    assert!(reads.is_some(), "it does not read: {}", program.stderr());
    program
}

/// One that an attacker has brought; the server finds no library for it and goes on.
const A_FUNCTION: &str = "INSERT INTO mysql.func VALUES ('sys_exec', 2, 'lib_mysqludf_sys.so', 'function')";
const GROUP_REPLICATION: &str = "INSTALL PLUGIN group_replication SONAME 'group_replication.so'";
const CLONE: &str = "INSTALL PLUGIN clone SONAME 'mysql_clone.so'";

/// Options of MariaDB's file_key_management: a file of keys as it is, and one under a key of its own.
struct KeyFiles {
    plain: String,
    encrypted: String,
    key: String,
    /// The password is not on the disk of the data.
    _memory: tempfile::TempDir,
}

impl KeyFiles {
    /// The plain one in the data directory, for everybody.
    fn make(lab: &RealLab, datadir: &str) -> Self {
        let memory = tempfile::tempdir_in("/dev/shm").unwrap();
        let at = |name: &str| lab.home().join(name).display().to_string();
        let (plain, encrypted, key) = (
            at(&format!("{datadir}/keys")),
            at("keys.enc"),
            memory.path().join("keys.key").display().to_string(),
        );
        std::fs::create_dir_all(lab.home().join(datadir)).unwrap();
        std::fs::write(&plain, format!("1;{}\n", "5a".repeat(32))).unwrap();
        std::fs::write(&key, "a password of the lab").unwrap();
        // Source: MariaDB manual, File Key Management Encryption Plugin.
        let status = std::process::Command::new("openssl")
            .args(["enc", "-aes-256-cbc", "-md", "sha1", "-pass", &format!("file:{key}"), "-in", &plain])
            .args(["-out", &encrypted])
            .status()
            .unwrap();
        assert!(status.success());
        for (path, mode) in [(&plain, 0o644), (&encrypted, 0o600), (&key, 0o600)] {
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        }
        let option = |path: &str| format!("--file-key-management-filename={path}");
        let (plain, encrypted) = (option(&plain), option(&encrypted));
        let key = format!("--file-key-management-filekey=FILE:{key}");
        Self { plain, encrypted, key, _memory: memory }
    }
}

/// Of administrators, of nobody, and in engines that do not encrypt.
const ROUTINES_AND_TABLES: &[&str] = &[
    "CREATE ROLE filer",
    "GRANT FILE ON *.* TO filer",
    "GRANT filer TO web@'10.%'",
    "CREATE DATABASE app",
    "CREATE TABLE app.m (a INT) ENGINE=MyISAM",
    "CREATE PROCEDURE app.inject(IN x TEXT) BEGIN SET @q = concat('SELECT ', x); PREPARE s FROM @q; EXECUTE s; END",
    "CREATE DEFINER='nobody'@'gone' PROCEDURE app.orphan() SELECT 1",
    "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'events_statements_history'",
];
/// What good servers have of the same.
const GOOD_ROUTINES: &[&str] = &[
    "CREATE DATABASE app",
    "CREATE ROLE reader",
    "CREATE PROCEDURE app.invoked(IN x TEXT) SQL SECURITY INVOKER \
     BEGIN SET @q = concat('SELECT ', x); PREPARE s FROM @q; EXECUTE s; END",
    "CREATE PROCEDURE app.fixed() SELECT 1",
    "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME LIKE 'events_statements_history%'",
];

const EVERYBODY: &str = "--bind-address=0.0.0.0";

#[test]
fn each_rule_fails_and_passes_on_mariadb() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    lab.now("a server with every fault");
    let keys = KeyFiles::make(&lab, "b13306/data");
    let faults: &[&str] = &[
        EVERYBODY,
        "--plugin-load-add=file_key_management",
        &keys.plain,
        "--innodb-encrypt-tables=ON",
        "--innodb-encryption-threads=0",
        "--innodb-encryption-rotate-key-age=0",
        "--secure-auth=OFF",
        "--strict-password-validation=OFF",
        "--allow-suspicious-udfs",
        "--core-file",
        "--slow-query-log=ON",
        "--log-output=FILE,TABLE",
        "--log-warnings=1",
        "--ssl-ca=",
        "--tls-version=TLSv1.1,TLSv1.2",
        "--ssl-cipher=AES128-SHA:ECDHE-RSA-AES128-GCM-SHA256",
        "--performance-schema=ON",
        "--userstat=ON",
        "--general-log=ON",
        "--local-infile=ON",
        "--proxy-protocol-networks=*",
        "--log-bin=bin",
        "--server-id=1",
        "--old-mode=",
        "--innodb-file-per-table=OFF",
        "--report-password=x",
        // Its plugin is not there: the command line counts.
        "--loose-hashicorp-key-management-vault-url=http://127.0.0.1:8200/v1/keys",
    ];
    let bad = Bundled::start(&lab, "galera-10.11", 13_306, faults);
    bad.run(&[
        "CREATE USER e1@'%'",
        "CREATE USER cbc@'%'",
        "CREATE USER ''@localhost",
        "CREATE USER adm@'%'",
        "GRANT SUPER ON *.* TO adm@'%'",
        "CREATE USER web@'10.%' IDENTIFIED BY 'x'",
        "GRANT FILE ON *.* TO web@'10.%'",
        "GRANT SELECT ON mysql.user TO web@'10.%'",
        "CREATE USER rep@'%'",
        "GRANT REPLICATION SLAVE ON *.* TO rep@'%'",
        "CREATE USER old@'%'",
        "SET PASSWORD FOR old@'%' = OLD_PASSWORD('x')",
        "INSTALL SONAME 'auth_ed25519'",
        "CREATE USER two@'%' IDENTIFIED VIA ed25519 USING PASSWORD('x') OR mysql_native_password USING PASSWORD('x')",
        "INSTALL SONAME 'auth_pam_v1'",
        "CREATE USER pam@'%' IDENTIFIED VIA pam",
        "GRANT PROXY ON root@localhost TO ''@localhost",
        "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST '10.9.9.9', USER 'u', PASSWORD 'p')",
        "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_USER='rep'",
        "CHANGE MASTER 'tls' TO MASTER_HOST='127.0.0.1', MASTER_USER='rep', MASTER_SSL=1",
        "INSTALL SONAME 'server_audit'",
        "SET GLOBAL server_audit_excl_users = 'root'",
        "CREATE DATABASE test",
        A_FUNCTION,
    ]);
    bad.run(ROUTINES_AND_TABLES);
    bad.run(&[
        "SET GLOBAL innodb_file_per_table=ON",
        "CREATE TABLE app.no (a INT) ENGINE=InnoDB ENCRYPTED=NO",
        "SET GLOBAL innodb_file_per_table=OFF",
    ]);
    bad.run(DISGUISES);
    bad.run(&[
        "GRANT FILE ON *.* TO PUBLIC",
        "CREATE USER upper@'%' IDENTIFIED VIA ED25519 USING PASSWORD('x')",
        "CREATE USER pamup@'%' IDENTIFIED VIA PAM",
        "CREATE USER anycert@'10.99.0.1' IDENTIFIED BY 'x' REQUIRE X509",
        "CREATE USER ciph@'10.99.0.1' IDENTIFIED BY 'x' REQUIRE CIPHER 'AES128-SHA'",
        "GRANT CREATE USER ON *.* TO ciph@'10.99.0.1'",
        "CREATE USER setu@'%' IDENTIFIED BY 'x'",
        "GRANT SET USER ON *.* TO setu@'%'",
        "CREATE USER rsm@'%' IDENTIFIED BY 'x'",
        "GRANT REPLICATION SLAVE ADMIN ON *.* TO rsm@'%'",
    ]);
    let held = [
        hold(&lab, &bad, "e1", NETWORK, &["--skip-ssl"]),
        hold(&lab, &bad, "e1", "127.0.0.1", &["--skip-ssl"]),
        hold(&lab, &bad, "adm", NETWORK, &["--ssl"]),
        hold(&lab, &bad, "unauthenticated user", NETWORK, &["--skip-ssl"]),
        hold(&lab, &bad, "cbc", NETWORK, &["--ssl", "--tls-version=TLSv1.2", "--ssl-cipher=AES128-SHA"]),
        read_log(&lab, &bad, "rep", false),
    ];
    let seen = audit(&lab, &bad, "root");
    seen.fails(MARIADB_FAILS);
    seen.fails(DISGUISED);
    seen.fails(DISGUISED_MARIADB);
    seen.passes(["SL2001", "SL2225"]);
    leaks(&lab, &bad);
    injections(&lab, &bad, true);
    says_the_same_in(&[EMPTY_IS_NULL], &lab, &bad, &seen);
    says_the_same_in(MODES, &lab, &bad, &seen);
    lab.now("its plan");
    waits_for_cleartext(&lab, &bad);
    drop(held);
    is_followed(&lab, bad, |lines| Bundled::start(&lab, "galera-10.11", 13_306, &[faults, lines].concat()));

    lab.now("a server without TLS, and one without accounts");
    let options = ["--ssl=0", "--extra-port=13317", "--log-bin=bin", "--server-id=3", "--wsrep-sst-auth=u:p"];
    let plain = Bundled::start(&lab, "galera-10.11", 13_316, &options);
    plain.run(&["SET GLOBAL old_passwords = 1"]);
    let seen = audit(&lab, &plain, "root");
    seen.fails(WITHOUT_TLS);
    seen.fails(PLAIN_MARIADB);
    map(
        &seen.0,
        &[
            ("clients", "clear"),
            ("tablespaces", "clear"),
            ("general log", "none"),
            ("members of the group", "none"),
        ],
    );
    let open = Bundled::start(&lab, "galera-10.11", 13_326, &["--skip-grant-tables"]);
    audit(&lab, &open, "root").fails(WITHOUT_ACCOUNTS);

    lab.now("a hardened server");
    let good = Bundled::start(
        &lab,
        "galera-10.11",
        13_336,
        &[
            // Not everybody's: one of the addresses.
            "--bind-address=10.99.0.1",
            "--plugin-load-add=file_key_management",
            &keys.encrypted,
            &keys.key,
            "--file-key-management-encryption-algorithm=AES_CTR",
            "--innodb-encrypt-tables=FORCE",
            "--innodb-encryption-threads=4",
            "--innodb-encrypt-log=ON",
            "--innodb-encrypt-temporary-tables=ON",
            "--aria-encrypt-tables=ON",
            "--encrypt-tmp-files=ON",
            "--encrypt-tmp-disk-tables=ON",
            "--encrypt-binlog=ON",
            "--binlog-format=ROW",
            "--binlog-annotate-row-events=OFF",
            "--binlog-expire-logs-seconds=2592000",
            "--skip-symbolic-links",
            "--plugin-load-add=server_audit",
            "--server-audit-logging=ON",
            "--server-audit-events=CONNECT,QUERY_DCL",
            "--require-secure-transport=ON",
            "--tls-version=TLSv1.2,TLSv1.3",
            "--ssl-cipher=ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256",
            "--performance-schema=ON",
            "--userstat=ON",
            "--local-infile=OFF",
            // Not above the data directory, which is in a temporary one.
            "--secure-file-priv=/usr/share",
            "--proxy-protocol-networks=10.0.0.0/8",
            "--default-password-lifetime=365",
            "--max-password-errors=10",
            "--plugin-load-add=simple_password_check",
            "--extra-port=13337",
            "--log-bin=bin",
            "--server-id=2",
            "--skip-name-resolve",
            &plugins(&lab, "galera-10.11"),
        ],
    );
    close(&good);
    good.run(&[&["SET PASSWORD = PASSWORD('a Long 1 password!')"], GOOD_ROUTINES, &[
        // The bootstrap's own, one of them with the name of this machine.
        "DELETE FROM mysql.global_priv WHERE User = 'root' AND Host <> 'localhost'",
        "FLUSH PRIVILEGES",
        "INSTALL SONAME 'auth_ed25519'",
        "INSTALL SONAME 'auth_pam_v1'",
        "CREATE USER app@'10.99.%' IDENTIFIED VIA ed25519 USING PASSWORD('a Long 1 password!') REQUIRE SSL",
        "CREATE USER boss@'10.99.0.1' IDENTIFIED VIA ed25519 USING PASSWORD('a Long 1 password!') REQUIRE SUBJECT '/CN=boss'",
        "GRANT SUPER ON *.* TO boss@'10.99.0.1'",
        "CREATE USER rep@'10.99.%' IDENTIFIED VIA ed25519 USING PASSWORD('a Long 1 password!') REQUIRE SSL",
        "GRANT REPLICATION SLAVE ON *.* TO rep@'10.99.%'",
        "CREATE USER pam@'10.99.%' IDENTIFIED VIA pam REQUIRE SSL",
        "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_USER='rep', MASTER_SSL=1, MASTER_SSL_CA='/ca.pem', \
         MASTER_SSL_VERIFY_SERVER_CERT=1",
        "CREATE TABLE app.i (a INT) ENGINE=InnoDB",
"GRANT reader TO app@'10.99.%'",
        "ALTER USER root@localhost IDENTIFIED BY 'a Long 1 password!'",
    ]].concat());
    let with_password = format!("--password={PASSWORD}");
    let _held = hold(&lab, &good, "app", NETWORK, &["--ssl", &with_password]);
    // Background threads are at it.
    let clear = "SELECT COUNT(*) FROM information_schema.INNODB_SYS_TABLESPACES t \
                 LEFT JOIN information_schema.INNODB_TABLESPACES_ENCRYPTION e ON e.SPACE = t.SPACE \
                 WHERE t.NAME <> 'innodb_temporary' AND COALESCE(e.MIN_KEY_VERSION, 0) = 0";
    let is_done = wait_for(UP, || (root(&good).query(clear).ok()?.scalar()? == "0").then_some(()));
    assert!(is_done.is_some(), "tablespaces are not encrypted in time");
    let seen = audit_with(&lab, &good, "root", &password(&lab));
    map(
        &seen.0,
        &[
            ("clients", "configured-only"),
            ("tablespaces", "configured-only"),
            ("binary log", "configured-only"),
        ],
    );
    let only_elsewhere = ["SL2021"];
    let failing = MARIADB_FAILS.iter().chain(WITHOUT_TLS).chain(PLAIN_MARIADB).chain(WITHOUT_ACCOUNTS);
    let failing = failing.map(|(rule, _)| *rule);
    // No replica is connected there.
    let of_sessions = ["SL2107", "SL2109"];
    seen.passes(failing.filter(|rule| !only_elsewhere.contains(rule) && !of_sessions.contains(rule)));
    is_as_kept("hardened-mariadb", &seen);
    root(&good).execute(INIT_CONNECT).unwrap();
    privileges(&lab, &good, "mariadb");

    lab.now("a node with an option file");
    let seen = Audited::of(&lab.run(&["--format", "json", "audit"]).exits(0));
    seen.passes(["SL2021"]);
}

#[test]
fn each_rule_fails_and_passes_on_mysql() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    lab.now("a server with every fault");
    let faults: &[&str] = &[
        EVERYBODY,
        "--core-file",
        "--slow-query-log=ON",
        "--log-output=FILE,TABLE",
        "--binlog-format=STATEMENT",
        "--binlog-rows-query-log-events=ON",
        "--binlog-expire-logs-seconds=0",
        "--loose-group-replication-start-on-boot=OFF",
        "--ssl-ca=",
        "--ssl-cert=",
        "--ssl-key=",
        "--innodb-file-per-table=OFF",
        "--general-log=ON",
        "--log-raw=ON",
        "--local-infile=ON",
        "--log-bin=bin",
        "--server-id=1",
    ];
    let bad = Bundled::start(&lab, "mysql-9.7", 13_306, faults);
    bad.run(&[
        "CREATE USER e1@'%'",
        "CREATE USER ''@localhost",
        "CREATE USER adm@'%'",
        "GRANT SUPER ON *.* TO adm@'%'",
        "CREATE USER web@'10.%' IDENTIFIED BY 'x'",
        "GRANT FILE ON *.* TO web@'10.%'",
        "GRANT SELECT ON mysql.user TO web@'10.%'",
        "CREATE USER rep@'%'",
        "GRANT REPLICATION SLAVE ON *.* TO rep@'%'",
        "CREATE USER sha@'%' IDENTIFIED WITH sha256_password BY 'x'",
        "GRANT PROXY ON root@localhost TO ''@localhost",
        "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST '10.9.9.9', USER 'u', PASSWORD 'p')",
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_USER='rep', SOURCE_SSL=0, \
         GET_SOURCE_PUBLIC_KEY=1",
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_USER='rep', SOURCE_SSL=1 FOR CHANNEL 'tls'",
        "CREATE DATABASE test",
        A_FUNCTION,
        GROUP_REPLICATION,
        CLONE,
        "SET GLOBAL group_replication_ssl_mode = 'DISABLED'",
        "SET GLOBAL group_replication_recovery_use_ssl = OFF",
        "SET GLOBAL group_replication_recovery_get_public_key = ON",
    ]);
    bad.run(ROUTINES_AND_TABLES);
    bad.run(DISGUISES);
    bad.run(&[
        "CREATE USER anycert@'10.99.0.1' IDENTIFIED BY 'x' REQUIRE X509",
        "CREATE ROLE everybody",
        "GRANT FILE ON *.* TO everybody",
        "SET GLOBAL mandatory_roles = '`everybody`@`%`'",
        "CREATE USER rsm@'%' IDENTIFIED BY 'x'",
        "GRANT REPLICATION_SLAVE_ADMIN ON *.* TO rsm@'%'",
        // Never loaded: SL2012 has to fail all the same.
        "SET GLOBAL ssl_crl = '/nonexistent/crl.pem'",
        "SET GLOBAL authentication_policy = 'sha256_password,,'",
    ]);
    let held = [
        hold(&lab, &bad, "e1", NETWORK, &["--skip-ssl"]),
        hold(&lab, &bad, "e1", "127.0.0.1", &["--skip-ssl"]),
        hold(&lab, &bad, "adm", NETWORK, &["--ssl"]),
        hold(&lab, &bad, "unauthenticated user", NETWORK, &["--skip-ssl"]),
        read_log(&lab, &bad, "rep", true),
    ];
    let seen = audit(&lab, &bad, "root");
    seen.fails(MYSQL_FAILS);
    seen.fails(DISGUISED);
    seen.fails(DISGUISED_MYSQL);
    seen.passes(["SL2001", "SL2225"]);
    injections(&lab, &bad, false);
    says_the_same_in(MODES, &lab, &bad, &seen);
    lab.now("its plan");
    waits_for_cleartext(&lab, &bad);
    drop(held);
    is_followed(&lab, bad, |lines| Bundled::start(&lab, "mysql-9.7", 13_306, &[faults, lines].concat()));

    lab.now("a server without TLS, and one without accounts");
    let plain = Bundled::start(
        &lab,
        "mysql-9.7",
        13_316,
        &["--tls-version=", "--admin-address=127.0.0.1", "--admin-port=13318", "--admin-tls-version="],
    );
    plain.run(&["SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES'", GROUP_REPLICATION]);
    let seen = audit(&lab, &plain, "root");
    seen.fails(WITHOUT_TLS);
    seen.fails(PLAIN_MYSQL);
    map(&seen.0, &[("clients", "clear"), ("administrators' port", "clear"), ("redo log", "clear")]);
    seen.fails(WITHOUT_KEYRING);
    let open = Bundled::start(&lab, "mysql-9.7", 13_326, &["--skip-grant-tables"]);
    audit(&lab, &open, "root").fails(WITHOUT_ACCOUNTS);

    lab.now("a hardened server");
    let own = OwnLeaf::make(&lab, "good");
    let good = Bundled::start(
        &lab,
        "mysql-9.7",
        13_346,
        &[
            "--bind-address=10.99.0.1",
            "--default-table-encryption=ON",
            "--table-encryption-privilege-check=ON",
            "--block-encryption-mode=aes-256-cbc",
            "--persist-sensitive-variables-in-plaintext=OFF",
            "--log-error-verbosity=3",
            "--password-history=5",
            "--require-secure-transport=ON",
            "--ssl-cipher=ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256",
            "--caching-sha2-password-auto-generate-rsa-keys=OFF",
            "--default-password-lifetime=365",
            "--admin-address=127.0.0.1",
            "--admin-port=13348",
            "--log-bin=bin",
            "--server-id=2",
            "--skip-name-resolve",
            "--password-require-current=ON",
            &own.cert,
            &own.key,
            &own.ca,
        ],
    );
    good.run(GOOD_ROUTINES);
    good.run(&[
        "INSTALL COMPONENT 'file://component_validate_password'",
        "INSTALL COMPONENT 'file://component_connection_control'",
        "CREATE USER app@'10.99.%' IDENTIFIED BY 'a Long 1 password!' REQUIRE SSL",
        "CREATE USER boss@'10.99.0.1' IDENTIFIED BY 'a Long 1 password!' REQUIRE SUBJECT '/CN=boss'",
        "GRANT SUPER ON *.* TO boss@'10.99.0.1'",
        "CREATE USER rep@'10.99.%' IDENTIFIED BY 'a Long 1 password!' REQUIRE SSL",
        "GRANT REPLICATION SLAVE ON *.* TO rep@'10.99.%'",
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_USER='rep', SOURCE_SSL=1, \
         SOURCE_SSL_CA='/ca.pem', SOURCE_SSL_VERIFY_SERVER_CERT=1",
        GROUP_REPLICATION,
        CLONE,
        "SET GLOBAL clone_ssl_ca = '/ca.pem'",
        "SET GLOBAL group_replication_ssl_mode = 'VERIFY_IDENTITY'",
        "SET GLOBAL group_replication_recovery_ssl_verify_server_cert = ON",
        "SET GLOBAL group_replication_ip_allowlist = '10.99.0.1'",
        "GRANT reader TO app@'10.99.%'",
        "ALTER USER root@localhost IDENTIFIED BY 'a Long 1 password!'",
    ]);
    let with_password = format!("--password={PASSWORD}");
    let _held = hold(&lab, &good, "app", NETWORK, &["--ssl", &with_password]);
    let seen = audit_with(&lab, &good, "root", &password(&lab));
    map(&seen.0, &[("clients", "configured-only"), ("from its replication source", "configured-only")]);
    let elsewhere = ["SL2021", "SL2107", "SL2109"];
    let failing = MYSQL_FAILS.iter().chain(WITHOUT_TLS).chain(PLAIN_MYSQL).chain(WITHOUT_ACCOUNTS);
    let failing = failing.map(|(rule, _)| *rule);
    seen.passes(failing.filter(|rule| !elsewhere.contains(rule)));
    is_as_kept("hardened-mysql", &seen);
    root(&good).execute(INIT_CONNECT).unwrap();
    privileges(&lab, &good, "mysql");
}

/// What nobody has seen failing may never fail.
#[test]
fn no_rule_of_an_audit_is_without_a_server_that_fails_it() {
    let lists = [
        MARIADB_FAILS,
        MYSQL_FAILS,
        WITHOUT_TLS,
        PLAIN_MARIADB,
        PLAIN_MYSQL,
        WITHOUT_KEYRING,
        BY_KEYRING,
        WITHOUT_ACCOUNTS,
        STACKED,
        BY_HOST,
        BY_TEXT,
        BY_JOBS,
        BY_SEARCH,
        GALERA_FAILS,
    ];
    let mut judged = 0;
    for rule in rules::RULES {
        let is_seen =
            |fact: &&model::Fact| fact.is_noted_by(LookBy::Audit) || fact.is_noted_by(LookBy::Search);
        if !rule.facts().iter().any(is_seen) {
            continue;
        }
        judged += 1;
        // A certificate that ends soon, or has not begun: `rules` and `status` have their own tests of these facts.
        // No bundle has a faulty TLS library: `server::tls_library` judges recorded ones.
        // No server whose series has ended lets the audit log in: `server::support` judges recorded versions.
        if ["SL2003", "SL2007", "SL2701", "SL2702"].contains(&rule.id()) {
            continue;
        }
        assert!(
            lists.iter().copied().flatten().chain(INJECTED).any(|(id, _)| *id == rule.id()),
            "{} is seen failing on no server: add it to a list here",
            rule.id()
        );
    }
    assert!(judged >= RULES_OF_AUDIT_MIN, "an audit judges {judged} rules");
}

/// What is promised of an audit.
const RULES_OF_AUDIT_MIN: usize = 140;
