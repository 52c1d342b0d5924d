//! A new server becomes a member of an encrypted cluster: its key and certificate, its options as those of the members, its start.
//! Nothing of a member is changed, and none is stopped.

use model::{Change, LinkKind, NodeName, TlsProfile};
use openssl::sha::sha256;
use server::cluster_address::hosts as named_in;
use server::options::Setting;
use server::rights::Use;
use server::{
    Flavour, GaleraFacts, GaleraState, LiveSettings, NodeError, NodeView, ProviderOptions, TlsRules,
    WriteNode,
};

use super::steps::JoinParams;
use super::{OPTIONS, quorum};
use crate::by_hand;
use crate::draft::{NodeDraft, PlannedEdit};
use crate::edit::Edit;
use crate::files::{CA_FILE, CERT_FILE, KEY_FILE};
use crate::plan::{Builder, PlanContent, PlanError, refuse};
use crate::plan_parts::{client_trust, key_and_certificate, privileges, prove, rights};
use crate::rest::steps::{DataKeysParams, Placed, ProofParams};
use crate::rest::{self, JoinerKeys};
use crate::steps::EditParams;
use crate::world::World;

/// What members have in common that a new one must have too. Made of those that answer: that all do, the checks say.
pub struct Members {
    pub names: Vec<NodeName>,
    pub state_uuid: String,
    pub size: usize,
    pub cluster_name: String,
    pub sst_method: String,
    pub provider: String,
    pub version: String,
    /// All of them offer TLS to clients; and all of them require it.
    pub offer_tls: bool,
    pub require_tls: bool,
    /// Which TLS all of them let clients in with.
    pub profile: Option<TlsProfile>,
}

impl Members {
    /// `None`: no member answers.
    pub fn of(joiner: &NodeName, views: &quorum::Views) -> Option<Self> {
        let up: Vec<(&NodeName, &NodeView)> = views
            .iter()
            .filter(|(name, _)| name != joiner)
            .filter_map(|(name, view)| view.as_ref().ok().map(|view| (name, view)))
            .collect();
        let (_, first) = up.first()?;
        let profile = TlsRules::in_use(first).profile();
        let is_same = up.iter().all(|(_, view)| TlsRules::in_use(view).profile() == profile);
        let text = |name: &str| first.variable(name).unwrap_or("").to_owned();
        Some(Self {
            names: up.iter().map(|(name, _)| (*name).clone()).collect(),
            state_uuid: first.state_uuid().to_owned(),
            size: first.cluster_size(),
            cluster_name: text("wsrep_cluster_name"),
            sst_method: first.sst_method().to_owned(),
            provider: text("wsrep_provider"),
            version: first.version().to_owned(),
            offer_tls: up.iter().all(|(_, view)| view.offers_client_tls()),
            require_tls: up.iter().all(|(_, view)| view.requires_secure_transport()),
            profile: profile.filter(|_| is_same),
        })
    }

    /// Whether `view`'s server is one of them.
    pub fn have(&self, view: &NodeView) -> bool {
        // One that is Primary alone has begun a cluster of its own, whatever its history.
        view.is_galera()
            && view.is_primary()
            && view.state_uuid() == self.state_uuid
            && view.cluster_size() > 1
    }

    /// What `view`'s server is instead, if it is Primary and none of them: it has begun a cluster of its own.
    pub fn runs_alone(&self, view: &NodeView) -> Option<String> {
        if !view.is_galera() || !view.is_primary() || self.have(view) {
            return None;
        }
        Some(if view.state_uuid() == self.state_uuid {
            format!(
                "it is Primary by itself, in a cluster of its own, and has the state UUID of the members ({}): its data is a copy of theirs, and \
                 what it has written since is not theirs",
                self.state_uuid
            )
        } else {
            format!(
                "it is Primary by itself, in a cluster of its own with the state UUID {}, the members have {}",
                view.state_uuid(),
                self.state_uuid
            )
        })
    }
}

/// Whether the joiner is a member already, and as it should be.
pub fn is_member(joiner: &NodeName, views: &quorum::Views) -> bool {
    let view = views.iter().find(|(name, _)| name == joiner).and_then(|(_, view)| view.as_ref().ok());
    let members = Members::of(joiner, views);
    let (Some(view), Some(members)) = (view, members) else { return false };
    members.have(view) && view.is_synced() && view.galera_state() == GaleraState::Strict
}

/// The lines that its option file needs: those of TLS, and of Galera those that it lacks.
pub fn edits(
    world: &mut World<'_>,
    joiner: &NodeName,
    members: &Members,
    draft: &NodeDraft,
) -> Result<Vec<Edit>, PlanError> {
    let addresses: Vec<String> = world
        .nodes
        .iter()
        .filter(|node| members.names.contains(node.name()))
        .map(|node| node.spec().address.clone())
        .collect();
    let effective = world.node(joiner).map_err(refuse)?.effective().map_err(refuse)?;
    let mut edits = Vec::new();
    for (key, value) in [
        ("wsrep_cluster_name", members.cluster_name.clone()),
        ("wsrep_cluster_address", format!("gcomm://{}", addresses.join(","))),
        ("wsrep_sst_method", members.sst_method.clone()),
    ] {
        if effective.effective(key).is_none() {
            edits.push(draft.set(key, value));
        }
    }
    let setting = effective.in_option_file(OPTIONS);
    let before = setting.and_then(|setting| setting.value.as_deref()).unwrap_or("");
    let mut options = ProviderOptions::parse(before);
    for (key, file) in
        [("socket.ssl_key", KEY_FILE), ("socket.ssl_cert", CERT_FILE), ("socket.ssl_ca", CA_FILE)]
    {
        options.set(key, &draft.path(file));
    }
    options.set("socket.ssl", "YES");
    options.remove("socket.dynamic");
    if options != ProviderOptions::parse(before) {
        let key = setting.map_or(OPTIONS, |setting| setting.key_as_written.as_str());
        edits.push(draft.set(key, options.to_string()));
    }
    if members.offer_tls {
        edits.extend(draft.offer_tls());
        let rules = members.profile.map(|profile| TlsRules::of(profile, Flavour::MariaDb));
        let rules = rules.iter().flat_map(TlsRules::iter);
        edits.extend(rules.map(|(option, value)| draft.set(option, value.to_owned())));
    }
    if members.require_tls {
        edits.push(draft.set("require_secure_transport", "ON".into()));
    }
    let set = |key: &str, value: String| Edit::Set { group: "sst".into(), key: key.into(), value };
    edits.push(set("tkey", draft.path(KEY_FILE)));
    edits.push(set("tcert", draft.path(CERT_FILE)));
    edits.push(set("tca", draft.path(CA_FILE)));
    if members.sst_method == "mariabackup" {
        // Without a mode mariabackup's script sends cleartext (seen on 10.11.19).
        edits.push(set("ssl-mode", "VERIFY_CA".into()));
    }
    Ok(edits)
}

/// As it will be changed; it need not answer.
pub fn draft(world: &mut World<'_>, joiner: &NodeName) -> Result<NodeDraft, PlanError> {
    anchored(world, joiner).map(|(draft, _)| draft)
}

fn anchored(world: &mut World<'_>, joiner: &NodeName) -> Result<(NodeDraft, Setting), PlanError> {
    let anchors = world.topology.anchors();
    NodeDraft::beside(world, joiner, NodeView::default(), anchors)
}

pub fn plan(world: &mut World<'_>, change: &Change, joiner: &NodeName) -> Result<PlanContent, PlanError> {
    let views = world.views();
    let members = Members::of(joiner, &views).ok_or_else(|| {
        refuse(format!(
            "no member answers, so there is nothing that {joiner} could join\n  next: sealion status"
        ))
    })?;
    if is_member(joiner, &views) {
        return Ok(PlanContent {
            steps: vec![],
            state_hash: model::hex(&sha256(format!("{change} {}", members.state_uuid).as_bytes())),
            impact: vec![format!("{joiner} is a member already; nothing to do")],
            rights: vec![],
        });
    }
    let (mut draft, anchor) = anchored(world, joiner)?;
    let mut edits = edits(world, joiner, &members, &draft)?;
    let keys = rest::of_joiner(world, joiner, &members.names, &draft, &anchor)?;
    let state_hash = state_hash(change, &views, &draft, &members, keys.as_ref());
    let mut builder = Builder::default();
    if let Some(keys) = &keys {
        data_keys(&mut builder, &draft, keys);
        edits.extend(keys.edits.iter().cloned());
    }
    key_and_certificate(world, "J1", &draft, &mut builder);
    if members.offer_tls {
        client_trust("J1t", &draft, &mut builder);
    }
    let PlannedEdit { edit, diff, needs } = draft.edit(edits)?;
    let no_op = edit.is_no_op();
    let step = builder.add(
        format!("J2.{joiner}"),
        "edit",
        format!(
            "{joiner}: options of TLS{} as on the members, in {}",
            if keys.is_some() { " and of data at rest" } else { "" },
            draft.file.display()
        ),
        vec![joiner.clone()],
        EditParams { edit },
    );
    step.shell = draft.by_hand(&diff, vec![]);
    (step.diff, step.no_op, step.nature.needs) = (diff, no_op, needs);
    let step = builder.add(
        format!("J3.{joiner}"),
        super::JOIN,
        format!("start {joiner}; it receives the data over TLS and becomes Synced"),
        vec![joiner.clone()],
        JoinParams { offers_tls: members.offer_tls },
    );
    step.restarts_server = true;
    let wait = format!(
        "{} # again, until wsrep_local_state is 4",
        by_hand::sql(Flavour::MariaDb, super::plan::WAIT_SQL)
    );
    step.shell = draft.by_hand(&[], vec![by_hand::words(&draft.start), wait]);
    let mut kinds = vec![LinkKind::Galera];
    if members.require_tls {
        kinds.push(LinkKind::Client);
    }
    prove(&mut builder, "J4", kinds, &super::plan::ports(world));
    if let Some(JoinerKeys { nouns, entry, key_dir, .. }) = keys.filter(|keys| !keys.nouns.is_empty()) {
        let keys = Some(Placed { entry, dir: key_dir });
        let params =
            ProofParams { encrypt: true, nouns, keeps_logs: true, keys, settings: LiveSettings::default() };
        let title = format!("all files of {joiner} are read: what do they hold?");
        builder.add(format!("J5.{joiner}"), "rest-proof", title, vec![joiner.clone()], params);
    }
    let impact = impact(world, joiner, &members);
    let rights = rights(&builder.steps, &privileges(change, Use::ChangeGalera, Flavour::MariaDb));
    Ok(PlanContent { steps: builder.steps, state_hash, impact, rights })
}

/// What it receives is encrypted: it has the keys before it is started.
fn data_keys(builder: &mut Builder, draft: &NodeDraft, keys: &JoinerKeys) {
    let name = draft.name.clone();
    let step = builder.add(
        format!("J1k.{name}"),
        "data-keys",
        format!("{name} gets the keys of the members' data out of the escrow: {}", keys.key_file),
        vec![name],
        DataKeysParams { entry: keys.entry.clone(), dir: keys.key_dir.clone(), removes: false },
    );
    let dir = std::path::Path::new(&keys.key_file).parent().unwrap_or(std::path::Path::new("/"));
    step.nature.needs = draft.key_file_needs(&[dir]);
    step.shell = draft
        .by_hand(&[], vec![format!("# the key file of a member, and what opens it, into {}", dir.display())]);
}

fn state_hash(
    change: &Change,
    views: &quorum::Views,
    draft: &NodeDraft,
    members: &Members,
    keys: Option<&JoinerKeys>,
) -> String {
    let mut text = format!(
        "{change}\n{} {} {}\n",
        draft.file.display(),
        crate::edit::hash(&draft.bytes),
        members.state_uuid
    );
    if let Some(keys) = keys {
        text += &format!("{} {} {:?}\n", keys.entry, keys.key_file, keys.nouns);
    }
    for (name, view) in views {
        text += &match view {
            Ok(view) => format!("{name} {} {}\n", view.galera_state().letter(), view.version()),
            Err(NodeError::Down { .. }) => format!("{name} down\n"),
            Err(_) => format!("{name} unknown\n"),
        };
    }
    model::hex(&sha256(text.as_bytes()))
}

fn impact(world: &mut World<'_>, joiner: &NodeName, members: &Members) -> Vec<String> {
    let count = members.names.len();
    let mut impact = vec![
        format!(
            "{joiner} becomes a member of the cluster of {}; no member is changed, stopped or restarted",
            model::text::counted(count, "node", "nodes")
        ),
        format!(
            "what {joiner} holds now is replaced by the data of the cluster (SST by {}), unless it has most of it already (IST)",
            members.sst_method
        ),
    ];
    impact.push(match (members.sst_method.starts_with("rsync"), count) {
        (true, 1) => "the only member is the donor: it accepts no writes while rsync copies".into(),
        (true, _) => {
            "one member is the donor: it accepts no writes while rsync copies, and is Desynced".into()
        }
        (false, _) => "one member is the donor: it is Desynced, and busier, while it sends".into(),
    });
    if count == 2 {
        impact.push("of two members one serves undisturbed meanwhile".into());
    }
    impact.push(format!(
        "an undo stops {joiner}, and takes back its options, key and certificate; the data that it received stays there"
    ));
    impact.push("test rows (canaries) are written to the schema sealion_canary, and removed again".into());
    impact.extend(super::preflight::join::cannot_tell(world, joiner, members));
    impact
}

/// What a person should write into the option files of the members: a member that starts asks those that its own file names, and finds
/// the others by them, so this waits for a quiet hour.
pub fn notes_of_join(nodes: &mut [Box<dyn WriteNode + '_>], joiner: &NodeName) -> Vec<String> {
    let Some(own) = nodes.iter().find(|node| node.name() == joiner).map(|node| node.spec().clone()) else {
        return vec![];
    };
    let own: Vec<String> = [vec![own.address.clone(), own.name.to_string()], own.names].concat();
    let all: Vec<String> = nodes.iter().map(|node| node.spec().address.clone()).collect();
    let (mut without, mut not_read) = (Vec::new(), Vec::new());
    for node in nodes.iter_mut().filter(|node| node.name() != joiner) {
        let name = node.name().to_string();
        match node.effective() {
            // Beside the cluster, in an estate.
            Ok(effective) if effective.effective("wsrep_provider").is_none() => {}
            Ok(effective) => {
                let address = effective.effective("wsrep_cluster_address").and_then(|one| one.value.clone());
                let names_it = named_in(address.as_deref().unwrap_or_default())
                    .iter()
                    .any(|host| own.iter().any(|one| one == host));
                if !names_it {
                    without.push(name);
                }
            }
            Err(error) => not_read.push(error.first_line()),
        }
    }
    let mut notes = Vec::new();
    if !without.is_empty() {
        notes.push(format!(
            "the option files of {} do not name {joiner}: they need no restart for that, but should say, for their next start: \
             wsrep_cluster_address=gcomm://{}",
            without.join(", "),
            all.join(",")
        ));
    }
    if !not_read.is_empty() {
        notes.push(format!("whether these name {joiner} cannot be determined: {}", not_read.join("; ")));
    }
    notes
}
