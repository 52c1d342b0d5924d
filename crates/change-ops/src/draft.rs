//! `sealion config inventory`: a first sealion.toml from what one server tells of its cluster.

use std::path::Path;

use net::{Client, ConnectOptions, Endpoint};

use site::OpsError;
use site::inventory::Cluster;

/// What one member told of itself; `None` is "did not answer".
struct Member {
    name: String,
    address: String,
    port: u16,
    told: Option<ServerPaths>,
}

struct ServerPaths {
    socket: String,
    pid_file: String,
    error_log: String,
}

/// The text of an inventory for the cluster of the one server in `cluster`. `login_file` is named as the place of user
/// and password. Lines that a person must look at say so.
///
/// # Errors
/// `CannotLook` when that server does not answer.
pub fn draft(cluster: &Cluster, login_file: Option<&Path>) -> Result<String, OpsError> {
    let node = cluster
        .nodes
        .first()
        .ok_or_else(|| OpsError::usage("no server was named", "-h and -S are not given", "give -h HOST"))?;
    let mut first = Client::connect(&cluster.login_at(node)).map_err(|error| {
        OpsError::cannot_look(
            format!("{} does not answer", node.name),
            error,
            "check host, port, user and password (as for mariadb)",
        )
    })?;
    // A question that was not answered is not a server without Galera, nor a cluster of one.
    let ask = |client: &mut Client, statement: &str| match client.query(statement) {
        Ok(rows) => Ok(rows.text(0, "Value").map(std::borrow::Cow::into_owned)),
        Err(error) => Err(OpsError::cannot_look(
            format!("{} does not say what it is a member of", node.name),
            error.in_one_line(),
            "see that it serves statements (sealion status), then the same command again",
        )),
    };
    let wsrep = ask(&mut first, "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'")?;
    if wsrep.as_deref() != Some("ON") {
        let version = ask(&mut first, "SHOW GLOBAL VARIABLES LIKE 'version'")?.unwrap_or_default();
        let _ = first.quit();
        let service = if version.contains("MariaDB") { MARIADB_SERVICE } else { MYSQL_SERVICE };
        let members = [member(cluster, &node.address, node.port, "''")];
        let name = members[0].name.clone();
        return Ok(text(
            &Found { name: &name, members: &members, arbitrators: 0, service, is_galera: false },
            login_file,
        ));
    }
    let name = ask(&mut first, "SHOW GLOBAL VARIABLES LIKE 'wsrep_cluster_name'")?;
    let incoming = ask(&mut first, "SHOW GLOBAL STATUS LIKE 'wsrep_incoming_addresses'")?.unwrap_or_default();
    let _ = first.quit();
    let mut members = Vec::new();
    let mut arbitrators = 0;
    for entry in incoming.split(',').map(str::trim) {
        let (address, port) = match entry.rsplit_once(':') {
            Some((address, port)) => (address.trim_matches(['[', ']']), port.parse().unwrap_or(node.port)),
            None => (entry, node.port),
        };
        if address.is_empty() || address == "AUTO" {
            arbitrators += usize::from(!incoming.is_empty());
        } else {
            members.push(member(cluster, address, port, GALERA_NAME));
        }
    }
    if members.is_empty() {
        // Not a cluster, or one that does not say where its members are.
        members.push(member(cluster, &node.address, node.port, GALERA_NAME));
    }
    let name = name.as_deref().unwrap_or("main");
    let found = Found { name, members: &members, arbitrators, service: MARIADB_SERVICE, is_galera: true };
    Ok(text(&found, login_file))
}

/// What a draft is made from.
struct Found<'f> {
    name: &'f str,
    members: &'f [Member],
    arbitrators: usize,
    service: &'f str,
    is_galera: bool,
}

const GALERA_NAME: &str = "@@wsrep_node_name";
const MARIADB_SERVICE: &str = "mariadb.service";
const MYSQL_SERVICE: &str = "mysql.service";

/// `named`: the SQL expression of its name; where it is empty, the address is the name.
fn member(cluster: &Cluster, address: &str, port: u16, named: &str) -> Member {
    let options = ConnectOptions { endpoint: Endpoint::tcp(address, port), ..cluster.login.clone() };
    let mut name = address.to_owned();
    let told = Client::connect(&options).ok().and_then(|mut client| {
        let asked = format!("SELECT {named}, @@socket, @@pid_file, @@log_error, @@datadir");
        let rows = client.query(&asked).ok()?;
        let row = rows.first()?;
        let at = |column: usize| row.at(column).map(std::borrow::Cow::into_owned).unwrap_or_default();
        if !at(0).is_empty() {
            name = at(0);
        }
        // Relative paths count from the data directory.
        let below = |path: String| {
            if path.is_empty() { path } else { Path::new(&at(4)).join(path).display().to_string() }
        };
        let told = ServerPaths { socket: below(at(1)), pid_file: below(at(2)), error_log: below(at(3)) };
        let _ = client.quit();
        Some(told)
    });
    Member { name, address: address.to_owned(), port, told }
}

fn text(found: &Found<'_>, login_file: Option<&Path>) -> String {
    let Found { name, members, arbitrators, service, is_galera } = found;
    // A TOML basic string is a JSON string, but for control characters that no path has.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut out = String::from(
        "# Drafted by `sealion config inventory`. Check each line marked CHECK, then: sealion status\n\
         # (docs: reference/inventory)\n\n",
    );
    if !is_galera {
        out += "# CHECK: a source and its replicas stand in one inventory: add a [[node]] for each of the others.\n";
    }
    if *arbitrators > 0 {
        out += &format!(
            "# Arbitrators (garbd) that are members too: {arbitrators}; stop them for the time of a change.\n"
        );
    }
    out += &format!("[cluster]\nname = {}\n", quoted(name));
    out += "# On this machine: the cluster's own CA, its key encrypted, and the passphrase of that key (mode 0600):\n\
            #   (umask 077; mkdir -p sealion; openssl rand -base64 32 > sealion/ca-passphrase)\n";
    out += "ca_dir = \"sealion/ca\"\nstate_dir = \"sealion/state\"\nca_passphrase_file = \"sealion/ca-passphrase\"\n";
    out += "\n[login]\n";
    let place = login_file.map_or_else(|| "sealion/login.cnf".to_owned(), |path| path.display().to_string());
    if login_file.is_none() {
        out += "# CHECK: make this file (mode 0600): [client], user=..., password=...\n";
    }
    out += &format!("defaults_file = {}\n", quoted(&place));
    for member in *members {
        out += &format!(
            "\n[[node]]\nname = {}\naddress = {}\nport = {}\n",
            quoted(&member.name),
            quoted(&member.address),
            member.port
        );
        match &member.told {
            Some(told) => {
                for (key, value) in
                    [("socket", &told.socket), ("pid_file", &told.pid_file), ("error_log", &told.error_log)]
                {
                    if !value.is_empty() {
                        out += &format!("{key} = {}\n", quoted(value));
                    }
                }
            }
            None => out += "# CHECK: it did not answer: socket, pid_file and error_log are not known\n",
        }
        out += "# CHECK: the option file that its server reads, where keys may lie, and how it is started\n\
                defaults_file = \"/etc/mysql/my.cnf\"\ntls_dir = \"/etc/mysql/ssl\"\nstate_dir = \"/var/lib/sealion\"\n";
        out += &format!("service = {}\n", quoted(service));
        out +=
            "# names = [\"db.example\"]  # more names for its certificate, of a load balancer for example\n";
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use site::inventory::Inventory;

    #[test]
    fn a_draft_is_an_inventory_whatever_the_names_are() {
        let told = || ServerPaths {
            socket: "/run/a \"b\".sock".into(),
            pid_file: "/run/p".into(),
            error_log: String::new(),
        };
        let member =
            |name: &str, told| Member { name: name.into(), address: "10.0.0.1".into(), port: 3307, told };
        let members = [member("n1", Some(told())), member("n\\2", None)];
        let found = |is_galera, arbitrators| {
            let (name, members) = ("main", &members[..]);
            text(&Found { name, members, arbitrators, service: MYSQL_SERVICE, is_galera }, None)
        };
        let text = found(true, 1);
        let read: Inventory = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!((read.nodes.len(), read.nodes[1].name.as_str(), read.nodes[0].port), (2, "n\\2", 3307));
        assert_eq!(read.nodes[0].socket.as_deref(), Some(Path::new("/run/a \"b\".sock")));
        assert_eq!((read.nodes[0].error_log.as_ref(), read.nodes[1].socket.as_ref()), (None, None));
        assert!(text.contains("garbd") && text.contains("it did not answer"));
        let alone = found(false, 0);
        assert!(toml::from_str::<Inventory>(&alone).is_ok() && alone.contains("replicas"), "{alone}");
    }
}
