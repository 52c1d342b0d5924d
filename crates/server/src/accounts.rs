//! Accounts, as far as it matters to them whether a connection is encrypted.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use net::{Client, NetError};
use serde::{Deserialize, Serialize};

use crate::capability::{Capabilities, Flavour};
use crate::like::fits;

/// A login over the socket, one statement and the end take longer.
const OFTEN: Duration = Duration::from_millis(3);
/// More than any server has; a list without end would be read without end.
const ACCOUNTS_MAX: usize = 1_000_000;
/// An account of this host logs in over the unix socket, or from the machine itself.
const LOCALHOST: &str = "localhost";
/// They let in whoever the kernel names, over the socket only.
const BY_SOCKET: [&str; 2] = ["unix_socket", "auth_socket"];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AccountName {
    pub user: String,
    pub host: String,
}

impl std::fmt::Display for AccountName {
    /// As it can be pasted into a statement.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&model::account::quoted(&self.user, &self.host))
    }
}

impl std::str::FromStr for AccountName {
    type Err = String;

    /// `app@%`, `'app'@'10.0.0.%'`: the host is behind the last `@`.
    fn from_str(word: &str) -> Result<Self, String> {
        let (user, host) = word.rsplit_once('@').ok_or_else(|| {
            format!("\"{word}\" is not an account: it has no @ before a host, as app@% has")
        })?;
        let bare = |text: &str| {
            let inside =
                ["'", "`", "\""].iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
            inside.unwrap_or(text).to_owned()
        };
        Ok(Self { user: bare(user), host: bare(host) })
    }
}

impl AccountName {
    /// Whether it lets in who comes over the unix socket, where no account at localhost does.
    pub fn fits_localhost(&self) -> bool {
        fits(&self.host.to_ascii_lowercase(), LOCALHOST)
    }
}

/// What the REQUIRE of an account demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountTls {
    None,
    /// REQUIRE SSL.
    Tls,
    /// REQUIRE X509, or a certain subject, issuer or cipher: TLS and more.
    Certificate,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: AccountName,
    pub tls: AccountTls,
    /// It logs in over the unix socket, where there is nothing to encrypt.
    pub is_local: bool,
    /// Whoever asked is logged in with it.
    pub is_own: bool,
}

/// An account that demands a certificate, and of whom; empty: of whomever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateAccount {
    pub name: AccountName,
    pub subject: String,
    pub issuer: String,
}

/// Every account that demands a certificate (REQUIRE X509, SUBJECT, ISSUER); one that demands a cipher alone does not.
///
/// # Source
/// `mysql.user` of both flavours. Tried on MariaDB 10.11.19 and MySQL 9.7.4.
pub fn certificate_accounts(client: &mut Client) -> Result<Vec<CertificateAccount>, NetError> {
    let rows = client.query(&format!(
        "SELECT User, Host, ssl_type, CONVERT(x509_subject USING utf8mb4), CONVERT(x509_issuer USING utf8mb4) FROM mysql.user \
         WHERE ssl_type IN ('X509', 'SPECIFIED') ORDER BY User, Host LIMIT {ACCOUNTS_MAX}"
    ))?;
    let of_row = |row: net::RowRef<'_>| {
        let text = |at| row.at(at).map(std::borrow::Cow::into_owned).unwrap_or_default();
        let one = CertificateAccount {
            name: AccountName { user: text(0), host: text(1) },
            subject: text(3),
            issuer: text(4),
        };
        let demands_one = text(2) == "X509" || !one.subject.is_empty() || !one.issuer.is_empty();
        demands_one.then_some(one)
    };
    Ok(rows.iter().filter_map(of_row).collect())
}

/// Every account that can log in; roles are none.
///
/// # Source
/// `mysql.user` of both flavours: `ssl_type` is empty, ANY, X509 or SPECIFIED. MariaDB has roles in the same view (`is_role`), MySQL as
/// accounts that are locked and expired. A server with skip_name_resolve passes over accounts whose host is a name, as its error log says: nobody logs in with
/// one, and ALTER USER does not find it (error 1396). Tried on MariaDB 10.11.19 and MySQL 9.7.4.
pub fn accounts(client: &mut Client) -> Result<Vec<Account>, NetError> {
    let version = client.query("SELECT VERSION(), @@version_comment, @@skip_name_resolve, CURRENT_USER()")?;
    let text = |at| version.first().and_then(|row| row.at(at)).unwrap_or_default().into_owned();
    let is_role = match Capabilities::of(&text(0), &text(1), false).flavour {
        Flavour::MariaDb => "is_role = 'Y'",
        // CREATE ROLE makes an account that is locked and expired; one that is only locked may be unlocked tomorrow.
        _ => "account_locked = 'Y' AND password_expired = 'Y'",
    };
    let (resolves, own) = (text(2) != "1", text(3));
    let rows = client.query(&format!(
        "SELECT User, Host, ssl_type, plugin FROM mysql.user WHERE NOT ({is_role}) ORDER BY User, Host LIMIT {ACCOUNTS_MAX}"
    ))?;
    let of_row = |row: net::RowRef<'_>| {
        let text = |at| row.at(at).map(std::borrow::Cow::into_owned).unwrap_or_default();
        let name = AccountName { user: text(0), host: text(1) };
        let is_local = name.host.eq_ignore_ascii_case(LOCALHOST) || BY_SOCKET.contains(&text(3).as_str());
        let tls = match text(2).as_str() {
            "" => AccountTls::None,
            "ANY" => AccountTls::Tls,
            _ => AccountTls::Certificate,
        };
        let is_own = format!("{}@{}", name.user, name.host) == own;
        Account { name, tls, is_local, is_own }
    };
    let all = rows.iter().map(of_row);
    Ok(all.filter(|one| resolves || !is_host_name(&one.name.host)).collect())
}

/// Users that are connected over the unix socket at a moment of this time, but for whoever asks: the list is read every few milliseconds,
/// since a program that asks one thing is gone at once. One that comes and goes between two readings is not seen. REQUIRE SSL of an
/// account counts there too (error 1045), unlike require_secure_transport.
///
/// # Source
/// HOST is `localhost`, without a port, over a socket, on both flavours. Without the PROCESS privilege the list holds nothing but this
/// account's own sessions.
pub fn socket_users(client: &mut Client, within: Duration) -> Result<Vec<String>, NetError> {
    let until = Instant::now() + within;
    let mut users = BTreeSet::new();
    loop {
        // The server's own threads are none: the event scheduler is listed at localhost on MySQL.
        let rows = client.query(
            "SELECT DISTINCT USER FROM information_schema.PROCESSLIST WHERE HOST = 'localhost' AND ID <> CONNECTION_ID() \
             AND COMMAND <> 'Daemon' AND USER NOT IN ('event_scheduler', 'system user', 'unauthenticated user')",
        )?;
        users.extend(rows.iter().filter_map(|row| row.at(0)).map(std::borrow::Cow::into_owned));
        if Instant::now() >= until {
            return Ok(users.into_iter().collect());
        }
        std::thread::sleep(OFTEN);
    }
}

/// What must be resolved to be compared with an address: not `localhost`, `%`, `10.0.0.%` or `fe80::1`.
fn is_host_name(host: &str) -> bool {
    !host.eq_ignore_ascii_case(LOCALHOST)
        && !host.contains(':')
        && host.chars().any(|char| char.is_alphabetic() || char == '-')
}

/// It counts for connections that are made from then on; open ones stay.
pub fn require_tls(name: &AccountName, on: bool) -> String {
    format!("ALTER USER {name} REQUIRE {}", if on { "SSL" } else { "NONE" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_needs_no_resolving() {
        for host in ["db1", "db1.example.com", "%.example.com", "a-b"] {
            assert!(is_host_name(host), "{host}");
        }
        for host in ["%", "localhost", "10.0.0.%", "10.0.0.0/255.255.255.0", "::1", "fe80::%", "", "_"] {
            assert!(!is_host_name(host), "{host}");
        }
    }

    #[test]
    fn an_account_is_read_as_it_is_written() {
        for (word, user, host) in [
            ("app@%", "app", "%"),
            ("'app'@'10.0.0.%'", "app", "10.0.0.%"),
            ("a@b@h", "a@b", "h"),
            ("''@''", "", ""),
        ] {
            assert_eq!(word.parse(), Ok(AccountName { user: user.into(), host: host.into() }), "{word}");
        }
        for (host, expected) in [
            ("%", true),
            ("local%", true),
            ("LOCALHOST", true),
            ("10.%", false),
            ("_ocalhost", true),
            ("", false),
        ] {
            let name = AccountName { user: "app".into(), host: host.into() };
            assert_eq!(name.fits_localhost(), expected, "{host}");
        }
        assert!("app".parse::<AccountName>().is_err());
        let odd = AccountName { user: "o'b".into(), host: "%".into() };
        assert_eq!(require_tls(&odd, true), "ALTER USER `o'b`@'%' REQUIRE SSL");
    }
}
