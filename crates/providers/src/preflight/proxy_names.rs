//! Whether the certificates that clients see through a proxy have the name under which they reach it. A proxy passes TLS on: clients verify
//! the node's certificate with the proxy's name. Who does not verify it notices nothing, so it is told and refuses nothing.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use model::{NodeName, Noun, Plan, Verb};
use trust::CertificateInfo;

use super::Problem;
use crate::files::{CERT_FILE, PEM_BYTES_MAX};
use crate::world::World;

/// What is wrong at a proxy, and the nodes of which it is said.
type Told = BTreeMap<String, Vec<NodeName>>;

pub fn look(world: &mut World<'_>, plan: &Plan) -> (Vec<Problem>, Vec<String>) {
    let shows_one = match plan.change.verb {
        Verb::Enable => {
            [Noun::Clients, Noun::RequireTls, Noun::Accounts].iter().any(|noun| plan.change.has(*noun))
        }
        Verb::Rotate | Verb::Join => true,
        Verb::Disable | Verb::Migrate => false,
    };
    if !shows_one || !plan.changes_anything() {
        return (vec![], vec![]);
    }
    let mut nameless: Told = BTreeMap::new();
    let mut lacking: Told = BTreeMap::new();
    for name in world.names() {
        let Ok(node) = world.node(&name) else { continue };
        let proxies = node.spec().proxies.clone();
        for (proxy, _) in proxies.iter().filter(|(_, names)| names.is_empty()) {
            nameless.entry(proxy.clone()).or_default().push(name.clone());
        }
        let names = proxies.iter().flat_map(|(proxy, names)| names.iter().map(move |name| (proxy, name)));
        let names: Vec<(&String, &String)> = names.collect();
        if names.is_empty() || is_issued(plan, &name) {
            continue;
        }
        match shown_after(world, plan, &name) {
            Shown::None => {}
            Shown::Leaf(leaf) => {
                for (proxy, wanted) in names.into_iter().filter(|(_, wanted)| !has_name(&leaf, wanted)) {
                    let what = format!("has no name {wanted}, under which clients reach the proxy {proxy}");
                    lacking.entry(what).or_default().push(name.clone());
                }
            }
            Shown::CannotTell(why) => {
                let what = format!("may have no name of its proxies: it cannot be read ({why})");
                lacking.entry(what).or_default().push(name.clone());
            }
        }
    }
    let nodes = |names: &[NodeName]| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut told: Vec<String> = nameless
        .iter()
        .map(|(proxy, names)| {
            format!(
                "the inventory has no names of the proxy {proxy}: clients that connect to it and verify the host name refuse the certificates of {}, \
                 unless these have that name; to have it in them: names = [\"db.example.com\"] in its [[proxy]]",
                nodes(names)
            )
        })
        .collect();
    told.extend(lacking.iter().map(|(what, names)| {
        format!(
            "the certificate of {} {what}: clients that verify the host name refuse it there; sealion rotate issues one that has \
             it, and one of your own has to be issued with it",
            nodes(names)
        )
    }));
    (vec![], told)
}

/// The plan makes a new one for it, from the inventory as it is now.
fn is_issued(plan: &Plan, name: &NodeName) -> bool {
    let places = |kind: &str| kind == "files" || kind == "rotate";
    plan.steps.iter().any(|step| places(&step.kind) && !step.no_op && step.nodes.contains(name))
}

enum Shown {
    /// It has none, and will have none.
    None,
    Leaf(Box<CertificateInfo>),
    CannotTell(String),
}

/// What clients see of a node after the plan, where that lies on its disk already.
fn shown_after(world: &mut World<'_>, plan: &Plan, name: &NodeName) -> Shown {
    let mut read = || -> Result<Option<CertificateInfo>, String> {
        let node = world.node(name).map_err(|error| error.0)?;
        let is_ours = plan.change.verb != Verb::Enable || plan.change.has(Noun::Clients);
        let path = if is_ours {
            node.spec().tls_dir.join(CERT_FILE)
        } else {
            let view = node.view().map_err(|error| error.first_line())?;
            let used = view.variable("ssl_cert").unwrap_or_default();
            if used.is_empty() {
                return Ok(None);
            }
            // MySQL's own stands beside its data, by its bare name.
            PathBuf::from(view.variable("datadir").unwrap_or_default()).join(used)
        };
        let bytes = node.host().read(&path, PEM_BYTES_MAX).map_err(|error| error.to_string())?;
        let bytes = bytes.ok_or_else(|| format!("{} is not there", path.display()))?;
        let chain = trust::inspect(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(chain.into_iter().next())
    };
    match read() {
        Ok(None) => Shown::None,
        Ok(Some(leaf)) => Shown::Leaf(Box::new(leaf)),
        Err(why) => Shown::CannotTell(why),
    }
}

/// As strict clients compare: a wildcard stands for one whole label.
fn has_name(leaf: &CertificateInfo, wanted: &str) -> bool {
    if let Ok(address) = wanted.parse::<IpAddr>() {
        return leaf.ips.contains(&address);
    }
    let covers = |name: &String| {
        name.eq_ignore_ascii_case(wanted)
            || name.strip_prefix("*.").is_some_and(|rest| {
                wanted.split_once('.').is_some_and(|(_, domain)| domain.eq_ignore_ascii_case(rest))
            })
    };
    leaf.dns.iter().any(covers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_strict_clients_do() {
        let ca = trust::Ca::create(
            &trust::CaSpec { common_name: "ca".into(), valid_days: 2, key: trust::KeyKind::EcP256 },
            1_800_000_000,
        )
        .expect("a CA");
        let spec = trust::LeafSpec {
            common_name: "cn.example.com".into(),
            dns: vec!["db.example.com".into(), "*.edge.example.com".into()],
            ips: vec!["10.0.0.9".parse().expect("ip")],
            valid_days: 1,
            key: trust::KeyKind::EcP256,
            not_before_unix: None,
            not_after_unix: None,
        };
        let leaf = ca.issue(&spec, 1_800_000_000).expect("a leaf");
        let leaf = trust::inspect(leaf.cert_pem.as_bytes()).expect("a certificate").remove(0);
        for (name, has) in [
            ("db.example.com", true),
            ("DB.example.com", true),
            ("a.edge.example.com", true),
            ("a.b.edge.example.com", false),
            ("edge.example.com", false),
            ("cn.example.com", false),
            ("10.0.0.9", true),
            ("10.0.0.8", false),
        ] {
            assert_eq!(has_name(&leaf, name), has, "{name}");
        }
    }
}
