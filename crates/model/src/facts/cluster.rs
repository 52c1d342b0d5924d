//! A Galera cluster, and channels of replication.

use crate::fact::facts;

facts! {
    /// How many members the cluster has, as one of them says.
    CLUSTER_SIZE = "cluster.size", Count, [Status => Galera];
    /// What a node does with Galera connections: plain, dynamic or strict.
    GALERA_EFFECTIVE = "galera.effective", Word, [Status => Galera];
    /// Provider options that the running node and its option file do not agree on.
    GALERA_FILE_DIFFERS = "galera.file_differs", Found, [Status => Galera];
    /// Whether the option files of a node make its state transfers use TLS.
    SST_CONFIGURED = "sst.configured", YesNo, [Status => Galera];
    /// Whether a channel of replication uses TLS; absent where there is no channel.
    CHANNEL_TLS = "channel.tls", YesNo, [Audit => All];
    /// Whether a channel verifies its source's certificate and name; absent where it uses no TLS.
    CHANNEL_VERIFIES = "channel.verifies", YesNo, [Audit => All];
    /// Whether a channel has a CA of its own to verify its source with; absent where it uses no TLS.
    CHANNEL_CA = "channel.ca", YesNo, [Audit => All];
}
