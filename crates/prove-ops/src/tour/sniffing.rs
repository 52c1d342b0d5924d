//! The first part: somebody who only listens.

use capture::Canary;
use prove::sniff::What;

use super::scene::{MARIADB_CLI, PAYEE, Scene, TargetPort, Tool};
use super::{Act, Lesson, Part};
use crate::sniff::Sniffed;
use site::OpsError;

pub(super) const PART: Part = Part {
    id: "sniffing",
    title: "Sniffing",
    story: "Without TLS everything is readable: statements, rows, and enough of the login to crack the password \
            offline. Compression hides nothing. The attacker needs access to one device in between (a switch, a \
            router, another machine in the same network) and leaves no trace.",
    notes: &[],
    play,
};

/// A statement with a canary, a row, and a statement with a password.
fn script(canary: &Canary, secret: &Canary) -> String {
    format!(
        "SELECT payee, '{}' AS note FROM bank.transfer; CREATE OR REPLACE USER clerk@'%' IDENTIFIED BY 'pw-{}'",
        canary.token(),
        secret.token()
    )
}

/// What was read of a client with a canary.
pub fn read(sniffed: &Sniffed, canary: &Canary) -> (Vec<String>, bool) {
    let report = &sniffed.report;
    let mut saw = vec![];
    for what in report.findings.keys().filter(|what| **what != What::Canary) {
        saw.push(format!("read: {}", what.text()));
    }
    let places: Vec<&str> = report
        .canary_places
        .keys()
        .filter(|(name, _)| name == canary.tag())
        .map(|(_, place)| place.text())
        .collect();
    if !places.is_empty() {
        saw.push(format!("the canary was found in {}", places.join(", in ")));
    }
    let tls: u64 = report.listed.iter().map(|one| one.told.tls_bytes).sum();
    if tls > 0 {
        saw.push(format!("{tls} bytes were TLS records"));
    }
    if !report.is_readable() {
        saw.push("nothing readable was captured".into());
    }
    (saw, !places.is_empty())
}

/// One client, overheard. The attack has succeeded where its canary was read.
fn overheard(scene: &Scene, tool: Tool, options: &[&str], command: &str) -> Result<Act, OpsError> {
    let (canary, secret) = (scene.canary(), scene.canary());
    let task = ["-e", &script(&canary, &secret)];
    let at = TargetPort(scene.mariadb.port);
    let (sniffed, ran) = scene.overhear(|| scene.must_run(tool, at, options, &task))?;
    // Under TLS too, the client must have had its row: else nothing passed that could be read.
    if !ran.stdout.contains(PAYEE) {
        return Err(OpsError::internal("the client got no row", ran.said));
    }
    let (saw, succeeded) = read(&sniffed, &canary);
    Ok(Act { command: command.into(), saw, succeeded })
}

fn play(scene: &Scene) -> Result<Vec<Lesson>, OpsError> {
    let ca = format!("--ssl-ca={}", scene.mariadb.ca().display());
    let verified = [ca.as_str(), "--ssl-verify-server-cert"];
    let shown = "mariadb --ssl-ca=ca.pem --ssl-verify-server-cert";
    let plain = Lesson {
        id: "sniff-plain",
        title: "A client without TLS",
        does: "Captures packets while a client works.",
        attack: overheard(scene, MARIADB_CLI, &["--skip-ssl"], "mariadb --skip-ssl")?,
        setting: "TLS with certificate verification: ssl-ca and ssl-verify-server-cert for mariadb, \
                  ssl-mode=VERIFY_IDENTITY and ssl-ca for mysql.",
        again: overheard(scene, MARIADB_CLI, &verified, shown)?,
    };
    let compressed = Lesson {
        id: "sniff-compressed",
        title: "Compression is not encryption",
        does: "Captures packets and decompresses them.",
        attack: overheard(
            scene,
            MARIADB_CLI,
            &["--skip-ssl", "--compress"],
            "mariadb --skip-ssl --compress",
        )?,
        setting: "The same. Compression can stay enabled: it is inside TLS.",
        again: overheard(
            scene,
            MARIADB_CLI,
            &[&verified[..], &["--compress"]].concat(),
            &format!("{shown} --compress"),
        )?,
    };
    Ok(vec![plain, compressed])
}
