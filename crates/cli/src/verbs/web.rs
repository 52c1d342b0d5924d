//! `sealion web`.

use std::net::SocketAddr;
use std::path::PathBuf;

use ::web::{Token, Web};
use clap::Args;
use net::ExposeSecret;
use site::{Cluster, OpsError};

use crate::interrupt;
use crate::options::Global;

#[derive(Debug, Args)]
#[command(
    after_long_help = "The pages change nothing. The address that is printed logs one browser in, once, for twelve hours.

Examples:
  sealion web
  sealion web --store /var/lib/sealion/runs.sqlite --listen 127.0.0.1:9000

Exit codes: 0 it was ended, 2 nobody may listen at that address, or no store was named."
)]
pub struct WebArgs {
    /// Show what is kept in FILE
    ///
    /// The default is the store of the inventory's state directory, where `sealion watch` keeps states.
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Listen at this loopback address
    ///
    /// The pages travel in cleartext, so only addresses of this machine are taken. From another one: ssh -L 9543:127.0.0.1:9543 HOST, with
    /// the same port at both ends. Port 0 is any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9543")]
    pub listen: SocketAddr,
}

pub fn web(global: &Global, args: &WebArgs) -> Result<u8, OpsError> {
    let listen = args.listen;
    if !listen.ip().is_loopback() {
        return Err(OpsError::usage(
            format!("{listen} is not a loopback address"),
            "the pages say which links can be read, and travel in cleartext",
            format!(
                "--listen 127.0.0.1:{0}, and from another machine: ssh -L {0}:127.0.0.1:{0} HOST",
                listen.port()
            ),
        ));
    }
    let store = match &args.store {
        Some(store) => store.clone(),
        None if global.inventory.exists() => site::runs::path(&Cluster::read(&global.inventory)?),
        None => {
            return Err(OpsError::usage(
                "no store was named",
                format!(
                    "there is no inventory {} that says where states are kept",
                    global.inventory.display()
                ),
                "sealion web --store FILE, or --inventory FILE of a cluster that sealion watch watches",
            ));
        }
    };
    let token = Token::new().map_err(|error| OpsError::internal("the system has no random bytes", error))?;
    let web = Web::bind(listen, store, token).map_err(|error| {
        OpsError::usage(
            format!("cannot listen on {listen}"),
            error.to_string(),
            "end what listens there, or choose another port: --listen 127.0.0.1:0 takes any free one",
        )
    })?;
    let stop = interrupt::flag()?;
    println!("{}", web.login_url().expose_secret());
    web.serve(&stop).map_err(|error| OpsError::internal("cannot serve pages any longer", error))?;
    Ok(0)
}
