//! A real server on a LUKS volume, whose key is rotated while the server runs. The volume is served by qemu-storage-daemon, so no
//! device-mapper is needed; a loop device and a mount are, so this is `make deep`'s, and root's.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use net::{Client, ConnectOptions, Endpoint};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use testbed::real::{is_deep, lab_slot, need_servers, sealion, short_dir, wait_for};

/// Stored, and in no statement: those have it backwards.
const CANARY: &str = "what-lies-on-luks-can-be-read";
const IMAGE_BYTES: u64 = 600 << 20;
const ROWS: u32 = 1_000;
const PORT: &str = "24790";
const READY: Duration = Duration::from_secs(30);

fn run(program: &str, words: &[&str]) -> Output {
    let path = "/usr/sbin:/sbin:/usr/bin:/bin";
    let output =
        Command::new(program).args(words).env("PATH", path).env("LC_ALL", "C").stdin(Stdio::null()).output();
    output.unwrap_or_else(|error| panic!("{program}: {error}; run: scripts/setup.sh tools drivers"))
}

fn done(program: &str, words: &[&str]) -> String {
    let output = run(program, words);
    let said = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    assert!(output.status.success(), "{program} {words:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// What lies in the image, opened, as a mounted file system.
struct Opened {
    daemon: Child,
    device: String,
    mount: PathBuf,
}

impl Opened {
    /// `None`: the key does not open it.
    fn with(home: &Path, key: &str, is_new: bool) -> Option<Self> {
        let at = |name: &str| home.join(name).display().to_string();
        // It is mounted over a file.
        let plain = at("opened");
        File::create(&plain).expect("ours");
        let mut daemon = Command::new("/usr/bin/qemu-storage-daemon")
            .args(["--object", &format!("secret,id=s,file={}", at(key))])
            .args(["--blockdev", &format!("driver=file,node-name=f,filename={}", at("image"))])
            .args(["--blockdev", "driver=luks,node-name=l,file=f,key-secret=s"])
            .args(["--export", &format!("type=fuse,id=e,node-name=l,mountpoint={plain},writable=on")])
            .args(["--pidfile", &at("pid")])
            .stdin(Stdio::null())
            .stderr(File::create(home.join("daemon.log")).expect("ours"))
            .spawn()
            .expect("qemu-storage-daemon; run: scripts/setup.sh drivers");
        let is_ready = wait_for(READY, || {
            let size = fs::metadata(&plain).map_or(0, |facts| facts.len());
            let ended = daemon.try_wait().expect("ours");
            (size > 0 || ended.is_some()).then_some(ended.is_none())
        });
        if is_ready != Some(true) {
            let _ = daemon.kill();
            let _ = daemon.wait();
            return None;
        }
        let device = done("losetup", &["--find", "--show", &plain]);
        let mount = home.join("m");
        let opened = Self { daemon, device, mount };
        fs::create_dir_all(&opened.mount).expect("ours");
        if is_new {
            done("mkfs.ext4", &["-q", "-O", "^has_journal", &opened.device]);
        }
        done("mount", &[&opened.device, &opened.mount.display().to_string()]);
        Some(opened)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = run("umount", &[&self.mount.display().to_string()]);
        let _ = run("losetup", &["--detach", &self.device]);
        if let Ok(pid) = i32::try_from(self.daemon.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let _ = self.daemon.wait();
    }
}

/// Ends before its file system goes, also where the test fails.
struct Server {
    process: Child,
    socket: PathBuf,
}

impl Server {
    fn on(opened: &Opened) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/start-server.sh");
        let dir = opened.mount.join("s");
        let mut command = Command::new(script);
        command.arg("galera-10.11").arg(&dir).args([PORT, "--innodb-log-file-size=16M", "--general-log=ON"]);
        let process = command.stdin(Stdio::null()).spawn().expect("it is there");
        let server = Self { process, socket: dir.join("socket") };
        let answers = wait_for(READY, || server.connect().ok());
        let log = || fs::read_to_string(dir.join("log")).unwrap_or_default();
        assert!(answers.is_some(), "{}", log());
        server
    }

    fn connect(&self) -> Result<Client, net::NetError> {
        Client::connect(&ConnectOptions::new(Endpoint::unix(self.socket.display().to_string()), "root"))
    }

    fn sql(&self, statement: &str) -> String {
        let mut client = self.connect().expect("it answers");
        let rows = client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        rows.scalar().unwrap_or_default().into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.process.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let _ = self.process.wait();
    }
}

/// How often the canary stands in a file.
fn count(path: &Path) -> usize {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path).expect("readable"));
    let (mut found, mut kept) = (0, Vec::new());
    loop {
        let part = file.fill_buf().expect("readable");
        if part.is_empty() {
            return found;
        }
        kept.extend_from_slice(part);
        let length = part.len();
        file.consume(length);
        found += memchr::memmem::find_iter(&kept, CANARY).count();
        let from = kept.len().saturating_sub(CANARY.len() - 1);
        kept.drain(..from);
    }
}

#[test]
fn deep_the_key_of_a_volume_is_rotated_while_a_server_writes_to_it() {
    if !is_deep() {
        eprintln!("only with SEALION_DEEP=1 (make deep)");
        return;
    }
    need_servers();
    let _alone = lab_slot();
    let home = short_dir();
    let home = home.path();
    for name in ["old", "new"] {
        let mut options = File::options();
        let mut file = options.write(true).create_new(true).mode(0o600).open(home.join(name)).expect("fresh");
        file.write_all(format!("the key of {name}").as_bytes()).expect("room");
    }
    let at = |name: &str| home.join(name).display().to_string();
    File::create(home.join("image")).and_then(|file| file.set_len(IMAGE_BYTES)).expect("sparse");
    fs::create_dir(home.join("escrow")).expect("fresh");
    let fast = ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"];
    let (image, old) = (at("image"), at("old"));
    done(
        "cryptsetup",
        &[&["-q", "luksFormat", "--type", "luks1", "--key-file", &old], &fast[..], &[&image]].concat(),
    );

    let opened = Opened::with(home, "old", true).expect("its key opens it");
    let server = Server::on(&opened);
    let backwards: String = CANARY.chars().rev().collect();
    server.sql("CREATE DATABASE d");
    server.sql("CREATE TABLE d.i (a INT PRIMARY KEY, b TEXT) ENGINE=InnoDB");
    server.sql("CREATE TABLE d.m (a INT, b TEXT) ENGINE=MyISAM");
    let fill = |from: u32| {
        for table in ["i", "m"] {
            let to = from + ROWS - 1;
            server.sql(&format!(
                "INSERT INTO d.{table} SELECT seq, REVERSE('{backwards}') FROM d.seq_{from}_to_{to}"
            ));
        }
        server.sql("FLUSH TABLES d.i, d.m FOR EXPORT");
    };
    fill(1);
    // What the kernel says of the device below is no dm-crypt: encryption below a loop device is not vouched for.
    let disk = Command::new(sealion())
        .args(["status", "disk", "--format", "json"])
        .arg(&opened.mount)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&disk.stdout);
    assert!(!said.contains("\"coverage\": \"encrypted\""), "{said}");

    let escrow = at("escrow");
    let rotate = |more: &[&str]| {
        let mut command = Command::new(sealion());
        command.args([
            "rotate",
            "disk",
            "--device",
            &image,
            "--key-file",
            &old,
            "--new-key-file",
            &at("new"),
        ]);
        command
            .args(["--backup-dir", &escrow])
            .args(fast)
            .args(more)
            .env("XDG_STATE_HOME", home.join("state"));
        command.stdin(Stdio::null()).output().expect("it runs")
    };
    let plan = rotate(&["--dry-run", "--format", "json"]);
    let plan: serde_json::Value = serde_json::from_slice(&plan.stdout).expect("JSON");
    let hash = plan["state_hash"].as_str().expect("it has one").to_owned();
    let rotated = rotate(&["--yes", &hash]);
    assert!(rotated.status.success(), "{}", String::from_utf8_lossy(&rotated.stderr));
    fill(ROWS + 1);

    done("sync", &[]);
    let data = opened.mount.join("s/data/d");
    let of_mount = [count(&data.join("m.MYD")), count(&data.join("i.ibd"))];
    let all = 2 * usize::try_from(ROWS).expect("few");
    assert!(
        of_mount.iter().all(|count| *count >= all),
        "the control: it stands in the mounted files: {of_mount:?}"
    );
    assert_eq!(count(&home.join("image")), 0, "and nowhere on the volume");
    drop(server);
    drop(opened);
    assert_eq!(count(&home.join("image")), 0);

    assert!(Opened::with(home, "old", false).is_none(), "the old key opens nothing any more");
    let opened = Opened::with(home, "new", false).expect("the new one does");
    let server = Server::on(&opened);
    for table in ["i", "m"] {
        assert_eq!(server.sql(&format!("SELECT COUNT(*) FROM d.{table}")), (2 * ROWS).to_string());
    }
}
