//! `sealion trust`: certificates of a company's CA, whose key is not here.

use std::path::{Path, PathBuf};

use change_ops::requests;
use clap::{Args, Subcommand};
use model::NodeName;
use site::{Cluster, OpsError};
use trust::KeyKind;

use super::change::rsa_bits;
use crate::options::Global;
use crate::show;

const MODE: u32 = 0o644;

#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// Make keys for the servers, and requests for their certificates
    Csr(CsrArgs),
    /// Take the certificates that a CA has made of these requests
    Import(ImportArgs),
}

#[derive(Debug, Args)]
#[command(
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

pub fn trust(global: &Global, command: &TrustCommand) -> Result<u8, OpsError> {
    match command {
        TrustCommand::Csr(args) => csr(global, args),
        TrustCommand::Import(args) => import(global, args),
    }
}

fn csr(global: &Global, args: &CsrArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.ca_passphrase_file.as_deref())?;
    let key = args.bits.map_or(KeyKind::EcP256, |bits| KeyKind::Rsa { bits });
    let names: Vec<NodeName> = args.names.iter().map(NodeName::new).collect();
    let made = requests::requests(&cluster, &names, key, &passphrase, args.again)?;
    std::fs::create_dir_all(&args.out).map_err(|error| cannot_write(&args.out, &error.to_string()))?;
    for one in &made {
        let path = args.out.join(format!("{}.csr", one.name));
        trust::file::write_atomically(&path, one.csr_pem.as_bytes(), MODE, None)
            .map_err(|error| cannot_write(&path, &error.to_string()))?;
        let state = if one.is_new { "new key" } else { "made before, waits for its certificate" };
        show::out(&format!("{}  {state}", path.display()));
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
