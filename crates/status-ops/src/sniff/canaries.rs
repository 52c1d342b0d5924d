//! Rows that are written to be recognised on the wire, and removed again.

use capture::Canary;
use model::LookError;
use net::Client;
use site::inventory::Cluster;
use site::random16;

use super::places::channels_of;
use super::{CANARY_SCHEMA, MARK, first_line};

/// Writes one canary on every node that is no replica, through its socket, so that what travels is replication and nothing else; and
/// asks for one over TCP as an ordinary client, with ssl-mode PREFERRED.
pub(super) fn canaries(cluster: &Cluster, made_schema: &mut bool) -> Result<Vec<Canary>, LookError> {
    let failed = |why: String| LookError::Failed { why };
    let mut canaries = Vec::new();
    let mut in_galera = false;
    for node in &cluster.nodes {
        let canary = Canary::new(random16());
        let mut client =
            Client::connect(&cluster.login_at(node)).map_err(|error| failed(error.to_string()))?;
        let writable = writable(&mut client);
        if writable == Writable::No {
            let _ = client.quit();
            continue;
        }
        // All nodes of a Galera cluster have it from one.
        if !in_galera || writable == Writable::AsSource {
            *made_schema = true;
            prepare_schema(&mut client).map_err(failed)?;
            in_galera |= writable == Writable::AsGaleraNode;
        }
        // The table may have been made on another node a moment ago: wait until that has arrived here.
        // Source: MariaDB manual, wsrep_sync_wait: 4 makes INSERT and REPLACE wait. Not Galera: no such variable.
        let _ = client.execute("SET SESSION wsrep_sync_wait=7");
        let statement =
            format!("REPLACE INTO {CANARY_SCHEMA}.canary VALUES ('{}', '{}')", node.name, canary.token());
        client.execute(&statement).map_err(|error| failed(error.to_string()))?;
        let _ = client.quit();
        canaries.push(canary);
    }
    for node in &cluster.nodes {
        let canary = Canary::new(random16());
        let options = net::ConnectOptions { endpoint: cluster.tcp_at(node), ..cluster.login_at(node) };
        // A server that refuses this login over TCP shows no client traffic: the link stays unknown, which is true.
        if let Ok(mut client) = Client::connect(&options) {
            let _ = client.query(&format!("SELECT '{}'", canary.token()));
            let _ = client.quit();
            canaries.push(canary);
        }
    }
    Ok(canaries)
}

/// Whether a canary may be written on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writable {
    AsGaleraNode,
    /// It has no source of its own.
    AsSource,
    /// It is a replica or takes no writes, or nobody can tell: what is written on a replica is on no other server.
    No,
}

pub(super) fn writable(client: &mut Client) -> Writable {
    let asked = client.query("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_on', 'read_only')");
    let Ok(rows) = asked else { return Writable::No };
    let is_on = |name: &str| {
        rows.iter().any(|row| {
            row.at(0).is_some_and(|known| known == name) && row.at(1).is_some_and(|value| value != "OFF")
        })
    };
    if is_on("wsrep_on") {
        return Writable::AsGaleraNode;
    }
    match channels_of(client) {
        Ok(channels) if channels.is_empty() && !is_on("read_only") => Writable::AsSource,
        _ => Writable::No,
    }
}

/// Whose the schema of the canaries is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaOwner {
    Nobody,
    Sealion,
    Other,
}

/// What is asked of a server before anything is written to it.
pub(super) trait CanarySession {
    fn schema_owner(&mut self) -> Result<SchemaOwner, net::NetError>;
    /// MySQL has comments of tables only.
    fn has_schema_comments(&self) -> bool;
    fn run(&mut self, statement: &str) -> Result<(), net::NetError>;
}

impl CanarySession for Client {
    fn schema_owner(&mut self) -> Result<SchemaOwner, net::NetError> {
        /// `ER_BAD_DB_ERROR`: unknown database.
        const UNKNOWN_DATABASE: u16 = 1049;
        match self.query("SHOW CREATE DATABASE sealion_canary") {
            Ok(rows) if rows.first().and_then(|row| row.at(1)).is_some_and(|text| text.contains(MARK)) => {
                Ok(SchemaOwner::Sealion)
            }
            Ok(_) if self.has_schema_comments() => Ok(SchemaOwner::Other),
            Ok(_) => {
                let tables = self.query(
                    "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'sealion_canary'",
                )?;
                let is_ours = !tables.is_empty()
                    && tables.iter().all(|row| row.at(0).is_some_and(|comment| comment.contains(MARK)));
                Ok(if is_ours { SchemaOwner::Sealion } else { SchemaOwner::Other })
            }
            Err(net::NetError::Refused { code: UNKNOWN_DATABASE, .. }) => Ok(SchemaOwner::Nobody),
            Err(error) => Err(error),
        }
    }

    fn has_schema_comments(&self) -> bool {
        self.server_version().contains("MariaDB")
    }

    fn run(&mut self, statement: &str) -> Result<(), net::NetError> {
        self.execute(statement).map(|_| ())
    }
}

/// Makes the schema and the table of the canaries; on a cluster every node has them once one has made them. In a schema that
/// is somebody else's nothing is made: the owner is asked for first, and again where it was not there, because another
/// node's user may have made one of that name a moment ago. Two sealions at once make the same one.
pub(super) fn prepare_schema(session: &mut impl CanarySession) -> Result<(), String> {
    let text = |error: net::NetError| error.to_string();
    let mut owner = session.schema_owner().map_err(text)?;
    if owner == SchemaOwner::Nobody && session.has_schema_comments() {
        session
            .run(&format!("CREATE DATABASE IF NOT EXISTS {CANARY_SCHEMA} COMMENT '{MARK}; may be dropped'"))
            .map_err(text)?;
        owner = session.schema_owner().map_err(text)?;
    } else if owner == SchemaOwner::Nobody {
        // Without a mark it is ours only where nobody else can have made it: this fails where somebody has.
        session.run(&format!("CREATE DATABASE {CANARY_SCHEMA}")).map_err(text)?;
        owner = SchemaOwner::Sealion;
    }
    if owner != SchemaOwner::Sealion {
        return Err(format!(
            "the schema {CANARY_SCHEMA} is there and is not marked as sealion's; rename it, or drop it if it is left over"
        ));
    }
    let table = format!(
        "CREATE TABLE IF NOT EXISTS {CANARY_SCHEMA}.canary (node VARCHAR(64) NOT NULL PRIMARY KEY, \
         token VARCHAR(64) NOT NULL) ENGINE=InnoDB COMMENT '{MARK}; may be dropped'"
    );
    session.run(&table).map_err(text)
}

/// Whether canaries may be written on a server: on a replica, and where writes are refused, they are only asked for.
pub fn may_write(client: &mut Client) -> bool {
    writable(client) != Writable::No
}

/// Makes the schema of the canaries, or finds the one that sealion made.
///
/// # Errors
/// It is somebody else's, or the server refuses.
pub fn prepare(client: &mut Client) -> Result<(), String> {
    prepare_schema(client)
}

/// Removes what [`canaries`] made. Returns where it may have stayed, and why.
pub fn remove_canaries(cluster: &Cluster) -> Vec<String> {
    let mut left = Vec::new();
    for node in &cluster.nodes {
        let removed = Client::connect(&cluster.login_at(node)).and_then(|mut client| {
            // A schema of that name that is not known to be marked as ours is somebody's.
            let is_ours =
                writable(&mut client) != Writable::No && client.schema_owner()? == SchemaOwner::Sealion;
            if is_ours {
                client.execute("DROP DATABASE IF EXISTS sealion_canary")?;
            }
            client.quit()
        });
        if let Err(error) = removed {
            let why = first_line(&error.to_string()).to_owned();
            left.push(format!(
                "{}: whether the schema sealion_canary is gone is not known ({why}); when it answers: DROP DATABASE IF EXISTS \
                 sealion_canary",
                node.name
            ));
        }
    }
    left
}
