//! The shapes of `sealion watch` and of the pages of `sealion web`, and their schemas.

use crate::support::json::agrees;
use report::shape::{
    FLEET_SCHEMA_ID, FleetReport, LinkKindWord, SeverityWord, VerdictWord, WATCH_CLIENTS_SCHEMA_ID,
    WATCH_SCHEMA_ID, WatchCertificateRow, WatchChangeRow, WatchClientRow, WatchClientsReport, WatchCountRow,
    WatchFindingRow, WatchLinkRow, WatchLinkWord, WatchReport, WatchServerRow, WatchServerWord, WatchSummary,
};
use report::{FLEET_SCHEMA, WATCH_CLIENTS_SCHEMA, WATCH_SCHEMA};

fn summary() -> WatchSummary {
    WatchSummary {
        cluster: "shop".into(),
        last_look_unix_ms: Some(2000),
        last_success_unix_ms: Some(1000),
        age_s: Some(3),
        is_stale: false,
        interval_s: 300,
        servers: 3,
        servers_silent: 1,
        servers_unknown: 1,
        links_plain: 1,
        links_encrypted: 2,
        links_unknown: 3,
        findings: vec![WatchCountRow { severity: SeverityWord::High, fail: 1, unknown: 0 }],
        worst: Some(SeverityWord::High),
        not_after_unix: Some(1_800_000_000),
        not_looked_at: vec!["the wire: no right".into()],
        error: Some("it took more than 60 s".into()),
    }
}

fn cluster() -> WatchReport {
    let (first_seen_unix_ms, last_seen_unix_ms) = (1000, 2000);
    WatchReport {
        schema: WATCH_SCHEMA_ID.into(),
        sealion_version: "0.1.0".into(),
        at_unix_ms: 5000,
        summary: summary(),
        servers: vec![WatchServerRow {
            server: "n1".into(),
            address: "10.0.0.1".into(),
            version: Some("10.11.19".into()),
            state: WatchServerWord::Silent,
            note: "no answer".into(),
            last_success_unix_ms: Some(1000),
            first_seen_unix_ms,
            last_seen_unix_ms,
        }],
        links: vec![WatchLinkRow {
            kind: LinkKindWord::Galera,
            from: "n1".into(),
            to: "n2".into(),
            state: WatchLinkWord::Plain,
            why: "9 bytes without TLS".into(),
            first_seen_unix_ms,
            last_seen_unix_ms,
        }],
        certificates: vec![WatchCertificateRow {
            server: "n1".into(),
            usage: "server".into(),
            seen: "wire".into(),
            fingerprint: Some("ab".into()),
            not_before_unix: Some(1),
            not_after_unix: Some(2),
            is_current: false,
            why: "n1 did not answer".into(),
            reload_pending: Some(true),
            first_seen_unix_ms,
            last_seen_unix_ms,
        }],
        findings: vec![WatchFindingRow {
            rule: "SL1001".into(),
            title: "t".into(),
            severity: SeverityWord::High,
            subject: "n1".into(),
            verdict: VerdictWord::Fail,
            why: "w".into(),
            remedy: "r".into(),
            first_seen_unix_ms,
            last_seen_unix_ms,
        }],
        changes: vec![WatchChangeRow {
            family: "link".into(),
            subject: "galera n1-n2".into(),
            state: "plain".into(),
            first_seen_unix_ms,
            last_seen_unix_ms,
        }],
    }
}

#[test]
fn the_shapes_and_their_schemas_agree_and_every_field_is_described() {
    let fleet = FleetReport {
        schema: FLEET_SCHEMA_ID.into(),
        sealion_version: "0.1.0".into(),
        at_unix_ms: 5000,
        clusters: vec![summary()],
    };
    agrees(WATCH_SCHEMA, serde_json::to_value(cluster()).expect("plain"), |value| {
        value["links"][0] = 7.into();
    });
    agrees(FLEET_SCHEMA, serde_json::to_value(fleet).expect("plain"), |value| {
        value["clusters"][0] = 7.into();
    });
    let clients = WatchClientsReport {
        schema: WATCH_CLIENTS_SCHEMA_ID.into(),
        sealion_version: "0.1.0".into(),
        cluster: "shop".into(),
        looks: 2,
        clients: vec![WatchClientRow {
            user: Some("app".into()),
            host: "10.0.0.9".into(),
            driver: Some("mysqlnd".into()),
            nodes: vec!["n1".into()],
            cleartext: 1,
            ..WatchClientRow::default()
        }],
        not_seen: vec!["n2: no right".into()],
        ..WatchClientsReport::default()
    };
    agrees(WATCH_CLIENTS_SCHEMA, serde_json::to_value(clients).expect("plain"), |value| {
        value["clients"][0] = 7.into();
    });
}
