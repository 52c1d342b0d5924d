//! From one CA to the next while everybody serves, the same for every topology: all trust both, then the next one signs, then each
//! member has a leaf of it, then nobody trusts the old one.
//!
//! A member that is asked about a CA is shown a leaf of it, made in memory for that one question.

use std::sync::Arc;

use change::StepError;
use model::{Change, NodeName, Noun};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use server::{Admits, PemSet};
use trust::{KeyKind, LeafSpec, Rollover};

use crate::by_hand;
use crate::draft::MemberDraft;
use crate::files::CA_FILE;
use crate::needs;
use crate::plan::{Builder, PlanError, refuse};
use crate::steps::{Asks, RotateParams, TrustGateParams, TrustParams, fail};
use crate::world::World;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    Old,
    New,
}

impl Which {
    pub fn word(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::New => "new",
        }
    }
}

/// What the steps of a rollover have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RolloverParams {
    /// SHA-256 fingerprint of the certificate of the CA that is replaced.
    pub old_sha256: String,
}

pub fn of(world: &World<'_>, old_sha256: &str) -> Rollover {
    Rollover::of(&world.authority.dir, old_sha256)
}

pub fn pem(world: &World<'_>, old_sha256: &str, which: Which) -> Result<String, StepError> {
    let rollover = of(world, old_sha256);
    match which {
        Which::Old => rollover.old_pem(),
        Which::New => rollover.new_pem(),
    }
    .map_err(fail)
}

/// Whether nobody takes a leaf of it any more, whoever trusts it.
pub fn is_over(world: &World<'_>, ca_pem: &str) -> Result<bool, StepError> {
    let ca = trust::inspect(ca_pem.as_bytes()).map_err(fail)?;
    Ok(ca.iter().any(|one| one.not_after_unix <= world.unix_s()))
}

/// A member that cannot read its files again with a leaf that is over reads them once it has one of the new CA: a member that is restarted
/// for it would not be let in, and MySQL refuses to.
pub fn waits_for_leaf(world: &mut World<'_>, name: &NodeName, old_sha256: &str) -> Result<bool, StepError> {
    if world.arbitrator(name).is_some() {
        let old_pem = pem(world, old_sha256, Which::Old)?;
        return is_over(world, &old_pem);
    }
    let now = world.unix_s();
    if !world.node(name)?.view().map_err(fail)?.capabilities().reload_verifies {
        return Ok(false);
    }
    let [_, cert, cas] = crate::steps::trust::on_disk(world, name)?;
    Ok(matches!(trust::chain_ok(&cert, &cas, now), Err(trust::TrustError::Expired { .. })))
}

/// A leaf of one of the two, to be shown. It is valid as long as its CA has been, for clocks that differ.
pub fn shown(world: &World<'_>, old_sha256: &str, which: Which) -> Result<Arc<PemSet>, StepError> {
    const VALID_S: i64 = 3_600;
    let rollover = of(world, old_sha256);
    let passphrase = &world.authority.passphrase;
    let ca = match which {
        Which::Old => rollover.open_old(passphrase),
        Which::New => rollover.open_new(passphrase),
    };
    let ca = ca.map_err(fail)?;
    let of_ca = trust::inspect(ca.cert_pem().as_bytes()).map_err(fail)?;
    let spec = LeafSpec {
        common_name: "sealion asks".into(),
        dns: vec![],
        ips: vec![],
        valid_days: 1,
        key: KeyKind::EcP256,
        not_before_unix: of_ca.first().map(|one| one.not_before_unix),
        not_after_unix: Some(world.unix_s() + VALID_S),
    };
    let leaf = ca.issue(&spec, world.unix_s()).map_err(fail)?;
    Ok(Arc::new(PemSet {
        ca: ca.cert_pem().into_bytes(),
        cert: leaf.cert_pem.into_bytes(),
        key: leaf.key_pem.expose_secret().to_owned().into(),
    }))
}

/// Whether a member takes leaves of one of the two.
///
/// # Errors
/// It cannot be told.
pub fn admits(
    world: &mut World<'_>,
    name: &NodeName,
    old_sha256: &str,
    which: Which,
) -> Result<Admits, StepError> {
    let shown = shown(world, old_sha256, which)?;
    let topology = world.topology;
    topology.admits(world, name, &shown)
}

/// Whether a member refuses leaves of the old CA because it does not know it, or nobody could use one; the inner error says why not.
pub fn refuses_old(
    world: &mut World<'_>,
    name: &NodeName,
    old_sha256: &str,
) -> Result<Result<String, String>, StepError> {
    Ok(match admits(world, name, old_sha256, Which::Old)? {
        Admits::Yes => Err(format!(
            "{name} still takes certificates of the old CA: its CA file may have been changed, or have another certificate of the same key"
        )),
        no @ Admits::No(_) if no.is_unknown_ca() => Ok("it refuses a certificate of the old CA".into()),
        Admits::No(alert) => {
            let old_pem = pem(world, old_sha256, Which::Old)?;
            if is_over(world, &old_pem)? {
                Ok("the old CA has expired, and a certificate of it is refused".into())
            } else {
                Err(format!(
                    "whether {name} trusts the old CA cannot be told: it refused a certificate of it with \"{alert}\""
                ))
            }
        }
    })
}

/// The steps of a rollover, up to where every file and every leaf is of the new CA.
///
/// # Errors
/// There is no CA, or it cannot be read.
pub fn plan(
    world: &mut World<'_>,
    members: &[&MemberDraft],
    restarts: &dyn Fn(&NodeName) -> bool,
    builder: &mut Builder,
) -> Result<String, PlanError> {
    let dir = world.authority.dir.clone();
    let old_sha256 = Rollover::current_sha256(&dir).map_err(|error| {
        refuse(format!("there is no CA to replace\n  why:  {error}\n  next: give the ca_dir of this cluster; without one: sealion enable"))
    })?;
    let rollover = Rollover::of(&dir, &old_sha256);
    let old_pem = rollover.old_pem().map_err(refuse)?;
    let is_over = is_over(world, &old_pem).map_err(refuse)?;
    let same = || RolloverParams { old_sha256: old_sha256.clone() };
    let common_name = next_name(&old_pem).map_err(refuse)?;
    let next = dir.join("next");
    let step = builder.add(
        "R0.ca".into(),
        "next-authority",
        format!("create the next CA, \"{common_name}\", with an encrypted key, in {}", next.display()),
        vec![],
        same(),
    );
    step.params["common_name"] = common_name.clone().into();
    step.no_op = rollover.is_made().map_err(refuse)?;
    step.nature.needs = vec![needs::key_files(None, &dir)];
    step.shell = by_hand::authority(&next, &common_name, world.authority.key, world.authority.ca_days);
    // As `waits_for_leaf` has it.
    let first = |draft: &&&MemberDraft| !(is_over && restarts(&draft.name));
    for draft in members.iter().filter(first) {
        trusts(builder, draft, &dir, &old_sha256, false, restarts(&draft.name));
    }
    let everywhere: Vec<NodeName> = members.iter().map(|draft| draft.name.clone()).collect();
    let asked: Vec<NodeName> = members.iter().filter(first).map(|draft| draft.name.clone()).collect();
    gate(
        builder,
        "R2.look",
        "check that every member takes certificates of the new CA",
        TrustGateParams { old_sha256: old_sha256.clone(), asks: Asks::Takes },
        asked,
    );
    let step = builder.add(
        "R2.ca".into(),
        "authority-turn",
        format!("the new CA signs from now on; the old one is kept in {}", dir.join("retired").display()),
        vec![],
        same(),
    );
    step.nature.needs = vec![needs::key_files(None, &dir)];
    step.shell = by_hand::turn(&dir);
    for draft in members {
        let topology = world.topology;
        let pem = topology.shows(world, &draft.name).map_err(refuse)?;
        let leaf = trust::inspect(pem.as_bytes()).map_err(refuse)?;
        let serial_before = leaf.first().map(|leaf| leaf.serial_hex.clone()).unwrap_or_default();
        let step = builder.add(
            format!("R3.{}", draft.name),
            "rotate",
            format!("{} uses a certificate of the new CA{}", draft.name, how(restarts(&draft.name))),
            vec![draft.name.clone()],
            RotateParams { serial_before },
        );
        step.restarts_server = restarts(&draft.name);
        step.nature.needs = draft.key_file_needs(&[&draft.state_dir, &draft.state_dir, &draft.tls_dir]);
        step.shell = by_hand::leaf(&dir, draft, world.authority.key, world.authority.leaf_days, true);
        step.shell.push(READ_AGAIN.into());
    }
    gate(
        builder,
        "R3.look",
        "check that every member shows a certificate of the new CA",
        TrustGateParams { old_sha256: old_sha256.clone(), asks: Asks::Shows },
        everywhere,
    );
    for draft in members {
        trusts(builder, draft, &dir, &old_sha256, true, restarts(&draft.name));
    }
    Ok(old_sha256)
}

/// What no server tells: who verifies them by the old CA alone.
pub fn impact(world: &World<'_>, change: &Change) -> Option<String> {
    change.has(Noun::Ca).then(|| {
        format!(
            "clients that verify servers need {} beside the old ca.pem before R3, or they refuse them from then on; --stop-after R2.look leaves the time \
             for that",
            world.authority.dir.join("next").join(trust::CA_CERT_FILE).display()
        )
    })
}

/// The last step: nobody takes certificates of the old CA any more.
pub fn refused_by_all(builder: &mut Builder, old_sha256: String, members: Vec<NodeName>) {
    let params = TrustGateParams { old_sha256, asks: Asks::Refuses };
    gate(builder, "R5.look", "check that everybody refuses certificates of the old CA", params, members);
}

fn how(restarts: bool) -> &'static str {
    if restarts { "; restart" } else { ", without a restart" }
}

fn gate(builder: &mut Builder, id: &str, title: &str, params: TrustGateParams, nodes: Vec<NodeName>) {
    let step = builder.add(id.into(), "trust-gate", title.into(), nodes, params);
    step.shell = vec![format!("# {title}: openssl s_client -connect HOST:PORT -cert LEAF -key KEY")];
}

const READ_AGAIN: &str = "# and it reads its files again: FLUSH SSL (MariaDB), ALTER INSTANCE RELOAD TLS (MySQL), a restart (garbd)";

fn trusts(
    builder: &mut Builder,
    draft: &MemberDraft,
    ca_dir: &std::path::Path,
    old_sha256: &str,
    drops: bool,
    restarts: bool,
) {
    let (prefix, what) = if drops {
        ("R4", "trusts the new CA only, in its CA file")
    } else {
        ("R1", "trusts the new CA beside the old one")
    };
    let step = builder.add(
        format!("{prefix}.{}", draft.name),
        "trust",
        format!("{} {what}{}", draft.name, how(restarts)),
        vec![draft.name.clone()],
        TrustParams { old_sha256: old_sha256.to_owned(), drops },
    );
    step.restarts_server = restarts;
    step.nature.needs = draft.key_file_needs(&[&draft.state_dir, &draft.tls_dir]);
    let ca = |dir: &std::path::Path| by_hand::quoted(&dir.join(trust::CA_CERT_FILE).display().to_string());
    let here = by_hand::quoted(&draft.path(CA_FILE));
    step.shell = vec![
        if drops {
            format!("# from {}, only the new CA goes to {here} on {}", ca(ca_dir), draft.name)
        } else {
            format!("# {} goes behind the old one in {here} on {}", ca(&ca_dir.join("next")), draft.name)
        },
        READ_AGAIN.into(),
    ];
}

/// `sealion CA of shop` is followed by `sealion CA of shop G2`: two CAs of one name are hard to tell apart.
fn next_name(old_pem: &str) -> Result<String, trust::TrustError> {
    const CHARS_MAX: usize = 64;
    let subject = trust::inspect(old_pem.as_bytes())?.swap_remove(0).subject;
    let name = subject.split("CN=").nth(1).unwrap_or(&subject).split(", ").next().unwrap_or("").to_owned();
    let (stem, number) = match name.rsplit_once(" G") {
        Some((stem, number)) => (stem.to_owned(), number.parse::<u32>().ok()),
        None => (name.clone(), None),
    };
    let (stem, number) = match number {
        Some(number) => (stem, number.saturating_add(1)),
        None => (name, 2),
    };
    let tail = format!(" G{number}");
    let stem: String = stem.chars().take(CHARS_MAX - tail.chars().count()).collect();
    Ok(stem + &tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trust::{Ca, CaSpec};

    #[test]
    fn each_ca_has_a_name_of_its_own() {
        let of = |name: &str| {
            let spec = CaSpec { common_name: name.into(), valid_days: 30, key: KeyKind::EcP256 };
            next_name(&Ca::create(&spec, 1_795_219_200).expect("made").cert_pem()).expect("named")
        };
        assert_eq!(of("sealion CA of shop"), "sealion CA of shop G2");
        assert_eq!(of("sealion CA of shop G2"), "sealion CA of shop G3");
        assert_eq!(of("sealion CA of shop Go"), "sealion CA of shop Go G2");
        assert_eq!(of(&"x".repeat(64)), format!("{} G2", "x".repeat(61)));
    }
}
