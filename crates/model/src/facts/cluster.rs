//! A Galera cluster, and channels of replication.

use crate::fact::facts;

facts! {
    /// How many members the cluster has, as one of them says.
    CLUSTER_SIZE = "cluster.size", Count, [Status => Galera, Audit => Galera];
    /// What a node does with Galera connections: plain, dynamic or strict.
    GALERA_EFFECTIVE = "galera.effective", Word, [Status => Galera, Audit => Galera];
    /// Provider options that the running node and its option file do not agree on.
    GALERA_FILE_DIFFERS = "galera.file_differs", Found, [Status => Galera, Audit => Galera];
    /// Whether the option files of a node make its state transfers use TLS.
    SST_CONFIGURED = "sst.configured", YesNo, [Status => Galera, Audit => Galera];
    /// The cluster of a Galera node, by its state UUID; absent outside of Galera.
    GALERA_CLUSTER = "galera.cluster", Found, [Audit => Galera];
    /// By what replicas know the server: its port and its `server_uuid`, of MariaDB its `server_id`.
    SERVER_IDENTITY = "replication.identity", Found, [Audit => All];
    /// Whether the server writes to its binary log what it applies as a replica.
    PASSES_ON_CHANGES = "replication.passes_on", YesNo, [Audit => All];
    /// Port and identity of a channel's source; absent where there is no channel, or it has never received anything and is stopped.
    CHANNEL_SOURCE = "channel.source", Found, [Audit => All];
    /// Filters by which a channel's replica leaves out changes.
    CHANNEL_FILTERS = "channel.filters", Found, [Audit => All];
    /// Whether a channel of replication uses TLS; absent where there is no channel.
    CHANNEL_TLS = "channel.tls", YesNo, [Audit => All];
    /// Whether a channel verifies its source's certificate and name; absent where it uses no TLS.
    CHANNEL_VERIFIES = "channel.verifies", YesNo, [Audit => All];
    /// Whether a channel has a CA of its own to verify its source with; absent where it uses no TLS.
    CHANNEL_CA = "channel.ca", YesNo, [Audit => All];
    /// Whether a channel without TLS takes the key for its password from whoever answers.
    CHANNEL_ASKS_KEY = "channel.asks_key", YesNo, [Audit => MySql];
    /// Whether a password for state transfers is stored in the server's settings.
    SST_PASSWORD = "sst.password", YesNo, [Audit => Galera];
    /// Whether the server is set to be a member of a group; absent where the plugin is not loaded.
    GROUP_NAMED = "group.named", YesNo, [Audit => MySql];
    /// Whether members of Group Replication use TLS between each other; absent where the plugin is not loaded.
    GROUP_TLS = "group.tls", YesNo, [Audit => MySql];
    /// Whether they verify each other's certificate; absent where they use no TLS.
    GROUP_VERIFIES = "group.verifies", YesNo, [Audit => MySql];
    /// Whether a member that joins copies its data with TLS; absent where the plugin is not loaded.
    GROUP_RECOVERY_TLS = "group.recovery_tls", YesNo, [Audit => MySql];
    /// Whether it verifies its donor; absent where it uses no TLS.
    GROUP_RECOVERY_VERIFIES = "group.recovery_verifies", YesNo, [Audit => MySql];
    /// Whether it takes the key for its password from whoever answers; absent where the plugin is not loaded.
    GROUP_ASKS_KEY = "group.asks_key", YesNo, [Audit => MySql];
    /// The list of who may connect to the group, where it is a guess; absent too where the plugin is not loaded.
    GROUP_ALLOWLIST = "group.allowlist", Found, [Audit => MySql];
    /// Whether CLONE INSTANCE verifies its donor; absent where the plugin is not loaded.
    CLONE_CA = "clone.ca", YesNo, [Audit => MySql];
    /// Addresses of a node for Galera traffic that are not those of a private network.
    GALERA_PUBLIC_ADDRESS = "galera.public_address", Found, [Audit => Galera];
    /// Whether the cluster has the name that every installation has; absent outside of Galera.
    GALERA_DEFAULT_NAME = "galera.default_name", YesNo, [Audit => Galera];
    /// Whether state transfers are made by mysqldump; absent outside of Galera.
    SST_BY_DUMP = "sst.by_dump", YesNo, [Audit => Galera];
    /// Whether a replica is set to tell its source a password.
    REPORT_PASSWORD = "replication.report_password", YesNo, [Audit => All];
}
