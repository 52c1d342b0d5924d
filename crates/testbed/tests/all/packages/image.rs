//! The image: each blob is what its digest says, and its program runs as the image says, with nothing around it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{EPOCH, is_static, packed, repository, stand_in, text_of};

/// The image of a static program: that which is packed, if it is static, or one of the stand-in.
fn image(dir: &Path) -> PathBuf {
    if is_static(&testbed::real::sealion()) {
        return packed().ending("-oci.tar");
    }
    let out = dir.join("image.tar");
    let mut command = Command::new(repository().join("scripts/oci-image.py"));
    command.args(["--fast", env!("CARGO_PKG_VERSION"), "amd64", EPOCH]).arg(stand_in());
    text_of(command.args([repository().join("LICENSE-MIT"), out.clone()]));
    out
}

/// A blob that a descriptor names; its size and digest hold.
fn blob(layout: &Path, descriptor: &Value) -> PathBuf {
    let name = descriptor["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
    let path = layout.join("blobs/sha256").join(name);
    assert!(text_of(Command::new("sha256sum").arg(&path)).starts_with(name));
    assert_eq!(descriptor["size"], std::fs::metadata(&path).unwrap().len());
    path
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn the_image_runs_its_program_as_nobody_with_nothing_around_it() {
    let home = tempfile::tempdir().unwrap();
    let layout = home.path().join("layout");
    std::fs::create_dir(&layout).unwrap();
    text_of(Command::new("tar").arg("-xf").arg(image(home.path())).arg("-C").arg(&layout));
    assert_eq!(json(&layout.join("oci-layout"))["imageLayoutVersion"], "1.0.0");
    let index = json(&layout.join("index.json"));
    let manifest = json(&blob(&layout, &index["manifests"][0]));
    let described = json(&blob(&layout, &manifest["config"]));
    let layer = blob(&layout, &manifest["layers"][0]);
    let unpacked = text_of(Command::new("sh").args(["-c", "gzip -dc \"$0\" | sha256sum"]).arg(&layer));
    assert_eq!(
        described["rootfs"]["diff_ids"][0].as_str().unwrap().strip_prefix("sha256:"),
        unpacked.split_whitespace().next()
    );
    // For docker without containerd's store, the same blobs under another name.
    let docker = json(&layout.join("manifest.json"));
    assert!(layout.join(docker[0]["Layers"][0].as_str().unwrap()).is_file());
    assert!(layout.join(docker[0]["Config"].as_str().unwrap()).is_file());

    let config = &described["config"];
    assert_eq!(config["User"], "65532:65532");
    assert_eq!(config["Entrypoint"], serde_json::json!(["/usr/bin/sealion"]));
    let labels = &config["Labels"];
    assert_eq!(labels["org.opencontainers.image.version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(labels["org.opencontainers.image.licenses"], "Apache-2.0 OR MIT");

    let root = home.path().join("root");
    std::fs::create_dir(&root).unwrap();
    text_of(Command::new("tar").args(["--no-same-owner", "-xzpf"]).arg(&layer).arg("-C").arg(&root));
    let listed = text_of(Command::new("tar").args(["--numeric-owner", "-tvzf"]).arg(&layer));
    assert!(!listed.contains("/sh\n") && !listed.contains(".so"), "{listed}");
    assert!(
        listed
            .lines()
            .any(|line| line.starts_with("drwx------ 65532/65532") && line.contains("home/sealion")),
        "{listed}"
    );

    // As a runtime does: the image's user, environment and directory, in its root, and nothing of this machine.
    let mut command = Command::new("unshare");
    command
        .args(["--map-user=65532", "--map-group=65532"])
        .arg(format!("--root={}", root.display()))
        .arg(format!("--wd={}", config["WorkingDir"].as_str().unwrap()))
        .env_clear();
    for variable in config["Env"].as_array().unwrap() {
        let (name, value) = variable.as_str().unwrap().split_once('=').unwrap();
        command.env(name, value);
    }
    // `unshare` itself is found by this process; in the root there is nothing but the program.
    let said = text_of(command.arg("/usr/bin/sealion").arg("--version"));
    let expected = [concat!("sealion ", env!("CARGO_PKG_VERSION")), "stand-in uid 65532"];
    assert!(expected.contains(&said.trim()), "{said}");
}
