//! The application: the binary's own writers in a process of their own, and the audit of what they were promised.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use bench::writers::{self, Ack, Config, Outcome};

use super::{Program, RealLab, wait_for};

const WRITERS: u32 = 3;
const POOLED: u32 = 2;
const STOP_S_MAX: u64 = 60;
/// A replica has what its source has within this time.
const CATCH_UP_S_MAX: u64 = 30;

pub struct RealWriters<'l> {
    lab: &'l RealLab,
    program: Program,
    dir: PathBuf,
    count: u32,
    /// Who must have what was acknowledged.
    copies: Vec<String>,
}

impl<'l> RealWriters<'l> {
    /// Starts them on all nodes, and waits for their first acknowledgements.
    pub fn start(lab: &'l RealLab) -> Self {
        let nodes = lab.nodes();
        Self::start_on(lab, &nodes.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The same, on these nodes: a replica takes no writes.
    pub fn start_on(lab: &'l RealLab, nodes: &[&str]) -> Self {
        Self::start_at(lab, targets(lab, nodes), 0, "w", copies_in(lab))
    }

    /// On some nodes of an estate, whose writes are on `copies` and on no others.
    pub fn start_in_part(lab: &'l RealLab, nodes: &[&str], copies: &[&str]) -> Self {
        let copies = copies.iter().map(|&name| name.to_owned()).collect();
        Self::start_at(lab, targets(lab, nodes), 0, &format!("w-{}", nodes.concat()), copies)
    }

    /// Through the lab's proxy, with pooled ones beside them.
    pub fn start_behind_proxy(lab: &'l RealLab) -> Self {
        let host = ::lab::hosts::proxy_address(lab.file().number).to_string();
        let target = bench::Target { name: "proxy".into(), host, port: ::lab::layout::SQL_PORT };
        Self::start_at(lab, vec![target], POOLED, "w", copies_in(lab))
    }

    fn start_at(
        lab: &'l RealLab,
        targets: Vec<bench::Target>,
        pooled: u32,
        dir: &str,
        copies: Vec<String>,
    ) -> Self {
        let is_node = |name: &&str| lab.file().node(name).is_some();
        let first = targets.first().map(|target| target.name.as_str()).filter(is_node).unwrap_or("n1");
        let mut session = lab.sql(first).expect("it answers");
        // MySQL has no comments of schemas.
        let has_comments = session.server_version().contains("MariaDB");
        for statement in bench::PREPARE {
            let is_schema = statement.starts_with("CREATE DATABASE") && !has_comments;
            let statement = statement.split(" COMMENT ").next().filter(|_| is_schema).unwrap_or(statement);
            session.execute(statement).expect("the operator may make the schema");
        }
        let dir = lab.home().join(dir);
        std::fs::create_dir_all(&dir).expect("the test's own directory");
        let count = WRITERS + pooled;
        let config = Config { targets, writers: count, pooled, out_dir: dir.clone(), canary: "kept".into() };
        let path = dir.join("config.json");
        std::fs::write(&path, serde_json::to_string(&config).expect("plain fields")).expect("writable");
        let _ = std::fs::remove_file(writers::outcome_path(&dir));
        let words = [path.display().to_string(), lab.dir.join("app.cnf").display().to_string()];
        let program = lab.start(&["__writers", &words[0], &words[1]], None);
        let started = Self { lab, program, dir, count, copies };
        let earlier = started.acks().len();
        let going = wait_for(Duration::from_secs(20), || (started.acks().len() > earlier + 20).then_some(()));
        assert!(going.is_some(), "the writers get nothing acknowledged: {}", started.program.stderr());
        started
    }

    /// All that was acknowledged so far, in this run and those before it.
    pub fn acks(&self) -> Vec<Ack> {
        (0..self.count)
            .flat_map(|writer| writers::read_log(&writers::log_path(&self.dir, writer)).unwrap_or_default())
            .collect()
    }

    /// Ends them, and looks for every acknowledged write on every node.
    #[track_caller]
    pub fn stop_and_audit(self) -> Outcome {
        let (lab, dir, count) = (self.lab, self.dir.clone(), self.count);
        let acks = {
            let said = self.program.finish(Duration::from_secs(STOP_S_MAX)).exits(0);
            lab.ended(said);
            (0..count)
                .flat_map(|writer| writers::read_log(&writers::log_path(&dir, writer)).expect("a log"))
                .collect::<Vec<_>>()
        };
        let text =
            std::fs::read_to_string(writers::outcome_path(&dir)).expect("the writers leave their result");
        let outcome: Outcome = serde_json::from_str(&text).expect("as they wrote it");
        for node in self.copies {
            let mut lost = Vec::new();
            // What a replica has not applied yet is not lost.
            let all_there = wait_for(Duration::from_secs(CATCH_UP_S_MAX), || {
                let there = written(lab, &node);
                lost = acks.iter().filter(|ack| !there.contains(&(ack.writer, ack.seq))).collect();
                lost.is_empty().then_some(())
            });
            assert!(
                all_there.is_some(),
                "{} of {} acknowledged writes are not on {node}, the first: {:?}",
                lost.len(),
                acks.len(),
                lost.first()
            );
        }
        outcome
    }
}

fn targets(lab: &RealLab, nodes: &[&str]) -> Vec<bench::Target> {
    let chosen = lab.file().nodes.into_iter().filter(|node| nodes.contains(&node.name.as_str()));
    let target = |node: ::lab::NodeSpec| bench::Target {
        name: node.name,
        host: node.address.to_string(),
        port: ::lab::layout::SQL_PORT,
    };
    chosen.map(target).collect()
}

/// All nodes of a lab of one cluster, or of a source and its replicas.
fn copies_in(lab: &RealLab) -> Vec<String> {
    let members = lab.members();
    lab.nodes().into_iter().filter(|node| members.contains(node)).collect()
}

/// Writer and number of each write that a node has.
#[track_caller]
fn written(lab: &RealLab, node: &str) -> HashSet<(u32, u64)> {
    let mut session = lab.sql(node).unwrap_or_else(|error| panic!("{node} does not answer: {error}"));
    // Outside of Galera there is no such variable.
    let _ = session.execute("SET SESSION wsrep_sync_wait=1");
    let rows = session.query("SELECT writer, seq FROM sealion_demo.writes").expect("readable");
    let number = |row: &net::RowRef<'_>, name: &str| {
        row.text(name).and_then(|text| text.parse::<u64>().ok()).expect("a number")
    };
    rows.iter()
        .map(|row| (u32::try_from(number(&row, "writer")).expect("small"), number(&row, "seq")))
        .collect()
}
