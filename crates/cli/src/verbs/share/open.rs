//! `sealion share open`.

use std::path::PathBuf;

use ::share::keys::{Identity, PublicIdentity, Role};
use ::share::open::OpenRequest;
use clap::Args;
use site::OpsError;

use super::{line, ops};
use crate::show;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion share open orders.share --keys ~/share-reader --owner owner.json --out orders.tsv
  sealion share open o.share --keys mine --owner owner.json --out o.tsv --grant 0123abcd")]
pub struct ShareOpenArgs {
    /// Archive from the owner
    #[arg(value_name = "ARCHIVE")]
    pub archive: PathBuf,
    /// Directory of the reader's keys, from share identity
    #[arg(long, value_name = "DIR")]
    pub keys: PathBuf,
    /// The owner's public.json; an archive of anybody else is refused
    #[arg(long, value_name = "FILE")]
    pub owner: PathBuf,
    /// File for what is in it, which is not there yet (mode 0600)
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Grant, or the beginning of its id; default: the newest for these keys
    #[arg(long, value_name = "ID")]
    pub grant: Option<String>,
}

pub fn open(args: &ShareOpenArgs) -> Result<u8, OpsError> {
    let reader = Identity::read(&args.keys, Role::Reader).map_err(ops)?;
    let owner = PublicIdentity::read(&args.owner, Role::Owner).map_err(ops)?;
    let request = OpenRequest {
        archive: &args.archive,
        out: &args.out,
        reader: &reader,
        keys: &args.keys,
        owner: &owner,
        grant: args.grant.as_deref(),
    };
    let opened = ::share::open::open(&request, &mut |answer| {
        let what = match &answer.what {
            Ok(opens) => format!("gave its share (open number {opens})"),
            Err(failure) => failure.to_string(),
        };
        show::tell(&line(&answer.url, &what));
    });
    let opened = opened.map_err(ops)?;
    show::out(&format!("{}: {}, {} bytes", args.out.display(), opened.table, opened.plain_bytes));
    Ok(0)
}
