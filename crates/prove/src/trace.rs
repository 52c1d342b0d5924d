//! One connection, packet by packet, for a person who asks why a verdict is what it is: kinds, lengths, flags and alerts.
//! Nothing of what a packet holds: the scramble of a login is "20 bytes that fit the password", and no more.

use std::fmt;

use wire::Capabilities;
use wire::login::{HandshakeResponse, SslRequest};

use crate::talk::Channel;

/// A driver's start-up queries are over by then, and one that goes on for ever fills no memory.
const LINES_MAX: usize = 24;
/// A plugin's name, or a reason of OpenSSL's.
const NAME_CHARACTERS_MAX: usize = 60;

/// What came and went, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    lines: Vec<String>,
    left_out: usize,
}

impl Trace {
    pub(crate) fn note(&mut self, line: String) {
        if self.lines.len() < LINES_MAX {
            self.lines.push(line);
        } else {
            self.left_out += 1;
        }
    }

    pub(crate) fn greeting(&mut self, capabilities: Capabilities) {
        let offered = if capabilities.contains(Capabilities::SSL) { "TLS offered" } else { "no TLS offered" };
        self.note(format!("rogue: greeting, capabilities {:#010x}, {offered}", capabilities.0));
    }

    pub(crate) fn wish(&mut self, request: &SslRequest, bytes: usize) {
        self.note(format!(
            "client, cleartext: SSLRequest, {bytes} bytes, capabilities {:#010x}",
            request.capabilities.0
        ));
    }

    /// `fits`: whether the answer is that of the password, where that can be said.
    pub(crate) fn login(
        &mut self,
        over: Channel,
        login: &HandshakeResponse<'_>,
        bytes: usize,
        fits: Option<bool>,
    ) {
        let fits = match fits {
            Some(true) => ", which match the password",
            Some(false) => ", which do not match the password",
            None => "",
        };
        self.note(format!(
            "client, {over}: login, {bytes} bytes, capabilities {:#010x}, {}, response of {} bytes{fits}",
            login.head.capabilities.0,
            login.auth_plugin.map_or_else(|| "no plugin named".to_owned(), short),
            login.auth_response.len(),
        ));
    }

    pub(crate) fn tls_finished(&mut self, version: &str, server_name: Option<&str>) {
        let name = server_name.map_or_else(|| "no SNI".to_owned(), |name| format!("SNI {}", short(name)));
        self.note(format!("handshake complete: {version}, {name}"));
    }

    pub(crate) fn tls_failed(&mut self, why: &str) {
        self.note(format!("handshake failed: {}", reason(why)));
    }

    /// For people, one packet a line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.lines.clone();
        if self.left_out > 0 {
            lines.push(format!("and {} more", self.left_out));
        }
        lines
    }
}

fn short(text: &str) -> String {
    wire::printable(text).chars().take(NAME_CHARACTERS_MAX).collect()
}

/// Of what OpenSSL says the part that a person can use: the alert of the client, or the reason.
fn reason(why: &str) -> String {
    let parts: Vec<&str> = why.split(':').map(str::trim).collect();
    let number = parts.iter().find_map(|part| part.strip_prefix("SSL alert number "));
    let alert = parts.iter().find(|part| part.contains(" alert ") && !part.starts_with("SSL alert number"));
    match (alert, number) {
        (Some(alert), Some(number)) => format!("the client sends an alert, {} ({number})", short(alert)),
        // "error:0A000416:SSL routines:function:reason:file:line:data"
        _ if parts.first() == Some(&"error") && parts.len() > 4 => {
            parts.get(4).map_or_else(String::new, |reason| short(reason))
        }
        _ => short(why),
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Clear => "cleartext",
            Self::Tls => "TLS",
        })
    }
}

/// A command by its first byte.
pub(crate) fn command(byte: u8) -> String {
    let name = match byte {
        0x02 => "COM_INIT_DB",
        0x03 => "COM_QUERY",
        0x0e => "COM_PING",
        0x12 => "COM_BINLOG_DUMP",
        0x15 => "COM_REGISTER_SLAVE",
        0x16 => "COM_STMT_PREPARE",
        0x17 => "COM_STMT_EXECUTE",
        0x1e => "COM_BINLOG_DUMP_GTID",
        _ => return format!("command {byte:#04x}"),
    };
    format!("{name} {byte:#04x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_error_the_alert_is_told_and_never_a_path() {
        let check = |why: &str, said: &str| assert_eq!(reason(why), said);
        check(
            "error:0A000418:SSL routines:ssl3_read_bytes:tlsv1 alert unknown ca:../ssl/record/rec_layer_s3.c:1600:SSL alert number 48",
            "the client sends an alert, tlsv1 alert unknown ca (48)",
        );
        check(
            "error:0A000102:SSL routines:tls_early_post_process_client_hello:unsupported protocol:../ssl/statem/statem_srvr.c:1657:",
            "unsupported protocol",
        );
        check("unexpected EOF", "unexpected EOF");
    }

    #[test]
    fn a_client_that_never_ends_fills_no_memory() {
        let mut trace = Trace::default();
        for _ in 0..1000 {
            trace.note(command(3));
        }
        assert_eq!(trace.lines().len(), LINES_MAX + 1);
        assert_eq!(trace.lines().last().map(String::as_str), Some("and 976 more"));
    }
}
