//! The plan as commands that a person could run, in order, without sealion: for a change ticket, and for the day on which
//! sealion is not at hand. Secrets are asked for by the programs or read from files, never written here.

use std::path::Path;

use model::{NodeName, Step};
use server::{Flavour, NodeSpec};
use trust::KeyKind;

use crate::draft::MemberDraft;
use crate::edit::Form;
use crate::files::{CA_FILE, CERT_FILE, KEY_FILE};

/// A word for a POSIX shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_@%+=:,./-".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The client of a server's own package.
pub fn client(flavour: Flavour) -> &'static str {
    match flavour {
        Flavour::MariaDb => "mariadb",
        Flavour::Pxc | Flavour::MySqlWsrep | Flavour::MySql => "mysql",
    }
}

pub fn sql(flavour: Flavour, statement: &str) -> String {
    format!("{} -e {}", client(flavour), quoted(statement))
}

/// A line of a program and its arguments.
pub fn words(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// What stands before all parts: each is for one machine, asks whether it is there, and ends at its first error.
pub fn head() -> Vec<String> {
    r#"# Run it part by part, each on its machine: paste these lines there first, then the part.
on() { # NAME ADDRESS: whether this is that machine
    own=" $(hostname) $(hostname -f 2>/dev/null) $(hostname -I 2>/dev/null) " || true
    for word in "$1" "$2" $(getent hosts "$2" | cut -d ' ' -f 1); do
        case "$own" in *" $word "*) return 0 ;; esac
    done
    echo "the next part is for $1 ($2), and this is $(hostname): nothing of it was run" >&2
    return 1
}"#
    .lines()
    .map(str::to_owned)
    .collect()
}

/// What a person runs for a step.
pub fn of_step(step: &Step) -> Vec<String> {
    if step.no_op { vec!["# already done".into()] } else { step.shell.clone() }
}

/// Lines for one machine; nothing where there are none.
pub fn part(name: &NodeName, address: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return vec![];
    }
    let first = format!("( set -euo pipefail; on {} {}", quoted(name.as_str()), quoted(address));
    [vec![first], lines, vec![")".into()]].concat()
}

/// Lines for the machine that has the CA.
fn part_of_operator(lines: Vec<String>) -> Vec<String> {
    [vec!["( set -euo pipefail # on the operator's machine".into()], lines, vec![")".into()]].concat()
}

/// Goes on when a person has done what no line can do.
pub fn ask(what: &str) -> String {
    format!("read -r -p {} _ </dev/tty", quoted(&format!("{what}; then Enter ")))
}

/// The change of one file, as patch(1) takes it; nothing where nothing changes.
pub fn patch(file: &Path, diff: &[String]) -> Vec<String> {
    if diff.is_empty() {
        return vec![];
    }
    let mut lines = vec![format!("patch {} <<'SEALION'", quoted(&file.display().to_string()))];
    lines.extend(diff.iter().map(|part| part.trim_end_matches('\n').to_owned()));
    lines.push("SEALION".into());
    lines
}

/// A look of all members at their provider options.
pub fn gate(wanted: &str) -> Vec<String> {
    vec![
        format!("# on every node, until each answers {wanted}:"),
        format!("# {}", sql(Flavour::MariaDb, "SELECT @@wsrep_provider_options")),
    ]
}

/// How a person sees what links carry, where sealion is not at hand.
pub fn prove(ports: &[u16]) -> Vec<String> {
    let ports: Vec<String> = ports.iter().map(|port| format!("port {port}")).collect();
    vec![
        "# every link must be sealed: sealion status --canaries".into(),
        "# Without sealion: write a word that stands nowhere else (SEALIONWORD) into a table by each client, again and again, and meanwhile count".into(),
        "# it on each machine, and at a client that connects without TLS on purpose, where it must be found:".into(),
        format!("# timeout 60 tcpdump -i any -n -A -s 0 '{}' | grep -c SEALIONWORD", ports.join(" or ")),
    ]
}

/// How a person sees who connects without TLS.
pub fn clients() -> Vec<String> {
    vec![
        "# no client link may be plain: sealion status --look-ms 60000".into(),
        "# Without sealion, MySQL: SELECT processlist_user, processlist_host FROM performance_schema.threads WHERE connection_type = 'TCP/IP'".into(),
        "# MariaDB lists no TLS of others' sessions: each client asks its own, SHOW SESSION STATUS LIKE 'Ssl_cipher', which must not be empty".into(),
    ]
}

/// `DNS:n1,DNS:localhost,IP:10.0.0.11`.
pub fn alternative_names(spec: &NodeSpec) -> String {
    let mut names = vec![format!("DNS:{}", spec.name)];
    for word in spec.certificate_names() {
        let kind = if word.parse::<std::net::IpAddr>().is_ok() { "IP" } else { "DNS" };
        names.push(format!("{kind}:{word}"));
    }
    names.push("DNS:localhost".into());
    names.join(",")
}

/// The cluster's own CA, on the operator's machine. openssl asks for the passphrase: that of `ca_passphrase_file`, or sealion could not use it.
pub fn authority(dir: &Path, common_name: &str, key: KeyKind, days: u32) -> Vec<String> {
    let at = |file: &str| quoted(&dir.join(file).display().to_string());
    part_of_operator(vec![
        "# the passphrase that openssl asks for: what ca_passphrase_file of the inventory holds".into(),
        format!("install -d -m 0700 {}", quoted(&dir.display().to_string())),
        format!(
            "openssl req -x509 {} -days {days} -subj {} -addext \
             basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign,cRLSign -keyout {} -out {}",
            key.openssl_words(),
            quoted(&format!("/CN={common_name}")),
            at(trust::CA_KEY_FILE),
            at(trust::CA_CERT_FILE)
        ),
    ])
}

/// The next CA stands in the place of the one before.
pub fn turn(dir: &Path) -> Vec<String> {
    part_of_operator(vec![format!(
        "mv {0} {0}.old && mv {0}.old/next {0}",
        quoted(&dir.display().to_string())
    )])
}

/// A key and a certificate for one member, made beside the CA and put where it reads them. `keeps_ca`: its CA file stays as it is.
pub fn leaf(ca_dir: &Path, draft: &MemberDraft, key: KeyKind, days: u32, keeps_ca: bool) -> Vec<String> {
    let name = draft.name.as_str();
    let ca = |file: &str| quoted(&ca_dir.join(file).display().to_string());
    let own = |file: &str| quoted(&format!("{name}-{file}"));
    let to = |file: &str| quoted(&draft.path(file));
    // As the process has them; a package of servers makes the user mysql.
    let owner = match (draft.owner, draft.form) {
        (Some((uid, gid)), _) => format!("-o {uid} -g {gid}"),
        (None, Form::Options) => "-o mysql -g mysql".to_owned(),
        (None, Form::ShellVars) => "-o \"${GARBD_USER:?set it to the user that garbd runs as}\"".to_owned(),
    };
    let mut made = if trust::Elsewhere::is_at(ca_dir) {
        let issued = quoted(&trust::Elsewhere::file(ca_dir, draft.name.as_str()).display().to_string());
        vec![
            format!("openssl pkey -in {issued} -out {}", own(KEY_FILE)),
            format!("sed -n '/BEGIN CERTIFICATE/,/END CERTIFICATE/p' {issued} > {}", own(CERT_FILE)),
        ]
    } else {
        vec![
            format!("test -s {} # no key is made that nobody signs", ca(trust::CA_CERT_FILE)),
            format!(
                "openssl req {} -nodes -subj {} -keyout {} -out {}",
                key.openssl_words(),
                quoted(&format!("/CN={name}")),
                own(KEY_FILE),
                own("request.pem")
            ),
            format!(
                "printf 'subjectAltName=%s\\nextendedKeyUsage=serverAuth,clientAuth\\n' {} > {}",
                quoted(&draft.names),
                own("extensions")
            ),
            format!(
                "openssl x509 -req -in {} -CA {} -CAkey {} -CAcreateserial -days {days} -extfile {} -out {}",
                own("request.pem"),
                ca(trust::CA_CERT_FILE),
                ca(trust::CA_KEY_FILE),
                own("extensions"),
                own(CERT_FILE)
            ),
        ]
    };
    let mut placed = vec![
        format!("install -d -m 0700 {owner} {}", quoted(&draft.tls_dir.display().to_string())),
        format!("install -m 0600 {owner} {} {}", own(KEY_FILE), to(KEY_FILE)),
        format!("install -m 0644 {owner} {} {}", own(CERT_FILE), to(CERT_FILE)),
    ];
    let mut brought = format!("{}, {}", own(KEY_FILE), own(CERT_FILE));
    if !keeps_ca {
        made.push(format!("cp {} {}", ca(trust::CA_CERT_FILE), own(CA_FILE)));
        placed.push(format!("install -m 0644 {owner} {} {}", own(CA_FILE), to(CA_FILE)));
        brought += &format!(", {}", own(CA_FILE));
    }
    placed.push(format!("rm {}", brought.replace(", ", " ")));
    let bring = format!("# bring {brought} to {name}, and remove them here");
    [part_of_operator(made), vec![bring], part(&draft.name, &draft.address, placed)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for (word, expected) in
            [("a/b.c", "a/b.c"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$(x)", "'$(x)'")]
        {
            assert_eq!(quoted(word), expected);
        }
    }

    /// What openssl(1) and patch(1) make of the runbook is what the plan wants.
    #[test]
    fn the_runbook_makes_a_chain_that_holds_and_the_file_that_was_planned() {
        for key in [KeyKind::EcP256, KeyKind::Rsa { bits: 2048 }] {
            makes_what_was_planned(key);
        }
    }

    fn makes_what_was_planned(key: KeyKind) {
        let dir = tempfile::tempdir().expect("tmp");
        let at = |name: &str| dir.path().join(name);
        let member = MemberDraft {
            name: "n1".into(),
            address: "10.0.0.1".into(),
            file: at("my.cnf"),
            form: Form::Options,
            bytes: vec![],
            tls_dir: at("ssl dir"),
            state_dir: at("state"),
            has_files: false,
            is_bare: true,
            names: "DNS:n1,IP:10.0.0.1".into(),
            owner: None,
            start: vec![],
            stop: vec![],
        };
        let mut script = [vec!["set -e".to_owned()], head(), vec!["hostname() { echo n1; }".into()]].concat();
        script.extend(authority(&at("ca"), "sealion CA of test", key, 30));
        script.extend(leaf(&at("ca"), &member, key, 20, false));
        std::fs::write(at("my.cnf"), "[mysqld]\na=1\n").expect("writable");
        let diff =
            crate::edit::redacted_diff(&at("my.cnf"), b"[mysqld]\na=1\n", b"[mysqld]\na=1\nssl_key=/x\n");
        script.extend(part(&member.name, &member.address, patch(&at("my.cnf"), &[diff])));
        let script = script
            .join("\n")
            // A test has no terminal to be asked at, and perhaps no user mysql.
            .replace("-keyout", "-passout pass:test -keyout")
            .replace("-CAcreateserial", "-passin pass:test -CAcreateserial")
            .replace("-o mysql -g mysql ", "");
        let run = |script: &str| {
            let mut shell = std::process::Command::new("bash");
            shell.arg("-c").arg(script).current_dir(dir.path()).output().expect("a shell")
        };
        let said = run(&script);
        assert!(said.status.success(), "{}\n{script}", String::from_utf8_lossy(&said.stderr));
        // What is for another machine is not run here, nor what stands behind a line that fails.
        let touch = |file: &str| format!("touch {file}");
        let elsewhere = part(&"n2".into(), "192.0.2.2", vec![touch("elsewhere")]);
        let fails = part(&"n1".into(), "10.0.0.1", vec!["false".into(), touch("behind")]);
        for (lines, file) in [(elsewhere.clone(), "elsewhere"), (fails, "behind")] {
            let script = [head(), vec!["hostname() { echo n1; }".into()], lines].concat().join("\n");
            assert!(!run(&script).status.success() && !at(file).exists(), "{script}");
        }
        assert!(
            !run(&elsewhere.join("\n")).status.success() && !at("elsewhere").exists(),
            "without its head"
        );
        assert!(!at("n1-node-key.pem").exists(), "no key is left");
        let read = |path: std::path::PathBuf| std::fs::read(path).expect("it was made");
        let (cert, pem) = (read(at("ssl dir").join(CERT_FILE)), read(at("ssl dir").join(KEY_FILE)));
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        let now = i64::try_from(now.as_secs()).expect("soon");
        trust::chain_ok(&cert, &read(at("ssl dir").join(CA_FILE)), now).expect("the chain holds");
        trust::pair_matches(&cert, &pem).expect("the key is the certificate's");
        let leaf = trust::inspect(&cert).expect("a certificate").remove(0);
        assert_eq!((leaf.dns, leaf.ips), (vec!["n1".to_owned()], vec!["10.0.0.1".parse().expect("ip")]));
        let bits = openssl::pkey::PKey::private_key_from_pem(&pem).expect("a key").bits();
        assert_eq!(bits, if key == KeyKind::EcP256 { 256 } else { 2048 });
        assert_eq!(read(at("my.cnf")), b"[mysqld]\na=1\nssl_key=/x\n");
    }
}
