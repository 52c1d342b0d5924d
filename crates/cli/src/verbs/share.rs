//! `sealion share`: a table for somebody else, for as long as its owner says. A module for each part.

mod audit;
mod create;
mod grant;
mod keys;
mod list;
mod open;
mod proxy;
mod revoke;
mod verify;

use ::share::ShareError;
use ::share::client::Failure;
use ::share::grant::ProxyUrl;
use ::share::proxy::protocol::StateAnswer;
use clap::Subcommand;
use site::OpsError;

use crate::options::Global;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum ShareCommand {
    /// Make the keys of an owner, who shares tables
    Init(keys::ShareInitArgs),
    /// Make the keys of a reader, or show their public part
    Identity(keys::ShareIdentityArgs),
    /// Show the fingerprint of a public key, to compare it before it is used
    Fingerprint(keys::ShareFingerprintArgs),
    /// Write rows of a table, or a dump, into an encrypted archive
    ///
    /// Write rows of a table, or what a program writes, into an encrypted archive. Rows come over TLS (or a unix socket), of one snapshot, and
    /// are never on the disk in cleartext. Nobody but the owner can open the archive until it is granted to a reader.
    Create(Box<create::ShareCreateArgs>),
    /// Allow a reader to open an archive, until a date and so many times
    ///
    /// Allow a reader to open an archive, until a date and so many times. The key of the archive is cut into shares, one for each proxy, and
    /// the reader needs --need of them. Every share is sealed to the reader: a proxy sees neither rows nor the key.
    Grant(grant::ShareGrantArgs),
    /// Run a proxy, which keeps shares and gives them to readers
    #[command(subcommand)]
    Proxy(proxy::ShareProxyCommand),
    /// Open an archive as its reader
    ///
    /// Open an archive as its reader. Proxies are asked one after the other until enough have given their share; each one that gives it
    /// counts it. Rows are written as mariadb --batch prints them, with NULL as \N.
    Open(open::ShareOpenArgs),
    /// End a grant: the proxies give nothing more
    ///
    /// End a grant: the proxies give nothing more. What the reader has opened before stays with the reader, and so does the key of that
    /// archive.
    Revoke(revoke::ShareRevokeArgs),
    /// List grants, and what their proxies say of them
    List(list::ShareListArgs),
    /// Show the logs of the proxies, and whether they are whole
    Audit(audit::ShareAuditArgs),
    /// Check an archive: whose it is, who may open it, whether it is whole
    Verify(verify::ShareVerifyArgs),
}

pub fn share(global: &Global, command: &ShareCommand) -> Result<u8, OpsError> {
    // A core would have keys and rows in it.
    ::share::without_core().map_err(ops)?;
    match command {
        ShareCommand::Init(args) => keys::init(args),
        ShareCommand::Identity(args) => keys::identity(args),
        ShareCommand::Fingerprint(args) => keys::fingerprint(args),
        ShareCommand::Create(args) => create::create(args),
        ShareCommand::Grant(args) => grant::grant(args),
        ShareCommand::Proxy(command) => proxy::proxy(command),
        ShareCommand::Open(args) => open::open(args),
        ShareCommand::Revoke(args) => revoke::revoke(args),
        ShareCommand::List(args) => list::list(global, args),
        ShareCommand::Audit(args) => audit::audit(global, args),
        ShareCommand::Verify(args) => verify::verify(args),
    }
}

/// The exit code follows from which one it is.
fn ops(error: ShareError) -> OpsError {
    match error {
        ShareError::Usage { what, why, next } => OpsError::Usage { what, why, next },
        ShareError::Unreachable { what, why, next } => OpsError::CannotLook { what, why, next },
        ShareError::Refused { .. } => OpsError::Refused(error.to_string()),
        ShareError::Internal { what, why } => OpsError::Internal { what, why },
    }
}

/// What a proxy says of a grant, in a few words.
fn state_words(answer: &Result<StateAnswer, Failure>) -> String {
    match answer {
        Ok(state) => {
            if state.was_never_held {
                return "had no such grant, and takes it no more".into();
            }
            let state_word = if state.is_revoked { "revoked" } else { "held" };
            let times = if state.opens == 1 { "time" } else { "times" };
            format!("{state_word}, opened {} {times}", state.opens)
        }
        Err(failure) => failure.to_string(),
    }
}

fn line(url: &ProxyUrl, what: &str) -> String {
    format!("{url}: {what}")
}
