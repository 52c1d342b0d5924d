//! The plan of a change: what each step does, to which file, and how far it has come.

use change::Record;
use model::Step;

use super::{
    JSON, Pages, Problem, Response, Segment, Serialize, Site, State, StatusCode, Value, context, is_json,
    json, now_unix_ms, read,
};
use crate::journals::{self, Kept, Progress};

/// A line of a diff, and what it is.
#[derive(Serialize)]
struct Line<'d> {
    class: &'static str,
    text: &'d str,
}

#[derive(Serialize)]
struct StepView<'p> {
    step: &'p Step,
    progress: Progress,
    files: Vec<Vec<Line<'p>>>,
}

fn lines(diff: &str) -> Vec<Line<'_>> {
    let class = |line: &str| match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
        [b'+', ..] => "added",
        [b'-', ..] => "gone",
        [b'@', ..] => "place",
        _ => "",
    };
    diff.lines().map(|text| Line { class: class(text), text }).collect()
}

#[derive(Serialize)]
struct RecordLine<'k> {
    at_unix_ms: u64,
    #[serde(flatten)]
    record: &'k Record,
}

impl Pages {
    fn plan(&self, kept: &Kept) -> Response {
        let progress = kept.progress();
        let none = Progress { state: "not begun", at_unix_ms: None, note: String::new() };
        let steps: Vec<_> = kept
            .plan
            .steps
            .iter()
            .map(|step| StepView {
                step,
                progress: progress.get(step.id.0.as_str()).unwrap_or(&none).clone(),
                files: step.diff.iter().map(|diff| lines(diff)).collect(),
            })
            .collect();
        let left = kept.records.iter().rev().find_map(|(_, record)| match record {
            Record::Abandoned { left } => Some(left.clone()),
            _ => None,
        });
        let context = context! {
            plan => Value::from_serialize(&kept.plan),
            what => kept.plan.change.to_string(),
            hash => kept.plan.short_hash(),
            restarts => kept.plan.restarts(),
            outcome => kept.outcome(),
            is_open => kept.outcome().starts_with("not finished"),
            begun => kept.begun_unix_ms(),
            last => kept.last_unix_ms(),
            left => left.unwrap_or_default(),
            steps => Value::from_serialize(&steps),
            now => now_unix_ms(),
            version => env!("CARGO_PKG_VERSION"),
        };
        self.page(StatusCode::OK, "plan.html", context)
    }
}

/// The page of a plan; with `.json` behind its id, the plan and what became of it.
pub async fn plan(
    State(site): State<Site>,
    Segment((cluster, asked)): Segment<(String, String)>,
) -> Response {
    let is_json = is_json(&asked);
    let dir = site.journals.clone();
    let found = read(&site, move |_, _| {
        let id = asked.strip_suffix(JSON).unwrap_or(&asked);
        Ok(journals::one(&dir, &cluster, id))
    });
    match found.await {
        Ok(Some(kept)) if is_json => {
            let records: Vec<_> = kept
                .records
                .iter()
                // The plan stands beside them.
                .filter(|(_, record)| !matches!(record, Record::Opened { .. }))
                .map(|(at_unix_ms, record)| RecordLine { at_unix_ms: *at_unix_ms, record })
                .collect();
            let all = serde_json::json!({
                "schema": "sealion/change-record/1", "sealion_version": env!("CARGO_PKG_VERSION"), "outcome": kept.outcome(),
                "plan": kept.plan, "records": records,
            });
            json(StatusCode::OK, &all)
        }
        Ok(Some(kept)) => site.pages.plan(&kept),
        Ok(None) => {
            let (why, next) =
                ("no journal of this change can be read here", "go to the list of changes: /runs");
            site.pages.problem(&Problem::new(StatusCode::NOT_FOUND, "No such change", why, next), is_json)
        }
        Err(problem) => site.pages.problem(&problem, is_json),
    }
}
