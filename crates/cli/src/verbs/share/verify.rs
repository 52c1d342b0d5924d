//! `sealion share verify`.

use std::path::PathBuf;

use ::share::header::{BYTES, Header, Slot};
use ::share::keys::{Identity, PublicIdentity, Role};
use ::share::{archive, shown_time};
use clap::Args;
use site::OpsError;

use super::ops;
use crate::show;

#[derive(Debug, Args)]
#[command(
    after_long_help = "With the owner's public key alone it says whose archive it is and who may open it, by their signature. Whether its rows are whole takes a key:
the owner's (--keys), or share open of a reader.

Examples:
  sealion share verify orders.share --owner owner.json
  sealion share verify orders.share --keys ~/share-owner"
)]
pub struct ShareVerifyArgs {
    /// Archive
    #[arg(value_name = "ARCHIVE")]
    pub archive: PathBuf,
    /// The owner's public.json
    #[arg(long, value_name = "FILE", required_unless_present = "keys", conflicts_with = "keys")]
    pub owner: Option<PathBuf>,
    /// Directory of the owner's keys: every chunk is looked at
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
}

pub fn verify(args: &ShareVerifyArgs) -> Result<u8, OpsError> {
    let (header, owner, rows) = match (&args.keys, &args.owner) {
        (Some(keys), _) => {
            let owner = Identity::read(keys, Role::Owner).map_err(ops)?;
            let (header, plain_bytes) = archive::verify(&args.archive, &owner).map_err(ops)?;
            (header, owner.public, format!("whole: {plain_bytes} bytes, every chunk of them looked at"))
        }
        (None, Some(path)) => {
            let owner = PublicIdentity::read(path, Role::Owner).map_err(ops)?;
            let (_, header) = archive::begin(&args.archive).map_err(ops)?;
            header.is_by(&owner).map_err(ops)?;
            (header, owner, "not looked at: that takes a key".to_owned())
        }
        (None, None) => {
            return Err(OpsError::usage(
                "no key was given",
                "whose archive it is, is not known",
                "give --owner or --keys",
            ));
        }
    };
    show::out(&format!(
        "{}: {}, made on {}",
        args.archive.display(),
        header.core.table,
        shown_time(header.core.created_unix_s)
    ));
    show::out(&format!("header: signed by {}", owner.fingerprint()));
    for slot in &header.slots {
        show::out(&format!("slot:   {}", slot_words(slot, &header, &owner)));
    }
    show::out(&format!("{}{rows}", if header.core.content == BYTES { "bytes:  " } else { "rows:   " }));
    Ok(0)
}

fn slot_words(slot: &Slot, header: &Header, owner: &PublicIdentity) -> String {
    match slot {
        Slot::Unknown(value) if value["kind"] == "umbral" => {
            "a scope, whose readers open it with sealion-share".into()
        }
        Slot::Owner(_) => "the owner".into(),
        Slot::Hpke(_) => "a reader, for good".into(),
        Slot::HpkeShare(signed) => match signed.by(owner) {
            Ok(policy) if policy.core.0 == header.core_hash() => format!(
                "grant {} to {}, until {}, {} of {}",
                policy.id.hex(),
                policy.reader.fingerprint(),
                shown_time(policy.until_unix_s),
                policy.need,
                model::text::counted(policy.proxies.len(), "proxy", "proxies")
            ),
            Ok(policy) => format!("grant {} of another archive, which opens nothing here", policy.id.hex()),
            Err(why) => format!("a grant that is not the owner's: {why}"),
        },
        Slot::Unknown(_) => "of a kind that this version does not know".into(),
    }
}
