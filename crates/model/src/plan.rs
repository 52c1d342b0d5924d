//! What the user wants (a [`Change`]) and the ordered [`Step`]s that get there from the state as it is now.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::profile::TlsProfile;
use crate::target::NodeName;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    Enable,
    Disable,
    Rotate,
    /// A new server becomes a member of an encrypted cluster.
    Join,
    /// From one server to another: of two servers, not of a cluster.
    Migrate,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Rotate => "rotate",
            Self::Join => "join",
            Self::Migrate => "migrate",
        })
    }
}

/// What a verb can be applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noun {
    Galera,
    Sst,
    /// Channels from a source to its replicas.
    Replication,
    Clients,
    /// That clients must use TLS, without what offers it to them: part of [`Noun::Clients`].
    RequireTls,
    /// That accounts must be used over TLS, one by one.
    Accounts,
    /// The CA that signs the certificates of the nodes: it can be rotated only.
    Ca,
    /// What holds rows on the disk: tablespaces, undo, redo, temporary files, Aria tables.
    Tables,
    /// Binary logs and relay logs on the disk.
    Logs,
    /// A key of a LUKS volume of this machine, which is no node: it has a command of its own.
    Disk,
}

impl Noun {
    /// What a change of a Galera cluster without nouns is about.
    pub const ALL: [Self; 3] = [Self::Galera, Self::Sst, Self::Clients];
    /// What a change of a source and its replicas without nouns is about.
    pub const OF_REPLICAS: [Self; 2] = [Self::Replication, Self::Clients];
    /// What is about data at rest.
    pub const AT_REST: [Self; 2] = [Self::Tables, Self::Logs];
    const KNOWN: [Self; 9] = [
        Self::Galera,
        Self::Sst,
        Self::Replication,
        Self::Clients,
        Self::RequireTls,
        Self::Accounts,
        Self::Ca,
        Self::Tables,
        Self::Logs,
    ];
}

impl fmt::Display for Noun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Galera => "galera",
            Self::Sst => "sst",
            Self::Replication => "replication",
            Self::Clients => "clients",
            Self::RequireTls => "require-tls",
            Self::Accounts => "accounts",
            Self::Ca => "ca",
            Self::Tables => "tables",
            Self::Logs => "logs",
            Self::Disk => "disk",
        })
    }
}

impl std::str::FromStr for Noun {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        // As the option is called: encrypt_binlog.
        let word = if word == "binlog" { "logs" } else { word };
        Self::KNOWN.into_iter().find(|noun| noun.to_string() == word).ok_or_else(|| {
            let known: Vec<String> = Self::KNOWN.iter().map(ToString::to_string).collect();
            let meant = crate::text::meant(word, known.iter().map(String::as_str));
            format!(
                "\"{word}\" is not something sealion can change; it knows galera, sst, replication, clients, require-tls, accounts, ca, tables and logs{}",
                meant.map_or_else(String::new, |one| format!("; did you mean {one}?"))
            )
        })
    }
}

/// `enable galera,sst,clients`, or `enable` where the nouns follow from the nodes. Nouns are sorted and unique, so the same wish is the same value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub verb: Verb,
    pub nouns: Vec<Noun>,
    /// The one node that it is about. Not written where it is about all, so that such a change is the same bytes as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeName>,
    /// Which TLS clients are to use. None: that is left as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<TlsProfile>,
}

impl Change {
    pub fn new(verb: Verb, nouns: impl IntoIterator<Item = Noun>) -> Self {
        let mut nouns: Vec<Noun> = nouns.into_iter().collect();
        nouns.sort();
        nouns.dedup();
        Self { verb, nouns, node: None, profile: None }
    }
    #[must_use]
    pub fn with_profile(self, profile: Option<TlsProfile>) -> Self {
        Self { profile, ..self }
    }
    /// `node` becomes a member.
    pub fn join(node: NodeName) -> Self {
        Self { node: Some(node), ..Self::new(Verb::Join, []) }
    }
    /// The node that is no member yet, where there is one.
    pub fn joiner(&self) -> Option<&NodeName> {
        self.node.as_ref().filter(|_| self.verb == Verb::Join)
    }
    pub fn has(&self, noun: Noun) -> bool {
        self.nouns.contains(&noun)
    }
    /// Whether some of it is about data at rest.
    pub fn is_at_rest(&self) -> bool {
        Noun::AT_REST.iter().any(|noun| self.has(*noun))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nouns: Vec<String> = self.nouns.iter().map(ToString::to_string).collect();
        write!(f, "{}", self.verb)?;
        if !nouns.is_empty() {
            write!(f, " {}", nouns.join(","))?;
        }
        self.node.as_ref().map_or(Ok(()), |node| write!(f, " {node}"))?;
        self.profile.map_or(Ok(()), |profile| write!(f, " --profile {profile}"))
    }
}

/// `E2.n1`: the letter of the flow, the number of the round, the node if the step is of one node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub String);

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What a step needs on a machine. Asked before the first step of a plan is begun, and again before the step itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "need", rename_all = "kebab-case")]
pub enum Need {
    /// `bytes` more on the file system of `dir`, on that node; `None`: on the operator's own machine.
    Space { node: Option<NodeName>, dir: PathBuf, bytes: u64 },
}

/// What a step is by its nature, beside what it does. Most are reversible by themselves and need nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepNature {
    /// Once begun, nothing takes it back. The text says why, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<String>,
    /// It has no undo of its own: that step's undo takes it back, too, and is run for it even where that step itself was so before
    /// or was never begun. So that step's check on the way back says "done" only when this one is gone as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<StepId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Whether its undo restarts a server, where that is not as it is forward.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_restarts: Option<bool>,
}

impl StepNature {
    /// Whether there is nothing to say of it.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// One step: pre-check, action, post-check and undo are looked up by `kind` in the provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub id: StepId,
    /// The provider's name for it: `write-files`, `round-dynamic`, …
    pub kind: String,
    /// One line for people, says what changes where.
    pub title: String,
    /// Empty when the step is of the whole cluster.
    pub nodes: Vec<NodeName>,
    pub restarts_server: bool,
    /// Nothing to do here now; shown all the same.
    pub no_op: bool,
    /// A gate or a proof: it changes nothing by its nature.
    #[serde(default)]
    pub only_looks: bool,
    /// Not written where there is nothing to say, so that such a step is the same bytes as before there were natures.
    #[serde(default, skip_serializing_if = "StepNature::is_plain")]
    pub nature: StepNature,
    /// The part of an estate in whose world it is done ([`PlanPart::topology`]); none: all that the plan is for. Not written where there is
    /// none, so that a plan without parts is the same bytes as before there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// What a person would type to do the same by hand.
    pub shell: Vec<String>,
    pub sql: Vec<String>,
    /// Unified diff of each file it would write.
    pub diff: Vec<String>,
    /// The provider's own parameters. Never a secret: plans are printed and kept.
    pub params: serde_json::Value,
}

impl Step {
    /// Whether it restarts a server; `going_back`: as its undo.
    pub fn restarts(&self, going_back: bool) -> bool {
        let undo_restarts = self.nature.undo_restarts.filter(|_| going_back);
        !self.no_op && undo_restarts.unwrap_or(self.restarts_server)
    }
}

/// Some of the nodes of a plan, which replicate otherwise than its others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanPart {
    /// How these replicate. Each of a plan's parts has another one.
    pub topology: String,
    pub nodes: Vec<NodeName>,
}

/// The ordered steps of a change for this cluster as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub id: String,
    /// Its place among the changes of the cluster, given when it begins: higher than all before, whatever the clocks say. 0: not
    /// begun, or begun by a version that knew no such number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sequence: u64,
    pub change: Change,
    pub cluster: String,
    /// How its nodes replicate: which provider made the plan.
    #[serde(default = "galera", skip_serializing_if = "is_galera")]
    pub topology: String,
    /// Who replicates how, where not all do so in the same way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PlanPart>,
    pub made_unix_ms: u64,
    pub sealion_version: String,
    /// SHA-256 over file bytes, effective options, membership and versions, and `inventory`; not over queues or GTIDs.
    pub state_hash: String,
    /// Of each member and proxy, hashes of what the inventory says of it, by its keys. Empty in plans of before.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inventory: BTreeMap<String, BTreeMap<String, String>>,
    pub impact: Vec<String>,
    pub rights: Vec<String>,
    pub steps: Vec<Step>,
}

/// Of plans that were made before there was another.
fn galera() -> String {
    "galera".into()
}

fn is_galera(topology: &str) -> bool {
    topology == "galera"
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Plan {
    /// The first 12 characters, what `--yes` must name.
    pub fn short_hash(&self) -> &str {
        self.state_hash.get(..12).unwrap_or(&self.state_hash)
    }
    /// Whether any step would alter something: gates and proofs only look.
    pub fn changes_anything(&self) -> bool {
        self.steps.iter().any(|step| !step.no_op && !step.only_looks)
    }
    /// Steps that it would do and that nothing takes back.
    pub fn irreversible(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| !step.no_op && step.nature.irreversible.is_some())
    }
    pub fn restarts(&self) -> usize {
        self.steps.iter().filter(|step| step.restarts(false)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"{"id":"E1.n1","kind":"edit","title":"t","nodes":["n1"],"restarts_server":false,"no_op":false,"only_looks":false,"shell":[],"sql":[],"diff":[],"params":{}}"#;

    #[test]
    fn a_step_of_an_older_plan_is_read_and_written_as_it_was() {
        let step: Step = serde_json::from_str(OLD).expect("a step");
        assert!(step.nature.is_plain() && step.part.is_none());
        assert_eq!(serde_json::to_string(&step).expect("plain fields"), OLD);
    }

    #[test]
    fn a_change_without_a_profile_is_written_as_before_there_were_any() {
        let bare = Change::new(Verb::Enable, [Noun::Clients]);
        let text = r#"{"verb":"enable","nouns":["clients"]}"#;
        assert_eq!(serde_json::to_string(&bare).expect("plain fields"), text);
        let modern = bare.with_profile(Some(TlsProfile::Modern));
        let text = serde_json::to_string(&modern).expect("plain fields");
        assert_eq!(serde_json::from_str::<Change>(&text).expect("a change"), modern);
        assert_eq!(modern.to_string(), "enable clients --profile modern");
    }

    #[test]
    fn a_nature_says_only_what_there_is_to_say() {
        let dir = "/etc/mysql/ssl".into();
        let needs = vec![Need::Space { node: Some("n1".into()), dir, bytes: 9 }];
        let nature = StepNature { needs, ..StepNature::default() };
        let text = serde_json::to_string(&nature).expect("plain fields");
        assert_eq!(text, r#"{"needs":[{"need":"space","node":"n1","dir":"/etc/mysql/ssl","bytes":9}]}"#);
        assert_eq!(serde_json::from_str::<StepNature>(&text).expect("a nature"), nature);
    }
}
