//! The fifth part: passwords encrypted for the wrong key.

use super::scene::{At, MYSQL_CLI, Scene};
use super::{Act, Lesson, Part};
use crate::relay::{Active, Config, KeyTaken, Keys};
use site::OpsError;

pub(super) const PART: Part = Part {
    id: "rsa-key",
    title: "RSA key substitution",
    story: "Without TLS, caching_sha2_password and sha256_password encrypt the password with an RSA key that the server \
            sends. Nothing says that it is the server's: whoever stands between sends his own, reads the password, and \
            encrypts it anew for the server. Both ends are content. Where the server remembers the client and asks for \
            no password, the attacker asks in its name.",
    notes: &["A pinned key is a file on every client, which must follow when the server's key is rotated."],
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
    let keys = Keys::generate().map_err(|error| OpsError::internal("no RSA key can be made", error))?;
    let active = Active { substitute_key: Some(keys), ..Active::default() };
    let config = Config { active, password: Some(scene.password.clone()) };
    let (relayed, ran) = scene
        .between(&scene.mysql, config, |at: At| scene.run(MYSQL_CLI, at, options, &["-e", "SELECT 1"]))?;
    let mut saw = vec![];
    let mut succeeded = false;
    for one in &relayed {
        let key = one.outcome.key;
        succeeded |= key.is_taken();
        saw.push(
            match key {
                KeyTaken::Taken(Some(true)) => "the password was obtained: it is the account's",
                KeyTaken::TakenInClear(Some(true)) => "the password came in clear text: it is the account's",
                KeyTaken::Taken(_) | KeyTaken::TakenInClear(_) => {
                    "something was obtained that is not the password"
                }
                KeyTaken::KnowsTheKey => "the client encrypted for a key that it knows: it cannot be opened",
                KeyTaken::Refused => "the client gave no password",
                KeyTaken::NotTried if one.told.is_tls => {
                    "the login passed inside of TLS: no key was asked for"
                }
                KeyTaken::NotTried => "no key was asked for",
            }
            .into(),
        );
    }
    saw.push(if ran.is_ok {
        let unaware = if succeeded { ", and noticed nothing" } else { "" };
        format!("the client was let in{unaware}")
    } else {
        format!("the client says: {}", ran.said)
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
        title: "A key that nobody checks",
        does: "Stands between, and sends its own RSA key in place of the server's.",
        attack: shown_another_key(scene, false, &careless, shown)?,
        setting: "server-public-key-path: the client brings the server's key, and asks for none.",
        again: shown_another_key(
            scene,
            false,
            &["--ssl-mode=DISABLED", &key],
            "mysql --ssl-mode=DISABLED --server-public-key-path=key.pem",
        )?,
    };
    // The first client has made the server remember it.
    scene.must_run(MYSQL_CLI, At(scene.mysql.port), &["--ssl-mode=REQUIRED"], &["-e", "SELECT 1"])?;
    let remembered = Lesson {
        id: "rsa-key-remembered",
        title: "A server that asks for no password",
        does: "The server remembers the client and is content with less; the attacker says that it is not.",
        attack: shown_another_key(scene, true, &careless, shown)?,
        setting: "TLS with VERIFY_IDENTITY: then no key is asked for.",
        again: shown_another_key(
            scene,
            true,
            &["--ssl-mode=VERIFY_IDENTITY", &ca],
            "mysql --ssl-mode=VERIFY_IDENTITY --ssl-ca=ca.pem",
        )?,
    };
    Ok(vec![pinned, remembered])
}
