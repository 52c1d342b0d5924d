//! `sealion prove clients`: drivers and tools, each in its own small project, in every way that their TLS can be set.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use prove::attack::{Chain, Dates, Names};
use prove::client::{Client, Mode, Promise};
use prove::talk::Channel;
use prove::{Attack, Protocol, Verdict};
use report::shape::{
    PROVE_CLIENTS_SCHEMA_ID, ProveCaseRow, ProveClientsReport, ProveDriverRow, ProveModeRow,
};

use super::{LAST_WORDS, Outcome, Place, Stage, add, run};
use site::OpsError;

/// What the matrix asks of every mode when nothing else is asked for, the control first. One column for each.
pub const COLUMNS: [&str; 6] = ["honest", "strip", "self-signed", "unknown-ca", "expired", "wrong-name"];
/// What the second table of the page asks of the default and of the strictest way: the login and what comes behind it.
pub const LOGINS: [&str; 9] = [
    "clear-password",
    "dialog",
    "sha256-key",
    "caching-sha2-key",
    "old-password",
    "clear-password-tls",
    "local-infile",
    "ok-before-tls",
    "error-before-tls",
];
/// Written when an installation is whole: it holds what was installed.
const STAMP: &str = ".sealion-installed";

/// A driver, with all its modes tried.
#[derive(Debug, Clone)]
pub struct DriverTrial {
    pub client: &'static Client,
    pub state: State,
}

#[derive(Debug, Clone)]
pub enum State {
    Tried {
        version: String,
        rows: Vec<Row>,
        /// Of some of `rows`, what came of attacks on the login; the honest server first again.
        logins: Vec<Row>,
    },
    /// Why it could not be tried, and what to do.
    NotHere { why: String, next: String },
}

#[derive(Debug, Clone)]
pub struct Row {
    pub mode: &'static Mode,
    pub outcomes: Vec<Outcome>,
}

impl Row {
    /// The honest server was accepted: only then the other columns say something of attacks.
    pub fn is_controlled(&self) -> bool {
        self.outcomes.first().is_some_and(|one| matches!(one.verdict, Verdict::Accepted(_)))
    }

    /// What the options look like they promise, and this client does not keep: the attack that it falls to first.
    pub fn broken_promise(&self) -> Option<&Outcome> {
        self.outcomes.iter().find(|one| self.is_broken_by(one))
    }

    /// The same of outcomes that are no mode's; the honest server comes first.
    pub fn broken_promise_of(promise: Promise, outcomes: &[Outcome]) -> Option<&Outcome> {
        let is_controlled = outcomes.first().is_some_and(|one| matches!(one.verdict, Verdict::Accepted(_)));
        outcomes.iter().find(|one| is_controlled && breaks(promise, one.attack, one.verdict))
    }

    fn is_broken_by(&self, one: &Outcome) -> bool {
        self.is_controlled() && breaks(self.mode.promises, one.attack, one.verdict)
    }
}

/// Whether a verdict shows that a promise is not kept.
fn breaks(promise: Promise, attack: &Attack, verdict: Verdict) -> bool {
    if promise == Promise::Nothing {
        return false;
    }
    if is_in_clear(verdict) {
        return true;
    }
    let Some(tls) = attack.tls else { return false };
    let has_accepted =
        matches!(verdict, Verdict::Accepted(_) | Verdict::PasswordObtained(_) | Verdict::FileObtained(_));
    let is_forged = tls.chain != Chain::Given || tls.dates != Dates::Valid;
    // Ways of reading a name that are a matter of taste are no fall.
    let is_of_another = tls.names != Names::San && attack.is_fall;
    has_accepted
        && match promise {
            Promise::Nothing | Promise::Encrypted => false,
            Promise::Chain => is_forged,
            Promise::Identity => is_forged || is_of_another,
        }
}

fn is_in_clear(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Accepted(Channel::Clear)
            | Verdict::LoginThenRefused(Channel::Clear)
            | Verdict::FileObtained(Channel::Clear)
            | Verdict::PasswordObtained(Channel::Clear)
    )
}

/// How promises were kept, over all that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PromiseCount {
    /// Ways of setting TLS that promise something, where the honest server was accepted.
    pub promising: usize,
    pub broken: usize,
    /// Of those, the ones that go on in cleartext.
    pub in_clear: usize,
}

impl PromiseCount {
    pub fn of(all: &[DriverTrial]) -> Self {
        let mut this = Self::default();
        let rows = all.iter().flat_map(|one| match &one.state {
            State::Tried { rows, .. } => &rows[..],
            State::NotHere { .. } => &[],
        });
        for row in rows.filter(|row| row.mode.promises != Promise::Nothing && row.is_controlled()) {
            this.promising += 1;
            this.broken += usize::from(row.broken_promise().is_some());
            this.in_clear += usize::from(row.outcomes.iter().any(|one| is_in_clear(one.verdict)));
        }
        this
    }
}

/// Where drivers are installed.
pub fn default_place() -> PathBuf {
    let cache = std::env::var_os("SEALION_CACHE").map(PathBuf::from).or_else(|| {
        let base = std::env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
        base.map(|base| base.join("sealion"))
    });
    cache.unwrap_or_else(|| PathBuf::from(".sealion")).join("clients")
}

/// What to try, and how.
pub struct Wanted<'a> {
    pub clients: &'a [Prepared],
    pub attacks: &'a [&'static Attack],
    /// Tried on the default and on the strictest way alone.
    pub logins: &'a [&'static Attack],
    pub place: &'a Path,
    pub at_most: Duration,
}

/// A client that is there, with its version, or why not and what to do.
pub struct Prepared {
    pub client: &'static Client,
    ready: Ready,
}

impl Prepared {
    /// Its version, or why it is not there and what to do.
    pub fn version(&self) -> Result<&str, (&str, &str)> {
        match &self.ready {
            Ok(version) => Ok(version),
            Err((why, next)) => Err((why, next)),
        }
    }
}

/// Installs what is not there, if `installs`. Needs the network, so it comes before a namespace is entered.
///
/// # Errors
/// Where sealion's own files cannot be written; a driver that is not there is no error.
pub fn prepare(
    clients: &[&'static Client],
    place: &Path,
    installs: bool,
    said: &mut dyn FnMut(&str),
) -> Result<Vec<Prepared>, OpsError> {
    clients
        .iter()
        .map(|client| {
            let ready = ready(client, &place.join(client.id), installs, said)?;
            Ok(Prepared { client, ready })
        })
        .collect()
}

/// Tries every client that is there. `said` is called with a word of progress.
///
/// # Errors
/// A client that was there and cannot be started.
pub fn clients(
    stage: &Stage,
    wanted: &Wanted<'_>,
    stop: &AtomicBool,
    said: &mut dyn FnMut(&str),
    each: &mut dyn FnMut(&DriverTrial),
) -> Result<Vec<DriverTrial>, OpsError> {
    let mut all = Vec::new();
    for Prepared { client, ready } in wanted.clients {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let state = match ready {
            Ok(version) => {
                let dir = wanted.place.join(client.id);
                let mut rows = Vec::new();
                for mode in client.modes {
                    said(&format!("{}: {}", client.name, mode.options));
                    rows.push(try_mode(stage, wanted, wanted.attacks, client, mode, &dir, stop)?);
                }
                let mut logins = Vec::new();
                let has_login = wanted.logins.iter().any(|attack| attack.is_played_in(client.protocol));
                for row in rows.iter().filter(|row| has_login && is_default_or_strictest(row, &rows)) {
                    said(&format!("{}: {}, attacks on the login", client.name, row.mode.options));
                    let mut login = try_mode(stage, wanted, wanted.logins, client, row.mode, &dir, stop)?;
                    login.outcomes.splice(..0, row.outcomes.first().cloned());
                    logins.push(login);
                }
                State::Tried { version: version.clone(), rows, logins }
            }
            Err((why, next)) => State::NotHere { why: why.clone(), next: next.clone() },
        };
        let tried = DriverTrial { client, state };
        each(&tried);
        all.push(tried);
    }
    Ok(all)
}

/// Of those that accept the honest server: the one whose promise is broken by the fewest, and of those the one that
/// promises most.
fn strictest(rows: &[Row]) -> Option<&Row> {
    rows.iter().filter(|row| row.is_controlled() && row.mode.promises != Promise::Nothing).min_by_key(|row| {
        let broken = row.outcomes.iter().filter(|one| row.is_broken_by(one)).count();
        (broken, Reverse(row.mode.promises))
    })
}

fn is_default_or_strictest(row: &Row, all: &[Row]) -> bool {
    let is = |other: Option<&Row>| other.is_some_and(|other| other.mode.id == row.mode.id);
    is(all.first()) || is(strictest(all))
}

fn try_mode(
    stage: &Stage,
    wanted: &Wanted<'_>,
    attacks: &[&'static Attack],
    client: &'static Client,
    mode: &'static Mode,
    dir: &Path,
    stop: &AtomicBool,
) -> Result<Row, OpsError> {
    let command: Vec<OsString> =
        client.run.iter().map(|word| program(word, dir)).chain([OsString::from(mode.id)]).collect();
    let mut outcomes = Vec::new();
    for attack in attacks {
        let Some(port) = stage.rogue.port(attack, client.protocol) else { continue };
        let ended = run(
            stage,
            port,
            &command,
            Some(Place { dir, settings: None, front: None }),
            wanted.at_most,
            stop,
        )?;
        add(&mut outcomes, attack, &stage.rogue.visits(LAST_WORDS), ended);
    }
    Ok(Row { mode, outcomes })
}

/// A word with a slash in it is a file of the project.
pub(super) fn program(word: &str, dir: &Path) -> OsString {
    if word.contains('/') && !word.starts_with('-') { dir.join(word).into() } else { word.into() }
}

/// Its version, or why it cannot be run and what to do.
type Ready = Result<String, (String, String)>;

fn ready(
    client: &'static Client,
    dir: &Path,
    installs: bool,
    said: &mut dyn FnMut(&str),
) -> Result<Ready, OpsError> {
    let unwritable = |error: std::io::Error| {
        OpsError::usage(
            format!("{} cannot be written", dir.display()),
            error.to_string(),
            "choose another directory: --dir DIR",
        )
    };
    if let Some(missing) = client.needs.iter().find(|name| site::machine::program(name).is_none()) {
        return Ok(Err((format!("the program {missing} is missing"), client.needs_hint.to_owned())));
    }
    // Files and commands of this version of sealion: another version installs anew.
    let recipe = format!("{:?}\n{:?}", client.install, client.files);
    let is_installed = std::fs::read_to_string(dir.join(STAMP)).is_ok_and(|stamp| stamp == recipe);
    if !is_installed {
        if !installs {
            return Ok(Err((
                "not installed".into(),
                format!("sealion prove clients --install --only {}", client.id),
            )));
        }
        said(&format!("{}: installing", client.name));
        std::fs::create_dir_all(dir).map_err(unwritable)?;
        for (name, text) in client.files {
            let path = dir.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(unwritable)?;
            }
            std::fs::write(path, text).map_err(unwritable)?;
        }
        for command in client.install {
            if let Err(why) = say(command, dir) {
                return Ok(Err((
                    format!("{} failed: {why}", command.join(" ")),
                    client.needs_hint.to_owned(),
                )));
            }
        }
        std::fs::write(dir.join(STAMP), &recipe).map_err(unwritable)?;
    }
    let words: Vec<&str> = client.run.iter().copied().chain(["version"]).collect();
    Ok(say(&words, dir)
        .map_err(|why| (format!("it does not print its version: {why}"), client.needs_hint.to_owned())))
}

/// What a command prints, or the last line of why not.
fn say(words: &[&str], dir: &Path) -> Result<String, String> {
    let Some((name, rest)) = words.split_first() else { return Err("there is no command".into()) };
    let output = Command::new(program(name, dir))
        .args(rest)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(wire::printable(
            String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim(),
        ));
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(wire::printable(
        text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing").trim(),
    ))
}

/// What was tried, in the published shape.
pub fn report(all: &[DriverTrial]) -> ProveClientsReport {
    ProveClientsReport {
        schema: PROVE_CLIENTS_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        broken_promises: count(PromiseCount::of(all).broken),
        clients: all.iter().map(driver_row).collect(),
    }
}

/// The same for a repository: one line a case, and nothing of the machine that it was made on.
pub fn data(all: &[DriverTrial]) -> String {
    let mut report = report(all);
    for (row, one) in report.clients.iter_mut().zip(all) {
        // The words of a program that failed may name places.
        if row.why.is_some() {
            row.why = Some("not tested".into());
            row.next = Some(one.client.needs_hint.into());
        }
        // Nothing is predicted from these, and they are most of the bytes.
        let cases = row.modes.iter_mut().flat_map(|mode| mode.cases.iter_mut().chain(&mut mode.logins));
        cases.for_each(|case| case.trace.clear());
    }
    // One line for each case: a difference of two runs can be read.
    report
        .to_json()
        .replace("\n            {\n              ", "\n            { ")
        .replace("\n              ", " ")
        .replace("\n            }", " }")
}

fn driver_row(one: &DriverTrial) -> ProveDriverRow {
    let untried = ProveDriverRow {
        client: one.client.id.into(),
        name: one.client.name.into(),
        version: None,
        why: None,
        next: None,
        modes: vec![],
    };
    match &one.state {
        State::NotHere { why, next } => {
            ProveDriverRow { why: Some(why.clone()), next: Some(next.clone()), ..untried }
        }
        State::Tried { version, rows, logins } => {
            let protocol = one.client.protocol;
            let login = |row: &Row| logins.iter().find(|login| login.mode.id == row.mode.id);
            let modes = rows.iter().map(|row| ProveModeRow {
                mode: row.mode.id.into(),
                options: row.mode.options.into(),
                promises: row.mode.promises.to_string(),
                is_controlled: row.is_controlled(),
                broken_by: row.broken_promise().map(|one| one.attack.id.into()),
                cases: row.outcomes.iter().map(|one| case_row_in(one, protocol)).collect(),
                // The honest server is among `cases`.
                logins: login(row)
                    .map(|login| {
                        login.outcomes.iter().skip(1).map(|one| case_row_in(one, protocol)).collect()
                    })
                    .unwrap_or_default(),
            });
            ProveDriverRow { version: Some(version.clone()), modes: modes.collect(), ..untried }
        }
    }
}

/// One attack on one client, in the published shape.
pub fn case_row(one: &Outcome) -> ProveCaseRow {
    case_row_in(one, Protocol::MySql)
}

/// The same in the words of a protocol.
pub fn case_row_in(one: &Outcome, protocol: Protocol) -> ProveCaseRow {
    ProveCaseRow {
        case: one.attack.id.into(),
        family: one.attack.family.to_string(),
        verdict: one.verdict.letters().into(),
        text: one.verdict.text(protocol).into(),
        has_fallen: one.has_fallen(),
        is_guessable: one.is_guessable,
        connections: count(one.connections),
        client: one.client.clone(),
        exit: one.exit.clone(),
        defence: one.attack.defence.into(),
        trace: one.trace.clone(),
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The matrix as a page of markdown. Nothing in it is from this source but names and options: verdicts are those of `all`.
///
/// It names nothing of the machine that it was made on, and a client that could not be tried only by what it needs.
pub fn page(all: &[DriverTrial], columns: &[&Attack], on: &str) -> String {
    let ids: Vec<&str> = columns.iter().map(|attack| attack.id).collect();
    let asked = if ids == COLUMNS {
        String::new()
    } else {
        ids.iter()
            .filter(|id| **id != "honest")
            .fold(String::new(), |words, id| format!("{words} --case {id}"))
    };
    let kept = PromiseCount::of(all);
    let mut page = format!(
        "# Client behaviour under attack\n\n\
         Made by `sealion prove clients --install{asked} --page FILE` on {on}; the same command makes it again.\n\
         The same run wrote `clients.json`, from which `sealion prove config` makes its predictions.\n\
         Each client was run once for each column. What the rogue server received decides\n\
         ([the letters](../tasks/prove.md#verdicts)). The promise is what somebody who reads the options expects. **Bold**: the client\n\
         was weaker than that. *Italics*: the client did not accept the honest server, so that row shows nothing about attacks.\n\n\
         Of {} TLS settings that promise something, {} are weaker than they promise; {} of them use or fall back to cleartext.\n\n\
         | client | options | promise | {} |\n|---|---|---|{}\n",
        kept.promising,
        kept.broken,
        kept.in_clear,
        ids.join(" | "),
        "---|".repeat(ids.len()),
    );
    page += &table(all, &ids, |state| match state {
        State::Tried { rows, .. } => rows,
        State::NotHere { .. } => &[],
    });
    let has_logins =
        |one: &DriverTrial| matches!(&one.state, State::Tried { logins, .. } if !logins.is_empty());
    if all.iter().any(has_logins) {
        page += &format!(
            "\n## At login and after it\n\n\
             For each client the default settings and the strictest ones: those that are broken by the fewest attacks and promise\n\
             most. The first five columns and `local-infile` are without TLS, so a client that requires TLS closes after the\n\
             greeting. `PW`: the rogue server obtained the password. `FILE`: it obtained a file that it named. In `ok-before-tls`\n\
             the certificate is right, but an OK packet in cleartext comes before TLS, and nothing after it: with `AT` the client\n\
             took that OK for the answer to its login, with `cT` it waited for the real answer.\n\n\
             | client | options | promise | {} |\n|---|---|---|{}\n",
            LOGINS.join(" | "),
            "---|".repeat(LOGINS.len()),
        );
        page += &table(all, &LOGINS, |state| match state {
            State::Tried { logins, .. } => logins,
            State::NotHere { .. } => &[],
        });
    }
    let missing: Vec<String> = all
        .iter()
        .filter_map(|one| match &one.state {
            State::NotHere { .. } => Some(format!("- {}: `{}`\n", one.client.name, one.client.needs_hint)),
            State::Tried { .. } => None,
        })
        .collect();
    if !missing.is_empty() {
        page += "\nNot tested, and what they need:\n\n";
        page += &missing.concat();
    }
    page
}

fn table(all: &[DriverTrial], ids: &[&str], rows: impl Fn(&State) -> &[Row]) -> String {
    let mut table = String::new();
    for one in all {
        let State::Tried { version, .. } = &one.state else { continue };
        for row in rows(&one.state) {
            let cells: Vec<String> = ids.iter().map(|id| cell(row, id)).collect();
            table += &format!(
                "| {} {version} | `{}` | {} | {} |\n",
                one.client.name,
                row.mode.options.replace('|', "\\|"),
                row.mode.promises,
                cells.join(" | ")
            );
        }
    }
    table
}

fn cell(row: &Row, id: &str) -> String {
    let Some(outcome) = row.outcomes.iter().find(|one| one.attack.id == id) else { return "-".into() };
    let letters = outcome.verdict.letters();
    match (row.is_controlled(), row.is_broken_by(outcome)) {
        (false, _) => format!("*{letters}*"),
        (_, true) => format!("**{letters}**"),
        _ => letters.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prove::attacks::attack;

    const MODES: &[Mode] = &[
        Mode { id: "a", options: "mode=a|b", promises: Promise::Identity },
        Mode { id: "b", options: "mode=b", promises: Promise::Encrypted },
    ];
    const DRIVER: Client = Client {
        id: "driver",
        name: "Driver",
        protocol: Protocol::MySql,
        files: &[],
        needs: &[],
        needs_hint: "install driver",
        install: &[],
        run: &["driver"],
        modes: MODES,
        settings: None,
    };

    fn row(mode: usize, verdicts: &[(&str, Verdict)]) -> Row {
        let outcomes = verdicts.iter().map(|(id, verdict)| Outcome {
            attack: attack(id).expect("it is in the list"),
            verdict: *verdict,
            connections: 1,
            late: 0,
            client: None,
            is_guessable: false,
            exit: String::new(),
            words: "/root/of/this/machine".into(),
            trace: vec!["client: closes".into()],
        });
        Row { mode: &MODES[mode], outcomes: outcomes.collect() }
    }

    #[test]
    fn a_promise_is_broken_by_what_it_excludes_and_by_nothing_else() {
        let (clear, tls) = (Verdict::Accepted(Channel::Clear), Verdict::Accepted(Channel::Tls));
        let check = |promise, id: &str, verdict, is_broken: bool| {
            let attack = attack(id).expect("it is in the list");
            assert_eq!(breaks(promise, attack, verdict), is_broken, "{promise:?} {id} {verdict:?}");
        };
        for (promise, by) in [
            (Promise::Nothing, [false; 4]),
            (Promise::Encrypted, [true, false, false, false]),
            (Promise::Chain, [true, true, true, false]),
            (Promise::Identity, [true, true, true, true]),
        ] {
            let cases = [("strip", clear), ("self-signed", tls), ("expired", tls), ("wrong-name", tls)];
            for ((id, verdict), is_broken) in cases.into_iter().zip(by) {
                check(promise, id, verdict, is_broken);
                check(promise, id, Verdict::RefusedAfterGreeting, false);
            }
            check(promise, "honest", tls, false);
            check(promise, "wildcard", tls, false);
        }
        check(Promise::Encrypted, "clear-password", Verdict::PasswordObtained(Channel::Clear), true);
        check(Promise::Encrypted, "clear-password-tls", Verdict::PasswordObtained(Channel::Tls), false);
        check(Promise::Chain, "clear-password-tls", Verdict::PasswordObtained(Channel::Tls), true);
        check(Promise::Encrypted, "local-infile", Verdict::FileObtained(Channel::Clear), true);
    }

    #[test]
    fn the_page_says_what_was_seen_and_nothing_of_the_machine() {
        let (clear, tls) = (Verdict::Accepted(Channel::Clear), Verdict::Accepted(Channel::Tls));
        let rows = vec![
            row(0, &[("honest", tls), ("strip", clear)]),
            row(1, &[("honest", Verdict::RefusedInHandshake), ("strip", clear)]),
        ];
        let logins =
            vec![row(0, &[("honest", tls), ("clear-password", Verdict::PasswordObtained(Channel::Clear))])];
        let not_here = State::NotHere { why: "/root/x failed".into(), next: "look at /root/x".into() };
        let all = [
            DriverTrial { client: &DRIVER, state: State::Tried { version: "1.2".into(), rows, logins } },
            DriverTrial { client: &DRIVER, state: not_here },
        ];
        assert_eq!(PromiseCount::of(&all), PromiseCount { promising: 1, broken: 1, in_clear: 1 });
        let columns = ["honest", "strip"].map(|id| attack(id).expect("it is in the list"));
        let page = page(&all, &columns, "2026-11-21");
        assert!(page.contains("| Driver 1.2 | `mode=a\\|b` | the host | AT | **AP** |\n"), "{page}");
        assert!(page.contains("| Driver 1.2 | `mode=b` | encryption | *T* | *AP* |\n"), "{page}");
        assert!(page.contains("| Driver 1.2 | `mode=a\\|b` | the host | **PW** | - | "), "{page}");
        let data = data(&all);
        assert!(
            data.contains("clear-password") && !data.contains("closes") && !data.contains("/root"),
            "{data}"
        );
        assert!(page.contains("--install --case strip --page FILE` on 2026-11-21"), "{page}");
        assert!(page.contains("- Driver: `install driver`\n") && !page.contains("/root"), "{page}");
    }
}
