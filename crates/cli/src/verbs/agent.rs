//! `sealion agent`: the far end of a sealion that works on this machine from another one.

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
