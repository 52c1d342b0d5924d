//! `[[accepted]]` of sealion.toml: risks that somebody has accepted. A file with nothing else is fine here: a scan needs no
//! cluster.

use std::ops::Range;
use std::path::Path;

use rules::accept::{Acceptance, Acceptances, Day};
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::{Spanned, Value};

use site::OpsError;
use site::inventory::AcceptedTable;

const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// More is a list that nobody looks through again.
const ACCEPTED_MAX: usize = 1000;

/// The rest of the file is for [`site::inventory`], which needs all of it; what neither knows is a slip of the pen.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    accepted: Vec<Spanned<AcceptedTable>>,
    #[serde(rename = "cluster")]
    _cluster: Option<IgnoredAny>,
    #[serde(rename = "login")]
    _login: Option<IgnoredAny>,
    #[serde(rename = "node")]
    _nodes: Option<IgnoredAny>,
    #[serde(rename = "ssh")]
    _ssh: Option<IgnoredAny>,
    #[serde(rename = "arbitrator")]
    _arbitrators: Option<IgnoredAny>,
    #[serde(rename = "proxy")]
    _proxies: Option<IgnoredAny>,
}

/// Reads what was accepted. A file that is not there accepts nothing, if it `may_be_absent`.
///
/// # Errors
/// The first table that is not understood, with its line.
pub fn read(path: &Path, may_be_absent: bool) -> Result<Acceptances, OpsError> {
    let refuse = |why: String| {
        OpsError::usage(
            format!("cannot read the accepted risks of {}", path.display()),
            why,
            "each [[accepted]] needs rule, target, reason and until = \"2027-03-01\" (docs: reference/inventory)",
        )
    };
    let bytes = host::ReadHost::read(&host::Local, path, FILE_BYTES_MAX)
        .map_err(|error| refuse(error.to_string()))?;
    let Some(bytes) = bytes else {
        let none = Acceptances::default();
        return if may_be_absent { Ok(none) } else { Err(refuse("there is no such file".into())) };
    };
    let text = String::from_utf8(bytes).map_err(|error| refuse(error.to_string()))?;
    let file: File = toml::from_str(&text)
        .map_err(|error| refuse(error.to_string().trim().replace('\n', "\n        ")))?;
    if file.accepted.len() > ACCEPTED_MAX {
        return Err(refuse(format!("there are {}; the maximum is {ACCEPTED_MAX}", file.accepted.len())));
    }
    let mut found = Vec::new();
    for table in file.accepted {
        let span = table.span();
        let one = acceptance(&table.into_inner())
            .map_err(|why| refuse(format!("line {}: {why}", line_of(&text, &span))))?;
        found.push(one);
    }
    Ok(Acceptances(found))
}

fn acceptance(table: &AcceptedTable) -> Result<Acceptance, String> {
    let until = match &table.until {
        Value::String(text) => text.clone(),
        Value::Datetime(moment) => moment.to_string(),
        other => return Err(format!("until is {other}, but must be a date such as 2027-03-01")),
    };
    Acceptance::new(&table.rule, &table.target, &table.reason, Day::parse(&until)?)
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    text.get(..span.start).unwrap_or_default().matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Acceptances, OpsError> {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("sealion.toml");
        std::fs::write(&path, text).expect("writable");
        read(&path, false)
    }

    #[test]
    fn a_file_with_a_cluster_or_without_is_read() {
        let table = "[[accepted]]\nrule = 'SL1110'\ntarget = 'db1:3306'\nreason = 'old clients'\nuntil = ";
        for text in [
            format!("{table}'2027-03-01'\n"),
            format!("{table}2027-03-01\n"),
            format!("[cluster]\nname = 'c'\n{table}2027-03-01\n"),
        ] {
            let found = read_text(&text).expect("good");
            assert_eq!(found.0.len(), 1, "{text}");
            assert_eq!(found.0[0].until.to_string(), "2027-03-01");
        }
        assert_eq!(read_text("[cluster]\n").expect("nothing accepted"), Acceptances::default());
        // All that an inventory may have.
        let whole = "[cluster]\n[login]\n[ssh]\n[[node]]\n[[arbitrator]]\n[[proxy]]\n";
        assert_eq!(read_text(whole).expect("nothing accepted"), Acceptances::default());
        assert_eq!(read(Path::new("/no/such/file"), true).expect("no file"), Acceptances::default());
        let error = read(Path::new("/no/such/file"), false).expect_err("it was named").to_string();
        assert!(error.contains("no such file"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let check = |tables: &str, parts: &[&str]| {
            let error = read_text(tables).expect_err("refused");
            assert_eq!(error.exit_code(), 2);
            let error = error.to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{parts:?}: {error}");
        };
        let good = "[[accepted]]\nrule='SL1110'\ntarget='*'\nreason='r'\nuntil='2027-03-01'\n";
        check(
            &format!("{good}[[accepted]]\nrule='SL9999'\ntarget='*'\nreason='r'\nuntil='2027-03-01'\n"),
            &["line 6", "SL9999"],
        );
        check(&good.replace("reason='r'\n", ""), &["reason", "line"]);
        check(&good.replace("until='2027-03-01'\n", ""), &["until", "line"]);
        check(&good.replace("'r'", "''"), &["line 1", "the reason is empty"]);
        check(&good.replace("'2027-03-01'", "'2027-02-30'"), &["line 1", "no such day"]);
        check(&good.replace("'2027-03-01'", "2027-03-01T10:00:00Z"), &["line 1", "is no day"]);
        check(&good.replace("'2027-03-01'", "12"), &["line 1", "until is 12"]);
        check(&good.replace("until", "untill"), &["untill"]);
        check(&format!("\n{}", good.replace("[[accepted]]", "[[acepted]]")), &["acepted", "line 2"]);
    }
}
