//! `sealion web`.

use std::net::SocketAddr;
use std::path::PathBuf;

use ::web::{TlsFiles, Token, Web};
use clap::Args;
use net::ExposeSecret;
use nix::unistd::{User, geteuid};
use site::{Cluster, OpsError};

use crate::options::Global;
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(
    after_long_help = "The pages change nothing. The address that is printed logs one browser in, once, for twelve hours. At a unix socket, and over
TLS with a client certificate, nobody needs it: who comes in is known.

Examples:
  sealion web
  sealion web --store /var/lib/sealion/runs.sqlite --listen 127.0.0.1:9000
  sealion web --socket /run/sealion/web.sock --allow-user www-data
  sealion web --listen 10.0.0.5:9543 --tls-cert web.pem --tls-key key.pem --client-ca ca.pem

Exit codes: 0 it was ended, 2 nobody may listen at that address, a file of TLS is not right, or no store was named."
)]
pub struct WebArgs {
    /// Show what is kept in FILE
    ///
    /// The default is the store of the inventory's state directory, where `sealion watch` keeps states.
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Listen at this address: a loopback one, unless clients need a certificate
    ///
    /// Without TLS the pages travel in cleartext, so only addresses of this machine are taken. From another one: ssh -L
    /// 9543:127.0.0.1:9543 HOST, with the same port at both ends; or --tls-cert, --tls-key and --client-ca. Port 0 is any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9543")]
    pub listen: SocketAddr,
    /// Listen at a unix socket instead, for this user and root
    ///
    /// The kernel says who is at the other end; anyone else is refused, and no token is needed. From another machine: ssh -L
    /// 9543:/run/sealion/web.sock HOST, which lets in whoever reaches that port of your machine.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["listen", "tls_cert"])]
    pub socket: Option<PathBuf>,
    /// Also let this user in at the socket, by name or number
    #[arg(long, value_name = "USER", requires = "socket")]
    pub allow_user: Vec<String>,
    /// Speak TLS with this certificate and its chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of --tls-cert (PEM, mode 0600)
    #[arg(long, value_name = "FILE", requires = "client_ca")]
    pub tls_key: Option<PathBuf>,
    /// Let in clients with a certificate of this CA (PEM), and nobody else
    ///
    /// Every certificate of it counts, so take a CA that issues them to people who may read these pages, and not the one of your
    /// applications. Lists of revoked certificates are not read.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub client_ca: Option<PathBuf>,
    /// A name under which browsers reach this host
    ///
    /// Requests for other names are refused, so that no foreign site can point its name here. The address of --listen, and those of
    /// loopback, need not be named.
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
}

impl WebArgs {
    fn tls_files(&self) -> Option<TlsFiles> {
        Some(TlsFiles {
            certificate: self.tls_cert.clone()?,
            key: self.tls_key.clone()?,
            client_ca: self.client_ca.clone()?,
        })
    }
}

/// A user by name or number.
fn uid_of(user: &str) -> Result<u32, OpsError> {
    let unknown = |why: String| {
        OpsError::usage(
            format!("--allow-user {user:?} is nobody here"),
            why,
            "name a user of this machine, or give a number",
        )
    };
    if let Ok(uid) = user.parse() {
        return Ok(uid);
    }
    match User::from_name(user) {
        Ok(Some(found)) => Ok(found.uid.as_raw()),
        Ok(None) => Err(unknown("the system knows no user of this name".into())),
        Err(error) => Err(unknown(format!("the system cannot tell: {error}"))),
    }
}

fn bind(args: &WebArgs, store: PathBuf) -> Result<Web, OpsError> {
    if let Some(path) = &args.socket {
        let own = geteuid().as_raw();
        let mut uids = vec![own, 0];
        for user in &args.allow_user {
            uids.push(uid_of(user)?);
        }
        return Web::bind_socket(path, uids, own, store).map_err(|error| {
            OpsError::usage(
                format!("cannot listen at {}", path.display()),
                error.to_string(),
                "end what listens there, or name another path, in a directory that this user can write: --socket PATH",
            )
        });
    }
    let in_use = |error: std::io::Error| {
        OpsError::usage(
            format!("cannot listen on {}", args.listen),
            error.to_string(),
            "end what listens there, or choose another port: --listen 127.0.0.1:0 takes any free one",
        )
    };
    if let Some(files) = args.tls_files() {
        let config = ::web::tls_config(&files).map_err(|why| {
            OpsError::usage(
                "TLS cannot be spoken with these files",
                why,
                "--tls-cert, --tls-key and --client-ca name PEM files; the key has no passphrase and mode 0600",
            )
        })?;
        return Web::bind_tls(args.listen, config, store).map_err(in_use);
    }
    let token = Token::new().map_err(|error| OpsError::internal("the system has no random bytes", error))?;
    Web::bind(args.listen, store, token).map_err(in_use)
}

pub fn web(global: &Global, args: &WebArgs) -> Result<u8, OpsError> {
    let listen = args.listen;
    let is_guarded = args.socket.is_some() || args.tls_files().is_some();
    if !listen.ip().is_loopback() && !is_guarded {
        return Err(OpsError::usage(
            format!("{listen} is not a loopback address"),
            "the pages say which links can be read, and travel in cleartext",
            format!(
                "--tls-cert, --tls-key and --client-ca; or --listen 127.0.0.1:{0}, and from another machine: ssh -L {0}:127.0.0.1:{0} HOST",
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
    let web = bind(args, store)?.names(args.host.clone());
    let stop = interrupt::flag()?;
    match (web.login_url(), web.address(), &args.socket) {
        (Some(url), ..) => show::out(url.expose_secret()),
        (None, Some(address), _) => show::out(&format!("https://{address}/")),
        (None, None, path) => {
            show::out(&path.as_ref().map_or_else(String::new, |path| format!("unix:{}", path.display())));
        }
    }
    web.serve(&stop).map_err(|error| OpsError::internal("cannot serve pages any longer", error))?;
    Ok(0)
}
