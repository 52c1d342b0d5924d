//! A server alone: with a key, a chain, a release or encryption at rest that an arm wants.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use ::bench::experiments::{AtRest, Made, Place, Release};
use site::OpsError;
use site::servers::{MARIADB, Server, encryption_keys, internal};

use super::super::Reached;
use super::super::child::free_port;
use super::super::ground::{BUFFER_POOL, Ground, fill};
use super::super::release::bundle_of;
use super::ServerKind;
use crate::keys;

/// Of servers whose files are what is measured: the tables do not fit into it.
const SMALL_BUFFER_POOL: &str = "--innodb-buffer-pool-size=8M";
/// Of one table there, 230 bytes each.
const AT_REST_ROWS_MIN: u32 = 60_000;
/// Keeps AES-NI and PCLMULQDQ (bits 57 and 33), VAES and VPCLMULQDQ (41 and 42 of the second word) from OpenSSL, and nothing else:
/// without a second word all of it would be off, and with it AVX2 and SHA (OPENSSL_ia32cap(3)).
const NO_AES_NI: (&str, &str) = ("OPENSSL_ia32cap", "~0x200000200000000:~0x60000000000");

#[derive(Default)]
pub struct Singles(Vec<(Place, Server)>);

impl ServerKind for Singles {
    fn serves(&self, place: Place) -> bool {
        matches!(place, Place::Given | Place::Made(_) | Place::AtRest(_))
    }

    fn describe(&self, place: Place) -> String {
        match place {
            Place::Made(Made { key, issuers, aes_ni, release }) => {
                let mut words = vec![bundle_of(release).to_owned(), keys::name(key)];
                if issuers > 0 {
                    words.push(format!("{issuers} issuer{}", if issuers == 1 { "" } else { "s" }));
                }
                if !aes_ni {
                    words.push("no AES-NI".into());
                }
                words.join(", ")
            }
            Place::AtRest(AtRest { tables, redo, binlog }) => {
                let kept = [(tables, "tables"), (redo, "redo log"), (binlog, "binary log")];
                let kept: Vec<&str> = kept.iter().filter(|(yes, _)| *yes).map(|(_, name)| *name).collect();
                if kept.is_empty() {
                    format!("{MARIADB}, nothing encrypted")
                } else {
                    format!("{MARIADB}, encrypted: {}", kept.join(", "))
                }
            }
            _ => self.describe(Place::Made(Made::PLAIN)),
        }
    }

    fn reach(
        &mut self,
        ground: &mut Ground,
        place: Place,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        match place {
            Place::Made(made) => self.single(ground, place, made, AtRest::default(), stop, say),
            Place::AtRest(at_rest) => self.single(ground, place, Made::PLAIN, at_rest, stop, say),
            _ => self.single(ground, place, Made::PLAIN, AtRest::default(), stop, say),
        }
    }

    fn rows_min(&self, _: &Ground, place: Place) -> u32 {
        if matches!(place, Place::AtRest(_)) { AT_REST_ROWS_MIN } else { 0 }
    }

    fn keep(&mut self, needs: &dyn Fn(Place) -> bool) {
        self.0.retain(|(place, _)| needs(*place));
    }
}

impl Singles {
    fn single(
        &mut self,
        ground: &mut Ground,
        place: Place,
        made: Made,
        at_rest: AtRest,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        if let Some((_, server)) = self.0.iter().find(|(known, _)| *known == place) {
            return Ok(reached(ground, server, made));
        }
        say(&format!("starting {}", self.describe(place)));
        let number = ground.number()?;
        let dir = ground.dir(&format!("s{number}"));
        let keys::Files { pair, ca } = keys::make(&dir, made.key, made.issuers)?;
        let is_at_rest = matches!(place, Place::AtRest(_));
        let mut options = vec![
            if is_at_rest { SMALL_BUFFER_POOL } else { BUFFER_POOL }.to_owned(),
            "--max-connections=2000".into(),
            "--performance-schema=OFF".into(),
            format!("--ssl-cert={}", pair.cert.display()),
            format!("--ssl-key={}", pair.key.display()),
            format!("--ssl-ca={}", ca.display()),
        ];
        if let Some(ciphers) = keys::ciphers(made.key) {
            options.push(format!("--ssl-cipher={ciphers}"));
        }
        if is_at_rest {
            let on = |yes: bool| if yes { "ON" } else { "OFF" };
            options.extend(encryption_keys(&dir)?);
            options.extend([
                // There for all that are compared, encrypted or not.
                "--server-id=1".into(),
                "--log-bin=binlog".into(),
                format!("--innodb-encrypt-tables={}", on(at_rest.tables)),
                format!("--innodb-encrypt-log={}", on(at_rest.redo)),
                format!("--encrypt-binlog={}", on(at_rest.binlog)),
            ]);
        }
        if ground.plan.namespace {
            // Clients of a VPN come from another address, and there is nobody else in this network. No name is looked up, whoever
            // connects: what that takes would be told of the VPN.
            options.extend(["--bind-address=0.0.0.0".into(), "--skip-name-resolve".into()]);
        }
        let environment: &[_] = if made.aes_ni { &[] } else { &[NO_AES_NI] };
        let server = Server::start_with(bundle_of(made.release), free_port()?, &dir, &options, environment)?;
        if ground.plan.namespace {
            server.run(&["CREATE USER root@'%'", "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION"])?;
        }
        let reached = reached(ground, &server, made);
        if let Some(target) = reached.targets.first() {
            fill(target, &ground.tables(self.rows_min(ground, place)), stop, say)?;
        }
        if is_at_rest {
            lies_as_wished(&server, at_rest)?;
        }
        is_linked_with(&server, made.release)?;
        self.0.push((place, server));
        Ok(reached)
    }
}

fn reached(ground: &Ground, server: &Server, made: Made) -> Reached {
    let keys::Files { pair, ca } = keys::Files::of(&server.dir);
    let mut options = ground.options(server.address());
    options.tls.ca = Some(ca);
    if let Some(ciphers) = keys::ciphers(made.key) {
        options.tls.ciphers = Some(ciphers.into());
    }
    Reached { client: Some(pair), ..Reached::at(vec![options]) }
}

/// Writes a word, and looks for it in the files: an option that says ON proves nothing.
fn lies_as_wished(server: &Server, at_rest: AtRest) -> Result<(), OpsError> {
    let unreadable = internal("cannot read the files of a server");
    let word = secrecy::ExposeSecret::expose_secret(&trust::generate_passphrase()).to_owned();
    server.run(&[
        "CREATE DATABASE sealion_bench_word",
        "CREATE TABLE sealion_bench_word.word (word VARCHAR(100)) ENGINE=InnoDB",
        &format!("INSERT INTO sealion_bench_word.word VALUES ('{word}')"),
        // Its pages go to the file now.
        "FLUSH TABLES sealion_bench_word.word FOR EXPORT",
    ])?;
    let data = server.dir.join("data");
    let mut binlogs: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(&data).map_err(unreadable)? {
        let path = entry.map_err(internal("cannot list the files of a server"))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with("binlog.0") {
            binlogs.push(path);
        }
    }
    let kinds = [
        ("tables", at_rest.tables, vec![data.join("sealion_bench_word/word.ibd")]),
        ("the redo log", at_rest.redo, vec![data.join("ib_logfile0")]),
        ("the binary log", at_rest.binlog, binlogs),
    ];
    for (name, is_to_be_encrypted, paths) in kinds {
        let mut is_in_clear = false;
        for path in paths {
            let bytes = std::fs::read(&path).map_err(internal("cannot read a file of a server"))?;
            is_in_clear |= memchr::memmem::find(&bytes, word.as_bytes()).is_some();
        }
        if is_in_clear == is_to_be_encrypted {
            let (is, be) =
                if is_in_clear { ("there in cleartext", "encrypted") } else { ("absent", "in cleartext") };
            return Err(OpsError::internal(
                format!("a text that was written is {is} in the files of {name}"),
                format!("it should be {be}"),
            ));
        }
    }
    server.run(&["DROP DATABASE sealion_bench_word"])
}

/// The OpenSSL that arms are named for.
fn is_linked_with(server: &Server, release: Release) -> Result<(), OpsError> {
    let wanted = match release {
        Release::MariaDb1011 => "OpenSSL 3.0.",
        Release::MariaDb118 => "OpenSSL 3.5.",
    };
    let found = server.asked("SELECT @@version_ssl_library")?;
    if found.starts_with(wanted) {
        return Ok(());
    }
    Err(OpsError::cannot_look(
        format!("a {} of the lab is linked with {found}", bundle_of(release)),
        format!("the experiment needs {wanted}x"),
        format!("sealion lab fetch {}", bundle_of(release)),
    ))
}
