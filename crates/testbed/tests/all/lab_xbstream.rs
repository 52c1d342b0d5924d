//! Streams that the real mariabackup writes of a real server, extracted by sealion and by mbstream.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use net::{Client, ConnectOptions, Endpoint};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use testbed::real::{bundled, files_below, lab_slot, need_servers, sealion, short_dir, tail, wait_for};

const BUNDLE: &str = "galera-10.11";
const UP: Duration = Duration::from_secs(120);
/// Differs from backup to backup, whatever is in it.
const DIFFERS: &str = "xtrabackup_info";

struct Server {
    child: Child,
    dir: PathBuf,
}

impl Server {
    /// `options` may name another data directory.
    fn start(dir: &Path, options: &[String]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/start-server.sh");
        let child = Command::new("bash")
            .arg(script)
            .args([BUNDLE.as_ref(), dir.as_os_str(), "3306".as_ref()])
            .arg("--skip-networking")
            .args(options)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self { child, dir: dir.to_owned() };
        let up = wait_for(UP, || {
            let has_ended = server.child.try_wait().unwrap().is_some();
            (server.session().is_ok() || has_ended).then_some(!has_ended)
        });
        let log = std::fs::read_to_string(dir.join("log")).unwrap_or_default();
        assert_eq!(up, Some(true), "it is not up\n{}", tail(&log, 40));
        server
    }

    fn session(&self) -> Result<Client, net::NetError> {
        Client::connect(&ConnectOptions {
            connect_timeout: Duration::from_secs(3),
            io_timeout: Duration::from_secs(60),
            ..ConnectOptions::new(Endpoint::unix(self.dir.join("socket")), "root")
        })
    }

    fn run(&self, statements: &[&str]) {
        let mut session = self.session().unwrap();
        for sql in statements {
            session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }

    fn scalar(&self, sql: &str) -> String {
        self.session().unwrap().query(sql).unwrap().scalar().unwrap_or_default().into_owned()
    }

    /// A backup as a stream.
    fn back_up(&self, into: &Path, options: &[&str]) {
        let scratch = into.with_extension("scratch");
        std::fs::create_dir(&scratch).unwrap();
        let done = tool("mariabackup")
            .args(["--no-defaults", "--backup", "--stream=xbstream", "--user=root"])
            .arg(format!("--socket={}", self.dir.join("socket").display()))
            .arg(format!("--datadir={}", self.dir.join("data").display()))
            .arg(format!("--target-dir={}", scratch.display()))
            .args(options)
            .stdout(File::create(into).unwrap())
            .output()
            .unwrap();
        succeeded(&done);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

/// A program of the bundle, with its libraries.
fn tool(name: &str) -> Command {
    let bundle = bundled::bundle(BUNDLE);
    let libraries = format!("{0}/usr/lib/x86_64-linux-gnu:{0}/lib/x86_64-linux-gnu", bundle.display());
    let mut command = Command::new(bundle.join("usr/bin").join(name));
    command.env("LD_LIBRARY_PATH", libraries).stdin(Stdio::null());
    command
}

#[track_caller]
fn succeeded(done: &Output) {
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{}", tail(&said, 30));
}

/// By sealion, out of a pipe.
#[track_caller]
fn extract(stream: &Path, into: &Path, options: &[&str]) {
    let done = Command::new(sealion())
        .args(["xbstream", "-x", "-C"])
        .arg(into)
        .args(options)
        .stdin(File::open(stream).unwrap())
        .output()
        .unwrap();
    succeeded(&done);
}

fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = files_below(root).into_iter().filter(|path| path.is_file());
    files
        .map(|path| (path.strip_prefix(root).unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .filter(|(path, _)| !path.starts_with(DIFFERS))
        .collect()
}

/// The same files, byte for byte.
#[track_caller]
fn are_equal(ours: &Path, theirs: &Path) {
    let (ours, theirs) = (tree(ours), tree(theirs));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (path, bytes) in &theirs {
        assert!(ours.get(path) == Some(bytes), "{} differs", path.display());
    }
}

#[test]
fn streams_of_mariabackup_are_extracted_as_mbstream_does() {
    let _slot = lab_slot();
    need_servers();
    let home = short_dir();
    let home = home.path();
    let server = Server::start(&home.join("s"), &[]);
    server.run(&[
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(200), b VARBINARY(64))",
        // Some of it can be compressed and some cannot, in one file.
        "INSERT INTO d.t (a, b) SELECT CONCAT('the same words again and again ', seq), RANDOM_BYTES(60) FROM d.seq_1_to_60000",
        "CREATE TABLE d.aria (id INT, a TEXT) ENGINE=Aria",
        "INSERT INTO d.aria SELECT seq, REPEAT('x', seq % 900) FROM d.seq_1_to_4000",
        "CREATE TABLE d.empty (id INT) ENGINE=MyISAM",
        "FLUSH TABLES",
    ]);
    let sums = "SELECT CONCAT(COUNT(*), ' ', SUM(CRC32(CONCAT(a, b)))) FROM d.t";
    let wanted = server.scalar(sums);
    // A table that the redo log speaks of is backed up under another name, or not, as it happens.
    drop(server);
    let server = Server::start(&home.join("s"), &[]);

    let at = |name: &str| home.join(name);
    server.back_up(&at("plain.xb"), &["--parallel=4"]);
    server.back_up(&at("small.xb"), &["--parallel=2", "--compress", "--compress-chunk-size=4K"]);
    server.back_up(&at("packed.xb"), &["--parallel=4", "--compress", "--compress-threads=2"]);
    for name in ["plain", "packed"] {
        let theirs = at(&format!("{name}-theirs"));
        std::fs::create_dir(&theirs).unwrap();
        let stream = File::open(at(&format!("{name}.xb"))).unwrap();
        succeeded(&tool("mbstream").arg("-x").arg("-C").arg(&theirs).stdin(stream).output().unwrap());
        let ours = at(&format!("{name}-ours"));
        extract(&at(&format!("{name}.xb")), &ours, &[]);
        are_equal(&ours, &theirs);
    }

    // Nothing has changed between the backups: what was compressed is what was not.
    for name in ["small", "packed"] {
        let ours = at(&format!("{name}-open"));
        extract(&at(&format!("{name}.xb")), &ours, &["--decompress", "--parallel", "3"]);
        let (open, plain) = (tree(&ours), tree(&at("plain-theirs")));
        assert_eq!(open.keys().collect::<Vec<_>>(), plain.keys().collect::<Vec<_>>());
        // The server itself writes statistics meanwhile.
        let is_ours = |path: &Path| path.starts_with("d") || path.extension().is_some_and(|end| end == "frm");
        for (path, bytes) in plain.iter().filter(|(path, _)| is_ours(path)) {
            assert!(open.get(path) == Some(bytes), "{} differs", path.display());
        }
        assert!(plain.keys().any(|path| path.ends_with("d/t.ibd")));
    }

    // A server starts on it, and every page of the table is whole.
    drop(server);
    let restored = at("packed-open");
    succeeded(
        &tool("mariabackup")
            .args(["--no-defaults", "--prepare"])
            .arg(format!("--target-dir={}", restored.display()))
            .output()
            .unwrap(),
    );
    succeeded(&tool("innochecksum").arg(restored.join("d/t.ibd")).output().unwrap());
    std::fs::create_dir(at("r")).unwrap();
    std::fs::rename(&restored, at("r/data")).unwrap();
    let restored = Server::start(&at("r"), &[]);
    assert_eq!(restored.scalar(sums), wanted);
    assert_eq!(restored.scalar("SELECT COUNT(*) FROM d.aria"), "4000");
    drop(restored);

    // What was extracted is written as mbstream writes it.
    let files = ["d/t.ibd", "d/t.frm", "d/empty.MYD"];
    let theirs = tool("mbstream").arg("-c").args(files).current_dir(at("plain-theirs")).output().unwrap();
    let ours =
        Command::new(sealion()).args(["xbstream", "-c"]).args(files).current_dir(at("plain-ours")).output();
    assert!(ours.unwrap().stdout == theirs.stdout && theirs.stdout.len() > 1 << 20);

    // A damaged one is told, with its file and place.
    let mut bytes = std::fs::read(at("packed.xb")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(at("damaged.xb"), bytes).unwrap();
    let done = Command::new(sealion())
        .args(["xbstream", "-x", "--decompress", "-C"])
        .arg(at("damaged"))
        .arg("--input")
        .arg(at("damaged.xb"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("byte") && said.contains("of the stream"), "{said}");
    assert!(at("damaged/.sealion-incomplete").exists());
}
