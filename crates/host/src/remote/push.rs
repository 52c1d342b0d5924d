//! Bringing sealion to a machine that has none: our own executable, once, over the user's ssh.
//!
//! It is written into a directory that only its owner may enter, under another name until its SHA-256 is the one that was sent, and
//! that hash is compared again at each start. The far shell changes into the directory first and checks that very directory, so that
//! nobody who may write above it can put another one in its place.
//!
//! With sudo, root runs a file that the login user can write: whoever has that login could put another program there. That gives away nothing
//! where sudo lets this user do everything as root anyway. Where sudo allows single programs only, it would give away root, so the copy is
//! not started: what root runs must then be root's own ([`as_root`]).

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::messages::AgentMode;
use super::{SshTarget, quoted};
use crate::local::Printed;

/// A question that needs nothing but an answer.
const CHECK_MAX: Duration = Duration::from_secs(30);
/// For all of it, and for each piece: a line that carries less is as good as dead.
const PUSH_MAX: Duration = Duration::from_secs(600);
const STALL_MAX: Duration = Duration::from_secs(30);
/// For what was printed, once the program has ended.
const PRINTED_MAX: Duration = Duration::from_secs(1);
/// Of what others than our script print.
const LINES_MAX: usize = 4;
const PIECE_BYTES: usize = 64 * 1024;
const POLL: Duration = Duration::from_millis(5);
/// Characters of the hash that are in the file's name.
const NAME_HASH_CHARS: usize = 16;
const INSTALL: &str = "install the sealion package there and set `agent = \"/usr/bin/sealion\"` in [ssh]";

/// What the far shell says to us begins so: login shells print things of their own.
const MARK: &str = "sealion-agent:";

// The scripts are one line each, without quotes, backslashes and exclamation marks: the login shell that is handed them in single
// quotes may be one of csh or fish. `$1` and so on are words of ours, never text of a script.
const SAY: &str = r#"
no() { echo "sealion-agent: no: $*" >&2; exit 9; };
"#;

const COMMON: &str = r#"
umask 077;
case "${HOME-}" in /*) ;; *) no "its account has no home directory";; esac;
dir="$HOME/.cache/sealion-agent";
enter() {
  [ -L "$dir" ] && no "$dir is a symbolic link: remove it";
  cd -P "$dir" || no "$dir cannot be entered";
  facts="$(stat -c %u:%a .)";
  [ "$facts" = "$(id -u):700" ] || no "$dir has owner and mode $facts instead of $(id -u):700: remove it, or correct both";
};
state() {
  if [ -L "./$1" ]; then echo wrong; return; fi;
  if [ -e "./$1" ]; then :; else echo absent; return; fi;
  if [ -f "./$1" ] && [ "$(stat -c %u:%a "./$1")" = "$(id -u):700" ] && [ "$(sum_of "./$1")" = "$2" ];
  then echo have; else echo wrong; fi;
};
sum_of() { set -- "$(sha256sum <"$1")"; echo "${1%% *}"; };
for tool in sha256sum stat id; do command -v "$tool" >/dev/null || no "it has no $tool"; done;
"#;

const CHECK: &str = r#"
echo "sealion-agent: system $(uname -sm)";
if [ -L "$dir" ] || [ -e "$dir" ]; then enter; echo "sealion-agent: state $(state "$1" "$2")"; else echo "sealion-agent: state absent"; fi
"#;

const UPLOAD: &str = r#"
name="$1"; sum="$2"; new="$3"; bytes="$4";
mkdir -p "$HOME/.cache" || no "$HOME/.cache cannot be made";
[ -d "$dir" ] || mkdir -m 700 "$dir" || [ -d "$dir" ] || no "$dir cannot be made";
enter;
find . -maxdepth 1 -type f "(" -name "once-*" -o -name "new-*" ")" -mmin +1440 -exec rm -f "{}" ";" 2>/dev/null;
trap "rm -f ./$new" EXIT; trap "exit 9" HUP INT TERM PIPE;
cat >"./$new" || no "it could not be written to $dir: is the disk full?";
[ "$(stat -c %s "./$new")" = "$bytes" ] || no "only a part of it arrived in $dir";
[ "$(sum_of "./$new")" = "$sum" ] || no "what arrived in $dir is not what was sent";
chmod 700 "./$new" || no "its mode in $dir cannot be changed";
[ -L "./$name" ] && rm -f "./$name";
[ -d "./$name" ] && no "$dir/$name is a directory: remove it";
mv -f "./$new" "./$name" || no "it cannot be given its name in $dir";
echo "sealion-agent: state have"
"#;

const START: &str = r#"
name="$1"; sum="$2"; keep="$3"; mode="$4"; shift 4;
enter;
state="$(state "$name" "$sum")";
[ "$state" = have ] || no "$dir/$name is not the file that was placed there ($state), and was not started";
clean() { [ "$keep" = keep ] || rm -f "./$name"; };
[ $# = 0 ] || said="$("$@" -l /bin/sh 2>&1)" || { clean; no "sudo there lets $(id -un) do single things only ($said), and a copy in $dir, which $(id -un) can write, is not run by root: install the package there, set agent in [ssh], and allow what sealion grants --sudoers prints"; };
said="$("./$name" --version 2>&1 >/dev/null </dev/null)" || { clean; no "sealion does not run there ($said): use the one of make static here, or install the package there and set agent in [ssh]"; };
"$@" "./$name" agent "$mode"; code=$?; clean; exit $code
"#;

/// An installed program is started by root as it is where sudo lets the login user do everything; else it, and each directory above it, must
/// be root's alone.
const ROOTS_OWN: &str = r#"
path="$1"; mode="$2"; shift 2;
if "$@" -l /bin/sh >/dev/null 2>&1; then :; else
  at="$(readlink -f "$path")";
  [ -n "$at" ] || no "$path is not there";
  while :; do
    facts="$(stat -c %u:%A "$at")";
    case "$facts" in
      0:?????-??-*) ;;
      *) no "root would run $path, but $at (owner and mode $facts) is not for root alone to write: chown root and chmod go-w on it, or install the package";;
    esac;
    [ "$at" = / ] && break;
    at="$(dirname "$at")";
  done;
fi;
exec "$@" "$path" agent "$mode"
"#;

/// The command that leads to an agent which is installed at `agent`, and which root runs.
pub(super) fn as_root(target: &SshTarget, agent: &str, mode: &str) -> Vec<String> {
    let root = target.become_root.iter().map(String::as_str);
    let words: Vec<&str> = [agent, mode].into_iter().chain(root).collect();
    handed(target, &one_line(&[SAY, ROOTS_OWN]), &words)
}

/// The program that is brought there, with its hash, which is taken once.
#[derive(Debug)]
pub struct PushedProgram {
    path: PathBuf,
    digest: OnceLock<Result<Digested, String>>,
}

#[derive(Debug, Clone)]
struct Digested {
    sha256_hex: String,
    bytes: u64,
}

impl PushedProgram {
    /// The sealion that runs, whatever has become of its file.
    pub fn own() -> Arc<Self> {
        Self::at("/proc/self/exe")
    }

    pub fn at(path: impl Into<PathBuf>) -> Arc<Self> {
        Arc::new(Self { path: path.into(), digest: OnceLock::new() })
    }

    fn digested(&self) -> Result<&Digested, String> {
        let digest = self.digest.get_or_init(|| {
            digest(&self.path).map_err(|error| {
                format!("cannot read the sealion of this machine, {}: {error}", self.path.display())
            })
        });
        digest.as_ref().map_err(Clone::clone)
    }
}

fn digest(path: &Path) -> io::Result<Digested> {
    let mut file = File::open(path)?;
    let (mut hash, mut piece, mut bytes) = (Sha256::new(), vec![0; PIECE_BYTES], 0);
    loop {
        let count = match file.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        if count == 0 {
            break;
        }
        hash.update(piece.get(..count).unwrap_or_default());
        bytes += count as u64;
    }
    let mut sha256_hex = String::new();
    for byte in hash.finalize() {
        sha256_hex += &format!("{byte:02x}");
    }
    Ok(Digested { sha256_hex, bytes })
}

/// Brings the program to one machine. Each has a name of its own there, but for one that is kept.
#[derive(Debug)]
pub(super) struct Pusher {
    program: Arc<PushedProgram>,
    keep: bool,
    token: String,
}

impl Pusher {
    pub fn new(program: Arc<PushedProgram>, keep: bool) -> Self {
        Self { program, keep, token: format!("{:016x}", fastrand::u64(..)) }
    }

    fn name(&self, digested: &Digested) -> String {
        let hash = digested.sha256_hex.get(..NAME_HASH_CHARS).unwrap_or_default();
        let version = env!("CARGO_PKG_VERSION");
        if self.keep {
            format!("agent-{version}-{hash}")
        } else {
            format!("once-{version}-{hash}-{}", self.token)
        }
    }

    /// Sees that the program is there, and tells the command that starts it.
    ///
    /// # Errors
    /// It is not there and cannot be brought there, or would not run there.
    pub fn placed(&self, target: &SshTarget, mode: AgentMode) -> Result<Vec<String>, String> {
        let digested = self.program.digested()?;
        let name = self.name(digested);
        let sum = digested.sha256_hex.as_str();
        let not_there = |why: String| format!("sealion could not be copied to it: {why}; {INSTALL}");
        let failed = |failure: Failure| match failure {
            Failure::OfSsh(why) => format!("{why}; test it: {}", target.tried_by_hand()),
            Failure::There(why) => not_there(why),
        };
        let checked = run(&shell(target, CHECK, &[&name, sum]), None, CHECK_MAX).map_err(failed)?;
        let system =
            said(&checked, "system").ok_or_else(|| not_there("it did not say what system it is".into()))?;
        if !is_ours(system) {
            return Err(not_there(format!(
                "it is a {system}, and this sealion is for {} {}",
                std::env::consts::OS,
                std::env::consts::ARCH
            )));
        }
        if said(&checked, "state") != Some("have") {
            let file = File::open(&self.program.path).map_err(|error| not_there(error.to_string()))?;
            let (new, bytes) = (format!("new-{:016x}", fastrand::u64(..)), digested.bytes.to_string());
            let command = shell(target, UPLOAD, &[&name, sum, &new, &bytes]);
            let uploaded = run(&command, Some(file), PUSH_MAX).map_err(failed)?;
            if said(&uploaded, "state") != Some("have") {
                return Err(not_there("it did not say that all of it arrived".into()));
            }
        }
        let mode = if mode == AgentMode::Write { "--write" } else { "--read" };
        let keep = if self.keep { "keep" } else { "once" };
        let root = target.become_root.iter().map(String::as_str);
        let words: Vec<&str> = [name.as_str(), sum, keep, mode].into_iter().chain(root).collect();
        Ok(shell(target, START, &words))
    }
}

/// A script of ours with its words, for the shell at the other end of ssh.
fn shell(target: &SshTarget, script: &str, words: &[&str]) -> Vec<String> {
    handed(target, &one_line(&[SAY, COMMON, script]), words)
}

fn handed(target: &SshTarget, script: &str, words: &[&str]) -> Vec<String> {
    let before = ["/bin/sh", "-c", script, "sealion-agent"];
    let far: Vec<String> = before.into_iter().chain(words.iter().copied()).map(quoted).collect();
    target.ssh_command(&format!("exec {}", far.join(" ")))
}

fn one_line(parts: &[&str]) -> String {
    let lines = parts.iter().flat_map(|part| part.lines()).map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// What a script of ours said under `key`.
fn said<'p>(printed: &'p str, key: &str) -> Option<&'p str> {
    let of =
        |line: &'p str| line.trim().strip_prefix(MARK)?.trim_start().strip_prefix(key)?.strip_prefix(' ');
    printed.lines().find_map(of).map(str::trim)
}

/// Whether a machine for which `uname -sm` prints this runs what was built for this one.
fn is_ours(system: &str) -> bool {
    let machine = match std::env::consts::ARCH {
        "x86" => "i686",
        "powerpc64" if cfg!(target_endian = "little") => "ppc64le",
        "powerpc64" => "ppc64",
        other => other,
    };
    system == format!("Linux {machine}")
}

/// Ended when it is dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Why nothing was done there.
#[derive(Debug)]
enum Failure {
    /// ssh itself: no way there, or no login.
    OfSsh(String),
    There(String),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::There(why)
    }
}

/// Source: ssh(1), exit status: 255 is an error of its own.
const OF_SSH: i32 = 255;

/// Runs ssh to its end, hands it `input`, and returns what was printed.
fn run(command: &[String], input: Option<File>, limit: Duration) -> Result<String, Failure> {
    let (program, args) = command.split_first().ok_or_else(|| "there is no command".to_owned())?;
    let begun = Instant::now();
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let child =
        Command::new(program).args(args).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = Ended(child.map_err(|error| format!("{program} cannot be run: {error}"))?);
    let (printed, errors) = (Printed::of(child.0.stdout.take()), Printed::of(child.0.stderr.take()));
    if let (Some(file), Some(stdin)) = (input, child.0.stdin.take()) {
        let pieces = sent(file, stdin);
        loop {
            let left = limit.saturating_sub(begun.elapsed());
            match pieces.recv_timeout(STALL_MAX.min(left)) {
                Ok(()) => {}
                // All of it was sent, or the far end hung up: it says why.
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(too_late(limit).into()),
                Err(RecvTimeoutError::Timeout) => {
                    let left_s = STALL_MAX.min(left).as_secs();
                    return Err(format!("the connection carried nothing for {left_s} s").into());
                }
            }
        }
    }
    let status = loop {
        if let Some(status) = child.0.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if begun.elapsed() > limit {
            return Err(too_late(limit).into());
        }
        std::thread::sleep(POLL);
    };
    // A child of ssh (a jump host's, a multiplexing master) may keep the pipes.
    let soon = Instant::now() + PRINTED_MAX;
    let (printed, errors) = (printed.text(soon), errors.text(soon));
    match status.code() {
        Some(0) => Ok(printed),
        Some(OF_SSH) => Err(Failure::OfSsh(why(status, &printed, &errors))),
        _ => Err(Failure::There(why(status, &printed, &errors))),
    }
}

fn too_late(limit: Duration) -> String {
    format!("it was not done within {} s", limit.as_secs())
}

/// Copies `file` on a thread of its own; tells of each piece.
fn sent(mut file: File, mut to: ChildStdin) -> Receiver<()> {
    let (sender, pieces) = channel();
    std::thread::spawn(move || {
        let mut piece = vec![0; PIECE_BYTES];
        while let Ok(count) = file.read(&mut piece) {
            let is_over = count == 0 || to.write_all(piece.get(..count).unwrap_or_default()).is_err();
            // Nobody waits any more: ssh is ended, and what arrived is only a part.
            if is_over || sender.send(()).is_err() {
                break;
            }
        }
    });
    pieces
}

/// What our script says, else what ssh or a shell printed.
fn why(status: ExitStatus, printed: &str, errors: &str) -> String {
    let lines = || errors.lines().chain(printed.lines()).map(str::trim).filter(|line| !line.is_empty());
    let others: Vec<&str> = lines().filter(|line| !line.starts_with(MARK)).take(LINES_MAX).collect();
    let others = others.join(" | ");
    match (said(errors, "no:"), others.as_str()) {
        (Some(no), "") => no.to_owned(),
        (Some(no), others) => format!("{no}; it printed: {others}"),
        (None, "") => format!("ssh ended with {status}"),
        (None, others) => format!("ssh ended with {status} and printed: {others}"),
    }
}

#[cfg(test)]
mod tests;
