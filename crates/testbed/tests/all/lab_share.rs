//! `sealion share` of a real table over TLS, through three proxies.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use std::os::unix::fs::PermissionsExt;
use testbed::real::bundled::Bundled;
use testbed::real::{LabSpec, Program, ProgramOutput, RealLab, files_below, lab_slot, seed, wait_for};
use testbed::sim::rng::Rng;

const PORT: u16 = 14_406;
const UP: Duration = Duration::from_secs(20);
/// In every row, and never where it may be read.
const CANARY: &str = "only for the auditor";

struct ProxyProgram {
    program: Program,
    url: String,
    dir: PathBuf,
}

fn proxy(lab: &RealLab, number: u16) -> ProxyProgram {
    let dir = lab.home().join(format!("p{number}"));
    let listen = format!("127.0.0.1:{}", 7440 + number);
    let words =
        ["share", "proxy", "serve", dir.to_str().unwrap(), "--owner", "own/public.json", "--listen", &listen];
    let mut program = lab.start(&words, None);
    assert!(program.says("listening on", UP), "{}", program.stderr());
    // Two pipes: what was said first may be read last.
    let url = wait_for(UP, || {
        program.stdout().lines().find_map(|line| line.strip_prefix("--proxy ")).map(str::to_owned)
    });
    let url = url.unwrap();
    ProxyProgram { program, url, dir }
}

fn open(lab: &RealLab, keys: &str, out: &str) -> ProgramOutput {
    lab.run(&["share", "open", "o.share", "--keys", keys, "--owner", "own/public.json", "--out", out])
}

fn open_again(lab: &RealLab, grant: &str, number: u32) -> bool {
    let out = format!("again{number}.tsv");
    let words = [
        "share",
        "open",
        "o.share",
        "--keys",
        "eve",
        "--owner",
        "own/public.json",
        "--grant",
        grant,
        "--out",
        &out,
    ];
    let said = lab.run(&words);
    assert!(said.code == Some(0) || said.stderr.contains("used up"), "{said}");
    said.code == Some(0)
}

/// The rows as the server itself tells them, escaped as LOAD DATA reads them.
fn expected(server: &Bundled) -> Vec<u8> {
    let rows = server.sql().query("SELECT id, who, raw, note FROM shop.orders WHERE id > 100").unwrap();
    let mut text = b"id\twho\traw\tnote\n".to_vec();
    for row in rows.iter() {
        for at in 0..4 {
            if at > 0 {
                text.push(b'\t');
            }
            match row.bytes_at(at) {
                None => text.extend(b"\\N"),
                Some(cell) => {
                    for byte in cell {
                        match byte {
                            b'\t' => text.extend(b"\\t"),
                            b'\n' => text.extend(b"\\n"),
                            b'\\' => text.extend(b"\\\\"),
                            0 => text.extend(b"\\0"),
                            other => text.push(*other),
                        }
                    }
                }
            }
        }
        text.push(b'\n');
    }
    text
}

fn contains(path: &Path, needle: &[u8]) -> bool {
    memchr::memmem::find(&std::fs::read(path).unwrap(), needle).is_some()
}

#[test]
fn two_of_three_proxies_open_a_table_and_none_after_it_was_revoked() {
    let _slot = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    let server = Bundled::start(&lab, "mariadb-11.8", PORT, &[]);
    server.run(&[
        "CREATE USER share@'%' IDENTIFIED BY 'of the owner' REQUIRE SSL",
        "CREATE DATABASE shop",
        "GRANT SELECT ON shop.* TO share@'%'",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(100) CHARACTER SET utf8mb4, secret INT, raw VARBINARY(40), note TEXT)",
        &format!(
            "INSERT INTO shop.orders SELECT seq, CONCAT('{CANARY} \u{1f600} ', seq, ' \\'\"'), 4711, \
             CONCAT(UNHEX(MD5(seq)), 0x00090A5C0D), IF(seq % 3, NULL, 'a\\tb\\nc\\\\N') FROM mysql.seq_1_to_5000"
        ),
    ]);
    let login = lab.home().join("db.cnf");
    let text = format!(
        "[client]\nuser=share\npassword=of the owner\nhost=localhost\nprotocol=tcp\nport={PORT}\nssl-ca={}\n",
        server.dir.join("cert.pem").display()
    );
    std::fs::write(&login, text).unwrap();
    std::fs::set_permissions(&login, std::fs::Permissions::from_mode(0o600)).unwrap();

    lab.now("keys and the archive");
    lab.run(&["share", "init", "own"]).exits(0);
    for reader in ["eve", "mallory"] {
        lab.run(&["share", "identity", reader]).exits(0);
    }
    let create =
        ["share", "create", "--keys", "own", "--table", "shop.orders", "--where", "id > 100", "--columns"];
    let create =
        [&create[..], &["id,who,raw,note", "--out", "o.share", "--defaults-file", "db.cnf"]].concat();
    let plain = lab.run(&[&create[..], &["--skip-ssl"]].concat());
    assert!(plain.code.is_some_and(|code| code != 0), "{plain}");
    assert!(!lab.home().join("o.share").exists(), "nothing is left of what was refused");
    let made = lab.run(&create).exits(0);
    assert!(made.stdout.contains("4900 rows") && made.stdout.contains("TLSv1.3"), "{made}");
    assert!(!made.stdout.contains("not verified"), "{made}");
    lab.run(&create).exits(2);

    lab.now("three proxies, and a grant");
    let mut proxies: Vec<ProxyProgram> = (1..=3).map(|number| proxy(&lab, number)).collect();
    let urls: Vec<String> = proxies.iter().map(|proxy| proxy.url.clone()).collect();
    open(&lab, "eve", "early.tsv").exits(6);
    let grant = [
        "share",
        "grant",
        "o.share",
        "--keys",
        "own",
        "--reader",
        "eve/public.json",
        "--until",
        "2099-12-31",
    ];
    let grant = [&grant[..], &["--max-opens", "20", "--need", "2"]].concat();
    std::fs::write(lab.home().join("proxies"), format!("# two of them\n\n{}\n{}\n", urls[1], urls[2]))
        .unwrap();
    let of_all = ["--proxy", urls[0].as_str(), "--proxies", "proxies"];
    let granted = lab.run(&[&grant[..], &of_all].concat()).exits(0);
    assert_eq!(granted.stdout.matches("holds its share").count(), 3, "{granted}");
    let id = granted.stdout.lines().find_map(|line| line.strip_prefix("grant ")).unwrap().to_owned();

    lab.now("opened, with all proxies and with two of them");
    let rows = expected(&server);
    let all = open(&lab, "eve", "all.tsv").exits(0);
    assert_eq!(all.stderr.matches("gave its share").count(), 2, "{all}");
    assert!(std::fs::read(lab.home().join("all.tsv")).unwrap() == rows, "other rows than the server's");
    open(&lab, "mallory", "no.tsv").exits(6);
    let first = proxies.remove(0);
    first.program.kill();
    let two = open(&lab, "eve", "two.tsv").exits(0);
    assert!(two.stderr.contains("cannot be reached"), "{two}");
    assert!(std::fs::read(lab.home().join("two.tsv")).unwrap() == rows);

    lab.now("loaded into another table, they are the same rows");
    server.run(&[
        "CREATE TABLE shop.again LIKE shop.orders",
        &format!(
            "LOAD DATA INFILE '{}' INTO TABLE shop.again CHARACTER SET utf8mb4 IGNORE 1 LINES (id, who, raw, note)",
            lab.home().join("two.tsv").display()
        ),
    ]);
    let compared = "SELECT COUNT(*) FROM shop.orders a JOIN shop.again b USING (id) \
                    WHERE a.who <=> b.who AND a.raw <=> b.raw AND a.note <=> b.note";
    assert_eq!(server.sql().query(compared).unwrap().scalar().unwrap(), "4900");

    lab.now("with one proxy it stays closed");
    proxies.remove(0).program.kill();
    let one = open(&lab, "eve", "one.tsv").exits(3);
    assert!(one.stderr.contains("1 of 2 shares"), "{one}");
    assert!(!lab.home().join("one.tsv").exists());

    lab.now("revoked");
    // Only one can confirm: two that are away would be enough.
    lab.run(&["share", "revoke", &id, "--keys", "own"]).exits(3);
    proxies.extend([proxy(&lab, 1), proxy(&lab, 2)]);
    assert!(
        urls.iter().all(|url| proxies.iter().any(|proxy| proxy.url == *url)),
        "a certificate has changed"
    );
    let revoked = lab.run(&["share", "revoke", &id[..8], "--keys", "own"]).exits(0);
    assert!(revoked.stdout.contains("is ended") && revoked.stdout.contains("given before"), "{revoked}");
    let after = open(&lab, "eve", "after.tsv").exits(6);
    assert_eq!(
        after.stderr.matches("the owner has revoked this grant").count(),
        4,
        "each that is asked, and in the end: what the third one gave before is kept\n{after}"
    );
    let list = lab.run(&["share", "list", "--keys", "own"]).exits(0);
    assert_eq!(list.stdout.matches("revoked, opened").count(), 3, "{list}");

    lab.now("what the proxies have written down");
    let audit = lab.run(&["share", "audit", "--keys", "own", "--format", "json"]).exits(0).json();
    let logs = audit["proxies"].as_array().unwrap();
    assert!(logs.len() == 3 && logs.iter().all(|log| log["verdict"] == "whole"), "{audit}");
    let opens = |log: &serde_json::Value| {
        let lines = log["entries"].as_array().unwrap().iter();
        lines.filter(|line| line["wish"] == "open" && line["answer"] == "done").count()
    };
    let counted = lab.run(&["share", "list", "--keys", "own", "--format", "json"]).exits(0).json();
    let counted = &counted["grants"][0]["proxies"];
    for log in logs {
        let proxy = counted.as_array().unwrap().iter().find(|proxy| proxy["url"] == log["url"]).unwrap();
        assert_eq!(proxy["opens"], opens(log), "{log}");
    }
    let verified = lab.run(&["share", "verify", "o.share", "--keys", "own"]).exits(0);
    assert!(verified.stdout.contains("every chunk") && verified.stdout.contains(&id), "{verified}");

    lab.now("without proxies, for good");
    let for_good =
        ["share", "grant", "o.share", "--keys", "own", "--reader", "mallory/public.json", "--for-good"];
    lab.run(&for_good).exits(0);
    open(&lab, "mallory", "good.tsv").exits(0);
    assert!(std::fs::read(lab.home().join("good.tsv")).unwrap() == rows);
    open(&lab, "eve", "still.tsv").exits(6);

    lab.now("a proxy that is killed at any moment gives its share never more often");
    let at = proxies.iter().position(|proxy| proxy.url == urls[1]).unwrap();
    let few =
        [&grant[..7], &["--until", "2099-12-31", "--max-opens", "6", "--need", "1", "--proxy", &urls[1]]]
            .concat();
    let few = lab.run(&few).exits(0);
    let few = few.stdout.lines().find_map(|line| line.strip_prefix("grant ")).unwrap().to_owned();
    let (mut rng, mut given) = (Rng::new(seed()), 0);
    for round in 0..8 {
        let out = format!("killed{round}.tsv");
        let words = [
            "share",
            "open",
            "o.share",
            "--keys",
            "eve",
            "--owner",
            "own/public.json",
            "--grant",
            &few,
            "--out",
            &out,
        ];
        let opening = lab.start(&words, None);
        std::thread::sleep(Duration::from_millis(rng.between(1, 60)));
        proxies.remove(at).program.kill();
        given += u32::from(opening.finish(UP).code == Some(0));
        proxies.insert(at, proxy(&lab, 2));
    }
    while open_again(&lab, &few, given) {
        given += 1;
    }
    let states = lab.run(&["share", "list", "--keys", "own", "--format", "json"]).exits(0).json();
    let counted = states["grants"].as_array().unwrap().iter().find(|one| one["id"] == few.as_str()).unwrap();
    assert_eq!(counted["proxies"][0]["opens"], 6, "{counted}");
    assert!(given <= 6, "{given} shares were given, 6 were granted");

    lab.now("a proxy that comes back from an older backup, by the owner's notes and without them");
    let copied = |from: &str, to: &str| {
        let done =
            std::process::Command::new("cp").arg("-a").args([from, to]).current_dir(lab.home()).status();
        assert!(done.unwrap().success(), "cp -a {from} {to}");
    };
    proxies.remove(at).program.kill();
    copied("p2", "p2-before");
    proxies.insert(at, proxy(&lab, 2));
    let lost =
        [&grant[..7], &["--until", "2099-12-31", "--max-opens", "6", "--need", "1", "--proxy", &urls[1]]]
            .concat();
    let lost = lab.run(&lost).exits(0);
    let lost = lost.stdout.lines().find_map(|line| line.strip_prefix("grant ")).unwrap().to_owned();
    proxies.remove(at).program.kill();
    std::fs::remove_dir_all(lab.home().join("p2")).unwrap();
    copied("p2-before", "p2");
    proxies.insert(at, proxy(&lab, 2));
    let revoked = lab.run(&["share", "revoke", &lost, "--keys", "own"]).exits(3);
    assert!(revoked.stdout.contains("which it had taken"), "{revoked}");
    lab.run(&["share", "list", "--keys", "own"]).exits(1);
    let audit = lab.run(&["share", "audit", "--keys", "own", "--grant", &lost]).exits(1);
    assert!(audit.stdout.contains("NOT WHOLE: it has forgotten grant"), "{audit}");
    // Keys whose notes are gone cannot tell: a proxy that never had it looks the same.
    copied("own", "copy");
    for notes in ["taken", "logs"] {
        std::fs::remove_dir_all(lab.home().join("copy").join(notes)).unwrap();
    }
    lab.run(&["share", "list", "--keys", "copy"]).exits(3);
    let audit = lab.run(&["share", "audit", "--keys", "copy", "--grant", &lost]).exits(3);
    assert!(audit.stdout.contains("cannot tell: it does not know grant"), "{audit}");

    lab.now("who could have seen what");
    let secrets: Vec<String> = ["own", "eve", "mallory"]
        .iter()
        .flat_map(|keys| {
            let text = std::fs::read_to_string(lab.home().join(keys).join("secret.json")).unwrap();
            let file: serde_json::Value = serde_json::from_str(&text).unwrap();
            ["sign", "seal"].map(|key| file[key].as_str().unwrap().to_owned())
        })
        .chain(["of the owner".into()])
        .collect();
    for proxy in &proxies {
        for what in ["cmdline", "environ"] {
            let path = PathBuf::from(format!("/proc/{}/{what}", proxy.program.pid()));
            assert!(secrets.iter().all(|secret| !contains(&path, secret.as_bytes())), "{}", path.display());
        }
    }
    let archive = lab.home().join("o.share");
    let looked: Vec<PathBuf> = (1..=3)
        .flat_map(|number| files_below(&lab.home().join(format!("p{number}"))))
        .chain([archive])
        .collect();
    assert!(looked.len() > 12, "{looked:?}");
    for path in &looked {
        assert!(!contains(path, CANARY.as_bytes()) && !contains(path, b"\t4711"), "{}", path.display());
        assert!(secrets.iter().all(|secret| !contains(path, secret.as_bytes())), "{}", path.display());
    }
    for path in files_below(lab.home()) {
        let name = path.strip_prefix(lab.home()).unwrap().to_string_lossy().into_owned();
        let is_ours = ["own/", "eve/", "p1/", "p2/", "p3/", "o.share", "all.tsv", "two.tsv"];
        if is_ours.iter().any(|ours| name.starts_with(ours)) {
            let mode = path.metadata().unwrap().permissions().mode() & 0o777;
            let wanted = if name.ends_with("public.json") { 0o644 } else { 0o600 };
            assert_eq!(mode, wanted, "{name}");
        }
    }
    for proxy in proxies {
        assert!(proxy.dir.exists());
        proxy.program.interrupt(UP).exits(0);
    }
}
