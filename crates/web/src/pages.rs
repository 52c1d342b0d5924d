//! The pages: what the store has, through the templates.

mod certificates;
mod drivers;
mod findings;
mod plan;
mod runs;
mod server;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path as Segment, Query, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use minijinja::{Environment, UndefinedBehavior, Value, context};
use report::shape::{
    FleetReport, OfCluster, SeverityWord, VerdictWord, WatchCertificateRow, WatchCertificatesReport,
    WatchFindingRow, WatchFindingsReport, WatchLinkRow, WatchLinkWord, WatchReport, WatchServerReport,
    WatchSummary,
};
use serde::{Deserialize, Serialize};
use store::{Store, StoreError};
use watch::state::UNKNOWN_LASTS_S;

use crate::{Site, picture, words};

pub use certificates::{certificates, certificates_ics, certificates_json};
pub use drivers::{drivers, drivers_json};
pub use findings::{findings, findings_json};
pub use plan::plan;
pub use runs::{run, runs, runs_json};
pub use server::server;

const TEMPLATES: [(&str, &str); 14] = [
    ("frame.html", include_str!("templates/frame.html")),
    ("parts.html", include_str!("templates/parts.html")),
    ("fleet.html", include_str!("templates/fleet.html")),
    ("cluster.html", include_str!("templates/cluster.html")),
    ("server.html", include_str!("templates/server.html")),
    ("certificates.html", include_str!("templates/certificates.html")),
    ("findings.html", include_str!("templates/findings.html")),
    ("difference.html", include_str!("templates/difference.html")),
    ("runs.html", include_str!("templates/runs.html")),
    ("run.html", include_str!("templates/run.html")),
    ("plan.html", include_str!("templates/plan.html")),
    ("drivers.html", include_str!("templates/drivers.html")),
    ("login.html", include_str!("templates/login.html")),
    ("problem.html", include_str!("templates/problem.html")),
];

/// Behind the address of a page.
const JSON: &str = ".json";
/// Classes of grades: what somebody should look at first.
const ALARM: [&str; 5] = ["bad", "soon", "unknown", "mild", "good"];
pub const LINKS_FROM_WORST: [WatchLinkWord; 5] = [
    WatchLinkWord::Plain,
    WatchLinkWord::Broken,
    WatchLinkWord::Unknown,
    WatchLinkWord::Encrypted,
    WatchLinkWord::Verified,
];

/// Of ten thousand servers a page has so many clusters, the worst first.
const CLUSTERS_A_PAGE: usize = 100;

pub struct Pages(Environment<'static>);

/// What stands behind `?` of an address.
pub type Asked<T> = Result<Query<T>, QueryRejection>;

fn query<T>(asked: Asked<T>) -> Result<T, Problem> {
    asked.map(|Query(wanted)| wanted).map_err(|why| {
        let next = "correct what stands behind ? in the address, or leave it out";
        Problem::new(StatusCode::BAD_REQUEST, "The address is not right", why.body_text(), next)
    })
}

/// Which clusters the first page has.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct FleetWanted {
    /// A part of the name.
    #[serde(default)]
    q: String,
    /// One of [`ALARM`].
    #[serde(default)]
    grade: String,
    /// From 1.
    #[serde(default)]
    page: usize,
}

impl FleetWanted {
    fn takes(&self, grade: &Grade, summary: &WatchSummary) -> bool {
        (self.grade.is_empty() || self.grade == grade.class)
            && (self.q.is_empty() || summary.cluster.to_lowercase().contains(&self.q.to_lowercase()))
    }

    fn address(&self, page: usize) -> String {
        format!("/?q={}&grade={}&page={page}", words::segment(&self.q), words::segment(&self.grade))
    }
}

/// Why a page is not what was asked for, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    #[serde(skip)]
    status: StatusCode,
    what: String,
    why: String,
    next: String,
}

impl Problem {
    fn new(status: StatusCode, what: &str, why: impl Into<String>, next: &str) -> Self {
        Self { status, what: what.into(), why: why.into(), next: next.into() }
    }
}

/// How a cluster is, in one word. What is old or was not seen never makes a good one.
#[derive(Debug, Serialize)]
struct Grade {
    class: &'static str,
    word: &'static str,
    note: String,
}

fn grade(summary: &WatchSummary) -> Grade {
    let of = |class, word, note: String| Grade { class, word, note };
    let worst = summary.worst.map(SeverityWord::as_str);
    if summary.last_look_unix_ms.is_none() {
        return of("unknown", "not checked", "no check has ended yet".into());
    }
    if summary.is_stale {
        let note = worst.map_or("no failed finding when last checked".into(), |worst| {
            format!("{worst} when last checked")
        });
        return of("unknown", "stale", note);
    }
    if summary.error.is_some() {
        return of("unknown", "unknown", "the last check failed".into());
    }
    let unknown: u32 = summary.findings.iter().map(|row| row.unknown).sum();
    let failed: u32 = summary.findings.iter().map(|row| row.fail).sum();
    let counted = |count: u32, what: &str| match count {
        0 => String::new(),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let judged = |tail: &str| {
        let unknown = if unknown > 0 { format!("{unknown} not judged") } else { String::new() };
        [counted(failed, "finding"), unknown, tail.to_owned()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    };
    if let Some(worst) = summary.worst {
        let class = match worst {
            SeverityWord::Critical | SeverityWord::High => "bad",
            SeverityWord::Medium => "soon",
            SeverityWord::Low | SeverityWord::Info => "mild",
        };
        return of(class, worst.as_str(), judged(""));
    }
    if summary.links_plain > 0 {
        return of("bad", "cleartext", judged(&counted(summary.links_plain, "plain link")));
    }
    if summary.at_rest_fell_back > 0 {
        return of("bad", "plain at rest", judged("what was encrypted is not any more"));
    }
    if summary.servers_drifted > 0 {
        return of("soon", "drifted", judged("option files are not as the last change wrote them"));
    }
    let is_whole = unknown == 0
        && summary.links_unknown == 0
        && summary.servers_silent == 0
        && summary.servers_unknown == 0
        && summary.servers > 0
        && summary.links_encrypted > 0
        && summary.servers_drift_unknown == 0
        && summary.at_rest_unknown == 0
        && summary.not_looked_at.is_empty();
    if is_whole {
        return of("good", "no findings", "everything was checked".into());
    }
    of("unknown", "incomplete", judged("nothing failed, but not everything was checked"))
}

impl Pages {
    pub fn new() -> Self {
        let mut all = Environment::new();
        all.set_undefined_behavior(UndefinedBehavior::Strict);
        all.set_trim_blocks(true);
        all.set_lstrip_blocks(true);
        for (name, text) in TEMPLATES {
            all.add_template(name, text).expect("the templates are part of the program and tested");
        }
        all.add_filter("ago", words::ago);
        all.add_filter("moment", words::moment);
        all.add_filter("day", words::day);
        all.add_filter("until", words::until);
        all.add_filter("urgency", words::urgency);
        all.add_filter("span", words::span);
        all.add_filter("segment", |name: String| words::segment(&name));
        all.add_filter("short", |text: String, most: usize| words::short(&text, most));
        Self(all)
    }

    fn page(&self, status: StatusCode, name: &str, context: Value) -> Response {
        match self.0.get_template(name).and_then(|template| template.render(context)) {
            Ok(text) => (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response(),
            // A template that asks for what is not there. Nothing of the error is told: it may hold values, unescaped.
            Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "sealion cannot write this page; please report it")
                .into_response(),
        }
    }

    fn problem(&self, problem: &Problem, is_json: bool) -> Response {
        if is_json {
            return json(problem.status, &serde_json::json!({ "error": problem }));
        }
        self.page(problem.status, "problem.html", context! { p => problem, code => problem.status.as_u16() })
    }

    pub fn not_logged_in(&self, is_json: bool) -> Response {
        let next = "open the address that sealion web printed when it started. It is good for one browser, once; stop sealion web and \
                    start it again for another one. If you followed a link from another site, reload this page";
        let why = "this browser has no session, or it ended";
        self.problem(&Problem::new(StatusCode::UNAUTHORIZED, "You are not logged in", why, next), is_json)
    }

    pub fn too_slow(&self, is_json: bool) -> Response {
        let (why, next) = ("it did not answer in time", "reload; if this stays, check the disk of the store");
        self.problem(
            &Problem::new(StatusCode::SERVICE_UNAVAILABLE, "The store cannot be read", why, next),
            is_json,
        )
    }

    fn fleet(&self, report: &FleetReport, wanted: &FleetWanted) -> Response {
        let mut graded: Vec<(Grade, &WatchSummary)> =
            report.clusters.iter().map(|summary| (grade(summary), summary)).collect();
        let by_grade: Vec<_> = ALARM
            .into_iter()
            .map(|class| (class, graded.iter().filter(|(grade, _)| grade.class == class).count()))
            .filter(|(_, count)| *count > 0)
            .collect();
        let servers: u64 = report.clusters.iter().map(|summary| u64::from(summary.servers)).sum();
        graded.retain(|(grade, summary)| wanted.takes(grade, summary));
        graded.sort_by_key(|(grade, _)| ALARM.iter().position(|class| *class == grade.class));
        let count = |is_such: fn(&WatchSummary) -> bool, what: &str| {
            let count = report.clusters.iter().filter(|summary| is_such(summary)).count();
            (count > 0).then(|| format!("{count} {what}"))
        };
        let counts: Vec<String> = [
            // What is stale is plain no longer, or still: it is counted as stale.
            count(|summary| !summary.is_stale && summary.links_plain > 0, "with links in cleartext"),
            count(|summary| summary.at_rest_fell_back > 0, "no longer encrypted at rest"),
            count(|summary| summary.servers_drifted > 0, "with changed option files"),
            count(|summary| summary.unknown_lasting > 0, "with something unknown for more than six hours"),
            count(|summary| summary.is_stale, "stale"),
            count(|summary| !summary.is_stale && summary.error.is_some(), "whose last check failed"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let found = graded.len();
        let pages = found.div_ceil(CLUSTERS_A_PAGE).max(1);
        let page = wanted.page.clamp(1, pages);
        let first = (page - 1) * CLUSTERS_A_PAGE;
        let rows: Vec<_> = graded
            .iter()
            .skip(first)
            .take(CLUSTERS_A_PAGE)
            .map(|(grade, summary)| context! { s => Value::from_serialize(summary), grade => Value::from_serialize(grade) })
            .collect();
        let context = context! {
            rows, counts, servers, found, pages, page, by_grade,
            all => report.clusters.len(),
            wanted => Value::from_serialize(wanted),
            before => (page > 1).then(|| wanted.address(page - 1)),
            after => (page < pages).then(|| wanted.address(page + 1)),
            now => report.at_unix_ms,
            version => report.sealion_version,
        };
        self.page(StatusCode::OK, "fleet.html", context)
    }

    fn cluster(&self, report: &WatchReport) -> Response {
        let drawn = picture::draw(report);
        let mut links: Vec<&WatchLinkRow> = report.links.iter().collect();
        links.sort_by_key(|link| LINKS_FROM_WORST.iter().position(|state| *state == link.state));
        let context = context! {
            r => Value::from_serialize(report),
            s => Value::from_serialize(&report.summary),
            grade => Value::from_serialize(grade(&report.summary)),
            links => Value::from_serialize(&links),
            lasts_s => UNKNOWN_LASTS_S,
            picture => Value::from_safe_string(drawn.svg),
            undrawn => drawn.undrawn,
            is_dense => drawn.is_dense,
            now => report.at_unix_ms,
            version => report.sealion_version,
        };
        self.page(StatusCode::OK, "cluster.html", context)
    }
}

fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_string_pretty(value) {
        Ok(text) => (status, [(header::CONTENT_TYPE, "application/json")], text + "\n").into_response(),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "sealion cannot write this JSON; please report it")
            .into_response(),
    }
}

pub fn is_json(path: &str) -> bool {
    path.ends_with(JSON)
}

fn now_unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The three lines of an error, apart.
fn of_store(error: &StoreError) -> Problem {
    let text = error.to_string();
    let (mut why, mut next) = (String::new(), String::new());
    for line in text.lines().skip(1).map(str::trim) {
        if let Some(line) = line.strip_prefix("why:") {
            line.trim().clone_into(&mut why);
        } else if let Some(line) = line.strip_prefix("next:") {
            line.trim().clone_into(&mut next);
        }
    }
    let first = text.lines().next().unwrap_or_default();
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "The store cannot be read",
        format!("{first}: {why}"),
        &next,
    )
}

fn open(path: &Path) -> Result<Store, Problem> {
    // SQLite would only say that it cannot be opened.
    if matches!(path.try_exists(), Ok(false)) {
        let why = format!("there is no file {}", path.display());
        let next = "run sealion watch, which makes it, or name another file: sealion web --store FILE";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "There is no store yet", why, next));
    }
    Store::open_read_only(path).map_err(|error| of_store(&error))
}

/// Reads the store on another thread: it may wait for somebody who writes to it.
async fn read<T: Send + 'static>(
    site: &Site,
    what: impl FnOnce(&Store, u64) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Problem> {
    let path = site.store.clone();
    let read = tokio::task::spawn_blocking(move || {
        let store = open(&path)?;
        what(&store, now_unix_ms()).map_err(|error| of_store(&error))
    });
    read.await.unwrap_or_else(|_| {
        let next = "this is a mistake in sealion; please report it";
        Err(Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The store cannot be read",
            "reading it stopped half-way",
            next,
        ))
    })
}

pub async fn fleet(State(site): State<Site>, wanted: Asked<FleetWanted>) -> Response {
    let wanted = match query(wanted) {
        Ok(wanted) => wanted,
        Err(problem) => return site.pages.problem(&problem, false),
    };
    match read(&site, watch::view::read_fleet).await {
        Ok(report) => site.pages.fleet(&report, &wanted),
        Err(problem) => site.pages.problem(&problem, false),
    }
}

pub async fn fleet_json(State(site): State<Site>) -> Response {
    match read(&site, watch::view::read_fleet).await {
        Ok(report) => json(StatusCode::OK, &report),
        Err(problem) => site.pages.problem(&problem, true),
    }
}

/// The page of a cluster; with `.json` behind its name, the same as JSON.
pub async fn cluster(State(site): State<Site>, Segment(asked): Segment<String>) -> Response {
    let is_json = is_json(&asked);
    let found = read(&site, move |store, now| {
        // A cluster may be called `a.json`.
        if let Some(report) = watch::view::read_cluster(store, &asked, now)? {
            return Ok(Some((report, false)));
        }
        let Some(name) = asked.strip_suffix(JSON) else { return Ok(None) };
        Ok(watch::view::read_cluster(store, name, now)?.map(|report| (report, true)))
    });
    match found.await {
        Ok(Some((report, true))) => json(StatusCode::OK, &report),
        Ok(Some((report, false))) => site.pages.cluster(&report),
        Ok(None) => {
            let why = "the store has no cluster of this name";
            let next = "go to the list of clusters";
            site.pages.problem(&Problem::new(StatusCode::NOT_FOUND, "Not watched", why, next), is_json)
        }
        Err(problem) => site.pages.problem(&problem, is_json),
    }
}

pub async fn login(State(site): State<Site>) -> Response {
    site.pages.page(StatusCode::OK, "login.html", context! {})
}

pub async fn no_such_page(State(site): State<Site>, uri: Uri) -> Response {
    let problem = Problem::new(
        StatusCode::NOT_FOUND,
        "No such page",
        "nothing is at this address",
        "go to the list of clusters",
    );
    site.pages.problem(&problem, is_json(uri.path()))
}

#[cfg(test)]
mod tests {
    use report::shape::WatchCountRow;

    use super::*;

    fn summary() -> WatchSummary {
        WatchSummary {
            cluster: "a".into(),
            last_look_unix_ms: Some(1),
            last_success_unix_ms: Some(1),
            age_s: Some(1),
            is_stale: false,
            interval_s: 60,
            servers: 3,
            servers_silent: 0,
            servers_unknown: 0,
            links_plain: 0,
            links_encrypted: 3,
            links_unknown: 0,
            findings: vec![],
            worst: None,
            not_after_unix: None,
            not_looked_at: vec![],
            error: None,
            unknown_lasting: 0,
            servers_drifted: 0,
            servers_drift_unknown: 0,
            at_rest_fell_back: 0,
            at_rest_unknown: 0,
        }
    }

    #[test]
    fn only_what_was_seen_whole_and_now_is_good() {
        assert_eq!(grade(&summary()).class, "good");
        let changed = |change: fn(&mut WatchSummary)| {
            let mut summary = summary();
            change(&mut summary);
            let grade = grade(&summary);
            (grade.class, grade.word)
        };
        assert_eq!(changed(|s| s.is_stale = true), ("unknown", "stale"));
        assert_eq!(changed(|s| s.last_look_unix_ms = None), ("unknown", "not checked"));
        assert_eq!(changed(|s| s.error = Some("x".into())), ("unknown", "unknown"));
        assert_eq!(changed(|s| s.links_unknown = 1), ("unknown", "incomplete"));
        assert_eq!(changed(|s| s.links_encrypted = 0), ("unknown", "incomplete"));
        assert_eq!(changed(|s| s.servers_silent = 1), ("unknown", "incomplete"));
        assert_eq!(changed(|s| s.servers_unknown = 1), ("unknown", "incomplete"));
        assert_eq!(changed(|s| s.not_looked_at.push("SST".into())), ("unknown", "incomplete"));
        assert_eq!(
            changed(|s| s.findings.push(WatchCountRow { severity: SeverityWord::Info, fail: 0, unknown: 1 })),
            ("unknown", "incomplete")
        );
        assert_eq!(changed(|s| s.servers_drift_unknown = 1), ("unknown", "incomplete"));
        assert_eq!(changed(|s| s.at_rest_unknown = 1), ("unknown", "incomplete"));
        assert_eq!(changed(|s| s.servers_drifted = 1), ("soon", "drifted"));
        assert_eq!(changed(|s| s.at_rest_fell_back = 1), ("bad", "plain at rest"));
        assert_eq!(changed(|s| s.links_plain = 1), ("bad", "cleartext"));
        assert_eq!(changed(|s| s.worst = Some(SeverityWord::High)), ("bad", "high"));
        assert_eq!(
            changed(|s| {
                s.worst = Some(SeverityWord::High);
                s.is_stale = true;
            }),
            ("unknown", "stale")
        );
    }
}
