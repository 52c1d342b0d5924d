//! `sealion bench run --lab`: experiments on servers that are made for them, and end with them.
#![allow(clippy::unwrap_used)]

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde_json::Value;
use testbed::real::sealion;

/// Its own temporary directory, so that what is left behind is seen.
fn command(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(sealion());
    command
        .args(["--format", "json", "bench", "run", "--no-store"])
        .args(words)
        .env("TMPDIR", home)
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Command lines of processes that have this directory in them, or in their environment.
fn processes_in(home: &Path) -> Vec<String> {
    pids_in(home).into_iter().map(|(_, line)| line).collect()
}

fn pids_in(home: &Path) -> Vec<(i32, String)> {
    let wanted = home.to_string_lossy().into_owned();
    let text = |process: &Path, name: &str| {
        let bytes = std::fs::read(process.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    };
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let line = text(&process.path(), "cmdline");
        // A process that has ended and waits for its parent has neither.
        if line.contains(&wanted) || text(&process.path(), "environ").contains(&wanted) {
            found.push((pid, line));
        }
    }
    found
}

fn nothing_is_left(home: &Path) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let files: Vec<_> = std::fs::read_dir(home).unwrap().flatten().map(|entry| entry.path()).collect();
        let processes = processes_in(home);
        if files.is_empty() && processes.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left behind: {files:?} {processes:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The report of a run whose figures need not be usable: other tests run beside it.
fn measured(said: &Output) -> Value {
    assert!(matches!(said.status.code(), Some(0 | 7)), "{said:?}");
    serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"))
}

fn run(experiment: &str) -> Value {
    run_as(experiment, experiment)
}

/// `word` is the name, or a file.
fn run_as(word: &str, experiment: &str) -> Value {
    let home = tempfile::tempdir().unwrap();
    let said = command(home.path(), &[word, "--lab", "--quick"]).output().unwrap();
    let report = measured(&said);
    nothing_is_left(home.path());
    assert_eq!(report["experiment"], experiment);
    for level in report["levels"].as_array().unwrap() {
        // On a busy machine a server may be silent at the end of a trial: its block is left out, and that is told.
        let blocks = level["blocks"].as_u64().unwrap();
        assert!(blocks <= 3, "{report:#}");
        assert!(blocks == 3 || !report["why_not"].as_array().unwrap().is_empty(), "{report:#}");
        for comparison in level["comparisons"].as_array().unwrap() {
            // Three short trials say nothing with an interval.
            assert!(comparison["differs"].is_null() && comparison["low"].is_null(), "{comparison:#}");
        }
    }
    report
}

fn arm<'a>(report: &'a Value, name: &str) -> &'a Value {
    let arms = report["levels"][0]["arms"].as_array().unwrap();
    arms.iter().find(|arm| arm["name"] == name).unwrap_or_else(|| panic!("{name}: {report:#}"))
}

#[test]
fn sessions_are_resumed_and_a_delay_is_kept() {
    let report = run("reconnect");
    let whys = report["why_not"].as_array().unwrap();
    assert!(!whys.iter().any(|why| why.as_str().unwrap().contains("did not resume a session")), "{report:#}");
    assert_eq!(arm(&report, "cleartext")["tls"], Value::Null);
    assert_eq!(arm(&report, "resumed, rustls")["tls"]["version"], "TLSv1.3");
    let resumed = |name: &str| {
        let samples = arm(&report, name)["samples"].as_array().unwrap();
        samples.iter().map(|trial| trial["resumed"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert!(resumed("resumed, rustls").iter().all(|count| *count > 0), "{report:#}");
    assert!(resumed("TLS, rustls").iter().all(|count| *count == 0), "{report:#}");
    for how in ["resumed", "resumed by id"] {
        let name = format!("TLS 1.2 {how}, rustls");
        assert_eq!(arm(&report, &name)["tls"]["version"], "TLSv1.2");
        assert!(resumed(&name).iter().all(|count| *count > 0), "{report:#}");
    }
    assert!(resumed("TLS 1.2, rustls").iter().all(|count| *count == 0), "{report:#}");
    // SYN, SYN-ACK, ACK, greeting, login and its answer: six times 5 ms, and one round trip more for TLS 1.3.
    for (name, ms) in
        [("5 ms: cleartext", 30.0), ("5 ms: TLS, OpenSSL", 40.0), ("5 ms: resumed, rustls", 40.0)]
    {
        let per_s = arm(&report, name)["mean"].as_f64().unwrap();
        assert!(per_s > 0.0 && per_s <= 1000.0 / ms, "{name}: {per_s}");
    }
}

#[test]
fn what_is_to_be_encrypted_in_files_is_and_the_rest_is_not() {
    // The lab looks for a word that it wrote in tables, redo log and binary log of each server, and fails otherwise.
    let report = run("at-rest");
    assert_eq!(report["levels"][0]["arms"].as_array().unwrap().len(), 5);
}

#[test]
fn galera_is_measured_with_and_without_tls_between_its_nodes() {
    // The lab does a handshake with the Galera port of each node, and fails where it speaks otherwise than it was to.
    let report = run("galera-write");
    assert_eq!(report["levels"][0]["arms"].as_array().unwrap().len(), 2);
    assert!(report["published"]["source"].as_str().unwrap().contains("2014"));
}

/// No option, status or log says what a link of theirs is.
#[test]
fn what_chance_made_of_the_links_of_dynamic_nodes_is_seen_and_told() {
    let report = run("galera-dynamic");
    assert_eq!(report["levels"][0]["arms"].as_array().unwrap().len(), 3);
    let told: Vec<&str> =
        report["links"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    let [told] = told[..] else { panic!("{report:#}") };
    let links: Vec<&str> =
        told.strip_prefix("socket.dynamic: ").unwrap_or_else(|| panic!("{told}")).split(", ").collect();
    for (link, ends) in links.iter().zip(["n1-n2 ", "n1-n3 ", "n2-n3 "]) {
        let what = link.strip_prefix(ends).unwrap_or_else(|| panic!("{told}"));
        assert!(["TLS", "cleartext"].contains(&what), "{told}");
    }
    assert_eq!(links.len(), 3, "{told}");
}

#[test]
fn a_tunnel_and_a_floor_are_measured() {
    let report = run("tunnels-connect");
    assert_eq!(arm(&report, "TLS of the server")["tls"]["version"], "TLSv1.3");
    let stunnel = arm(&report, "stunnel");
    // The server at its far end is spoken to in cleartext, and its time counts, with that of both ends of the tunnel.
    assert_eq!(stunnel["tls"], Value::Null);
    assert!(
        stunnel["server_cpu_us_per_query"].as_f64().unwrap()
            > arm(&report, "cleartext")["server_cpu_us_per_query"].as_f64().unwrap(),
        "{report:#}"
    );
    no_vpn_is_missing(&report);
    for name in ["OpenVPN", "WireGuard"].into_iter().filter(|_| may_make_tunnels()) {
        assert_eq!(arm(&report, name)["tls"], Value::Null);
        assert!(
            arm(&report, name)["server_cpu_us_per_query"].as_f64().unwrap()
                > arm(&report, "cleartext")["server_cpu_us_per_query"].as_f64().unwrap(),
            "{report:#}"
        );
    }
    let report = run("floor");
    assert_eq!(arm(&report, "TLS and an echo")["tls"], arm(&report, "MySQL by TLS")["tls"]);
}

/// On most machines every user may (mode 0666); on some nobody but root.
fn may_make_tunnels() -> bool {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    !opened.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

fn no_vpn_is_missing(report: &Value) {
    let left_out = report["left_out"].to_string();
    if !may_make_tunnels() {
        let said = left_out.matches("cannot open /dev/net/tun: Permission denied").count();
        assert_eq!(said, 2, "{left_out}");
        return;
    }
    assert!(
        !left_out.contains("VPN") && !left_out.contains("WireGuard"),
        "scripts/setup.sh tools: {left_out}"
    );
}

/// What has gone through a device of a process's network, both ways.
fn device_bytes(pid: i32, device: &str) -> Option<u64> {
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/dev")).ok()?;
    let row = table.lines().find_map(|row| row.trim().strip_prefix(&format!("{device}:")))?;
    let columns: Vec<u64> = row.split_whitespace().map(|column| column.parse().unwrap()).collect();
    Some(columns[0] + columns[8])
}

/// Beyond what the lab sends to see whether a VPN carries anything.
const AT_WORK_BYTES: u64 = 200_000;

/// A lab with both VPNs, when each of them has carried connections.
fn vpns_at_work(home: &Path) -> Child {
    let mut child = command(home, &["tunnels-connect", "--lab"]).process_group(0).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    for (program, client_end) in [("openvpn", "client.conf"), ("wireguard-go", "--foreground inner ")] {
        loop {
            assert!(
                child.try_wait().unwrap().is_none() && Instant::now() < deadline,
                "scripts/setup.sh tools"
            );
            let ends = pids_in(home);
            let mut ends =
                ends.iter().filter(|(_, line)| line.contains(program) && line.contains(client_end));
            if let Some((pid, _)) = ends.next()
                && let Some(inner_bytes) = device_bytes(*pid, "inner")
                && inner_bytes > AT_WORK_BYTES
            {
                // All of it went over the network below, with what the VPN adds.
                let outer_bytes = device_bytes(*pid, "outer").unwrap();
                assert!(outer_bytes > inner_bytes, "{program}: {outer_bytes} {inner_bytes}");
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    child
}

#[test]
fn vpns_carry_the_load_and_end_early_with_nothing_left() {
    if !may_make_tunnels() {
        eprintln!("not tried: this user may not open /dev/net/tun; the experiments above say so");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let child = vpns_at_work(home.path());
    // As a terminal does it: to the whole group.
    killpg(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let said = child.wait_with_output().unwrap();
    assert_eq!(said.status.code(), Some(7), "{said:?}");
    nothing_is_left(home.path());
}

#[test]
fn vpns_end_when_sealion_is_killed() {
    if !may_make_tunnels() {
        eprintln!("not tried: this user may not open /dev/net/tun; the experiments above say so");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let mut child = vpns_at_work(home.path());
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !processes_in(home.path()).is_empty() {
        assert!(Instant::now() < deadline, "left behind: {:?}", processes_in(home.path()));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_vpn_that_is_not_installed_is_left_out_with_its_reason() {
    let place = tempfile::tempdir().unwrap();
    // All that is installed, but for one program.
    let programs = place.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    for program in std::fs::read_dir("/usr/bin").unwrap().flatten() {
        if program.file_name() != "wireguard-go" {
            std::os::unix::fs::symlink(program.path(), programs.join(program.file_name())).unwrap();
        }
    }
    let file = place.path().join("mine.toml");
    let text = "workload = \"connect\"\n[[arm]]\nname = \"a\"\nssl-mode = \"DISABLED\"\n\
                [[arm]]\nname = \"b\"\n[[arm]]\nname = \"c\"\ntunnel = \"wireguard\"\n";
    std::fs::write(&file, text).unwrap();
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path(), &[file.to_str().unwrap(), "--lab", "--quick"]);
    let report = measured(&command.env("PATH", &programs).output().unwrap());
    let left_out = report["left_out"].to_string();
    assert!(left_out.contains("c: there is no wireguard-go: it is not installed"), "{left_out}");
    assert_eq!(report["levels"][0]["arms"].as_array().unwrap().len(), 2);
    nothing_is_left(home.path());
}

#[test]
fn chains_are_sent_and_checked_and_a_client_may_have_a_certificate() {
    // Every connection of these arms fails unless the server sends what stands between its certificate and the CA's.
    let report = run("chain");
    assert_eq!(report["levels"][0]["arms"].as_array().unwrap().len(), 3);
    let report = run("verify");
    for name in ["nothing checked", "chain", "chain and name", "and a client's certificate"] {
        assert_eq!(arm(&report, name)["tls"]["version"], "TLSv1.3", "{name}");
    }
    let client = |name: &str| arm(&report, name)["client_cpu_us_per_query"].as_f64().unwrap();
    let store = "nothing, but the system's CAs are read";
    assert_eq!(report["left_out"], serde_json::json!([]), "scripts/setup.sh tools brings ca-certificates");
    assert!(client(store) > 2.0 * client("nothing checked"), "{report:#}");
}

#[test]
fn a_server_without_the_processors_help_spends_more_on_aes() {
    let report = run("aes");
    let server = |name: &str| arm(&report, name)["server_cpu_us_per_query"].as_f64().unwrap();
    assert!(server("AES-256-GCM without AES-NI") > server("AES-256-GCM"), "{report:#}");
    assert_eq!(
        arm(&report, "ChaCha20-Poly1305 without AES-NI")["tls"]["cipher"],
        "TLS_CHACHA20_POLY1305_SHA256"
    );
}

#[test]
fn a_thin_line_carries_no_more_than_it_says() {
    let report = run("bandwidth");
    for (name, mbit) in [("1000 Mbit/s, TLS", 1000.0), ("100 Mbit/s", 100.0), ("100 Mbit/s, TLS", 100.0)] {
        for trial in arm(&report, name)["samples"].as_array().unwrap() {
            let of = |field: &str| trial[field].as_f64().unwrap();
            let per_s = of("received_bytes") / of("measured_s");
            // What was on the line when it began comes on top: some of the server's and the relay's buffers.
            assert!(per_s < mbit * 1e6 / 8.0 * 1.5, "{name}: {per_s} B/s");
        }
    }
}

#[test]
fn a_server_with_another_openssl_stands_beside_the_first() {
    let report = run("openssl");
    for name in ["10.11, OpenSSL 3.0", "11.8, OpenSSL 3.5"] {
        assert_eq!(arm(&report, name)["tls"]["version"], "TLSv1.3", "{report:#}");
    }
    let versions = report["server_version"].as_str().unwrap();
    assert!(versions.contains("10.11.") && versions.contains("11.8."), "{versions}");
    // Whether the library here has ML-KEM is how it was built; if not, it says so.
    let left_out = report["left_out"].as_array().unwrap();
    assert!(left_out.iter().all(|why| why.as_str().unwrap().contains("X25519MLKEM768")), "{report:#}");
}

#[test]
fn state_transfers_are_watched_and_measured() {
    let home = tempfile::tempdir().unwrap();
    let report = measured(&command(home.path(), &["sst", "--lab", "--blocks", "1"]).output().unwrap());
    nothing_is_left(home.path());
    assert!(report["left_out"].as_array().unwrap().is_empty(), "{report:#}");
    for name in ["rsync", "rsync, TLS", "mariabackup", "mariabackup, TLS"] {
        let [trial] = arm(&report, name)["samples"].as_array().unwrap().as_slice() else {
            panic!("{report:#}")
        };
        assert_eq!((&trial["events"], &trial["errors"]), (&Value::from(1), &Value::from(0)), "{report:#}");
        // A server's start alone takes longer.
        assert!(trial["server_cpu_us_per_query"].as_f64().unwrap() > 100_000.0, "{report:#}");
    }
}

/// An experiment with these arms, each a program, a cipher and more lines of the file.
fn copies(home: &Path, arms: &[(&str, &str, &str)]) -> std::path::PathBuf {
    let rows = arms.iter().enumerate().map(|(at, (tool, cipher, more))| {
        format!("[[arm]]\nname = \"{at} {tool}\"\ncopy = \"{tool}\"\ncipher = \"{cipher}\"\n{more}\n")
    });
    let file = home.join("copies.toml");
    std::fs::write(&file, "workload = \"copy\"\n".to_owned() + &rows.collect::<String>()).unwrap();
    file
}

/// The lab compares each copy with its source, and a relay looks at one of each arm: a text of the donor has to pass in cleartext, or each
/// connection has to be TLS with the arm's cipher. An arm of which one of these is not so is left out.
#[test]
fn copies_are_whole_and_encrypted_as_their_arms_say() {
    let place = tempfile::tempdir().unwrap();
    let arms = [
        ("mariabackup", "aes256", ""),
        ("tar", "none", ""),
        ("rsync", "chacha20", "aes-ni = false"),
        ("sealion-live", "aes128", "delay-ms = 2\nmbit-per-s = 800"),
    ];
    let file = copies(place.path(), &arms);
    let home = tempfile::tempdir().unwrap();
    let said = command(home.path(), &[file.to_str().unwrap(), "--lab", "--quick"]).output().unwrap();
    let report = measured(&said);
    nothing_is_left(home.path());
    assert!(report["left_out"].as_array().unwrap().is_empty(), "{report:#}");
    let tls = |name: &str| {
        let tls = &arm(&report, name)["tls"];
        (tls["version"].as_str().unwrap_or_default(), tls["cipher"].as_str().unwrap_or_default())
    };
    assert_eq!(arm(&report, "1 tar")["tls"], Value::Null);
    assert_eq!(tls("0 mariabackup"), ("TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"));
    assert_eq!(tls("2 rsync"), ("TLSv1.2", "ECDHE-ECDSA-CHACHA20-POLY1305"));
    assert_eq!(tls("3 sealion-live"), ("TLSv1.3", "TLS_AES_128_GCM_SHA256"));
    for (at, (tool, _, _)) in arms.iter().enumerate() {
        let arm = arm(&report, &format!("{at} {tool}"));
        let copy = &arm["copy"];
        let figure = |name: &str| copy[name].as_f64();
        // The rows alone are 48 MB.
        assert!(figure("bytes") > Some(48e6) && figure("cpu_s_per_gb") > Some(0.1), "{arm:#}");
        let is_live = ["mariabackup", "sealion-live"].contains(tool);
        assert_eq!(copy["is_of_running_donor"], is_live);
        assert_eq!(figure("donor_rows_per_s").is_some(), is_live, "{arm:#}");
        assert!(figure("donor_rows_alone_per_s") > Some(1.0), "{arm:#}");
    }
    // A line carries no more than it says, but for what compression saves.
    let rate = arm(&report, "3 sealion-live")["copy"]["bytes_per_s"].as_f64().unwrap();
    assert!(rate < 2.5 * 100e6, "{rate}");
}

#[test]
fn a_copy_that_is_damaged_is_refused_and_named() {
    let place = tempfile::tempdir().unwrap();
    let programs = place.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    // It extracts all, and then one byte of a table is another.
    let tar = ["/usr/bin/tar", "/bin/tar"].map(Path::new).into_iter().find(|path| path.is_file()).unwrap();
    let text = format!(
        "#!/bin/sh\n{} \"$@\" || exit\ncase $1 in xf) printf X | dd of=into/sealion_bench/t1.ibd bs=1 seek=5000000 conv=notrunc 2>/dev/null;; esac\n",
        tar.display()
    );
    std::fs::write(programs.join("tar"), text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(programs.join("tar"), mode).unwrap();
    let file = copies(
        place.path(),
        &[("tar", "none", ""), ("sealion", "default", ""), ("sealion", "aes256", "against = \"1 sealion\"")],
    );
    let home = tempfile::tempdir().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = command(home.path(), &[file.to_str().unwrap(), "--lab", "--quick"]);
    let report = measured(&command.env("PATH", path).output().unwrap());
    nothing_is_left(home.path());
    let left_out = report["left_out"].to_string();
    assert!(left_out.contains("0 tar: a copy by tar and socat, cleartext is not whole"), "{left_out}");
    assert!(left_out.contains("sealion_bench/t1.ibd has other bytes than its source"), "{left_out}");
    assert_eq!(report["levels"][0]["arms"].as_array().unwrap().len(), 2, "{report:#}");
}

#[test]
fn a_copy_that_is_interrupted_leaves_no_program() {
    let place = tempfile::tempdir().unwrap();
    // A line on which a copy takes a minute.
    let arms = [("sealion-live", "default", "mbit-per-s = 20"), ("mariabackup", "none", "mbit-per-s = 20")];
    let file = copies(place.path(), &arms);
    let home = tempfile::tempdir().unwrap();
    let child = command(home.path(), &[file.to_str().unwrap(), "--lab", "--quick"]).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    let is_copied = |line: &String| line.contains("--from-command");
    while !processes_in(home.path()).iter().any(is_copied) {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let said = child.wait_with_output().unwrap();
    nothing_is_left(home.path());
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.code() == Some(3) && text.contains("nothing was measured"), "{said:?}");
}

/// What passes is watched before anything is measured: a word of the source in cleartext, or not at all, and then in the replica.
#[test]
fn replication_is_watched_and_measured() {
    let home = tempfile::tempdir().unwrap();
    let report =
        measured(&command(home.path(), &["replication", "--lab", "--blocks", "2"]).output().unwrap());
    nothing_is_left(home.path());
    assert!(report["left_out"].as_array().unwrap().is_empty(), "{report:#}");
    let cpu_us = |name: &str| -> Vec<f64> {
        let samples = arm(&report, name)["samples"].as_array().unwrap();
        samples.iter().map(|trial| trial["server_cpu_us_per_query"].as_f64().unwrap()).collect()
    };
    let (plain, tls) = (cpu_us("cleartext"), cpu_us("TLS"));
    assert_eq!((plain.len(), tls.len()), (2, 2), "{report:#}");
    // The whole log passed each time, at less than 100 GB a second of a processor.
    assert!(plain.iter().chain(&tls).all(|us| *us > 4_000.0), "{report:#}");
}

#[test]
fn an_experiment_of_ones_own_is_run_from_a_file() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("mine.toml");
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    write(
        "workload = \"connect\"\n[[arm]]\nname = \"P-256\"\nssl-mode = \"VERIFY_CA\"\nkey = \"P-256\"\nissuers = 1\n\
         [[arm]]\nname = \"1.2\"\nssl-mode = \"VERIFY_IDENTITY\"\ntls-version = \"TLSv1.2\"\nkey = \"RSA 3072\"\n\
         [[arm]]\nname = \"1536\"\nssl-mode = \"VERIFY_CA\"\nkey = \"RSA 1536\"\n\
         [[arm]]\nname = \"tunnel to one\"\ntunnel = \"stunnel\"\nssl-mode = \"VERIFY_CA\"\nkey = \"P-256\"\n\
         [[arm]]\nname = \"tunnel to the other\"\ntunnel = \"stunnel\"\nssl-mode = \"VERIFY_CA\"\nkey = \"P-384\"\n\
         [[arm]]\nname = \"VPN to one\"\ntunnel = \"openvpn\"\nssl-mode = \"VERIFY_IDENTITY\"\nkey = \"P-256\"\n\
         [[arm]]\nname = \"VPN to the other\"\ntunnel = \"wireguard\"\nssl-mode = \"VERIFY_IDENTITY\"\nkey = \"P-384\"\n",
    );
    let report = run_as(file.to_str().unwrap(), "mine");
    assert_eq!(report["unit"], "events/s");
    assert_eq!(arm(&report, "P-256")["tls"]["version"], "TLSv1.3");
    assert_eq!(arm(&report, "1.2")["tls"]["version"], "TLSv1.2");
    // Each server has a CA of its own, so each tunnel leads to its own server.
    no_vpn_is_missing(&report);
    let all = ["1536", "tunnel to one", "tunnel to the other", "VPN to one", "VPN to the other"];
    for name in all.into_iter().filter(|name| !name.contains("VPN") || may_make_tunnels()) {
        assert!(arm(&report, name)["mean"].as_f64().unwrap() > 0.0, "{name}: {report:#}");
    }

    write("workload = \"connect\"\n[[arm]]\nname = \"a\"\nssl-mod = \"REQUIRED\"\n");
    let said = command(place.path(), &[file.to_str().unwrap(), "--lab"]).output().unwrap();
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.code() == Some(2) && text.contains("line 4") && text.contains("ssl-mod"), "{said:?}");
    let said = command(place.path(), &["tls", "--lab", "--ssl-mode", "REQUIRED"]).output().unwrap();
    assert_eq!(said.status.code(), Some(2), "{said:?}");
}

#[test]
fn ended_early_it_says_so_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let child = command(home.path(), &["floor", "--lab"]).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    // Its server runs, and so do the trials a moment later.
    while !processes_in(home.path()).iter().any(|line| line.contains("__echo")) {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs(4));
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let said = child.wait_with_output().unwrap();
    nothing_is_left(home.path());
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    // On a busy machine it has not come to its first trial by then.
    if said.status.code() == Some(3) && text.contains("nothing was measured") {
        return;
    }
    assert_eq!(said.status.code(), Some(7), "{said:?}");
    let report = measured(&said);
    assert_eq!(report["is_usable"], false);
    let whys = report["why_not"].to_string();
    assert!(whys.contains("interrupted"), "{whys}");
}

#[test]
fn ended_while_a_node_joins_it_says_so_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let child = command(home.path(), &["galera-write", "--lab"]).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    // The second node of a cluster joins by a transfer from the first.
    while !processes_in(home.path()).iter().any(|line| line.contains("wsrep_sst_") && line.contains("joiner"))
    {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    let said = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.code() == Some(3) && text.contains("nothing was measured"), "{said:?}");
    nothing_is_left(home.path());
}

#[test]
#[ignore = "some ten minutes; make deep"]
fn every_experiment_runs_in_one_command() {
    let home = tempfile::tempdir().unwrap();
    let reports = measured(&command(home.path(), &["all", "--lab", "--quick"]).output().unwrap());
    nothing_is_left(home.path());
    let names: Vec<&str> =
        reports.as_array().unwrap().iter().map(|report| report["experiment"].as_str().unwrap()).collect();
    for wanted in [
        "aa",
        "pool",
        "connect",
        "reconnect",
        "aes",
        "verify",
        "chain",
        "tunnels",
        "floor",
        "galera-mixed",
        "galera-dynamic",
        "wan",
        "sst",
        "replication",
        "openssl",
        "bandwidth",
        "at-rest-scan",
    ] {
        assert!(names.contains(&wanted), "{names:?}");
    }
}
