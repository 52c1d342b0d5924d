//! The application: the binary's own writers in a process of their own, and the audit of what they were promised.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use bench::writers::{self, Ack, Config, Outcome};

use super::{Program, RealLab, wait_for};

const WRITERS: u32 = 3;
const STOP_S_MAX: u64 = 60;

pub struct RealWriters<'l> {
    lab: &'l RealLab,
    program: Program,
    dir: PathBuf,
}

impl<'l> RealWriters<'l> {
    /// Starts them, and waits for their first acknowledgements.
    pub fn start(lab: &'l RealLab) -> Self {
        let mut session = lab.sql("n1").expect("n1 answers");
        for statement in bench::PREPARE {
            session.execute(statement).expect("the operator may make the schema");
        }
        let dir = lab.home().join("w");
        std::fs::create_dir_all(&dir).expect("the test's own directory");
        let targets = lab.file().nodes.into_iter().map(|node| bench::Target {
            name: node.name,
            host: node.address.to_string(),
            port: ::lab::layout::SQL_PORT,
        });
        let config = Config {
            targets: targets.collect(),
            writers: WRITERS,
            out_dir: dir.clone(),
            canary: "kept".into(),
        };
        let path = dir.join("config.json");
        std::fs::write(&path, serde_json::to_string(&config).expect("plain fields")).expect("writable");
        let _ = std::fs::remove_file(writers::outcome_path(&dir));
        let words = [path.display().to_string(), lab.dir.join("app.cnf").display().to_string()];
        let program = lab.start(&["__writers", &words[0], &words[1]], None);
        let started = Self { lab, program, dir };
        let earlier = started.acks().len();
        let going = wait_for(Duration::from_secs(20), || (started.acks().len() > earlier + 20).then_some(()));
        assert!(going.is_some(), "the writers get nothing acknowledged: {}", started.program.stderr());
        started
    }

    /// All that was acknowledged so far, in this run and those before it.
    pub fn acks(&self) -> Vec<Ack> {
        (0..WRITERS)
            .flat_map(|writer| writers::read_log(&writers::log_path(&self.dir, writer)).unwrap_or_default())
            .collect()
    }

    /// Ends them, and looks for every acknowledged write on every node.
    #[track_caller]
    pub fn stop_and_audit(self) -> Outcome {
        let (lab, dir) = (self.lab, self.dir.clone());
        let acks = {
            let said = self.program.finish(Duration::from_secs(STOP_S_MAX)).exits(0);
            lab.ended(said);
            (0..WRITERS)
                .flat_map(|writer| writers::read_log(&writers::log_path(&dir, writer)).expect("a log"))
                .collect::<Vec<_>>()
        };
        let text =
            std::fs::read_to_string(writers::outcome_path(&dir)).expect("the writers leave their result");
        let outcome: Outcome = serde_json::from_str(&text).expect("as they wrote it");
        for node in lab.nodes() {
            let mut session =
                lab.sql(&node).unwrap_or_else(|error| panic!("{node} does not answer: {error}"));
            session.execute("SET SESSION wsrep_sync_wait=1").expect("a session variable");
            let mut there: HashSet<(u32, u64)> = HashSet::with_capacity(acks.len());
            let rows = session.query("SELECT writer, seq FROM sealion_demo.writes").expect("readable");
            for row in rows.iter() {
                let number =
                    |name: &str| row.text(name).and_then(|text| text.parse::<u64>().ok()).expect("a number");
                there.insert((u32::try_from(number("writer")).expect("small"), number("seq")));
            }
            let lost: Vec<_> = acks.iter().filter(|ack| !there.contains(&(ack.writer, ack.seq))).collect();
            assert!(
                lost.is_empty(),
                "{} of {} acknowledged writes are not on {node}, the first: {:?}",
                lost.len(),
                acks.len(),
                lost.first()
            );
        }
        outcome
    }
}
