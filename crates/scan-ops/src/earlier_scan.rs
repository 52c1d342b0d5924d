//! Results of earlier scans: one that was ended early is completed, a whole one is compared with.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use report::shape::{SCAN_SCHEMA_ID, ScanReport, TargetRow, is_schema};

use super::{Depth, Intrusive, ProxyVersion, depth_word, rows};
use site::OpsError;

/// Some 8 KiB a target: this is more than a hundred thousand of them.
const RESULT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Reads what `sealion scan --format json` or `--out` wrote.
///
/// # Errors
/// With the reason, and the line where it is no such result.
pub fn read(path: &Path) -> Result<ScanReport, OpsError> {
    let refuse = |why: String| {
        OpsError::usage(
            format!("cannot use the result {}", path.display()),
            why,
            "use a file that `sealion scan --out FILE` or --format json wrote",
        )
    };
    let bytes = host::ReadHost::read(&host::Local, path, RESULT_BYTES_MAX)
        .map_err(|error| refuse(error.to_string()))?
        .ok_or_else(|| refuse("there is no such file".into()))?;
    let value: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| refuse(error.to_string()))?;
    let schema = value.get("schema").and_then(serde_json::Value::as_str);
    if !schema.is_some_and(|schema| is_schema(schema, SCAN_SCHEMA_ID)) {
        return Err(refuse(format!(
            "its schema is {}, not {SCAN_SCHEMA_ID}",
            schema.map_or_else(|| "not named".into(), |name| format!("\"{}\"", name.escape_default()))
        )));
    }
    // Once more from the bytes, whose errors have a line.
    drop(value);
    let report: ScanReport = serde_json::from_slice(&bytes).map_err(|error| refuse(error.to_string()))?;
    check_rows(&report.targets).map_err(refuse)?;
    Ok(report)
}

/// What no scan writes: somebody's hand was in it, and its words would reach a terminal.
pub fn check_rows(rows: &[TargetRow]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for (place, row) in rows.iter().enumerate() {
        let refuse = |what: &str| Err(format!("targets[{place}] {what}"));
        let is_harmless =
            |each: char| each == ' ' || each.is_ascii_graphic() || !each.is_ascii() && each.is_alphanumeric();
        let is_shown = |text: &str| text.chars().all(is_harmless);
        if !is_shown(&row.target) || !is_shown(&row.host) {
            return refuse("has an invalid target or host");
        }
        if row.address.as_deref().is_some_and(|address| address.parse::<IpAddr>().is_err()) {
            return refuse("has an invalid address");
        }
        if row.grade.as_deref().is_some_and(|grade| !rules::grade::LETTERS.contains(&grade)) {
            return refuse("has an unknown grade");
        }
        if row.address.is_some() && !seen.insert((&row.host, &row.address, row.port)) {
            return refuse("occurs twice");
        }
    }
    Ok(())
}

/// What was typed beside `--resume`; `None` is not typed.
#[derive(Debug, Default)]
pub struct TypedOptions {
    pub depth: Option<Depth>,
    pub ssl_ca: Option<PathBuf>,
    pub proxy: Option<ProxyVersion>,
    pub authorized: Option<PathBuf>,
    pub intrusive: Option<Intrusive>,
}

/// What a scan is made with, once files and flags agree.
#[derive(Debug, PartialEq, Eq)]
pub struct AgreedOptions {
    pub depth: Depth,
    pub ssl_ca: Option<PathBuf>,
    pub proxy: Option<ProxyVersion>,
    pub authorized: Option<PathBuf>,
    pub intrusive: Intrusive,
}

impl TypedOptions {
    /// With nothing to agree with.
    pub fn alone(self) -> AgreedOptions {
        AgreedOptions {
            depth: self.depth.unwrap_or(Depth::Classes),
            ssl_ca: self.ssl_ca,
            proxy: self.proxy,
            authorized: self.authorized,
            intrusive: self.intrusive.unwrap_or_default(),
        }
    }

    /// Half a result of one kind and half of another would be none: what was asked then is asked now, and who types
    /// something else is told.
    ///
    /// # Errors
    /// The first difference.
    pub fn agree_with(self, earlier: &ScanReport, path: &Path) -> Result<AgreedOptions, OpsError> {
        let differs = |what: &str, then: &str, now: &str| {
            OpsError::usage(
                format!("cannot complete {} with {what} {now}", path.display()),
                format!("it was begun with {then}, and all rows of a result must be made alike"),
                format!("leave {what} out, it is read from the file; or start a new scan without --resume"),
            )
        };
        if earlier.grading_version != rules::grade::VERSION {
            return Err(OpsError::usage(
                format!("this version cannot complete {}", path.display()),
                format!(
                    "it is graded with version {} of the criteria, this is version {}",
                    earlier.grading_version,
                    rules::grade::VERSION
                ),
                "start a new scan without --resume",
            ));
        }
        if earlier.asked.targets.is_empty() {
            return Err(OpsError::usage(
                format!("cannot complete {}", path.display()),
                "it does not contain the settings of the scan: an older version wrote it",
                "start a new scan without --resume",
            ));
        }
        let depth = depth_of(&earlier.depth).ok_or_else(|| {
            OpsError::usage(
                format!("cannot complete {}", path.display()),
                format!("its depth \"{}\" is not known", earlier.depth.escape_default()),
                "start a new scan without --resume",
            )
        })?;
        if let Some(typed) = self.depth.filter(|typed| *typed != depth) {
            return Err(differs("the depth", &earlier.depth, depth_word(typed)));
        }
        let words = || earlier.asked.intrusive.iter().map(String::as_str);
        let intrusive = Intrusive::of_words(words()).ok_or_else(|| {
            OpsError::usage(
                format!("cannot complete {}", path.display()),
                format!(
                    "\"{}\" contains an unknown word",
                    words().collect::<Vec<_>>().join(" ").escape_default()
                ),
                "start a new scan without --resume",
            )
        })?;
        if let Some(typed) = self.intrusive.filter(|typed| *typed != intrusive) {
            let list = |words: Vec<&str>| if words.is_empty() { "none".to_owned() } else { words.join(", ") };
            return Err(differs("the intrusive probes", &list(words().collect()), &list(typed.words())));
        }
        let proxy = match earlier.asked.proxy_protocol.as_deref() {
            None => None,
            Some(word) => Some(ProxyVersion::of_word(word).ok_or_else(|| {
                OpsError::usage(
                    format!("cannot complete {}", path.display()),
                    format!("its proxy_protocol \"{}\" is not known", wire::printable(word)),
                    "start a new scan without --resume",
                )
            })?),
        };
        if let Some(typed) = self.proxy.filter(|typed| Some(*typed) != proxy) {
            let then = earlier.asked.proxy_protocol.as_deref().unwrap_or("none");
            return Err(differs("--proxy-protocol", then, typed.word()));
        }
        let file =
            |what: &str, then: Option<&String>, now: Option<PathBuf>| match (then.map(PathBuf::from), now) {
                (then, None) => Ok(then),
                (Some(then), Some(now)) if std::path::absolute(&now).is_ok_and(|now| now == then) => {
                    Ok(Some(then))
                }
                (then, Some(now)) => {
                    let then = then.map_or_else(|| "none".into(), |then| then.display().to_string());
                    Err(differs(what, &then, &now.display().to_string()))
                }
            };
        Ok(AgreedOptions {
            depth,
            proxy,
            intrusive,
            ssl_ca: file("--ssl-ca", earlier.asked.ssl_ca.as_ref(), self.ssl_ca)?,
            authorized: file("--authorized-range", earlier.asked.authorized_range.as_ref(), self.authorized)?,
        })
    }
}

pub fn depth_of(word: &str) -> Option<Depth> {
    [Depth::First, Depth::Classes, Depth::Full].into_iter().find(|depth| depth_word(*depth) == word)
}

/// Whether the scan was ended while this target was asked.
pub fn is_cut_off(row: &TargetRow) -> bool {
    row.not_seen.iter().any(|why| why == ::scan::engine::ENDED)
}

/// Rows that say something of a server, and all of it. What was not dialled (no address, no connections left, out of range) is tried again:
/// that may have changed.
pub fn whole_rows(earlier: &ScanReport) -> Vec<TargetRow> {
    earlier.targets.iter().filter(|row| row.connections > 0 && !is_cut_off(row)).cloned().collect()
}

/// Whether this row stands for all the usual ports of its host.
pub fn is_of_whole_host(row: &TargetRow) -> bool {
    row.service.is_none() && row.not_seen.iter().any(|why| why.starts_with(rows::SILENT_HOST))
}

#[cfg(test)]
mod tests {
    use report::shape::AskedRow;

    use super::*;

    fn earlier(depth: &str) -> ScanReport {
        serde_json::from_value(serde_json::json!({
            "schema": SCAN_SCHEMA_ID, "sealion_version": "0", "started_unix_ms": 1, "ended_unix_ms": 2, "depth": depth,
            "grading_version": rules::grade::VERSION, "is_complete": false, "targets": [],
            "asked": {"targets": ["db1"], "ssl_ca": "/etc/ca.pem", "proxy_protocol": null, "authorized_range": null},
        }))
        .expect("a result")
    }

    #[test]
    fn what_was_asked_then_is_asked_now_and_a_difference_is_said() {
        let path = Path::new("partial.json");
        let agreed = TypedOptions::default().agree_with(&earlier("full"), path).expect("nothing was typed");
        let expected = AgreedOptions {
            depth: Depth::Full,
            ssl_ca: Some("/etc/ca.pem".into()),
            proxy: None,
            authorized: None,
            intrusive: Intrusive::NONE,
        };
        assert_eq!(agreed, expected);
        let same = TypedOptions {
            depth: Some(Depth::Full),
            ssl_ca: Some("/etc/ca.pem".into()),
            ..TypedOptions::default()
        };
        assert_eq!(same.agree_with(&earlier("full"), path).expect("the same"), expected);
        let check = |typed: TypedOptions, earlier: &ScanReport, part: &str| {
            let error = typed.agree_with(earlier, path).expect_err(part);
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(part), "{error}");
        };
        check(
            TypedOptions { depth: Some(Depth::First), ..TypedOptions::default() },
            &earlier("full"),
            "the depth first",
        );
        check(
            TypedOptions { ssl_ca: Some("other.pem".into()), ..TypedOptions::default() },
            &earlier("full"),
            "--ssl-ca other.pem",
        );
        check(
            TypedOptions { proxy: Some(ProxyVersion::V1), ..TypedOptions::default() },
            &earlier("full"),
            "--proxy-protocol v1",
        );
        check(
            TypedOptions { authorized: Some("r".into()), ..TypedOptions::default() },
            &earlier("full"),
            "begun with none",
        );
        let mut harmful = earlier("full");
        harmful.asked.intrusive = vec!["robot".into()];
        let agreed = TypedOptions::default().agree_with(&harmful, path).expect("as it was begun");
        assert_eq!(agreed.intrusive, Intrusive { robot: true, ..Intrusive::NONE });
        check(
            TypedOptions { intrusive: Some(Intrusive::ALL), ..TypedOptions::default() },
            &harmful,
            "begun with robot",
        );
        harmful.asked.intrusive.push("dance".into());
        check(TypedOptions::default(), &harmful, "contains an unknown word");
        check(TypedOptions::default(), &earlier("deep"), "\"deep\" is not known");
        let mut strange = earlier("full");
        strange.asked.proxy_protocol = Some("v3".into());
        check(TypedOptions::default(), &strange, "proxy_protocol \"v3\" is not known");
        check(
            TypedOptions::default(),
            &ScanReport { asked: AskedRow::default(), ..earlier("full") },
            "does not contain the settings",
        );
        check(TypedOptions::default(), &ScanReport { grading_version: 99, ..earlier("full") }, "version 99");
    }

    #[test]
    fn a_file_that_is_no_result_is_refused_with_its_line() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("r.json");
        let check = |text: &str, part: &str| {
            std::fs::write(&path, text).expect("writable");
            let error = read(&path).expect_err(part).to_string();
            assert!(error.contains(part), "{error}");
        };
        check("{\"schema\": \"sealion/scan/1\"", "line 1");
        check("[]", "not named");
        check("{\"schema\": \"sealion/demo-report/1\"}", "demo-report/1");
        check("{\"schema\": \"sealion.scan/1\",\n\"sealion_version\": 3}", "line 2");
        check("{\"schema\": \"sealion/scan/1\",\n\"sealion_version\": 3}", "line 2");
        std::fs::write(&path, serde_json::to_string(&earlier("first")).expect("plain")).expect("writable");
        assert_eq!(read(&path).expect("a result"), earlier("first"));
        let error = read(&dir.path().join("none")).expect_err("no file").to_string();
        assert!(error.contains("no such file"), "{error}");
    }
}
