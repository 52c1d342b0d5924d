//! What a mode gives away, and how bad that is: a verdict of the matrix in a few words.

use model::Severity;
use report::shape::ProveCaseRow;

/// What a mode gives away, from its row alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weaknesses {
    /// With the honest server too.
    pub never_encrypts: bool,
    pub in_clear: bool,
    pub to_certificates: bool,
    pub to_names: bool,
    /// It refused in the end, and had sent an answer that can be guessed from.
    pub gives_login: bool,
    pub breaks_its_promise: bool,
}

impl Weaknesses {
    pub fn of(cases: &[ProveCaseRow], broken_by: Option<&str>) -> Self {
        let any = |is: &dyn Fn(&ProveCaseRow) -> bool| cases.iter().any(is);
        let never_encrypts = any(&|case| case.family == "control" && case.verdict == "AP");
        // Of a certificate one learns only from who looks at certificates.
        let takes = |families: &[&str]| {
            !never_encrypts
                && any(&|case| {
                    case.has_fallen
                        && families.contains(&case.family.as_str())
                        && matches!(case.verdict.as_str(), "AT" | "PW" | "FILE")
                })
        };
        Self {
            never_encrypts,
            in_clear: never_encrypts
                || any(&|case| {
                    case.has_fallen
                        && (case.family == "strip" || matches!(case.verdict.as_str(), "AP" | "cP"))
                }),
            to_certificates: takes(&["certificate", "version"]),
            to_names: takes(&["name"]),
            gives_login: any(&|case| case.has_fallen && case.verdict == "cT"),
            breaks_its_promise: broken_by.is_some(),
        }
    }

    /// How bad that is: worst where the settings look like they protect.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self { in_clear: true, breaks_its_promise: true, .. } => Some(Severity::Critical),
            Self { in_clear: true, .. } | Self { breaks_its_promise: true, .. } => Some(Severity::High),
            Self { to_certificates: true, .. } => Some(Severity::Medium),
            Self { to_names: true, .. } | Self { gives_login: true, .. } => Some(Severity::Low),
            _ => None,
        }
    }

    /// Who never uses TLS falls to all that others fall to by taking any certificate.
    pub(super) fn in_effect(self) -> (Option<Severity>, [bool; 3]) {
        let all = self.never_encrypts;
        (self.severity(), [self.in_clear, all || self.to_certificates, all || self.to_names])
    }

    /// For comparing: by severity, then by how much there is of it.
    pub(super) fn weight(self) -> (u8, usize) {
        let falls =
            [self.never_encrypts, self.in_clear, self.to_certificates, self.to_names, self.gives_login];
        (self.severity().map_or(0, |severity| severity as u8 + 1), falls.iter().filter(|is| **is).count())
    }

    /// For people.
    pub fn sentence(self) -> String {
        let mut parts = Vec::new();
        if self.never_encrypts {
            parts.push("does not use TLS, even where the server offers it");
        } else if self.in_clear {
            parts.push("falls back to cleartext if a man in the middle strips TLS");
        }
        if self.to_certificates {
            parts.push("accepts any certificate");
        }
        if self.to_names {
            parts.push("does not verify the host name");
        }
        if self.gives_login {
            parts.push("sends the user name, and a response that can be cracked offline, before it refuses the server");
        }
        match parts.as_slice() {
            [] => "withstood every attack that was measured".into(),
            _ => parts.join("; "),
        }
    }
}
