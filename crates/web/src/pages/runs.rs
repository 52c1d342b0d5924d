//! Runs that were kept, and changes that this machine has made.

use model::{Run, Verdict};
use store::RunSummary;

use super::{
    IntoResponse, JSON, Pages, Problem, Response, Segment, Serialize, Site, State, StatusCode, Value,
    context, header, is_json, json, now_unix_ms, read,
};
use crate::journals::{self, Kept};

const RUNS_MAX: u32 = 200;

#[derive(Serialize)]
struct ChangeLine {
    cluster: String,
    plan: String,
    change: String,
    begun_unix_ms: u64,
    last_unix_ms: u64,
    outcome: String,
}

impl ChangeLine {
    fn of(kept: &Kept) -> Self {
        Self {
            cluster: kept.plan.cluster.clone(),
            plan: kept.plan.id.clone(),
            change: kept.plan.change.to_string(),
            begun_unix_ms: kept.begun_unix_ms(),
            last_unix_ms: kept.last_unix_ms(),
            outcome: kept.outcome(),
        }
    }
}

/// Runs, changes, and journals that cannot be read.
async fn find(site: &Site) -> Result<(Vec<RunSummary>, Vec<ChangeLine>, Vec<String>), Problem> {
    let dir = site.journals.clone();
    read(site, move |store, _| {
        let runs = store.runs(RUNS_MAX)?;
        let (kept, unread) = journals::all(&dir);
        Ok((runs, kept.iter().map(ChangeLine::of).collect(), unread))
    })
    .await
}

pub async fn runs(State(site): State<Site>) -> Response {
    match find(&site).await {
        Ok((runs, changes, unread)) => {
            let context = context! {
                runs => Value::from_serialize(&runs),
                changes => Value::from_serialize(&changes),
                unread,
                now => now_unix_ms(),
                version => env!("CARGO_PKG_VERSION"),
            };
            site.pages.page(StatusCode::OK, "runs.html", context)
        }
        Err(problem) => site.pages.problem(&problem, false),
    }
}

/// As `sealion report --format json`.
pub async fn runs_json(State(site): State<Site>) -> Response {
    match find(&site).await {
        Ok((runs, changes, unread)) => {
            let all = serde_json::json!({"schema": "sealion/runs/1", "runs": runs, "changes": changes, "not_read": unread});
            json(StatusCode::OK, &all)
        }
        Err(problem) => site.pages.problem(&problem, true),
    }
}

#[derive(Serialize)]
struct PhaseView<'r> {
    phase: &'r model::Phase,
    failed: Vec<FindingView<'r>>,
    passed: usize,
    not_applicable: usize,
}

#[derive(Serialize)]
struct FindingView<'r> {
    rule: &'r str,
    title: &'r str,
    subject: &'r str,
    severity: model::Severity,
    verdict: &'static str,
    why: &'r str,
}

/// The worst first, and what nobody could judge behind what failed.
fn phase(phase: &model::Phase) -> PhaseView<'_> {
    let mut failed: Vec<FindingView<'_>> = phase
        .findings
        .iter()
        .filter_map(|one| {
            let (Verdict::Fail(why) | Verdict::Unknown(why)) = &one.verdict else { return None };
            let (rule, title, subject) = (one.rule.as_str(), one.title.as_str(), one.subject.as_str());
            Some(FindingView {
                rule,
                title,
                subject,
                severity: one.severity,
                verdict: one.verdict.word(),
                why,
            })
        })
        .collect();
    failed
        .sort_by(|a, b| a.verdict.cmp(b.verdict).then(b.severity.cmp(&a.severity)).then(a.rule.cmp(b.rule)));
    let count = |wanted: &Verdict| phase.findings.iter().filter(|one| one.verdict == *wanted).count();
    let (passed, not_applicable) = (count(&Verdict::Pass), count(&Verdict::NotApplicable));
    PhaseView { phase, failed, passed, not_applicable }
}

impl Pages {
    fn run(&self, run: &Run, reports: &[String]) -> Response {
        let phases: Vec<_> = run.phases.iter().map(phase).collect();
        let context = context! {
            run => Value::from_serialize(run),
            phases => Value::from_serialize(&phases),
            reports,
            now => now_unix_ms(),
            version => env!("CARGO_PKG_VERSION"),
        };
        self.page(StatusCode::OK, "run.html", context)
    }
}

/// The page of a run; with `.json` behind its id, as `sealion report --run ID` prints it.
pub async fn run(State(site): State<Site>, Segment(asked): Segment<String>) -> Response {
    let is_json = is_json(&asked);
    let found = read(&site, move |store, _| {
        let id = asked.strip_suffix(JSON).unwrap_or(&asked);
        let Some(run) = store.run(id)? else { return Ok(None) };
        if is_json {
            return Ok(Some(Err(store.export_json(id)?)));
        }
        let reports = store.report_kinds(id)?;
        Ok(Some(Ok((run, reports))))
    });
    match found.await {
        Ok(Some(Ok((run, reports)))) => site.pages.run(&run, &reports),
        Ok(Some(Err(text))) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Ok(None) => {
            let (why, next) = ("the store has no run of this id", "go to the list of runs: /runs");
            site.pages.problem(&Problem::new(StatusCode::NOT_FOUND, "No such run", why, next), is_json)
        }
        Err(problem) => site.pages.problem(&problem, is_json),
    }
}
