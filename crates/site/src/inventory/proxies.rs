//! `[[proxy]]` of the inventory, as it is meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::NodeName;
use server::{NodeSpec, ProxySpec, ServerName};

use super::{NAME_CHARS_MAX, ProxyTable, bad_name, refuse_destination, refuse_host_names};
use crate::OpsError;

/// # Errors
/// One is neither a host name nor an address.
pub(super) fn names(table: &ProxyTable) -> Result<Vec<String>, OpsError> {
    refuse_host_names(&format!("proxy {}", table.name), "the certificates of the nodes", table.names.iter())?;
    Ok(table.names.clone())
}

pub(super) fn spec(
    table: ProxyTable,
    nodes: &[NodeSpec],
    at: &impl Fn(&Path) -> PathBuf,
) -> Result<ProxySpec, OpsError> {
    if let Some(why) = bad_name(&table.name, NAME_CHARS_MAX, "") {
        return Err(OpsError::usage(
            format!("\"{}\" cannot be the name of a proxy", table.name.escape_default()),
            why,
            "use letters, digits, dots, hyphens and underscores, at most 64",
        ));
    }
    if let Some(destination) = &table.ssh {
        refuse_destination(&format!("proxy {}", table.name), destination, [])?;
        if table.haproxy_socket.is_relative() {
            return Err(OpsError::usage(
                format!(
                    "haproxy_socket {} of proxy {} is relative",
                    table.haproxy_socket.display(),
                    table.name
                ),
                format!(
                    "the proxy is on another machine ({destination}), which has no directory of this file"
                ),
                "write it from the root: /run/haproxy/admin.sock",
            ));
        }
    }
    let mut servers = BTreeMap::new();
    for (node, names) in table.servers {
        if !nodes.iter().any(|spec| spec.name.as_str() == node) {
            return Err(OpsError::usage(
                format!(
                    "proxy {} has servers of {}, which is no node of the inventory",
                    table.name,
                    node.escape_default()
                ),
                "each word before = is the name of a [[node]]",
                "correct that name, or add the node",
            ));
        }
        let parsed: Result<Vec<ServerName>, OpsError> = names
            .iter()
            .map(|name| {
                ServerName::parse(name).ok_or_else(|| {
                    OpsError::usage(
                        format!(
                            "\"{}\" of proxy {} is no server of HAProxy",
                            name.escape_default(),
                            table.name
                        ),
                        "it needs the name of a backend, a slash and the name of a server: galera/db1",
                        "take both from `show servers state`, columns be_name and srv_name",
                    )
                })
            })
            .collect();
        servers.insert(NodeName::new(node), parsed?);
    }
    Ok(ProxySpec { name: table.name, socket: at(&table.haproxy_socket), servers })
}

#[cfg(test)]
mod tests {
    use super::super::Cluster;
    use crate::OpsError;

    fn read(proxy: &str) -> Result<Cluster, OpsError> {
        let dir = tempfile::tempdir().expect("tmp");
        std::fs::write(dir.path().join("c.cnf"), "[client]\nuser=sealion\n").expect("writable");
        let path = dir.path().join("sealion.toml");
        let head = "[cluster]\nname='c'\nca_dir='ca'\nstate_dir='state'\n[login]\ndefaults_file='c.cnf'\n";
        std::fs::write(
            &path,
            format!("{head}[[node]]\nname='n1'\naddress='a'\nssh='db1'\n[[proxy]]\n{proxy}"),
        )
        .expect("writable");
        Cluster::read(&path)
    }

    #[test]
    fn a_proxy_needs_a_name_and_no_more() {
        let cluster = read("name='edge'\n").expect("complete");
        let (machine, spec) = &cluster.proxies[0];
        assert!(machine.is_this() && spec.servers.is_empty());
        assert_eq!(spec.socket, std::path::Path::new("/run/haproxy/admin.sock"));
        let cluster =
            read("name='edge'\nssh='db1'\nservers={n1=['galera/db1','ro/db1']}\n").expect("complete");
        let (machine, spec) = &cluster.proxies[0];
        assert!(!machine.is_this());
        assert_eq!(spec.servers[&model::NodeName::new("n1")].len(), 2);
    }

    #[test]
    fn names_of_a_proxy_are_those_of_the_nodes_to_which_it_leads() {
        let names = |proxy: &str| -> Vec<(String, Vec<String>)> {
            let cluster = read(proxy).expect("complete");
            let node = &cluster.nodes[0];
            let certificate = node.certificate_names().into_iter().map(str::to_owned).collect();
            assert!(node.names.is_empty(), "links are not looked for under it");
            node.proxies.keys().map(|name| (name.clone(), Vec::clone(&certificate))).collect()
        };
        let named =
            |all: &[&str]| vec![("edge".to_owned(), all.iter().map(|&name| name.to_owned()).collect())];
        assert_eq!(
            names("name='edge'\nnames=['db.example.com','10.0.0.9','a']\n"),
            named(&["a", "db.example.com", "10.0.0.9"])
        );
        assert_eq!(names("name='edge'\n"), named(&["a"]));
        assert_eq!(names("name='edge'\nnames=['db.example.com']\nservers={n1=[]}\n"), []);
    }

    #[test]
    fn what_is_no_proxy_is_refused_with_its_place() {
        let check = |proxy: &str, expected: &str| {
            let error = read(proxy).expect_err("refused");
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(expected), "{error}");
        };
        check("name='edge'\nsocket='/run/x'\n", "line 13");
        check(
            "name='edge'\nnames=['db.example.com:3306']\n",
            "\"db.example.com:3306\" of proxy edge is not a host name",
        );
        check("ssh='edge'\n", "missing field `name`");
        check("name='ed ge'\n", "cannot be the name of a proxy");
        check("name='edge'\nssh='-oProxyCommand=x'\n", "of proxy edge is no destination of ssh");
        check("name='edge'\nssh='x'\nhaproxy_socket='admin.sock'\n", "is relative");
        check("name='edge'\nservers={n9=['galera/db1']}\n", "no node of the inventory");
        check("name='edge'\nservers={n1=['galera']}\n", "is no server of HAProxy");
        check("name='edge'\nservers={n1=['galera/db1;quit']}\n", "is no server of HAProxy");
        check("name='edge'\n[[proxy]]\nname='edge'\n", "two proxies");
    }
}
