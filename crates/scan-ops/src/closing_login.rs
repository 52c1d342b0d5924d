//! One good login after a scan: from it on a server counts the connections of this host anew (`max_connect_errors`).
//!
//! The password goes only to a server whose certificate names its host and leads to the CA that was named.

use std::collections::BTreeMap;
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

/// Logs in to each MySQL port of the report. Where all of an address let it in, its connections are counted anew here, too.
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
        ..login.clone()
    };
    let mut logins = Vec::new();
    let mut all_let_in: BTreeMap<IpAddr, bool> = BTreeMap::new();
    for row in &report.targets {
        let is_mysql = row.service.as_ref().is_some_and(|service| service.protocol == "mysql");
        let address = row.address.as_deref().and_then(|text| text.parse::<IpAddr>().ok());
        let (true, Some(address)) = (is_mysql, address) else { continue };
        let options = ConnectOptions { endpoint: Endpoint::tcp(row.host.clone(), row.port), ..login.clone() };
        let outcome = Client::connect(&options).and_then(Client::quit).map_err(|error| error.to_string());
        *all_let_in.entry(address).or_insert(true) &= outcome.is_ok();
        logins.push(ClosingLogin { target: row.target.clone(), outcome });
    }
    let forgotten: Vec<IpAddr> =
        all_let_in.into_iter().filter(|(_, all)| *all).map(|(address, _)| address).collect();
    budget.forget_addresses(&forgotten)?;
    Ok(logins)
}
