//! What `sst` measures: a node that takes everything from its donor.
//!
//! The SST scripts read their option files at every transfer (reference: MariaDB, "Introduction to State Snapshot Transfers"), so
//! that one cluster serves both arms of a method.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use ::bench::cpu;
use lab::layout::SST_PORT;
use lab::{NodeSpec, SstMethod, Wait};
use net::{Client, ConnectOptions, Endpoint};

use super::cannot_begin;
use super::keys;
use super::transfer::{Receiver, Taken, WORDS_HELD, Watched};
use site::OpsError;
use site::labs::{self, Up};
use site::servers::internal;

/// Of all tables together, at least: with fewer the time is that of a server's start.
pub const ROWS_MIN: u32 = 400_000;
pub const NODES: u8 = 2;
const DONOR: &str = "n1";
const JOINER: &str = "n2";

/// It is empty and stands still, and has been told how it will be filled.
pub struct Joiner<'u> {
    up: &'u Up,
}

impl<'u> Joiner<'u> {
    /// `files`: certificates for TLS; `None` is cleartext.
    ///
    /// # Errors
    /// It does not stop; files that cannot be written.
    pub fn prepare(up: &'u Up, files: Option<&keys::Files>) -> Result<Self, OpsError> {
        if matches!(up.lab.state(JOINER)?, lab::supervisor::NodeState::Running { .. }) {
            up.lab.stop(JOINER)?;
        }
        let joiner = up.lab.node(JOINER)?;
        fs::remove_dir_all(joiner.datadir())
            .and_then(|()| fs::create_dir_all(joiner.datadir()))
            .map_err(internal("cannot remove the data of a joiner"))?;
        let text = options(up.lab.file.sst_method, files);
        for name in [DONOR, JOINER] {
            fs::write(option_file(up.lab.node(name)?), &text)
                .map_err(internal("cannot write an option file of the lab"))?;
        }
        Ok(Self { up })
    }
}

impl Receiver for Joiner<'_> {
    /// From its start to Synced.
    fn take(&self, stop: &AtomicBool) -> Result<Option<Taken>, OpsError> {
        let began = Instant::now();
        self.up.lab.start(JOINER, &[], Wait::Nothing)?;
        let members = usize::from(NODES);
        if labs::synced_unless(&self.up.cluster, &self.up.lab, JOINER, members, stop)?.is_none() {
            // A joiner takes its time to end by itself.
            self.up.lab.kill(JOINER)?;
            return Ok(None);
        }
        Ok(Some(Taken::within(began.elapsed())))
    }

    /// CPU time of the servers that run, of all that they have started, and of what was left of it to the lab's supervisor.
    fn spent_us(&self) -> Option<u64> {
        let pids = labs::pids(self.up);
        let (donor, joiner) = (pids.get(DONOR).copied(), pids.get(JOINER).copied());
        let all = [donor, Some(self.up.lab.file.supervisor_pid)].into_iter().chain(joiner.map(Some));
        all.map(|pid| cpu::with_children_us(pid?)).sum()
    }
}

impl Watched for Joiner<'_> {
    fn told(&self) -> String {
        format!("a transfer by {}", self.up.lab.file.sst_method.as_str())
    }

    fn port(&self) -> u16 {
        SST_PORT
    }

    /// Its root is let in over the unix socket, without a password.
    fn words(&self, word: &str) -> Result<String, OpsError> {
        let socket = Endpoint::unix(self.up.lab.node(JOINER)?.socket());
        let mut client = Client::connect(&ConnectOptions::new(socket, "root")).map_err(cannot_begin)?;
        let counted = client.query(&format!("{WORDS_HELD} = '{word}'")).map_err(cannot_begin)?;
        Ok(counted.scalar().unwrap_or_default().into_owned())
    }
}

fn option_file(node: &NodeSpec) -> PathBuf {
    node.conf_d().join("70-sst.cnf")
}

/// Both ends check the other's chain. rsync takes the files for a wish; mariabackup has to be told.
fn options(method: SstMethod, files: Option<&keys::Files>) -> String {
    let Some(keys::Files { pair, ca }) = files else { return String::new() };
    let encrypt = match method {
        SstMethod::Rsync => "",
        SstMethod::Mariabackup => "encrypt=4\n",
    };
    format!(
        "[sst]\n{encrypt}tkey={}\ntcert={}\ntca={}\n",
        pair.key.display(),
        pair.cert.display(),
        ca.display()
    )
}
