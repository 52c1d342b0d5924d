//! The sixth part: what is forgotten when the application's own connections are safe.

use std::ffi::OsString;

use capture::Canary;
use prove::Verdict;

use super::certificates::{act, rogue};
use super::scene::{MARIADB_CLI, MARIADB_DUMP, MYSQL_CLI, Scene, TargetPort};
use super::sniffing::read;
use super::{Act, Lesson, Part};
use crate::Outcome;
use site::OpsError;

pub(super) const PART: Part = Part {
    id: "loose-ends",
    title: "Other ways to the data",
    story: "The application uses TLS, but the data leaks elsewhere: through the nightly dump, a script that gets a \
            host name, a plugin that needs the password itself, a server that requests a file, or the storage.",
    notes: &[
        "NDB Cluster was not tested: it does not run here. According to its manual, the nodes of MySQL NDB Cluster \
         used cleartext before 8.3.0; since then TLS can be required between them (RequireTls, ndb_sign_keys). Older \
         versions need a separate network.",
        "Galera state transfers (SST) and replication are also such ways: sealion status shows whether they are \
         encrypted.",
    ],
    play,
};

fn play(scene: &Scene) -> Result<Vec<Lesson>, OpsError> {
    Ok(vec![
        backup(scene)?,
        redirection(scene)?,
        cleartext_plugin(scene)?,
        local_infile(scene)?,
        storage(scene)?,
    ])
}

fn dumped(scene: &Scene, canary: &Canary, options: &[&str], command: &str) -> Result<Act, OpsError> {
    let at = TargetPort(scene.mariadb.port);
    let task = ["bank", "backup"];
    let (sniffed, ran) = scene.overhear(|| scene.must_run(MARIADB_DUMP, at, options, &task))?;
    if !ran.stdout.contains(canary.token()) {
        return Err(OpsError::internal("the dump does not contain the canary", ran.said));
    }
    let (saw, succeeded) = read(&sniffed, canary);
    Ok(Act { command: command.into(), saw, succeeded })
}

fn backup(scene: &Scene) -> Result<Lesson, OpsError> {
    let canary = scene.canary();
    scene.mariadb.run(&[
        "CREATE TABLE bank.backup (text VARCHAR(100))",
        &format!("INSERT INTO bank.backup VALUES ('{}')", canary.token()),
    ])?;
    let ca = format!("--ssl-ca={}", scene.mariadb.ca().display());
    Ok(Lesson {
        id: "backup-traffic",
        title: "The nightly dump",
        does: "Captures packets while a dump is made over the network.",
        attack: dumped(scene, &canary, &["--skip-ssl"], "mariadb-dump --skip-ssl bank")?,
        setting: "The same TLS options for tools as for the application, in the group [client], which all of them \
                  read.",
        again: dumped(
            scene,
            &canary,
            &[&ca, "--ssl-verify-server-cert"],
            "mariadb-dump --ssl-ca=ca.pem --ssl-verify-server-cert bank",
        )?,
    })
}

/// A login path binds no password to a host: another host on the command line is given the same login.
fn redirected(scene: &Scene, with_identity: bool) -> Result<Act, OpsError> {
    let outcome = scene.rogue_with("unknown-ca", MYSQL_CLI, |password, ca| {
        let path = format!("[prod]\nuser = sealion\npassword = \"{password}\"\nhost = db-of-production\n");
        let mut key = [0; formats::mylogin::LOGIN_KEY_BYTES];
        openssl::rand::rand_bytes(&mut key).map_err(|error| OpsError::internal("no random bytes", error))?;
        let bytes = formats::mylogin::encode(path.as_bytes(), &key)
            .map_err(|error| OpsError::internal("cannot write the login path", error))?;
        let login = scene.private("mylogin.cnf", &bytes)?;
        let tls = if with_identity {
            format!("[client]\nssl-mode=VERIFY_IDENTITY\nssl-ca={}\n", ca.display())
        } else {
            "[client]\n".to_owned()
        };
        let options = scene.private("client.cnf", tls.as_bytes())?;
        let mut words: Vec<OsString> =
            vec!["env".into(), format!("MYSQL_TEST_LOGIN_FILE={}", login.display()).into()];
        words.extend(MYSQL_CLI.words());
        words.push(format!("--defaults-file={}", options.display()).into());
        words.push("--login-path=prod".into());
        words.extend(MYSQL_CLI.plugins().map(|dir| format!("--plugin-dir={}", dir.display()).into()));
        words.extend(["--protocol=tcp", "-h{host}", "-P{port}", "-e", "SELECT 1"].map(OsString::from));
        Ok(words)
    })?;
    let options = if with_identity { " (with ssl-mode=VERIFY_IDENTITY in [client])" } else { "" };
    let command = format!("mysql --login-path=prod -h another-host{options}");
    Ok(act(&outcome, &command, outcome.is_guessable))
}

fn redirection(scene: &Scene) -> Result<Lesson, OpsError> {
    Ok(Lesson {
        id: "login-path-redirection",
        title: "A login path sent to another host",
        does: "Puts its own host name into the -h option of a script. User and password of the login path are sent \
               there.",
        attack: redirected(scene, false)?,
        setting: "ssl-mode=VERIFY_IDENTITY and ssl-ca in [client], because a login path cannot contain them. A host \
                  without a certificate of the CA then gets nothing.",
        again: redirected(scene, true)?,
    })
}

fn gave_password(outcome: &Outcome) -> bool {
    matches!(outcome.verdict, Verdict::PasswordObtained(_))
}

/// It goes on talking either way: here the file alone counts.
fn gave_file(outcome: &Outcome) -> bool {
    matches!(outcome.verdict, Verdict::FileObtained(_))
}

fn cleartext_plugin(scene: &Scene) -> Result<Lesson, OpsError> {
    let strict = ["--ssl-ca={ca}", "--ssl-verify-server-cert"];
    Ok(Lesson {
        id: "cleartext-plugin",
        title: "A plugin that needs the password itself",
        does: "Answers in the server's place, without TLS, and requests mysql_clear_password.",
        attack: rogue(scene, "clear-password", MARIADB_CLI, &[], "mariadb", gave_password)?,
        setting: "ssl-verify-server-cert with ssl-ca. (mysql needs --enable-cleartext-plugin; do not set it without \
                  VERIFY_IDENTITY.)",
        again: rogue(
            scene,
            "clear-password",
            MARIADB_CLI,
            &strict,
            "mariadb --ssl-ca=ca.pem --ssl-verify-server-cert",
            gave_password,
        )?,
    })
}

fn local_infile(scene: &Scene) -> Result<Lesson, OpsError> {
    Ok(Lesson {
        id: "local-infile",
        title: "A server that requests a file",
        does: "Answers a SELECT with a request for a file of the client, with any path.",
        attack: rogue(
            scene,
            "local-infile",
            MYSQL_CLI,
            &["--local-infile=1"],
            "mysql --local-infile=1",
            gave_file,
        )?,
        setting: "local-infile=0 (the default of mysql), or load-data-local-dir for one directory.",
        again: rogue(
            scene,
            "local-infile",
            MYSQL_CLI,
            &["--local-infile=0"],
            "mysql --local-infile=0",
            gave_file,
        )?,
    })
}

/// What a network file system or a SAN carries of a table: the bytes of its file.
fn stored(scene: &Scene, table: &str, canary: &Canary, command: &str) -> Result<Act, OpsError> {
    scene.mariadb.run(&[
        &format!("INSERT INTO bank.{table} VALUES ('{}')", canary.token()),
        // Writes the pages of the table.
        &format!("FLUSH TABLES bank.{table} FOR EXPORT"),
    ])?;
    let path = scene.mariadb.dir.join("data/bank").join(format!("{table}.ibd"));
    let bytes = std::fs::read(&path)
        .map_err(|error| OpsError::internal("cannot read the file of the table", error))?;
    let times = memchr::memmem::find_iter(&bytes, canary.token()).count();
    let saw = if times > 0 {
        format!("the row is readable in the file of the table ({times}x in {} bytes)", bytes.len())
    } else {
        format!("the row is not in the {} bytes of the file of the table", bytes.len())
    };
    Ok(Act { command: command.into(), saw: vec![saw], succeeded: times > 0 })
}

fn storage(scene: &Scene) -> Result<Lesson, OpsError> {
    let (plain, sealed) = (scene.canary(), scene.canary());
    scene.mariadb.run(&[
        "CREATE TABLE bank.plain (text VARCHAR(100)) ENGINE=InnoDB",
        "CREATE TABLE bank.sealed (text VARCHAR(100)) ENGINE=InnoDB ENCRYPTED=YES",
    ])?;
    Ok(Lesson {
        id: "network-storage",
        title: "Network storage",
        does: "Reads what a network file system or a SAN transfers: the file of the table. (Here: the file itself.)",
        attack: stored(scene, "plain", &plain, "CREATE TABLE … (…)")?,
        setting: "Encryption of tables at rest, with the key stored elsewhere, or encryption of the storage traffic.",
        again: stored(scene, "sealed", &sealed, "CREATE TABLE … (…) ENCRYPTED=YES")?,
    })
}
