//! `sealion prove config`: connections in the settings of applications, what the matrix says of each, and what would be better.
//!
//! No verdict is made here. A prediction is the row of the matrix for the mode that the settings are; where they are none that
//! was measured, it is unknown, and [`confirm`] can run the driver with them.

use std::cmp::Reverse;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use model::Severity;
use prove::client::{Client, Kind};
use prove::config::across::{Set, Standing};
use prove::config::choose::{self, Choice, is_chosen};
use prove::config::option_file::{self, Line};
use prove::config::{
    self, ConnectionSettings, Driver, Setting, SettingValue, Style, is_socket_key, is_writable, style,
};
use report::shape::{PROVE_CLIENTS_SCHEMA_ID, ProveClientsReport, ProveModeRow};
use server::options::{LocalFiles, Start};

use site::OpsError;

pub mod confirm;
mod environments;
mod neighbours;
pub mod rows;
mod weaknesses;

use environments::{Environments, SetAgain};
use neighbours::{django_driver, file_name, folder_of, spring_beside};
pub use weaknesses::Weaknesses;

pub use prove::config::{families, family};

/// Every verdict that a prediction can have.
#[derive(Debug, Clone)]
pub struct Matrix {
    report: ProveClientsReport,
    /// For people: which run that is.
    pub source: String,
}

impl Matrix {
    /// The one that comes with this sealion.
    ///
    /// # Errors
    /// A fault of ours: a test reads it.
    pub fn built_in() -> Result<Self, OpsError> {
        let report = serde_json::from_str(report::drivers::matrix())
            .map_err(|error| OpsError::internal("the matrix that is built in cannot be read", error))?;
        Ok(Self { report, source: "built in".into() })
    }

    /// One of your own: `sealion prove clients --format json >FILE`.
    ///
    /// # Errors
    /// A file that is none.
    pub fn from_file(path: &Path) -> Result<Self, OpsError> {
        let wrong = |why: String| {
            OpsError::usage(
                format!("{} is no matrix", path.display()),
                why,
                "make one: sealion prove clients --format json >FILE",
            )
        };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let report: ProveClientsReport =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if report.schema != PROVE_CLIENTS_SCHEMA_ID {
            return Err(wrong(format!(
                "its schema is {}, not {PROVE_CLIENTS_SCHEMA_ID}",
                wire::printable(&report.schema)
            )));
        }
        Ok(Self { report, source: path.display().to_string() })
    }

    pub fn version(&self, client: &Client) -> Option<&str> {
        self.report.clients.iter().find(|one| one.client == client.id)?.version.as_deref()
    }

    fn row(&self, client: &Client, mode: &str) -> Option<&ProveModeRow> {
        let one = self.report.clients.iter().find(|one| one.client == client.id)?;
        one.modes.iter().find(|row| row.mode == mode)
    }
}

/// What was asked for.
pub struct ConfigRequest<'a> {
    pub files: &'a [PathBuf],
    /// Connection texts.
    pub texts: &'a [String],
    /// The driver of texts that do not name theirs.
    pub driver: Option<&'static str>,
}

/// All that was found in the files.
#[derive(Debug, Clone, Default)]
pub struct ConfigReview {
    pub connections: Vec<Connection>,
    pub unread: Vec<Unread>,
    pub notes: Vec<Note>,
}

#[derive(Debug, Clone)]
pub struct Unread {
    pub file: String,
    pub line: Option<usize>,
    pub why: String,
}

#[derive(Debug, Clone)]
pub struct Note {
    pub file: String,
    pub text: String,
}

/// One connection, with a prediction for each client that may be the one.
#[derive(Debug, Clone)]
pub struct Connection {
    pub file: String,
    pub form: &'static str,
    pub found: ConnectionSettings,
    pub predictions: Vec<Prediction>,
}

#[derive(Debug, Clone)]
pub struct Prediction {
    pub client: &'static Client,
    /// The version that was measured.
    pub version: Option<String>,
    pub said: PredictedOutcome,
    pub fix: Option<Fix>,
    pub confirmed: Option<confirm::Confirmed>,
}

#[derive(Debug, Clone)]
pub enum PredictedOutcome {
    Row {
        row: ProveModeRow,
        provided: &'static str,
    },
    /// It goes through a Unix socket, whatever it says of TLS.
    Local,
    Unknown(String),
}

/// What to write instead.
#[derive(Debug, Clone)]
pub struct Fix {
    /// Lines as they stand in a file of this form; none where nothing that was measured is better.
    pub set: Vec<String>,
    /// Settings that go.
    pub remove: Vec<Setting>,
    /// What is still open then, or what to do where no setting helps.
    pub note: String,
    /// The mode that it promises; empty where it writes nothing.
    pub mode: &'static str,
}

impl Prediction {
    pub fn falls(&self) -> Option<Weaknesses> {
        // What was seen counts more than what was said.
        if let Some(confirm::Confirmed::Observed(seen)) = &self.confirmed {
            return seen.is_controlled.then(|| Weaknesses::of(&seen.cases, seen.broken_by.as_deref()));
        }
        match &self.said {
            PredictedOutcome::Row { row, .. } => Some(Weaknesses::of(&row.cases, row.broken_by.as_deref())),
            PredictedOutcome::Local => Some(Weaknesses::of(&[], None)),
            PredictedOutcome::Unknown(_) => None,
        }
    }

    /// For people: what it comes to.
    pub fn means(&self) -> Option<String> {
        match self.said {
            PredictedOutcome::Local => Some("connects over a Unix socket, not over a network".into()),
            _ => self.falls().map(Weaknesses::sentence),
        }
    }

    pub fn severity(&self) -> Option<Severity> {
        self.falls().and_then(Weaknesses::severity)
    }

    /// An old version that was not measured with some words says nothing against the others.
    fn counts(&self) -> bool {
        !self.client.settings.is_some_and(|settings| settings.is_old)
    }

    /// Nothing can be said: neither the matrix nor a run does.
    pub fn is_unknown(&self) -> bool {
        self.falls().is_none()
    }
}

impl Connection {
    /// Its client is not known, so nothing was predicted; or nothing could be.
    pub fn is_unknown(&self) -> bool {
        self.predictions.is_empty()
            || self.predictions.iter().filter(|one| one.counts()).any(Prediction::is_unknown)
            || self.undecided().is_some()
    }

    /// Why it is not known which of two builds in a package connects, where they do not do the same. Each prediction may be the one.
    pub fn undecided(&self) -> Option<String> {
        let (name, builds) = builds(&self.predictions)?;
        (!agree(&builds)).then(|| {
            format!("which of the two implementations connects is not in the file: {name} decides, and without it what is installed")
        })
    }

    pub fn severity(&self) -> Option<Severity> {
        self.predictions.iter().filter_map(Prediction::severity).max()
    }
}

/// Reads everything, and predicts. A file that cannot be read stops nothing: it is in [`ConfigReview::unread`].
pub fn look(asked: &ConfigRequest<'_>, matrix: &Matrix) -> ConfigReview {
    let mut looked = ConfigReview::default();
    for (index, text) in asked.texts.iter().enumerate() {
        let file =
            if asked.texts.len() == 1 { "(the URL)".to_owned() } else { format!("(URL {})", index + 1) };
        match config::text(text) {
            Some(found) => looked.connections.push(connection(file, "URL", found, asked.driver, matrix)),
            // The text is not repeated: it may be a password.
            None => looked.unread.push(Unread {
                file,
                line: None,
                why: "it is no connection URL or DSN that is known".into(),
            }),
        }
    }
    // An environment that is given beside a program is that program's.
    let has_switch = |path: &&PathBuf| {
        read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(config::NODE_SWITCH))
    };
    let switch = asked.files.iter().find(has_switch).map(|path| path.display().to_string());
    let set = neighbours::set(asked.files);
    let mut environments = Environments::of(asked.files);
    for path in asked.files {
        file(path, asked, &set, switch.as_deref(), matrix, &mut environments, &mut looked);
    }
    environments.doubt(&mut looked, matrix);
    neighbours::doubt_option_files(&mut looked, matrix);
    looked
}

/// `switch`: the file that decides for a whole Node program whether certificates are verified.
fn file(
    path: &Path,
    asked: &ConfigRequest<'_>,
    set: &Set,
    switch: Option<&str>,
    matrix: &Matrix,
    environments: &mut Environments,
    looked: &mut ConfigReview,
) {
    let driver = asked.driver;
    let name = path.display().to_string();
    let unread = |line: Option<usize>, why: String| Unread { file: name.clone(), line, why };
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(why) => return looked.unread.push(unread(None, why)),
    };
    if config::forms::form(&name).id == "option-file" {
        return option_files(path, &name, matrix, looked);
    }
    let (form, all) = match set.read(&name, &bytes) {
        Ok(read) => read,
        Err(error) => return looked.unread.push(unread(error.line(), error.to_string())),
    };
    let is_silent = all.found.is_empty()
        && all.unread.is_empty()
        && all.notes.is_empty()
        && all.environment_files.is_empty();
    looked.unread.extend(all.unread.into_iter().map(|one| unread(Some(one.line), one.why)));
    looked.notes.extend(all.notes.into_iter().map(|text| Note { file: name.clone(), text }));
    let beside = spring_beside(path, asked);
    // Variables that a file sets again; and the line of one that could not be read, and may set any.
    let (mut again, mut may_be_any): (Vec<String>, _) = (Vec::new(), None);
    let mut before: Vec<(String, Vec<String>)> = Vec::new();
    for (other, line) in all.environment_files {
        // Of a unit it is absolute; of a compose file it counts from that file. A specifier, a pattern or a variable is neither.
        if other.contains(['%', '*', formats::settings::HOLE]) {
            may_be_any.get_or_insert(line);
            looked
                .unread
                .push(unread(Some(line), "the environment file that it names is no plain path".into()));
            continue;
        }
        let other = path.parent().unwrap_or(Path::new("")).join(other);
        let (shown, is_judged_elsewhere) = environments.name(&other);
        let mut own = ConfigReview::default();
        let Some(variables) = environment_file(&other, driver, matrix, &mut own) else {
            may_be_any.get_or_insert(line);
            looked.unread.extend(own.unread);
            continue;
        };
        if !is_judged_elsewhere {
            looked.connections.extend(own.connections);
            looked.unread.extend(own.unread);
        }
        let mut set_again = |file: &str, variable: &str, line, why| {
            environments.again.push(SetAgain {
                file: file.to_owned(),
                variable: variable.to_owned(),
                by: name.clone(),
                line,
                why,
            });
        };
        // The later of two files counts, and in a compose file what stands in it counts more than any.
        for (earlier, known) in &before {
            for variable in known.iter().filter(|known| variables.contains(known)) {
                set_again(earlier, variable, line, "a later environment file sets it again");
            }
        }
        if !all.files_count_more {
            for (variable, line) in all.set_beside.iter().filter(|(known, _)| variables.contains(known)) {
                set_again(&shown, variable, *line, "what names that file sets it again");
            }
        }
        before.push((shown, variables.clone()));
        again.extend(variables);
    }
    let is_asked_for = |found: &ConnectionSettings| set.is_asked_for(&name, &found.what);
    let (templates, used): (Vec<_>, Vec<_>) =
        all.templates.into_iter().partition(|found| !is_asked_for(found));
    looked.notes.extend(templates.into_iter().map(|found| Note {
        file: name.clone(),
        text: format!(
            "{} (line {}) is a template: others are made of it, and nobody connects to it",
            found.what, found.line
        ),
    }));
    for mut found in all.found.into_iter().chain(used) {
        if let Standing::Elsewhere(text) = set.look(&name, &mut found) {
            looked.notes.push(Note { file: name.clone(), text });
            continue;
        }
        if found.driver.is_of_django()
            && let Some(family) = django_driver(path, asked)
        {
            found.driver = Driver::Family(family);
            config::settle(&mut found);
        }
        if let Some(switch) = switch
            && matches!(found.driver, config::Driver::Family(family) if family.starts_with("node-"))
        {
            let mut obstacle = config::obstacle(
                1,
                "NODE_TLS_REJECT_UNAUTHORIZED is named there, which decides for the whole program",
            );
            obstacle.file = Some(switch.to_owned());
            found.settings.push(obstacle);
        }
        for (other, bytes) in &beside {
            let is_beside = folder_of(other) == folder_of(path);
            let line = config::spoken_of(&found, &file_name(path), &file_name(other), bytes, is_beside);
            let Some(line) = line else { continue };
            let mut obstacle =
                config::obstacle(line, "another file of Spring speaks of the same data source");
            obstacle.file = Some(other.display().to_string());
            found.settings.push(obstacle);
        }
        if all.files_count_more {
            if again.contains(&found.what) {
                continue;
            }
            if let Some(line) = may_be_any {
                found.settings.push(config::obstacle(line, "the file that is named there may set it again"));
            }
        }
        looked.connections.push(connection(name.clone(), form.name, found, driver, matrix));
    }
    // What was named to tell which driver another file's connection has.
    let is_witness = matches!(file_name(path).as_str(), "__init__.py" | "manage.py") && asked.files.len() > 1;
    if is_silent && !is_witness {
        looked.unread.push(unread(None, format!("no connection was found in it (read as {})", form.name)));
    }
}

/// Something elsewhere may change a connection: its predictions are made anew.
fn doubt(one: &mut Connection, line: usize, file: &str, why: &str, matrix: &Matrix) {
    let mut obstacle = config::obstacle(line, why);
    obstacle.file = Some(file.to_owned());
    one.found.settings.push(obstacle);
    let clients: Vec<&'static Client> = one.predictions.iter().map(|prediction| prediction.client).collect();
    one.predictions = clients.into_iter().map(|client| predict(client, &one.found, matrix)).collect();
}

/// Whatever it is called, it is an environment. The names of its variables; none where it cannot be read.
fn environment_file(
    path: &Path,
    driver: Option<&'static str>,
    matrix: &Matrix,
    looked: &mut ConfigReview,
) -> Option<Vec<String>> {
    let name = path.display().to_string();
    let read = read(path).and_then(|bytes| config::read(".env", &bytes).map_err(|error| error.to_string()));
    match read {
        Ok((form, all)) => {
            for found in all.found {
                looked.connections.push(connection(name.clone(), form.name, found, driver, matrix));
            }
            looked.unread.extend(all.unread.into_iter().map(|one| Unread {
                file: name.clone(),
                line: Some(one.line),
                why: one.why,
            }));
            Some(all.variables)
        }
        Err(why) => {
            looked.unread.push(Unread { file: name, line: None, why });
            None
        }
    }
}

/// At most what settings have; never a device or a pipe, which may not end. To open a pipe that nobody writes to would wait.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_NONBLOCK)
        .open(path)
        .map_err(|error| error.to_string())?;
    let is_file = file.metadata().map_err(|error| error.to_string())?.is_file();
    if !is_file {
        return Err("it is no file".into());
    }
    let limit = u64::try_from(formats::settings::SETTINGS_BYTES_MAX).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// What each client reads in an option file and all that it includes.
fn option_files(path: &Path, name: &str, matrix: &Matrix, looked: &mut ConfigReview) {
    let mut all: Vec<Connection> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    for client in option_file::readers() {
        let groups: Vec<String> = client
            .settings
            .map_or(&[][..], |settings| settings.groups)
            .iter()
            .map(|group| (*group).to_owned())
            .collect();
        let effective =
            match server::options::resolve(&Start::DefaultsFile(path.to_owned()), &groups, &LocalFiles) {
                Ok(effective) => effective,
                Err(error) => {
                    // Every client fails at the same place. A line that is quoted may have a password in it, however broken.
                    let why = error.to_string();
                    let why = without_quotes(why.lines().next().unwrap_or_default());
                    looked.unread.push(Unread { file: name.to_owned(), line: None, why });
                    return;
                }
            };
        notes.extend(effective.notes);
        let mut seen_groups: Vec<String> = Vec::new();
        let lines: Vec<Line> = effective
            .settings
            .into_iter()
            .map(|setting| {
                if !seen_groups.contains(&setting.group) {
                    seen_groups.push(setting.group.clone());
                }
                let is_secret = formats::optfile::is_secret_key(&setting.key);
                Line {
                    key: setting.key_as_written,
                    value: setting.value.filter(|_| !is_secret),
                    file: (setting.file != path).then(|| setting.file.display().to_string()),
                    line: setting.line,
                }
            })
            .collect();
        let Some(mut found) = option_file::found(client, &lines) else { continue };
        found.what = format!("[{}]", seen_groups.join("] ["));
        let prediction = predict(client, &found, matrix);
        // Clients that read the same lines are told together.
        match all.iter_mut().find(|one| one.found.settings == found.settings && one.found.what == found.what)
        {
            Some(one) => one.predictions.push(prediction),
            None => all.push(Connection {
                file: name.to_owned(),
                form: "an option file",
                found,
                predictions: vec![prediction],
            }),
        }
    }
    notes.sort();
    notes.dedup();
    looked.notes.extend(notes.into_iter().map(|text| Note { file: name.to_owned(), text }));
    if all.is_empty() {
        looked.unread.push(Unread {
            file: name.to_owned(),
            line: None,
            why: "it has no group that a client reads: a server's settings are checked by sealion status"
                .into(),
        });
    }
    looked.connections.extend(all);
}

/// Without what stands between the first and the last quote.
fn without_quotes(text: &str) -> String {
    match (text.find('"'), text.rfind('"')) {
        (Some(first), Some(last)) if first < last => {
            format!(
                "{}(not shown){}",
                text.get(..first).unwrap_or_default(),
                text.get(last + 1..).unwrap_or_default()
            )
        }
        _ => text.to_owned(),
    }
}

fn connection(
    file: String,
    form: &'static str,
    mut found: ConnectionSettings,
    driver: Option<&'static str>,
    matrix: &Matrix,
) -> Connection {
    if let (Driver::Unknown { one_of, .. }, Some(family)) = (&found.driver, driver)
        && (!found.driver.is_of_django() || one_of.contains(&family))
    {
        found.driver = Driver::Family(family);
        config::settle(&mut found);
    }
    let of_family = |name: &str, found: &ConnectionSettings| -> Vec<Prediction> {
        family(name)
            .into_iter()
            .filter(|client| is_chosen(client, &found.settings))
            .map(|client| predict(client, found, matrix))
            .collect()
    };
    let predictions = match &found.driver {
        Driver::Family(name) => of_family(name, &found),
        // One of two: what both do is known, and nothing else.
        Driver::Unknown { one_of, .. } if found.driver.is_of_django() => {
            let each: Vec<Vec<Prediction>> = one_of
                .iter()
                .map(|name| {
                    let mut found = ConnectionSettings { driver: Driver::Family(name), ..found.clone() };
                    config::settle(&mut found);
                    of_family(name, &found)
                })
                .collect();
            if agree(&each.iter().map(|one| one.iter().collect()).collect::<Vec<_>>()) {
                each.into_iter().flatten().collect()
            } else {
                vec![]
            }
        }
        Driver::Unknown { .. } => vec![],
    };
    Connection { file, form, found, predictions }
}

/// Predictions by the build that they are about, where nothing chooses one; and the word that would.
fn builds(predictions: &[Prediction]) -> Option<(&'static str, [Vec<&Prediction>; 2])> {
    let switch = |one: &Prediction| one.client.settings.and_then(|settings| settings.chosen_by);
    let (name, _) = predictions.iter().find_map(switch)?;
    let of = |wanted: bool| predictions.iter().filter(|one| switch(one) == Some((name, wanted))).collect();
    let both = [of(false), of(true)];
    both.iter().all(|one: &Vec<_>| !one.is_empty()).then_some((name, both))
}

/// Whether one is as good as the other, whichever of its versions it is.
fn agree(each: &[Vec<&Prediction>]) -> bool {
    let mut all = each.iter().map(|predictions| {
        let mut outcomes: Vec<_> = predictions
            .iter()
            .filter(|one| one.counts())
            .map(|one| {
                one.falls().map(|falls| (matches!(one.said, PredictedOutcome::Local), falls.in_effect()))
            })
            .collect();
        outcomes.sort_unstable();
        outcomes.dedup();
        outcomes
    });
    let Some(first) = all.next() else { return true };
    !first.is_empty() && first.iter().all(Option::is_some) && all.all(|one| one == first)
}

fn predict(client: &'static Client, found: &ConnectionSettings, matrix: &Matrix) -> Prediction {
    let said = match choose::choose(client, &found.settings) {
        _ if found.is_local() => PredictedOutcome::Local,
        Choice::Unknown(why) => PredictedOutcome::Unknown(why),
        Choice::Mode { mode, provided } => match matrix.row(client, mode) {
            // A name stands for something that another place says: nothing good is known of it.
            Some(row)
                if row.is_controlled
                    && provided.starts_with(prove::client::NAMED_ELSEWHERE)
                    && Weaknesses::of(&row.cases, row.broken_by.as_deref()).severity().is_none() =>
            {
                PredictedOutcome::Unknown(format!(
                    "it is only safe provided that {provided}, and that is not in this file"
                ))
            }
            Some(row) if row.is_controlled => PredictedOutcome::Row { row: row.clone(), provided },
            Some(_) => PredictedOutcome::Unknown(
                "with these settings it did not accept the honest server, so nothing is known of attacks"
                    .into(),
            ),
            None => PredictedOutcome::Unknown("the matrix has no row for these settings".into()),
        },
    };
    let fix = fix(client, found, &said, matrix);
    Prediction { client, version: matrix.version(client).map(str::to_owned), said, fix, confirmed: None }
}

/// The best that was measured, as it is written in this file.
fn fix(
    client: &'static Client,
    found: &ConnectionSettings,
    said: &PredictedOutcome,
    matrix: &Matrix,
) -> Option<Fix> {
    let now = match said {
        PredictedOutcome::Row { row, .. } => Some(Weaknesses::of(&row.cases, row.broken_by.as_deref())),
        PredictedOutcome::Local => return None,
        PredictedOutcome::Unknown(_) => None,
    };
    if now.is_some_and(|now| now.severity().is_none()) {
        return None;
    }
    let settings = client.settings?;
    let measured =
        settings.spelt.iter().filter(|spelt| is_writable(found.style, client, settings, spelt)).filter_map(
            |spelt| {
                let row = matrix.row(client, spelt.mode).filter(|row| row.is_controlled)?;
                Some((spelt, Weaknesses::of(&row.cases, row.broken_by.as_deref())))
            },
        );
    // The safest; of those what promises most, needs nothing besides, and is nearest to what is there.
    let (best, falls) = measured.min_by_key(|(spelt, falls)| {
        let promises = choose::mode(client, spelt.mode).map(|mode| mode.promises);
        (
            falls.weight(),
            Reverse(promises),
            !spelt.provided.is_empty(),
            choose::changes(client, spelt, &found.settings),
        )
    })?;
    if falls.in_clear {
        let helps = |spelt: &prove::client::Spelt| {
            matrix
                .row(client, spelt.mode)
                .filter(|row| row.is_controlled)
                .is_some_and(|row| !Weaknesses::of(&row.cases, row.broken_by.as_deref()).in_clear)
        };
        let note = if settings.spelt.iter().any(helps) {
            format!("what keeps {} from cleartext cannot be written here: set it in the program", client.name)
        } else {
            format!(
                "no setting of {} that was measured keeps it from cleartext: use another driver, a Unix socket or a tunnel",
                client.name
            )
        };
        return Some(Fix { set: vec![], remove: vec![], note, mode: "" });
    }
    if now.is_some_and(|now| now.weight() <= falls.weight()) {
        return Some(Fix {
            set: vec![],
            remove: vec![],
            note: "nothing better was measured with this driver".into(),
            mode: "",
        });
    }
    let named = found.settings.iter().find_map(|setting| match &setting.given {
        SettingValue::Text(text) if setting.key == "tls" => Some(text.as_str()),
        _ => None,
    });
    let ca = found.settings.iter().find_map(|setting| match &setting.given {
        SettingValue::Text(text)
            if is_ca(settings, setting) && !text.is_empty() && !text.contains("-----BEGIN") =>
        {
            Some(text.replace(formats::settings::HOLE, "…"))
        }
        _ => None,
    });
    let ca = ca.map_or_else(|| style::CA.to_owned(), |ca| wire::printable(&ca));
    let is_beside = |key: &str| choose::key(settings, key).is_some_and(|key| key.kind == Kind::Beside);
    // `ssl: …` is written anew by `ssl: { … }`.
    let root = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let stays = |setting: &Setting| {
        // What is in the way and is no word of the file's cannot be taken out of it.
        setting.key == "..."
            || is_socket_key(&setting.key)
            || is_beside(&setting.key)
            || settings.chosen_by.is_some_and(|(name, _)| name == setting.key)
            || choose::key(settings, &setting.key)
                .is_some_and(|key| best.settings.iter().any(|(name, _)| *name == key.name))
            || best.settings.iter().any(|(name, _)| name.contains('.') && root(name) == setting.key)
    };
    let remove = found.settings.iter().filter(|setting| !stays(setting)).cloned().collect();
    let mut note = String::new();
    if let Some(severity) = falls.severity() {
        note = format!("the best that was measured; still {severity}: it {}", falls.sentence());
    }
    if found.style == Style::WordPress {
        note += if note.is_empty() { "" } else { "; " };
        note += "wp-config.php cannot name a CA: certificate verification needs a drop-in (wp-content/db.php) that calls \
                 mysqli_ssl_set() before it connects";
    }
    if !best.provided.is_empty() {
        note += if note.is_empty() { "" } else { "; " };
        note += "provided that ";
        note += best.provided;
    }
    Some(Fix { set: style::write(found.style, client, best, named, &ca), remove, note, mode: best.mode })
}

fn is_ca(settings: &'static prove::client::Settings, setting: &Setting) -> bool {
    choose::key(settings, &setting.key).is_some_and(|key| key.kind == Kind::Ca)
}

/// A setting's value for people: what is known to be no secret.
pub fn shown(client: Option<&'static Client>, setting: &Setting) -> Option<String> {
    let kind = client
        .and_then(|client| client.settings)
        .and_then(|settings| choose::key(settings, &setting.key))
        .map(|key| key.kind);
    match &setting.given {
        SettingValue::Flag(is_on) => Some(is_on.to_string()),
        SettingValue::Content => Some("(a file's content)".into()),
        SettingValue::Text(text) if text.contains("-----BEGIN") => Some("(a certificate)".into()),
        SettingValue::Text(text)
            if matches!(kind, Some(Kind::Ca | Kind::Flag | Kind::Switch | Kind::Word)) =>
        {
            Some(wire::printable(&text.replace(formats::settings::HOLE, "…")))
        }
        SettingValue::Text(_) | SettingValue::Unread(_) => None,
    }
}

/// How a place is written for people.
pub fn place(file: &str, setting: &Setting) -> String {
    format!("{}:{}", setting.file.as_deref().unwrap_or(file), setting.line)
}

/// Whether settings are of a command line, where a line number says nothing.
pub fn is_typed(style: Style, file: &str) -> bool {
    style == Style::Query && file.starts_with('(')
}

#[cfg(test)]
mod fixes;
#[cfg(test)]
mod soundness;
#[cfg(test)]
mod tests;
