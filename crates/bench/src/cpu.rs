//! Processor time of this process and of others, microseconds.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::ClockId;
use nix::unistd::Pid;

/// User and system time of this process.
pub fn own_us() -> u64 {
    us_of(UsageWho::RUSAGE_SELF)
}

/// User and system time of all children of this process that have ended and were waited for, with what these waited for themselves.
pub fn ended_children_us() -> u64 {
    us_of(UsageWho::RUSAGE_CHILDREN)
}

fn us_of(who: UsageWho) -> u64 {
    getrusage(who).map_or(0, |usage| {
        let us = |time: nix::sys::time::TimeVal| {
            u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec()).unwrap_or(0)
        };
        us(usage.user_time()) + us(usage.system_time())
    })
}

/// User and system time of another process, with all threads that it ever had; `None` when it is gone.
///
/// # Source
/// clock_getcpuclockid(3). /proc/PID/stat has the same in steps of 10 ms, which a short trial does not reach.
pub fn process_us(pid: i32) -> Option<u64> {
    let now = ClockId::pid_cpu_clock_id(Pid::from_raw(pid)).and_then(ClockId::now).ok()?;
    let seconds = u64::try_from(now.tv_sec()).ok()?;
    Some(seconds * 1_000_000 + u64::try_from(now.tv_nsec()).ok()? / 1000)
}

/// Of all together; `None` when one is gone, or there are none.
pub fn processes_us(pids: &[i32]) -> Option<u64> {
    if pids.is_empty() {
        return None;
    }
    pids.iter().map(|pid| process_us(*pid)).sum()
}

/// User and system time of another process, and of the children that it has waited for, with theirs: these in steps of 10 ms.
///
/// # Source
/// proc(5): fields 16 and 17 of /proc/PID/stat, in ticks of the clock that sysconf(3) tells.
pub fn with_children_us(pid: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name that may have spaces; the next is the third.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let ticks: u64 = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    let per_s = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok()??;
    Some(process_us(pid)? + ticks * 1_000_000 / u64::try_from(per_s).ok()?.max(1))
}

/// A process, and all that it has started and that have started others. Field 4 of /proc/PID/stat is the parent.
pub fn family_of(pid: i32) -> Vec<i32> {
    let parents: Vec<(i32, i32)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|process| {
            let pid = process.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    let mut family = vec![pid];
    let mut at = 0;
    while let Some(&parent) = family.get(at) {
        let children = parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid);
        let new: Vec<i32> = children.filter(|pid| !family.contains(pid)).collect();
        family.extend(new);
        at += 1;
    }
    family
}

/// Who listens at a unix socket, of the processes that this one may look into. Nothing is connected: a server would count it.
///
/// # Source
/// proc(5): /proc/net/unix has flags (`__SO_ACCEPTCON`, 0x10000), inode and path in its fourth, seventh and eighth column.
pub fn listeners_at(path: &Path) -> Vec<i32> {
    let Some(wanted) = path.canonicalize().ok().and_then(|path| path.to_str().map(str::to_owned)) else {
        return vec![];
    };
    let table = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let inodes: Vec<String> = table
        .lines()
        .filter(|row| row.ends_with(&format!(" {wanted}")))
        .filter_map(|row| match row.split_whitespace().collect::<Vec<_>>().as_slice() {
            [_, _, _, "00010000", _, _, inode, ..] => Some(format!("socket:[{inode}]")),
            _ => None,
        })
        .collect();
    holders_of(&inodes)
}

/// Who listens on a port of this machine, of the processes that this one may look into.
///
/// # Source
/// proc(5): /proc/net/tcp has the inode of each listening socket in its tenth column; /proc/PID/fd links to it.
pub fn listeners_of(port: u16) -> Vec<i32> {
    holders_of(&listening_sockets(port))
}

/// Somebody listens on a port of this machine, whoever it is.
pub fn is_listening(port: u16) -> bool {
    !listening_sockets(port).is_empty()
}

fn listening_sockets(port: u16) -> Vec<String> {
    let mut inodes = Vec::new();
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for row in std::fs::read_to_string(path).unwrap_or_default().lines().skip(1) {
            let columns: Vec<&str> = row.split_whitespace().collect();
            let [_, local, _, "0A", _, _, _, _, _, inode, ..] = columns.as_slice() else { continue };
            let at = local.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
            if at == Some(port) {
                inodes.push(format!("socket:[{inode}]"));
            }
        }
    }
    inodes
}

/// Is it a server of MySQL, MariaDB or Percona, by its command line? One that is started by way of a loader has the loader's name
/// first.
pub fn is_mysql_server(pid: i32) -> bool {
    const NAMES: [&str; 3] = ["mysqld", "mariadbd", "mysqld-debug"];
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0)
        .map(|word| Path::new(OsStr::from_bytes(word)))
        .filter_map(|path| path.file_name()?.to_str())
        .any(|name| NAMES.contains(&name))
}

/// Who has one of these sockets open.
fn holders_of(inodes: &[String]) -> Vec<i32> {
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let links = std::fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        let is_it = links
            .filter_map(|link| std::fs::read_link(link.path()).ok())
            .any(|link| inodes.iter().any(|inode| link.as_os_str() == inode.as_str()));
        if is_it {
            found.push(pid);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn children_that_ended_count() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let spent = || super::with_children_us(own).expect("it is there");
        let (before, own_before) = (spent(), super::process_us(own).expect("it is there"));
        let ended = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
            .status()
            .expect("a shell");
        assert!(ended.success());
        let grown = spent() - before;
        let by_itself = super::process_us(own).expect("it is there") - own_before;
        // Counting to 200,000 takes a shell more than a tick.
        assert!(grown >= by_itself + 10_000, "{grown} us, {by_itself} of them by itself");
    }

    #[test]
    fn who_listens_at_a_socket_is_known() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("socket");
        assert!(super::listeners_at(&path).is_empty());
        let listener = std::os::unix::net::UnixListener::bind(&path).expect("it listens");
        let own = i32::try_from(std::process::id()).expect("a pid");
        assert!(super::listeners_at(&path).contains(&own));
        // Whoever looked has not knocked.
        listener.set_nonblocking(true).expect("it does not wait");
        assert!(listener.accept().is_err());
    }

    #[test]
    fn the_time_of_a_process_is_finer_than_a_tick_and_of_none_is_unknown() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let mut seen = 0;
        let is_fine = (0..50).any(|_| {
            let before = seen;
            while seen == before {
                seen = super::process_us(own).expect("it lives");
            }
            seen % 10_000 != 0
        });
        assert!(is_fine, "{seen}");
        let mut child = std::process::Command::new("true").spawn().expect("a child");
        let pid = i32::try_from(child.id()).expect("a pid");
        child.wait().expect("an end");
        assert_eq!(super::process_us(pid), None);
    }

    #[test]
    fn a_server_is_known_by_its_command_line() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("a child");
        let pid = i32::try_from(child.id()).expect("a pid");
        assert!(!super::is_mysql_server(pid));
        let _ = child.kill();
        child.wait().expect("an end");
        // A shell that was told a name has it on its command line, as a loader has.
        let script = "read line";
        let mut child = std::process::Command::new("sh")
            .args(["-c", script, "/usr/sbin/mariadbd"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("a child");
        let pid = i32::try_from(child.id()).expect("a pid");
        while !super::is_mysql_server(pid) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        drop(child.stdin.take());
        child.wait().expect("an end");
    }

    #[test]
    fn a_family_is_found() {
        // The shell starts a sleep and waits for it.
        let mut shell =
            std::process::Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().expect("a shell");
        let pid = i32::try_from(shell.id()).expect("a pid");
        let mut family = super::family_of(pid);
        while family.len() < 2 {
            family = super::family_of(pid);
        }
        let _ =
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(family[1]), nix::sys::signal::Signal::SIGKILL);
        shell.wait().expect("an end");
        assert_eq!((family[0], family.len()), (pid, 2));
    }

    #[test]
    fn who_listens_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let own = i32::try_from(std::process::id()).expect("a pid");
        assert_eq!(super::listeners_of(port), [own]);
        drop(listener);
        assert!(super::listeners_of(port).is_empty());
    }
}
