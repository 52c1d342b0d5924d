//! Facts and findings of one target as the published row.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::Duration;

use ::scan::facts::{Found, Service, Tls};
use ::scan::login_probe::Knocked;
use ::scan::{Port, Seen, Target};
use report::shape::{
    AcceptedRow, CertificateRow, FindingRow, GroupRow, NameRow, PublicKeyRow, ServiceRow, SuiteRow,
    TargetRow, TlsRow, TrustRow, VersionRow,
};
use rules::accept::Standing;
use rules::grade::{Grade, grade};
use wire::tls::registry::{CipherSuite, Version, cipher_suite, group, signature_scheme};

use super::Roots;
use super::budget::ALL_DAYS_MAX;
use super::observe::observe;
use ::scan::names::FAMILIES;

/// Beside what one of them said of itself.
const SEVERAL: &str = "one of several servers at this address";

pub fn row(seen: &Seen, roots: &[Roots], now_unix_ms: u64) -> TargetRow {
    let (target, facts) = (&seen.target, &seen.facts);
    let trust = facts.tls.as_ref().map(|tls| trust_rows(tls, roots, now_unix_ms)).unwrap_or_default();
    let is_ca_named = roots.iter().any(|roots| roots.name == super::NAMED_CA);
    let observations = observe(target, facts, &trust, is_ca_named, now_unix_ms);
    let findings = rules::judge(&observations);
    let nothing_seen = findings.is_empty();
    let (letter, why) = match grade(&findings.iter().collect::<Vec<_>>()) {
        _ if nothing_seen => (None, "nothing could be judged".to_owned()),
        Grade::Letter(letter) => (Some(letter.to_string()), String::new()),
        Grade::None { unknown } => {
            (None, format!("unknown, and could lower the grade: {}", unknown.join(", ")))
        }
    };
    let mut not_seen = facts.not_seen.clone();
    not_seen.extend(facts.several_servers.clone());
    match &facts.public_key {
        Some(Knocked::Unknown(why)) => not_seen.push(format!("whether an RSA key is sent: {why}")),
        Some(Knocked::NoKey { plugin }) => {
            let plugin = plugin.as_deref().unwrap_or("no plugin");
            not_seen.push(format!("an RSA key: none was sent to an unknown user ({plugin})"));
        }
        Some(Knocked::Key(_)) | None => {}
    }
    let takes_any = facts.tls.iter().flat_map(|tls| tls.versions.values()).any(|found| *found == Found::Yes);
    // Seen on MariaDB 10.11.19 without proxy_protocol_networks: it greets first, and refuses all that follows the header.
    if target.proxy.is_some() && facts.service.is_some() && !takes_any {
        not_seen
            .push("a PROXY header was sent first: a server that expects none rejects what follows".into());
    }
    TargetRow {
        service: facts.service.as_ref().map(|seen| ServiceRow {
            public_key: facts.public_key.as_ref().and_then(public_key),
            note: if facts.several_servers.is_some() { SEVERAL.into() } else { service(seen, target).note },
            ..service(seen, target)
        }),
        // Of several servers no single picture is drawn.
        tls: facts.tls.as_ref().filter(|_| facts.several_servers.is_none()).map(|seen| TlsRow {
            trust,
            names: names(seen, &target.host),
            ..tls(seen)
        }),
        grade: letter,
        grade_why: why,
        findings: findings.iter().map(|finding| FindingRow::new(finding, &observations, &[])).collect(),
        not_seen,
        connections: facts.connections,
        handshakes: facts.handshakes,
        elapsed_ms: facts.elapsed_us as f64 / 1000.0,
        ..blank(target)
    }
}

fn blank(target: &Target) -> TargetRow {
    TargetRow {
        target: target.to_string(),
        host: target.host.clone(),
        address: Some(target.address.ip().to_string()),
        port: target.address.port(),
        port_use: target.port.to_string(),
        service: None,
        tls: None,
        grade: None,
        grade_why: String::new(),
        findings: vec![],
        accepted: vec![],
        not_seen: vec![],
        connections: 0,
        handshakes: 0,
        elapsed_ms: 0.0,
    }
}

pub fn over_budget(target: &Target, allowed: u32) -> TargetRow {
    TargetRow {
        not_seen: vec![format!(
            "not scanned: {allowed} connections were made to this address in the last day, or {ALL_DAYS_MAX} in \
             total, and a server that counts them blocks the host at 100 (error 1129). After a successful login from \
             this host, or a flush of the server's host cache, use --forget-budget. To allow more: --max-handshakes \
             N"
        )],
        grade_why: "not checked".into(),
        ..blank(target)
    }
}

pub fn asked_by_another(target: &Target, waited: Duration) -> TargetRow {
    TargetRow {
        not_seen: vec![format!(
            "not scanned: another sealion of this user has been scanning this address for {} s, and together they \
             might make more connections than the server allows. Scan it again when the other one has ended",
            waited.as_secs()
        )],
        grade_why: "not checked".into(),
        ..blank(target)
    }
}

pub fn no_address(host: &str, port: Option<u16>, why: &str) -> TargetRow {
    let port = port.unwrap_or(3306);
    TargetRow {
        target: format!("{host}:{port}"),
        address: None,
        not_seen: vec![format!("cannot look up the name: {why}")],
        grade_why: "not checked".into(),
        ..blank(&Target::new(host, Ipv4Addr::UNSPECIFIED.into(), port, true))
    }
}

/// A name of DNS instead of a host: no port is known.
pub fn no_service(name: &str, why: &str) -> TargetRow {
    TargetRow {
        target: format!("srv:{name}"),
        host: name.to_owned(),
        not_seen: vec![why.to_owned()],
        ..no_address(name, Some(0), "")
    }
}

/// A target as it was named, which nobody could ask.
pub fn not_asked(word: &str, why: &str) -> TargetRow {
    let (host, port) = ::scan::target::host_and_port(word).unwrap_or_else(|_| (word.to_owned(), None));
    TargetRow {
        target: word.to_owned(),
        not_seen: vec![why.to_owned()],
        ..no_address(&host, Some(port.unwrap_or(0)), "")
    }
}

pub fn unauthorized(host: &str, ip: IpAddr, port: Option<u16>, path: &Path) -> TargetRow {
    TargetRow {
        not_seen: vec![format!("not scanned: {ip} is outside of --authorized-range {}", path.display())],
        grade_why: "not checked".into(),
        ..blank(&Target::new(host, ip, port.unwrap_or(3306), true))
    }
}

/// How the row of a host begins where no usual port answers.
pub const SILENT_HOST: &str = "no answer on any of the usual ports";

/// The row of one silent port as that of its host.
pub fn silent_host(row: TargetRow) -> TargetRow {
    TargetRow { not_seen: vec![format!("{SILENT_HOST} ({})", row.not_seen.join("; "))], ..row }
}

pub fn accepted(standing: Standing<'_>) -> AcceptedRow {
    let (one, is_expired) = match standing {
        Standing::Counts(one) => (one, false),
        Standing::Expired(one) => (one, true),
    };
    AcceptedRow {
        rule: one.rule.clone(),
        reason: one.reason.clone(),
        until: one.until.to_string(),
        until_unix: one.until.ends_unix(),
        is_expired,
    }
}

fn public_key(knocked: &Knocked) -> Option<PublicKeyRow> {
    let Knocked::Key(key) = knocked else { return None };
    Some(PublicKeyRow { bits: key.bits, sha256: key.sha256.clone(), plugin: key.plugin.clone() })
}

fn service(service: &Service, target: &Target) -> ServiceRow {
    let mut row = ServiceRow {
        protocol: String::new(),
        version: None,
        flavour: None,
        auth_plugin: None,
        capabilities: None,
        public_key: None,
        note: String::new(),
    };
    row.protocol = match service {
        Service::Mysql { version, flavour, auth_plugin, capabilities, .. } => {
            row.version = Some(version.clone());
            row.flavour = Some(flavour.clone());
            row.auth_plugin.clone_from(auth_plugin);
            row.capabilities = Some(*capabilities);
            "mysql"
        }
        Service::XProtocol { authentication_mechanisms, .. } => {
            row.note = format!("logins by {}", authentication_mechanisms.join(", "));
            "x_protocol"
        }
        Service::TurnedAway { code, message } => {
            row.note = format!("error {code}: {message}");
            "turned_away"
        }
        Service::GaleraPlain { dynamic: false } => "galera_plain",
        Service::GaleraPlain { dynamic: true } => "galera_dynamic",
        Service::GroupReplicationPlain { protocol_version } => {
            row.note = format!("Group Replication (XCom, protocol {protocol_version})");
            "group_replication_plain"
        }
        Service::Tls => "tls",
        Service::Silent => {
            row.note = "the port is open, but the server sends nothing and accepts no TLS".into();
            // Documented, not seen: neither can be had here.
            if target.port == Port::NdbManagement {
                row.note += "; an NDB management server is silent until it gets a command, and none was sent";
            }
            if target.proxy.is_none() {
                row.note += "; it may wait for a load balancer's PROXY header (--proxy-protocol v2), or send its \
                             greeting too late (--timeout-ms)";
            }
            "silent"
        }
        Service::Stranger { first_bytes_hex } => {
            row.note = format!("its first bytes are {first_bytes_hex}");
            "stranger"
        }
    }
    .into();
    row
}

fn word(found: &Found) -> String {
    match found {
        Found::Yes => "yes".into(),
        Found::No => "no".into(),
        Found::Unknown(why) => format!("unknown: {why}"),
    }
}

fn version_name(version: Version) -> String {
    version
        .mysql_name()
        .or_else(|| version.name())
        .map_or_else(|| format!("{:04x}", version.0), str::to_owned)
}

fn tls(tls: &Tls) -> TlsRow {
    let suite = |code: &u16| {
        let known = cipher_suite(*code);
        SuiteRow {
            code: format!("{code:04x}"),
            iana: known.map_or_else(|| "(not registered)".to_owned(), |suite| suite.name.to_owned()),
            openssl: known.and_then(|suite| suite.openssl_name).map(str::to_owned),
            strength_bits: known.map_or(0, |suite| u32::from(suite.strength_bits)),
            forward_secrecy: known.is_some_and(CipherSuite::has_forward_secrecy),
        }
    };
    let mut features: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (name, found) in [
        ("compression", &tls.compression),
        ("secure_renegotiation", &tls.secure_renegotiation),
        ("extended_master_secret", &tls.extended_master_secret),
        ("encrypt_then_mac", &tls.encrypt_then_mac),
        ("heartbeat", &tls.heartbeat),
        ("session_ticket", &tls.session_ticket),
        ("ocsp_staple", &tls.ocsp_staple),
        ("fallback_scsv", &tls.fallback_scsv),
        ("client_certificate_asked", &tls.client_certificate_asked),
        ("client_certificate_required", &tls.client_certificate_required),
        ("resumption_by_id", &tls.resumption_by_id),
        ("resumption_by_ticket", &tls.resumption_by_ticket),
        ("resumption_by_psk", &tls.resumption_by_psk),
        ("client_renegotiation", &tls.client_renegotiation),
        ("heartbleed", &tls.heartbleed),
        ("early_ccs", &tls.early_ccs),
        ("robot", &tls.robot),
    ] {
        features.insert(name.into(), found.as_ref().map(word));
    }
    TlsRow {
        versions: tls
            .versions
            .iter()
            .rev()
            .map(|(version, found)| VersionRow {
                version: version_name(*version),
                taken: word(found),
                suites: tls.suites.get(version).into_iter().flatten().map(suite).collect(),
                suites_complete: tls.complete.contains(version),
            })
            .collect(),
        groups: tls
            .groups
            .iter()
            .rev()
            .flat_map(|(version, codes)| {
                codes.iter().map(|code| GroupRow {
                    code: format!("{code:04x}"),
                    name: group(*code).map_or_else(|| format!("{code:04x}"), |group| group.name.to_owned()),
                    version: version_name(*version),
                })
            })
            .collect(),
        groups_complete: are_groups_complete(tls),
        dh_bits: tls.dh_bits.map(|bits| bits as u64),
        dh_prime: tls.dh_prime.clone(),
        ticket_lifetime_s: tls.ticket_lifetime_s.map(u64::from),
        psk_lifetime_s: tls.psk_lifetime_s.map(u64::from),
        order: match &tls.server_order {
            Some(Found::Yes) => Some("server".into()),
            Some(Found::No) => Some("client".into()),
            _ => None,
        },
        signature_schemes: tls
            .signature_schemes
            .iter()
            .map(|code| {
                signature_scheme(*code).map_or_else(|| format!("{code:04x}"), |scheme| scheme.name.to_owned())
            })
            .collect(),
        trust: vec![],
        names: vec![],
        chain_without_name: tls.chain_without_name,
        chains: tls.chains.iter().map(|chain| chain.iter().map(certificate).collect()).collect(),
        features,
    }
}

/// Of every version that has groups to be asked for: a list that is empty because nobody answered is not whole.
fn are_groups_complete(tls: &Tls) -> bool {
    let has = |version: &Version| tls.versions.get(version) == Some(&Found::Yes);
    let has_old = [Version::TLS12, Version::TLS11, Version::TLS10].iter().any(has);
    (!has(&Version::TLS13) || tls.groups_complete.contains(&Version::TLS13))
        && (!has_old || tls.groups_complete.contains(&Version::TLS12))
        && tls.groups.keys().all(|version| tls.groups_complete.contains(version))
}

fn trust_rows(tls: &Tls, roots: &[Roots], now_unix_ms: u64) -> Vec<TrustRow> {
    let now_unix = i64::try_from(now_unix_ms / 1000).unwrap_or(i64::MAX);
    let mut rows = Vec::new();
    for (place, chain) in tls.chains_der.iter().enumerate() {
        for roots in roots {
            let judged = trust::server_chain_ok(chain, &roots.pem, now_unix);
            rows.push(TrustRow {
                chain: place,
                against: roots.name.into(),
                trusted: judged.is_ok(),
                why: judged.map_or_else(|error| one_line(&error.to_string()), |()| String::new()),
            });
        }
    }
    rows
}

/// What happened and why; the rest of an error is for whoever made the certificate.
fn one_line(text: &str) -> String {
    text.split("\n  next:").next().unwrap_or_default().replace("\n  why:  ", ": ")
}

fn names(tls: &Tls, host: &str) -> Vec<NameRow> {
    let leaves = tls.chains.iter().enumerate().filter_map(|(place, chain)| Some((place, chain.first()?)));
    leaves
        .flat_map(|(place, leaf)| {
            FAMILIES.map(|family| NameRow {
                chain: place,
                clients: family.name.into(),
                takes: family.takes(leaf, host),
            })
        })
        .collect()
}

fn certificate(info: &trust::CertificateInfo) -> CertificateRow {
    CertificateRow {
        subject: info.subject.clone(),
        issuer: info.issuer.clone(),
        serial: info.serial_hex.clone(),
        not_before_unix: info.not_before_unix,
        not_after_unix: info.not_after_unix,
        dns: info.dns.clone(),
        ips: info.ips.iter().map(ToString::to_string).collect(),
        key: info.key.clone(),
        key_bits: info.key_bits,
        signature: info.signature.clone(),
        sha256: info.sha256_fingerprint.clone(),
        key_sha256: info.key_sha256.clone(),
        is_ca: info.is_ca,
        self_signed: info.self_signed,
    }
}
