//! Certificates of a company's CA: asked for, imported, placed on servers of the simulated world, and replaced.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Change, Noun, Verb};
use providers::files::leaf_spec;
use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;
use testbed::company::Company;
use testbed::sim::{Rig, World};
use trust::{Ca, Elsewhere, KeyKind, LeafSpec, Signer, TrustError, chain_ok, import, request};

/// 2026-11-21T00:00:00Z, when the worlds begin.
const NOW: i64 = 1_795_219_200;
const DAY_S: i64 = 86_400;

fn passphrase() -> SecretString {
    "correct horse".to_owned().into()
}

fn spec(name: &str) -> LeafSpec {
    LeafSpec {
        common_name: name.into(),
        dns: vec![name.into(), "localhost".into()],
        ips: vec!["10.0.0.1".parse().expect("an address")],
        valid_days: 1,
        key: KeyKind::EcP256,
        not_before_unix: None,
        not_after_unix: None,
    }
}

/// The first certificate alone.
fn first(pem: &str) -> &str {
    const END: &str = "-----END CERTIFICATE-----\n";
    pem.split_inclusive(END).next().expect("PEM")
}

#[test]
fn what_a_company_signs_is_taken_with_its_intermediate_and_served_by_its_key() {
    let (company, home) = (Company::new(NOW), TempDir::new().expect("made"));
    let dir = home.path().join("ca");
    let specs = ["db1", "db2"].map(spec);
    let asked = specs.each_ref().map(|one| request(&dir, one, &passphrase(), false).expect("made"));
    assert!(asked.iter().all(|one| one.is_new));
    let again = request(&dir, &specs[0], &passphrase(), false).expect("there");
    assert_eq!((again.csr_pem, again.is_new), (asked[0].csr_pem.clone(), false));
    assert!(!Elsewhere::is_at(&dir));

    // In any order, all in one, and the root beside them; who has signed none of them is trusted by nobody.
    let stranger = Company::new(NOW).root_pem();
    let signed = [1, 0].map(|at: usize| company.signs(&asked[at].csr_pem, DAY_S));
    let given = [stranger, signed.concat()].concat();
    let told = import(&dir, &given, Some(&company.root_pem()), &specs, NOW).expect("they hold");
    assert_eq!(told.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["db2", "db1"]);
    let signer = Signer::open(&dir, &passphrase()).expect("it opens");
    assert_eq!(trust::inspect(signer.ca_pem().as_bytes()).expect("PEM").len(), 2, "root and intermediate");
    for one in &specs {
        let leaf = signer.leaf(one, NOW).expect("imported");
        trust::pair_matches(leaf.cert_pem.as_bytes(), leaf.key_pem.expose_secret().as_bytes())
            .expect("a pair");
        // For who knows the root only, and for who is shown the leaf only.
        chain_ok(leaf.cert_pem.as_bytes(), &company.root_pem(), NOW).expect("it holds");
        let alone = first(&leaf.cert_pem);
        chain_ok(alone.as_bytes(), signer.ca_pem().as_bytes(), NOW).expect("it holds");
    }
    let left = fs::read_dir(dir.join("requests")).expect("there").count();
    assert_eq!(left, 0, "a key lies there that nobody needs");
    for file in ["issued/db1.pem", "issued/db2.pem"] {
        let text = fs::read_to_string(dir.join(file)).expect("there");
        assert!(text.contains("ENCRYPTED PRIVATE KEY") && !text.contains("BEGIN PRIVATE KEY"), "{file}");
    }
    assert!(matches!(
        Signer::open(&dir, &"wrong".to_owned().into()).expect("nothing to open").leaf(&specs[0], NOW),
        Err(TrustError::WrongPassphrase { .. })
    ));

    // The next ones, by the same root: without naming it again.
    let before = signer.leaf(&specs[0], NOW).expect("there").cert_pem;
    let next = request(&dir, &specs[0], &passphrase(), false).expect("made");
    assert!(next.is_new);
    assert_eq!(signer.leaf(&specs[0], NOW).expect("still there").cert_pem, before);
    import(&dir, &company.signs(&next.csr_pem, DAY_S), None, &specs, NOW).expect("it holds");
    assert_ne!(signer.leaf(&specs[0], NOW).expect("there").cert_pem, before);
    // A key of another one is not placed with it.
    let [ours, other] = ["db1", "db2"].map(|name| dir.join(format!("issued/{name}.pem")));
    let (kept, both) = (fs::read_to_string(&ours).expect("there"), fs::read_to_string(other).expect("there"));
    let cut = |text: &str| text.find("-----BEGIN CERTIFICATE-----").expect("PEM");
    let swapped = format!("{}{}", &both[..cut(&both)], &kept[cut(&kept)..]);
    fs::write(&ours, swapped).expect("ours");
    let mixed = signer.leaf(&specs[0], NOW).expect_err("no pair");
    assert!(matches!(mixed, TrustError::KeyMismatch { .. }), "{mixed}");
    fs::write(&ours, kept).expect("ours");
    // One that ends is not placed any more.
    let late = signer.leaf(&specs[0], NOW + 2 * DAY_S).expect_err("over");
    assert!(matches!(late, TrustError::Expired { .. }), "{late}");
}

#[test]
fn what_would_not_serve_is_refused_and_nothing_is_kept() {
    let (company, other, home) = (Company::new(NOW), Company::new(NOW), TempDir::new().expect("made"));
    let dir = home.path().join("ca");
    let specs = ["db1", "db2"].map(spec);
    let [one, two] = specs.each_ref().map(|one| request(&dir, one, &passphrase(), false).expect("made"));
    let good = company.signs(&one.csr_pem, DAY_S);
    let files = || {
        let mut all: Vec<PathBuf> = [dir.clone(), dir.join("requests"), dir.join("issued")]
            .iter()
            .filter_map(|dir| fs::read_dir(dir).ok())
            .flat_map(|entries| entries.map(|entry| entry.expect("there").path()))
            .collect();
        all.sort();
        all
    };
    let before = files();
    let refused = |given: &[u8], roots: Option<&[u8]>, words: &str| {
        let error = import(&dir, given, roots, &specs, NOW).expect_err(words).to_string();
        assert!(error.contains(words), "{words}: {error}");
        assert_eq!(files(), before, "{words}");
    };
    let root = company.root_pem();
    refused(&good, None, "the root of the CA is missing");
    refused(&good, Some(&other.root_pem()), "leads to no root that is trusted here");
    refused(&company.signs(&one.csr_pem, -1), Some(&root), "has expired");
    refused(&root, Some(&root), "no certificate of a server was given");
    let weak = Company::weak(NOW);
    refused(&weak.signs(&one.csr_pem, DAY_S), Some(&weak.root_pem()), "CA certificate key too weak");
    refused(b"nonsense", Some(&root), "no certificate can be read");
    // Good ones beside one that is not are not kept either.
    let foreign = LeafSpec { common_name: "web".into(), ..spec("db1") };
    let elsewhere = home.path().join("elsewhere");
    let asked = request(&elsewhere, &foreign, &passphrase(), false).expect("made");
    let both = [good.clone(), company.signs(&asked.csr_pem, DAY_S)].concat();
    refused(&both, Some(&root), "no request that waits here has its key");
    let twice = [good.clone(), company.signs(&one.csr_pem, DAY_S)].concat();
    refused(&twice, Some(&root), "two certificates for db1");
    // A name that the inventory has since then.
    let more = [LeafSpec { dns: vec!["db1.example".into()], ..spec("db1") }, spec("db2")];
    let error = import(&dir, &good, Some(&root), &more, NOW).expect_err("it lacks one").to_string();
    assert!(error.contains("does not have db1.example"), "{error}");
    assert_eq!(files(), before);

    // Another root than that which servers trust.
    import(&dir, &good, Some(&root), &specs, NOW).expect("it holds");
    let named = import(&dir, &company.signs(&two.csr_pem, DAY_S), Some(&other.root_pem()), &specs, NOW);
    let error = named.expect_err("it is not the one").to_string();
    assert!(error.contains("is not the root that servers trust"), "{error}");
    let error = import(&dir, &other.signs(&two.csr_pem, DAY_S), None, &specs, NOW)
        .expect_err("another root")
        .to_string();
    assert!(error.contains("certificates of another one are refused"), "{error}");
}

#[test]
fn a_cluster_with_a_ca_of_its_own_asks_nobody_else() {
    let home = TempDir::new().expect("made");
    let dir = home.path().join("ca");
    let ours = trust::CaSpec { common_name: "ours".into(), valid_days: 30, key: KeyKind::EcP256 };
    let ca = Ca::create(&ours, NOW).expect("made");
    ca.save(&dir, &passphrase()).expect("saved");
    let error = request(&dir, &spec("db1"), &passphrase(), false).expect_err("refused").to_string();
    assert!(error.contains("has a CA of its own") && error.contains("ours"), "{error}");
    assert!(!dir.join("requests").exists());
    let error = import(&dir, b"", None, &[], NOW).expect_err("refused").to_string();
    assert!(error.contains("has a CA of its own"), "{error}");
    let leaf = Signer::open(&dir, &passphrase()).expect("it opens").leaf(&spec("db1"), NOW).expect("made");
    chain_ok(leaf.cert_pem.as_bytes(), ca.cert_pem().as_bytes(), NOW).expect("it holds");
}

/// Asks for all members, or for those named, and imports what the company has made of it.
fn certified(rig: &Rig, company: &Company, names: &[&str]) {
    asked_and_imported(rig, company, names, KeyKind::EcP256);
}

fn asked_and_imported(rig: &Rig, company: &Company, names: &[&str], key: KeyKind) {
    let passphrase: SecretString = rig.passphrase.clone().into();
    let specs: Vec<LeafSpec> = specs(rig).into_iter().map(|spec| LeafSpec { key, ..spec }).collect();
    let mut given = Vec::new();
    for spec in specs.iter().filter(|spec| names.is_empty() || names.contains(&spec.common_name.as_str())) {
        let asked = request(&rig.ca_dir(), spec, &passphrase, false).expect("made");
        given.extend(company.signs(&asked.csr_pem, 30 * DAY_S));
    }
    import(&rig.ca_dir(), &given, Some(&company.root_pem()), &specs, NOW).expect("they hold");
}

fn specs(rig: &Rig) -> Vec<LeafSpec> {
    let world = rig.provider_world("none");
    let nodes = world.nodes.iter().map(|node| node.spec().clone());
    let all = nodes.chain(world.arbitrators.iter().map(|one| one.spec().clone()));
    all.map(|spec| leaf_spec(&spec, KeyKind::EcP256, 1)).collect()
}

fn serials(rig: &Rig) -> Vec<String> {
    let world = rig.shared.borrow();
    let of = |server: &testbed::sim::process::Server| {
        let is_cert = |path: &&Path| path.starts_with("/etc") && path.ends_with("node-cert.pem");
        let path = server.disk.entries.keys().map(std::path::PathBuf::as_path).find(is_cert).expect("placed");
        let cert = &server.disk.entries[path];
        let chain = trust::inspect(cert.bytes.as_deref().expect("a file")).expect("PEM");
        assert_eq!(chain.len(), 2, "the intermediate is shown, too");
        chain[0].serial_hex.clone()
    };
    world.servers.iter().map(of).collect()
}

/// What speaks against a change.
fn said(rig: &Rig, change: &Change) -> String {
    rig.preflight(change).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn enable() -> Change {
    Change::new(Verb::Enable, Noun::ALL)
}

fn rotate() -> Change {
    Change::new(Verb::Rotate, Noun::ALL)
}

#[test]
fn a_cluster_is_sealed_with_imported_certificates_which_are_replaced_and_taken_off() {
    for rig in [Rig::new(31, 3), Rig::on(World::cluster_with_arbitrator(32, 2))] {
        let company = Company::new(NOW);
        let names: Vec<String> = specs(&rig).into_iter().map(|spec| spec.common_name).collect();
        let last = names.last().expect("members").as_str();
        let others: Vec<&str> = names.iter().map(String::as_str).filter(|name| *name != last).collect();
        for spec in specs(&rig) {
            request(&rig.ca_dir(), &spec, &rig.passphrase.clone().into(), false).expect("made");
        }
        let refused = said(&rig, &enable());
        assert!(refused.contains("wait for their certificates"), "{refused}");
        certified(&rig, &company, &others);
        let refused = said(&rig, &enable());
        assert!(refused.contains(&format!("there is no certificate for {last}")), "{refused}");
        assert!(refused.contains(&format!("sealion trust csr {last}")), "{refused}");

        certified(&rig, &company, &[last]);
        let plan = rig.must(&enable());
        // A change goes on with the CA that it began with.
        let (here, elsewhere) = (rig.ca_dir(), TempDir::new().expect("made"));
        assert_eq!(providers::other_authority(&plan, &here), None);
        fs::write(elsewhere.path().join("ca.pem"), Company::new(NOW).root_pem()).expect("ours");
        let why = providers::other_authority(&plan, elsewhere.path()).expect("another one");
        assert!(why.contains("sealion undo"), "{why}");
        assert!(plan.impact.iter().any(|line| line.contains("can join as a member")), "{:?}", plan.impact);
        let before = serials(&rig);
        let refused = said(&rig, &rotate());
        assert!(refused.contains("is in place already"), "{refused}");
        let refused = said(&rig, &Change::new(Verb::Rotate, [Noun::Ca]));
        assert!(refused.contains("cannot be replaced") && !refused.contains("in place already"), "{refused}");

        // RSA in the place of ECDSA is read by no running node.
        asked_and_imported(&rig, &company, &[], KeyKind::Rsa { bits: 2048 });
        let refused = said(&rig, &rotate());
        assert!(refused.contains("would get RSA 2048, which was imported"), "{refused}");

        fs::rename(rig.ca_dir(), rig.ca_dir().with_extension("aside")).expect("ours");
        let refused = said(&rig, &rotate());
        assert!(refused.contains("there is no CA in"), "{refused}");
        fs::rename(rig.ca_dir().with_extension("aside"), rig.ca_dir()).expect("ours");

        certified(&rig, &company, &[]);
        // What was imported since is not what the plan was made for.
        let plan = rig.plan(&rotate()).expect("a plan");
        certified(&rig, &company, &[]);
        let other = rig.plan(&rotate()).expect("a plan");
        assert_ne!(plan.state_hash, other.state_hash);
        rig.must(&rotate());
        let after = serials(&rig);
        assert!(before.iter().zip(&after).all(|(one, other)| one != other), "{before:?} {after:?}");
        let end = rig.resume(Some(change::Direction::Back));
        assert!(end.is_complete(), "{}", end.text());
        assert_eq!(serials(&rig), before);
        rig.must(&Change::new(Verb::Disable, Noun::ALL));
        assert_eq!(rig.shared.borrow().violations, Vec::<String>::new());
    }
}
