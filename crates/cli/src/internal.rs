//! Processes that sealion starts of itself: the lab's supervisor, its servers, its writers. Not for people.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `None` when this is a command of people.
pub fn run() -> Option<ExitCode> {
    let args: Vec<OsString> = std::env::args_os().collect();
    let word = |at: usize| args.get(at).and_then(|word| word.to_str());
    let path = |at: usize| args.get(at).map(PathBuf::from).unwrap_or_default();
    let fail = |text: String| {
        eprintln!("{text}");
        ExitCode::from(5)
    };
    Some(match word(1)? {
        "__supervise" => {
            let parent = word(3).and_then(|pid| pid.parse().ok()).unwrap_or(0);
            match lab::supervisor::run(&path(2), word(4) == Some("--keep"), parent) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => fail(error.to_string()),
            }
        }
        "__server" => {
            let error = lab::supervisor::become_server(&path(2), args.get(3..).unwrap_or_default());
            fail(error.to_string())
        }
        "__server_at" => {
            let pid = word(2).and_then(|pid| pid.parse().ok()).unwrap_or(0);
            let error = lab::supervisor::become_server_at(pid, &path(3), args.get(4..).unwrap_or_default());
            fail(error.to_string())
        }
        "__host" => fail(lab::hosts::become_host(&path(2), word(3).unwrap_or_default()).to_string()),
        "__vpn" => {
            let error = lab::supervisor::become_vpn_end(&path(2), args.get(3..).unwrap_or_default());
            fail(error.to_string())
        }
        "__echo" => match echo(word(2).unwrap_or_default(), args.get(3..).unwrap_or_default()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(error),
        },
        "__writers" => match writers(&path(2), &path(3)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(error),
        },
        _ => return None,
    })
}

/// An address, and where there is TLS a certificate and a key.
fn echo(at: &str, pair: &[OsString]) -> Result<(), String> {
    let tls = match pair {
        [cert, key] => Some(bench::load::echo::Pair { cert: cert.into(), key: key.into() }),
        _ => None,
    };
    let listener = std::net::TcpListener::bind(at).map_err(|error| error.to_string())?;
    bench::load::echo::serve(&listener, tls.as_ref()).map_err(|error| error.to_string())
}

/// Configuration and option file (with the password) are files; stdin closed means stop.
fn writers(config: &Path, option_file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(config).map_err(|error| error.to_string())?;
    let config: bench::writers::Config = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let login = site::inventory::login_from(option_file).map_err(|error| error.to_string())?;
    bench::writers::run(&config, &login, std::io::stdin()).map(|_| ()).map_err(|error| error.to_string())
}
