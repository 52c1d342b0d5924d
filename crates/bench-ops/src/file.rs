//! Experiments of the user's own: a TOML file with the arms to compare, in the words of the command line.

use std::path::Path;
use std::str::FromStr;

use ::bench::experiments::{
    self, Arm, ArmTls, AtRest, Between, Checks, Experiment, Key, Line, Made, Measure, Place, Release, Tool,
    Transport, TransportCipher, Via,
};
use net::{Resumes, SslMode, TlsLibrary, TlsOptions, TlsVersion};
use serde::Deserialize;

use super::{COPY, QUERIES, counts, workloads};
use site::OpsError;

const FILE_BYTES_MAX: u64 = 1024 * 1024;
const ARMS_MAX: usize = 64;
const LEVELS_MAX: usize = 64;
const CONNECTIONS_MAX: u32 = 100_000;
const DELAY_MS_MAX: u16 = 10_000;
const MBIT_PER_S_MAX: u32 = 100_000;
/// What a line may hold at once, by its rate and its delay: it is kept in memory.
const LINE_BYTES_MAX: u64 = 256 * 1024 * 1024;
const ISSUERS_MAX: u8 = 4;
/// Longer ones take minutes to make.
const RSA_BITS: std::ops::RangeInclusive<u32> = 1024..=4096;
const NAME_CHARS_MAX: usize = 40;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    /// The name of the file, without `.toml`, where it is left out.
    name: Option<String>,
    #[serde(default)]
    question: String,
    workload: String,
    /// What the arms are compared by: that of which the workload has one an event, where it is left out.
    compare: Option<Compare>,
    #[serde(default)]
    connections: Vec<u32>,
    #[serde(default)]
    arm: Vec<Row>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Compare {
    Queries,
    Events,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Row {
    name: String,
    against: Option<String>,
    ssl_mode: Option<String>,
    /// This one alone.
    tls_version: Option<String>,
    ssl_cipher: Option<String>,
    tls_ciphersuites: Option<String>,
    tls_groups: Option<String>,
    tls_sigalgs: Option<String>,
    tls_record_bytes: Option<u16>,
    tls_library: Option<Library>,
    resume: Option<Resume>,
    #[serde(default)]
    system_cas: bool,
    #[serde(default)]
    client_certificate: bool,
    key: Option<String>,
    issuers: Option<u8>,
    aes_ni: Option<bool>,
    server: Option<ServerName>,
    at_rest: Option<Vec<Kept>>,
    galera: Option<Galera>,
    between_nodes_ms: Option<u16>,
    delay_ms: Option<u16>,
    mbit_per_s: Option<u32>,
    tunnel: Option<Tunnel>,
    copy: Option<CopyTool>,
    cipher: Option<Cipher>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Library {
    Openssl,
    Rustls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "true, false or \"session-id\"")]
enum Resume {
    Any(bool),
    Only(By),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum By {
    SessionId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum ServerName {
    #[serde(rename = "mariadb-10.11")]
    MariaDb1011,
    #[serde(rename = "mariadb-11.8")]
    MariaDb118,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kept {
    Tables,
    RedoLog,
    BinaryLog,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Galera {
    #[serde(rename = "cleartext", alias = "clear-text")]
    ClearText,
    Tls,
    Dynamic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CopyTool {
    Mariabackup,
    Tar,
    Rsync,
    SealionLive,
    Sealion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Cipher {
    None,
    Default,
    Aes128,
    Aes256,
    Chacha20,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Tunnel {
    Stunnel,
    Ssh,
    Openvpn,
    Wireguard,
}

/// Whether a name of an experiment is meant as a file.
pub fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// Reads one. It lives as long as the program does, as the ready ones do: a program reads one or none.
///
/// # Errors
/// It cannot be read, or what is in it is no experiment; with the place.
pub fn read(path: &Path) -> Result<&'static Experiment, OpsError> {
    let told = wire::printable(&path.display().to_string());
    let cannot = |why: String| {
        OpsError::usage(
            format!("cannot run the experiment in {told}"),
            why,
            "the options are in the book (Measure what TLS costs, Your own experiment); built-in experiments: \
             sealion bench list",
        )
    };
    let unreadable = |error: std::io::Error| cannot(error.to_string());
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        return Err(cannot(format!("it is not a file, or has more than {FILE_BYTES_MAX} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    parse(&text, &stem).map_err(cannot)
}

fn parse(text: &str, stem: &str) -> Result<&'static Experiment, String> {
    // Line, column and the line itself are in its text.
    let file: File = toml::from_str(text).map_err(|error| {
        let text = error.to_string();
        text.lines().map(wire::printable).collect::<Vec<_>>().join("\n")
    })?;
    let name = named("name", file.name.as_deref().unwrap_or(stem))?;
    if name == "all" || experiments::experiment(&name).is_some() {
        return Err(format!(
            "\"{name}\" is the name of a built-in experiment: choose another (name = \"…\")"
        ));
    }
    if file.workload != COPY && !workloads().any(|(known, _)| known == file.workload) {
        let known: Vec<&str> = workloads().map(|(name, _)| name).chain([COPY]).collect();
        return Err(format!(
            "unknown workload \"{}\": known are {}",
            wire::printable(&file.workload),
            known.join(", ")
        ));
    }
    let bad = file.connections.iter().find(|&&count| !(1..=CONNECTIONS_MAX).contains(&count));
    if let Some(bad) = bad {
        return Err(format!("connections has {bad}: allowed are 1 to {CONNECTIONS_MAX}"));
    }
    let is_twice =
        |(at, count): (usize, &u32)| file.connections.iter().take(at).any(|before| before == count);
    if file.connections.iter().enumerate().any(is_twice) {
        return Err("connections has a number twice".into());
    }
    if file.connections.len() > LEVELS_MAX {
        return Err(format!(
            "connections has {} numbers; the maximum is {LEVELS_MAX}",
            file.connections.len()
        ));
    }
    if !(2..=ARMS_MAX).contains(&file.arm.len()) {
        return Err(format!("it has {} [[arm]]: allowed are 2 to {ARMS_MAX}", file.arm.len()));
    }
    let mut arms: Vec<Arm> = Vec::new();
    for row in &file.arm {
        let one = arm(row).map_err(|why| format!("arm \"{}\": {why}", wire::printable(&row.name)))?;
        if arms.iter().any(|other| other.name == one.name) {
            return Err(format!("two arms have the name \"{}\"", one.name));
        }
        arms.push(one);
    }
    for one in &arms {
        if let Some(base) = one.against.filter(|base| !arms.iter().any(|other| other.name == *base)) {
            return Err(format!(
                "arm \"{}\": there is no arm \"{}\" (against)",
                one.name,
                wire::printable(base)
            ));
        }
    }
    let is_copy = |arm: &Arm| matches!(arm.place, Place::Transport(_));
    if let Some(other) = arms.iter().find(|arm| is_copy(arm) != (file.workload == COPY)) {
        return Err(format!(
            "arm \"{}\": an arm with copy needs workload = \"{COPY}\", and this workload has no other arms",
            other.name
        ));
    }
    if file.workload == COPY && !(file.connections.is_empty() || file.connections == [1]) {
        return Err(format!("workload = \"{COPY}\" has no connections: one copy is made at a time"));
    }
    let is_at_rest = |arm: &Arm| matches!(arm.place, Place::AtRest(_));
    if let Some(other) = arms.iter().find(|arm| !is_at_rest(arm)).filter(|_| arms.iter().any(is_at_rest)) {
        return Err(format!(
            "arm \"{}\" has no at-rest, but others have: their servers have more rows, a small buffer pool and a \
             binary log; at-rest = [] is such a server without encryption",
            other.name
        ));
    }
    if experiments::bases(&arms).iter().all(Option::is_none) {
        return Err("every arm is compared with itself".into());
    }
    let by = file.compare.unwrap_or(if counts(&file.workload) == QUERIES {
        Compare::Queries
    } else {
        Compare::Events
    });
    let question =
        if file.question.is_empty() { format!("Your own experiment: {name}") } else { file.question };
    Ok(Box::leak(Box::new(Experiment {
        name: kept(&name),
        question: kept(&wire::printable(&question)),
        workload: kept(&file.workload),
        measure: match by {
            Compare::Queries => Measure::QueriesPerS,
            Compare::Events => Measure::EventsPerS,
        },
        arms: Box::leak(arms.into_boxed_slice()),
        connections: if file.workload == COPY {
            &[1]
        } else {
            Box::leak(file.connections.into_boxed_slice())
        },
        published: None,
    })))
}

fn kept(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// What stands in tables and in file names.
fn named(what: &str, text: &str) -> Result<String, String> {
    let is_good =
        !text.trim().is_empty() && text.chars().count() <= NAME_CHARS_MAX && wire::printable(text) == text;
    if is_good {
        Ok(text.to_owned())
    } else {
        Err(format!("{what} needs 1 to {NAME_CHARS_MAX} printable characters, without a backslash"))
    }
}

fn arm(row: &Row) -> Result<Arm, String> {
    let name = named("name", &row.name)?;
    let has_tls_word = row.tls_version.is_some()
        || row.ssl_cipher.is_some()
        || row.tls_ciphersuites.is_some()
        || row.tls_groups.is_some()
        || row.tls_sigalgs.is_some()
        || row.tls_record_bytes.is_some()
        || row.tls_library.is_some()
        || row.system_cas
        || row.client_certificate;
    let checks = match &row.ssl_mode {
        Some(mode) => Checks::Exactly(SslMode::from_str(mode)?),
        // Who chooses something of TLS wants TLS.
        None if has_tls_word => Checks::On,
        // Its nodes speak cleartext with clients.
        None if row.galera.is_some() => Checks::Exactly(SslMode::Disabled),
        // No client is measured there.
        None if row.copy.is_some() => Checks::Exactly(SslMode::Disabled),
        None => Checks::AsAsked,
    };
    let is_clear = checks == Checks::Exactly(SslMode::Disabled);
    if row.copy.is_some() && (has_tls_word || row.ssl_mode.is_some() || row.tunnel.is_some()) {
        return Err("an arm with copy has no TLS options and no tunnel: it has cipher".into());
    }
    if row.copy.is_none() && row.cipher.is_some() {
        return Err(
            "cipher needs copy; the options of connections are ssl-cipher and tls-ciphersuites".into()
        );
    }
    if row.galera.is_some() && !is_clear && checks != Checks::AsAsked {
        return Err(
            "the nodes of a lab cluster use cleartext with clients: an arm with galera has no TLS options"
                .into(),
        );
    }
    if row.galera.is_some() && (row.delay_ms.is_some() || row.mbit_per_s.is_some() || row.tunnel.is_some()) {
        return Err("a delay or a tunnel needs one server, and a cluster has three".into());
    }
    if is_clear && has_tls_word {
        return Err("ssl-mode = \"DISABLED\" is cleartext, and has no TLS options".into());
    }
    let resumes = match row.resume {
        None | Some(Resume::Any(false)) => Resumes::No,
        Some(Resume::Any(true)) => Resumes::Any,
        Some(Resume::Only(By::SessionId)) => Resumes::ById,
    };
    let version = row.tls_version.as_deref().map(TlsVersion::from_str).transpose()?;
    let library = match (row.tls_library, resumes) {
        (Some(Library::Rustls), Resumes::ById) if version != Some(TlsVersion::Tls12) => {
            return Err(
                "resume = \"session-id\" needs tls-version = \"1.2\": TLS 1.3 has no session IDs".into()
            );
        }
        (Some(Library::Rustls), resumes) => Some(TlsLibrary::Rustls { resumes }),
        (Some(Library::Openssl), Resumes::No) => Some(TlsLibrary::OpenSsl),
        (None, Resumes::No) => None,
        _ => return Err("resume needs tls-library = \"rustls\"".into()),
    };
    if row.tls_sigalgs.is_some() && row.tls_library == Some(Library::Rustls) {
        return Err("tls-sigalgs is not possible with tls-library = \"rustls\"".into());
    }
    if row.system_cas && row.tls_library == Some(Library::Rustls) {
        return Err(
            "system-cas needs OpenSSL: tls-library = \"rustls\" reads no CAs for each connection".into()
        );
    }
    let range = TlsOptions::RECORD_BYTES;
    if row.tls_record_bytes.is_some_and(|bytes| !range.contains(&bytes)) {
        return Err(format!("tls-record-bytes must be {} to {}", range.start(), range.end()));
    }
    let text = |of: &Option<String>| of.as_deref().map(kept);
    let (place, via) = match row.copy {
        // The line is the copy's.
        Some(tool) => (Place::Transport(transport(tool, row, via(row)?)?), Via::Direct),
        None => (place(row)?, via(row)?),
    };
    Ok(Arm {
        name: kept(&name),
        tls: ArmTls {
            checks,
            version,
            ciphers: text(&row.ssl_cipher),
            ciphersuites: text(&row.tls_ciphersuites),
            groups: text(&row.tls_groups),
            signature_algorithms: text(&row.tls_sigalgs),
            record_bytes: row.tls_record_bytes,
            library,
            reads_system_cas: row.system_cas,
            has_certificate: row.client_certificate,
        },
        place,
        via,
        against: text(&row.against),
    })
}

fn transport(tool: CopyTool, row: &Row, via: Via) -> Result<Transport, String> {
    let has_other_server = row.key.is_some()
        || row.issuers.is_some()
        || row.server.is_some()
        || row.at_rest.is_some()
        || row.galera.is_some()
        || row.between_nodes_ms.is_some();
    if has_other_server {
        return Err(
            "an arm with copy has a server of its own: it has no other options of a server but aes-ni".into(),
        );
    }
    let transport = Transport {
        tool: match tool {
            CopyTool::Mariabackup => Tool::Mariabackup,
            CopyTool::Tar => Tool::Tar,
            CopyTool::Rsync => Tool::Rsync,
            CopyTool::SealionLive => Tool::SealionLive,
            CopyTool::Sealion => Tool::Sealion,
        },
        cipher: match row.cipher.unwrap_or(Cipher::Default) {
            Cipher::None => TransportCipher::ClearText,
            Cipher::Default => TransportCipher::Default,
            Cipher::Aes128 => TransportCipher::Aes128,
            Cipher::Aes256 => TransportCipher::Aes256,
            Cipher::Chacha20 => TransportCipher::ChaCha20,
        },
        aes_ni: row.aes_ni.unwrap_or(true),
        line: match via {
            Via::Line { one_way_ms, mbit_per_s } => Some(Line { one_way_ms, mbit_per_s }),
            _ => None,
        },
    };
    if transport.tool.is_sealion() && transport.cipher == TransportCipher::ClearText {
        return Err("cipher = \"none\" is not possible: sealion copies nothing in cleartext".into());
    }
    Ok(transport)
}

fn place(row: &Row) -> Result<Place, String> {
    let is_made_otherwise = row.issuers.is_some() || row.aes_ni.is_some() || row.server.is_some();
    // The key of a cluster is that of its nodes.
    let is_made = is_made_otherwise || row.key.is_some() && row.galera.is_none();
    if [is_made, row.at_rest.is_some(), row.galera.is_some()].iter().filter(|yes| **yes).count() > 1 {
        return Err(
            "a server is defined by key, issuers, aes-ni and server, or by at-rest, or by galera and key: not by \
             two of these"
                .into(),
        );
    }
    if row.between_nodes_ms.is_some() && row.galera.is_none() {
        return Err("between-nodes-ms needs galera = \"cleartext\" or \"tls\"".into());
    }
    if let Some(galera) = row.galera {
        let key = row.key.as_deref().map(key).transpose()?;
        let between = match (galera, key) {
            (Galera::ClearText, Some(_)) => {
                return Err("galera = \"cleartext\" has no certificate, so no key is possible".into());
            }
            (Galera::Tls | Galera::Dynamic, Some(Key::Rsa(bits))) if bits < 2048 => {
                return Err(format!("Galera nodes accept no RSA key of {bits} bits: the minimum is 2048"));
            }
            (Galera::ClearText, None) => Between::ClearText,
            (Galera::Tls, key) => Between::Tls(key.unwrap_or(Made::PLAIN.key)),
            (Galera::Dynamic, key) => Between::Dynamic(key.unwrap_or(Made::PLAIN.key)),
        };
        let Some(ms) = row.between_nodes_ms else { return Ok(Place::Galera { between }) };
        let tls = match between {
            Between::ClearText => None,
            Between::Tls(key) => Some(key),
            Between::Dynamic(_) => {
                return Err(
                    "between-nodes-ms needs galera = \"cleartext\" or \"tls\": with \"dynamic\" the delay would \
                     decide whether a link is TLS"
                        .into(),
                );
            }
        };
        return Ok(Place::Wan { tls, one_way_ms: delay("between-nodes-ms", ms)? });
    }
    if let Some(wanted) = &row.at_rest {
        let has = |one: Kept| wanted.contains(&one);
        return Ok(Place::AtRest(AtRest {
            tables: has(Kept::Tables),
            redo: has(Kept::RedoLog),
            binlog: has(Kept::BinaryLog),
        }));
    }
    if !is_made {
        return Ok(Place::Given);
    }
    let issuers = row.issuers.unwrap_or(Made::PLAIN.issuers);
    if issuers > ISSUERS_MAX {
        return Err(format!("issuers = {issuers}: the maximum is {ISSUERS_MAX}"));
    }
    Ok(Place::Made(Made {
        key: row.key.as_deref().map(key).transpose()?.unwrap_or(Made::PLAIN.key),
        issuers,
        aes_ni: row.aes_ni.unwrap_or(true),
        release: match row.server {
            None | Some(ServerName::MariaDb1011) => Release::MariaDb1011,
            Some(ServerName::MariaDb118) => Release::MariaDb118,
        },
    }))
}

fn via(row: &Row) -> Result<Via, String> {
    let line = match (row.delay_ms, row.mbit_per_s) {
        (None, None) => None,
        (_, Some(rate)) if !(1..=MBIT_PER_S_MAX).contains(&rate) => {
            return Err(format!("mbit-per-s = {rate}: allowed are 1 to {MBIT_PER_S_MAX}"));
        }
        (ms, rate) => {
            let one_way_ms = delay("delay-ms", ms.unwrap_or(0))?;
            let mbit_per_s = rate.unwrap_or(0);
            let holds_bytes = u64::from(mbit_per_s) * u64::from(one_way_ms) * 125;
            if holds_bytes > LINE_BYTES_MAX {
                return Err(format!(
                    "{mbit_per_s} Mbit/s with {one_way_ms} ms need a buffer of {} MiB; the maximum is {}",
                    holds_bytes >> 20,
                    LINE_BYTES_MAX >> 20
                ));
            }
            Some(Via::Line { one_way_ms, mbit_per_s })
        }
    };
    match (line, row.tunnel) {
        (Some(_), Some(_)) => Err("a delay and a tunnel cannot be combined".into()),
        (Some(line), None) => Ok(line),
        (None, Some(Tunnel::Stunnel)) => Ok(Via::Stunnel),
        (None, Some(Tunnel::Ssh)) => Ok(Via::Ssh),
        (None, Some(Tunnel::Openvpn)) => Ok(Via::OpenVpn),
        (None, Some(Tunnel::Wireguard)) => Ok(Via::WireGuard),
        (None, None) => Ok(Via::Direct),
    }
}

fn delay(what: &str, ms: u16) -> Result<u16, String> {
    if ms <= DELAY_MS_MAX { Ok(ms) } else { Err(format!("{what} = {ms}: the maximum is {DELAY_MS_MAX}")) }
}

fn key(text: &str) -> Result<Key, String> {
    let bits = text.strip_prefix("RSA").map(|bits| bits.trim_start_matches([' ', '-']).parse::<u32>());
    match (text, bits) {
        (_, Some(Ok(bits))) if RSA_BITS.contains(&bits) => Ok(Key::Rsa(bits)),
        ("P-256", _) => Ok(Key::P256),
        ("P-384", _) => Ok(Key::P384),
        ("Ed25519", _) => Ok(Key::Ed25519),
        _ => Err(format!(
            "key = \"{}\": known are RSA {} to RSA {}, P-256, P-384 and Ed25519",
            wire::printable(text),
            RSA_BITS.start(),
            RSA_BITS.end()
        )),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = "workload = \"connect\"\n";
    const TWO: &str = "[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n";

    /// The example of the book is one that runs.
    const EXAMPLE: &str = include_str!("../../../docs/src/tasks/bench.md");

    #[test]
    fn the_words_of_a_file_are_what_its_arms_are() {
        let text =
            EXAMPLE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
        let read = parse(text, "stem").expect("it is one");
        assert_eq!(
            (read.name, read.workload, read.measure),
            ("suites-far-away", "connect", Measure::EventsPerS)
        );
        assert_eq!(read.connections, [1, 8]);
        let [clear, small, slow] = read.arms else { panic!("{:?}", read.arms) };
        assert_eq!(clear.tls, ArmTls::OFF);
        assert_eq!(small.tls.ciphersuites, Some("TLS_AES_128_GCM_SHA256"));
        assert_eq!(small.tls.version, Some(TlsVersion::Tls13));
        assert_eq!(small.place, Place::Made(Made { key: Key::P256, issuers: 2, ..Made::PLAIN }));
        assert_eq!((slow.via, slow.against), (Via::Line { one_way_ms: 5, mbit_per_s: 100 }, Some("P-256")));
        assert!(slow.tls.checks == Checks::Exactly(SslMode::VerifyCa) && slow.needs_lab());
    }

    #[test]
    fn what_is_left_out_is_as_the_command_line_says() {
        let read = parse(&format!("{HEAD}{TWO}"), "mine").expect("it is one");
        assert_eq!((read.name, read.connections.len()), ("mine", 0));
        assert!(read.arms.iter().all(|arm| arm.tls == ArmTls::AS_ASKED && arm.place == Place::Given));
        // Who chooses something of TLS has TLS.
        let text = format!("{HEAD}{TWO}tls-version = \"TLSv1.2\"\n");
        let [_, second] = parse(&text, "mine").expect("it is one").arms else { panic!("two arms") };
        assert_eq!(second.tls.checks, Checks::On);
        let words = "tls-version = \"1.2\"\ntls-library = \"rustls\"\nresume = \"session-id\"\ntls-record-bytes = 512\n";
        let [_, second] = parse(&format!("{HEAD}{TWO}{words}"), "mine").expect("it is one").arms else {
            panic!("two arms")
        };
        assert_eq!(second.tls.library, Some(TlsLibrary::Rustls { resumes: Resumes::ById }));
        assert_eq!((second.tls.record_bytes, second.tls.checks), (Some(512), Checks::On));
        let text = format!("{HEAD}{TWO}system-cas = true\n");
        let [first, second] = parse(&text, "mine").expect("it is one").arms else { panic!("two arms") };
        assert_eq!((first.tls.reads_system_cas, second.tls.reads_system_cas), (false, true));
        assert_eq!(second.tls.checks, Checks::On);
    }

    #[test]
    fn a_cluster_has_a_key_and_a_server_a_release() {
        let one = |words: &str| {
            let read = parse(&format!("{HEAD}{TWO}{words}\n"), "mine").expect("it is one");
            read.arms.last().expect("two arms").place
        };
        assert_eq!(
            one("galera = \"tls\"\nkey = \"RSA 4096\"\nbetween-nodes-ms = 5"),
            Place::Wan { tls: Some(Key::Rsa(4096)), one_way_ms: 5 }
        );
        for (words, between) in [
            ("galera = \"tls\"", Between::Tls(Key::Rsa(2048))),
            ("galera = \"cleartext\"", Between::ClearText),
            ("galera = \"clear-text\"", Between::ClearText),
            ("galera = \"dynamic\"\nkey = \"P-256\"", Between::Dynamic(Key::P256)),
        ] {
            assert_eq!(one(words), Place::Galera { between });
        }
        assert_eq!(
            one("server = \"mariadb-11.8\""),
            Place::Made(Made { release: Release::MariaDb118, ..Made::PLAIN })
        );
    }

    #[test]
    fn tunnels_have_their_programs_names() {
        for (word, via) in [
            ("stunnel", Via::Stunnel),
            ("ssh", Via::Ssh),
            ("openvpn", Via::OpenVpn),
            ("wireguard", Via::WireGuard),
        ] {
            let read = parse(&format!("{HEAD}{TWO}tunnel = \"{word}\"\n"), "mine").expect("it is one");
            let [direct, tunnelled] = read.arms else { panic!("two arms") };
            assert_eq!((direct.via, tunnelled.via), (Via::Direct, via));
            assert!(tunnelled.needs_lab());
        }
    }

    #[test]
    fn a_copy_has_a_program_a_cipher_and_a_line() {
        let text = "workload = \"copy\"\n[[arm]]\nname = \"a\"\ncopy = \"tar\"\ncipher = \"none\"\n[[arm]]\nname = \"b\"\n\
                    copy = \"sealion-live\"\ncipher = \"chacha20\"\naes-ni = false\ndelay-ms = 5\n";
        let read = parse(text, "mine").expect("it is one");
        let [plain, far] = read.arms else { panic!("two arms") };
        assert_eq!((read.measure, read.connections), (Measure::EventsPerS, [1].as_slice()));
        let wanted =
            Transport { tool: Tool::Tar, cipher: TransportCipher::ClearText, aes_ni: true, line: None };
        assert_eq!((plain.place, plain.tls), (Place::Transport(wanted), ArmTls::OFF));
        let wanted = Transport {
            tool: Tool::SealionLive,
            cipher: TransportCipher::ChaCha20,
            aes_ni: false,
            line: Some(Line { one_way_ms: 5, mbit_per_s: 0 }),
        };
        assert_eq!((far.place, far.via, far.needs_lab()), (Place::Transport(wanted), Via::Direct, true));
    }

    #[test]
    fn what_is_no_experiment_is_said_with_its_place() {
        let copies = |words: &str| {
            format!(
                "workload = \"copy\"\n[[arm]]\nname = \"a\"\ncopy = \"tar\"\n[[arm]]\nname = \"b\"\n{words}\n"
            )
        };
        let arms = |words: &str| format!("{HEAD}{TWO}{words}");
        for (text, word) in [
            (String::new(), "workload"),
            (format!("workload = 7\n{TWO}"), "line 1"),
            (format!("workload = \"nothing\"\n{TWO}"), "unknown workload"),
            (format!("{HEAD}nothing = 1\n{TWO}"), "unknown field"),
            (HEAD.to_owned(), "it has 0 [[arm]]"),
            (format!("connections = [0]\n{HEAD}{TWO}"), "connections has 0"),
            (format!("name = \"tls\"\n{HEAD}{TWO}"), "name of a built-in experiment"),
            (format!("name = \"a\\nb\"\n{HEAD}{TWO}"), "printable"),
            (format!("name = \"a\u{202e}b\"\n{HEAD}{TWO}"), "printable"),
            (format!("connections = [2, 2]\n{HEAD}{TWO}"), "twice"),
            (arms("[[arm]]\nname = \"a\"\n"), "two arms have the name"),
            (arms("against = \"c\"\n"), "there is no arm"),
            (arms("ssl-mode = \"ON\"\n"), "unknown ssl-mode"),
            (arms("ssl-mode = \"DISABLED\"\ntls-version = \"TLSv1.3\"\n"), "cleartext"),
            (arms("tls-version = \"1.9\"\n"), "1.9"),
            (arms("resume = true\n"), "rustls"),
            (arms("resume = \"session-id\"\ntls-library = \"rustls\"\n"), "tls-version = \"1.2\""),
            (arms("resume = \"ticket\"\n"), "session-id"),
            (arms("system-cas = true\ntls-library = \"rustls\"\n"), "system-cas needs OpenSSL"),
            (arms("system-cas = true\nssl-mode = \"DISABLED\"\n"), "cleartext"),
            (arms("tls-sigalgs = \"RSA+SHA256\"\ntls-library = \"rustls\"\n"), "is not possible"),
            (arms("tls-record-bytes = 31\n"), "32 to 16384"),
            (arms("key = \"RSA 512\"\n"), "RSA 1024"),
            (arms("issuers = 2\ngalera = \"tls\"\n"), "not by two"),
            (arms("key = \"P-256\"\ngalera = \"cleartext\"\n"), "no key is possible"),
            (arms("key = \"RSA 1024\"\ngalera = \"tls\"\n"), "the minimum is 2048"),
            (arms("key = \"RSA 1024\"\ngalera = \"dynamic\"\n"), "the minimum is 2048"),
            (arms("between-nodes-ms = 5\ngalera = \"dynamic\"\n"), "the delay would decide"),
            (arms("server = \"mysql-5.5\"\n"), "mariadb-11.8"),
            (arms("mbit-per-s = 0\n"), "1 to 100000"),
            (arms("mbit-per-s = 10000\ndelay-ms = 1000\n"), "a buffer of 1192 MiB"),
            (arms("mbit-per-s = 9\ntunnel = \"ssh\"\n"), "cannot be combined"),
            (arms("between-nodes-ms = 5\n"), "needs galera"),
            (arms("delay-ms = 5\ntunnel = \"ssh\"\n"), "cannot be combined"),
            (arms("tunnel = \"ipsec\"\n"), "`wireguard`"),
            (arms("tunnel = \"openvpn\"\ngalera = \"tls\"\n"), "a cluster has three"),
            (arms("delay-ms = 20000\n"), "10000"),
            (arms("issuers = 9\n"), "the maximum is 4"),
            (arms("galera = \"tls\"\ntls-version = \"TLSv1.3\"\n"), "no TLS options"),
            (arms("galera = \"tls\"\nssl-mode = \"REQUIRED\"\n"), "no TLS options"),
            (arms("galera = \"tls\"\ndelay-ms = 5\n"), "a cluster has three"),
            (arms("against = \"\\u001b[31m\"\n"), "\\u{1b}"),
            (arms("\"\\u001b[31m\" = 3\n"), "\\u{1b}"),
            (copies(""), "no other arms"),
            (arms("copy = \"tar\"\n"), "needs workload = \"copy\""),
            (arms("cipher = \"aes128\"\n"), "cipher needs copy"),
            (copies("copy = \"sealion\"\ncipher = \"none\""), "nothing in cleartext"),
            (copies("copy = \"tar\"\nkey = \"P-256\""), "a server of its own"),
            (copies("copy = \"tar\"\ntls-version = \"TLSv1.3\""), "no TLS options"),
            (copies("copy = \"tar\"\ntunnel = \"ssh\""), "no tunnel"),
            (format!("connections = [2]\n{}", copies("copy = \"rsync\"")), "has no connections"),
            (arms("at-rest = [\"nothing\"]\n"), "line 6"),
            (arms("at-rest = [\"tables\"]\n"), "arm \"a\" has no at-rest"),
        ] {
            let why = parse(&text, "mine").expect_err("it is none");
            assert!(why.contains(word), "{text}: {why}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_read_panics(
            words in prop::collection::vec(
                "(name|ssl-mode|key|issuers|at-rest|galera|delay-ms|mbit-per-s|server|against|tunnel) = (\"[ -~]{0,9}\"|[0-9]{1,6}|\\[\"tables\"\\])", 0..6,
            )
        ) {
            let _ = parse(&format!("{HEAD}{TWO}{}\n", words.join("\n")), "mine");
        }
    }
}
