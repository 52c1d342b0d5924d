//! The third part: TLS with anybody.

use super::scene::{MYSQL_CLI, Scene, Tool};
use super::{Act, Lesson, Part};
use crate::Outcome;
use site::OpsError;

pub(super) const PART: Part = Part {
    id: "untrusted-ca",
    title: "Untrusted CA",
    story: "Encryption without certificate verification stops an eavesdropper, but not an attacker who answers in \
            the server's place. A certificate can be made in a second. ssl-mode=REQUIRED encrypts the connection to \
            anybody.",
    notes: &[],
    play,
};

/// Of what a client says.
const WORDS_CHARS_MAX: usize = 160;

/// A client before the rogue; `has_won` says by what was obtained whether the attack has succeeded.
pub fn rogue(
    scene: &Scene,
    case: &str,
    tool: Tool,
    options: &[&str],
    command: &str,
    has_won: fn(&Outcome) -> bool,
) -> Result<Act, OpsError> {
    let head = ["--protocol=tcp", "-h{host}", "-P{port}", "-u{user}"];
    let outcome = scene.rogue(case, tool, &[&head[..], options, &["-e", "SELECT 1"]].concat())?;
    Ok(act(&outcome, command, has_won(&outcome)))
}

pub fn act(outcome: &Outcome, command: &str, succeeded: bool) -> Act {
    let mut saw =
        vec![format!("result at the rogue server: {} ({})", outcome.verdict, outcome.verdict.letters())];
    if outcome.is_guessable {
        saw.push("the captured response can be cracked offline".into());
    }
    if !succeeded && let Some(last) = outcome.words.lines().rev().find(|line| !line.trim().is_empty()) {
        saw.push(format!(
            "the client prints: {}",
            last.trim().chars().take(WORDS_CHARS_MAX).collect::<String>()
        ));
    }
    Act { command: command.into(), saw, succeeded }
}

fn play(scene: &Scene) -> Result<Vec<Lesson>, OpsError> {
    let strict = ["--ssl-mode=VERIFY_CA", "--ssl-ca={ca}"];
    let shown = "mysql --ssl-mode=VERIFY_CA --ssl-ca=ca.pem";
    let lesson = |id, title, does, case| -> Result<Lesson, OpsError> {
        Ok(Lesson {
            id,
            title,
            does,
            attack: rogue(
                scene,
                case,
                MYSQL_CLI,
                &["--ssl-mode=REQUIRED"],
                "mysql --ssl-mode=REQUIRED",
                Outcome::has_fallen,
            )?,
            setting: "Certificate verification: ssl-mode=VERIFY_CA with ssl-ca. The next part shows why this is not \
                      enough.",
            again: rogue(scene, case, MYSQL_CLI, &strict, shown, Outcome::has_fallen)?,
        })
    };
    Ok(vec![
        lesson(
            "ca-self-signed",
            "A self-signed certificate",
            "Answers in the server's place, with a self-signed certificate.",
            "self-signed",
        )?,
        lesson(
            "ca-unknown",
            "A certificate of an unknown CA",
            "Answers in the server's place, with a certificate of a CA that the client does not know.",
            "unknown-ca",
        )?,
    ])
}
