//! `sealion bench sysbench`.

use std::ffi::OsString;
use std::path::PathBuf;

use ::bench::sysbench::{shown, translate};
use clap::{Args, Parser as _};
use site::OpsError;

use super::{BenchKeep, bench};
use crate::options::{Global, TABLE_OR_JSON, formats};
use crate::show;
use crate::verbs::{Cli, Command};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion bench sysbench -- oltp_read_only --mysql-host=db1 --mysql-user=bench --tables=8 --time=60 run
  sealion bench sysbench -p -- oltp_read_write --mysql-host=db1 --threads=16 prepare

The same command in sealion's options is printed to stderr, and run. Options without an effect on the result are named and ignored;
options that would change its meaning are refused. Tables that sysbench created are read; writing to them needs --own-tables."
)]
pub struct BenchSysbenchArgs {
    /// What follows `sysbench`: test, options, and prepare, run or cleanup
    #[arg(value_name = "SYSBENCH", required = true, last = true)]
    pub words: Vec<String>,
    /// Prompt for the password; a password on the command line is refused
    #[arg(short = 'p', long)]
    pub password: bool,
    /// Read the password from the first line of FILE (mode 0600)
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Read the password from this open file descriptor
    #[arg(long, value_name = "FD")]
    pub password_fd: Option<u32>,
    /// Read only this option file
    #[arg(long, value_name = "FILE")]
    pub defaults_file: Option<PathBuf>,
    /// Allow `run` to write to a schema that sealion did not create
    #[arg(long)]
    pub own_tables: bool,
    #[command(flatten)]
    pub keep: BenchKeep,
}

/// Says it in our own words, and does that.
pub fn sysbench(global: &Global, args: &BenchSysbenchArgs) -> Result<u8, OpsError> {
    let translation =
        translate(&args.words).map_err(|refusal| OpsError::usage(refusal.what, refusal.why, refusal.next))?;
    for note in &translation.notes {
        show::tell(&format!("note: {note}"));
    }
    let mut words: Vec<OsString> = translation.words.into_iter().map(OsString::from).collect();
    words.extend(args.password.then(|| "--password".into()));
    let with = |name: &str, value: &std::ffi::OsStr| {
        let mut word = OsString::from(name);
        word.push(value);
        word
    };
    words.extend(args.password_file.as_ref().map(|file| with("--password-file=", file.as_os_str())));
    words.extend(args.password_fd.map(|fd| format!("--password-fd={fd}").into()));
    words.extend(args.defaults_file.as_ref().map(|file| with("--defaults-file=", file.as_os_str())));
    words.extend(args.own_tables.then(|| "--own-tables".into()));
    // Only a measurement is kept.
    if translation_measures(&words) {
        words.extend(args.keep.store.as_ref().map(|file| with("--store=", file.as_os_str())));
        words.extend(args.keep.no_store.then(|| "--no-store".into()));
    }
    let line: Vec<String> = std::iter::once("sealion".into())
        .chain(words.iter().map(|word| word.to_string_lossy().into_owned()))
        .collect();
    show::tell(&shown(&line));
    let program = std::iter::once(OsString::from("sealion"));
    let command = match Cli::try_parse_from(program.chain(words)) {
        Ok(Cli { command: Command::Bench(command), .. }) => command,
        // A number that is none, or one that is too large: clap says which.
        Err(error) => {
            let text = error.to_string();
            let why = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            return Err(OpsError::usage(
                "cannot run the command line above",
                why,
                "change that option of the sysbench command",
            ));
        }
        Ok(_) => {
            return Err(OpsError::internal(
                "the command line above is not one of sealion bench",
                "it begins differently",
            ));
        }
    };
    bench(global, &command)
}

/// `bench load …`, and neither `bench prepare` nor `bench cleanup`.
fn translation_measures(words: &[OsString]) -> bool {
    words.iter().any(|word| word == "load")
}
