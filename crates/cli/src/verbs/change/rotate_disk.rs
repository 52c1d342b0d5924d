//! `sealion rotate disk`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ::change::Direction;
use change_ops::disk::{self, MovedKeys, Stage};
use change_ops::roll::Progress;
use clap::{Args, Subcommand};
use model::Plan;
use providers::disk::Wish;
use providers::disk::cryptsetup::{KdfWish, Volume, header_at};
use site::OpsError;

use super::{Consent, ask, change_json, confirm_what};
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

const EXAMPLES: &str = "Examples:
  sealion rotate disk --device /dev/sdb1 --key-file old.key --new-key-file new.key --backup-dir /root/escrow
  sealion rotate disk --device /dev/sdb1 --key-file old.key --new-key-file new.key --backup-dir /root/escrow --dry-run
  sealion rotate disk resume --device /dev/sdb1
  sealion rotate disk undo --device /dev/sdb1

The volume may be open and in use. Its header is backed up, the new key is added and tested in its own slot, the header
is backed up again, and only then the old slot is removed: after both keys were tested and the slots counted once more.
Keys are handed to cryptsetup by descriptors, never as arguments.

Exit codes: 0 done, 2 usage, 4 stopped half-way and resumable, 6 refused, nothing was changed.";

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_long_help = EXAMPLES
)]
pub struct RotateDiskArgs {
    #[command(subcommand)]
    pub what: Option<RotateDiskCommand>,
    #[command(flatten)]
    pub volume: VolumeArgs,
    /// File with the key that is in use now
    #[arg(long, value_name = "FILE", required = true)]
    pub key_file: Option<PathBuf>,
    /// File with the key that replaces it (mode 0600)
    #[arg(long, value_name = "FILE", required = true)]
    pub new_key_file: Option<PathBuf>,
    /// Directory for the header backups, on another disk
    ///
    /// Directory for the header backups, on another disk. A header backup opens the volume with the keys that it had: those that lie
    /// there already are listed.
    #[arg(long, value_name = "DIR", required = true)]
    pub backup_dir: Option<PathBuf>,
    /// KDF of the new slot, as for cryptsetup
    #[arg(long, value_name = "NAME", value_parser = ["argon2id", "argon2i", "pbkdf2"])]
    pub pbkdf: Option<String>,
    /// Iterations of the new slot, as for cryptsetup; default: measured
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..))]
    pub pbkdf_force_iterations: Option<u32>,
    /// Print the plan; change nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub yes: Consent,
}

#[derive(Debug, Subcommand)]
pub enum RotateDiskCommand {
    /// Continue a rotation that was interrupted
    #[command(after_long_help = "Examples:
  sealion rotate disk resume --device /dev/sdb1
  sealion rotate disk resume --device /dev/sdb1 --new-key-file /mnt/new.key --yes 0123456789ab")]
    Resume(GoOnArgs),
    /// Revert a rotation: the old key is put back from its file, then the new slot is removed
    #[command(after_long_help = "Examples:
  sealion rotate disk undo --device /dev/sdb1
  sealion rotate disk undo --device /dev/sdb1 --key-file /mnt/old.key --yes 0123456789ab")]
    Undo(GoOnArgs),
}

#[derive(Debug, Args)]
pub struct VolumeArgs {
    /// Block device or image with a LUKS header
    #[arg(long, value_name = "DEV", required = true)]
    pub device: Option<PathBuf>,
    /// File with the header, where it is detached from its data
    #[arg(long, value_name = "FILE")]
    pub header: Option<PathBuf>,
    /// Directory of the journal; default: in ~/.local/state/sealion/disk, by UUID
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(arg = formats(TABLE_OR_JSON))]
pub struct GoOnArgs {
    #[command(flatten)]
    pub volume: VolumeArgs,
    /// File with the old key, if it lies elsewhere now
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// File with the new key, if it lies elsewhere now
    #[arg(long, value_name = "FILE")]
    pub new_key_file: Option<PathBuf>,
    #[command(flatten)]
    pub yes: Consent,
}

fn whole(path: &Path) -> Result<PathBuf, OpsError> {
    std::fs::canonicalize(path).map_err(|error| {
        OpsError::usage(format!("cannot use {}", path.display()), error.to_string(), "check the path")
    })
}

fn given(path: Option<&PathBuf>, name: &str) -> Result<PathBuf, OpsError> {
    let path =
        path.ok_or_else(|| OpsError::usage(format!("{name} is missing"), "it was not given", "-h shows it"))?;
    whole(path)
}

impl VolumeArgs {
    fn volume(&self) -> Result<Volume, OpsError> {
        let device = given(self.device.as_ref(), "--device")?;
        Ok(Volume { device, header: self.header.as_deref().map(whole).transpose()? })
    }

    fn state_dir(&self, volume: &Volume) -> Result<PathBuf, OpsError> {
        if let Some(dir) = &self.state_dir {
            return Ok(dir.clone());
        }
        let header = header_at(volume.header_place()).map_err(|why| {
            OpsError::Refused(format!(
                "this is no volume whose keys can be rotated, nothing was changed\n  why:  {why}\n  next: check --device, and --header \
                 where the header is detached; of a rotation that was begun, --state-dir finds the journal"
            ))
        })?;
        Ok(disk::state_dir(&header.uuid))
    }
}

pub fn rotate_disk(global: &Global, args: &RotateDiskArgs) -> Result<u8, OpsError> {
    match &args.what {
        Some(RotateDiskCommand::Resume(args)) => return go_on(global, args, None),
        Some(RotateDiskCommand::Undo(args)) => return go_on(global, args, Some(Direction::Back)),
        None => {}
    }
    let volume = args.volume.volume()?;
    let dir = args.volume.state_dir(&volume)?;
    let wish = Wish {
        volume,
        old_key: given(args.key_file.as_ref(), "--key-file")?,
        new_key: given(args.new_key_file.as_ref(), "--new-key-file")?,
        backup_dir: given(args.backup_dir.as_ref(), "--backup-dir")?,
        kdf: KdfWish { pbkdf: args.pbkdf.clone(), force_iterations: args.pbkdf_force_iterations },
    };
    make_private(&dir)?;
    let mut tool = disk::program(&dir)?;
    // The same command again finishes what it began.
    if let Some((open, Stage::Open(Direction::Forward))) = disk::known(&dir)?
        && is_of(&open, &wish)
    {
        confirm_open("rotate disk resume", &open, args.yes.yes.as_deref())?;
        return carry_out(global, &open.id, Direction::Forward, |tell| {
            disk::go_on(&dir, &mut tool, &MovedKeys::default(), None, tell)
        });
    }
    let plan = disk::plan(&mut tool, &wish)?;
    if args.dry_run {
        super::plan::print_plan(&plan, global.format)?;
        return Ok(0);
    }
    confirm(&plan, args.yes.yes.as_deref())?;
    carry_out(global, &plan.id, Direction::Forward, |tell| disk::begin(&dir, &mut tool, &wish, &plan, tell))
}

fn make_private(dir: &Path) -> Result<(), OpsError> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|error| OpsError::internal(format!("cannot make {}", dir.display()), error))
}

/// It was begun for the same volume and keys.
fn is_of(open: &Plan, wish: &Wish) -> bool {
    providers::disk::Rotation::of(open)
        .is_ok_and(|of| of.volume == wish.volume && of.old_key == wish.old_key && of.new_key == wish.new_key)
}

fn go_on(global: &Global, args: &GoOnArgs, wish: Option<Direction>) -> Result<u8, OpsError> {
    let volume = args.volume.volume()?;
    let dir = args.volume.state_dir(&volume)?;
    let moved = MovedKeys {
        old: args.key_file.as_deref().map(whole).transpose()?,
        new: args.new_key_file.as_deref().map(whole).transpose()?,
    };
    let Some((plan, _)) = disk::known(&dir)? else {
        return Err(OpsError::Refused(format!(
            "there is nothing to continue\n  why:  no rotation of this volume was begun here ({})\n  next: sealion status disk {} shows \
             its slots",
            dir.display(),
            volume.header_place().display()
        )));
    };
    let verb = if wish.is_some() { "rotate disk undo" } else { "rotate disk resume" };
    let is_same = providers::disk::Rotation::of(&plan).is_ok_and(|of| of.volume == volume);
    if !is_same {
        return Err(OpsError::Refused(format!(
            "{verb} is refused, nothing was changed\n  why:  the rotation that was begun is of {}, another device with the same UUID\n  \
             next: name that one",
            plan.cluster
        )));
    }
    confirm_open(verb, &plan, args.yes.yes.as_deref())?;
    let mut tool = disk::program(&dir)?;
    let direction = wish.unwrap_or(Direction::Forward);
    carry_out(global, &plan.id, direction, |tell| disk::go_on(&dir, &mut tool, &moved, wish, tell))
}

fn confirm(plan: &Plan, yes: Option<&str>) -> Result<(), OpsError> {
    if yes.is_some() {
        return confirm_what(
            "rotate disk",
            plan,
            "the volume, its keys or the paths are not as they were",
            &[],
            yes,
        );
    }
    super::plan::print_plan(plan, Format::Table)?;
    if !std::io::stdin().is_terminal() {
        return Err(OpsError::usage(
            "confirmation needed, but stdin is not a terminal",
            format!("nobody can be asked about the plan {}", plan.short_hash()),
            format!("check the plan, then add --yes {}", plan.short_hash()),
        ));
    }
    ask()
}

fn confirm_open(verb: &str, plan: &Plan, yes: Option<&str>) -> Result<(), OpsError> {
    let what = match verb {
        "rotate disk undo" => format!(
            "the old key of {} is put back from its file where it is gone, and the new slot is removed",
            plan.cluster
        ),
        _ => format!("the rotation of a key of {} continues", plan.cluster),
    };
    let what =
        format!("{what}; plan {}, made {}", plan.short_hash(), model::clock::rfc3339(plan.made_unix_ms));
    confirm_what(verb, plan, &what, &[], yes)
}

fn carry_out(
    global: &Global,
    plan_id: &str,
    direction: Direction,
    run: impl FnOnce(&mut dyn FnMut(Progress)) -> Result<(), OpsError>,
) -> Result<u8, OpsError> {
    let began = Instant::now();
    let mut notes = Vec::new();
    run(&mut |progress| match progress {
        Progress::Step { id, title, phase: "acting", at, of, direction, .. } => {
            let title = super::titled(&title, direction);
            show::tell(&show::fitted_progress(&format!("[{at}/{of}] {id}  "), &title));
        }
        Progress::Done { id, note, .. } => {
            show::tell(&show::fitted_progress(&format!("      {id}  "), &note));
            notes.push((id, note));
        }
        Progress::Failed { id, why } => {
            // All of it is said at the end.
            let what = why.lines().next().unwrap_or_default();
            show::tell(&format!("      {id}  {}: {what}", show::red("failed")));
        }
        Progress::Line(line) => show::tell(&format!("      {line}")),
        Progress::Step { .. } | Progress::Waiting { .. } => {}
    })?;
    if global.format == Format::Json {
        show::out(&change_json(plan_id, "complete", &notes, &[], began));
    } else {
        let word = if direction == Direction::Back { "reverted" } else { "done" };
        show::out(&format!("{} (journal {plan_id})", show::green(word)));
    }
    Ok(0)
}
