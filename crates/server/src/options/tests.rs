use std::collections::BTreeMap;

use super::*;

/// Files in memory; a path that ends in `!` cannot be read, one that ends in `w.cnf` is world-writable.
struct Memory(BTreeMap<PathBuf, Vec<u8>>);

impl Source for Memory {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        if path.ends_with("secret.cnf") {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(self.0.get(path).cloned())
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let inside: Vec<PathBuf> =
            self.0.keys().rev().filter(|file| file.parent() == Some(path)).cloned().collect();
        if inside.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(inside) }
    }

    fn world_writable(&self, path: &Path) -> io::Result<bool> {
        Ok(path.ends_with("w.cnf"))
    }

    fn home_dir(&self) -> Option<PathBuf> {
        Some(PathBuf::from("/home/me"))
    }
}

fn files(files: &[(&str, &str)]) -> Memory {
    Memory(files.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec())).collect())
}

fn groups(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn my_cnf(source: &Memory) -> Result<Effective, ResolveError> {
    resolve(&Start::DefaultsFile("/my.cnf".into()), &groups(&["mysqld", "mariadb"]), source)
}

fn places(effective: &Effective, key: &str) -> Vec<String> {
    effective
        .history(key)
        .iter()
        .map(|setting| format!("{}:{}", setting.file.display(), setting.line))
        .collect()
}

#[test]
fn a_section_after_the_includedir_line_beats_every_included_file() {
    let source = files(&[
        ("/my.cnf", "[mysqld]\nssl-ca=1\n!includedir /d/\nssl_ca=4\n"),
        ("/d/a.cnf", "[mariadb]\nssl-ca=3\n"),
        ("/d/B.cnf", "[mysqld]\nloose-ssl-ca=2\n[client]\nssl-ca=no\n"),
        ("/d/z.ini", "[mysqld]\nssl-ca=no\n"),
        ("/d/y.cnf.bak", "[mysqld]\nssl-ca=no\n"),
    ]);
    let effective = my_cnf(&source).expect("is fine");
    assert_eq!(places(&effective, "ssl-ca"), ["/my.cnf:2", "/d/B.cnf:2", "/d/a.cnf:2", "/my.cnf:4"]);
    let last = effective.effective("ssl_ca").expect("is set");
    assert_eq!((last.value.as_deref(), last.key.as_str(), last.line), (Some("4"), "ssl_ca", 4));
    assert_eq!(effective.notes, Vec::<String>::new());
}

#[test]
fn a_file_that_includes_itself_is_read_eleven_times() {
    let effective = my_cnf(&files(&[("/my.cnf", "[mysqld]\na\n!include /my.cnf\n")])).expect("ends");
    assert_eq!(effective.settings.len(), 11);
    assert!(effective.notes.iter().any(|note| note.contains("10 includes")), "{:?}", effective.notes);
}

#[test]
fn refuses_includes_that_multiply() {
    let error = my_cnf(&files(&[("/my.cnf", "!include /my.cnf\n!include /my.cnf\n!include /my.cnf\n")]));
    assert!(matches!(error, Err(ResolveError::TooManyFiles { .. })), "{error:?}");
}

#[test]
fn a_mistake_in_an_included_file_ends_only_that_file() {
    let source = files(&[("/my.cnf", "[mysqld]\n!include /i.cnf\nb\n"), ("/i.cnf", "[mysqld]\na\n[x\nc\n")]);
    let effective = my_cnf(&source).expect("goes on");
    let keys: Vec<&str> = effective.settings.iter().map(|setting| setting.key.as_str()).collect();
    assert_eq!(keys, ["a", "b"]);
    assert!(effective.notes.iter().any(|note| note.contains("/i.cnf:3")), "{:?}", effective.notes);
}

#[test]
fn does_not_guess_what_the_server_makes_of_a_mangled_included_file() {
    for text in ["[mysqld]\na=\0\nb=1\n", "[mysqld]\n=x\n"] {
        let source = files(&[("/my.cnf", "!include /i.cnf\n"), ("/i.cnf", text)]);
        assert!(matches!(my_cnf(&source), Err(ResolveError::File(_))));
    }
}

#[test]
fn stops_where_the_server_would_not_start() {
    let check = |text: &str, expected: &str| {
        let error = my_cnf(&files(&[("/my.cnf", text)])).expect_err("is fatal").to_string();
        assert!(
            error.contains(expected) && error.contains("\n  why:  ") && error.contains("\n  next: "),
            "{error}"
        );
    };
    check("[mysqld\n", "/my.cnf:1");
    check("a=1\n", "before any group");
    check("[mysqld]\n!includedir /nope\n", "/my.cnf:2: !includedir /nope");
    check("!include /secret.cnf\n", "cannot read /secret.cnf");
    let error = my_cnf(&files(&[])).expect_err("must exist").to_string();
    assert!(error.contains("required option file /my.cnf"), "{error}");
}

#[test]
fn says_what_the_server_passes_over() {
    let long = format!("/{}", "x".repeat(600));
    let text = format!(
        "[mysqld]\n!include /w.cnf\n!include /nope.cnf\n!include {long}\n!include rel.cnf\n!include ~/h.cnf\n!include ~you/h.cnf\na=1\n!include /w.cnfX"
    );
    let source =
        files(&[("/my.cnf", &text), ("/w.cnf", "[mysqld]\nw\n"), ("/home/me/h.cnf", "[mysqld]\nh\n")]);
    let effective = my_cnf(&source).expect("goes on");
    let keys: Vec<&str> = effective.settings.iter().map(|setting| setting.key.as_str()).collect();
    assert_eq!(keys, ["h", "a"]);
    let notes = effective.notes.join("\n");
    for part in [
        "everybody may write",
        "/nope.cnf does not exist",
        "longer than 508",
        "rel.cnf is relative",
        "~you/h.cnf was not read",
        "without a line feed",
    ] {
        assert!(notes.contains(part), "{part} is missing in\n{notes}");
    }
}

#[test]
fn the_extra_file_stands_before_the_one_in_the_home_directory() {
    let source = files(&[
        ("/etc/my.cnf", "[mysqld]\na=1\n"),
        ("/extra", "[mysqld]\na=2\n"),
        ("/home/me/.my.cnf", "[mysqld]\na=3\n"),
    ]);
    let start = |extra: &str| Start::Default {
        extra: Some(extra.into()),
        paths: vec!["/etc/my.cnf".into(), "/etc/mysql/my.cnf".into(), "~/.my.cnf".into()],
    };
    let effective = resolve(&start("/extra"), &groups(&["mysqld"]), &source).expect("is fine");
    assert_eq!(places(&effective, "a"), ["/etc/my.cnf:2", "/extra:2", "/home/me/.my.cnf:2"]);
    assert!(matches!(resolve(&start("/nope"), &[], &source), Err(ResolveError::Missing { .. })));
}

#[test]
fn a_password_is_not_shown_by_debug() {
    let effective = my_cnf(&files(&[("/my.cnf", "[mysqld]\nwsrep-sst-auth=u:geheim\n")])).expect("is fine");
    assert!(!format!("{effective:?}").contains("geheim"));
    assert_eq!(
        effective.effective("wsrep_sst_auth").and_then(|setting| setting.value.as_deref()),
        Some("u:geheim")
    );
}

#[test]
fn knows_the_groups_of_each_flavour() {
    assert_eq!(
        default_groups(true, "10.11.19-MariaDB", true),
        [
            "mysqld",
            "server",
            "mysqld-10.11",
            "mariadb",
            "mariadb-10.11",
            "mariadbd",
            "mariadbd-10.11",
            "client-server",
            "galera"
        ]
    );
    assert_eq!(default_groups(false, "8.0", true), ["mysqld", "server", "mysqld-8.0"]);
    assert_eq!(with_group_suffix(&groups(&["a"]), "1"), ["a", "a1"]);
    assert_eq!(with_group_suffix(&groups(&["a"]), ""), ["a"]);
}
