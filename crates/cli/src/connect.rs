//! Connection options as `mysql` and `mariadb` have them, turned into a cluster of one.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

use ops::inventory::{self, ClientOptions};
use ops::{Cluster, OpsError};

use crate::args::{Connect, Global};

/// `-psecret` and `--password=secret` are in every process list, so they are refused before anything else happens.
pub fn no_password_in_argv() -> Result<(), OpsError> {
    // What follows `--` belongs to another program (`sealion lab exec -- mariadb …`).
    for word in std::env::args_os().skip(1).take_while(|word| word != "--") {
        let word = word.to_string_lossy();
        let attached = word.starts_with("-p") && !word.starts_with("--") && word.len() > 2;
        if attached || word.starts_with("--password=") {
            return Err(OpsError::usage(
                "a password on the command line is not taken",
                "every user of this machine can read it in the process list, and it may be in your shell's history now",
                "use -p alone (it asks), --password-file FILE, --password-fd FD, or an option file; and change that password",
            ));
        }
    }
    Ok(())
}

/// The inventory, unless a server was named on the command line.
pub fn cluster(global: &Global, connect: &Connect) -> Result<Cluster, OpsError> {
    let named = connect.host.is_some() || connect.socket.is_some() || connect.login_path.is_some();
    if !named && global.inventory.exists() {
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

/// The server that option files and connection options name.
pub fn one_server(connect: &Connect) -> Result<Cluster, OpsError> {
    let password = if connect.password {
        Some(ask_password()?)
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

/// From the terminal, without echo.
fn ask_password() -> Result<ops::SecretString, OpsError> {
    use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(OpsError::usage(
            "nobody is here to be asked for a password",
            "stdin is not a terminal",
            "use --password-file FILE or --password-fd FD",
        ));
    }
    eprint!("Enter password: ");
    let before = tcgetattr(&stdin)
        .map_err(|error| OpsError::internal("cannot read the terminal's settings", error))?;
    let mut silent = before.clone();
    silent.local_flags.remove(LocalFlags::ECHO);
    tcsetattr(&stdin, SetArg::TCSANOW, &silent)
        .map_err(|error| OpsError::internal("cannot silence the terminal", error))?;
    let mut line = String::new();
    let read = stdin.lock().read_line(&mut line);
    let _ = tcsetattr(&stdin, SetArg::TCSANOW, &before);
    eprintln!();
    read.map_err(|error| OpsError::internal("cannot read the password", error))?;
    Ok(ops::SecretString::from(line.trim_end_matches(['\n', '\r']).to_owned()))
}
