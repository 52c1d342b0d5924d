//! Names of accounts as people write them, in subjects and in statements that can be pasted.

/// What stands between a server and its account in a subject.
const ACCOUNT: &str = " account ";

/// `'web'@'10.0.0.%'`, and with backticks where a quote would end it: those mean the same under every `sql_mode`.
pub fn quoted(user: &str, host: &str) -> String {
    let one = |text: &str| {
        if text.contains(['\'', '\\']) {
            format!("`{}`", text.replace('`', "``"))
        } else {
            format!("'{text}'")
        }
    };
    format!("{}@{}", one(user), one(host))
}

/// The subject of an account, `db1 account 'web'@'%'`.
pub fn subject(server: &str, account: &str) -> String {
    format!("{server}{ACCOUNT}{account}")
}

/// The account that a subject speaks of.
pub fn account_of(subject: &str) -> Option<&str> {
    subject.split_once(ACCOUNT).map(|(_, account)| account)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_can_be_pasted_and_found_again() {
        for (user, host, written) in [
            ("web", "%", "'web'@'%'"),
            ("o'brien", "db", "`o'brien`@'db'"),
            (r"a\", "h`h'", r"`a\`@`h``h'`"),
            ("", "localhost", "''@'localhost'"),
        ] {
            assert_eq!(quoted(user, host), written);
            assert_eq!(account_of(&subject("db1", written)), Some(written));
        }
        assert_eq!(account_of("db1"), None);
    }
}
