//! What MySQL does otherwise than MariaDB, as seen on 9.7.4.
//!
//! TLS is on from its first start, with a certificate that it has made. Other files are taken while it runs, or refused as a whole (error
//! 3888); what SET GLOBAL said before is a wish until then, and lost at the next start. `mysqld-auto.cnf` wins over every option file.
//! A login by caching_sha2_password needs TLS, or the server's RSA key, unless the server remembers the account, which it does until it ends.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use secrecy::ExposeSecret;
use server::options::persisted;
use server::{Flavour, NodeView, TlsFiles, TlsRules};
use trust::{Ca, CaSpec, KeyKind, LeafSpec};

use super::disk::{Disk, MYSQL, ROOT};
use super::process::{ClientTls, Live, Server};
use super::world::{DATA_DIR, DEFAULTS_FILE, World};

pub const VERSION: &str = "9.7.4";
pub const SERVER_FILE: &str = "/etc/mysql/mysql.conf.d/mysqld.cnf";
/// What it makes itself, in its data directory: `ssl_ca`, `ssl_cert`, `ssl_key`.
pub const OWN_FILES: [&str; 3] = ["ca.pem", "server-cert.pem", "server-key.pem"];
/// SOURCE_RETRY_COUNT, as it is where nobody has set it: then the receiver stops.
pub const RETRIES_MAX: u32 = 10;
/// When its certificate was made.
const INITIALIZED_UNIX_S: i64 = 1_780_000_000;

fn own_pem() -> &'static [String; 3] {
    static OWN: OnceLock<[String; 3]> = OnceLock::new();
    OWN.get_or_init(|| {
        let name = |what: &str| format!("MySQL_Server_{VERSION}_Auto_Generated_{what}_Certificate");
        let ca = CaSpec { common_name: name("CA"), valid_days: 3650, key: KeyKind::EcP256 };
        let ca = Ca::create(&ca, INITIALIZED_UNIX_S).expect("made");
        let leaf = LeafSpec {
            common_name: name("Server"),
            dns: vec![],
            ips: vec![],
            valid_days: 3650,
            key: KeyKind::EcP256,
            not_before_unix: None,
            not_after_unix: None,
        };
        let leaf = ca.issue(&leaf, INITIALIZED_UNIX_S).expect("issued");
        [ca.cert_pem(), leaf.cert_pem, leaf.key_pem.expose_secret().to_owned()]
    })
}

pub(super) fn write_files(disk: &mut Disk, index: usize) {
    disk.put(DEFAULTS_FILE, "!includedir /etc/mysql/mysql.conf.d/\n", ROOT, 0o644);
    disk.put(
        SERVER_FILE,
        format!(
            "[mysqld]\nuser = mysql\npid-file = /run/mysqld/mysqld.pid\ndatadir = {DATA_DIR}\nbind-address = 0.0.0.0\n\
             # replication\nserver-id = {}\ngtid_mode = ON\nenforce_gtid_consistency = ON\n",
            index + 1
        ),
        ROOT,
        0o644,
    );
    disk.put("/usr/sbin/mysqld", "\x7fELF", ROOT, 0o755);
    for (file, pem) in OWN_FILES.into_iter().zip(own_pem()) {
        let mode = if file == "server-key.pem" { 0o600 } else { 0o644 };
        disk.put(&format!("{DATA_DIR}/{file}"), pem, MYSQL, mode);
    }
}

/// A name without a directory is one of the data directory.
pub(super) fn in_data_dir(path: &str) -> PathBuf {
    Path::new(DATA_DIR).join(path)
}

/// What SET PERSIST writes.
pub fn persist(server: &mut Server, name: &str, value: &str) {
    let text = serde_json::json!({
        "Version": 2,
        "mysql_dynamic_variables": { name: { "Value": value, "Metadata": { "User": "root", "Host": "localhost" } } },
    });
    server.disk.put(&format!("{DATA_DIR}/{}", persisted::FILE), text.to_string(), MYSQL, 0o640);
}

impl Server {
    pub fn is_mysql(&self) -> bool {
        self.flavour == Flavour::MySql
    }

    /// A new context is made as a whole, and checks its own chain.
    ///
    /// Seen: an expired certificate, one of an expired CA, one of a CA that is not in `ssl_ca` and one that is not valid yet are all
    /// `Invalid certificates`; at a start they are a line in the log, and served.
    fn fresh_context(&self, wish: &[String; 3], now_unix_s: i64) -> Result<ClientTls, &'static str> {
        let fresh = self.read_client_tls(wish).ok_or("Unable to get private key")?;
        let is_sound =
            fresh.ca.as_ref().is_none_or(|ca| trust::chain_ok(&fresh.leaf, ca, now_unix_s).is_ok());
        if is_sound { Ok(fresh) } else { Err("Invalid certificates") }
    }
}

impl World {
    /// SET GLOBAL: nothing else happens.
    ///
    /// # Errors
    /// One value is refused, and none is changed.
    pub fn wish_tls_files(
        &mut self,
        index: usize,
        files: &TlsFiles,
        rules: Option<&TlsRules>,
    ) -> Result<(), String> {
        if !self.servers[index].is_mysql() {
            return Err("ERROR 1238 (HY000): Variable 'ssl_ca' is a read only variable".into());
        }
        let is_set = |(option, value): &(&str, &str)| *option != "tls_version" && !value.is_empty();
        if self.servers[index].knows_no_suites
            && let Some((option, value)) = rules.into_iter().flat_map(TlsRules::iter).find(is_set)
        {
            return Err(format!(
                "ERROR 1231 (42000): Variable '{option}' can't be set to the value of '{value}'"
            ));
        }
        let versions = self.servers[index].versions();
        let live = self.servers[index].live.as_mut().ok_or("gone")?;
        if let Some(rules) = rules {
            // An empty one stands for DEFAULT.
            let default = |option: &str| if option == "tls_version" { versions } else { "" };
            let value = |(option, value): (&str, &str)| {
                (option.to_owned(), if value.is_empty() { default(option) } else { value }.to_owned())
            };
            live.rules_wish = rules.iter().map(value).collect();
        }
        live.tls_wish = [&files.ca, &files.cert, &files.key].map(Clone::clone);
        Ok(())
    }

    /// ALTER INSTANCE RELOAD TLS, which rolls back on an error.
    pub(super) fn reload_mysql(&mut self, index: usize) -> Result<(), String> {
        let now_unix_s = self.unix_s();
        let server = &mut self.servers[index];
        let live = server.live.as_ref().ok_or("it does not run")?;
        let (wish, rules) = (live.tls_wish.clone(), live.rules_wish.clone());
        let is_version = rules.get("tls_version").is_some_and(|version| !version.is_empty());
        let fresh =
            if is_version { server.fresh_context(&wish, now_unix_s) } else { Err("TLS version is invalid") };
        let fresh = fresh.map_err(|why| {
            format!(
                "ERROR 3888 (HY000): Failed to set up SSL because of the following SSL library error: {why}"
            )
        })?;
        let live = server.live.as_mut().ok_or("gone")?;
        (live.ssl_paths, live.client, live.rules) = (wish, Some(fresh), rules);
        live.generation += 1;
        Ok(())
    }
}

/// `Nov 24 02:42:34 2027 GMT`
fn openssl_time(unix_s: i64) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = model::clock::rfc3339(u64::try_from(unix_s).unwrap_or_default() * 1000);
    let (date, time) = text.split_once('T').expect("a date and a time");
    let [year, month, day] = date.split('-').collect::<Vec<_>>()[..] else { panic!("{date}") };
    let month: usize = month.parse().expect("a number");
    let day: u8 = day.parse().expect("a number");
    format!("{} {day:>2} {} {year} GMT", MONTHS[month - 1], &time[..8])
}

/// Its variables and status, where they are others than MariaDB's.
pub(super) fn view(server: &Server, live: &Live, view: &mut NodeView) {
    for name in ["have_ssl", "version_ssl_library"] {
        view.variables.remove(name);
    }
    for (name, value) in [("version", VERSION), ("version_comment", "MySQL Community Server - GPL")] {
        view.variables.insert(name.into(), value.into());
    }
    for (status, option) in [
        ("current_tls_version", "tls_version"),
        ("current_tls_cipher", "ssl_cipher"),
        ("current_tls_ciphersuites", "tls_ciphersuites"),
    ] {
        view.status.insert(status.into(), live.rules.get(option).unwrap_or_default().to_owned());
    }
    for (name, value) in ["ssl_ca", "ssl_cert", "ssl_key"].into_iter().zip(&live.tls_wish) {
        view.variables.insert(name.into(), value.clone());
    }
    for (name, value) in
        ["current_tls_ca", "current_tls_cert", "current_tls_key"].into_iter().zip(&live.ssl_paths)
    {
        view.status.insert(name.into(), value.clone());
    }
    let leaf_of = |client: &Option<ClientTls>| {
        let chain = client.as_ref().and_then(|client| trust::inspect(&client.leaf).ok());
        chain.and_then(|chain| chain.into_iter().next())
    };
    let leaf = leaf_of(&live.client);
    let time = |unix_s: Option<i64>| unix_s.map(openssl_time).unwrap_or_default();
    let (begins, ends) =
        (leaf.as_ref().map(|leaf| leaf.not_before_unix), leaf.as_ref().map(|leaf| leaf.not_after_unix));
    view.status.insert("ssl_server_not_before".into(), time(begins));
    view.status.insert("ssl_server_not_after".into(), time(ends));
    if server.shown.contains_key("mysqlx_port") {
        let ends = leaf_of(&live.x_client).map(|leaf| leaf.not_after_unix);
        view.status.insert("mysqlx_ssl_server_not_after".into(), time(ends));
    }
    view.status.insert("tls_library_version".into(), server.tls_library.says.clone());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_times_read_back() {
        for unix_s in [1_795_219_200, 1_796_455_429] {
            assert_eq!(server::view::unix_of(&openssl_time(unix_s)), Some(unix_s));
        }
    }
}
