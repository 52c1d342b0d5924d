//! What publisher and worker say to each other: both are the same version of the same program, or there is no work.

use std::path::PathBuf;

use report::shape::TargetRow;
use serde::{Deserialize, Serialize};

use crate::earlier_scan::depth_of;
use crate::{Authorized, Intrusive, NAMED_CA, ProxyVersion, Roots, Settings, depth_word};
use site::OpsError;

/// Of the bytes between them.
const VERSION: u32 = 1;
/// Rows of one target. A host with all ports at full depth has some 100 KB; nobody unpacks more of what a worker sent.
const ROWS_BYTES_MAX: usize = 16 * 1024 * 1024;
/// A broker takes messages of 1 MiB, unless it is told otherwise.
const ANSWER_BYTES_MAX: usize = 900_000;
/// Rows are much alike; more effort gains little.
const ZSTD_LEVEL: i32 = 1;

/// What holds for all targets of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSettings {
    version: u32,
    sealion_version: String,
    grading_version: u32,
    depth: String,
    intrusive: Vec<String>,
    proxy: Option<String>,
    connection_ms: u64,
    silence_ms: u64,
    connections_per_address: u32,
    /// The CA that was named: results must not depend on which worker made them.
    ssl_ca_pem: Option<String>,
    authorized: Option<AuthorizedShape>,
    pub lease_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct AuthorizedShape {
    path: PathBuf,
    words: Vec<String>,
}

impl RunSettings {
    pub fn of(settings: &Settings, lease_ms: u64) -> Self {
        let named = settings.roots.iter().find(|roots| roots.name == NAMED_CA);
        Self {
            version: VERSION,
            sealion_version: env!("CARGO_PKG_VERSION").into(),
            grading_version: rules::grade::VERSION,
            depth: depth_word(settings.depth).into(),
            intrusive: settings.limits.intrusive.words().into_iter().map(str::to_owned).collect(),
            proxy: settings.proxy.map(|proxy| proxy.word().to_owned()),
            connection_ms: settings.limits.connection_ms,
            silence_ms: settings.limits.silence_ms,
            connections_per_address: settings.connections_per_address,
            ssl_ca_pem: named.map(|roots| String::from_utf8_lossy(&roots.pem).into_owned()),
            authorized: settings.authorized.as_ref().map(|authorized| AuthorizedShape {
                path: authorized.path.clone(),
                words: authorized.words().to_vec(),
            }),
            lease_ms,
        }
    }

    pub fn encode(&self) -> Result<Vec<u8>, OpsError> {
        serde_json::to_vec(self).map_err(|error| OpsError::internal("cannot write the settings", error))
    }

    /// `None`: no sealion wrote that. A broker sends a reply to any subject that a client asked for.
    ///
    /// # Errors
    /// Another version's are not worked with: its rows would be graded in another way.
    pub fn decode(bytes: &[u8]) -> Result<Option<Self>, OpsError> {
        let refuse = |why: String| {
            OpsError::usage(
                "this worker cannot work for the scan that is published",
                why,
                "run the same version of sealion on both sides",
            )
        };
        let Ok(found) = serde_json::from_slice::<serde_json::Value>(bytes) else { return Ok(None) };
        if found.get("sealion_version").is_none() {
            return Ok(None);
        }
        let number = |name: &str| found.get(name).and_then(serde_json::Value::as_u64);
        let ours = (u64::from(VERSION), u64::from(rules::grade::VERSION));
        if (number("version"), number("grading_version")) != (Some(ours.0), Some(ours.1)) {
            let theirs = found.get("sealion_version").and_then(serde_json::Value::as_str).unwrap_or("?");
            return Err(refuse(format!(
                "it comes from sealion {}, this is {}",
                wire::printable(theirs),
                env!("CARGO_PKG_VERSION")
            )));
        }
        serde_json::from_value(found).map(Some).map_err(|error| refuse(error.to_string()))
    }

    /// What a worker scans with: how it scans is the publisher's, what it sees is its own.
    ///
    /// # Errors
    /// Words that no sealion of this version writes.
    pub fn settings(&self, own: &Settings) -> Result<Settings, OpsError> {
        let refuse = |what: &str| OpsError::internal("the settings of a run make no sense", what);
        let words = self.intrusive.iter().map(String::as_str);
        let mut settings = own.clone();
        settings.depth = depth_of(&self.depth).ok_or_else(|| refuse("depth"))?;
        settings.limits.intrusive = Intrusive::of_words(words).ok_or_else(|| refuse("intrusive"))?;
        settings.limits.connection_ms = self.connection_ms;
        settings.limits.silence_ms = self.silence_ms;
        settings.connections_per_address = self.connections_per_address;
        settings.proxy = match self.proxy.as_deref() {
            Some(word) => Some(ProxyVersion::of_word(word).ok_or_else(|| refuse("proxy"))?),
            None => None,
        };
        if let Some(pem) = &self.ssl_ca_pem {
            settings.roots.insert(0, Roots { name: NAMED_CA, pem: pem.clone().into_bytes() });
        }
        settings.authorized = match &self.authorized {
            Some(shape) => Some(
                Authorized::of(shape.path.clone(), shape.words.clone()).map_err(|_| refuse("authorized"))?,
            ),
            None => None,
        };
        Ok(settings)
    }
}

/// The rows of one job.
pub fn encode_rows(rows: &[TargetRow]) -> Vec<u8> {
    let packed = serde_json::to_vec(rows)
        .map_err(|error| error.to_string())
        .and_then(|text| zstd::bulk::compress(&text, ZSTD_LEVEL).map_err(|error| error.to_string()));
    match packed {
        Ok(packed) if packed.len() <= ANSWER_BYTES_MAX => packed,
        // Empty: the publisher says that there is no answer that it can read.
        _ => vec![],
    }
}

/// # Errors
/// What is wrong with it: a worker may be anybody who has its key.
pub fn decode_rows(bytes: &[u8]) -> Result<Vec<TargetRow>, String> {
    if bytes.is_empty() {
        return Err("it is longer than a message may be".into());
    }
    let text = zstd::bulk::decompress(bytes, ROWS_BYTES_MAX).map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_arrive_as_they_were_and_another_version_is_refused() {
        let settings = Settings {
            depth: crate::Depth::Full,
            proxy: Some(ProxyVersion::V2),
            connections_per_address: 7,
            roots: vec![Roots { name: NAMED_CA, pem: b"PEM".to_vec() }],
            authorized: Some(Authorized::of("/r".into(), vec!["10.0.0.0/8".into()]).expect("a range")),
            ..Settings::default()
        };
        let sent = RunSettings::of(&settings, 1000).encode().expect("plain");
        let own =
            Settings { roots: vec![Roots { name: "system store", pem: vec![] }], ..Settings::default() };
        let got = RunSettings::decode(&sent).expect("the same version").expect("settings");
        let got = got.settings(&own).expect("they make sense");
        assert_eq!(got.depth, settings.depth);
        assert_eq!((got.proxy, got.connections_per_address), (settings.proxy, 7));
        assert_eq!(got.roots.iter().map(|roots| roots.name).collect::<Vec<_>>(), [NAMED_CA, "system store"]);
        let allowed = got.authorized.expect("it was sent");
        assert!(
            allowed.holds("10.1.1.1".parse().expect("ip")) && !allowed.holds("11.1.1.1".parse().expect("ip"))
        );
        let other = String::from_utf8(sent).expect("JSON").replacen("\"version\":1", "\"version\":2", 1);
        let error = RunSettings::decode(other.as_bytes()).expect_err("another version");
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("the same version"), "{error}");
        // What a broker writes by itself.
        for reply in [&b"{\"stream\":\"SEALION_ANSWERS_1\",\"seq\":1}"[..], b"", b"\x28\xb5"] {
            assert!(matches!(RunSettings::decode(reply), Ok(None)));
        }
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        assert_eq!(decode_rows(&encode_rows(&[])), Ok(vec![]));
        let bomb = zstd::bulk::compress(&vec![b' '; ROWS_BYTES_MAX + 1], 1).expect("packed");
        let cut = encode_rows(&[]);
        for bytes in [&b""[..], b"[]", &bomb, &cut[..cut.len() - 1]] {
            assert!(decode_rows(bytes).is_err());
        }
    }
}
