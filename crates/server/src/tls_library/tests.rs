//! Processes as they really look in /proc, on a host that is a map of files.

use std::collections::BTreeMap;
use std::time::Duration;

use host::{FileFacts, JobPlace, JobState, Programs, Service, ServiceState};

use super::*;

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libcrypto.so.3";
/// Of MariaDB 10.11 on Debian 12, without what is no file.
const MAPS: &str = include_str!("../../testdata/maps/mariadb-10.11.txt");

#[derive(Default)]
struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    fn with(mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.insert(path.into(), bytes.into());
        self
    }
}

fn refused(path: &Path) -> HostError {
    let source = std::io::Error::from_raw_os_error(13);
    HostError::File { what: "cannot read".into(), path: path.to_owned(), source }
}

impl ReadHost for Files {
    fn read(&self, path: &Path, _: u64) -> Result<Option<Vec<u8>>, HostError> {
        match self.0.get(&path.display().to_string()) {
            Some(bytes) if bytes == b"EACCES" => Err(refused(path)),
            found => Ok(found.cloned()),
        }
    }
    fn facts(&self, path: &Path) -> Result<Option<FileFacts>, HostError> {
        let is_there = self.0.keys().any(|name| Path::new(name).starts_with(path));
        let facts =
            FileFacts { uid: 0, gid: 0, mode: 0o755, bytes: 0, is_dir: true, links: 1, is_symlink: false };
        Ok(is_there.then_some(facts))
    }
    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>, HostError> {
        Ok(self.0.keys().map(PathBuf::from).filter(|path| path.parent() == Some(dir)).collect())
    }
    fn text_in(&self, path: &Path, mark: &str) -> Result<Option<String>, HostError> {
        let text = self.read(path, 0)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(text.filter(|text| text.starts_with(mark)))
    }
    fn read_end(&self, _: &Path, _: u64) -> Result<Option<Vec<u8>>, HostError> {
        unreachable!("it is not asked")
    }
    fn process(&self, _: i32) -> Result<Option<ProcessFacts>, HostError> {
        unreachable!("it is not asked")
    }
    fn programs(&self, _: &[&str]) -> Result<Programs, HostError> {
        unreachable!("it is not asked")
    }
    fn sockets_of(&self, _: i32) -> Result<std::collections::BTreeSet<u64>, HostError> {
        unreachable!("it is not asked")
    }
    fn free_bytes(&self, _: &Path) -> Result<u64, HostError> {
        unreachable!("it is not asked")
    }
    fn writable(&self, _: &Path) -> Result<bool, HostError> {
        unreachable!("it is not asked")
    }
    fn service_state(&self, _: &Service, _: Duration) -> ServiceState {
        unreachable!("it is not asked")
    }
    fn service_settings(&self, _: &Service, _: Duration) -> Result<String, HostError> {
        unreachable!("it is not asked")
    }
    fn unit_load_state(&self, _: &str, _: Duration) -> Result<String, HostError> {
        unreachable!("it is not asked")
    }
    fn program_of(&self, _: &str) -> Result<Option<PathBuf>, HostError> {
        unreachable!("it is not asked")
    }
    fn link(&self, _: &Path) -> Result<Option<PathBuf>, HostError> {
        unreachable!("it is not asked")
    }
    fn service_job(&self, _: &JobPlace) -> Result<JobState, HostError> {
        unreachable!("it is not asked")
    }
    fn version_of(&self, _: &Path, _: Duration) -> Result<Option<String>, HostError> {
        unreachable!("it is not asked")
    }
    fn data_directory(
        &self,
        _: &Path,
        _: &[disk::Place],
        _: &disk::Progress,
    ) -> Result<disk::DataDirectory, HostError> {
        unreachable!("it is not asked")
    }
    fn search(&self, _: &host::Search, _: &host::SearchProgress) -> Result<host::Searched, HostError> {
        unreachable!("it is not asked")
    }
}

fn seen(files: &Files, said: Option<&str>) -> Vec<TlsLibrary> {
    let process = ProcessFacts { pid: 7, uid: 27, gid: 27, command_line: vec![], start_ticks: 1 };
    look(files, &process, said)
}

fn one(files: &Files, said: Option<&str>) -> TlsLibrary {
    let mut found = seen(files, said);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// A Debian or Ubuntu host, whose server has this OpenSSL.
fn debian(version: &str) -> Files {
    Files::default()
        .with("/proc/7/maps", MAPS)
        .with(format!("/proc/7/root{LIBRARY}"), version)
        .with("/proc/7/root/var/lib/dpkg/info/libssl-doc.list", "/usr/share/doc/libssl-doc\n")
        .with("/proc/7/root/var/lib/dpkg/info/libssl3:amd64.list", format!("/.\n{LIBRARY}\n"))
}

fn gzipped(text: &str) -> Vec<u8> {
    let body = miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 6);
    let length = u32::try_from(text.len()).expect("short").to_le_bytes();
    let crc = crc32fast::hash(text.as_bytes()).to_le_bytes();
    [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3][..], &body, &crc, &length].concat()
}

const CHANGELOG: &str = "/proc/7/root/usr/share/doc/libssl3/changelog.Debian.gz";

fn cannot_tell(library: &TlsLibrary, words: &[&str]) {
    let Verdict::CannotTell(why) = &library.verdict else { panic!("{library:?}") };
    assert!(words.iter().all(|word| why.contains(word)), "{words:?}: {why}");
}

#[test]
fn the_library_of_a_real_server_is_found_in_its_maps() {
    let library = one(&debian("OpenSSL 3.0.19 27 Jan 2026"), None);
    assert_eq!(library.verdict, Verdict::NoneKnown);
    assert_eq!(library.to_string(), format!("OpenSSL 3.0.19 27 Jan 2026 ({LIBRARY})"));
    // Its own word counts: the file may be one that was written over.
    let library = one(&debian("OpenSSL 3.0.19 27 Jan 2026"), Some("OpenSSL 3.0.18 30 Sep 2025"));
    assert_eq!(library.version.as_deref(), Some("OpenSSL 3.0.18 30 Sep 2025"));
}

#[test]
fn a_backport_counts_only_by_a_changelog_that_names_every_fault() {
    let old = || debian("OpenSSL 3.0.1 14 Dec 2021");
    let head = "openssl (3.0.1-0ubuntu9) jammy; urgency=medium\n\n";
    cannot_tell(
        &one(&old(), None),
        &["CVE-2022-0778", "CVE-2022-3602", "not on that machine", "apt changelog libssl3"],
    );
    let half = format!("{head}  * CVE-2022-0778, CVE-2022-36020\n");
    let library = one(&old().with(CHANGELOG, gzipped(&half)), None);
    cannot_tell(
        &library,
        &["libssl3 3.0.1-0ubuntu9 does not name CVE-2022-3602:", "grep -e CVE-2022-0778 -e CVE-2022-3602"],
    );
    let both = format!("{head}  * SECURITY UPDATE: CVE-2022-0778\n  * CVE-2022-3602.\n");
    let library = one(&old().with(CHANGELOG, gzipped(&both)), None);
    let Verdict::Fixed { package, faults } = &library.verdict else { panic!("{library:?}") };
    assert_eq!((package.as_str(), faults.len()), ("libssl3 3.0.1-0ubuntu9", 2));
    cannot_tell(&one(&old().with(CHANGELOG, "no gzip"), None), &["cannot be read (it is no gzip file)"]);
    cannot_tell(&one(&old().with(CHANGELOG, "EACCES"), None), &["cannot be seen"]);
    let mut strange = old();
    strange.0.retain(|path, _| !path.contains("libssl3"));
    cannot_tell(&one(&strange, None), &["no package of OpenSSL's owns", "who has put it there"]);
}

#[test]
fn a_host_of_rpms_is_told_what_to_ask() {
    let maps = MAPS.replace("/usr/lib/x86_64-linux-gnu", "/usr/lib64");
    let files = Files::default()
        .with("/proc/7/maps", maps)
        .with("/proc/7/root/usr/lib64/libcrypto.so.3", "OpenSSL 3.0.1 14 Dec 2021");
    cannot_tell(&one(&files, None), &["rpm -q --changelog openssl-libs | grep -e CVE-2022-0778"]);
}

#[test]
fn a_library_that_no_distribution_has_made_is_judged_by_its_number() {
    for path in ["/opt/mysql/lib/private/libcrypto.so.3", "/usr/lib64/mysql/private/libcrypto.so.3"] {
        let maps = MAPS.replace(LIBRARY, path);
        let files = Files::default()
            .with("/proc/7/maps", maps)
            .with(format!("/proc/7/root{path}"), "OpenSSL 3.0.4 21 Jun 2022");
        let library = one(&files, None);
        let Verdict::Faulty(faults) = &library.verdict else { panic!("{library:?}") };
        assert_eq!(faults.len(), 2, "{library:?}");
    }
}

#[test]
fn one_that_was_linked_into_the_program() {
    let maps: String = MAPS
        .lines()
        .filter(|line| !line.contains("libcrypto"))
        .fold(String::new(), |all, line| all + line + "\n");
    let files = || Files::default().with("/proc/7/maps", maps.clone());
    let library = one(&files(), Some("OpenSSL 1.1.1j  16 Feb 2021"));
    assert!(matches!(&library.verdict, Verdict::Faulty(faults) if faults.len() == 2), "{library:?}");
    assert_eq!(library.place, Place::Program);
    let library = one(&files().with("/proc/7/exe", "OpenSSL 3.0.15 3 Sep 2024"), None);
    assert_eq!(
        (library.version.as_deref(), library.verdict),
        (Some("OpenSSL 3.0.15 3 Sep 2024"), Verdict::NoneKnown)
    );
    cannot_tell(&one(&files(), Some("WolfSSL 5.6.0")), &["OpenSSL's own releases only"]);
    cannot_tell(&one(&files(), Some("YaSSL 2.4.4")), &["OpenSSL's own releases only"]);
    cannot_tell(&one(&files(), None), &["names no version of OpenSSL"]);
}

#[test]
fn one_that_was_replaced_since_the_start_is_what_it_was() {
    let maps: String = MAPS.lines().fold(String::new(), |all, line| {
        all + line + if line.ends_with(LIBRARY) { " (deleted)\n" } else { "\n" }
    });
    // What lies there now is another.
    let files = debian("OpenSSL 3.0.19 27 Jan 2026").with("/proc/7/maps", maps);
    cannot_tell(&one(&files, None), &["replaced since the start", "a restart takes"]);
    let library = one(&files, Some("OpenSSL 3.0.1 14 Dec 2021"));
    cannot_tell(&library, &["CVE-2022-3602", "a restart takes"]);
    assert!(library.to_string().contains("replaced on disk since the start"), "{library}");
    assert_eq!(one(&files, Some("OpenSSL 3.0.18 30 Sep 2025")).verdict, Verdict::NoneKnown);
}

#[test]
fn what_cannot_be_read_is_neither_good_nor_bad() {
    let hidden = || Files::default().with("/proc/7/maps", "EACCES");
    cannot_tell(&one(&hidden(), None), &["/proc/7/maps", "ermission denied"]);
    cannot_tell(&one(&hidden(), Some("OpenSSL 3.0.1 14 Dec 2021")), &["CVE-2022-0778", "ermission denied"]);
    assert_eq!(one(&hidden(), Some("OpenSSL 3.0.19 27 Jan 2026")).verdict, Verdict::NoneKnown);
    let files = debian("OpenSSL 3.0.19 27 Jan 2026").with(format!("/proc/7/root{LIBRARY}"), "EACCES");
    cannot_tell(&one(&files, None), &["ermission denied"]);
    let files = debian("no version");
    cannot_tell(&one(&files, None), &["no version of OpenSSL's"]);
    cannot_tell(&one(&Files::default(), None), &["it has ended"]);
}

#[test]
fn galera_may_bring_a_library_of_its_own() {
    let own = "7f00-7f10 r-xp 00000000 fe:00 1                          /opt/galera/lib/libcrypto.so.1.1";
    let files = debian("OpenSSL 3.0.19 27 Jan 2026")
        .with("/proc/7/maps", format!("{MAPS}{own}\n"))
        .with("/proc/7/root/opt/galera/lib/libcrypto.so.1.1", "OpenSSL 1.1.1f  31 Mar 2020");
    // Of which of the two the server speaks is not known: both are read.
    let found = seen(&files, Some("OpenSSL 3.0.19 27 Jan 2026"));
    let verdicts: Vec<bool> = found.iter().map(|one| matches!(one.verdict, Verdict::Faulty(_))).collect();
    assert_eq!(verdicts, [false, true], "{found:?}");
}
