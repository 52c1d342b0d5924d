//! Keys do not lie beside the data that they encrypt.

use model::facts::rest;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const KEY_PLACE: SubjectRule = SubjectRule {
    id: "SL4103",
    title: "Keys do not lie beside the data that they encrypt",
    severity: Severity::Critical,
    references: &[
        "MariaDB manual: File Key Management Encryption Plugin",
        "MySQL manual: component_keyring_file",
    ],
    explanation: "Whoever copies the data directory, a backup of it or its disk then has the keys as well and reads every table that is encrypted with them. A key file with a passphrase is enough for that where the passphrase is on the same disk.",
    remedy: "move the key file, or the file with its passphrase, to another disk that is not backed up with the data, or to tmpfs, put the data on LUKS, or use a key server",
    facts: &[&rest::KEY_IN_DATADIR, &rest::KEY_WITH_DATA],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    let inside = facts.found(&rest::KEY_IN_DATADIR);
    if let Ok(Some(files)) = inside {
        return Ok(Verdict::Fail(format!("in the data directory: {files}")));
    }
    if let Some(why) = facts.found(&rest::KEY_WITH_DATA)? {
        return Ok(Verdict::Fail(why.to_owned()));
    }
    inside.map(|_| Verdict::Pass)
}
