//! `sealion join`.

use std::time::Instant;

use ::change::Direction;
use change_ops::roll::{self, Settings};
use change_ops::unfinished::continuation;
use clap::Args;
use model::{Change, NodeName};
use site::{Cluster, OpsError};

use super::resume::{described, steps_left};
use super::{
    Consent, GateOptions, PlanOptions, TakeOver, change_json, confirm, confirm_what, from_inventory,
    not_offered, run, settings,
};
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

/// What a person consents to, of a join.
#[derive(Debug, Args)]
pub struct DataOptions {
    /// Replace the data of the new server, although it holds schemas of users
    ///
    /// Replace the data of the new server, although its data directory holds schemas of users that are not of this cluster. A state
    /// transfer removes them, and nothing brings them back.
    #[arg(long, hide_short_help = true)]
    pub replace_data: bool,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    mut_args(not_offered!("accept_unknown_clients", "accept_shut_out", "watch_clients_s", "leave", "force", "drain_s_max")),
    mut_arg("replace_data", |arg| arg.hide_short_help(false)),
    after_long_help = from_inventory!("  sealion join n4\n  sealion join n4 --yes 0123456789ab")
)]
pub struct JoinArgs {
    /// Name of the new node in the inventory
    ///
    /// Name of the new node in the inventory. Its server is installed and stopped, with an option file that has the settings of Galera
    /// (wsrep_on, wsrep_provider, wsrep_cluster_address). `joining = true` in its entry keeps it out of all other commands until it is
    /// a member.
    #[arg(value_name = "NODE")]
    pub node: String,
    #[command(flatten)]
    pub data: DataOptions,
    #[command(flatten)]
    pub yes: Consent,
    #[command(flatten)]
    pub how: PlanOptions,
    #[command(flatten)]
    pub over: TakeOver,
    #[command(flatten)]
    pub gates: GateOptions,
}

/// The inventory with this node among the nodes, and whether it was marked as no member yet.
pub(super) fn cluster_with(global: &Global, node: &str) -> Result<(Cluster, bool), OpsError> {
    let mut cluster = Cluster::read(&global.inventory)?;
    let name = NodeName::from(node);
    let is_marked = cluster.joining.iter().any(|one| one.name == name);
    cluster.admit(&name);
    if cluster.nodes.iter().any(|one| one.name == name) {
        return Ok((cluster, is_marked));
    }
    let names: Vec<&str> =
        cluster.nodes.iter().chain(&cluster.joining).map(|one| one.name.as_str()).collect();
    Err(OpsError::usage(
        format!("the inventory {} has no node \"{node}\"", global.inventory.display()),
        format!("its nodes are {}", names.join(", ")),
        format!(
            "add a [[node]] for it, like the others, with `joining = true` until it is a member: sealion join {node}"
        ),
    ))
}

pub fn join(global: &Global, args: &JoinArgs) -> Result<u8, OpsError> {
    let began = Instant::now();
    let (cluster, is_marked) = cluster_with(global, &args.node)?;
    let passphrase = cluster.passphrase(args.how.running.ca_passphrase_file.as_deref())?;
    let settings = Settings {
        takes_over: args.over.take_over,
        gates: args.gates.gates(),
        replace_data: args.data.replace_data,
        ..settings(&args.how)
    };
    let wish = Change::join(NodeName::from(args.node.as_str()));
    // The same command again finishes what it began.
    let open = continuation(&cluster, Some(Direction::Forward))?;
    if let Some(open) = open.filter(|open| open.plan.change == wish) {
        let (what, steps) = (described("resume", &open, &[]), steps_left(&open));
        let change = open.plan.change.to_string();
        confirm_what(&change, &open.plan, &what, &steps, args.yes.yes.as_deref())?;
        let code = run(global, &cluster, &change, |tell| {
            roll::go_on(&cluster, &settings, passphrase, Some(Direction::Forward), tell)
        })?;
        return Ok(ended(code, global, args, &cluster, is_marked));
    }
    let plan = roll::plan(&cluster, &settings, passphrase.clone(), &wish)?;
    if !plan.changes_anything() {
        if global.format == Format::Json {
            show::out(&change_json(&plan.id, "nothing-to-do", &[], &[], began));
        } else {
            show::out(&format!("{} is a member already; nothing to do", args.node));
            show::out("to verify it with captured packets: sealion status --canaries");
        }
        return Ok(ended(0, global, args, &cluster, is_marked));
    }
    settings.gates.fit(&plan)?;
    confirm(&plan, args.yes.yes.as_deref())?;
    let change = plan.change.to_string();
    let code =
        run(global, &cluster, &change, |tell| roll::apply(&cluster, &settings, passphrase, &plan, tell))?;
    Ok(ended(code, global, args, &cluster, is_marked))
}

/// What a person should do once it is a member.
fn ended(code: u8, global: &Global, args: &JoinArgs, cluster: &Cluster, is_marked: bool) -> u8 {
    if code == 0 {
        for line in roll::notes_of_join(cluster, &NodeName::from(args.node.as_str())) {
            show::tell(&show::fitted(&format!("{} ", show::bold("note:")), &line));
        }
        if is_marked {
            let line = format!(
                "remove `joining = true` of {} from {}: until then other commands leave it out",
                args.node,
                global.inventory.display()
            );
            show::tell(&show::fitted(&format!("{} ", show::bold("note:")), &line));
        }
    }
    code
}
