//! A lab made by `sealion lab up`, ended when the test ends, however it ends.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ::lab::{Lab, LabFile};
use net::{Client, ConnectOptions, Endpoint};
use serde_json::Value;
use tempfile::TempDir;

use super::{Program, ProgramOutput, files_below, need_servers, sealion, short_dir, tail, wait_for};

const UP_S_MAX: u64 = 120;
/// Six restarts, each with its own bounds; on two busy cores 50 s were measured.
const CHANGE_S_MAX: u64 = 400;
const LOOK_S_MAX: u64 = 60;
const LOG_LINES: usize = 40;
const VIEW_LINES: usize = 120;
const HISTORY_MAX: usize = 12;

pub(super) const EXEC: &[&str] = &["lab", "exec", "--"];

/// What `lab up` is asked for.
#[derive(Debug, Clone, Copy)]
pub struct LabSpec {
    pub words: &'static [&'static str],
    pub nodes: usize,
}

/// For labs of many restarts: a new view takes tenths of a second, and not half of each restart as with Galera's defaults, which the others
/// keep.
const QUICK: [&str; 3] =
    ["evs.keepalive_period=PT0.3S", "evs.join_retrans_period=PT0.3S", "evs.inactive_check_period=PT0.3S"];

impl LabSpec {
    pub const GALERA: Self = Self { words: &["galera"], nodes: 3 };
    pub const SEALED: Self = Self { words: &["galera", "--tls"], nodes: 3 };
    /// Three sealed nodes, and a fourth one that is laid out and no member.
    pub const SEALED_WITH_SPARE: Self = Self { words: &["galera", "--tls", "--spare", "1"], nodes: 4 };
    pub const TWO_NODES: Self = Self { words: &["galera", "--nodes", "2"], nodes: 2 };
    /// Behind relays, as where packets may not be captured; transfers by mariabackup.
    pub const RELAY: Self = Self { words: &["galera", "--relay"], nodes: 3 };
    /// Each node a host, reached by ssh; an arbitrator, HAProxy and a server that is no member yet on hosts of their own.
    pub const HOSTS: Self =
        Self { words: &["galera", "--hosts", "--arbitrator", "--proxy", "--spare", "1"], nodes: 4 };
    /// The same with TLS on every link, and all of its servers are members.
    pub const SEALED_HOSTS: Self =
        Self { words: &["galera", "--hosts", "--arbitrator", "--proxy", "--tls"], nodes: 3 };
    /// Each node a host, reached by ssh, and nothing beside them.
    pub const ONLY_HOSTS: Self = Self { words: &["galera", "--hosts"], nodes: 3 };
    /// A source and a replica.
    pub const REPLICAS: Self = Self { words: &["replicas"], nodes: 2 };
    pub const REPLICAS_OF_MYSQL: Self = Self { words: &["replicas", "--server", "mysql"], nodes: 2 };
    /// Galera (n1 to n3) with a replica of n1 (n4), MySQL (n5, n6) and MariaDB (n7, n8), each a host, reached by ssh.
    pub const ESTATE: Self = Self { words: &["estate", "--hosts"], nodes: 8 };
    pub const MARIADB: Self = Self { words: &["mariadb"], nodes: 1 };
    /// A source that has no replica.
    pub const MYSQL: Self = Self { words: &["replicas", "--server", "mysql", "--nodes", "1"], nodes: 1 };
}

pub struct RealLab {
    pub binary: PathBuf,
    /// Where the lab is; `home` removes what is left of it.
    pub dir: PathBuf,
    home: TempDir,
    has_hosts: bool,
    login: ConnectOptions,
    /// What the test is about now; shown with a failure.
    about: RefCell<String>,
    history: RefCell<Vec<String>>,
}

impl RealLab {
    pub fn up(spec: LabSpec) -> Self {
        Self::up_with(spec, &[])
    }

    /// With more in the environment of its start.
    pub fn up_with(spec: LabSpec, environment: &[(&str, &str)]) -> Self {
        need_servers();
        let home = short_dir();
        let dir = home.path().join("l");
        let binary = sealion();
        let mut lab = Self {
            binary,
            dir,
            home,
            has_hosts: spec.words.contains(&"--hosts"),
            login: ConnectOptions::default(),
            about: RefCell::new("lab up".into()),
            history: RefCell::default(),
        };
        let mut command = lab.command(&["lab", "up"]);
        command.args(spec.words).envs(environment.iter().copied());
        if lab.has_hosts {
            command.args(QUICK.iter().flat_map(|option| ["--provider-option", option]));
        }
        lab.remember(Program::start(command).finish(Duration::from_secs(UP_S_MAX))).exits(0);
        let text = std::fs::read_to_string(lab.dir.join("operator.cnf")).expect("the lab has an operator");
        let get = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            line.unwrap_or_else(|| panic!("operator.cnf has no {key}")).to_owned()
        };
        lab.login = ConnectOptions::new(Endpoint::unix("unset"), get("user")).password(get("password"));
        assert_eq!(lab.nodes().len(), spec.nodes);
        lab
    }

    /// Shown when the test fails from here on.
    pub fn now(&self, about: impl Into<String>) {
        let about = about.into();
        eprintln!("{about}");
        *self.about.borrow_mut() = about;
    }

    pub fn about(&self) -> String {
        self.about.borrow().clone()
    }

    fn remember(&self, said: ProgramOutput) -> ProgramOutput {
        let mut history = self.history.borrow_mut();
        history.push(said.to_string());
        let surplus = history.len().saturating_sub(HISTORY_MAX);
        history.drain(..surplus);
        said
    }

    /// `sealion WORDS`, for this lab, without anything of the user's.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(words).env("SEALION_LAB", &self.dir).current_dir(self.home.path());
        for name in
            ["SEALION_HOLD_AT", "SEALION_CRASH_AT", "SEALION_INVENTORY", "SEALION_BIN", "SEALION_SEED"]
        {
            command.env_remove(name);
        }
        command
    }

    /// `sealion lab exec -- sealion WORDS`, started; it becomes the process itself, so its pid is the one to kill.
    pub fn start(&self, words: &[&str], hold_at: Option<&str>) -> Program {
        let exec = if words.first() == Some(&"__writers") { self.exec_of_applications() } else { EXEC };
        let mut command = self.command(exec);
        command.arg("sealion").args(words).args(self.consent(words));
        if let Some(moment) = hold_at {
            command.env("SEALION_HOLD_AT", moment);
        }
        Program::start(command)
    }

    /// The beginning of a command that runs where applications are.
    pub fn exec_of_applications(&self) -> &'static [&'static str] {
        if self.has_hosts { &["lab", "exec", "--host", "app", "--"] } else { EXEC }
    }

    /// The same, to its end.
    pub fn run(&self, words: &[&str]) -> ProgramOutput {
        self.run_with(words, &[])
    }

    pub fn run_with(&self, words: &[&str], variables: &[(&str, &str)]) -> ProgramOutput {
        self.run_for(words, variables, Duration::from_secs(CHANGE_S_MAX))
    }

    /// The same, of a command that may take longer where others are at work on this machine, too.
    pub fn run_for(&self, words: &[&str], variables: &[(&str, &str)], at_most: Duration) -> ProgramOutput {
        let mut command = self.command(&["lab", "exec", "--", "sealion"]);
        command.args(words).args(self.consent(words)).envs(variables.iter().copied());
        self.remember(Program::start(command).finish(at_most))
    }

    /// What `resume` and `undo` want to be told where nobody can be asked: the hash of the change that they are about. They name it
    /// themselves, as they do to any program.
    fn consent(&self, words: &[&str]) -> Vec<String> {
        if !matches!(words.first(), Some(&("resume" | "undo"))) || words.contains(&"--yes") {
            return vec![];
        }
        let said = self.run_as_typed(words);
        let mut named = said.stderr.split_whitespace().skip_while(|word| *word != "--yes");
        named.nth(1).map_or_else(Vec::new, |hash| vec!["--yes".into(), hash.into()])
    }

    /// Nothing is added to it.
    pub fn run_as_typed(&self, words: &[&str]) -> ProgramOutput {
        let mut command = self.command(&["lab", "exec", "--", "sealion"]);
        command.args(words);
        self.remember(Program::start(command).finish(Duration::from_secs(CHANGE_S_MAX)))
    }

    /// `sealion lab WORDS`.
    pub fn lab(&self, words: &[&str]) -> ProgramOutput {
        let mut command = self.command(&["lab"]);
        command.args(words);
        self.remember(Program::start(command).finish(Duration::from_secs(LOOK_S_MAX)))
    }

    /// Keeps the end of a process that the test started itself, for the failure text.
    pub fn ended(&self, said: ProgramOutput) -> ProgramOutput {
        self.remember(said)
    }

    /// The hash of the plan for the cluster as it is now.
    pub fn plan_hash(&self, verb: &str) -> String {
        self.plan_hash_of(&[verb])
    }

    /// The same of some nouns.
    pub fn plan_hash_of(&self, words: &[&str]) -> String {
        let plan = self.run(&[&["plan"], words, &["--format", "json"]].concat()).exits(0).json();
        plan["state_hash"].as_str().expect("a plan has a hash").to_owned()
    }

    pub fn file(&self) -> LabFile {
        LabFile::read(&self.dir).expect("the lab has its file")
    }

    /// For what no command of people does: odd options, strangers.
    pub fn open(&self) -> Lab {
        Lab::open(&self.dir).expect("the supervisor answers")
    }

    /// Names of the cluster's nodes.
    pub fn nodes(&self) -> Vec<String> {
        self.file().nodes.into_iter().map(|node| node.name).collect()
    }

    pub fn node_dir(&self, node: &str) -> PathBuf {
        self.dir.join(node)
    }

    pub fn galera_cnf(&self, node: &str) -> PathBuf {
        self.node_dir(node).join("etc/conf.d/60-galera.cnf")
    }

    pub fn log(&self, node: &str) -> String {
        let bytes = std::fs::read(self.node_dir(node).join("log/error.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A session over the node's socket, which works with and without TLS, from outside of the namespace too.
    pub fn sql(&self, node: &str) -> Result<Client, net::NetError> {
        Client::connect(&ConnectOptions {
            endpoint: Endpoint::unix(self.node_dir(node).join("run/s")),
            connect_timeout: Duration::from_secs(3),
            io_timeout: Duration::from_secs(30),
            ..self.login.clone()
        })
    }

    /// Of who may do everything there.
    pub fn root(&self, node: &str) -> Client {
        let socket = self.file().node(node).expect("a node of the lab").socket();
        let login = ConnectOptions::new(Endpoint::unix(socket), "root");
        Client::connect(&login).unwrap_or_else(|error| panic!("{node} does not let its root in: {error}"))
    }

    /// A global status variable, when the node answers.
    pub fn status_of(&self, node: &str, name: &str) -> Option<String> {
        let rows = self.sql(node).ok()?.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).ok()?;
        rows.text(0, "Value").map(std::borrow::Cow::into_owned)
    }

    pub fn is_synced(&self, node: &str, members: usize) -> bool {
        let is = |name: &str, value: &str| self.status_of(node, name).as_deref() == Some(value);
        is("wsrep_cluster_size", &members.to_string())
            && is("wsrep_cluster_status", "Primary")
            && is("wsrep_local_state", "4")
            && is("wsrep_ready", "ON")
    }

    #[track_caller]
    pub fn all_synced(&self, at_most: Duration) {
        let file = self.file();
        let nodes: Vec<String> =
            self.nodes().into_iter().filter(|node| !file.spares.contains(node)).collect();
        self.are_synced(&nodes, self.members().len(), at_most);
    }

    /// These nodes, of so many members.
    #[track_caller]
    pub fn are_synced(&self, nodes: &[impl AsRef<str>], members: usize, at_most: Duration) {
        let all = || nodes.iter().all(|node| self.is_synced(node.as_ref(), members));
        let done = wait_for(at_most, || all().then_some(()));
        assert!(done.is_some(), "the cluster is not whole after {} s", at_most.as_secs());
    }

    /// `sealion status`, as JSON.
    pub fn look(&self, canaries: bool) -> Value {
        let words: &[&str] = if canaries { &["status", "--canaries"] } else { &["status", "--look-ms", "0"] };
        self.run(&[words, &["--format", "json"]].concat()).exits(0).json()
    }

    /// All nodes strict, TLS in transfers, required of clients; every link seen sealed.
    #[track_caller]
    pub fn is_sealed(&self) {
        self.is_all("strict", "TLS", "required", "sealed");
    }

    /// As a fresh lab is.
    #[track_caller]
    pub fn is_plain(&self) {
        self.is_all("plain", "plain", "plain", "plain");
    }

    #[track_caller]
    fn is_all(&self, galera: &str, sst: &str, client: &str, seen: &str) {
        let look = self.look(true);
        let nodes = look["nodes"].as_array().expect("nodes");
        let members = self.members().len();
        assert_eq!(nodes.len(), members);
        for node in nodes {
            for row in node["rows"].as_array().expect("rows") {
                let what = row["what"].as_str().expect("a word");
                let wanted = match what.split(' ').next() {
                    Some("galera") => galera,
                    Some("sst") => sst,
                    _ => client,
                };
                for column in ["configured", "effective"] {
                    assert_eq!(row[column], wanted, "{} {what} {column}\n{node:#}", node["node"]);
                }
            }
        }
        let links = look["links"].as_array().expect("links");
        let kinds = |kind: &str| links.iter().filter(|link| link["link"]["kind"] == kind).count();
        let pairs = members * (members - 1) / 2;
        let nodes = members - self.file().arbitrators.len();
        assert_eq!((kinds("galera"), kinds("client")), (pairs, nodes), "{links:#?}");
        for link in links {
            // Nobody but sealion is connected over TCP in a lab without an application: that is not called sealed.
            let has_no_clients = link["link"]["kind"] == "client"
                && link["only_own_session"] == true
                && link["tcp_sessions"] == 0;
            let seen = if has_no_clients && seen == "sealed" { "unknown" } else { seen };
            assert_eq!(link["seen"], seen, "{link:#}");
            assert_eq!((&link["control_seen"], &link["kernel_drops"]), (&true.into(), &0.into()), "{link:#}");
        }
    }

    /// Option files and TLS directories of all nodes, byte for byte, with their modes.
    pub fn files(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        use std::os::unix::fs::PermissionsExt;
        let file = self.file();
        let all = file.nodes.iter().chain(&file.arbitrators).map(|one| one.name.clone());
        let dirs = all.map(|node| self.node_dir(&node).join("etc"));
        dirs.flat_map(|dir| files_below(&dir))
            .filter_map(|path| {
                let mode = path.metadata().ok()?.permissions().mode();
                Some((path.clone(), (mode, std::fs::read(&path).ok()?)))
            })
            .collect()
    }

    /// Nodes and arbitrators, without servers that are no members yet, as the inventory has it.
    pub fn members(&self) -> Vec<String> {
        let file = self.file();
        let inventory = std::fs::read_to_string(self.dir.join("sealion.toml")).unwrap_or_default();
        let is_joining = inventory.contains("joining = true");
        let all = file.nodes.iter().chain(&file.arbitrators).map(|one| one.name.clone());
        all.filter(|name| !(is_joining && file.spares.contains(name))).collect()
    }

    /// What the running servers have.
    pub fn live(&self) -> BTreeMap<String, Option<String>> {
        let ask = |node: &str| {
            let rows = self
                .sql(node)
                .ok()?
                .query(
                    "SELECT CONCAT_WS('|', @@wsrep_provider_options, @@ssl_cert, @@require_secure_transport)",
                )
                .ok()?;
            rows.scalar().map(std::borrow::Cow::into_owned)
        };
        self.nodes().into_iter().map(|node| (node.clone(), ask(&node))).collect()
    }

    pub fn kill_node(&self, node: &str) {
        self.lab(&["kill", node]).exits(0);
    }

    /// The statements that `sealion grants` prints for an account of that name with that password.
    pub fn grants_of(&self, verb: &str, flavour: &str, account: &str, password: &str) -> Vec<String> {
        let printed = self.run(&["grants", verb, "--flavour", flavour, "--account", account]).exits(0).stdout;
        let lines = printed.lines().filter(|line| !line.is_empty() && !line.starts_with("--"));
        lines
            .map(|line| line.trim_end_matches(';').replace("<NEW_PASSWORD>", &format!("'{password}'")))
            .collect()
    }

    /// An account that has what `sealion grants` prints and no more, made where everybody gets it; its option file.
    pub fn least_login(&self, verb: &str, flavour: &str) -> PathBuf {
        let (user, password) = (format!("least_{verb}"), "a Long 1 password!");
        // Who makes accounts of the lab; its operator may hand nothing on.
        let mut session = self.root("n1");
        for sql in self.grants_of(verb, flavour, &format!("{user}@%"), password) {
            session.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let path = self.home.path().join(format!("{user}.cnf"));
        std::fs::write(&path, format!("[client]\nuser={user}\npassword=\"{password}\"\n")).expect("writable");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("ours");
        path
    }

    /// The lab's inventory, with another login.
    pub fn inventory_with(&self, login: &Path) -> String {
        let text = std::fs::read_to_string(self.dir.join("sealion.toml")).expect("there");
        assert!(text.contains("\"operator.cnf\""), "{text}");
        let path = login.with_extension("toml");
        std::fs::write(&path, text.replace("\"operator.cnf\"", &format!("\"{}\"", login.display())))
            .expect("writable");
        path.display().to_string()
    }

    /// From here on, changes are made by an account that has what `sealion grants` prints for them.
    pub fn change_with_least(&self, flavour: &str) {
        let login = self.least_login("enable", flavour);
        std::fs::copy(login, self.dir.join("operator.cnf")).expect("ours");
    }

    /// And what `sealion grants` prints for an option of a verb alone.
    pub fn also_allow(&self, verb: &str, flavour: &str, option: &str) {
        let account = format!("least_{verb}@%");
        let said = self.run(&["grants", verb, "--flavour", flavour, "--account", &account]).exits(0);
        let only = format!("-- only with {option}: ");
        let grants: Vec<&str> =
            said.stdout.lines().filter_map(|line| line.strip_prefix(only.as_str())).collect();
        assert!(!grants.is_empty(), "{said}");
        let mut session = self.root("n1");
        for sql in grants {
            session.execute(sql.trim_end_matches(';')).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    fn tell(&self) {
        eprintln!("\n=== failed at: {}", self.about.borrow());
        for said in self.history.borrow().iter() {
            eprintln!("{said}");
        }
        let Ok(file) = LabFile::read(&self.dir) else { return };
        for node in file.nodes.iter().chain(&file.strangers) {
            let log = self.log(&node.name);
            // The reason often stands long before the end, between notes of those who go on.
            let errors: Vec<&str> = log.lines().filter(|line| line.contains("[ERROR]")).collect();
            eprintln!("=== errors in {}\n{}", node.log().display(), tail(&errors.join("\n"), LOG_LINES));
            // Who was in which view, and who stopped when: without it a lost quorum is a riddle.
            let told = |line: &&str| {
                [
                    "view(view_id",
                    "New cluster view",
                    "Shifting ",
                    "suspecting",
                    "shutdown",
                    "Shutdown",
                    "partitioned",
                ]
                .iter()
                .any(|word| line.contains(word))
                    || (line.starts_with('\t') && line.ends_with(",0"))
            };
            let views: Vec<&str> = log.lines().filter(told).collect();
            eprintln!("=== views in {}\n{}", node.log().display(), tail(&views.join("\n"), VIEW_LINES));
            let quiet: Vec<&str> = log.lines().filter(|line| !line.contains("Aborted connection")).collect();
            eprintln!("=== the end of {}\n{}", node.log().display(), tail(&quiet.join("\n"), LOG_LINES));
        }
    }
}

impl Drop for RealLab {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.tell();
        }
        // Ends the servers and removes the directory; a supervisor that is gone took its servers with it.
        if LabFile::read(&self.dir).is_ok()
            && let Ok(mut down) = self.command(&["lab", "down"]).spawn()
        {
            let _ = down.wait();
        }
    }
}
