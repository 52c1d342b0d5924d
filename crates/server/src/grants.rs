//! What the account that asks is allowed, as the server lists it (`SHOW GRANTS`): privileges on `*.*` and on objects, those of its active
//! roles and of everybody among them.
//!
//! Without a privilege on `*.*` a view shows fewer rows and says nothing, while a table that may not be read is an error.

use std::collections::BTreeSet;

use crate::like::fits;

/// As the rows of `SHOW GRANTS` say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnGrants {
    /// The account is told apart from others by the server: `CURRENT_USER()`.
    pub account: String,
    global: BTreeSet<String>,
    on: Vec<OnObject>,
    /// MySQL's partial revokes.
    revoked: Vec<OnObject>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct OnObject {
    privileges: BTreeSet<String>,
    /// A pattern, unless a table is named.
    schema: String,
    table: Option<String>,
}

impl OnObject {
    fn covers(&self, schema: &str, table: Option<&str>) -> bool {
        match &self.table {
            Some(own) => self.schema == schema && Some(own.as_str()) == table,
            None => fits(&self.schema, schema),
        }
    }

    fn has(&self, privilege: &str) -> bool {
        self.privileges.contains(privilege) || is_all(&self.privileges)
    }
}

fn is_all(privileges: &BTreeSet<String>) -> bool {
    privileges.contains("ALL PRIVILEGES") || privileges.contains("ALL")
}

impl OwnGrants {
    /// From the rows of `SHOW GRANTS`.
    pub fn of<'l>(account: &str, lines: impl IntoIterator<Item = &'l str>) -> Self {
        let mut all = Self { account: account.to_owned(), ..Self::default() };
        for line in lines {
            // Roles, columns and accounts may be called anything, ` ON *.* TO ` too.
            let (bare, names) = without_names(line);
            let (is_grant, rest, end) = match (bare.strip_prefix("GRANT "), bare.strip_prefix("REVOKE ")) {
                (Some(rest), _) => (true, rest, " TO "),
                (None, Some(rest)) => (false, rest, " FROM "),
                (None, None) => continue,
            };
            let Some((listed, object)) = rest.split_once(" ON ") else { continue };
            let Some((object, whom)) = object.split_once(end) else { continue };
            let privileges = whole_privileges(listed);
            if object == "*.*" && is_grant {
                all.global.extend(privileges);
                if whom.contains(" WITH GRANT OPTION") {
                    all.global.insert("GRANT OPTION".into());
                }
                continue;
            }
            let mut names = names.into_iter().skip(listed.matches(NAME).count());
            let (schema, table) = match object.replace(NAME, "n").as_str() {
                "n.*" => (names.next(), None),
                "n.n" => (names.next(), names.next()),
                _ => continue,
            };
            let Some(schema) = schema else { continue };
            let of_object = OnObject { privileges, schema, table };
            if is_grant { all.on.push(of_object) } else { all.revoked.push(of_object) }
        }
        all
    }

    /// Whether it has this one on `*.*`.
    pub fn has(&self, privilege: &str) -> bool {
        self.global.contains(privilege) || is_all(&self.global)
    }

    /// Whether it has this one on a table, or on all of a schema: there, on its schema, or on everything.
    pub fn has_on(&self, privilege: &str, schema: &str, table: Option<&str>) -> bool {
        let is_revoked = self.revoked.iter().any(|one| one.covers(schema, table) && one.has(privilege));
        (self.has(privilege) && !is_revoked)
            || self.on.iter().any(|one| one.covers(schema, table) && one.has(privilege))
    }
}

/// Those that are not of single columns.
fn whole_privileges(listed: &str) -> BTreeSet<String> {
    let mut depth = 0_u32;
    let mut all = vec![String::new()];
    for char in listed.chars() {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = all.last_mut() {
            last.push(char);
        }
    }
    all.iter().filter(|one| !one.contains('(')).map(|one| one.trim().to_ascii_uppercase()).collect()
}

/// What stands for a name that was in quotes.
const NAME: char = '`';

/// The line with [`NAME`] for whatever stands in quotes, and what that is.
fn without_names(line: &str) -> (String, Vec<String>) {
    let (mut bare, mut names) = (String::new(), Vec::new());
    let mut chars = line.chars().peekable();
    while let Some(quote) = chars.next() {
        if !matches!(quote, '`' | '"' | '\'') {
            bare.push(quote);
            continue;
        }
        let mut name = String::new();
        while let Some(char) = chars.next() {
            match char {
                // In a name between backticks a backslash is a letter like any other.
                '\\' if quote == '\'' => name.extend(chars.next()),
                // A doubled one is one of the name's own.
                _ if char == quote && chars.peek() == Some(&quote) => name.extend(chars.next()),
                _ if char == quote => break,
                _ => name.push(char),
            }
        }
        bare.push(NAME);
        names.push(name);
    }
    (bare, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_privileges_on_everything_count_for_everything() {
        let grants = OwnGrants::of(
            "a@%",
            [
                "GRANT PROCESS, REPLICATION CLIENT ON *.* TO `a`@`%` IDENTIFIED BY PASSWORD '*00'",
                "GRANT SUPER ON `app`.* TO `a`@`%`",
                "GRANT `r`@`%` TO `a`@`%`",
                "GRANT SELECT (`Host`) ON `mysql`.`user` TO `SUPER ON *.* TO `@`%`",
            ],
        );
        assert!(grants.has("PROCESS") && grants.has("REPLICATION CLIENT"));
        assert!(!grants.has("SUPER") && !grants.has("SELECT") && !grants.has("GRANT OPTION"));
        let all = OwnGrants::of("r@h", ["GRANT ALL PRIVILEGES ON *.* TO `r`@`h` WITH GRANT OPTION"]);
        assert!(all.has("PROCESS") && all.has("GRANT OPTION") && all.has_on("SELECT", "mysql", Some("user")));
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
            let grants = OwnGrants::of("low@localhost", [line]);
            assert!(!grants.has("PROCESS") && !grants.has("GRANT OPTION"), "{line}: {grants:?}");
        }
        let grants = OwnGrants::of(
            "a@%",
            ["GRANT PROCESS ON *.* TO `a ON b`@`%` IDENTIFIED VIA x USING 'it\\'s' WITH GRANT OPTION"],
        );
        assert!(grants.has("PROCESS") && grants.has("GRANT OPTION"));
    }

    /// Seen on MariaDB 10.11.19 and MySQL 9.7.4.
    #[test]
    fn privileges_on_objects_are_those_of_the_table_the_schema_and_everything() {
        let grants = OwnGrants::of(
            "a@%",
            [
                "GRANT SELECT, PROCESS ON *.* TO `a`@`%`",
                "GRANT SELECT (`host`, `user`), UPDATE ON `shop`.`orders` TO `a`@`%`",
                "GRANT ALL PRIVILEGES ON `seal%`.* TO `a`@`%`",
                "GRANT INSERT ON `we\\_b`.* TO `a`@`%`",
                "GRANT DELETE ON `o``dd`.`t` TO `a`@`%`",
                "REVOKE SELECT ON `mysql`.* FROM `a`@`%`",
                "GRANT PROXY ON ``@`%` TO `a`@`%` WITH GRANT OPTION",
                "GRANT EXECUTE ON PROCEDURE `shop`.`p` TO `a`@`%`",
            ],
        );
        for (privilege, schema, table, has) in [
            ("SELECT", "shop", Some("x"), true),
            ("SELECT", "mysql", Some("user"), false),
            ("UPDATE", "shop", Some("orders"), true),
            ("UPDATE", "shop", Some("order"), false),
            ("UPDATE", "shop", None, false),
            ("DROP", "sealion_canary", None, true),
            ("DROP", "canary", None, false),
            ("INSERT", "we_b", None, true),
            ("INSERT", "weXb", None, false),
            ("DELETE", "o`dd", Some("t"), true),
            ("EXECUTE", "shop", Some("p"), false),
        ] {
            assert_eq!(grants.has_on(privilege, schema, table), has, "{privilege} {schema} {table:?}");
        }
        assert!(!grants.has("GRANT OPTION"));
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_read_without_a_panic(line in ".{0,200}") {
            let _ = OwnGrants::of("a", [line.as_str()]);
        }
    }
}
