//! What the commands of a job give away, by their words alone. No secret of theirs is in what is said.

use formats::shell_line::{Pipeline, pipelines};

/// What is seen in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sign {
    /// A tool reads a server over the network, and its own words do not keep TLS from being taken away.
    Dump {
        tool: String,
        host: String,
        tls: DumpTls,
        option_files: Vec<String>,
    },
    /// Data goes over the network as it is.
    CleartextStream(String),
    /// A password is an argument, or a variable, in this line.
    Password(String),
    WeakEncryption(String),
    /// ssh takes any host for the right one.
    AnyHost(String),
}

/// What the words of a tool say of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DumpTls {
    /// It is off, or given up where the other side has none.
    Strippable,
    /// Nothing; or only a CA, which is enough for one family.
    NotSaid { has_ca: bool },
}

/// `sh -c "ssh h 'sh -c …'"`.
const DEPTH_MAX: usize = 3;
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ksh", "zsh", "ash"];
/// Behind one of these the program that it runs is looked for among the words.
const WRAPPERS: [&str; 30] = [
    "sudo",
    "nice",
    "ionice",
    "timeout",
    "env",
    "time",
    "nohup",
    "exec",
    "flock",
    "chronic",
    "command",
    "setsid",
    "stdbuf",
    "taskset",
    "cronic",
    "systemd-run",
    "systemd-cat",
    "if",
    "then",
    "else",
    "elif",
    "do",
    "while",
    "until",
    "!",
    "{",
    "runuser",
    "su",
    "xargs",
    "chrt",
];
const DUMPS: [&str; 5] = ["mysqldump", "mariadb-dump", "mysqlpump", "mysqlbinlog", "mariadb-binlog"];
const COPIES: [&str; 4] = ["mariadb-backup", "mariabackup", "xtrabackup", "innobackupex"];
const CLIENTS: [&str; 8] = [
    "mysql",
    "mariadb",
    "mysqladmin",
    "mariadb-admin",
    "mysqlcheck",
    "mariadb-check",
    "mysqlimport",
    "mysqlshow",
];
const DUMPERS: [&str; 2] = ["mydumper", "myloader"];
const SENDERS: [&str; 5] = ["nc", "ncat", "netcat", "socat", "curl"];
/// Beside those above: what packs and unpacks backups.
const PACKERS: [&str; 4] = ["mbstream", "xbstream", "tar", "rsync"];
const BY_SSH: [&str; 5] = ["ssh", "scp", "sftp", "rsync", "autossh"];

fn is_any(name: &str, lists: &[&[&str]]) -> bool {
    lists.iter().any(|list| list.contains(&name))
}

fn is_known(name: &str) -> bool {
    is_any(name, &[&DUMPS, &COPIES, &CLIENTS, &DUMPERS, &SENDERS, &PACKERS, &BY_SSH, &SHELLS])
        || name == "openssl"
        || name == "sshpass"
        || name.starts_with("pt-")
}

/// Whether a text names a program that jobs are judged by.
pub(super) fn names_a_tool(text: &str) -> Option<&'static str> {
    let names = DUMPS.iter().chain(&COPIES).chain(&DUMPERS);
    names.copied().find(|name| text.contains(name))
}

/// What a pipeline gives away.
pub(super) fn signs(pipeline: &Pipeline) -> Vec<Sign> {
    let mut signs = Vec::new();
    of_pipeline(pipeline, 0, &mut signs);
    signs
}

/// One command: its program, what stands in front of it, and its arguments.
struct Command<'w> {
    name: &'w str,
    front: &'w [String],
    args: &'w [String],
}

impl<'w> Command<'w> {
    fn of(words: &'w [String]) -> Option<Self> {
        let is_assignment = |word: &str| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            })
        };
        let first = words.iter().position(|word| !is_assignment(word))?;
        let name = |at: usize| words.get(at).map_or("", |word| file_name(word));
        // `su - mysql -c '…'` is given a line, and no program.
        let is_given_a_line =
            matches!(name(first), "su" | "runuser") && words.iter().any(|word| word == "-c");
        let at = if WRAPPERS.contains(&name(first)) && !is_given_a_line {
            // `sudo -u mysql mysqldump`: a user may be called as a program.
            let is_user =
                |at: usize| matches!(name(at.saturating_sub(1)), "-u" | "-U" | "-g" | "--user" | "--group");
            (first + 1..words.len()).find(|at| is_known(name(*at)) && !is_user(*at)).unwrap_or(first)
        } else {
            first
        };
        Some(Self { name: name(at), front: words.get(..at)?, args: words.get(at + 1..)? })
    }

    /// The value of an option, as `--name=value`, `--name value`, `-xvalue` or `-x value`; the last one counts.
    fn option(&self, long: &str, short: Option<char>) -> Option<&'w str> {
        let mut found = None;
        for (at, word) in self.args.iter().enumerate() {
            let next = || self.args.get(at + 1).map(String::as_str);
            let value = if let Some(rest) = word.strip_prefix("--") {
                let (name, value) =
                    rest.split_once('=').map_or((rest, None), |(name, value)| (name, Some(value)));
                (name.replace('_', "-") == long).then(|| value.or_else(next))
            } else {
                let of_short = short.and_then(|short| word.strip_prefix('-')?.strip_prefix(short));
                of_short.map(|value| if value.is_empty() { next() } else { Some(value) })
            };
            found = value.flatten().or(found);
        }
        found
    }

    fn has(&self, words: &[&str]) -> bool {
        self.args.iter().any(|word| words.contains(&word.replace('_', "-").as_str()))
    }
}

fn file_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

fn of_pipeline(pipeline: &Pipeline, depth: usize, signs: &mut Vec<Sign>) {
    let commands: Vec<Command<'_>> =
        pipeline.commands.iter().filter_map(|words| Command::of(words)).collect();
    for words in &pipeline.commands {
        password_variable(words, signs);
    }
    for command in &commands {
        password(command, signs);
        encryption(command, signs);
        any_host(command, signs);
        dump(command, signs);
        rsync(command, signs);
        if depth < DEPTH_MAX {
            for inner in inside(command) {
                for pipeline in pipelines(&inner) {
                    of_pipeline(&pipeline, depth + 1, signs);
                }
            }
        }
    }
    stream(&commands, signs);
}

/// Source: ssh(1), options that have a value.
const SSH_WITH_VALUE: &str = "BbcDEeFIiJLlmOopQRSWw";

/// What a shell here, or at the other end of ssh, is given to run.
fn inside(command: &Command<'_>) -> Vec<String> {
    if SHELLS.contains(&command.name) || matches!(command.name, "su" | "runuser") {
        let at = command
            .args
            .iter()
            .position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'));
        return at.and_then(|at| command.args.get(at + 1)).cloned().into_iter().collect();
    }
    if command.name != "ssh" {
        return vec![];
    }
    let mut words = command.args.iter();
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix('-') else { break };
        if option.len() == 1 && option.chars().all(|char| SSH_WITH_VALUE.contains(char)) {
            words.next();
        }
    }
    let rest: Vec<&str> = words.map(String::as_str).collect();
    if rest.is_empty() { vec![] } else { vec![rest.join(" ")] }
}

fn password_variable(words: &[String], signs: &mut Vec<Sign>) {
    let is_set = |word: &String| word.strip_prefix("MYSQL_PWD=").is_some_and(is_literal);
    if words.iter().any(is_set) {
        signs.push(Sign::Password("MYSQL_PWD is set".into()));
    }
}

/// Something stands there, and not only the name of a variable, whose value is elsewhere.
fn is_literal(value: &str) -> bool {
    !value.is_empty() && !value.starts_with('$')
}

fn password(command: &Command<'_>, signs: &mut Vec<Sign>) {
    let name = command.name;
    let mut found = |how: &str| signs.push(Sign::Password(format!("{name} {how}")));
    let is_client = is_any(name, &[&DUMPS, &COPIES, &CLIENTS]);
    let has_long = || {
        command
            .args
            .iter()
            .any(|word| word.strip_prefix("--password=").is_some_and(|value| !value.is_empty()))
    };
    if is_client || name.starts_with("pt-") {
        // `-p` alone asks for it.
        let has_short = command.args.iter().any(|word| {
            word.strip_prefix("-p").is_some_and(|value| !value.is_empty() && !value.starts_with('='))
        });
        if has_long() {
            found("--password=...");
        } else if has_short && is_client {
            found("-p...");
        }
    }
    if DUMPERS.contains(&name) && (has_long() || command.option("password", Some('p')).is_some()) {
        found("--password ...");
    }
    if name.starts_with("pt-") {
        let is_dsn = |word: &&String| !word.starts_with('-') && word.contains('=');
        let has_password = |dsn: &String| {
            dsn.split(',').any(|part| part.strip_prefix("p=").is_some_and(|value| !value.is_empty()))
        };
        if command.args.iter().filter(is_dsn).any(has_password)
            || command.option("password", Some('p')).is_some() && !has_long()
        {
            found("p=... in its DSN, or -p ...");
        }
    }
    if name == "sshpass" && command.args.iter().any(|word| word.starts_with("-p")) {
        found("-p...");
    }
}

fn encryption(command: &Command<'_>, signs: &mut Vec<Sign>) {
    let args = command.args;
    if command.name == "openssl" && args.first().is_some_and(|word| word == "enc" || word.starts_with("aes-"))
    {
        let is_inline = |pair: &[String]| match pair {
            [option, value] => match option.as_str() {
                "-k" | "-K" => true,
                "-pass" => value.starts_with("pass:"),
                _ => false,
            },
            _ => false,
        };
        if args.windows(2).any(is_inline) {
            signs.push(Sign::WeakEncryption("the key of openssl enc is an argument".into()));
        } else if !command.has(&["-pbkdf2", "-iter", "-K"]) {
            signs.push(Sign::WeakEncryption(
                "openssl enc without -pbkdf2: the password is guessed quickly".into(),
            ));
        }
    }
    if COPIES.contains(&command.name) && command.option("encrypt-key", None).is_some() {
        signs.push(Sign::WeakEncryption(format!(
            "the key of {} is an argument (--encrypt-key)",
            command.name
        )));
    }
}

fn any_host(command: &Command<'_>, signs: &mut Vec<Sign>) {
    if !BY_SSH.contains(&command.name) && command.name != "sshpass" {
        return;
    }
    // `-o Option=no`, `-o "Option no"`, and the same inside of rsync's -e.
    let words =
        command.front.iter().chain(command.args).map(|word| word.to_ascii_lowercase().replace('=', " "));
    let all = words.collect::<Vec<_>>().join(" ");
    for option in ["stricthostkeychecking no", "stricthostkeychecking off", "userknownhostsfile /dev/null"] {
        let is_there = all.match_indices(option).any(|(at, _)| {
            all.get(at + option.len()..).is_none_or(|rest| {
                !rest.starts_with(|char: char| char.is_ascii_alphanumeric() || char == '-')
            })
        });
        if is_there {
            signs.push(Sign::AnyHost(format!("{} with {}", command.name, option.replacen(' ', "=", 1))));
            return;
        }
    }
}

fn is_local(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    matches!(host, "localhost" | "::1" | "." | "") || host.starts_with("127.")
}

fn dump(command: &Command<'_>, signs: &mut Vec<Sign>) {
    let name = command.name;
    if !DUMPS.contains(&name) && !COPIES.contains(&name) {
        return;
    }
    let is_remote_log =
        command.args.iter().any(|word| word == "-R" || word.starts_with("--read-from-remote"));
    if name.ends_with("binlog") && !is_remote_log {
        return;
    }
    // `-h` of a tool that copies is a directory.
    let short = DUMPS.contains(&name).then_some('h');
    // What somebody has written in front of it may be a secret.
    let host = command.option("host", short).map(|host| host.rsplit('@').next().unwrap_or_default());
    let Some(host) = host.filter(|host| !is_local(host)) else { return };
    if command.option("protocol", None).is_some_and(|protocol| protocol.eq_ignore_ascii_case("socket")) {
        return;
    }
    let Some(tls) = dump_tls(command) else { return };
    let named =
        ["defaults-file", "defaults-extra-file"].iter().filter_map(|option| command.option(option, None));
    signs.push(Sign::Dump {
        tool: name.into(),
        host: host.into(),
        tls,
        option_files: named.map(str::to_owned).collect(),
    });
}

/// `None`: cleartext is refused.
fn dump_tls(command: &Command<'_>) -> Option<DumpTls> {
    if command.has(&[
        "--skip-ssl",
        "--ssl=0",
        "--ssl=off",
        "--ssl=OFF",
        "--disable-ssl",
        "--skip-ssl-verify-server-cert",
    ]) {
        return Some(DumpTls::Strippable);
    }
    if let Some(mode) = command.option("ssl-mode", None) {
        let is_kept =
            ["REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"].iter().any(|one| mode.eq_ignore_ascii_case(one));
        return (!is_kept).then_some(DumpTls::Strippable);
    }
    if command.has(&["--ssl-verify-server-cert", "--ssl-verify-server-cert=1", "--ssl-verify-server-cert=ON"])
    {
        return None;
    }
    let has_ca = command.option("ssl-ca", None).is_some() || command.option("ssl-capath", None).is_some();
    Some(DumpTls::NotSaid { has_ca })
}

fn rsync(command: &Command<'_>, signs: &mut Vec<Sign>) {
    if command.name != "rsync" {
        return;
    }
    let Some(to) = command.args.iter().rev().find(|word| !word.starts_with('-')) else { return };
    let host = match (to.strip_prefix("rsync://"), to.split_once("::")) {
        (Some(rest), _) => rest.split(['/', ':']).next().unwrap_or_default(),
        (None, Some((host, _))) => host,
        _ => return,
    };
    let host = host.rsplit('@').next().unwrap_or_default();
    if !is_local(host) {
        signs.push(Sign::CleartextStream(format!("rsync to its daemon on {host}")));
    }
}

/// What a backup tool writes is piped to the network, or comes from there, and nothing encrypts it on the way.
fn stream(commands: &[Command<'_>], signs: &mut Vec<Sign>) {
    let Some(at) = commands.iter().position(|command| SENDERS.contains(&command.name)) else { return };
    let Some(sender) = commands.get(at) else { return };
    let is_data = |command: &Command<'_>| {
        is_any(command.name, &[&DUMPS, &COPIES, &CLIENTS, &DUMPERS, &["mbstream", "xbstream", "tar"]])
    };
    if !commands.iter().any(is_data) {
        return;
    }
    let encrypts = |command: &Command<'_>| {
        matches!(command.name, "gpg" | "gpg2" | "age" | "rage" | "openssl" | "xbcrypt" | "ccrypt")
            || command.args.iter().any(|word| word.starts_with("--encrypt=") || word == "--encrypt")
    };
    if commands.iter().any(encrypts) {
        return;
    }
    let is_sealed = match sender.name {
        "socat" => sender.args.iter().any(|word| word.to_ascii_uppercase().starts_with("OPENSSL")),
        // The scheme decides.
        "curl" => false,
        _ => sender.args.iter().any(|word| word.starts_with("--ssl")),
    };
    let words = || sender.args.iter().map(String::as_str);
    let is_of_network = match sender.name {
        "socat" => words().any(|word| {
            let upper = word.to_ascii_uppercase();
            let kind = upper.split(':').next().unwrap_or_default();
            let host = word.split(':').nth(1).unwrap_or_default();
            let listens = kind.contains("LISTEN") || kind.ends_with("-L");
            kind.starts_with("TCP") && (listens || !is_local(host))
        }),
        "curl" => words().any(|word| {
            let url = ["http://", "ftp://"].iter().find_map(|scheme| word.strip_prefix(scheme));
            let host = url.map(|rest| rest.split(['/', ':']).next().unwrap_or_default());
            host.is_some_and(|host| !is_local(host.rsplit('@').next().unwrap_or_default()))
        }),
        _ => {
            words()
                .filter(|word| !word.starts_with('-'))
                .any(|word| !is_local(word) && word.parse::<u32>().is_err())
                || words().any(|word| word.starts_with("-l") || word == "--listen")
        }
    };
    if is_sealed
        && words().any(|word| word.to_ascii_lowercase().split(',').any(|option| option == "verify=0"))
    {
        signs
            .push(Sign::CleartextStream(format!("{} does not verify the other end (verify=0)", sender.name)));
    }
    if is_of_network && !is_sealed {
        signs.push(Sign::CleartextStream(format!("{} without TLS", sender.name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Vec<String> {
        let all: Vec<Sign> = pipelines(line).iter().flat_map(signs).collect();
        all.into_iter()
            .map(|sign| match sign {
                Sign::Dump { tool, host, tls, .. } => format!("{tool} {host} {tls:?}"),
                Sign::CleartextStream(what) => format!("stream: {what}"),
                Sign::Password(what) => format!("password: {what}"),
                Sign::WeakEncryption(what) => format!("weak: {what}"),
                Sign::AnyHost(what) => format!("host: {what}"),
            })
            .collect()
    }

    #[test]
    fn a_line_gives_away_what_its_words_do() {
        for (line, expected) in [
            ("mysqldump -h db2 -u b app > /b/x.sql", "mysqldump db2 NotSaid { has_ca: false }"),
            ("mysqldump --host=db2 --ssl-ca=/ca.pem app", "mysqldump db2 NotSaid { has_ca: true }"),
            ("/usr/bin/mariadb-dump -hdb2 --skip-ssl app", "mariadb-dump db2 Strippable"),
            ("nice -n 19 mysqldump --ssl-mode=preferred --host db2", "mysqldump db2 Strippable"),
            (
                "mysqlbinlog --raw -R -h db2 --stop-never bin.000001",
                "mysqlbinlog db2 NotSaid { has_ca: false }",
            ),
            ("mysqldump -h 'u:SECRET@db2' app > x", "mysqldump db2 NotSaid { has_ca: false }"),
            ("ssh db1 'mysqldump -h db2 app | gzip' > x.gz", "mysqldump db2 NotSaid { has_ca: false }"),
            ("sh -c 'mysqldump -h db2 app'", "mysqldump db2 NotSaid { has_ca: false }"),
            ("x=\"$(mysqldump -h db2 app)\"", "mysqldump db2 NotSaid { has_ca: false }"),
            (
                "if ! timeout 1h mysqldump -h db2 a; then exit 1; fi",
                "mysqldump db2 NotSaid { has_ca: false }",
            ),
            ("mariadb-backup --backup --stream=xbstream | nc 10.0.0.7 9999", "stream: nc without TLS"),
            ("nc -l 9999 | mbstream -x -C /b", "stream: nc without TLS"),
            ("tar cf - /b | socat - TCP:backup1:4444", "stream: socat without TLS"),
            ("socat TCP4-LISTEN:4444 - | mbstream -x", "stream: socat without TLS"),
            (
                "tar cf - /b | socat - OPENSSL:b:4444,verify=0",
                "stream: socat does not verify the other end (verify=0)",
            ),
            ("tar cf - /b | curl -T - http://b/x", "stream: curl without TLS"),
            ("rsync -a /b/ rsync://u@backup1/db/", "stream: rsync to its daemon on backup1"),
            ("rsync -a /b/ backup1::db", "stream: rsync to its daemon on backup1"),
            ("mysqldump -uroot -pSECRET app", "password: mysqldump -p..."),
            ("mysqldump --password=SECRET app", "password: mysqldump --password=..."),
            ("mysqldump -p\"$PW\" app", "password: mysqldump -p..."),
            ("MYSQL_PWD=SECRET mysqldump app", "password: MYSQL_PWD is set"),
            ("export MYSQL_PWD='SECRET'", "password: MYSQL_PWD is set"),
            ("su - mysql -c 'mysql -pSECRET -e \"FLUSH LOGS\"'", "password: mysql -p..."),
            ("sudo -u mysql mysqldump -pSECRET a", "password: mysqldump -p..."),
            ("mydumper -u b -p SECRET -o /b", "password: mydumper --password ..."),
            (
                "pt-table-checksum h=localhost,u=root,p=SECRET",
                "password: pt-table-checksum p=... in its DSN, or -p ...",
            ),
            ("sshpass -p SECRET ssh b true", "password: sshpass -p..."),
            (
                "mysqldump a | openssl enc -aes-256-cbc -k SECRET > x",
                "weak: the key of openssl enc is an argument",
            ),
            (
                "mysqldump a | openssl enc -aes-256-cbc -pbkdf2 -pass pass:SECRET > x",
                "weak: the key of openssl enc is an argument",
            ),
            (
                "mysqldump a | openssl enc -aes-256-cbc -pass file:/k > x",
                "weak: openssl enc without -pbkdf2: the password is guessed quickly",
            ),
            (
                "xtrabackup --backup --encrypt=AES256 --encrypt-key=SECRET",
                "weak: the key of xtrabackup is an argument (--encrypt-key)",
            ),
            ("scp -o StrictHostKeyChecking=no x b:", "host: scp with stricthostkeychecking=no"),
            ("rsync -e 'ssh -o StrictHostKeyChecking no' x b:", "host: rsync with stricthostkeychecking=no"),
            ("ssh -oUserKnownHostsFile=/dev/null b", "host: ssh with userknownhostsfile=/dev/null"),
        ] {
            assert_eq!(said(line), [expected], "{line}");
            assert!(!said(line).concat().contains("SECRET"));
        }
    }

    #[test]
    fn an_honest_line_gives_away_nothing() {
        for line in [
            "mysqldump --defaults-file=/root/.my.cnf --all-databases | gzip > /b/x.gz",
            "mysqldump -h localhost app",
            "mysqldump -h127.0.0.1 app",
            "mysqldump -S /run/mysqld/mysqld.sock -p app",
            "mysqldump -h db2 --ssl-mode=VERIFY_IDENTITY --ssl-ca=/ca.pem app",
            "mysqldump -h db2 --ssl-mode REQUIRED app",
            "mariadb-dump -h db2 --ssl --ssl-verify-server-cert app",
            "xtrabackup --backup -h /var/lib/mysql",
            "mysqlbinlog bin.000001",
            "mysqlbinlog -h db2 bin.000001",
            "mariadb-backup --backup --stream=xbstream | age -r age1x | nc 10.0.0.7 9999",
            "mariadb-backup --backup --stream=xbstream | socat - OPENSSL:b:4444,cafile=/ca.pem",
            "mysqldump -h db1 --protocol=socket app > x",
            "tar cf - /b | curl -T - https://b/x",
            "tar cf - /b | curl -T - http://localhost:8080/x",
            "xtrabackup --backup --encrypt=AES256 --encrypt-key-file=/k --stream=xbstream | nc b 9999",
            "tar c /b | nc localhost 9999",
            "echo ruok | nc zk1 2181",
            "nc -z db2 3306",
            "nc -zv db2 3306 && mysqldump app",
            "rsync -a rsync://mirror.example/debian/ /srv/mirror/",
            "rsync -a /b/ backup1:/b/",
            "rsync -a rsync://a/b /c",
            "openssl enc -aes-256-cbc -pbkdf2 -iter 600000 -pass file:/k",
            "openssl x509 -in c.pem -noout",
            "openssl dgst -sha256 -k",
            "ssh -o StrictHostKeyChecking=accept-new b true",
            "ssh -o StrictHostKeyChecking=yes b 'mysqldump app' > x",
            "ssh -o stricthostkeychecking=no-thanks b",
            "curl -k https://h/",
            "mkdir -p /b/x",
            "mysqldump -P 3306 app",
            "mysqldump --port=3306",
            "echo mysqldump -pSECRET",
            "# mysqldump -pSECRET",
            "grep -- -pSECRET mysqldump.log",
            "mysql -p -e 'SELECT 1'",
            "mysqldump --password app",
            "MYSQL_PWD=$(cat /run/secret) mysqldump app",
            "MYSQL_PWD= mysqldump app",
            "export MYSQL_PWD=\"$PW\"",
            "pt-query-digest slow.log",
            "pt-table-checksum F=/root/.my.cnf,h=localhost",
            "sealion audit --search",
            "sealion send /b --to backup1:4444",
            "cat <<EOF | mail root\nmysqldump -pSECRET\nEOF",
        ] {
            assert_eq!(said(line), Vec::<String>::new(), "{line}");
        }
    }
}
