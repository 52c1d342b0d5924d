//! stunnel and ssh before a server, both ends on this machine.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;

use ::bench::experiments::Made;
use lab::bundle::Servers;
use site::OpsError;
use site::machine::program;
use site::servers::internal;

use super::child::{OwnedChild, free_port, listens, quiet};
use crate::keys;

/// Two processes, one at each end.
pub struct Tunnel {
    pub ends: [OwnedChild; 2],
    pub entry: SocketAddr,
}

impl Tunnel {
    pub fn stunnel(dir: &Path, to: SocketAddr) -> Result<Self, OpsError> {
        let keys::Files { pair, .. } = keys::make(dir, Made::PLAIN.key, Made::PLAIN.issuers)?;
        let servers = Servers::find(false)?;
        let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let (middle, entry) = (local(free_port()?), local(free_port()?));
        let start = |name: &str, text: String, at: SocketAddr| -> Result<OwnedChild, OpsError> {
            let path = dir.join(name);
            std::fs::write(&path, text).map_err(internal("cannot write a file of stunnel"))?;
            let mut command = Command::new("/proc/self/exe");
            command.arg("__server").arg(servers.program("stunnel")).arg(&path).envs(servers.environment());
            let child = quiet(&mut command).spawn().map_err(internal("cannot start stunnel"))?;
            let mut ended = OwnedChild(child);
            listens(at, &mut ended, "stunnel")?;
            Ok(ended)
        };
        let head =
            "foreground=yes\npid=\nsyslog=no\ndebug=0\nsocket=l:TCP_NODELAY=1\nsocket=r:TCP_NODELAY=1\n";
        let far = start(
            "server.conf",
            format!(
                "{head}[mysql]\naccept={middle}\nconnect={to}\ncert={}\nkey={}\n",
                pair.cert.display(),
                pair.key.display()
            ),
            middle,
        )?;
        // As the arms beside it: encrypted, and checked as little as ssl-mode=REQUIRED does.
        let near = start(
            "client.conf",
            format!("{head}[mysql]\nclient=yes\nverify=0\naccept={entry}\nconnect={middle}\n"),
            entry,
        )?;
        Ok(Self { ends: [near, far], entry })
    }

    pub fn ssh(dir: &Path, to: SocketAddr) -> Result<Self, OpsError> {
        std::fs::create_dir_all(dir).map_err(internal("cannot create a directory of the lab"))?;
        let missing = |name: &str| {
            OpsError::cannot_look(
                format!("there is no {name}"),
                "it is not installed",
                "apt install openssh-server openssh-client",
            )
        };
        let (sshd, ssh, keygen) = (
            program("sshd").ok_or_else(|| missing("sshd"))?,
            program("ssh").ok_or_else(|| missing("ssh"))?,
            program("ssh-keygen").ok_or_else(|| missing("ssh-keygen"))?,
        );
        for name in ["host", "user"] {
            let made = quiet(
                Command::new(&keygen).args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(dir.join(name)),
            )
            .status()
            .map_err(internal("cannot start ssh-keygen"))?;
            if !made.success() {
                return Err(OpsError::cannot_look(
                    "ssh-keygen creates no key",
                    made.to_string(),
                    "try it by hand",
                ));
            }
        }
        let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let (middle, entry) = (local(free_port()?), local(free_port()?));
        let config = format!(
            "ListenAddress {middle}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxSessions 100\n",
            dir.join("host").display(),
            dir.join("user.pub").display()
        );
        std::fs::write(dir.join("sshd_config"), config).map_err(internal("cannot write a file of sshd"))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg("__server").arg(sshd).args(["-D", "-e", "-f"]).arg(dir.join("sshd_config"));
        let mut far = OwnedChild(quiet(&mut command).spawn().map_err(internal("cannot start sshd"))?);
        listens(middle, &mut far, "sshd")?;
        let mut command = Command::new("/proc/self/exe");
        command
            .arg("__server")
            .arg(ssh)
            .args(["-N", "-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no"])
            .args(["-o", "UserKnownHostsFile=/dev/null", "-o", "ExitOnForwardFailure=yes", "-i"])
            .arg(dir.join("user"))
            .args(["-p", &middle.port().to_string(), "-L", &format!("{entry}:{to}"), "127.0.0.1"]);
        let mut near = OwnedChild(quiet(&mut command).spawn().map_err(internal("cannot start ssh"))?);
        listens(entry, &mut near, "ssh -L")?;
        Ok(Self { ends: [near, far], entry })
    }
}
