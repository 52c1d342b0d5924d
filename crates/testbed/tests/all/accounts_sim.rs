//! Accounts that must use TLS, on a simulated cluster: who may be cut off, and who is asked before.

use change::Direction;
use model::{Change, Noun, Verb};
use server::accounts::{Account, AccountName, AccountTls};
use testbed::sim::{Operator, Rig, World};

const SEED: u64 = 20_261_125;

fn name(user: &str, host: &str) -> AccountName {
    AccountName { user: user.into(), host: host.into() }
}

fn accounts(verb: Verb) -> Change {
    Change::new(verb, [Noun::Accounts])
}

fn sealed() -> Rig {
    let rig = Rig::on(World::cluster(SEED, 3));
    let one = Operator::new(&rig, "root@db1");
    assert!(one.apply(&one.plan(&Change::new(Verb::Enable, Noun::ALL)).expect("a plan")).is_complete());
    // Clients may use cleartext again; TLS is still offered.
    let open = Change::new(Verb::Disable, [Noun::RequireTls]);
    assert!(one.apply(&one.plan(&open).expect("a plan")).is_complete());
    for (user, tls, is_local) in [
        ("audit", AccountTls::Certificate, false),
        ("web", AccountTls::Tls, false),
        ("by_socket", AccountTls::None, true),
    ] {
        rig.shared.borrow_mut().accounts.push(Account {
            name: name(user, "%"),
            tls,
            is_local,
            is_own: false,
        });
    }
    rig
}

fn tls_of(rig: &Rig) -> Vec<(String, AccountTls)> {
    rig.shared.borrow().accounts.iter().map(|one| (one.name.user.clone(), one.tls)).collect()
}

fn words(of: &[(&str, AccountTls)]) -> Vec<(String, AccountTls)> {
    of.iter().map(|(user, tls)| ((*user).to_owned(), *tls)).collect()
}

use AccountTls::{Certificate, None as Nothing, Tls};

#[test]
fn a_replica_that_the_inventory_does_not_know_is_told_before_anybody_agrees() {
    let rig = sealed();
    let told = |rig: &Rig| {
        let impact = Operator::new(rig, "root@db1").plan(&accounts(Verb::Enable)).expect("a plan").impact;
        impact.into_iter().find(|line| line.contains("replica"))
    };
    assert_eq!(told(&rig), None);
    rig.shared.borrow_mut().servers[1].foreign_replicas.push("rep@10.9.0.1:40001".into());
    let line = told(&rig).expect("told");
    assert!(
        line.contains("1 replica reads from n2 (rep@10.9.0.1:40001)") && line.contains("has 0"),
        "{line}"
    );
}

#[test]
fn the_smallest_reach_comes_first() {
    let rig = sealed();
    for host in ["10.0.0.7", "10.%", "10.0.%", "%", "_0.0.0.7"] {
        rig.shared.borrow_mut().accounts.push(Account {
            name: name("zed", host),
            tls: AccountTls::None,
            is_local: false,
            is_own: false,
        });
    }
    let plan = Operator::new(&rig, "root@db1").plan(&accounts(Verb::Enable)).expect("a plan");
    let hosts: Vec<String> = plan
        .steps
        .iter()
        .filter_map(|step| step.id.to_string().strip_prefix("A1.zed@").map(str::to_owned))
        .collect();
    assert_eq!(hosts, ["10.0.0.7", "_0.0.0.7", "10.0.%", "10.%", "%"]);
}

#[test]
fn accounts_of_the_network_must_use_tls_and_no_others_change() {
    let rig = sealed();
    let before = tls_of(&rig);
    let one = Operator::new(&rig, "root@db1");
    let plan = one.plan(&accounts(Verb::Enable)).expect("a plan");
    // The smaller reach comes first.
    let ids: Vec<String> = plan.steps.iter().map(|step| step.id.to_string()).collect();
    assert_eq!(ids, ["A0.look", "A1.app@10.0.0.%", "A1.report@%"]);
    assert!(one.apply(&plan).is_complete());
    let after = [
        ("app", Tls),
        ("report", Tls),
        ("root", Nothing),
        ("audit", Certificate),
        ("web", Tls),
        ("by_socket", Nothing),
    ];
    assert_eq!(tls_of(&rig), words(&after));
    assert!(one.go_on(Some(change::Direction::Back)).is_complete());
    assert_eq!(tls_of(&rig), before, "what was so before stays so");
}

#[test]
fn who_is_seen_in_cleartext_is_named_and_not_cut_off() {
    let mut rig = sealed();
    rig.shared.borrow_mut().servers[1].cleartext_clients = 2;
    let before = tls_of(&rig);
    let one = Operator::new(&rig, "root@db1");
    let plan = one.plan(&accounts(Verb::Enable)).expect("a plan");
    let why = one.apply(&plan).text();
    for word in ["app@10.0.0.1:4711", "--leave", "--force"] {
        assert!(why.contains(word), "{word}: {why}");
    }
    assert_eq!(tls_of(&rig), before, "nothing was changed");
    assert!(one.open_plan().is_none(), "nothing is open");

    rig.leave_accounts = vec![name("app", "10.0.0.%")];
    let leaving = Operator::new(&rig, "root@db1");
    let plan = leaving.plan(&accounts(Verb::Enable)).expect("a plan");
    assert!(leaving.apply(&plan).is_complete());
    let of = |user: &str| tls_of(&rig).into_iter().find(|(one, _)| one == user).expect("it is there").1;
    assert_eq!((of("app"), of("report")), (Nothing, Tls));
    assert!(rig.texts().is_empty() || !rig.texts().contains("hunter2"));

    rig.leave_accounts.clear();
    rig.force_accounts = vec![name("app", "10.0.0.%")];
    let forcing = Operator::new(&rig, "root@db1");
    let plan = forcing.plan(&accounts(Verb::Enable)).expect("a plan");
    assert!(plan.impact.iter().any(|line| line.contains("'app'@'10.0.0.%'") && line.contains("--force")));
    assert!(forcing.apply(&plan).is_complete());
    let of = |user: &str| tls_of(&rig).into_iter().find(|(one, _)| one == user).expect("it is there").1;
    assert_eq!(of("app"), Tls);
}

#[test]
fn what_would_shut_somebody_out_is_refused() {
    let mut rig = sealed();
    let refused = |rig: &Rig, change: &Change| {
        let one = Operator::new(rig, "root@db1");
        one.plan(change).expect_err("refused").to_string()
    };
    // Where servers offer no TLS any more, nobody could log in with these.
    let why = refused(&rig, &Change::new(Verb::Disable, Noun::ALL));
    assert!(
        why.contains("'audit'@'%'") && why.contains("'web'@'%'") && why.contains("clients,accounts"),
        "{why}"
    );
    let both = Change::new(Verb::Disable, [Noun::Galera, Noun::Sst, Noun::Clients, Noun::Accounts]);
    let why = refused(&rig, &both);
    assert!(why.contains("'audit'@'%'") && !why.contains("'web'@'%'"), "{why}");
    rig.shared.borrow_mut().accounts.retain(|one| one.tls != Certificate);
    let one = Operator::new(&rig, "root@db1");
    assert!(one.apply(&one.plan(&both).expect("a plan")).is_complete());
    assert!(tls_of(&rig).iter().all(|(_, tls)| *tls == Nothing));

    // And no account may require what no server offers.
    let why = refused(&rig, &accounts(Verb::Enable));
    assert!(
        why.contains("does not offer TLS") && why.contains("sealion plan enable sst,clients,accounts"),
        "{why}"
    );
    rig.leave_accounts = vec![name("nobody", "%")];
    let wish = Change::new(Verb::Enable, [Noun::Clients, Noun::Accounts]);
    assert!(refused(&rig, &wish).contains("there is no account 'nobody'@'%' on n1"));
}

#[test]
fn a_look_that_sees_nothing_is_no_consent() {
    let mut rig = sealed();
    rig.blind = true;
    let plan = rig.plan(&accounts(Verb::Enable)).expect("a plan");
    let why = rig.apply(&plan).text();
    assert!(why.contains("cannot be seen here") && why.contains("--accept-unknown-clients"), "{why}");
    rig.blind = false;
    rig.shared.borrow_mut().spoilt_looks = 3;
    let why = rig.apply(&rig.plan(&accounts(Verb::Enable)).expect("a plan")).text();
    assert!(why.contains("could not be seen") && why.contains("dropped 3 packets"), "{why}");
    assert!(rig.shared.borrow().accounts.iter().all(|one| one.name.user != "app" || one.tls == Nothing));
}

#[test]
fn nobody_is_cut_off_over_the_unix_socket_and_least_of_all_sealion() {
    let rig = sealed();
    let own = Account { name: name("dba", "%"), tls: Nothing, is_local: false, is_own: true };
    rig.shared.borrow_mut().accounts.push(own);
    // `root` has an account at localhost, `report` has none.
    rig.shared.borrow_mut().socket_users = vec!["root".into(), "report".into()];
    let one = Operator::new(&rig, "root@db1");
    let plan = one.plan(&accounts(Verb::Enable)).expect("a plan");
    assert!(plan.steps.iter().all(|step| step.id.0 != "A1.dba@%"));
    assert!(plan.impact.iter().any(|line| line.contains("'dba'@'%' stays as it is")), "{:?}", plan.impact);
    let why = one.apply(&plan).text();
    assert!(why.contains("unix socket") && why.contains("report on n1") && !why.contains("root on"), "{why}");
    rig.shared.borrow_mut().socket_users = vec!["root".into()];
    assert!(one.apply(&one.plan(&accounts(Verb::Enable)).expect("a plan")).is_complete());
}

#[test]
fn of_single_clients_only_those_that_may_be_of_an_account_stop_it() {
    use model::Transport::{Cleartext, Tls as OverTls, Unknown};
    let refused = |clients: Vec<(Option<String>, model::Transport)>, leave: &[&str]| {
        let mut rig = sealed();
        rig.leave_accounts =
            leave.iter().map(|user| name(user, if *user == "app" { "10.0.0.%" } else { "%" })).collect();
        rig.shared.borrow_mut().other_clients = clients;
        let one = Operator::new(&rig, "root@db1");
        let end = one.apply(&one.plan(&accounts(Verb::Enable)).expect("a plan"));
        (!end.is_complete()).then(|| end.text())
    };
    let user = |user: &str| Some(user.to_owned());
    // A session that says nothing may be cleartext, and is of this account.
    let why = refused(vec![(user("report"), Unknown)], &[]).expect("refused");
    assert!(why.contains("report@10.0.0.1:4999 on n1 sent nothing"), "{why}");
    assert_eq!(refused(vec![(user("report"), Unknown)], &["report"]), None);
    assert_eq!(refused(vec![(user("report"), OverTls), (user("root"), Unknown)], &[]), None);
    // Gone before the next look, it is no better known.
    let rig = sealed();
    rig.shared.borrow_mut().passing_clients = vec![(user("report"), Unknown)];
    let one = Operator::new(&rig, "root@db1");
    let why = one.apply(&one.plan(&accounts(Verb::Enable)).expect("a plan")).text();
    assert!(why.contains("report@10.0.0.1:4998 on n1 sent nothing"), "{why}");
    // Nobody knows whose it is.
    let why = refused(vec![(None, Cleartext)], &["report"]).expect("refused");
    assert!(why.contains("with which account is not known"), "{why}");
    assert_eq!(refused(vec![(user("web"), Cleartext)], &[]), None, "it is not changed");
}

#[test]
fn what_force_does_is_said_and_a_choice_belongs_to_its_plan() {
    let mut rig = sealed();
    rig.shared.borrow_mut().servers[0].cleartext_clients = 1;
    let plain = Operator::new(&rig, "root@db1").plan(&accounts(Verb::Enable)).expect("a plan");
    rig.force_accounts = vec![name("app", "10.0.0.%")];
    let one = Operator::new(&rig, "root@db1");
    let plan = one.plan(&accounts(Verb::Enable)).expect("a plan");
    assert_ne!(plan.state_hash, plain.state_hash);
    assert!(one.apply(&plan).is_complete());
    let journals = one.journals();
    let text = String::from_utf8_lossy(&journals.last().expect("a journal").1).into_owned();
    assert!(text.contains("cut off at the next login by --force: app@10.0.0.1:4711"), "{text}");
    // What is not changed cannot be forced, and nothing is both.
    let why = one.plan(&accounts(Verb::Enable)).expect_err("refused").to_string();
    assert!(why.contains("cannot be forced"), "{why}");
    rig.leave_accounts.clone_from(&rig.force_accounts);
    let why = Operator::new(&rig, "root@db1").plan(&accounts(Verb::Enable)).expect_err("refused").to_string();
    assert!(why.contains("left and forced"), "{why}");
}

#[test]
fn an_undo_of_disable_cuts_nobody_off_either() {
    let rig = sealed();
    let one = Operator::new(&rig, "root@db1");
    assert!(one.apply(&one.plan(&accounts(Verb::Enable)).expect("a plan")).is_complete());
    assert!(one.apply(&one.plan(&accounts(Verb::Disable)).expect("a plan")).is_complete());
    rig.shared.borrow_mut().servers[2].cleartext_clients = 1;
    let why = one.go_on(Some(change::Direction::Back)).text();
    assert!(why.contains("would be cut off") && why.contains("app@10.0.0.1:4711"), "{why}");
    assert!(tls_of(&rig).iter().all(|(user, tls)| user != "app" || *tls == Nothing), "it was cut off");
    rig.shared.borrow_mut().servers[2].cleartext_clients = 0;
    assert!(one.go_on(None).is_complete());
    assert!(tls_of(&rig).iter().all(|(user, tls)| user != "app" || *tls == Tls));
}

#[test]
fn odd_names_are_left_and_told() {
    let rig = sealed();
    for user in ["sp ", "n\nl", "e\u{1b}[1A"] {
        rig.shared.borrow_mut().accounts.push(Account {
            name: name(user, "%"),
            tls: Nothing,
            is_local: false,
            is_own: false,
        });
    }
    let one = Operator::new(&rig, "root@db1");
    let plan = one.plan(&accounts(Verb::Enable)).expect("a plan");
    assert!(!plan.impact.join("").contains(char::is_control), "{:?}", plan.impact);
    assert!(
        plan.impact.iter().any(|line| line.contains("\\n") && line.contains("\"sp \"")),
        "{:?}",
        plan.impact
    );
    assert!(one.apply(&plan).is_complete());
}

/// As `disable` looks for them, and with what each server goes back to: MySQL offers TLS by itself.
#[test]
fn who_undoes_reads_which_accounts_are_shut_out() {
    let rig = Rig::on(World::cluster(SEED, 3));
    let one = Operator::new(&rig, "root@db1");
    assert!(one.apply(&one.plan(&Change::new(Verb::Enable, Noun::ALL)).expect("a plan")).is_complete());
    for (user, tls, is_local) in [
        ("audit", Certificate, false),
        ("web", Tls, false),
        ("open", Nothing, false),
        ("by_socket", Tls, true),
    ] {
        let account = Account { name: name(user, "%"), tls, is_local, is_own: false };
        rig.shared.borrow_mut().accounts.push(account);
    }
    let told = one.undo_warnings().join("\n");
    for part in [
        "may be cleartext or TLS (socket.dynamic)",
        "afterwards, writesets and IST",
        "n1, n2, n3 offer no TLS",
        "on n1, n2, n3, accounts require TLS and cannot log in any more: 'audit'@'%', 'web'@'%'",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // An account that the change itself has changed is changed back.
    rig.shared.borrow_mut().accounts.retain(|one| one.name.user == "open");
    let accounts = one.plan(&accounts(Verb::Enable)).expect("a plan");
    assert!(one.apply(&accounts).is_complete());
    let told = one.undo_warnings().join("\n");
    assert!(
        told.contains("accounts may be used in cleartext") && !told.contains("log in any more"),
        "{told}"
    );
    assert!(one.go_on(Some(Direction::Back)).is_complete());

    // What nobody can tell is said.
    rig.shared.borrow_mut().kill(1);
    let told = one.undo_warnings().join("\n");
    assert!(
        told.contains("on n2, accounts that require TLS cannot log in any more; which, cannot be told"),
        "{told}"
    );
}
