//! Nothing secret is left behind by `sealion prove`: not in what it says with `-vvv`, not in a file while it runs or after, and
//! not in a core, with no limit on those.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use testbed::real::{Program, files_below, lab_slot, sealion, short_dir, wait_for};

/// What the user hands over; no output may have it.
const PASSWORD: &str = "handed-over-4711-by-the-user";
const LOOK: Duration = Duration::from_secs(60);
const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../prove/clients/cli/client.sh");
/// More than a pipe holds: when it is written, somebody reads at the other end.
const MORE_THAN_A_PIPE: usize = 256 * 1024;
/// `nobody`: what root may read of others says nothing.
const ANOTHER: u32 = 65534;

/// A world of its own: all that sealion could write to.
struct World(tempfile::TempDir);

impl World {
    fn new() -> Self {
        let this = Self(short_dir());
        for name in ["home", "tmp", "here"] {
            std::fs::create_dir(this.at(name)).expect("a directory");
        }
        this
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `program` with no limit on cores, in this world; what it says goes to files of it.
    fn start(&self, program: &Path, words: &[&str], stdin: Stdio) -> Child {
        let mut command = Command::new("bash");
        command.args(["-c", "ulimit -c unlimited && exec \"$@\"", "bash"]).arg(program).args(words);
        self.settle(&mut command);
        let file = |name: &str| File::create(self.at(name)).expect("a file");
        command.stdin(stdin).stdout(file("stdout")).stderr(file("stderr"));
        command.spawn().expect("bash is there")
    }

    fn settle(&self, command: &mut Command) {
        command.current_dir(self.at("here")).env("HOME", self.at("home")).env("TMPDIR", self.at("tmp"));
        for name in
            ["XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "SEALION_CACHE"]
        {
            command.env(name, self.at("home").join(name));
        }
    }

    fn said(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap_or_default()
    }

    #[track_caller]
    fn waits_for(&self, stream: &str, text: &str) -> String {
        wait_for(LOOK, || Some(self.said(stream)).filter(|said| said.contains(text))).unwrap_or_else(|| {
            panic!("{text:?} is never said: {} {}", self.said("stdout"), self.said("stderr"))
        })
    }

    /// Files that hold `secret`, as it is or in hexadecimal digits.
    fn holding(&self, secret: &str) -> Vec<PathBuf> {
        let digit = |number: u8| char::from_digit(u32::from(number), 16).expect("below 16");
        let hex: String = secret.bytes().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        let forms = [secret.to_owned(), hex.to_uppercase(), hex];
        let mut found = files_below(self.0.path());
        found.retain(|path| {
            let bytes = std::fs::read(path).unwrap_or_default();
            forms.iter().any(|form| memchr::memmem::find(&bytes, form.as_bytes()).is_some())
        });
        found
    }

    fn cores(&self) -> Vec<PathBuf> {
        let mut found = files_below(&self.at("here"));
        found.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("core")));
        found
    }
}

/// What a fault in its code would do.
fn abort(mut child: Child) -> ExitStatus {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    kill(pid, Signal::SIGABRT).expect("it runs, and is our child");
    let status = wait_for(LOOK, || child.try_wait().expect("it is our child")).expect("it ends");
    assert_eq!(status.signal(), Some(Signal::SIGABRT as i32), "{status}");
    status
}

#[track_caller]
fn leaves_nothing(world: &World, status: ExitStatus, what: &str) {
    assert!(!status.core_dumped(), "{what} left a core");
    assert_eq!(world.cores(), Vec::<PathBuf>::new(), "{what}");
    assert_eq!(world.holding(PASSWORD), Vec::<PathBuf>::new(), "{what}");
}

#[test]
fn a_core_would_hold_secrets_and_there_is_none() {
    let _alone = lab_slot();

    // The control: another program that ends so does leave one here, and what it knew is in it.
    let world = World::new();
    let script = format!("secret={PASSWORD}; kill -ABRT $$; echo $secret");
    let mut control = world.start(Path::new("bash"), &["-c", &script], Stdio::null());
    let status = control.wait().expect("it is our child");
    assert!(
        status.core_dumped(),
        "no core is written here at all, so this proves nothing; run: ulimit -H -c unlimited"
    );
    // Where the machine hands cores to a program, there is no file to look into.
    if let [core] = &world.cores()[..] {
        assert_eq!(&world.holding(PASSWORD), std::slice::from_ref(core));
    }

    // A client has given its password away, and it was compared.
    let world = World::new();
    let child =
        world.start(&sealion(), &["prove", "serve", "-vvv", "--case", "clear-password"], Stdio::null());
    let said = world.waits_for("stdout", "Ctrl-C stops the server");
    let password = said
        .split_once(", password ")
        .and_then(|(_, rest)| rest.split(',').next())
        .expect("it is told to whoever connects by hand")
        .to_owned();
    let port = said
        .lines()
        .find(|line| line.contains("clear-password"))
        .and_then(|line| line.split_whitespace().find(|word| word.parse::<u16>().is_ok()))
        .expect("a port");
    let client = Command::new("bash")
        .args([CLIENT, "galera-10.11", "mariadb", "env-password"])
        .envs([("SEALION_HOST", "127.0.0.1"), ("SEALION_PORT", port), ("SEALION_USER", "sealion")])
        .env("MYSQL_PWD", &password)
        .output()
        .expect("bash is there");
    world.waits_for("stdout", " PW ");
    let status = abort(child);
    leaves_nothing(&world, status, "prove serve");
    // It stands where it is told to a person, and nowhere else.
    assert_eq!(world.holding(&password), [world.at("stdout")], "{client:?}");

    // What the user handed over lies in the memory of the others.
    let world = World::new();
    let secret =
        world.0.path().parent().expect("it lies somewhere").join(format!("secret-{}", std::process::id()));
    std::fs::write(&secret, format!("{PASSWORD}\n")).expect("written");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).expect("ours");
    let path = secret.display().to_string();
    let words = ["prove", "relay", "-vvv", "--to=127.0.0.1:1", "--substitute-key", "--password-file", &path];
    let child = world.start(&sealion(), &words, Stdio::null());
    world.waits_for("stderr", "listening on ");
    leaves_nothing(&world, abort(child), "prove relay");

    let lines = format!("mysql+pymysql://u:{PASSWORD}@db1/x?ssl_ca=/ca.pem\n");
    let mut capture = b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0".to_vec();
    while capture.len() < MORE_THAN_A_PIPE {
        // A packet of 16 bytes, of no protocol that counts.
        capture.extend_from_slice(&[0; 8]);
        capture.extend_from_slice(&[16, 0, 0, 0, 16, 0, 0, 0]);
        capture.extend_from_slice(&[0; 16]);
    }
    let sniff = ["prove", "sniff", "-vvv", "-", "--canary-file", &path];
    for (words, bytes) in [
        (&["prove", "config", "-vvv", "-"][..], lines.repeat(MORE_THAN_A_PIPE / lines.len()).into_bytes()),
        (&sniff[..], capture),
    ] {
        let world = World::new();
        let mut child = world.start(&sealion(), words, Stdio::piped());
        child.stdin.as_mut().expect("a pipe").write_all(&bytes).expect("it reads");
        // Open to the end: it waits for more.
        let stdin = child.stdin.take();
        leaves_nothing(&world, abort(child), words[1]);
        drop(stdin);
    }
    std::fs::remove_file(&secret).expect("ours");

    let world = World::new();
    let started = world.at("started").display().to_string();
    let script = format!("echo $$ >{started}; exec sleep 60");
    let words = ["prove", "client", "-vvv", "--case=strip", "--", "bash", "-c", &script];
    let child = world.start(&sealion(), &words, Stdio::null());
    let group = wait_for(LOOK, || world.said("started").trim().parse().ok()).expect("the client starts");
    let status = abort(child);
    killpg(Pid::from_raw(group), Signal::SIGKILL).expect("the client is there still");
    leaves_nothing(&world, status, "prove client");
}

/// Whether a process of this user reads what another of the same user was told.
fn reads_environment_of(child: &Child) -> bool {
    let mut reader = Command::new("cat");
    reader.arg(format!("/proc/{}/environ", child.id()));
    if nix::unistd::geteuid().is_root() {
        reader.uid(ANOTHER).gid(ANOTHER);
    }
    reader.output().expect("cat is there").status.success()
}

#[test]
fn no_other_process_of_its_user_reads_its_memory() {
    let _alone = lab_slot();
    let world = World::new();
    // Where another user reaches them.
    let program = world.at("sealion");
    std::fs::copy(sealion(), &program).expect("a copy");
    for path in
        [world.0.path().to_owned(), world.at("home"), world.at("tmp"), world.at("here"), program.clone()]
    {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).expect("ours");
    }
    let start = |program: &Path, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words);
        world.settle(&mut command);
        let file = |name: &str| File::create(world.at(name)).expect("a file");
        command.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
        if nix::unistd::geteuid().is_root() {
            command.uid(ANOTHER).gid(ANOTHER);
        }
        command.spawn().expect("it starts")
    };
    let mut control = start(Path::new("sleep"), &["60"]);
    let is_read = wait_for(LOOK, || reads_environment_of(&control).then_some(()));
    assert!(is_read.is_some(), "even that of sleep cannot be read, so this proves nothing");
    control.kill().expect("it runs");
    control.wait().expect("it is our child");

    // In a namespace too, which is entered by writing what then belongs to root.
    for words in [&["prove", "serve", "--case=strip"][..], &["prove", "serve", "--case=strip", "--namespace"]]
    {
        let mut child = start(&program, words);
        world.waits_for("stdout", "Ctrl-C stops the server");
        assert!(!reads_environment_of(&child), "{words:?}");
        child.kill().expect("it runs");
        child.wait().expect("it is our child");
    }
}

#[test]
fn the_password_of_a_careless_client_is_in_no_file_and_no_output() {
    let _alone = lab_slot();
    for format in ["--format=json", "--format=table"] {
        let world = World::new();
        let kept = short_dir();
        let kept = kept.path().join("password");
        let cache = std::env::var_os("SEALION_CACHE")
            .or_else(|| {
                std::env::var_os("XDG_CACHE_HOME").map(|base| PathBuf::from(base).join("sealion").into())
            })
            .unwrap_or_else(|| {
                PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/sealion").into()
            });
        // It looks around while everything is there, tells the password to the test alone, and then logs in.
        let script = format!(
            "printf %s \"$SEALION_PASSWORD\" >{kept}; ! grep -rqF -e \"$SEALION_PASSWORD\" {world} || touch {kept}.found; \
             grep -rqF BEGIN {world}/tmp && touch {kept}.looked; \
             SEALION_CACHE={cache} exec bash {CLIENT} galera-10.11 mariadb env-password",
            kept = kept.display(),
            world = world.0.path().display(),
            cache = Path::new(&cache).display(),
        );
        let mut command = Command::new(sealion());
        command.args(["prove", "client", "-vvv", format]);
        for case in [
            "clear-password",
            "dialog",
            "caching-sha2-key",
            "sha256-key",
            "clear-password-tls",
            "local-infile",
        ] {
            command.args(["--case", case]);
        }
        command.args(["--", "bash", "-c", &script]);
        world.settle(&mut command);
        let said = Program::start(command).finish(Duration::from_secs(180)).exits(1);
        let password = std::fs::read_to_string(&kept).expect("the client wrote it");
        assert!(password.len() > 8 && kept.with_extension("looked").exists(), "{said}");
        assert!(!kept.with_extension("found").exists(), "a file has the password");
        // The control: it was obtained, so it was there to be shown.
        assert!(said.stdout.contains("PW"), "{said}");
        for text in [&said.stdout, &said.stderr] {
            assert!(!text.contains(&password), "{said}");
        }
        assert_eq!(world.holding(&password), Vec::<PathBuf>::new());
        assert_eq!(files_below(&world.at("tmp")), Vec::<PathBuf>::new(), "everything is removed");
    }
}
