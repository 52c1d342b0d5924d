//! Whether what was chosen of TLS can be in force anywhere: else it would stand among the settings of what was measured without
//! it. This is what the command line and the arms say; what is spoken in the end is the server's choice too.

use ::bench::experiments::{ArmTls, Experiment};
use net::{ConnectOptions, TlsLibrary, TlsVersion};

use super::TlsWish;
use super::experiment::with_tls;

/// An option that changes nothing, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WithoutEffect {
    pub option: &'static str,
    pub why: &'static str,
}

const CLEAR: &str = "the connection is cleartext";
const CLEAR_OVER_A_SOCKET: &str = "over a unix socket TLS is used only if it is required";
const OLDER: &str = "only TLS 1.3 has these, and --tls-max is older";
const NEWER: &str = "TLS 1.3 has others, and --tls-min allows nothing older";
const REPLACED: &str = "each arm is cleartext or has its own";

/// What no connection of a load takes.
pub fn of_load(wish: &TlsWish, targets: &[ConnectOptions]) -> Option<WithoutEffect> {
    first(wish, targets, &[ArmTls::AS_ASKED])
}

/// What no arm of any of these takes. `asked`: how it is connected where an arm does not say.
pub fn of_experiments(
    wish: &TlsWish,
    asked: &[ConnectOptions],
    experiments: &[&Experiment],
) -> Option<WithoutEffect> {
    let arms: Vec<ArmTls> =
        experiments.iter().flat_map(|experiment| experiment.arms).map(|arm| arm.tls).collect();
    first(wish, asked, &arms)
}

fn first(wish: &TlsWish, asked: &[ConnectOptions], arms: &[ArmTls]) -> Option<WithoutEffect> {
    OPTIONS.iter().filter(|option| (option.is_given)(wish)).find_map(|option| {
        let mut whys = arms
            .iter()
            .flat_map(|arm| asked.iter().map(|target| hinders(option, arm, &with_tls(target, *arm, None))));
        let first_why = whys.next()??;
        let mut is_alike = true;
        for why in whys {
            is_alike &= why? == first_why;
        }
        Some(WithoutEffect { option: option.name, why: if is_alike { first_why } else { REPLACED } })
    })
}

struct TlsOption {
    name: &'static str,
    is_given: fn(&TlsWish) -> bool,
    /// By an arm, instead.
    is_replaced: fn(&ArmTls) -> bool,
    /// Versions of TLS that have such a thing.
    versions: Versions,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Versions {
    All,
    UpTo12,
    Only13,
}

/// In the order in which they are told.
const OPTIONS: &[TlsOption] = &[
    TlsOption {
        name: "--tls-min",
        is_given: |wish| wish.min_version.is_some(),
        is_replaced: |arm| arm.version.is_some(),
        versions: Versions::All,
    },
    TlsOption {
        name: "--tls-max",
        is_given: |wish| wish.max_version.is_some(),
        is_replaced: |arm| arm.version.is_some(),
        versions: Versions::All,
    },
    TlsOption {
        name: "--ssl-cipher",
        is_given: |wish| wish.ciphers.is_some(),
        is_replaced: |arm| arm.ciphers.is_some(),
        versions: Versions::UpTo12,
    },
    TlsOption {
        name: "--tls-ciphersuites",
        is_given: |wish| wish.ciphersuites.is_some(),
        is_replaced: |arm| arm.ciphersuites.is_some(),
        versions: Versions::Only13,
    },
    TlsOption {
        name: "--tls-groups",
        is_given: |wish| wish.groups.is_some(),
        is_replaced: |arm| arm.groups.is_some(),
        versions: Versions::All,
    },
    TlsOption {
        name: "--tls-sigalgs",
        is_given: |wish| wish.signature_algorithms.is_some(),
        is_replaced: |arm| arm.signature_algorithms.is_some(),
        versions: Versions::All,
    },
    TlsOption {
        name: "--tls-record-bytes",
        is_given: |wish| wish.record_bytes.is_some(),
        is_replaced: |arm| arm.record_bytes.is_some(),
        versions: Versions::All,
    },
    TlsOption {
        name: "--tls-library",
        is_given: |wish| wish.library != TlsLibrary::OpenSsl,
        is_replaced: |arm| arm.library.is_some(),
        versions: Versions::All,
    },
];

/// Why the option does nothing for an arm that connects like this, if it does nothing.
fn hinders(option: &TlsOption, arm: &ArmTls, options: &ConnectOptions) -> Option<&'static str> {
    if !options.may_use_tls() {
        let is_asked_for = options.tls.mode != net::SslMode::Disabled;
        return Some(if is_asked_for { CLEAR_OVER_A_SOCKET } else { CLEAR });
    }
    if (option.is_replaced)(arm) {
        return Some(REPLACED);
    }
    let is_older = options.tls.max_version.is_some_and(|version| version < TlsVersion::Tls13);
    let is_newer = options.tls.min_version.is_some_and(|version| version >= TlsVersion::Tls13);
    match option.versions {
        Versions::Only13 if is_older => Some(OLDER),
        Versions::UpTo12 if is_newer => Some(NEWER),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use net::{Endpoint, Resumes, SslMode};

    use super::*;
    use crate::experiments;

    fn asked(wish: &TlsWish, mode: SslMode) -> Vec<ConnectOptions> {
        let mut options = ConnectOptions::default();
        options.tls.mode = mode;
        wish.put_into(&mut options.tls);
        vec![options]
    }

    fn told(names: &[&str], wish: &TlsWish, mode: SslMode) -> Option<&'static str> {
        let found: Vec<&Experiment> =
            names.iter().map(|name| experiments::experiment(name).expect("a ready one")).collect();
        of_experiments(wish, &asked(wish, mode), &found).map(|told| told.option)
    }

    #[test]
    fn what_no_arm_takes_is_told() {
        let nothing = TlsWish::default();
        assert_eq!(told(&["galera-write"], &nothing, SslMode::Disabled), None);
        let groups = TlsWish { groups: Some("X25519".into()), ..TlsWish::default() };
        assert_eq!(told(&["galera-write"], &groups, SslMode::Required), Some("--tls-groups"));
        assert_eq!(told(&["groups"], &groups, SslMode::Required), Some("--tls-groups"));
        assert_eq!(told(&["tls"], &groups, SslMode::Disabled), None);
        assert_eq!(told(&["galera-write", "tls"], &groups, SslMode::Disabled), None);
        assert_eq!(told(&["aa"], &groups, SslMode::Disabled), Some("--tls-groups"));
        assert_eq!(told(&["aa"], &groups, SslMode::Preferred), None);
        let suites = TlsWish { ciphersuites: Some("TLS_AES_128_GCM_SHA256".into()), ..TlsWish::default() };
        assert_eq!(told(&["bulk"], &suites, SslMode::Required), Some("--tls-ciphersuites"));
        assert_eq!(told(&["versions"], &suites, SslMode::Required), None);
        let older = TlsWish { max_version: Some(TlsVersion::Tls12), ..suites };
        assert_eq!(told(&["tls"], &older, SslMode::Required), Some("--tls-ciphersuites"));
    }

    #[test]
    fn an_arm_that_is_named_for_a_library_has_it() {
        let library = TlsLibrary::Rustls { resumes: Resumes::No };
        let wish = TlsWish { library, ..TlsWish::default() };
        for name in ["library", "reconnect"] {
            let experiment = experiments::experiment(name).expect("a ready one");
            for arm in experiment.arms.iter().filter(|arm| arm.name.contains("OpenSSL")) {
                let options = asked(&wish, SslMode::Required);
                assert_eq!(
                    with_tls(&options[0], arm.tls, None).tls.library,
                    TlsLibrary::OpenSsl,
                    "{}",
                    arm.name
                );
            }
        }
    }

    #[test]
    fn a_load_says_what_hinders() {
        let why = |wish: &TlsWish, targets: &[ConnectOptions]| of_load(wish, targets).map(|told| told.why);
        let groups = TlsWish { groups: Some("X25519".into()), ..TlsWish::default() };
        assert_eq!(why(&groups, &asked(&groups, SslMode::Preferred)), None);
        assert_eq!(why(&groups, &asked(&groups, SslMode::Disabled)), Some(CLEAR));
        let mut by_socket = asked(&groups, SslMode::Preferred);
        by_socket[0].endpoint = Endpoint::unix("/run/mysqld/mysqld.sock");
        assert_eq!(why(&groups, &by_socket), Some(CLEAR_OVER_A_SOCKET));
        by_socket[0].tls.mode = SslMode::Required;
        assert_eq!(why(&groups, &by_socket), None);
        let ciphers = TlsWish {
            ciphers: Some("AES256-SHA".into()),
            min_version: Some(TlsVersion::Tls13),
            ..TlsWish::default()
        };
        assert_eq!(why(&ciphers, &asked(&ciphers, SslMode::Required)), Some(NEWER));
    }
}
