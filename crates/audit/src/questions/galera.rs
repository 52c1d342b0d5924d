//! A node of Galera, by what its variables say of its links. What a server outside of Galera has set counts for nothing.

use std::net::IpAddr;

use model::{Value, facts};
use server::galera::GaleraFacts;

use super::rest::some;
use super::settings::variable_says;
use crate::Question;
use crate::asking::Asking;

pub const QUESTION: Question = Question {
    name: "Galera",
    facts: &[
        &facts::cluster::CLUSTER_SIZE,
        &facts::cluster::GALERA_CLUSTER,
        &facts::cluster::GALERA_EFFECTIVE,
        &facts::cluster::GALERA_PUBLIC_ADDRESS,
        &facts::cluster::GALERA_DEFAULT_NAME,
        &facts::cluster::SST_BY_DUMP,
    ],
    grants: |_| vec![],
    ask: |asking| {
        if asking.capabilities.galera {
            note(asking);
        }
        Ok(())
    },
};

/// Source: MariaDB manual, wsrep_cluster_name.
const DEFAULT_NAME: &str = "my_wsrep_cluster";

fn note(asking: &mut Asking<'_>) {
    let view = asking.view;
    let is_node = view.not_galera().is_none();
    let of_node = |value: Value| if is_node { value } else { Value::Absent };
    let not_told = |name: &str| Value::Unknown(format!("the server does not say its {name}"));
    let size =
        view.number("wsrep_cluster_size").map_or_else(|| not_told("wsrep_cluster_size"), Value::Number);
    asking.note(&facts::cluster::CLUSTER_SIZE, of_node(size), "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'");
    let cluster = view
        .status("wsrep_cluster_state_uuid")
        .map_or_else(|| not_told("wsrep_cluster_state_uuid"), |id| Value::Text(id.to_owned()));
    let how = "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'";
    asking.note(&facts::cluster::GALERA_CLUSTER, of_node(cluster), how);
    let state = if view.variable("wsrep_provider_options").is_none_or(str::is_empty) {
        not_told("wsrep_provider_options")
    } else {
        Value::Text(view.galera_state().to_string())
    };
    let how = variable_says("wsrep_provider_options");
    asking.note(&facts::cluster::GALERA_EFFECTIVE, of_node(state), &how);
    let public = public_addresses(asking);
    let how = "SHOW GLOBAL VARIABLES LIKE 'wsrep_node_address'; SHOW GLOBAL VARIABLES LIKE 'wsrep_provider_options'";
    asking.note(&facts::cluster::GALERA_PUBLIC_ADDRESS, of_node(public), how);
    let of = |name: &str, is: &dyn Fn(&str) -> bool| {
        view.variable(name).map_or_else(|| not_told(name), |value| Value::Bool(is(value)))
    };
    let name = of("wsrep_cluster_name", &|value| value == DEFAULT_NAME);
    asking.note(&facts::cluster::GALERA_DEFAULT_NAME, of_node(name), &variable_says("wsrep_cluster_name"));
    let method = of("wsrep_sst_method", &|value| value.eq_ignore_ascii_case("mysqldump"));
    asking.note(&facts::cluster::SST_BY_DUMP, of_node(method), &variable_says("wsrep_sst_method"));
}

/// Of the addresses that the node gives to the others and listens on. One that is a name is looked up by nobody here.
fn public_addresses(asking: &Asking<'_>) -> Value {
    let options = asking.view.provider_options();
    let given = [
        ("wsrep_node_address", asking.view.variable("wsrep_node_address")),
        ("base_host", options.get("base_host")),
        ("ist.recv_addr", options.get("ist.recv_addr")),
        ("gmcast.listen_addr", options.get("gmcast.listen_addr")),
    ];
    let (mut public, mut names, mut has_any) = (Vec::new(), Vec::new(), false);
    for (name, value) in given {
        let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
        let host = host_of(value);
        match host.parse::<IpAddr>() {
            // It listens everywhere: the other addresses say where others reach it.
            Ok(ip) if ip.is_unspecified() => {}
            Ok(ip) => {
                has_any = true;
                if !is_private(ip) {
                    public.push(format!("{name} is {value}"));
                }
            }
            Err(_) => names.push(format!("{name} is {value}")),
        }
    }
    if !public.is_empty() {
        return some(public.into_iter());
    }
    if has_any {
        return Value::Absent;
    }
    Value::Unknown(if names.is_empty() {
        "the node names no address of its own: set wsrep_node_address".into()
    } else {
        format!("{}, a name that is not looked up here", names.join(", "))
    })
}

/// `tcp://[fd00::1]:4567` without scheme and port.
fn host_of(address: &str) -> &str {
    let bare = address.split_once("://").map_or(address, |(_, rest)| rest);
    if let Some(rest) = bare.strip_prefix('[') {
        return rest.split(']').next().unwrap_or(rest);
    }
    match bare.rsplit_once(':') {
        Some((host, _)) if !host.contains(':') => host,
        _ => bare,
    }
}

/// Sources: RFC 1918, 4193, 3927, 4291, and 6598, which providers use inside.
fn is_private(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let [first, second, ..] = ip.octets();
            ip.is_private()
                || ip.is_loopback()
                || ip.is_link_local()
                || (first == 100 && (64..128).contains(&second))
        }
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_private_networks_are_told_from_others() {
        for (address, expected) in [
            ("10.0.0.1", true),
            ("172.31.0.1:4567", true),
            ("172.32.0.1", false),
            ("tcp://192.168.1.1:4567", true),
            ("100.64.0.1", true),
            ("203.0.113.7", false),
            ("[fd00::1]:4567", true),
            ("tcp://[2001:db8::1]:4567", false),
            ("fe80::1", true),
            ("::ffff:10.0.0.1", true),
        ] {
            assert_eq!(host_of(address).parse().map(is_private), Ok(expected), "{address}");
        }
    }
}
