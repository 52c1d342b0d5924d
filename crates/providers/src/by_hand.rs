//! The plan as commands that a person could run, in order, without sealion: for a change ticket, and for the day on which
//! sealion is not at hand. Secrets are asked for by the programs or read from files, never written here.

use std::path::Path;

use server::NodeSpec;
use trust::KeyKind;

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

pub fn sql(statement: &str) -> String {
    format!("mariadb -e {}", quoted(statement))
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

pub fn patch_on(node: &str, file: &Path, diff: &[String]) -> Vec<String> {
    let mut lines = patch(file, diff);
    if !lines.is_empty() {
        lines.insert(0, format!("# on {node}"));
    }
    lines
}

pub fn gate(wanted: &str) -> Vec<String> {
    vec![format!("{}  # on every node: {wanted}; all must answer", sql("SELECT @@wsrep_provider_options"))]
}

/// `DNS:n1,DNS:localhost,IP:10.0.0.11`.
pub fn alternative_names(spec: &NodeSpec) -> String {
    let mut names = vec![format!("DNS:{}", spec.name)];
    for word in std::iter::once(&spec.address).chain(&spec.names) {
        let kind = if word.parse::<std::net::IpAddr>().is_ok() { "IP" } else { "DNS" };
        names.push(format!("{kind}:{word}"));
    }
    names.push("DNS:localhost".into());
    names.join(",")
}

/// The cluster's own CA, on the operator's machine. openssl asks for the passphrase.
pub fn authority(dir: &Path, common_name: &str, key: KeyKind, days: u32) -> Vec<String> {
    let at = |file: &str| quoted(&dir.join(file).display().to_string());
    vec![
        "# on the operator's machine".into(),
        format!("install -d -m 0700 {}", quoted(&dir.display().to_string())),
        format!(
            "openssl req -x509 {} -days {days} -subj {} -addext \
             basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign,cRLSign -keyout {} -out {}",
            key.openssl_words(),
            quoted(&format!("/CN={common_name}")),
            at(trust::CA_KEY_FILE),
            at(trust::CA_CERT_FILE)
        ),
    ]
}

/// A key and a certificate for one node, made beside the CA and put where the server reads them.
pub fn leaf(ca_dir: &Path, node: &str, names: &str, tls_dir: &Path, key: KeyKind, days: u32) -> Vec<String> {
    let ca = |file: &str| quoted(&ca_dir.join(file).display().to_string());
    let own = |file: &str| quoted(&format!("{node}-{file}"));
    let to = |file: &str| quoted(&tls_dir.join(file).display().to_string());
    vec![
        format!("# on the operator's machine, for {node}"),
        format!(
            "openssl req {} -nodes -subj {} -keyout {} -out {}",
            key.openssl_words(),
            quoted(&format!("/CN={node}")),
            own(KEY_FILE),
            own("request.pem")
        ),
        format!(
            "printf 'subjectAltName=%s\\nextendedKeyUsage=serverAuth,clientAuth\\n' {} > {}",
            quoted(names),
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
        format!("# bring these to {node}, then there (the user that the server runs as):"),
        format!("install -d -m 0700 -o mysql -g mysql {}", quoted(&tls_dir.display().to_string())),
        format!("install -m 0600 -o mysql -g mysql {} {}", own(KEY_FILE), to(KEY_FILE)),
        format!("install -m 0644 -o mysql -g mysql {} {}", own(CERT_FILE), to(CERT_FILE)),
        format!("install -m 0644 -o mysql -g mysql {} {}", ca(trust::CA_CERT_FILE), to(CA_FILE)),
    ]
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
        let mut script = vec!["set -e".to_owned()];
        script.extend(authority(&at("ca"), "sealion CA of test", key, 30));
        script.extend(leaf(&at("ca"), "n1", "DNS:n1,IP:10.0.0.1", &at("ssl dir"), key, 20));
        std::fs::write(at("my.cnf"), "[mysqld]\na=1\n").expect("writable");
        let diff =
            crate::edit::redacted_diff(&at("my.cnf"), b"[mysqld]\na=1\n", b"[mysqld]\na=1\nssl_key=/x\n");
        script.extend(patch_on("n1", &at("my.cnf"), &[diff]));
        let script = script
            .join("\n")
            // A test has no terminal to be asked at, and perhaps no user mysql.
            .replace("-keyout", "-passout pass:test -keyout")
            .replace("-CAcreateserial", "-passin pass:test -CAcreateserial")
            .replace("-o mysql -g mysql ", "");
        let said = std::process::Command::new("sh")
            .arg("-c")
            .arg(&script)
            .current_dir(dir.path())
            .output()
            .expect("a shell");
        assert!(said.status.success(), "{}\n{script}", String::from_utf8_lossy(&said.stderr));
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
