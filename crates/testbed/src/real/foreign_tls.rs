//! What a port says to who shows a certificate, by OpenSSL's own program: nobody of ours.

use std::path::Path;
use std::time::Duration;

use super::{Program, RealLab};

/// A port that takes the certificate says nothing, so it is waited for this long.
const SAYS_S: &str = "3";

/// Which port of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    Galera,
    Client,
}

impl RealLab {
    /// Whether a node's port for clients takes a handshake with these options of `openssl s_client`.
    ///
    /// # Panics
    /// The program says neither.
    #[track_caller]
    pub fn takes_handshake(&self, node: &str, port: u16, options: &[&str]) -> bool {
        let address = self.file().node(node).expect("a node of the lab").address;
        let mut command = self.command(self.exec_of_applications());
        command.args(["timeout", SAYS_S, "openssl", "s_client", "-starttls", "mysql"]);
        command.args(["-connect", &format!("{address}:{port}")]).args(options);
        let ended = Program::start(command).finish(Duration::from_secs(60));
        let said = format!("{}{}", ended.stdout, ended.stderr);
        let is_refused = said.contains("alert protocol version") || said.contains("alert handshake failure");
        assert!(is_refused || said.contains("BEGIN CERTIFICATE"), "{address}:{port} {options:?}: {said}");
        !is_refused
    }

    /// Whether a node's port refuses a certificate since its CA is not trusted there.
    ///
    /// # Panics
    /// The program says neither.
    #[track_caller]
    pub fn distrusts(&self, node: &str, port: Port, cert: &Path, key: &Path) -> bool {
        let address = self.file().node(node).expect("a node of the lab").address;
        let (number, starttls): (u16, &[&str]) = match port {
            Port::Galera => (::lab::layout::GALERA_PORT, &[]),
            Port::Client => (::lab::layout::SQL_PORT, &["-starttls", "mysql"]),
        };
        let mut command = self.command(self.exec_of_applications());
        command.args(["timeout", SAYS_S, "openssl", "s_client"]);
        command.args(["-ign_eof", "-connect", &format!("{address}:{number}")]).args(starttls);
        command.arg("-cert").arg(cert).arg("-key").arg(key);
        let ended = Program::start(command).finish(Duration::from_secs(60));
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(said.contains("BEGIN CERTIFICATE"), "no handshake with {address}:{number}: {said}");
        said.contains("alert unknown ca")
    }
}
