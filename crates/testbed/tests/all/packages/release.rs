//! What goes with the packages: sums, their signature, what the program contains; and that all of it is the same when it is made twice.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{OLDER, package, packed, packed_before, repository, run, stand_in, text_of};

#[test]
fn two_directories_give_the_same_bytes() {
    let said = text_of(Command::new(repository().join("scripts/reproduce.sh")).arg("--fast").arg(stand_in()));
    let names: Vec<&str> = said.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    let ends = [".deb", ".rpm", "-linux.tar.gz", "-oci.tar", ".cdx.json"];
    assert_eq!(names.len(), ends.len(), "{said}");
    assert!(names.iter().zip(ends).all(|(name, end)| name.ends_with(end)), "{said}");
}

#[test]
fn a_program_that_has_grown_is_not_packed() {
    let home = tempfile::tempdir().unwrap();
    let (more, large) = (home.path().join("more"), home.path().join("large"));
    fs::File::create(&more).unwrap().set_len(30_000_000).unwrap();
    let section = format!("more={}", more.display());
    text_of(Command::new("objcopy").args(["--add-section", &section]).args([stand_in(), &large]));
    let said =
        run(Command::new(repository().join("scripts/package.sh")).args([&large, &home.path().join("out")]));
    let text = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(2), "{text}");
    assert!(text.contains("at most 30000000 are wanted") && text.contains("next:"), "{text}");
}

/// `minisign -G`, as in docs/src/start/install.md.
fn new_key(dir: &Path, password: &str) {
    let mut minisign = Command::new("minisign")
        .args(["-G", "-p"])
        .arg(dir.join("sealion.pub"))
        .arg("-s")
        .arg(dir.join("sealion.key"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("minisign; run: scripts/setup.sh packages");
    let words = format!("{password}\n{password}\n");
    std::io::Write::write_all(minisign.stdin.as_mut().unwrap(), words.as_bytes()).unwrap();
    assert!(minisign.wait().unwrap().success());
}

#[test]
fn sums_are_signed_and_a_changed_file_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let password = home.path().join("password");
    fs::write(&password, "a throw-away password\n").unwrap();
    new_key(home.path(), "a throw-away password");
    let out = home.path().join("dist");
    let sign = |password: &Path| {
        let mut command = package(stand_in(), &out);
        command.env("MINISIGN_KEY", home.path().join("sealion.key")).env("MINISIGN_PASSWORD_FILE", password);
        command
    };
    let signed = text_of(&mut sign(&password));
    assert!(signed.ends_with("/SHA256SUMS.minisig\n"), "{signed}");

    // What a user does.
    let verify = || {
        let mut command = Command::new("minisign");
        run(command.args(["-Vm", "SHA256SUMS", "-p"]).arg(home.path().join("sealion.pub")).current_dir(&out))
    };
    let check = || run(Command::new("sha256sum").args(["-c", "SHA256SUMS"]).current_dir(&out));
    let verified = verify();
    let text = String::from_utf8_lossy(&verified.stdout);
    assert!(verified.status.success(), "{text}");
    assert!(
        text.contains(concat!("Trusted comment: sealion ", env!("CARGO_PKG_VERSION"), " SHA256SUMS")),
        "{text}"
    );
    assert!(check().status.success());

    let image = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    let image = image.into_iter().find(|path| path.to_string_lossy().ends_with("-oci.tar")).unwrap();
    let whole = fs::read(&image).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    fs::write(&image, &changed).unwrap();
    assert!(verify().status.success() && !check().status.success(), "a changed package");

    // Who changes the sums as well has not the key.
    let sums = text_of(
        Command::new("sh").args(["-c", "sha256sum *.deb *.rpm *.tar.gz *.tar *.json"]).current_dir(&out),
    );
    fs::write(out.join("SHA256SUMS"), sums).unwrap();
    assert!(check().status.success() && !verify().status.success(), "changed sums");

    // Nothing looks signed that is not: the signature of before is gone.
    fs::write(&password, "another password\n").unwrap();
    let refused = run(&mut sign(&password));
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("minisign did not sign") && text.contains("next:"), "{text}");
    assert!(!out.join("SHA256SUMS.minisig").exists());
}

#[test]
fn packages_without_a_key_say_that_they_are_not_signed() {
    let home = tempfile::tempdir().unwrap();
    let said = run(&mut package(stand_in(), home.path()));
    assert!(said.status.success());
    assert!(String::from_utf8_lossy(&said.stderr).contains("is not signed: MINISIGN_KEY names no key"));
    assert!(!home.path().join("SHA256SUMS.minisig").exists());

    let said = run(package(stand_in(), home.path()).env("MINISIGN_KEY", home.path().join("none")));
    let text = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(2), "{text}");
    assert!(text.contains("named by MINISIGN_KEY") && text.contains("next:"), "{text}");
}

#[test]
fn the_list_of_contents_has_what_is_linked_and_nothing_else() {
    let list: Value = serde_json::from_slice(&fs::read(packed().ending(".cdx.json")).unwrap()).unwrap();
    assert_eq!((&list["bomFormat"], &list["specVersion"]), (&Value::from("CycloneDX"), &Value::from("1.5")));
    assert_eq!(list["metadata"]["timestamp"], "2023-11-14T22:13:20Z");
    let components = list["components"].as_array().unwrap();
    let text =
        |one: &Value, key: &str| one[key].as_str().unwrap_or_else(|| panic!("{key} of {one}")).to_owned();
    let mut refs = BTreeSet::from([text(&list["metadata"]["component"], "bom-ref")]);
    for one in components {
        assert!(text(one, "purl").starts_with("pkg:"));
        assert!(!one["licenses"].as_array().unwrap().is_empty(), "{one}");
        assert!(
            one["purl"].as_str().unwrap().starts_with("pkg:generic/") || one["hashes"][0]["alg"] == "SHA-256",
            "{one}"
        );
        assert!(refs.insert(text(one, "bom-ref")), "{one} is there twice");
    }
    for one in list["dependencies"].as_array().unwrap() {
        let names = one["dependsOn"].as_array().unwrap().iter().chain([&one["ref"]]);
        names.for_each(|name| assert!(refs.contains(name.as_str().unwrap()), "{name} is no component"));
    }

    let lock = fs::read_to_string(repository().join("Cargo.lock")).unwrap();
    let of_openssl =
        lock.split("name = \"openssl-src\"\nversion = \"").nth(1).unwrap().split('"').next().unwrap();
    let find = |name: &str| components.iter().find(|one| one["name"] == name);
    assert_eq!(find("openssl-src").unwrap()["version"], of_openssl);
    assert_eq!(find("openssl-src").unwrap()["scope"], "excluded", "it only ran while the program was built");
    // C code has a name that lists of known faults use.
    let openssl = find("openssl").filter(|one| one["purl"].as_str().unwrap().starts_with("pkg:cargo"));
    assert_eq!(openssl.unwrap()["scope"], "required");
    let c_code = |name: &str| {
        components.iter().find(|one| text(one, "purl").starts_with(&format!("pkg:generic/{name}@"))).unwrap()
    };
    assert_eq!(c_code("openssl")["version"], of_openssl.split('+').nth(1).unwrap());
    let with_musl = super::is_static(&testbed::real::sealion());
    for name in ["openssl", "sqlite", "zstd"].into_iter().chain(with_musl.then_some("musl")) {
        assert!(text(c_code(name), "cpe").contains(&text(c_code(name), "version")));
    }
    // Tests' own, another program's, another system's.
    for name in ["proptest", "tls-parser", "insta", "umbral-pre", "windows-sys"] {
        assert!(find(name).is_none(), "{name} is not in sealion");
    }

    let program = tempfile::tempdir().unwrap();
    text_of(Command::new("dpkg-deb").arg("-x").arg(packed().ending(".deb")).arg(program.path()));
    let sum = text_of(Command::new("sha256sum").arg(program.path().join("usr/bin/sealion")));
    assert_eq!(list["metadata"]["component"]["hashes"][0]["content"].as_str(), sum.split_whitespace().next());
    let older: Value =
        serde_json::from_slice(&fs::read(packed_before().ending(".cdx.json")).unwrap()).unwrap();
    assert_eq!(older["metadata"]["component"]["version"], OLDER);
    assert_ne!(older["serialNumber"], list["serialNumber"]);
}
