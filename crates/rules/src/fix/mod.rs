//! The remedies of an audit in an order in which they break nobody: what later steps rest on comes first, and what refuses somebody
//! waits until nobody is left whom it would refuse. Findings in, steps out; nothing is done here.

mod table;
mod topology;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use model::account::account_of;
use model::{Finding, Verdict};

pub use table::FIXES;
pub use topology::{Topology, Writer};

/// When a step is done. The order is the argument: each stage rests on those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Before a statement with a new password is sent, which these logs would keep.
    Logs,
    /// TLS for whoever asks for it; nobody has to yet.
    OfferTls,
    /// Nodes and replicas use TLS before their accounts have to.
    Channels,
    /// No open session, and no login with a right password, depends on them.
    Settings,
    /// Plugins that accounts need, on every server that applies the change: a replica without one stops.
    Plugins,
    Accounts,
    ReplicationAccounts,
    /// A new name of an account: what is said of the old one comes before.
    Hosts,
    /// Behind the new passwords.
    Expiry,
    /// Everybody without TLS is refused.
    Require,
    /// What is left counts after a restart: one, for all of it.
    OptionFile,
}

impl Stage {
    /// In JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Logs => "logs",
            Self::OfferTls => "offer-tls",
            Self::Channels => "channels",
            Self::Settings => "settings",
            Self::Plugins => "plugins",
            Self::Accounts => "accounts",
            Self::ReplicationAccounts => "replication-accounts",
            Self::Hosts => "hosts",
            Self::Expiry => "expiry",
            Self::Require => "require",
            Self::OptionFile => "option-file",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Logs => "logs that would keep new passwords",
            Self::OfferTls => "TLS is offered",
            Self::Channels => "nodes and replicas use TLS",
            Self::Settings => "settings that refuse nobody",
            Self::Plugins => "plugins that accounts need, on replicas first",
            Self::Accounts => "accounts",
            Self::ReplicationAccounts => "accounts of replicas",
            Self::Hosts => "from where accounts log in",
            Self::Expiry => "passwords expire",
            Self::Require => "TLS is required of everybody",
            Self::OptionFile => "option file",
        }
    }
}

/// What mends one finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    stage: Stage,
    /// What the accounts in `sql` need on every server that applies it.
    plugins: Vec<&'static str>,
    sql: Vec<String>,
    /// Lines of the `[mysqld]` group: what keeps it after a restart.
    option_lines: Vec<String>,
    /// The lines alone do it, after a restart.
    needs_restart: bool,
    command: Option<&'static str>,
    /// A command that does the same for nodes of an inventory.
    or_command: Option<&'static str>,
    /// What a person has to see to before.
    decide: Option<&'static str>,
}

impl Fix {
    fn empty(stage: Stage) -> Self {
        Self {
            stage,
            plugins: vec![],
            sql: vec![],
            option_lines: vec![],
            needs_restart: false,
            command: None,
            or_command: None,
            decide: None,
        }
    }

    fn sql(stage: Stage, statements: impl IntoIterator<Item = String>) -> Self {
        Self { sql: statements.into_iter().collect(), ..Self::empty(stage) }
    }

    /// A variable that can be set while the server runs, and the line that keeps it.
    fn set(stage: Stage, name: &str, value: &str) -> Self {
        Self {
            option_lines: vec![format!("{name}={value}")],
            ..Self::sql(stage, [format!("SET GLOBAL {name} = {value}")])
        }
    }

    /// One that cannot.
    fn line(line: &str) -> Self {
        Self::lines(&[line])
    }

    fn lines(lines: &[&str]) -> Self {
        Self {
            option_lines: lines.iter().map(|&line| line.to_owned()).collect(),
            needs_restart: true,
            ..Self::empty(Stage::OptionFile)
        }
    }

    fn command(stage: Stage, command: &'static str) -> Self {
        Self { command: Some(command), ..Self::empty(stage) }
    }

    fn decide(self, what: &'static str) -> Self {
        Self { decide: Some(what), ..self }
    }
}

/// The finding that is to be mended.
pub struct At<'f> {
    is_mariadb: bool,
    account: Option<&'f str>,
    why: &'f str,
    /// Rules that the same subject fails.
    fails: BTreeSet<&'f str>,
}

impl<'f> At<'f> {
    /// `'web'` of `'web'@'%'`.
    fn user(&self) -> Option<&'f str> {
        user_of(self.account?)
    }
}

/// The user of an account as [`model::account::quoted`] writes it.
fn user_of(account: &str) -> Option<&str> {
    let quote = account.chars().next().filter(|char| ['\'', '`'].contains(char))?;
    let mut from = 1;
    loop {
        let end = from + account.get(from..)?.find(quote)?;
        // Twice is one in the name.
        if account.get(end + 1..)?.starts_with(quote) {
            from = end + 2;
        } else {
            return account.get(..=end);
        }
    }
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixStep {
    pub stage: Stage,
    /// `None`: a command for all nodes of the inventory.
    pub server: Option<String>,
    pub command: Option<&'static str>,
    pub or_command: Option<&'static str>,
    pub sql: Vec<String>,
    /// Lines of the `[mysqld]` group of the server's option file.
    pub option_lines: Vec<String>,
    pub needs_restart: bool,
    /// `<NEW_PASSWORD>` and the like: who does it writes what stands there.
    pub to_fill: Vec<String>,
    pub decide: Vec<&'static str>,
    /// It would refuse somebody until this is gone.
    pub waits_for: Vec<String>,
    pub mends: Vec<Mended>,
}

/// A finding that a step mends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mended {
    pub rule: String,
    pub subject: String,
}

#[derive(Debug, Default)]
pub struct FixPlan {
    pub steps: Vec<FixStep>,
    /// Places in the findings: what no step mends.
    pub by_hand: Vec<usize>,
    /// Of some of them, why.
    why_by_hand: BTreeMap<usize, String>,
}

/// A server whose findings are mended; of which flavour is `None` where it did not answer.
pub struct FixServer {
    pub name: String,
    pub is_mariadb: Option<bool>,
}

/// Sessions without TLS, of whatever kind.
const SESSIONS_IN_CLEAR: [&str; 3] = ["SL2101", "SL2107", "SL2109"];
const SESSIONS_OF: &str = " sessions of ";
/// Certificate files with which the server does not come back.
const UNUSABLE_FILES: &str = "SL2025";
/// Whoever drops an account mends whatever is said of it.
const DROPS: &str = "SL2205";

/// The steps that mend what failed, in the order in which they are to be done.
pub fn plan(findings: &[Finding], servers: &[FixServer], topology: &Topology) -> FixPlan {
    let mut plan = FixPlan::default();
    for (place, finding) in findings.iter().enumerate() {
        if !matches!(finding.verdict, Verdict::Fail(_)) {
            continue;
        }
        let server = server_of(&finding.subject, servers);
        let (Some(server), Some(fix)) = (server, server.and_then(|server| fix_of(finding, server, findings)))
        else {
            plan.by_hand.push(place);
            continue;
        };
        let written = match account_of(&finding.subject).filter(|_| fix.command.is_none()) {
            None => Ok((fix, server)),
            Some(account) => at_writer(&fix, finding, account, server, findings, servers, topology),
        };
        match written {
            Ok((fix, server)) => {
                let mends = Mended { rule: finding.rule.clone(), subject: finding.subject.clone() };
                plan.add(&fix, server, mends, findings, topology);
            }
            Err(why) => {
                plan.by_hand.push(place);
                plan.why_by_hand.insert(place, why);
            }
        }
    }
    plan.keep_from_restarts(findings);
    let place_of = |step: &FixStep| servers.iter().position(|one| Some(&one.name) == step.server.as_ref());
    let depth = |step: &FixStep| match &step.server {
        Some(server) if step.stage == Stage::Plugins => topology.depth(server),
        _ => 0,
    };
    plan.steps.sort_by_key(|step| (step.stage, Reverse(depth(step)), place_of(step)));
    plan
}

/// What mends one finding on its own server.
fn fix_of(finding: &Finding, server: &FixServer, findings: &[Finding]) -> Option<Fix> {
    let Verdict::Fail(why) = &finding.verdict else { return None };
    let fails: BTreeSet<&str> = findings
        .iter()
        .filter(|one| one.subject == finding.subject && matches!(one.verdict, Verdict::Fail(_)))
        .map(|one| one.rule.as_str())
        .collect();
    let rule = if fails.contains(DROPS) { DROPS } else { &finding.rule };
    let at = At { is_mariadb: server.is_mariadb?, account: account_of(&finding.subject), why, fails };
    FIXES.iter().find(|(id, _)| *id == rule).and_then(|(_, fix)| fix(&at))
}

/// The fix of an account where it is written: a statement on a replica would be one that its source does not have, and the source's own would stop
/// the replica then. The error says why it is done by hand.
fn at_writer<'s>(
    fix: &Fix,
    finding: &Finding,
    account: &str,
    server: &'s FixServer,
    findings: &[Finding],
    servers: &'s [FixServer],
    topology: &Topology,
) -> Result<(Fix, &'s FixServer), String> {
    let writer = match topology.writer(&server.name) {
        Writer::Itself => return Ok((fix.clone(), server)),
        Writer::ByHand(why) => return Err(why),
        Writer::Server(writer) => writer,
    };
    let subject = format!("{writer} account {account}");
    let of_writer: Vec<&Finding> = findings.iter().filter(|one| one.subject == subject).collect();
    if of_writer.is_empty() {
        return Err(format!(
            "{writer}, from which its changes come, has no such account: change it here in a session with SET SESSION sql_log_bin = 0"
        ));
    }
    let there =
        of_writer.iter().find(|one| one.rule == finding.rule && matches!(one.verdict, Verdict::Fail(_)));
    let of = servers.iter().find(|one| one.name == writer);
    let fix = there.zip(of).and_then(|(one, of)| Some((fix_of(one, of, findings)?, of)));
    fix.ok_or_else(|| {
        format!("the account is another one on {writer}, from which its changes come: find out why they differ first")
    })
}

fn server_of<'s>(subject: &str, servers: &'s [FixServer]) -> Option<&'s FixServer> {
    let is_of = |one: &&FixServer| {
        subject.strip_prefix(one.name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    // Of `db` and `db 1` the longer name.
    servers.iter().filter(is_of).max_by_key(|one| one.name.len())
}

impl FixPlan {
    /// What a person does about a finding that no step mends.
    pub fn remedy(&self, place: usize, finding: &Finding) -> String {
        match self.why_by_hand.get(&place) {
            Some(why) => format!("{why}; {}", finding.remedy),
            None => finding.remedy.clone(),
        }
    }

    fn add(
        &mut self,
        fix: &Fix,
        server: &FixServer,
        mends: Mended,
        findings: &[Finding],
        topology: &Topology,
    ) {
        let appliers =
            if account_of(&mends.subject).is_some() { topology.appliers(&server.name) } else { vec![] };
        for plugin in &fix.plugins {
            for name in appliers.iter().copied().chain([server.name.as_str()]) {
                self.add_plugin(plugin, name, &mends);
            }
        }
        if fix.command.is_some() || !fix.sql.is_empty() {
            // A command is for all servers, and once is enough.
            let of = if fix.command.is_some() { None } else { Some(server.name.clone()) };
            let is_same = |step: &&mut FixStep| {
                step.server == of
                    && step.command == fix.command
                    && step.sql == fix.sql
                    && step.stage != Stage::OptionFile
            };
            if let Some(step) = self.steps.iter_mut().find(is_same) {
                // Of an account that is both the later one.
                step.stage = step.stage.max(fix.stage);
                step.mend(mends.clone());
            } else {
                // It reaches whoever uses the account on a replica, too.
                let names = std::iter::once(server.name.as_str()).chain(appliers);
                let mut waits: Vec<String> = names
                    .flat_map(|name| waits_for(fix, name, account_of(&mends.subject), findings))
                    .collect();
                waits.sort();
                waits.dedup();
                self.steps.push(FixStep { waits_for: waits, ..FixStep::of(fix, of, mends.clone()) });
            }
        }
        if fix.option_lines.is_empty() {
            return;
        }
        let of = Some(server.name.clone());
        let is_same = |step: &&mut FixStep| step.server == of && step.stage == Stage::OptionFile;
        if !self.steps.iter().any(|step| step.server == of && step.stage == Stage::OptionFile) {
            self.steps.push(FixStep::of(&Fix::empty(Stage::OptionFile), of.clone(), mends.clone()));
        }
        let Some(step) = self.steps.iter_mut().find(is_same) else { return };
        step.mend(mends);
        for line in &fix.option_lines {
            if !step.option_lines.contains(line) {
                step.option_lines.push(line.clone());
                step.to_fill.extend(to_fill(line));
            }
        }
        step.needs_restart |= fix.needs_restart;
        if fix.needs_restart {
            step.decide.extend(fix.decide);
        }
    }

    /// A server that cannot use its certificate files is not restarted.
    fn keep_from_restarts(&mut self, findings: &[Finding]) {
        for step in self.steps.iter_mut().filter(|step| step.needs_restart) {
            let of =
                |one: &&Finding| Some(&one.subject) == step.server.as_ref() && one.rule == UNUSABLE_FILES;
            match findings.iter().find(of).map(|one| &one.verdict) {
                Some(Verdict::Fail(why)) => step.waits_for.push(format!("{UNUSABLE_FILES}: {why}")),
                Some(Verdict::Unknown(_)) => {
                    step.decide.push("its certificate files were not judged: an audit on its machine says whether it can restart with them");
                }
                _ => {}
            }
        }
    }

    fn add_plugin(&mut self, install: &str, server: &str, mends: &Mended) {
        let is_same = |step: &&mut FixStep| {
            step.stage == Stage::Plugins && step.server.as_deref() == Some(server) && step.sql == [install]
        };
        if let Some(step) = self.steps.iter_mut().find(is_same) {
            step.mend(mends.clone());
            return;
        }
        let fix = Fix::sql(Stage::Plugins, [install.to_owned()])
            .decide("every replica of it must have the plugin first, also one that this audit did not reach");
        self.steps.push(FixStep::of(&fix, Some(server.to_owned()), mends.clone()));
    }
}

impl FixStep {
    fn of(fix: &Fix, server: Option<String>, mends: Mended) -> Self {
        Self {
            stage: fix.stage,
            server,
            command: fix.command,
            or_command: fix.or_command,
            sql: fix.sql.clone(),
            option_lines: vec![],
            needs_restart: false,
            to_fill: fix.sql.iter().filter_map(|sql| to_fill(sql)).collect(),
            decide: fix.decide.into_iter().collect(),
            waits_for: vec![],
            mends: vec![mends],
        }
    }

    fn mend(&mut self, one: Mended) {
        if !self.mends.contains(&one) {
            self.mends.push(one);
        }
    }
}

/// What stands in a text for somebody else to write: `<NEW_PASSWORD>`. Names of accounts may hold anything else.
fn to_fill(text: &str) -> Option<String> {
    ["<NEW_PASSWORD>", "<CLIENT_NETWORK>", "<DIRECTORY>", "<KEYS>", "<KEYS_PASSWORD>"]
        .iter()
        .find(|word| text.contains(*word))
        .map(|&word| word.to_owned())
}

/// Whom a step would refuse.
fn waits_for(fix: &Fix, server: &str, account: Option<&str>, findings: &[Finding]) -> Vec<String> {
    let requires = match (fix.stage, account) {
        (Stage::Require, _) => None,
        (Stage::Accounts | Stage::ReplicationAccounts, Some(account))
            if fix.sql.iter().any(|sql| sql.ends_with(" REQUIRE SSL")) =>
        {
            Some(account)
        }
        _ => return vec![],
    };
    let no_tls = findings
        .iter()
        .filter(|one| one.rule == "SL2001" && one.subject == server && !matches!(one.verdict, Verdict::Pass));
    let mut out: Vec<String> = no_tls
        .map(|one| match &one.verdict {
            Verdict::Fail(_) => format!("{server} offers no TLS yet"),
            _ => format!("whether {server} offers TLS is not known"),
        })
        .collect();
    let sessions = findings.iter().filter(|one| {
        SESSIONS_IN_CLEAR.contains(&one.rule.as_str())
            && one.subject.strip_prefix(server).is_some_and(|rest| rest.starts_with(" sessions"))
    });
    for one in sessions {
        // Sessions are listed under the name that a client gave; the anonymous account takes any.
        let may_be_of = requires.is_none_or(|account| {
            let user = user_of(account);
            let of = one.subject.split_once(SESSIONS_OF).and_then(|(_, who)| user_of(who));
            user.is_none() || user == Some("''") || of.is_none() || of == user
        });
        if !may_be_of {
            continue;
        }
        match &one.verdict {
            Verdict::Fail(_) => out.push(format!("{} use no TLS", one.subject)),
            Verdict::Unknown(why) => {
                out.push(format!("whether {} use TLS is not known: {why}", one.subject));
            }
            Verdict::Pass | Verdict::NotApplicable => {}
        }
    }
    out.sort();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_id;

    fn finding(rule: &str, subject: &str, verdict: Verdict) -> Finding {
        let rule = by_id(rule).unwrap_or_else(|| panic!("there is no {rule}"));
        Finding {
            rule: rule.id().into(),
            title: rule.title().into(),
            severity: rule.severity(),
            subject: subject.into(),
            verdict,
            observations: vec![],
            remedy: rule.remedy().into(),
        }
    }

    fn fail(rule: &str, subject: &str) -> Finding {
        finding(rule, subject, Verdict::Fail("it may log in without TLS".into()))
    }

    fn servers(is_mariadb: bool) -> [FixServer; 2] {
        ["db", "db2"].map(|name| FixServer { name: name.into(), is_mariadb: Some(is_mariadb) })
    }

    fn planned(findings: &[Finding], servers: &[FixServer]) -> FixPlan {
        plan(findings, servers, &Topology::alone(servers.iter().map(|one| one.name.as_str())))
    }

    #[test]
    fn each_row_is_of_a_rule_and_once() {
        let ids: Vec<&str> = FIXES.iter().map(|(id, _)| *id).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(ids, sorted);
        for id in ids {
            assert!(by_id(id).is_some(), "there is no rule {id}");
        }
    }

    #[test]
    fn logs_come_first_accounts_before_everybody_and_replicas_behind_their_channels() {
        let findings = [
            fail("SL2002", "db"),
            fail("SL2223", "db account 'rep'@'10.%'"),
            fail("SL2201", "db account 'rep'@'10.%'"),
            fail("SL2201", "db account 'web'@'10.%'"),
            fail("SL2204", "db account 'web'@'10.%'"),
            fail("SL3011", "db2 channel '' from db"),
            fail("SL3012", "db2 channel '' from db"),
            fail("SL4201", "db"),
        ];
        let plan = planned(&findings, &servers(true));
        assert_eq!(plan.by_hand, Vec::<usize>::new());
        let said: Vec<String> =
            plan.steps.iter().map(|step| format!("{:?}", (step.stage, &step.sql, step.command))).collect();
        assert_eq!(
            said,
            [
                r#"(Logs, ["SET GLOBAL general_log = OFF"], None)"#,
                r#"(Channels, [], Some("sealion enable replication"))"#,
                r#"(Accounts, ["ALTER USER 'web'@'10.%' REQUIRE SSL"], None)"#,
                r#"(Accounts, ["ALTER USER 'web'@'10.%' IDENTIFIED BY <NEW_PASSWORD>"], None)"#,
                r#"(ReplicationAccounts, ["ALTER USER 'rep'@'10.%' REQUIRE SSL"], None)"#,
                r#"(Require, ["SET GLOBAL require_secure_transport = ON"], None)"#,
                "(OptionFile, [], None)",
            ]
        );
        let mends: usize =
            plan.steps.iter().filter(|one| one.stage != Stage::OptionFile).map(|one| one.mends.len()).sum();
        assert_eq!(mends, findings.len(), "each is mended once");
        assert_eq!(plan.steps[6].option_lines, ["require_secure_transport=ON", "general_log=OFF"]);
        assert!(!plan.steps[6].needs_restart);
        assert_eq!(plan.steps[3].to_fill, ["<NEW_PASSWORD>"]);
    }

    #[test]
    fn who_is_connected_without_tls_is_waited_for() {
        let findings = [
            fail("SL2201", "db account 'web'@'10.%'"),
            fail("SL2201", "db account 'app'@'10.%'"),
            fail("SL2002", "db"),
            fail("SL2002", "db2"),
            fail("SL2101", "db sessions of 'web'@'10.0.0.1'"),
            finding("SL2101", "db2 sessions", Verdict::Unknown("performance_schema is OFF".into())),
        ];
        let plan = planned(&findings, &servers(false));
        assert_eq!(plan.by_hand, [4], "a client is changed where it is");
        let of = |sql: &str, server: &str| {
            let is_it = |one: &&FixStep| one.sql == [sql] && one.server.as_deref() == Some(server);
            plan.steps.iter().find(is_it).unwrap_or_else(|| panic!("no {sql}")).waits_for.join("; ")
        };
        let clear = "db sessions of 'web'@'10.0.0.1' use no TLS";
        assert_eq!(of("ALTER USER 'web'@'10.%' REQUIRE SSL", "db"), clear);
        assert_eq!(of("ALTER USER 'app'@'10.%' REQUIRE SSL", "db"), "");
        let require = "SET GLOBAL require_secure_transport = ON";
        assert_eq!(of(require, "db"), clear);
        assert_eq!(
            of(require, "db2"),
            "whether db2 sessions use TLS is not known: performance_schema is OFF"
        );
    }

    #[test]
    fn what_is_dropped_needs_nothing_else_and_what_is_said_of_a_server_that_did_not_answer_is_no_step() {
        let findings = [
            fail("SL2201", "db account ''@'localhost'"),
            fail("SL2205", "db account ''@'localhost'"),
            fail("SL4201", "other"),
        ];
        let plan = planned(&findings, &servers(true));
        assert_eq!(plan.by_hand, [2]);
        assert_eq!(plan.steps.len(), 1);
        assert_eq!(plan.steps[0].sql, ["DROP USER ''@'localhost'"]);
        assert_eq!(plan.steps[0].mends.len(), 2);
    }

    #[test]
    fn an_account_gets_one_new_password_and_a_new_host_behind_it() {
        let subject = "db account `o'b``r`@'%'";
        let findings = [fail("SL2204", subject), fail("SL2206", subject), fail("SL2207", subject)];
        let plan = planned(&findings, &servers(true));
        let statements: Vec<&str> = plan.steps.iter().flat_map(|one| &one.sql).map(String::as_str).collect();
        assert_eq!(
            statements,
            [
                "INSTALL PLUGIN IF NOT EXISTS ed25519 SONAME 'auth_ed25519'",
                "ALTER USER `o'b``r`@'%' IDENTIFIED VIA ed25519 USING PASSWORD(<NEW_PASSWORD>)",
                "RENAME USER `o'b``r`@'%' TO `o'b``r`@'<CLIENT_NETWORK>'",
            ]
        );
    }

    #[test]
    fn a_server_with_unusable_certificate_files_is_not_restarted() {
        let of = |verdict: Verdict| {
            let findings = [fail("SL2017", "db"), fail("SL2017", "db2"), finding("SL2025", "db", verdict)];
            let plan = planned(&findings, &servers(true));
            plan.steps.iter().map(|step| (step.waits_for.len(), step.decide.len())).collect::<Vec<_>>()
        };
        assert_eq!(of(Verdict::Fail("no clientAuth".into())), [(1, 0), (0, 0)]);
        assert_eq!(of(Verdict::Unknown("not read".into())), [(0, 1), (0, 0)]);
        assert_eq!(of(Verdict::Pass), [(0, 0), (0, 0)]);
    }

    #[test]
    fn accounts_of_a_replica_are_changed_on_its_source_behind_the_plugins() {
        use model::facts::cluster;
        use model::{Observations, Source, Value};
        let mut seen = Observations::default();
        let mut note = |subject: &str, fact: &model::Fact, value: Value| {
            seen.note(subject, fact, value, Source::Sql, 0, "test");
        };
        note("db", &cluster::SERVER_IDENTITY, Value::Text("db".into()));
        note("db replication", &cluster::CHANNEL_SOURCE, Value::Absent);
        note("db2", &cluster::SERVER_IDENTITY, Value::Text("db2".into()));
        note("db2 channel '' from db", &cluster::CHANNEL_SOURCE, Value::Text("db".into()));
        note("db2 channel '' from db", &cluster::CHANNEL_FILTERS, Value::Absent);
        let topology = Topology::of(&seen, &["db", "db2"]);
        let findings = [
            fail("SL2207", "db account 'web'@'%'"),
            fail("SL2206", "db account 'web'@'%'"),
            fail("SL2207", "db2 account 'web'@'%'"),
            fail("SL2206", "db2 account 'web'@'%'"),
            fail("SL2201", "db account 'app'@'%'"),
            fail("SL2201", "db2 account 'app'@'%'"),
            fail("SL2101", "db2 sessions of 'app'@'10.0.0.1'"),
            fail("SL2207", "db2 account 'own'@'%'"),
            finding("SL2207", "db account 'app'@'%'", Verdict::Pass),
            fail("SL2207", "db2 account 'app'@'%'"),
            fail("SL4201", "db2"),
        ];
        let plan = plan(&findings, &servers(true), &topology);
        let said: Vec<(&str, &str)> = plan
            .steps
            .iter()
            .filter(|step| !step.sql.is_empty())
            .map(|step| (step.server.as_deref().unwrap_or_default(), step.sql[0].as_str()))
            .collect();
        let install = "INSTALL PLUGIN IF NOT EXISTS ed25519 SONAME 'auth_ed25519'";
        assert_eq!(
            said,
            [
                ("db2", "SET GLOBAL general_log = OFF"),
                ("db2", install),
                ("db", install),
                ("db", "ALTER USER 'web'@'%' IDENTIFIED VIA ed25519 USING PASSWORD(<NEW_PASSWORD>)"),
                ("db", "ALTER USER 'app'@'%' REQUIRE SSL"),
                ("db", "RENAME USER 'web'@'%' TO 'web'@'<CLIENT_NETWORK>'"),
            ]
        );
        assert_eq!(plan.steps[3].mends.len(), 2, "one statement mends both");
        assert_eq!(plan.steps[4].waits_for, ["db2 sessions of 'app'@'10.0.0.1' use no TLS"]);
        assert_eq!(plan.by_hand, [6, 7, 9]);
        assert!(plan.remedy(7, &findings[7]).contains("sql_log_bin"), "an account of the replica alone");
        assert!(plan.remedy(9, &findings[9]).contains("differ"), "another one there");
        let unknown = super::plan(&findings, &servers(true), &Topology::default());
        let is_of_account = |step: &FixStep| step.mends.iter().any(|one| one.subject.contains(" account "));
        assert!(!unknown.steps.iter().any(is_of_account), "nothing is known of replication");
    }
}
