//! The fourth part: a certificate of the right CA, for another host.

use super::certificates::rogue;
use super::scene::{MYSQL_CLI, Scene};
use super::{Lesson, Part};
use crate::Outcome;
use site::OpsError;

pub(super) const PART: Part = Part {
    id: "host-names",
    title: "Host names",
    story: "A CA issues certificates for many hosts: test machines, old machines, and if it is a public CA, \
            everybody. Whoever has the key of one of them can answer in the database's place, unless the client \
            verifies that the certificate is for the host name that it connects to.",
    notes: &[
        "Some drivers do not verify the host name, or not for localhost: sealion prove clients shows which.",
    ],
    play,
};

fn play(scene: &Scene) -> Result<Vec<Lesson>, OpsError> {
    Ok(vec![Lesson {
        id: "wrong-name",
        title: "The right CA, another host",
        does: "Answers in the server's place, with a valid certificate of the right CA for another host.",
        attack: rogue(
            scene,
            "wrong-name",
            MYSQL_CLI,
            &["--ssl-mode=VERIFY_CA", "--ssl-ca={ca}"],
            "mysql --ssl-mode=VERIFY_CA --ssl-ca=ca.pem",
            Outcome::has_fallen,
        )?,
        setting: "ssl-mode=VERIFY_IDENTITY, and certificates that contain the names of each server.",
        again: rogue(
            scene,
            "wrong-name",
            MYSQL_CLI,
            &["--ssl-mode=VERIFY_IDENTITY", "--ssl-ca={ca}"],
            "mysql --ssl-mode=VERIFY_IDENTITY --ssl-ca=ca.pem",
            Outcome::has_fallen,
        )?,
    }])
}
