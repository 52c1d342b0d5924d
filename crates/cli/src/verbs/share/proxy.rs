//! `sealion share proxy`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use ::share::keys::{PublicIdentity, Role};
use ::share::proxy::serve::Proxy;
use clap::{Args, Subcommand};
use site::OpsError;

use super::ops;
use crate::{interrupt, show};

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum ShareProxyCommand {
    /// Serve grants of one owner over HTTPS, until Ctrl-C
    ///
    /// Serve grants of one owner over HTTPS, until Ctrl-C. Its certificate is made by itself; owner and readers know it by the SHA-256 that is
    /// printed. Grants, counts and a log are in an SQLite file in DIR; shares are encrypted there. GET /metrics is for Prometheus on this machine.
    Serve(ShareProxyServeArgs),
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion share proxy serve /var/lib/share-proxy --owner owner.json
  sealion share proxy serve p1 --owner owner.json --listen 192.0.2.7:7443 --mark /srv/p1.mark")]
pub struct ShareProxyServeArgs {
    /// Directory of this proxy (mode 0700); it is made if it is not there
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Public.json of the owner that it obeys
    #[arg(long, value_name = "FILE")]
    pub owner: PathBuf,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7443")]
    pub listen: SocketAddr,
    /// File in which it keeps where its log ends, outside of DIR and of its backups
    ///
    /// File in which it keeps where its log ends, outside of DIR and of its backups. A database that was brought back from an older backup has
    /// forgotten opens and revocations; with this file the proxy sees that and does not start.
    #[arg(long, value_name = "FILE")]
    pub mark: Option<PathBuf>,
}

pub fn proxy(command: &ShareProxyCommand) -> Result<u8, OpsError> {
    let ShareProxyCommand::Serve(args) = command;
    let owner = PublicIdentity::read(&args.owner, Role::Owner).map_err(ops)?;
    let obeyed = owner.fingerprint();
    let proxy = Proxy::new(&args.dir, owner, args.listen).map_err(ops)?;
    let proxy = match &args.mark {
        Some(mark) => proxy.marked(mark, &args.dir).map_err(ops)?,
        None => proxy,
    };
    let stop = interrupt::flag()?;
    show::out(&format!("obeys the owner {obeyed}"));
    if proxy.address.ip().is_unspecified() {
        show::out(&format!("--proxy https://HOST:{}#{}", proxy.address.port(), proxy.certificate.hex()));
    } else {
        show::out(&format!("--proxy {}", proxy.url()));
    }
    show::tell(&format!("listening on {}; Ctrl-C ends it", proxy.address));
    proxy.run(move || stop.load(Ordering::Relaxed)).map_err(ops)?;
    Ok(0)
}
