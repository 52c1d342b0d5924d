//! The command lines of a copy, as scripts/bench-sst.sh has them. No secret is among their arguments: sealion's code is in a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use ::bench::experiments::{Tool, Transport, TransportCipher};
use lab::bundle::Servers;
use nix::unistd::getuid;
use site::OpsError;
use site::machine::program;
use site::servers::internal;

use super::programs::{Input, Job, Programs};
use super::{CODE, DataCopy, Donor, FROM, INTO, RECEIVING, SENDING, TARGET};

/// Keeps AES-NI from OpenSSL, and with the second word of capabilities, which is left empty, AVX2, AVX-512 and SHA too (OPENSSL_ia32cap(3)):
/// a processor that has no AES-NI has none of these either.
const NO_AES_NI: (&str, &str) = ("OPENSSL_ia32cap", "~0x200000200000000");
/// Of socat, which would take 8 KiB.
const BLOCK_BYTES: &str = "1048576";

/// What is not installed of what a copy needs.
pub fn missing(transport: Transport) -> Option<String> {
    let servers = Servers::find(false).ok()?;
    missing_of(transport, &|name| {
        let path = servers.program(name);
        path.is_absolute() && path.is_file() || program(name).is_some()
    })
}

fn missing_of(transport: Transport, is_there: &dyn Fn(&str) -> bool) -> Option<String> {
    let is_tls = transport.cipher != TransportCipher::ClearText;
    let wanted: &[&str] = match transport.tool {
        Tool::Mariabackup => &["socat"],
        Tool::Tar => &["socat", "tar"],
        Tool::Rsync if is_tls => &["rsync", "stunnel"],
        Tool::Rsync => &["rsync"],
        Tool::SealionLive | Tool::Sealion => &[],
    };
    // Of the files that are copied.
    let all = ["mariabackup", "mbstream"].iter().chain(wanted);
    let lacking: Vec<&str> = all.copied().filter(|name| !is_there(name)).collect();
    match lacking.as_slice() {
        [] => None,
        names => Some(format!("not installed: {} (sealion lab fetch galera-10.11)", names.join(", "))),
    }
}

/// It is killed when sealion is.
fn tied(program: impl AsRef<std::ffi::OsStr>, has_aes: bool) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg("__server").arg(program);
    if !has_aes {
        command.env(NO_AES_NI.0, NO_AES_NI.1);
    }
    command
}

/// One of the bundle's.
fn bundled(donor: &Donor, name: &'static str, has_aes: bool) -> Job {
    let mut command = tied(donor.servers.program(name), has_aes);
    command.envs(donor.servers.environment());
    Job { name, command }
}

/// Its words after the program.
fn backup_words(donor: &Donor) -> Vec<String> {
    vec![
        "--no-defaults".into(),
        "--backup".into(),
        "--stream=xbstream".into(),
        "--user=root".into(),
        format!("--socket={}", donor.server.dir.join("socket").display()),
        format!("--datadir={}", donor.server.dir.join("data").display()),
        format!("--target-dir={}", donor.path(TARGET).display()),
    ]
}

pub fn mariabackup(donor: &Donor, has_aes: bool) -> Job {
    let mut job = bundled(donor, "mariabackup", has_aes);
    job.command.args(backup_words(donor));
    job
}

pub fn mbstream(donor: &Donor, into: &str, has_aes: bool) -> Job {
    let mut job = bundled(donor, "mbstream", has_aes);
    job.command.args(["-x", "-C", into]);
    job
}

/// In the words of socat and stunnel: an option of each, or none.
fn suite(cipher: TransportCipher) -> Option<&'static str> {
    match cipher {
        TransportCipher::ClearText | TransportCipher::Default => None,
        TransportCipher::Aes128 => Some("ECDHE-ECDSA-AES128-GCM-SHA256"),
        TransportCipher::Aes256 => Some("ECDHE-ECDSA-AES256-GCM-SHA384"),
        TransportCipher::ChaCha20 => Some("ECDHE-ECDSA-CHACHA20-POLY1305"),
    }
}

/// Both ends have a certificate and trust that of the other one alone.
fn of_end(own: &str, other: &str) -> String {
    format!("cert={own}/bench.pem,key={own}/bench.key,cafile={other}/bench-ca.pem,verify=1")
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

impl DataCopy<'_> {
    fn has_aes(&self) -> bool {
        self.transport.aes_ni
    }

    fn is_clear(&self) -> bool {
        self.transport.cipher == TransportCipher::ClearText
    }

    fn socat_versions(&self) -> String {
        match suite(self.transport.cipher) {
            None => "openssl-min-proto-version=TLS1.3".into(),
            Some(suite) => format!("openssl-max-proto-version=TLS1.2,cipher={suite}"),
        }
    }

    fn socat_in(&self) -> Job {
        let at = format!("{},bind=127.0.0.1,reuseaddr", self.donor.ports.receiver);
        let from = if self.is_clear() {
            format!("TCP-LISTEN:{at}")
        } else {
            format!("OPENSSL-LISTEN:{at},{},{}", of_end(RECEIVING, SENDING), self.socat_versions())
        };
        let mut job = bundled(self.donor, "socat", self.has_aes());
        job.command.args(["-u", "-b", BLOCK_BYTES, &from, "-"]);
        job
    }

    fn socat_out(&self) -> Job {
        let to = if self.is_clear() {
            format!("TCP:127.0.0.1:{}", self.to)
        } else {
            let name = "commonname=localhost";
            format!(
                "OPENSSL:127.0.0.1:{},{name},{},{}",
                self.to,
                of_end(SENDING, RECEIVING),
                self.socat_versions()
            )
        };
        let mut job = bundled(self.donor, "socat", self.has_aes());
        job.command.args(["-u", "-b", BLOCK_BYTES, "-", &to]);
        job
    }

    fn tar(&self, words: &[&str]) -> Job {
        let mut command = tied(program("tar").unwrap_or_else(|| PathBuf::from("tar")), self.has_aes());
        command.args(words);
        Job { name: "tar", command }
    }

    fn sealion(&self, words: &[&str]) -> Job {
        let mut command = tied("/proc/self/exe", self.has_aes());
        command.args(words);
        Job { name: "sealion", command }
    }

    /// Until it listens. False: somebody wanted the end.
    pub(super) fn start_receiver(
        &self,
        programs: &mut Programs,
        stop: &AtomicBool,
    ) -> Result<bool, OpsError> {
        let ports = &self.donor.ports;
        match self.transport.tool {
            Tool::Mariabackup => {
                let received = programs.piped(self.socat_in(), Input::Nothing)?;
                programs.sink(mbstream(self.donor, INTO, self.has_aes()), received)?;
            }
            Tool::Tar => {
                let received = programs.piped(self.socat_in(), Input::Nothing)?;
                programs.sink(self.tar(&["xf", "-", "-C", INTO]), received)?;
            }
            Tool::Rsync => {
                programs.daemon(self.rsync_daemon()?)?;
                if !self.is_clear() {
                    if !programs.listens(ports.daemon, stop)? {
                        return Ok(false);
                    }
                    programs.daemon(self.stunnel(
                        "in",
                        ports.receiver,
                        ports.daemon,
                        [RECEIVING, SENDING],
                    )?)?;
                    programs.daemon(self.stunnel("out", ports.entry, self.to, [SENDING, RECEIVING])?)?;
                    if !programs.listens(ports.entry, stop)? {
                        return Ok(false);
                    }
                }
            }
            Tool::SealionLive | Tool::Sealion => {
                let at = format!("127.0.0.1:{}", ports.receiver);
                programs.sink(
                    self.sealion(&["receive", INTO, "--listen", &at, "--code-file", CODE]),
                    Input::Nothing,
                )?;
                if !programs.has_line(&self.donor.path(CODE), stop)? {
                    return Ok(false);
                }
            }
        }
        programs.listens(ports.receiver, stop)
    }

    pub(super) fn start_sender(&self, programs: &mut Programs) -> Result<(), OpsError> {
        match self.transport.tool {
            Tool::Mariabackup => {
                let sent = programs.piped(mariabackup(self.donor, self.has_aes()), Input::Nothing)?;
                programs.sink(self.socat_out(), sent)
            }
            Tool::Tar => {
                let sent = programs.piped(self.tar(&["cf", "-", "-C", FROM, "."]), Input::Nothing)?;
                programs.sink(self.socat_out(), sent)
            }
            Tool::Rsync => {
                let port = if self.is_clear() { self.to } else { self.donor.ports.entry };
                let mut job = bundled(self.donor, "rsync", self.has_aes());
                let (from, to) = (format!("{FROM}/"), format!("rsync://127.0.0.1:{port}/into/"));
                job.command.args(["-a", "--whole-file", &from, &to]);
                programs.sink(job, Input::Nothing)
            }
            Tool::SealionLive | Tool::Sealion => programs.sink(self.sealion_out(), Input::Nothing),
        }
    }

    fn sealion_out(&self) -> Job {
        let to = format!("127.0.0.1:{}", self.to);
        // Over a line it may compress, as it does by itself.
        let compress = if self.transport.line.is_some() { "auto" } else { "none" };
        let mut job = self.sealion(&["send", "--to", &to, "--code-file", CODE, "--compress", compress]);
        let cipher = match self.transport.cipher {
            TransportCipher::ClearText | TransportCipher::Default => None,
            TransportCipher::Aes128 => Some("aes128"),
            TransportCipher::Aes256 => Some("aes256"),
            TransportCipher::ChaCha20 => Some("chacha20"),
        };
        if let Some(cipher) = cipher {
            job.command.args(["--cipher", cipher]);
        }
        if self.transport.tool == Tool::Sealion {
            job.command.arg(FROM);
        } else {
            job.command.args(["--from-command", &self.backup_line()]);
        }
        job
    }

    /// For a shell, which it takes the place of: then it ends with whoever started it.
    fn backup_line(&self) -> String {
        let mut words: Vec<String> = vec!["exec".into(), "env".into()];
        let environment = self.donor.servers.environment();
        words.extend(environment.iter().map(|(name, value)| quoted(&format!("{name}={value}"))));
        words.push(quoted(&self.donor.servers.program("mariabackup").display().to_string()));
        words.extend(backup_words(self.donor).iter().map(|word| quoted(word)));
        words.join(" ")
    }

    fn rsync_daemon(&self) -> Result<Job, OpsError> {
        let port = if self.is_clear() { self.donor.ports.receiver } else { self.donor.ports.daemon };
        let into = self.donor.path(INTO);
        // Root would become nobody. Whoever is not root may set no groups, and stays who he is.
        let owner = if getuid().is_root() { "uid = 0\ngid = 0\n" } else { "" };
        self.write(
            "rsyncd.conf",
            &format!(
                "use chroot = no\nlog file = /dev/stderr\n[into]\npath = {}\nread only = no\n{owner}",
                into.display()
            ),
        )?;
        let mut job = bundled(self.donor, "rsync", self.has_aes());
        job.command.args(["--daemon", "--no-detach", "--config=rsyncd.conf", "--address=127.0.0.1"]);
        job.command.arg(format!("--port={port}"));
        Ok(job)
    }

    fn stunnel(&self, name: &str, accept: u16, connect: u16, ends: [&str; 2]) -> Result<Job, OpsError> {
        let [own, other] = ends;
        let file = |end: &str, name: &str| self.donor.path(end).join(name).display().to_string();
        let client = if own == SENDING { "client = yes\n" } else { "" };
        let versions = suite(self.transport.cipher).map_or_else(
            || "sslVersionMin = TLSv1.3".to_owned(),
            |suite| format!("sslVersionMax = TLSv1.2\nciphers = {suite}"),
        );
        let conf = format!("stunnel-{name}.conf");
        self.write(
            &conf,
            &format!(
                "foreground = yes\npid =\nsyslog = no\ndebug = err\nsocket = l:TCP_NODELAY=1\nsocket = r:TCP_NODELAY=1\n[{name}]\n{client}\
                 accept = 127.0.0.1:{accept}\nconnect = 127.0.0.1:{connect}\ncert = {}\nkey = {}\nCAfile = {}\nverifyPeer = yes\n\
                 {versions}\n",
                file(own, "bench.pem"),
                file(own, "bench.key"),
                file(other, "bench-ca.pem"),
            ),
        )?;
        let mut job = bundled(self.donor, "stunnel", self.has_aes());
        job.command.arg(conf);
        Ok(job)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), OpsError> {
        let path: &Path = &self.donor.path(name);
        fs::write(path, text).map_err(internal("cannot write a file of the lab"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_copy_lacks_is_named_and_the_others_need_it_not() {
        let lacks = |tool, cipher, missing: &str| {
            let transport = Transport { tool, cipher, aes_ni: true, line: None };
            missing_of(transport, &|name| name != missing)
        };
        let (clear, tls) = (TransportCipher::ClearText, TransportCipher::Default);
        let said = lacks(Tool::Rsync, tls, "stunnel").unwrap_or_default();
        assert!(said.contains("not installed: stunnel"), "{said}");
        assert_eq!(lacks(Tool::Rsync, clear, "stunnel"), None);
        assert_eq!(lacks(Tool::SealionLive, tls, "socat"), None);
        assert!(lacks(Tool::Tar, clear, "socat").is_some() && lacks(Tool::Tar, clear, "tar").is_some());
        // The files of all are a backup.
        assert!(lacks(Tool::Sealion, tls, "mariabackup").is_some());
    }

    #[test]
    fn a_word_stays_one_word_in_a_shell() {
        for word in ["plain", "it's", "$(id) `id` \"x\" \\", "a b"] {
            let said = Command::new("sh").args(["-c", &format!("printf %s {}", quoted(word))]).output();
            assert_eq!(said.expect("a shell").stdout, word.as_bytes());
        }
    }
}
