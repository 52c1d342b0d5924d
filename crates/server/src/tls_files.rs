//! The certificate files that a server is set to use, as they are on its disk: whether it could start or reload with them.

use std::path::{Path, PathBuf};

use host::ReadHost;
use model::Value;
use trust::usable::{self, Files, Judged, OnDisk, Role};

use crate::galera::GaleraFacts;
use crate::sst::{SstOptions, SstTls};
use crate::view::NodeView;

const PEM_BYTES_MAX: u64 = 1024 * 1024;

/// How somebody else finds out.
pub const HOW: &str = "openssl verify -purpose sslserver (and sslclient for Galera) -CAfile CA CERTIFICATE; openssl pkey -pubout -in KEY; \
     openssl x509 -noout -pubkey -in CERTIFICATE";

/// Those of members first: they have to hold as more.
pub fn of(view: &NodeView) -> Vec<Files> {
    // MySQL's own names (server-cert.pem) are of files in its data directory.
    let datadir = Path::new(view.variable("datadir").unwrap_or_default());
    let path = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(|text| datadir.join(text));
    let files = |what, role, of: [Option<PathBuf>; 3], has_passphrase| {
        let [cert, key, ca] = of;
        Some(Files { what, role, cert: cert?, key: key?, ca, has_passphrase })
    };
    let mut all = Vec::new();
    if view.not_galera().is_none() {
        let options = view.provider_options();
        let of = ["socket.ssl_cert", "socket.ssl_key", "socket.ssl_ca"].map(|name| path(options.get(name)));
        let has_passphrase = options.get("socket.ssl_password_file").is_some_and(|file| !file.is_empty());
        all.extend(files("Galera", Role::Member, of, has_passphrase));
    }
    let mode = view.variable("group_replication_ssl_mode").unwrap_or_default();
    // Other modes do not verify.
    let is_group = ["VERIFY_CA", "VERIFY_IDENTITY"].iter().any(|one| mode.eq_ignore_ascii_case(one));
    let (what, role) = if is_group { ("Group Replication", Role::Member) } else { ("clients", Role::Server) };
    let of = ["ssl_cert", "ssl_key", "ssl_ca"].map(|name| path(view.variable(name)));
    let has_passphrase = view.variable("ssl_passphrase").is_some_and(|text| !text.is_empty());
    all.extend(files(what, role, of, has_passphrase));
    all
}

/// Those that scripts of state transfers read at each transfer, where they have names of their own.
pub fn of_sst(view: &NodeView, sst: &SstOptions) -> Option<Files> {
    let datadir = Path::new(view.variable("datadir").unwrap_or_default());
    let path = |key: &str| {
        let value = sst.sst().effective(key)?.value.as_ref().filter(|value| !value.is_empty())?;
        Some(datadir.join(value))
    };
    let is_on = view.not_galera().is_none() && sst.tls(view.sst_method()) == SstTls::On;
    let (cert, key) = is_on.then(|| path("tcert").zip(path("tkey"))).flatten()?;
    Some(Files {
        what: "state transfers",
        role: Role::Member,
        cert,
        key,
        ca: path("tca"),
        has_passphrase: false,
    })
}

/// That of a replica for its source, read when the channel connects again.
pub fn of_channel(view: &NodeView, cert: &Path, key: &Path) -> Option<Files> {
    let datadir = Path::new(view.variable("datadir").unwrap_or_default());
    let is_set = |path: &Path| !path.as_os_str().is_empty();
    (is_set(cert) && is_set(key)).then(|| Files {
        what: "replication",
        role: Role::Client,
        cert: datadir.join(cert),
        key: datadir.join(key),
        ca: None,
        has_passphrase: false,
    })
}

/// What the server cannot use of them, and of `others`, and why. `in_use` is the certificate (PEM) that its client port shows now; `uid` its user.
/// `None`: it is set to use no files.
pub fn unusable(
    view: &NodeView,
    others: Vec<Files>,
    host: &dyn ReadHost,
    uid: Option<u32>,
    in_use: Option<&str>,
    now_unix_s: i64,
) -> Option<Value> {
    let mut read = |path: &Path| {
        let failed = |error: host::HostError| error.to_string().lines().next().unwrap_or_default().to_owned();
        let Some(bytes) = host.read(path, PEM_BYTES_MAX).map_err(failed)? else { return Ok(None) };
        let facts = host.facts(path).map_err(failed)?;
        let is_kept = facts.zip(uid).is_some_and(|(facts, uid)| facts.keeps_out(uid));
        Ok(Some(OnDisk::new(bytes, is_kept)))
    };
    let mut all = of(view);
    let client_cert = all.iter().rfind(|files| files.what != "Galera").map(|files| files.cert.clone());
    all.extend(others);
    let (mut bad, mut unknown, mut said) = (Vec::new(), Vec::new(), Vec::new());
    for files in &all {
        let in_use = in_use.filter(|_| client_cert.as_ref() == Some(&files.cert));
        match usable::judge(files, in_use.map(str::as_bytes), &mut read, now_unix_s) {
            Judged::Usable | Judged::Missing => {}
            // One file for both ends is named once.
            Judged::Unusable(_) if said.contains(&&files.cert) => {}
            Judged::Unusable(why) => {
                said.push(&files.cert);
                bad.push(format!("for {}: {why}", files.what));
            }
            Judged::CannotTell(why) => unknown.push(format!("for {}: {why}", files.what)),
        }
    }
    Some(match (bad.as_slice(), unknown.as_slice()) {
        _ if all.is_empty() => return None,
        ([], []) => Value::Absent,
        ([], unknown) => Value::Unknown(unknown.join("; ")),
        (bad, _) => Value::Text(bad.join("; ")),
    })
}
