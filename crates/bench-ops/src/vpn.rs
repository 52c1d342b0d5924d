//! VPNs before the lab's servers: OpenVPN and WireGuard, both in user space.
//!
//! A VPN between two addresses of one network would carry nothing: the kernel sends what is its own over `lo`. So the load
//! comes from a second network, behind a pair of virtual Ethernet devices:
//!
//! ```text
//!   network of the VPN's client                        network of the lab
//!   load - inner 10.77.N.2 - VPN - outer 10.76.N.2 == outerN 10.76.N.1 - VPN - innerN 10.77.N.1 - servers
//! ```
//!
//! That a VPN carries the load, and seals it, is seen and not believed: [`proof`], [`VpnPath::load`].
//!
//! One thread makes all this and starts both ends. It is the one that they are tied to: it waits until the VPN is to end, and
//! when sealion is gone, so are the thread, both ends, the devices and the second network.

pub(crate) mod addresses;
mod proof;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use ::bench::experiments::{Made, Via};
use lab::network::{Network, for_vpn_programs};
use net::ConnectOptions;
use openssl::pkey::{PKey, Private};
use report::shape::LoadReport;
use zeroize::Zeroizing;

use super::keys;
use super::rig::child::{OwnedChild, POLL, UP_MAX, quiet};
use addresses::{Kind, Side};
use site::OpsError;
use site::machine::program;
use site::servers::internal;

const TUN: &str = "/dev/net/tun";
/// Of this thread's network: whether a port that waits for late packets is taken for a new connection.
const REUSE_OF_PORTS: &str = "/proc/sys/net/ipv4/tcp_tw_reuse";
/// Where wireguard-go listens for its settings; the programs have a /var/run of their own.
const WIREGUARD_SOCKETS: &str = "/var/run/wireguard";

/// A VPN that ends with this.
pub struct Vpn {
    /// Of both ends.
    pub pids: Vec<i32>,
    pub way: Arc<VpnPath>,
    /// What the thread waits for: nothing is ever sent.
    over: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

/// The way through a VPN, for whoever is to go it.
#[derive(Debug)]
pub struct VpnPath {
    client: Network,
    /// The address that servers have at its other end.
    pub server_ip: IpAddr,
    name: &'static str,
}

impl Vpn {
    /// Its keys and logs are in `dir`. `has_network`: this process is in a namespace of its own.
    ///
    /// # Errors
    /// What is missing, or does not come up; or the VPN carries nothing, or carries it in cleartext.
    pub fn make(via: Via, dir: &Path, has_network: bool) -> Result<Self, OpsError> {
        let kind =
            Kind::of(via).ok_or_else(|| OpsError::internal("cannot create a VPN", "it is not a VPN"))?;
        let programs = Programs::find(kind, has_network)?;
        std::fs::create_dir_all(dir).map_err(internal("cannot create a directory of the lab"))?;
        let dir = dir.to_owned();
        let (told, hears) = mpsc::channel();
        let (over, is_over) = mpsc::channel();
        let keeper = thread::Builder::new()
            .name(kind.program().to_owned())
            .spawn(move || keep(kind, &programs, &dir, &told, &is_over))
            .map_err(internal("cannot start a thread for a VPN"))?;
        let (pids, client) = hears.recv().map_err(|_| {
            OpsError::internal(format!("{} was not created", kind.program()), "its thread has ended")
        })??;
        let way = VpnPath { client, server_ip: kind.inner(Side::Server).into(), name: kind.program() };
        Ok(Self { pids, way: Arc::new(way), over: Some(over), keeper: Some(keeper) })
    }
}

impl Drop for Vpn {
    fn drop(&mut self) {
        self.over = None;
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

impl VpnPath {
    /// Measures once, from the client's end. What the load has sent and received must have gone through the VPN's device.
    ///
    /// # Errors
    /// As [`crate::load`], and when it went another way.
    pub fn load(
        &self,
        targets: &[ConnectOptions],
        trial: &crate::Load,
        stop: &AtomicBool,
    ) -> Result<LoadReport, OpsError> {
        // Threads that this one starts are in its network.
        let there = || {
            self.client.enter()?;
            let before = device_bytes("inner")?;
            let report = crate::load(targets, trial, stop, &mut |_| {})?;
            let carried = device_bytes("inner")?.saturating_sub(before);
            let wanted = report.sent_bytes + report.received_bytes;
            if carried < wanted {
                return Err(OpsError::internal(
                    format!("{} carried {carried} bytes", self.name),
                    format!("connections sent and received {wanted}"),
                ));
            }
            Ok(report)
        };
        thread::scope(|scope| match scope.spawn(there).join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }
}

/// What has gone through a device of this thread's network, both ways.
///
/// # Source
/// proc(5): /proc/net/dev has a row a device; received bytes are its first column, sent ones the ninth.
fn device_bytes(name: &str) -> Result<u64, OpsError> {
    // Not /proc/net, which is that of the process's first thread.
    let table = std::fs::read_to_string("/proc/thread-self/net/dev")
        .map_err(internal("cannot read the counters of a device"))?;
    let bytes = table.lines().find_map(|row| {
        let (_, columns) = row.split_once(':').filter(|(device, _)| device.trim() == name)?;
        let columns: Vec<u64> = columns.split_whitespace().map_while(|column| column.parse().ok()).collect();
        columns.first()?.checked_add(*columns.get(8)?)
    });
    bytes.ok_or_else(|| {
        OpsError::cannot_look(
            format!("the VPN's device {name} is missing"),
            "its program has ended, or somebody removed the device",
            "run it again",
        )
    })
}

struct Programs {
    vpn: PathBuf,
    ip: PathBuf,
}

impl Programs {
    fn find(kind: Kind, has_network: bool) -> Result<Self, OpsError> {
        if !has_network {
            return Err(OpsError::cannot_look(
                "cannot create a network for a VPN",
                "this machine does not allow user namespaces, and sealion does not change the machine's own network",
                "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1)",
            ));
        }
        let find = |name: &str, package: &str| {
            program(name).ok_or_else(|| {
                OpsError::cannot_look(
                    format!("there is no {name}"),
                    "it is not installed",
                    format!("apt install {package}"),
                )
            })
        };
        let programs = Self { vpn: find(kind.program(), kind.program())?, ip: find("ip", "iproute2")? };
        File::options().read(true).write(true).open(TUN).map_err(|error| {
            OpsError::cannot_look(
                format!("cannot open {TUN}"),
                error,
                "modprobe tun; for a container: --device /dev/net/tun",
            )
        })?;
        Ok(programs)
    }

    /// In the network of this thread.
    fn ip(&self, words: &[&str]) -> Result<(), OpsError> {
        let done = Command::new(&self.ip)
            .args(words)
            .stdin(Stdio::null())
            .output()
            .map_err(internal("cannot start ip"))?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        Err(OpsError::cannot_look(
            format!("ip {} failed", words.join(" ")),
            wire::printable(said.trim()),
            "check whether this kernel has veth and tun devices (modprobe veth tun)",
        ))
    }

    fn up(&self, device: &str, address: Ipv4Addr) -> Result<(), OpsError> {
        self.ip(&["addr", "add", &format!("{address}/24"), "dev", device])?;
        self.ip(&["link", "set", device, "up"])
    }

    fn start(&self, end: &End<'_>, words: &[&str]) -> Result<OwnedChild, OpsError> {
        let log = private(&end.log())?;
        let mut command = Command::new("/proc/self/exe");
        command.arg("__vpn").arg(&self.vpn).args(words);
        // Not in the terminal's group: on Ctrl-C connections would wait for a VPN that has ended before them.
        quiet(&mut command).process_group(0).stdout(same(&log)?).stderr(log);
        command.spawn().map(OwnedChild).map_err(internal(&format!("cannot start {}", end.kind.program())))
    }
}

fn same(file: &File) -> Result<File, OpsError> {
    file.try_clone().map_err(internal("cannot share a log"))
}

/// A new file for nobody else.
fn private(path: &Path) -> Result<File, OpsError> {
    let made = File::options().write(true).create_new(true).mode(0o600).open(path);
    made.map_err(internal("cannot write a file of a VPN"))
}

/// One of the two.
struct End<'a> {
    kind: Kind,
    side: Side,
    dir: &'a Path,
}

impl End<'_> {
    fn log(&self) -> PathBuf {
        self.dir.join(match self.side {
            Side::Server => "server.log",
            Side::Client => "client.log",
        })
    }

    fn device(&self) -> String {
        self.kind.device(self.side, "inner")
    }

    fn did_not_come_up(&self, why: &str) -> OpsError {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let last = log.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let why = last.map_or_else(|| why.to_owned(), |last| format!("{why}; its last output: {last}"));
        OpsError::cannot_look(
            format!("{} does not start", self.kind.program()),
            wire::printable(&why),
            format!("try it by hand in a namespace (unshare -Urn); it needs {TUN}"),
        )
    }

    fn lives(&self, child: &mut OwnedChild) -> Result<(), OpsError> {
        match child.0.try_wait().map_err(internal("cannot check a child process"))? {
            Some(status) => Err(self.did_not_come_up(&status.to_string())),
            None => Ok(()),
        }
    }
}

type BuildResult = Result<(Vec<i32>, Network), OpsError>;

/// Makes a VPN, says how it is reached, and holds it until nobody wants it any more.
fn keep(kind: Kind, programs: &Programs, dir: &Path, told: &Sender<BuildResult>, is_over: &Receiver<()>) {
    match build(kind, programs, dir) {
        Ok((ends, client)) => {
            let pids = ends.iter().filter_map(|end| i32::try_from(end.0.id()).ok()).collect();
            if told.send(Ok((pids, client))).is_ok() {
                // An error: the other side is gone.
                let _ = is_over.recv();
            }
        }
        Err(error) => {
            let _ = told.send(Err(error));
        }
    }
}

fn build(kind: Kind, programs: &Programs, dir: &Path) -> Result<([OwnedChild; 2], Network), OpsError> {
    for_vpn_programs()?;
    let of_servers = Network::here()?;
    let of_client = Network::enter_new()?;
    // Over loopback the kernel does so by itself; without it some thousand connections a second run out of ports.
    std::fs::write(REUSE_OF_PORTS, "1").map_err(internal("ports cannot be used again after a second"))?;
    let outer = |side| kind.device(side, "outer");
    let own = std::process::id().to_string();
    let (near, far) = (outer(Side::Client), outer(Side::Server));
    // The other end goes to the network of the process's first thread, which is the lab's.
    programs.ip(&["link", "add", &near, "type", "veth", "peer", "name", &far, "netns", &own])?;
    programs.up(&near, kind.outer(Side::Client))?;
    of_servers.enter()?;
    programs.up(&far, kind.outer(Side::Server))?;

    let end = |side| End { kind, side, dir };
    let (server, client) = (end(Side::Server), end(Side::Client));
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))
        .map_err(internal("no port is free for the test of a VPN"))?;
    let mut ends = match kind {
        Kind::OpenVpn => {
            let files = keys::make(dir, Made::PLAIN.key, Made::PLAIN.issuers)?;
            let far = openvpn(programs, &server, &files)?;
            of_client.enter()?;
            [openvpn(programs, &client, &files)?, far]
        }
        Kind::WireGuard => {
            let keys = WireGuardKeys::make()?;
            let far = wireguard(programs, &server, &keys)?;
            of_client.enter()?;
            [wireguard(programs, &client, &keys)?, far]
        }
    };
    proof::seals(&listener, &mut ends, [&client, &server])?;
    Ok((ends, of_client))
}

/// Peer to peer, by TLS with a certificate of the same CA at both ends; data by AES-256-GCM, as its own default is.
fn openvpn(programs: &Programs, end: &End<'_>, files: &keys::Files) -> Result<OwnedChild, OpsError> {
    let End { kind, side, dir } = end;
    let (own, other) = match side {
        Side::Server => (Side::Server, Side::Client),
        Side::Client => (Side::Client, Side::Server),
    };
    let role = match side {
        Side::Server => format!("tls-server\ndh none\nlocal {}\nlport {}\n", kind.outer(own), kind.port()),
        Side::Client => format!("tls-client\nnobind\nremote {} {}\n", kind.outer(other), kind.port()),
    };
    // Where the kernel could carry the data (DCO), nobody would know whose processor time it is.
    let text = format!(
        "dev {}\ndev-type tun\nproto udp\nifconfig {} {}\n{role}ca {}\ncert {}\nkey {}\ncipher AES-256-GCM\n\
         data-ciphers AES-256-GCM\nignore-unknown-option disable-dco\ndisable-dco\nverb 1\nsuppress-timestamps\n",
        end.device(),
        kind.inner(own),
        kind.inner(other),
        files.ca.display(),
        files.pair.cert.display(),
        files.pair.key.display(),
    );
    let path = dir.join(if *side == Side::Server { "server.conf" } else { "client.conf" });
    private(&path)?
        .write_all(text.as_bytes())
        .map_err(internal("cannot write the configuration of openvpn"))?;
    programs.start(end, &["--config", &path.to_string_lossy()])
}

struct WireGuardKeys {
    server: PKey<Private>,
    client: PKey<Private>,
}

impl WireGuardKeys {
    fn make() -> Result<Self, OpsError> {
        let make = || {
            PKey::generate_x25519()
                .map_err(|error| OpsError::internal("cannot create a key for WireGuard", error))
        };
        Ok(Self { server: make()?, client: make()? })
    }

    /// What an end is told. It goes to the program's socket, and into no file.
    ///
    /// # Source
    /// wireguard.com/xplatform: keys in hexadecimal digits, an empty line at the end.
    fn settings(&self, kind: Kind, side: Side) -> Result<Zeroizing<String>, OpsError> {
        let bad = |error| OpsError::internal("cannot read a key of WireGuard", error);
        let (own, peer, other) = match side {
            Side::Server => (&self.server, &self.client, Side::Client),
            Side::Client => (&self.client, &self.server, Side::Server),
        };
        let private = Zeroizing::new(own.raw_private_key().map_err(bad)?);
        let private = Zeroizing::new(model::hex(&private));
        let public = model::hex(&peer.raw_public_key().map_err(bad)?);
        let (listens, finds) = match side {
            Side::Server => (format!("listen_port={}\n", kind.port()), String::new()),
            Side::Client => (String::new(), format!("endpoint={}:{}\n", kind.outer(other), kind.port())),
        };
        Ok(Zeroizing::new(format!(
            "set=1\nprivate_key={}\n{listens}replace_peers=true\npublic_key={public}\n{finds}\
             replace_allowed_ips=true\nallowed_ip={}/32\n\n",
            *private,
            kind.inner(other),
        )))
    }
}

fn wireguard(programs: &Programs, end: &End<'_>, keys: &WireGuardKeys) -> Result<OwnedChild, OpsError> {
    let device = end.device();
    let mut child = programs.start(end, &["--foreground", &device])?;
    let socket = Path::new(WIREGUARD_SOCKETS).join(format!("{device}.sock"));
    let deadline = Instant::now() + UP_MAX;
    let mut talk = loop {
        if let Ok(talk) = UnixStream::connect(&socket) {
            break talk;
        }
        end.lives(&mut child)?;
        if Instant::now() > deadline {
            return Err(end.did_not_come_up(&format!("no answer for {} s", UP_MAX.as_secs())));
        }
        thread::sleep(POLL);
    };
    let failed = || internal("wireguard-go does not accept its configuration");
    talk.set_read_timeout(Some(UP_MAX)).map_err(failed())?;
    talk.write_all(keys.settings(end.kind, end.side)?.as_bytes()).map_err(failed())?;
    let mut answer = String::new();
    let mut bytes = [0_u8; 256];
    while !answer.ends_with("\n\n") {
        match talk.read(&mut bytes).map_err(failed())? {
            0 => break,
            count => answer.push_str(&String::from_utf8_lossy(bytes.get(..count).unwrap_or_default())),
        }
    }
    if answer.trim() != "errno=0" {
        return Err(end.did_not_come_up(&format!("it answered {:?}", answer.trim())));
    }
    programs.up(&device, end.kind.inner(end.side))?;
    Ok(child)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn each_end_of_wireguard_is_told_its_own_secret_and_the_others_key() {
        let keys = WireGuardKeys::make().unwrap();
        let hex = model::hex;
        for (side, own, other) in
            [(Side::Server, &keys.server, &keys.client), (Side::Client, &keys.client, &keys.server)]
        {
            let text = keys.settings(Kind::WireGuard, side).unwrap();
            let has = |line: String| text.lines().any(|found| found == line);
            assert!(has(format!("private_key={}", hex(&own.raw_private_key().unwrap()))));
            assert!(has(format!("public_key={}", hex(&other.raw_public_key().unwrap()))));
            assert!(!text.contains(&hex(&other.raw_private_key().unwrap())));
            assert!(text.starts_with("set=1\n") && text.ends_with("\n\n"));
        }
    }

    #[test]
    fn a_device_that_is_gone_is_said_and_one_that_is_there_is_counted() {
        device_bytes("lo").unwrap();
        let error = device_bytes("nothing").unwrap_err().to_string();
        assert!(error.contains("nothing is missing"), "{error}");
    }

    #[test]
    fn no_two_ends_share_an_address_and_certificates_know_the_servers() {
        let all = Kind::ALL
            .map(|kind| [Side::Server, Side::Client].map(|side| [kind.inner(side), kind.outer(side)]));
        let mut all: Vec<_> = all.into_iter().flatten().flatten().collect();
        assert!(addresses::server_ips().all(|ip| all.iter().any(|known| IpAddr::from(*known) == ip)));
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 8);
    }
}
