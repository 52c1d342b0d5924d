//! The second part: the offer of TLS is taken out of the greeting, which is sent before TLS.

use super::scene::{MARIADB_CLI, MYSQL_CLI, Scene, Server, TargetPort, Tool};
use super::{Act, Lesson, Part};
use crate::relay::{Active, Config, Stripped};
use site::OpsError;

pub(super) const PART: Part = Part {
    id: "stripping",
    title: "Stripping",
    story: "A server offers TLS in its greeting, and the greeting is in cleartext. A man in the middle clears that \
            one bit. A client that only prefers TLS then falls back to cleartext without a message. If the server \
            requires TLS, that protects the data but not the login: the client sends it before the server can reject \
            it.",
    notes: &[],
    play,
};

fn stripped(
    scene: &Scene,
    server: &Server,
    tool: Tool,
    options: &[&str],
    command: &str,
) -> Result<Act, OpsError> {
    let config = Config { active: Active { strip: true, ..Active::default() }, password: None };
    let (relayed, ran) = scene.between(server, config, |at: TargetPort| {
        scene.run(tool, at, options, &["-e", "SELECT payee FROM bank.transfer"])
    })?;
    let mut saw = vec![];
    let mut succeeded = false;
    for one in &relayed {
        saw.push(match one.outcome.stripped {
            Stripped::WentOn => "the client sent its login without TLS".into(),
            Stripped::Refused => "the client sent nothing after the greeting".into(),
            other => format!("stripping: {}", other.id()),
        });
        succeeded |= one.outcome.stripped == Stripped::WentOn;
        saw.extend(one.findings.iter().map(|finding| format!("read: {}", finding.what.text())));
        if let (Some(code), Stripped::WentOn) = (one.outcome.login_error, one.outcome.stripped) {
            saw.push(format!("the server rejected the login with error {code}, too late"));
        }
    }
    if !ran.is_ok {
        saw.push(format!("the client prints: {}", ran.said));
    }
    Ok(Act { command: command.into(), saw, succeeded })
}

fn play(scene: &Scene) -> Result<Vec<Lesson>, OpsError> {
    let (mariadb, mysql) = (&scene.mariadb, &scene.mysql);
    // The server then remembers the password, as it does of every application that was there before.
    scene.must_run(MYSQL_CLI, TargetPort(mysql.port), &["--ssl-mode=REQUIRED"], &["-e", "SELECT 1"])?;
    let ca = |server: &Server| format!("--ssl-ca={}", server.ca().display());
    let verify = [&ca(mariadb), "--ssl-verify-server-cert"];
    let identity = ["--ssl-mode=VERIFY_IDENTITY", &ca(mysql)];
    let shown = "mariadb --ssl-ca=ca.pem --ssl-verify-server-cert";
    let first = Lesson {
        id: "strip-mariadb",
        title: "mariadb 10.11 with --ssl",
        does: "Is a man in the middle, and removes the offer of TLS from the greeting.",
        attack: stripped(scene, mariadb, MARIADB_CLI, &["--ssl"], "mariadb --ssl")?,
        setting: "ssl-verify-server-cert: only with this option does the client require TLS. ssl and ssl-ca are not \
                  enough.",
        again: stripped(scene, mariadb, MARIADB_CLI, &verify, shown)?,
    };
    let second = Lesson {
        id: "strip-mysql",
        title: "mysql 9.7 with default options",
        does: "Is a man in the middle, and removes the offer of TLS from the greeting.",
        attack: stripped(scene, mysql, MYSQL_CLI, &[], "mysql")?,
        setting: "ssl-mode=VERIFY_IDENTITY (REQUIRED would stop this attack, but not the next ones).",
        again: stripped(
            scene,
            mysql,
            MYSQL_CLI,
            &identity,
            "mysql --ssl-mode=VERIFY_IDENTITY --ssl-ca=ca.pem",
        )?,
    };
    mariadb.run(&["SET GLOBAL require_secure_transport=ON"])?;
    let third = Lesson {
        id: "strip-strict-server",
        title: "The server requires TLS",
        does: "The same, with a server that has require_secure_transport=ON.",
        attack: stripped(scene, mariadb, MARIADB_CLI, &["--ssl"], "mariadb --ssl")?,
        setting: "ssl-verify-server-cert on the client. Keep require_secure_transport too: it protects the data.",
        again: stripped(scene, mariadb, MARIADB_CLI, &verify, shown)?,
    };
    mariadb.run(&["SET GLOBAL require_secure_transport=OFF"])?;
    Ok(vec![first, second, third])
}
