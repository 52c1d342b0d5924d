//! What the processors of this machine take, by their own counters (RAPL), where the kernel shows them.
//!
//! Source: Documentation/power/powercap/powercap.rst of Linux. Since 5.10 only root may read the counters (CVE-2020-8694).

use std::fs;
use std::path::{Path, PathBuf};

const ZONES: &str = "/sys/class/powercap";
/// `intel-rapl:0`, also on AMD's processors; with a second number it is a part of one (cores, memory), and counted in it or beside it.
const PACKAGE: &str = "intel-rapl:";
/// Kernels name as many packages as there are sockets, and the whole machine (psys), which has the packages in it.
const NAME: &str = "package";

/// The counters of all packages.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Meter {
    packages: Vec<Package>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Package {
    dir: PathBuf,
    /// Where the counter begins again.
    range_uj: u64,
}

/// What was taken since it began.
#[derive(Debug)]
pub struct Energy {
    meter: Meter,
    /// What the counters stood at.
    last_uj: Vec<u64>,
    sum_uj: u64,
}

impl Energy {
    /// `None` where there are no counters that may be read.
    pub fn begin() -> Option<Self> {
        Self::of(Meter::of(Path::new(ZONES))?)
    }

    fn of(meter: Meter) -> Option<Self> {
        let last_uj = meter.read()?;
        Some(Self { meter, last_uj, sum_uj: 0 })
    }

    /// To be called every few seconds: a counter of 32 bits may begin again within minutes, and twice would be once too few.
    pub fn look(&mut self) {
        let Some(now_uj) = self.meter.read() else { return };
        self.sum_uj += self.meter.between_uj(&self.last_uj, &now_uj);
        self.last_uj = now_uj;
    }

    pub fn joules(&mut self) -> f64 {
        self.look();
        self.sum_uj as f64 / 1e6
    }
}

impl Meter {
    fn of(zones: &Path) -> Option<Self> {
        let mut packages = Vec::new();
        for entry in fs::read_dir(zones).ok()?.flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(PACKAGE));
            if number.is_none_or(|number| number.contains(':')) {
                continue;
            }
            let dir = entry.path();
            if !fs::read_to_string(dir.join("name")).is_ok_and(|name| name.starts_with(NAME)) {
                continue;
            }
            packages.push(Package { range_uj: number_in(&dir.join("max_energy_range_uj"))?, dir });
        }
        let meter = Self { packages };
        (!meter.packages.is_empty() && meter.read().is_some()).then_some(meter)
    }

    fn read(&self) -> Option<Vec<u64>> {
        let uj = self.packages.iter().map(|package| number_in(&package.dir.join("energy_uj")));
        uj.collect()
    }

    /// Where a counter began again at most once.
    fn between_uj(&self, from: &[u64], to: &[u64]) -> u64 {
        let each = self.packages.iter().zip(from.iter().zip(to));
        each.map(|(package, (from, to))| {
            to.checked_sub(*from).unwrap_or_else(|| package.range_uj.saturating_sub(*from) + to)
        })
        .sum()
    }
}

fn number_in(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the kernel shows it: two sockets, the cores of one, and the whole machine.
    fn machine() -> tempfile::TempDir {
        let zones = tempfile::tempdir().expect("a directory");
        for (zone, name, uj) in [
            ("intel-rapl:0", "package-0", 262_143_000_000_u64),
            ("intel-rapl:0:0", "core", 77),
            ("intel-rapl:1", "package-1", 5_000_000),
            ("intel-rapl:2", "psys", 99),
            ("intel-rapl", "", 1),
            ("dtpm", "", 1),
        ] {
            let dir = zones.path().join(zone);
            fs::create_dir(&dir).expect("it is new");
            fs::write(dir.join("name"), format!("{name}\n")).expect("it can be written");
            fs::write(dir.join("max_energy_range_uj"), "262143328850\n").expect("it can be written");
            fs::write(dir.join("energy_uj"), format!("{uj}\n")).expect("it can be written");
        }
        zones
    }

    #[test]
    fn all_packages_count_once_and_a_counter_may_begin_again() {
        let zones = machine();
        let meter = Meter::of(zones.path()).expect("two packages");
        let mut energy = Energy::of(meter).expect("counters");
        fs::write(zones.path().join("intel-rapl:0/energy_uj"), "1671150\n").expect("it can be written");
        fs::write(zones.path().join("intel-rapl:1/energy_uj"), "9000000\n").expect("it can be written");
        fs::write(zones.path().join("intel-rapl:2/energy_uj"), "900000000\n").expect("it can be written");
        // 0.32885 J to where it begins again, 1.67115 J after it; and 4 J.
        assert!((energy.joules() - 6.0).abs() < 1e-9, "{energy:?}");
        fs::write(zones.path().join("intel-rapl:1/energy_uj"), "9500000\n").expect("it can be written");
        assert!((energy.joules() - 6.5).abs() < 1e-9, "{energy:?}");
    }

    #[test]
    fn what_cannot_be_read_is_not_known() {
        let zones = machine();
        fs::remove_file(zones.path().join("intel-rapl:1/energy_uj")).expect("it is there");
        assert_eq!(Meter::of(zones.path()), None);
        assert_eq!(Meter::of(&zones.path().join("nothing")), None);
        assert_eq!(Meter::of(tempfile::tempdir().expect("a directory").path()), None);
    }
}
