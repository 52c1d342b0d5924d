//! `sealion scan` as it is typed: what is written where, and how it ends. Servers are byte-level, on loopback.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// A greeting of MariaDB without TLS: SL1101 fails, which is critical or high.
fn greeting() -> Vec<u8> {
    let mut payload = b"\x0a5.5.5-10.11.19-MariaDB\0\x07\0\0\0AAAAAAAA\0".to_vec();
    // Capabilities 4.1 and secure connection, character set, status, no plugin.
    payload.extend_from_slice(&[0x00, 0x82, 8, 2, 0, 0, 0, 21]);
    payload.extend_from_slice(&[0; 10]);
    payload.extend_from_slice(b"BBBBBBBBBBBB\0");
    let mut packet = vec![u8::try_from(payload.len()).unwrap(), 0, 0, 0];
    packet.extend_from_slice(&payload);
    packet
}

/// Greets everybody; says on the channel who came, and waits for leave where there is somebody to ask.
fn server(came: Sender<SocketAddr>, leave: Option<Receiver<()>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = came.send(address);
            if let Some(leave) = &leave {
                let _ = leave.recv();
            }
            let _ = stream.write_all(&greeting());
            let _ = stream.read(&mut [0; 64]);
        }
    });
    address
}

fn sealion(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealion"));
    command
        .arg("scan")
        .args(arguments)
        .current_dir(directory)
        .env_remove("SEALION_INVENTORY")
        .env("XDG_STATE_HOME", directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = sealion(directory, arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
}

fn result(directory: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(directory.join(name)).unwrap()).unwrap()
}

fn targets(result: &Value) -> Vec<String> {
    let mut found: Vec<String> = result["targets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["target"].as_str().unwrap().to_owned())
        .collect();
    found.sort();
    found
}

#[test]
fn ctrl_c_leaves_a_result_that_resume_completes() {
    let directory = tempfile::tempdir().unwrap();
    let (came, who) = channel();
    let gates: [_; 4] = std::array::from_fn(|_| channel());
    let (go, leave): (Vec<_>, Vec<_>) = gates.into_iter().unzip();
    let mut leave = leave.into_iter();
    let addresses: [_; 4] = std::array::from_fn(|_| server(came.clone(), leave.next()));
    let words = addresses.map(|address| address.to_string());
    std::fs::write(directory.path().join("targets"), words.join("\n")).unwrap();
    // One at a time, in whatever order their names were looked up: the second one is held until the signal is sent.
    let mut child: Child = sealion(
        directory.path(),
        &[
            "--first",
            "--at-once",
            "1",
            "--timeout-ms",
            "60000",
            "--targets-file",
            "targets",
            "--out",
            "r.json",
        ],
    )
    .spawn()
    .unwrap();
    let gate = |of: SocketAddr| &go[addresses.iter().position(|address| *address == of).unwrap()];
    let first = who.recv().unwrap();
    gate(first).send(()).unwrap();
    let second = who.recv().unwrap();
    assert_ne!(first, second);
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
    // The handler speaks after it has set its flag.
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("press Ctrl-C again to stop at once") {
        assert!(errors.read_line(&mut said).unwrap() > 0, "it ended without a word: {said}");
    }
    gate(second).send(()).unwrap();
    errors.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{said}");
    assert!(said.contains("--resume r.json"), "{said}");
    let partial = result(directory.path(), "r.json");
    assert_eq!(partial["is_complete"], false);
    let seen = targets(&partial);
    assert!((1..4).contains(&seen.len()), "{seen:?}");
    // From here on nobody is held.
    for _ in 0..8 {
        for gate in &go {
            gate.send(()).unwrap();
        }
    }
    let (code, said) = run(directory.path(), &["--resume", "r.json", "--out", "r.json", "--html", "r.html"]);
    assert_eq!(code, Some(0), "{said}");
    let whole = result(directory.path(), "r.json");
    let mut expected = words.to_vec();
    expected.sort();
    assert_eq!(
        (targets(&whole), &whole["is_complete"], &whole["depth"]),
        (expected, &true.into(), &"first".into())
    );
    let page = std::fs::read_to_string(directory.path().join("r.html")).unwrap();
    assert!(words.iter().all(|word| page.contains(word.as_str())));
    for other in [&["--full"][..], &["--ssl-ca", "x.pem"], &["db1"], &["--proxy-protocol", "v1"]] {
        let (code, said) = run(directory.path(), &[&["--resume", "r.json"], other].concat());
        assert_eq!(code, Some(2), "{other:?}: {said}");
    }
}

#[test]
fn a_gate_counts_what_is_new_and_not_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let (came, _who) = channel();
    let target = server(came, None).to_string();
    let check = |arguments: &[&str], expected: i32, part: &str| {
        let (code, said) = run(directory.path(), &[&[target.as_str()], arguments].concat());
        assert_eq!(code, Some(expected), "{arguments:?}: {said}");
        assert!(said.contains(part), "{arguments:?}: {said}");
    };
    check(&[], 0, "SL1101");
    check(&["--fail-on", "medium", "--out", "old.json"], 1, "SL1101");
    check(&["--fail-on", "medium", "--baseline", "old.json"], 0, "no changes since old.json");
    check(&["--first", "--baseline", "old.json"], 2, "the differences would be those of the questions");
    let accept = |until: &str| {
        let table = format!("[[accepted]]\nrule='SL1101'\ntarget='*'\nreason='a museum'\nuntil={until}\n");
        std::fs::write(directory.path().join("sealion.toml"), table).unwrap();
    };
    accept("2999-01-01");
    check(&["--fail-on", "medium"], 0, "accepted until 2999-01-01: a museum");
    accept("2001-01-01");
    check(&["--fail-on", "medium"], 1, "has expired: a museum");
    accept("'soon'");
    check(&[], 2, "line 1");
    std::fs::remove_file(directory.path().join("sealion.toml")).unwrap();
    check(&["--inventory", "none.toml"], 2, "no such file");
    check(&["--out", "no/such/dir.json"], 2, "cannot write");
    check(&["--baseline", "none.json"], 2, "no such file");
    check(&["127.0.0.0/24"], 2, "--authorized-range FILE");
}

/// TLS from the first byte, with a certificate whose texts move cursors, turn lines around and forge rows.
fn evil_server() -> SocketAddr {
    use openssl::asn1::Asn1Time;
    use openssl::ec::{EcGroup, EcKey};
    use openssl::nid::Nid;
    use openssl::pkey::PKey;
    use openssl::ssl::{SslAcceptor, SslMethod};
    use openssl::x509::extension::SubjectAlternativeName;
    use openssl::x509::{X509, X509NameBuilder};

    let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let key = PKey::from_ec_key(EcKey::generate(&curve).unwrap()).unwrap();
    let mut name = X509NameBuilder::new().unwrap();
    name.append_entry_by_text("CN", "x\nFORGED\u{202e}\u{2066}\u{9b}31m").unwrap();
    let name = name.build();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    builder.set_subject_name(&name).unwrap();
    builder.set_issuer_name(&name).unwrap();
    builder.set_not_before(&Asn1Time::from_unix(0).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::days_from_now(30).unwrap()).unwrap();
    builder.set_pubkey(&key).unwrap();
    let mut names = SubjectAlternativeName::new();
    names.dns("a\nFORGED row\r\u{1b}[2J").dns("b\u{202e}\u{2069}\u{85}").dns("127.0.0.1");
    let names = names.build(&builder.x509v3_context(None, None)).unwrap();
    builder.append_extension(names).unwrap();
    builder.sign(&key, openssl::hash::MessageDigest::sha256()).unwrap();
    let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).unwrap();
    acceptor.set_private_key(&key).unwrap();
    acceptor.set_certificate(&builder.build()).unwrap();
    let acceptor = acceptor.build();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let acceptor = acceptor.clone();
            thread::spawn(move || drop(acceptor.accept(stream)));
        }
    });
    address
}

#[test]
fn texts_of_a_certificate_forge_nothing_in_any_form() {
    let directory = tempfile::tempdir().unwrap();
    let server = evil_server().to_string();
    for format in ["table", "json", "csv", "html", "sarif", "junit", "prometheus"] {
        let (code, text) = run(directory.path(), &["--first", &server, "--format", format]);
        assert_eq!(code, Some(0), "{text}");
        for raw in ["\nFORGED", "\u{1b}[2J", "row\r", "\u{202e}", "\u{2066}", "\u{2069}", "\u{85}", "\u{9b}"]
        {
            assert!(!text.contains(raw), "{format} has {raw:?}: {text}");
        }
        if matches!(format, "table" | "json" | "csv" | "html") {
            assert!(text.contains("FORGED") && text.contains("u{202e}"), "{format}: {text}");
        }
        if format == "json" {
            let result: Value = serde_json::from_str(&text).unwrap();
            let leaf = &result["targets"][0]["tls"]["chains"][0][0];
            assert_eq!(leaf["dns"][0], "a\\nFORGED row\\r\\u{1b}[2J");
            assert_eq!(leaf["subject"], "CN=x\\nFORGED\\u{202e}\\u{2066}\\u{9b}31m");
            // The name that fits still fits, for those who take an address as a DNS name.
            let names = result["targets"][0]["tls"]["names"].as_array().unwrap();
            assert!(names.iter().any(|one| one["takes"] == true), "{names:?}");
        }
    }
}

/// As an address that is no loopback address, so that its connections are counted.
fn counted(address: SocketAddr) -> String {
    format!("0.0.0.0:{}", address.port())
}

fn spent(directory: &Path) -> Option<u64> {
    let bytes = std::fs::read(directory.join("sealion/connections.json")).ok()?;
    let kept: Value = serde_json::from_slice(&bytes).unwrap();
    kept["0.0.0.0"]["connections"].as_u64()
}

#[test]
fn a_scan_that_was_killed_has_kept_what_it_knew() {
    let directory = tempfile::tempdir().unwrap();
    let (came, _who) = channel();
    let (go, leave) = channel();
    let quick = server(came.clone(), None).to_string();
    let slow = server(came, Some(leave)).to_string();
    let words = ["--first", "--at-once", "1", "--timeout-ms", "60000", &quick, &slow, "--out", "r.json"];
    let mut child = sealion(directory.path(), &words).spawn().unwrap();
    while !directory.path().join("r.json").exists() {
        thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let partial = result(directory.path(), "r.json");
    assert_eq!((&partial["is_complete"], partial["targets"].as_array().unwrap().len()), (&false.into(), 1));
    assert_eq!(partial["targets"][0]["target"], quick);
    go.send(()).unwrap();
    let words = ["--at-once", "1", "--resume", "r.json", "--out", "r.json"];
    let ended = sealion(directory.path(), &words).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let whole = result(directory.path(), "r.json");
    assert_eq!((&whole["is_complete"], whole["targets"].as_array().unwrap().len()), (&true.into(), 2));
}

#[test]
fn connections_are_kept_however_a_scan_ends() {
    let (came, who) = channel();
    let (_go, leave) = channel();
    let target = counted(server(came, Some(leave)));
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let directory = tempfile::tempdir().unwrap();
        let mut child =
            sealion(directory.path(), &["--first", "--timeout-ms", "60000", &target]).spawn().unwrap();
        if signal == Signal::SIGKILL {
            // Kept while it runs.
            while spent(directory.path()).is_none() {
                thread::sleep(std::time::Duration::from_millis(20));
            }
        } else {
            who.recv().unwrap();
        }
        let began = std::time::Instant::now();
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
        let code = child.wait().unwrap().code();
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
        assert_eq!(spent(directory.path()), Some(1), "{signal}");
        assert_eq!(code, (signal == Signal::SIGINT).then_some(3));
    }
}

#[test]
fn a_closed_pipe_and_a_full_disk_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (came, _who) = channel();
    let target = counted(server(came, None));
    let mut child = sealion(directory.path(), &["--first", &target, "--out", "r.json"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(result(directory.path(), "r.json")["is_complete"], true);
    let before = spent(directory.path()).unwrap();
    let mut child = sealion(directory.path(), &["--first", &target]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(spent(directory.path()).unwrap() > before);
    for format in ["table", "json"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = sealion(directory.path(), &["--first", &target, "--format", format])
            .stdout(full)
            .output()
            .unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains("cannot print the result") && !said.contains("fault"), "{said}");
    }
    // Other commands too.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut explain = Command::new(env!("CARGO_BIN_EXE_sealion"));
    let ended = explain.args(["explain", "SL1101"]).stdout(full).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.code() == Some(2) && said.contains("cannot write the output"), "{said}");
    let (code, said) = run(directory.path(), &["--first", &target, "--max-handshakes", "1"]);
    assert!(code == Some(3) && said.contains("--forget-budget"), "{said}");
    let (code, said) =
        run(directory.path(), &["--first", &target, "--max-handshakes", "4", "--forget-budget"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_result_is_written_to_what_is_no_file_and_printed_where_it_cannot_be() {
    use std::os::unix::fs::FileTypeExt;

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (came, _who) = channel();
    let target = server(came, None).to_string();
    let fifo = path.join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let from = fifo.clone();
    let reader = thread::spawn(move || std::fs::read(from).unwrap());
    let (code, said) = run(path, &["--first", &target, "--out", "fifo", "--html", "/dev/null"]);
    assert_eq!(code, Some(0), "{said}");
    let whole: Value = serde_json::from_slice(&reader.join().unwrap()).unwrap();
    assert_eq!(whole["is_complete"], true);
    assert!(fifo.metadata().unwrap().file_type().is_fifo());
    assert!(Path::new("/dev/null").metadata().unwrap().file_type().is_char_device());
    std::os::unix::fs::symlink("a", path.join("b")).unwrap();
    std::fs::write(path.join("a"), "").unwrap();
    for html in ["r.json", "./r.json"] {
        let (code, said) = run(path, &["--first", &target, "--out", "r.json", "--html", html]);
        assert!(code == Some(2) && said.contains("name the same file"), "{said}");
    }
    let (code, said) = run(path, &["--first", &target, "--out", "a", "--html", "b"]);
    assert!(code == Some(2) && said.contains("name the same file"), "{said}");
    // The directory goes away while the scan runs.
    let (came, who) = channel();
    let (go, leave) = channel();
    let target = server(came, Some(leave)).to_string();
    std::fs::create_dir(path.join("gone")).unwrap();
    let mut child = sealion(path, &["--first", &target, "--out", "gone/r.json", "--timeout-ms", "60000"])
        .spawn()
        .unwrap();
    who.recv().unwrap();
    std::fs::remove_dir(path.join("gone")).unwrap();
    for _ in 0..8 {
        go.send(()).unwrap();
    }
    let (mut out, mut said) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2), "{said}");
    assert!(said.contains("cannot write the result to gone/r.json"), "{said}");
    let json = &out[out.find("{\n").unwrap_or_else(|| panic!("no JSON: {out}"))..];
    assert_eq!(serde_json::from_str::<Value>(json).unwrap()["is_complete"], true);
}

/// Turns everybody away, as a server with error 1129 does.
fn blocking_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let payload = b"\xff\x69\x04Host 'x' is blocked";
            let mut packet = vec![u8::try_from(payload.len()).unwrap(), 0, 0, 0];
            packet.extend_from_slice(payload);
            let _ = stream.write_all(&packet);
        }
    });
    address
}

#[test]
fn a_gate_is_not_passed_by_whom_nobody_could_look_at() {
    let directory = tempfile::tempdir().unwrap();
    let (came, _who) = channel();
    let live = server(came, None).to_string();
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let blocked = blocking_server().to_string();
    let table = "[[accepted]]\nrule='SL1101'\ntarget='*'\nreason='a museum'\nuntil=2999-01-01\n";
    std::fs::write(directory.path().join("sealion.toml"), table).unwrap();
    for (targets, expected) in [
        (&[live.as_str()][..], 0),
        (&[&live, &dead], 3),
        (&[&live, &blocked], 3),
        (&[&live, "x.invalid:1"], 3),
    ] {
        let (code, said) = run(directory.path(), &[targets, &["--fail-on", "low"]].concat());
        assert_eq!(code, Some(expected), "{targets:?}: {said}");
        assert_eq!(run(directory.path(), targets).0, Some(0), "{targets:?}");
    }
    // One that was there, and is not now.
    let (came, _who) = channel();
    let mortal = server(came, None).to_string();
    run(directory.path(), &[&live, &mortal, "--out", "then.json"]);
    let then = std::fs::read_to_string(directory.path().join("then.json")).unwrap();
    std::fs::write(directory.path().join("then.json"), then.replace(&mortal, &dead)).unwrap();
    let with = [live.as_str(), &dead, "--baseline", "then.json", "--fail-on", "low"];
    let (code, said) = run(directory.path(), &with);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains(&dead) && said.contains("-> nobody"), "{said}");
}

#[test]
fn targets_come_from_stdin_too() {
    let directory = tempfile::tempdir().unwrap();
    let (came, _who) = channel();
    let target = server(came, None).to_string();
    let mut child = sealion(directory.path(), &["--first", "--targets-file", "-", "--out", "r.json"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(format!("\u{feff}# ours\n{target}\n").as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(targets(&result(directory.path(), "r.json")), [target]);
}
