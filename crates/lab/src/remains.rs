//! What a lab leaves in its directory, and who wrote it: the directory is the user's, the entries that are listed are the lab's.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::LabError;
use crate::layout::LabFile;
use crate::supervisor::{self, Request};

/// What a lab, and who works in it, writes beside the directories of its nodes: the lab's file, the supervisor's, accounts and
/// inventory, what the operator keeps, and the writers of the demo. The lab's file is the last one to go: until then it can
/// be ended again.
const FILES: [&str; 9] = [
    "lab.json.new",
    "control",
    "supervisor.log",
    "operator.cnf",
    "app.cnf",
    "operator",
    "writers",
    "sealion.toml",
    "lab.json",
];
/// The same, of a lab with hosts alone: in any other these are somebody else's.
const FILES_OF_HOSTS: [&str; 4] = ["passwd", "shadow", "ssh", "proxy"];
/// On the hosts of a lab, whose accounts have the lab's directory for their home: copies of sealion that a killed one left behind.
const CACHE: &str = ".cache";
const COPIES: &str = "sealion-agent";
/// Entries of somebody else's that are named one by one.
const NAMED_MAX: usize = 5;

/// A lab's own entries in its directory, in the order in which they are removed.
fn own_entries(file: &LabFile) -> Vec<String> {
    let nodes =
        file.nodes.iter().chain(&file.arbitrators).chain(&file.strangers).map(|node| node.name.clone());
    // Names of a file that anybody can edit: none may lead out of the directory.
    let is_plain = |name: &String| Path::new(name).file_name().is_some_and(|plain| plain == name.as_str());
    let nodes: BTreeSet<String> = nodes.chain(file.node_dirs.iter().cloned()).filter(is_plain).collect();
    let of_hosts = FILES_OF_HOSTS.into_iter().filter(|_| file.hosts);
    nodes.into_iter().chain(of_hosts.chain(FILES).map(Into::into)).collect()
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Removes what the lab wrote, and the directory if nothing else is in it; gives what was left because the lab did not
/// write it.
pub fn remove_own(dir: &Path, file: &LabFile) -> Vec<PathBuf> {
    if file.hosts {
        let cache = dir.join(CACHE);
        let _ = fs::remove_dir_all(cache.join(COPIES));
        // What somebody else keeps there stays.
        let _ = fs::remove_dir(cache);
    }
    for name in own_entries(file) {
        let path = dir.join(name);
        // A link is removed, not what it leads to.
        if fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_dir()) {
            let _ = fs::remove_dir_all(&path);
        } else {
            let _ = fs::remove_file(&path);
        }
    }
    if fs::remove_dir(dir).is_ok() {
        return vec![];
    }
    entries(dir)
}

/// Does the lab's supervisor run? One that hangs does too.
pub fn is_alive(file: &LabFile) -> bool {
    supervisor::ask(file, &Request::Status).is_ok()
        || (file.supervisor_pid > 0
            && supervisor::is_running(file.supervisor_pid, file.supervisor_start_ticks))
}

/// Makes a directory ready for a new lab: it is absent, empty, or holds what a dead lab left and nothing else, which is
/// removed.
///
/// # Errors
/// `Occupied`: somebody's files are in it, or a lab that runs.
pub fn make_room(dir: &Path) -> Result<(), LabError> {
    let occupied =
        |what: String, why: String, next: &str| Err(LabError::Occupied { what, why, next: next.into() });
    let other = "choose a new or an empty directory with --dir";
    match fs::metadata(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Ok(facts) if facts.is_dir() => {}
        Ok(_) => {
            return occupied(format!("{} is not a directory", dir.display()), "it is a file".into(), other);
        }
        Err(error) => return occupied(format!("cannot use {}", dir.display()), error.to_string(), other),
    }
    let present = entries(dir);
    if present.is_empty() {
        return Ok(());
    }
    let lab = LabFile::read(dir).ok();
    if lab.as_ref().is_some_and(is_alive) {
        return occupied(
            format!("a lab is already running in {}", dir.display()),
            "its supervisor runs".into(),
            &format!(
                "sealion lab down{}, or choose another directory with --dir",
                crate::layout::dir_option(dir)
            ),
        );
    }
    let mut own: BTreeSet<PathBuf> = lab.iter().flat_map(own_entries).map(|name| dir.join(name)).collect();
    let cache = dir.join(CACHE);
    if lab.as_ref().is_some_and(|file| file.hosts)
        && entries(&cache).iter().all(|path| path.ends_with(COPIES))
    {
        own.insert(cache);
    }
    let foreign: Vec<String> =
        present.iter().filter(|path| !own.contains(*path)).map(|path| path.display().to_string()).collect();
    if let Some(file) = lab.filter(|_| foreign.is_empty()) {
        remove_own(dir, &file);
        return Ok(());
    }
    let mut named = foreign.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    if foreign.len() > NAMED_MAX {
        named += &format!(" and {} more", foreign.len() - NAMED_MAX);
    }
    occupied(
        format!("{} is not empty", dir.display()),
        format!("it contains {named}, which no lab wrote"),
        other,
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::bundle::Servers;
    use crate::layout::{NodeSpec, SstMethod};

    /// A dead lab with one node, one that was a stranger once, and everything that is written beside them.
    fn dead_lab(dir: &Path) -> LabFile {
        let mut file = LabFile {
            name: "lab".into(),
            dir: dir.to_owned(),
            servers: Servers {
                root: None,
                kind: crate::bundle::ServerKind::MariaDb,
                mariadbd: "/usr/sbin/mariadbd".into(),
                galera: "/usr/lib/libgalera_smm.so".into(),
            },
            namespace: false,
            cluster_name: "lab".into(),
            sst_method: SstMethod::Rsync,
            galera: false,
            replicas: false,
            relay: false,
            hosts: false,
            proxy: false,
            proxy_host_pid: None,
            number: 1,
            operator_is_client: false,
            app_host_pid: None,
            provider_options: String::new(),
            tls: false,
            nodes: vec![],
            arbitrators: vec![],
            spares: BTreeSet::new(),
            strangers: vec![],
            node_dirs: ["n8".to_owned()].into(),
            supervisor_pid: 0,
            supervisor_start_ticks: 0,
        };
        file.nodes = vec![NodeSpec::new("n1", &file, 1, 1)];
        for name in own_entries(&file) {
            if FILES.contains(&name.as_str()) && name != "operator" && name != "writers" {
                fs::write(dir.join(name), "x").unwrap();
            } else {
                fs::create_dir_all(dir.join(name).join("data")).unwrap();
            }
        }
        file.write().unwrap();
        file
    }

    #[test]
    fn a_lab_that_ends_removes_what_it_wrote_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let outside = place.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("precious"), "x").unwrap();
        let dir = place.path().join("lab");
        fs::create_dir(&dir).unwrap();

        let file = dead_lab(&dir);
        assert_eq!(remove_own(&dir, &file), Vec::<PathBuf>::new());
        assert!(!dir.exists());

        fs::create_dir(&dir).unwrap();
        let mut file = dead_lab(&dir);
        fs::write(dir.join("keep.txt"), "precious").unwrap();
        fs::create_dir(dir.join("mine")).unwrap();
        fs::remove_dir_all(dir.join("operator")).unwrap();
        std::os::unix::fs::symlink(&outside, dir.join("operator")).unwrap();
        file.node_dirs.extend(["../outside", "..", ".", "/", ""].map(String::from));
        assert_eq!(remove_own(&dir, &file), [dir.join("keep.txt"), dir.join("mine")]);
        assert_eq!(fs::read_to_string(dir.join("keep.txt")).unwrap(), "precious");
        assert!(outside.join("precious").exists() && !dir.join("operator").exists());
    }

    #[test]
    fn copies_of_sealion_on_the_hosts_of_a_lab_go_with_it() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().join("lab");
        let with_copy = || {
            let _ = fs::remove_dir_all(&dir);
            fs::create_dir(&dir).unwrap();
            let mut file = dead_lab(&dir);
            file.hosts = true;
            file.write().unwrap();
            fs::create_dir_all(dir.join(".cache/sealion-agent")).unwrap();
            fs::write(dir.join(".cache/sealion-agent/once-0.1.0-0-1"), "x").unwrap();
            file
        };
        let file = with_copy();
        assert_eq!(remove_own(&dir, &file), Vec::<PathBuf>::new());
        assert!(!dir.exists());
        with_copy();
        assert!(make_room(&dir).is_ok() && !dir.exists());

        let file = with_copy();
        fs::write(dir.join(".cache/theirs"), "precious").unwrap();
        assert!(make_room(&dir).unwrap_err().to_string().contains(".cache"));
        assert_eq!(remove_own(&dir, &file), [dir.join(".cache")]);
        assert_eq!(entries(&dir.join(".cache")), [dir.join(".cache/theirs")]);
        // In a lab without hosts nobody of it has a home there.
        let mut file = with_copy();
        file.hosts = false;
        assert_eq!(remove_own(&dir, &file).len(), 1);
        assert!(dir.join(".cache/sealion-agent").exists());
    }

    #[test]
    fn a_directory_with_somebodys_files_is_refused_and_a_dead_labs_is_cleared() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().join("lab");
        assert!(make_room(&dir).is_ok() && !dir.exists());
        fs::create_dir(&dir).unwrap();
        assert!(make_room(&dir).is_ok());

        fs::write(dir.join("keep.txt"), "precious").unwrap();
        let refused = make_room(&dir).unwrap_err();
        assert!(
            matches!(refused, LabError::Occupied { .. }) && refused.to_string().contains("keep.txt"),
            "{refused}"
        );
        // Not even where a lab died in it.
        let mut file = dead_lab(&dir);
        let refused = make_room(&dir).unwrap_err().to_string();
        assert!(refused.contains("keep.txt") && !refused.contains("lab.json"), "{refused}");
        assert!(dir.join("lab.json").exists() && dir.join("n1").exists());
        // One that runs, and does not answer.
        fs::remove_file(dir.join("keep.txt")).unwrap();
        file.supervisor_pid = i32::try_from(std::process::id()).unwrap();
        file.supervisor_start_ticks = supervisor::start_ticks(file.supervisor_pid).unwrap();
        file.write().unwrap();
        assert!(make_room(&dir).unwrap_err().to_string().contains("already running"));
        // It has ended, and nobody asked how.
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        file.supervisor_pid = i32::try_from(ended.id()).unwrap();
        file.supervisor_start_ticks = supervisor::start_ticks(file.supervisor_pid).unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while is_alive(&file) {
            assert!(std::time::Instant::now() < deadline);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        ended.wait().unwrap();
        // The number is another process's now.
        file.supervisor_pid = i32::try_from(std::process::id()).unwrap();
        file.supervisor_start_ticks = supervisor::start_ticks(file.supervisor_pid).unwrap();
        file.supervisor_start_ticks += 1;
        file.write().unwrap();
        assert!(make_room(&dir).is_ok() && !dir.exists());

        fs::write(&dir, "a file").unwrap();
        assert!(matches!(make_room(&dir), Err(LabError::Occupied { .. })));
    }
}
