//! A second network beside that of a lab: between two addresses of one network packets never leave the kernel's loopback, so a
//! VPN there would carry nothing.
//!
//! A network is a thread's: what the thread starts, and the sockets it makes, are in it, and sockets stay where they were made.

use std::fs::File;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};

use crate::LabError;
use crate::namespace::{keep_net_admin_across_exec, loopback_up};

/// It is there as long as this is, or a thread, process or socket in it.
#[derive(Debug)]
pub struct Network(File);

impl Network {
    /// The one that this thread is in.
    ///
    /// # Errors
    /// Where /proc is not there.
    pub fn here() -> Result<Self, LabError> {
        File::open("/proc/thread-self/ns/net").map(Self).map_err(LabError::io("open this thread's network"))
    }

    /// Moves this thread, and no other, into a new one with `lo` up and no way out.
    ///
    /// # Errors
    /// `Refused` outside of a user namespace of our own.
    pub fn enter_new() -> Result<Self, LabError> {
        unshare(CloneFlags::CLONE_NEWNET).map_err(refused("cannot create a second network"))?;
        loopback_up().map_err(LabError::io("bring up lo in the second network"))?;
        Self::here()
    }

    /// Moves this thread, and no other, into it.
    ///
    /// # Errors
    /// `Refused` outside of a user namespace of our own.
    pub fn enter(&self) -> Result<(), LabError> {
        setns(&self.0, CloneFlags::CLONE_NEWNET).map_err(refused("cannot change to another network"))
    }
}

/// Lets this thread start programs that make and set up network devices; other threads' programs may not. They find an empty
/// /var/run, which takes what they write there: outside it would be left behind, or be refused.
///
/// # Errors
/// `Refused` outside of a user namespace of our own.
pub fn for_vpn_programs() -> Result<(), LabError> {
    let not_mounted = "cannot give a VPN's programs a /var/run of their own";
    unshare(CloneFlags::CLONE_NEWNS).map_err(refused(not_mounted))?;
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)
        .map_err(refused(not_mounted))?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("none"), "/var/run", Some("tmpfs"), flags, Some("mode=0700,size=1m"))
        .map_err(refused(not_mounted))?;
    keep_net_admin_across_exec()
}

fn refused(what: &str) -> impl FnOnce(nix::Error) -> LabError {
    let what = what.to_owned();
    move |errno| LabError::Refused {
        what,
        why: errno.to_string(),
        next: "measure without a VPN, or where user namespaces are allowed".into(),
    }
}
