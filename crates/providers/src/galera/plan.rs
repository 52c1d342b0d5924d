//! From a wish and the cluster as it is now to ordered steps.

use std::collections::{BTreeMap, BTreeSet};

use model::{Change, LinkKind, NodeName, Noun, Step, Verb};
use openssl::sha::sha256;
use server::rights::Use;
use server::{Flavour, GaleraFacts, GaleraState};

use super::arbitrators::{self, ArbitratorDraft, To};
use super::draft::{Draft, drafts};
use super::gossip::{self, Way};
use super::patience;
use super::steps::{AgainParams, DistrustParams, GateParams, RoundParams};
use crate::accounts::{self, AccountsOf};
use crate::by_hand;
use crate::draft::{MemberDraft, Offer, PlannedEdit};
use crate::edit::Edit;
use crate::files::{CA_FILE, CERT_FILE, KEY_FILE};
use crate::plan::{Builder, PlanContent, PlanError, refuse};
use crate::plan_parts::{
    ALREADY_DONE, NO_RESTART, cleartext_after, client_trust, client_trust_gate, clients_gate,
    clients_gate_back, key_files, new_certificate, nothing_to_rotate, only_rotated, privileges, profile_gate,
    profile_of_clients, prove, require, requires_tls, retire, rights,
};
use crate::preflight::{set_live, trust_files};
use crate::proxies;
use crate::replication;
use crate::rollover;
use crate::steps::EditParams;
use crate::tls_rules::{self, RulesChange};
use crate::world::World;

/// SHA-256 over what the plan was made for. Queues, GTIDs and Synced states are left out: they change by themselves.
fn state_hash(
    change: &Change,
    drafts: &[Draft],
    voters: &[ArbitratorDraft],
    accounts: &[AccountsOf],
    choices: &str,
) -> String {
    let mut text = format!("{change}\n");
    for draft in drafts {
        text += &format!(
            "{} {} {} {} {} {}\n",
            draft.name,
            draft.file.display(),
            crate::edit::hash(&draft.bytes),
            draft.letter,
            draft.view.version(),
            draft.view.state_uuid()
        );
        text += &draft.clients.state();
    }
    for voter in voters {
        text += &format!(
            "{} {} {} {}\n",
            voter.member.name,
            voter.member.file.display(),
            crate::edit::hash(&voter.member.bytes),
            voter.letter
        );
    }
    if change.has(Noun::Accounts) {
        text.extend(accounts.iter().map(AccountsOf::state));
        text += choices;
    }
    model::hex(&sha256(text.as_bytes()))
}

/// Accounts are written in total order: on any node, for all.
fn accounts_of(
    world: &mut World<'_>,
    change: &Change,
    drafts: &[Draft],
) -> Result<Vec<AccountsOf>, PlanError> {
    let members: Vec<NodeName> = drafts.iter().map(|draft| draft.name.clone()).collect();
    match members.split_first() {
        Some((first, others)) if change.has(Noun::Accounts) => {
            // Replicas of any of them get them too.
            let replicas = replication::below_all(world, &members)?;
            Ok(vec![AccountsOf::ask(world, first.clone(), [others, &replicas].concat())?])
        }
        _ => Ok(vec![]),
    }
}

pub fn plan(world: &mut World<'_>, change: &Change) -> Result<PlanContent, PlanError> {
    if change.verb == Verb::Join {
        let joiner = change.joiner().ok_or_else(|| refuse("a join names a node: sealion join NODE"))?;
        return super::join::plan(world, change, joiner);
    }
    let mut drafts = drafts(world)?;
    let mut voters = arbitrators::drafts(world)?;
    let accounts = accounts_of(world, change, &drafts)?;
    let state_hash = state_hash(change, &drafts, &voters, &accounts, &accounts::choices(world));
    let shut_out = accounts::shut_out(world, change, drafts.iter().map(|draft| draft.name.clone()))?;
    let hasty = patience::is_hasty(&drafts, &voters);
    let mut builder = Builder::default();
    only_rotated(change)?;
    profile_of_clients(change)?;
    match change.verb {
        Verb::Enable => enable(world, change, &mut drafts, &mut voters, &accounts, &mut builder)?,
        Verb::Join => return Err(refuse("a join names a node: sealion join NODE")),
        Verb::Migrate => return Err(refuse("a migration is of two servers: sealion migrate plan")),
        Verb::Disable => disable(world, change, &mut drafts, &mut voters, &accounts, &mut builder)?,
        Verb::Rotate if change.has(Noun::RequireTls) || change.has(Noun::Accounts) => {
            return Err(nothing_to_rotate());
        }
        Verb::Rotate => rotate(world, change, &mut drafts, &voters, &mut builder)?,
    }
    let steps = builder.steps;
    let voters: Vec<NodeName> = voters.iter().map(|voter| voter.member.name.clone()).collect();
    let listed = gossip::told(world, &drafts);
    let mut impact = impact(&steps, drafts.len(), &voters, hasty);
    impact.extend(accounts::impact(world, change, &accounts));
    impact.extend(shut_out);
    impact.extend(proxies::impact(world, &steps));
    let restarted: BTreeSet<NodeName> = steps
        .iter()
        .filter(|step| step.restarts_server && !step.no_op)
        .flat_map(|step| step.nodes.clone())
        .collect();
    impact.extend(set_live::told(world, &restarted));
    if change.verb != Verb::Disable {
        impact.extend(trust_files::impact(world));
    }
    impact.extend(rollover::impact(world, change));
    impact.extend(tls_rules::told(change.profile));
    impact.extend(listed);
    if change.verb == Verb::Disable {
        impact.extend(cleartext_after(change));
    }
    let rights = rights(&steps, &privileges(change, Use::ChangeGalera, Flavour::MariaDb));
    if rights.is_empty() {
        impact = vec![ALREADY_DONE.into()];
    }
    Ok(PlanContent { steps, state_hash, impact, rights })
}

/// An arbitrator is strict only when every node is.
///
/// # Source
/// Seen on Galera 26.4.23: nodes do not have the arbitrator in their cluster address and hear of it from others, and dynamic members pass
/// addresses on as tcp://. A node that started as strict beside a strict garbd and dynamic nodes dialled it in cleartext until it gave up
/// ("connection to peer … with addr tcp://… timed out", "failed to reach primary view"), and meanwhile nobody was Primary.
fn strict_before_nodes(drafts: &[Draft]) -> bool {
    drafts.iter().any(|draft| draft.letter != 'S')
}

/// What the users of the cluster will notice; nothing of what this change does not do.
fn impact(steps: &[Step], nodes: usize, voters: &[NodeName], hasty: bool) -> Vec<String> {
    let does = |is: &dyn Fn(&Step) -> bool| steps.iter().any(|step| !step.no_op && is(step));
    let is_voter = |step: &Step| step.nodes.iter().any(|name| voters.contains(name));
    let count = |of_voters: bool| {
        let restarts = steps.iter().filter(|step| step.restarts_server && !step.no_op);
        restarts.filter(|step| is_voter(step) == of_voters).count()
    };
    let (restarts, of_voters) = (count(false), count(true));
    let mut impact = Vec::new();
    if of_voters > 0 {
        impact.push(format!(
            "{} of arbitrators, which serve no client; while one restarts, the cluster has a vote less",
            model::text::counted(of_voters, "restart", "restarts")
        ));
    }
    if restarts > 0 {
        impact.push(format!(
            "{}, one node at a time, each drained first; {} of {nodes} nodes serve at any moment",
            model::text::counted(restarts, "server restart", "server restarts"),
            nodes.saturating_sub(1)
        ));
        impact.push(
            "connections to a node end when it is stopped; it refuses new ones for some 5 to 15 s".into(),
        );
        impact
            .push("error logs get startup and shutdown messages, and a membership change per restart".into());
        // In labs a restart took 5 to 15 s until the node was Synced again by IST.
        let minutes = |each_s: usize| (restarts * each_s).div_ceil(60).max(1);
        impact.push(format!(
            "expected duration: {} to {} min, longer if a node needs a state transfer or sessions leave slowly",
            minutes(8),
            minutes(25)
        ));
    } else {
        impact.push(NO_RESTART.into());
    }
    if does(&|step| step.kind == "round" && step.params["after"] == "D") {
        impact.push(
            "while nodes run with socket.dynamic a link may be cleartext or TLS; the last step verifies every link"
                .into(),
        );
    }
    if hasty && does(&|step| step.kind == "round" && step.params["after"] == "D") {
        impact.push(
            "an arbitrator would not wait as long as the nodes (it has evs.… timeouts of its own, or is dynamic already), so they keep theirs: \
             under load a node may be non-Primary for some seconds while another one starts"
                .into(),
        );
    }
    if does(&|step| step.kind == "patience") {
        impact.push(
            "until the change has ended, nodes wait 15 s before they suspect a silent member (evs.suspect_timeout): a server that fails \
             meanwhile stalls writes for that long"
                .into(),
        );
    }
    if does(&|step| step.kind == "prove") {
        impact
            .push("test rows (canaries) are written to the schema sealion_canary, and removed again".into());
    }
    impact
}

/// The runbook of one restart, on the node itself.
fn restart_by_hand(draft: &Draft, diff: &[String]) -> Vec<String> {
    let lines = vec![
        draft.sql("SET GLOBAL wsrep_desync=ON"),
        by_hand::ask(&format!(
            "take {} out of its proxies, and wait until its sessions have left (SHOW PROCESSLIST)",
            draft.name
        )),
        by_hand::words(&draft.stop),
        by_hand::words(&draft.start),
        format!("{} # again, until wsrep_local_state is 4 and the size is as before", draft.sql(WAIT_SQL)),
        by_hand::ask(&format!("wait until {} is Synced, and put it back into its proxies", draft.name)),
    ];
    draft.by_hand(diff, lines)
}

/// Of a round that sealion makes on the way back only.
fn not_forward(restart: Vec<String>, on_the_way_back: bool) -> Vec<String> {
    if on_the_way_back {
        vec![
            "# nothing now: on the way back, it is restarted here so that the others learn its address again"
                .into(),
        ]
    } else {
        restart
    }
}

/// What the links of these members go through.
pub fn ports(world: &World<'_>) -> Vec<u16> {
    // SST and IST.
    const TRANSFERS: [u16; 2] = [4444, 4568];
    let specs = world.nodes.iter().map(|node| node.spec());
    let own = specs.flat_map(|spec| [spec.port, spec.galera_port]);
    let all: BTreeSet<u16> = own.chain(TRANSFERS).collect();
    all.into_iter().collect()
}

pub const WAIT_SQL: &str =
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_state', 'wsrep_ready', 'wsrep_cluster_size')";

fn sst_edits(draft: &Draft) -> Vec<Edit> {
    let set = |key: &str, value: String| Edit::Set { group: "sst".into(), key: key.into(), value };
    let mut edits = vec![
        set("tkey", draft.path(KEY_FILE)),
        set("tcert", draft.path(CERT_FILE)),
        set("tca", draft.path(CA_FILE)),
    ];
    if draft.view.sst_method() == "mariabackup" {
        // Without a mode mariabackup's script sends cleartext, whatever the server's own ssl_* say (seen on 10.11.19).
        edits.push(set("ssl-mode", "VERIFY_CA".into()));
    }
    edits
}

fn enable(
    world: &World<'_>,
    change: &Change,
    drafts: &mut [Draft],
    voters: &mut [ArbitratorDraft],
    accounts: &[AccountsOf],
    builder: &mut Builder,
) -> Result<(), PlanError> {
    let (galera, clients) = (change.has(Noun::Galera), change.has(Noun::Clients));
    profile_gate(builder, change.profile, drafts.iter().map(|draft| &**draft));
    if galera || clients || change.has(Noun::Sst) {
        let of_nodes = drafts.iter().map(|draft| &***draft);
        // It takes part in the group alone: no state transfer, no client.
        let of_voters = voters.iter().filter(|_| galera).map(|voter| &voter.member);
        key_files(world, of_nodes.chain(of_voters), builder);
    }
    if clients {
        for draft in drafts.iter() {
            client_trust("E0t", draft, builder);
        }
    }
    if change.has(Noun::Sst) {
        for draft in drafts.iter_mut() {
            let edits = sst_edits(draft);
            let PlannedEdit { edit, diff, needs } = draft.edit(edits)?;
            let no_op = edit.is_no_op();
            let step = builder.add(
                format!("E1.{}", draft.name),
                "edit",
                format!(
                    "[sst] in {}: transfers by {} over TLS",
                    draft.file.display(),
                    draft.view.sst_method()
                ),
                vec![draft.name.clone()],
                EditParams { edit },
            );
            step.shell = draft.by_hand(&diff, vec![]);
            (step.diff, step.no_op, step.nature.needs) = (diff, no_op, needs);
        }
    }
    let is_done =
        drafts.iter().all(|draft| draft.letter == 'S') && voters.iter().all(|voter| voter.letter == 'S');
    let waits = if galera { patience::of(drafts, voters) } else { BTreeMap::new() };
    patience::begin(builder, "E1p", drafts, &waits, (is_done, 'S'))?;
    if galera {
        // Before the first node is dynamic, as it is the last one to be strict: it waits as long as they do.
        let is_early = strict_before_nodes(drafts);
        for voter in voters.iter_mut() {
            arbitrators::round(builder, "E2", voter, To::Either { waits: !waits.is_empty() }, is_early)?;
        }
    }
    if galera || clients {
        for draft in drafts.iter_mut().rev() {
            let (before, offer_before) = (draft.letter, draft.offer());
            let mut edits = Vec::new();
            if galera && before == 'P' {
                for (key, file) in
                    [("socket.ssl_key", KEY_FILE), ("socket.ssl_cert", CERT_FILE), ("socket.ssl_ca", CA_FILE)]
                {
                    let path = draft.path(file);
                    draft.options.set(key, &path);
                }
                draft.options.set("socket.ssl", "YES");
                draft.options.set("socket.dynamic", "YES");
                draft.letter = 'D';
                edits.push(draft.set_options());
            }
            let (of_profile, rules) = tls_rules::plan(draft, change.profile);
            if clients {
                edits.extend(draft.offer_tls());
                edits.extend(of_profile);
                draft.ssl_cert = draft.path(CERT_FILE);
                draft.ssl_ca = draft.path(draft.ca_of_clients());
            }
            let title = match (galera, clients) {
                (true, true) => "accepts cleartext and TLS from nodes, offers TLS to clients; restart",
                (true, false) => "accepts cleartext and TLS from nodes; restart",
                _ if offer_before.cert == draft.ssl_cert && offer_before.ca != draft.ssl_ca => {
                    "judges clients by client-ca.pem; restart"
                }
                _ => "offers TLS to clients; restart",
            };
            let of_profile = tls_rules::in_words(change.profile.filter(|_| clients));
            let title = title.replace("; restart", &format!("{of_profile}; restart"));
            round(builder, "E2", draft, edits, before, offer_before, rules, clients, &title)?;
        }
    }
    if galera {
        let everywhere = everybody(drafts, voters);
        builder.add(
            "E3".into(),
            "gate",
            "check that no node uses cleartext only any more".into(),
            everywhere,
            GateParams { all: "DS".into() },
        );
        if let Some(step) = builder.steps.last_mut() {
            step.shell = by_hand::gate("socket.dynamic = YES, or listen_addr = ssl://");
        }
        let unnamed = gossip::unnamed(world, drafts);
        again(builder, "E3b", (drafts, voters), &unnamed, Way::Up)?;
        for draft in gossip::in_order(drafts, &unnamed, Way::Up) {
            let (before, offer_before) = (draft.letter, draft.offer());
            draft.options.remove("socket.dynamic");
            draft.letter = 'S';
            let (_, rules) = tls_rules::plan(draft, change.profile);
            let edits = if before == 'S' { vec![] } else { vec![draft.set_options()] };
            round(
                builder,
                "E4",
                draft,
                edits,
                before,
                offer_before,
                rules,
                clients,
                "accepts only TLS from nodes; restart",
            )?;
        }
    }
    if galera {
        for voter in voters.iter_mut() {
            arbitrators::round(builder, "E4", voter, To::Tls, false)?;
        }
    }
    patience::end(builder, "E4p", drafts, &waits, is_done)?;
    if change.has(Noun::Accounts)
        && let Some(draft) = drafts.iter().find(|draft| !clients && !draft.view.offers_client_tls())
    {
        return Err(accounts::no_tls_offered(
            &draft.name,
            &world.advised(change, &[Noun::Sst, Noun::Clients]),
        ));
    }
    accounts::plan(world, change, accounts, builder)?;
    if requires_tls(change) {
        if let Some(draft) = drafts.iter().find(|draft| !clients && !draft.view.offers_client_tls()) {
            return Err(refuse(format!(
                "{} does not offer TLS to clients, as far as it tells\n  why:  if it required TLS, nobody could connect over TCP any more\n  \
                 next: sealion plan {}",
                draft.name,
                world.advised(change, &[Noun::Clients])
            )));
        }
        if clients {
            client_trust_gate(drafts.iter().map(|draft| &**draft), builder);
        }
        clients_gate(builder);
        for draft in drafts.iter_mut() {
            require(builder, "E5", draft, true)?;
        }
    }
    let mut kinds = Vec::new();
    if galera {
        kinds.push(LinkKind::Galera);
    }
    if requires_tls(change) {
        kinds.push(LinkKind::Client);
    }
    if !kinds.is_empty() {
        prove(builder, "E6", kinds, &ports(world));
    }
    Ok(())
}

/// Of whom plain nodes would hear by `ssl://`: see [`gossip`]. Who was last to leave TLS has told its address among dynamic members already.
fn again(
    builder: &mut Builder,
    prefix: &str,
    (drafts, voters): (&mut [Draft], &mut [ArbitratorDraft]),
    unnamed: &BTreeMap<NodeName, usize>,
    way: Way,
) -> Result<(), PlanError> {
    let on_the_way_back = way == Way::Up;
    let title = |name: &NodeName, what: &str| {
        let when = if on_the_way_back { "only in an undo: " } else { "" };
        format!("{when}{name}{what} makes the others learn its address again; restart")
    };
    let told: Vec<&mut Draft> = gossip::in_order(drafts, unnamed, Way::Up)
        .into_iter()
        .skip(1)
        .filter(|draft| unnamed.contains_key(&draft.name))
        .collect();
    for draft in told {
        let letter = draft.letter;
        let PlannedEdit { edit, .. } = draft.edit(vec![])?;
        let round = RoundParams::as_it_is(edit, letter);
        let params = AgainParams { on_the_way_back, round: Some(round) };
        let nodes = vec![draft.name.clone()];
        let step =
            builder.add(format!("{prefix}.{}", draft.name), "again", title(&draft.name, ""), nodes, params);
        step.shell = not_forward(restart_by_hand(draft, &[]), on_the_way_back);
        (step.restarts_server, step.no_op) = (!on_the_way_back, letter != 'D');
        step.nature.undo_restarts = Some(on_the_way_back);
    }
    for voter in voters.iter_mut() {
        let name = voter.member.name.clone();
        let params = AgainParams { on_the_way_back, round: None };
        let step = builder.add(
            format!("{prefix}.{name}"),
            "again",
            title(&name, " (arbitrator)"),
            vec![name],
            params,
        );
        step.shell = not_forward(arbitrators::restart_by_hand(&voter.member, &[]), on_the_way_back);
        (step.restarts_server, step.no_op) = (!on_the_way_back, voter.letter != 'D');
        step.nature.undo_restarts = Some(on_the_way_back);
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)] // A round is its node before and after; a struct would be used once.
fn round(
    builder: &mut Builder,
    prefix: &str,
    draft: &mut Draft,
    edits: Vec<Edit>,
    before: char,
    offer_before: Offer,
    rules: Option<RulesChange>,
    clients: bool,
    title: &str,
) -> Result<(), PlanError> {
    let PlannedEdit { edit, diff, needs } = draft.edit(edits)?;
    let keeps_rules = rules.as_ref().is_none_or(RulesChange::changes_nothing);
    let no_op = edit.is_no_op() && before == draft.letter && offer_before == draft.offer() && keeps_rules;
    let params = RoundParams {
        edit,
        before,
        after: draft.letter,
        ssl_cert_before: clients.then_some(offer_before.cert),
        ssl_cert_after: clients.then(|| draft.ssl_cert.clone()),
        ssl_ca_before: clients.then_some(offer_before.ca),
        ssl_ca_after: clients.then(|| draft.ssl_ca.clone()),
        rules,
        variables: vec![],
        gate: None,
    };
    let step = builder.add(
        format!("{prefix}.{}", draft.name),
        "round",
        format!("{} {title}", draft.name),
        vec![draft.name.clone()],
        params,
    );
    step.restarts_server = true;
    step.sql = vec![
        "SET GLOBAL wsrep_desync=ON;  -- health checks see it; wait until the sessions have left".into(),
        "-- here the file is changed and the server restarted: --format shell, --format diff".into(),
        format!("{WAIT_SQL};  -- until the state is 4 and the size as before"),
    ];
    step.shell = restart_by_hand(draft, &diff);
    (step.no_op, step.diff, step.nature.needs) = (no_op, diff, needs);
    Ok(())
}

fn disable(
    world: &World<'_>,
    change: &Change,
    drafts: &mut [Draft],
    voters: &mut [ArbitratorDraft],
    accounts: &[AccountsOf],
    builder: &mut Builder,
) -> Result<(), PlanError> {
    let (galera, clients) = (change.has(Noun::Galera), change.has(Noun::Clients));
    accounts::plan(world, change, accounts, builder)?;
    if requires_tls(change) {
        for draft in drafts.iter_mut() {
            require(builder, "D0", draft, false)?;
        }
        clients_gate_back(builder);
    }
    let is_done =
        drafts.iter().all(|draft| draft.letter == 'P') && voters.iter().all(|voter| voter.letter == 'P');
    let waits = if galera { patience::of(drafts, voters) } else { BTreeMap::new() };
    patience::begin(builder, "D0p", drafts, &waits, (is_done, 'P'))?;
    if galera {
        // First of all here, and so the last one in an undo: see `strict_before_nodes`.
        for voter in voters.iter_mut() {
            arbitrators::round(builder, "D1", voter, To::Either { waits: !waits.is_empty() }, true)?;
        }
        let unnamed = gossip::unnamed(world, drafts);
        for draft in gossip::in_order(drafts, &unnamed, Way::Down) {
            let (before, offer_before) = (draft.letter, draft.offer());
            let mut edits = vec![];
            if before == 'S' {
                draft.options.set("socket.ssl", "YES");
                draft.options.set("socket.dynamic", "YES");
                draft.letter = 'D';
                edits.push(draft.set_options());
            }
            round(
                builder,
                "D1",
                draft,
                edits,
                before,
                offer_before,
                None,
                clients,
                "accepts cleartext and TLS from nodes; restart",
            )?;
        }
        let everywhere = everybody(drafts, voters);
        builder.add(
            "D1".into(),
            "gate",
            "check that every node accepts cleartext too".into(),
            everywhere,
            GateParams { all: "PD".into() },
        );
        if let Some(step) = builder.steps.last_mut() {
            step.shell = by_hand::gate("socket.dynamic = YES, or no socket.ssl at all");
        }
        again(builder, "D1b", (drafts, voters), &unnamed, Way::Down)?;
    }
    if galera || clients {
        for draft in drafts.iter_mut().rev() {
            let (before, offer_before) = (draft.letter, draft.offer());
            let mut edits = Vec::new();
            if galera && before != 'P' {
                // Every key, never socket.ssl=NO with paths left: that crashes donors.
                draft.options.remove_prefix("socket.ssl");
                draft.options.remove("socket.dynamic");
                draft.letter = 'P';
                edits.push(draft.set_or_unset_options());
            }
            if clients {
                edits.extend(draft.offer_no_tls());
                (draft.ssl_cert, draft.ssl_ca) = (String::new(), String::new());
            }
            let title =
                if galera { "uses cleartext only; restart" } else { "offers no TLS to clients; restart" };
            round(builder, "D2", draft, edits, before, offer_before, None, clients, title)?;
        }
    }
    if galera {
        for voter in voters.iter_mut() {
            arbitrators::round(builder, "D2", voter, To::Plain, true)?;
        }
    }
    patience::end(builder, "D2p", drafts, &waits, is_done)?;
    if change.has(Noun::Sst) {
        for draft in drafts.iter_mut() {
            let edits = ["tkey", "tcert", "tca", "ssl-mode"]
                .map(|key| Edit::Remove { group: "sst".into(), key: key.into() })
                .to_vec();
            let PlannedEdit { edit, diff, needs } = draft.edit(edits)?;
            let no_op = edit.is_no_op();
            let step = builder.add(
                format!("D3.{}", draft.name),
                "edit",
                format!("[sst] in {}: transfers in cleartext", draft.file.display()),
                vec![draft.name.clone()],
                EditParams { edit },
            );
            step.shell = draft.by_hand(&diff, vec![]);
            (step.diff, step.no_op, step.nature.needs) = (diff, no_op, needs);
        }
    }
    if Noun::ALL.iter().all(|&noun| change.has(noun)) {
        let of_nodes = drafts.iter().map(|draft| &***draft);
        retire(builder, "D4", of_nodes.chain(voters.iter().map(|voter| &voter.member)));
    }
    Ok(())
}

fn everybody(drafts: &[Draft], voters: &[ArbitratorDraft]) -> Vec<NodeName> {
    let voters = voters.iter().map(|voter| voter.member.name.clone());
    drafts.iter().map(|draft| draft.name.clone()).chain(voters).collect()
}

fn rotate(
    world: &mut World<'_>,
    change: &Change,
    drafts: &mut [Draft],
    voters: &[ArbitratorDraft],
    builder: &mut Builder,
) -> Result<(), PlanError> {
    for draft in drafts.iter() {
        if draft.view.galera_state() != GaleraState::Strict {
            return Err(refuse(format!(
                "{} does not use TLS only, so there is nothing to rotate safely\n  why:  its provider is {}\n  next: sealion enable galera",
                draft.name,
                draft.view.galera_state()
            )));
        }
    }
    if change.has(Noun::Ca) {
        return rotate_ca(world, drafts, voters, builder);
    }
    for draft in drafts.iter() {
        let step = new_certificate(
            world,
            draft,
            format!("{} uses a new certificate for nodes and clients, without a restart", draft.name),
            builder,
        )?;
        step.sql = vec![
            "FLUSH LOCAL SSL;  -- with client TLS: reloads the provider's certificate too".into(),
            "SET GLOBAL wsrep_provider_options='socket.ssl_reload=1';  -- without".into(),
        ];
        // As the server itself does it where it offers TLS; else the provider is told.
        let reload = if draft.view.offers_client_tls() {
            "FLUSH LOCAL SSL"
        } else {
            "SET GLOBAL wsrep_provider_options='socket.ssl_reload=1'"
        };
        step.shell.extend(draft.by_hand(&[], vec![draft.sql(reload)]));
    }
    for voter in voters {
        let title = format!("{} (arbitrator) uses a new certificate; restart", voter.member.name);
        let step = new_certificate(world, &voter.member, title, builder)?;
        step.restarts_server = true;
        step.shell.extend(arbitrators::restart_by_hand(&voter.member, &[]));
    }
    Ok(())
}

/// The cluster's CA is replaced: behind what every topology does, a restart of each node, without which it trusts the old one on.
fn rotate_ca(
    world: &mut World<'_>,
    drafts: &mut [Draft],
    voters: &[ArbitratorDraft],
    builder: &mut Builder,
) -> Result<(), PlanError> {
    let members: Vec<&MemberDraft> =
        drafts.iter().map(|draft| &***draft).chain(voters.iter().map(|voter| &voter.member)).collect();
    let restarts = |name: &NodeName| voters.iter().any(|voter| voter.member.name == *name);
    let old_sha256 = rollover::plan(world, &members, &restarts, builder)?;
    for draft in drafts.iter_mut().rev() {
        let letter = draft.letter;
        let PlannedEdit { edit, .. } = draft.edit(vec![])?;
        let round = RoundParams::as_it_is(edit, letter);
        let step = builder.add(
            format!("R5.{}", draft.name),
            "distrust",
            format!("{} forgets the old CA; restart", draft.name),
            vec![draft.name.clone()],
            DistrustParams { old_sha256: old_sha256.clone(), round },
        );
        (step.restarts_server, step.nature.undo_restarts) = (true, Some(false));
        step.shell = restart_by_hand(draft, &[]);
    }
    rollover::refused_by_all(builder, old_sha256, everybody(drafts, voters));
    Ok(())
}
