//! `sealion prove clients` with all that it knows, installed from the registries of their languages. Minutes and a network, so
//! it is run by `make deep` alone; there a driver that is missing fails, with what it needs.

use std::process::Command;
use std::time::Duration;

use report::shape::{ProveClientsReport, ProveModeRow};
use testbed::real::{Program, one_at_a_time, sealion, short_dir};

const WHOLE_S_MAX: u64 = 3600;
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/clients.md");

/// Options that look protected in a configuration, and go on in clear text with a server that offers no TLS.
const HEADLINES: [(&str, &str); 6] = [
    ("aiomysql", "verified"),
    ("mysqlclient", "required"),
    ("mysql-connector-python-c", "verify-cert"),
    ("mariadb-10.11", "ca"),
    ("ruby-mysql2", "verify-identity"),
    ("go-sql-driver", "custom-fallback"),
];

fn mode<'a>(report: &'a ProveClientsReport, client: &str, mode: &str) -> &'a ProveModeRow {
    let one = report.clients.iter().find(|one| one.client == client).expect("it is in the report");
    one.modes.iter().find(|one| one.mode == mode).unwrap_or_else(|| panic!("{client} has no {mode}"))
}

/// All but the line with the day.
fn rows(page: &str) -> Vec<&str> {
    page.lines().filter(|line| !line.starts_with("Made by ")).collect()
}

#[test]
#[ignore = "installs thirty drivers and takes minutes: make deep"]
fn all_drivers_do_what_the_page_says() {
    let _alone = one_at_a_time();
    let home = short_dir();
    let page = home.path().join("clients.md");
    let mut command = Command::new(sealion());
    command.args(["prove", "clients", "--install", "--format=json", "--page"]).arg(&page);
    let said = Program::start(command).finish(Duration::from_secs(WHOLE_S_MAX)).exits(0);
    let report: ProveClientsReport = serde_json::from_str(&said.stdout).expect("the published shape");

    let missing: Vec<String> = report
        .clients
        .iter()
        .filter(|one| one.version.is_none())
        .map(|one| format!("{}: {:?}; {:?}", one.client, one.why, one.next))
        .collect();
    assert!(missing.is_empty(), "not tried:\n{}", missing.join("\n"));
    for one in &report.clients {
        assert!(
            one.modes.iter().any(|mode| mode.is_controlled),
            "{} never accepts the honest server: {:#?}",
            one.client,
            one.modes
        );
    }
    for (client, id) in HEADLINES {
        let mode = mode(&report, client, id);
        assert_eq!((mode.is_controlled, mode.broken_by.as_deref()), (true, Some("strip")), "{client} {id}");
    }
    let (now, then) =
        (std::fs::read_to_string(&page).expect("written"), std::fs::read_to_string(PAGE).expect("committed"));
    assert_eq!(
        rows(&now),
        rows(&then),
        "docs/src/reference/clients.md is stale: sealion prove clients --install --page docs/src/reference/clients.md"
    );
}
