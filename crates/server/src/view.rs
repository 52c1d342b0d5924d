//! One node as it answered at one moment.

use std::collections::BTreeMap;

use crate::capability::Capabilities;
use crate::provider_options::{GaleraState, ProviderOptions};

/// `SHOW GLOBAL VARIABLES` and the `wsrep_%`, `Ssl_%` and `Uptime` rows of `SHOW GLOBAL STATUS`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeView {
    pub variables: BTreeMap<String, String>,
    pub status: BTreeMap<String, String>,
    pub at_unix_ms: u64,
}

impl NodeView {
    /// Names are compared in lower case: the server itself spells them both ways.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }
    pub fn status(&self, name: &str) -> Option<&str> {
        self.status.get(name).map(String::as_str)
    }
    fn number(&self, name: &str) -> Option<i64> {
        self.status(name)?.parse().ok()
    }

    pub fn version(&self) -> &str {
        self.variable("version").unwrap_or("")
    }
    pub fn capabilities(&self) -> Capabilities {
        Capabilities::of(
            self.version(),
            self.variable("version_comment").unwrap_or(""),
            self.variables.contains_key("wsrep_ssl_mode"),
        )
    }
    pub fn is_galera(&self) -> bool {
        self.variable("wsrep_on") == Some("ON") && self.status.contains_key("wsrep_cluster_size")
    }
    pub fn provider_options(&self) -> ProviderOptions {
        ProviderOptions::parse(self.variable("wsrep_provider_options").unwrap_or(""))
    }
    pub fn galera_state(&self) -> GaleraState {
        GaleraState::of(&self.provider_options())
    }
    /// `Primary`, `non-Primary`, `Disconnected`.
    pub fn cluster_status(&self) -> &str {
        self.status("wsrep_cluster_status").unwrap_or("")
    }
    pub fn is_primary(&self) -> bool {
        self.cluster_status() == "Primary"
    }
    pub fn cluster_size(&self) -> usize {
        self.number("wsrep_cluster_size").and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
    }
    pub fn cluster_conf_id(&self) -> &str {
        self.status("wsrep_cluster_conf_id").unwrap_or("")
    }
    pub fn state_uuid(&self) -> &str {
        self.status("wsrep_cluster_state_uuid").unwrap_or("")
    }
    /// 1 Joining, 2 Donor/Desynced, 3 Joined, 4 Synced.
    pub fn local_state(&self) -> i64 {
        self.number("wsrep_local_state").unwrap_or(0)
    }
    pub fn is_synced(&self) -> bool {
        self.local_state() == 4
    }
    pub fn is_ready(&self) -> bool {
        self.status("wsrep_ready") == Some("ON")
    }
    pub fn recv_queue(&self) -> i64 {
        self.number("wsrep_local_recv_queue").unwrap_or(i64::MAX)
    }
    pub fn desync_count(&self) -> i64 {
        self.number("wsrep_desync_count").unwrap_or(0)
    }
    pub fn last_committed(&self) -> i64 {
        self.number("wsrep_last_committed").unwrap_or(-1)
    }
    /// `AUTO` and empty parts removed; an arbitrator shows as an empty entry.
    pub fn incoming_addresses(&self) -> Vec<&str> {
        self.status("wsrep_incoming_addresses").unwrap_or("").split(',').map(str::trim).collect()
    }
    /// Members without an address of their own in the list: arbitrators.
    pub fn arbitrators(&self) -> usize {
        self.incoming_addresses().iter().filter(|address| address.is_empty()).count()
    }
    pub fn requires_secure_transport(&self) -> bool {
        self.variable("require_secure_transport") == Some("ON")
    }
    /// Whether clients are offered TLS: `have_ssl` is YES.
    pub fn offers_client_tls(&self) -> bool {
        self.variable("have_ssl") == Some("YES")
    }
    pub fn sst_method(&self) -> &str {
        self.variable("wsrep_sst_method").unwrap_or("")
    }
}
