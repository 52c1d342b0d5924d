//! The shape of `sealion trust` and its schema.

use crate::support::json::agrees;
use report::TRUST_SCHEMA;
use report::shape::{
    TRUST_SCHEMA_ID, TrustCertificateRow, TrustReport, TrustRequestRow, TrustRevokedRow, TrustTakerRow,
};

#[test]
fn the_shape_and_its_schema_agree_and_every_field_is_described() {
    let report = TrustReport {
        schema: TRUST_SCHEMA_ID.into(),
        sealion_version: "0.1.0".into(),
        cluster: "shop".into(),
        command: "revoke".into(),
        requests: vec![TrustRequestRow { name: "n1".into(), file: "requests/n1.csr".into(), is_new: true }],
        certificates: vec![TrustCertificateRow {
            name: "app".into(),
            serial: "0A".into(),
            not_after_unix: 1_800_000_000,
            file: Some("app-cert.pem".into()),
            key_file: Some("app-key.pem".into()),
        }],
        revoked: Some(TrustRevokedRow {
            name: "app".into(),
            subject: "/CN=app".into(),
            serials: vec!["0A".into()],
            next_subject: "/CN=app G2".into(),
            takers: vec![TrustTakerRow {
                account: "app@%".into(),
                servers: vec!["n1".into()],
                takes_all: false,
            }],
        }),
        statements: vec!["ALTER USER 'app'@'%' REQUIRE SUBJECT '/CN=app G2'".into()],
        not_asked: vec!["n2: it is down".into()],
    };
    agrees(TRUST_SCHEMA, serde_json::to_value(report).expect("plain"), |value| {
        value["command"] = "steal".into();
    });
}
