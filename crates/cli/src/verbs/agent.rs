//! `sealion agent`: the far end of a sealion that works on this machine from another one.

use std::path::Path;

use clap::{ArgGroup, Args};
use host::remote::{agent, fence, messages::AgentMode};
use site::OpsError;

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("mode").required(true),
    after_long_help = "sealion starts it itself, by ssh, on the machines of nodes that have `ssh` in the inventory. It listens on no port, reads
requests from standard input, and ends when that does.

Examples:
  sealion agent --read
  sealion agent --write"
)]
pub struct AgentArgs {
    /// Look only: files, processes, captures
    #[arg(long, group = "mode")]
    pub read: bool,
    /// Write files, and start and stop services, too
    #[arg(long, group = "mode")]
    pub write: bool,
}

pub fn agent(args: &AgentArgs) -> Result<u8, OpsError> {
    // A copy is started from the directory that holds it, which what it starts must not inherit.
    let own_dir = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    if own_dir.is_some() && std::env::current_dir().ok() == own_dir {
        let home = std::env::var_os("HOME").unwrap_or_else(|| "/".into());
        let _ = std::env::set_current_dir(home).or_else(|_| std::env::set_current_dir("/"));
    }
    let mode = if args.write { AgentMode::Write } else { AgentMode::Read };
    let fences = if mode == AgentMode::Read { fence::for_reading() } else { Vec::new() };
    agent::serve(std::io::stdin().lock(), std::io::stdout(), mode, env!("CARGO_PKG_VERSION"), fences).map_err(|error| {
        OpsError::usage(
            "cannot understand what came on standard input",
            error.to_string(),
            "let sealion start the agent: give the node `ssh` in the inventory, and use the same version on both machines",
        )
    })?;
    Ok(0)
}
