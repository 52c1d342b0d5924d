//! The application: a process of its own that is not told anything.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use bench::writers::{self, Ack, Config, Outcome};
use capture::Canary;

use site::OpsError;
use site::labs::Up;

pub struct Writers {
    child: Child,
    dir: PathBuf,
    /// Acknowledgements that were in the logs before this run.
    earlier: usize,
}

/// What they were promised and what they went through.
pub struct Sealed {
    pub outcome: Outcome,
    /// Of this run.
    pub acks: Vec<Ack>,
}

impl Sealed {
    pub fn longest_stall_ms(&self) -> u64 {
        writers::stalls(&self.acks, 0).first().map_or(0, |stall| stall.lasted_ms)
    }
}

fn internal(what: &str) -> impl Fn(std::io::Error) -> OpsError + '_ {
    move |error| OpsError::internal(what, error)
}

impl Writers {
    pub fn start(up: &Up, dir: &Path) -> Result<Self, OpsError> {
        std::fs::create_dir_all(dir).map_err(internal("cannot create the directory of the writers"))?;
        let earlier = read_all(dir).len();
        let config = Config {
            targets: super::targets(&up.cluster),
            writers: super::WRITERS,
            pooled: 0,
            out_dir: dir.to_owned(),
            canary: Canary::new(site::random16()).token().to_owned(),
        };
        let path = dir.join("config.json");
        let text = serde_json::to_string(&config)
            .map_err(|error| OpsError::internal("cannot write the configuration of the writers", error))?;
        std::fs::write(&path, text).map_err(internal("cannot write the configuration of the writers"))?;
        let _ = std::fs::remove_file(writers::outcome_path(dir));
        let itself = std::env::current_exe().map_err(internal("cannot find the running sealion"))?;
        // Their errors go to a file: they are part of what is reported.
        let errors = std::fs::File::create(dir.join("stderr.log"))
            .map_err(internal("cannot create the log of the writers"))?;
        let child = Command::new(itself)
            .arg("__writers")
            .arg(&path)
            .arg(up.lab.file.dir.join("app.cnf"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .map_err(internal("cannot start the writers"))?;
        Ok(Self { child, dir: dir.to_owned(), earlier })
    }

    /// Closes their input and waits until they have ended.
    pub fn stop(mut self) -> Result<Sealed, OpsError> {
        drop(self.child.stdin.take());
        let status = self.child.wait().map_err(internal("cannot wait for the writers"))?;
        if !status.success() {
            let said = std::fs::read_to_string(self.dir.join("stderr.log")).unwrap_or_default();
            return Err(OpsError::internal(format!("the writers ended with {status}"), said.trim()));
        }
        let text = std::fs::read_to_string(writers::outcome_path(&self.dir))
            .map_err(internal("the writers wrote no result"))?;
        let outcome: Outcome = serde_json::from_str(&text)
            .map_err(|error| OpsError::internal("the result of the writers is damaged", error))?;
        let all = read_all(&self.dir);
        let acks = newest(all, outcome.acknowledged, self.earlier);
        Ok(Sealed { outcome, acks })
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        // Only when something failed in between: stop() has closed it already.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn read_all(dir: &Path) -> Vec<Ack> {
    (0..super::WRITERS)
        .flat_map(|writer| writers::read_log(&writers::log_path(dir, writer)).unwrap_or_default())
        .collect()
}

/// The logs are appended to from run to run: what was acknowledged in this one has the later times.
fn newest(mut all: Vec<Ack>, acknowledged: u64, earlier: usize) -> Vec<Ack> {
    debug_assert_eq!(all.len() as u64, acknowledged + earlier as u64);
    all.sort_by_key(|ack| ack.acked_unix_ms);
    let mut acks = all.split_off(earlier.min(all.len()));
    acks.sort_by_key(|ack| (ack.writer, ack.seq));
    acks
}
