//! Where the two servers are described, and how each logs in to the other.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use migrate::{Ends, ReplicationLogin};
use net::Endpoint;
use serde::{Deserialize, Serialize};
use site::OpsError;
use site::inventory::{ClientOptions, one_server};

/// Where a migration's servers are described. Kept in its plan, so that it can be gone on with by its name alone; passwords stay in
/// these files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    pub from: PathBuf,
    pub to: PathBuf,
    pub follow_as: PathBuf,
    /// How the source follows the target after the cutover; `None`: no way back from there.
    #[serde(default)]
    pub back_as: Option<PathBuf>,
    /// It goes so far, and waits for `migrate cutover`.
    #[serde(default)]
    pub until: Option<Until>,
    pub schemas: Vec<String>,
    pub sessions: usize,
    #[serde(default = "slice_mb")]
    pub slice_mb: u32,
}

/// Of a migration that was begun before there were slices.
fn slice_mb() -> u32 {
    256
}

/// Where a migration waits before the cutover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    Copy,
    Follow,
    Verify,
}

impl Until {
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Copy => migrate::kinds::COPY,
            Self::Follow => migrate::kinds::FOLLOW,
            Self::Verify => migrate::kinds::COMPARE,
        }
    }
}

pub(crate) fn login(path: &Path) -> Result<net::ConnectOptions, OpsError> {
    refuse_open_file(path)?;
    let typed = ClientOptions { defaults_file: Some(path.to_owned()), ..ClientOptions::default() };
    let cluster = one_server(typed)?;
    let node = cluster.nodes.first().ok_or_else(|| OpsError::internal("no server", path.display()))?;
    Ok(cluster.login_at(node))
}

/// It holds the password of an account that may read every row.
fn refuse_open_file(path: &Path) -> Result<(), OpsError> {
    let refuse = |why: String, next: String| {
        OpsError::usage(format!("cannot use the option file {}", path.display()), why, next)
    };
    let facts =
        std::fs::metadata(path).map_err(|error| refuse(error.to_string(), "check the path".into()))?;
    let mode = facts.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(refuse(
            format!("others may read it (mode {mode:o})"),
            format!("chmod 600 {}, and change its password if others were on this machine", path.display()),
        ));
    }
    Ok(())
}

impl Route {
    /// # Errors
    /// A file that cannot be read, or that lacks what replication needs.
    pub fn ends(&self) -> Result<Ends, OpsError> {
        let (source, mut target) = (login(&self.from)?, login(&self.to)?);
        target.loads_local = true;
        Ok(Ends {
            source,
            target,
            replication: replication(&self.follow_as, "source", "target")?,
            back: self.back_as.as_ref().map(|path| replication(path, "target", "source")).transpose()?,
            schemas: self.schemas.clone(),
            sessions: self.sessions,
            slice_bytes: u64::from(self.slice_mb) * 1_000_000,
        })
    }
}

/// How `follower` logs in to `leader`.
pub(crate) fn replication(path: &Path, leader: &str, follower: &str) -> Result<ReplicationLogin, OpsError> {
    let follow = login(path)?;
    let refuse = |why: &str, next: String| {
        OpsError::usage(format!("cannot replicate with {}", path.display()), why, next)
    };
    let Endpoint::Tcp { host, port, .. } = &follow.endpoint else {
        return Err(refuse(
            "it names no host",
            format!("host= and port= of the {leader}, as the {follower} reaches it"),
        ));
    };
    let password = follow.password.clone().ok_or_else(|| {
        refuse(
            "it has no password",
            format!("user= and password= of an account with REPLICATION SLAVE on the {leader}"),
        )
    })?;
    let ca = follow.tls.ca.clone().ok_or_else(|| {
        refuse(
            "it names no CA",
            format!("ssl-ca= of the {leader}'s certificate, as a file on the {follower}'s machine"),
        )
    })?;
    Ok(ReplicationLogin { host: host.clone(), port: *port, user: follow.user, password, ca })
}
