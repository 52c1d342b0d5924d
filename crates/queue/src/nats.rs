//! The queue of several machines: JetStream of a NATS server, 2.10 or newer.
//!
//! | stream | has | goes |
//! | --- | --- | --- |
//! | `SEALION_JOBS_ZONE` | `sealion.job.ZONE.RUN`, a work queue with a consumer for each run, called as the run | when a job is acknowledged |
//! | `SEALION_RUNS` | `sealion.run.RUN`, the settings, for a direct get | with its run |
//! | `SEALION_ANSWERS_RUN` | `sealion.answer.ZONE.RUN.NUMBER`, one message a subject | with its run |
//!
//! The subject of an answer is its message id: the stream refuses a second message of a subject, at any time. The header
//! `Nats-Msg-Id` would do so for a while only, and a worker of one zone could block answers of another one with it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy};
use async_nats::jetstream::{self, Context};
use async_nats::{
    Client, ConnectErrorKind, ConnectOptions, Event, HeaderMap, Message, Request, RequestErrorKind,
    ServerAddr, ServerError, StatusCode, Subscriber,
};
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use secrecy::{ExposeSecret, SecretString};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::{sleep, timeout, timeout_at};

use crate::rights::{ANSWERS, JOBS, RUNS, inbox};
use crate::turn::{Turn, share};
use crate::{Answer, DELIVERIES_MAX, Job, KEPT, Lease, Outcome, Queue, QueueError, Run, RunId, Zone};

/// Older ones answer some of what is asked in another way, and get no fixes of security any more.
const VERSION_MIN: (u64, u64) = (2, 10);
/// A broker that is there answers within milliseconds.
const REQUEST_WAIT: Duration = Duration::from_secs(5);
const CONNECT_WAIT: Duration = Duration::from_secs(10);
/// Between two tries while the broker is away.
const RETRY_PAUSE: Duration = Duration::from_millis(250);
/// Messages on their way at once: more do not make it faster.
const IN_FLIGHT: usize = 512;
/// So long a job is known by its id, for one that is published again when the broker came back.
const DUPLICATES_KNOWN: Duration = Duration::from_secs(15 * 60);
/// Jobs of a run that all workers of a zone hold together.
const HELD_MAX: i64 = 1_000_000;
/// Answers that were handed over and not confirmed come again after this.
const ANSWER_WAIT: Duration = Duration::from_secs(30);
/// The consumer of a stream of answers.
const GATHER: &str = "gather";
const MESSAGE_ID: &str = "Nats-Msg-Id";
/// A header of an answer: nobody answered.
const DEAD: &str = "Sealion-Dead";
/// What the broker calls a second message of a subject.
const SUBJECT_IS_TAKEN: u64 = 10077;
/// JetStream is still starting.
const UNAVAILABLE: u64 = 503;
/// Between two looks for jobs where none wait.
const POLL: Duration = Duration::from_millis(100);
/// So long the runs of a zone are known.
const RUNS_KNOWN: Duration = Duration::from_secs(1);
const LOGIN_BYTES_MAX: u64 = 64 * 1024;

/// Who is told that the broker is away, or back.
pub type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// How to reach a broker.
#[derive(Clone)]
pub struct NatsPlace {
    /// `nats://HOST:PORT`, or several with commas.
    pub url: String,
    /// The CA of its certificate; the system's ones if there is none.
    pub ca: Option<PathBuf>,
    /// A credentials file, or one with the seed of an nkey.
    pub login: Option<PathBuf>,
    /// Of the inbox: other clients may not read it.
    pub name: String,
    /// A broker that is away so long does not come back.
    pub wait_max: Duration,
    pub listener: Listener,
}

/// A connection to a broker.
pub struct NatsQueue {
    runtime: Runtime,
    link: Link,
    turn: Turn,
    runs: Option<Runs>,
}

/// Runs that a zone had when it was asked for them.
struct Runs {
    zone: Zone,
    asked_at: Instant,
    ids: Vec<RunId>,
}

struct Link {
    client: Client,
    context: Context,
    place: NatsPlace,
    /// Until the end: it says good-bye from within the runtime.
    pulls: Option<Subscriber>,
    pull_inbox: String,
    pulls_begun: u64,
    signs: watch::Receiver<Signs>,
}

/// What the connection says beside answers.
#[derive(Debug, Clone, Default)]
struct Signs {
    down_since: Option<Instant>,
    /// The last right that was missing, in the broker's words.
    refusal: Option<String>,
}

/// Why a request has no answer.
enum Fault {
    /// The broker is away, or not ready.
    Away(String),
    /// It is there, and nothing of it has this subject.
    Nobody,
    Refused(String),
    TooLong,
}

impl NatsQueue {
    /// Connects, and looks whether the broker is one that can be used.
    ///
    /// # Errors
    /// What is wrong with the place, the login, the certificate or the broker.
    pub fn connect(place: NatsPlace) -> Result<Self, QueueError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_all()
            .build()
            .map_err(|error| unreachable_at(&place.url, format!("no thread for it: {error}")))?;
        let link = runtime.block_on(Link::open(place))?;
        Ok(Self { runtime, link, turn: Turn::default(), runs: None })
    }
}

#[allow(clippy::needless_pass_by_value)] // Errors and texts that the callers are done with.
fn unreachable_at(url: &str, why: impl ToString) -> QueueError {
    QueueError::Unreachable {
        place: url.to_owned(),
        why: why.to_string(),
        next: "check that nats-server runs there with JetStream and TLS, and the options --nats-ca and --nats-login".into(),
    }
}

#[allow(clippy::needless_pass_by_value)] // Errors and texts that the callers are done with.
fn usage(what: impl ToString, why: impl ToString, next: &str) -> QueueError {
    QueueError::Usage { what: what.to_string(), why: why.to_string(), next: next.into() }
}

fn addresses(url: &str) -> Result<Vec<ServerAddr>, QueueError> {
    url.split(',')
        .map(|one| {
            let address: ServerAddr = one.trim().parse().map_err(|error: std::io::Error| {
                usage(
                    format!("\"{}\" is not a broker", one.escape_default()),
                    error,
                    "write nats://HOST:PORT",
                )
            })?;
            if address.username().is_some() || address.password().is_some() {
                // Neither is shown: it may be the secret.
                return Err(usage(
                    "the address of a broker may not contain a user or a password",
                    "everybody on this machine can read the arguments of a program",
                    "put a credentials file or an nkey into a file: --nats-login FILE",
                ));
            }
            Ok(address)
        })
        .collect()
}

/// What is between here and there nobody else reads.
fn is_here(address: &ServerAddr) -> bool {
    let host = address.host().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// A credentials file or an nkey's seed.
fn login(path: &Path) -> Result<ConnectOptions, QueueError> {
    use std::io::Read as _;
    use std::os::unix::fs::MetadataExt as _;
    let refuse = |why: String| {
        usage(
            format!("cannot use the login file {}", path.display()),
            why,
            "use a credentials file (.creds) or a file with the seed of an nkey (SU…), with mode 0600",
        )
    };
    let file = std::fs::File::open(path).map_err(|error| refuse(error.to_string()))?;
    let mode = file.metadata().map_err(|error| refuse(error.to_string()))?.mode();
    if mode & 0o077 != 0 {
        return Err(refuse(format!("others may read it (mode {:o})", mode & 0o777)));
    }
    let mut text = String::new();
    file.take(LOGIN_BYTES_MAX).read_to_string(&mut text).map_err(|error| refuse(error.to_string()))?;
    let text = SecretString::from(text);
    if text.expose_secret().contains("-----BEGIN NATS USER JWT-----") {
        // What is wrong with it is not repeated: it may quote it.
        return ConnectOptions::with_credentials(text.expose_secret())
            .map_err(|_| refuse("it is not a whole credentials file".into()));
    }
    let seed = text.expose_secret().lines().map(str::trim).find(|line| line.starts_with("SU"));
    let seed = seed.ok_or_else(|| refuse("it has neither a JWT nor the seed of a user's nkey".into()))?;
    Ok(ConnectOptions::with_nkey(seed.to_owned()))
}

impl Link {
    async fn open(place: NatsPlace) -> Result<Self, QueueError> {
        let addresses = addresses(&place.url)?;
        let mut options = match &place.login {
            Some(path) => login(path)?,
            None => ConnectOptions::new(),
        };
        if let Some(ca) = &place.ca {
            options = options.add_root_certificates(ca.clone());
        }
        let (say, signs) = watch::channel(Signs::default());
        let heard = Arc::new(Mutex::new(say));
        let listener = Arc::clone(&place.listener);
        let url = place.url.clone();
        let wait_s = place.wait_max.as_secs();
        let client = options
            .name(format!("sealion {}", place.name))
            // A CA that is named is one that is to be asked for.
            .require_tls(place.ca.is_some() || !addresses.iter().all(is_here))
            // A broker names others of its cluster: nobody has said that those are on this machine.
            .ignore_discovered_servers()
            .custom_inbox_prefix(inbox(&place.name))
            .connection_timeout(CONNECT_WAIT)
            .request_timeout(Some(REQUEST_WAIT))
            .ping_interval(Duration::from_secs(10))
            .reconnect_delay_callback(|_| RETRY_PAUSE)
            .event_callback(move |event| {
                let said = note(&heard.lock().unwrap_or_else(PoisonError::into_inner), &event);
                match said {
                    Some(Change::Lost) => listener(&format!(
                        "the connection to {url} is lost; waiting for it, {wait_s} s at most"
                    )),
                    Some(Change::Back) => listener(&format!("connected to {url} again")),
                    None => {}
                }
                std::future::ready(())
            })
            .connect(addresses)
            .await
            .map_err(|error| cannot_connect(&place.url, &error))?;
        let info = client.server_info();
        check_version(&place.url, &info.version)?;
        if !info.jetstream {
            return Err(QueueError::Unsupported {
                place: place.url.clone(),
                why: "its JetStream is not enabled".into(),
                next: "add a jetstream block with a store_dir to its configuration".into(),
            });
        }
        // Two workers may have the same name, and must not read each other's jobs.
        let pull_inbox = client.new_inbox();
        let pulls = client
            .subscribe(format!("{pull_inbox}.*"))
            .await
            .map_err(|error| unreachable_at(&place.url, error))?;
        let context = jetstream::new(client.clone());
        Ok(Self { client, context, place, pulls: Some(pulls), pull_inbox, pulls_begun: 0, signs })
    }

    fn refused(&self, why: &str) -> QueueError {
        QueueError::Refused {
            place: self.place.url.clone(),
            why: why.to_owned(),
            next: "give this user the permissions that `sealion scan worker --print-permissions` prints"
                .into(),
        }
    }

    fn broken(&self, why: impl ToString) -> QueueError {
        unreachable_at(&self.place.url, why)
    }

    /// One request, answered or not within [`REQUEST_WAIT`]. A missing right is known at once: the broker says so beside.
    async fn request(
        &self,
        subject: &str,
        headers: Option<HeaderMap>,
        body: Vec<u8>,
    ) -> Result<Message, Fault> {
        let mut request = Request::new().payload(body.into());
        if let Some(headers) = headers {
            request = request.headers(headers);
        }
        let mut signs = self.signs.clone();
        let quoted = format!("\"{subject}\"");
        let concerns = |signs: &Signs| {
            let text = signs.refusal.as_deref()?;
            (text.contains(&quoted) || text.contains("Subscription")).then(|| text.to_owned())
        };
        tokio::select! {
            // Its own limit begins when it has been sent, and nothing is sent while the broker is away.
            answer = timeout(REQUEST_WAIT * 2, self.client.send_request(subject.to_owned(), request)) => match answer {
                Ok(answer) => answer.map_err(|error| match error.kind() {
                    RequestErrorKind::NoResponders => Fault::Nobody,
                    RequestErrorKind::MaxPayloadExceeded => Fault::TooLong,
                    _ => Fault::Away(error.to_string()),
                }),
                Err(_) => Err(Fault::Away("it could not be sent".into())),
            },
            Ok(signs) = signs.wait_for(|signs| concerns(signs).is_some()) => {
                Err(Fault::Refused(concerns(&signs).unwrap_or_default()))
            }
        }
    }

    /// Publishes all of these into streams, and returns when each is kept. An answer of a run that is over is kept by nobody, which is
    /// as good.
    async fn keep(&self, mut messages: Vec<(String, Option<HeaderMap>, Vec<u8>)>) -> Result<(), QueueError> {
        let mut since = Instant::now();
        while !messages.is_empty() {
            let mut again = Vec::new();
            let before = messages.len();
            let mut why_last = String::new();
            for part in messages.chunks(IN_FLIGHT) {
                let requests = part.iter().map(|(subject, headers, body)| async move {
                    self.request(subject, headers.clone(), body.clone()).await
                });
                for (message, answer) in part.iter().zip(join_all(requests).await) {
                    match answer.and_then(|answer| kept(&answer)) {
                        Ok(()) => {}
                        Err(Fault::Nobody) => {
                            if !self.is_over(&message.0).await {
                                why_last = format!("no stream has {}", message.0);
                                again.push(message.clone());
                            }
                        }
                        Err(Fault::Away(why)) => {
                            why_last = why;
                            again.push(message.clone());
                        }
                        Err(Fault::Refused(why)) => return Err(self.refused(&why)),
                        Err(Fault::TooLong) => {
                            return Err(usage(
                                format!("a message for {} is too long", message.0),
                                format!("it has {} bytes", message.2.len()),
                                "raise max_payload in the configuration of nats-server",
                            ));
                        }
                    }
                }
            }
            if again.len() < before {
                since = Instant::now();
            } else if since.elapsed() > self.place.wait_max {
                return Err(
                    self.broken(format!("no answer for {} s ({why_last})", self.place.wait_max.as_secs()))
                );
            }
            messages = again;
            if !messages.is_empty() {
                sleep(RETRY_PAUSE).await;
            }
        }
        Ok(())
    }

    /// Whether the run of this answer is over. A broker that is still starting has no stream for it either, and says of no run
    /// that it is none.
    async fn is_over(&self, subject: &str) -> bool {
        let mut parts = subject.split('.').skip(1);
        let (Some("answer"), Some(run)) = (parts.next(), parts.nth(1)) else { return false };
        self.has_no_settings(run).await
    }

    /// Whether the broker says that it has none of this run; not where it says nothing.
    async fn has_no_settings(&self, run: &str) -> bool {
        let found = self.request(&settings_subject(run), None, vec![]).await;
        found.is_ok_and(|message| message.status == Some(StatusCode::NOT_FOUND))
    }

    /// Does something through the API until it succeeds, or the broker is away too long.
    async fn insist<T, E: ToString, F: Future<Output = Result<T, E>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> Result<T, QueueError> {
        let began = Instant::now();
        let mut signs = self.signs.clone();
        loop {
            let is_refused = |signs: &Signs| signs.refusal.is_some();
            let asked_at = Instant::now();
            let failed = tokio::select! {
                done = attempt() => match done {
                    Ok(value) => return Ok(value),
                    Err(error) => error.to_string(),
                },
                Ok(signs) = signs.wait_for(is_refused) => {
                    return Err(self.refused(signs.refusal.as_deref().unwrap_or_default()));
                }
            };
            // One that hung has not refused it, though it answers again.
            let was_away = self.signs.borrow().down_since.is_some() || asked_at.elapsed() >= REQUEST_WAIT;
            let is_away = was_away || !self.answers().await;
            if !is_away {
                return Err(QueueError::Unreachable {
                    place: self.place.url.clone(),
                    why: failed,
                    next: "look into the log of nats-server: somebody may have removed what this scan needs there. What is in a result file, --resume completes".into(),
                });
            }
            if began.elapsed() > self.place.wait_max {
                return Err(self.broken(failed));
            }
            sleep(RETRY_PAUSE).await;
        }
    }

    /// Whether the broker says anything.
    async fn answers(&self) -> bool {
        timeout(REQUEST_WAIT, self.client.flush()).await.is_ok_and(|flushed| flushed.is_ok())
    }

    fn check_signs(&self) -> Result<(), QueueError> {
        let signs = self.signs.borrow().clone();
        if let Some(why) = &signs.refusal {
            return Err(self.refused(why));
        }
        if signs.down_since.is_some_and(|since| since.elapsed() > self.place.wait_max) {
            return Err(self.broken(format!("it was away for {} s", self.place.wait_max.as_secs())));
        }
        Ok(())
    }

    /// Messages of a consumer: at most so many, and no longer than `wait` for them. Where that is none, what is there now.
    async fn pull(
        &mut self,
        stream: &str,
        consumer: &str,
        messages_max: usize,
        wait: Duration,
    ) -> Result<Vec<Message>, QueueError> {
        self.check_signs()?;
        self.pulls_begun += 1;
        let reply = format!("{}.{}", self.pull_inbox, self.pulls_begun);
        let body = match wait {
            Duration::ZERO => serde_json::json!({"batch": messages_max, "no_wait": true}),
            wait => serde_json::json!({"batch": messages_max, "expires": wait.as_nanos()}),
        };
        let body = body.to_string();
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}");
        let ends_at = tokio::time::Instant::now() + wait + Duration::from_secs(1);
        let asked = self.client.publish_with_reply(subject, reply.clone(), body.into());
        if !matches!(timeout_at(ends_at, asked).await, Ok(Ok(()))) {
            return Ok(vec![]);
        }
        let mut found = Vec::new();
        let Some(pulls) = self.pulls.as_mut() else { return Ok(found) };
        while found.len() < messages_max {
            match timeout_at(ends_at, pulls.next()).await {
                Ok(Some(message)) if message.subject.as_str() == reply => {
                    // Nobody has made the consumer yet: a worker may be the first to come.
                    if message.status == Some(StatusCode::NO_RESPONDERS) {
                        sleep(wait).await;
                    }
                    break;
                }
                // The end of an earlier pull. One that is in the stream itself, at somebody's wish, is to be dealt with.
                Ok(Some(message)) if is_status(&message) && !is_of_stream(&message) => {}
                Ok(Some(message)) => found.push(message),
                Ok(None) => return Err(unreachable_at(&self.place.url, "the connection was closed")),
                Err(_) => break,
            }
        }
        Ok(found)
    }

    /// Jobs of a zone that wait now, at most so many.
    async fn jobs_in_turn(
        &mut self,
        zone: &Zone,
        jobs_max: usize,
        turn: &mut Turn,
        known: &mut Option<Runs>,
    ) -> Result<Vec<Message>, QueueError> {
        self.check_signs()?;
        let is_new = |runs: &&Runs| runs.zone == *zone && runs.asked_at.elapsed() < RUNS_KNOWN;
        let ids = if let Some(known) = known.as_ref().filter(is_new) {
            known.ids.clone()
        } else {
            let asked = timeout(RUNS_KNOWN, self.runs(zone)).await;
            let ids = asked.unwrap_or_else(|_| Ok(vec![]))?;
            *known = Some(Runs { zone: zone.clone(), asked_at: Instant::now(), ids: ids.clone() });
            ids
        };
        let runs = turn.next(ids);
        let jobs = jobs_name(zone);
        let mut found = Vec::new();
        for (number, run) in runs.iter().enumerate() {
            let most = share(jobs_max.saturating_sub(found.len()), runs.len() - number);
            // What is not answered while the broker is away is waited for once, and not for each run.
            if most > 0 && self.signs.borrow().down_since.is_none() {
                found.extend(self.pull(&jobs, run.as_str(), most, Duration::ZERO).await?);
                turn.asked(run);
            }
        }
        // A run that has just come is not waited for where nothing else is to be done.
        if found.is_empty() {
            *known = None;
        }
        Ok(found)
    }

    /// The runs that have jobs in a zone, or had: its consumers have their names, and the broker tells 1,024 at most. None where nobody has
    /// published yet.
    async fn runs(&self, zone: &Zone) -> Result<Vec<RunId>, QueueError> {
        let subject = format!("$JS.API.CONSUMER.NAMES.{}", jobs_name(zone));
        let answer = match self.request(&subject, None, vec![]).await {
            Ok(answer) => answer,
            Err(Fault::Refused(why)) => return Err(self.refused(&why)),
            Err(Fault::Away(_) | Fault::Nobody | Fault::TooLong) => return Ok(vec![]),
        };
        let said: serde_json::Value = serde_json::from_slice(&answer.payload).unwrap_or_default();
        let names = said.get("consumers").and_then(serde_json::Value::as_array);
        let words = names.into_iter().flatten().filter_map(serde_json::Value::as_str);
        Ok(words.filter_map(|word| RunId::parse(word).ok()).collect())
    }

    /// Removes what is left of runs whose settings went: of publishers that were killed.
    async fn remove_old(&self, zone: &Zone) -> Result<(), QueueError> {
        let jobs = &jobs_name(zone);
        for run in self.runs(zone).await? {
            if self.has_no_settings(run.as_str()).await {
                self.remove_consumer(jobs, &run).await?;
            }
        }
        Ok(())
    }

    async fn remove_consumer(&self, stream: &str, run: &RunId) -> Result<(), QueueError> {
        let subject = format!("$JS.API.CONSUMER.DELETE.{stream}.{run}");
        // One that is not there is as good; one that stays goes the next time.
        match self.request(&subject, None, vec![]).await {
            Err(Fault::Refused(why)) => Err(self.refused(&why)),
            _ => Ok(()),
        }
    }

    async fn say(&self, leases: &[Lease], word: &'static str) -> Result<(), QueueError> {
        let all = async {
            for lease in leases {
                let said = self.client.publish(lease.token.clone(), word.into());
                said.await.map_err(|error| self.broken(error))?;
            }
            Ok(())
        };
        // What is not said while the broker is away is made good by the next delivery.
        timeout(REQUEST_WAIT, all).await.unwrap_or(Ok(()))
    }

    /// What is no job would wait for ever.
    async fn drop_job(&self, message: &Message) {
        if let Some(reply) = message.reply.clone() {
            let _ = timeout(REQUEST_WAIT, self.client.publish(reply, "+TERM".into())).await;
        }
    }

    async fn flush(&self) {
        // What does not arrive is made good by the next delivery.
        let _ = timeout(REQUEST_WAIT, self.client.flush()).await;
    }
}

enum Change {
    Lost,
    Back,
}

fn note(signs: &watch::Sender<Signs>, event: &Event) -> Option<Change> {
    let mut change = None;
    signs.send_modify(|signs| match event {
        Event::Disconnected if signs.down_since.is_none() => {
            signs.down_since = Some(Instant::now());
            change = Some(Change::Lost);
        }
        Event::Connected => change = signs.down_since.take().map(|_| Change::Back),
        Event::ServerError(ServerError::Other(text)) if text.to_ascii_lowercase().contains("permissions") => {
            signs.refusal = Some(text.clone());
        }
        _ => {}
    });
    change
}

fn cannot_connect(url: &str, error: &async_nats::ConnectError) -> QueueError {
    let why = with_sources(error);
    let kind = error.kind();
    match kind {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => QueueError::Refused {
            place: url.to_owned(),
            why: "it does not know this login".into(),
            next: "name a credentials file, or one with an nkey that it knows: --nats-login FILE".into(),
        },
        // What is wrong with a certificate comes as an error of reading.
        _ if kind == ConnectErrorKind::Tls || why.contains("certificate") => QueueError::Unreachable {
            place: url.to_owned(),
            why,
            next: "name the CA of its certificate: --nats-ca FILE; the certificate must have the name in the address".into(),
        },
        _ => unreachable_at(url, why),
    }
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

fn check_version(url: &str, version: &str) -> Result<(), QueueError> {
    let mut numbers = version.split(['.', '-']).map(|part| part.parse::<u64>().ok());
    let found = numbers.next().flatten().zip(numbers.next().flatten());
    if found.is_some_and(|found| found >= VERSION_MIN) {
        return Ok(());
    }
    Err(QueueError::Unsupported {
        place: url.to_owned(),
        why: format!("its version is \"{}\"", version.escape_default()),
        next: format!("run nats-server {}.{} or newer", VERSION_MIN.0, VERSION_MIN.1),
    })
}

/// Whether a stream has kept a message, now or before.
fn kept(answer: &Message) -> Result<(), Fault> {
    let said: serde_json::Value = serde_json::from_slice(&answer.payload)
        .map_err(|error| Fault::Away(format!("the broker's answer is none: {error}")))?;
    let Some(error) = said.get("error") else { return Ok(()) };
    let number = |name: &str| error.get(name).and_then(serde_json::Value::as_u64);
    let text = error.get("description").and_then(serde_json::Value::as_str).unwrap_or("no reason");
    match (number("err_code"), number("code")) {
        (Some(SUBJECT_IS_TAKEN), _) => Ok(()),
        (_, Some(UNAVAILABLE)) => Err(Fault::Away(text.to_owned())),
        // No space, perhaps: somebody may make some.
        _ => Err(Fault::Away(text.to_owned())),
    }
}

/// Where the settings of a run are asked for.
fn settings_subject(run: &str) -> String {
    format!("$JS.API.DIRECT.GET.{RUNS}.sealion.run.{run}")
}

fn jobs_name(zone: &Zone) -> String {
    format!("{JOBS}{zone}")
}

fn jobs_config(zone: &Zone) -> stream::Config {
    stream::Config {
        name: jobs_name(zone),
        description: Some("sealion: targets that wait for a worker".into()),
        subjects: vec![format!("sealion.job.{zone}.*")],
        retention: RetentionPolicy::WorkQueue,
        discard: DiscardPolicy::New,
        duplicate_window: DUPLICATES_KNOWN,
        max_age: KEPT,
        ..stream::Config::default()
    }
}

/// A stream of an earlier version, or one that an administrator made, is his but for that.
async fn keep_what_is_there(context: &Context) -> Result<(), String> {
    let stream = context.get_or_create_stream(runs_config()).await.map_err(|error| error.to_string())?;
    let found = &stream.cached_info().config;
    if found.discard == DiscardPolicy::New && found.discard_new_per_subject {
        return Ok(());
    }
    let config =
        stream::Config { discard: DiscardPolicy::New, discard_new_per_subject: true, ..found.clone() };
    context.update_stream(config).await.map(drop).map_err(|error| error.to_string())
}

fn runs_config() -> stream::Config {
    stream::Config {
        name: RUNS.into(),
        description: Some("sealion: what holds for a whole scan".into()),
        subjects: vec!["sealion.run.*".into()],
        max_messages_per_subject: 1,
        // A broker sends replies to whatever subject was asked for, without asking for rights: what is there is not replaced.
        discard: DiscardPolicy::New,
        discard_new_per_subject: true,
        allow_direct: true,
        max_age: KEPT,
        ..stream::Config::default()
    }
}

/// What workers of a zone ask for jobs of a run.
fn workers_config(run: &Run, zone: &Zone) -> pull::Config {
    pull::Config {
        durable_name: Some(run.id.to_string()),
        filter_subject: format!("sealion.job.{zone}.{}", run.id),
        ack_policy: AckPolicy::Explicit,
        ack_wait: run.lease,
        max_ack_pending: HELD_MAX,
        ..pull::Config::default()
    }
}

fn answers_config(run: &RunId) -> stream::Config {
    stream::Config {
        name: answers_name(run),
        description: Some("sealion: what workers found".into()),
        subjects: vec![format!("sealion.answer.*.{run}.*")],
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        discard_new_per_subject: true,
        max_age: KEPT,
        ..stream::Config::default()
    }
}

fn answers_name(run: &RunId) -> String {
    format!("{ANSWERS}{run}")
}

fn answer_subject(job: &Job) -> String {
    format!("sealion.answer.{}.{}.{}", job.zone, job.run, job.number)
}

/// The zone and number of an answer: what its subject says, which the broker checks, and not its body.
fn answer_of(message: &Message) -> Option<Answer> {
    let mut parts = message.subject.as_str().split('.').skip(2);
    let zone = Zone::parse(parts.next()?).ok()?;
    let number = parts.nth(1)?.parse().ok()?;
    let dead = message.headers.as_ref().and_then(|headers| headers.get(DEAD));
    let outcome = match dead {
        Some(deliveries) => Outcome::Dead { deliveries: deliveries.as_str().parse().ok()? },
        None if is_status(message) => Outcome::Done(b"a status of the broker".to_vec()),
        None => Outcome::Done(message.payload.to_vec()),
    };
    Some(Answer { zone, number, outcome })
}

/// What a broker says of a request, in the head of a message.
fn is_status(message: &Message) -> bool {
    message.status.is_some_and(|status| status != StatusCode::OK)
}

/// It wants to be acknowledged.
fn is_of_stream(message: &Message) -> bool {
    message.reply.as_ref().is_some_and(|reply| reply.starts_with("$JS.ACK."))
}

/// A job as it was delivered. `None`: it is none of ours.
fn lease_of(zone: &Zone, message: &Message) -> Option<Lease> {
    let run = RunId::parse(message.subject.as_str().split('.').nth(3)?).ok()?;
    let id = message.headers.as_ref()?.get(MESSAGE_ID)?.as_str();
    let number = id.split('/').nth(1)?.parse().ok()?;
    let token = message.reply.clone()?.to_string();
    let deliveries = deliveries_of(&token)?;
    let job = Job { run, zone: zone.clone(), number, attempt: 0, body: message.payload.to_vec() };
    Some(Lease { job, deliveries, token })
}

/// `$JS.ACK.STREAM.CONSUMER.DELIVERED.…`, or with a domain and the account's hash before the stream.
fn deliveries_of(reply: &str) -> Option<u32> {
    let parts: Vec<&str> = reply.split('.').collect();
    let place = if parts.len() == 9 { 4 } else { 6 };
    parts.get(place)?.parse().ok()
}

impl Queue for NatsQueue {
    fn open_run(&mut self, run: &Run) -> Result<(), QueueError> {
        let link = &self.link;
        self.runtime.block_on(async {
            let context = &link.context;
            link.insist(|| async move { keep_what_is_there(context).await }).await?;
            link.insist(
                || async move { context.get_or_create_stream(answers_config(&run.id)).await.map(drop) },
            )
            .await?;
            let gather = pull::Config {
                durable_name: Some(GATHER.into()),
                ack_policy: AckPolicy::All,
                ack_wait: ANSWER_WAIT,
                max_ack_pending: HELD_MAX,
                ..pull::Config::default()
            };
            let answers = answers_name(&run.id);
            link.insist(|| context.create_consumer_on_stream(gather.clone(), answers.clone())).await?;
            // Before its consumers, by whose names workers and other publishers know of it.
            let settings = (format!("sealion.run.{}", run.id), None, run.settings.clone());
            link.keep(vec![settings]).await?;
            for zone in &run.zones {
                let jobs = &jobs_name(zone);
                link.insist(
                    || async move { context.get_or_create_stream(jobs_config(zone)).await.map(drop) },
                )
                .await?;
                link.remove_old(zone).await?;
                let workers = workers_config(run, zone);
                link.insist(|| context.create_consumer_on_stream(workers.clone(), jobs)).await?;
            }
            Ok(())
        })?;
        if self.settings(&run.id)?.as_ref() != Some(&run.settings) {
            return Err(self.link.refused(&format!(
                "somebody else has written to the subject sealion.run.{}, and workers would read that",
                run.id
            )));
        }
        Ok(())
    }

    fn publish(&mut self, jobs: &[Job]) -> Result<(), QueueError> {
        let messages = jobs.iter().map(|job| {
            let mut headers = HeaderMap::new();
            headers.insert(MESSAGE_ID, format!("{}/{}/{}", job.run, job.number, job.attempt));
            (format!("sealion.job.{}.{}", job.zone, job.run), Some(headers), job.body.clone())
        });
        self.runtime.block_on(self.link.keep(messages.collect()))
    }

    fn answers(
        &mut self,
        run: &RunId,
        answers_max: usize,
        wait: Duration,
    ) -> Result<Vec<Answer>, QueueError> {
        let link = &mut self.link;
        self.runtime.block_on(async {
            let messages = link.pull(&answers_name(run), GATHER, answers_max, wait).await?;
            if let Some(reply) = messages.last().and_then(|last| last.reply.clone()) {
                // Of this one and all before. Lost, they come again.
                let _ = timeout(REQUEST_WAIT, link.client.publish(reply, "+ACK".into())).await;
            }
            Ok(messages.iter().filter_map(answer_of).collect())
        })
    }

    fn retract(&mut self, run: &Run, answer: &Answer) -> Result<(), QueueError> {
        let link = &self.link;
        let filter = &format!("sealion.answer.{}.{}.{}", answer.zone, run.id, answer.number);
        let name = &answers_name(&run.id);
        self.runtime.block_on(async {
            let context = &link.context;
            link.insist(|| async move {
                let stream = context.get_stream(name).await.map_err(|error| error.to_string())?;
                stream.purge().filter(filter.clone()).await.map(drop).map_err(|error| error.to_string())
            })
            .await
        })
    }

    fn left(&mut self, run: &Run, zone: &Zone) -> Result<u64, QueueError> {
        let link = &self.link;
        self.runtime.block_on(async {
            let filter = format!("sealion.job.{zone}.{}", run.id);
            let (jobs, answers) = (&jobs_name(zone), &answers_name(&run.id));
            let context = &link.context;
            link.insist(|| async move {
                context.get_stream(answers).await.map(drop).map_err(|error| format!("{answers}: {error}"))
            })
            .await?;
            // Where somebody has removed it, workers would not find what waits.
            let workers = workers_config(run, zone);
            link.insist(|| context.create_consumer_on_stream(workers.clone(), jobs)).await?;
            link.insist(|| async {
                let stream = context.get_stream(jobs).await.map_err(|error| error.to_string())?;
                let found = stream.info_builder().subjects(&filter).fetch().await;
                let mut found = found.map_err(|error| error.to_string())?;
                let mut sum = 0;
                while let Some(subject) = found.next().await {
                    sum += subject.map_err(|error| error.to_string())?.1 as u64;
                }
                Ok::<u64, String>(sum)
            })
            .await
        })
    }

    fn close_run(&mut self, run: &Run) -> Result<(), QueueError> {
        let link = &self.link;
        self.runtime.block_on(async {
            let context = &link.context;
            // The settings first: who asks for them then drops what it holds.
            let settings = (RUNS.to_owned(), format!("sealion.run.{}", run.id));
            let jobs =
                run.zones.iter().map(|zone| (jobs_name(zone), format!("sealion.job.{zone}.{}", run.id)));
            for (stream, filter) in std::iter::once(settings).chain(jobs) {
                let (stream, filter) = (&stream, &filter);
                link.insist(|| async move {
                    let stream = context.get_stream(stream).await.map_err(|error| error.to_string())?;
                    stream.purge().filter(filter.clone()).await.map(drop).map_err(|error| error.to_string())
                })
                .await?;
            }
            for zone in &run.zones {
                link.remove_consumer(&jobs_name(zone), &run.id).await?;
            }
            let answers = answers_name(&run.id);
            link.insist(|| context.delete_stream(&answers)).await.map(drop)
        })
    }

    fn settings(&mut self, run: &RunId) -> Result<Option<Vec<u8>>, QueueError> {
        let link = &self.link;
        let subject = settings_subject(run.as_str());
        self.runtime.block_on(async {
            let began = Instant::now();
            loop {
                let why = match link.request(&subject, None, vec![]).await {
                    Ok(message) if message.status == Some(StatusCode::NOT_FOUND) => return Ok(None),
                    Ok(message) => return Ok(Some(message.payload.to_vec())),
                    Err(Fault::Refused(why)) => return Err(link.refused(&why)),
                    Err(Fault::Away(why)) => why,
                    Err(Fault::Nobody | Fault::TooLong) => format!("it has no stream {RUNS}"),
                };
                if began.elapsed() > link.place.wait_max {
                    return Err(link.broken(why));
                }
                sleep(RETRY_PAUSE).await;
            }
        })
    }

    fn lease(&mut self, zone: &Zone, jobs_max: usize, wait: Duration) -> Result<Vec<Lease>, QueueError> {
        let Self { runtime, link, turn, runs } = self;
        runtime.block_on(async {
            let ends_at = tokio::time::Instant::now() + wait;
            let messages = loop {
                let messages = link.jobs_in_turn(zone, jobs_max, turn, runs).await?;
                let left = ends_at.saturating_duration_since(tokio::time::Instant::now());
                if !messages.is_empty() || left.is_zero() {
                    break messages;
                }
                sleep(left.min(POLL)).await;
            };
            let (mut leases, mut dead) = (Vec::new(), Vec::new());
            for message in messages {
                match lease_of(zone, &message) {
                    Some(lease) if lease.deliveries > DELIVERIES_MAX => dead.push(lease),
                    Some(lease) => leases.push(lease),
                    None => link.drop_job(&message).await,
                }
            }
            if !dead.is_empty() {
                let notices = dead.iter().map(|lease| {
                    let mut headers = HeaderMap::new();
                    headers.insert(DEAD, DELIVERIES_MAX.to_string());
                    (answer_subject(&lease.job), Some(headers), vec![])
                });
                link.keep(notices.collect()).await?;
                link.say(&dead, "+ACK").await?;
            }
            Ok(leases)
        })
    }

    fn ack(&mut self, answers: Vec<(Lease, Vec<u8>)>) -> Result<(), QueueError> {
        let link = &self.link;
        self.runtime.block_on(async {
            let (leases, messages): (Vec<_>, Vec<_>) = answers
                .into_iter()
                .map(|(lease, body)| {
                    let message = (answer_subject(&lease.job), None, body);
                    (lease, message)
                })
                .unzip();
            // Of a run that is over nobody listens: the job goes as well.
            link.keep(messages).await?;
            link.say(&leases, "+ACK").await
        })
    }

    fn nack(&mut self, leases: &[Lease]) -> Result<(), QueueError> {
        let link = &self.link;
        self.runtime.block_on(async {
            link.say(leases, "-NAK").await?;
            link.flush().await;
            Ok(())
        })
    }

    fn extend(&mut self, leases: &[Lease]) -> Result<(), QueueError> {
        self.runtime.block_on(self.link.say(leases, "+WPI"))
    }

    fn discard(&mut self, leases: &[Lease]) -> Result<(), QueueError> {
        self.runtime.block_on(self.link.say(leases, "+TERM"))
    }
}

/// What was said last leaves before the connection goes.
impl Drop for NatsQueue {
    fn drop(&mut self) {
        self.runtime.block_on(async {
            drop(self.link.pulls.take());
            self.link.flush().await;
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use super::*;

    fn place(url: &str) -> NatsPlace {
        NatsPlace {
            url: url.into(),
            ca: None,
            login: None,
            name: "w".into(),
            wait_max: Duration::from_secs(1),
            listener: Arc::new(|_: &str| {}),
        }
    }

    /// Says its INFO and answers pings, as a broker of that version.
    fn broker_of(version: &str, jetstream: bool) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("nats://{}", listener.local_addr().expect("bound"));
        let info = serde_json::json!({
            "server_id": "s", "server_name": "s", "version": version, "go": "", "host": "127.0.0.1", "port": 4222, "proto": 1,
            "headers": true, "max_payload": 1_048_576, "jetstream": jetstream, "client_id": 1,
        });
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut answer = stream.try_clone().expect("a descriptor");
                let _ = write!(answer, "INFO {info}\r\n");
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if line.starts_with("PING") {
                        let _ = answer.write_all(b"PONG\r\n");
                    }
                }
            }
        });
        url
    }

    #[test]
    fn a_broker_that_is_too_old_or_keeps_nothing_is_refused_when_the_connection_is_made() {
        for (version, jetstream, part) in [
            ("2.9.10", true, "its version is \"2.9.10\""),
            ("1.99.0", true, "its version"),
            ("x", true, "its version"),
            ("2.10.0", false, "JetStream is not enabled"),
        ] {
            let error = NatsQueue::connect(place(&broker_of(version, jetstream))).err().expect(version);
            assert!(matches!(error, QueueError::Unsupported { .. }), "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
        for version in ["2.10.0", "2.10.27-beta.1", "3.0.0"] {
            assert!(check_version("b", version).is_ok(), "{version}");
        }
    }

    #[test]
    fn a_secret_in_the_address_is_refused_and_not_repeated() {
        for url in ["nats://user:hidden@127.0.0.1:4222", "nats://a:4222,tls://hidden@b"] {
            let error = NatsQueue::connect(place(url)).err().expect("refused");
            let text = format!("{error} {error:?}");
            assert!(matches!(error, QueueError::Usage { .. }) && !text.contains("hidden"), "{text}");
        }
    }

    #[test]
    fn only_a_broker_of_this_machine_may_do_without_tls() {
        for (url, here) in [
            ("nats://127.0.0.1:4222", true),
            ("nats://127.9.9.9", true),
            ("nats://[::1]:4222", true),
            ("nats://localhost", true),
            ("nats://192.0.2.1", false),
            ("nats://localhost.example.org", false),
            ("nats://127.0.0.1,nats://192.0.2.1", false),
        ] {
            assert_eq!(addresses(url).expect(url).iter().all(is_here), here, "{url}");
        }
    }

    #[test]
    fn deliveries_are_read_from_both_forms_of_the_reply() {
        assert_eq!(deliveries_of("$JS.ACK.SEALION_JOBS_dmz.r.3.10.11.1700000000000000000.5"), Some(3));
        assert_eq!(
            deliveries_of("$JS.ACK._.HASH.SEALION_JOBS_dmz.r.4.10.11.1700000000000000000.5.r"),
            Some(4)
        );
        for bad in ["", "a.b", "$JS.ACK.S.c.x.1.1.1.1"] {
            assert_eq!(deliveries_of(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_broker_that_refuses_to_keep_a_message_has_not_kept_it() {
        let check = |text: &str| {
            let message = Message {
                subject: "s".into(),
                reply: None,
                payload: text.as_bytes().to_vec().into(),
                headers: None,
                status: None,
                description: None,
                length: 0,
            };
            kept(&message).is_ok()
        };
        assert!(check("{\"stream\":\"S\",\"seq\":1}"));
        assert!(check("{\"error\":{\"code\":400,\"err_code\":10077,\"description\":\"taken\"}}"));
        for bad in ["", "{\"error\":{\"code\":503}}", "{\"error\":{\"code\":400,\"err_code\":10047}}"] {
            assert!(!check(bad), "{bad}");
        }
    }
}
