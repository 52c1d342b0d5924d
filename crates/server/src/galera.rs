//! What a server tells of the Galera cluster that it is a node of.

use crate::capability::Capabilities;
use crate::provider_options::{GaleraState, ProviderOptions};
use crate::view::NodeView;

/// Read from the `wsrep_%` variables and status of one answer. Of a server outside of Galera each says what is least: no member,
/// in no state; [`GaleraFacts::not_galera`] tells the two apart.
pub trait GaleraFacts {
    fn is_galera(&self) -> bool;
    fn provider_options(&self) -> ProviderOptions;
    fn galera_state(&self) -> GaleraState;
    /// `Primary`, `non-Primary`, `Disconnected`.
    fn cluster_status(&self) -> &str;
    fn is_primary(&self) -> bool;
    fn cluster_size(&self) -> usize;
    fn cluster_conf_id(&self) -> &str;
    fn state_uuid(&self) -> &str;
    /// 1 Joining, 2 Donor/Desynced, 3 Joined, 4 Synced.
    fn local_state(&self) -> i64;
    fn is_synced(&self) -> bool;
    fn is_ready(&self) -> bool;
    fn recv_queue(&self) -> i64;
    fn desync_count(&self) -> i64;
    fn last_committed(&self) -> i64;
    /// As the server lists them; an arbitrator shows as an empty entry.
    fn incoming_addresses(&self) -> Vec<&str>;
    /// Members without an address of their own in the list: arbitrators.
    fn arbitrators(&self) -> usize;
    /// Why this server is no node of a Galera cluster, and nothing of one may be judged of it; `None` where it is one.
    fn not_galera(&self) -> Option<String>;
    fn sst_method(&self) -> &str;
}

impl GaleraFacts for NodeView {
    fn is_galera(&self) -> bool {
        self.variable("wsrep_on") == Some("ON") && self.status.contains_key("wsrep_cluster_size")
    }
    fn provider_options(&self) -> ProviderOptions {
        ProviderOptions::parse(self.variable("wsrep_provider_options").unwrap_or(""))
    }
    fn galera_state(&self) -> GaleraState {
        GaleraState::of(&self.provider_options())
    }
    fn cluster_status(&self) -> &str {
        self.status("wsrep_cluster_status").unwrap_or("")
    }
    fn is_primary(&self) -> bool {
        self.cluster_status() == "Primary"
    }
    fn cluster_size(&self) -> usize {
        self.number("wsrep_cluster_size").and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
    }
    fn cluster_conf_id(&self) -> &str {
        self.status("wsrep_cluster_conf_id").unwrap_or("")
    }
    fn state_uuid(&self) -> &str {
        self.status("wsrep_cluster_state_uuid").unwrap_or("")
    }
    fn local_state(&self) -> i64 {
        self.number("wsrep_local_state").unwrap_or(0)
    }
    fn is_synced(&self) -> bool {
        self.local_state() == 4
    }
    fn is_ready(&self) -> bool {
        self.status("wsrep_ready") == Some("ON")
    }
    fn recv_queue(&self) -> i64 {
        self.number("wsrep_local_recv_queue").unwrap_or(i64::MAX)
    }
    fn desync_count(&self) -> i64 {
        self.number("wsrep_desync_count").unwrap_or(0)
    }
    fn last_committed(&self) -> i64 {
        self.number("wsrep_last_committed").unwrap_or(-1)
    }
    fn incoming_addresses(&self) -> Vec<&str> {
        self.status("wsrep_incoming_addresses").unwrap_or("").split(',').map(str::trim).collect()
    }
    fn arbitrators(&self) -> usize {
        self.incoming_addresses().iter().filter(|address| address.is_empty()).count()
    }
    fn not_galera(&self) -> Option<String> {
        let Capabilities { flavour, galera, .. } = self.capabilities();
        if !galera {
            return Some(format!("{flavour} {} has no Galera", self.version()));
        }
        match self.variable("wsrep_on") {
            Some("ON") => None,
            Some(value) => Some(format!("wsrep_on is {value}")),
            None => Some("it has no variable wsrep_on".into()),
        }
    }
    fn sst_method(&self) -> &str {
        self.variable("wsrep_sst_method").unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(variables: &[(&str, &str)]) -> NodeView {
        let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        NodeView { variables: variables.collect(), ..NodeView::default() }
    }

    #[test]
    fn a_server_outside_of_galera_is_known_as_one() {
        assert_eq!(view(&[("version", "9.7.4")]).not_galera().as_deref(), Some("MySQL 9.7.4 has no Galera"));
        let maria = |on: &str| view(&[("version", "10.11.19-MariaDB"), ("wsrep_on", on)]);
        assert_eq!(maria("OFF").not_galera().as_deref(), Some("wsrep_on is OFF"));
        assert_eq!(maria("ON").not_galera(), None);
    }
}
