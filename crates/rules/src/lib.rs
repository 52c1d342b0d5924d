//! Rules: data and one pure function each. One file and one line in [`RULES`] add one.

pub mod accept;
mod accounts;
mod cluster;
mod facts;
mod files;
pub mod fix;
pub mod grade;
mod jobs;
pub mod leak;
mod logs;
pub mod map;
pub mod profiles;
mod rest;
#[cfg(test)]
mod sample;
mod server;
mod sessions;
mod statements;
mod tls;
mod verdicts;
mod wire;

pub use facts::Facts;
use model::account::account_of;
use model::finding::Judgement;
use model::{Fact, Finding, Observations, Rule, Severity, Value, Verdict};

/// A certificate that ends sooner is to be renewed.
pub const CERTIFICATE_DAYS_MIN: i64 = 30;

/// A rule about one fact, judged for every subject that has it.
pub struct FactRule {
    pub id: &'static str,
    pub title: &'static str,
    pub severity: Severity,
    pub references: &'static [&'static str],
    pub explanation: &'static str,
    pub remedy: &'static str,
    pub fact: &'static Fact,
    pub judge: fn(&Value) -> Verdict,
}

/// A rule about several facts of one subject. It speaks of every subject that has the first of them.
pub struct SubjectRule {
    pub id: &'static str,
    pub title: &'static str,
    pub severity: Severity,
    pub references: &'static [&'static str],
    pub explanation: &'static str,
    pub remedy: &'static str,
    pub facts: &'static [&'static Fact],
    /// The error is a verdict too: what is not known ends the judgement where it is asked for.
    pub judge: fn(&Facts<'_>) -> Result<Verdict, Verdict>,
}

/// The texts of a rule, which both kinds keep in fields of these names.
macro_rules! texts {
    () => {
        fn id(&self) -> &'static str {
            self.id
        }
        fn title(&self) -> &'static str {
            self.title
        }
        fn severity(&self) -> Severity {
            self.severity
        }
        fn references(&self) -> &'static [&'static str] {
            self.references
        }
        fn explanation(&self) -> &'static str {
            self.explanation
        }
        fn remedy(&self) -> &'static str {
            self.remedy
        }
    };
}

impl Rule for SubjectRule {
    texts!();
    fn facts(&self) -> Vec<&'static Fact> {
        self.facts.to_vec()
    }
    fn judge(&self, seen: &Observations) -> Vec<Judgement> {
        let Some(first) = self.facts.first() else { return vec![] };
        seen.subjects()
            .filter(|subject| seen.newest(subject, first).is_some())
            .map(|subject| {
                let facts = Facts::of(subject, self.facts, seen);
                Judgement {
                    subject: subject.to_owned(),
                    verdict: (self.judge)(&facts).unwrap_or_else(|verdict| verdict),
                    observations: facts.ids(),
                }
            })
            .collect()
    }
}

impl Rule for FactRule {
    texts!();
    fn facts(&self) -> Vec<&'static Fact> {
        vec![self.fact]
    }
    fn judge(&self, seen: &Observations) -> Vec<Judgement> {
        seen.subjects()
            .filter_map(|subject| {
                let newest = seen.newest(subject, self.fact)?;
                Some(Judgement {
                    subject: subject.to_owned(),
                    verdict: (self.judge)(&newest.value),
                    observations: vec![newest.id],
                })
            })
            .collect()
    }
}

/// Every rule, in the order of its id.
pub const RULES: &[&dyn Rule] = &[
    &wire::GALERA_LINK,
    &wire::IST_LINK,
    &wire::SST_LINK,
    &wire::CLIENT_LINK,
    &wire::REPLICATION_LINK,
    &tls::OFFERED,
    &tls::SSL2,
    &tls::SSL3,
    &tls::OLD_VERSIONS,
    &tls::TLS13,
    &tls::NO_ENCRYPTION,
    &tls::EXPORT,
    &tls::RC4,
    &tls::SMALL_BLOCKS,
    &tls::FORWARD_SECRECY,
    &tls::DH_SIZE,
    &tls::COMPRESSION,
    &tls::RENEGOTIATION,
    &tls::FALLBACK,
    &tls::EXTENDED_MASTER_SECRET,
    &tls::HEARTBEAT,
    &tls::BEAST,
    &tls::QUANTUM,
    &tls::GALERA_PLAIN,
    &tls::GALERA_DYNAMIC,
    &tls::CERTIFICATE_DATES,
    &tls::CERTIFICATE_KEY,
    &tls::CERTIFICATE_SIGNATURE,
    &tls::CERTIFICATE_ISSUER,
    &tls::CERTIFICATE_NAMES,
    &tls::CERTIFICATE_TRUST,
    &tls::CLIENT_RENEGOTIATION,
    &tls::HEARTBLEED,
    &tls::EARLY_CCS,
    &tls::ROBOT,
    &tls::GROUP_REPLICATION_PLAIN,
    &server::OFFERS_TLS,
    &server::REQUIRES_TLS,
    &server::CERTIFICATE_EXPIRY,
    &server::KEY_MODE,
    &server::KEY_OWNER,
    &server::FILES_PRESENT,
    &server::CERTIFICATE_BEGUN,
    &server::KEY_PAIR,
    &server::CLIENT_CA,
    &server::OWN_CLIENT_CA,
    &server::CLIENT_CERTIFICATES,
    &server::ADMIN_PORT,
    &server::X_PROTOCOL,
    &server::OLD_VERSIONS,
    &server::WEAK_CIPHERS,
    &server::RSA_KEY,
    &server::COMMAND_LINE,
    &server::VALIDITY,
    &server::SERVED_IS_FILE,
    &server::FILES_USABLE,
    &sessions::CLEARTEXT,
    &sessions::SINCE_START,
    &sessions::WEAK_TLS,
    &sessions::BEFORE_CERTIFICATE,
    &sessions::ADMINISTRATOR,
    &sessions::REPLICA,
    &server::PROXY_NETWORKS,
    &sessions::LOOPBACK,
    &sessions::VISIBLE,
    &accounts::REQUIRES_TLS,
    &accounts::ADMINISTRATOR_CERTIFICATE,
    &accounts::PASSWORD,
    &accounts::ANONYMOUS,
    &accounts::WILDCARD_HOST,
    &accounts::NATIVE_PASSWORD,
    &accounts::OLD_PASSWORD,
    &accounts::SHA256_PASSWORD,
    &accounts::CLEARTEXT_PLUGIN,
    &accounts::WEAK_ALTERNATIVE,
    &accounts::FILE_PRIVILEGE,
    &accounts::ADMINISTRATOR_HOST,
    &accounts::MYSQL_SCHEMA,
    &accounts::ROLES,
    &accounts::PROXY,
    &accounts::PASSWORD_RULES,
    &accounts::PASSWORD_LIFETIME,
    &accounts::GUESSING,
    &accounts::REPLICATION,
    &accounts::SKIPPED,
    &accounts::FOREIGN,
    &accounts::PASSWORD_REUSE,
    &accounts::MANDATORY_ROLES,
    &accounts::SECURE_AUTH,
    &accounts::STRICT_VALIDATION,
    &accounts::HOST_NAMES,
    &accounts::OLD_HASH,
    &accounts::CURRENT_PASSWORD,
    &accounts::DEFAULT_PLUGIN,
    &statements::TAUTOLOGY,
    &statements::UNION,
    &statements::DELAY,
    &statements::ERROR_TEXT,
    &statements::FILE,
    &statements::INFERENCE,
    &statements::STACKED,
    &statements::COMMENT,
    &statements::ENCODING,
    &statements::PROBING,
    &statements::DIVERGENCE,
    &statements::REACH,
    &files::ROUTINES_FROM_TEXT,
    &logs::AUDIT_PLUGIN,
    &logs::AUDIT_EVENTS,
    &files::ROUTINES_ORPHANED,
    &server::SUPPORTED,
    &server::TLS_LIBRARY,
    &server::RUNNING_PROGRAM,
    &files::SAMPLE_SCHEMA,
    &files::DATADIR_MODE,
    &files::DATA_MODES,
    &files::PLUGIN_DIRECTORY,
    &files::OPTION_SECRETS,
    &files::OPTION_WRITERS,
    &files::NOT_ROOT,
    &files::FILE_REACH,
    &files::LOCAL_INFILE,
    &files::SYMBOLIC_LINKS,
    &files::ENVIRONMENT_SECRETS,
    &files::USER_FUNCTIONS,
    &files::SUSPICIOUS_FUNCTIONS,
    &files::PERSISTED_SECRETS,
    &files::ARGUMENT_SECRETS,
    &files::SOCKET_DIRECTORY,
    &server::BIND_ADDRESS,
    &cluster::GALERA_STRICT,
    &cluster::SST_TLS,
    &cluster::LIVE_IS_FILE,
    &cluster::MEMBERS,
    &cluster::CHANNEL_TLS,
    &cluster::CHANNEL_VERIFIES,
    &cluster::CHANNEL_CA,
    &cluster::CHANNEL_KEY,
    &cluster::REPORT_PASSWORD,
    &cluster::GALERA_ADDRESS,
    &cluster::SST_PASSWORD,
    &cluster::GALERA_NAME,
    &cluster::SST_METHOD,
    &cluster::GROUP_TLS,
    &cluster::GROUP_RECOVERY_TLS,
    &cluster::CLONE_CA,
    &cluster::GROUP_VERIFIES,
    &cluster::GROUP_RECOVERY_VERIFIES,
    &cluster::GROUP_KEY,
    &cluster::GROUP_ALLOWLIST,
    &rest::TABLESPACES,
    &rest::NEW_TABLES,
    &rest::REDO,
    &rest::UNDO,
    &rest::BINLOG,
    &rest::OLD_BINLOGS,
    &rest::TEMPORARY_FILES,
    &rest::OTHER_ENGINES,
    &rest::ARIA,
    &rest::KEY_THREADS,
    &rest::BLOCK_MODE,
    &rest::TEMPORARY_TABLES_ON_DISK,
    &rest::ROTATE_KEY_AGE,
    &rest::ENCRYPTION_CHECK,
    &rest::SCHEMA_DEFAULT,
    &rest::TEMPORARY_TABLES,
    &rest::OWN_TABLESPACES,
    &rest::OPTED_OUT,
    &rest::KEY_PROVIDER,
    &rest::KEY_FILE_MODE,
    &rest::KEY_PLACE,
    &rest::FILE_KEY,
    &rest::ALGORITHM,
    &rest::KEY_SERVER,
    &rest::KEYRING_BACKUP,
    &logs::GENERAL_LOG,
    &logs::LOG_RAW,
    &logs::FILE_SECRETS,
    &logs::BINLOG_SECRETS,
    &logs::ROW_STATEMENTS,
    &logs::BINLOG_FORMAT,
    &logs::HISTORY,
    &logs::LOG_TABLES,
    &logs::HISTORY_SECRETS,
    &files::DUMPS,
    &logs::CORE_FILE,
    &rest::SWAP,
    &logs::SLOW_LOG,
    &logs::REFUSED_LOGINS,
    &logs::BINLOG_EXPIRY,
    &logs::LOG_MODES,
    &jobs::LOGIN_FILES,
    &jobs::DUMPS_STRIPPABLE,
    &jobs::STREAMS_CLEAR,
    &jobs::PASSWORDS,
    &jobs::WEAK_ENCRYPTION,
    &jobs::ANY_HOST,
];

pub fn by_id(id: &str) -> Option<&'static dyn Rule> {
    RULES.iter().copied().find(|rule| rule.id().eq_ignore_ascii_case(id))
}

/// What stands for an account in a remedy.
const ACCOUNT: &str = "'USER'@'HOST'";

/// The remedy with the account that it is about, so that it can be pasted.
fn remedy(rule: &dyn Rule, subject: &str) -> String {
    match account_of(subject) {
        Some(account) => rule.remedy().replace(ACCOUNT, account),
        None => rule.remedy().to_owned(),
    }
}

/// All rules over all observations: what failed first, then what is unknown, each by severity.
pub fn judge(seen: &Observations) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES
        .iter()
        .flat_map(|rule| {
            rule.judge(seen).into_iter().map(|judgement| Finding {
                rule: rule.id().into(),
                title: rule.title().into(),
                severity: rule.severity(),
                remedy: remedy(*rule, &judgement.subject),
                subject: judgement.subject,
                verdict: judgement.verdict,
                observations: judgement.observations,
            })
        })
        .collect();
    let order = |finding: &Finding| {
        let verdict = match finding.verdict {
            Verdict::Fail(_) => 0,
            Verdict::Unknown(_) => 1,
            Verdict::Pass => 2,
            Verdict::NotApplicable => 3,
        };
        (verdict, std::cmp::Reverse(finding.severity))
    };
    findings.sort_by_key(order);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Source;
    use model::facts::{account, cluster, job, log, rest, server, session, statement, wire};

    /// Other rules may judge the same fact: only this one is asked.
    fn verdict(id: &str, facts: &[(&Fact, Value)]) -> &'static str {
        let mut seen = Observations::default();
        for (fact, value) in facts {
            seen.note("n1", fact, value.clone(), Source::Sql, 0, "test");
        }
        let judged = by_id(id).unwrap_or_else(|| panic!("{id} is not in RULES")).judge(&seen);
        let [one] = judged.as_slice() else {
            panic!("{id} has {} verdicts over {facts:?}, not one", judged.len())
        };
        one.verdict.word()
    }

    #[test]
    fn every_rule_passes_fails_and_says_unknown() {
        let text = |word: &str| Value::Text(word.into());
        for (id, fact, pass, fail) in [
            ("SL1001", &wire::WIRE_GALERA, text("sealed"), text("plain")),
            ("SL1002", &wire::WIRE_IST, text("sealed"), text("plain")),
            ("SL1003", &wire::WIRE_SST, text("sealed"), text("plain")),
            ("SL1004", &wire::WIRE_CLIENT, text("sealed"), text("plain")),
            ("SL1005", &wire::WIRE_REPLICATION, text("sealed"), text("plain")),
            ("SL2001", &server::CLIENT_OFFERED, Value::Bool(true), Value::Bool(false)),
            ("SL2002", &server::CLIENT_REQUIRED, Value::Bool(true), Value::Bool(false)),
            ("SL2003", &server::CERT_EXPIRES_IN_DAYS, Value::Number(30), Value::Number(29)),
            ("SL2004", &server::KEY_OTHERS_CAN_READ, Value::Bool(false), Value::Bool(true)),
            ("SL2005", &server::KEY_OWNER_IS_SERVER, Value::Bool(true), Value::Bool(false)),
            ("SL2006", &server::TLS_FILES_MISSING, Value::Absent, text("gone: node-key.pem")),
            (
                "SL2007",
                &server::CERT_NOT_YET_VALID,
                Value::Absent,
                text("node-cert.pem is not valid before 2028-01-01"),
            ),
            (
                "SL2008",
                &server::KEY_MISMATCH,
                Value::Absent,
                text("node-key.pem does not belong to node-cert.pem"),
            ),
            ("SL2010", &server::CLIENT_CA, Value::Bool(true), Value::Bool(false)),
            ("SL2012", &server::CLIENT_CERTIFICATES_UNNAMED, Value::Absent, Value::Text("'app'@'%'".into())),
            ("SL2014", &server::ADMIN_OFFERED, Value::Bool(true), Value::Bool(false)),
            ("SL2015", &server::X_REQUIRED, Value::Bool(true), Value::Bool(false)),
            ("SL2017", &server::CLIENT_OLD_VERSIONS, Value::Absent, text("TLSv1.0 (tls_version)")),
            ("SL2018", &server::CLIENT_WEAK_CIPHERS, Value::Absent, text("AES128-SHA")),
            ("SL2019", &server::PASSWORD_RSA_KEY, Value::Bool(false), Value::Bool(true)),
            ("SL2021", &server::SETTINGS_ON_COMMAND_LINE, Value::Absent, text("ssl_cert")),
            ("SL2023", &server::CERT_VALIDITY_DAYS, Value::Number(825), Value::Number(826)),
            ("SL2102", &session::LOGINS_CLEARTEXT, Value::Absent, text("10.0.0.7 (3 of 5 logins)")),
            ("SL2103", &session::SESSION_WEAK_TLS, Value::Absent, text("TLSv1.1 AES128-SHA")),
            ("SL2108", &server::PROXY_PROTOCOL_NETWORKS, text("10.0.0.0/8"), text("10.0.0.0/8, *")),
            ("SL2108", &server::PROXY_PROTOCOL_NETWORKS, text("10.0.0.1 fd00::/8"), text("192.0.2.1/0")),
            ("SL2108", &server::PROXY_PROTOCOL_NETWORKS, Value::Absent, text("192.0.2.0/24 0.0.0.0/0")),
            ("SL2108", &server::PROXY_PROTOCOL_NETWORKS, text("localhost"), text("0.0.0.0/1,128.0.0.0/1")),
            ("SL2219", &server::PASSWORD_RULES, Value::Bool(true), Value::Bool(false)),
            ("SL2220", &server::PASSWORD_LIFETIME_DAYS, Value::Number(365), Value::Number(0)),
            ("SL2220", &server::PASSWORD_LIFETIME_DAYS, Value::Number(730), Value::Number(65_535)),
            ("SL2221", &server::PASSWORD_GUESSING_LIMITED, Value::Bool(true), Value::Bool(false)),
            ("SL2225", &server::ACCOUNTS_SKIPPED, Value::Bool(false), Value::Bool(true)),
            ("SL2226", &server::FOREIGN_LOGINS, Value::Absent, text("s1 (root at h)")),
            ("SL2810", &server::FILE_PRIVILEGE_REACH, Value::Absent, text("every file")),
            ("SL2811", &server::LOCAL_INFILE, Value::Bool(false), Value::Bool(true)),
            ("SL3001", &cluster::GALERA_EFFECTIVE, text("strict"), text("dynamic")),
            ("SL3001", &cluster::GALERA_EFFECTIVE, text("strict"), text("plain")),
            ("SL3002", &cluster::SST_CONFIGURED, Value::Bool(true), Value::Bool(false)),
            ("SL3003", &cluster::GALERA_FILE_DIFFERS, text(""), text("gcache.size")),
            ("SL3004", &cluster::CLUSTER_SIZE, Value::Number(3), Value::Number(2)),
            ("SL3011", &cluster::CHANNEL_TLS, Value::Bool(true), Value::Bool(false)),
            ("SL3012", &cluster::CHANNEL_VERIFIES, Value::Bool(true), Value::Bool(false)),
            ("SL3013", &cluster::CHANNEL_CA, Value::Bool(true), Value::Bool(false)),
            ("SL4201", &server::GENERAL_LOG, Value::Bool(false), Value::Bool(true)),
            ("SL4202", &server::LOG_RAW, Value::Bool(false), Value::Bool(true)),
            ("SL4001", &rest::TABLESPACES_CLEAR, Value::Absent, text("found")),
            ("SL4003", &rest::NEW_TABLES_ENCRYPTED, Value::Bool(true), Value::Bool(false)),
            ("SL4004", &rest::REDO_ENCRYPTED, Value::Bool(true), Value::Bool(false)),
            ("SL4005", &rest::UNDO_ENCRYPTED, Value::Bool(true), Value::Bool(false)),
            ("SL4006", &rest::BINLOG_ENCRYPTED, Value::Bool(true), Value::Bool(false)),
            ("SL4007", &rest::BINLOGS_CLEAR, Value::Absent, text("found")),
            ("SL4008", &rest::TEMPORARY_FILES_ENCRYPTED, Value::Bool(true), Value::Bool(false)),
            ("SL4010", &rest::ARIA_ENCRYPTED, Value::Bool(true), Value::Bool(false)),
            ("SL4011", &rest::KEY_THREADS, Value::Number(1), Value::Number(0)),
            ("SL4012", &rest::BLOCK_MODE_ECB, Value::Absent, text("found")),
            ("SL4014", &rest::TEMPORARY_TABLES_ENCRYPTED, Value::Bool(true), Value::Bool(false)),
            ("SL4015", &rest::ROTATE_KEY_AGE, Value::Number(1), Value::Number(0)),
            ("SL4016", &rest::ENCRYPTION_CHECK, Value::Bool(true), Value::Bool(false)),
            ("SL4018", &rest::INNODB_TEMPORARY_ENCRYPTED, Value::Bool(true), Value::Bool(false)),
            ("SL4101", &rest::KEY_PROVIDER, Value::Bool(true), Value::Bool(false)),
            ("SL4104", &rest::FILE_KEY_ENCRYPTED, Value::Bool(true), Value::Bool(false)),
            ("SL4105", &rest::FILE_KEY_ALGORITHM, Value::Bool(true), Value::Bool(false)),
            ("SL2601", &statement::TAUTOLOGY, Value::Absent, text("found")),
            ("SL2602", &statement::UNION, Value::Absent, text("found")),
            ("SL2603", &statement::DELAY, Value::Absent, text("found")),
            ("SL2605", &statement::ERROR_TEXT, Value::Absent, text("found")),
            ("SL2606", &statement::FILE, Value::Absent, text("found")),
            ("SL2607", &statement::INFERENCE, Value::Absent, text("found")),
            ("SL2608", &statement::STACKED, Value::Absent, text("found")),
            ("SL2609", &statement::COMMENT, Value::Absent, text("found")),
            ("SL2610", &statement::ENCODING, Value::Absent, text("found")),
            ("SL2611", &statement::PROBING, Value::Absent, text("found")),
            ("SL2612", &statement::DIVERGENCE, Value::Absent, text("found")),
            ("SL4205", &log::ROW_STATEMENTS, Value::Bool(false), Value::Bool(true)),
            ("SL4206", &log::BINLOG_STATEMENTS, Value::Absent, text("found")),
            ("SL4208", &log::TABLES, Value::Absent, text("found")),
            ("SL4212", &log::CORE_FILE, Value::Bool(false), Value::Bool(true)),
            ("SL4217", &log::SLOW, Value::Bool(false), Value::Bool(true)),
            ("SL4219", &log::REFUSED_LOGINS, Value::Bool(true), Value::Bool(false)),
            ("SL4220", &log::BINLOG_EXPIRES, Value::Bool(true), Value::Bool(false)),
            ("SL2615", &log::AUDITS, Value::Bool(true), Value::Bool(false)),
            ("SL2616", &log::AUDIT_GAPS, Value::Absent, text("found")),
            ("SL2704", &server::SAMPLE_SCHEMA, Value::Absent, text("found")),
            ("SL2812", &server::SYMBOLIC_LINKS, Value::Bool(false), Value::Bool(true)),
            ("SL2814", &server::USER_FUNCTIONS, Value::Absent, text("found")),
            ("SL2815", &server::SUSPICIOUS_FUNCTIONS, Value::Bool(false), Value::Bool(true)),
            ("SL2816", &server::PERSISTED_SECRETS, Value::Bool(false), Value::Bool(true)),
            ("SL2901", &server::LISTENS_EVERYWHERE, Value::Absent, text("found")),
            ("SL2110", &session::SESSIONS_VISIBLE, Value::Bool(true), Value::Bool(false)),
            ("SL2227", &server::PASSWORD_REUSE, Value::Bool(false), Value::Bool(true)),
            ("SL2230", &server::SECURE_AUTH, Value::Bool(true), Value::Bool(false)),
            ("SL2231", &server::STRICT_VALIDATION, Value::Bool(true), Value::Bool(false)),
            ("SL3014", &cluster::CHANNEL_ASKS_KEY, Value::Bool(false), Value::Bool(true)),
            ("SL3107", &cluster::SST_PASSWORD, Value::Bool(false), Value::Bool(true)),
            ("SL3301", &cluster::GROUP_TLS, Value::Bool(true), Value::Bool(false)),
            ("SL3302", &cluster::GROUP_RECOVERY_TLS, Value::Bool(true), Value::Bool(false)),
            ("SL3303", &cluster::CLONE_CA, Value::Bool(true), Value::Bool(false)),
            ("SL3305", &cluster::GROUP_VERIFIES, Value::Bool(true), Value::Bool(false)),
            ("SL3306", &cluster::GROUP_RECOVERY_VERIFIES, Value::Bool(true), Value::Bool(false)),
            ("SL3307", &cluster::GROUP_ASKS_KEY, Value::Bool(false), Value::Bool(true)),
            ("SL3308", &cluster::GROUP_ALLOWLIST, Value::Absent, text("found")),
            ("SL2701", &server::UNSUPPORTED_SINCE, Value::Absent, text("found")),
            ("SL2011", &server::CLIENT_CA_IS_PUBLIC, Value::Absent, text("found")),
            ("SL2024", &server::CERT_FILE_DIFFERS, Value::Absent, text("found")),
            ("SL4108", &rest::KEYRING_BACKUP, Value::Absent, text("keys.backup")),
            ("SL2025", &server::CERT_FILE_UNUSABLE, Value::Absent, text("for Galera: found")),
            ("SL2105", &session::SESSION_BEFORE_CERTIFICATE, Value::Absent, text("found")),
            ("SL2229", &server::MANDATORY_ROLES, Value::Absent, text("found")),
            ("SL2232", &server::RESOLVES_NAMES, Value::Bool(false), Value::Bool(true)),
            ("SL2233", &server::OLD_PASSWORDS, Value::Bool(false), Value::Bool(true)),
            ("SL2234", &server::PASSWORD_REQUIRES_CURRENT, Value::Bool(true), Value::Bool(false)),
            ("SL2235", &server::WEAK_DEFAULT_PLUGIN, Value::Absent, text("found")),
            ("SL2614", &server::ROUTINES_FROM_TEXT, Value::Absent, text("found")),
            ("SL2617", &server::ROUTINES_ORPHANED, Value::Absent, text("found")),
            ("SL2702", &server::TLS_LIBRARY_FAULTS, Value::Absent, text("OpenSSL 1.0.1e: CVE-2014-0160")),
            ("SL2703", &server::PROGRAM_REPLACED, Value::Bool(false), Value::Bool(true)),
            ("SL2801", &server::DATADIR_OPEN, Value::Absent, text("found")),
            ("SL2802", &server::DATA_FILES_OPEN, Value::Absent, text("found")),
            ("SL2803", &server::PLUGIN_DIR_WRITABLE, Value::Bool(false), Value::Bool(true)),
            ("SL2804", &server::OPTION_SECRETS_OPEN, Value::Absent, text("found")),
            ("SL2805", &server::OPTION_FILES_WRITABLE, Value::Absent, text("found")),
            ("SL2806", &server::RUNS_AS_ROOT, Value::Bool(false), Value::Bool(true)),
            ("SL2813", &server::ENVIRONMENT_SECRETS, Value::Absent, text("found")),
            ("SL2817", &server::ARGUMENT_SECRETS, Value::Absent, text("found")),
            ("SL2818", &server::SOCKET_DIR_OPEN, Value::Absent, text("found")),
            ("SL3015", &cluster::REPORT_PASSWORD, Value::Bool(false), Value::Bool(true)),
            ("SL3106", &cluster::GALERA_PUBLIC_ADDRESS, Value::Absent, text("found")),
            ("SL3108", &cluster::GALERA_DEFAULT_NAME, Value::Bool(false), Value::Bool(true)),
            ("SL3203", &cluster::SST_BY_DUMP, Value::Bool(false), Value::Bool(true)),
            ("SL4009", &rest::OTHER_ENGINES, Value::Absent, text("found")),
            ("SL4017", &rest::SCHEMAS_CLEAR, Value::Absent, text("found")),
            ("SL4020", &rest::TABLES_OPTED_OUT, Value::Absent, text("found")),
            ("SL4019", &rest::SHARED_TABLESPACE, Value::Bool(false), Value::Bool(true)),
            ("SL4102", &rest::KEY_FILE_OPEN, Value::Absent, text("found")),
            ("SL4107", &rest::KEY_SERVER_CLEARTEXT, Value::Absent, text("found")),
            ("SL4207", &log::HISTORY, Value::Absent, text("found")),
            ("SL4203", &log::FILE_SECRETS, Value::Absent, text("found")),
            ("SL4204", &log::BINLOG_SECRETS, Value::Absent, text("found")),
            ("SL4210", &log::HISTORY_SECRETS, Value::Absent, text("found")),
            ("SL4211", &server::DUMPS, Value::Absent, text("found")),
            ("SL4213", &rest::SWAP, Value::Absent, text("found")),
            ("SL5004", &job::LOGIN_FILES_OPEN, Value::Absent, text("found")),
            ("SL6001", &job::DUMPS_STRIPPABLE, Value::Absent, text("found")),
            ("SL6002", &job::STREAMS_CLEAR, Value::Absent, text("found")),
            ("SL6004", &job::PASSWORDS, Value::Absent, text("found")),
            ("SL6005", &job::WEAK_ENCRYPTION, Value::Absent, text("found")),
            ("SL6009", &job::ANY_HOST, Value::Absent, text("found")),
            ("SL4221", &log::STATEMENT_FILES_OPEN, Value::Absent, text("found")),
        ] {
            let of = |value: Value| verdict(id, &[(fact, value)]);
            assert_eq!(of(pass), "pass", "{id} over {}", fact.name);
            assert_eq!(of(fail), "fail", "{id} over {}", fact.name);
            assert_eq!(of(Value::Unknown("not looked".into())), "unknown", "{id} over {}", fact.name);
        }
    }

    /// A rule, what is different from the usual, the verdict.
    type Row<'r> = (&'r str, &'r [(&'r Fact, Value)], &'r str);

    #[test]
    fn rules_over_several_facts_pass_fail_and_say_unknown() {
        let text = |word: &str| Value::Text(word.into());
        let yes = || Value::Bool(true);
        let number = Value::Number;
        // An account for other hosts that somebody can log in with; what a row says of it comes after.
        let account = || -> Vec<(&Fact, Value)> {
            vec![
                (&account::ACCOUNT_KIND, text("user")),
                (&account::ACCOUNT_CAN_LOG_IN, yes()),
                (&account::ACCOUNT_FROM, text("any")),
                (&account::ACCOUNT_TLS, text("none")),
                (&account::ACCOUNT_PLUGINS, text("ed25519")),
                (&account::ACCOUNT_NO_PASSWORD, Value::Bool(false)),
                (&account::ACCOUNT_WEAK_ALTERNATIVE, Value::Absent),
                (&account::ACCOUNT_GLOBAL_PRIVILEGES, Value::Absent),
                (&account::ACCOUNT_ADMINISTERS, Value::Absent),
                (&account::ACCOUNT_ON_MYSQL_SCHEMA, Value::Absent),
                (&account::ACCOUNT_OBJECTS, Value::Absent),
                (&account::ACCOUNT_HARM, Value::Absent),
                (&account::ACCOUNT_IS_OURS, Value::Bool(false)),
                (&account::ACCOUNT_PROXY_OF, Value::Absent),
            ]
        };
        let sessions = || -> Vec<(&Fact, Value)> {
            vec![
                (&session::SESSION_CLEARTEXT, number(2)),
                (&session::SESSION_FROM, text("network")),
                (&session::SESSION_IS_REPLICA, Value::Bool(false)),
                (&session::SESSION_IS_ADMINISTRATOR, Value::Bool(false)),
            ]
        };
        let both = |one: &'static str, other: &'static str| text(&format!("{one}, {other}"));
        let rows: &[Row<'_>] = &[
            ("SL2101", &[], "fail"),
            ("SL2101", &[(&session::SESSION_CLEARTEXT, number(0))], "pass"),
            ("SL2101", &[(&session::SESSION_FROM, text("loopback"))], "not-applicable"),
            ("SL2101", &[(&session::SESSION_IS_REPLICA, yes())], "not-applicable"),
            ("SL2101", &[(&session::SESSION_CLEARTEXT, Value::Unknown("off".into()))], "unknown"),
            ("SL2106", &[], "pass"),
            ("SL2106", &[(&session::SESSION_IS_ADMINISTRATOR, yes())], "fail"),
            ("SL2106", &[(&session::SESSION_IS_ADMINISTRATOR, Value::Unknown("x".into()))], "unknown"),
            ("SL2106", &[(&session::SESSION_FROM, text("socket"))], "pass"),
            ("SL2107", &[], "not-applicable"),
            ("SL2107", &[(&session::SESSION_IS_REPLICA, yes())], "fail"),
            (
                "SL2107",
                &[(&session::SESSION_IS_REPLICA, yes()), (&session::SESSION_CLEARTEXT, number(0))],
                "pass",
            ),
            ("SL2109", &[], "not-applicable"),
            ("SL2109", &[(&session::SESSION_FROM, text("loopback"))], "fail"),
            (
                "SL2109",
                &[(&session::SESSION_FROM, text("loopback")), (&session::SESSION_CLEARTEXT, number(0))],
                "pass",
            ),
            ("SL2201", &[], "fail"),
            ("SL2201", &[(&account::ACCOUNT_TLS, text("server"))], "pass"),
            ("SL2201", &[(&account::ACCOUNT_TLS, text("x509"))], "pass"),
            ("SL2201", &[(&account::ACCOUNT_FROM, text("local"))], "not-applicable"),
            ("SL2201", &[(&account::ACCOUNT_CAN_LOG_IN, Value::Bool(false))], "not-applicable"),
            ("SL2201", &[(&account::ACCOUNT_TLS, Value::Unknown("x".into()))], "unknown"),
            ("SL2202", &[], "not-applicable"),
            ("SL2202", &[(&account::ACCOUNT_ADMINISTERS, text("SUPER"))], "fail"),
            (
                "SL2202",
                &[(&account::ACCOUNT_ADMINISTERS, text("SUPER")), (&account::ACCOUNT_TLS, text("any"))],
                "fail",
            ),
            (
                "SL2202",
                &[(&account::ACCOUNT_ADMINISTERS, text("SUPER")), (&account::ACCOUNT_TLS, text("x509"))],
                "pass",
            ),
            ("SL2204", &[], "pass"),
            ("SL2204", &[(&account::ACCOUNT_NO_PASSWORD, yes())], "fail"),
            ("SL2204", &[(&account::ACCOUNT_NO_PASSWORD, Value::Unknown("x".into()))], "unknown"),
            ("SL2205", &[], "pass"),
            ("SL2205", &[(&account::ACCOUNT_KIND, text("anonymous"))], "fail"),
            (
                "SL2205",
                &[
                    (&account::ACCOUNT_KIND, text("anonymous")),
                    (&account::ACCOUNT_CAN_LOG_IN, Value::Bool(false)),
                ],
                "not-applicable",
            ),
            ("SL2205", &[(&account::ACCOUNT_KIND, text("role"))], "not-applicable"),
            ("SL2206", &[], "fail"),
            ("SL2206", &[(&account::ACCOUNT_FROM, text("named"))], "pass"),
            ("SL2207", &[], "pass"),
            ("SL2207", &[(&account::ACCOUNT_PLUGINS, both("unix_socket", "mysql_native_password"))], "fail"),
            ("SL2208", &[], "pass"),
            ("SL2208", &[(&account::ACCOUNT_PLUGINS, text("mysql_old_password"))], "fail"),
            ("SL2209", &[(&account::ACCOUNT_PLUGINS, text("sha256_password"))], "fail"),
            ("SL2209", &[(&account::ACCOUNT_PLUGINS, text("caching_sha2_password"))], "pass"),
            ("SL2210", &[], "not-applicable"),
            ("SL2210", &[(&account::ACCOUNT_PLUGINS, text("pam"))], "fail"),
            (
                "SL2210",
                &[(&account::ACCOUNT_PLUGINS, text("pam")), (&account::ACCOUNT_TLS, text("any"))],
                "pass",
            ),
            ("SL2212", &[], "pass"),
            ("SL2212", &[(&account::ACCOUNT_WEAK_ALTERNATIVE, text("native"))], "fail"),
            ("SL2214", &[], "pass"),
            ("SL2214", &[(&account::ACCOUNT_GLOBAL_PRIVILEGES, both("SELECT", "FILE (role r)"))], "fail"),
            ("SL2214", &[(&account::ACCOUNT_GLOBAL_PRIVILEGES, Value::Unknown("x".into()))], "unknown"),
            ("SL2215", &[], "not-applicable"),
            ("SL2215", &[(&account::ACCOUNT_ADMINISTERS, text("SUPER"))], "fail"),
            (
                "SL2215",
                &[(&account::ACCOUNT_ADMINISTERS, text("SUPER")), (&account::ACCOUNT_FROM, text("local"))],
                "pass",
            ),
            ("SL2216", &[], "pass"),
            ("SL2216", &[(&account::ACCOUNT_ON_MYSQL_SCHEMA, text("SELECT ON mysql.user"))], "fail"),
            (
                "SL2216",
                &[(&account::ACCOUNT_ON_MYSQL_SCHEMA, text("x")), (&account::ACCOUNT_IS_OURS, yes())],
                "not-applicable",
            ),
            ("SL2217", &[], "not-applicable"),
            ("SL2217", &[(&account::ACCOUNT_KIND, text("role"))], "pass"),
            (
                "SL2217",
                &[
                    (&account::ACCOUNT_KIND, text("role")),
                    (&account::ACCOUNT_GLOBAL_PRIVILEGES, text("FILE")),
                ],
                "fail",
            ),
            (
                "SL2217",
                &[(&account::ACCOUNT_KIND, text("role")), (&account::ACCOUNT_ON_MYSQL_SCHEMA, text("x"))],
                "fail",
            ),
            (
                "SL2217",
                &[(&account::ACCOUNT_KIND, text("role")), (&account::ACCOUNT_ADMINISTERS, text("SUPER"))],
                "not-applicable",
            ),
            ("SL2218", &[], "pass"),
            ("SL2218", &[(&account::ACCOUNT_PROXY_OF, text("'root'@'%'"))], "fail"),
            (
                "SL2218",
                &[(&account::ACCOUNT_PROXY_OF, text("x")), (&account::ACCOUNT_ADMINISTERS, text("SUPER"))],
                "not-applicable",
            ),
            ("SL2223", &[], "not-applicable"),
            ("SL2223", &[(&account::ACCOUNT_GLOBAL_PRIVILEGES, text("REPLICATION SLAVE"))], "fail"),
            (
                "SL2223",
                &[
                    (&account::ACCOUNT_GLOBAL_PRIVILEGES, text("REPLICATION SLAVE")),
                    (&account::ACCOUNT_TLS, text("any")),
                ],
                "pass",
            ),
            (
                "SL2223",
                &[
                    (&account::ACCOUNT_GLOBAL_PRIVILEGES, text("REPLICATION SLAVE")),
                    (&account::ACCOUNT_OBJECTS, text("app.*")),
                    (&account::ACCOUNT_TLS, text("any")),
                ],
                "fail",
            ),
            (
                "SL2223",
                &[
                    (
                        &account::ACCOUNT_GLOBAL_PRIVILEGES,
                        both("REPLICATION SLAVE", "REPLICATION SLAVE ADMIN"),
                    ),
                    (&account::ACCOUNT_ADMINISTERS, text("REPLICATION SLAVE ADMIN")),
                    (&account::ACCOUNT_TLS, text("any")),
                ],
                "fail",
            ),
            ("SL2223", &[(&account::ACCOUNT_GLOBAL_PRIVILEGES, text("REPLICATION SLAVE (role r)"))], "fail"),
            (
                "SL2223",
                &[(&account::ACCOUNT_GLOBAL_PRIVILEGES, both("REPLICATION SLAVE", "SUPER"))],
                "not-applicable",
            ),
            (
                "SL2223",
                &[
                    (&account::ACCOUNT_GLOBAL_PRIVILEGES, both("REPLICATION SLAVE", "SELECT")),
                    (&account::ACCOUNT_TLS, text("any")),
                ],
                "fail",
            ),
            ("SL2613", &[], "pass"),
            ("SL2613", &[(&account::ACCOUNT_HARM, text("FILE"))], "fail"),
            ("SL2613", &[(&account::ACCOUNT_HARM, Value::Unknown("x".into()))], "unknown"),
            (
                "SL2613",
                &[(&account::ACCOUNT_HARM, text("FILE")), (&account::ACCOUNT_ADMINISTERS, text("SUPER"))],
                "not-applicable",
            ),
            (
                "SL2613",
                &[(&account::ACCOUNT_HARM, text("FILE")), (&account::ACCOUNT_IS_OURS, yes())],
                "not-applicable",
            ),
            ("SL2024", &[(&server::CERT_FILE_DIFFERS, Value::Absent)], "pass"),
            (
                "SL2024",
                &[
                    (&server::CERT_FILE_DIFFERS, text("node-cert.pem has another certificate")),
                    (&server::CERT_FILE_UNUSABLE, text("for Galera: no clientAuth")),
                ],
                "fail",
            ),
            (
                "SL4103",
                &[(&rest::KEY_IN_DATADIR, Value::Absent), (&rest::KEY_WITH_DATA, Value::Absent)],
                "pass",
            ),
            (
                "SL4103",
                &[(&rest::KEY_IN_DATADIR, Value::Absent), (&rest::KEY_WITH_DATA, text("/keys: the same"))],
                "fail",
            ),
            (
                "SL4103",
                &[(&rest::KEY_IN_DATADIR, text("k")), (&rest::KEY_WITH_DATA, Value::Unknown("x".into()))],
                "fail",
            ),
            ("SL4103", &[(&rest::KEY_IN_DATADIR, Value::Absent)], "unknown"),
        ];
        for (id, changed, expected) in rows {
            let mut facts = if id.starts_with("SL21") { sessions() } else { account() };
            facts.extend(changed.iter().cloned());
            assert_eq!(verdict(id, &facts), *expected, "{id} over {changed:?}");
        }
        // No rule over several facts is left out here.
        for rule in RULES.iter().filter(|rule| rule.facts().len() > 1) {
            for word in ["pass", "fail"] {
                let has = |row: &&Row<'_>| row.0 == rule.id() && row.2 == word;
                assert!(rows.iter().any(|row| has(&row)), "{}: no row says {word}", rule.id());
            }
        }
    }

    /// A page of the book: its file, its title, what its rules are about, and how their ids begin.
    const FAMILIES: &[(&str, &str, &str, &[&str])] = &[
        (
            "wire",
            "Links on the wire",
            "What bytes were seen between two ends: `sealion status` and the demo.",
            &["SL10"],
        ),
        (
            "tls",
            "TLS from outside",
            "What a stranger sees of a port: `sealion scan`; the certificate alone: `sealion audit`.",
            &["SL11"],
        ),
        (
            "server",
            "Servers",
            "Settings of TLS, certificates, other ports, and the server's series: `sealion audit`, `sealion status`.",
            &["SL20", "SL27", "SL29"],
        ),
        ("sessions", "Sessions", "Who is connected, and how: `sealion audit`.", &["SL21"]),
        ("accounts", "Accounts", "How accounts log in, and what they may do: `sealion audit`.", &["SL22"]),
        (
            "files",
            "Files, functions and the process",
            "What a server reads, writes and loads for its users, who else reads its files, and as whom it runs: `sealion audit`.",
            &["SL28", "SL2614", "SL2617"],
        ),
        (
            "cluster",
            "Galera, replication and groups",
            "How servers talk to each other: `sealion audit`, and `sealion status` for Galera.",
            &["SL3"],
        ),
        (
            "rest",
            "Data at rest",
            "What a server says that it encrypts on its disk: `sealion audit`. What is in the files says `sealion status rest`.",
            &["SL40", "SL41"],
        ),
        (
            "logs",
            "Logs and what is left over",
            "What a server writes down of statements and logins, and what lies beside it: `sealion audit`.",
            &["SL2615", "SL2616", "SL42"],
        ),
        (
            "jobs",
            "Jobs and login files",
            "Crontabs, timers and scripts of the server's machine that dump and send data, and login files of its users: `sealion audit`.",
            &["SL5", "SL6"],
        ),
        (
            "statements",
            "Statements",
            "What speaks for an injection in statements that were sent, and accounts through which one would do harm: `sealion audit`, by the digests and texts \
             that the server keeps.",
            &["SL260", "SL2610", "SL2611", "SL2612", "SL2613"],
        ),
    ];

    /// `UPDATE_DOCS=1 cargo test --profile ci -p rules` writes them anew.
    #[test]
    fn the_pages_of_rules_are_what_the_rules_say() {
        let reference =
            std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference"));
        let mut index = String::from(
            "# Rules\n\nThese pages are written from the rules themselves. `sealion explain ID` says the same.\n\n\
             A finding is `pass`, `fail`, `unknown` or `not-applicable`; what could not be seen is `unknown`, never `pass`.\n",
        );
        let mut pages = Vec::new();
        let mut on_a_page = 0;
        for (file, title, about, begins) in FAMILIES {
            let of = |rule: &&&dyn Rule| begins.iter().any(|begin| rule.id().starts_with(begin));
            index += &format!(
                "\n## [{title}](rules/{file}.md)\n\n{about}\n\n| rule | severity | what it wants |\n| --- | --- | --- |\n"
            );
            let mut page = format!("# {title}\n\n{about} All families: [Rules](../rules.md).\n");
            for rule in RULES.iter().filter(of) {
                on_a_page += 1;
                let anchor = format!("{}-{}", rule.id().to_lowercase(), rule.severity());
                index += &format!(
                    "| [{}](rules/{file}.md#{anchor}) | {} | {} |\n",
                    rule.id(),
                    rule.severity(),
                    rule.title()
                );
                let facts: Vec<String> = rule
                    .facts()
                    .iter()
                    .map(|fact| {
                        let looks: Vec<String> =
                            fact.noted_by.iter().map(|(look, on)| format!("`{look}` on {on}")).collect();
                        format!("`{}` ({})", fact.name, looks.join(", "))
                    })
                    .collect();
                page += &format!(
                    "\n## {} ({})\n\n**{}.** {}\n\nRemedy: {}.\n\nRead from: {}.\n\nReferences: {}.\n",
                    rule.id(),
                    rule.severity(),
                    rule.title(),
                    rule.explanation(),
                    rule.remedy(),
                    facts.join("; "),
                    rule.references().join("; ")
                );
            }
            pages.push((reference.join(format!("rules/{file}.md")), page));
        }
        assert_eq!(on_a_page, RULES.len(), "each rule is on one page: add the begin of its id to FAMILIES");
        pages.push((reference.join("rules.md"), index));
        let summary =
            std::fs::read_to_string(reference.join("../SUMMARY.md")).expect("the book has a summary");
        for (file, title, ..) in FAMILIES {
            let line = format!("  - [{title}](reference/rules/{file}.md)\n");
            assert!(summary.contains(&line), "docs/src/SUMMARY.md lacks {line}");
        }
        for (path, page) in pages {
            if std::env::var_os("UPDATE_DOCS").is_some() {
                std::fs::create_dir_all(reference.join("rules")).expect("the docs are writable");
                std::fs::write(&path, &page).expect("the docs are writable");
            }
            let written = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                written == page,
                "{} is stale: UPDATE_DOCS=1 cargo test --profile ci -p rules",
                path.display()
            );
        }
    }

    #[test]
    fn ids_are_unique_ordered_and_each_rule_has_all_its_texts() {
        let ids: Vec<&str> = RULES.iter().map(|rule| rule.id()).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(ids, sorted, "RULES is in the order of the ids, and each id is there once");
        for rule in RULES {
            let id = rule.id();
            assert!(!rule.references().is_empty(), "{id}: no references");
            assert!(
                rule.explanation().len() > 60,
                "{id}: an explanation of 60 characters or fewer explains nothing"
            );
            assert!(rule.explanation().ends_with('.'), "{id}: the explanation ends without a full stop");
            assert!(!rule.remedy().is_empty(), "{id}: no remedy");
            assert!(!rule.title().ends_with('.'), "{id}: a title ends without a full stop");
        }
    }

    #[test]
    fn failures_come_first_and_the_newest_observation_counts() {
        let mut seen = Observations::default();
        seen.note("n1", &server::CLIENT_OFFERED, Value::Bool(false), Source::Sql, 0, "t");
        seen.note("n1", &cluster::CLUSTER_SIZE, Value::Number(2), Source::Sql, 0, "t");
        seen.note("n1", &server::CLIENT_OFFERED, Value::Bool(true), Source::Sql, 1, "t");
        let findings = judge(&seen);
        assert_eq!(findings.iter().map(|f| f.verdict.word()).collect::<Vec<_>>(), ["fail", "pass"]);
    }
}
