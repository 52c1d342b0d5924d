//! A lab from the outside: make it, grow it, stop and start its nodes, end it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::LabError;
use crate::bundle::{self, Servers};
use crate::hosts;
use crate::layout::{Beside, LabFile, NodeSpec, SstMethod};
use crate::ports;
use crate::proxy;
use crate::remains;
use crate::supervisor::{self, NodeState, Request};

/// A server that has not answered by then has failed; the slowest start measured in the lab took 12 s.
const START_MS_MAX: u64 = 60_000;
/// It is there within moments; one with hosts makes their networks first.
const SUPERVISOR_MAX: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub struct LabOptions {
    pub name: String,
    pub dir: PathBuf,
    pub servers: Servers,
    pub sst_method: SstMethod,
    pub nodes: u8,
    /// Of the cluster, without data (garbd).
    pub arbitrators: u8,
    /// Further ones that are laid out and not started: no members, and not named by the others' cluster address.
    pub spares: u8,
    /// Servers by themselves, behind the numbers of those.
    pub beside: Vec<Beside>,
    /// False for servers that are no cluster.
    pub galera: bool,
    /// The first node is the source of all others.
    pub replicas: bool,
    /// Third byte of the addresses; other labs on the same loopback need another one.
    pub number: u8,
    /// Whether this process already is in a namespace of its own.
    pub namespace: bool,
    /// Relays stand in front of the nodes' ports, because packets may not be captured here.
    pub relay: bool,
    /// Each node is a host of its own, with a sshd.
    pub hosts: bool,
    /// A host with HAProxy in front of them; only with `hosts`.
    pub proxy: bool,
    /// Of a lab of hosts: where the operator works is on the cluster's network too, as applications are.
    pub operator_is_client: bool,
    /// More for `wsrep_provider_options` of every node and arbitrator, each with a `;` before it.
    pub provider_options: String,
    /// Every link uses TLS from the first start on. Who makes the lab writes the certificates before it.
    pub tls: bool,
    pub keep: bool,
}

/// What to wait for after a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The unix socket accepts.
    Socket,
    Nothing,
}

/// What becomes of a lab when it is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtDrop {
    /// Servers and supervisor end, and what they wrote goes.
    End,
    /// Servers and supervisor end; their logs stay, to find out why.
    Stop,
    Run,
}

/// A running lab.
#[derive(Debug)]
pub struct Lab {
    pub file: LabFile,
    at_drop: AtDrop,
    supervisor: Option<Child>,
    number: u8,
}

impl Lab {
    /// Makes the directories and starts the supervisor; no server runs yet.
    pub fn make(options: &LabOptions) -> Result<Self, LabError> {
        let dir = &options.dir;
        let mut file = LabFile {
            name: options.name.clone(),
            dir: dir.clone(),
            servers: options.servers.clone(),
            namespace: options.namespace,
            cluster_name: options.name.clone(),
            sst_method: options.sst_method,
            galera: options.galera,
            replicas: options.replicas,
            relay: options.relay,
            hosts: options.hosts,
            proxy: options.proxy,
            proxy_host_pid: None,
            number: options.number,
            operator_is_client: options.operator_is_client,
            app_host_pid: None,
            provider_options: options.provider_options.clone(),
            tls: options.tls,
            nodes: vec![],
            arbitrators: vec![],
            spares: (options.nodes + 1..=options.nodes + options.spares).map(|n| format!("n{n}")).collect(),
            strangers: vec![],
            node_dirs: BTreeSet::new(),
            supervisor_pid: 0,
            supervisor_start_ticks: 0,
        };
        file.nodes = (1..=options.nodes + options.spares)
            .map(|n| NodeSpec::new(&format!("n{n}"), &file, options.number, n))
            .collect();
        for beside in &options.beside {
            let number = u8::try_from(file.nodes.len() + 1).unwrap_or(u8::MAX);
            let node = NodeSpec::new(&format!("n{number}"), &file, options.number, number);
            file.nodes.push(NodeSpec { beside: Some(beside.clone()), ..node });
        }
        // Their numbers follow those of the nodes.
        let first = u8::try_from(file.nodes.len()).unwrap_or(u8::MAX);
        file.arbitrators = (1..=options.arbitrators)
            .map(|n| NodeSpec::new(&format!("garb{n}"), &file, options.number, first.saturating_add(n)))
            .collect();
        let members = file.nodes.iter().chain(&file.arbitrators);
        file.node_dirs = members.map(|node| node.name.clone()).collect();
        // Nothing was written yet.
        ports::refuse_taken(&file)?;
        fs::create_dir_all(dir).map_err(LabError::io(format!("make {}", dir.display())))?;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700))
            .map_err(LabError::io("close the lab's directory"))?;
        if options.hosts {
            hosts::lay_out(&file, &hosts::SshPrograms::find()?, options.number)?;
            proxy::lay_out(&file)?;
        }
        file.write()?;
        let mut command = Command::new("/proc/self/exe");
        command.arg("__supervise").arg(dir).arg(std::process::id().to_string());
        if options.keep {
            command.arg("--keep");
        }
        let supervisor = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(
                fs::File::create(dir.join("supervisor.log")).map_err(LabError::io("make supervisor.log"))?,
            )
            .spawn()
            .map_err(LabError::io("start the lab's supervisor"))?;
        // Until all is laid out nobody can use it: a kept one too ends where that fails.
        let at_drop = if options.keep { AtDrop::Stop } else { AtDrop::End };
        let mut lab = Self { file, at_drop, supervisor: Some(supervisor), number: options.number };
        let deadline = Instant::now() + SUPERVISOR_MAX;
        while supervisor::ask(&lab.file, &Request::Status).is_err() {
            if Instant::now() > deadline {
                return Err(LabError::Refused {
                    what: format!("the lab's supervisor did not start within {} s", SUPERVISOR_MAX.as_secs()),
                    why: fs::read_to_string(dir.join("supervisor.log")).unwrap_or_default().trim().to_owned(),
                    next: "try again with -v".into(),
                });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        lab.file = LabFile::read(dir)?;
        for node in &lab.file.nodes {
            lab.lay_out(node, &lab.file.cluster_address())?;
        }
        for arbitrator in &lab.file.arbitrators {
            lab.lay_out_arbitrator(arbitrator)?;
        }
        if options.keep {
            lab.at_drop = AtDrop::Run;
        }
        Ok(lab)
    }

    /// Finds a lab that another process made.
    pub fn open(dir: &Path) -> Result<Self, LabError> {
        let file = LabFile::read(dir)?;
        supervisor::ask(&file, &Request::Status)?;
        let number = match file.nodes.first().map(|node| node.address) {
            Some(std::net::IpAddr::V4(address)) => address.octets()[2],
            _ => 1,
        };
        Ok(Self { file, at_drop: AtDrop::Run, supervisor: None, number })
    }

    /// For who makes more of the lab, and does not want it to go on if that fails.
    pub fn set_at_drop(&mut self, at_drop: AtDrop) {
        self.at_drop = at_drop;
    }

    /// From now on every byte through a relay is kept for so long, each way; for a lab with relays.
    ///
    /// # Errors
    /// The supervisor does not answer.
    pub fn set_delay(&self, one_way_ms: u16) -> Result<(), LabError> {
        supervisor::ask(&self.file, &Request::Delay { one_way_ms }).map(|_| ())
    }

    /// From now on these hosts do not reach each other on the cluster's network; one alone reaches nobody.
    ///
    /// # Errors
    /// One is no host, or it cannot be done.
    pub fn cut(&self, hosts: &[&str]) -> Result<(), LabError> {
        let names: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        self.ask(&names.join(", "), &Request::Cut { hosts: names.clone() })
    }

    /// Every host reaches every other one again.
    ///
    /// # Errors
    /// It cannot be done.
    pub fn mend(&self) -> Result<(), LabError> {
        self.ask("its network", &Request::Mend)
    }

    fn lay_out(&self, node: &NodeSpec, cluster_address: &str) -> Result<(), LabError> {
        for dir in
            [node.conf_d(), node.dir.join("run"), node.dir.join("log"), node.datadir(), node.state_dir()]
        {
            fs::create_dir_all(&dir).map_err(LabError::io(format!("make {}", dir.display())))?;
        }
        for (path, text) in crate::layout::option_files(&self.file, node, cluster_address) {
            fs::write(&path, text).map_err(LabError::io(format!("write {}", path.display())))?;
        }
        Ok(())
    }

    fn lay_out_arbitrator(&self, node: &NodeSpec) -> Result<(), LabError> {
        for dir in [node.dir.join("etc"), node.dir.join("log"), node.state_dir()] {
            fs::create_dir_all(&dir).map_err(LabError::io(format!("make {}", dir.display())))?;
        }
        let path = node.garb_file();
        fs::write(&path, crate::layout::garb_file(&self.file, node))
            .map_err(LabError::io(format!("write {}", path.display())))
    }

    /// One more node of the same cluster, not started; it finds the others by the cluster address.
    pub fn add_node(&mut self, name: &str) -> Result<NodeSpec, LabError> {
        let number = u8::try_from(self.file.nodes.len() + 1).unwrap_or(u8::MAX);
        let cluster_address = self.file.cluster_address();
        let node = NodeSpec::new(name, &self.file, self.number, number);
        self.lay_out(&node, &cluster_address)?;
        self.file.nodes.push(node.clone());
        self.file.node_dirs.insert(node.name.clone());
        self.file.write()?;
        Ok(node)
    }

    /// A server that was laid out beside the cluster is one of its nodes from now on; for whoever starts it.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn admit_spare(&mut self, name: &str) -> Result<NodeSpec, LabError> {
        let node = self.node(name)?.clone();
        self.file.spares.remove(name);
        self.file.write()?;
        Ok(node)
    }

    /// A node with its files that is not one of the cluster's: not in its address, not in the inventory, and given a
    /// place of its own on the loopback. Its name is `n` and a digit above those of the lab.
    pub fn add_stranger(&mut self, name: &str) -> Result<NodeSpec, LabError> {
        let number = name.trim_start_matches('n').parse().unwrap_or(u8::MAX);
        let node = NodeSpec::new(name, &self.file, self.number, number);
        self.lay_out(&node, &self.file.cluster_address())?;
        self.file.strangers.push(node.clone());
        self.file.node_dirs.insert(node.name.clone());
        self.file.write()?;
        Ok(node)
    }

    pub fn forget_stranger(&mut self, name: &str) -> Result<(), LabError> {
        self.file.strangers.retain(|node| node.name != name);
        self.file.write()
    }

    /// Takes a stopped node out of the lab and removes its files.
    pub fn remove_node(&mut self, name: &str) -> Result<(), LabError> {
        if let Some(at) = self.file.nodes.iter().position(|node| node.name == name) {
            let node = self.file.nodes.remove(at);
            self.file.write()?;
            let _ = fs::remove_dir_all(&node.dir);
        }
        Ok(())
    }

    /// Puts the initialised template where `node` expects its data.
    pub fn seed(&self, node: &NodeSpec) -> Result<(), LabError> {
        let template = bundle::template_datadir(self.file.servers_of(node))?;
        let datadir = node.datadir();
        let _ = fs::remove_dir(&datadir);
        bundle::copy_tree(&template, &datadir)
    }

    pub fn start(&self, name: &str, args: &[&str], wait: Wait) -> Result<(), LabError> {
        let node = self.node(name)?;
        self.ask(
            name,
            &Request::Start { node: name.into(), args: args.iter().map(|&a| a.into()).collect() },
        )?;
        if wait == Wait::Nothing {
            return Ok(());
        }
        let deadline = Instant::now() + Duration::from_millis(START_MS_MAX);
        loop {
            if std::os::unix::net::UnixStream::connect(node.socket()).is_ok() {
                return Ok(());
            }
            if let NodeState::Ended { how } = self.state(name)? {
                return Err(Self::server_error(node, "ended before it answered", &how));
            }
            if Instant::now() > deadline {
                return Err(Self::server_error(
                    node,
                    "did not answer",
                    &format!("no answer within {START_MS_MAX} ms"),
                ));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Asks the server to end and waits until it has.
    pub fn stop(&self, name: &str) -> Result<(), LabError> {
        let node = self.node(name)?;
        self.ask(name, &Request::Stop { node: name.into() })?;
        let deadline = Instant::now() + Duration::from_millis(START_MS_MAX);
        while let NodeState::Running { .. } = self.state(name)? {
            if Instant::now() > deadline {
                return Err(Self::server_error(
                    node,
                    "did not stop",
                    &format!("no answer within {START_MS_MAX} ms"),
                ));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// `kill -9` of the server and of what it started.
    pub fn kill(&self, name: &str) -> Result<(), LabError> {
        self.ask(name, &Request::Kill { node: name.into() })?;
        while let NodeState::Running { .. } = self.state(name)? {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    pub fn state(&self, name: &str) -> Result<NodeState, LabError> {
        let answer = supervisor::ask(&self.file, &Request::Status)?;
        Ok(answer.nodes.get(name).cloned().unwrap_or(NodeState::NeverStarted))
    }

    pub fn node(&self, name: &str) -> Result<&NodeSpec, LabError> {
        self.file.node(name).ok_or_else(|| LabError::Missing {
            what: format!("the node \"{name}\""),
            why: format!(
                "the lab has {}",
                self.file.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>().join(", ")
            ),
            next: "use one of these".into(),
        })
    }

    /// Ends servers and supervisor and removes what they wrote, also of a kept lab; gives what stays in the directory because
    /// the lab did not write it.
    pub fn end(mut self) -> Result<Vec<PathBuf>, LabError> {
        self.at_drop = AtDrop::Run;
        self.stop_all()?;
        Ok(self.remove_own())
    }

    fn stop_all(&mut self) -> Result<(), LabError> {
        // Another process may have added a node.
        self.file = LabFile::read(&self.file.dir).unwrap_or_else(|_| self.file.clone());
        let asked = supervisor::ask(&self.file, &Request::Shutdown).map(|_| ());
        if let Some(mut supervisor) = self.supervisor.take() {
            // One that does not answer would be waited for without end. Its servers die with it.
            if asked.is_err() {
                let _ = supervisor.kill();
            }
            let _ = supervisor.wait();
        }
        asked
    }

    fn remove_own(&self) -> Vec<PathBuf> {
        remains::remove_own(&self.file.dir, &self.file)
    }

    fn ask(&self, name: &str, request: &Request) -> Result<(), LabError> {
        let answer = supervisor::ask(&self.file, request)?;
        match answer.error {
            None => Ok(()),
            Some(why) => Err(LabError::Refused {
                what: format!("the lab could not do that to {name}"),
                why,
                next: format!("sealion lab status{}", crate::layout::dir_option(&self.file.dir)),
            }),
        }
    }

    fn server_error(node: &NodeSpec, what: &str, how: &str) -> LabError {
        LabError::Server {
            node: node.name.clone(),
            what: what.into(),
            why: format!("{how}; its log ends: {}", last_lines(&node.log(), 3)),
            log: node.log(),
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if self.at_drop != AtDrop::Run {
            let _ = self.stop_all();
        } else if self.supervisor.is_some() {
            let _ = supervisor::ask(&self.file, &Request::Keep);
        }
        if self.at_drop == AtDrop::End {
            let _ = self.remove_own();
        }
    }
}

fn last_lines(path: &Path, count: usize) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join(" | ")
}
