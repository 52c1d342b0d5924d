//! Versions of OpenSSL whose TLS is known to fail, or to be unsafe, in a server of MySQL or a node of Galera. One row a fault.
//!
//! What is in: a fault that anybody who reaches the port can use, or that the server's own handshakes meet, in the settings that these
//! servers have. What is not: faults of S/MIME, DTLS, SRP, clients alone or programs; those that need a setting which no such server
//! has; and those of severity low. A version that no row names is not known to be good: it has none of these.

use std::fmt;

/// A version number of OpenSSL: three numbers, and behind them letters until 1.1.1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpensslVersion {
    numbers: [u32; 3],
    // `za` comes behind `y`: the length is compared first.
    letters: (usize, String),
}

impl OpensslVersion {
    /// Of `1.0.2k-fips`, `3.0.19` and their like. `None`: it is no such number. What has no release number (`3.6.0-beta1`) counts as
    /// that release.
    pub fn of(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let (major, minor, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let end = rest.find(|one: char| !one.is_ascii_digit()).unwrap_or(rest.len());
        let (patch, behind) = rest.split_at(end);
        let letters: String = behind.chars().take_while(char::is_ascii_lowercase).collect();
        let number = |text: &str| text.parse::<u32>().ok();
        Some(Self {
            numbers: [number(major)?, number(minor)?, number(patch)?],
            letters: (letters.len(), letters),
        })
    }

    /// Of the text that a library has in it, and that servers show: `OpenSSL 3.0.19 27 Jan 2026`.
    pub fn in_text(text: &str) -> Option<Self> {
        Self::of(text.strip_prefix("OpenSSL ")?.split_whitespace().next()?)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    pub cve: &'static str,
    pub what: &'static str,
    /// The first version that has it, and the first of the same series that has it no more.
    ranges: &'static [(&'static str, &'static str)],
    pub source: &'static str,
}

impl Fault {
    fn is_in(&self, version: &OpensslVersion) -> bool {
        self.ranges.iter().any(|(from, fixed)| {
            let bound = |text| OpensslVersion::of(text).expect("a test reads every bound");
            bound(from) <= *version && *version < bound(fixed)
        })
    }

    /// Where it is fixed, for people.
    pub fn fixed_in(&self) -> String {
        self.ranges.iter().map(|(_, fixed)| *fixed).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (fixed in {}; {})", self.cve, self.what, self.fixed_in(), self.source)
    }
}

pub const FAULTS: [Fault; 8] = [
    Fault {
        cve: "CVE-2014-0160",
        what: "Heartbleed: anybody who reaches the port reads the server's memory, with keys and passwords",
        ranges: &[("1.0.1", "1.0.1g")],
        source: "OpenSSL security advisory of 7 April 2014",
    },
    Fault {
        cve: "CVE-2014-0224",
        what: "between two such peers, whoever stands between them reads and changes everything",
        ranges: &[("0.9.8", "0.9.8za"), ("1.0.0", "1.0.0m"), ("1.0.1", "1.0.1h")],
        source: "OpenSSL security advisory of 5 June 2014",
    },
    Fault {
        cve: "CVE-2016-2107",
        what: "whoever stands between two peers decrypts AES-CBC by its padding, on processors with AES instructions",
        ranges: &[("1.0.1", "1.0.1t"), ("1.0.2", "1.0.2h")],
        source: "OpenSSL security advisory of 3 May 2016",
    },
    Fault {
        cve: "CVE-2017-3733",
        what: "a renegotiation that changes encrypt-then-mac crashes the server",
        ranges: &[("1.1.0", "1.1.0e")],
        source: "OpenSSL security advisory of 16 February 2017",
    },
    Fault {
        cve: "CVE-2021-3449",
        what: "a crafted renegotiation of TLS 1.2 crashes the server, without a login",
        ranges: &[("1.1.1", "1.1.1k")],
        source: "OpenSSL security advisory of 25 March 2021",
    },
    Fault {
        cve: "CVE-2022-0778",
        what: "a crafted certificate keeps whoever reads it busy for ever: nodes of Galera read those of whoever connects",
        ranges: &[("1.0.2", "1.0.2zd"), ("1.1.0", "1.1.1n"), ("3.0.0", "3.0.2")],
        source: "OpenSSL security advisory of 15 March 2022",
    },
    Fault {
        cve: "CVE-2022-2274",
        what: "RSA keys of 2048 bits corrupt the server's memory in its own handshakes, on processors with AVX-512 IFMA",
        ranges: &[("3.0.4", "3.0.5")],
        source: "OpenSSL security advisory of 5 July 2022",
    },
    Fault {
        cve: "CVE-2022-3602",
        what: "a crafted name in a certificate that a trusted CA has signed overflows the stack of whoever verifies it: nodes of Galera verify their peers",
        ranges: &[("3.0.0", "3.0.7")],
        source: "OpenSSL security advisory of 1 November 2022",
    },
];

/// Those of the table that a release of OpenSSL has.
pub fn faults_of(version: &OpensslVersion) -> Vec<&'static Fault> {
    FAULTS.iter().filter(|fault| fault.is_in(version)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_readable_bounds_of_one_series_and_a_source() {
        for fault in &FAULTS {
            assert!(fault.source.contains("advisory of"), "{fault}");
            for (from, fixed) in fault.ranges {
                let (from, fixed) = (OpensslVersion::of(from), OpensslVersion::of(fixed));
                assert!(from.is_some() && from < fixed, "{fault}: {from:?} {fixed:?}");
            }
        }
    }

    #[test]
    fn the_book_has_every_row() {
        let page = include_str!("../../../../docs/src/operating/fine-print.md");
        for fault in &FAULTS {
            let row = page.lines().find(|line| line.starts_with(&format!("| {} |", fault.cve)));
            let row = row.unwrap_or_else(|| panic!("{} is missing", fault.cve));
            for (_, fixed) in fault.ranges {
                assert!(row.contains(fixed), "{fixed}: {row}");
            }
        }
    }

    #[test]
    fn the_borders_of_each_range() {
        let has = |text: &str| -> Vec<&str> {
            let version = OpensslVersion::in_text(text).unwrap_or_else(|| panic!("{text}"));
            faults_of(&version).iter().map(|fault| fault.cve).collect()
        };
        for (text, cves) in [
            ("OpenSSL 0.9.8zh 3 Dec 2015", &[][..]),
            ("OpenSSL 0.9.8y 5 Feb 2013", &["CVE-2014-0224"]),
            ("OpenSSL 1.0.1e-fips 11 Feb 2013", &["CVE-2014-0160", "CVE-2014-0224", "CVE-2016-2107"]),
            ("OpenSSL 1.0.1g 7 Apr 2014", &["CVE-2014-0224", "CVE-2016-2107"]),
            ("OpenSSL 1.0.1h 5 Jun 2014", &["CVE-2016-2107"]),
            ("OpenSSL 1.0.1u  22 Sep 2016", &[]),
            ("OpenSSL 1.0.2k-fips  26 Jan 2017", &["CVE-2022-0778"]),
            ("OpenSSL 1.0.2zd 15 Mar 2022", &[]),
            ("OpenSSL 1.1.0d  26 Jan 2017", &["CVE-2017-3733", "CVE-2022-0778"]),
            ("OpenSSL 1.1.0l  10 Sep 2019", &["CVE-2022-0778"]),
            ("OpenSSL 1.1.1  11 Sep 2018", &["CVE-2021-3449", "CVE-2022-0778"]),
            ("OpenSSL 1.1.1k  FIPS 25 Mar 2021", &["CVE-2022-0778"]),
            ("OpenSSL 1.1.1n  15 Mar 2022", &[]),
            ("OpenSSL 1.1.1w  11 Sep 2023", &[]),
            ("OpenSSL 3.0.1 14 Dec 2021", &["CVE-2022-0778", "CVE-2022-3602"]),
            ("OpenSSL 3.0.2 15 Mar 2022", &["CVE-2022-3602"]),
            ("OpenSSL 3.0.4 21 Jun 2022", &["CVE-2022-2274", "CVE-2022-3602"]),
            ("OpenSSL 3.0.7 1 Nov 2022", &[]),
            ("OpenSSL 3.0.19 27 Jan 2026", &[]),
            ("OpenSSL 3.6.5 29 Sep 2026", &[]),
        ] {
            assert_eq!(has(text), cves, "{text}");
        }
        for text in ["WolfSSL 5.6.0", "LibreSSL 3.8.2", "OpenSSL", "OpenSSL three", "OpenSSL 3.0"] {
            assert_eq!(OpensslVersion::in_text(text), None, "{text}");
        }
    }
}
