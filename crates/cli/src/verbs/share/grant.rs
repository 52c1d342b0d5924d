//! `sealion share grant`.

use std::path::{Path, PathBuf};

use ::share::client::Failure;
use ::share::grant::{ProxyUrl, Terms};
use ::share::keys::{Identity, PublicIdentity, Role};
use ::share::{owner, shown_time, until};
use clap::Args;
use site::OpsError;

use super::{line, ops};
use crate::show;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion share grant o.share --keys own --reader eve.json --proxies p --need 2 --until 2026-12-04
  sealion share grant o.share --keys own --reader eve.json --for-good

A proxy is https://HOST:PORT#SHA256, as share proxy serve prints it. A date counts to its end in UTC.")]
pub struct ShareGrantArgs {
    /// Archive; it is written anew with the grant in it
    #[arg(value_name = "ARCHIVE")]
    pub archive: PathBuf,
    /// Directory of the owner's keys
    #[arg(long, value_name = "DIR")]
    pub keys: PathBuf,
    /// The reader's public.json
    #[arg(long, value_name = "FILE")]
    pub reader: PathBuf,
    /// Last day (2026-12-04), or time (2026-12-04T18:00:00Z)
    #[arg(long, value_name = "DATE", value_parser = until, required_unless_present = "for_good")]
    pub until: Option<i64>,
    /// How often each proxy gives its share
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_opens: u32,
    /// How many of the proxies the reader needs
    #[arg(long, value_name = "M", required_unless_present = "for_good", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub need: Option<u8>,
    /// A proxy; once for each
    #[arg(long = "proxy", value_name = "URL", required_unless_present_any = ["for_good", "proxies"])]
    pub proxy: Vec<ProxyUrl>,
    /// File of proxies, one a line; empty lines and those that begin with # are skipped
    #[arg(long, value_name = "FILE")]
    pub proxies: Option<PathBuf>,
    /// Without proxies: no date, no count, and no way back
    #[arg(long, conflicts_with_all = ["until", "max_opens", "need", "proxy", "proxies"])]
    pub for_good: bool,
}

pub fn grant(args: &ShareGrantArgs) -> Result<u8, OpsError> {
    let keys = Identity::read(&args.keys, Role::Owner).map_err(ops)?;
    let reader = PublicIdentity::read(&args.reader, Role::Reader).map_err(ops)?;
    let told_reader = format!("reader: {}", reader.fingerprint());
    if args.for_good {
        owner::grant_for_good(&keys, &args.archive, &reader).map_err(ops)?;
        show::out(&told_reader);
        show::out("the reader can open this archive for ever: no proxy is asked, and it cannot be revoked");
        return Ok(0);
    }
    let mut proxies = args.proxy.clone();
    if let Some(path) = &args.proxies {
        proxies.extend(proxies_of(path)?);
    }
    let terms = Terms {
        until_unix_s: args.until.unwrap_or_default(),
        max_opens: args.max_opens,
        need: args.need.unwrap_or_default(),
        proxies,
    };
    let (policy, answers) = owner::grant(&args.keys, &keys, &args.archive, &reader, &terms).map_err(ops)?;
    show::out(&format!("grant {}", policy.id.hex()));
    show::out(&told_reader);
    show::out(&format!(
        "until {}, {} at each proxy, {} of {} needed",
        shown_time(policy.until_unix_s),
        model::text::counted(policy.max_opens, "open", "opens"),
        policy.need,
        model::text::counted(policy.proxies.len(), "proxy", "proxies")
    ));
    for (url, answer) in &answers {
        let what = match answer {
            Ok(()) => "holds its share".to_owned(),
            Err(failure @ Failure::Refused(_)) => format!("{failure}; its share is lost"),
            Err(failure) => {
                format!("{failure}; whether it holds its share is not known (share list asks again)")
            }
        };
        show::out(&line(url, &what));
    }
    show::out(&format!("now give {} to the reader", args.archive.display()));
    Ok(0)
}

fn proxies_of(path: &Path) -> Result<Vec<ProxyUrl>, OpsError> {
    let wrong = |why: String| {
        OpsError::usage(
            format!("{} is no list of proxies", path.display()),
            why,
            "write one a line, as share proxy serve prints it: https://HOST:PORT#SHA256",
        )
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let lines = text.lines().map(str::trim).enumerate();
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(at, line)| {
            // As it was printed, and copied.
            let url = line.strip_prefix("--proxy").unwrap_or(line).trim();
            url.parse().map_err(|why| wrong(format!("line {}: {why}", at + 1)))
        })
        .collect()
}
