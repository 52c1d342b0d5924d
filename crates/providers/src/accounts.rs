//! Accounts that must be used over TLS: one look, then a step for each.

use model::{Change, NodeName, Noun, Verb};
use server::accounts::{Account, AccountName, AccountTls, require_tls};
use server::{Channel, Flavour};

use crate::by_hand;
use crate::plan::{Builder, PlanError, refuse};
use crate::replication::is_source;
use crate::steps::{AccountParams, AccountsGateParams};
use crate::world::World;

/// So many accounts are named.
const NAMED_MAX: usize = 8;

/// A server on which accounts are written, and those that get them from there.
pub struct AccountsOf {
    pub node: NodeName,
    /// Of the node.
    address: String,
    flavour: Flavour,
    pub followers: Vec<NodeName>,
    pub accounts: Vec<Account>,
    /// Those of each follower.
    pub of_followers: Vec<(NodeName, Vec<Account>)>,
    /// What is to be said of replicas that get the change and are not in the inventory.
    strangers: Vec<String>,
}

impl AccountsOf {
    /// # Errors
    /// They cannot be read.
    pub fn ask(world: &mut World<'_>, node: NodeName, followers: Vec<NodeName>) -> Result<Self, PlanError> {
        let mut accounts = read(world, &node)?;
        let mut of_followers = Vec::new();
        for follower in &followers {
            let own = read(world, follower)?;
            // On another server sealion may be logged in with another one, over the socket there.
            for one in own.iter().filter(|one| one.is_own) {
                accounts
                    .iter_mut()
                    .filter(|known| known.name == one.name)
                    .for_each(|known| known.is_own = true);
            }
            of_followers.push((follower.clone(), own));
        }
        let one = world.node(&node).map_err(refuse)?;
        let address = one.spec().address.clone();
        let flavour = one.view().map_err(refuse)?.capabilities().flavour;
        let strangers = strangers(world, std::iter::once(&node).chain(&followers));
        Ok(Self { node, address, flavour, followers, accounts, of_followers, strangers })
    }

    /// For what the plan was made.
    pub fn state(&self) -> String {
        let rows = |accounts: &[Account]| -> String {
            let row = |one: &Account| format!("  {} {:?} {}", one.name, one.tls, one.is_local);
            accounts.iter().map(row).collect::<Vec<_>>().join("\n")
        };
        let mut text = format!("accounts of {}\n{}", self.node, rows(&self.accounts));
        for (follower, accounts) in &self.of_followers {
            text += &format!("accounts of {follower}\n{}", rows(accounts));
        }
        text
    }

    /// Why a change of `name` on the node would not be the same change on a follower.
    fn differs(&self, name: &AccountName) -> Option<String> {
        let here = self.accounts.iter().find(|one| one.name == *name)?.tls;
        self.of_followers.iter().find_map(|(follower, accounts)| {
            match accounts.iter().find(|one| one.name == *name) {
                None => Some(format!("{follower} has no account {name}")),
                Some(there) if there.tls != here => Some(format!(
                    "{name} has {} on {}, and {} on {follower}",
                    word(here),
                    self.node,
                    word(there.tls)
                )),
                Some(_) => None,
            }
        })
    }
}

/// Servers that have more replicas than the inventory knows: the statement goes to those as well, and where an account is missing their
/// replication stops. Counted, because a replica need not connect from the address that it listens on.
fn strangers<'n>(world: &mut World<'_>, servers: impl Iterator<Item = &'n NodeName>) -> Vec<String> {
    let nodes = world.nodes.iter_mut().chain(&mut world.others);
    let channels: Vec<Channel> = nodes.flat_map(|node| node.channels().unwrap_or_default()).collect();
    let mut lines = Vec::new();
    for name in servers {
        let Ok(node) = world.node(name) else { continue };
        let spec = node.spec().clone();
        let reads = |channel: &&Channel| {
            is_source(&spec, channel) && channel.receiver == server::ThreadState::Running
        };
        let known = channels.iter().filter(reads).count();
        match node.replicas() {
            Ok(replicas) if replicas.len() > known => lines.push(format!(
                "{} from {name} ({}), and the inventory has {known} of them: ALTER USER goes to the others too, and stops the replication of one \
                 that does not have the account",
                model::text::counted(replicas.len(), "replica reads", "replicas read"),
                model::link::some_of(&replicas, NAMED_MAX)
            )),
            Ok(_) => {}
            Err(error) => lines.push(format!(
                "whether {name} has replicas that are not in the inventory cannot be told ({})",
                error.first_line()
            )),
        }
    }
    lines
}

fn read(world: &mut World<'_>, node: &NodeName) -> Result<Vec<Account>, PlanError> {
    world.node(node).map_err(refuse)?.accounts().map_err(|error| {
        refuse(format!(
            "the accounts of {node} cannot be read\n  why:  {}\n  next: GRANT SELECT ON mysql.user to the account that sealion uses",
            error.first_line()
        ))
    })
}

fn word(tls: AccountTls) -> &'static str {
    match tls {
        AccountTls::None => "REQUIRE NONE",
        AccountTls::Tls => "REQUIRE SSL",
        AccountTls::Certificate => "REQUIRE X509 or more",
    }
}

/// A name that cannot be shown as it is, or that no statement finds: MariaDB cuts blanks at its end.
fn is_odd(name: &AccountName) -> bool {
    [&name.user, &name.host].iter().any(|part| part.contains(char::is_control) || part.ends_with(' '))
}

/// How much of the network a host name covers: one host, then a pattern by how little of it is fixed.
fn reach(host: &str) -> (bool, std::cmp::Reverse<usize>) {
    let is_pattern = host.contains(['%', '_']);
    let fixed = host.chars().filter(|char| !matches!(char, '%' | '_')).count();
    (is_pattern, std::cmp::Reverse(if is_pattern { fixed } else { 0 }))
}

/// Those that `change` is about, smallest reach first: what goes wrong is met before it meets many.
fn chosen<'a>(world: &World<'_>, change: &Change, of: &'a AccountsOf) -> Vec<&'a AccountName> {
    let before = if change.verb == Verb::Enable { AccountTls::None } else { AccountTls::Tls };
    let mut chosen: Vec<&AccountName> = of
        .accounts
        .iter()
        .filter(|one| one.tls == before && !one.is_local && !world.leave_accounts.contains(&one.name))
        .filter(|one| !is_odd(&one.name))
        // Over the socket it would lock itself out, and could not take that back.
        .filter(|one| change.verb != Verb::Enable || !one.is_own)
        .map(|one| &one.name)
        .collect();
    chosen.sort_by_key(|name| (name.user.is_empty(), reach(&name.host), (*name).clone()));
    chosen
}

/// The look, and a step for each account; nothing where the change is not about accounts.
///
/// # Errors
/// An account that was named is nowhere.
pub fn plan(
    world: &World<'_>,
    change: &Change,
    all: &[AccountsOf],
    builder: &mut Builder,
) -> Result<(), PlanError> {
    if !change.has(Noun::Accounts) {
        return Ok(());
    }
    // Of an estate it may be an account of another part.
    let named = world.leave_accounts.iter().chain(&world.force_accounts);
    for named in named.filter(|_| world.others.is_empty()) {
        if !all.iter().any(|of| of.accounts.iter().any(|one| one.name == *named)) {
            return Err(no_such_account(named, all.iter().map(|of| &of.node)));
        }
    }
    let on = change.verb == Verb::Enable;
    for forced in &world.force_accounts {
        if world.leave_accounts.contains(forced) {
            return Err(refuse(format!(
                "{forced} is to be left and forced\n  why:  --leave leaves it as it is, --force changes it\n  next: give one of the two"
            )));
        }
        if world.others.is_empty() && !all.iter().any(|of| chosen(world, change, of).contains(&forced)) {
            return Err(cannot_be_forced(forced));
        }
    }
    for of in all {
        if let Some((name, why)) =
            chosen(world, change, of).into_iter().find_map(|name| Some((name, of.differs(name)?)))
        {
            return Err(refuse(format!(
                "{name} is not the same on all servers\n  why:  {why}: the change would stop its replication, or could not be undone there\n  next: make \
                 it the same, or leave it as it is: --leave {}@{}",
                name.user, name.host
            )));
        }
    }
    if on {
        gate(world, change, all, builder, true);
    }
    for of in all {
        for name in chosen(world, change, of) {
            let is_only = all.len() == 1 && world.others.is_empty();
            let node = if is_only { String::new() } else { format!("{}.", of.node) };
            let (letter, what) = if on { ("A1", "must use TLS") } else { ("A2", "may be used without TLS") };
            let step = builder.add(
                format!("{letter}.{node}{}@{}", name.user, name.host),
                "account",
                format!("{name} {what}, from its next login on"),
                vec![of.node.clone()],
                AccountParams { account: name.clone(), requires_after: on, followers: of.followers.clone() },
            );
            let sql = require_tls(name, on);
            step.sql = vec![format!("{sql};")];
            step.shell = by_hand::part(&of.node, &of.address, vec![by_hand::sql(of.flavour, &sql)]);
        }
    }
    if !on {
        gate(world, change, all, builder, false);
    }
    Ok(())
}

pub fn no_such_account<'n>(named: &AccountName, nodes: impl Iterator<Item = &'n NodeName>) -> PlanError {
    let nodes: Vec<String> = nodes.map(ToString::to_string).collect();
    refuse(format!(
        "there is no account {named} on {}\n  why:  --leave and --force name accounts as CREATE USER does, with user and host\n  next: \
                 SELECT User, Host FROM mysql.user",
        nodes.join(", ")
    ))
}

pub fn cannot_be_forced(forced: &AccountName) -> PlanError {
    refuse(format!(
        "{forced} is not changed, so it cannot be forced\n  why:  it requires TLS already, logs in over the unix socket, or is the account of \
         sealion itself\n  next: leave --force out"
    ))
}

/// What somebody has chosen of single accounts: whoever agrees to a plan agrees to that.
pub fn choices(world: &World<'_>) -> String {
    let list = |what: &str, names: &[AccountName]| -> String {
        names.iter().map(|name| format!("{what} {name}")).collect::<Vec<_>>().join("\n")
    };
    list("leave", &world.leave_accounts) + &list("force", &world.force_accounts)
}

/// Accounts of a server that nobody can use any more when it offers no TLS. `goes`: they need not use it by then.
///
/// # Errors
/// Why that cannot be told.
pub fn that_require_tls(
    world: &mut World<'_>,
    node: &NodeName,
    goes: &dyn Fn(&Account) -> bool,
) -> Result<Vec<String>, String> {
    let node = world.node(node).map_err(|error| error.0)?;
    let accounts = node.accounts().map_err(|error| error.first_line())?;
    let stays = |one: &&Account| one.tls != AccountTls::None && !one.is_local && !goes(one);
    Ok(accounts.iter().filter(stays).map(|one| one.name.to_string()).collect())
}

/// Those that let nobody in without a certificate of a client.
///
/// # Errors
/// The server does not tell.
pub fn that_require_a_certificate(world: &mut World<'_>, node: &NodeName) -> Result<Vec<String>, String> {
    let node = world.node(node).map_err(|error| error.0)?;
    let accounts = node.accounts().map_err(|error| error.first_line())?;
    let requires = |one: &&Account| one.tls == AccountTls::Certificate;
    Ok(accounts.iter().filter(requires).map(|one| one.name.to_string()).collect())
}

pub fn some_of(names: &[String]) -> String {
    model::link::some_of(names, NAMED_MAX)
}

/// Where servers offer no TLS any more, accounts that require it are shut out.
///
/// # Errors
/// There are such accounts. The lines are for the operator, where that cannot be told.
pub fn shut_out(
    world: &mut World<'_>,
    change: &Change,
    nodes: impl Iterator<Item = NodeName>,
) -> Result<Vec<String>, PlanError> {
    if change.verb != Verb::Disable || !change.has(Noun::Clients) {
        return Ok(vec![]);
    }
    let mut lines = Vec::new();
    for node in nodes {
        let left = world.leave_accounts.clone();
        let goes = |one: &Account| {
            change.has(Noun::Accounts) && one.tls == AccountTls::Tls && !left.contains(&one.name)
        };
        let shut_out = match that_require_tls(world, &node, &goes) {
            Ok(shut_out) => shut_out,
            Err(why) => {
                lines.push(format!(
                    "accounts of {node} that require TLS cannot log in any more; which, cannot be told ({why})"
                ));
                continue;
            }
        };
        if !shut_out.is_empty() {
            return Err(refuse(format!(
                "accounts of {node} require TLS, and could not log in any more\n  why:  {}\n  next: sealion plan {} \
                 (it changes those that have REQUIRE SSL), or ALTER USER ... REQUIRE NONE",
                some_of(&shut_out),
                world.advised(change, &[Noun::Accounts])
            )));
        }
    }
    Ok(lines)
}

/// A replica that connects without TLS, where every account with which it may log in requires TLS.
///
/// # Errors
/// It would be refused. The line is for the operator, where that cannot be told.
pub fn refuse_replica(
    world: &mut World<'_>,
    change: &Change,
    source: &NodeName,
    replica: &NodeName,
    channel: &Channel,
) -> Result<Option<String>, PlanError> {
    let all = match world.node(source).map_err(refuse)?.accounts() {
        Ok(all) => all,
        Err(error) => {
            return Ok(Some(format!(
                "whether the account of {replica} on {source} requires TLS cannot be told ({})",
                error.first_line()
            )));
        }
    };
    let lets_in = |one: &&Account| {
        let goes = change.has(Noun::Accounts)
            && one.tls == AccountTls::Tls
            && !world.leave_accounts.contains(&one.name);
        one.tls == AccountTls::None || goes
    };
    let its: Vec<&Account> =
        all.iter().filter(|one| one.name.user == channel.user && !one.is_local).collect();
    if its.is_empty() || its.iter().any(lets_in) {
        return Ok(None);
    }
    Err(refuse(format!(
        "{replica} replicates from {source} with an account that requires TLS\n  why:  {}: without TLS it would be refused (1045)\n  next: sealion \
         plan disable replication,accounts (it changes those that have REQUIRE SSL), or ALTER USER ... REQUIRE NONE",
        its.iter().map(|one| format!("{} has {}", one.name, word(one.tls))).collect::<Vec<_>>().join(", ")
    )))
}

/// Nobody could log in with an account that must use TLS.
pub fn no_tls_offered(node: &NodeName, advised: &Change) -> PlanError {
    refuse(format!(
        "{node} does not offer TLS to clients, as far as it tells\n  why:  with an account that must use TLS nobody could log in there any \
         more\n  next: sealion plan {advised}"
    ))
}

/// `is_first`: before accounts must use TLS. Else behind those that need not any more: on the way back it comes first.
fn gate(world: &World<'_>, change: &Change, all: &[AccountsOf], builder: &mut Builder, is_first: bool) {
    let mut accounts: Vec<AccountName> =
        all.iter().flat_map(|of| chosen(world, change, of)).cloned().collect();
    accounts.retain(|name| !world.force_accounts.contains(name));
    let is_nobody = accounts.is_empty() && world.force_accounts.is_empty();
    let (id, title) = if is_first {
        ("A0.look", "check that nobody uses these accounts in cleartext")
    } else {
        ("A3.look", "before an undo: check that nobody uses these accounts in cleartext")
    };
    let forced = world.force_accounts.clone();
    let step = builder.add(
        id.into(),
        "accounts-gate",
        title.into(),
        vec![],
        AccountsGateParams { accounts, forced, on_the_way_back: !is_first },
    );
    step.no_op = is_nobody;
    step.shell =
        [vec!["# who uses cleartext is named: sealion watch-clients --for 60s".into()], by_hand::clients()]
            .concat();
}

/// What an operator should know before they agree.
pub fn impact(world: &World<'_>, change: &Change, all: &[AccountsOf]) -> Vec<String> {
    if !change.has(Noun::Accounts) {
        return Vec::new();
    }
    let on = change.verb == Verb::Enable;
    let count: usize = all.iter().map(|of| chosen(world, change, of).len()).sum();
    let accounts = if count == 1 { "1 account".to_owned() } else { format!("{count} accounts") };
    let mut lines = vec![if on {
        format!(
            "{accounts} must use TLS from the next login on; open sessions stay as they are. Who logs in less often than the capture lasts \
             (--watch-clients-s) is not seen before. They must use it over the unix socket too, where a session of a few milliseconds may \
             not be seen"
        )
    } else {
        format!("afterwards, {accounts} may be used in cleartext")
    }];
    let odd: Vec<String> = all
        .iter()
        .flat_map(|of| &of.accounts)
        .filter(|one| is_odd(&one.name) && !one.is_local)
        .map(|one| format!("\"{}\"@\"{}\"", one.name.user.escape_default(), one.name.host.escape_default()))
        .collect();
    if !odd.is_empty() {
        lines.push(format!(
            "stays as it is, since its name ends with a blank or has control characters: {}",
            odd.join(", ")
        ));
    }
    if count > 0 {
        lines.extend(all.iter().flat_map(|of| of.strangers.clone()));
    }
    for of in all {
        for (follower, accounts) in &of.of_followers {
            let only: Vec<String> = accounts
                .iter()
                .filter(|one| !one.is_local && !of.accounts.iter().any(|known| known.name == one.name))
                .map(|one| one.name.to_string())
                .collect();
            if !only.is_empty() {
                let names = model::link::some_of(&only, NAMED_MAX);
                lines.push(format!("on {follower} only, and stays as it is: {names}"));
            }
        }
    }
    let own = all.iter().flat_map(|of| &of.accounts).filter(|one| one.is_own && !one.is_local);
    let own: Vec<String> =
        own.filter(|one| one.tls == AccountTls::None).map(|one| one.name.to_string()).collect();
    if on && !own.is_empty() {
        lines.push(format!("{} stays as it is: sealion itself logs in with it", own.join(", ")));
    }
    if on && !world.force_accounts.is_empty() {
        let names: Vec<String> = world.force_accounts.iter().map(ToString::to_string).collect();
        lines.push(format!(
            "whoever uses {} in cleartext is refused at the next login (--force)",
            names.join(", ")
        ));
    }
    lines
}
