//! What failed now, and what changed between two runs.

use model::Run;
use store::RunSummary;

use super::{
    Asked, Deserialize, OfCluster, Pages, Problem, Response, Serialize, Site, State, StatusCode, Value,
    VerdictWord, WatchFindingRow, WatchFindingsReport, context, json, query, read,
};
use crate::difference::{self, Row};

/// On a page; the JSON has all.
const ROWS_MAX: usize = 300;
const RUNS_OFFERED: u32 = 50;

#[derive(Debug, Default, Deserialize)]
pub struct Wanted {
    #[serde(default)]
    cluster: String,
    #[serde(default)]
    rule: String,
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
}

impl Wanted {
    fn takes(&self, one: &OfCluster<WatchFindingRow>) -> bool {
        (self.cluster.is_empty() || self.cluster == one.cluster)
            && (self.rule.is_empty() || self.rule == one.row.rule)
    }

    /// Two runs are compared.
    fn is_difference(&self) -> bool {
        !self.from.is_empty() || !self.to.is_empty()
    }
}

#[derive(Serialize)]
struct Difference {
    schema: &'static str,
    sealion_version: &'static str,
    at_unix_ms: u64,
    from: RunLine,
    to: RunLine,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct RunLine {
    id: String,
    command: String,
    started_unix_ms: u64,
}

impl RunLine {
    fn of(run: &Run) -> Self {
        Self { id: run.id.clone(), command: run.command.clone(), started_unix_ms: run.started_unix_ms }
    }
}

enum Found {
    Now(WatchFindingsReport, Vec<RunSummary>),
    Between(Difference, Vec<RunSummary>),
    /// It was never kept here.
    NoRun(String),
}

async fn find(site: &Site, wanted: &Wanted) -> Result<Found, Problem> {
    let (from, to) = (wanted.from.clone(), wanted.to.clone());
    let is_difference = wanted.is_difference();
    read(site, move |store, now| {
        let mut runs = store.runs(RUNS_OFFERED)?;
        // Those that judged something.
        runs.retain(|run| run.findings_failed + run.findings_unknown > 0 || run.command == "status");
        if !is_difference {
            return Ok(Found::Now(watch::view::read_findings(store, now)?, runs));
        }
        let Some(before) = store.run(&from)? else { return Ok(Found::NoRun(from)) };
        let Some(after) = store.run(&to)? else { return Ok(Found::NoRun(to)) };
        let difference = Difference {
            schema: "sealion/findings-difference/1",
            sealion_version: env!("CARGO_PKG_VERSION"),
            at_unix_ms: now,
            from: RunLine::of(&before),
            to: RunLine::of(&after),
            rows: difference::difference(&before, &after),
        };
        Ok(Found::Between(difference, runs))
    })
    .await
}

fn no_run(id: &str) -> Problem {
    let why = if id.is_empty() {
        "two runs are compared, and one was named".into()
    } else {
        format!("no run {id} was kept")
    };
    Problem::new(StatusCode::NOT_FOUND, "No such run", why, "choose two runs of the list: /runs")
}

impl Pages {
    fn findings(&self, found: &Found, wanted: &Wanted) -> Response {
        match found {
            Found::NoRun(id) => self.problem(&no_run(id), false),
            Found::Now(report, runs) => {
                let all: Vec<_> = report.findings.iter().filter(|one| wanted.takes(one)).collect();
                let shown = all.get(..ROWS_MAX).unwrap_or(&all);
                let failed = all.iter().filter(|one| one.row.verdict == VerdictWord::Fail).count();
                let context = context! {
                    rows => Value::from_serialize(shown),
                    failed,
                    unknown => all.len() - failed,
                    more => all.len() - shown.len(),
                    cluster => wanted.cluster,
                    rule => wanted.rule,
                    runs => Value::from_serialize(runs),
                    from => "", to => "",
                    now => report.at_unix_ms,
                    version => report.sealion_version,
                };
                self.page(StatusCode::OK, "findings.html", context)
            }
            Found::Between(difference, runs) => {
                let address = format!(
                    "/findings.json?from={}&to={}",
                    crate::words::segment(&difference.from.id),
                    crate::words::segment(&difference.to.id)
                );
                let context = context! {
                    d => Value::from_serialize(difference),
                    runs => Value::from_serialize(runs),
                    from => difference.from.id,
                    to => difference.to.id,
                    address,
                    now => difference.at_unix_ms,
                    version => difference.sealion_version,
                };
                self.page(StatusCode::OK, "difference.html", context)
            }
        }
    }
}

pub async fn findings(State(site): State<Site>, wanted: Asked<Wanted>) -> Response {
    let wanted = match query(wanted) {
        Ok(wanted) => wanted,
        Err(problem) => return site.pages.problem(&problem, false),
    };
    match find(&site, &wanted).await {
        Ok(found) => site.pages.findings(&found, &wanted),
        Err(problem) => site.pages.problem(&problem, false),
    }
}

pub async fn findings_json(State(site): State<Site>, wanted: Asked<Wanted>) -> Response {
    let wanted = match query(wanted) {
        Ok(wanted) => wanted,
        Err(problem) => return site.pages.problem(&problem, true),
    };
    match find(&site, &wanted).await {
        Ok(Found::Now(mut report, _)) => {
            report.findings.retain(|one| wanted.takes(one));
            json(StatusCode::OK, &report)
        }
        Ok(Found::Between(difference, _)) => json(StatusCode::OK, &difference),
        Ok(Found::NoRun(id)) => site.pages.problem(&no_run(&id), true),
        Err(problem) => site.pages.problem(&problem, true),
    }
}
