//! `sealion keys`: what the escrow has, and the way of its files back onto a node.

use std::path::{Path, PathBuf};

use change_ops::access::ClusterAccess;
use change_ops::lease::Lease;
use escrow::KeySet;
use providers::rest::keys::{self, KEY_FILE, PASS_FILE};
use secrecy::ExposeSecret;
use server::{NodeError, ReadMember, ReadNode, WriteMember};
use site::{Cluster, OpsError};

use crate::diagnose::{self, EscrowCopy};
use crate::groups::{self, Tried};
use crate::material::Keys;

const KEY_FILE_BYTES_MAX: u64 = 1 << 20;
const MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;

/// A copy in the escrow, as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyRow {
    pub name: String,
    pub path: PathBuf,
    /// Of the sealed file; `None`: it could not be read.
    pub sha256: Option<String>,
    /// What it holds, or why it does not open.
    pub content: Result<CopyContent, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyContent {
    pub cluster: String,
    pub plan_id: String,
    pub made_unix_ms: u64,
    pub key_ids: Vec<u32>,
}

/// All copies, by name.
///
/// # Errors
/// There is no passphrase, or no escrow.
pub fn list(cluster: &Cluster, passphrase: Option<&Path>) -> Result<Vec<CopyRow>, OpsError> {
    let passphrase = cluster.passphrase(passphrase)?;
    let escrow = cluster.escrow(&passphrase);
    let copies = copies(cluster, &passphrase)?;
    let row = |(name, set): EscrowCopy| CopyRow {
        path: escrow.path(&name).unwrap_or_default(),
        sha256: escrow.copy(&name).ok().flatten().map(|copy| copy.sha256),
        content: set.map(|set| CopyContent {
            cluster: set.cluster,
            plan_id: set.plan_id,
            made_unix_ms: set.made_unix_ms,
            key_ids: set.keys.iter().map(|key| key.id).collect(),
        }),
        name,
    };
    Ok(copies.into_iter().map(row).collect())
}

fn copies(cluster: &Cluster, passphrase: &secrecy::SecretString) -> Result<Vec<EscrowCopy>, OpsError> {
    diagnose::copies(cluster, passphrase).map_err(|why| {
        OpsError::cannot_look(
            "the escrow cannot be read",
            why,
            "bring it back from a backup of this machine, or name it: escrow_dir in the inventory",
        )
    })
}

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub entry: String,
    pub files: Vec<RestoredFile>,
    /// Files that its keys open.
    pub opens: Tried,
    pub is_running: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredFile {
    pub path: PathBuf,
    /// It lay there already, to the byte.
    pub was_same: bool,
    /// Where that is now which lay there.
    pub kept_as: Option<PathBuf>,
    pub sha256: String,
}

/// Puts key file and pass file back as a copy of the escrow has them. What lies there is kept under another name.
///
/// # Errors
/// Which copy is not clear, its keys do not open the data, the server runs with other keys, or something could not be told: nothing
/// was changed then.
pub fn restore(
    cluster: &Cluster,
    name: &str,
    entry: Option<&str>,
    passphrase: Option<&Path>,
    say: &mut dyn FnMut(String),
) -> Result<Restored, OpsError> {
    let spec = diagnose::spec_of(cluster, name)?;
    let passphrase = cluster.passphrase(passphrase)?;
    if let Some(open) = change_ops::unfinished::unfinished(cluster)? {
        return Err(OpsError::Refused(format!(
            "the keys of {name} are not restored\n  why:  a change is unfinished: {}\n  next: sealion resume or sealion undo; sealion abandon closes it as it is",
            open.describe()
        )));
    }
    let mut node = cluster.live_node(spec);
    let datadir = server::owner::datadir(&mut node).unwrap_or_else(|| "/var/lib/mysql".into());
    let effective = node.effective().map_err(|error| {
        OpsError::cannot_look(
            format!("the option files of {name} cannot be read"),
            error,
            "check them, then the same command",
        )
    })?;
    let mut needs = disk::needs(&datadir).map_err(|error| {
        OpsError::cannot_look(
            format!("the keys of {name} are not restored: {} cannot be read", datadir.display()),
            error,
            "run it as root: which keys the data needs is read from its files",
        )
    })?;
    diagnose::elsewhere(&effective, &datadir, &mut needs);
    let not = format!("the keys of {name} are not restored");
    let chosen =
        chosen(cluster, &passphrase, entry, &needs, &Asker { not: &not, verb: "restore", node: name })?;
    let (entry, set, opens) = (chosen.entry, chosen.set, chosen.opens);
    let refused =
        |why: String, next: &str| Err(OpsError::Refused(format!("{not}\n  why:  {why}\n  next: {next}")));
    // A rotation has put them into a directory of their own.
    let named = effective.effective("file_key_management_filename");
    let named = named.and_then(|setting| keys::own_dir(spec, setting.value.as_deref()?));
    let dir = named.map_or_else(|| keys::dir(spec), |name| keys::dir_named(spec, &name));
    for (key, file, prefix) in
        [("file_key_management_filename", KEY_FILE, ""), ("file_key_management_filekey", PASS_FILE, "FILE:")]
    {
        let ours = format!("{prefix}{}", dir.join(file).display());
        let named = effective.effective(key).and_then(|setting| setting.value.as_ref());
        if named.is_some_and(|named| *named != ours) {
            // Its value may be the passphrase itself.
            return refused(
                format!(
                    "{key} in its option file is not {ours}, so the server would not read what is put back"
                ),
                &format!("set {key}={ours}, then the same command"),
            );
        }
    }
    let is_running = match node.view() {
        Ok(_) => true,
        Err(NodeError::Down { .. }) => false,
        Err(error) => {
            return refused(
                format!("whether it runs, and with which keys, cannot be told: {error}"),
                "stop it, or wait until it answers",
            );
        }
    };
    if is_running && opens.tried == 0 {
        return refused(
            "it runs, and its files do not tell whether it runs with these keys".into(),
            "stop it, then the same command",
        );
    }
    let _lease = Lease::take(cluster, "keys restore", false, say)?;
    let Some(owner) = node.owner() else {
        return refused(
            "as which user the server runs, who must read the keys, cannot be determined".into(),
            "set datadir in its option file",
        );
    };
    let host = node.write_host();
    let failed = |error: &dyn std::fmt::Display| {
        OpsError::cannot_look(
            format!("the keys of {name} are not restored, or not all of them"),
            error,
            "the same command again: nothing that lay there was overwritten",
        )
    };
    host.make_dir(&dir, DIR_MODE, Some(owner)).map_err(|error| failed(&error))?;
    let mut files = Vec::new();
    // The pass file first: a key file without its own would be read as damaged.
    for file in [PASS_FILE, KEY_FILE] {
        let Some(kept) = set.file(file) else {
            return refused(
                format!("the copy {entry} has no {file}"),
                "sealion keys list; choose another with --entry",
            );
        };
        let path = dir.join(file);
        let wanted = kept.bytes.expose_secret();
        let there = host.read(&path, KEY_FILE_BYTES_MAX).map_err(|error| failed(&error))?;
        let was_same = there.as_deref() == Some(wanted);
        let kept_as = match &there {
            Some(bytes) if !was_same => {
                let kept_as = free_name(host, &path).map_err(|error| failed(&error))?;
                host.write(&kept_as, bytes, Some(MODE), Some(owner)).map_err(|error| failed(&error))?;
                Some(kept_as)
            }
            _ => None,
        };
        drop(there.map(zeroize::Zeroizing::new));
        // Written also where it is the same: owner and mode may not be.
        host.write(&path, wanted, Some(MODE), Some(owner)).map_err(|error| failed(&error))?;
        let back = host.read(&path, KEY_FILE_BYTES_MAX).map_err(|error| failed(&error))?;
        let back = zeroize::Zeroizing::new(back.unwrap_or_default());
        let sha256 = |bytes: &[u8]| model::hex(&openssl::sha::sha256(bytes));
        if sha256(&back) != sha256(wanted) {
            return Err(failed(&format!("{} is not what the copy has", path.display())));
        }
        let facts = host.facts(&path).map_err(|error| failed(&error))?;
        if facts.is_none_or(|facts| facts.mode & 0o777 != MODE || facts.uid != owner.0) {
            return Err(failed(&format!("{} has another mode or owner than it was given", path.display())));
        }
        files.push(RestoredFile { path, was_same, kept_as, sha256: sha256(wanted) });
    }
    Ok(Restored { entry, files, opens, is_running })
}

/// Who asks for a copy, for what is said where there is none.
pub(crate) struct Asker<'a> {
    /// What is not done then.
    pub not: &'a str,
    pub verb: &'a str,
    pub node: &'a str,
}

pub(crate) struct Chosen {
    pub entry: String,
    pub set: KeySet,
    pub opens: Tried,
}

/// The copy that was named, unless its keys are seen not to open the data; else the newest one that is seen to open it.
pub(crate) fn chosen(
    cluster: &Cluster,
    passphrase: &secrecy::SecretString,
    entry: Option<&str>,
    needs: &disk::Needs,
    asker: &Asker<'_>,
) -> Result<Chosen, OpsError> {
    let Asker { not, verb, node } = asker;
    let refused =
        |why: String, next: String| OpsError::Refused(format!("{not}\n  why:  {why}\n  next: {next}"));
    let tried = |set: &KeySet| groups::opened_by(needs, &Keys::of_set(set));
    if let Some(entry) = entry {
        // Opening one takes a second or two, so the others are left.
        let escrow = cluster.escrow(passphrase);
        let set = match escrow.get(entry) {
            Ok(Some(set)) => set,
            Ok(None) => {
                return Err(OpsError::usage(
                    format!("the escrow has no copy {entry}"),
                    format!("{} has no such file", escrow.dir().display()),
                    "sealion keys list",
                ));
            }
            Err(why) => {
                return Err(OpsError::cannot_look(
                    format!("the copy {entry} does not open"),
                    why,
                    "give the passphrase that it was sealed with, or bring the copy back from a backup",
                ));
            }
        };
        let opens = tried(&set);
        return match against(entry, opens) {
            Some(why) => Err(refused(why, format!("sealion diagnose {node} says which copy opens them"))),
            None => Ok(Chosen { entry: entry.to_owned(), set, opens }),
        };
    }
    let all = copies(cluster, passphrase)?;
    let names: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    let listed = if names.is_empty() {
        "the escrow has no copy".into()
    } else {
        format!("the escrow has {}", names.join(", "))
    };
    let mut opened: Vec<Chosen> = all
        .into_iter()
        .filter_map(|(entry, set)| {
            let set = set.ok()?;
            Some(Chosen { opens: tried(&set), entry, set })
        })
        .collect();
    opened.sort_by_key(|copy| copy.set.made_unix_ms);
    let untold = opened.iter().rfind(|copy| copy.opens.is_untold()).map(|copy| copy.entry.clone());
    if let Some(at) = opened.iter().rposition(|copy| copy.opens.fits()) {
        return Ok(opened.swap_remove(at));
    }
    Err(match untold {
        Some(newest) => refused(
            format!(
                "nothing that was read of its files shows whether keys are right, so no copy could be tried; {listed}"
            ),
            format!("if you know that it is {newest}: sealion keys {verb} {node} --entry {newest}"),
        ),
        None => refused(
            format!("no copy in the escrow opens all files on which a key can be tried; {listed}"),
            format!("sealion diagnose {node} says what each copy opens"),
        ),
    })
}

/// What speaks against a copy that was named. Where nothing could be tried nothing does.
fn against(entry: &str, opens: Tried) -> Option<String> {
    if opens.opened < opens.tried {
        return Some(format!(
            "the copy {entry} opens {} of {} files on which a key can be tried",
            opens.opened, opens.tried
        ));
    }
    (opens.opened == 0 && opens.doubtful > 0).then(|| {
        format!(
            "the copy {entry} opens none of {} tables of Aria: its keys are others, or all of these are damaged",
            opens.doubtful
        )
    })
}

/// Nothing lies there.
fn free_name(host: &dyn host::WriteHost, path: &Path) -> Result<PathBuf, host::HostError> {
    let mut number = 1_u32;
    loop {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let other = path.with_file_name(format!("{name}.before-restore-{number}"));
        if host.facts(&other)?.is_none() {
            return Ok(other);
        }
        number += 1;
    }
}
