//! Processor time of this process and of others, microseconds.

use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{SysconfVar, sysconf};

/// User and system time of this process.
pub fn own_us() -> u64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| {
        let us = |time: nix::sys::time::TimeVal| {
            u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec()).unwrap_or(0)
        };
        us(usage.user_time()) + us(usage.system_time())
    })
}

/// User and system time of another process (fields 14 and 15 of /proc/PID/stat); `None` when it is gone.
pub fn process_us(pid: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let per_s =
        sysconf(SysconfVar::CLK_TCK).ok().flatten().and_then(|n| u64::try_from(n).ok()).unwrap_or(100);
    Some(ticks * 1_000_000 / per_s.max(1))
}
