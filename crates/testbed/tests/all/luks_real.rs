//! `rotate disk` and `status disk` with the real cryptsetup on plain files, which needs neither root nor device-mapper.
//!
//! `SEALION_SEED=N` repeats the moments at which it is killed; `SEALION_DEEP=1` tries each moment that has a name, and more by chance.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use testbed::real::{is_deep, sealion, seed};
use testbed::sim::rng::Rng;

const FAST: [&str; 4] = ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"];
const MOMENTS: [&str; 5] = ["announcing", "acting", "verifying", "recording", "checking"];

struct Volume {
    dir: tempfile::TempDir,
    is_detached: bool,
}

fn cryptsetup(arguments: &[&str]) -> Output {
    let program = ["/usr/sbin/cryptsetup", "/sbin/cryptsetup", "/usr/bin/cryptsetup"]
        .into_iter()
        .find(|path| Path::new(path).is_file())
        .unwrap_or_else(|| panic!("cryptsetup is missing; run: scripts/setup.sh tools"));
    let output = Command::new(program).args(arguments).env("LC_ALL", "C").stdin(Stdio::null()).output();
    output.expect("it can be run")
}

fn whole(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat()
}

fn write_key(path: &Path, text: &str) {
    fs::write(path, text).expect("writable");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("ours");
}

impl Volume {
    /// The old key in slot 0, `others` keys behind it.
    fn new(form: &str, others: u8, is_detached: bool) -> Self {
        let dir = tempfile::tempdir().expect("tmp");
        let volume = Self { dir, is_detached };
        for name in ["old", "new", "other"] {
            write_key(&volume.at(name), &format!("the key of {name}"));
        }
        fs::create_dir(volume.at("escrow")).expect("fresh");
        fs::File::create(volume.at("image")).and_then(|file| file.set_len(8 << 20)).expect("sparse");
        let (image, old, header) = (volume.text("image"), volume.text("old"), volume.text("header"));
        let mut words = vec!["--batch-mode", "luksFormat", "--type", form, "--key-file", &old];
        words.extend(FAST);
        if form == "luks2" {
            words.extend(["--luks2-metadata-size", "16k", "--luks2-keyslots-size", "1024k"]);
        }
        if is_detached {
            words.extend(["--header", &header]);
        }
        words.push(&image);
        let made = cryptsetup(&words);
        assert!(made.status.success(), "{}", whole(&made));
        for _ in 0..others {
            let (place, other) = (volume.place(), volume.text("other"));
            let mut words = vec!["luksAddKey", "--key-file", &old];
            words.extend(FAST);
            words.extend([place.as_str(), &other]);
            let added = cryptsetup(&words);
            assert!(added.status.success(), "{}", whole(&added));
        }
        volume
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
    fn text(&self, name: &str) -> String {
        self.at(name).display().to_string()
    }
    fn place(&self) -> String {
        self.text(if self.is_detached { "header" } else { "image" })
    }

    /// Whether a key opens it, by the real program alone.
    fn opens(&self, key: &str) -> bool {
        let (place, key) = (self.place(), self.text(key));
        let tried = cryptsetup(&["open", "--test-passphrase", "--key-file", &key, &place]);
        match tried.status.code() {
            Some(0) => true,
            Some(2) => false,
            _ => panic!("{}", whole(&tried)),
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(sealion());
        command.args(["rotate", "disk"]).args(words).args(["--device", &self.text("image")]);
        if self.is_detached {
            command.args(["--header", &self.text("header")]);
        }
        command.env("XDG_STATE_HOME", self.at("state")).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn rotate(&self, more: &[&str]) -> Command {
        let mut command = self.command(&[]);
        for (option, name) in [("--key-file", "old"), ("--new-key-file", "new"), ("--backup-dir", "escrow")] {
            command.arg(option).arg(self.at(name));
        }
        command.args(FAST).args(more);
        command
    }

    /// What `--yes` must name.
    fn hash(&self) -> String {
        let plan = self.rotate(&["--dry-run", "--format", "json"]).output().expect("it runs");
        assert!(plan.status.success(), "{}", whole(&plan));
        let plan: serde_json::Value = serde_json::from_slice(&plan.stdout).expect("a plan");
        plan["state_hash"].as_str().expect("a hash").to_owned()
    }

    fn go_on(&self, verb: &str, hash: &str) -> Output {
        self.command(&[verb, "--yes", hash]).output().expect("it runs")
    }

    fn assert_is(&self, is_rotated: bool, told: &str) {
        assert_eq!((self.opens("old"), self.opens("new")), (!is_rotated, is_rotated), "{told}");
    }

    /// Goes on behind a death, to the end that is wished. Where nothing was begun, it begins.
    fn ends(&self, back: bool, hash: &str, told: &str) {
        assert!(self.opens("old") || self.opens("new"), "{told}");
        let ended = self.go_on(if back { "undo" } else { "resume" }, hash);
        let said = whole(&ended);
        match ended.status.code() {
            Some(0) => {}
            Some(6) if said.contains("there is nothing to continue") => {
                if !back && !self.opens("new") {
                    let again = self.rotate(&["--yes", hash]).output().expect("it runs");
                    assert!(again.status.success(), "{told}: {}", whole(&again));
                } else if back && self.opens("new") {
                    panic!("{told}: {said}");
                }
            }
            _ => panic!("{told}: {said}"),
        }
        self.assert_is(!back, told);
    }
}

#[test]
fn a_key_is_rotated_and_put_back_on_each_form_of_volume() {
    for (form, others, is_detached) in [("luks1", 0, false), ("luks2", 2, false), ("luks2", 0, true)] {
        let told = format!("{form} {others} {is_detached}");
        let volume = Volume::new(form, others, is_detached);
        let hash = volume.hash();
        volume.assert_is(false, &told);
        let done = volume.rotate(&["--yes", &hash]).output().expect("it runs");
        assert!(done.status.success(), "{told}: {}", whole(&done));
        volume.assert_is(true, &told);
        assert!(others == 0 || volume.opens("other"), "{told}");
        let mut sums = Command::new("sh");
        sums.args(["-c", "sha256sum --check --strict *.sha256"]).current_dir(volume.at("escrow"));
        let sums = sums.output().expect("it runs");
        assert!(sums.status.success() && whole(&sums).matches(": OK").count() == 2, "{}", whole(&sums));
        // The key that is gone opens the backup of before, and that is said.
        assert!(whole(&done).matches("opens with the old key").count() >= 1, "{}", whole(&done));

        let wrong = volume.rotate(&["--yes", &hash]).output().expect("it runs");
        assert_eq!(wrong.status.code(), Some(6), "{}", whole(&wrong));
        assert!(whole(&wrong).contains("the old key opens no slot"), "{}", whole(&wrong));
        fs::rename(volume.at("old"), volume.at("moved")).expect("ours");
        let missing = volume.go_on("undo", &hash);
        assert_eq!(missing.status.code(), Some(4), "{}", whole(&missing));
        assert!(volume.opens("new"), "{told}");
        let moved = volume.text("moved");
        let undone =
            volume.command(&["undo", "--yes", &hash, "--key-file", &moved]).output().expect("it runs");
        assert!(undone.status.success(), "{told}: {}", whole(&undone));
        fs::rename(volume.at("moved"), volume.at("old")).expect("ours");
        volume.assert_is(false, &told);
    }
}

#[test]
fn killed_at_moments_that_have_a_name_it_goes_on_to_either_end() {
    let mut moments: Vec<String> =
        (1..=6).flat_map(|step| MOMENTS.map(|moment| format!("K{step}:{moment}"))).collect();
    moments.extend(["opening".into(), "closing".into()]);
    let mut rng = Rng::new(seed());
    if !is_deep() {
        let order = rng.shuffled(moments.len());
        let some = order.into_iter().take(3).filter_map(|at| moments.get(at).cloned()).collect();
        moments = some;
        moments.push("K5:verifying".into());
    }
    for moment in moments {
        for back in [false, true] {
            if !is_deep() && back == rng.percent(50) {
                continue;
            }
            let volume = Volume::new(if rng.percent(50) { "luks1" } else { "luks2" }, 1, false);
            let told = format!("{moment}, back {back}");
            let hash = volume.hash();
            let died =
                volume.rotate(&["--yes", &hash]).env("SEALION_CRASH_AT", &moment).output().expect("it runs");
            assert!(died.status.code().is_none(), "{told}: {}", whole(&died));
            volume.ends(back, &hash, &told);
            assert!(volume.opens("other"), "{told}");
        }
    }
}

#[test]
fn killed_with_its_cryptsetup_or_without_it_goes_on_to_either_end() {
    let first = seed();
    for number in 0..if is_deep() { 60 } else { 4 } {
        let mut rng = Rng::new(first.wrapping_add(number));
        let form = if rng.percent(50) { "luks1" } else { "luks2" };
        let volume = Volume::new(form, 1, rng.percent(30));
        let hash = volume.hash();
        let after = Duration::from_millis(rng.between(1, 1200));
        // Of its own group, with what it starts: both die, as when the power goes. Or it alone, and cryptsetup goes on.
        let with_all = rng.percent(50);
        let mut child = volume.rotate(&["--yes", &hash]).process_group(0).spawn().expect("it runs");
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
        std::thread::sleep(after);
        let _ = if with_all { killpg(pid, Signal::SIGKILL) } else { kill(pid, Signal::SIGKILL) };
        child.wait().expect("ours");
        let back = rng.percent(50);
        let told = format!(
            "seed {} {form}, killed after {after:?}, with all {with_all}, back {back}",
            first + number
        );
        volume.ends(back, &hash, &told);
        assert!(volume.opens("other"), "{told}");
    }
}

#[test]
fn status_disk_says_of_a_volume_what_cryptsetup_says() {
    for form in ["luks1", "luks2"] {
        let volume = Volume::new(form, 1, false);
        let (image, backup) = (volume.text("image"), volume.text("backup"));
        let uuid = whole(&cryptsetup(&["luksUUID", &image]));
        let kept = cryptsetup(&["luksHeaderBackup", "--header-backup-file", &backup, &image]);
        assert!(kept.status.success());
        let seen = Command::new(sealion())
            .args(["status", "disk", &image, &backup, &volume.text("old"), "--format", "json"])
            .output()
            .expect("it runs");
        assert!(seen.status.success(), "{}", whole(&seen));
        let seen: serde_json::Value = serde_json::from_slice(&seen.stdout).expect("a report");
        for at in 0..2 {
            let header = &seen["paths"][at]["header"];
            assert_eq!(header["uuid"].as_str(), Some(uuid.trim()), "{seen:#}");
            assert_eq!(header["version"], if form == "luks1" { 1 } else { 2 });
            assert_eq!(header["ciphers"][0], "aes-xts-plain64");
            let opens =
                header["slots"].as_array().expect("a list").iter().filter(|slot| slot["opens"] == true);
            assert_eq!(opens.count(), 2, "{seen:#}");
        }
        assert_eq!(seen["paths"][2]["header_is"], "absent");
        let strict = Command::new(sealion()).args(["status", "disk", &image, "--fail-on", "medium"]).output();
        assert_eq!(strict.expect("it runs").status.code(), Some(1));
    }
}
