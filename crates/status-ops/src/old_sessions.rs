//! Sessions that go on with a version of TLS that new ones are refused: an option that is changed while a server runs ends nobody's session.

use std::collections::BTreeMap;

use model::text::counted;
use server::{TcpSessions, TlsRules};

/// A line for people, if there is something to tell of the server called `name`.
///
/// What certificate a session was shown no server tells: MySQL's `Ssl_server_not_after` of a session is that of the certificate in use now (tried
/// on 9.7.4: an open session shows the end of one that was loaded since).
pub fn note(name: &str, rules: &TlsRules, sessions: &TcpSessions) -> Option<String> {
    let taken: Vec<&str> =
        rules.get("tls_version")?.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
    if taken.is_empty() {
        return None;
    }
    let mut old: BTreeMap<&str, usize> = BTreeMap::new();
    for session in &sessions.list {
        if let Some(handshake) = &session.handshake
            && !taken.contains(&handshake.version.as_str())
        {
            *old.entry(&handshake.version).or_default() += 1;
        }
    }
    let counts: Vec<String> = old
        .iter()
        .map(|(version, count)| format!("{} with {version}", counted(*count, "session", "sessions")))
        .collect();
    let partly = sessions.is_partial.as_ref().map_or_else(String::new, |why| format!("; {why}"));
    (!counts.is_empty()).then(|| {
        format!(
            "{name}: {}, which new sessions are refused (tls_version is {}): they go on until their clients connect anew{partly}",
            counts.join(", "),
            taken.join(",")
        )
    })
}

#[cfg(test)]
mod tests {
    use model::{Handshake, TlsProfile};
    use server::{Flavour, TcpSession};

    use super::*;

    fn session(version: Option<&str>) -> TcpSession {
        TcpSession {
            id: 1,
            user: "app".into(),
            host: "10.0.0.5".into(),
            port: 4711,
            is_tls: Some(true),
            is_replica: false,
            is_sealion: false,
            handshake: version.map(|version| Handshake { version: version.into(), suite: None }),
        }
    }

    #[test]
    fn only_versions_that_are_refused_by_now_are_told() {
        let told = |profile: TlsProfile, list: Vec<TcpSession>| {
            let rules = TlsRules::of(profile, Flavour::MariaDb);
            note("n1", &rules, &TcpSessions { list, is_partial: None })
        };
        let two = vec![session(Some("TLSv1.2")), session(Some("TLSv1.2")), session(Some("TLSv1.3"))];
        let line = told(TlsProfile::Modern, two.clone()).expect("two are old");
        assert!(
            line.starts_with(
                "n1: 2 sessions with TLSv1.2, which new sessions are refused (tls_version is TLSv1.3)"
            ),
            "{line}"
        );
        assert_eq!(told(TlsProfile::Intermediate, two), None);
        assert_eq!(told(TlsProfile::Modern, vec![session(None)]), None);
    }
}
