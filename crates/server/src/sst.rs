//! Whether state transfers use TLS, as option files give it: the same answer for a look (`status`) and for pre-flight.
//!
//! # Source
//! wsrep_sst_common, wsrep_sst_rsync and wsrep_sst_mariabackup of 10.11.19: `encrypt` and `ssl-mode` are those of the server's own
//! groups, else of `[sst]`, and for mariabackup else of `[xtrabackup]` and `[mariabackup]`. Which of them come first was another way
//! in other versions of the scripts. `tca`, `tcert`, `tkey` of `[sst]` count, and only where it has none of them `ssl-ca`,
//! `ssl-cert`, `ssl-key`. Seen: rsync in cleartext with `loose-ssl-mode=DISABLED` in `[mysqld]`.

use crate::node::{NodeError, ReadNode};
use crate::options::{Effective, Setting};

/// Groups that scripts read and the server does not. wsrep_sst_rsync reads the first one only.
const SCRIPT_GROUPS: [&str; 3] = ["sst", "xtrabackup", "mariabackup"];

/// What option files say of TLS in state transfers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SstTls {
    On,
    Off,
    /// Nobody can say, with the reason.
    CannotTell(String),
}

impl SstTls {
    /// In a column.
    pub fn word(&self) -> &'static str {
        match self {
            Self::On => "TLS",
            Self::Off => "plain",
            Self::CannotTell(_) => "unknown",
        }
    }
}

/// Files that a script of state transfers knows by names of its own, or by those of the server in a group of its own.
pub const OWN_FILES: [&str; 14] = [
    "tkey",
    "tcert",
    "tca",
    "tcapath",
    "ssl_key",
    "ssl_cert",
    "ssl_ca",
    "ssl_capath",
    "ssl_server_key",
    "ssl_server_cert",
    "ssl_server_ca",
    "ssl_client_key",
    "ssl_client_cert",
    "ssl_client_ca",
];

/// What the scripts read.
#[derive(Debug, Clone, Default)]
pub struct SstOptions {
    /// Of the server's own groups.
    pub server: Effective,
    /// Of each of [`SCRIPT_GROUPS`].
    scripts: [Effective; 3],
}

/// What `encrypt` or `ssl-mode` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    Unset,
    Off,
    On,
    /// `encrypt=1`: by a symmetric key.
    KeyBased,
    /// The script ends with an error, or its version decides.
    NotUnderstood,
}

/// An empty value is none, as the scripts see it.
fn value(setting: &Setting) -> Option<&str> {
    setting.value.as_deref().map(str::trim).filter(|value| !value.is_empty())
}

fn of_mode(value: &str) -> Switch {
    match value.to_ascii_uppercase().as_str() {
        "DISABLED" => Switch::Off,
        "REQUIRED" | "VERIFY_CA" | "VERIFY_IDENTITY" => Switch::On,
        _ => Switch::NotUnderstood,
    }
}

fn of_encrypt(value: &str) -> Switch {
    match value.parse::<u8>() {
        Ok(0) => Switch::Off,
        Ok(1) => Switch::KeyBased,
        Ok(2..=4) => Switch::On,
        _ => Switch::NotUnderstood,
    }
}

impl SstOptions {
    /// # Errors
    /// The option files cannot be read: then nobody can say what transfers use.
    pub fn of(node: &mut dyn ReadNode) -> Result<Self, NodeError> {
        let server = node.effective()?;
        let mut scripts = <[Effective; 3]>::default();
        for (effective, group) in scripts.iter_mut().zip(SCRIPT_GROUPS) {
            *effective = node.effective_in(&[group.to_owned()])?;
        }
        Ok(Self { server, scripts })
    }

    /// Of `[sst]`.
    pub fn sst(&self) -> &Effective {
        let [sst, ..] = &self.scripts;
        sst
    }

    /// Every setting of the groups that the script of this method reads beside the server's own.
    pub fn of_scripts(&self, method: &str) -> impl Iterator<Item = &Setting> {
        self.read_by(method).iter().flat_map(|effective| &effective.settings)
    }

    /// Whether the script takes the server's own key and certificate: it finds none of its own.
    pub fn uses_those_of_server(&self, method: &str) -> bool {
        let is_own = |setting: &Setting| OWN_FILES.contains(&&*setting.key) && value(setting).is_some();
        self.tls(method) != SstTls::Off && !self.of_scripts(method).any(is_own)
    }

    /// The same, once what sealion writes was taken out of `[sst]`.
    pub fn would_use_those_of_server(&self, method: &str) -> bool {
        let mut after = self.clone();
        let [sst, ..] = &mut after.scripts;
        sst.settings.retain(|setting| !["tkey", "tcert", "tca", "ssl_mode"].contains(&&*setting.key));
        after.uses_those_of_server(method)
    }

    fn read_by(&self, method: &str) -> &[Effective] {
        if method == "mariabackup" { &self.scripts } else { self.scripts.split_at(1).0 }
    }

    /// What `encrypt` and `ssl-mode` are set to, in each place that the script of this method reads.
    pub fn switches(&self, method: &str) -> Vec<&Setting> {
        let places = || std::iter::once(&self.server).chain(self.read_by(method));
        ["encrypt", "ssl_mode"]
            .iter()
            .flat_map(|key| places().filter_map(|place| place.effective(key)))
            .filter(|setting| value(setting).is_some())
            .collect()
    }

    /// What one switch asks for. Places that disagree are an error: the script's version decides.
    fn switch(&self, method: &str, key: &str, read: fn(&str) -> Switch) -> Result<Switch, String> {
        let mut found: Option<(Switch, &Setting)> = None;
        for setting in self.switches(method).into_iter().filter(|setting| setting.key == key) {
            let Some(text) = value(setting) else { continue };
            let asks = read(text);
            if asks == Switch::NotUnderstood {
                return Err(format!("{} is not a value that is understood", place(setting)));
            }
            match found {
                Some((other, first)) if other != asks => {
                    return Err(format!(
                        "{} and {} disagree, and which of them counts depends on the version of the script",
                        place(first),
                        place(setting)
                    ));
                }
                _ => found = Some((asks, setting)),
            }
        }
        Ok(found.map_or(Switch::Unset, |(asks, _)| asks))
    }

    /// Whether the script finds a key and a certificate; and whether it finds a CA.
    fn key_and_ca(&self, method: &str) -> (bool, bool) {
        let sst = |key: &str| self.sst().effective(key).and_then(value).is_some();
        if ["tca", "tcapath", "tcert", "tkey"].into_iter().any(sst) {
            return (sst("tcert") && sst("tkey"), sst("tca") || sst("tcapath"));
        }
        let any = |key: &str| {
            let mut places = std::iter::once(&self.server).chain(self.read_by(method));
            places.any(|place| place.effective(key).and_then(value).is_some())
        };
        (any("ssl_cert") && any("ssl_key"), any("ssl_ca") || any("ssl_capath"))
    }

    /// What a transfer would use now: scripts read the files each time.
    pub fn tls(&self, method: &str) -> SstTls {
        let cannot = |why: &str| SstTls::CannotTell(why.to_owned());
        let mode = match self.switch(method, "ssl_mode", of_mode) {
            Ok(mode) => mode,
            Err(why) => return SstTls::CannotTell(why),
        };
        let (has_key, has_ca) = self.key_and_ca(method);
        match method {
            "mariabackup" => match (self.switch(method, "encrypt", of_encrypt), mode) {
                (Err(why), _) => SstTls::CannotTell(why),
                (Ok(Switch::KeyBased), _) => {
                    cannot("encrypt=1 encrypts with a key of its own, which is not TLS and is not checked")
                }
                (Ok(Switch::On), _) | (_, Switch::On) if has_key => SstTls::On,
                (Ok(Switch::On), _) | (_, Switch::On) => {
                    cannot("encrypt or ssl-mode asks for TLS, and no file sets both a key and a certificate")
                }
                _ => SstTls::Off,
            },
            "rsync" | "rsync_wan" => match mode {
                Switch::Off => SstTls::Off,
                _ if has_key => SstTls::On,
                Switch::Unset if !has_ca => SstTls::Off,
                _ => cannot("a CA or ssl-mode asks for TLS, and no file sets both a key and a certificate"),
            },
            "" => cannot("the server does not say its wsrep_sst_method"),
            other => {
                SstTls::CannotTell(format!("what the script of wsrep_sst_method={other} does is not known"))
            }
        }
    }
}

/// `/etc/my.cnf:7 ([mysqld] ssl-mode=DISABLED)`.
fn place(setting: &Setting) -> String {
    format!(
        "{}:{} ([{}] {}={})",
        setting.file.display(),
        setting.line,
        setting.group,
        setting.key_as_written,
        value(setting).unwrap_or("")
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::options::{LocalFiles, Start, default_groups, resolve};

    /// As a server of 10.11 that is started with this file.
    fn options(file: &Path) -> SstOptions {
        let read = |groups: &[String]| {
            resolve(&Start::DefaultsFile(file.to_owned()), groups, &LocalFiles).expect("a sound file")
        };
        SstOptions {
            server: read(&default_groups(true, "10.11", true)),
            scripts: SCRIPT_GROUPS.map(|group| read(&[group.to_owned()])),
        }
    }

    fn check(method: &str, text: &str, expected: &str) -> SstTls {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("my.cnf");
        std::fs::write(&path, text).expect("writable");
        let tls = options(&path).tls(method);
        assert_eq!(tls.word(), expected, "{method}: {text}{tls:?}");
        tls
    }

    const FILES: &str = "tkey=k\ntcert=c\n";

    #[test]
    fn a_switch_counts_wherever_it_stands() {
        let sst = |more: &str| format!("[sst]\n{FILES}{more}\n");
        let and = |more: &str, other: &str| format!("{}{other}\n", sst(more));
        check("rsync", &sst(""), "TLS");
        check("rsync", "[mysqld]\nssl-key=k\nssl-cert=c\n", "TLS");
        check("rsync", "", "plain");
        check("rsync", &and("", "[mysqld]\nloose-ssl-mode=disabled"), "plain");
        check("rsync", &and("", "[galera]\nloose_ssl_mode=DISABLED"), "plain");
        check("rsync", &and("", "[mariadb-10.11]\nloose_ssl_mode=DISABLED"), "plain");
        check("rsync", &sst("ssl-mode=DISABLED"), "plain");
        // Not a group that it reads.
        check("rsync", &and("", "[mariabackup]\nssl-mode=DISABLED"), "TLS");
        check("mariabackup", &sst(""), "plain");
        check("mariabackup", &sst("ssl-mode=VERIFY_CA"), "TLS");
        check("mariabackup", &sst("encrypt=4"), "TLS");
        check("mariabackup", &sst("encrypt=0"), "plain");
        check("mariabackup", &and("", "[server]\nloose-encrypt=3"), "TLS");
        check("mariabackup", &and("", "[mariabackup]\nencrypt=3"), "TLS");
    }

    #[test]
    fn what_depends_on_the_script_or_is_not_understood_cannot_be_told() {
        let sst = |more: &str| format!("[sst]\n{FILES}{more}\n");
        let and = |more: &str, other: &str| format!("{}{other}\n", sst(more));
        let SstTls::CannotTell(why) =
            check("mariabackup", &and("ssl-mode=REQUIRED", "[mysqld]\nloose-ssl-mode=DISABLED"), "unknown")
        else {
            return;
        };
        assert!(why.contains("[mysqld] loose-ssl-mode=DISABLED") && why.contains("disagree"), "{why}");
        check("mariabackup", &and("encrypt=3", "[mysqld]\nloose-encrypt=0"), "unknown");
        check("mariabackup", &sst("encrypt=yes"), "unknown");
        check("mariabackup", &sst("encrypt=1"), "unknown");
        check("mariabackup", "[sst]\nencrypt=2\ntcert=both\n", "unknown");
        // The server's own pair does not count beside anything of [sst].
        check("mariabackup", "[mysqld]\nssl-key=k\nssl-cert=c\n[sst]\ntca=a\nssl-mode=REQUIRED\n", "unknown");
        check("rsync", &sst("ssl-mode=preferred"), "unknown");
        check("rsync", "[sst]\ntca=a\n", "unknown");
        for method in ["mysqldump", "xtrabackup-v2", "wsrep_sst_ours", ""] {
            check(method, &sst("encrypt=4"), "unknown");
        }
    }

    #[test]
    fn a_switch_in_an_included_file_counts() {
        let dir = tempfile::tempdir().expect("tmp");
        let (top, included) = (dir.path().join("my.cnf"), dir.path().join("more.cnf"));
        std::fs::write(&top, format!("[sst]\n{FILES}\n!include {}\n", included.display())).expect("writable");
        std::fs::write(&included, "[mysqld]\nloose-ssl-mode=DISABLED\n").expect("writable");
        let options = options(&top);
        assert_eq!(options.tls("rsync"), SstTls::Off);
        let [switch] = options.switches("rsync")[..] else { panic!("{options:?}") };
        assert_eq!((switch.file.as_path(), switch.line), (included.as_path(), 2));
    }
}
