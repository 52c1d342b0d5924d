//! What an administrator does by hand: option lines, certificates, waiting.

use std::path::Path;

use formats::optfile::OptionFile;
use secrecy::ExposeSecret;
use trust::{Ca, CaSpec, KeyKind, LeafSpec};

use super::disk::{Entry, MYSQL};
use super::group::LINGERS_MS;
use super::world::{GALERA_FILE, TLS_DIR, World};

/// All key and certificate options, as sealion writes them.
pub const PATHS: &str = "socket.ssl_key=/etc/mysql/sealion/node-key.pem;socket.ssl_cert=/etc/mysql/sealion/node-cert.pem;\
                         socket.ssl_ca=/etc/mysql/sealion/ca.pem";

/// The string for a state: `P`, `D`, `S`, or `X` (key paths with ssl=NO).
pub fn string(letter: char) -> String {
    match letter {
        'D' => format!("gcache.size=128M;{PATHS};socket.ssl=YES;socket.dynamic=YES"),
        'S' => format!("gcache.size=128M;{PATHS};socket.ssl=YES"),
        'X' => format!("gcache.size=128M;{PATHS};socket.ssl=NO"),
        _ => "gcache.size=128M".into(),
    }
}

impl World {
    /// A new CA, valid from now.
    pub fn authority(&self, name: &str) -> Ca {
        let spec = CaSpec { common_name: name.into(), valid_days: 3650, key: KeyKind::EcP256 };
        Ca::create(&spec, self.unix_s()).expect("a CA can be made")
    }

    /// A leaf and its CA on a node's disk, owned by the server's user.
    pub fn place(&mut self, index: usize, ca: &Ca, valid_until_s: Option<i64>) {
        let spec = LeafSpec {
            common_name: self.servers[index].name(),
            dns: vec![],
            ips: vec![],
            valid_days: 365,
            key: KeyKind::EcP256,
            not_before_unix: valid_until_s.map(|end| end - 86_400),
            not_after_unix: valid_until_s,
        };
        let leaf = ca.issue(&spec, self.unix_s()).expect("a leaf can be issued");
        let disk = &mut self.servers[index].disk;
        disk.make_dirs(Path::new(TLS_DIR), MYSQL, 0o700);
        disk.put("/etc/mysql/sealion/node-key.pem", leaf.key_pem.expose_secret(), MYSQL, 0o600);
        disk.put("/etc/mysql/sealion/node-cert.pem", leaf.cert_pem, MYSQL, 0o644);
        disk.put("/etc/mysql/sealion/ca.pem", ca.cert_pem(), MYSQL, 0o644);
    }

    /// Sets one option in the file that has the Galera options.
    pub fn set_option(&mut self, index: usize, group: &str, key: &str, value: &str) {
        let disk = &mut self.servers[index].disk;
        let path = disk.resolve(Path::new(GALERA_FILE));
        let entry: &mut Entry = disk.entries.get_mut(&path).expect("every node has it");
        let bytes = entry.bytes.clone().unwrap_or_default();
        let mut file = OptionFile::parse(&bytes, GALERA_FILE).expect("a sound file");
        file.set(group, key, value).expect("a sound option");
        entry.bytes = Some(file.to_bytes().to_vec());
    }

    /// The whole provider string, in the file.
    pub fn set_string(&mut self, index: usize, string: &str) {
        self.set_option(index, "galera", "wsrep_provider_options", string);
    }

    /// Stops a node, writes its string, lets some writes pass, starts it; does not wait.
    pub fn restart_as(&mut self, index: usize, letter: char) {
        self.set_string(index, &string(letter));
        self.restart(index);
    }

    /// As a person does it who has learnt to wait until the others have let it go.
    pub fn restart(&mut self, index: usize) {
        self.stop(index);
        self.advance(LINGERS_MS);
        self.start(index);
    }

    /// The same, and waits until it is Synced again.
    pub fn bring_to(&mut self, index: usize, letter: char) {
        self.restart_as(index, letter);
        assert!(
            self.advance_until(60_000, |world| world.is_healthy(index)),
            "n{} came back as {letter}",
            index + 1
        );
        self.advance(3_000);
    }

    /// Nodes in the given states (`"SSD"`), with certificates of one CA, brought there through dynamic as one should.
    pub fn in_states(seed: u64, letters: &str) -> Self {
        let mut world = Self::cluster(seed, letters.len());
        world.forbids_plain_beside_strict = false;
        let ca = world.authority("CA of the cluster");
        for index in 0..letters.len() {
            world.place(index, &ca, None);
        }
        for (index, letter) in letters.chars().enumerate() {
            if letter != 'P' {
                world.bring_to(index, 'D');
            }
        }
        for (index, letter) in letters.chars().enumerate() {
            if letter == 'S' {
                world.bring_to(index, 'S');
            }
        }
        assert_eq!(world.letters(), letters);
        world
    }

    /// Whether a line of the node's log has this text.
    pub fn logged(&self, index: usize, text: &str) -> bool {
        self.servers[index].log.iter().any(|line| line.contains(text))
    }
}
