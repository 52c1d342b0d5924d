//! Where packets may not be captured, and from another workstation than the one where a change was begun.

use std::collections::BTreeSet;
use std::time::Duration;

use model::{Clock, SystemClock};
use testbed::company::Company;
use testbed::real::{LabSpec, RealLab, lab_slot};

const HELD_S_MAX: u64 = 120;

fn set(rules: &[&str]) -> BTreeSet<String> {
    rules.iter().map(|&rule| rule.to_owned()).collect()
}

/// Rules that a scan of the node's client and Galera port says are broken.
fn failed(lab: &RealLab, address: &str) -> BTreeSet<String> {
    let (client, galera) = (format!("{address}:3306"), format!("{address}:4567"));
    let report = lab.run(&["scan", "--format", "json", &client, &galera]).exits(0).json();
    let targets = report["targets"].as_array().expect("targets");
    assert_eq!(targets.len(), 2, "{report:#}");
    targets
        .iter()
        .flat_map(|target| target["findings"].as_array().expect("findings"))
        .filter(|finding| finding["verdict"] == "fail")
        .map(|finding| finding["rule"].as_str().expect("an id").to_owned())
        .collect()
}

/// Requests are signed elsewhere, and what comes back is imported.
fn certified(lab: &RealLab) {
    let now_unix = i64::try_from(SystemClock.unix_ms() / 1000).expect("this century");
    let company = Company::new(now_unix);
    let (out, root) = (lab.home().join("requests"), lab.home().join("root.pem"));
    let out_text = out.display().to_string();
    let csr = lab.run(&["trust", "csr", "--out", &out_text, "--format", "json"]).exits(0).json();
    assert_eq!(csr["requests"][2]["file"], format!("{out_text}/n3.csr"), "{csr:#}");
    std::fs::write(&root, company.root_pem()).expect("ours");
    let begin = ["trust", "import", "--format", "json", "--ca"];
    let mut words: Vec<String> = begin.map(str::to_owned).to_vec();
    words.push(root.display().to_string());
    for node in lab.nodes() {
        let csr = std::fs::read_to_string(out.join(format!("{node}.csr"))).expect("written");
        let signed = out.join(format!("{node}.pem"));
        std::fs::write(&signed, company.signs(&csr, 86_400 * 90)).expect("ours");
        words.push(signed.display().to_string());
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let said = lab.run(&words).exits(0).json();
    let taken = said["certificates"].as_array().expect("a list");
    assert!(taken.len() == 3 && taken.iter().all(|one| one["serial"].is_string()), "{said:#}");
    let issued = std::fs::read_dir(lab.dir.join("operator/ca")).expect("made").count();
    assert_eq!(issued, 3, "the root, requests and what was issued, and no key of a CA");
}

#[test]
fn a_change_begun_elsewhere_goes_on_from_a_nodes_journal_and_relays_see_what_it_did() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::RELAY);

    lab.now("a drafted inventory names the members");
    let login = lab.dir.join("operator.cnf").display().to_string();
    let file = lab.file();
    let host = file.nodes[0].address.to_string();
    let draft = lab.run(&["config", "inventory", "--defaults-file", &login, "-h", &host]).exits(0).stdout;
    for node in &file.nodes {
        let table =
            format!("[[node]]\nname = \"{}\"\naddress = \"{}\"\nport = 3306\n", node.name, node.address);
        assert!(draft.contains(&table) && draft.contains(&node.socket().display().to_string()), "{draft}");
    }
    assert!(
        draft.contains(&format!("name = \"{}\"", file.cluster_name)) && draft.contains(&login),
        "{draft}"
    );
    assert!(!draft.contains("password ="), "{draft}");
    let picture = file.nodes.iter().map(|node| format!("#   {}  {}:3306  MariaDB ", node.name, node.address));
    assert!(draft.contains(&format!("# Galera cluster {}\n", file.cluster_name)), "{draft}");
    picture.for_each(|line| assert!(draft.contains(&line), "{line}: {draft}"));

    lab.now("from here on by an account with the privileges that are printed, and no others");
    lab.change_with_least("mariadb");

    lab.now("cleartext, seen through relays");
    lab.is_plain();
    let look = lab.look(true);
    for link in look["links"].as_array().expect("links") {
        assert_eq!(link["method"], "a relay in front of each port", "{link:#}");
    }

    lab.now("scanned from outside: no TLS for clients, Galera in cleartext");
    let n3 = file.nodes[2].address.to_string();
    assert!(failed(&lab, &n3).is_superset(&set(&["SL1101", "SL1119"])));

    lab.now("certificates of a company's CA, whose key is not here");
    certified(&lab);

    lab.now("enable, killed half-way on a workstation that is lost");
    let hash = lab.plan_hash("enable");
    let moment = "E2.n2:acting";
    let mut change = lab.start(&["enable", "--yes", &hash[..12]], Some(moment));
    assert!(
        change.says(&format!("held at {moment} "), Duration::from_secs(HELD_S_MAX)),
        "{}",
        change.stderr()
    );
    lab.ended(change.kill());
    let journals = lab.dir.join("operator/state/journals");
    let journal = |dir: &std::path::Path| testbed::real::files_below(dir);
    assert!(!journal(&journals).is_empty());
    std::fs::remove_dir_all(&journals).expect("ours");

    lab.now("scanned from outside: a node that takes cleartext and TLS alike");
    let rules = failed(&lab, &n3);
    assert!(rules.contains("SL1120") && rules.is_disjoint(&set(&["SL1101", "SL1119"])), "{rules:?}");

    lab.now("another change from here is refused");
    let said = lab.run(&["disable", "--yes", "00000000"]);
    assert_eq!(said.code, Some(6), "{said}");

    lab.now("resume from here, which wants to be told so");
    let said = lab.run_as_typed(&["resume"]).exits(2);
    assert!(said.stderr.contains("sealion resume --yes "), "{said}");
    let said = lab.run(&["resume"]).exits(0);
    assert!(said.stderr.contains("made from a node's"), "{said}");
    lab.is_sealed();
    assert!(!journal(&journals).is_empty());
    let rules = failed(&lab, &n3);
    assert!(rules.is_disjoint(&set(&["SL1101", "SL1119", "SL1120"])), "{rules:?}");
    // A strict port ends the handshake of whoever has no certificate, in TLS 1.3 behind its end.
    let report = lab.run(&["scan", "--format", "json", &format!("{n3}:4567")]).exits(0).json();
    let features = &report["targets"][0]["tls"]["features"];
    assert_eq!(features["client_certificate_required"], "yes", "{report:#}");

    lab.now("and back again from a third place");
    std::fs::remove_dir_all(&journals).expect("ours");
    let said = lab.run_as_typed(&["undo"]).exits(2);
    assert!(said.stderr.contains(&format!("sealion undo --yes {}", &hash[..8])), "{said}");
    lab.run(&["undo", "--yes", &hash[..12]]).exits(0);
    lab.is_plain();
}
