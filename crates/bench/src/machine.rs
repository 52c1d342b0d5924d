//! What else the machine did while something was measured on it.
//!
//! # Source
//! proc(5): the first line of /proc/stat, in ticks: user, nice, system, idle, iowait, irq, softirq, steal; guest time is
//! part of user.

/// A moment's sums, in ticks of all processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticks {
    busy: u64,
    idle: u64,
    steal: u64,
    /// That these are of: all of the machine, not those that this process may use.
    processors: usize,
}

/// Between two moments, as shares of all processors' time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Load {
    pub busy_share: f64,
    /// Taken by the host of this virtual machine.
    pub steal_share: f64,
    /// Processors.
    pub processors: usize,
}

impl Ticks {
    /// `None` where the kernel does not say.
    pub fn now() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks.as_slice() else {
            return None;
        };
        let is_one = |line: &&str| {
            line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let processors = text.lines().filter(is_one).count().max(1);
        Some(Self {
            busy: user + nice + system + irq + softirq,
            idle: idle + iowait,
            steal: *steal,
            processors,
        })
    }

    /// Of the machine.
    pub fn processors(self) -> usize {
        self.processors
    }

    /// What was done since then.
    pub fn since(self, then: Self) -> Load {
        let [busy, idle, steal] = [(self.busy, then.busy), (self.idle, then.idle), (self.steal, then.steal)]
            .map(|(now, then)| now.saturating_sub(then) as f64);
        let all = (busy + idle + steal).max(1.0);
        Load { busy_share: busy / all, steal_share: steal / all, processors: self.processors }
    }
}

/// How often processors have slowed themselves down for heat since the machine began; `None` where the kernel does not say, as in
/// most virtual machines.
///
/// # Source
/// Linux, Documentation/ABI/testing/sysfs-devices-system-cpu: `thermal_throttle/core_throttle_count`.
pub fn slowed_for_heat() -> Option<u64> {
    let counts = std::fs::read_dir("/sys/devices/system/cpu").ok()?.flatten().filter_map(|entry| {
        let count =
            std::fs::read_to_string(entry.path().join("thermal_throttle/core_throttle_count")).ok()?;
        count.trim().parse::<u64>().ok()
    });
    counts.reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_time() {
        let then = Ticks::parse("cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1").expect("ticks");
        let now = Ticks::parse("cpu  130 0 120 840 0 0 0 10 0 0\ncpu0 1\ncpu1 1\nintr 5\n").expect("ticks");
        let load = now.since(then);
        assert_eq!(load.processors, 2);
        assert!((load.busy_share - 0.5).abs() < 1e-9 && (load.steal_share - 0.1).abs() < 1e-9);
        assert!(Ticks::parse("cpu  1 2 3").is_none() && Ticks::parse("").is_none());
        assert!(Ticks::now().is_some());
    }
}
