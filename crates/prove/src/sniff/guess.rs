//! What it costs to guess a password from a login that was read on the way.
//!
//! The rates are assumptions, to one power of ten, and are said with every estimate: one graphics card of 2023 with
//! published guessing programs. They are there to tell minutes from centuries, no more.
//! Sources: MySQL source, `sql/auth/sha2_password_common.cc` (scramble of caching_sha2_password: three SHA-256, no salt,
//! no rounds), `sql-common/` `password.c` (native: three SHA-1); MariaDB's `plugin/auth_ed25519` and `auth_parsec`.

/// How a login can be guessed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guess {
    /// Guesses in a second: an assumption.
    pub assumed_per_s: f64,
    pub why: &'static str,
}

/// Eight characters of small letters and digits, chosen by chance.
const EIGHT_RANDOM: f64 = 2.8e12;

impl Guess {
    /// The estimate for an answer of this plugin; `None` where the answer gives no way to tell a right guess.
    pub fn of(plugin: &str) -> Option<Self> {
        let (assumed_per_s, why) = match plugin {
            "mysql_old_password" => (1e10, "a hash of 64 bits that is broken"),
            "mysql_native_password" => (1e10, "three SHA-1 per guess"),
            "caching_sha2_password" => {
                (3e9, "three SHA-256 per guess; the rounds of the stored hash are not needed")
            }
            "client_ed25519" => {
                (1e6, "SHA-512 and one multiplication on a curve; the public key is needed too")
            }
            "parsec" => (1e5, "PBKDF2 with the salt that the server sends; the public key is needed too"),
            _ => return None,
        };
        Some(Self { assumed_per_s, why })
    }

    /// In words, with its assumption.
    pub fn text(&self) -> String {
        let seconds = EIGHT_RANDOM / self.assumed_per_s;
        let time = match seconds {
            ..3600.0 => format!("{:.0} minutes", (seconds / 60.0).max(1.0)),
            ..172_800.0 => format!("{:.0} hours", seconds / 3600.0),
            ..63_072_000.0 => format!("{:.0} days", seconds / 86_400.0),
            _ => format!("{:.0} years", seconds / 31_536_000.0),
        };
        format!(
            "{}; with {:.0e} guesses/s (assumed), 8 random letters and digits take {time} at most",
            self.why, self.assumed_per_s
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_tell_their_assumption_and_slower_plugins_take_longer() {
        let text = |plugin| Guess::of(plugin).map(|guess| guess.text()).unwrap_or_default();
        assert!(text("mysql_native_password").contains("1e10 guesses/s (assumed)"));
        assert!(
            text("mysql_native_password").ends_with("take 5 minutes at most"),
            "{}",
            text("mysql_native_password")
        );
        assert!(text("parsec").ends_with("take 324 days at most"), "{}", text("parsec"));
        assert_eq!(Guess::of("sha256_password"), None, "only its RSA key exchange is seen");
    }
}
