//! Connection options as `mysql` and `mariadb` have them, turned into a cluster of one.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

use site::inventory::{self, ClientOptions};
use site::{Cluster, OpsError};

use clap::Args;

use super::Global;

/// One server instead of an inventory, in the words of `mysql` and `mariadb`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connect to one server instead of an inventory", disable_help_flag = true)]
pub struct Connect {
    /// Host name or address
    #[arg(short = 'h', long, value_name = "HOST")]
    pub host: Option<String>,
    /// Port
    #[arg(short = 'P', long, value_name = "PORT")]
    pub port: Option<u16>,
    /// User
    #[arg(short = 'u', long, value_name = "USER")]
    pub user: Option<String>,
    /// Prompt for the password
    ///
    /// Prompt for the password. A password on the command line is refused: every user could read it in the process list.
    #[arg(short = 'p', long)]
    pub password: bool,
    /// Read the password from FILE (mode 0600)
    ///
    /// Read the password from the first line of FILE, which only its owner may read (mode 0600).
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Read the password from this open file descriptor
    #[arg(long, value_name = "FD", hide_short_help = true)]
    pub password_fd: Option<u32>,
    /// Unix socket
    #[arg(short = 'S', long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Read only this option file
    #[arg(long, value_name = "FILE")]
    pub defaults_file: Option<PathBuf>,
    /// Read this option file after the usual ones
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub defaults_extra_file: Option<PathBuf>,
    /// Also read option groups with this suffix
    #[arg(long, value_name = "SUFFIX", hide_short_help = true)]
    pub defaults_group_suffix: Option<String>,
    /// Login path of ~/.mylogin.cnf
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub login_path: Option<String>,
    /// As --ssl-mode of mysql: REQUIRED, VERIFY_CA, ...
    ///
    /// DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY, as --ssl-mode of mysql.
    #[arg(long, value_name = "MODE")]
    pub ssl_mode: Option<String>,
    /// Require TLS, as --ssl of mariadb
    #[arg(long, conflicts_with = "skip_ssl", hide_short_help = true)]
    pub ssl: bool,
    /// Do not use TLS
    #[arg(long, hide_short_help = true)]
    pub skip_ssl: bool,
    /// Verify the certificate and the host name, as the option of mariadb
    #[arg(long, hide_short_help = true)]
    pub ssl_verify_server_cert: bool,
    /// CA certificates to verify the server against
    #[arg(long, value_name = "FILE")]
    pub ssl_ca: Option<PathBuf>,
    /// Certificate revocation lists of that CA
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub ssl_crl: Option<PathBuf>,
    /// Client certificate
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub ssl_cert: Option<PathBuf>,
    /// Private key of the client certificate
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub ssl_key: Option<PathBuf>,
    /// Print help; --help prints all options
    #[arg(short = '?', long, action = clap::ArgAction::Help, help_heading = super::GLOBAL)]
    pub help: Option<bool>,
}

/// `-psecret` and `--password=secret` are in every process list, so they are refused before anything else happens.
pub fn no_password_in_argv() -> Result<(), OpsError> {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if gives_password(&words) {
        return Err(OpsError::usage(
            "a password on the command line is refused",
            "every user of this machine can read it in the process list, and it may be in your shell's history now",
            "use -p alone (it prompts), --password-file FILE, --password-fd FD or an option file (with bench \
             sysbench: before the --), and change that password",
        ));
    }
    Ok(())
}

fn gives_password(words: &[String]) -> bool {
    // What follows `--` belongs to another program (`sealion lab exec -- mariadb …`).
    let (ours, theirs) = words.split_at(words.iter().position(|word| word == "--").unwrap_or(words.len()));
    // Here it is ours: it has sysbench's words, and no sysbench runs.
    let bench = ours.iter().position(|word| word == "bench");
    let is_sysbench = bench.is_some_and(|at| ours.iter().skip(at).any(|word| word == "sysbench"));
    let is_ours = |word: &String| {
        (word.starts_with("-p") && !word.starts_with("--") && word.len() > 2)
            || word.starts_with("--password=")
    };
    ours.iter().any(is_ours)
        || (is_sysbench && [ours, theirs].concat().iter().any(|word| ::bench::sysbench::gives_password(word)))
}

/// Whether the command line says which server.
pub fn names_a_server(connect: &Connect) -> bool {
    connect.host.is_some() || connect.socket.is_some() || connect.login_path.is_some()
}

/// The inventory, unless a server was named on the command line.
pub fn cluster(global: &Global, connect: &Connect) -> Result<Cluster, OpsError> {
    let named = names_a_server(connect);
    if !named && global.inventory.exists() {
        no_login_beside_an_inventory(global, connect)?;
        return Cluster::read(&global.inventory);
    }
    let given =
        connect.user.is_some() || connect.defaults_file.is_some() || connect.defaults_extra_file.is_some();
    if !named
        && !given
        && std::env::var_os("HOME").is_none_or(|home| !PathBuf::from(home).join(".my.cnf").exists())
    {
        // Says what an inventory is and how to get one.
        return Cluster::read(&global.inventory);
    }
    one_server(connect)
}

/// How to log in, the inventory says for all of its nodes: what was typed would have no effect, and an operator who believes otherwise
/// reads the result of another account.
fn no_login_beside_an_inventory(global: &Global, connect: &Connect) -> Result<(), OpsError> {
    let Some(option) = typed_login(connect) else { return Ok(()) };
    let inventory = global.inventory.display();
    Err(OpsError::usage(
        format!("{option} has no effect beside an inventory"),
        format!(
            "no server is named, so the servers of {inventory} are meant, and its [login] says how to log in"
        ),
        format!(
            "leave {option} out (or change [login] in {inventory}), or name one server: -h HOST or -S SOCKET"
        ),
    ))
}

/// The first option of a login that was typed, but for those that name a server.
fn typed_login(connect: &Connect) -> Option<&'static str> {
    // Whole, so that an option that is added later is thought of here.
    let Connect {
        host: _,
        socket: _,
        login_path: _,
        help: _,
        port,
        user,
        password,
        password_file,
        password_fd,
        defaults_file,
        defaults_extra_file,
        defaults_group_suffix,
        ssl_mode,
        ssl,
        skip_ssl,
        ssl_verify_server_cert,
        ssl_ca,
        ssl_crl,
        ssl_cert,
        ssl_key,
    } = connect;
    let typed = [
        ("--user", user.is_some()),
        ("--password", *password),
        ("--password-file", password_file.is_some()),
        ("--password-fd", password_fd.is_some()),
        ("--port", port.is_some()),
        ("--defaults-file", defaults_file.is_some()),
        ("--defaults-extra-file", defaults_extra_file.is_some()),
        ("--defaults-group-suffix", defaults_group_suffix.is_some()),
        ("--ssl-mode", ssl_mode.is_some()),
        ("--ssl", *ssl),
        ("--skip-ssl", *skip_ssl),
        ("--ssl-verify-server-cert", *ssl_verify_server_cert),
        ("--ssl-ca", ssl_ca.is_some()),
        ("--ssl-crl", ssl_crl.is_some()),
        ("--ssl-cert", ssl_cert.is_some()),
        ("--ssl-key", ssl_key.is_some()),
    ];
    typed.into_iter().find_map(|(name, is_typed)| is_typed.then_some(name))
}

/// The server that option files and connection options name.
pub fn one_server(connect: &Connect) -> Result<Cluster, OpsError> {
    let password = if connect.password {
        Some(ask_secret("password", "--password-file FILE or --password-fd FD")?)
    } else if let Some(path) = &connect.password_file {
        Some(inventory::read_secret(path, "password")?)
    } else if let Some(fd) = connect.password_fd {
        Some(inventory::read_line_of(&PathBuf::from(format!("/proc/self/fd/{fd}")), "password")?)
    } else {
        None
    };
    inventory::one_server(ClientOptions {
        host: connect.host.clone(),
        port: connect.port,
        user: connect.user.clone(),
        password,
        socket: connect.socket.clone(),
        defaults_file: connect.defaults_file.clone(),
        defaults_extra_file: connect.defaults_extra_file.clone(),
        group_suffix: connect.defaults_group_suffix.clone(),
        login_path: connect.login_path.clone(),
        ssl_mode: connect.ssl_mode.clone(),
        ssl: connect.ssl,
        skip_ssl: connect.skip_ssl,
        verify: connect.ssl_verify_server_cert,
        ca: connect.ssl_ca.clone(),
        crl: connect.ssl_crl.clone(),
        cert: connect.ssl_cert.clone(),
        key: connect.ssl_key.clone(),
    })
}

/// From the terminal, without echo. `next`: what to use where there is none.
pub fn ask_secret(what: &str, next: &str) -> Result<site::SecretString, OpsError> {
    use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(OpsError::usage(
            format!("a {what} is needed, but stdin is not a terminal"),
            "stdin is not a terminal",
            format!("use {next}"),
        ));
    }
    eprint!("Enter {what}: ");
    let before =
        tcgetattr(&stdin).map_err(|error| OpsError::internal("cannot read the terminal settings", error))?;
    let mut silent = before.clone();
    silent.local_flags.remove(LocalFlags::ECHO);
    tcsetattr(&stdin, SetArg::TCSANOW, &silent)
        .map_err(|error| OpsError::internal("cannot switch off the terminal's echo", error))?;
    let mut line = String::new();
    let read = stdin.lock().read_line(&mut line);
    let _ = tcsetattr(&stdin, SetArg::TCSANOW, &before);
    eprintln!();
    read.map_err(|error| OpsError::internal(format!("cannot read the {what}"), error))?;
    Ok(site::SecretString::from(line.trim_end_matches(['\n', '\r']).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::gives_password;

    #[test]
    fn a_password_is_found_where_the_words_are_ours_and_only_there() {
        for (line, expected) in [
            ("status -psecret", true),
            ("status --password=secret", true),
            ("status -p", false),
            ("lab exec -- mariadb -psecret", false),
            ("lab exec -- sysbench --mysql-password=secret", false),
            ("bench sysbench -- oltp_insert --mysql-password=secret run", true),
            ("bench --format json sysbench -- oltp_insert --mysql_password=secret run", true),
            ("bench sysbench -- oltp_insert --mysql-password secret run", true),
            ("bench sysbench -- oltp_insert -psecret run", true),
            ("bench sysbench oltp_insert --mysql-password=secret run", true),
            ("bench sysbench -p -- oltp_insert --mysql-host=h run", false),
            ("bench sysbench -- oltp_insert --mysql-password= run", false),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(gives_password(&words), expected, "{line}");
        }
    }
}
