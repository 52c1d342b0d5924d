//! Steps that every topology plans in the same way.

use model::{Change, LinkKind, NodeName, Noun, Step, TlsProfile, Verb};

use server::Flavour;
use server::rights::{Rights, Use};
use trust::KeyKind;

use crate::by_hand;
use crate::draft::{MemberDraft, NodeDraft, PlannedEdit};
use crate::files::{CA_FILE, CERT_FILE, CLIENT_CA_FILE, KEY_FILE};
use crate::needs;
use crate::plan::{Builder, PlanError, refuse};
use crate::steps::{
    AuthorityParams, ClientTrustGateParams, ClientTrustParams, ClientsGateParams, ProfileGateParams,
    ProveParams, RequireParams, RotateParams,
};
use crate::world::World;

/// What a plan says of users where none of its steps changes anything, or restarts a server.
pub const ALREADY_DONE: &str = "already done; nothing to do";
pub const NO_RESTART: &str = "no server is restarted";

/// What these steps need, with the privileges of SQL that a topology's steps use; nothing where they change nothing.
pub fn rights(steps: &[Step], sql: &str) -> Vec<String> {
    let does = |is: &dyn Fn(&Step) -> bool| steps.iter().any(|step| !step.no_op && is(step));
    if !does(&|step| !step.only_looks) {
        return vec![];
    }
    let canary = if does(&|step| step.kind == "prove") { "; ALL on sealion_canary" } else { "" };
    let file = if does(&|step| !step.diff.is_empty()) { "the option file and " } else { "" };
    let service = if does(&|step| step.restarts_server) { "; stop and start the service" } else { "" };
    vec![
        format!("SQL: {sql}{canary} (sealion grants)"),
        format!("host: write to {file}the TLS directory of each node{service}"),
    ]
}

/// What is not encrypted after these are disabled, whether or not it was before.
pub fn cleartext_after(change: &Change) -> Vec<String> {
    let lost = [
        (Noun::Galera, "afterwards, writesets and IST between the nodes are cleartext"),
        (Noun::Sst, "afterwards, state snapshot transfers (SST) are cleartext"),
        (Noun::Replication, "afterwards, what replicas receive is cleartext"),
        (
            Noun::Clients,
            "afterwards, the servers offer no TLS: clients that require it cannot connect, all others use cleartext",
        ),
        (Noun::RequireTls, "afterwards, clients may connect in cleartext"),
        (Noun::Accounts, "afterwards, the accounts may be used in cleartext"),
    ];
    lost.into_iter().filter(|(noun, _)| change.has(*noun)).map(|(_, text)| text.to_owned()).collect()
}

/// Those of SQL that a change needs on servers of this flavour.
pub fn privileges(change: &Change, used_to: Use, flavour: Flavour) -> String {
    let of = |used_to| server::rights::rights(used_to, flavour);
    let mut all = of(used_to).map(Rights::listed).unwrap_or_default();
    if change.has(Noun::Accounts)
        && let Some(accounts) = of(Use::ChangeAccounts)
    {
        all += &format!(", {}", accounts.listed());
        accounts.on.iter().for_each(|(right, object)| all += &format!(", {right} on {object}"));
    }
    if change.profile.is_some()
        && let Some(handshakes) = of(Use::SeeHandshakes)
    {
        handshakes.on.iter().for_each(|(right, object)| all += &format!(", {right} on {object}"));
    }
    all
}

/// The CA, and key and certificate of each node.
pub fn key_files<'d>(
    world: &World<'_>,
    drafts: impl Iterator<Item = &'d MemberDraft>,
    builder: &mut Builder,
) {
    let cluster = world.cluster.clone();
    builder
        .add(
            "E0.ca".into(),
            "authority",
            if trust::Elsewhere::is_at(&world.authority.dir) {
                format!("use the certificates imported into {}", world.authority.dir.display())
            } else {
                format!(
                    "create a CA for cluster {cluster} only, with an encrypted key, in {}",
                    world.authority.dir.display()
                )
            },
            vec![],
            // Not the name of a node: a leaf must not have its CA's name.
            AuthorityParams { common_name: format!("sealion CA of {cluster}") },
        )
        .no_op = world.authority.dir.join(trust::CA_CERT_FILE).exists();
    if let Some(step) = builder.steps.last_mut() {
        step.nature.needs = vec![needs::key_files(None, &world.authority.dir)];
        if !trust::Elsewhere::is_at(&world.authority.dir) {
            step.shell = by_hand::authority(
                &world.authority.dir,
                &format!("sealion CA of {cluster}"),
                world.authority.key,
                world.authority.ca_days,
            );
        }
    }
    for draft in drafts {
        key_and_certificate(world, "E0", draft, builder);
    }
}

/// The kind is named where it is not what everybody gets.
pub fn key_named(world: &World<'_>) -> String {
    match world.authority.key {
        KeyKind::EcP256 => "key".into(),
        other @ KeyKind::Rsa { .. } => format!("key ({other})"),
    }
}

/// Key and certificate of one node.
pub fn key_and_certificate(world: &World<'_>, prefix: &str, draft: &MemberDraft, builder: &mut Builder) {
    let step = builder.add(
        format!("{prefix}.{}", draft.name),
        "files",
        format!("write {}, certificate and CA to {}", key_named(world), draft.tls_dir.display()),
        vec![draft.name.clone()],
        serde_json::json!({}),
    );
    step.no_op = draft.has_files;
    // They are complete in sealion's own directory before they are placed.
    step.nature.needs = draft.key_file_needs(&[&draft.state_dir, &draft.tls_dir]);
    step.shell =
        by_hand::leaf(&world.authority.dir, draft, world.authority.key, world.authority.leaf_days, false);
}

/// One server trusts the CA of clients beside the cluster's, in a file that no member is judged by; nothing where clients have none.
pub fn client_trust(prefix: &str, draft: &NodeDraft, builder: &mut Builder) {
    if !draft.has_client_cas() {
        return;
    }
    let clients = &draft.clients;
    let after = Some(clients.wish.clone().unwrap_or_default());
    let no_op = clients.noted == after && clients.is_kept;
    let here = draft.path(CLIENT_CA_FILE);
    let what = if clients.wish.is_some() {
        "the cluster's CA and the clients'"
    } else {
        "no CA of clients any more"
    };
    let step = builder.add(
        format!("{prefix}.{}", draft.name),
        "client-trust",
        format!("{} has {what} in {here}", draft.name),
        vec![draft.name.clone()],
        ClientTrustParams { before: clients.noted.clone(), after },
    );
    step.no_op = no_op;
    step.nature.needs = draft.key_file_needs(&[&draft.state_dir, &draft.tls_dir]);
    let (ca, own) = (by_hand::quoted(&draft.path(CA_FILE)), by_hand::quoted(&here));
    let line = match &clients.wish {
        Some(pem) => format!("{{ cat {ca}; cat <<'CLIENTS'; }} > {own}\n{}\nCLIENTS", pem.trim_end()),
        None => format!("cat {ca} > {own}"),
    };
    step.shell = draft.by_hand(
        &[],
        vec![
            line,
            format!("chmod 0644 {own}"),
            "# where ssl_ca names it: FLUSH SSL (MariaDB), ALTER INSTANCE RELOAD TLS (MySQL)".into(),
        ],
    );
}

/// Certificates of the clients' CA are let in as clients', and as nothing else.
pub fn client_trust_gate<'d>(drafts: impl Iterator<Item = &'d NodeDraft>, builder: &mut Builder) {
    let drafts: Vec<&NodeDraft> = drafts.collect();
    let Some(ca) = drafts.iter().find_map(|draft| draft.clients.wish.clone()) else { return };
    let nodes = drafts.iter().map(|draft| draft.name.clone()).collect();
    let title =
        "check that certificates of clients are taken from clients, and by no Galera node from a member";
    let step = builder.add(
        "E5t.look".into(),
        "client-trust-gate",
        title.into(),
        nodes,
        ClientTrustGateParams { ca },
    );
    step.shell = vec![format!("# {title}: openssl s_client -connect HOST:PORT -cert CERT -key KEY")];
}

/// A CA is made on the way, and goes with the files that it has signed: a change is about it only where it is replaced.
///
/// # Errors
/// The change is about it, and does not replace it.
pub fn only_rotated(change: &Change) -> Result<(), PlanError> {
    if change.verb == Verb::Rotate || !change.has(Noun::Ca) {
        return Ok(());
    }
    Err(refuse(format!(
        "the CA cannot be the subject of {}\n  why:  it is made with the first certificates; it can be replaced only\n  next: sealion plan rotate ca, or          {} without ca",
        change.verb, change.verb
    )))
}

/// # Errors
/// A profile is of what clients are offered, and is set where they are.
pub fn profile_of_clients(change: &Change) -> Result<(), PlanError> {
    match change.profile {
        Some(profile) if change.verb != Verb::Enable || !change.has(Noun::Clients) => Err(refuse(format!(
            "the profile {profile} is of what clients are offered, and this change is not about that\n  why:  it sets tls_version and the suites \
             of the client port, together with the certificate there\n  next: sealion plan enable clients --profile {profile}"
        ))),
        _ => Ok(()),
    }
}

/// Before a profile: whoever uses what it does not have would be shut out.
pub fn profile_gate<'d>(
    builder: &mut Builder,
    profile: Option<TlsProfile>,
    drafts: impl Iterator<Item = &'d NodeDraft>,
) {
    let Some(profile) = profile else { return };
    let is_set = drafts.map(|draft| draft.rules.profile()).all(|one| one == Some(profile));
    let step = builder.add(
        "E0.look".into(),
        "profile-gate",
        format!("check that no client uses what the profile {profile} does not have"),
        vec![],
        ProfileGateParams { profile },
    );
    step.no_op = is_set;
    step.shell = by_hand::clients();
}

/// What has no certificate.
pub fn nothing_to_rotate() -> PlanError {
    refuse(
        "require-tls and accounts have nothing to rotate\n  why:  rotate replaces certificates\n  next: sealion plan rotate",
    )
}

/// Whether it is about `require_secure_transport`.
pub fn requires_tls(change: &Change) -> bool {
    change.has(Noun::Clients) || change.has(Noun::RequireTls)
}

/// The first server that offers TLS whatever it is told: nothing of it can be disabled but that it is required.
pub fn always_offers(world: &mut World<'_>) -> Option<NodeName> {
    let nodes = world.nodes.iter_mut();
    let mut of_mysql = nodes.filter_map(|node| {
        let is_so = node.view().is_ok_and(|view| view.capabilities().live_tls_files);
        is_so.then(|| node.name().clone())
    });
    of_mysql.next()
}

/// As much of a change as can be disabled beside such a server.
pub fn but_the_offer(change: &Change) -> Change {
    let rest = change.nouns.iter().copied().filter(|noun| *noun != Noun::Clients);
    Change::new(change.verb, rest.chain([Noun::RequireTls]))
}

pub fn cannot_offer_none(name: &NodeName, change: &Change) -> PlanError {
    refuse(format!(
        "{name} cannot be made to offer no TLS while it runs\n  why:  MySQL offers TLS by default, with a certificate that it makes itself\n  \
         next: sealion plan {} disables all the rest: nobody must use TLS then (where enable was the last change: sealion undo)",
        but_the_offer(change)
    ))
}

/// Which commands lead on from a finished change that cannot be undone any more.
pub fn instead_of_undo(world: &mut World<'_>, change: &Change) -> String {
    let topology = world.topology;
    let all = Change::new(Verb::Disable, topology.default_nouns(&mut world.nodes).iter().copied());
    let disable = if always_offers(world).is_some() { but_the_offer(&all) } else { all };
    if change.verb == Verb::Disable {
        return format!(
            "sealion plan {}, which encrypts it again, with new keys",
            Change { verb: Verb::Enable, ..change.clone() }
        );
    }
    format!("sealion plan {disable}, which leads back to cleartext; sealion rotate makes new keys")
}

/// Nobody may connect without TLS any more when it is required.
pub fn clients_gate(builder: &mut Builder) {
    let title = "check that no client connects without TLS any more";
    gate(builder, "E5.look", title, ClientsGateParams::default());
}

/// The same on the way back, behind steps that let cleartext in: an undo cuts nobody off either.
pub fn clients_gate_back(builder: &mut Builder) {
    let is_done = builder.steps.iter().filter(|step| step.kind == "require").all(|step| step.no_op);
    let title = "before an undo: check that no client connects without TLS";
    gate(builder, "D0.look", title, ClientsGateParams { on_the_way_back: true });
    if let Some(step) = builder.steps.last_mut() {
        step.no_op = is_done;
    }
}

fn gate(builder: &mut Builder, id: &str, title: &str, params: ClientsGateParams) {
    let step = builder.add(id.into(), "clients-gate", title.into(), vec![], params);
    step.shell = by_hand::clients();
}

/// The last step: links of these kinds must be sealed.
pub fn prove(builder: &mut Builder, id: &str, kinds: Vec<LinkKind>, ports: &[u16]) {
    let step = builder.add(
        id.into(),
        "prove",
        "verify every link: capture it while test rows are written".into(),
        vec![],
        ProveParams { kinds },
    );
    step.shell = by_hand::prove(ports);
}

/// Keys and certificates are removed: the last step of a change after which nothing uses them.
pub fn retire<'d>(builder: &mut Builder, prefix: &str, drafts: impl Iterator<Item = &'d MemberDraft>) {
    for draft in drafts {
        let step = builder.add(
            format!("{prefix}.{}", draft.name),
            "retire",
            format!("remove key and certificate from {}", draft.tls_dir.display()),
            vec![draft.name.clone()],
            serde_json::json!({}),
        );
        let files = [KEY_FILE, CERT_FILE, CA_FILE].map(|file| by_hand::quoted(&draft.path(file)));
        step.shell = draft.by_hand(&[], vec![format!("rm {}", files.join(" "))]);
        step.no_op = draft.is_bare;
        step.nature.needs = draft.key_file_needs(&[&draft.state_dir]);
    }
}

/// One node requires TLS of its clients, or no longer does.
///
/// # Errors
/// Its file cannot be edited.
pub fn require(
    builder: &mut Builder,
    prefix: &str,
    draft: &mut NodeDraft,
    on: bool,
) -> Result<(), PlanError> {
    let edit = if on {
        draft.set("require_secure_transport", "ON".into())
    } else {
        draft.unset("require_secure_transport")
    };
    let PlannedEdit { edit, diff, needs } = draft.edit(vec![edit])?;
    let before = draft.view.requires_secure_transport();
    let no_op = edit.is_no_op() && before == on;
    let step = builder.add(
        format!("{prefix}.{}", draft.name),
        "require",
        format!(
            "{} {}",
            draft.name,
            if on { "requires TLS from clients" } else { "no longer requires TLS from clients" }
        ),
        vec![draft.name.clone()],
        RequireParams { edit, before, after: on },
    );
    let statement = format!("SET GLOBAL require_secure_transport={}", if on { "ON" } else { "OFF" });
    step.sql = vec![format!("{statement};  -- and in the file, or the next start forgets it: --format diff")];
    step.shell = draft.by_hand(&diff, vec![draft.sql(&statement)]);
    (step.no_op, step.diff, step.nature.needs) = (no_op, diff, needs);
    Ok(())
}

/// The step that replaces one member's certificate.
///
/// # Errors
/// It shows none.
pub fn new_certificate<'b>(
    world: &mut World<'_>,
    draft: &MemberDraft,
    title: String,
    builder: &'b mut Builder,
) -> Result<&'b mut Step, PlanError> {
    let topology = world.topology;
    let pem = topology.shows(world, &draft.name).map_err(refuse)?;
    let leaf = trust::inspect(pem.as_bytes()).map_err(refuse)?;
    let serial_before = leaf.first().map(|leaf| leaf.serial_hex.clone()).unwrap_or_default();
    let step = builder.add(
        format!("R1.{}", draft.name),
        "rotate",
        title,
        vec![draft.name.clone()],
        RotateParams { serial_before },
    );
    // The old ones are kept, and the new ones complete, in sealion's own directory.
    step.nature.needs = draft.key_file_needs(&[&draft.state_dir, &draft.state_dir, &draft.tls_dir]);
    step.shell =
        by_hand::leaf(&world.authority.dir, draft, world.authority.key, world.authority.leaf_days, false);
    Ok(step)
}
