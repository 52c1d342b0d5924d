//! What an arbitrator (garbd) was started with, and what it will be started with. It has no SQL port that could tell.

use std::path::PathBuf;

use model::observation::{Observations, Source, Value};
use model::{LinkKind, LinkSight, facts};
use server::{GaleraState, LiveArbitrator, NodeError, ReadArbitrator, ReadMember};

use crate::status::{DateOf, NodeStatus, Row, days_left, leaf_end, reason, seen_of};

/// In the place of a version, which nothing tells of one that runs.
pub const PROGRAM: &str = "garbd";

/// Its rows, and what of it could not be looked at.
pub(crate) fn arbitrator_status(
    arbitrator: &mut LiveArbitrator,
    sights: &[LinkSight],
    seen: &mut Observations,
    now_unix_ms: u64,
) -> (NodeStatus, Vec<String>) {
    let name = arbitrator.name().to_string();
    let mut status = NodeStatus {
        node: name.clone(),
        address: arbitrator.spec().address.clone(),
        version: None,
        state: "no answer".into(),
        rows: vec![],
        why_not: None,
        is_refused: false,
    };
    let mut note = |value: Value| {
        seen.note(
            name.clone(),
            &facts::cluster::GALERA_EFFECTIVE,
            value,
            Source::Host,
            now_unix_ms,
            "its command line (ps)",
        );
    };
    let view = match arbitrator.view() {
        Ok(view) => view,
        Err(error) => {
            note(Value::Unknown(error.first_line()));
            status.is_refused = matches!(error, NodeError::Refused { .. });
            status.why_not = Some(error.to_string());
            return (status, vec![error.unnamed()]);
        }
    };
    let mut unseen = Vec::new();
    let configured = match arbitrator.file_options() {
        Ok(options) => word(&GaleraState::at_start(&options)),
        Err(error) => {
            unseen.push(format!("the file of its start script: {}", reason(error.unnamed())));
            "not read".to_owned()
        }
    };
    let path = |key: &str| view.options.get(key).filter(|text| !text.is_empty()).map(PathBuf::from);
    let state = view.state();
    note(Value::Text(state.to_string()));
    let certificate = path("socket.ssl_cert");
    let served = certificate.as_ref().map(|_| {
        let end = arbitrator.galera_leaf().map_err(reason).and_then(|pem| leaf_end(pem.as_bytes()));
        end.map_err(|why| format!("port {}: {why}", arbitrator.spec().galera_port))
    });
    let (not_after_unix, served_unknown) = match served {
        None => (None, None),
        Some(Ok(end)) => (Some(end), None),
        Some(Err(why)) => {
            unseen.push(why.clone());
            (None, Some(why))
        }
    };
    let days = match (not_after_unix, &served_unknown) {
        (Some(end), _) => Some(Value::Number(days_left(end, now_unix_ms))),
        (None, Some(why)) => Some(Value::Unknown(why.clone())),
        (None, None) => None,
    };
    if let Some(days) = days {
        let how = "openssl s_client -connect HOST:4567 | openssl x509 -noout -enddate";
        seen.note(name.clone(), &facts::server::CERT_EXPIRES_IN_DAYS, days, Source::Wire, now_unix_ms, how);
    }
    status.version = Some(PROGRAM.into());
    status.state = "arbitrator".into();
    status.rows = vec![Row {
        what: "galera".into(),
        configured,
        effective: word(&state),
        seen: seen_of(sights, LinkKind::Galera, &name),
        key: path("socket.ssl_key"),
        certificate,
        not_after_unix,
        not_after_of: not_after_unix.map(|_| DateOf::Served),
        served_unknown,
    }];
    (status, unseen)
}

fn word(state: &GaleraState) -> String {
    match state {
        GaleraState::Other(_) => "mixed up".into(),
        known => known.to_string(),
    }
}
