use super::*;
use crate::attempt::tests::{KEY_1, MASTER_1, MASTER_2, keys, mariadb_table, mysql_table, ring};
use disk::{AriaNeed, LogNeed, RedoNeed, SpaceNeed};
use formats::binlog::Binlog;
use formats::innodb::redo::{Redo, RedoKey};

fn needs(family: Family, spaces: Vec<SpaceNeed>) -> Needs {
    let redo = match family {
        Family::MariaDb => Redo::MariaDb { key: Some(RedoKey { id: 1, version: 1 }), creator: String::new() },
        Family::MySql => Redo::MySql { master_key_id: Some(2), creator: String::new() },
    };
    Needs {
        root: "/d".into(),
        family: Some(family),
        server_uuid: Some("5508c6de-ea1a-11f1-bb1a-02fc00000001".into()),
        spaces,
        redo: vec![RedoNeed { path: "ib_logfile0".into(), redo }],
        aria: vec![],
        logs: vec![],
        unread: vec![],
    }
}

fn fine_options() -> KeyOptions {
    KeyOptions {
        loads_plugin: true,
        names_key_file: true,
        algorithm: Algorithm::Ctr,
        loads_other: false,
        demands: vec![],
    }
}

fn there(path: &str) -> FileLook {
    FileLook { path: path.into(), state: FileState::There }
}

fn seen<'a>(needs: &'a Needs, keys: Option<&'a Result<Keys, NoKeys>>) -> Seen<'a> {
    let options = fine_options();
    let is_mysql = needs.family == Some(Family::MySql);
    Seen {
        needs,
        node: Some("n1"),
        options: (!is_mysql).then_some(options),
        key_file: Some(there("/k")),
        pass_file: if is_mysql { None } else { Some(there("/p")) },
        backup: None,
        keys,
        copies: &[],
        log: &[],
    }
}

/// Kinds of what is wrong, and the verdict.
fn says(seen: &Seen<'_>) -> (Vec<String>, Verdict) {
    let found = judge(seen);
    let is_right = found.problems.iter().all(|problem| problem.kind == NOT_IN_ESCROW);
    assert_eq!(found.forbidden.is_empty(), is_right && found.verdict != Verdict::Unknown);
    for problem in &found.problems {
        let texts = [&problem.what, &problem.why, &problem.lost, &problem.next];
        assert!(texts.iter().all(|text| !text.is_empty() && !text.contains(KEY_1)), "{problem:?}");
    }
    (found.problems.into_iter().map(|problem| problem.kind).collect(), found.verdict)
}

fn maria() -> Needs {
    needs(Family::MariaDb, vec![mariadb_table("d/t1.ibd", 1)])
}

fn right() -> Keys {
    keys(&format!("1;{KEY_1}"))
}

fn copy(name: &str, list: &str, is_same: [bool; 2]) -> CopyLook {
    let [file, pass] = is_same.map(Some);
    CopyLook { name: name.into(), keys: keys(list), is_same_key_file: file, is_same_pass_file: pass }
}

#[test]
fn right_keys_are_no_problem_and_wrong_ones_are_named() {
    let needs = maria();
    let keys_right = Ok(right());
    assert_eq!(says(&seen(&needs, Some(&keys_right))), (vec![], Verdict::NoKeyProblem));
    let wrong = Ok(keys(&format!("1;{}", "ab".repeat(32))));
    assert_eq!(says(&seen(&needs, Some(&wrong))), (vec!["wrong_keys".into()], Verdict::KeyProblem));
    let two = self::needs(Family::MariaDb, vec![mariadb_table("d/t1.ibd", 1), mariadb_table("d/t2.ibd", 2)]);
    assert_eq!(says(&seen(&two, Some(&keys_right))), (vec!["key_missing".into()], Verdict::KeyProblem));
}

#[test]
fn keys_that_no_copy_in_the_escrow_has_are_a_problem_before_they_are_lost() {
    let needs = maria();
    let keys_right = Ok(right());
    let other = format!("1;{}", "ab".repeat(32));
    let of = |lists: &[&str]| {
        let copies: Vec<CopyLook> = lists.iter().map(|list| copy("c-1", list, [false, false])).collect();
        says(&Seen { copies: &copies, ..seen(&needs, Some(&keys_right)) })
    };
    assert_eq!(of(&[&other]), (vec!["not_in_escrow".into()], Verdict::KeyProblem));
    assert_eq!(of(&[&other, &format!("1;{KEY_1}")]), (vec![], Verdict::NoKeyProblem));
}

#[test]
fn files_that_are_not_there_or_do_not_open_are_told_apart() {
    let needs = maria();
    let absent = |path: &str| Some(FileLook { path: path.into(), state: FileState::Absent });
    let gone = Seen { key_file: absent("/k"), ..seen(&needs, None) };
    assert_eq!(says(&gone), (vec!["key_file_missing".into()], Verdict::KeyProblem));
    let gone = Seen { pass_file: absent("/p"), ..seen(&needs, None) };
    assert_eq!(says(&gone), (vec!["pass_file_missing".into()], Verdict::KeyProblem));
    let closed = Err(NoKeys::NotOpened);
    let list = format!("1;{KEY_1}");
    for (is_same, kind) in [
        ([true, false], "pass_file_wrong"),
        ([false, true], "key_file_damaged"),
        ([false, false], "pass_file_wrong"),
    ] {
        let copies = [copy("c-1", &list, is_same)];
        let found = judge(&Seen { copies: &copies, ..seen(&needs, Some(&closed)) });
        assert_eq!(found.problems[0].kind, kind, "{is_same:?}");
        assert_eq!(found.problems[0].next, "sealion keys restore n1 --entry c-1");
    }
    let cut = Err(NoKeys::Damaged("cut off".into()));
    assert_eq!(says(&seen(&needs, Some(&cut))).0, ["key_file_damaged"]);
    let forbidden = FileState::NotByServer("mode 0600 of another user".into());
    let keys = Ok(right());
    let other = Seen {
        key_file: Some(FileLook { path: "/k".into(), state: forbidden }),
        ..seen(&needs, Some(&keys))
    };
    assert_eq!(says(&other).0, ["key_file_unreadable"]);
}

#[test]
fn what_cannot_be_told_is_no_answer_of_its_own() {
    let needs = maria();
    let keys = Ok(right());
    let nowhere = Seen { key_file: None, pass_file: None, ..seen(&needs, None) };
    assert_eq!(says(&nowhere), (vec![], Verdict::Unknown));
    let unread = FileState::Unknown("Permission denied".into());
    let unread = Seen { key_file: Some(FileLook { path: "/k".into(), state: unread }), ..seen(&needs, None) };
    assert_eq!(says(&unread), (vec![], Verdict::Unknown));
    let mut nothing_to_try = maria();
    nothing_to_try.spaces[0].ciphertexts.clear();
    assert_eq!(says(&seen(&nothing_to_try, Some(&keys))), (vec![], Verdict::Unknown));
    let mut unread = maria();
    unread.unread.push(("d/x.ibd".into(), "it cannot be read".into()));
    assert_eq!(says(&seen(&unread, Some(&keys))), (vec![], Verdict::Unknown));
    // A damaged page is said, and is not blamed on keys.
    let mut damaged = maria();
    damaged.spaces[0].damaged = 1;
    let found = judge(&seen(&damaged, Some(&keys)));
    assert_eq!((found.verdict, found.notes.len()), (Verdict::NoKeyProblem, 1));
}

#[test]
fn a_copy_helps_only_if_its_keys_open_the_data() {
    let needs = maria();
    let keys = Err(NoKeys::Empty);
    let copies = [
        copy("c-1", &format!("1;{KEY_1}"), [false, false]),
        copy("c-2", &format!("1;{}", "ab".repeat(32)), [false, false]),
    ];
    let found = judge(&Seen { copies: &copies, ..seen(&needs, Some(&keys)) });
    assert_eq!(found.problems[0].next, "sealion keys restore n1 --entry c-1");
    let found = judge(&Seen { copies: &copies[1..], ..seen(&needs, Some(&keys)) });
    assert!(
        found.problems[0].next.starts_with("no copy in the escrow is known to open"),
        "{:?}",
        found.problems
    );
    assert!(found.problems[0].lost.contains("are lost if no copy"));
}

#[test]
fn a_copy_that_opens_a_part_is_named_with_it() {
    let mut needs = needs(Family::MariaDb, vec![mariadb_table("d/t1.ibd", 1), mariadb_table("d/t2.ibd", 2)]);
    // Whatever keys are tried, this one is of others.
    needs.spaces[1].ciphertexts.iter_mut().for_each(|one| one.start.reverse());
    let keys = Err(NoKeys::Empty);
    let copies = [
        copy("c-1", &format!("1;{KEY_1}\n2;{}", "cd".repeat(32)), [false, false]),
        copy("c-2", &format!("1;{}", "ab".repeat(32)), [false, false]),
    ];
    let found = judge(&Seen { copies: &copies, ..seen(&needs, Some(&keys)) });
    let problem = &found.problems[0];
    assert!(problem.next.contains("no copy in the escrow opens all"), "{}", problem.next);
    assert!(
        problem.next.contains("c-1 opens 1 of 2 files (d/t1.ibd)") && !problem.next.contains("c-2"),
        "{}",
        problem.next
    );
    assert!(problem.lost.contains("c-1 opens 1 of 2"), "{}", problem.lost);
}

#[test]
fn options_and_algorithm_are_named_where_keys_are_right() {
    let needs = maria();
    let keys = Ok(right());
    let with = |options| says(&Seen { options: Some(options), ..seen(&needs, Some(&keys)) }).0;
    let all = fine_options();
    assert_eq!(with(KeyOptions { algorithm: Algorithm::Cbc, ..all.clone() }), ["other_algorithm"]);
    assert_eq!(with(KeyOptions { loads_plugin: false, ..all.clone() }), ["plugin_not_loaded"]);
    assert_eq!(with(KeyOptions { names_key_file: false, ..all }), ["plugin_not_loaded"]);
    let sign = |kind| LogSign { kind, line: "as it stands".into() };
    let only_log = |log: &[LogSign]| says(&Seen { options: None, log, ..seen(&needs, Some(&keys)) }).0;
    assert_eq!(only_log(&[sign(LogKind::RedoKey)]), ["plugin_not_loaded"]);
    // The file was missing then, and is back.
    assert!(only_log(&[sign(LogKind::FileMissing), sign(LogKind::NoPlugin)]).is_empty());
}

#[test]
fn keyrings_of_mysql_are_told_apart() {
    let needs = needs(Family::MySql, vec![mysql_table("d/t1.ibd")]);
    let other = ("INNODBKey-99999999-ea1a-11f1-bb1a-02fc00000001-2", MASTER_2.1);
    for (ring, kinds) in [
        (ring(&[MASTER_1, MASTER_2]), vec![]),
        (ring(&[]), vec!["keyring_empty"]),
        (ring(&[MASTER_1]), vec!["older_keys"]),
        (ring(&[other]), vec!["other_server"]),
        (ring(&[(MASTER_2.0, MASTER_1.1)]), vec!["wrong_keys"]),
    ] {
        let keys = Ok(ring);
        let mut found = says(&seen(&needs, Some(&keys))).0;
        found.dedup();
        assert_eq!(found, kinds);
    }
    let empty = Err(NoKeys::Empty);
    assert_eq!(says(&seen(&needs, Some(&empty))).0, ["keyring_empty"]);
}

fn plain() -> Needs {
    let mut plain = maria();
    plain.redo.clear();
    plain.spaces[0].encrypted = 0;
    plain.spaces[0].header.crypt = None;
    plain
}

fn without_keys() -> KeyOptions {
    KeyOptions { loads_plugin: false, names_key_file: false, ..fine_options() }
}

#[test]
fn plain_files_need_no_keys_where_the_server_demands_none() {
    let plain = plain();
    let bare = Seen { key_file: None, pass_file: None, ..seen(&plain, None) };
    let none = Seen { options: Some(without_keys()), ..bare };
    assert_eq!(says(&none), (vec![], Verdict::NoKeyProblem));
    // Without option files nobody knows whether there are binary logs elsewhere, and what the server demands.
    let files = Seen { options: None, key_file: None, pass_file: None, ..seen(&plain, None) };
    assert_eq!(judge(&files).verdict, Verdict::Unknown);
}

#[test]
fn what_the_option_files_demand_is_a_need_whatever_the_files_hold() {
    let plain = plain();
    let absent = |path: &str| Some(FileLook { path: path.into(), state: FileState::Absent });
    let gone = Seen { key_file: absent("/k"), pass_file: absent("/p"), ..seen(&plain, None) };
    let found = judge(&gone);
    let kinds: Vec<&str> = found.problems.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!((kinds, found.verdict), (vec!["key_file_missing", "pass_file_missing"], Verdict::KeyProblem));
    assert!(found.problems.iter().all(|one| one.lost.contains("none that was read is encrypted")));
    let demands = KeyOptions { demands: vec!["encrypt_binlog=ON".into()], ..without_keys() };
    let bare = Seen { key_file: None, pass_file: None, options: Some(demands.clone()), ..seen(&plain, None) };
    let found = judge(&bare);
    assert_eq!((found.problems.len(), found.verdict), (1, Verdict::KeyProblem), "{found:?}");
    assert_eq!(found.problems[0].kind, "plugin_not_loaded");
    assert!(found.problems[0].what.contains("encrypt_binlog=ON"), "{found:?}");
    // Its keys are somewhere else, and nobody asked there.
    let other = Seen { options: Some(KeyOptions { loads_other: true, ..demands }), ..bare };
    assert_eq!(judge(&other).verdict, Verdict::Unknown);
    let nameless = KeyOptions { names_key_file: false, ..fine_options() };
    let nameless = Seen { options: Some(nameless), key_file: None, pass_file: None, ..seen(&plain, None) };
    assert_eq!(judge(&nameless).problems[0].kind, "plugin_not_loaded");
    // The plugin does not start without key 1.
    let two = Ok(keys(&format!("2;{KEY_1}")));
    let found = judge(&seen(&plain, Some(&two)));
    assert_eq!(found.problems[0].kind, "key_missing", "{found:?}");
    let fine = Ok(right());
    assert_eq!(judge(&seen(&plain, Some(&fine))).verdict, Verdict::NoKeyProblem);
}

#[test]
fn tables_of_aria_and_binary_logs_are_needs() {
    let aria = || AriaNeed { path: "d/a.MAI".into(), trial: None };
    let log = || LogNeed {
        path: "binlog.000001".into(),
        log: Binlog::MariaDbEncrypted { key_version: 1 },
        trial: None,
    };
    for needs in [Needs { aria: vec![aria()], ..plain() }, Needs { logs: vec![log()], ..plain() }] {
        let bare = Seen { key_file: None, pass_file: None, ..seen(&needs, None) };
        let bare = judge(&Seen { options: Some(without_keys()), ..bare });
        assert_eq!(bare.verdict, Verdict::Unknown, "{bare:?}");
        let gone = FileLook { path: "/k".into(), state: FileState::Absent };
        let gone = judge(&Seen { key_file: Some(gone), ..seen(&needs, None) });
        assert_eq!(gone.problems[0].kind, "key_file_missing");
        // Nothing to try it on.
        let keys = Ok(right());
        let found = judge(&seen(&needs, Some(&keys)));
        assert_eq!(found.verdict, Verdict::Unknown, "{found:?}");
        assert_eq!(found.keys[0].result, "not_tried");
        // The only copy is offered, and not said to be right; of two none is.
        let list = format!("1;{KEY_1}");
        let copies = [copy("c-1", &list, [false, false]), copy("c-2", &list, [false, false])];
        let empty = Err(NoKeys::Empty);
        let found = judge(&Seen { copies: &copies[..1], ..seen(&needs, Some(&empty)) });
        assert_eq!(found.problems[0].next, "sealion keys restore n1 --entry c-1");
        assert!(found.problems[0].lost.contains("cannot be tried"), "{found:?}");
        let found = judge(&Seen { copies: &copies, ..seen(&needs, Some(&empty)) });
        assert!(found.problems[0].next.starts_with("no copy in the escrow is known"), "{found:?}");
    }
    // Where another file tells of the key, that is enough.
    let both = Needs { aria: vec![aria()], logs: vec![log()], ..maria() };
    let keys = Ok(right());
    assert_eq!(says(&seen(&both, Some(&keys))), (vec![], Verdict::NoKeyProblem));
}

#[test]
fn a_file_of_which_nothing_tells_the_key_is_not_passed_over() {
    let keys = Ok(right());
    let mut nameless = maria();
    nameless.spaces.push(mariadb_table("d/half.ibd", 1));
    nameless.spaces[1].header.crypt = None;
    let found = judge(&seen(&nameless, Some(&keys)));
    assert_eq!(found.verdict, Verdict::Unknown, "{found:?}");
    assert!(found.unknown[0].contains("d/half.ibd"), "{found:?}");
    let mut old = maria();
    let redo = Redo::Unknown("a format of the redo log that is not known");
    old.redo.push(RedoNeed { path: "ib_logfile0".into(), redo });
    assert_eq!(judge(&seen(&old, Some(&keys))).verdict, Verdict::Unknown);
}

#[test]
fn a_backup_of_a_keyring_is_a_problem_where_it_has_fewer_keys() {
    let needs = needs(Family::MySql, vec![mysql_table("d/t1.ibd")]);
    let foreign = ("INNODBKey-11111111-2222-3333-4444-555555555555-1", MASTER_1.1);
    let other = ("MySQLReplicationKey_5508c6de-ea1a-11f1-bb1a-02fc00000001_1", MASTER_1.1);
    let (both, older) = (|| Ok(ring(&[MASTER_1, MASTER_2])), || Ok(ring(&[MASTER_1])));
    let damaged = || Err(NoKeys::Damaged("it is no JSON".into()));
    let swapped = || Ok(ring(&[MASTER_1, (MASTER_2.0, MASTER_1.1)]));
    let plugin = || Err(NoKeys::OtherFormat);
    let stale = (vec!["stale_backup".to_owned()], Verdict::KeyProblem);
    let fine = (vec![], Verdict::NoKeyProblem);
    for (keyring, backup, is_same, says_so) in [
        (both(), older(), false, &stale),
        (both(), damaged(), false, &stale),
        (both(), Ok(ring(&[])), false, &stale),
        // A key of something else than InnoDB counts, one of another server does not.
        (Ok(ring(&[MASTER_1, MASTER_2, other])), both(), false, &stale),
        (Ok(ring(&[MASTER_1, MASTER_2, foreign])), both(), false, &fine),
        // Of one name, the key that opens the files.
        (both(), swapped(), false, &stale),
        (swapped(), both(), false, &fine),
        (both(), both(), true, &fine),
        (both(), Ok(ring(&[MASTER_1, MASTER_2, other])), false, &fine),
        (both(), Err(NoKeys::Empty), false, &fine),
        (older(), both(), false, &fine),
        (damaged(), both(), false, &fine),
        (Err(NoKeys::Empty), both(), false, &fine),
        (both(), plugin(), false, &(vec![], Verdict::Unknown)),
    ] {
        let shown = format!("{keyring:?} {backup:?}");
        let backup =
            BackupLook { file: there("/k.backup"), keys: Some(backup), is_same_bytes: Some(is_same) };
        let found = judge(&Seen { backup: Some(backup), ..seen(&needs, Some(&keyring)) });
        let kinds: Vec<String> = found.problems.into_iter().map(|one| one.kind).collect();
        assert_eq!(&(kinds, found.verdict), says_so, "{shown}");
        let forbids_start = found.forbidden.iter().any(|line| line.starts_with("starting"));
        assert_eq!(forbids_start, says_so == &stale, "{shown}");
    }
    let keyring = both();
    let unread = FileLook { path: "/k.backup".into(), state: FileState::Unknown("permission denied".into()) };
    let backup = BackupLook { file: unread, keys: None, is_same_bytes: None };
    assert_eq!(
        judge(&Seen { backup: Some(backup), ..seen(&needs, Some(&keyring)) }).verdict,
        Verdict::Unknown
    );
}
