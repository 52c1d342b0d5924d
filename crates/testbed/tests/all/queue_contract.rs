//! What every queue promises, tried on both: a file, and a real broker with users of the least rights.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use queue::nats::NatsQueue;
use queue::sqlite::SqliteQueue;
use queue::{Answer, DELIVERIES_MAX, Job, Lease, Outcome, Queue, QueueError, Run, RunId, Zone};
use testbed::real::broker::{Broker, end};
use testbed::real::{short_dir, wait_for};

const LEASE: Duration = Duration::from_secs(1);
const WAIT: Duration = Duration::from_millis(200);
const AT_MOST: Duration = Duration::from_secs(30);

/// Opens the queue as that user: `publisher`, or a worker of the zone in its name.
type Open<'o> = &'o dyn Fn(&str) -> Box<dyn Queue>;

/// Runs a check over both queues, each with the users `publisher`, `dmz` and `core`.
fn with_both(check: impl Fn(Open<'_>)) {
    let dir = short_dir();
    check(&|_| Box::new(SqliteQueue::open(&dir.path().join("queue.db")).expect("a file of ours")));
    let broker = Broker::start(dir.path(), &[("dmz", "dmz"), ("core", "core")]);
    check(&|user| connect(&broker, user));
}

fn connect(broker: &Broker, user: &str) -> Box<dyn Queue> {
    let name = if user == "publisher" { queue::rights::PUBLISHER } else { user };
    Box::new(NatsQueue::connect(broker.place(user, name)).expect("a user of the broker"))
}

fn zone(word: &str) -> Zone {
    Zone::parse(word).expect("a zone")
}

fn run(id: &str) -> Run {
    Run {
        id: RunId::parse(id).expect("a name"),
        settings: b"as they are".to_vec(),
        zones: vec![zone("dmz"), zone("core")],
        lease: LEASE,
    }
}

fn job(run: &Run, word: &str, number: u64) -> Job {
    let body = format!("target {number}").into_bytes();
    Job { run: run.id.clone(), zone: zone(word), number, attempt: 0, body }
}

fn lease_all(queue: &mut dyn Queue, word: &str, wanted: usize) -> Vec<Lease> {
    let mut leases = Vec::new();
    wait_for(AT_MOST, || {
        leases.extend(queue.lease(&zone(word), 100, WAIT).expect("the queue is there"));
        (leases.len() >= wanted).then_some(())
    });
    assert_eq!(leases.len(), wanted, "{leases:?}");
    leases
}

fn answers(queue: &mut dyn Queue, run: &Run, wanted: usize) -> BTreeMap<u64, Answer> {
    let mut found = BTreeMap::new();
    wait_for(AT_MOST, || {
        for answer in queue.answers(&run.id, 100, WAIT).expect("the queue is there") {
            let number = answer.number;
            let before = found.insert(number, answer.clone());
            assert!(before.is_none_or(|before| before == answer), "two answers of {number}");
        }
        (found.len() >= wanted).then_some(())
    });
    // Whatever comes behind the last one would be too much.
    let more = queue.answers(&run.id, 100, WAIT).expect("the queue is there");
    assert!(found.len() == wanted && more.is_empty(), "{found:?} and {more:?}");
    found
}

fn handed_in(leases: Vec<Lease>, by: &str) -> Vec<(Lease, Vec<u8>)> {
    leases.into_iter().map(|lease| (lease, by.as_bytes().to_vec())).collect()
}

#[test]
fn an_answer_counts_once_whoever_brings_it() {
    with_both(|open| {
        let (mut publisher, mut slow, mut fast) = (open("publisher"), open("dmz"), open("dmz"));
        let run = run("once");
        publisher.open_run(&run).expect("it is ready");
        let jobs: Vec<Job> = (0..3).map(|number| job(&run, "dmz", number)).collect();
        publisher.publish(&jobs).expect("they are kept");
        publisher.publish(&jobs).expect("they are there already");
        assert_eq!(publisher.left(&run, &zone("dmz")).expect("it is there"), 3);
        assert_eq!(slow.settings(&run.id).expect("it is there"), Some(run.settings.clone()));
        let held = lease_all(slow.as_mut(), "dmz", 3);
        assert!(held.iter().all(|lease| lease.deliveries == 1 && jobs.contains(&lease.job)), "{held:?}");
        // The slow one says nothing: its leases expire, and another one is faster.
        let again = lease_all(fast.as_mut(), "dmz", 3);
        assert!(again.iter().all(|lease| lease.deliveries == 2), "{again:?}");
        fast.ack(handed_in(again, "fast")).expect("it is kept");
        slow.ack(handed_in(held, "slow")).expect("it is dropped");
        let found = answers(publisher.as_mut(), &run, 3);
        assert!(found.values().all(|answer| answer.outcome == Outcome::Done(b"fast".to_vec())), "{found:?}");
        assert!(fast.lease(&zone("dmz"), 9, WAIT).expect("it is there").is_empty());
        let left = wait_for(AT_MOST, || {
            publisher.left(&run, &zone("dmz")).is_ok_and(|left| left == 0).then_some(())
        });
        assert!(left.is_some(), "jobs are left");
    });
}

/// A broker sends a reply to any subject that a client asked for: what is no answer makes room for one.
#[test]
fn an_answer_that_was_retracted_makes_room_for_another() {
    with_both(|open| {
        let run = run("retracted");
        let (mut publisher, mut worker) = (open("publisher"), open("dmz"));
        publisher.open_run(&run).expect("a new run");
        publisher.publish(&[job(&run, "dmz", 0), job(&run, "dmz", 1)]).expect("kept");
        let leases = lease_all(&mut *worker, "dmz", 2);
        worker.ack(handed_in(leases, "nobody")).expect("handed in");
        let found = answers(&mut *publisher, &run, 2);
        publisher.retract(&run, &found[&1]).expect("it goes");
        publisher.publish(&[Job { attempt: 1, ..job(&run, "dmz", 1) }]).expect("kept");
        let leases = lease_all(&mut *worker, "dmz", 1);
        worker.ack(handed_in(leases, "somebody")).expect("handed in");
        let again = answers(&mut *publisher, &run, 1);
        assert!(again.keys().eq([&1]) && again[&1] != found[&1], "{again:?}");
        publisher.close_run(&run).expect("nothing is left");
    });
}

/// By an outsider: a scan of one server waited for 100,000 of another scan, or of one that had been killed, and ended without it.
#[test]
fn runs_get_their_jobs_in_turn() {
    with_both(|open| {
        let (mut publisher, mut worker) = (open("publisher"), open("dmz"));
        let (large, small) = (run("a-large"), run("b-small"));
        for (run, jobs) in [(&large, 60), (&small, 3)] {
            publisher.open_run(run).expect("it is ready");
            let jobs: Vec<Job> = (0..jobs).map(|number| job(run, "dmz", number)).collect();
            publisher.publish(&jobs).expect("they are kept");
        }
        let mut held = lease_of_size(worker.as_mut(), 10);
        let of_small = |held: &[Lease]| held.iter().filter(|lease| lease.job.run == small.id).count();
        assert_eq!((held.len(), of_small(&held)), (8, 3));
        // One at a time: also then.
        worker.nack(&held).expect("it is there");
        held = (0..12).flat_map(|_| lease_of_size(worker.as_mut(), 1)).collect();
        assert_eq!((held.len(), of_small(&held)), (12, 3));
        for run in [&large, &small] {
            publisher.close_run(run).expect("nothing is left");
        }
    });
}

fn lease_of_size(worker: &mut dyn Queue, jobs_max: usize) -> Vec<Lease> {
    wait_for(AT_MOST, || {
        let leases = worker.lease(&zone("dmz"), jobs_max, WAIT).expect("the queue is there");
        (!leases.is_empty()).then_some(leases)
    })
    .expect("a job")
}

#[test]
fn a_lease_that_is_renewed_does_not_expire_and_one_that_is_given_back_is_free_at_once() {
    with_both(|open| {
        let (mut publisher, mut worker, mut other) = (open("publisher"), open("dmz"), open("dmz"));
        let run = run("renewed");
        publisher.open_run(&run).expect("it is ready");
        publisher.publish(&[job(&run, "dmz", 0)]).expect("it is kept");
        let held = lease_all(worker.as_mut(), "dmz", 1);
        for _ in 0..8 {
            worker.extend(&held).expect("it is there");
            assert!(other.lease(&zone("dmz"), 1, LEASE / 4).expect("it is there").is_empty(), "it expired");
        }
        worker.nack(&held).expect("it is there");
        assert_eq!(lease_all(other.as_mut(), "dmz", 1)[0].deliveries, 2);
    });
}

#[test]
fn a_job_that_nobody_answers_is_dead_and_not_absent() {
    with_both(|open| {
        let (mut publisher, mut worker) = (open("publisher"), open("core"));
        let run = run("dead");
        publisher.open_run(&run).expect("it is ready");
        publisher.publish(&[job(&run, "core", 7)]).expect("it is kept");
        for delivery in 1..=DELIVERIES_MAX {
            let held = lease_all(worker.as_mut(), "core", 1);
            assert_eq!(held[0].deliveries, delivery);
            worker.nack(&held).expect("it is there");
        }
        assert!(
            worker.lease(&zone("core"), 1, WAIT).expect("it is there").is_empty(),
            "a dead one was handed out"
        );
        let found = answers(publisher.as_mut(), &run, 1);
        assert_eq!(found[&7].outcome, Outcome::Dead { deliveries: DELIVERIES_MAX });
        assert_eq!(found[&7].zone, zone("core"));
    });
}

#[test]
fn workers_get_jobs_of_their_zone_and_a_run_that_is_over_leaves_nothing() {
    with_both(|open| {
        let (mut publisher, mut dmz, mut core) = (open("publisher"), open("dmz"), open("core"));
        let (run, other) = (run("zones"), run("other"));
        for run in [&run, &other] {
            publisher.open_run(run).expect("it is ready");
            publisher.publish(&[job(run, "dmz", 0), job(run, "core", 1)]).expect("they are kept");
        }
        let of_dmz = lease_all(dmz.as_mut(), "dmz", 2);
        assert!(of_dmz.iter().all(|lease| lease.job.number == 0), "{of_dmz:?}");
        publisher.close_run(&run).expect("it is there");
        assert_eq!(dmz.settings(&run.id).expect("it is there"), None);
        // Handed in late: dropped without a word. The other run's counts.
        dmz.ack(handed_in(of_dmz, "late")).expect("it is dropped");
        let of_core = lease_all(core.as_mut(), "core", 1);
        assert_eq!(of_core[0].job.run, other.id);
        core.ack(handed_in(of_core, "core")).expect("it is kept");
        let found = answers(publisher.as_mut(), &other, 2);
        assert_eq!((&found[&0].zone, &found[&1].zone), (&zone("dmz"), &zone("core")));
        publisher.close_run(&other).expect("it is there");
    });
}

#[test]
fn a_worker_of_the_broker_has_the_rights_of_its_zone_and_no_others() {
    let dir = short_dir();
    let broker = Broker::start(dir.path(), &[("dmz", "dmz"), ("core", "core")]);
    let mut publisher = connect(&broker, "publisher");
    let run = run("rights");
    publisher.open_run(&run).expect("it is ready");
    publisher.publish(&[job(&run, "dmz", 0), job(&run, "core", 1)]).expect("they are kept");
    let refused = |what: &str, found: Result<(), QueueError>, part: &str| match found {
        Err(QueueError::Refused { why, .. }) => assert!(why.contains(part), "{what}: {why}"),
        other => panic!("{what} was not refused: {other:?}"),
    };
    // Each on a connection of its own: the first refusal ends a worker.
    let dmz = || connect(&broker, "dmz");
    refused("making a stream", dmz().open_run(&run), "$JS.API.STREAM");
    refused("publishing a job", dmz().publish(&[job(&run, "dmz", 9)]), "sealion.job.dmz");
    let mut worker = dmz();
    let stolen = worker.lease(&zone("core"), 1, WAIT).and_then(|got| {
        assert!(got.is_empty(), "a job of another zone: {got:?}");
        worker.lease(&zone("core"), 1, WAIT).map(drop)
    });
    refused("taking a job of another zone", stolen, "SEALION_JOBS_core");
    let of_core = lease_all(connect(&broker, "core").as_mut(), "core", 1);
    refused("answering for another zone", dmz().ack(handed_in(of_core, "forged")), "sealion.answer.core");
    let spy = NatsQueue::connect(broker.place("dmz", queue::rights::PUBLISHER));
    let read = spy.and_then(|mut spy| spy.settings(&run.id).map(drop));
    refused("reading the publisher's inbox", read, "Subscription");
    // And what it may do, it can.
    let mut worker = dmz();
    let held = lease_all(worker.as_mut(), "dmz", 1);
    worker.ack(handed_in(held, "mine")).expect("it is kept");
    assert_eq!(answers(publisher.as_mut(), &run, 1).keys().copied().collect::<Vec<_>>(), [0]);
}

/// By an outsider with one worker's key: the broker sent its reply to the settings of the scan, and every worker ended.
#[test]
fn a_reply_that_a_worker_sends_elsewhere_is_no_answer_and_changes_no_settings() {
    let dir = short_dir();
    let broker = Broker::start(dir.path(), &[("dmz", "dmz"), ("core", "core")]);
    let (mut publisher, mut worker) = (connect(&broker, "publisher"), connect(&broker, "core"));
    let run = run("replies");
    publisher.open_run(&run).expect("a new run");
    publisher.publish(&[job(&run, "core", 0), job(&run, "core", 2), job(&run, "dmz", 1)]).expect("kept");
    let id = &run.id;
    broker
        .publish_raw("dmz", &format!("sealion.answer.dmz.{id}.1"), &format!("sealion.run.{id}"), "mine")
        .expect("it may answer");
    let settings = format!("$JS.API.DIRECT.GET.SEALION_RUNS.sealion.run.{id}");
    broker.publish_raw("dmz", &settings, &format!("sealion.answer.core.{id}.0"), "").expect("it may read");
    // A refusal, as an answer and in another zone's queue.
    let next = &format!("$JS.API.CONSUMER.MSG.NEXT.SEALION_JOBS_dmz.{id}");
    for reply in [format!("sealion.answer.core.{id}.2"), format!("sealion.job.core.{id}")] {
        broker.publish_raw("dmz", next, &reply, "{").expect("it may ask");
    }
    assert_eq!(worker.settings(id).expect("it answers").as_ref(), Some(&run.settings));
    let found = answers(&mut *publisher, &run, 3);
    assert_eq!(found[&0].outcome, Outcome::Done(run.settings.clone()), "what the broker has sent");
    for number in [0, 2] {
        publisher.retract(&run, &found[&number]).expect("it goes");
        publisher.publish(&[Job { attempt: 1, ..job(&run, "core", number) }]).expect("kept");
    }
    let leases = lease_all(&mut *worker, "core", 4);
    worker.ack(handed_in(leases, "core")).expect("handed in");
    let again = answers(&mut *publisher, &run, 2);
    assert!(again.values().all(|one| one.outcome == Outcome::Done(b"core".to_vec())), "{again:?}");
    let dropped =
        wait_for(AT_MOST, || (publisher.left(&run, &zone("core")).expect("it answers") == 0).then_some(()));
    assert!(dropped.is_some(), "what is no job waits for ever");
    assert_eq!(publisher.left(&run, &zone("dmz")).expect("it answers"), 1);
    publisher.close_run(&run).expect("nothing is left");
}

/// By somebody who cleans up at the broker.
#[test]
fn what_was_removed_at_the_broker_while_a_run_goes_on_is_made_again_or_told() {
    let dir = short_dir();
    let broker = Broker::start(dir.path(), &[("dmz", "dmz"), ("core", "core")]);
    let (mut publisher, mut worker) = (connect(&broker, "publisher"), connect(&broker, "core"));
    let run = run("cleaned");
    publisher.open_run(&run).expect("a new run");
    publisher.publish(&[job(&run, "core", 0)]).expect("kept");
    let remove =
        |what: &str| broker.publish_raw("publisher", &format!("$JS.API.{what}"), "r", "").expect("it may");
    remove(&format!("CONSUMER.DELETE.SEALION_JOBS_core.{}", run.id));
    assert!(worker.lease(&zone("core"), 1, WAIT).expect("it is there").is_empty());
    assert_eq!(publisher.left(&run, &zone("core")).expect("it answers"), 1);
    lease_all(&mut *worker, "core", 1);
    remove(&format!("STREAM.DELETE.SEALION_ANSWERS_{}", run.id));
    let error = wait_for(AT_MOST, || publisher.left(&run, &zone("core")).err()).expect("it is told");
    let said = format!("{error}\n{}", error.next_step());
    assert!(said.contains("stream not found") && said.contains("--resume"), "{said}");
}

/// A machine that is moved, or a disk that is slow: no request is answered for a while, and the connection stays.
#[test]
fn a_broker_that_hangs_for_a_moment_is_waited_for() {
    let dir = short_dir();
    let broker = Broker::start(dir.path(), &[("dmz", "dmz"), ("core", "core")]);
    let mut publisher = connect(&broker, "publisher");
    let run = run("hangs");
    publisher.open_run(&run).expect("a new run");
    publisher.publish(&[job(&run, "core", 0)]).expect("kept");
    let pid = broker.pid().expect("it runs");
    end(pid, Signal::SIGSTOP);
    let goes_on = std::thread::spawn(move || {
        // Longer than an answer is waited for.
        std::thread::sleep(Duration::from_secs(7));
        end(pid, Signal::SIGCONT);
    });
    assert_eq!(publisher.left(&run, &zone("core")).expect("it goes on"), 1);
    goes_on.join().expect("no panic");
    publisher.close_run(&run).expect("nothing is left");
}

/// nats-server removes what an acknowledgement names, whoever holds it: by an outsider with a worker's key.
#[test]
fn a_worker_removes_no_job_of_another_zone_with_an_acknowledgement() {
    let dir = short_dir();
    let broker = Broker::start(dir.path(), &[("dmz", "dmz"), ("core", "core")]);
    let (mut publisher, mut worker) = (connect(&broker, "publisher"), connect(&broker, "core"));
    let run = run("removed");
    publisher.open_run(&run).expect("a new run");
    publisher.publish(&[job(&run, "core", 0), job(&run, "dmz", 1)]).expect("kept");
    let held = lease_all(&mut *worker, "core", 1);
    let id = &run.id;
    let of_zones = |word: &str| format!("$JS.ACK.SEALION_JOBS_{word}.{id}");
    // In its own stream there is no such job.
    broker.publish_raw("dmz", &format!("{}.1.2.1.0.0", of_zones("dmz")), "r", "+ACK").expect("its own");
    // The second has its own stream where the count of deliveries stands, and elsewhere that of the longer form.
    for count in ["1", "SEALION_JOBS_dmz"] {
        let subject = format!("{}.{count}.1.1.0.0", of_zones("core"));
        let said = broker.publish_raw("dmz", &subject, "r", "+ACK").expect_err("not its own");
        assert!(said.contains("Permissions Violation"), "{said}");
    }
    // Nor by a reply without a body, which would be one.
    let next = format!("$JS.API.CONSUMER.MSG.NEXT.SEALION_JOBS_dmz.{id}");
    let reply = format!("{}.1.1.1.0.0", of_zones("core"));
    let said =
        broker.publish_raw("dmz", &next, &reply, "{\"batch\":1,\"no_wait\":true}").expect_err("not its own");
    assert!(said.contains("Permissions Violation"), "{said}");
    for zone in &run.zones {
        assert_eq!(publisher.left(&run, zone).expect("it answers"), 1, "{zone}");
    }
    worker.ack(handed_in(held, "core")).expect("handed in");
    publisher.close_run(&run).expect("nothing is left");
}

/// As `nsc` and the clouds that sell NATS hand them out.
#[test]
fn users_with_a_credentials_file_have_the_same_rights() {
    let dir = short_dir();
    let broker = Broker::start_of_operator(dir.path(), &[("dmz", "dmz"), ("core", "core")]);
    let mut publisher = connect(&broker, "publisher");
    let run = run("credentials");
    publisher.open_run(&run).expect("it is ready");
    publisher.publish(&[job(&run, "dmz", 0), job(&run, "core", 1)]).expect("they are kept");
    let of_core = lease_all(connect(&broker, "core").as_mut(), "core", 1);
    match connect(&broker, "dmz").ack(handed_in(of_core, "forged")) {
        Err(QueueError::Refused { why, .. }) => assert!(why.contains("sealion.answer.core"), "{why}"),
        other => panic!("answering for another zone was not refused: {other:?}"),
    }
    let mut worker = connect(&broker, "dmz");
    let held = lease_all(worker.as_mut(), "dmz", 1);
    worker.ack(handed_in(held, "mine")).expect("it is kept");
    assert_eq!(answers(publisher.as_mut(), &run, 1).keys().copied().collect::<Vec<_>>(), [0]);
    // Signed by nobody that the broker knows, or cut.
    let whole = std::fs::read_to_string(broker.login("dmz")).expect("its login");
    let elsewhere = short_dir();
    let stranger = Broker::start_of_operator(elsewhere.path(), &[("dmz", "dmz")]);
    std::fs::copy(stranger.login("dmz"), broker.login("dmz")).expect("it is ours");
    for (text, part) in [
        (None, "it does not know this login"),
        (Some(&whole[..whole.len() / 2]), "not a whole credentials file"),
    ] {
        if let Some(text) = text {
            std::fs::write(broker.login("dmz"), text).expect("it is ours");
        }
        let Err(error) = NatsQueue::connect(broker.place("dmz", "dmz")) else { panic!("{part}: connected") };
        let said = format!("{error}\n{}", error.next_step());
        assert!(said.contains(part) && !said.contains("eyJ"), "{said}");
    }
}

#[test]
fn a_broker_is_not_trusted_without_its_ca_and_trusts_nobody_without_a_key() {
    let dir = short_dir();
    let broker = Broker::start(dir.path(), &[("dmz", "dmz")]);
    let check = |place: queue::nats::NatsPlace, part: &str| match NatsQueue::connect(place) {
        Ok(_) => panic!("connected, where it should say: {part}"),
        Err(error) => {
            let text = format!("{error}\n{}", error.next_step());
            assert!(text.contains(part), "{text}");
        }
    };
    let good = broker.place("dmz", "dmz");
    check(queue::nats::NatsPlace { ca: None, ..good.clone() }, "--nats-ca FILE");
    check(queue::nats::NatsPlace { login: None, ..good.clone() }, "it does not know this login");
    check(queue::nats::NatsPlace { login: Some(broker.ca()), ..good.clone() }, "neither a JWT nor the seed");
    let open = dir.path().join("open.nk");
    std::fs::copy(broker.login("dmz"), &open).expect("a file of ours");
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("it is ours");
    check(queue::nats::NatsPlace { login: Some(open), ..good.clone() }, "others may read it");
    check(
        queue::nats::NatsPlace { url: "nats://a:secret@127.0.0.1".into(), ..good.clone() },
        "--nats-login FILE",
    );
    assert!(NatsQueue::connect(good).is_ok() && Path::new(&broker.ca()).is_file());
}
