//! One server's way to the other, tried before a row is copied: a channel of its own that receives and applies nothing.

use std::time::{Duration, Instant};

use change::StepError;
use net::Client;
use net::sql_text::text;

use crate::End;
use crate::flow::{Flow, NotFollowing, begins_at};
use crate::steps::{RESUME, asked, fail};

/// Beside the channel without a name, which is the migration's.
const CHANNEL: &str = "'sealion_trial'";
/// From START SLAVE to the first answer of the source.
const TRIAL_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(100);

/// The follower logs in to the leader and is where that one is written to now. It begins at the end of the binary log, so that
/// nothing old comes; its applier is never started.
pub(crate) fn try_to_follow(flow: &Flow<'_>) -> Result<(), StepError> {
    let (mut leader, mut follower) = (flow.leader()?, flow.follower()?);
    forget(&mut follower, flow.to)?;
    let place = begins_at(&flow.log_end(&mut leader)?);
    let leader_id = leader.query("SELECT @@GLOBAL.server_id").map_err(asked(flow.from))?;
    flow.change_master(&mut follower, CHANNEL, &place)?;
    follower.execute(&format!("START SLAVE {CHANNEL} IO_THREAD")).map_err(asked(flow.to))?;
    let tried = wait(&mut follower, &leader_id.scalar().unwrap_or_default());
    let forgotten = forget(&mut follower, flow.to);
    tried.map_err(|NotFollowing { why, .. }| {
        let login = flow.login;
        let option = if flow.to == End::Target { "--follow-as" } else { "--back-as" };
        fail(
            &format!("the {} cannot replicate from {}:{} as {}", flow.to, login.host, login.port, login.user),
            why,
            &format!("the file of {option} says how it logs in; {RESUME}"),
        )
    })?;
    forgotten
}

fn wait(target: &mut Client, source_id: &str) -> Result<(), NotFollowing> {
    let began = Instant::now();
    loop {
        let rows = target
            .query(&format!("SHOW SLAVE {CHANNEL} STATUS"))
            .map_err(|error| NotFollowing { why: error.in_one_line(), has_error: true })?;
        let of = |column: &str| rows.text(0, column).unwrap_or_default().into_owned();
        let (running, error, server_id) =
            (of("Slave_IO_Running"), of("Last_IO_Error"), of("Master_Server_Id"));
        if running == "Yes" && server_id == source_id {
            return Ok(());
        }
        let failed = |why: String| Err(NotFollowing { why, has_error: true });
        if running == "Yes" && !["", "0"].contains(&server_id.as_str()) {
            return failed(format!(
                "a server with server_id {server_id} answers there, and the one that is meant has {source_id}"
            ));
        }
        if !error.is_empty() {
            return failed(error);
        }
        if began.elapsed() > TRIAL_MAX {
            return failed(format!("Slave_IO_Running is {running} after {} s", TRIAL_MAX.as_secs()));
        }
        std::thread::sleep(POLL);
    }
}

/// Also what somebody has left who was killed.
pub(crate) fn forget(target: &mut Client, end: End) -> Result<(), StepError> {
    let rows = target.query("SHOW ALL SLAVES STATUS").map_err(asked(end))?;
    let is_there = (0..rows.len())
        .any(|row| rows.text(row, "Connection_name").is_some_and(|name| text(&name) == CHANNEL));
    if is_there {
        for sql in [format!("STOP SLAVE {CHANNEL}"), format!("RESET SLAVE {CHANNEL} ALL")] {
            target.execute(&sql).map_err(asked(end))?;
        }
    }
    Ok(())
}
