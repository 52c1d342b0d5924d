//! Which rules bear on which requirement of a standard. A profile chooses and orders findings, and says nothing more: that all of its rules pass is
//! not conformity. A row stands here when somebody has looked the requirement up; what nobody has looked up is not here.

/// A standard, and the rules that bear on it.
pub struct Profile {
    /// What `--profile` calls it.
    pub name: &'static str,
    /// With its version.
    pub standard: &'static str,
    /// In the order of the standard: requirement, and rules.
    rows: &'static [(&'static str, &'static [&'static str])],
}

impl Profile {
    /// The requirement on which a rule bears; the first, where there are several.
    pub fn requirement(&self, rule: &str) -> Option<&'static str> {
        self.rows.iter().find(|(_, rules)| rules.contains(&rule)).map(|(requirement, _)| *requirement)
    }

    /// Where it stands in the standard.
    pub fn place(&self, rule: &str) -> Option<usize> {
        self.rows.iter().position(|(_, rules)| rules.contains(&rule))
    }
}

pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|one| one.name == name)
}

pub const PROFILES: &[Profile] = &[
    // Requirements looked up on 2026-11-26 in public copies of the standard.
    Profile {
        name: "pci",
        standard: "PCI DSS 4.0.1",
        rows: &[
            ("2.2.2", &["SL2205", "SL2704"]),
            ("2.2.4", &["SL2015", "SL2811", "SL2812", "SL2814", "SL2815", "SL2901"]),
            (
                "2.2.6",
                &["SL2225", "SL2806", "SL2810", "SL2803", "SL2801", "SL2802", "SL2805", "SL2818", "SL3003"],
            ),
            ("2.2.7", &["SL2014", "SL2106"]),
            (
                "3.5.1",
                &[
                    "SL4001", "SL4003", "SL4004", "SL4005", "SL4006", "SL4007", "SL4008", "SL4009", "SL4010",
                    "SL4011", "SL4014", "SL4016", "SL4017", "SL4018", "SL4020", "SL4201", "SL4205", "SL4206",
                    "SL4211", "SL4212", "SL4213", "SL4217",
                ],
            ),
            ("3.6.1", &["SL4101", "SL4103", "SL4107"]),
            ("3.6.1.2", &["SL4102", "SL4104", "SL4105"]),
            (
                "4.2.1",
                &[
                    "SL2001", "SL2002", "SL2017", "SL2018", "SL2101", "SL2102", "SL2103", "SL2107", "SL2109",
                    "SL2201", "SL2210", "SL3001", "SL3002", "SL3011", "SL3012", "SL3013", "SL3301", "SL3302",
                    "SL3303", "SL3305", "SL3306", "SL1122", "SL1123", "SL1124", "SL1125", "SL2010", "SL2011",
                ],
            ),
            (
                "4.2.1.1",
                &[
                    "SL2003", "SL2007", "SL2023", "SL2024", "SL2025", "SL2004", "SL2005", "SL2006", "SL2008",
                    "SL2012",
                ],
            ),
            ("6.2.4", &["SL2601", "SL2602", "SL2603", "SL2605", "SL2606", "SL2607", "SL2608", "SL2614"]),
            ("6.3.3", &["SL2701", "SL2702", "SL2703"]),
            ("7.2.2", &["SL2214", "SL2215", "SL2216", "SL2217", "SL2218", "SL2229"]),
            ("7.2.5", &["SL2206", "SL2223"]),
            ("8.3.1", &["SL2204", "SL2212", "SL2202"]),
            (
                "8.3.2",
                &[
                    "SL2019", "SL2207", "SL2208", "SL2209", "SL2230", "SL2233", "SL2235", "SL3014", "SL3307",
                    "SL4202",
                ],
            ),
            ("8.3.4", &["SL2221"]),
            ("8.3.6", &["SL2219", "SL2231"]),
            ("8.3.7", &["SL2227"]),
            ("8.3.9", &["SL2220"]),
            ("8.6.2", &["SL2226", "SL2804", "SL2813", "SL2816", "SL2817", "SL3015", "SL3107"]),
            ("10.2.1", &["SL2615"]),
            ("10.2.1.4", &["SL4219"]),
            ("10.2.1.5", &["SL2616"]),
            ("10.3.1", &["SL4221"]),
        ],
    },
    // Numbers and titles looked up on 2026-11-26 in the InSpec profile that MITRE publishes for this benchmark. There is none for MariaDB among them.
    Profile {
        name: "cis",
        standard: "CIS Oracle MySQL Enterprise Edition 5.7 Benchmark 1.0.0",
        rows: &[
            ("1.2", &["SL2806"]),
            ("1.4", &["SL2813"]),
            ("2.2", &["SL2817"]),
            ("2.4", &["SL1124"]),
            ("3.1", &["SL2801"]),
            ("3.2", &["SL2802"]),
            ("3.3", &["SL4221"]),
            ("3.7", &["SL2004", "SL2005"]),
            ("3.8", &["SL2803"]),
            ("4.1", &["SL2701"]),
            ("4.2", &["SL2704"]),
            ("4.3", &["SL2815"]),
            ("4.4", &["SL2811"]),
            ("4.5", &["SL2225"]),
            ("4.6", &["SL2812"]),
            ("4.8", &["SL2810"]),
            ("5.1", &["SL2216"]),
            ("5.2", &["SL2214"]),
            ("5.4", &["SL2215"]),
            ("5.8", &["SL2223"]),
            ("6.3", &["SL4219"]),
            ("6.4", &["SL4202"]),
            ("6.8", &["SL2615"]),
            ("7.1", &["SL2233", "SL2208"]),
            ("7.2", &["SL2230"]),
            ("7.3", &["SL2804"]),
            ("7.5", &["SL2204"]),
            ("7.6", &["SL2219"]),
            ("7.7", &["SL2206"]),
            ("7.8", &["SL2205"]),
            ("8.1", &["SL2001"]),
            ("8.2", &["SL2201"]),
            ("9.1", &["SL3011", "SL2107"]),
            ("9.2", &["SL3012"]),
        ],
    },
    // Looked up on 2026-11-26 in the Code of Federal Regulations as the Government Publishing Office has it.
    Profile {
        name: "hipaa",
        standard: "45 CFR 164.312 (HIPAA Security Rule, technical safeguards)",
        rows: &[
            (
                "(a)(1)",
                &[
                    "SL2206", "SL2214", "SL2215", "SL2216", "SL2217", "SL2218", "SL2225", "SL2229", "SL2801",
                    "SL2802", "SL2810", "SL4221",
                ],
            ),
            ("(a)(2)(i)", &["SL2205"]),
            (
                "(a)(2)(iv)",
                &[
                    "SL4001", "SL4003", "SL4004", "SL4005", "SL4006", "SL4007", "SL4008", "SL4009", "SL4010",
                    "SL4014", "SL4017", "SL4018", "SL4020", "SL4101", "SL4102", "SL4103", "SL4104", "SL4201",
                    "SL4211", "SL4212", "SL4213", "SL4217",
                ],
            ),
            ("(b)", &["SL2615", "SL2616", "SL4219"]),
            ("(d)", &["SL2204", "SL2202", "SL2212", "SL2219", "SL2221"]),
            (
                "(e)(1)",
                &[
                    "SL2001", "SL2002", "SL2101", "SL2102", "SL2107", "SL2014", "SL2015", "SL2201", "SL3001",
                    "SL3002", "SL3011", "SL3301", "SL3302",
                ],
            ),
            ("(e)(2)(ii)", &["SL2017", "SL2018", "SL2103", "SL3012", "SL3013", "SL3303", "SL3305", "SL3306"]),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_of_rules_that_there_are_and_each_stands_once() {
        for profile in PROFILES {
            let rules: Vec<&str> = profile.rows.iter().flat_map(|(_, rules)| *rules).copied().collect();
            for rule in &rules {
                assert!(crate::by_id(rule).is_some(), "{}: there is no {rule}", profile.name);
                assert_eq!(rules.iter().filter(|one| *one == rule).count(), 1, "{}: {rule}", profile.name);
            }
        }
    }
}
