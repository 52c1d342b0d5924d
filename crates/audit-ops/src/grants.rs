//! What accounts each verb needs, as statements to paste: SQL on the servers, sudo on their hosts.

use server::Capabilities;
use server::rights::{RightsSet, Use};
use site::OpsError;

use crate::print_grants::{FLAVOURS, FlavourRow};

/// An account of SQL whose grants are printed.
struct Account {
    /// Where it is created, if there are several.
    on: &'static str,
    uses: &'static [Use],
    /// Only with these options.
    more: &'static [(&'static str, Use)],
    /// What `sealion audit` reads.
    audits: bool,
}

const fn account(on: &'static str, uses: &'static [Use]) -> Account {
    Account { on, uses, more: &[], audits: false }
}

/// What the user of ssh is allowed on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostRights {
    /// Nothing, with the reason.
    None(&'static str),
    Look,
    Change,
}

/// Some verbs, and what they need.
pub struct GrantsRow {
    pub verbs: &'static [&'static str],
    pub title: &'static str,
    accounts: &'static [Account],
    host: HostRights,
}

pub const GRANTS: &[GrantsRow] = &[
    GrantsRow {
        verbs: &["status", "watch", "watch-clients", "plan"],
        title: "check servers and their links",
        accounts: &[Account {
            on: "every server",
            uses: &[Use::Look],
            more: &[("--canaries", Use::Canaries)],
            audits: false,
        }],
        host: HostRights::Look,
    },
    GrantsRow {
        verbs: &["audit"],
        title: "audit servers from inside",
        accounts: &[Account { on: "every server", uses: &[], more: &[], audits: true }],
        host: HostRights::Look,
    },
    GrantsRow {
        verbs: &["config"],
        title: "draft an inventory (config inventory)",
        accounts: &[account("every server", &[Use::Find])],
        host: HostRights::None("it uses SQL only"),
    },
    GrantsRow {
        verbs: &["enable", "disable", "rotate", "join", "apply", "resume", "undo"],
        title: "change TLS",
        accounts: &[Account {
            on: "every server",
            uses: &[Use::ChangeGalera, Use::ChangeReplication],
            more: &[
                ("accounts", Use::ChangeAccounts),
                ("--profile", Use::SeeHandshakes),
                ("tables or logs", Use::ChangeAtRest),
            ],
            audits: false,
        }],
        host: HostRights::Change,
    },
    GrantsRow {
        verbs: &["migrate"],
        title: "move schemas (to MariaDB)",
        accounts: &[
            account("the source (--from)", &[Use::MigrateFrom]),
            account("the target (--to)", &[Use::MigrateTo]),
            account("the source, for the target to log in (--follow-as)", &[Use::Follow]),
            account("the target, for the source to log in (--back-as)", &[Use::FollowBack]),
        ],
        host: HostRights::None("migrate uses SQL only"),
    },
    GrantsRow {
        verbs: &["send", "receive"],
        title: "copy a directory",
        accounts: &[],
        host: HostRights::None(
            "send runs as a user who may read the directory; receive as root keeps owner and group, as another user it does not",
        ),
    },
];

/// The program of a package, which sudo is asked for.
const INSTALLED: &str = "/usr/bin/sealion";

/// The row of a verb.
pub fn row_of(verb: &str) -> Option<&'static GrantsRow> {
    GRANTS.iter().find(|row| row.verbs.contains(&verb))
}

/// `user@host` as SQL has it.
///
/// # Errors
/// It is not one that can be quoted in every sql_mode.
pub fn account_text(typed: &str) -> Result<String, OpsError> {
    let (user, host) = typed.rsplit_once('@').unwrap_or((typed, "localhost"));
    let is_odd = |part: &str| part.chars().any(|char| char.is_control() || "'\\\"`".contains(char));
    if user.is_empty() || host.is_empty() || is_odd(user) || is_odd(host) {
        return Err(OpsError::usage(
            format!("\"{}\" is not an account", typed.escape_default()),
            "it needs a user and a host, without quotes and backslashes",
            "write it as sealion@localhost, or sealion@10.0.0.%",
        ));
    }
    Ok(format!("'{user}'@'{host}'"))
}

impl Account {
    /// `None`: sealion does not do it on this flavour.
    fn grants(&self, flavour: &FlavourRow) -> Option<Vec<String>> {
        let capabilities = Capabilities::of(flavour.version, "", false);
        if self.audits {
            return Some(audit::grants(&capabilities).iter().map(ToString::to_string).collect());
        }
        of_uses(self.uses, &capabilities)
    }
}

impl GrantsRow {
    /// The statements for one flavour.
    fn sql(&self, flavour: &FlavourRow, account_name: &str) -> String {
        let capabilities = Capabilities::of(flavour.version, "", false);
        let mut out = String::new();
        for account in self.accounts {
            let Some(grants) = account.grants(flavour) else { continue };
            out += &format!("-- {}, {}\n", flavour.title, account.on);
            let require = if account.uses == [Use::Follow] || account.uses == [Use::FollowBack] {
                " REQUIRE SSL"
            } else {
                ""
            };
            out +=
                &format!("CREATE USER IF NOT EXISTS {account_name} IDENTIFIED BY <NEW_PASSWORD>{require};\n");
            for grant in grants {
                out += &format!("GRANT {grant} TO {account_name};\n");
            }
            for (option, used_to) in account.more {
                for grant in of_uses(&[*used_to], &capabilities).unwrap_or_default() {
                    out += &format!("-- only with {option}: GRANT {grant} TO {account_name};\n");
                }
            }
        }
        if out.is_empty() && !self.accounts.is_empty() {
            out += &format!("-- {}: this version of sealion does not do it\n", flavour.title);
        }
        out
    }

    /// Lines of sudoers for `host_user`; comments where it needs none.
    fn sudoers(&self, host_user: &str) -> Vec<String> {
        let line = |mode: &str| format!("{host_user} ALL=(root) NOPASSWD: {INSTALLED} agent {mode}");
        match self.host {
            HostRights::None(why) => vec![format!("# {}: no sudo; {why}", self.verbs.join(", "))],
            HostRights::Look => vec![line("--read")],
            HostRights::Change => vec![line("--read"), line("--write")],
        }
    }
}

fn of_uses(uses: &[Use], capabilities: &Capabilities) -> Option<Vec<String>> {
    RightsSet::of(uses, capabilities.flavour).map(|set| set.grants())
}

/// SQL to paste, with the lines of sudoers as comments.
pub fn sql(rows: &[&GrantsRow], flavour: Option<&str>, account: &str, host_user: &str) -> String {
    let mut parts = Vec::new();
    for row in rows {
        let mut part = format!(
            "-- sealion {}: {}. <NEW_PASSWORD> is yours to write, in quotes.\n\
             -- An account that is there already keeps its password and how it must log in, and gets these privileges besides.\n",
            row.verbs.join(", "),
            row.title
        );
        for one in FLAVOURS.iter().filter(|one| flavour.is_none_or(|name| name == one.name)) {
            part += &row.sql(one, account);
        }
        for line in row.sudoers(host_user) {
            let line = line
                .strip_prefix("# ")
                .map_or_else(|| format!("on each host, in /etc/sudoers.d/sealion: {line}"), str::to_owned);
            part += &format!("-- {line}\n");
        }
        parts.push(part);
    }
    parts.join("\n")
}

/// A file for `/etc/sudoers.d`.
pub fn sudoers(rows: &[&GrantsRow], host_user: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in rows.iter().flat_map(|row| row.sudoers(host_user)) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let mut out = String::from(
        "# Mode 0440, on each host whose node has `ssh` in the inventory, with sudo = true there. Check it: visudo -cf FILE\n\
         # agent --write is root for whoever may run it: give it to those only who change clusters.\n\
         # Only for a sealion that is root's own, with all directories above it, named by `agent` in [ssh]. Never list one in a home\n\
         # directory: whoever can write there would be root.\n",
    );
    out += &lines.join("\n");
    out + "\n"
}

/// As a table of the manual.
pub fn page_table() -> String {
    let mut out = String::from("| sealion | flavour | where | privileges |\n| --- | --- | --- | --- |\n");
    for row in GRANTS {
        for account in row.accounts {
            for flavour in FLAVOURS {
                let capabilities = Capabilities::of(flavour.version, "", false);
                let grants = if account.audits {
                    Some("`sealion audit --print-grants`: columns of system tables".to_owned())
                } else {
                    of_uses(account.uses, &capabilities).map(|grants| {
                        grants.iter().map(|grant| format!("`{grant}`")).collect::<Vec<_>>().join("; ")
                    })
                };
                let more = account.more.iter().map(|(option, used_to)| {
                    let grants = of_uses(&[*used_to], &capabilities).unwrap_or_default().join("; ");
                    format!("; with `{option}` also `{grants}`")
                });
                let more: String = more.collect();
                let grants = grants.map_or_else(|| "not done there".to_owned(), |text| text + &more);
                out += &format!(
                    "| `{}` | {} | {} | {grants} |\n",
                    row.verbs.join("`, `"),
                    flavour.title,
                    account.on
                );
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use server::rights;

    use super::*;

    #[test]
    fn an_account_is_quoted_or_refused() {
        assert_eq!(account_text("sealion").expect("sound"), "'sealion'@'localhost'");
        assert_eq!(account_text("a b@10.0.0.%").expect("sound"), "'a b'@'10.0.0.%'");
        for odd in ["", "@", "a@", "@b", "a'@b", "a\\@b", "a\n@b"] {
            assert!(account_text(odd).is_err(), "{odd:?}");
        }
    }

    #[test]
    fn each_line_is_a_statement_or_a_comment_and_names_the_account() {
        let all: Vec<&GrantsRow> = GRANTS.iter().collect();
        let text = sql(&all, None, "'x'@'y'", "dba");
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("-- ")) {
            let is_statement = line.starts_with("CREATE USER IF NOT EXISTS 'x'@'y' ")
                || (line.starts_with("GRANT ") && line.ends_with(" TO 'x'@'y';"));
            assert!(is_statement, "{line}");
        }
        for line in sudoers(&all, "dba").lines().filter(|line| !line.starts_with('#')) {
            assert!(line.starts_with("dba ALL=(root) NOPASSWD: /usr/bin/sealion agent --"), "{line}");
        }
    }

    #[test]
    fn who_only_looks_is_not_given_what_changes() {
        for verb in ["status", "audit", "config"] {
            let row = row_of(verb).expect("a row");
            for flavour in FLAVOURS {
                let grants = row.accounts[0].grants(flavour).expect("done there").join("; ");
                for word in ["SUPER", "ALL ", "ADMIN ON", "INSERT", "UPDATE", "RELOAD", "_ADMIN"] {
                    let is_listing = word == "ADMIN ON" && verb == "config";
                    assert!(!grants.contains(word) || is_listing, "{verb} {}: {grants}", flavour.name);
                }
            }
            assert!(row.sudoers("dba").iter().all(|line| !line.contains("--write")), "{verb}");
        }
    }

    /// The pages say what this table says.
    #[test]
    fn the_manual_has_this_table() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
        let page = dir.join("reference/privileges.md");
        let text = std::fs::read_to_string(&page).expect("the page is there");
        let (begin, end) = ("<!-- table: begin -->\n", "<!-- table: end -->");
        let (before, rest) = text.split_once(begin).expect("a mark");
        let (table, after) = rest.split_once(end).expect("a mark");
        let wanted = page_table();
        if std::env::var_os("UPDATE_DOCS").is_some() && table != wanted {
            std::fs::write(&page, format!("{before}{begin}{wanted}{end}{after}")).expect("writable");
        } else {
            assert_eq!(table, wanted, "UPDATE_DOCS=1 cargo test -p audit-ops rewrites it");
        }
        let listed = |used_to, is_mariadb| {
            let of = |rights: &&rights::Rights| (rights.used_to, rights.is_mariadb) == (used_to, is_mariadb);
            rights::RIGHTS.iter().find(of).expect("a row").listed()
        };
        for (page, used_to) in [
            ("tasks/enable-replication-tls.md", Use::ChangeReplication),
            ("links/replication.md", Use::ChangeReplication),
            ("links/clients.md", Use::ChangeAccounts),
            ("reference/inventory.md", Use::Find),
        ] {
            let text = std::fs::read_to_string(dir.join(page)).expect("the page is there").replace('\n', " ");
            for is_mariadb in [true, false] {
                assert!(
                    text.contains(&listed(used_to, is_mariadb)),
                    "{page} lists other privileges than `{}`",
                    listed(used_to, is_mariadb)
                );
            }
        }
        for page in ["tasks/enable-galera-tls.md", "links/galera.md", "links/transfers.md"] {
            let text = std::fs::read_to_string(dir.join(page)).expect("the page is there");
            let wanted = format!("`{}`", listed(Use::ChangeGalera, true));
            assert!(text.contains(&wanted), "{page} lists other privileges than {wanted}");
        }
    }
}
