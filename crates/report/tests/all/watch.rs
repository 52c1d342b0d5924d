//! The shapes of `sealion watch` and of the pages of `sealion web`, and their schemas.

use crate::support::json::agrees;
use report::shape::{
    FLEET_SCHEMA_ID, FleetReport, LinkKindWord, OfCluster, SeverityWord, VerdictWord,
    WATCH_CERTIFICATES_SCHEMA_ID, WATCH_CLIENTS_SCHEMA_ID, WATCH_EVENT_SCHEMA_ID, WATCH_FINDINGS_SCHEMA_ID,
    WATCH_SCHEMA_ID, WATCH_SERVER_SCHEMA_ID, WatchCertificateRow, WatchCertificatesReport, WatchChangeRow,
    WatchClientRow, WatchClientsReport, WatchCountRow, WatchDriftRow, WatchDriftWord, WatchEventReport,
    WatchEventRow, WatchFindingRow, WatchFindingsReport, WatchLinkRow, WatchLinkWord, WatchReport,
    WatchRestRow, WatchRestWord, WatchServerReport, WatchServerRow, WatchServerWord, WatchSettingRow,
    WatchSummary,
};
use report::{
    FLEET_SCHEMA, WATCH_CERTIFICATES_SCHEMA, WATCH_CLIENTS_SCHEMA, WATCH_EVENT_SCHEMA, WATCH_FINDINGS_SCHEMA,
    WATCH_SCHEMA, WATCH_SERVER_SCHEMA,
};

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
        unknown_lasting: 1,
        servers_drifted: 1,
        servers_drift_unknown: 1,
        at_rest_fell_back: 1,
        at_rest_unknown: 1,
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
            unknown_since_unix_ms: Some(1000),
            first_seen_unix_ms,
            last_seen_unix_ms,
        }],
        links: vec![WatchLinkRow {
            kind: LinkKindWord::Galera,
            from: "n1".into(),
            to: "n2".into(),
            state: WatchLinkWord::Plain,
            why: "9 bytes without TLS".into(),
            unknown_since_unix_ms: None,
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
        settings: vec![WatchSettingRow {
            server: "n1".into(),
            what: "galera".into(),
            configured: "TLS".into(),
            effective: "cleartext".into(),
            seen: "plain".into(),
            is_current: false,
            why: "n1 did not answer".into(),
            first_seen_unix_ms,
            last_seen_unix_ms,
        }],
        drift: vec![WatchDriftRow {
            server: "n1".into(),
            state: WatchDriftWord::Drifted,
            change: "20261128T090000Z-3".into(),
            why: "[mysqld] ssl_ca is not set".into(),
            first_seen_unix_ms,
            last_seen_unix_ms,
        }],
        at_rest: vec![WatchRestRow {
            server: "n1".into(),
            what: "tablespaces".into(),
            state: WatchRestWord::Mixed,
            encrypted: 3,
            plain: 1,
            unknown: 0,
            fell_back_unix_ms: Some(2000),
            is_current: true,
            why: String::new(),
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
    let WatchReport {
        summary,
        mut servers,
        links,
        certificates,
        settings,
        drift,
        at_rest,
        findings,
        changes,
        ..
    } = cluster();
    let (sealion_version, at_unix_ms) = (String::from("0.1.0"), 5000);
    let of_server = WatchServerReport {
        schema: WATCH_SERVER_SCHEMA_ID.into(),
        sealion_version: sealion_version.clone(),
        at_unix_ms,
        summary,
        server: servers.remove(0),
        links,
        certificates: certificates.clone(),
        settings,
        drift,
        at_rest,
        findings: findings.clone(),
        changes,
    };
    agrees(WATCH_SERVER_SCHEMA, serde_json::to_value(of_server).expect("plain"), |value| {
        value["server"] = 7.into();
    });
    let event = WatchEventReport {
        schema: WATCH_EVENT_SCHEMA_ID.into(),
        sealion_version: sealion_version.clone(),
        at_unix_ms,
        cluster: "shop".into(),
        attempt: 1,
        dropped: 0,
        changes: vec![WatchEventRow {
            at_unix_ms,
            family: "link".into(),
            subject: "galera n1 - n2".into(),
            from: Some("encrypted".into()),
            to: Some("plain".into()),
        }],
        summary: self::summary(),
    };
    agrees(WATCH_EVENT_SCHEMA, serde_json::to_value(event).expect("plain"), |value| {
        value["changes"][0] = 7.into();
    });
    let of_all = WatchCertificatesReport {
        schema: WATCH_CERTIFICATES_SCHEMA_ID.into(),
        sealion_version: sealion_version.clone(),
        at_unix_ms,
        certificates: certificates
            .into_iter()
            .map(|row| OfCluster { cluster: "shop".into(), is_stale: true, row })
            .collect(),
    };
    agrees(WATCH_CERTIFICATES_SCHEMA, serde_json::to_value(of_all).expect("plain"), |value| {
        value["certificates"][0] = 7.into();
    });
    let of_all = WatchFindingsReport {
        schema: WATCH_FINDINGS_SCHEMA_ID.into(),
        sealion_version,
        at_unix_ms,
        findings: findings
            .into_iter()
            .map(|row| OfCluster { cluster: "shop".into(), is_stale: true, row })
            .collect(),
    };
    agrees(WATCH_FINDINGS_SCHEMA, serde_json::to_value(of_all).expect("plain"), |value| {
        value["findings"][0] = 7.into();
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
