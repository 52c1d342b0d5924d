//! One node as it answered at one moment.

use std::collections::BTreeMap;

use crate::capability::Capabilities;
use crate::provider_options::{GaleraState, ProviderOptions};

const NOT_AFTER: &str = "ssl_server_not_after";

/// `Dec  5 07:23:49 2026 GMT`, as OpenSSL writes it.
// Seen: MariaDB 10.11.19 pads a one-digit day with a space.
fn unix_of(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_ascii_whitespace();
    let month = words.next()?;
    let month = i64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()? + 1;
    let day: i64 = words.next()?.parse().ok()?;
    let time: Vec<i64> = words.next()?.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [hour, minute, second] = time[..] else { return None };
    let year: i64 = words.next()?.parse().ok()?;
    let in_range = (1..=31).contains(&day) && (0..24).contains(&hour) && (0..60).contains(&minute);
    if !in_range
        || !(0..=60).contains(&second)
        || !(1950..10_000).contains(&year)
        || words.next() != Some("GMT")
    {
        return None;
    }
    // Days since 1970 of a day in the Gregorian calendar, the year counted from March.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

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
    /// Whether clients are known to be offered TLS.
    pub fn offers_client_tls(&self) -> bool {
        self.client_tls() == Some(true)
    }
    /// The same; `None` where the server does not say.
    pub fn client_tls(&self) -> Option<bool> {
        if self.capabilities().have_ssl {
            return self.variable("have_ssl").map(|value| value == "YES");
        }
        self.status(NOT_AFTER).map(|text| !text.is_empty())
    }
    /// When the certificate ends that clients are shown, as the server itself says.
    pub fn client_certificate_not_after_unix(&self) -> Option<i64> {
        unix_of(self.status(NOT_AFTER)?)
    }
    /// Why this server is no node of a Galera cluster, and nothing of one may be judged of it; `None` where it is one.
    pub fn not_galera(&self) -> Option<String> {
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
    pub fn sst_method(&self) -> &str {
        self.variable("wsrep_sst_method").unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(variables: &[(&str, &str)], status: &[(&str, &str)]) -> NodeView {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        NodeView { variables: map(variables), status: map(status), at_unix_ms: 0 }
    }

    #[test]
    fn each_flavour_is_asked_for_its_tls_where_it_says_it() {
        let mysql = ("version", "9.7.4");
        let maria = ("version", "10.11.19-MariaDB");
        let until = ("ssl_server_not_after", "Dec  5 07:23:49 2026 GMT");
        for (variables, status, offers) in [
            (&[mysql][..], &[until][..], Some(true)),
            (&[mysql], &[("ssl_server_not_after", "")], Some(false)),
            (&[mysql], &[], None),
            (&[maria, ("have_ssl", "YES")], &[until], Some(true)),
            (&[maria, ("have_ssl", "DISABLED")], &[("ssl_server_not_after", "")], Some(false)),
            (&[("version", "8.0.36"), ("have_ssl", "YES")], &[], Some(true)),
        ] {
            assert_eq!(view(variables, status).client_tls(), offers, "{variables:?} {status:?}");
        }
    }

    #[test]
    fn the_end_of_a_certificate_is_read_as_each_server_writes_it() {
        for (text, unix) in [
            ("Dec  5 07:23:49 2026 GMT", Some(1_796_455_429)),
            ("Nov 24 02:42:34 2027 GMT", Some(1_827_024_154)),
            ("Feb 29 23:59:59 2028 GMT", Some(1_835_481_599)),
            ("Jan  1 00:00:00 1970 GMT", Some(0)),
            ("", None),
            ("Dec 5 07:23 2026 GMT", None),
            ("Foo  5 07:23:49 2026 GMT", None),
        ] {
            assert_eq!(
                view(&[], &[("ssl_server_not_after", text)]).client_certificate_not_after_unix(),
                unix,
                "{text}"
            );
        }
    }

    #[test]
    fn a_server_outside_of_galera_is_known_as_one() {
        assert_eq!(
            view(&[("version", "9.7.4")], &[]).not_galera().as_deref(),
            Some("MySQL 9.7.4 has no Galera")
        );
        let maria = |on: &str| view(&[("version", "10.11.19-MariaDB"), ("wsrep_on", on)], &[]);
        assert_eq!(maria("OFF").not_galera().as_deref(), Some("wsrep_on is OFF"));
        assert_eq!(maria("ON").not_galera(), None);
    }
}
