//! Who has logged in with and without TLS, also who is not connected now: a witness beside a capture, which sees only those who
//! speak while it runs.

use net::{Client, NetError};

/// Logins from one host, as the server counts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostLogins {
    /// Address or name; `localhost` is the socket.
    pub host: String,
    pub all: u64,
    pub tls: u64,
}

/// What the counters of one server say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logins {
    /// Since its start.
    pub since_s: u64,
    /// Of each host, since its start or since somebody set the counters back; where it does not count them, why.
    pub by_host: Result<Vec<HostLogins>, String>,
    /// More than so many logins were not without TLS; those over the socket and the server's own threads are among them. `None`:
    /// the counters were set back.
    pub without_tls_max: Option<u64>,
}

impl Logins {
    /// Hosts that logged in without TLS over TCP.
    pub fn in_clear_text(&self) -> Vec<String> {
        let hosts = self.by_host.iter().flatten();
        hosts
            .filter(|one| one.host != "localhost" && one.all > one.tls)
            .map(|one| format!("{} ({} of {} logins)", one.host, one.all - one.tls, one.all))
            .collect()
    }
}

/// # Source
/// Tried on MariaDB 10.11.19: `Connections` is the number of the next connection, so the server's own threads and logins that
/// failed are among them; `Ssl_finished_accepts` counts handshakes since the certificate was loaded (`FLUSH SSL` sets it back);
/// information_schema.CLIENT_STATISTICS counts logins that succeeded, by host, while userstat is ON.
pub fn logins(client: &mut Client) -> Result<Logins, NetError> {
    let rows = client.query(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('Connections', 'Ssl_finished_accepts', 'Uptime')",
    )?;
    let number = |name: &str| -> Option<u64> {
        rows.iter().find(|row| row.at(0).is_some_and(|one| one == name))?.at(1)?.parse().ok()
    };
    let (all, tls) = (number("Connections"), number("Ssl_finished_accepts"));
    let without_tls_max = all.zip(tls).and_then(|(all, tls)| all.checked_sub(tls));
    let since_s = number("Uptime").unwrap_or(0);
    let counts = client.query("SHOW GLOBAL VARIABLES LIKE 'userstat'")?;
    let by_host = match counts.text(0, "Value").as_deref() {
        Some("ON") => client
            .query("SELECT CLIENT, TOTAL_CONNECTIONS, TOTAL_SSL_CONNECTIONS FROM information_schema.CLIENT_STATISTICS")
            .map_err(|error| error.in_one_line())
            .and_then(|rows| {
                let logins = |row: net::RowRef<'_>| {
                    let number = |at: usize| row.at(at)?.parse().ok();
                    Some(HostLogins { host: row.at(0)?.into_owned(), all: number(1)?, tls: number(2)? })
                };
                let all: Option<Vec<HostLogins>> = rows.iter().map(logins).collect();
                all.ok_or_else(|| "CLIENT_STATISTICS makes no sense".to_owned())
            }),
        Some(_) => Err("userstat is OFF".into()),
        None => Err("it has no userstat".into()),
    };
    Ok(Logins { since_s, by_host, without_tls_max })
}
