//! If one thing falls into a thief's hands: which findings let him read what. A table, and nothing is judged anew.

use std::fmt;

use model::account::account_of;
use model::{Finding, Verdict};

/// What somebody has got hold of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leak {
    /// The server's disks, or a copy of its files, without the machine that runs.
    Disk,
    /// A physical copy or a dump.
    Backup,
    /// A place on the network between the server and somebody who talks to it.
    Link,
    /// An account on the server's machine that is neither root nor the server's own.
    Host,
    /// An account of the server, as an injected statement has it.
    AppAccount,
}

use Leak::{AppAccount, Backup, Disk, Host, Link};

impl Leak {
    pub const ALL: [Self; 5] = [Disk, Backup, Link, Host, AppAccount];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Disk => "disk",
            Backup => "backup",
            Link => "link",
            Host => "host",
            AppAccount => "app-account",
        }
    }

    /// What holds whatever the findings are, and what an audit does not look at.
    #[must_use]
    pub fn always(self) -> &'static str {
        match self {
            Disk => {
                "Dumps, copies and other key files than the server's own on the same disk are found only with --search, and only where that searches; what the bytes of its files are, sealion status rest shows."
            }
            Backup => {
                "A dump (mysqldump, mydumper) holds rows in cleartext however its tables are stored. A physical copy (mariabackup, xtrabackup) holds pages as \
                 they lie on the disk. Those on other machines no audit looks at; those on the server's own, only with --search."
            }
            Link => {
                "An audit knows what servers are set to and tell of sessions; what goes over the wire, sealion status captures."
            }
            Host => "Root and the server's own user read everything: its memory, and the keys in it.",
            AppAccount => {
                "It reads and writes what its privileges allow: SHOW GRANTS tells which rows these are, and with PROCESS it sees the statements of others. Routines and \
                 views that run as somebody else are not followed."
            }
        }
    }
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a thief reads where a rule fails.
struct Reach {
    rule: &'static str,
    of: &'static [Leak],
    reads: &'static str,
}

const fn reach(rule: &'static str, of: &'static [Leak], reads: &'static str) -> Reach {
    Reach { rule, of, reads }
}

/// By what is read, the most first.
const REACHES: &[Reach] = &[
    reach("SL2225", &[Link, Host, AppAccount], "everything: nobody is asked for a password"),
    reach("SL2001", &[Link], "all that clients and the server say: no client can use TLS"),
    reach("SL2101", &[Link], "all that these sessions say: they use no TLS now"),
    reach("SL2107", &[Link], "every change, on its way to these replicas and readers"),
    reach("SL3011", &[Link], "every change, on its way to this replica"),
    reach("SL3001", &[Link], "every change, between the nodes of the cluster"),
    reach("SL3002", &[Link], "whole data sets, when a node joins"),
    reach("SL3301", &[Link], "every change, between members of the group"),
    reach("SL3302", &[Link], "whole data sets, when a member catches up"),
    reach("SL4001", &[Disk, Backup], "all rows of these tablespaces"),
    reach("SL4020", &[Disk, Backup], "all rows of these tables"),
    reach("SL4009", &[Disk, Backup], "all rows of these tables"),
    reach(
        "SL4103",
        &[Disk, Backup],
        "all rows of every table that is encrypted with these keys: they lie beside the data",
    ),
    reach("SL4102", &[Host], "the keys, and with the files all that they encrypt"),
    reach("SL2801", &[Host], "all files of the server"),
    reach("SL2802", &[Host], "rows and changes, in files that other users may read"),
    reach("SL4221", &[Host], "statements and their values, in logs that other users may read"),
    reach("SL2004", &[Host, Disk], "the private key: whoever has it answers in the server's place"),
    reach("SL2804", &[Host], "passwords in option files"),
    reach("SL2817", &[Host], "secrets on the command line, which every user sees"),
    reach("SL2813", &[Disk], "a password in the environment, where a core file is written"),
    reach("SL2818", &[Host], "what clients of the socket say, by who puts another one in its place"),
    reach("SL2805", &[Host], "all of it, by who writes an option file: it takes effect at the next start"),
    reach("SL4101", &[Disk, Backup], "all tables: without a key provider nothing is encrypted"),
    reach(
        "SL4104",
        &[Disk, Backup],
        "the keys, where the key file is on it too, and with them all that they encrypt",
    ),
    reach("SL2204", &[Link, Host], "all that an account without a password may read"),
    reach("SL2205", &[Link, Host], "all that an anonymous account may read"),
    reach("SL2210", &[Link], "the password of this account, as it is"),
    reach("SL2201", &[Link], "what this account says, whenever its client does not insist on TLS"),
    reach("SL2223", &[Link], "every change, whenever the replica does not insist on TLS"),
    reach("SL2002", &[Link], "what clients say that do not insist on TLS"),
    reach("SL2102", &[Link], "what clients say that log in without TLS"),
    reach("SL2014", &[Link], "what administrators say at the port of their own"),
    reach("SL2015", &[Link], "what clients of the X Protocol say"),
    reach("SL2019", &[Link], "passwords, by who answers in the server's place with a key of his own"),
    reach(
        "SL2209",
        &[Link],
        "the password of this account, by who answers in the server's place with a key of his own",
    ),
    reach("SL2103", &[Link], "what these sessions say, by who can break their version or suite"),
    reach("SL2017", &[Link], "what clients say that use an old version of TLS, by who can break it"),
    reach("SL2018", &[Link], "recorded sessions, once somebody has the server's private key"),
    reach("SL3012", &[Link], "every change, by who answers in the source's place"),
    reach("SL1122", &[Link], "what clients say, by who breaks the key of the certificate"),
    reach("SL1123", &[Link], "what clients say, by who makes a certificate that looks alike"),
    reach("SL1124", &[Link], "what clients say that verify nothing: nobody else has signed the certificate"),
    reach("SL1125", &[Link], "what clients say that do not verify the name: the right name is not in it"),
    reach("SL2233", &[Link, Disk, Backup], "hashes of new passwords, which are guessed in minutes"),
    reach("SL3013", &[Link], "every change, by who answers in the source's place"),
    reach("SL3014", &[Link], "the password of the replication account, by who answers in the source's place"),
    reach("SL3303", &[Link], "the password of the clone's account, by who answers in the donor's place"),
    reach("SL3305", &[Link], "what members of the group say, by who joins in a member's place"),
    reach("SL3306", &[Link], "what a joining member is sent, by who answers in the donor's place"),
    reach("SL3106", &[Link], "more than the local network: Galera has a public address"),
    reach("SL3203", &[Link], "whole data sets, by a client's connection, when a node joins"),
    reach("SL4107", &[Link], "keys and the token of the key server"),
    reach("SL3307", &[Link], "the password of the recovery account, by who answers in the donor's place"),
    reach("SL3308", &[Link], "what members of the group say, by who may connect to them"),
    reach("SL2230", &[Link], "a hash of the password that is quickly guessed"),
    reach("SL2208", &[Link, Disk, Backup], "a hash of the password that is guessed in minutes"),
    reach("SL2207", &[Link, Disk, Backup], "a hash of the password that is quickly guessed"),
    reach("SL4006", &[Disk, Backup], "every change, in the binary log"),
    reach("SL4007", &[Disk, Backup], "the changes of before, in binary logs"),
    reach("SL4004", &[Disk, Backup], "changed rows, in the redo log"),
    reach("SL4005", &[Disk, Backup], "old versions of rows, in the undo logs"),
    reach("SL4008", &[Disk], "parts of results, in temporary files"),
    reach("SL4018", &[Disk], "rows of InnoDB temporary tables"),
    reach("SL4014", &[Disk], "parts of results, in internal temporary tables"),
    reach("SL4010", &[Disk, Backup], "rows of Aria tables, the system tables among them"),
    reach("SL4003", &[Disk, Backup], "all rows of tables that are created from now on without ENCRYPTION"),
    reach("SL4017", &[Disk, Backup], "all rows of tables that are created from now on in these schemas"),
    reach(
        "SL4019",
        &[Disk, Backup],
        "all rows of tables that are created from now on in the system tablespace",
    ),
    reach("SL4016", &[Disk, Backup], "rows of tables that somebody creates without encryption"),
    reach("SL4011", &[Disk, Backup], "tables that background encryption has not reached"),
    reach("SL4015", &[Disk, Backup], "tables that background encryption does not reach"),
    reach("SL4012", &[Disk, Backup], "which values of AES_ENCRYPT() are alike"),
    reach("SL4201", &[Disk], "every statement with its values, in the general log"),
    reach("SL4202", &[Disk], "passwords in statements, in logs"),
    reach("SL4211", &[Disk, Host], "all rows of a dump or a copy"),
    reach("SL4203", &[Disk], "passwords and keys in statements, in logs"),
    reach("SL4210", &[Disk], "passwords and keys in statements, in histories of clients"),
    reach("SL4204", &[Disk, Backup], "passwords and keys in statements, in binary logs"),
    reach("SL6002", &[Link], "whole data sets, while a job sends them"),
    reach("SL6001", &[Link], "all rows that a job dumps, by who takes TLS away from it"),
    reach("SL6009", &[Link], "what a job sends, by who answers in its host's place"),
    reach("SL6004", &[Disk, Host], "passwords in lines of jobs"),
    reach("SL5004", &[Host], "passwords in login files of clients"),
    reach("SL6005", &[Host, Backup], "what a job encrypts: its key is in its line, or quickly guessed"),
    reach("SL4213", &[Disk], "the server's memory, with keys and rows, in the swap space"),
    reach("SL4206", &[Disk, Backup], "statements with their values, in the binary log"),
    reach("SL4205", &[Disk, Backup], "statements with their values, in the binary log beside the rows"),
    reach("SL4208", &[Disk, Backup, AppAccount], "statements with their values, in tables"),
    reach("SL4217", &[Disk], "slow statements with their values"),
    reach("SL4212", &[Disk], "the server's memory, with keys and rows, in a core file"),
    reach("SL4220", &[Disk, Backup], "changes of long ago, in binary logs that nobody removes"),
    reach("SL2226", &[Disk, Backup], "logins for other servers"),
    reach("SL2816", &[Disk, Backup], "secrets that were persisted, as they are"),
    reach("SL3107", &[Disk, Host], "the password of the account for state transfers"),
    reach("SL2216", &[AppAccount], "hashes of all passwords, and who may do what"),
    reach("SL2217", &[AppAccount], "files or hashes of passwords, through a role"),
    reach(
        "SL2614",
        &[AppAccount],
        "what an administrator may read, where a routine of his takes text as a statement",
    ),
    reach(
        "SL4207",
        &[AppAccount],
        "statements of others with their values, where the account reads the performance schema",
    ),
    reach("SL2214", &[AppAccount], "files that the server may read"),
    reach("SL2613", &[AppAccount], "more than the schema of one application, by an injected statement"),
    reach("SL2810", &[AppAccount], "files outside of one directory, where the account has FILE"),
    reach("SL2811", &[AppAccount], "files of the application's machine, by LOAD DATA LOCAL"),
    reach("SL2814", &[AppAccount], "whatever a function of that library gives away"),
    reach(
        "SL2815",
        &[AppAccount],
        "all of the server, by a function of a library, where the account may write files or mysql.func",
    ),
    reach("SL2218", &[AppAccount], "what other accounts may read: it acts as one of them"),
    reach("SL2812", &[AppAccount], "files of other directories, by tables that are links"),
    reach("SL2215", &[AppAccount], "all of it from any machine, with the password"),
    reach("SL2206", &[AppAccount], "the same from any machine, with the password"),
    reach("SL2109", &[Host], "what sessions on the loopback interface say, by who may capture there"),
];

/// What an account may do of which a rule speaks whether it passes or fails: of others it is not applicable.
const HELD_BY_ACCOUNT: &[(&str, &str)] = &[
    ("SL2215", "everything: it administers, and gives itself what it lacks"),
    ("SL2223", "every change, as a replica reads them"),
];

/// What is known of one leak.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leaked<'f> {
    /// Findings that give something away, and what; the most first.
    pub reads: Vec<(&'f Finding, &'static str)>,
    /// What may give something away: nobody could say.
    pub unknown: Vec<(&'f Finding, &'static str)>,
    /// So many findings hold against it.
    pub held: usize,
}

/// Of `findings`, those that let whoever has `leak` read something. `account`, of an account alone: `'user'@'host'` as subjects have it, or a user's
/// name for all of its hosts.
#[must_use]
pub fn leaked<'f>(findings: &'f [Finding], leak: Leak, account: Option<&str>) -> Leaked<'f> {
    let mut all = Leaked::default();
    if leak == AppAccount {
        for (rule, reads) in HELD_BY_ACCOUNT {
            for finding in findings.iter().filter(|one| one.rule == *rule && concerns(one, leak, account)) {
                match finding.verdict {
                    Verdict::Fail(_) | Verdict::Pass => all.reads.push((finding, reads)),
                    Verdict::Unknown(_) => all.unknown.push((finding, reads)),
                    Verdict::NotApplicable => {}
                }
            }
        }
    }
    for reach in REACHES.iter().filter(|reach| reach.of.contains(&leak)) {
        for finding in findings.iter().filter(|one| one.rule == reach.rule && concerns(one, leak, account)) {
            match finding.verdict {
                Verdict::Fail(_) => all.reads.push((finding, reach.reads)),
                Verdict::Unknown(_) => all.unknown.push((finding, reach.reads)),
                Verdict::Pass => all.held += 1,
                Verdict::NotApplicable => {}
            }
        }
    }
    all
}

fn concerns(finding: &Finding, leak: Leak, account: Option<&str>) -> bool {
    let Some(of) = account_of(&finding.subject) else { return true };
    // Nobody comes over the network as one of these.
    let is_of_this_host = || LOCAL.iter().any(|host| of.ends_with(&format!("@'{host}'")));
    account.is_none_or(|wanted| is_named(of, wanted)) && !(leak == Link && is_of_this_host())
}

const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Whether an account, as subjects have it, is the one, or one of the user, that somebody has typed.
#[must_use]
pub fn is_named(account: &str, typed: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|one| !matches!(one, '\'' | '`')).collect::<String>();
    let (account, typed) = (plain(account), plain(typed));
    account == typed || account.rsplit_once('@').is_some_and(|(user, _)| user == typed)
}

/// Accounts that findings speak of, each once.
#[must_use]
pub fn accounts(findings: &[Finding]) -> Vec<&str> {
    let mut all: Vec<&str> = findings.iter().filter_map(|one| account_of(&one.subject)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::fact::LookBy;

    use super::*;
    use crate::RULES;
    use crate::sample::finding;

    /// Rules of an audit that give nobody more to read by themselves: certificates that end, guesses that are not slowed down, records that are not
    /// kept.
    const OF_NO_LEAK: &[&str] = &[
        "SL2005", "SL2006", "SL2008", "SL2011", "SL2024", "SL2025", "SL2105", "SL2229", "SL2232", "SL2234",
        "SL2235", "SL2617", "SL2702", "SL2703", "SL2803", "SL2806", "SL3003", "SL3004", "SL3015", "SL3108",
        "SL2003", "SL2007", "SL2010", "SL2012", "SL2021", "SL2023", "SL2106", "SL2108", "SL2110", "SL2202",
        "SL2212", "SL2219", "SL2220", "SL2221", "SL2227", "SL2231", "SL2601", "SL2602", "SL2603", "SL2605",
        "SL2606", "SL2607", "SL2608", "SL2609", "SL2610", "SL2611", "SL2612", "SL2615", "SL2616", "SL2701",
        "SL2704", "SL2901", "SL4105", "SL4108", "SL4219",
    ];

    #[test]
    fn of_every_rule_of_an_audit_it_is_known_what_it_gives_away() {
        let placed: Vec<&str> =
            REACHES.iter().map(|one| one.rule).chain(OF_NO_LEAK.iter().copied()).collect();
        let once: BTreeSet<&str> = placed.iter().copied().collect();
        assert_eq!(once.len(), placed.len(), "a rule stands here twice");
        let is_seen =
            |fact: &&model::Fact| fact.is_noted_by(LookBy::Audit) || fact.is_noted_by(LookBy::Search);
        let of_audit = |rule: &&&dyn model::Rule| rule.facts().iter().any(is_seen);
        let judged: BTreeSet<&str> = RULES.iter().filter(of_audit).map(|rule| rule.id()).collect();
        assert_eq!(once, judged, "left: placed here; right: judged by an audit");
        for leak in Leak::ALL {
            assert!(REACHES.iter().any(|one| one.of.contains(&leak)), "{leak}");
        }
    }

    #[test]
    fn what_is_unknown_is_neither_read_nor_held() {
        let findings = [
            finding("SL4001", "n1", Verdict::Unknown("no privilege".into())),
            finding("SL4201", "n1", Verdict::Fail("it is ON".into())),
            finding("SL4006", "n1", Verdict::Pass),
            finding("SL4010", "n1", Verdict::NotApplicable),
            finding("SL2101", "n1", Verdict::Fail("of another leak".into())),
        ];
        let disk = leaked(&findings, Disk, None);
        let rules =
            |all: &[(&Finding, &str)]| all.iter().map(|(one, _)| one.rule.clone()).collect::<Vec<_>>();
        assert_eq!(
            (rules(&disk.reads), rules(&disk.unknown), disk.held),
            (vec!["SL4201".into()], vec!["SL4001".into()], 1)
        );
    }

    #[test]
    fn an_account_is_told_of_itself_and_of_the_server() {
        let fail = || Verdict::Fail("it may".into());
        let findings = [
            finding("SL2214", "n1 account 'web'@'10.%'", fail()),
            finding("SL2214", "n1 account 'root'@'%'", fail()),
            finding("SL2810", "n1", fail()),
        ];
        for (typed, count) in [("web", 2), ("'web'@'10.%'", 2), ("web@10.%", 2), ("web@%", 1), ("we", 1)] {
            assert_eq!(leaked(&findings, AppAccount, Some(typed)).reads.len(), count, "{typed}");
        }
        // One that administers does so from a good host, too.
        let holds = [
            finding("SL2215", "n1 account 'web'@'localhost'", Verdict::Pass),
            finding("SL2223", "n1 account 'web'@'localhost'", Verdict::NotApplicable),
            finding("SL2215", "n1 account 'other'@'localhost'", Verdict::Pass),
        ];
        let rules: Vec<&str> =
            leaked(&holds, AppAccount, Some("web")).reads.iter().map(|one| one.1).collect();
        assert_eq!(rules, ["everything: it administers, and gives itself what it lacks"]);
        assert!(leaked(&holds, Host, None).reads.is_empty());
        let without = [finding("SL2204", "n1 account 'root'@'localhost'", fail())];
        assert_eq!(
            (leaked(&without, Link, None).reads.len(), leaked(&without, Host, None).reads.len()),
            (0, 1)
        );
        assert_eq!(accounts(&findings), ["'root'@'%'", "'web'@'10.%'"]);
    }
}
