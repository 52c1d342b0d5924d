//! The side that wants to know: hands targets out, gathers their rows, says what nobody answered.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{Clock, SystemClock};
use queue::{Answer, Job, Outcome, Queue, Run, RunId, Zone};
use report::shape::{ScanReport, TargetRow};

use super::ops_error;
use super::shape::{RunSettings, decode_rows};
use super::zones::ZoneMap;
use crate::{Done, Listener, Settings, TargetSpec, accept, authorize, earlier_scan, rows, target_specs};
use site::OpsError;

/// RFC 8878, 3.1.1.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Jobs and answers that are handed over at once.
const PUBLISH_AT_ONCE: usize = 2000;
const GATHER_AT_ONCE: usize = 2000;
const GATHER_WAIT: Duration = Duration::from_millis(250);
/// Jobs that neither wait nor have an answer after that were lost, with a broker's disk perhaps: they are published again.
const LOST_AFTER: Duration = Duration::from_secs(5);
/// So often a target is asked for again whose answer is none: a broker sends a reply to any subject that a client asked for.
const ANSWERS_MAX: u32 = 3;
/// Between two times that it is said who does not answer.
const COMPLAIN_EVERY: Duration = Duration::from_secs(60);

pub struct Publishing<'q> {
    pub queue: &'q mut dyn Queue,
    pub zones: ZoneMap,
    /// A target that a worker holds so long without a word is given to another one.
    pub lease: Duration,
    /// Without any answer for so long the scan ends, and says what is missing.
    pub silence_max: Duration,
    /// Who is told why nothing goes on.
    pub notes: &'q dyn Fn(&str),
}

struct Task {
    spec: TargetSpec,
    zone: Zone,
    attempt: u32,
    is_answered: bool,
}

impl Task {
    fn job(&self, run: &RunId, number: usize) -> Job {
        Job {
            run: run.clone(),
            zone: self.zone.clone(),
            number: number as u64,
            attempt: self.attempt,
            body: self.spec.to_string().into_bytes(),
        }
    }
}

/// As [`crate::scan`], by workers that are somewhere. `earlier` is a result that is to be completed.
///
/// # Errors
/// Ranges that are not authorized; a queue that is away for too long or refuses.
pub fn scan_with_workers(
    earlier: Option<&ScanReport>,
    target_specs_typed: &[TargetSpec],
    settings: &Settings,
    publishing: Publishing<'_>,
    stop: &AtomicBool,
    listener: &mut dyn Listener,
) -> Result<ScanReport, OpsError> {
    let of_earlier;
    let target_specs = match earlier {
        Some(earlier) => {
            of_earlier = target_specs(earlier.asked.targets.iter().map(String::as_str))?;
            &of_earlier[..]
        }
        None => target_specs_typed,
    };
    authorize(target_specs, settings.authorized.as_ref())?;
    let started_unix_ms = earlier.map_or_else(|| SystemClock.unix_ms(), |earlier| earlier.started_unix_ms);
    let Publishing { queue, zones, lease, silence_max, notes } = publishing;
    let tasks = tasks(target_specs, &zones);
    let used: BTreeSet<Zone> = tasks.iter().map(|task| task.zone.clone()).collect();
    let run = Run {
        id: run_id()?,
        settings: RunSettings::of(settings, u64::try_from(lease.as_millis()).unwrap_or(u64::MAX)).encode()?,
        zones: used.into_iter().collect(),
        lease,
    };
    let mut gather = Gather {
        run: &run,
        done: Done {
            settings,
            target_specs,
            started_unix_ms,
            rows: vec![],
            silent: BTreeMap::new(),
            answered: BTreeSet::new(),
            is_cut: false,
        },
        tasks,
        left: 0,
        seen: HashSet::new(),
        listener,
    };
    gather.keep(earlier.map(earlier_scan::whole_rows).unwrap_or_default());
    queue.open_run(&run).map_err(|error| ops_error(&error))?;
    let gathered = gather.all(queue, stop, silence_max, notes);
    // Also when it failed or was ended: nobody wants the rest.
    let closed = queue.close_run(&run);
    gathered?;
    if let Err(error) = closed {
        notes(&format!("note: what is left of this scan could not be removed: {error}"));
    }
    let is_complete = gather.left == 0;
    gather.tell_missing(silence_max);
    let rows = std::mem::take(&mut gather.done.rows);
    Ok(gather.done.report(rows, is_complete))
}

/// Each target once; of a range each address.
fn tasks(target_specs: &[TargetSpec], zones: &ZoneMap) -> Vec<Task> {
    let mut known = HashSet::new();
    let mut tasks = Vec::new();
    for spec in target_specs {
        let places: Box<dyn Iterator<Item = TargetSpec>> = match spec {
            TargetSpec::Range { range, port } => {
                Box::new(range.hosts().map(|ip| TargetSpec::place(ip.to_string(), *port)))
            }
            spec => Box::new(std::iter::once(spec.clone())),
        };
        for spec in places {
            if known.insert(spec.to_string()) {
                tasks.push(Task { zone: zones.of(&spec).clone(), spec, attempt: 0, is_answered: false });
            }
        }
    }
    tasks
}

fn run_id() -> Result<RunId, OpsError> {
    RunId::parse(&format!("{:x}-{:x}", SystemClock.unix_ms(), std::process::id()))
        .map_err(|why| OpsError::internal("no name for the run", why))
}

struct Gather<'t> {
    run: &'t Run,
    done: Done<'t>,
    tasks: Vec<Task>,
    /// Tasks without an answer.
    left: usize,
    /// Each port of each address has one row, also when several targets name it.
    seen: HashSet<(String, Option<String>, u16)>,
    listener: &'t mut dyn Listener,
}

impl Gather<'_> {
    /// Rows of an earlier run: what they answer is not asked again.
    fn keep(&mut self, kept: Vec<TargetRow>) {
        let mut places = HashSet::new();
        for row in kept {
            places.insert((row.host.clone(), row.port));
            self.row(row);
        }
        for task in &mut self.tasks {
            if let TargetSpec::Place { host, port: Some(port) } = &task.spec {
                task.is_answered = places.contains(&(host.clone(), *port));
            }
        }
        self.left = self.tasks.iter().filter(|task| !task.is_answered).count();
    }

    fn row(&mut self, mut row: TargetRow) {
        if row.address.is_some() && !self.seen.insert((row.host.clone(), row.address.clone(), row.port)) {
            return;
        }
        accept(&mut row, &self.done.settings.accepted, SystemClock.unix_ms());
        self.listener.row(&row);
        self.done.rows.push(row);
    }

    fn all(
        &mut self,
        queue: &mut dyn Queue,
        stop: &AtomicBool,
        silence_max: Duration,
        notes: &dyn Fn(&str),
    ) -> Result<(), OpsError> {
        let open: Vec<usize> =
            (0..self.tasks.len()).filter(|number| !self.tasks[*number].is_answered).collect();
        for part in open.chunks(PUBLISH_AT_ONCE) {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.publish(queue, part)?;
            self.take(queue, Duration::ZERO)?;
        }
        let mut heard_at = Instant::now();
        let mut asked_at = Instant::now();
        let mut complained_at = Instant::now();
        while self.left > 0 && !stop.load(Ordering::Relaxed) {
            if self.take(queue, GATHER_WAIT)? {
                heard_at = Instant::now();
                complained_at = Instant::now();
            }
            if heard_at.elapsed() > silence_max {
                return Ok(());
            }
            if heard_at.elapsed() > LOST_AFTER && asked_at.elapsed() > LOST_AFTER {
                self.publish_lost(queue)?;
                asked_at = Instant::now();
            }
            if complained_at.elapsed() > COMPLAIN_EVERY {
                notes(&self.complaint(heard_at.elapsed()));
                complained_at = Instant::now();
            }
        }
        Ok(())
    }

    fn publish(&self, queue: &mut dyn Queue, numbers: &[usize]) -> Result<(), OpsError> {
        let jobs: Vec<Job> =
            numbers.iter().map(|number| self.tasks[*number].job(&self.run.id, *number)).collect();
        queue.publish(&jobs).map_err(|error| ops_error(&error))
    }

    /// Where nothing waits and nothing is held, what has no answer was lost on the way. Each zone by itself: a worker that holds jobs back
    /// does so in its zone alone.
    fn publish_lost(&mut self, queue: &mut dyn Queue) -> Result<(), OpsError> {
        let mut without_jobs = BTreeSet::new();
        for zone in &self.run.zones {
            if queue.left(self.run, zone).map_err(|error| ops_error(&error))? == 0 {
                without_jobs.insert(zone);
            }
        }
        if without_jobs.is_empty() || self.take(queue, GATHER_WAIT)? {
            return Ok(());
        }
        let is_lost = |task: &Task| !task.is_answered && without_jobs.contains(&task.zone);
        let lost: Vec<usize> = (0..self.tasks.len()).filter(|number| is_lost(&self.tasks[*number])).collect();
        for number in &lost {
            self.tasks[*number].attempt += 1;
        }
        for part in lost.chunks(PUBLISH_AT_ONCE) {
            self.publish(queue, part)?;
        }
        Ok(())
    }

    /// Takes answers that are there; whether there was one.
    fn take(&mut self, queue: &mut dyn Queue, wait: Duration) -> Result<bool, OpsError> {
        let answers = queue.answers(&self.run.id, GATHER_AT_ONCE, wait).map_err(|error| ops_error(&error))?;
        let left = self.left;
        for answer in answers {
            if let Some(number) = self.answer(&answer) {
                queue.retract(self.run, &answer).map_err(|error| ops_error(&error))?;
                self.publish(queue, &[number])?;
            }
        }
        self.listener.progress(self.tasks.len() - self.left, self.tasks.len());
        let done = &self.done;
        self.listener.so_far(&|| done.report(done.rows.clone(), false));
        Ok(self.left < left)
    }

    /// A number: it is no answer at all, and is to be asked for again.
    fn answer(&mut self, answer: &Answer) -> Option<usize> {
        let number = usize::try_from(answer.number).ok()?;
        // A worker of another zone cannot know what this target looks like from there.
        let task = self.tasks.get_mut(number).filter(|task| task.zone == answer.zone)?;
        if task.is_answered {
            return None;
        }
        if let Outcome::Done(body) = &answer.outcome
            && is_none(body)
            && task.attempt < ANSWERS_MAX
        {
            task.attempt += 1;
            return Some(number);
        }
        task.is_answered = true;
        self.left -= 1;
        let (spec, zone) = (task.spec.clone(), task.zone.clone());
        let rows = match &answer.outcome {
            Outcome::Dead { deliveries } => Err(format!(
                "cannot tell: {deliveries} workers of zone {zone} took it, and none of them brought a result"
            )),
            Outcome::Done(body) => answer_rows(&spec, body)
                .map_err(|why| format!("cannot tell: the worker's answer cannot be used: {why}")),
        };
        match rows {
            Ok(rows) => {
                for row in rows {
                    // What a service's records name may be a target of another zone as well: that zone's worker tells of it.
                    let is_service = matches!(spec, TargetSpec::Service { .. });
                    if !is_service || !self.is_of_another_zone(&zone, &row) {
                        self.row(row);
                    }
                }
            }
            Err(why) => self.row(rows::not_asked(&spec.to_string(), &why)),
        }
        None
    }

    fn is_of_another_zone(&self, zone: &Zone, row: &TargetRow) -> bool {
        self.tasks.iter().filter(|task| task.zone != *zone).any(|task| match &task.spec {
            TargetSpec::Place { host, port } => {
                (*host == row.host || row.address.as_ref() == Some(host))
                    && port.is_none_or(|port| port == row.port)
            }
            TargetSpec::Service { .. } | TargetSpec::Range { .. } => false,
        })
    }

    fn complaint(&self, silent: Duration) -> String {
        let zones: BTreeSet<&str> =
            self.tasks.iter().filter(|task| !task.is_answered).map(|task| task.zone.as_str()).collect();
        format!(
            "no answer for {} s; {} targets are left, in zone {}. Is a worker there, and not busy with another scan? sealion scan worker --from … --zone {}",
            silent.as_secs(),
            self.left,
            zones.iter().copied().collect::<Vec<_>>().join(", "),
            zones.first().unwrap_or(&"ZONE"),
        )
    }

    /// A target without an answer is a row as well: it could not be looked at.
    fn tell_missing(&mut self, silence_max: Duration) {
        let missing: Vec<(String, Zone)> = self
            .tasks
            .iter()
            .filter(|task| !task.is_answered)
            .map(|task| (task.spec.to_string(), task.zone.clone()))
            .collect();
        for (word, zone) in missing {
            let why = format!(
                "cannot tell: no worker of zone {zone} brought a result (the scan was ended, or none came for {} s: there is no worker, or it is busy with another scan)",
                silence_max.as_secs()
            );
            self.row(rows::not_asked(&word, &why));
        }
    }
}

/// The rows that a worker sent for a target: all that is believed of an answer.
///
/// # Errors
/// What is wrong with it: a worker may be anybody who has its key.
pub fn answer_rows(spec: &TargetSpec, body: &[u8]) -> Result<Vec<TargetRow>, String> {
    let rows = decode_rows(body)?;
    check(spec, &rows).map(|()| rows)
}

/// What this target can have as its rows, and nothing that would move a cursor.
fn check(spec: &TargetSpec, rows: &[TargetRow]) -> Result<(), String> {
    if rows.is_empty() {
        return Err("it has no row".into());
    }
    earlier_scan::check_rows(rows)?;
    for row in rows {
        let is_at = |host: &str| match (host.parse::<IpAddr>(), &row.address) {
            (Ok(ip), Some(address)) => *address == ip.to_canonical().to_string(),
            _ => true,
        };
        let fits = match spec {
            TargetSpec::Place { host, port } => {
                row.host == *host && port.is_none_or(|port| port == row.port) && is_at(host)
            }
            // Its names are the zone's.
            TargetSpec::Service { .. } => true,
            TargetSpec::Range { .. } => false,
        };
        if !fits || !is_called_so(spec, row) {
            return Err(format!("it is about {}", row.target));
        }
    }
    Ok(())
}

/// What people read is the row's `target`: as the job was worded, or as its host, address and port are.
fn is_called_so(spec: &TargetSpec, row: &TargetRow) -> bool {
    let address = row.address.as_ref().and_then(|address| address.parse::<IpAddr>().ok());
    row.target == spec.to_string()
        || row.target == format!("{}:{}", row.host, row.port)
        || address
            .is_some_and(|ip| row.target == ::scan::Target::new(&row.host, ip, row.port, true).to_string())
}

/// Bytes that no worker writes, whatever its version. None at all are a worker's: its rows were too many.
fn is_none(body: &[u8]) -> bool {
    !body.is_empty() && !body.starts_with(&ZSTD_MAGIC)
}

#[cfg(test)]
mod tests {
    use queue::sqlite::SqliteQueue;

    use super::*;
    use crate::workers::shape::encode_rows;

    fn spec(word: &str) -> TargetSpec {
        TargetSpec::parse(word).expect(word)
    }

    fn gather<'t>(
        run: &'t Run,
        settings: &'t Settings,
        target_specs: &'t [TargetSpec],
        tasks: Vec<Task>,
        listener: &'t mut dyn Listener,
    ) -> Gather<'t> {
        let done = Done {
            settings,
            target_specs,
            started_unix_ms: 0,
            rows: vec![],
            silent: BTreeMap::new(),
            answered: BTreeSet::new(),
            is_cut: false,
        };
        let mut gather = Gather { run, done, tasks, left: 0, seen: HashSet::new(), listener };
        gather.keep(vec![]);
        gather
    }

    #[test]
    fn an_answer_must_be_about_its_target_and_move_no_cursor() {
        let row = |word: &str| rows::not_asked(word, "why");
        let at = |address: &str| TargetRow { address: Some(address.into()), ..row("192.0.2.1:3306") };
        for (target, rows, fits) in [
            ("db1:3306", vec![row("db1:3306")], true),
            ("db1", vec![row("db1:3306"), row("db1:4567")], true),
            ("192.0.2.1:3306", vec![at("192.0.2.1")], true),
            ("srv:_mysql._tcp.example.org", vec![row("db9:3306")], true),
            ("db1:3306", vec![], false),
            ("db1:3306", vec![row("db2:3306")], false),
            ("db1:3306", vec![row("db1:3307")], false),
            ("192.0.2.1:3306", vec![at("192.0.2.2")], false),
            ("192.0.2.1:3306", vec![at("nowhere")], false),
            // The name that people read is another's.
            ("192.0.2.1:3306", vec![TargetRow { target: "pay:3306".into(), ..at("192.0.2.1") }], false),
            ("192.0.2.1:3306", vec![TargetRow { target: "192.0.2.2:3306".into(), ..at("192.0.2.1") }], false),
            ("db1", vec![TargetRow { target: "db1:3306 = ok".into(), ..row("db1:3306") }], false),
            (
                "srv:_mysql._tcp.example.org",
                vec![TargetRow { target: "db8:3306".into(), ..row("db9:3306") }],
                false,
            ),
            ("db1:3306", vec![TargetRow { target: "\u{1b}[2J".into(), ..row("db1:3306") }], false),
        ] {
            assert_eq!(check(&spec(target), &rows).is_ok(), fits, "{target}: {rows:?}");
        }
    }

    /// By an outsider: a worker of one zone removed jobs of another one, and held its own back so that nothing counted as lost.
    #[test]
    fn what_was_lost_in_one_zone_is_published_again_while_another_one_holds_its_jobs_back() {
        let mut queue = SqliteQueue::in_memory().expect("memory");
        let zones = ["dmz", "core"].map(|word| Zone::parse(word).expect("a zone"));
        let words = ["192.0.2.1:3306", "db1:3306"].map(spec);
        let run = Run {
            id: RunId::parse("r").expect("a name"),
            settings: vec![],
            zones: zones.to_vec(),
            lease: Duration::from_secs(60),
        };
        let mut listener = |_: &TargetRow| {};
        let settings = Settings::default();
        let asked = tasks(&words, &ZoneMap::read(["192.0.2.0/24=dmz", "core"]).expect("zones"));
        let mut gather = gather(&run, &settings, &words, asked, &mut listener);
        queue.open_run(&run).expect("memory");
        gather.publish(&mut queue, &[0, 1]).expect("memory");
        let held = queue.lease(&zones[0], 1, Duration::ZERO).expect("memory");
        let lost = queue.lease(&zones[1], 1, Duration::ZERO).expect("memory");
        queue.discard(&lost).expect("memory");
        gather.publish_lost(&mut queue).expect("memory");
        let again = queue.lease(&zones[1], 1, Duration::ZERO).expect("memory");
        assert_eq!((held.len(), again.len(), again[0].job.number), (1, 1, 1));
        assert_eq!(queue.left(&run, &zones[0]).expect("memory"), 1);
        assert_eq!((gather.tasks[0].attempt, gather.tasks[1].attempt), (0, 1));
    }

    /// Answers of a worker that says what it likes, in the zone that it likes.
    #[test]
    fn what_a_worker_cannot_know_does_not_count_and_what_cannot_be_read_is_told() {
        let mut queue = SqliteQueue::in_memory().expect("memory");
        let settings = Settings::default();
        let words = ["db1:3306", "db2:3306"].map(spec);
        let run = Run {
            id: RunId::parse("r").expect("a name"),
            settings: vec![],
            zones: vec![Zone::default()],
            lease: Duration::from_secs(1),
        };
        let mut told = Vec::new();
        let mut listener = |row: &TargetRow| told.push((row.target.clone(), row.not_seen[0].clone()));
        let asked = tasks(&words, &ZoneMap::default());
        let mut gather = gather(&run, &settings, &words, asked, &mut listener);
        gather.publish(&mut queue, &[0, 1]).expect("memory");
        let done = |word: &str| Outcome::Done(encode_rows(&[rows::not_asked(word, "seen")]));
        let answer = |zone: &str, number, outcome| Answer {
            zone: Zone::parse(zone).expect("a zone"),
            number,
            outcome,
        };
        gather.answer(&answer("other", 0, done("db1:3306")));
        gather.answer(&answer("default", 9, done("db1:3306")));
        assert_eq!((gather.left, gather.done.rows.len()), (2, 0));
        gather.answer(&answer("default", 0, done("db1:3306")));
        gather.answer(&answer("default", 0, done("db1:3306")));
        // What a broker itself has put there, at a stranger's wish, is asked for again, and not for ever.
        let reply = answer("default", 1, Outcome::Done(b"{\"stream\":\"S\",\"seq\":1}".to_vec()));
        for _ in 0..ANSWERS_MAX {
            assert_eq!(gather.answer(&reply), Some(1));
        }
        assert_eq!((gather.left, gather.tasks[1].attempt), (1, ANSWERS_MAX));
        assert_eq!(gather.answer(&reply), None);
        assert_eq!((gather.left, gather.done.rows.len()), (0, 2));
        assert_eq!(told[0], ("db1:3306".to_owned(), "seen".to_owned()));
        assert!(
            told[1].0 == "db2:3306" && told[1].1.starts_with("cannot tell: the worker's answer"),
            "{told:?}"
        );
    }
}
