//! Which workers reach a target.

use queue::Zone;
use scan::range::{Allowed, Cidr};

use crate::TargetSpec;
use site::OpsError;

/// `ZONE` for all, `NETWORK/PREFIX=ZONE` for addresses, `.DOMAIN=ZONE` for names. The first that fits counts.
#[derive(Debug, Default)]
pub struct ZoneMap {
    rows: Vec<(Pattern, Zone)>,
    otherwise: Zone,
}

#[derive(Debug)]
enum Pattern {
    Range(Allowed),
    Domain(String),
}

impl ZoneMap {
    /// Reads them as they are typed.
    ///
    /// # Errors
    /// The first that is none, or a second zone for all the rest.
    pub fn read<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Self, OpsError> {
        let mut map = Self::default();
        let mut has_rest = false;
        for word in words {
            let refuse = |why: String| {
                OpsError::usage(
                    format!("--zone \"{}\" is not a zone", wire::printable(word)),
                    why,
                    "write ZONE for all targets, NETWORK/PREFIX=ZONE for addresses, or .DOMAIN=ZONE for names",
                )
            };
            let Some((pattern, zone)) = word.split_once('=') else {
                if std::mem::replace(&mut has_rest, true) {
                    return Err(refuse("there is one for all the rest already".into()));
                }
                map.otherwise = Zone::parse(word).map_err(refuse)?;
                continue;
            };
            let zone = Zone::parse(zone).map_err(refuse)?;
            let pattern = match pattern.strip_prefix('.') {
                Some(domain) if !domain.is_empty() => Pattern::Domain(domain.to_ascii_lowercase()),
                _ => Pattern::Range(Allowed::of([Cidr::parse(pattern).map_err(refuse)?])),
            };
            map.rows.push((pattern, zone));
        }
        Ok(map)
    }

    pub fn of(&self, spec: &TargetSpec) -> &Zone {
        let host = match spec {
            TargetSpec::Place { host, .. } => host.clone(),
            // Each of its addresses is a target of its own by now.
            TargetSpec::Range { .. } => return &self.otherwise,
            TargetSpec::Service { name } => name.clone(),
        };
        let fits = |pattern: &Pattern| match pattern {
            Pattern::Range(range) => host.parse().is_ok_and(|ip| range.holds(ip)),
            Pattern::Domain(domain) => {
                let host = host.to_ascii_lowercase();
                host == *domain || host.ends_with(&format!(".{domain}"))
            }
        };
        self.rows.iter().find(|(pattern, _)| fits(pattern)).map_or(&self.otherwise, |(_, zone)| zone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pattern_that_fits_says_the_zone() {
        let map = ZoneMap::read(["office", "10.1.0.0/16=dmz", "10.0.0.0/8=core", ".eu.example.org=eu"])
            .expect("zones");
        for (target, zone) in [
            ("10.1.2.3:3306", "dmz"),
            ("10.2.2.3", "core"),
            ("192.0.2.1", "office"),
            ("db1.EU.example.org", "eu"),
            ("eu.example.org:3306", "eu"),
            ("notaneu.example.org", "office"),
            ("srv:_mysql._tcp.eu.example.org", "eu"),
        ] {
            let spec = TargetSpec::parse(target).expect(target);
            assert_eq!(map.of(&spec).as_str(), zone, "{target}");
        }
        assert_eq!(ZoneMap::read([]).expect("none").of(&TargetSpec::place("db1", None)).as_str(), "default");
        for bad in [vec!["a", "b"], vec!["a.b"], vec!["10.0.0.1/8=a"], vec![".=a"], vec!["10.0.0.0/8="]] {
            assert!(ZoneMap::read(bad.iter().copied()).is_err(), "{bad:?}");
        }
    }
}
