//! Second opinion: on random trees of option files, `server::options` and the real `my_print_defaults` must agree.

use std::env;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use server::options::{
    Effective, LocalFiles, ResolveError, Start, default_groups, resolve, with_group_suffix,
};

const TREES: u64 = 200;

/// The program under `SEALION_MY_PRINT_DEFAULTS`, on the PATH, or in a bundle that `make setup` unpacked.
fn my_print_defaults() -> PathBuf {
    let named = env::var_os("SEALION_MY_PRINT_DEFAULTS").map(PathBuf::from);
    let on_path = || {
        let path = env::var_os("PATH")?;
        env::split_paths(&path).map(|dir| dir.join("my_print_defaults")).find(|file| file.is_file())
    };
    let in_bundle = || {
        let home = PathBuf::from(env::var_os("HOME")?);
        find_below(&home.join(".cache/sealion"), 6)
    };
    named
        .filter(|file| file.is_file())
        .or_else(on_path)
        .or_else(in_bundle)
        .expect("my_print_defaults was not found; run: make setup")
}

fn find_below(dir: &Path, depth_left: usize) -> Option<PathBuf> {
    let wanted = dir.join("usr/bin/my_print_defaults");
    if wanted.is_file() {
        return Some(wanted);
    }
    let depth_left = depth_left.checked_sub(1)?;
    let mut dirs: Vec<PathBuf> =
        fs::read_dir(dir).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    dirs.sort();
    dirs.iter().filter(|path| path.is_dir()).find_map(|path| find_below(path, depth_left))
}

/// SplitMix64: small, and the same everywhere, so that a seed replays a failure.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).expect("usize fits");
        usize::try_from(self.next() % limit).expect("below a usize")
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(self.below(from.len())).expect("below its length")
    }
}

const FILES: [&str; 10] = [
    "my.cnf",
    "a.cnf",
    "b.cnf",
    "d/1.cnf",
    "d/B.cnf",
    "d/a.cnf",
    "d/x.y.cnf",
    "d/n.ini",
    "d/o.cnf.bak",
    "e/.cnf",
];
const GROUPS: [&str; 9] = [
    "mysqld",
    "mariadb-10.11",
    "MariaDB",
    "galera",
    "client-server",
    "client",
    " mysqld",
    "mysqld ",
    "mysqld1",
];
const KEYS: [&str; 7] = ["ssl-ca", "ssl_ca", "wsrep_provider_options", "a b", "q'u", "x;y", "é"];
const PIECES: [&str; 28] = [
    "a", "b", "1", " ", "  ", "\t", "#", ";", "'", "\"", "\\", "\\n", "\\t", "\\r", "\\b", "\\s", "\\\\",
    "\\'", "\\\"", "\\x", "=", "[", "]", "!", "é", "à", "\u{b}", "/p/q.pem",
];

fn option(random: &mut Random, text: &mut String) {
    text.push_str(random.pick(&["", "", " ", "\t "]));
    text.push_str(random.pick(&KEYS));
    if random.one_in(5) {
        text.push_str(random.pick(&["", " ", " # c"]));
        return;
    }
    text.push_str(random.pick(&["=", " = ", "= "]));
    let quote = random.pick(&["", "", "\"", "'"]);
    text.push_str(quote);
    for _ in 0..random.below(6) {
        text.push_str(random.pick(&PIECES));
    }
    text.push_str(quote);
    text.push_str(random.pick(&["", "", " ", " # it's", "#c"]));
}

fn option_file(random: &mut Random, dir: &Path) -> String {
    let line_end = random.pick(&["\n", "\n", "\r\n"]);
    let mut text = String::new();
    if !random.one_in(20) {
        write!(text, "[{}]{line_end}", random.pick(&GROUPS)).expect("a String takes it");
    }
    for _ in 0..random.below(9) {
        match random.below(12) {
            0..=5 => option(random, &mut text),
            6..=7 => write!(text, "[{}]{}", random.pick(&GROUPS), random.pick(&["", " # c", "junk"]))
                .expect("a String takes it"),
            8 => text.push_str(random.pick(&["", "  ", "# c", "; c=1", "  # c", "!", "!unknown x"])),
            9..=10 => {
                let file = dir.join(random.pick(&FILES));
                let between = random.pick(&[" ", "  ", "\t"]);
                write!(text, "{}include{between}{}", random.pick(&["!", "! "]), file.display())
                    .expect("a String takes it");
            }
            _ if random.one_in(12) => {
                text.push_str(random.pick(&["[open", "!include ", "!includedir ", "!include"]));
            }
            _ => {
                let target = dir.join(random.pick(&["d", "d/", "e", "e/", "d", "e", "d", "none"]));
                write!(text, "!includedir {}", target.display()).expect("a String takes it");
            }
        }
        text.push_str(line_end);
    }
    if random.one_in(8) {
        text.truncate(text.trim_end().len());
    }
    text
}

/// What the program prints for these settings.
fn printed(effective: &Effective) -> String {
    let mut text = String::new();
    for setting in &effective.settings {
        text.push_str("--");
        text.push_str(&setting.key_as_written);
        if let Some(value) = &setting.value_as_written {
            text.push('=');
            text.push_str(value);
        }
        text.push('\n');
    }
    text
}

#[test]
fn agrees_with_my_print_defaults_on_random_trees() {
    let program = my_print_defaults();
    let mut endless = 0;
    let mut refused = 0;
    let mut with_settings = 0;
    for seed in 0..TREES {
        let random = &mut Random(seed);
        let tree = tempfile::tempdir().expect("a temporary directory can be made");
        let dir = tree.path();
        for sub in ["d", "e"] {
            fs::create_dir(dir.join(sub)).expect("the tree is ours");
        }
        for name in FILES {
            if name != "my.cnf" && random.one_in(4) {
                continue;
            }
            let text = option_file(random, dir);
            fs::write(dir.join(name), text).expect("the tree is ours");
            let mode = if random.one_in(15) { 0o666 } else { 0o644 };
            fs::set_permissions(dir.join(name), fs::Permissions::from_mode(mode)).expect("the file is ours");
        }
        let main = dir.join("my.cnf");
        let suffix = random.pick(&["", "", "1"]);
        let mut groups = default_groups(true, "10.11", true);
        if !suffix.is_empty() {
            groups = with_group_suffix(&groups, suffix);
        }

        let ours = match resolve(&Start::DefaultsFile(main.clone()), &groups, &LocalFiles) {
            // The program has no such limit, and may read circles of directories for years.
            Err(ResolveError::TooManyFiles { .. }) => {
                endless += 1;
                continue;
            }
            other => other.map(|effective| printed(&effective)),
        };

        let mut command = Command::new(&program);
        command.arg(format!("--defaults-file={}", main.display()));
        if !suffix.is_empty() {
            command.arg(format!("--defaults-group-suffix={suffix}"));
        }
        let output = command
            .arg("--mysqld")
            .env_remove("MYSQL_GROUP_SUFFIX")
            .output()
            .expect("the program can be run");
        let theirs = String::from_utf8_lossy(&output.stdout).into_owned();
        let tree_kept = || {
            let kept = env::temp_dir().join(format!("sealion-my-print-defaults-{seed}"));
            let _ = fs::remove_dir_all(&kept);
            let _ = Command::new("cp").arg("-a").args([dir, &kept]).status();
            kept
        };
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        match ours {
            // The program prints nothing when it refuses.
            Err(error) => {
                assert!(
                    !output.status.success(),
                    "seed {seed}: only we refuse: {error}\ntree: {}",
                    tree_kept().display()
                );
                refused += 1;
            }
            Ok(ours) => {
                assert!(
                    output.status.success(),
                    "seed {seed}: only the program refuses: {complaint}\ntree: {}",
                    tree_kept().display()
                );
                assert_eq!(
                    ours,
                    theirs,
                    "seed {seed}: left is ours, right the program's {complaint}\ntree: {}",
                    tree_kept().display()
                );
                with_settings += usize::from(!ours.is_empty());
            }
        }
    }
    // Control: the trees exercise both ends.
    assert!(endless <= TREES / 5, "{endless} of {TREES} trees were endless");
    assert!(refused >= 10, "only {refused} of {TREES} trees were refused");
    assert!(with_settings >= 100, "only {with_settings} of {TREES} trees gave settings");
}
