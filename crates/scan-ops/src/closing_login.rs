//! One good login after a scan: from it on a server counts the connections of this host anew (`max_connect_errors`).
//!
//! The password goes only to a server whose certificate names its host and leads to the CA that was named.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::PathBuf;

use net::{Client, ConnectOptions, Endpoint, SslMode, TlsOptions};
use report::shape::ScanReport;

use crate::Budget;

/// A port that was scanned, and what became of the login there.
#[derive(Debug)]
pub struct ClosingLogin {
    pub target: String,
    /// Why nobody was logged in.
    pub outcome: Result<(), String>,
}

/// Logs in to each MySQL port of the report. Where all of an address let it in, its connections are counted anew here, too. A name
/// with several addresses leads to one of them, and only that one counts.
///
/// # Errors
/// Why the counts could not be written.
pub fn log_in_after(
    report: &ScanReport,
    login: &ConnectOptions,
    ca: PathBuf,
    budget: &mut Budget,
) -> Result<Vec<ClosingLogin>, String> {
    let login = ConnectOptions {
        tls: TlsOptions { mode: SslMode::VerifyIdentity, ca: Some(ca), ..TlsOptions::default() },
        ..login.clone().for_login_only()
    };
    let (mut logins, mut let_in) = (Vec::new(), BTreeSet::new());
    let mut ports: BTreeMap<IpAddr, Vec<u16>> = BTreeMap::new();
    for row in &report.targets {
        let is_mysql = row.service.as_ref().is_some_and(|service| service.protocol == "mysql");
        let address = row.address.as_deref().and_then(|text| text.parse::<IpAddr>().ok());
        let (true, Some(address)) = (is_mysql, address) else { continue };
        ports.entry(address.to_canonical()).or_default().push(row.port);
        let options = ConnectOptions { endpoint: Endpoint::tcp(row.host.clone(), row.port), ..login.clone() };
        let outcome = Client::connect(&options).and_then(|client| {
            let peer = client.peer_addr();
            client.quit().map(|()| peer)
        });
        if let Ok(Some(peer)) = &outcome {
            let_in.insert((peer.ip().to_canonical(), peer.port()));
        }
        let outcome = outcome.map(|_| ()).map_err(|error| error.in_one_line());
        logins.push(ClosingLogin { target: row.target.clone(), outcome });
    }
    let is_reset =
        |(address, ports): &(IpAddr, Vec<u16>)| ports.iter().all(|port| let_in.contains(&(*address, *port)));
    let reset: Vec<IpAddr> = ports.into_iter().filter(is_reset).map(|(address, _)| address).collect();
    budget.forget_addresses(&reset)?;
    Ok(logins)
}
