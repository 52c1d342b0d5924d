//! All attacks, one file a family member; the order is that of the matrix.

mod auth;
mod certificates;
mod control;
mod file;
mod injection;
mod names;
mod noise;
mod strip;
mod versions;

use crate::attack::Attack;

/// What `prove` can play.
pub const ATTACKS: &[&Attack] = &[
    &control::HONEST,
    &strip::STRIP,
    &certificates::SELF_SIGNED,
    &certificates::SELF_SIGNED_NEW,
    &certificates::UNKNOWN_CA,
    &certificates::LEAF_ONLY,
    &certificates::INTERMEDIATE,
    &certificates::EXPIRED,
    &certificates::NOT_YET_VALID,
    &certificates::REVOKED,
    &certificates::WEAK_KEY,
    &certificates::SHA1,
    &names::WRONG_NAME,
    &names::CN_ONLY,
    &names::CN_BESIDE_OTHER_SAN,
    &names::WILDCARD,
    &names::ADDRESS_AS_DNS,
    &names::ADDRESS_IN_CN,
    &versions::TLS10,
    &versions::TLS11,
    &versions::NULL_CIPHER,
    &versions::ANONYMOUS,
    &versions::OLD_SERVER,
    &auth::CLEAR_PASSWORD,
    &auth::DIALOG,
    &auth::SHA256_KEY,
    &auth::CACHING_SHA2_KEY,
    &auth::OLD_PASSWORD,
    &auth::CLEAR_PASSWORD_TLS,
    &file::LOCAL_INFILE,
    &injection::OK_BEFORE_TLS,
    &injection::ERROR_BEFORE_TLS,
    &noise::MALICIOUS_ERROR,
    &noise::TRUNCATED,
    &noise::OVERSIZED,
];

/// An attack by its id.
pub fn attack(id: &str) -> Option<&'static Attack> {
    ATTACKS.iter().copied().find(|attack| attack.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::attack::Family;

    #[test]
    fn every_attack_has_an_id_of_its_own_and_says_what_it_does() {
        let ids: BTreeSet<&str> = ATTACKS.iter().map(|attack| attack.id).collect();
        assert_eq!(ids.len(), ATTACKS.len());
        for attack in ATTACKS {
            assert!(attack.does.ends_with('.'), "{}", attack.id);
            assert_eq!(attack.defence.is_empty(), attack.family == Family::Control, "{}", attack.id);
            assert!(
                attack
                    .id
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            );
        }
    }
}
