//! A server: what it is set to do, its certificate, its files.

use crate::fact::facts;

facts! {
    /// Whether clients are offered TLS.
    CLIENT_OFFERED = "client.offered", YesNo, [Status => All, Audit => All];
    /// Whether the server lets nobody in over TCP without TLS.
    CLIENT_REQUIRED = "client.required", YesNo, [Status => All, Audit => All];
    /// Whether the server has a CA to check certificates of clients with.
    CLIENT_CA = "client.ca", YesNo, [Audit => All];
    /// Accounts that take any certificate of the server's CAs, where the server has no revocation list: one that was stolen cannot be
    /// shut out.
    CLIENT_CERTIFICATES_UNNAMED = "client.certificates_unnamed", Found, [Audit => All];
    /// Versions before TLS 1.2 that the server is set to accept, on its main or its admin port.
    CLIENT_OLD_VERSIONS = "client.old_versions", Found, [Audit => All];
    /// Cipher suites in the server's list that have no forward secrecy or no authenticated encryption.
    CLIENT_WEAK_CIPHERS = "client.weak_ciphers", Found, [Audit => All];
    /// Whether the port for administrators offers TLS; absent where there is no such port.
    ADMIN_OFFERED = "admin.offered", YesNo, [Audit => All];
    /// Whether X Protocol refuses cleartext; absent where it is off.
    X_REQUIRED = "x.required", YesNo, [Audit => MySql];
    /// Whether passwords can be sent without TLS under an RSA key that the server hands out in cleartext.
    PASSWORD_RSA_KEY = "password.rsa_key", YesNo, [Audit => MySql];
    /// Whether new passwords are held to rules.
    PASSWORD_RULES = "password.rules", YesNo, [Audit => All];
    /// After how many days a password expires by default; 0 is never.
    PASSWORD_LIFETIME_DAYS = "password.lifetime_days", Days, [Audit => All];
    /// Whether wrong passwords are slowed down or block a host or an account.
    PASSWORD_GUESSING_LIMITED = "password.guessing_limited", YesNo, [Audit => All];
    /// Settings about encryption that are given on the command line, where option files do not count.
    SETTINGS_ON_COMMAND_LINE = "settings.on_command_line", Found, [Audit => All];
    /// From where PROXY protocol headers are believed; absent where from nowhere.
    PROXY_PROTOCOL_NETWORKS = "proxy_protocol.networks", Found, [Audit => MariaDb];
    /// Whether the server runs without account tables, so that everybody may do everything.
    ACCOUNTS_SKIPPED = "accounts.skipped", YesNo, [Audit => All];
    /// Foreign servers whose login is stored in mysql.servers, with its password in the clear.
    FOREIGN_LOGINS = "foreign.logins", Found, [Audit => All];
    /// Whether every statement is written to the general log.
    GENERAL_LOG = "log.general", YesNo, [Audit => All];
    /// Whether passwords in statements are written to the general log as they came.
    LOG_RAW = "log.raw", YesNo, [Audit => MySql];
    /// Where the FILE privilege reaches; absent where to no place.
    FILE_PRIVILEGE_REACH = "file.reach", Found, [Audit => All];
    /// Whether clients may be asked to send files of theirs.
    LOCAL_INFILE = "file.local_infile", YesNo, [Audit => All];
    /// How many days the certificate that clients are shown is still valid.
    CERT_EXPIRES_IN_DAYS = "cert.expires_in_days", Days, [Status => All, Audit => All];
    /// From when a certificate is valid that is not valid yet.
    CERT_NOT_YET_VALID = "cert.not_yet_valid", Found, [Status => All, Audit => All];
    /// For how many days in all the certificate that clients are shown is valid.
    CERT_VALIDITY_DAYS = "cert.validity_days", Days, [Audit => All];
    /// Whether users other than the server's own can read its private key.
    KEY_OTHERS_CAN_READ = "key.others_can_read", YesNo, [Status => All, Audit => All];
    /// Whether the private key belongs to the user that the server runs as.
    KEY_OWNER_IS_SERVER = "key.owner_is_server", YesNo, [Status => All, Audit => All];
    /// Certificates and keys that a server is set to use and that are not there.
    TLS_FILES_MISSING = "tls.files_missing", Found, [Status => All, Audit => All];
    /// Private keys that do not belong to their certificate.
    KEY_MISMATCH = "key.mismatch", Found, [Status => All, Audit => All];
    /// Since when the server's series gets no security fixes of its maker.
    UNSUPPORTED_SINCE = "server.unsupported_since", Found, [Audit => All];
    /// Schemas that old servers let every account write to.
    SAMPLE_SCHEMA = "server.sample_schema", Found, [Audit => All];
    /// Whether tables may be symbolic links.
    SYMBOLIC_LINKS = "file.symbolic_links", YesNo, [Audit => All];
    /// Functions that are loaded from libraries.
    USER_FUNCTIONS = "server.user_functions", Found, [Audit => All];
    /// Whether functions of libraries that were not made for it can be loaded.
    SUSPICIOUS_FUNCTIONS = "server.suspicious_functions", YesNo, [Audit => MariaDb];
    /// Whether persisted variables with secrets are stored in cleartext.
    PERSISTED_SECRETS = "server.persisted_secrets", YesNo, [Audit => MySql];
    /// Ports that listen on every address.
    LISTENS_EVERYWHERE = "server.listens_everywhere", Found, [Audit => All];
    /// Whether an old password can be set again.
    PASSWORD_REUSE = "password.reuse", YesNo, [Audit => MySql];
    /// Whether logins by the protocol from before MySQL 4.1 are refused.
    SECURE_AUTH = "password.secure_auth", YesNo, [Audit => MariaDb];
    /// Whether a password that is given as a hash is refused where there are rules for passwords.
    STRICT_VALIDATION = "password.strict_validation", YesNo, [Audit => MariaDb];
    /// The certificate file, where another certificate is served than stands in it.
    CERT_FILE_DIFFERS = "cert.file_differs", Found, [Audit => All];
    /// Certificate files with which the server cannot start or reload, or which its clients or fellow members refuse.
    CERT_FILE_UNUSABLE = "cert.file_unusable", Found, [Status => All, Audit => All];
    /// Public CAs among those that vouch for clients.
    CLIENT_CA_IS_PUBLIC = "client.ca_is_public", Found, [Audit => All];
    /// Whether the hosts of accounts are compared with names of DNS.
    RESOLVES_NAMES = "server.resolves_names", YesNo, [Audit => All];
    /// Whether new passwords are stored as the hash from before MySQL 4.1.
    OLD_PASSWORDS = "password.old_hash", YesNo, [Audit => MariaDb];
    /// Whether who changes his password has to know the one before.
    PASSWORD_REQUIRES_CURRENT = "password.requires_current", YesNo, [Audit => MySql];
    /// An outdated plugin that accounts get where nobody says which.
    WEAK_DEFAULT_PLUGIN = "password.weak_default_plugin", Found, [Audit => MySql];
    /// Roles that every account has.
    MANDATORY_ROLES = "roles.mandatory", Found, [Audit => MySql];
    /// Routines that build statements from text and run as an account that administers.
    ROUTINES_FROM_TEXT = "routines.from_text", Found, [Audit => All];
    /// Routines that run as an account that does not exist.
    ROUTINES_ORPHANED = "routines.orphaned", Found, [Audit => All];
    /// Whether the process of the server is that of root.
    RUNS_AS_ROOT = "process.is_root", YesNo, [Audit => All];
    /// Known faults of the TLS libraries that the server's process uses.
    TLS_LIBRARY_FAULTS = "tls_library.faults", Found, [Audit => All];
    /// Whether the program that runs is gone from its disk, as after an upgrade without a restart.
    PROGRAM_REPLACED = "process.program_replaced", YesNo, [Audit => All];
    /// Options on the command line of the process whose value is a secret.
    ARGUMENT_SECRETS = "process.argument_secrets", Found, [Audit => All];
    /// Variables in the environment of the process whose value is a password.
    ENVIRONMENT_SECRETS = "process.environment_secrets", Found, [Audit => All];
    /// How the data directory is open to other users.
    DATADIR_OPEN = "file.datadir_open", Found, [Audit => All];
    /// Files of data and of binary, relay and redo logs that other users may read or write.
    DATA_FILES_OPEN = "file.data_files_open", Found, [Audit => All];
    /// Whether the server can write in the directory that it loads plugins from.
    PLUGIN_DIR_WRITABLE = "file.plugin_dir_writable", YesNo, [Audit => All];
    /// Option files with passwords that other users may read.
    OPTION_SECRETS_OPEN = "file.option_secrets_open", Found, [Audit => All];
    /// Option files that other users may write.
    OPTION_FILES_WRITABLE = "file.option_files_writable", Found, [Audit => All];
    /// How the directory of the socket lets other users replace the socket.
    SOCKET_DIR_OPEN = "file.socket_dir_open", Found, [Audit => All];
    /// Files in the data directory whose names are those of dumps and backups; after a search, also dumps and readable copies anywhere
    /// that was searched, by their first bytes.
    DUMPS = "file.dumps", Found, [Audit => All, Search => All];
}
