//! What `sealion send` and `receive` do, over TCP without TLS: what encryption costs, with all else the same.
//!
//! `clear_copy receive DIR IP:PORT`, then `clear_copy send DIR IP:PORT` or `clear_copy send-command CMD IP:PORT`. It is for measurements on
//! one machine (scripts/bench-sst.sh) and is in no package: the feature that it needs is refused by the binary.

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use stream::{Compress, From, Identity, Into, Progress, ReceiveOptions, Receiver, SendOptions, Summary};

/// As `sealion send`.
const CONNECTIONS_MAX: usize = 4;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [what, of, address] = &args[..] else {
        eprintln!("usage: clear_copy receive|send|send-command DIR|CMD IP:PORT");
        return ExitCode::from(2);
    };
    let done = match what.as_str() {
        "receive" => receive(of, address),
        "send" => send(From::Directory(PathBuf::from(of)), address),
        "send-command" => command(of).and_then(|from| send(from, address)),
        other => Err(format!("{other}: receive, send or send-command").into()),
    };
    match done {
        Ok(summary) => {
            println!(
                "{} files, {} bytes, {} connections",
                summary.files, summary.data_bytes, summary.connections
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn receive(dir: &str, address: &str) -> Result<Summary, Box<dyn Error>> {
    let into = Into::directory(PathBuf::from(dir));
    let options = ReceiveOptions { into, listen: address.parse()?, resumes: false };
    let receiver = Receiver::new(options, &Identity::Clear)?;
    Ok(receiver.receive(&Progress::default(), &|error| eprintln!("{error}"))?)
}

fn send(from: From, address: &str) -> Result<Summary, Box<dyn Error>> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let options = SendOptions {
        from,
        to: address.to_owned(),
        connections: u16::try_from(processors.min(CONNECTIONS_MAX))?,
        cipher_suites: None,
        compress: Compress::None,
        bytes_per_s_max: None,
        renew_bytes: stream::RENEW_BYTES,
    };
    Ok(stream::send(options, &Identity::Clear, &Progress::default())?)
}

fn command(command: &str) -> Result<From, Box<dyn Error>> {
    let mut child =
        Command::new("/bin/sh").args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().ok_or("it has no output")?;
    stream::widen(&stdout);
    let what = command.to_owned();
    let failed =
        move |why: String| stream::StreamError::Source { what, why, next: "see what it said".into() };
    let ended_well = move || match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(status.to_string())),
        Err(error) => Err(failed(error.to_string())),
    };
    Ok(From::Bytes { read: Box::new(stdout), ended_well: Box::new(ended_well) })
}
