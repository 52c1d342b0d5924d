//! The fourth part: a certificate of the right CA, for another host.

use super::certificates::rogue;
use super::scene::{MYSQL_CLI, Scene};
use super::{Lesson, Part};
use crate::Outcome;
use site::OpsError;

pub(super) const PART: Part = Part {
    id: "host-names",
    title: "Host names",
    story: "A CA vouches for many hosts: test machines, old ones, with a public CA all of the world. Whoever has the key \
            of one of them can answer for the database, unless the client compares the name in the certificate with the \
            one that it dialled.",
    notes: &[
        "Some drivers have no check of names, or skip it for localhost: sealion prove clients shows which.",
    ],
    play,
};

fn play(scene: &Scene) -> Result<Vec<Lesson>, OpsError> {
    Ok(vec![Lesson {
        id: "wrong-name",
        title: "The right CA, another host",
        does: "Answers in the server's place, with a sound certificate of the right CA for another host.",
        attack: rogue(
            scene,
            "wrong-name",
            MYSQL_CLI,
            &["--ssl-mode=VERIFY_CA", "--ssl-ca={ca}"],
            "mysql --ssl-mode=VERIFY_CA --ssl-ca=ca.pem",
            Outcome::has_fallen,
        )?,
        setting: "ssl-mode=VERIFY_IDENTITY, and certificates with each server's names in them.",
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
