//! Work for other processes: jobs that wait, leases that expire, answers that count once. [`Queue`] is what all of them have;
//! [`sqlite`] keeps it in a file of this machine, [`nats`] at a broker that several machines reach. What a job asks for and what
//! an answer says is bytes here: whoever publishes and whoever works knows.
//!
//! A job is delivered at least once. An answer is accepted once for each run and job, whoever brings it, so that a worker
//! may die, hang, or do again what another one has done. After [`DELIVERIES_MAX`] deliveries without an answer the job is dead,
//! and that is its answer: a job never vanishes.

mod error;
pub mod nats;
pub mod rights;
pub mod sqlite;
mod turn;

use std::fmt;
use std::time::Duration;

pub use error::QueueError;

/// So often a job is handed out. More would only let a target that ends its workers end more of them.
pub const DELIVERIES_MAX: u32 = 5;
/// What is left of a run that nobody has closed goes after that.
pub const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The workers that reach the same network. Workers of one zone are handed jobs of theirs alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zone(String);

impl Zone {
    /// # Errors
    /// What is wrong with it.
    pub fn parse(word: &str) -> Result<Self, String> {
        word_of(word, 32).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self("default".into())
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One publisher's jobs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// # Errors
    /// What is wrong with it.
    pub fn parse(word: &str) -> Result<Self, String> {
        word_of(word, 40).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A part of a subject: no dot, no wildcard, nothing that a shell or a file name takes for something else.
fn word_of(word: &str, chars_max: usize) -> Result<String, String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if (1..=chars_max).contains(&word.len()) && word.bytes().all(is_part) {
        return Ok(word.to_owned());
    }
    Err(format!("\"{}\" is not 1 to {chars_max} letters, digits, - or _", word.escape_default()))
}

/// What a run needs before its jobs.
#[derive(Debug, Clone)]
pub struct Run {
    pub id: RunId,
    /// What holds for all of its jobs; workers read it once.
    pub settings: Vec<u8>,
    pub zones: Vec<Zone>,
    /// A job that a worker holds so long without a word goes to the next one.
    pub lease: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub run: RunId,
    pub zone: Zone,
    /// Its number within the run.
    pub number: u64,
    /// 0, and one more each time that it is published again because it was lost.
    pub attempt: u32,
    pub body: Vec<u8>,
}

/// A job in a worker's hands.
#[derive(Debug, Clone)]
pub struct Lease {
    pub job: Job,
    /// How often it was handed out, this time counted.
    pub deliveries: u32,
    /// By which the queue knows it again.
    token: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Done(Vec<u8>),
    /// It was handed out so often, and nobody brought an answer.
    Dead {
        deliveries: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub zone: Zone,
    pub number: u64,
    pub outcome: Outcome,
}

/// Where jobs wait. A method that needs the queue's place waits for it as long as it was told to, and then fails.
pub trait Queue: Send {
    /// Makes a run known, and ready for its jobs.
    fn open_run(&mut self, run: &Run) -> Result<(), QueueError>;
    /// Adds jobs of a run. One that is there already is not added again.
    fn publish(&mut self, jobs: &[Job]) -> Result<(), QueueError>;
    /// Answers that came since the last call. The same one may come twice, after a connection broke; two different ones of a
    /// job never.
    fn answers(&mut self, run: &RunId, answers_max: usize, wait: Duration)
    -> Result<Vec<Answer>, QueueError>;
    /// Forgets an answer that cannot be one, so that another can be brought: jobs of the same number are to be published again.
    fn retract(&mut self, run: &Run, answer: &Answer) -> Result<(), QueueError>;
    /// Jobs of a run in a zone that wait, or are in some worker's hands, or were when it died. An error also when somebody has removed what
    /// its answers go to.
    fn left(&mut self, run: &Run, zone: &Zone) -> Result<u64, QueueError>;
    /// Nobody wants its answers any more: jobs that wait go, and what comes later is dropped.
    fn close_run(&mut self, run: &Run) -> Result<(), QueueError>;

    /// The settings of a run; `None`: it is over.
    fn settings(&mut self, run: &RunId) -> Result<Option<Vec<u8>>, QueueError>;
    /// Jobs of a zone, at most so many, those of all runs in turn. It waits for the first one so long and no longer.
    fn lease(&mut self, zone: &Zone, jobs_max: usize, wait: Duration) -> Result<Vec<Lease>, QueueError>;
    /// Hands in answers. When it returns they are kept, or somebody else's are, or the run is over.
    fn ack(&mut self, answers: Vec<(Lease, Vec<u8>)>) -> Result<(), QueueError>;
    /// Gives jobs back: others may have them at once.
    fn nack(&mut self, leases: &[Lease]) -> Result<(), QueueError>;
    /// Says that these are still worked on.
    fn extend(&mut self, leases: &[Lease]) -> Result<(), QueueError>;
    /// Drops jobs of a run that is over.
    fn discard(&mut self, leases: &[Lease]) -> Result<(), QueueError>;
}

/// Where a queue is.
#[derive(Clone)]
pub enum Place {
    /// A file, for processes of one machine.
    File(std::path::PathBuf),
    Broker(nats::NatsPlace),
}

/// Opens the queue at a place.
///
/// # Errors
/// When it cannot be opened or reached, or is none that can be used.
pub fn open(place: &Place) -> Result<Box<dyn Queue>, QueueError> {
    Ok(match place {
        Place::File(path) => Box::new(sqlite::SqliteQueue::open(path)?),
        Place::Broker(place) => Box::new(nats::NatsQueue::connect(place.clone())?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_one_part_of_a_subject() {
        for word in ["default", "dmz-1", "A_b"] {
            assert_eq!(Zone::parse(word).map(|zone| zone.to_string()), Ok(word.to_owned()));
        }
        for word in ["", "*", ">", "a.b", "a b", "zürich", &"z".repeat(33)] {
            assert!(Zone::parse(word).is_err(), "{word}");
        }
    }
}
