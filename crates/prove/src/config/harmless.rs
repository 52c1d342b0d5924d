//! Options that have nothing to do with TLS, or with what a client hands out: of each driver those that it knows. An option that
//! is on no list here, and is no [`crate::client::Key`] of the driver, may matter: who gives one is `unknown`.
//!
//! What changes who gets a password (`client_flag`, `auth_plugin`, `allowCleartextPasswords`, keys of the server), what replaces
//! the socket (`stream`) and what names other hosts or files is on no list.

/// Words for the login and the place, which most drivers share.
const PLACE: &[&str] = &["host", "hostname", "port", "user", "username", "password", "passwd", "database", "db", "dbname"];

const NODE: &[&str] = &[
    "password1", "password2", "password3", "charset", "charsetNumber", "connectTimeout", "timezone", "stringifyObjects", "insecureAuth",
    "typeCast", "queryFormat", "supportBigNumbers", "bigNumberStrings", "dateStrings", "debug", "trace", "multipleStatements",
    "localInfile", "rowsAsArray", "namedPlaceholders", "nestTables", "decimalNumbers", "compress", "disableEval", "enableKeepAlive",
    "keepAliveInitialDelay", "maxPreparedStatements", "connectionLimit", "waitForConnections", "queueLimit", "maxIdle",
    "idleTimeout", "Promise", "connectAttributes", "jsonStrings", "acquireTimeout", "timeout",
];

const NODE_MARIADB: &[&str] = &[
    "socketTimeout", "queryTimeout", "rowsAsArray", "initSql", "charset", "collation", "timezone", "compress", "connectionLimit",
    "acquireTimeout", "idleTimeout", "minimumIdle", "initializationTimeout", "minDelayValidation", "noControlAfterUse",
    "resetAfterUse", "leakDetectionTimeout", "multipleStatements", "namedPlaceholders", "permitLocalInfile", "bigIntAsNumber",
    "insertIdAsNumber", "decimalAsNumber", "checkDuplicate", "checkNumberRange", "autoJsonMap", "pipelining",
    "prepareCacheLength", "arrayParenthesis", "jsonStrings", "bitOneIsBoolean", "bulk", "sessionVariables", "trace",
    "dateStrings", "foundRows", "keepAliveDelay", "maxAllowedPacket", "metaAsArray", "nestTables", "metaEnumerable",
    "permitSetMultiParamEntries", "connectAttributes", "connectTimeout", "debug", "debugLen", "debugCompress", "logPackets",
    "supportBigNumbers", "bigNumberStrings", "typeCast", "logParam",
];

const PYMYSQL: &[&str] = &[
    "charset", "collation", "sql_mode", "conv", "use_unicode", "cursorclass", "init_command", "connect_timeout", "autocommit",
    "local_infile", "max_allowed_packet", "read_timeout", "write_timeout", "bind_address", "binary_prefix", "program_name",
    "defer_connect", "isolation_level",
];

const MYSQLCLIENT: &[&str] = &[
    "charset", "collation", "sql_mode", "conv", "use_unicode", "cursorclass", "init_command", "connect_timeout", "autocommit",
    "local_infile", "read_timeout", "write_timeout", "binary_prefix", "multi_statements", "isolation_level",
];

const CONNECTOR_PYTHON: &[&str] = &[
    "password1", "password2", "password3", "connect_timeout", "connection_timeout", "raise_on_warnings", "raw", "buffered", "charset",
    "collation", "autocommit", "time_zone", "sql_mode", "get_warnings", "use_unicode", "compress", "consume_results",
    "converter_class", "converter_str_fallback", "pool_name", "pool_size", "pool_reset_session", "conn_attrs", "allow_local_infile",
    "init_command", "read_timeout", "write_timeout", "force_ipv6", "isolation_level",
];

const ASYNC_PYTHON: &[&str] = &[
    "charset", "sql_mode", "conv", "use_unicode", "cursorclass", "cursor_cls", "init_command", "connect_timeout", "autocommit", "echo",
    "local_infile", "loop", "minsize", "maxsize", "pool_recycle", "program_name", "read_timeout", "max_allowed_packet",
    "binary_prefix",
];

/// mysql2 of Ruby, and what Rails and Sequel keep beside.
const RUBY: &[&str] = &[
    "adapter", "encoding", "collation", "charset", "reconnect", "pool", "timeout", "connect_timeout", "read_timeout", "write_timeout",
    "checkout_timeout", "idle_timeout", "keepalive", "max_age", "max_connections", "min_connections", "reaping_frequency",
    "prepared_statements", "statement_limit", "variables", "strict", "init_command", "secure_auth", "local_infile", "replica",
    "migrations_paths", "schema_dump", "schema_cache_path", "database_tasks", "query_cache", "advisory_locks", "symbolize_keys", "as",
    "cast", "cast_booleans", "cache_rows", "stream", "async", "database_timezone", "application_timezone", "connect_attrs", "primary_key",
    "seeds", "automatic_reconnect", "lazy",
];

const PDO: &[&str] = &[
    "MYSQL_ATTR_INIT_COMMAND", "MYSQL_ATTR_USE_BUFFERED_QUERY", "MYSQL_ATTR_FOUND_ROWS", "MYSQL_ATTR_IGNORE_SPACE",
    "MYSQL_ATTR_COMPRESS", "MYSQL_ATTR_LOCAL_INFILE", "MYSQL_ATTR_LOCAL_INFILE_DIRECTORY", "MYSQL_ATTR_MULTI_STATEMENTS",
    "MYSQL_ATTR_DIRECT_QUERY", "ATTR_ERRMODE", "ATTR_DEFAULT_FETCH_MODE", "ATTR_EMULATE_PREPARES", "ATTR_PERSISTENT", "ATTR_TIMEOUT",
    "ATTR_CASE", "ATTR_AUTOCOMMIT", "ATTR_STRINGIFY_FETCHES", "ATTR_ORACLE_NULLS", "ATTR_STATEMENT_CLASS", "ATTR_CURSOR",
    "ATTR_PREFETCH", "ATTR_FETCH_TABLE_NAMES", "charset",
];

const MYSQLI: &[&str] = &[
    "MYSQLI_OPT_CONNECT_TIMEOUT", "MYSQLI_OPT_READ_TIMEOUT", "MYSQLI_OPT_INT_AND_FLOAT_NATIVE", "MYSQLI_INIT_COMMAND",
    "MYSQLI_SET_CHARSET_NAME", "MYSQLI_OPT_LOCAL_INFILE", "MYSQLI_OPT_NET_CMD_BUFFER_SIZE", "MYSQLI_OPT_NET_READ_BUFFER_SIZE",
];

const DBI: &[&str] = &[
    "RaiseError", "PrintError", "PrintWarn", "AutoCommit", "HandleError", "ShowErrorStatement", "ChopBlanks", "LongReadLen", "LongTruncOk",
    "TraceLevel", "Warn", "FetchHashKeyName", "AutoInactiveDestroy", "InactiveDestroy", "Taint", "TaintIn", "TaintOut", "Username",
    "Password", "RootClass", "Profile",
];

const DBI_OF_DRIVER: &[&str] = &[
    "enable_utf8", "enable_utf8mb4", "auto_reconnect", "connect_timeout", "read_timeout", "write_timeout", "init_command",
    "compression", "multi_statements", "client_found_rows", "use_result", "server_prepare", "bind_type_guessing", "local_infile",
    "no_autocommit_cmd",
];

const CONNECTOR_J: &[&str] = &[
    "allowLoadLocalInfile", "allowMultiQueries", "allowNanAndInf", "autoReconnect", "autoReconnectForPools", "autoSlowLog",
    "cacheCallableStmts", "cachePrepStmts", "cacheResultSetMetadata", "cacheServerConfiguration", "callableStmtCacheSize",
    "characterEncoding", "characterSetResults", "connectionCollation", "connectTimeout", "continueBatchOnError",
    "createDatabaseIfNotExist", "defaultFetchSize", "dontTrackOpenResources", "elideSetAutoCommits", "emptyStringsConvertToZero",
    "enableQueryTimeouts", "failOverReadOnly", "gatherPerfMetrics", "initialTimeout", "interactiveClient", "jdbcCompliantTruncation",
    "logger", "logSlowQueries", "maintainTimeStats", "maxQuerySizeToLog", "maxReconnects", "maxRows", "metadataCacheSize",
    "netTimeoutForStreamingResults", "noAccessToProcedureBodies", "nullCatalogMeansCurrent", "nullDatabaseMeansCurrent",
    "overrideSupportsIntegrityEnhancementFacility", "padCharsWithSpace", "prepStmtCacheSize", "prepStmtCacheSqlLimit",
    "preserveInstants", "processEscapeCodesForPrepStmts", "profileSQL", "queriesBeforeRetrySource", "queryTimeoutKillsConnection",
    "readFromSourceWhenNoReplicas", "readOnlyPropagatesToServer", "reconnectAtTxEnd", "reportMetricsIntervalMillis", "retriesAllDown",
    "rewriteBatchedStatements", "rollbackOnPooledClose", "roundRobinLoadBalance", "secondsBeforeRetrySource", "sendFractionalSeconds",
    "serverTimezone", "connectionTimeZone", "forceConnectionTimeZoneToSession", "sessionVariables", "slowQueryThresholdMillis",
    "socketTimeout", "strictUpdates", "tcpKeepAlive", "tcpNoDelay", "tcpRcvBuf", "tcpSndBuf", "tcpTrafficClass", "tinyInt1isBit",
    "traceProtocol", "transformedBitIsBoolean", "treatUtilDateAsTimestamp", "ultraDevHack", "useAffectedRows",
    "useColumnNamesInFindColumn", "useCompression", "useCursorFetch", "useInformationSchema", "useJDBCCompliantTimezoneShift",
    "useLegacyDatetimeCode", "useLocalSessionState", "useLocalTransactionState", "useOldAliasMetadataBehavior", "useServerPrepStmts",
    "useStreamLengthsInPrepStmts", "useTimezone", "useUnbufferedInput", "useUnicode", "useUsageAdvisor",
    "yearIsDateType", "zeroDateTimeBehavior", "zeroDateTimeToNull", "connectionAttributes", "useUltraDevHack", "alwaysSendSetIsolation",
    "autoClosePStmtStreams", "blobSendChunkSize", "clobberStreamingResults", "detectCustomCollations", "dumpQueriesOnException",
    "explainSlowQueries", "getProceduresReturnsFunctions", "holdResultsOpenOverStatementClose", "includeInnodbStatusInDeadlockExceptions",
    "maxAllowedPacket", "useHostsInPrivileges", "useSSPSCompatibleTimezoneShift", "useGmtMillisForDatetimes", "user",
];

const MARIADB_CONNECTOR_J: &[&str] = &[
    "allowLocalInfile", "allowMultiQueries", "assureReadOnly", "autocommit", "autoReconnect", "blankTableNameMeta", "cacheCodecs",
    "cachePrepStmts", "cacheCallableStmts", "callableStmtCacheSize", "characterEncoding", "connectionAttributes", "connectionCollation",
    "connectionTimeZone", "connectTimeout", "createDatabaseIfNotExist", "defaultFetchSize", "deniedListTimeout",
    "disableConnectorNagle", "disablePipeline", "dumpQueriesOnException", "enablePacketDebug", "forceConnectionTimeZoneToSession",
    "galeraAllowedState", "includeInnodbStatusInDeadlockExceptions", "includeThreadDumpInDeadlockExceptions", "initSql",
    "interactiveClient", "jdbcCompliantTruncation", "maxAllowedPacket", "maxIdleTime", "maxPoolSize", "maxQuerySizeToLog", "minPoolSize",
    "nullDatabaseMeansCurrent", "permitMysqlScheme", "pinGlobalTxToPhysicalConnection", "pool",
    "poolName", "poolValidMinDelay", "preserveInstants", "prepStmtCacheSize", "prepStmtCacheSqlLimit", "registerJmxPool",
    "retriesAllDown", "returnMultiValuesGeneratedIds", "rewriteBatchedStatements", "serverTimezone", "sessionVariables", "socketTimeout",
    "tcpAbortiveClose", "tcpKeepAlive", "tcpKeepCount", "tcpKeepIdle", "tcpKeepInterval", "tcpNoDelay", "testMinRemovalDelay", "timezone",
    "tinyInt1isBit", "transactionIsolation", "transactionReplay", "transactionReplaySize", "transformedBitIsBoolean",
    "useAffectedRows", "useBulkStmts", "useBulkStmtsForInserts", "useCatalogTerm", "useCompression", "useMysqlMetadata", "useReadAheadInput",
    "useResetConnection", "useServerPrepStmts", "useUnicode", "uuidAsString", "validConnectionTimeout", "yearIsDateType",
    "zeroDateTimeBehavior", "usePipelineAuth",
];

const SQLX: &[&str] = &["charset", "collation", "timezone", "statement-cache-capacity"];

const RUST: &[&str] = &[
    "prefer_socket", "tcp_keepalive_time_ms", "tcp_nodelay", "stmt_cache_size", "compress", "pool_min", "pool_max",
    "inactive_connection_ttl", "ttl_check_interval", "conn_ttl", "wait_timeout", "max_allowed_packet", "tcp_connect_timeout_ms",
];

/// Options of the command line clients and of the dump and binlog tools.
const OPTION_FILE: &[&str] = &[
    "host", "port", "user", "password", "database", "default-character-set", "character-sets-dir", "connect-timeout", "max-allowed-packet",
    "net-buffer-length", "compress", "compression-algorithms", "zstd-compression-level", "protocol", "bind-address",
    "prompt", "pager", "no-auto-rehash", "auto-rehash", "rehash", "no-beep", "beep", "batch", "silent", "verbose", "quick", "table", "vertical", "html",
    "xml", "raw", "skip-column-names", "column-names", "column-type-info", "comments", "auto-vertical-output", "binary-mode", "local-infile",
    "reconnect", "safe-updates", "i-am-a-dummy", "select-limit", "max-join-size", "show-warnings", "sigint-ignore", "tee", "unbuffered",
    "histignore", "syslog", "line-numbers", "named-commands", "debug-info", "debug-check", "wait", "xa-detach-on-prepare", "abort-source-on-error",
    "single-transaction", "routines", "triggers", "events", "add-drop-table", "add-drop-database", "add-locks", "all-databases", "all-tablespaces",
    "no-tablespaces", "create-options", "disable-keys", "extended-insert", "complete-insert", "hex-blob", "ignore-table", "lock-tables",
    "lock-all-tables", "master-data", "source-data", "dump-slave", "dump-replica", "flush-logs", "flush-privileges", "no-create-db",
    "no-create-info", "no-data", "opt", "order-by-primary", "quote-names", "replace", "set-charset", "set-gtid-purged", "tz-utc", "where",
    "column-statistics", "result-file", "tab", "log-error", "dump-date", "allow-keywords", "delayed-insert", "insert-ignore", "force",
    "init-command", "init-command-add", "system-command", "batch-mode", "sandbox",
];

/// Whether this option of this family has nothing to do with TLS.
pub fn is_harmless(family: &str, key: &str) -> bool {
    let root = key.split('.').next().unwrap_or(key);
    let is_in = |list: &[&str]| list.iter().any(|known| *known == root);
    let is_in_any_case = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(root));
    let is_place = is_in(PLACE);
    let of_dbi = |front: &str| {
        is_place
            || is_in(DBI)
            || root.strip_prefix(front).is_some_and(|rest| DBI_OF_DRIVER.contains(&rest))
    };
    match family {
        "node-mysql2" | "node-mysql" => is_place || is_in(NODE),
        "node-mariadb" => is_place || is_in(NODE_MARIADB),
        "pymysql" => is_place || is_in(PYMYSQL),
        "mysqlclient" => is_place || is_in(MYSQLCLIENT),
        "mysql-connector-python" => is_place || is_in(CONNECTOR_PYTHON),
        "aiomysql" | "asyncmy" => is_place || is_in(ASYNC_PYTHON),
        "ruby-mysql2" => is_place || is_in(RUBY),
        "php-pdo" => is_place || is_in(PDO),
        "php-mysqli" => is_place || is_in(MYSQLI),
        "dbd-mysql" => of_dbi("mysql_"),
        "dbd-mariadb" => of_dbi("mariadb_"),
        "connector-j" => is_in_any_case(PLACE) || is_in_any_case(CONNECTOR_J),
        "mariadb-connector-j" => is_in_any_case(PLACE) || is_in_any_case(MARIADB_CONNECTOR_J),
        // Whatever its DSN has besides is a variable of the server, which it sets.
        "go-sql-driver" => {
            !super::is_about_tls(root)
                && !matches!(root, "allowCleartextPasswords" | "allowOldPasswords" | "serverPubKey" | "...")
        }
        "rust-sqlx" => is_place || is_in(SQLX),
        "rust-mysql" | "rust-mysql-async" => is_place || is_in(RUST),
        // The clients that read option files.
        _ => OPTION_FILE.contains(&root.replace('_', "-").as_str()),
    }
}

/// Whether some driver has an option of this name that has nothing to do with TLS.
pub fn is_harmless_to_any(key: &str) -> bool {
    const ALL: [&str; 5] = ["node-mysql2", "node-mariadb", "rust-sqlx", "rust-mysql", "pymysql"];
    ALL.iter().any(|family| is_harmless(family, key))
}
