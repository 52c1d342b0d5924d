//! What the report says of servers, nodes and findings.

use lab::LabOptions;
use net::{Client, ConnectOptions, Endpoint, SslMode, TlsOptions};
use report::shape::{self, FindingRow, SeeAgain, SeenWord, StatusOf};

use site::inventory::Cluster;
use site::labs::Up;
use status_ops::status::{ClusterStatus, Status};

pub fn servers(status: &Status, up: &Up) -> Vec<shape::ServerRow> {
    let variable = |name: &str| {
        let spec = up.cluster.nodes.first()?;
        let mut client = Client::connect(&up.cluster.login_at(spec)).ok()?;
        let rows = client.query(&format!("SHOW GLOBAL VARIABLES LIKE '{name}'")).ok()?;
        rows.text(0, "Value").map(std::borrow::Cow::into_owned)
    };
    let version = status.nodes.iter().find_map(|node| node.version.clone()).unwrap_or_default();
    vec![shape::ServerRow {
        flavour: "MariaDB".into(),
        version,
        galera_version: Some(status.cluster.galera_version.clone()).filter(|text| !text.is_empty()),
        openssl: variable("version_ssl_library"),
    }]
}

pub fn cluster(cluster: &ClusterStatus) -> shape::ClusterStatus {
    shape::ClusterStatus {
        name: cluster.name.clone(),
        address: cluster.address.clone(),
        galera_port: cluster.galera_port,
        // Arbitrators have no name that a server tells.
        arbitrators: (1..=cluster.arbitrators).map(|n| format!("arbitrator {n}")).collect(),
        os_class: cluster.os_class.clone(),
    }
}

pub fn nodes(status: &Status) -> Vec<shape::NodeStatus> {
    status
        .nodes
        .iter()
        .map(|node| shape::NodeStatus {
            node: node.node.clone(),
            address: node.address.clone(),
            version: node.version.clone().unwrap_or_else(|| "no answer".into()),
            rows: node
                .rows
                .iter()
                .map(|row| {
                    let seen = match row.seen.as_str() {
                        "plain" => SeenWord::Plain,
                        "sealed" => SeenWord::Sealed,
                        _ => SeenWord::Unknown,
                    };
                    shape::StatusRow {
                        what: match row.what.split(' ').next() {
                            Some("galera") => StatusOf::Galera,
                            Some("sst") => StatusOf::Sst,
                            _ => StatusOf::Client,
                        },
                        key_path: row.key.as_ref().map(|path| path.display().to_string()),
                        cert_path: row.certificate.as_ref().map(|path| path.display().to_string()),
                        // The report shows one date and not whose it is: the file's is not given for the served one's.
                        not_after_unix: row.not_after_unix.filter(|_| row.served_unknown.is_none()),
                        configured: row.configured.clone(),
                        effective: row.effective.clone(),
                        seen,
                        seen_note: if seen == SeenWord::Unknown { row.seen.clone() } else { String::new() },
                    }
                })
                .collect(),
        })
        .collect()
}

pub fn findings(status: &Status) -> Vec<FindingRow> {
    status
        .findings
        .iter()
        .map(|finding| FindingRow::new(finding, &status.observations, &status.sights))
        .collect()
}

/// Node, serial and end of the certificate that clients are served.
pub fn serials(cluster: &Cluster, login: &ConnectOptions) -> Vec<(String, String, Option<i64>)> {
    cluster
        .nodes
        .iter()
        .map(|node| {
            let options = ConnectOptions {
                endpoint: Endpoint::tcp(node.address.clone(), node.port),
                tls: TlsOptions::with_mode(SslMode::Required),
                ..login.clone()
            };
            let leaf = Client::connect(&options)
                .ok()
                .and_then(|client| client.tls().and_then(net::TlsInfo::leaf_pem))
                .and_then(|pem| trust::inspect(pem.as_bytes()).ok()?.into_iter().next());
            let (serial, not_after) = leaf.map_or_else(
                || ("unknown".into(), None),
                |leaf| (leaf.serial_hex, Some(leaf.not_after_unix)),
            );
            (node.name.to_string(), serial, not_after)
        })
        .collect()
}

pub fn see_again(lab: &LabOptions) -> Vec<SeeAgain> {
    let dir = lab.dir.display();
    let row = |what: &str, command: String| SeeAgain { what: what.into(), command };
    let mut rows = vec![
        row("run the demo again", "make demo".into()),
        row("and keep the cluster running", "sealion demo --keep".into()),
    ];
    let about = row("what a finding means", "sealion explain SL1001".into());
    if !lab.keep {
        rows.push(about); // What follows needs a cluster that is still there.
        return rows;
    }
    rows.extend([
        row(
            "what each link carries now",
            format!("sealion lab exec --dir {dir} -- sealion status --canaries"),
        ),
        about,
    ]);
    if !lab.relay {
        let place = if lab.hosts { " --host n1 -- tcpdump -i any" } else { " -- tcpdump -i lo" };
        let command = format!("sealion lab exec --dir {dir}{place} -A port 4567");
        rows.insert(3, row("the captured bytes", command));
    }
    rows
}
