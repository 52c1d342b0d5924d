//! Hosts of a lab: a network namespace each, with a sshd and a server in it, that nothing but ssh leads to.
//!
//! Two networks: `10.77.N.0/24` is the cluster's, where servers and applications meet; over `10.77.(100+N).0/24` the operator reaches
//! every sshd and nothing else. The operator has no address in the first one, and no host forwards.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;

use crate::LabError;
use crate::bundle;
use crate::layout::LabFile;
use crate::namespace::{ACCOUNT, keep_for_sshd, loopback_up};

/// Third byte of the operator's network, added to the lab's number.
const CONTROL: u8 = 100;
/// Last byte of a node's address is its number and this.
const FIRST: u8 = 10;
const OPERATOR: u8 = 254;
/// The operator on the cluster's network, in a lab whose operator is a client too.
const CLIENT: u8 = 253;
/// Numbers of servers that are none of the cluster's.
const STRANGERS: [u8; 2] = [8, 9];
const APP: u8 = 200;
/// Where applications are, on the cluster's network only.
pub const APP_HOST: &str = "app";
const PROXY: u8 = 201;
/// Where the proxy is, in a lab that has one: on both networks, as the nodes are.
pub const PROXY_HOST: &str = "proxy";

/// The ssh of a lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshPrograms {
    pub sshd: Program,
    pub ssh: Program,
    pub keygen: Program,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    /// `LD_LIBRARY_PATH` of one that lies in a bundle.
    pub libraries: Option<String>,
}

impl Program {
    /// The system's, or that of the bundle.
    pub(crate) fn find(place: &str, name: &str) -> Result<Self, LabError> {
        let system = Path::new("/").join(place);
        if system.is_file() {
            return Ok(Self { path: system, libraries: None });
        }
        let root = bundle::bundle(name);
        if root.join("stamp").is_file() {
            return Ok(Self { path: root.join(place), libraries: Some(bundle::library_path(&root)) });
        }
        Err(LabError::Missing {
            what: format!("the program /{place}"),
            why: format!("it is not installed, and there is no bundle in {}", root.display()),
            next: format!("sealion lab fetch {name}     (no root needed; nothing is installed or started)"),
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }

    /// As words of a command line.
    pub fn words(&self) -> Vec<String> {
        let path = self.path.display().to_string();
        match &self.libraries {
            Some(libraries) => vec!["env".into(), format!("LD_LIBRARY_PATH={libraries}"), path],
            None => vec![path],
        }
    }
}

impl SshPrograms {
    /// # Errors
    /// `Missing`, with the command that fetches them.
    pub fn find() -> Result<Self, LabError> {
        Ok(Self {
            sshd: Program::find("usr/sbin/sshd", "ssh")?,
            ssh: Program::find("usr/bin/ssh", "ssh")?,
            keygen: Program::find("usr/bin/ssh-keygen", "ssh")?,
        })
    }
}

/// Where a host is reached by the operator.
fn control_address(lab_number: u8, last: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, CONTROL.wrapping_add(lab_number), last)
}

/// Of the cluster's network.
pub fn node_address(lab_number: u8, node_number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 77, lab_number, FIRST.wrapping_add(node_number)))
}

/// A host that runs, or what runs on one. It ends with the supervisor.
#[derive(Debug)]
pub struct Host {
    child: Child,
}

impl Host {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn of(child: Child) -> Self {
        Self { child }
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        // Who cannot be asked is found out by what does not answer.
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    pub fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn ssh_config(dir: &Path) -> PathBuf {
    dir.join("ssh/config")
}

/// Keys, and the files of ssh and sshd; the operator knows every host's key.
///
/// # Errors
/// A file cannot be written, or ssh-keygen fails.
pub fn lay_out(lab: &LabFile, programs: &SshPrograms, lab_number: u8) -> Result<(), LabError> {
    let dir = lab.dir.join("ssh");
    let write = |name: &str, text: String| {
        let path = dir.join(name);
        fs::write(&path, text).map_err(LabError::io(format!("write {}", path.display())))
    };
    fs::create_dir_all(&dir).map_err(LabError::io(format!("make {}", dir.display())))?;
    key(programs, &dir.join("user"))?;
    let (mut config, mut known) = (String::new(), String::new());
    let members =
        lab.nodes.iter().chain(&lab.arbitrators).enumerate().map(|(at, node)| {
            (node.name.as_str(), FIRST.wrapping_add(u8::try_from(at + 1).unwrap_or(u8::MAX)))
        });
    for (name, last) in members.chain(lab.proxy.then_some((PROXY_HOST, PROXY))) {
        let address = control_address(lab_number, last);
        let host_key = dir.join(format!("{name}-host"));
        key(programs, &host_key)?;
        let public = fs::read_to_string(host_key.with_extension("pub"))
            .map_err(LabError::io(format!("read {}", host_key.display())))?;
        known += &format!("{address} {public}");
        config += &format!(
            "Host {}\n    HostName {address}\n    User {ACCOUNT}\n    IdentityFile {}\n    IdentitiesOnly yes\n    \
             UserKnownHostsFile {}\n    GlobalKnownHostsFile none\n    StrictHostKeyChecking yes\n\n",
            name,
            dir.join("user").display(),
            dir.join("known_hosts").display()
        );
        write(
            &format!("{name}-sshd.conf"),
            format!(
                "ListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
                 PasswordAuthentication no\nKbdInteractiveAuthentication no\nAllowTcpForwarding no\nAllowStreamLocalForwarding no\n",
                host_key.display(),
                dir.join("user.pub").display()
            ),
        )?;
    }
    write("config", config)?;
    write("known_hosts", known)
}

fn key(programs: &SshPrograms, path: &Path) -> Result<(), LabError> {
    let output = programs
        .keygen
        .command()
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f"])
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .map_err(LabError::io("run ssh-keygen"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(LabError::Refused {
        what: "ssh-keygen makes no key".into(),
        why: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        next: "try it by hand".into(),
    })
}

/// The two bridges, with the operator at one of them.
///
/// # Errors
/// `ip` is not there, or refuses.
pub fn make_networks(lab_number: u8, operator_is_client: bool) -> Result<(), LabError> {
    let operator = format!("{}/24", control_address(lab_number, OPERATOR));
    for words in [
        "link add br0 type bridge",
        "link set br0 up",
        "link add br1 type bridge",
        "link set br1 up",
        &format!("address add {operator} dev br1"),
    ] {
        ip(words)?;
    }
    // Servers that are none of the cluster's run there, each at the address of its name.
    let strangers = STRANGERS.map(|number| FIRST.wrapping_add(number));
    for last in strangers.into_iter().chain([CLIENT]).filter(|_| operator_is_client) {
        ip(&format!("address add {}/24 dev br0", Ipv4Addr::new(10, 77, lab_number, last)))?;
    }
    Ok(())
}

fn ip(words: &str) -> Result<(), LabError> {
    let output = Command::new("ip")
        .args(words.split(' '))
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .output()
        .map_err(LabError::io("run ip (package iproute2)"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(LabError::Refused {
        what: format!("ip {words} fails"),
        why: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        next: "use a lab without --hosts".into(),
    })
}

/// The number of a member's host, which its devices are called by.
fn number_of(lab: &LabFile, name: &str) -> Result<usize, LabError> {
    let at = lab.nodes.iter().chain(&lab.arbitrators).position(|member| member.name == name);
    at.filter(|_| lab.hosts).map(|at| at + 1).ok_or_else(|| LabError::Missing {
        what: format!("a host \"{name}\" of a member"),
        why: "no member of this lab is called so, or its members are no hosts".into(),
        next: "sealion lab status".into(),
    })
}

/// Packets between these hosts are dropped on the cluster's network, as by a broken switch: nobody is told. One alone reaches nobody,
/// also no application. Over ssh all stay in reach.
///
/// # Errors
/// There is no such host, or `ip` refuses.
pub fn cut(lab: &LabFile, names: &[String]) -> Result<(), LabError> {
    let numbers = names.iter().map(|name| number_of(lab, name)).collect::<Result<Vec<_>, _>>()?;
    match numbers[..] {
        [alone] => ip(&format!("link set v{alone} nomaster")),
        // Ports of a bridge that are isolated do not reach each other, and reach all others.
        _ => numbers
            .iter()
            .try_for_each(|number| ip(&format!("link set v{number} type bridge_slave isolated on"))),
    }
}

/// Undoes every [`cut`].
///
/// # Errors
/// `ip` refuses.
pub fn mend(lab: &LabFile) -> Result<(), LabError> {
    for member in lab.nodes.iter().chain(&lab.arbitrators) {
        let number = number_of(lab, &member.name)?;
        ip(&format!("link set v{number} master br0"))?;
        ip(&format!("link set v{number} type bridge_slave isolated off"))?;
    }
    Ok(())
}

/// The proxy's address on the cluster's network.
pub fn proxy_address(lab_number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 77, lab_number, PROXY))
}

/// Starts the host `name` (a node, [`PROXY_HOST`] or [`APP_HOST`]) and connects it.
///
/// # Errors
/// Its namespace cannot be made or connected.
pub fn start(lab: &LabFile, name: &str, number: u8, lab_number: u8) -> Result<Host, LabError> {
    let failed = |what: &str, why: String| LabError::Refused {
        what: format!("the host {name} {what}"),
        why,
        next: "see supervisor.log in the lab's directory".into(),
    };
    let mut child = Command::new("/proc/self/exe")
        .arg("__host")
        .arg(&lab.dir)
        .arg(name)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(LabError::io(format!("start the host {name}")))?;
    let connected = (|| {
        let (Some(mut go), Some(says)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("has no pipes", String::new()));
        };
        let mut line = String::new();
        let read = BufReader::new(says).read_line(&mut line);
        if !matches!(read, Ok(count) if count > 0) {
            return Err(failed("did not begin", "it ended before its first word".into()));
        }
        let pid = child.id();
        let last = match name {
            APP_HOST => APP,
            PROXY_HOST => PROXY,
            _ => FIRST.wrapping_add(number),
        };
        ip(&format!("link add v{number} type veth peer name e0 netns {pid}"))?;
        ip(&format!("link set v{number} master br0 up"))?;
        let mut addresses = format!("{}/24", Ipv4Addr::new(10, 77, lab_number, last));
        if name != APP_HOST {
            ip(&format!("link add m{number} type veth peer name m0 netns {pid}"))?;
            ip(&format!("link set m{number} master br1 up"))?;
            addresses += &format!(" {}/24", control_address(lab_number, last));
        }
        writeln!(go, "{addresses}").map_err(LabError::io(format!("start the host {name}")))?;
        // It stays open: the host of applications ends with it.
        child.stdin = Some(go);
        Ok(())
    })();
    if let Err(error) = connected {
        let _ = child.kill();
        let _ = child.wait();
        return Err(error);
    }
    Ok(Host { child })
}

/// `sealion __host DIR NAME`: a network of its own; then sshd, or, for applications, nothing.
pub fn become_host(dir: &Path, name: &str) -> LabError {
    match hosted(dir, name) {
        Ok(never) => never,
        Err(error) => error,
    }
}

fn hosted(dir: &Path, name: &str) -> Result<LabError, LabError> {
    let refused = |what: &str| {
        let what = what.to_owned();
        move |errno: nix::Error| LabError::Refused {
            what,
            why: errno.to_string(),
            next: "use a lab without --hosts".into(),
        }
    };
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(refused("cannot tie the host to the supervisor"))?;
    unshare(CloneFlags::CLONE_NEWNET).map_err(refused("cannot create the network of a host"))?;
    loopback_up().map_err(LabError::io("bring up lo of a host"))?;
    println!("ready");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(LabError::io("wait for the network of a host"))?;
    for (device, address) in ["e0", "m0"].iter().zip(line.split_whitespace()) {
        ip(&format!("address add {address} dev {device}"))?;
        ip(&format!("link set {device} up"))?;
    }
    if name == APP_HOST {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        return Err(LabError::Missing {
            what: "the lab".into(),
            why: "its supervisor has ended".into(),
            next: "sealion lab up".into(),
        });
    }
    let programs = SshPrograms::find()?;
    keep_for_sshd()?;
    let source = programs
        .sshd
        .command()
        .args(["-D", "-e", "-f"])
        .arg(dir.join("ssh").join(format!("{name}-sshd.conf")))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .exec();
    Ok(LabError::Io { what: "start sshd".into(), source })
}

/// Moves this process into the network of a host.
///
/// # Errors
/// It has ended, or this process may not.
pub fn enter_network(pid: i32) -> Result<(), LabError> {
    let net = fs::File::open(format!("/proc/{pid}/ns/net"))
        .map_err(LabError::io(format!("open the network of the host with pid {pid}")))?;
    setns(&net, CloneFlags::CLONE_NEWNET).map_err(|errno| LabError::Refused {
        what: format!("cannot enter the network of the host with pid {pid}"),
        why: errno.to_string(),
        next: "run this as the user who started the lab".into(),
    })
}
