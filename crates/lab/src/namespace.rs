//! User and network namespaces: an own loopback with real ports, and capture without root.
//!
//! The caller is mapped to itself, or, when it is root, to an ordinary number: mariadbd refuses to run as uid 0 and an
//! rsync daemon that believes to be root wants to become `nobody`, who is not mapped. To the file system outside the
//! caller stays who it was. Capabilities inside are full until the next exec of a non-root program, so servers have
//! none; [`keep_net_raw_across_exec`] lets a sealion started inside still capture.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::path::Path;

use caps::{CapSet, Capability};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, sendto, socket,
};
use nix::unistd::{Gid, Uid, getegid, geteuid};

use crate::LabError;

const HOSTS: &str = "/etc/hosts";

pub(crate) const ACCOUNT: &str = "sealion";

/// The number that root has inside. Any number but 0 does; this one is what a first ordinary user has on Debian.
const INSIDE_UID_OF_ROOT: u32 = 1000;

/// An address of a lab that is not loopback: servers and sealion tell clients of this host from others by it.
pub const NOT_LOOPBACK: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 1);

/// Moves this process, which must have one thread, into a new user and network namespace with `lo` up, and with
/// [`NOT_LOOPBACK`] on it.
///
/// # Errors
/// `Refused` where the kernel or an LSM forbids unprivileged user namespaces, or the process has threads.
pub fn enter_new() -> Result<(), LabError> {
    enter(CloneFlags::empty())?;
    add_address(NOT_LOOPBACK).map_err(LabError::io("add an address to lo in the namespace"))
}

/// The same, with mounts of its own, a routable `address` on `lo`, and `name` for it in `/etc/hosts`: some libraries check
/// less for 127.0.0.1 and `localhost`. `dir` takes the file that stands in for `/etc/hosts`.
///
/// # Errors
/// As [`enter_new`], and where the file cannot be written or mounted.
pub fn enter_new_with_name(address: Ipv4Addr, name: &str, dir: &Path) -> Result<(), LabError> {
    let known = fs::read_to_string(HOSTS).unwrap_or_default();
    let hosts = dir.join("hosts");
    fs::write(&hosts, format!("{known}\n{address} {name}\n"))
        .map_err(LabError::io("write the hosts file"))?;
    enter(CloneFlags::CLONE_NEWNS)?;
    add_address(address).map_err(LabError::io("add an address to lo in the namespace"))?;
    stand_in(&[(&hosts, HOSTS)])
}

/// The same as [`enter_new`], with mounts of its own, and an account for whoever we are inside: sshd lets in nobody whom
/// `/etc/passwd` does not know, or whose account is locked there. `dir` takes the files that stand in.
///
/// # Errors
/// As [`enter_new`], and where the files cannot be written or mounted.
pub fn enter_new_with_account(dir: &Path) -> Result<(), LabError> {
    let (uid, gid) = (inside(geteuid().as_raw()), inside(getegid().as_raw()));
    let (passwd, shadow) = (dir.join("passwd"), dir.join("shadow"));
    let home = dir.display();
    for (path, text) in [
        (&passwd, format!("{ACCOUNT}:x:{uid}:{gid}::{home}:/bin/sh\n")),
        (&shadow, format!("{ACCOUNT}:*:::::::\n")),
    ] {
        fs::write(path, text).map_err(LabError::io("write an account for the namespace"))?;
    }
    enter(CloneFlags::CLONE_NEWNS)?;
    stand_in(&[(&passwd, "/etc/passwd"), (&shadow, "/etc/shadow")])
}

/// Files in place of others, for this process and its children.
fn stand_in(files: &[(&Path, &str)]) -> Result<(), LabError> {
    let mounted = |what: &str| {
        let what = format!("cannot put another file in place of {what} in the namespace");
        move |errno: nix::Error| LabError::Refused {
            what,
            why: errno.to_string(),
            next: "use the host's loopback".into(),
        }
    };
    // What is mounted here must not appear outside.
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)
        .map_err(mounted("/"))?;
    for (file, place) in files {
        mount(Some(*file), *place, None::<&str>, MsFlags::MS_BIND, None::<&str>).map_err(mounted(place))?;
    }
    Ok(())
}

fn enter(beside: CloneFlags) -> Result<(), LabError> {
    let (uid, gid) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET | beside).map_err(|errno| {
        LabError::Refused {
            what: "cannot create a user and network namespace".into(),
            why: errno.to_string(),
            next: "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, or \
               kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu), or use --no-namespace"
                .into(),
        }
    })?;
    as_owner_of_proc(|| write_maps(uid, gid))?;
    loopback_up().map_err(LabError::io("bring up lo in the namespace"))
}

fn write_maps(uid: Uid, gid: Gid) -> Result<(), LabError> {
    let (inside_uid, inside_gid) = (inside(uid.as_raw()), inside(gid.as_raw()));
    // Source: user_namespaces(7): without privilege in the parent, setgroups must be denied before gid_map is written.
    fs::write("/proc/self/setgroups", "deny").map_err(LabError::io("deny setgroups in the namespace"))?;
    fs::write("/proc/self/gid_map", format!("{inside_gid} {} 1", gid.as_raw()))
        .map_err(LabError::io("write /proc/self/gid_map"))?;
    fs::write("/proc/self/uid_map", format!("{inside_uid} {} 1", uid.as_raw()))
        .map_err(LabError::io("write /proc/self/uid_map"))
}

/// Files in `/proc/self` belong to root where this process has asked that its memory be nobody's; while `what` runs they are
/// its own again.
fn as_owner_of_proc<T>(what: impl FnOnce() -> Result<T, LabError>) -> Result<T, LabError> {
    let changed = |errno: nix::Error| LabError::Refused {
        what: "cannot say whose this process's memory is".into(),
        why: errno.to_string(),
        next: "use --no-namespace".into(),
    };
    if prctl::get_dumpable().map_err(changed)? {
        return what();
    }
    prctl::set_dumpable(true).map_err(changed)?;
    let done = what();
    prctl::set_dumpable(false).map_err(changed)?;
    done
}

fn inside(id: u32) -> u32 {
    if id == 0 { INSIDE_UID_OF_ROOT } else { id }
}

/// Whether a child of ours may make such a namespace, tried, not guessed.
pub fn available() -> bool {
    std::process::Command::new("unshare")
        .args(["-Urn", "true"])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Joins the namespaces of a running lab. The process must have one thread.
pub fn join(pid: i32) -> Result<(), LabError> {
    let open = |kind: &str| {
        fs::File::open(format!("/proc/{pid}/ns/{kind}"))
            .map_err(LabError::io(format!("open the {kind} namespace of the lab's supervisor (pid {pid})")))
    };
    let same = |kind: &str| {
        fs::read_link(format!("/proc/{pid}/ns/{kind}")).ok()
            == fs::read_link(format!("/proc/self/ns/{kind}")).ok()
    };
    if same("user") && same("net") && same("mnt") {
        return Ok(());
    }
    let refused = |errno: nix::Error| LabError::Refused {
        what: format!("cannot enter the lab of pid {pid}"),
        why: errno.to_string(),
        next: "run this as the user who started the lab".into(),
    };
    let (user, net, mounts) = (open("user")?, open("net")?, open("mnt")?);
    let has_own_mounts = !same("mnt");
    if !same("user") {
        setns(&user, CloneFlags::CLONE_NEWUSER).map_err(refused)?;
    }
    if has_own_mounts {
        // The working directory is another one after that.
        let here = std::env::current_dir();
        setns(&mounts, CloneFlags::CLONE_NEWNS).map_err(refused)?;
        if let Ok(here) = here {
            let _ = std::env::set_current_dir(here);
        }
    }
    setns(&net, CloneFlags::CLONE_NEWNET).map_err(refused)
}

/// Lets the next program that this process executes keep the right to capture packets. Nothing else.
pub fn keep_net_raw_across_exec() -> Result<(), LabError> {
    keep_across_exec(
        Capability::CAP_NET_RAW,
        "run the command with sudo, or accept that links are judged unknown",
    )
}

/// Lets programs that this thread starts make and set up devices of a network namespace. Nothing else.
pub(crate) fn keep_net_admin_across_exec() -> Result<(), LabError> {
    keep_across_exec(Capability::CAP_NET_ADMIN, "measure without a VPN")
}

/// For a supervisor that makes networks of hosts, and for what it starts in them.
pub fn keep_for_hosts_across_exec() -> Result<(), LabError> {
    for capability in [
        Capability::CAP_SYS_ADMIN,
        Capability::CAP_NET_ADMIN,
        Capability::CAP_NET_RAW,
        Capability::CAP_NET_BIND_SERVICE,
    ] {
        keep_across_exec(capability, "use a lab without --hosts")?;
    }
    Ok(())
}

/// Of these, what sshd and its sessions need: port 22, and captures by the agent.
pub(crate) fn keep_for_sshd() -> Result<(), LabError> {
    drop_ambient();
    keep_across_exec(Capability::CAP_NET_RAW, "use a lab without --hosts")?;
    keep_across_exec(Capability::CAP_NET_BIND_SERVICE, "use a lab without --hosts")
}

fn keep_across_exec(capability: Capability, next: &str) -> Result<(), LabError> {
    let raise = |set| {
        caps::raise(None, set, capability).map_err(|error| LabError::Refused {
            what: format!("cannot hand on {capability}"),
            why: error.to_string(),
            next: next.into(),
        })
    };
    raise(CapSet::Inheritable)?;
    raise(CapSet::Ambient)
}

/// Servers get no capability at all.
pub fn drop_ambient() {
    // A kernel without ambient sets has nothing to drop.
    let _ = caps::clear(None, CapSet::Ambient);
}

/// Whether this process may open an AF_PACKET socket.
pub fn may_capture() -> bool {
    caps::has_cap(None, CapSet::Effective, Capability::CAP_NET_RAW).unwrap_or(false)
}

/// `lo` is the first device of every namespace.
const LO_INDEX: i32 = 1;

/// Sets IFF_UP on `lo`; the kernel then adds 127.0.0.1/8 itself.
///
/// # Source
/// rtnetlink(7): RTM_NEWLINK with struct ifinfomsg (16 bytes).
pub(crate) fn loopback_up() -> io::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    const IFF_UP: u32 = 1;
    let mut body = vec![0, 0, 0, 0]; // Family, padding, device type.
    body.extend_from_slice(&LO_INDEX.to_ne_bytes());
    body.extend_from_slice(&IFF_UP.to_ne_bytes());
    body.extend_from_slice(&IFF_UP.to_ne_bytes()); // Change mask.
    ask_kernel(RTM_NEWLINK, 0, &body)
}

/// Adds `address`/32 to `lo`.
///
/// # Source
/// rtnetlink(7): RTM_NEWADDR with struct ifaddrmsg (8 bytes) and the attributes IFA_ADDRESS and IFA_LOCAL.
fn add_address(address: Ipv4Addr) -> io::Result<()> {
    const RTM_NEWADDR: u16 = 20;
    const NLM_F_CREATE: u16 = 0x400;
    const AF_INET: u8 = 2;
    const IFA_ADDRESS: u16 = 1;
    const IFA_LOCAL: u16 = 2;
    let mut body = vec![AF_INET, 32, 0, 0]; // Family, prefix, flags, scope.
    body.extend_from_slice(&LO_INDEX.to_ne_bytes());
    for attribute in [IFA_LOCAL, IFA_ADDRESS] {
        body.extend_from_slice(&8u16.to_ne_bytes());
        body.extend_from_slice(&attribute.to_ne_bytes());
        body.extend_from_slice(&address.octets());
    }
    ask_kernel(RTM_NEWADDR, NLM_F_CREATE, &body)
}

/// One request by netlink, and the kernel's answer to it.
///
/// # Source
/// netlink(7): struct nlmsghdr (16 bytes), NLMSG_ERROR.
fn ask_kernel(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    const HEADER_BYTES: usize = 16;
    const NLM_F_REQUEST_ACK: u16 = 0x1 | 0x4;
    const NLMSG_ERROR: u16 = 2;

    let fd =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    bind(fd.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
    let bytes = u32::try_from(HEADER_BYTES + body.len()).map_err(io::Error::other)?;
    let mut message = Vec::with_capacity(HEADER_BYTES + body.len());
    message.extend_from_slice(&bytes.to_ne_bytes());
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(&(NLM_F_REQUEST_ACK | flags).to_ne_bytes());
    message.extend_from_slice(&1u32.to_ne_bytes()); // sequence
    message.extend_from_slice(&0u32.to_ne_bytes()); // port: the kernel
    message.extend_from_slice(body);
    sendto(fd.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;

    let mut answer = [0u8; 1024];
    let n = recv(fd.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    let kind = answer.get(4..6).and_then(|b| b.try_into().ok()).map(u16::from_ne_bytes);
    let code = answer.get(16..20).and_then(|b| b.try_into().ok()).map(i32::from_ne_bytes);
    match (n >= 20, kind, code) {
        (true, Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (true, Some(NLMSG_ERROR), Some(code)) => Err(io::Error::from_raw_os_error(-code)),
        _ => Err(io::Error::other("the kernel's netlink answer was too short")),
    }
}

/// Ids inside the namespace, for messages.
pub fn who() -> (Uid, Gid) {
    (geteuid(), getegid())
}
