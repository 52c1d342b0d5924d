//! An agent in this process, asked over a pair of sockets.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};

use proptest::prelude::*;

use super::frames::{FarPath, Frame, PROTOCOL};
use super::messages::{FarJob, Message};
use super::*;
use crate::Local;

fn agent(mode: AgentMode) -> Connection {
    // One for each way, as pipes are: the end of one is not that of the other.
    let ((asks, is_asked), (answers, is_answered)) =
        (UnixStream::pair().expect("a pair"), UnixStream::pair().expect("a pair"));
    std::thread::spawn(move || agent::serve(is_asked, answers, mode, "0.0.0", vec![]));
    Connection::over(is_answered, asks)
}

fn remote() -> Remote {
    Remote::by("elsewhere", |mode| Ok(agent(mode)))
}

/// The answers to everything that can be asked of a path, for people to compare.
fn answers(host: &dyn ReadHost, path: &Path) -> Vec<String> {
    vec![
        format!("{:?}", host.read(path, 40).map_err(|error| error.to_string())),
        format!("{:?}", host.read_end(path, 5).map_err(|error| error.to_string())),
        format!("{:?}", host.facts(path).map_err(|error| error.to_string())),
        format!("{:?}", host.list(path).map_err(|error| error.to_string())),
        format!("{:?}", host.writable(path).map_err(|error| error.to_string())),
        format!("{:?}", host.text_in(path, "a").map_err(|error| error.to_string())),
        format!("{:?}", host.link(path).map_err(|error| error.to_string())),
        format!("{:?}", host.program_of(&path.to_string_lossy()).map_err(|error| error.to_string())),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Write(usize, Vec<u8>, Option<u32>),
    Replace(usize, Vec<u8>, Vec<u8>),
    Append(usize, Vec<u8>),
    MakeDir(usize),
    Remove(usize),
    RemoveDir(usize),
    Link(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let content = || proptest::collection::vec(any::<u8>(), 0..60);
    let step = prop_oneof![
        (0..NAMES.len(), content(), proptest::option::of(0o400u32..0o1000))
            .prop_map(|(a, b, c)| Step::Write(a, b, c)),
        (0..NAMES.len(), content(), content()).prop_map(|(a, b, c)| Step::Replace(a, b, c)),
        (0..NAMES.len(), content()).prop_map(|(a, b)| Step::Append(a, b)),
        (0..NAMES.len()).prop_map(Step::MakeDir),
        (0..NAMES.len()).prop_map(Step::Remove),
        (0..NAMES.len()).prop_map(Step::RemoveDir),
        (0..NAMES.len(), 0..NAMES.len()).prop_map(|(a, b)| Step::Link(a, b)),
    ];
    proptest::collection::vec(step, 1..12)
}

/// Names need not be text, and some are in directories that may not be there.
const NAMES: [&[u8]; 6] = [b"a", b"b c", b"d\xff\xfe", b"sub", b"sub/e", b"sub/f'\"$"];

fn place(dir: &Path, name: usize) -> PathBuf {
    dir.join(std::ffi::OsString::from_vec(NAMES[name].to_vec()))
}

fn done(host: &dyn WriteHost, dir: &Path, step: &Step) -> Result<(), HostError> {
    match step {
        Step::Write(name, bytes, mode) => host.write(&place(dir, *name), bytes, *mode, None),
        Step::Replace(name, expected, bytes) => host.replace(&place(dir, *name), expected, bytes),
        Step::Append(name, bytes) => host.append(&place(dir, *name), bytes),
        Step::MakeDir(name) => host.make_dir(&place(dir, *name), 0o750, None),
        Step::Remove(name) => host.remove(&place(dir, *name)),
        Step::RemoveDir(name) => host.remove_dir(&place(dir, *name)),
        Step::Link(name, to) => {
            let _ = symlink(place(Path::new(""), *to), place(dir, *name));
            Ok(())
        }
    }
}

/// Without what differs by itself: the directory, and numbers of processes in names of temp files.
fn told(text: &str, dir: &Path) -> String {
    text.replace(&dir.display().to_string(), "DIR").replace(&format!("{dir:?}").replace('"', ""), "DIR")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_machine_elsewhere_answers_as_this_one_does(steps in steps()) {
        let (here, there) = (tempfile::tempdir().expect("tmp"), tempfile::tempdir().expect("tmp"));
        let remote = remote();
        for step in &steps {
            let one = done(&Local, here.path(), step).map_err(|error| told(&error.to_string(), here.path()));
            let other = done(&remote, there.path(), step).map_err(|error| told(&error.to_string(), there.path()));
            prop_assert_eq!(one, other, "{:?}", step);
            for name in 0..NAMES.len() {
                let (a, b) = (place(here.path(), name), place(there.path(), name));
                let local: Vec<_> = answers(&Local, &a).iter().map(|text| told(text, here.path())).collect();
                let far: Vec<_> = answers(&remote, &b).iter().map(|text| told(text, there.path())).collect();
                prop_assert_eq!(local, far);
            }
        }
    }
}

#[test]
fn an_agent_that_looks_changes_nothing() {
    let dir = tempfile::tempdir().expect("tmp");
    let path = dir.path().join("a");
    fs::write(&path, "old").expect("writable");
    let connection = agent(AgentMode::Read);
    let requests = [
        Request::Write { path: (&*path).into(), mode: None, owner: None },
        Request::Replace { path: (&*path).into(), expected_bytes: 3 },
        Request::Append { path: (&*path).into() },
        Request::MakeDir { dir: (&*dir.path().join("new")).into(), mode: 0o700, owner: None },
        Request::Remove { path: (&*path).into() },
        Request::RemoveDir { dir: dir.path().into() },
        Request::Sweep { dir: dir.path().into() },
        Request::Run { command: vec!["rm".into(), path.display().to_string()], limit_ms: 1000 },
        Request::RunService {
            job: FarJob::Start(dir.path().into()),
            command: vec!["rm".into(), path.display().to_string()],
            limit_ms: 1000,
        },
        Request::Lock { path: (&*dir.path().join("lock")).into(), at_most_ms: 1 },
    ];
    for request in requests {
        let reply = connection.call(request.clone(), b"old".to_vec(), ANSWER_MAX).expect("an answer");
        assert!(matches!(reply.answer, Answer::Refused { .. }), "{request:?}: {:?}", reply.answer);
    }
    assert_eq!(fs::read(&path).expect("there"), b"old");
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1);
}

#[test]
fn a_search_elsewhere_finds_what_one_here_finds_and_tells_how_far_it_is() {
    let dir = tempfile::tempdir().expect("tmp");
    let log = dir.path().join(std::ffi::OsStr::new("general.log"));
    fs::write(&log, "1 Query\tCREATE USER a IDENTIFIED BY 'p'\n".repeat(50_000)).expect("writable");
    fs::write(dir.path().join("x"), "-- MySQL dump 10").expect("writable");
    let place = |path: &Path| FarPath(path.to_owned());
    let search = crate::Search {
        places: vec![
            crate::Place::Log(place(&log)),
            crate::Place::Log(place(&dir.path().join("gone"))),
            crate::Place::Leftovers { dir: place(dir.path()), own: vec![] },
        ],
        entries_max: 100,
        bytes_max: 1 << 30,
    };
    let (here, there) = (crate::SearchProgress::default(), crate::SearchProgress::default());
    let found = Local.search(&search, &here).expect("it is this machine");
    assert_eq!((found.hits.len(), found.hits[0].count, found.missing.clone()), (2, 50_000, vec![1]));
    let remote = remote();
    assert_eq!(remote.search(&search, &there).expect("it answers"), found);
    assert_eq!(there.so_far(), here.so_far());
    assert_eq!((there.so_far().read_bytes, there.so_far().files), (found.bytes, found.files));
}

#[test]
fn a_data_directory_elsewhere_is_read_as_one_here() {
    let dir = tempfile::tempdir().expect("tmp");
    fs::write(dir.path().join("ib_logfile0"), [&b"Phys"[..], &[0; 12_288]].concat()).expect("writable");
    fs::write(dir.path().join("ibdata1"), vec![0; 65_536]).expect("writable");
    fs::write(dir.path().join("binlog.000001"), b"\xfebin and more").expect("writable");
    let (here, there) = (disk::Progress::default(), disk::Progress::default());
    let found = Local.data_directory(dir.path(), &[], &here).expect("it is this machine");
    assert_eq!(found.artefacts.len(), 3);
    let remote = remote();
    assert_eq!(remote.data_directory(dir.path(), &[], &there).expect("it answers"), found);
    assert_eq!((there.read_bytes(), there.all_bytes()), (here.read_bytes(), here.all_bytes()));
    let said = remote.data_directory(&dir.path().join("gone"), &[], &there).expect_err("it is not there");
    assert!(said.to_string().contains("cannot be told"), "{said}");
}

#[test]
fn another_version_is_refused_with_both_numbers() {
    let connection = agent(AgentMode::Read);
    let reply = connection.call(Request::Hello { protocol: 99 }, vec![], ANSWER_MAX).expect("an answer");
    let Answer::Refused { why } = reply.answer else { panic!("{:?}", reply.answer) };
    let ours = format!("version {PROTOCOL}");
    assert!(why.contains(&ours) && why.contains("99"), "{why}");
}

#[test]
fn a_lost_agent_is_an_unknown_outcome_and_the_next_question_starts_another() {
    let begun = Arc::new(Mutex::new(0));
    let count = Arc::clone(&begun);
    // The first one hangs up when it is asked something.
    let remote = Remote::by("elsewhere", move |mode| {
        let mut begun = count.lock().expect("sound");
        *begun += 1;
        if *begun > 1 {
            return Ok(agent(mode));
        }
        let (near, far) = UnixStream::pair().expect("a pair");
        std::thread::spawn(move || {
            let (agent, mut relay) = UnixStream::pair().expect("a pair");
            let (input, output) =
                (agent.try_clone().expect("a descriptor"), far.try_clone().expect("a descriptor"));
            std::thread::spawn(move || agent::serve(input, output, mode, "0.0.0", vec![]));
            let mut from = far.try_clone().expect("a descriptor");
            let mut piece = [0; 4096];
            // The greeting passes, and nothing behind it.
            let count = from.read(&mut piece).expect("a request");
            relay.write_all(&piece[..count]).expect("it reads");
            let _ = from.read(&mut piece);
            let _ = far.shutdown(std::net::Shutdown::Both);
        });
        Ok(Connection::over(near.try_clone().expect("a descriptor"), near))
    });
    let dir = tempfile::tempdir().expect("tmp");
    let path = dir.path().join("a");
    let error = remote.write(&path, b"x", None, None).expect_err("it was lost");
    assert!(matches!(&error, HostError::Lost { host, .. } if host == "elsewhere"), "{error}");
    assert!(error.to_string().contains("not known"), "{error}");
    remote.write(&path, b"y", None, None).expect("another agent");
    assert_eq!(fs::read(&path).expect("there"), b"y");
    assert_eq!(*begun.lock().expect("sound"), 2);
}

/// A machine that stood still finds requests in its pipes that were given up meanwhile.
#[test]
fn what_was_asked_by_somebody_who_has_hung_up_is_not_begun() {
    let dir = tempfile::tempdir().expect("tmp");
    for (hangs_up, is_done) in [(true, false), (false, true)] {
        let path = dir.path().join(format!("{hangs_up}"));
        let ((mut asks, is_asked), (answers, mut is_answered)) =
            (UnixStream::pair().expect("a pair"), UnixStream::pair().expect("a pair"));
        for message in [
            Message::Call { id: 1, request: Request::Hello { protocol: PROTOCOL } },
            Message::Call {
                id: 2,
                request: Request::MakeDir { dir: (&*path).into(), mode: 0o700, owner: None },
            },
        ] {
            asks.write_all(&frames::encode(&Frame::new(message)).expect("small")).expect("a socket");
        }
        let keeps = if hangs_up {
            drop(asks);
            None
        } else {
            Some(asks)
        };
        let serves =
            std::thread::spawn(move || agent::serve(is_asked, answers, AgentMode::Write, "0.0.0", vec![]));
        if keeps.is_some() {
            let begun = Instant::now();
            while !path.exists() && begun.elapsed() < ANSWER_MAX {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        drop(keeps);
        serves.join().expect("it ends").expect("all of it was understood");
        // Its answers end when nothing is being done any more.
        is_answered.read_to_end(&mut Vec::new()).expect("a socket");
        assert_eq!(path.exists(), is_done, "hangs up: {hangs_up}");
    }
}

#[test]
fn an_agent_that_does_not_answer_in_time_is_asked_for_no_further_change() {
    let begun = Arc::new(Mutex::new(0));
    let count = Arc::clone(&begun);
    let remote = Remote::by("elsewhere", move |mode| {
        let mut begun = count.lock().expect("sound");
        *begun += 1;
        if *begun > 1 {
            return Ok(agent(mode));
        }
        // It greets, and stands still from then on.
        let (near, far) = UnixStream::pair().expect("a pair");
        std::thread::spawn(move || {
            let (agent, mut relay) = UnixStream::pair().expect("a pair");
            let output = far.try_clone().expect("a descriptor");
            std::thread::spawn(move || agent::serve(agent, output, mode, "0.0.0", vec![]));
            let (mut from, mut piece) = (far, [0; 4096]);
            let count = from.read(&mut piece).expect("a request");
            relay.write_all(&piece[..count]).expect("it reads");
            while from.read(&mut piece).is_ok_and(|count| count > 0) {}
        });
        Ok(Connection::over(near.try_clone().expect("a descriptor"), near))
    });
    let path = Path::new("/nowhere");
    let request = || Request::Remove { path: path.into() };
    let error = remote.ask(request(), vec![], Duration::from_millis(50)).expect_err("it stands still");
    assert!(error.to_string().contains("no answer within"), "{error}");
    remote.ask(request(), vec![], ANSWER_MAX).expect("another agent answers");
    assert_eq!(*begun.lock().expect("sound"), 2);
}

#[test]
fn a_program_that_is_no_agent_is_told_with_what_it_printed() {
    let words = |script: &str| ["sh".to_owned(), "-c".to_owned(), script.to_owned()].to_vec();
    let told = |script: &str| {
        let words = words(script);
        let remote = Remote::by("db1", move |_| Connection::start(&words));
        remote.facts(Path::new("/")).expect_err("no agent").to_string()
    };
    let text = told("exit 255");
    assert!(text.starts_with("nothing could be asked of db1: "), "{text}");
    let text = told("echo 'Host key verification failed.' >&2; exit 255");
    assert!(text.contains("db1") && text.contains("Host key verification failed."), "{text}");
    for early in ["exec 1>&-", "exec 0<&-"] {
        let text = told(&format!("{early}; sleep 0.3; echo 'No route to host' >&2; exit 255"));
        assert!(text.contains("No route to host"), "{early}: {text}");
    }
    let text = told("echo 'This account is not available'");
    assert!(text.contains("This account is not available"), "{text}");
}

#[test]
fn ctrl_c_does_not_reach_what_leads_to_an_agent() {
    let script = r#"set -- $(cat /proc/$$/stat); [ "$5" = "$$" ] && echo "a group of its own" >&2"#;
    let words = ["sh", "-c", script].map(str::to_owned).to_vec();
    let remote = Remote::by("db1", move |_| Connection::start(&words));
    let text = remote.facts(Path::new("/")).expect_err("no agent").to_string();
    assert!(text.contains("a group of its own"), "{text}");
}

#[test]
fn a_connection_made_there_carries_bytes_both_ways_and_its_end() {
    let dir = tempfile::tempdir().expect("tmp");
    let path = dir.path().join("s");
    let listener = UnixListener::bind(&path).expect("a socket");
    // More than the window, so that both sides have to wait for each other.
    let echo = std::thread::spawn(move || {
        let (mut server, _) = listener.accept().expect("a client");
        let mut all = vec![0; 3 << 20];
        server.read_exact(&mut all).expect("all of it");
        server.write_all(&all).expect("the client reads");
    });
    let remote = remote();
    let made = remote.dial(DialTarget::Unix((&*path).into()), false, ANSWER_MAX).expect("it listens");
    assert_eq!((made.local, made.peer), (None, None));
    let mut client = UnixStream::from(made.fd);
    let sent: Vec<u8> = (0u8..251).cycle().take(3 << 20).collect();
    let mut writer = client.try_clone().expect("a descriptor");
    let all = sent.clone();
    let writing = std::thread::spawn(move || writer.write_all(&all).expect("it is read"));
    let mut back = Vec::new();
    client.read_to_end(&mut back).expect("its end comes too");
    assert!(back == sent, "{} bytes came back", back.len());
    writing.join().expect("it ends");
    echo.join().expect("it ends");
}

/// A server speaks first, and on a busy machine before the answer was written.
#[test]
fn what_a_server_says_at_once_is_never_lost() {
    let dir = tempfile::tempdir().expect("tmp");
    let path = dir.path().join("s");
    let listener = UnixListener::bind(&path).expect("a socket");
    let rounds = 300;
    let greets = std::thread::spawn(move || {
        for _ in 0..rounds {
            let (mut server, _) = listener.accept().expect("a client");
            server.write_all(b"hello").expect("the client is there");
        }
    });
    let remote = remote();
    for _ in 0..rounds {
        let made = remote.dial(DialTarget::Unix((&*path).into()), false, ANSWER_MAX).expect("it listens");
        let mut client = UnixStream::from(made.fd);
        client.set_read_timeout(Some(ANSWER_MAX)).expect("a socket");
        let mut greeting = [0; 5];
        client.read_exact(&mut greeting).expect("the greeting comes");
    }
    greets.join().expect("it ends");
}

#[test]
fn a_refused_connection_is_an_error_of_there_and_only_own_addresses_can_be_asked_for() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    let remote = remote();
    let to = |host: &str| DialTarget::Tcp { host: host.into(), port: free.port() };
    let error = remote.dial(to("127.0.0.1"), true, ANSWER_MAX).expect_err("nobody listens");
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    // TEST-NET-1 of RFC 5737 is nobody's.
    let error = remote.dial(to("192.0.2.1"), true, ANSWER_MAX).expect_err("not ours").to_string();
    assert!(error.contains("not an address of that machine"), "{error}");
}

#[test]
fn a_lock_there_is_let_go_when_it_is_dropped_and_when_the_agent_ends() {
    let dir = tempfile::tempdir().expect("tmp");
    let path = dir.path().join("lock");
    let is_free = || Local.lock(&path, Duration::from_secs(20)).is_ok();
    let remote = remote();
    let held = remote.lock(&path, ANSWER_MAX).expect("it is free");
    assert!(Local.lock(&path, Duration::ZERO).is_err(), "it is held");
    drop(held);
    assert!(is_free());
    let connection = agent(AgentMode::Write);
    let request = Request::Lock { path: (&*path).into(), at_most_ms: 20_000 };
    let reply = connection.call(request, Vec::new(), ANSWER_MAX).expect("an answer");
    assert!(matches!(reply.answer, Answer::Locked { .. }), "{:?}", reply.answer);
    assert!(Local.lock(&path, Duration::ZERO).is_err(), "it is held");
    drop(connection);
    assert!(is_free());
}

#[test]
fn words_reach_the_far_shell_as_they_are() {
    let target = SshTarget {
        ssh: vec!["ssh".into(), "-F".into(), "/tmp/a b".into()],
        destination: "db1".into(),
        become_root: vec![],
        agent: AgentProgram::Installed("/opt/it's here/sealion".into()),
    };
    let words = target.command(Path::new("/opt/it's here/sealion"), AgentMode::Read);
    assert_eq!(words.last().expect("words"), r"exec '/opt/it'\''s here/sealion' agent --read");
    let at = words.iter().position(|word| word == "--").expect("options end");
    assert_eq!(words.get(at + 1).map(String::as_str), Some("db1"));
    // A newcomer was told to test another way than the one that failed.
    assert_eq!(target.tried_by_hand(), "ssh -F '/tmp/a b' db1 true");
}

#[test]
fn modes_of_files_are_those_that_were_asked_for() {
    let dir = tempfile::tempdir().expect("tmp");
    let path = dir.path().join("key");
    remote().write(&path, b"secret", Some(0o600), None).expect("writable");
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
}
