//! How long it may take to write the tables of a server anew, by a sample that is measured there.

use model::text::{bytes, counted};
use server::RebuildSample;

use super::plan::Draft;
use crate::plan::{PlanError, refuse};
use crate::world::World;

const SECONDS_SPOKEN_MAX: u64 = 120;
const MINUTES_SPOKEN_MAX: u64 = 120;

/// A line of each server. The servers are at work one after the other.
pub(super) fn lines(world: &mut World<'_>, drafts: &[Draft]) -> Result<Vec<String>, PlanError> {
    let mut lines = Vec::new();
    let mut all_s = 0;
    for draft in drafts {
        let innodb = draft.seen.tables.iter().filter(|table| table.engine == "InnoDB");
        let size: u64 = innodb.map(|table| table.bytes).sum();
        let sample = world.node(&draft.node.name).map_err(refuse)?.sample_rebuild().map_err(refuse)?;
        let needed_s = needed_s(sample, size);
        all_s = needed_s.saturating_add(all_s);
        lines.push(format!(
            "{}: some {} to write {} anew, going by {} that were rebuilt here in {} ms; writers and --encryption-iops make it longer",
            draft.node.name,
            spoken(needed_s),
            bytes(size),
            bytes(sample.bytes),
            sample.took_ms
        ));
    }
    if drafts.len() > 1 {
        let servers = counted(drafts.len(), "server", "servers");
        lines.push(format!("{servers} one after the other: some {}", spoken(all_s)));
    }
    Ok(lines)
}

/// Whole seconds, one at least.
fn needed_s(sample: RebuildSample, size: u64) -> u64 {
    let ms = u128::from(size) * u128::from(sample.took_ms.max(1)) / u128::from(sample.bytes.max(1));
    u64::try_from(ms / 1000).unwrap_or(u64::MAX).max(1)
}

fn spoken(seconds: u64) -> String {
    match seconds {
        0..SECONDS_SPOKEN_MAX => format!("{seconds} s"),
        _ if seconds / 60 < MINUTES_SPOKEN_MAX => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_grows_with_the_tables() {
        let sample = RebuildSample { bytes: 32 << 20, took_ms: 500 };
        assert_eq!(needed_s(sample, 0), 1);
        assert_eq!(needed_s(sample, 64 << 30), 1024);
        assert_eq!(needed_s(RebuildSample { bytes: 0, took_ms: 0 }, 5000), 5);
        assert_eq!(needed_s(RebuildSample { bytes: 1, took_ms: u64::MAX }, u64::MAX), u64::MAX);
        assert_eq!([1, 119, 120, 1024, 7200].map(spoken), ["1 s", "119 s", "2 min", "18 min", "2 h"]);
    }
}
