//! Accounts and roles. The subject is one account.

use crate::fact::facts;

facts! {
    /// What it is: user, anonymous or role.
    ACCOUNT_KIND = "account.kind", Word, [Audit => All];
    /// Whether somebody can log in with it: it is not locked, it is no role, and its plugin is loaded.
    ACCOUNT_CAN_LOG_IN = "account.can_log_in", YesNo, [Audit => All];
    /// From where it may log in: local, named or any.
    ACCOUNT_FROM = "account.from", Word, [Audit => All];
    /// What it must use: none, server (the server requires TLS of everybody), any (TLS), x509 or specified (a certificate).
    ACCOUNT_TLS = "account.tls", Word, [Audit => All];
    /// Its authentication plugins, each of which is enough.
    ACCOUNT_PLUGINS = "account.plugins", Found, [Audit => All];
    /// Whether it can be used without a password.
    ACCOUNT_NO_PASSWORD = "account.no_password", YesNo, [Audit => All];
    /// A plugin with a weak hash that is enough beside a stronger one.
    ACCOUNT_WEAK_ALTERNATIVE = "account.weak_alternative", Found, [Audit => MariaDb];
    /// Its global privileges, those of its roles among them.
    ACCOUNT_GLOBAL_PRIVILEGES = "account.global_privileges", Found, [Audit => All];
    /// Those of them that administer the server or its accounts.
    ACCOUNT_ADMINISTERS = "account.administers", Found, [Audit => All];
    /// Its privileges on the schema mysql, where accounts are stored.
    ACCOUNT_ON_MYSQL_SCHEMA = "account.on_mysql_schema", Found, [Audit => All];
    /// Schemas, tables and routines on which it has privileges, through its roles too.
    ACCOUNT_OBJECTS = "account.objects", Found, [Audit => All];
    /// What an injection through it could do beyond one schema.
    ACCOUNT_HARM = "account.harm", Found, [Audit => All];
    /// Whether it is the account that this audit uses.
    ACCOUNT_IS_OURS = "account.is_ours", YesNo, [Audit => All];
    /// Accounts that it may act as.
    ACCOUNT_PROXY_OF = "account.proxy_of", Found, [Audit => All];
}
