//! `sealion trust`: certificates of a company's CA, whose key is not here; certificates for clients.

use std::path::{Path, PathBuf};

use change_ops::roll::AccountName;
use change_ops::{client_certs, requests};
use clap::{Args, Subcommand};
use model::NodeName;
use report::shape::{
    TRUST_SCHEMA_ID, TrustCertificateRow, TrustReport, TrustRequestRow, TrustRevokedRow, TrustTakerRow,
};
use site::{Cluster, OpsError};
use trust::KeyKind;

use super::change::rsa_bits;
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

const MODE: u32 = 0o644;

#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// Make keys for the servers, and requests for their certificates
    Csr(CsrArgs),
    /// Take the certificates that a CA has made of these requests
    Import(ImportArgs),
    /// Make a key and a certificate for an application
    Client(ClientArgs),
    /// Revoke an application's certificate
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Each server of the inventory gets a key, which is kept encrypted in `ca_dir`, and a request NAME.csr with its names and addresses, as
server and as client: a Galera node is both. Have the requests signed, then import what comes back. A request that waits for its certificate
is written again as it is.

Nothing is changed on a server: the next `sealion enable`, `sealion rotate` or `sealion join` places what was imported.

Examples:
  sealion trust csr --out requests
  sealion trust csr db4 --out requests"
)]
pub struct CsrArgs {
    /// Servers and arbitrators; default: all of the inventory
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Directory for the requests; default: the current one
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub out: PathBuf,
    /// Make a new key although a request waits for its certificate
    ///
    /// Make a new key although a request waits for its certificate. What is signed for the old one cannot be imported any more.
    #[arg(long)]
    pub again: bool,
    /// Use RSA keys of this size, not ECDSA P-256
    #[arg(short, long, value_name = "BITS", value_parser = rsa_bits)]
    pub bits: Option<u32>,
    /// File with the passphrase of the CA key (mode 0600)
    ///
    /// File with the passphrase that encrypts the keys (mode 0600), as for a CA of the cluster's own.
    #[arg(long, value_name = "FILE")]
    pub ca_passphrase_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "The files have the certificates of the servers in any order, with the intermediates of the CA. Each belongs to the request with its
key, and must hold as server and as client, with all names of the request, up to the root. One that does not: nothing is imported.

The root is given once, with --ca or among the files. Later certificates must lead to the same one.

Examples:
  sealion trust import signed/*.pem --ca company-root.pem
  sealion trust import renewed.pem"
)]
pub struct ImportArgs {
    /// PEM files with certificates
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// PEM file with the root of the CA
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "The certificate is signed by a CA of clients, which is made with the first one in `ca_dir/clients`. Servers trust it for clients only: with a
certificate of it nobody becomes a node of a Galera cluster. They come to trust it by `sealion enable clients`; MySQL without a restart, MariaDB with
one restart the first time.

An account takes it after the ALTER USER that is printed. A second certificate of the same name has the same subject, so that both are taken until
the old one ends or is revoked.

Examples:
  sealion trust client app --out /root/app-tls
  sealion trust client report --account report@10.0.0.% --days 90"
)]
pub struct ClientArgs {
    /// Name of the application: letters, digits, '.', '_' and '-'
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Directory for NAME-key.pem and NAME-cert.pem; default: the current one
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub out: PathBuf,
    /// Validity in days, not longer than the CA of clients
    #[arg(long, value_name = "DAYS", default_value_t = 397)]
    pub days: u32,
    /// Its account, for the statement that is printed; default: NAME@%
    #[arg(long, value_name = "USER@HOST")]
    pub account: Option<AccountName>,
    /// Use an RSA key of this size, not ECDSA P-256
    #[arg(short, long, value_name = "BITS", value_parser = rsa_bits)]
    pub bits: Option<u32>,
    /// File with the passphrase of the CA key (mode 0600)
    #[arg(long, value_name = "FILE")]
    pub ca_passphrase_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Servers are given no list of revoked certificates (ssl_crl): one that is out of date refuses every client with a certificate, replicas too. A
certificate is refused because no account requires its subject any more: the next certificate of that name has another subject (/CN=app, then /CN=app G2).
Until the printed ALTER USER is run, the certificate is still taken. Sessions that are open stay open.

All certificates with the same subject are revoked. The accounts of the servers are read, and those that still take it are named. The certificate of a
server cannot be revoked: `sealion rotate ca`.

Examples:
  sealion trust revoke app
  sealion trust revoke app-cert.pem"
)]
pub struct RevokeArgs {
    /// File with the certificate, its serial, or the name that it was made for
    #[arg(value_name = "FILE|SERIAL|NAME")]
    pub which: String,
}

pub fn trust(global: &Global, command: &TrustCommand) -> Result<u8, OpsError> {
    match command {
        TrustCommand::Csr(args) => csr(global, args),
        TrustCommand::Import(args) => import(global, args),
        TrustCommand::Client(args) => client(global, args),
        TrustCommand::Revoke(args) => revoke(global, args),
    }
}

/// For programs: true where that is wished, and all that is printed then.
fn printed(global: &Global, cluster: &Cluster, command: &str, report: TrustReport) -> Result<bool, OpsError> {
    if global.format != Format::Json {
        return Ok(false);
    }
    let report = TrustReport {
        schema: TRUST_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        cluster: cluster.name.clone(),
        command: command.into(),
        ..report
    };
    let text = serde_json::to_string_pretty(&report)
        .map_err(|error| OpsError::internal("cannot write JSON", error))?;
    show::out(&text);
    Ok(true)
}

fn csr(global: &Global, args: &CsrArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.ca_passphrase_file.as_deref())?;
    let key = args.bits.map_or(KeyKind::EcP256, |bits| KeyKind::Rsa { bits });
    let names: Vec<NodeName> = args.names.iter().map(NodeName::new).collect();
    let made = requests::requests(&cluster, &names, key, &passphrase, args.again)?;
    std::fs::create_dir_all(&args.out).map_err(|error| cannot_write(&args.out, &error.to_string()))?;
    let mut requests = Vec::new();
    for one in &made {
        let path = args.out.join(format!("{}.csr", one.name));
        trust::file::write_atomically(&path, one.csr_pem.as_bytes(), MODE, None)
            .map_err(|error| cannot_write(&path, &error.to_string()))?;
        let (name, file) = (one.name.clone(), path.display().to_string());
        requests.push(TrustRequestRow { name, file, is_new: one.is_new });
    }
    let report = TrustReport { requests: requests.clone(), ..TrustReport::default() };
    if printed(global, &cluster, "csr", report)? {
        return Ok(0);
    }
    for one in &requests {
        let state = if one.is_new { "new key" } else { "made before, waits for its certificate" };
        show::out(&format!("{}  {state}", one.file));
    }
    show::out("");
    show::out("next: have them signed as TLS server and TLS client, with the names that they ask for; then");
    show::out("      sealion trust import FILE... --ca ROOT");
    Ok(0)
}

fn cannot_write(path: &Path, why: &str) -> OpsError {
    OpsError::usage(
        format!("{} is not written", path.display()),
        why.lines().next().unwrap_or(why),
        "the keys are kept: the same command with another --out DIR writes the same requests",
    )
}

fn import(global: &Global, args: &ImportArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let taken = requests::import(&cluster, &args.files, args.ca.as_deref())?;
    let certificates = taken.iter().map(|one| TrustCertificateRow {
        name: one.name.clone(),
        serial: one.info.serial_hex.clone(),
        not_after_unix: one.not_after_unix,
        ..TrustCertificateRow::default()
    });
    let report = TrustReport { certificates: certificates.collect(), ..TrustReport::default() };
    if printed(global, &cluster, "import", report)? {
        return Ok(0);
    }
    for one in &taken {
        let until = report::figures::day(one.not_after_unix);
        show::out(&format!("{}  serial {}, valid until {until}", one.name, one.info.serial_hex));
    }
    show::out("");
    show::out(
        "next: sealion plan enable; where servers use certificates of this CA already: sealion plan rotate",
    );
    Ok(0)
}

fn client(global: &Global, args: &ClientArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.ca_passphrase_file.as_deref())?;
    let key = args.bits.map_or(KeyKind::EcP256, |bits| KeyKind::Rsa { bits });
    let made = client_certs::make(&cluster, &args.name, &args.out, args.days, key, &passphrase)?;
    let of_name = || AccountName { user: args.name.clone(), host: "%".into() };
    let account = args.account.clone().unwrap_or_else(of_name);
    let requires = &made.leaf.requires;
    let statement = client_certs::require(&account, &requires.subject, &requires.issuer);
    let certificate = TrustCertificateRow {
        name: args.name.clone(),
        serial: made.leaf.serial_hex.clone(),
        not_after_unix: made.leaf.not_after_unix,
        file: Some(made.cert.display().to_string()),
        key_file: Some(made.key.display().to_string()),
    };
    let report = TrustReport {
        certificates: vec![certificate],
        statements: vec![statement.clone()],
        not_asked: made.not_asked.clone(),
        ..TrustReport::default()
    };
    let code = if made.not_asked.is_empty() { 0 } else { 3 };
    if printed(global, &cluster, "client", report)? {
        return Ok(code);
    }
    let until = report::figures::day(made.leaf.not_after_unix);
    show::out(&format!("{}  serial {}, valid until {until}", made.cert.display(), made.leaf.serial_hex));
    show::out(&format!("{}  its key, mode 0600", made.key.display()));
    show::out("");
    show::out(
        "next: sealion plan enable clients    servers come to trust the CA of clients; nothing is to do where they do",
    );
    show::out(&format!("      {statement}"));
    show::out("");
    show::out("the client, in its option file, with the paths that they have there:");
    for (key, path) in [("ssl-ca", &made.servers_ca), ("ssl-cert", &made.cert), ("ssl-key", &made.key)] {
        show::out(&format!("  {key}={}", path.display()));
    }
    show::out(
        "  # and it verifies the server: ssl-mode=VERIFY_IDENTITY (mysql), ssl-verify-server-cert (mariadb)",
    );
    for why in &made.not_asked {
        show::tell(&format!("not asked whether it takes this certificate for a member's: {why}"));
    }
    Ok(code)
}

fn revoke(global: &Global, args: &RevokeArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let revoked = client_certs::revoke(&cluster, &args.which)?;
    let of = &revoked.requires;
    let takers = client_certs::takers(&cluster, of);
    let code = if takers.not_asked.is_empty() { 0 } else { 3 };
    if printed(global, &cluster, "revoke", of_revoked(&revoked, &takers))? {
        return Ok(code);
    }
    show::out(&format!("revoked: {}, serial {}", of.subject, revoked.serials.join(", ")));
    show::out(&format!("the next certificate of {} has the subject {}", revoked.name, revoked.next_subject));
    show::out("");
    if takers.accounts.is_empty() && takers.not_asked.is_empty() {
        show::out("no account of these servers takes it");
    }
    if !takers.accounts.is_empty() {
        show::out("these accounts take it until they are changed:");
    }
    for taker in &takers.accounts {
        let servers: Vec<String> = taker.servers.iter().map(ToString::to_string).collect();
        let name = &taker.account;
        if taker.takes_all {
            show::out(&format!(
                "  {name} on {}; it names no subject, so it takes every certificate",
                servers.join(", ")
            ));
            show::out(&format!(
                "    name the one that is its own: ALTER USER {name} REQUIRE SUBJECT '...' AND ISSUER '...';"
            ));
        } else {
            show::out(&format!("  {name} on {}", servers.join(", ")));
            show::out(&format!("    {}", client_certs::require(name, &revoked.next_subject, &of.issuer)));
        }
        show::out(&format!("    or, to let nobody in: ALTER USER {name} ACCOUNT LOCK;"));
    }
    if !takers.accounts.is_empty() {
        show::out("");
        show::out(&format!(
            "next: sealion trust client {}, then the statements; KILL ends sessions that are open",
            revoked.name
        ));
    }
    for why in &takers.not_asked {
        show::tell(&format!("not asked who takes it: {why}"));
    }
    Ok(code)
}

fn of_revoked(revoked: &trust::Revoked, takers: &client_certs::Takers) -> TrustReport {
    let of = &revoked.requires;
    let rows = takers.accounts.iter().map(|taker| TrustTakerRow {
        account: taker.account.to_string(),
        servers: taker.servers.iter().map(ToString::to_string).collect(),
        takes_all: taker.takes_all,
    });
    // What is an account's own that takes every certificate, only a person knows.
    let named = takers.accounts.iter().filter(|taker| !taker.takes_all);
    let statements =
        named.map(|taker| client_certs::require(&taker.account, &revoked.next_subject, &of.issuer));
    TrustReport {
        revoked: Some(TrustRevokedRow {
            name: revoked.name.clone(),
            subject: of.subject.clone(),
            serials: revoked.serials.clone(),
            next_subject: revoked.next_subject.clone(),
            takers: rows.collect(),
        }),
        statements: statements.collect(),
        not_asked: takers.not_asked.clone(),
        ..TrustReport::default()
    }
}
