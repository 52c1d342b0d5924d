//! The fifth part: passwords encrypted for the wrong key.

use super::scene::{MYSQL_CLI, Scene, TargetPort};
use super::{Act, Lesson, Part};
use crate::relay::{Active, Config, KeyTaken, Keys};
use site::OpsError;

pub(super) const PART: Part = Part {
    id: "rsa-key",
    title: "RSA key substitution",
    story: "Without TLS, caching_sha2_password and sha256_password encrypt the password with an RSA key that the \
            server sends. Nothing proves that the key is the server's. A man in the middle sends his own key, reads \
            the password, and encrypts it again for the server. Neither end notices. If the server has the password \
            in its cache and does not request it, the attacker requests it in the server's name.",
    notes: &[
        "The key is then a file on every client, and must be replaced when the server's key is rotated.",
    ],
    play,
};

/// The server remembers a password until its privileges are read anew.
fn shown_another_key(
    scene: &Scene,
    remembers: bool,
    options: &[&str],
    command: &str,
) -> Result<Act, OpsError> {
    if !remembers {
        scene.mysql.run(&["FLUSH PRIVILEGES"])?;
    }
    let keys = Keys::generate().map_err(|error| OpsError::internal("cannot create an RSA key", error))?;
    let active = Active { substitute_key: Some(keys), ..Active::default() };
    let config = Config { active, password: Some(scene.password.clone()) };
    let (relayed, ran) = scene.between(&scene.mysql, config, |at: TargetPort| {
        scene.run(MYSQL_CLI, at, options, &["-e", "SELECT 1"])
    })?;
    let mut saw = vec![];
    let mut succeeded = false;
    for one in &relayed {
        let key = one.outcome.key;
        succeeded |= key.is_taken();
        saw.push(
            match key {
                KeyTaken::Taken(Some(true)) => "password obtained; it is that of the account",
                KeyTaken::TakenInClear(Some(true)) => {
                    "password obtained in cleartext; it is that of the account"
                }
                KeyTaken::Taken(_) | KeyTaken::TakenInClear(_) => {
                    "something was obtained, but it is not the password"
                }
                KeyTaken::KnowsTheKey => {
                    "the client used a key of its own, so the password cannot be decrypted"
                }
                KeyTaken::Refused => "the client sent no password",
                KeyTaken::NotTried if one.told.is_tls => "the login was over TLS: no key was requested",
                KeyTaken::NotTried => "no key was requested",
            }
            .into(),
        );
    }
    saw.push(if ran.is_ok {
        let unaware = if succeeded { ", and noticed nothing" } else { "" };
        format!("the client was logged in{unaware}")
    } else {
        format!("the client prints: {}", ran.said)
    });
    Ok(Act { command: command.into(), saw, succeeded })
}

fn play(scene: &Scene) -> Result<Vec<Lesson>, OpsError> {
    let careless = ["--ssl-mode=DISABLED", "--get-server-public-key"];
    let shown = "mysql --ssl-mode=DISABLED --get-server-public-key";
    let key = format!("--server-public-key-path={}", scene.mysql.dir.join("data/public_key.pem").display());
    let ca = format!("--ssl-ca={}", scene.mysql.ca().display());
    let pinned = Lesson {
        id: "rsa-key",
        title: "A key without verification",
        does: "Is a man in the middle, and replaces the server's RSA key by its own.",
        attack: shown_another_key(scene, false, &careless, shown)?,
        setting: "server-public-key-path: the client has the server's key, and requests none.",
        again: shown_another_key(
            scene,
            false,
            &["--ssl-mode=DISABLED", &key],
            "mysql --ssl-mode=DISABLED --server-public-key-path=key.pem",
        )?,
    };
    // The first client has made the server remember it.
    scene.must_run(MYSQL_CLI, TargetPort(scene.mysql.port), &["--ssl-mode=REQUIRED"], &["-e", "SELECT 1"])?;
    let remembered = Lesson {
        id: "rsa-key-remembered",
        title: "A server that does not request the password",
        does: "The server has the password in its cache and needs less than the password. The attacker requests the \
               password all the same.",
        attack: shown_another_key(scene, true, &careless, shown)?,
        setting: "TLS with VERIFY_IDENTITY: then no key is requested.",
        again: shown_another_key(
            scene,
            true,
            &["--ssl-mode=VERIFY_IDENTITY", &ca],
            "mysql --ssl-mode=VERIFY_IDENTITY --ssl-ca=ca.pem",
        )?,
    };
    Ok(vec![pinned, remembered])
}
