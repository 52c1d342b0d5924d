//! What the account that asks is allowed, as the server lists it. Only the privileges on `*.*` are read here: without one of them
//! a view shows fewer rows and says nothing, while a table that may not be read is an error.

use std::borrow::Cow;
use std::collections::BTreeSet;

use server::{Capabilities, Flavour};

use crate::ask::{Ask, Refusal};

/// Privileges on `*.*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rights {
    global: BTreeSet<String>,
    /// The account is told apart from others by the server: `CURRENT_USER()`.
    pub account: String,
}

impl Rights {
    /// From the rows of `SHOW GRANTS`.
    pub fn of<'l>(account: &str, lines: impl IntoIterator<Item = &'l str>) -> Self {
        let mut global = BTreeSet::new();
        for line in lines {
            // Roles, columns and accounts may be called anything, ` ON *.* TO ` too.
            let bare = without_names(line);
            let Some(rest) = bare.strip_prefix("GRANT ") else { continue };
            let Some((privileges, object)) = rest.split_once(" ON ") else { continue };
            if !object.starts_with("*.* TO ") {
                continue;
            }
            global.extend(privileges.split(',').map(|one| one.trim().to_ascii_uppercase()));
            if object.contains(" WITH GRANT OPTION") {
                global.insert("GRANT OPTION".into());
            }
        }
        Self { global, account: account.to_owned() }
    }

    /// Whether it has this one.
    pub fn has(&self, privilege: &str) -> bool {
        self.global.contains(privilege)
            || self.global.contains("ALL PRIVILEGES")
            || self.global.contains("ALL")
    }
}

/// The line without what stands in quotes. A doubled quote ends one name and begins the next, which comes to the same.
fn without_names(line: &str) -> String {
    let mut bare = String::new();
    let (mut open, mut is_escaped) = (None, false);
    for char in line.chars() {
        match open {
            Some(_) if is_escaped => is_escaped = false,
            // In a name between backticks a backslash is a letter like any other.
            Some('\'') if char == '\\' => is_escaped = true,
            Some(quote) if char == quote => {
                open = None;
                bare.push(char);
            }
            Some(_) => {}
            None => {
                open = matches!(char, '`' | '"' | '\'').then_some(char);
                bare.push(char);
            }
        }
    }
    bare
}

/// What the server says of the account that asks, with the roles that are active.
///
/// # Source
/// MySQL manual, SHOW GRANTS: privileges of roles are shown with USING; MariaDB manual, SHOW GRANTS FOR CURRENT_ROLE.
pub(crate) fn read(ask: &mut dyn Ask, capabilities: &Capabilities) -> Result<Rights, Refusal> {
    let current = ask.rows("SELECT CURRENT_USER(), CURRENT_ROLE()");
    let (account, roles) = match &current {
        Ok(rows) => {
            let cell = |at: usize| rows.first().and_then(|row| row.at(at)).map(Cow::into_owned);
            (cell(0).unwrap_or_default(), cell(1).filter(|roles| !roles.is_empty() && roles != "NONE"))
        }
        Err(Refusal::Lost(why)) => return Err(Refusal::Lost(why.clone())),
        Err(_) => (String::new(), None),
    };
    let mut statements = vec!["SHOW GRANTS".to_owned()];
    if let Some(roles) = roles {
        statements.push(if capabilities.flavour == Flavour::MariaDb {
            "SHOW GRANTS FOR CURRENT_ROLE".to_owned()
        } else {
            // The server itself has quoted them.
            format!("SHOW GRANTS FOR CURRENT_USER() USING {roles}")
        });
    }
    let mut lines = Vec::new();
    for statement in statements {
        match ask.rows(&statement) {
            Ok(rows) => {
                lines.extend(rows.iter().filter_map(|row| row.at(0)).map(Cow::into_owned));
            }
            Err(Refusal::Lost(why)) => return Err(Refusal::Lost(why)),
            // A server that does not list them (skip_grant_tables) is judged by what it refuses.
            Err(_) => {}
        }
    }
    Ok(Rights::of(&account, lines.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_privileges_on_everything_count() {
        let rights = Rights::of(
            "a@%",
            [
                "GRANT PROCESS, REPLICATION CLIENT ON *.* TO `a`@`%` IDENTIFIED BY PASSWORD '*00'",
                "GRANT SUPER ON `app`.* TO `a`@`%`",
                "GRANT `r`@`%` TO `a`@`%`",
                "GRANT SELECT (`Host`) ON `mysql`.`user` TO `SUPER ON *.* TO `@`%`",
            ],
        );
        assert!(rights.has("PROCESS") && rights.has("REPLICATION CLIENT"));
        assert!(!rights.has("SUPER") && !rights.has("SELECT") && !rights.has("GRANT OPTION"));
        let all = Rights::of("r@h", ["GRANT ALL PRIVILEGES ON *.* TO `r`@`h` WITH GRANT OPTION"]);
        assert!(all.has("PROCESS") && all.has("GRANT OPTION"));
    }

    #[test]
    fn names_of_roles_and_columns_are_no_privileges() {
        for line in [
            "GRANT `x, PROCESS ON *.* TO y` TO `low`@`localhost`",
            "GRANT `x``, PROCESS ON *.* TO y` TO `low`@`localhost`",
            "GRANT `x\\`@`%`,`, PROCESS ON *.* TO y`@`%` TO `low`@`localhost`",
            "GRANT \"x, PROCESS ON *.* TO y\" TO \"low\"@\"localhost\"",
            "GRANT USAGE, SELECT (`a, PROCESS ON *.* TO b`) ON `lowdb`.`t` TO `low2`@`localhost`",
            "GRANT USAGE ON *.* TO `low, PROCESS ON *.* TO x WITH GRANT OPTION`@`localhost`",
        ] {
            let rights = Rights::of("low@localhost", [line]);
            assert!(!rights.has("PROCESS") && !rights.has("GRANT OPTION"), "{line}: {rights:?}");
        }
        let rights = Rights::of(
            "a@%",
            ["GRANT PROCESS ON *.* TO `a ON b`@`%` IDENTIFIED VIA x USING 'it\\'s' WITH GRANT OPTION"],
        );
        assert!(rights.has("PROCESS") && rights.has("GRANT OPTION"));
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_read_without_a_panic(line in ".{0,200}") {
            let _ = Rights::of("a", [line.as_str()]);
        }
    }
}
