//! From a wish and the servers as they are now to ordered steps.

use std::collections::{BTreeMap, BTreeSet};

use model::{Change, LinkKind, NodeName, Noun, Step, TlsProfile, Verb};
use openssl::sha::sha256;
use server::replication::{RELOAD_MARIADB, RELOAD_MYSQL};
use server::rights::Use;
use server::{Channel, ChannelTls, Threads, TlsFiles, WriteNode};

use super::preflight::is_source;
use super::steps::channel::key_of_source;
use super::steps::live_files::in_use;
use super::steps::{ChannelParams, LiveFilesParams, RestartParams};
use crate::accounts::{self, AccountsOf};
use crate::by_hand;
use crate::draft::{MemberDraft, NodeDraft, PlannedEdit};
use crate::files::{CA_FILE, CERT_FILE, KEY_FILE};
use crate::plan::{Builder, PlanContent, PlanError, refuse};
use crate::plan_parts::{
    ALREADY_DONE, NO_RESTART, cannot_offer_none, cleartext_after, client_trust, client_trust_gate,
    clients_gate, clients_gate_back, key_files, new_certificate, nothing_to_rotate, only_rotated,
    profile_gate, profile_of_clients, prove, require, requires_tls, retire, rights,
};
use crate::rollover;
use crate::tls_rules::{self, RulesChange};
use crate::world::World;

/// A server, with the channels of which it is the replica.
struct Draft {
    node: NodeDraft,
    channels: Vec<Channel>,
    /// Servers of the inventory from which it replicates, in other parts too.
    sources: Vec<NodeName>,
    /// Another server of the inventory replicates from it.
    is_source: bool,
}

fn drafts(world: &mut World<'_>) -> Result<Vec<Draft>, PlanError> {
    let (names, mut channels_of, sources) = who_replicates(world)?;
    let is_source: BTreeSet<usize> = sources.iter().flatten().copied().collect();
    let mut drafts = Vec::new();
    let of_others = names.len() - world.nodes.len();
    for at in order(&sources).into_iter().filter(|at| *at >= of_others) {
        let Some(name) = names.get(at) else { continue };
        let (node, _) = NodeDraft::of(world, name)?;
        let named = |source: &usize| names.get(*source).cloned();
        drafts.push(Draft {
            node,
            channels: channels_of.get_mut(at).map(std::mem::take).unwrap_or_default(),
            sources: sources.get(at).into_iter().flatten().filter_map(named).collect(),
            is_source: is_source.contains(&at),
        });
    }
    Ok(drafts)
}

/// All servers, those of other parts first; the channels of which each is the replica; for each, the places of those from which it
/// replicates.
type Replication = (Vec<NodeName>, Vec<Vec<Channel>>, Vec<Vec<usize>>);

fn who_replicates(world: &mut World<'_>) -> Result<Replication, PlanError> {
    let mut channels_of = Vec::new();
    for node in world.others.iter_mut().chain(&mut world.nodes) {
        channels_of.push(node.channels().map_err(refuse)?);
    }
    let mut ids = Vec::new();
    for node in world.others.iter_mut().chain(&mut world.nodes) {
        // One that does not answer is known by its names only.
        ids.push(node.view().ok().and_then(|view| view.variable("server_id")?.parse::<u64>().ok()));
    }
    let nodes: Vec<&dyn WriteNode> =
        world.others.iter().chain(&world.nodes).map(|node| &**node as &dyn WriteNode).collect();
    let sources = sources(&nodes, &ids, &channels_of);
    Ok((nodes.iter().map(|node| node.name().clone()).collect(), channels_of, sources))
}

/// All servers, replicas before their sources.
///
/// # Errors
/// A server does not tell its channels.
pub fn replicas_first(world: &mut World<'_>) -> Result<Vec<NodeName>, PlanError> {
    let (names, _, sources) = who_replicates(world)?;
    Ok(order(&sources).into_iter().filter_map(|at| names.get(at).cloned()).collect())
}

/// Those that get what is written on one of `roots`, also by way of others, without the roots themselves.
///
/// # Errors
/// A server does not tell its channels.
pub fn below_all(world: &mut World<'_>, roots: &[NodeName]) -> Result<Vec<NodeName>, PlanError> {
    let (names, _, sources) = who_replicates(world)?;
    let place = |root: &NodeName| names.iter().position(|name| name == root);
    let roots: BTreeSet<usize> = roots.iter().filter_map(place).collect();
    let (mut known, mut open) = (roots.clone(), roots.iter().copied().collect::<Vec<_>>());
    let mut below = Vec::new();
    while let Some(source) = open.pop() {
        let replicas = sources.iter().enumerate().filter(|(_, of)| of.contains(&source)).map(|(at, _)| at);
        for replica in replicas.collect::<Vec<_>>() {
            if known.insert(replica) {
                open.push(replica);
                below.extend(names.get(replica).cloned());
            }
        }
    }
    Ok(below)
}

/// For each server, the places of those from which it replicates. `ids`: the server_id of each.
fn sources(nodes: &[&dyn WriteNode], ids: &[Option<u64>], channels_of: &[Vec<Channel>]) -> Vec<Vec<usize>> {
    // By each of their names: a thousand channels are not compared with a thousand servers.
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        let spec = node.spec();
        for name in std::iter::once(&spec.address).chain(&spec.names) {
            named.entry(name).or_default().push(at);
        }
    }
    let of_channel = |channel: &Channel| {
        let so_named = named.get(channel.source_host.as_str()).into_iter().flatten().copied();
        let fits = |at: &usize| nodes.get(*at).is_some_and(|node| is_source(node.spec(), channel));
        let named: BTreeSet<usize> = so_named.filter(fits).collect();
        // By another name than the inventory's: all that have its server_id may be it, as nodes of Galera often do.
        let may_be = |at: &usize| {
            channel.source_server_id.is_some() && ids.get(*at) == Some(&channel.source_server_id)
        };
        if named.is_empty() { (0..ids.len()).filter(may_be).collect() } else { named }
    };
    channels_of.iter().map(|channels| channels.iter().flat_map(of_channel).collect()).collect()
}

/// Replicas before their sources, also where a source is a replica itself: what goes wrong with one of them is met before its source
/// is touched. Servers that replicate from each other come in the order of the inventory.
fn order(sources: &[Vec<usize>]) -> Vec<usize> {
    let mut replicas = vec![Vec::new(); sources.len()];
    for (at, of) in sources.iter().enumerate() {
        for source in of {
            if let Some(replicas) = replicas.get_mut(*source) {
                replicas.push(at);
            }
        }
    }
    let mut left: Vec<usize> = replicas.iter().map(Vec::len).collect();
    let mut waiting: BTreeSet<usize> = (0..sources.len()).collect();
    let mut free: BTreeSet<usize> = waiting.iter().copied().filter(|at| left.get(*at) == Some(&0)).collect();
    let mut order = Vec::new();
    while !waiting.is_empty() {
        if free.is_empty() {
            // All that are left have a replica that is left: there is a ring. One with nothing below it but itself comes first, as a whole.
            let rings = waiting.iter().map(|at| (below(*at, &replicas, &waiting), *at));
            let lowest = rings.min_by_key(|(below, at)| (below.len(), !below.contains(at)));
            free.extend(lowest.into_iter().flat_map(|(below, at)| below.into_iter().chain([at])));
        }
        let next = std::mem::take(&mut free);
        waiting.retain(|at| !next.contains(at));
        for at in next {
            order.push(at);
            for source in sources.get(at).into_iter().flatten() {
                let Some(left) = left.get_mut(*source) else { continue };
                *left = left.saturating_sub(1);
                if *left == 0 && waiting.contains(source) {
                    free.insert(*source);
                }
            }
        }
    }
    order
}

/// Which of those that wait get what this one writes.
fn below(at: usize, replicas: &[Vec<usize>], waiting: &BTreeSet<usize>) -> BTreeSet<usize> {
    let (mut known, mut open) = (BTreeSet::new(), vec![at]);
    while let Some(one) = open.pop() {
        let more = replicas.get(one).into_iter().flatten().filter(|one| waiting.contains(one));
        open.extend(more.copied().filter(|one| known.insert(*one)));
    }
    known
}

/// SHA-256 over what the plan was made for. Positions are left out: they change by themselves.
fn state_hash(change: &Change, drafts: &[Draft], accounts: &[AccountsOf], choices: &str) -> String {
    let mut text = format!("{change}\n");
    for Draft { node, channels, .. } in drafts {
        text += &format!(
            "{} {} {} {} {} {:?} {:?}\n",
            node.name,
            node.file.display(),
            crate::edit::hash(&node.bytes),
            node.view.version(),
            node.view.variable("server_id").unwrap_or(""),
            in_use(&node.view),
            node.rules
        );
        text += &node.clients.state();
        for channel in channels {
            text += &format!("  {channel} {} {:?}\n", channel.user, channel.tls);
        }
    }
    text.extend(accounts.iter().map(AccountsOf::state));
    text += choices;
    model::hex(&sha256(text.as_bytes()))
}

/// On servers that are nobody's replica; the others get them from there.
fn accounts_of(
    world: &mut World<'_>,
    change: &Change,
    drafts: &[Draft],
) -> Result<Vec<AccountsOf>, PlanError> {
    if !change.has(Noun::Accounts) {
        return Ok(vec![]);
    }
    let mut replicas: BTreeMap<&NodeName, Vec<&NodeName>> = BTreeMap::new();
    for draft in drafts {
        for source in &draft.sources {
            replicas.entry(source).or_default().push(&draft.node.name);
        }
    }
    let mut all: Vec<AccountsOf> = Vec::new();
    let mut reached = BTreeSet::new();
    for root in drafts.iter().filter(|draft| draft.channels.is_empty()) {
        let root = &root.node.name;
        // Also what replicates from its replicas.
        let mut below: Vec<&NodeName> = vec![root];
        let mut known = BTreeSet::from([root]);
        let mut at = 0;
        while let Some(source) = below.get(at) {
            let more = replicas.get(source).into_iter().flatten().copied();
            let more: Vec<&NodeName> = more.filter(|replica| known.insert(replica)).collect();
            below.extend(more);
            at += 1;
        }
        reached.extend(known);
        let followers = below.into_iter().skip(1).cloned().collect();
        all.push(AccountsOf::ask(world, root.clone(), followers)?);
    }
    // Those of another part write theirs there, and follow them to here.
    let elsewhere: Vec<NodeName> = world.others.iter().map(|node| node.name().clone()).collect();
    let elsewhere = below_all(world, &elsewhere)?;
    let is_reached = |name: &NodeName| reached.contains(name) || elsewhere.contains(name);
    if let Some(draft) = drafts.iter().find(|draft| !is_reached(&draft.node.name)) {
        return Err(refuse(format!(
            "{} is a replica of a server that is not in the inventory\n  why:  its accounts are written there; a write of its own would part \
             it from its source\n  next: add its source to the inventory",
            draft.node.name
        )));
    }
    Ok(all)
}

pub fn plan(world: &mut World<'_>, change: &Change) -> Result<PlanContent, PlanError> {
    let mut drafts = drafts(world)?;
    let accounts = accounts_of(world, change, &drafts)?;
    let state_hash = state_hash(change, &drafts, &accounts, &accounts::choices(world));
    let shut_out = accounts::shut_out(world, change, drafts.iter().map(|draft| draft.node.name.clone()))?;
    let not_known = shut_out_replicas(world, change, &drafts)?;
    sources_elsewhere_serve_ours(world, change, &drafts)?;
    let mut builder = Builder::default();
    only_rotated(change)?;
    profile_of_clients(change)?;
    match change.verb {
        Verb::Enable => enable(world, change, &mut drafts, &accounts, &mut builder)?,
        Verb::Join => {
            return Err(refuse(
                "a server joins a Galera cluster, and these nodes replicate by channels\n  next: sealion plan enable replication,clients",
            ));
        }
        Verb::Migrate => return Err(refuse("a migration is of two servers: sealion migrate plan")),
        Verb::Disable => disable(world, change, &mut drafts, &accounts, &mut builder)?,
        Verb::Rotate if change.has(Noun::RequireTls) || change.has(Noun::Accounts) => {
            return Err(nothing_to_rotate());
        }
        Verb::Rotate => rotate(world, change, &drafts, &mut builder)?,
    }
    let steps = builder.steps;
    let mut impact = impact(&steps, &drafts);
    impact.extend(accounts::impact(world, change, &accounts));
    impact.extend(shut_out);
    impact.extend(not_known);
    impact.extend(rollover::impact(world, change));
    impact.extend(tls_rules::told(change.profile));
    if change.verb == Verb::Disable {
        impact.extend(cleartext_after(change));
    }
    let rights = rights(&steps, &privileges(change, &drafts));
    if rights.is_empty() {
        impact = vec![ALREADY_DONE.into()];
    }
    Ok(PlanContent { steps, state_hash, impact, rights })
}

fn privileges(change: &Change, drafts: &[Draft]) -> String {
    let of = |flavour| {
        let all = crate::plan_parts::privileges(change, Use::ChangeReplication, flavour);
        format!("{all} ({flavour})")
    };
    let all: BTreeSet<String> =
        drafts.iter().map(|draft| of(draft.node.view.capabilities().flavour)).collect();
    all.into_iter().collect::<Vec<_>>().join("; ")
}

fn impact(steps: &[Step], drafts: &[Draft]) -> Vec<String> {
    let at_work = || steps.iter().filter(|step| !step.no_op);
    let restarted: BTreeSet<&NodeName> =
        at_work().filter(|step| step.restarts_server).flat_map(|step| &step.nodes).collect();
    let mut impact = Vec::new();
    for draft in drafts.iter().filter(|draft| restarted.contains(&draft.node.name)) {
        let name = &draft.node.name;
        impact.push(if draft.is_source {
            format!(
                "{name} is a source and is restarted: nothing can be written there for some 3 to 15 s; what is open then is rolled back, and \
                 its clients get an error"
            )
        } else {
            format!("{name} is restarted: it serves nothing for some 3 to 15 s, and catches up then")
        });
    }
    if restarted.is_empty() {
        impact.push(NO_RESTART.into());
    }
    if at_work().any(|step| step.kind == "channel") {
        impact
            .push("each channel connects anew, from where its applier is: replicas lag for a moment".into());
    }
    if at_work().any(|step| step.kind == "prove") {
        impact.push(
            "test rows (canaries) are written to the schema sealion_canary of sources, and removed again; replicas get a SELECT".into(),
        );
    }
    impact
}

fn enable(
    world: &World<'_>,
    change: &Change,
    drafts: &mut [Draft],
    accounts: &[AccountsOf],
    builder: &mut Builder,
) -> Result<(), PlanError> {
    let (replication, clients) = (change.has(Noun::Replication), change.has(Noun::Clients));
    profile_gate(builder, change.profile, drafts.iter().map(|draft| &draft.node));
    if replication || clients {
        key_files(world, drafts.iter().map(|draft| &*draft.node), builder);
    }
    if clients {
        for draft in drafts.iter() {
            client_trust("E0t", &draft.node, builder);
        }
        for draft in drafts.iter_mut() {
            offer(builder, &mut draft.node, true, change.profile)?;
        }
    }
    if replication {
        let ours = |node: &NodeDraft| clients || node.ssl_cert == node.path(CERT_FILE);
        if let Some(source) = drafts.iter().find(|draft| draft.is_source && !ours(&draft.node)) {
            return Err(serves_another(
                &source.node.name,
                &source.node.ssl_cert,
                &world.advised(change, &[Noun::Clients]),
            ));
        }
        for draft in drafts.iter() {
            for channel in &draft.channels {
                let after = ChannelTls {
                    is_on: true,
                    verifies: true,
                    ca: draft.node.tls_dir.join(CA_FILE),
                    cert: draft.node.tls_dir.join(CERT_FILE),
                    key: draft.node.tls_dir.join(KEY_FILE),
                };
                connect_anew(builder, "E3", draft, channel, after)?;
            }
        }
    }
    if change.has(Noun::Accounts) {
        let open =
            drafts.iter().find_map(|draft| draft.channels.iter().find(|one| !replication && !one.tls.is_on));
        let bare = drafts.iter().find(|draft| !clients && !draft.node.view.offers_client_tls());
        if let Some(draft) = bare {
            let needed =
                if open.is_some() { &[Noun::Replication, Noun::Clients][..] } else { &[Noun::Clients] };
            return Err(accounts::no_tls_offered(&draft.node.name, &world.advised(change, needed)));
        }
        if let Some(channel) =
            open.filter(|one| !world.leave_accounts.iter().any(|name| name.user == one.user))
        {
            return Err(refuse(format!(
                "a replica connects without TLS to {channel}, and would be refused\n  why:  its account must use TLS then\n  next: sealion plan {}",
                world.advised(change, &[Noun::Replication, Noun::Clients])
            )));
        }
    }
    accounts::plan(world, change, accounts, builder)?;
    if requires_tls(change) {
        if let Some(draft) = drafts.iter().find(|draft| !clients && !draft.node.view.offers_client_tls()) {
            return Err(refuse(format!(
                "{} does not offer TLS to clients, as far as it tells\n  why:  if it required TLS, nobody could connect over TCP any more\n  \
                 next: sealion plan {}",
                draft.node.name,
                world.advised(change, &[Noun::Clients])
            )));
        }
        // A replica without TLS is a client that would be refused.
        let open =
            drafts.iter().find_map(|draft| draft.channels.iter().find(|one| !replication && !one.tls.is_on));
        if let Some(channel) = open {
            return Err(refuse(format!(
                "a replica connects without TLS to {channel}, and would be refused\n  why:  require_secure_transport counts for replicas too\n  \
                 next: sealion plan {}",
                world.advised(change, &[Noun::Replication, Noun::Clients])
            )));
        }
        if clients {
            client_trust_gate(drafts.iter().map(|draft| &draft.node), builder);
        }
        clients_gate(builder);
        for draft in drafts.iter_mut() {
            require(builder, "E5", &mut draft.node, true)?;
        }
    }
    let kinds: Vec<LinkKind> =
        [(replication, LinkKind::Replication), (requires_tls(change), LinkKind::Client)]
            .into_iter()
            .filter_map(|(is_so, kind)| is_so.then_some(kind))
            .collect();
    if !kinds.is_empty() {
        let ports: BTreeSet<u16> = world.nodes.iter().map(|node| node.spec().port).collect();
        prove(builder, "E6", kinds, &ports.into_iter().collect::<Vec<_>>());
    }
    Ok(())
}

fn serves_another(source: &NodeName, ssl_cert: &str, advised: &Change) -> PlanError {
    refuse(format!(
        "{source} does not serve a certificate of the cluster's CA, so no replica could verify it\n  why:  its ssl_cert is \"{ssl_cert}\"\n  next: \
         sealion plan {advised}"
    ))
}

/// A source in another part of the estate gets its certificate there, where the change is about clients too.
fn sources_elsewhere_serve_ours(
    world: &mut World<'_>,
    change: &Change,
    drafts: &[Draft],
) -> Result<(), PlanError> {
    if change.verb != Verb::Enable || !change.has(Noun::Replication) || change.has(Noun::Clients) {
        return Ok(());
    }
    let is_here = |name: &&NodeName| drafts.iter().any(|draft| draft.node.name == **name);
    let elsewhere: BTreeSet<&NodeName> =
        drafts.iter().flat_map(|draft| &draft.sources).filter(|name| !is_here(name)).collect();
    for name in elsewhere {
        let node = world.node(name).map_err(refuse)?;
        let ours = node.spec().tls_dir.join(CERT_FILE).display().to_string();
        let view = node.view().map_err(refuse)?;
        let used = view.variable("ssl_cert").unwrap_or_default();
        if used != ours {
            let used = used.to_owned();
            return Err(serves_another(name, &used, &world.advised(change, &[Noun::Clients])));
        }
    }
    Ok(())
}

/// What changes where a server serves its certificate already.
const TAKES_CLIENTS: &str = "judges clients by client-ca.pem";

/// One server offers the certificate of its own to clients, or none: live where it can, else by a restart.
fn offer(
    builder: &mut Builder,
    draft: &mut NodeDraft,
    on: bool,
    profile: Option<TlsProfile>,
) -> Result<(), PlanError> {
    let (of_profile, rules) = tls_rules::plan(draft, profile);
    let edits = if on { [draft.offer_tls(), of_profile].concat() } else { draft.offer_no_tls() };
    let keeps_rules = rules.as_ref().is_none_or(RulesChange::changes_nothing);
    let PlannedEdit { edit, diff, needs } = draft.edit(edits)?;
    let name = draft.name.clone();
    let prefix = if on { "E2" } else { "D2" };
    let after = if on { draft.path(CERT_FILE) } else { String::new() };
    let step = if draft.view.capabilities().live_tls_files {
        let before = in_use(&draft.view);
        let files = TlsFiles {
            ca: draft.path(draft.ca_of_clients()),
            cert: after.clone(),
            key: draft.path(KEY_FILE),
        };
        let no_op = edit.is_no_op() && before == files && keeps_rules;
        let is_served = before.cert == files.cert && before.ca != files.ca;
        let what = if is_served { TAKES_CLIENTS } else { "serves its certificate to clients" };
        let sql = server::replication::set_tls_files(&files, rules.as_ref().map(|rules| &rules.after));
        let sql: Vec<String> = sql.into_iter().map(|sql| format!("{sql};")).collect();
        let step = builder.add(
            format!("{prefix}.{name}"),
            "live-files",
            format!("{name} {what}{}, without a restart", tls_rules::in_words(profile)),
            vec![name.clone()],
            LiveFilesParams { edit, before, after: files, rules },
        );
        step.shell = draft.by_hand(&diff, sql.iter().map(|sql| draft.sql(sql)).collect());
        (step.sql, step.no_op) = (sql, no_op);
        step
    } else {
        let (before, ca_before) = (draft.ssl_cert.clone(), draft.ssl_ca.clone());
        let ca_after = if on { draft.path(draft.ca_of_clients()) } else { String::new() };
        let no_op = edit.is_no_op() && before == after && ca_before == ca_after && keeps_rules;
        let what = match on {
            true if before == after && ca_before != ca_after => TAKES_CLIENTS,
            true => "offers TLS to clients",
            false => "offers no TLS to clients",
        };
        let step = builder.add(
            format!("{prefix}.{name}"),
            "restart",
            format!("{name} {what}{}; restart", tls_rules::in_words(profile)),
            vec![name.clone()],
            RestartParams {
                edit,
                before,
                after: after.clone(),
                ca_before: Some(ca_before),
                ca_after: Some(ca_after),
                rules,
                variables: vec![],
                gate: None,
            },
        );
        let restart = vec![by_hand::words(&draft.stop), by_hand::words(&draft.start)];
        step.shell = draft.by_hand(&diff, restart);
        step.sql =
            vec!["-- ssl_cert is read at the start of the server only: --format shell, --format diff".into()];
        (step.restarts_server, step.no_op) = (true, no_op);
        step
    };
    (step.diff, step.nature.needs) = (diff, needs);
    draft.ssl_cert = after;
    draft.ssl_ca = if on { draft.path(draft.ca_of_clients()) } else { String::new() };
    Ok(())
}

/// By hand, too, a channel is changed that runs.
const BOTH_THREADS: Threads = Threads { receiver: true, applier: true };

fn connect_anew(
    builder: &mut Builder,
    prefix: &str,
    draft: &Draft,
    channel: &Channel,
    after: ChannelTls,
) -> Result<(), PlanError> {
    let name = &draft.node.name;
    for path in [&after.ca, &after.cert, &after.key] {
        if !server::replication::is_plain(&path.display().to_string()) {
            return Err(refuse(format!(
                "{} cannot stand in a statement in every sql_mode\n  why:  it has a backslash or a control character\n  next: choose another \
                 tls_dir for {name} in the inventory",
                path.display()
            )));
        }
    }
    let id = if channel.name.is_empty() {
        format!("{prefix}.{name}")
    } else {
        format!("{prefix}.{name}.{}", channel.name)
    };
    let how = if after.is_on { "with TLS, and verifies its source" } else { "without TLS" };
    let flavour = draft.node.view.capabilities().flavour;
    let sql: Vec<String> = server::replication::change_channel(flavour, &channel.name, &after, BOTH_THREADS)
        .into_iter()
        .map(|sql| format!("{sql};"))
        .collect();
    let no_op = channel.tls == after;
    let step = builder.add(
        id,
        "channel",
        format!("{name} replicates from {channel} {how}"),
        vec![name.clone()],
        ChannelParams { channel: channel.name.clone(), before: channel.tls.clone(), after },
    );
    step.shell = draft.node.by_hand(&[], sql.iter().map(|sql| draft.node.sql(sql)).collect());
    (step.sql, step.no_op) = (sql, no_op);
    Ok(())
}

fn disable(
    world: &World<'_>,
    change: &Change,
    drafts: &mut [Draft],
    accounts: &[AccountsOf],
    builder: &mut Builder,
) -> Result<(), PlanError> {
    let (replication, clients) = (change.has(Noun::Replication), change.has(Noun::Clients));
    let is_live = |draft: &&Draft| draft.node.view.capabilities().live_tls_files;
    if clients && let Some(mysql) = drafts.iter().find(is_live) {
        return Err(cannot_offer_none(&mysql.node.name, change));
    }
    accounts::plan(world, change, accounts, builder)?;
    if requires_tls(change) {
        for draft in drafts.iter_mut() {
            require(builder, "D0", &mut draft.node, false)?;
        }
        clients_gate_back(builder);
    }
    if replication {
        for draft in drafts.iter() {
            for channel in &draft.channels {
                connect_anew(builder, "D1", draft, channel, ChannelTls::default())?;
            }
        }
    }
    if clients {
        // A channel that verifies its source would find none.
        let needs =
            drafts.iter().find_map(|draft| draft.channels.iter().find(|one| !replication && one.tls.is_on));
        if let Some(channel) = needs {
            return Err(refuse(format!(
                "a replica connects with TLS to {channel}, and could not any more\n  why:  its source would offer none\n  next: sealion plan {}",
                world.advised(change, &[Noun::Replication])
            )));
        }
        for draft in drafts.iter_mut() {
            offer(builder, &mut draft.node, false, None)?;
        }
    }
    if replication && clients {
        retire(builder, "D4", drafts.iter().map(|draft| &*draft.node));
    }
    Ok(())
}

/// A replica that is told to do without TLS must be let in so by its source: by the server, by the account, and by how that logs in.
///
/// # Errors
/// One would not be. The lines are for the operator: what cannot be told, and what would not come back.
fn shut_out_replicas(
    world: &mut World<'_>,
    change: &Change,
    drafts: &[Draft],
) -> Result<Vec<String>, PlanError> {
    let mut lines = Vec::new();
    if !change.has(Noun::Replication) || change.verb == Verb::Rotate {
        return Ok(lines);
    }
    for draft in drafts {
        for channel in &draft.channels {
            let name = &draft.node.name;
            if change.verb == Verb::Enable {
                if !channel.tls.is_on && channel.needs_tls_to_log_in {
                    lines.push(format!(
                        "an undo would bring {name} back to cleartext only if {channel} was not restarted meanwhile: without its \
                         RSA key (GET_SOURCE_PUBLIC_KEY=1) an account with caching_sha2_password is let in only while the source remembers it"
                    ));
                }
                continue;
            }
            if channel.needs_tls_to_log_in {
                return Err(refuse(format!(
                    "{name} cannot be relied on to log in to {channel} without TLS\n  why:  without its source's RSA key, an account with \
                     caching_sha2_password is let in only while the source remembers it, which it forgets at each start\n  next: {}; then plan again",
                    key_of_source(&channel.name)
                )));
            }
            for source in &draft.sources {
                let view = match drafts.iter().find(|one| one.node.name == *source) {
                    Some(here) => here.node.view.clone(),
                    None => world.node(source).map_err(refuse)?.view().map_err(refuse)?,
                };
                if view.requires_secure_transport() && !requires_tls(change) {
                    return Err(refuse(format!(
                        "{name} replicates from {source}, which would refuse it without TLS\n  why:  require_secure_transport counts for replicas \
                         too\n  next: sealion plan {}",
                        world.advised(change, &[Noun::RequireTls])
                    )));
                }
                lines.extend(accounts::refuse_replica(world, change, source, name, channel)?);
            }
        }
    }
    Ok(lines)
}

/// Every server reads its files again while it runs. Channels that are up go on; the next connection of each is made with the new files.
fn rotate(
    world: &mut World<'_>,
    change: &Change,
    drafts: &[Draft],
    builder: &mut Builder,
) -> Result<(), PlanError> {
    for Draft { node, .. } in drafts {
        let ours = node.path(CERT_FILE);
        let used = if node.view.capabilities().live_tls_files {
            in_use(&node.view).cert
        } else {
            node.ssl_cert.clone()
        };
        if used != ours {
            return Err(refuse(format!(
                "{} does not serve the certificate in {ours}, so there is nothing to rotate\n  why:  its ssl_cert is \"{used}\"\n  next: \
                 sealion plan enable clients",
                node.name
            )));
        }
    }
    if change.has(Noun::Ca) {
        let members: Vec<&MemberDraft> = drafts.iter().map(|draft| &*draft.node).collect();
        let old_sha256 = rollover::plan(world, &members, &|_| false, builder)?;
        let names = members.iter().map(|member| member.name.clone()).collect();
        rollover::refused_by_all(builder, old_sha256, names);
        return Ok(());
    }
    for Draft { node, .. } in drafts {
        let title = format!("{} uses a new certificate, without a restart", node.name);
        let sql = if node.view.capabilities().live_tls_files { RELOAD_MYSQL } else { RELOAD_MARIADB };
        let step = new_certificate(world, node, title, builder)?;
        step.sql = vec![format!("{sql};")];
        step.shell.extend(node.by_hand(&[], vec![node.sql(sql)]));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_come_before_their_sources_in_every_order_of_the_inventory() {
        // A chain, named from its source on; a fan; two sources of each other, with a replica each.
        assert_eq!(order(&[vec![], vec![0], vec![1], vec![2]]), [3, 2, 1, 0]);
        assert_eq!(order(&[vec![], vec![0], vec![0]]), [1, 2, 0]);
        assert_eq!(order(&[vec![1], vec![0], vec![0], vec![1]]), [2, 3, 0, 1]);
        // A ring below a source, and one below a ring.
        assert_eq!(order(&[vec![], vec![0, 2], vec![1]]), [1, 2, 0]);
        assert_eq!(order(&[vec![1], vec![0], vec![0, 3], vec![2]]), [2, 3, 0, 1]);
        assert_eq!(order(&[vec![0]]), [0]);
        assert_eq!(order(&[]), [0; 0]);
    }
}
