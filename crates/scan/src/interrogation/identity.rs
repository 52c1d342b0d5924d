//! Is it still the same server that answers? Behind one address there may be several, in turns.
//!
//! What one server answers is not mixed with what another does: at the first sign of a second one the questions end.
//! Signs: another version, plugin, character set or other capabilities in the greeting; a connection id that is lower than the one
//! before (a server counts upwards; seen: MySQL 9.7.4, MariaDB 10.11.19); another certificate with the same kind of key.
//! Left out: two servers that look alike in all of that.

use trust::CertificateInfo;
use wire::Greeting;

use super::Survey;
use crate::reply::{Reply, Spoke};

/// A counter of 32 bits begins again after this; a fall from here is none.
const WRAP_FROM: u32 = 0xffff_0000;

/// What a greeting says that does not change from one connection to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    version: String,
    auth_plugin: Option<String>,
    capabilities: u32,
    charset: u8,
    connection_id: u32,
}

impl Identity {
    fn of(greeting: &Greeting) -> Self {
        Self {
            version: greeting.version_text().to_owned(),
            auth_plugin: greeting.auth_plugin.clone(),
            capabilities: greeting.capabilities.0,
            charset: greeting.charset,
            connection_id: greeting.connection_id,
        }
    }

    /// How a later greeting shows that another server sent it.
    fn differs(&self, later: &Self) -> Option<String> {
        let plugin = |identity: &Self| identity.auth_plugin.clone().unwrap_or_else(|| "none".into());
        if self.version != later.version {
            return Some(format!("one greeting says version {}, another {}", self.version, later.version));
        }
        if self.auth_plugin != later.auth_plugin {
            let (one, other) = (plugin(self), plugin(later));
            return Some(format!("one greeting names the plugin {one}, another {other}"));
        }
        if self.capabilities != later.capabilities {
            let (one, other) = (self.capabilities, later.capabilities);
            return Some(format!("one greeting has the capabilities 0x{one:08x}, another 0x{other:08x}"));
        }
        if self.charset != later.charset {
            return Some(format!(
                "one greeting has character set {}, another {}",
                self.charset, later.charset
            ));
        }
        (later.connection_id < self.connection_id && self.connection_id < WRAP_FROM).then(|| {
            format!(
                "connection id {} came after {}, and a server counts upwards",
                later.connection_id, self.connection_id
            )
        })
    }
}

impl Survey {
    /// Compares who answers with who answered before.
    pub(super) fn notice(&mut self, reply: &Reply) {
        let Spoke::Greeting(greeting) = &reply.spoke else { return };
        let now = Identity::of(greeting);
        if let Some(difference) = self.identity.as_ref().and_then(|before| before.differs(&now)) {
            self.several(&difference);
        }
        self.identity = Some(now);
    }

    /// A server has one certificate of a kind, whatever is asked, except where a name is asked for or left out.
    pub(super) fn compare_leaves(&mut self, chain: &[CertificateInfo]) {
        if self.is_nameless || self.tls.chain_without_name.is_some() {
            return;
        }
        let Some(leaf) = chain.first() else { return };
        let others = self.tls.chains.iter().filter_map(|chain| chain.first());
        let other = others.into_iter().find(|other| other.key == leaf.key);
        if let Some(serial) = other.map(|other| other.serial_hex.clone()) {
            let difference = format!(
                "two certificates with a key of the same kind ({}), one with serial number {serial}, the other with {}",
                leaf.key, leaf.serial_hex
            );
            self.several(&difference);
        }
    }

    /// More than one server answers: no more questions.
    pub(super) fn several(&mut self, difference: &str) {
        if self.facts.several_servers.is_some() {
            return;
        }
        self.is_stopped = true;
        self.facts.several_servers = Some(format!(
            "the answers come from more than one server: {difference} (or it was restarted, or its certificate replaced, during the scan). Scan each server by its own address"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_server_is_known_by_each_sign_and_the_next_connection_is_none() {
        let one = Identity {
            version: "8.4.3".into(),
            auth_plugin: Some("caching_sha2_password".into()),
            capabilities: 7,
            charset: 255,
            connection_id: 41,
        };
        for same in [
            one.clone(),
            Identity { connection_id: 42, ..one.clone() },
            Identity { connection_id: 9_000, ..one.clone() },
        ] {
            assert_eq!(one.differs(&same), None);
        }
        let wraps = Identity { connection_id: u32::MAX, ..one.clone() };
        assert_eq!(wraps.differs(&one), None);
        for (other, sign) in [
            (Identity { version: "8.4.4".into(), ..one.clone() }, "version 8.4.3, another 8.4.4"),
            (Identity { auth_plugin: None, ..one.clone() }, "another none"),
            (Identity { capabilities: 3, ..one.clone() }, "0x00000003"),
            (Identity { charset: 8, ..one.clone() }, "character set 255, another 8"),
            (Identity { connection_id: 12, ..one.clone() }, "connection id 12 came after 41"),
        ] {
            let told = one.differs(&other).expect("another server");
            assert!(told.contains(sign), "{told}");
        }
    }
}
