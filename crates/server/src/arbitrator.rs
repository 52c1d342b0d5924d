//! garbd: a member of a Galera cluster that votes and has no data, hence no SQL port. What it was started with is on its command
//! line, what it will be started with in a file of variables that its start script reads.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use formats::shell_vars::{SHELL_FILE_BYTES_MAX, ShellVars};
use host::{ProcessFacts, ReadHost, ServiceState, WriteHost};
use net::{ConnectOptions, PemSet};

use crate::live::LiveNode;
use crate::machine::Machine;
use crate::node::{Admits, Alive, NodeError, NodeSpec, ReadMember, WriteMember};
use crate::provider_options::{GaleraState, ProviderOptions};

/// The variable of its file that has the provider's options.
///
/// # Source
/// garb-systemd of Galera 26.4.23: `-o '$GALERA_OPTIONS'`.
pub const OPTIONS: &str = "GALERA_OPTIONS";
/// The variable that names the cluster.
pub const GROUP: &str = "GALERA_GROUP";

const PROGRAM: &str = "garbd";
/// A service manager that does not say within this time whether a service runs is not asked again in that round.
const ASK_S_MAX: u64 = 5;

/// What a running one was started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArbitratorView {
    pub process: ProcessFacts,
    pub group: String,
    pub options: ProviderOptions,
}

impl ArbitratorView {
    pub fn state(&self) -> GaleraState {
        GaleraState::at_start(&self.options)
    }
}

/// Looks at one arbitrator.
pub trait ReadArbitrator: ReadMember {
    /// # Errors
    /// `Down` when it does not run, `Silent` when that cannot be told, `Refused` when its command line says nothing of its options.
    fn view(&mut self) -> Result<ArbitratorView, NodeError>;
    /// What its start script reads now.
    fn file(&mut self) -> Result<ShellVars, NodeError>;
    /// The options in it.
    fn file_options(&mut self) -> Result<ProviderOptions, NodeError> {
        let name = self.name().clone();
        let file = self.file()?;
        let options =
            file.get(OPTIONS).map_err(|error| NodeError::Host { node: name, why: error.to_string() })?;
        Ok(ProviderOptions::parse(options.map_or("", |(text, _)| text)))
    }
}

/// Changes one arbitrator. Only a step's action is given this.
pub trait WriteArbitrator: ReadArbitrator + WriteMember {
    fn reading(&mut self) -> &mut dyn ReadArbitrator;
}

/// Whom it runs as: its process says; while it is down, what sealion has noted of it. It has no data directory that could tell.
pub fn owner_of(arbitrator: &mut dyn ReadMember) -> Option<(u32, u32)> {
    if let Some(process) = arbitrator.process() {
        return Some((process.uid, process.gid));
    }
    let noted = arbitrator.host().read(&owner_file(arbitrator.spec()), OWNER_BYTES_MAX).ok()??;
    serde_json::from_slice(&noted).ok()
}

/// In sealion's own directory: uid and gid of the process that reads the files it has placed.
pub fn owner_file(spec: &NodeSpec) -> PathBuf {
    spec.state_dir.join("owner.json")
}

const OWNER_BYTES_MAX: u64 = 256;

/// What garbd was started with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandLine {
    pub group: Option<String>,
    pub options: String,
    pub log: Option<String>,
    /// It reads its options from this file of its own.
    pub config: Option<String>,
}

impl CommandLine {
    /// `None`: this is no garbd.
    ///
    /// # Source
    /// `garbd --help` of Galera 26.4.23; its parser (boost) takes unambiguous beginnings of long names, and values behind `=` or in
    /// the next word.
    pub fn of(words: &[String]) -> Option<Self> {
        let at = host::program_at(words, |name| name == PROGRAM)?;
        let mut line = Self::default();
        let mut words = words.iter().skip(at + 1);
        while let Some(word) = words.next() {
            let (name, value) = match word.strip_prefix("--") {
                Some(long) => {
                    let (name, value) =
                        long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                    (long_name(name), value.map(str::to_owned))
                }
                None => match word.strip_prefix('-') {
                    Some(short) if !short.is_empty() => {
                        let (name, value) = short.split_at(short.chars().next().map_or(0, char::len_utf8));
                        (name, (!value.is_empty()).then(|| value.to_owned()))
                    }
                    _ => continue,
                },
            };
            let mut value = || value.clone().or_else(|| words.next().cloned()).unwrap_or_default();
            match name {
                "g" => line.group = Some(value()),
                "o" => line.options = value(),
                "l" => line.log = Some(value()),
                "c" => line.config = Some(value()),
                "a" | "n" | "w" | "sst" | "donor" => {
                    value();
                }
                _ => {}
            }
        }
        Some(line)
    }
}

/// The short form of a long option, of which the beginning may stand for it.
fn long_name(name: &str) -> &str {
    const LONG: [(&str, &str); 9] = [
        ("address", "a"),
        ("group", "g"),
        ("options", "o"),
        ("log", "l"),
        ("cfg", "c"),
        ("name", "n"),
        ("workdir", "w"),
        ("sst", "sst"),
        ("donor", "donor"),
    ];
    LONG.iter().find(|(long, _)| !name.is_empty() && long.starts_with(name)).map_or("", |(_, short)| short)
}

/// A real one, on this machine or on one that is reached by an agent.
#[derive(Debug)]
pub struct LiveArbitrator {
    /// Its machine, its files and its port are those of any member.
    member: LiveNode,
    machine: Machine,
}

impl LiveArbitrator {
    pub fn on(machine: Machine, spec: NodeSpec) -> Self {
        Self { member: LiveNode::on(machine.clone(), spec, ConnectOptions::default()), machine }
    }

    fn host_error(&self, why: impl std::fmt::Display) -> NodeError {
        NodeError::Host { node: self.spec().name.clone(), why: why.to_string() }
    }

    /// Every process of its machine that may be it.
    fn processes(&self) -> Result<Vec<(ProcessFacts, CommandLine)>, NodeError> {
        let host = self.machine.host();
        let group =
            self.file_now().ok().and_then(|file| file.get(GROUP).ok()?.map(|(group, _)| group.to_owned()));
        let programs = host.programs(&[PROGRAM]).map_err(|error| self.host_error(error))?;
        let mut found = Vec::new();
        for facts in programs.found {
            if let Some(line) = CommandLine::of(&facts.command_line)
                && self.may_be(&line, group.as_deref())
            {
                found.push((facts, line));
            }
        }
        // One that runs and cannot be looked at may be it, unless another one is.
        match programs.hidden {
            Some(why) if found.is_empty() => Err(self.host_error(why)),
            _ => Ok(found),
        }
    }

    /// One of another cluster, or that says that it listens or logs elsewhere, is another one.
    fn may_be(&self, line: &CommandLine, group: Option<&str>) -> bool {
        let spec = self.spec();
        let log_fits = match (&line.log, &spec.error_log) {
            (Some(log), Some(wished)) => wished.as_os_str() == log.as_str(),
            _ => true,
        };
        let options = ProviderOptions::parse(&line.options);
        let listens = options.get("gmcast.listen_addr").and_then(|address| {
            let address = address.rsplit('/').next()?;
            Some(
                address
                    .rsplit_once(':')
                    .map_or(address, |(host, _)| host)
                    .trim_matches(['[', ']'])
                    .to_owned(),
            )
        });
        let listens_fits = listens.is_none_or(|host| {
            let everywhere = ["0.0.0.0", "::", "*"].contains(&host.as_str());
            everywhere || spec.address.parse::<std::net::IpAddr>().is_err() || host == spec.address
        });
        let group_fits = match (&line.group, group) {
            (Some(running), Some(wished)) => running == wished,
            _ => true,
        };
        log_fits && listens_fits && group_fits
    }

    /// # Errors
    /// Several may be it, or processes cannot be seen.
    fn running(&self) -> Result<Option<(ProcessFacts, CommandLine)>, NodeError> {
        let mut found = self.processes()?;
        match found.len() {
            0 | 1 => Ok(found.pop()),
            several => Err(self.host_error(format!(
                "{several} garbd that may be it run on its machine; give `log` in its [[arbitrator]], if each has a log of its own"
            ))),
        }
    }
}

impl ReadMember for LiveArbitrator {
    fn spec(&self) -> &NodeSpec {
        self.member.spec()
    }

    fn process(&mut self) -> Option<ProcessFacts> {
        self.running().ok().flatten().map(|(facts, _)| facts)
    }

    fn alive(&mut self) -> Alive {
        if self.member.is_being_started() {
            return Alive::Yes;
        }
        let state = self.machine.host().service_state(&self.spec().service, Duration::from_secs(ASK_S_MAX));
        match (state, self.running()) {
            (ServiceState::Runs, _) | (_, Ok(Some(_))) => Alive::Yes,
            (_, Err(error)) => Alive::CannotTell(error.unnamed()),
            (ServiceState::Stopped | ServiceState::CannotTell(_), Ok(None)) => Alive::No,
        }
    }

    fn owner(&mut self) -> Option<(u32, u32)> {
        owner_of(self)
    }

    fn host(&self) -> &dyn ReadHost {
        self.member.host()
    }

    fn galera_leaf(&mut self) -> Result<String, NodeError> {
        self.member.galera_leaf()
    }

    fn galera_shows(&mut self) -> Result<String, NodeError> {
        self.member.galera_shows()
    }

    fn galera_admits(&mut self, shown: &Arc<PemSet>) -> Result<Admits, NodeError> {
        self.member.galera_admits(shown)
    }

    fn wait(&mut self, how_long: Duration) {
        self.member.wait(how_long);
    }

    fn now_ms(&self) -> u64 {
        self.member.now_ms()
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        self.member.log_tail(lines)
    }
}

impl ReadArbitrator for LiveArbitrator {
    fn view(&mut self) -> Result<ArbitratorView, NodeError> {
        let name = self.spec().name.clone();
        let Some((process, line)) = self.running()? else {
            return Err(match self.alive() {
                Alive::No => {
                    NodeError::Down { node: name, why: "no garbd of this cluster runs there".into() }
                }
                Alive::Yes => NodeError::Silent {
                    node: name,
                    why: "its service runs, and no garbd of this cluster is there".into(),
                    runs_unheard: true,
                },
                Alive::CannotTell(why) => NodeError::Silent { node: name, why, runs_unheard: false },
            });
        };
        if let Some(config) = line.config {
            return Err(NodeError::Refused {
                node: name,
                why: format!(
                    "it was started with --cfg {config}, which sealion does not read: put its options into the file of its start \
                     script ({OPTIONS}=)"
                ),
            });
        }
        let options = ProviderOptions::parse(&line.options);
        Ok(ArbitratorView { process, group: line.group.unwrap_or_default(), options })
    }

    fn file(&mut self) -> Result<ShellVars, NodeError> {
        self.file_now()
    }
}

impl LiveArbitrator {
    fn file_now(&self) -> Result<ShellVars, NodeError> {
        let path = self.spec().defaults_file.clone();
        let bytes_max = u64::try_from(SHELL_FILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
        let bytes = self.host().read(&path, bytes_max).map_err(|error| self.host_error(error))?;
        let bytes = bytes.ok_or_else(|| self.host_error(format!("{} is not there", path.display())))?;
        ShellVars::parse(&bytes, &path.display().to_string()).map_err(|error| self.host_error(error))
    }
}

impl WriteMember for LiveArbitrator {
    fn write_host(&self) -> &dyn WriteHost {
        self.member.write_host()
    }

    fn stop(&mut self) -> Result<(), NodeError> {
        self.member.stop()
    }

    fn start(&mut self) -> Result<(), NodeError> {
        self.member.start()
    }
}

impl WriteArbitrator for LiveArbitrator {
    fn reading(&mut self) -> &mut dyn ReadArbitrator {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> Option<CommandLine> {
        CommandLine::of(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn its_command_line_says_what_it_was_started_with() {
        let wished = CommandLine {
            group: Some("orders".into()),
            options: "socket.ssl=YES;a=b".into(),
            log: Some("/var/log/garbd.log".into()),
            config: None,
        };
        for words in [
            &[
                "/usr/bin/garbd",
                "-a",
                "gcomm://a,b",
                "-g",
                "orders",
                "-o",
                "socket.ssl=YES;a=b",
                "-l",
                "/var/log/garbd.log",
            ][..],
            &[
                "garbd",
                "--address=gcomm://a",
                "--group=orders",
                "--options=socket.ssl=YES;a=b",
                "--log=/var/log/garbd.log",
                "-d",
            ],
            &["garbd", "--opt", "socket.ssl=YES;a=b", "--gro", "orders", "--log", "/var/log/garbd.log"],
            &[
                "/lib/ld-linux.so.2",
                "--library-path",
                "/lib",
                "/b/garbd",
                "-gorders",
                "-osocket.ssl=YES;a=b",
                "-l/var/log/garbd.log",
            ],
        ] {
            assert_eq!(line(words).as_ref(), Some(&wished), "{words:?}");
        }
        assert_eq!(line(&["/usr/sbin/mariadbd", "-g", "orders"]), None);
        for words in [
            &["/bin/sh", "/usr/bin/garbd", "-g", "orders"][..],
            &["sudo", "-u", "nobody", "/usr/bin/garbd", "-g", "orders"],
            &["tail", "-f", "/var/log/garbd"],
            &["vi", "/etc/default/garbd"],
            &["/lib/ld-linux.so.2", "--library-path", "/b/garbd", "/bin/sleep", "garbd"],
            &["/lib/ld-linux.so.2", "/usr/bin/tail", "/var/log/garbd"],
            &["garbd.old"],
            &[],
        ] {
            assert_eq!(line(words), None, "{words:?}");
        }
        let config = line(&["garbd", "--cfg", "/etc/garbd.cnf"]).and_then(|line| line.config);
        assert_eq!(config.as_deref(), Some("/etc/garbd.cnf"));
    }
}
