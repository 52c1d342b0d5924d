//! One node as it answered at one moment.

use std::collections::BTreeMap;

use crate::capability::Capabilities;

const NOT_AFTER: &str = "ssl_server_not_after";
const X_NOT_AFTER: &str = "mysqlx_ssl_server_not_after";

/// `Dec  5 07:23:49 2026 GMT`, as OpenSSL writes it.
// Seen: MariaDB 10.11.19 pads a one-digit day with a space.
pub fn unix_of(text: &str) -> Option<i64> {
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

/// `SHOW GLOBAL VARIABLES` and the `wsrep_%`, `Ssl_%`, `Mysqlx_ssl_server_not_after`, `Tls_library_version` and `Uptime` rows of `SHOW GLOBAL STATUS`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeView {
    pub variables: BTreeMap<String, String>,
    pub status: BTreeMap<String, String>,
    pub at_unix_ms: u64,
    /// The server's own clock then; `None`: it did not tell.
    pub server_unix_ms: Option<u64>,
}

impl NodeView {
    /// Names are compared in lower case: the server itself spells them both ways.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }
    pub fn status(&self, name: &str) -> Option<&str> {
        self.status.get(name).map(String::as_str)
    }
    /// A status that is a number; `None` also where it is none.
    pub fn number(&self, name: &str) -> Option<i64> {
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
    /// When the certificate begins that clients are shown, as the server itself says.
    pub fn client_certificate_not_before_unix(&self) -> Option<i64> {
        unix_of(self.status("ssl_server_not_before")?)
    }
    /// When the certificate ends that clients are shown, as the server itself says.
    pub fn client_certificate_not_after_unix(&self) -> Option<i64> {
        unix_of(self.status(NOT_AFTER)?)
    }
    /// The group of MySQL Group Replication that it is set up for, whether it is in it now or not.
    pub fn mysql_group(&self) -> Option<&str> {
        self.variable("group_replication_group_name").filter(|group| !group.is_empty())
    }
    /// Where MySQL takes administrators, if it does so by itself (`admin_address`).
    pub fn admin_port(&self) -> Option<(&str, u16)> {
        let address = self.variable("admin_address").filter(|address| !address.is_empty())?;
        Some((address, self.variable("admin_port")?.parse().ok()?))
    }
    /// It shows the main port's certificate there, and follows its versions and suites; where `admin_tls_…` alone was given at the start, it
    /// offers no TLS there, which nobody but its greeting tells.
    ///
    /// # Source
    /// Seen on MySQL 9.7.4: without `admin_ssl_…` the channel mysql_admin is not enabled, and the admin port takes over each reload of the main
    /// one, also of `tls_version`. Once they were set and loaded, they cannot be unset while it runs (error 3888).
    pub fn admin_follows_main(&self) -> bool {
        self.admin_port().is_some() && self.variable("admin_ssl_cert").is_none_or(str::is_empty)
    }
    /// Its port of the X Protocol, and until when the certificate is valid that it shows there, where that is not the one which other clients
    /// are shown: X Plugin reads its files when the server starts.
    ///
    /// # Source
    /// Seen on MySQL 9.7.4: `Mysqlx_ssl_server_not_after` stays what it was after `ALTER INSTANCE RELOAD TLS`.
    pub fn x_protocol_lags(&self) -> Option<(&str, &str)> {
        let has = |name: &str| self.variable(name).filter(|value| !value.is_empty());
        let port = has("mysqlx_port")?;
        let until = self.status(X_NOT_AFTER).filter(|until| !until.is_empty())?;
        let is_own = has("mysqlx_ssl_cert").is_some();
        (!is_own && self.status(NOT_AFTER) != Some(until)).then_some((port, until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(variables: &[(&str, &str)], status: &[(&str, &str)]) -> NodeView {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        NodeView { variables: map(variables), status: map(status), at_unix_ms: 0, server_unix_ms: None }
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
    fn a_port_of_the_x_protocol_with_an_older_certificate_is_known() {
        let port = ("mysqlx_port", "33060");
        let (new, old) = (
            ("ssl_server_not_after", "Jan  5 13:07:53 2027 GMT"),
            ("mysqlx_ssl_server_not_after", "Nov 23 13:07:41 2036 GMT"),
        );
        assert_eq!(view(&[port], &[new, old]).x_protocol_lags(), Some(("33060", old.1)));
        // Files of its own, the same certificate, a port without TLS, no X Plugin.
        let own = ("mysqlx_ssl_cert", "x.pem");
        assert_eq!(view(&[port, own], &[new, old]).x_protocol_lags(), None);
        assert_eq!(view(&[port], &[new, (old.0, new.1)]).x_protocol_lags(), None);
        assert_eq!(view(&[port], &[new, (old.0, "")]).x_protocol_lags(), None);
        assert_eq!(view(&[], &[new, old]).x_protocol_lags(), None);
    }
}
