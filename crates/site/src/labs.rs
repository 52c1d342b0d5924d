//! `sealion lab`: a whole cluster on loopback with accounts, an inventory, and nothing of the user's touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lab::bundle::ServerKind;
use lab::layout::Beside;
use lab::{AtDrop, Lab, LabOptions, NodeSpec, Wait};
use model::{Clock, NodeName, SystemClock};
use net::{Client, ConnectOptions, Endpoint, ExposeSecret, SecretString};
use openssl::sha::sha1;
use server::{GaleraFacts, NodeView, ReadMember, ReadNode};
use trust::{Ca, CaSpec, KeyKind, LeafSpec};

use crate::OpsError;
use crate::inventory::{
    ArbitratorTable, Cluster, ClusterTable, Inventory, LoginTable, NodeTable, ProxyTable, SshTable,
};

/// A node of the lab is Synced within this time, or it has failed; an SST of the demo's data takes 5 s.
const SYNCED_MS_MAX: u64 = 90_000;

/// A running lab and the cluster in it.
pub struct Up {
    pub lab: Lab,
    pub cluster: Cluster,
    pub inventory: PathBuf,
    /// The application's account, with rights on its own schema only.
    pub app: ConnectOptions,
}

pub fn inventory_path(dir: &Path) -> PathBuf {
    dir.join("sealion.toml")
}

fn option_file(user: &str, password: &SecretString) -> String {
    format!("[client]\nuser={user}\npassword={}\n", password.expose_secret())
}

/// As mysql_native_password stores it. Galera replicates the statement as it was typed, and keeps it in `galera.cache`:
/// a password in it would lie there in cleartext, on every node.
fn stored_form(password: &SecretString) -> String {
    let hash = sha1(&sha1(password.expose_secret().as_bytes()));
    format!("*{}", model::hex(&hash).to_uppercase())
}

/// MySQL writes the account's hash into its binary log, whatever was typed.
fn create_user(kind: ServerKind, name: &str, password: &SecretString) -> SecretString {
    match kind {
        ServerKind::MariaDb => {
            format!("CREATE USER {name}@'%' IDENTIFIED BY PASSWORD '{}'", stored_form(password))
        }
        ServerKind::MySql => format!("CREATE USER {name}@'%' IDENTIFIED BY '{}'", password.expose_secret()),
    }
    .into()
}

/// Starts every node but the first as a replica of it, in cleartext as far as the server lets it, and waits until each has what
/// the first has.
///
/// # Errors
/// A server does not come up, or does not replicate.
pub fn replicate(up: &Up) -> Result<(), OpsError> {
    let Some((source, replicas)) = up.lab.file.nodes.split_first() else { return Ok(()) };
    let password = replication_password();
    let kind = up.lab.file.servers.kind;
    execute_all(source, &replication_account(kind, &password), "cannot create the account of replication")?;
    for replica in replicas {
        follow(up, source, replica, &password)?;
    }
    Ok(())
}

/// Starts the servers that are beside the lab's cluster: sources first, then the replicas, also of nodes of the cluster, each in
/// cleartext as far as the servers let it.
///
/// # Errors
/// A server does not come up, or does not replicate.
pub fn start_beside(up: &Up) -> Result<(), OpsError> {
    let file = &up.lab.file;
    let beside: Vec<(&NodeSpec, &Beside)> =
        file.nodes.iter().filter_map(|node| Some((node, node.beside.as_ref()?))).collect();
    let password = replication_password();
    let login = |file: &str| {
        let options = crate::inventory::login_from(&file_in(up, file))?;
        options.password.ok_or_else(|| OpsError::internal("a login of the lab has no password", file))
    };
    let (operator, app) = (login("operator.cnf")?, login("app.cnf")?);
    for (node, own) in beside.iter().filter(|(_, own)| own.source.is_none()) {
        up.lab.seed(node)?;
        up.lab.start(&node.name, &[], Wait::Socket)?;
        execute_all(
            node,
            &accounts(own.servers.kind, &operator, &app),
            "cannot create the accounts of the lab",
        )?;
    }
    let sources: std::collections::BTreeSet<&str> =
        beside.iter().filter_map(|(_, own)| own.source.as_deref()).collect();
    for name in &sources {
        let source = up.lab.node(name)?;
        let kind = file.servers_of(source).kind;
        execute_all(
            source,
            &replication_account(kind, &password),
            "cannot create the account of replication",
        )?;
    }
    for (node, own) in beside {
        if let Some(source) = &own.source {
            follow(up, up.lab.node(source)?, node, &password)?;
        }
    }
    Ok(())
}

fn file_in(up: &Up, name: &str) -> PathBuf {
    up.lab.file.dir.join(name)
}

const REPLICATION_ACCOUNT: &str = "repl";

/// MySQL takes no longer one in CHANGE REPLICATION SOURCE than 32 characters (error 3056).
fn replication_password() -> SecretString {
    SecretString::from(model::hex(&crate::random16()))
}

fn replication_account(kind: ServerKind, password: &SecretString) -> [SecretString; 2] {
    [
        create_user(kind, REPLICATION_ACCOUNT, password),
        format!("GRANT REPLICATION SLAVE ON *.* TO {REPLICATION_ACCOUNT}@'%'").into(),
    ]
}

fn root_of(node: &NodeSpec) -> Result<Client, OpsError> {
    Client::connect(&ConnectOptions::new(Endpoint::unix(node.socket()), "root"))
        .map_err(|error| OpsError::internal(format!("cannot log in to {}", node.name), error))
}

fn execute_all(node: &NodeSpec, statements: &[SecretString], what: &str) -> Result<(), OpsError> {
    let mut root = root_of(node)?;
    for statement in statements {
        root.execute(statement.expose_secret())
            .map_err(|error| OpsError::internal(format!("{}: {what}", node.name), error))?;
    }
    Ok(())
}

/// Starts a replica and waits until it has what its source has.
fn follow(up: &Up, source: &NodeSpec, replica: &NodeSpec, password: &SecretString) -> Result<(), OpsError> {
    const ACCOUNT: &str = REPLICATION_ACCOUNT;
    let internal = |what: String| move |error: net::NetError| OpsError::internal(what, error);
    let kind = up.lab.file.servers_of(replica).kind;
    up.lab.seed(replica)?;
    up.lab.start(&replica.name, &[], Wait::Socket)?;
    let mut root = root_of(replica)?;
    let (address, port) = (source.address, lab::layout::SQL_PORT);
    let secret = password.expose_secret();
    let statements: [SecretString; 2] = match kind {
            ServerKind::MariaDb => [
                format!(
                    "CHANGE MASTER TO master_host='{address}', master_port={port}, master_user='{ACCOUNT}', \
                     master_password='{secret}', master_connect_retry=1, master_ssl=0, master_use_gtid=slave_pos"
                )
                .into(),
                "START SLAVE".to_owned().into(),
            ],
            ServerKind::MySql => [
                format!(
                    "CHANGE REPLICATION SOURCE TO SOURCE_HOST='{address}', SOURCE_PORT={port}, SOURCE_USER='{ACCOUNT}', \
                     SOURCE_PASSWORD='{secret}', SOURCE_CONNECT_RETRY=1, SOURCE_SSL=0, GET_SOURCE_PUBLIC_KEY=1, \
                     SOURCE_AUTO_POSITION=1"
                )
                .into(),
                "START REPLICA".to_owned().into(),
            ],
        };
    for statement in &statements {
        root.execute(statement.expose_secret())
            .map_err(internal(format!("cannot make {} a replica", replica.name)))?;
    }
    // The account of the lab was made on the source before: with it, all has come.
    let deadline = Instant::now() + Duration::from_millis(SYNCED_MS_MAX);
    loop {
        let has_come = root
            .query("SELECT 1 FROM mysql.user WHERE user = 'app'")
            .is_ok_and(|rows| rows.iter().next().is_some());
        if has_come {
            break;
        }
        if Instant::now() > deadline {
            return Err(OpsError::internal(
                format!("{} does not replicate", replica.name),
                format!("nothing has come from {} within {SYNCED_MS_MAX} ms", source.name),
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// The socket takes logins a moment before the provider takes statements (error 1047 until then).
fn ready(session: &mut Client) -> Result<(), OpsError> {
    let deadline = Instant::now() + Duration::from_millis(SYNCED_MS_MAX);
    loop {
        let rows = session
            .query("SHOW GLOBAL STATUS LIKE 'wsrep_ready'")
            .map_err(|error| OpsError::internal("cannot ask the new server whether it is ready", error))?;
        if rows.text(0, "Value").as_deref() == Some("ON") {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(OpsError::internal("the first server did not become ready", "wsrep_ready stays OFF"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn write_private(path: &Path, text: &str) -> Result<(), OpsError> {
    fs::write(path, "")
        .map_err(|error| OpsError::internal(format!("cannot write {}", path.display()), error))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        .and_then(|()| fs::write(path, text))
        .map_err(|error| OpsError::internal(format!("cannot write {}", path.display()), error))
}

/// Makes the lab and starts its first node as a new cluster. The others are started with [`join`].
pub fn first_node(options: &LabOptions, operator_dir: &Path) -> Result<Up, OpsError> {
    let mut lab = Lab::make(options)?;
    // Without accounts and an inventory it is of no use to anybody.
    lab.set_at_drop(if options.keep { AtDrop::Stop } else { AtDrop::End });
    let first =
        lab.file.nodes.first().cloned().ok_or_else(|| {
            OpsError::usage("a lab needs at least one node", "--nodes is 0", "use --nodes 3")
        })?;
    let (operator, app) = (trust::generate_passphrase(), trust::generate_passphrase());
    let dir = &options.dir;
    write_private(&dir.join("operator.cnf"), &option_file("sealion", &operator))?;
    write_private(&dir.join("app.cnf"), &option_file("app", &app))?;
    write_inventory(&lab, operator_dir)?;
    let inventory = inventory_path(dir);
    let cluster = Cluster::read(&inventory)?;
    if options.tls {
        certify(&lab, &cluster)?;
    }

    lab.seed(&first)?;
    let as_first: &[&str] = if options.galera { &["--wsrep-new-cluster"] } else { &[] };
    lab.start(&first.name, as_first, Wait::Socket)?;
    let mut root = Client::connect(&ConnectOptions::new(Endpoint::unix(first.socket()), "root"))
        .map_err(|error| OpsError::internal("cannot log in to the new server", error))?;
    if options.galera {
        ready(&mut root)?;
    }
    let _ = root.quit();
    execute_all(
        &first,
        &accounts(options.servers.kind, &operator, &app),
        "cannot create the accounts of the lab",
    )?;
    let app = crate::inventory::login_from(&dir.join("app.cnf"))?;
    lab.set_at_drop(if options.keep { AtDrop::Run } else { AtDrop::End });
    Ok(Up { lab, cluster, inventory, app })
}

fn accounts(kind: ServerKind, operator: &SecretString, app: &SecretString) -> [SecretString; 4] {
    let schema = bench::SCHEMA;
    [
        create_user(kind, "sealion", operator),
        "GRANT ALL ON *.* TO sealion@'%' WITH GRANT OPTION".to_owned().into(),
        create_user(kind, "app", app),
        format!("GRANT ALL ON {schema}.* TO app@'%'").into(),
    ]
}

/// The proxy of a lab that has one.
fn proxy_tables(lab: &Lab) -> Vec<ProxyTable> {
    let has_one = lab.file.proxy;
    let table = || ProxyTable {
        name: lab::hosts::PROXY_HOST.into(),
        ssh: Some(lab::hosts::PROXY_HOST.into()),
        haproxy_socket: lab::proxy::socket(&lab.file.dir),
        names: vec![lab::hosts::PROXY_HOST.into(), lab::hosts::proxy_address(lab.file.number).to_string()],
        servers: BTreeMap::new(),
    };
    has_one.then(table).into_iter().collect()
}

/// The ssh that knows the hosts of a lab.
fn ssh_words(lab: &Lab) -> Vec<String> {
    let ssh =
        lab::hosts::SshPrograms::find().map_or_else(|_| vec!["ssh".into()], |programs| programs.ssh.words());
    [ssh, vec!["-F".into(), lab::hosts::ssh_config(&lab.file.dir).display().to_string()]].concat()
}

/// (Re)writes the lab's inventory from its nodes.
pub fn write_inventory(lab: &Lab, operator_dir: &Path) -> Result<(), OpsError> {
    let itself = std::env::current_exe()
        .map_err(|error| OpsError::internal("cannot find the running sealion", error))?;
    let command = |verb: &str, node: &str| {
        Some(vec![
            itself.display().to_string(),
            "lab".into(),
            verb.into(),
            node.into(),
            "--dir".into(),
            lab.file.dir.display().to_string(),
        ])
    };
    let inventory = Inventory {
        watch: None,
        accepted: vec![],
        cluster: ClusterTable {
            name: lab.file.cluster_name.clone(),
            ca_dir: operator_dir.join("ca"),
            state_dir: operator_dir.join("state"),
            ca_passphrase_file: Some(operator_dir.join("ca-passphrase")),
            escrow_dir: None,
            escrow_recipients: vec![],
            escrow_identity_file: None,
            capture_interface: if lab.file.hosts { capture::EVERY_INTERFACE } else { "lo" }.into(),
            capture_relay: lab.file.relay.then(|| lab.file.dir.clone()),
        },
        login: LoginTable { defaults_file: "operator.cnf".into() },
        ssh: lab.file.hosts.then(|| SshTable {
            command: ssh_words(lab),
            sudo: false,
            agent: Some(itself.clone()),
            keep_agent: false,
        }),
        nodes: lab
            .file
            .nodes
            .iter()
            .map(|node| NodeTable {
                name: node.name.clone(),
                address: node.address.to_string(),
                ssh: lab.file.hosts.then(|| node.name.clone()),
                port: lab::layout::SQL_PORT,
                galera_port: lab::layout::GALERA_PORT,
                names: vec![],
                socket: Some(node.socket()),
                pid_file: Some(node.pid_file()),
                error_log: Some(node.log()),
                defaults_file: node.my_cnf(),
                tls_dir: node.tls_dir(),
                state_dir: node.state_dir(),
                service: None,
                start: command("start", &node.name),
                stop: command("stop", &node.name),
                alive: command("alive", &node.name),
                drain: None,
                undrain: None,
                joining: lab.file.spares.contains(&node.name),
            })
            .collect(),
        arbitrators: lab
            .file
            .arbitrators
            .iter()
            .map(|one| ArbitratorTable {
                name: one.name.clone(),
                address: one.address.to_string(),
                ssh: lab.file.hosts.then(|| one.name.clone()),
                galera_port: lab::layout::GALERA_PORT,
                names: vec![],
                file: one.garb_file(),
                log: Some(one.log()),
                tls_dir: one.tls_dir(),
                state_dir: one.state_dir(),
                service: None,
                start: command("start", &one.name),
                stop: command("stop", &one.name),
                alive: command("alive", &one.name),
            })
            .collect(),
        proxies: proxy_tables(lab),
    };
    fs::create_dir_all(operator_dir)
        .map_err(|error| OpsError::internal(format!("cannot make {}", operator_dir.display()), error))?;
    make_passphrase_file(&operator_dir.join("ca-passphrase"))?;
    let text = toml::to_string_pretty(&inventory)
        .map_err(|error| OpsError::internal("cannot write the inventory", error))?;
    let path = inventory_path(&lab.file.dir);
    fs::write(&path, text)
        .map_err(|error| OpsError::internal(format!("cannot write {}", path.display()), error))
}

/// Starts one more node and waits until it is Synced among `members`.
pub fn join(up: &Up, name: &str, members: usize) -> Result<NodeView, OpsError> {
    up.lab.start(name, &[], Wait::Nothing)?;
    synced(&up.cluster, &up.lab, name, members)
}

/// Starts an arbitrator and waits until the first node counts it.
///
/// # Errors
/// It ends, or does not join.
pub fn join_arbitrator(up: &Up, name: &str) -> Result<(), OpsError> {
    up.lab.start(name, &[], Wait::Nothing)?;
    let Some(first) = up.cluster.nodes.first() else { return Ok(()) };
    let mut node = up.cluster.live_node(first);
    let deadline = Instant::now() + Duration::from_millis(SYNCED_MS_MAX);
    while node.view().map_or(0, |view| view.arbitrators()) == 0 {
        if let lab::supervisor::NodeState::Ended { how } = up.lab.state(name)? {
            return Err(OpsError::internal(format!("the arbitrator {name} ended"), how));
        }
        if Instant::now() > deadline {
            return Err(OpsError::internal(
                format!("the arbitrator {name} did not join"),
                format!("no node counts it after {SYNCED_MS_MAX} ms"),
            ));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Waits until `name` is Synced; fails as soon as its process has ended.
pub fn synced(cluster: &Cluster, lab: &Lab, name: &str, members: usize) -> Result<NodeView, OpsError> {
    let never = AtomicBool::new(false);
    let view = synced_unless(cluster, lab, name, members, &never)?;
    view.ok_or_else(|| OpsError::internal(format!("{name} was not waited for"), "nobody wanted it to end"))
}

/// The same; `None` as soon as somebody wants it to end.
pub fn synced_unless(
    cluster: &Cluster,
    lab: &Lab,
    name: &str,
    members: usize,
    stop: &AtomicBool,
) -> Result<Option<NodeView>, OpsError> {
    let name = NodeName::from(name);
    let spec = cluster
        .nodes
        .iter()
        .find(|node| node.name == name)
        .ok_or_else(|| OpsError::internal("a node of the lab is not in its inventory", &name))?;
    let mut node = cluster.live_node(spec);
    let deadline = Instant::now() + Duration::from_millis(SYNCED_MS_MAX);
    loop {
        if let Ok(view) = node.view()
            && view.is_synced()
            && view.is_ready()
            && view.cluster_size() >= members
        {
            return Ok(Some(view));
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let ended = matches!(lab.state(name.as_str())?, lab::supervisor::NodeState::Ended { .. });
        if ended || Instant::now() > deadline {
            let tail: Vec<String> =
                node.log_tail(60).into_iter().filter(|line| line.contains("[ERROR]")).collect();
            return Err(OpsError::internal(
                format!("{name} did not become Synced{}", if ended { ": it ended" } else { "" }),
                tail.join(" | "),
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Pids of all running servers, by node.
pub fn pids(up: &Up) -> BTreeMap<String, i32> {
    up.lab
        .file
        .nodes
        .iter()
        .filter_map(|node| match up.lab.state(&node.name).ok()? {
            lab::supervisor::NodeState::Running { pid } => {
                Some((node.name.clone(), i32::try_from(pid).ok()?))
            }
            _ => None,
        })
        .collect()
}

/// A private directory for a lab: short, because unix sockets have at most 107 bytes of path.
pub fn default_dir(name: &str) -> PathBuf {
    lab::layout::default_dir(name)
}

/// Makes the CA of a lab whose links use TLS from its first start on, and what each member needs of it.
fn certify(lab: &Lab, cluster: &Cluster) -> Result<(), OpsError> {
    const LAB_DAYS: u32 = 365;
    let internal = |what: &'static str| move |error: &dyn std::fmt::Display| OpsError::internal(what, error);
    let now_unix = i64::try_from(SystemClock.unix_ms() / 1000).unwrap_or(i64::MAX);
    let ca = CaSpec { common_name: "the lab's CA".into(), valid_days: LAB_DAYS, key: KeyKind::EcP256 };
    let ca =
        Ca::create(&ca, now_unix).map_err(|error| internal("cannot create the CA of the lab")(&error))?;
    ca.save(&cluster.ca_dir, &cluster.passphrase(None)?)
        .map_err(|error| internal("cannot keep the CA of the lab")(&error))?;
    let members = lab.file.nodes.iter().filter(|node| !lab.file.spares.contains(&node.name));
    for node in members.chain(&lab.file.arbitrators) {
        let leaf = LeafSpec {
            common_name: node.name.clone(),
            dns: vec![node.name.clone(), "localhost".into()],
            ips: vec![node.address],
            valid_days: LAB_DAYS,
            key: KeyKind::EcP256,
            not_before_unix: None,
            not_after_unix: None,
        };
        let leaf = ca
            .issue(&leaf, now_unix)
            .map_err(|error| internal("cannot create a certificate of the lab")(&error))?;
        let dir = node.tls_dir();
        fs::create_dir_all(&dir).map_err(|error| internal("cannot create a directory of the lab")(&error))?;
        let put = |name: &str, text: &str, mode: u32| {
            trust::file::write_atomically(&dir.join(name), text.as_bytes(), mode, None)
                .map_err(|error| internal("cannot write a certificate of the lab")(&error))
        };
        put(lab::layout::KEY_FILE, leaf.key_pem.expose_secret(), 0o600)?;
        put(lab::layout::CERT_FILE, &leaf.cert_pem, 0o644)?;
        put(lab::layout::CA_FILE, &ca.cert_pem(), 0o644)?;
    }
    Ok(())
}

/// Makes a passphrase file that only its owner can read, if there is none.
pub fn make_passphrase_file(path: &Path) -> Result<(), OpsError> {
    if path.exists() {
        return Ok(());
    }
    let secret = trust::generate_passphrase();
    let mut line = net::ExposeSecret::expose_secret(&secret).to_owned();
    line.push('\n');
    let written = trust::file::write_atomically(path, line.as_bytes(), 0o600, None);
    secrecy::zeroize::Zeroize::zeroize(&mut line);
    written.map_err(|error| OpsError::internal("cannot write the passphrase file", error))
}
