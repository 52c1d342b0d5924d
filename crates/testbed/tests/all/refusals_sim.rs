//! What is refused before anything is touched, and what stops a change that has begun.

use std::path::Path;

use change::{Direction, Outcome};
use host::Service;
use model::{Change, Noun, Verb};
use providers::Problem;
use server::LiveSetting;
use testbed::sim::manual_setup::string;
use testbed::sim::process::{LingeringSessions, Speaks};
use testbed::sim::tls_library::{CHANGELOG, LIBRARY, VERSION};
use testbed::sim::world::{DEFAULTS_FILE, GALERA_FILE, GARB_FILE};
use testbed::sim::{End, Fault, Instant, Rig, World};
use trust::KeyKind;

fn change(verb: Verb) -> Change {
    Change::new(verb, Noun::ALL)
}

fn sealed() -> Rig {
    let rig = Rig::new(7, 3);
    rig.must(&change(Verb::Enable));
    rig.fork(7)
}

/// Runs the pre-checks on what `spoil` made, and says that nothing was changed by looking.
fn problems(rig: &Rig, wish: &Change) -> Vec<Problem> {
    let before = rig.shared.borrow().fingerprint();
    let ca_before = rig.ca_dir().exists();
    let problems = rig.preflight(wish);
    assert_eq!(rig.shared.borrow().fingerprint(), before, "a pre-check changed something");
    assert_eq!(rig.ca_dir().exists(), ca_before);
    assert!(!rig.journal_path().exists());
    for problem in &problems {
        for (word, text) in [("what", &problem.what), ("why", &problem.why), ("next", &problem.next)] {
            assert!(!text.trim().is_empty(), "no {word} in {problem:?}");
            assert!(!text.contains("hunter2"), "a secret in {problem:?}");
        }
    }
    problems
}

/// There is a problem about `subject` whose text has all of `words`.
fn refuses(rig: &Rig, wish: &Change, subject: &str, words: &[&str]) {
    let problems = problems(rig, wish);
    let fits = |problem: &Problem| {
        problem.subject == subject && words.iter().all(|word| problem.to_string().contains(word))
    };
    assert!(problems.iter().any(fits), "{subject} {words:?} is not among {problems:#?}");
}

fn enable_refuses(spoil: impl FnOnce(&mut World), subject: &str, words: &[&str]) {
    let rig = Rig::new(7, 3);
    spoil(&mut rig.shared.borrow_mut());
    refuses(&rig, &change(Verb::Enable), subject, words);
}

fn show(world: &mut World, index: usize, key: &str, value: Option<&str>) {
    world.servers[index].shown.insert(key.into(), value.map(str::to_owned));
}

#[test]
fn a_healthy_cluster_is_not_refused() {
    assert_eq!(problems(&Rig::new(7, 3), &change(Verb::Enable)), vec![]);
    let rig = sealed();
    for verb in [Verb::Enable, Verb::Disable, Verb::Rotate] {
        assert_eq!(problems(&rig, &change(verb)), vec![], "{verb}");
    }
}

#[test]
fn a_node_that_is_down() {
    enable_refuses(|world| world.stop(1), "n2", &["the node is down", "start it"]);
    enable_refuses(|world| world.kill(2), "n3", &["the node is down"]);
}

#[test]
fn a_login_that_does_not_work() {
    enable_refuses(|world| world.servers[1].refuses_login = true, "n2", &["login", "1045", "password"]);
}

#[test]
fn options_on_the_command_line() {
    for (argument, key) in [
        ("--wsrep_provider_options=gcache.size=1G", "--wsrep_provider_options"),
        ("--wsrep-provider-options=gcache.size=1G", "--wsrep_provider_options"),
        ("--loose-ssl-cert=/x", "--ssl_cert"),
        ("--require-secure-transport", "--require_secure_transport"),
    ] {
        let name = if argument.starts_with("--loose") { "ssl_cert" } else { key };
        enable_refuses(
            |world| {
                world.servers[2].extra_arguments =
                    vec!["--defaults-file=/etc/mysql/my.cnf".into(), argument.into()];
            },
            "n3",
            &[name, "command line", "option file"],
        );
    }
}

#[test]
fn key_paths_with_ssl_no() {
    enable_refuses(
        |world| {
            world.set_string(1, &string('X'));
            let text = format!("{}; ", string('X').replace(';', "; "));
            world.servers[1].live.as_mut().expect("up").read_back =
                format!("gmcast.listen_addr = tcp://0:4567; {text}");
        },
        "n2",
        &["mixed up", "crash the donor", "remove every socket.ssl*"],
    );
}

#[test]
fn plain_beside_strict() {
    let rig = sealed();
    rig.shared.borrow_mut().servers[0].live.as_mut().expect("up").read_back =
        "gmcast.listen_addr = tcp://0:4567; ".into();
    refuses(&rig, &change(Verb::Disable), "cluster", &["plain and strict", "crashes", "one at a time"]);
}

#[test]
fn what_disable_takes_away_stands_in_another_file_or_group_too() {
    let own =
        ["ssl_ca=/etc/mysql/sealion/ca.pem", "require_secure_transport=ON", "require_secure_transport=OFF"];
    for (index, line) in own.into_iter().enumerate() {
        let rig = sealed();
        let file = "/etc/mysql/conf.d/90-own.cnf";
        rig.shared.borrow_mut().servers[1].disk.put(file, format!("[mysqld]\n{line}\n"), 0, 0o644);
        if index < 2 {
            let place = format!("{file}:2 has it in [mysqld]");
            refuses(&rig, &change(Verb::Disable), "n2", &["does not take it away", &place]);
        } else {
            assert_eq!(problems(&rig, &change(Verb::Disable)), [], "it takes nothing back");
        }
    }
    let rig = sealed();
    rig.shared.borrow_mut().set_option(2, "mysqld", "ssl_cert", "/etc/mysql/sealion/node-cert.pem");
    refuses(&rig, &change(Verb::Disable), "n3", &["ssl_cert also stands", "has it in [mysqld]"]);
    let rig = sealed();
    let own = "[sst]\ntkey=/etc/mysql/sealion/node-key.pem\n";
    rig.shared.borrow_mut().servers[0].disk.put("/etc/mysql/conf.d/90-own.cnf", own, 0, 0o644);
    refuses(&rig, &change(Verb::Disable), "n1", &["tkey also stands", "90-own.cnf:2 has it in [sst]"]);
}

/// Seen: a server whose certificate was taken away and `ssl_cipher` left did not start; a node whose [sst] named keys that were removed did not join.
#[test]
fn what_disable_would_leave_and_no_start_or_transfer_survives() {
    let file = "/etc/mysql/mariadb.conf.d/90-own.cnf";
    for (group, line, words) in [
        ("mysqld", "ssl_cipher=AES128-SHA", "ssl_cipher would keep the server from starting"),
        ("mysqld", "skip-ssl=0", "skip-ssl would keep the server from starting"),
        ("mysqld", "ssl", "ssl would keep the server from starting"),
        ("mariadb", "ssl-crlpath=/etc/crl", "ssl-crlpath would keep the server from starting"),
        ("sst", "ssl-key=/etc/mysql/sealion/node-key.pem", "[sst] has ssl-key for state transfers"),
        ("sst", "tcapath=/etc/ca", "[sst] has tcapath for state transfers"),
        ("xtrabackup", "ssl-server-ca=/etc/ca.pem", "[xtrabackup] has ssl-server-ca for state transfers"),
    ] {
        let rig = sealed();
        rig.shared.borrow_mut().servers[1].disk.put(file, format!("[{group}]\n{line}\n"), 0, 0o644);
        refuses(&rig, &change(Verb::Disable), "n2", &[words, "90-own.cnf:2"]);
    }
    // That of mariabackup does not, without a mode.
    assert_eq!(problems(&sealed(), &Change::new(Verb::Disable, [Noun::Sst])), []);
    // The script of rsync falls back to the files of the client port.
    let by_rsync = || {
        let rig = sealed();
        let mut world = rig.shared.borrow_mut();
        for index in 0..3 {
            world.set_option(index, "galera", "wsrep_sst_method", "rsync");
            world.servers[index].live.as_mut().expect("up").sst_method = "rsync".into();
        }
        drop(world);
        rig
    };
    let rig = by_rsync();
    refuses(
        &rig,
        &Change::new(Verb::Disable, [Noun::Sst]),
        "n1",
        &["go on with TLS", "plan disable sst,clients"],
    );
    assert_eq!(problems(&rig, &change(Verb::Disable)), []);
    for index in 0..3 {
        for key in ["tkey", "tcert", "tca"] {
            rig.shared.borrow_mut().set_option(index, "sst", key, "");
        }
    }
    refuses(&rig, &change(Verb::Disable), "n3", &["use the files of the client port", "sealion enable sst"]);
}

#[test]
fn other_flavours_whatever_is_to_be_enabled() {
    for (version, comment, word) in [
        ("8.0.36-28.1", "Percona XtraDB Cluster (GPL)", "pxc_encrypt_cluster_traffic"),
        ("8.0.39", "MySQL Server (GPL) wsrep_26.4.20", "MySQL-wsrep"),
        ("10.5.29-MariaDB", "Debian", "socket.dynamic"),
    ] {
        for nouns in [vec![Noun::Galera], vec![Noun::Sst], vec![Noun::Clients]] {
            let rig = Rig::new(7, 3);
            for index in 0..3 {
                show(&mut rig.shared.borrow_mut(), index, "version", Some(version));
                show(&mut rig.shared.borrow_mut(), index, "version_comment", Some(comment));
            }
            refuses(&rig, &Change::new(Verb::Enable, nouns), "n3", &[version, word]);
        }
    }
    enable_refuses(
        |world| show(world, 0, "wsrep_ssl_mode", Some("PROVIDER")),
        "n1",
        &["Enterprise", "wsrep_ssl_mode"],
    );
}

#[test]
fn a_server_without_galera() {
    enable_refuses(
        |world| {
            for key in ["wsrep_on", "wsrep_cluster_size"] {
                show(world, 0, key, None);
            }
            show(world, 0, "version", Some("9.7.4"));
            show(world, 0, "version_comment", Some("MySQL Community Server - GPL"));
        },
        "n1",
        &["not part of a Galera cluster", "9.7.4"],
    );
}

#[test]
fn an_untested_version_unless_it_is_allowed() {
    let mut rig = Rig::new(7, 3);
    for index in 0..3 {
        show(&mut rig.shared.borrow_mut(), index, "version", Some("11.8.6-MariaDB"));
    }
    refuses(&rig, &change(Verb::Enable), "n1", &["11.8.6", "--allow-untested"]);
    rig.allow_untested = true;
    assert_eq!(problems(&rig, &change(Verb::Enable)), vec![]);
}

/// What a plan says of the members' TLS libraries.
fn libraries_told(rig: &Rig) -> Vec<String> {
    let mut world = rig.provider_world("");
    let (_, plan) = providers::propose(&mut world, &change(Verb::Enable), "0.0.0");
    let impact = plan.expect("a plan").impact;
    impact.into_iter().filter(|line| line.contains("SSL")).collect()
}

#[test]
fn a_tls_library_with_a_known_fault_unless_it_is_accepted() {
    let mut rig = Rig::on(World::cluster_with_arbitrator(7, 3));
    assert_eq!(libraries_told(&rig), [format!("n1, n2, n3, garb1: {VERSION} ({LIBRARY}): no known fault")]);
    // The server's own, which no distribution has made.
    let vendors = "/opt/mariadb/lib/libcrypto.so.3";
    for index in [1, 3] {
        let mut world = rig.shared.borrow_mut();
        let server = &mut world.servers[index];
        server.tls_library.says = "OpenSSL 3.0.4 21 Jun 2022".into();
        server.tls_library.mapped = vendors.into();
        server.disk.put(vendors, "OpenSSL 3.0.4 21 Jun 2022", 0, 0o644);
    }
    let words = [
        "OpenSSL 3.0.4 21 Jun 2022",
        vendors,
        "CVE-2022-2274",
        "advisory of 5 July 2022",
        "--skip-openssl-check",
    ];
    for verb in [Verb::Enable, Verb::Disable, Verb::Rotate] {
        refuses(&rig, &change(verb), "n2", &words);
        refuses(&rig, &change(verb), "garb1", &words);
    }
    rig.skip_openssl_check = true;
    assert_eq!(problems(&rig, &change(Verb::Enable)), vec![]);
    let told = libraries_told(&rig);
    assert!(
        told.iter()
            .any(|line| line.starts_with("n2, garb1: ") && line.contains("accepted by --skip-openssl-check")),
        "{told:?}"
    );
    rig.must(&change(Verb::Enable));
}

#[test]
fn a_tls_library_that_a_distribution_may_have_fixed_is_told_and_refuses_nothing() {
    let rig = Rig::new(7, 3);
    {
        let mut world = rig.shared.borrow_mut();
        for server in &mut world.servers {
            server.tls_library.says = "OpenSSL 3.0.2 15 Mar 2022".into();
        }
        // Whoever looks may not see what this one has mapped.
        world.servers[2].tls_library.is_hidden = true;
    }
    assert_eq!(problems(&rig, &change(Verb::Enable)), vec![]);
    let told = libraries_told(&rig);
    let has = |names: &str, word: &str| {
        let fits = |line: &String| {
            line.starts_with(names)
                && line.contains("CVE-2022-3602")
                && line.contains("cannot be determined")
                && line.contains(word)
        };
        assert!(told.iter().any(fits), "{names} {word}: {told:?}");
    };
    has("n1, n2: ", "apt changelog libssl3");
    has("n3: ", "permission denied");
    // Its changelog says that it has.
    let fixed = "openssl (3.0.2-0ubuntu1.10) jammy-security; urgency=medium\n\n  * CVE-2022-3602\n";
    let changelog = testbed::sim::tls_library::gzipped(fixed);
    rig.shared.borrow_mut().servers[0].disk.put(CHANGELOG, changelog, 0, 0o644);
    let told = libraries_told(&rig);
    assert!(
        told.iter().any(|line| line.starts_with("n1: ")
            && line.contains("libssl3 3.0.2-0ubuntu1.10 has fixed CVE-2022-3602")),
        "{told:?}"
    );
}

#[test]
fn privileges_that_the_account_lacks_are_found_before_the_first_step() {
    let all = change(Verb::Enable);
    for (privilege, listed, statement) in [
        ("RELOAD", "RELOAD ON *.*", "GRANT RELOAD ON *.* TO 'sealion'@'10.%';"),
        ("SUPER", "SUPER ON *.*", "GRANT SUPER ON *.* TO 'sealion'@'10.%';"),
        (
            "`sealion_canary`.*",
            "ALL ON sealion_canary.*",
            "GRANT ALL ON sealion_canary.* TO 'sealion'@'10.%';",
        ),
        (
            "`performance_schema`.`threads`",
            "SELECT ON performance_schema.threads",
            "GRANT SELECT ON performance_schema.threads TO 'sealion'@'10.%';",
        ),
    ] {
        let rig = Rig::new(7, 3);
        rig.shared.borrow_mut().servers[1].lacks = vec![privilege];
        refuses(&rig, &all, "n2", &["'sealion'@'10.%'", listed, statement, "sealion grants enable"]);
        assert_eq!(problems(&rig, &all).len(), 1, "the others have all that they need");
    }
    // On a server by itself.
    let rig = Rig::on(World::replicas(7, &[vec![], vec![0], vec![0]]));
    let replicas = Change::new(Verb::Enable, Noun::OF_REPLICAS);
    rig.shared.borrow_mut().servers[2].lacks = vec!["REPLICATION SLAVE ADMIN", "SUPER"];
    let world = |rig: &Rig| {
        let mut world = rig.provider_world("");
        world.topology = &providers::REPLICATION;
        providers::propose(&mut world, &replicas, "0.1.0")
    };
    let (found, _) = world(&rig);
    assert!(
        found.iter().any(|one| one.subject == "n3"
            && one.next.contains("GRANT REPLICATION SLAVE ADMIN, SUPER ON *.* TO 'sealion'@'10.%';")),
        "{found:#?}"
    );
}

#[test]
fn who_only_plans_is_told_what_the_change_needs() {
    let mut rig = Rig::new(7, 3);
    rig.shared.borrow_mut().servers[1].lacks = vec!["SUPER"];
    rig.may_lack_rights = true;
    let (problems, plan) = proposed(&rig, Verb::Enable);
    assert_eq!(problems, vec![]);
    let impact = plan.expect("a plan").impact;
    let told = |line: &&String| line.starts_with("n2: ") && line.contains("GRANT SUPER ON *.*");
    assert!(impact.iter().any(|line| told(&line)), "{impact:?}");
}

#[test]
fn privileges_that_cannot_be_read_are_told_and_refuse_nothing() {
    let rig = Rig::new(7, 3);
    rig.shared.borrow_mut().servers[1].hides_grants = true;
    let (problems, plan) = proposed(&rig, Verb::Enable);
    assert_eq!(problems, vec![]);
    let impact = plan.expect("a plan").impact;
    let told = |line: &&String| line.starts_with("n2: ") && line.contains("1290");
    assert_eq!(impact.iter().filter(told).count(), 1, "{impact:?}");
}

/// Nothing is to be done: what that would need is not asked for.
#[test]
fn a_change_that_changes_nothing_needs_no_privilege() {
    let rig = sealed();
    rig.shared.borrow_mut().servers[1].lacks = vec!["SUPER"];
    assert_eq!(problems(&rig, &change(Verb::Enable)), vec![]);
    refuses(&rig, &change(Verb::Disable), "n2", &["GRANT SUPER"]);
}

/// Seen on real servers: the files were replaced, the old certificate was shown on, and all was taken back.
#[test]
fn a_running_node_is_not_given_a_key_of_another_kind() {
    let ca = Change::new(Verb::Rotate, [Noun::Ca]);
    let mut rig = sealed();
    rig.key = KeyKind::Rsa { bits: 2048 };
    for (wish, keeps) in [(change(Verb::Rotate), "sealion rotate"), (ca, "sealion rotate ca keeps the kind")]
    {
        let words = ["it has EC P-256, and would get RSA of 2048 bits", keeps, "sealion enable -b 2048"];
        for node in ["n1", "n2", "n3"] {
            refuses(&rig, &wish, node, &words);
        }
        // This is what it would come to.
        let plan = rig.plan(&wish).expect("a plan");
        let end = rig.fork(7).apply(&plan);
        assert!(!end.is_complete(), "{wish}: {end:?}");
    }
    // To be made with such keys is another thing, and from there the other kind is refused.
    let mut rig = Rig::new(7, 3);
    rig.key = KeyKind::Rsa { bits: 2048 };
    let plan = rig.must(&change(Verb::Enable));
    let runbook: Vec<&String> = plan.steps.iter().flat_map(|step| &step.shell).collect();
    assert!(runbook.iter().any(|line| line.contains("-newkey rsa:2048")), "{runbook:?}");
    rig.must(&change(Verb::Rotate));
    let mut rig = rig.fork(7);
    rig.key = KeyKind::EcP256;
    refuses(
        &rig,
        &change(Verb::Rotate),
        "n2",
        &["it has RSA 2048, and would get ECDSA P-256", "-b 2048 keeps the kind"],
    );
}

#[test]
fn a_service_that_nobody_can_start() {
    let of_unit = |state: &str| {
        let state = state.to_owned();
        move |world: &mut World| world.servers[1].unit_load_state = state
    };
    enable_refuses(of_unit("not-found"), "n2", &["`service`", "mariadb", "not-found", "list-units"]);
    enable_refuses(of_unit("masked"), "n2", &["masked", "systemctl status mariadb"]);
    enable_refuses(
        |world| world.servers[2].spec.service = Service::Systemd { unit: "mysqld".into() },
        "n3",
        &["mysqld", "not-found"],
    );
    let commands = |start: &str, stop: &str, alive: Option<&str>| Service::Commands {
        start: vec![start.into(), "n3".into()],
        stop: vec![stop.into(), "n3".into()],
        alive: alive.map(|alive| vec![alive.into(), "n3".into()]),
    };
    for (service, key, program) in [
        (commands("start-it", "/usr/sbin/mariadbd", None), "`start`", "start-it"),
        (commands("/usr/sbin/mariadbd", "/opt/stop", None), "`stop`", "/opt/stop"),
        (commands("/usr/sbin/mariadbd", "/usr/sbin/mariadbd", Some("check-it")), "`alive`", "check-it"),
    ] {
        enable_refuses(|world| world.servers[2].spec.service = service, "n3", &[key, program, "PATH"]);
    }
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let (start, stop) = (words("/usr/sbin/mariadbd stop n3"), words("/usr/sbin/mariadbd start n3"));
    enable_refuses(
        |world| world.servers[2].spec.service = Service::Commands { start, stop, alive: None },
        "n3",
        &["its start command does something else", "may have changed places"],
    );
    // One that nobody may run.
    enable_refuses(
        |world| {
            world.servers[0].disk.put("/opt/drain", "#!/bin/sh", 0, 0o644);
            world.servers[0].spec.drain = Some(vec!["/opt/drain".into()]);
        },
        "n1",
        &["`drain`", "/opt/drain"],
    );
    let rig = Rig::on(World::cluster_with_arbitrator(7, 3));
    rig.shared.borrow_mut().servers[3].unit_load_state = "not-found".into();
    refuses(&rig, &change(Verb::Enable), "garb1", &["`service`", "garb", "not-found"]);
    // What restarts nobody needs none.
    let rig = sealed();
    rig.shared.borrow_mut().servers[1].unit_load_state = "not-found".into();
    assert_eq!(problems(&rig, &change(Verb::Rotate)), vec![]);
}

/// A newcomer got nine reasons for one cause.
#[test]
fn an_option_file_that_the_servers_do_not_read_is_one_reason() {
    for text in [None, Some("[mysqld]\nport=3306\n")] {
        let rig = Rig::new(7, 3);
        for server in &mut rig.shared.borrow_mut().servers {
            server.spec.defaults_file = "/etc/other.cnf".into();
            if let Some(text) = text {
                server.disk.put("/etc/other.cnf", text, 0, 0o644);
            }
        }
        let found = problems(&rig, &change(Verb::Enable));
        let [one] = found.as_slice() else { panic!("{text:?}: {found:#?}") };
        assert_eq!(one.subject, "n1, n2, n3");
        assert!(one.why.contains("defaults_file = /etc/other.cnf"), "{one}");
        // What has another cause is told beside it.
        rig.shared.borrow_mut().servers[1].lacks = vec!["SUPER"];
        rig.shared.borrow_mut().stop(2);
        let found = problems(&rig, &change(Verb::Enable));
        assert!(found.iter().any(|one| one.subject == "n3" && one.what.contains("down")), "{found:#?}");
    }
    // A file that lacks something and is the right one.
    enable_refuses(
        |world| world.servers[1].disk.put(GALERA_FILE, "[galera]\nwsrep_on=ON\n", 0, 0o644),
        "n2",
        &["no option file sets wsrep_cluster_address"],
    );
}

#[test]
fn an_address_that_is_none_of_the_nodes_machine_is_told() {
    let rig = Rig::new(7, 3);
    let pid = rig.shared.borrow().servers[1].process.as_ref().expect("it runs").pid;
    let table = format!("/proc/{pid}/net/fib_trie");
    let trie = |address: &str| format!("Local:\n  |-- {address}\n     /32 host LOCAL\n");
    for (own, is_told) in [("10.77.0.2", false), ("192.0.2.9", true)] {
        rig.shared.borrow_mut().servers[1].disk.put(&table, trie(own), 0, 0o444);
        let (problems, plan) = proposed(&rig, Verb::Enable);
        assert_eq!(problems, vec![]);
        let told =
            plan.expect("a plan").impact.into_iter().find(|line| line.contains("is none of its machine"));
        assert_eq!(told.is_some(), is_told, "{own}: {told:?}");
        assert!(told.is_none_or(|line| line.starts_with("n2: ") && line.contains(own)));
    }
}

#[test]
fn a_service_that_cannot_be_asked_for_is_told_and_refuses_nothing() {
    let rig = Rig::new(7, 3);
    rig.shared.borrow_mut().servers[1].manager_is_silent = true;
    let (problems, plan) = proposed(&rig, Verb::Enable);
    assert_eq!(problems, vec![]);
    let impact = plan.expect("a plan").impact;
    let told = |line: &&String| line.starts_with("n2: ") && line.contains("`service`");
    assert_eq!(impact.iter().filter(told).count(), 1, "{impact:?}");
}

/// All problems, and the plan if there is one, as a person gets them.
fn proposed(rig: &Rig, verb: Verb) -> (Vec<Problem>, Result<model::Plan, providers::PlanError>) {
    providers::propose(&mut rig.provider_world(""), &change(verb), "0.0.0")
}

fn mark(rig: &Rig, index: usize, file: &str, mark: &str) {
    let mut world = rig.shared.borrow_mut();
    let text = world.servers[index].disk.text(file).expect("there");
    world.servers[index].disk.put(file, format!("{mark}\n{text}"), 0, 0o644);
}

#[test]
fn files_that_another_tool_writes() {
    for (line, tool) in [
        ("# Ansible managed", "Ansible"),
        ("# {{ ansible_managed }}", "Ansible"),
        ("# This file is managed by Puppet. Changes will be lost", "Puppet"),
        ("### MANAGED BY PUPPET ###", "Puppet"),
        ("# Managed by Chef", "Chef"),
        ("# Generated by Chef for db2.example.net", "Chef"),
        ("; managed by Salt", "Salt"),
        ("# managed by CFEngine", "CFEngine"),
        ("# managed by Terraform", "Terraform"),
        ("# generated by mariadb-operator", "mariadb-operator"),
        ("# DO NOT EDIT", "another tool"),
    ] {
        let rig = Rig::new(7, 3);
        mark(&rig, 1, GALERA_FILE, line);
        refuses(&rig, &change(Verb::Enable), "n2", &["60-galera.cnf", tool, "line 1", "--accept-managed"]);
    }
    // A mounted ConfigMap has no mark in it.
    enable_refuses(
        |world| {
            let dir = Path::new(GALERA_FILE).parent().expect("a directory").join("..data");
            world.servers[1].disk.make_dirs(&dir, 0, 0o755);
        },
        "n2",
        &["60-galera.cnf", "Kubernetes", "..data", "--accept-managed"],
    );
}

/// As Kubernetes mounts them: a file is a link into `..data`, which is one to a directory with a date; and what the server reads may be a link
/// to that.
#[test]
fn a_link_into_a_mounted_config_map_is_followed_to_it() {
    const MOUNT: &str = "/etc/mysql-config";
    let mount = |target: &str| {
        let rig = Rig::new(7, 3);
        {
            let mut world = rig.shared.borrow_mut();
            let disk = &mut world.servers[1].disk;
            disk.move_behind_link(GALERA_FILE, &format!("{MOUNT}/..2026_11_26/galera.cnf"));
            disk.links.insert(format!("{MOUNT}/..data").into(), "..2026_11_26".into());
            disk.links.insert(format!("{MOUNT}/galera.cnf").into(), "..data/galera.cnf".into());
            disk.links.insert(GALERA_FILE.into(), target.into());
        }
        rig
    };
    for target in [
        "/etc/mysql-config/galera.cnf",
        "../../mysql-config/galera.cnf",
        "/etc/mysql-config/..data/galera.cnf",
    ] {
        refuses(
            &mount(target),
            &change(Verb::Enable),
            "n2",
            &["Kubernetes", MOUNT, "..data", "--accept-managed"],
        );
    }
    // A directory on the way is one.
    let rig = mount("/srv/config/galera.cnf");
    rig.shared.borrow_mut().servers[1].disk.links.insert("/srv/config".into(), MOUNT.into());
    refuses(&rig, &change(Verb::Enable), "n2", &["Kubernetes", "/srv/config is a mounted ConfigMap"]);
    // Links of an administrator's own are none.
    let rig = Rig::new(7, 3);
    rig.shared.borrow_mut().servers[1].disk.move_behind_link(GALERA_FILE, "/srv/galera.cnf");
    assert_eq!(problems(&rig, &change(Verb::Enable)), vec![]);
}

#[test]
fn another_tools_file_is_refused_with_what_it_has_to_have() {
    let rig = Rig::on(World::cluster_with_arbitrator(7, 3));
    mark(&rig, 1, GALERA_FILE, "# Ansible managed");
    mark(&rig, 3, GARB_FILE, "# This file is managed by Puppet");
    let (problems, _) = proposed(&rig, Verb::Enable);
    let of = |name: &str| problems.iter().find(|one| one.subject == name).expect("refused").next.clone();
    let next = of("n2");
    for word in [
        "zz-sealion.cnf",
        "!includedir",
        "in the end:",
        "wsrep_provider_options",
        "socket.ssl_key",
        "[sst]",
        "ssl_cert",
    ] {
        assert!(next.contains(word), "{word}: {next}");
    }
    // The lines of the end, and none of those on the way there.
    assert!(!next.contains("socket.dynamic"), "{next}");
    let next = of("garb1");
    assert!(next.contains("GALERA_OPTIONS=\"") && next.contains("socket.ssl_key"), "{next}");
    assert!(!next.contains("zz-sealion"), "garbd reads one file: {next}");
    assert!(problems.iter().all(|one| ["n2", "garb1"].contains(&one.subject.as_str())), "{problems:#?}");

    // The way back says what has to go.
    let sealed = sealed();
    mark(&sealed, 0, GALERA_FILE, "# Ansible managed");
    let (problems, _) = proposed(&sealed, Verb::Disable);
    assert!(
        problems[0].next.contains("(without [") && problems[0].next.contains("ssl_cert"),
        "{problems:#?}"
    );
}

/// What the refusal says to do is done: the plan is there, and it does not touch the other tool's file.
#[test]
fn a_drop_in_of_ones_own_takes_a_managed_file_out_of_the_change() {
    let rig = Rig::new(7, 3);
    mark(&rig, 1, GALERA_FILE, "# Ansible managed");
    let (problems, _) = proposed(&rig, Verb::Enable);
    let next = &problems.iter().find(|one| one.subject == "n2").expect("refused").next;
    let content: Vec<&str> =
        next.lines().skip(1).take_while(|line| line.starts_with("          ")).map(str::trim_start).collect();
    let path = Path::new(GALERA_FILE).with_file_name("zz-sealion.cnf").display().to_string();
    assert!(next.contains(&path), "{next}");
    rig.shared.borrow_mut().servers[1].disk.put(&path, content.join("\n") + "\n", 0, 0o644);
    let before = rig.shared.borrow().servers[1].disk.text(GALERA_FILE);
    rig.must(&change(Verb::Enable));
    let world = rig.shared.borrow();
    assert_eq!(world.servers[1].disk.text(GALERA_FILE), before);
    assert!(world.servers[1].disk.text(&path).expect("there").contains("socket.ssl_key"));
}

#[test]
fn a_managed_file_is_changed_where_a_person_says_so() {
    let mut rig = Rig::on(World::cluster_with_arbitrator(7, 3));
    mark(&rig, 1, GALERA_FILE, "# Ansible managed");
    mark(&rig, 3, GARB_FILE, "# This file is managed by Puppet");
    rig.accept_managed = true;
    let (problems, plan) = proposed(&rig, Verb::Enable);
    assert_eq!(problems, vec![]);
    let impact = plan.expect("a plan").impact;
    for name in ["n2", "garb1"] {
        let told = |line: &&String| line.starts_with(&format!("{name}: ")) && line.contains("another tool's");
        assert!(impact.iter().any(|line| told(&line)), "{name}: {impact:?}");
    }
    rig.must(&change(Verb::Enable));
}

#[test]
fn a_mark_in_a_value_is_not_a_mark() {
    let rig = Rig::new(7, 3);
    rig.shared.borrow_mut().set_option(1, "galera", "wsrep_node_name", "managed by puppet");
    assert_eq!(problems(&rig, &change(Verb::Enable)), vec![]);
}

#[test]
fn two_nodes_only() {
    refuses(&Rig::new(7, 2), &change(Verb::Enable), "cluster", &["2 members", "needs 3", "third node"]);
}

#[test]
fn an_arbitrator() {
    enable_refuses(|world| world.strange_arbitrators = 1, "cluster", &["1 arbitrator", "[[arbitrator]]"]);
}

#[test]
fn an_arbitrator_of_which_not_all_is_known() {
    let refuses_it = |spoil: fn(&mut World), subject: &str, words: &[&str]| {
        let rig = Rig::on(World::cluster_with_arbitrator(7, 3));
        assert_eq!(problems(&rig, &change(Verb::Enable)), vec![]);
        spoil(&mut rig.shared.borrow_mut());
        refuses(&rig, &change(Verb::Enable), subject, words);
    };
    refuses_it(|world| world.stop(3), "garb1", &["the arbitrator is down", "start it"]);
    let write = |world: &mut World, text: &str| world.servers[3].disk.put(GARB_FILE, text, 0, 0o644);
    let cases: [(&str, &[&str]); 5] = [
        ("GALERA_OPTIONS=\"gmcast.segment=1\"\n", &["do not agree on GALERA_OPTIONS", "gmcast.segment=1"]),
        (
            "GALERA_OPTIONS=\"$(cat /etc/garb.options)\"\n",
            &["GALERA_OPTIONS cannot be read", "default/garb:1"],
        ),
        (
            "[ -f /etc/x ] && . /etc/x\n",
            &["cannot be read as one that only sets variables", "default/garb:1"],
        ),
        ("# Ansible managed\n", &["is written by Ansible", "line 1"]),
        ("GALERA_OPTIONS=\"socket.ssl=YES;socket.dynamic=YES\"\n", &["do not agree on GALERA_OPTIONS"]),
    ];
    for (text, words) in cases {
        let rig = Rig::on(World::cluster_with_arbitrator(7, 3));
        write(&mut rig.shared.borrow_mut(), text);
        refuses(&rig, &change(Verb::Enable), "garb1", words);
    }
    // One that was made strict by hand beside plain nodes has left them.
    refuses_it(
        |world| {
            let text = "GALERA_OPTIONS=\"socket.ssl=YES;socket.ssl_ca=/x\"\n";
            world.servers[3].disk.put(GARB_FILE, text, 0, 0o644);
            let live = world.servers[3].live.as_mut().expect("it runs");
            live.options = server::ProviderOptions::parse("socket.ssl=YES;socket.ssl_ca=/x");
        },
        "garb1",
        &["it speaks strict, beside nodes that are PPP"],
    );
    refuses_it(
        |world| world.servers[3].disk.unreadable.push("/etc/garbd/ssl".into()),
        "garb1",
        &["cannot be determined"],
    );
}

#[test]
fn a_member_that_is_not_in_the_inventory() {
    let mut rig = Rig::new(7, 4);
    rig.inventory = vec![0, 1, 2];
    refuses(&rig, &change(Verb::Enable), "cluster", &["1 members are not in the inventory", "sealion.toml"]);
}

#[test]
fn a_file_that_is_not_what_the_server_runs_with() {
    enable_refuses(
        |world| world.set_string(1, "gcache.size=512M"),
        "n2",
        &["do not agree on wsrep_provider_options", "60-galera.cnf:", "gcache.size", "restart the node"],
    );
    // A half-done change of somebody else: the file has TLS, the server has not.
    enable_refuses(|world| world.set_string(1, &string('D')), "n2", &["do not agree", "socket.ssl"]);
}

/// Seen on a real server: the restart was its end, and what was mended afterwards was refused as foreign.
#[test]
fn a_cluster_address_with_which_a_node_would_not_come_back() {
    let set = |address: &'static str| {
        move |world: &mut World| world.set_option(1, "galera", "wsrep_cluster_address", address)
    };
    enable_refuses(set("gcomm://"), "n2", &["do not agree on wsrep_cluster_address", "gcomm://"]);
    enable_refuses(set("gcomm://"), "n2", &["names nobody"]);
    enable_refuses(set("gcomm://10.77.0.2"), "n2", &["names no other member"]);
}

#[test]
fn settings_of_the_same_purpose_that_are_not_ours() {
    for (group, key) in
        [("galera", "ssl_ca"), ("galera", "ssl-cert"), ("galera", "ssl_key"), ("sst", "tca"), ("sst", "tkey")]
    {
        enable_refuses(
            |world| world.set_option(0, group, key, "/etc/ssl/company.pem"),
            "n1",
            &[&key.replace('-', "_"), "/etc/ssl/company.pem", "60-galera.cnf:"],
        );
    }
}

/// Seen on real servers: the change was done, and after the next restart clients were let in without TLS.
#[test]
fn a_line_that_counts_over_what_is_written_and_switches_it_off() {
    const LATER: &str = "/etc/mysql/mariadb.conf.d/90-x.cnf";
    for line in [
        "require_secure_transport=OFF",
        "skip-require-secure-transport",
        "disable-require_secure_transport",
        "loose-skip-require_secure_transport",
        "Require_Secure_Transport=off",
        "require-secure=0",
        "require_secure_transport=yes",
    ] {
        enable_refuses(
            |world| world.servers[1].disk.put(LATER, format!("[mysqld]\n{line}\n"), 0, 0o644),
            "n2",
            &["90-x.cnf:2", line, "after a restart"],
        );
    }
    for line in ["ssl=0", "skip-ssl", "disable-ssl", "loose-ssl=OFF", "SSL=false"] {
        enable_refuses(
            |world| world.servers[1].disk.put(LATER, format!("[mysqld]\n{line}\n"), 0, 0o644),
            "n2",
            &["90-x.cnf:2", line, "switches TLS for clients off"],
        );
    }
    for line in ["require_secure_transport", "ssl", "skip-require-secure-transport=0", "enable-ssl"] {
        let rig = Rig::new(7, 3);
        rig.shared.borrow_mut().servers[1].disk.put(LATER, format!("[mysqld]\n{line}\n"), 0, 0o644);
        assert_eq!(problems(&rig, &change(Verb::Enable)), vec![], "{line}");
    }
}

#[test]
fn a_read_only_directory() {
    for dir in ["/etc/mysql/mariadb.conf.d", "/etc/mysql", "/var/lib"] {
        enable_refuses(
            |world| world.servers[2].disk.read_only.push(dir.into()),
            "n3",
            &["cannot be written to", "remount"],
        );
    }
}

#[test]
fn a_full_disk() {
    enable_refuses(
        |world| world.servers[0].disk.free_bytes = 1 << 20,
        "n1",
        &["full", "bytes are free", "make room"],
    );
}

/// Seen on real servers: the joiner asked for TLS, the donor did not offer it, and neither resume nor undo found a way out.
#[test]
fn sst_methods_that_differ() {
    enable_refuses(
        |world| show(world, 1, "wsrep_sst_method", Some("rsync")),
        "n2",
        &["wsrep_sst_method differs", "n1 has mariabackup", "one method on all nodes"],
    );
}

#[test]
fn an_sst_method_without_tls() {
    enable_refuses(
        |world| show(world, 1, "wsrep_sst_method", Some("mysqldump")),
        "n2",
        &["mysqldump", "mariabackup"],
    );
}

#[test]
fn a_node_on_another_machine_and_two_names_of_one_server() {
    enable_refuses(
        |world| {
            world.servers[1].disk.put("/proc/sys/kernel/hostname", "db1\n", 0, 0o444);
            show(world, 1, "hostname", Some("db2.elsewhere"));
        },
        "n2",
        &["another machine", "db2.elsewhere"],
    );
    enable_refuses(
        |world| {
            for index in [0, 2] {
                world.servers[index].shown_status.insert("wsrep_gcomm_uuid".into(), "the-same".into());
            }
        },
        "n3",
        &["n3 and n1 are one and the same server"],
    );
}

#[test]
fn client_tls_without_sst_on_rsync() {
    let rig = Rig::new(7, 3);
    for index in 0..3 {
        show(&mut rig.shared.borrow_mut(), index, "wsrep_sst_method", Some("rsync"));
    }
    let wish = Change::new(Verb::Enable, [Noun::Clients]);
    refuses(&rig, &wish, "n3", &["rsync", "joining again", "sealion plan enable sst,clients"]);
    let wish = Change::new(Verb::Enable, [Noun::Sst, Noun::Clients]);
    assert_eq!(problems(&rig, &wish), []);
}

#[test]
fn a_port_in_use() {
    // Addresses as the kernel writes them: 0.0.0.0:4444, listening.
    let table =
        "  sl  local_address rem_address   st\n   0: 00000000:115C 00000000:0000 0A 00000000:00000000\n";
    enable_refuses(
        |world| world.servers[1].disk.put("/proc/net/tcp", table, 0, 0o444),
        "n2",
        &["port in use: 0.0.0.0:4444", "SST", "ss -ltnp"],
    );
}

#[test]
fn a_gcache_that_holds_less_than_a_restart() {
    let rig = Rig::new(7, 3);
    let mut world = rig.shared.borrow_mut();
    for (key, value) in
        [("wsrep_received_bytes", "400000000000"), ("wsrep_replicated_bytes", "0"), ("uptime", "1000")]
    {
        world.servers[2].shown_status.insert(key.into(), value.to_owned());
    }
    drop(world);
    refuses(&rig, &change(Verb::Enable), "n3", &["gcache", "full SST", "gcache.size"]);
}

#[test]
fn a_line_that_cannot_be_read() {
    enable_refuses(
        |world| {
            let text = world.servers[1].disk.text(DEFAULTS_FILE).expect("there");
            world.servers[1].disk.put(DEFAULTS_FILE, format!("port = 3306\n{text}"), 0, 0o644);
        },
        "n2",
        &["option files cannot be read", "/etc/mysql/my.cnf:1"],
    );
}

#[test]
fn a_desynced_node_and_one_that_is_not_in_the_primary_component() {
    enable_refuses(|world| world.set_desync(1, true), "n2", &["not Synced", "backup"]);
    enable_refuses(
        |world| world.storm_until_ms = world.now_ms + 60_000,
        "n1",
        &["not in the primary component", "non-Primary"],
    );
}

#[test]
fn nodes_of_two_clusters() {
    let rig = Rig::new(7, 3);
    // The status of one node is another cluster's: its uuid differs.
    rig.shared.borrow_mut().servers[2].state_uuid = "ffffffff-c6a3-11f0-8b1e-3f1f0f0f0f0f".into();
    refuses(&rig, &change(Verb::Enable), "cluster", &["not one cluster", "ffffffff"]);
}

#[test]
fn no_pid_file() {
    enable_refuses(
        |world| world.servers[1].spec.pid_file = None,
        "n2",
        &["process cannot be seen", "pid_file"],
    );
}

#[test]
fn certificate_files_that_cannot_serve() {
    let check = |spoil: &dyn Fn(&mut World), words: &[&str]| {
        for verb in [Verb::Enable, Verb::Rotate] {
            let rig = sealed();
            spoil(&mut rig.shared.borrow_mut());
            refuses(&rig, &change(verb), "n2", words);
        }
    };
    let key = "/etc/mysql/sealion/node-key.pem";
    check(
        &|world| drop(world.servers[1].disk.entries.remove(Path::new("/etc/mysql/sealion/ca.pem"))),
        &["incomplete", "ca.pem is missing"],
    );
    check(
        &|world| {
            let other = world.servers[0].disk.text(key).expect("there");
            world.servers[1].disk.put(key, other, 999, 0o600);
        },
        &["cannot serve", "does not belong"],
    );
    // One that has expired is what a rotation is for.
    let rig = sealed();
    {
        let mut world = rig.shared.borrow_mut();
        let (ca, yesterday) = (world.authority("x"), world.unix_s() - 86_400);
        world.place(1, &ca, Some(yesterday));
    }
    refuses(&rig, &change(Verb::Enable), "n2", &["cannot serve", "expired", "sealion rotate"]);
    check(
        &|world| {
            let ca = world.authority("x");
            world.place(1, &ca, None);
        },
        &["another CA", "ca_dir"],
    );
}

#[test]
fn a_ca_that_does_not_open() {
    for verb in [Verb::Enable, Verb::Rotate] {
        let mut rig = sealed();
        rig.passphrase = "wrong".into();
        refuses(&rig, &change(verb), "ca", &["cannot be used", "passphrase"]);
    }
}

#[test]
fn rotate_where_there_is_nothing() {
    refuses(&Rig::new(7, 3), &change(Verb::Rotate), "n1", &["no certificate", "sealion enable"]);
}

#[test]
fn every_problem_is_shown_not_only_the_first() {
    let rig = Rig::new(7, 3);
    {
        let mut world = rig.shared.borrow_mut();
        world.set_desync(0, true);
        world.servers[1].disk.free_bytes = 0;
        world.servers[2].extra_arguments = vec!["--ssl-ca=/x".into()];
    }
    let problems = problems(&rig, &change(Verb::Enable));
    for subject in ["n1", "n2", "n3"] {
        assert!(problems.iter().any(|problem| problem.subject == subject), "{subject}: {problems:#?}");
    }
}

// What stops a change that has begun.

#[test]
fn what_was_set_live_and_would_be_lost_is_refused_or_told() {
    let live = |name: &str, value: &str, default: &str| LiveSetting {
        name: name.into(),
        value: value.into(),
        default: Some(default.into()),
    };
    let set = |settings: Vec<LiveSetting>| move |world: &mut World| world.servers[1].live_settings = settings;
    for (name, value, default) in [
        ("require_secure_transport", "ON", "OFF"),
        ("read_only", "ON", "OFF"),
        ("wsrep_sst_method", "rsync", "mariabackup"),
        ("wsrep_node_name", "other", "n2"),
    ] {
        let words = ["was set live", name, "option file"];
        enable_refuses(set(vec![live(name, value, default)]), "n2", &words);
    }
    let rig = Rig::new(7, 3);
    rig.shared.borrow_mut().servers[1].live_settings = vec![
        live("max_connections", "500", "151"),
        live("require_secure_transport", "OFF", "OFF"),
        live("wsrep_slave_threads", "8", "1"),
        live("wsrep_desync", "ON", "OFF"),
    ];
    assert_eq!(problems(&rig, &change(Verb::Enable)), vec![]);
    let told = rig.plan(&change(Verb::Enable)).expect("a plan").impact.join("\n");
    assert!(told.contains("n2: max_connections=500 was set live, and a restart makes it 151"), "{told}");
    assert!(told.contains("wsrep_slave_threads=8") && !told.contains("require_secure"), "{told}");
    assert!(!told.contains("wsrep_desync"), "{told}");
}

#[test]
fn what_is_cleartext_after_a_disable_is_told_and_only_that() {
    let rig = Rig::new(7, 3);
    rig.must(&change(Verb::Enable));
    let told = |change: &Change| rig.plan(change).expect("a plan").impact.join("\n");
    let all = told(&Change::new(Verb::Disable, [Noun::Galera, Noun::Sst, Noun::Clients]));
    for part in ["writesets and IST", "(SST) are cleartext", "the servers offer no TLS"] {
        assert!(all.contains(part), "{part}: {all}");
    }
    let clients = told(&Change::new(Verb::Disable, [Noun::RequireTls]));
    assert!(
        clients.contains("clients may connect in cleartext") && !clients.contains("writesets"),
        "{clients}"
    );
    assert!(!told(&change(Verb::Rotate)).contains("cleartext"));
}

fn append(rig: &Rig, index: usize, line: &str) {
    let mut world = rig.shared.borrow_mut();
    let text = world.servers[index].disk.text(GALERA_FILE).expect("there");
    world.servers[index].disk.put(GALERA_FILE, format!("{text}{line}\n"), 0, 0o640);
}

/// A line that is sealion's to write: the provider's string, in place of the one that is there.
fn rewrite_string(rig: &Rig, index: usize) {
    rig.shared.borrow_mut().set_string(index, "gcache.size=1G");
}

#[test]
fn a_line_of_ours_that_was_changed_since_the_plan_is_left_alone() {
    let rig = Rig::new(7, 3);
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    rewrite_string(&rig, 1);
    let end = rig.apply(&plan);
    let End::Outcome(Outcome::Stopped { step, why }) = &end else { panic!("{end:?}") };
    assert_eq!(step.to_string(), "E2.n2");
    assert!(
        why.contains("n2")
            && why.contains("60-galera.cnf was changed by somebody else")
            && why.contains("[galera] wsrep-provider-options")
            && why.contains("sealion abandon")
            && why.contains("next:"),
        "{why}"
    );
    let text = rig.shared.borrow().servers[1].disk.text(GALERA_FILE).expect("there");
    assert!(text.contains("gcache.size=1G") && !text.contains("socket.ssl"), "{text}");
    assert_eq!(rig.shared.borrow().letters(), "PPD");
}

#[test]
fn a_line_of_ours_that_was_changed_during_the_roll_stops_it_with_the_difference_and_the_copies() {
    let rig = Rig::new(7, 3).fork(7);
    rig.apply_until(&change(Verb::Enable), "E2.n2:checking");
    let before = rig.shared.borrow().servers[1].disk.text(GALERA_FILE).expect("there");
    rewrite_string(&rig, 1);
    let end = rig.resume(None);
    let why = end.text();
    assert!(
        why.contains("gcache.size=1G")
            && why.contains("changed by somebody else")
            && why.contains("/var/lib/sealion/files/")
            && why.contains("next:"),
        "{why}"
    );
    assert!(!why.contains("hunter2"), "{why}");
    assert_eq!(rig.shared.borrow().letters(), "PPD");
    assert!(rig.shared.borrow().is_whole());
    // With the line put back, everything goes on: forward, and back.
    rig.shared.borrow_mut().servers[1].disk.put(GALERA_FILE, before, 0, 0o640);
    assert!(rig.resume(None).is_complete());
    assert!(rig.resume(Some(Direction::Back)).is_complete());
}

#[test]
fn lines_of_others_are_kept_whenever_they_came() {
    for moment in ["E0.n2:checking", "E1.n2:checking", "E2.n2:checking", "E4.n2:acting", "E5.n2:checking"] {
        let rig = Rig::new(7, 3).fork(7);
        rig.apply_until(&change(Verb::Enable), moment);
        append(&rig, 1, "max_connections=500");
        let end = rig.resume(None);
        assert!(end.is_complete(), "{moment}: {end:?}");
        assert_eq!(rig.shared.borrow().letters(), "SSS", "{moment}");
        let text = || rig.shared.borrow().servers[1].disk.text(GALERA_FILE).expect("there");
        assert!(text().contains("max_connections=500") && text().contains("socket.ssl=YES"), "{}", text());
        assert!(rig.texts().contains("that somebody else changed were kept"), "{moment}: it is journalled");

        // Going back takes out what is ours, and keeps what is theirs.
        append(&rig, 0, "# a remark");
        let end = rig.resume(Some(Direction::Back));
        assert!(end.is_complete(), "{moment}: {end:?}");
        assert!(text().contains("max_connections=500"), "{}", text());
        for index in 0..3 {
            let text = rig.shared.borrow().servers[index].disk.text(GALERA_FILE).expect("there");
            for ours in ["socket.ssl", "tkey", "ssl_ca", "require_secure_transport"] {
                assert!(!text.contains(ours), "{moment}: {ours} is left in {text}");
            }
        }
        assert_eq!((rig.shared.borrow().letters().as_str(), rig.shared.borrow().is_whole()), ("PPP", true));
        assert_eq!(rig.shared.borrow().violations, Vec::<String>::new());
    }
}

#[test]
fn a_line_behind_ours_that_wins_is_told_before_any_restart() {
    let rig = Rig::new(7, 3).fork(7);
    rig.apply_until(&change(Verb::Enable), "E2.n2:checking");
    append(&rig, 1, "# moved here\n[mariadb]\nwsrep_provider_options=gcache.size=1G");
    let pid = |rig: &Rig| rig.shared.borrow().servers[1].process.as_ref().map(|process| process.pid);
    let before = pid(&rig);
    let end = rig.resume(None);
    let why = end.text();
    assert!(why.contains("does not count") && why.contains("wins"), "{end:?}");
    assert_eq!(pid(&rig), before, "it was not restarted");
    assert!(rig.shared.borrow().is_whole());
}

#[test]
fn a_node_that_does_not_come_back_gets_its_old_string_and_the_change_stops() {
    for (speaks, letters, step) in [(Speaks::Either, "PPP", "E2.n3"), (Speaks::Tls, "DDD", "E4.n3")] {
        let rig = Rig::new(7, 3).fork(7);
        rig.shared.borrow_mut().servers[2].cannot_speak = Some(speaks);
        let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
        let end = rig.apply(&plan);
        let End::Outcome(Outcome::Stopped { step: at, why }) = &end else { panic!("{end:?}") };
        assert_eq!(at.to_string(), step);
        assert!(
            why.contains("n3 did not come back") && why.contains("socket.dynamic") && why.contains("next:"),
            "{why}"
        );
        assert!(!why.contains("could not be taken back"), "{why}");
        rig.shared.borrow_mut().advance_until(5_000, World::is_whole);
        {
            let world = rig.shared.borrow();
            assert_eq!((world.letters().as_str(), world.is_whole()), (letters, true));
            assert_eq!(world.lost(), Vec::<String>::new());
            assert_eq!(world.violations, Vec::<String>::new());
        }
        // The operator repairs the server: the same command continues from there.
        rig.shared.borrow_mut().servers[2].cannot_speak = None;
        assert!(rig.resume(None).is_complete());
        assert_eq!(rig.shared.borrow().letters(), "SSS");
    }
}

#[test]
fn a_client_that_does_not_leave_stops_the_roll_and_the_node_goes_back_into_service() {
    let rig = Rig::new(7, 3).fork(7);
    rig.shared.borrow_mut().servers[2].lingering_sessions = LingeringSessions::Busy;
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    let end = rig.apply(&plan);
    let why = end.text();
    assert!(matches!(end, End::Outcome(Outcome::Stopped { .. })), "{end:?}");
    assert!(
        why.contains("n3 could not be drained")
            && why.contains("1 session still has work")
            && why.contains("proxy"),
        "{why}"
    );
    assert!(!why.contains("could not be taken back"), "{why}");
    rig.shared.borrow_mut().advance_until(5_000, World::is_whole);
    {
        let world = rig.shared.borrow();
        assert_eq!((world.letters().as_str(), world.is_whole(), world.app.failed), ("PPP", true, 0));
    }
    rig.shared.borrow_mut().servers[2].lingering_sessions = LingeringSessions::None;
    assert!(rig.resume(None).is_complete());
}

#[test]
fn an_idle_session_that_does_not_leave_is_cut_after_the_limit() {
    let rig = Rig::new(7, 3);
    rig.shared.borrow_mut().servers[2].lingering_sessions = LingeringSessions::Idle;
    rig.must(&change(Verb::Enable));
    let world = rig.shared.borrow();
    assert!(world.said.iter().any(|line| line.contains("n3: 1 session did not leave")), "{:?}", world.said);
    assert_eq!(world.app.failed, 0);
}

#[test]
fn clients_in_clear_text_are_not_cut_off() {
    let rig = Rig::new(7, 3);
    rig.shared.borrow_mut().app.takes_tls = false;
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    let end = rig.apply(&plan);
    let why = end.text();
    assert!(
        why.contains("still use cleartext")
            && why.contains("client app-n1")
            && why.contains("sealion resume"),
        "{why}"
    );
    assert!(rig.shared.borrow().servers.iter().all(|server| !server.live.as_ref().expect("up").requires_tls));
    rig.shared.borrow_mut().app.takes_tls = true;
    assert!(rig.resume(None).is_complete());
}

#[test]
fn without_the_right_to_capture_clients_are_cut_off_only_by_consent_and_nothing_is_called_proven() {
    let mut rig = Rig::new(7, 3);
    rig.blind = true;
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    let why = rig.apply(&plan).text();
    assert!(why.contains("cannot be seen here") && why.contains("--accept-unknown-clients"), "{why}");
    rig.accept_unknown_clients = true;
    let end = rig.resume(None);
    let End::Outcome(Outcome::Stopped { step, why }) = &end else { panic!("{end:?}") };
    assert_eq!(step.to_string(), "E6");
    assert!(why.contains("NOT PROVEN") && why.contains("--accept-unproven"), "{why}");
    // Not proven is not done: it is proven later, or a person says that it need not be.
    assert!(!rig.resume(None).is_complete());
    rig.blind = false;
    let end = rig.resume(None);
    assert!(end.is_complete(), "{end:?}");
    assert!(!rig.texts().contains("accepted by"));
}

#[test]
fn what_is_known_to_be_hidden_from_captures_refuses_a_change_before_anything_is_restarted() {
    let mut rig = Rig::new(7, 3);
    let why = "the capture on any cannot see this traffic: 10.0.0.2 is another network".to_owned();
    rig.unseen = vec![model::Unseen { subject: "n2".into(), why }];
    let is_told = |rig: &Rig, what: &Change| {
        let problems = rig.preflight(what);
        problems.iter().any(|one| {
            one.subject == "n2"
                && one.why.contains("another network")
                && one.next.contains("--accept-unproven")
        })
    };
    assert!(is_told(&rig, &change(Verb::Enable)));
    // One consent is not the other.
    rig.accept_unproven = true;
    assert!(is_told(&rig, &change(Verb::Enable)));
    rig.accept_unknown_clients = true;
    assert!(!is_told(&rig, &change(Verb::Enable)));
    rig.accept_unproven = false;
    assert!(is_told(&rig, &change(Verb::Enable)));
}

#[test]
fn an_unproven_change_is_closed_only_by_consent_and_that_is_written_down() {
    let mut rig = Rig::new(7, 3);
    (rig.blind, rig.accept_unknown_clients, rig.accept_unproven) = (true, true, true);
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    let end = rig.apply(&plan);
    assert!(end.is_complete(), "{end:?}");
    assert!(rig.texts().contains("NOT PROVEN, accepted by --accept-unproven: nothing could be seen"));
}

#[test]
fn a_require_secure_transport_that_another_file_takes_back_is_told() {
    let rig = Rig::new(7, 3);
    for index in 0..3 {
        let last = "/etc/mysql/mariadb.conf.d/99-last.cnf";
        rig.shared.borrow_mut().servers[index].disk.put(
            last,
            "[mysqld]\nrequire_secure_transport=OFF\n",
            0,
            0o644,
        );
    }
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    let why = rig.apply(&plan).text();
    assert!(why.contains("99-last.cnf:2") && why.contains("next start"), "{why}");
}

/// Applies with a fault at the first instant that comes after a change with this name.
fn apply_with(rig: &Rig, wish: &Change, fault: Fault, moment: &str, before: &str) -> End {
    let plan = rig.plan(wish).expect("a plan");
    let rehearsal = rig.fork(7);
    rehearsal.plan(wish).expect("a plan");
    rehearsal.arm(None);
    assert!(rehearsal.apply(&plan).is_complete());
    let is_there = |instant: &Instant| instant.moment == moment && instant.before.ends_with(before);
    let at = rehearsal.trace().iter().position(is_there).expect("an instant of this plan");
    rig.arm(Some((at, fault)));
    let end = rig.apply(&plan);
    rig.arm(None);
    end
}

#[test]
fn a_login_that_is_lost_during_the_roll_never_stops_a_serving_node_undrained() {
    let rig = Rig::new(7, 3).fork(7);
    let pid = rig.shared.borrow().servers[1].process.clone();
    let end = apply_with(&rig, &change(Verb::Enable), Fault::LoseLogin, "E2.n2:acting", "");
    assert!(end.text().contains("1045"), "{end:?}");
    assert_eq!(rig.shared.borrow().servers[1].process, pid, "it runs on");
    assert_eq!(rig.shared.borrow().app.failed, 0);
}

#[test]
fn a_node_is_not_stopped_when_another_dies_while_it_is_drained() {
    let rig = Rig::new(7, 3).fork(7);
    let pid = rig.shared.borrow().servers[2].process.clone();
    let end = apply_with(&rig, &change(Verb::Enable), Fault::KillOtherNode, "E2.n3:acting", "n3: wait");
    let why = end.text();
    assert!(why.contains("n3 was drained and is not stopped") && why.contains("does not answer"), "{why}");
    {
        let world = rig.shared.borrow();
        assert_eq!(world.servers[2].process, pid, "it was left running");
        assert_eq!((0..3).filter(|&index| world.is_healthy(index)).count(), 2, "two of three serve");
        assert!(world.app.longest_stall_ms < 6_000, "{}", world.app.longest_stall_ms);
    }
    assert!(rig.resume(None).is_complete());
}

#[test]
fn a_lost_quorum_that_cannot_come_back_is_told_with_every_seqno_and_nobody_bootstraps() {
    let rig = Rig::new(7, 3).fork(7);
    rig.apply_until(&change(Verb::Enable), "E2.n2:checking");
    {
        let mut world = rig.shared.borrow_mut();
        // n3 is stopped cleanly by somebody, then n2's machine is lost for good.
        world.stop(2);
        world.servers[2].broken = Some("disk I/O error".into());
        world.kill(1);
        world.servers[1].broken = Some("disk I/O error".into());
        world.advance(8_000);
        assert!(world.primary_components().is_empty());
    }
    let stopped_at = rig.shared.borrow().servers[2].seqno;
    for wish in [Direction::Forward, Direction::Back] {
        let End::NotRevived(text) = rig.resume(Some(wish)) else { panic!("nothing to go on with") };
        assert!(
            text.contains("n1: non-Primary")
                && text.contains(&format!(
                    "n3: n3 is down: Can't connect to local server (111); seqno {stopped_at} (grastate.dat)"
                )),
            "{text}"
        );
        assert!(text.contains("n2: n2 is down") && text.contains("--wsrep-recover"), "{text}");
        assert!(
            text.contains("pc.bootstrap=YES")
                && text.contains("sealion never does this")
                && text.contains("sealion resume"),
            "{text}"
        );
    }
    let world = rig.shared.borrow();
    assert!(world.primary_components().is_empty() && world.violations.is_empty());
}

#[test]
fn a_node_that_does_not_start_does_not_keep_the_others_from_being_told() {
    let rig = Rig::new(7, 3).fork(7);
    rig.apply_until(&change(Verb::Enable), "E2.n2:checking");
    rig.shared.borrow_mut().kill(0);
    rig.shared.borrow_mut().servers[0].broken = Some("disk I/O error".into());
    let end = rig.resume(None);
    let End::Outcome(Outcome::Stopped { step, why }) = &end else { panic!("{end:?}") };
    assert_eq!(step.to_string(), "E2.n2");
    assert!(why.contains("n1 does not answer") && why.contains("next:"), "{why}");
    rig.shared.borrow_mut().servers[0].broken = None;
    assert!(rig.resume(None).is_complete());
    assert!(rig.shared.borrow_mut().advance_until(5_000, World::is_whole));
}

/// What cannot be looked at is neither there nor gone, neither free nor taken.
#[test]
fn what_cannot_be_told_is_refused() {
    let unreadable =
        |path: &'static str| move |world: &mut World| world.servers[1].disk.unreadable.push(path.into());
    enable_refuses(
        unreadable("/proc/net/tcp"),
        "n2",
        &["whether the ports are free", "cannot be determined"],
    );
    enable_refuses(
        unreadable("/etc/mysql/sealion/node-key.pem"),
        "n2",
        &["what lies in /etc/mysql/sealion cannot be determined"],
    );
    enable_refuses(
        unreadable("/etc/mysql/sealion"),
        "n2",
        &["whether /etc/mysql/sealion can be written to cannot be determined"],
    );
    enable_refuses(unreadable(GALERA_FILE), "n2", &["whether another tool writes", "cannot be determined"]);
    enable_refuses(
        |world| world.servers[1].hides_live_settings = true,
        "n2",
        &["what was set live, and a restart would lose, cannot be determined", "ERROR 1142"],
    );
}

#[test]
fn a_switch_of_transfers_is_found_in_whatever_group_it_stands() {
    for (group, line) in [
        ("sst", "encrypt=3"),
        ("mysqld", "loose-encrypt=2"),
        ("galera", "loose_ssl_mode=DISABLED"),
        ("mariabackup", "ssl-mode=REQUIRED"),
    ] {
        let spoil = |world: &mut World| {
            let disk = &mut world.servers[1].disk;
            let text = disk.text(GALERA_FILE).expect("it is there");
            disk.put(GALERA_FILE, format!("{text}\n[{group}]\n{line}\n"), 0, 0o640);
        };
        enable_refuses(spoil, "n2", &[&format!("[{group}] has a switch of its own")]);
    }
}
