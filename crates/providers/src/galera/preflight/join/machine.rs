//! The machine of the new server: which version is installed there, the programs of the state transfer, its clock.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::ports::listeners;
use host::{ReadHost, Service};
use model::NodeName;
use server::WriteNode;
use trust::CLOCK_SKEW_S;

use super::{Members, Problem, problem};
use crate::galera::preflight::ports::SST_PORT;
use crate::world::World;

/// A server says its version within milliseconds.
const VERSION_MAX: Duration = Duration::from_secs(10);
const PROC_BYTES_MAX: u64 = 1024 * 1024;
/// Clocks are compared with seconds in between.
const SPARE_S: i64 = 60;
/// Where systemd looks for programs of a service. Source: systemd.exec(5), Environment.
const PATH: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

pub fn check(world: &mut World<'_>, joiner: &NodeName, members: &Members) -> Vec<Problem> {
    let mut problems = Vec::new();
    problems.extend(version(world, joiner, members));
    problems.extend(programs(world, joiner, members).err());
    problems.extend(clock(world, joiner).err());
    problems.extend(ports(world, joiner));
    problems.extend(user(world, joiner));
    problems
}

/// What could not be seen, for the plan.
pub fn cannot_tell(world: &mut World<'_>, joiner: &NodeName, members: &Members) -> Vec<String> {
    let programs = programs(world, joiner, members).ok().flatten();
    programs.into_iter().chain(clock(world, joiner).ok().flatten()).collect()
}

fn basedir(node: &mut dyn WriteNode) -> Option<PathBuf> {
    let effective = node.effective().ok()?;
    effective.effective("basedir")?.value.as_ref().map(PathBuf::from)
}

/// `10.11` of `10.11.19-MariaDB-deb12`.
fn series(version: &str) -> Option<(&str, bool)> {
    let (at, _) = version.match_indices('.').nth(1)?;
    Some((version.get(..at)?, version.to_ascii_lowercase().contains("mariadb")))
}

/// As `mariadbd --version` says it: `mariadbd  Ver 10.11.19-MariaDB for debian-linux-gnu on x86_64`.
fn said_version(text: &str) -> Option<&str> {
    text.split_whitespace().skip_while(|word| *word != "Ver").nth(1)
}

fn version(world: &mut World<'_>, joiner: &NodeName, members: &Members) -> Option<Problem> {
    let allows = world.allow_untested;
    let node = world.node(joiner).ok()?;
    let prefix = basedir(node).unwrap_or_else(|| "/usr".into());
    let programs = ["sbin/mariadbd", "bin/mariadbd", "libexec/mariadbd", "sbin/mysqld", "bin/mysqld"];
    let mut why = format!("no program of the server is below {}", prefix.display());
    for program in programs.map(|program| prefix.join(program)) {
        match node.host().version_of(&program, VERSION_MAX) {
            Ok(None) => continue,
            Err(error) => why = error.to_string(),
            Ok(Some(text)) => match said_version(&text) {
                Some(version) if series(version).is_some() && series(version) == series(&members.version) => {
                    return None;
                }
                Some(version) => {
                    return Some(problem(
                        joiner,
                        format!("its server is {version}, the members run {}", members.version),
                        format!(
                            "{} --version says so; a server of another series cannot use the data of this one",
                            program.display()
                        ),
                        "install the version of the members there",
                    ));
                }
                None => why = format!("{} --version says \"{}\"", program.display(), first_line(&text)),
            },
        }
        break;
    }
    (!allows).then(|| {
        problem(
            joiner,
            "which version is installed there cannot be determined",
            why,
            format!("see that it is the members' ({}), then add --allow-untested", members.version),
        )
    })
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The programs of the transfer over TLS. Where a service has another PATH, nobody can say.
fn programs(world: &mut World<'_>, joiner: &NodeName, members: &Members) -> Result<Option<String>, Problem> {
    let wanted: &[&[&str]] = match members.sst_method.as_str() {
        "rsync" => &[&["wsrep_sst_rsync"], &["rsync"], &["stunnel", "stunnel4"]],
        "mariabackup" => &[&["wsrep_sst_mariabackup"], &["mariadb-backup", "mariabackup"], &["socat"]],
        _ => return Ok(None),
    };
    let Ok(node) = world.node(joiner) else { return Ok(None) };
    let prefix = basedir(node);
    let is_systemd = matches!(node.spec().service, Service::Systemd { .. });
    let host = node.host();
    let own = prefix.iter().flat_map(|prefix| [prefix.join("bin"), prefix.join("sbin")]);
    let dirs: Vec<PathBuf> = own.chain(PATH.iter().map(PathBuf::from)).collect();
    let is_there = |name: &str| {
        let mut seen = dirs.iter().map(|dir| host.facts(&dir.join(name)));
        seen.any(|facts| facts.is_ok_and(|facts| facts.is_some_and(|facts| !facts.is_dir)))
    };
    let missing: Vec<&str> = wanted
        .iter()
        .filter(|names| !names.iter().any(|name| is_there(name)))
        .filter_map(|names| names.first().copied())
        .collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let missing = missing.join(", ");
    if !is_systemd {
        return Ok(Some(format!(
            "whether the start command of {joiner} finds the programs of the state transfer cannot be determined: {missing}"
        )));
    }
    Err(problem(
        joiner,
        format!("programs of the state transfer are not installed: {missing}"),
        format!(
            "the SST script of wsrep_sst_method={} needs them for TLS, and they are in none of {}",
            members.sst_method,
            dirs.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(", ")
        ),
        "install them there (Debian: rsync stunnel4, or mariadb-backup socat)",
    ))
}

/// A certificate that is made now must be valid there already. Its server cannot be asked for its time, so the kernel is.
fn clock(world: &mut World<'_>, joiner: &NodeName) -> Result<Option<String>, Problem> {
    let now_s = world.unix_s();
    let Ok(node) = world.node(joiner) else { return Ok(None) };
    let Some(there_s) = unix_s(node.host()) else {
        return Ok(Some(format!("whether the clock of {joiner} is right cannot be determined")));
    };
    let behind_s = now_s - there_s;
    if behind_s <= CLOCK_SKEW_S - SPARE_S {
        return Ok(None);
    }
    Err(problem(
        joiner,
        format!("its clock is {behind_s} s behind this machine's"),
        format!(
            "certificates begin {CLOCK_SKEW_S} s before they are made: on that machine it would not be valid yet"
        ),
        "set the clocks (timedatectl, chronyc tracking), then try again",
    ))
}

/// Nobody else listens where the new member must.
fn ports(world: &mut World<'_>, joiner: &NodeName) -> Vec<Problem> {
    let Ok(node) = world.node(joiner) else { return vec![] };
    let spec = node.spec().clone();
    let open = match listeners(node.host()) {
        Ok(open) => open,
        Err(error) => {
            return vec![problem(
                joiner,
                "whether the ports are free on which it must listen cannot be determined",
                error.to_string(),
                "run sealion where /proc of the node's machine can be read",
            )];
        }
    };
    let ip: Option<IpAddr> = spec.address.parse().ok();
    let wanted = [
        ("clients", spec.port),
        ("Galera", spec.galera_port),
        ("IST", spec.galera_port.saturating_add(1)),
        ("SST", SST_PORT),
    ];
    let mut problems = Vec::new();
    for (what, port) in wanted {
        let taken = open
            .iter()
            .find(|at| at.port() == port && (at.ip().is_unspecified() || ip.is_none_or(|ip| ip == at.ip())));
        if let Some(at) = taken {
            problems.push(problem(
                joiner,
                format!("port in use: {at}, where it must listen for {what}"),
                "something listens there now, and the server does not run",
                format!(
                    "see who: ss -ltnp 'sport = :{port}'; end it or give it another port, then try again"
                ),
            ));
        }
    }
    problems
}

/// The data directory, and with it the key that will be made, is the server's user's. Where nobody says who that is, nothing is said.
fn user(world: &mut World<'_>, joiner: &NodeName) -> Option<Problem> {
    let node = world.node(joiner).ok()?;
    let dir = server::owner::datadir(node.reading())?;
    let effective = node.effective().ok()?;
    let name = effective.effective("user")?.value.clone()?;
    let host = node.host();
    let passwd = host.read(Path::new("/etc/passwd"), PROC_BYTES_MAX).ok()??;
    let uid = uid_of(&String::from_utf8_lossy(&passwd), &name)?;
    let facts = host.facts(&dir).ok()??;
    (facts.uid != uid).then(|| {
        problem(
            joiner,
            format!(
                "its data directory {} belongs to uid {}, and the server runs as {name} (uid {uid})",
                dir.display(),
                facts.uid
            ),
            "it could not write there, and could not read a key that is made for the owner of the data",
            format!("chown -R {name}: {}", dir.display()),
        )
    })
}

/// Source: passwd(5).
fn uid_of(passwd: &str, name: &str) -> Option<u32> {
    let mut lines = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    lines.find(|fields| fields.first() == Some(&name))?.get(2)?.parse().ok()
}

/// Source: proc(5): `btime` is when the machine was started by its present clock, and `uptime` how long ago that was.
fn unix_s(host: &dyn ReadHost) -> Option<i64> {
    let read = |path: &str| {
        let bytes = host.read(Path::new(path), PROC_BYTES_MAX).ok()??;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let began: i64 =
        read("/proc/stat")?.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    let up: i64 = read("/proc/uptime")?.split(['.', ' ']).next()?.parse().ok()?;
    began.checked_add(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_of_a_server_is_read_from_what_it_says() {
        let text =
            "/usr/sbin/mariadbd  Ver 10.11.19-MariaDB-deb12 for debian-linux-gnu on x86_64 (Debian 12)";
        assert_eq!(said_version(text), Some("10.11.19-MariaDB-deb12"));
        assert_eq!(series("10.11.19-MariaDB-deb12"), Some(("10.11", true)));
        assert_ne!(series("10.11.19-MariaDB"), series("11.8.6-MariaDB"));
        assert_ne!(series("8.0.36"), series("8.0.36-MariaDB"));
        assert_eq!(
            uid_of("root:x:0:0::/:/bin/sh\nmysql:x:105:112::/nonexistent:/bin/false\n", "mysql"),
            Some(105)
        );
        assert_eq!((series("odd"), said_version("mysqld: unknown option")), (None, None));
    }

    #[test]
    fn the_clock_of_this_machine_is_the_one_that_its_kernel_tells() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        let now = i64::try_from(now.as_secs()).expect("soon");
        let told = unix_s(&host::Local).expect("Linux tells it");
        assert!((now - told).abs() < 3600, "{now} {told}");
    }
}
