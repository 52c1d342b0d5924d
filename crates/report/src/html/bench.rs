//! An experiment as one page: the table of the terminal, and pictures of it. Start reading at [`render_bench_html`], then
//! `templates/bench.html`.

use minijinja::{Value, context};
use serde::Serialize;

use super::bench_plots::{self, Panel};
use super::marks::Mark;
use super::{STYLE, environment, safe};
use crate::figures::real;
use crate::shape::{CopyRow, PublishedFigure, RunReport};

const BENCH_STYLE: &str = include_str!("templates/bench.css");

/// A line of the table, as the terminal has it.
#[derive(Serialize)]
struct Row<'r> {
    connections: u32,
    arm: &'r str,
    tls: Option<String>,
    trials: usize,
    mean: String,
    deviation: Option<String>,
    interval: Option<String>,
    p95_ms: Option<String>,
    client_us: Option<String>,
    server_us: Option<String>,
    published: Option<String>,
    copy: Option<CopyCells>,
}

/// What is shown of copies of a donor's data in place of CPU time.
#[derive(Serialize)]
struct CopyCells {
    mb_per_s: String,
    cpu_s_per_gb: Option<String>,
    rows_per_s: Option<String>,
    row_ms_max: Option<String>,
}

/// The whole page.
pub fn render_bench_html(report: &RunReport) -> String {
    let panels = |panels: Vec<Panel>| {
        let rows =
            panels.into_iter().map(|panel| context! { caption => panel.caption, svg => safe(panel.svg) });
        rows.collect::<Value>()
    };
    let picture = |svg: Option<String>| svg.map_or(Value::from(()), safe);
    environment()
        .get_template("bench.html")
        .and_then(|page| {
            page.render(context! {
                r => Value::from_serialize(without_samples(report)),
                style => safe(format!("{STYLE}\n{BENCH_STYLE}")),
                answer => answer(report),
                is_compared => report.levels.iter().any(|level| !level.comparisons.is_empty()),
                rows => Value::from_serialize(rows(report)),
                has_published => !published(report).is_empty(),
                copy => Value::from_serialize(first_copy(report)),
                blocks_donor => copies(report).any(|copy| !copy.is_of_running_donor),
                keys => keys(report, false),
                throughput_keys => keys(report, true),
                throughput => safe(bench_plots::throughput(report)),
                latency => panels(bench_plots::latency(report)),
                each => each(report),
                cpu => picture(bench_plots::cpu(report)),
                cpu_keys => bench_plots::cpu_keys()
                    .into_iter()
                    .map(|(svg, words)| context! { svg => safe(svg), words => words })
                    .collect::<Value>(),
                knee => picture(bench_plots::knee(report)),
                over_time => panels(bench_plots::over_time(report)),
                order => panels(bench_plots::order(report)),
            })
        })
        // Only a mistake in the template can fail here, and the tests of this crate render it.
        .expect("the template is compiled in and speaks of fields that exist")
}

/// What costs are of.
fn each(report: &RunReport) -> &'static str {
    match report.workload.as_str() {
        "connect" => "connection",
        "sst" | "replication" => "transfer",
        "copy" => "copy",
        _ => "query",
    }
}

/// What is said first: the comparison at the most connections. Where there are several, none of them is the answer.
fn answer(report: &RunReport) -> Option<String> {
    let level = report.levels.iter().rev().find(|level| !level.comparisons.is_empty())?;
    let [comparison] = level.comparisons.as_slice() else { return None };
    let text = &comparison.text;
    Some(match report.levels.len() {
        1 => text.clone(),
        _ => format!("At {}: {text}", model::text::counted(level.connections, "connection", "connections")),
    })
}

/// The template needs no trials, and there are thousands of figures in them.
fn without_samples(report: &RunReport) -> RunReport {
    let mut light = report.clone();
    for arm in light.levels.iter_mut().flat_map(|level| &mut level.arms) {
        arm.samples.clear();
        arm.latency_percentiles.clear();
        arm.latency_histogram = None;
    }
    light
}

/// One for each arm, in the order of the experiment; and one for what others published, where it is drawn.
fn keys(report: &RunReport, with_published: bool) -> Value {
    let arms = report.levels.first().map(|level| level.arms.as_slice()).unwrap_or_default();
    let ours = arms.iter().enumerate().map(|(place, arm)| (Mark::of(place).key(false), arm.name.clone()));
    let theirs = (with_published && !published(report).is_empty())
        .then(|| (Mark::of(0).key(true), "hollow: published, on another machine".to_owned()));
    ours.chain(theirs).map(|(svg, words)| context! { svg => safe(svg), words => words }).collect()
}

/// What stands beside a figure of ours.
fn published(report: &RunReport) -> Vec<&PublishedFigure> {
    let rows = report.published.iter().flat_map(|table| &table.rows);
    rows.filter(|row| {
        report.levels.iter().any(|level| {
            row.connections == Some(level.connections) && level.arms.iter().any(|arm| arm.name == row.arm)
        })
    })
    .collect()
}

fn copies(report: &RunReport) -> impl Iterator<Item = &CopyRow> {
    report.levels.iter().flat_map(|level| &level.arms).filter_map(|arm| arm.copy.as_ref())
}

/// What all copies have in common, rounded; `None`: it was another measurement.
fn first_copy(report: &RunReport) -> Option<[String; 3]> {
    let copy = copies(report).next()?;
    Some([
        format!("{:.0}", copy.bytes as f64 / 1e6),
        format!("{:.0}", copy.donor_rows_offered_per_s),
        format!("{:.0}", copy.donor_rows_alone_per_s),
    ])
}

fn rows(report: &RunReport) -> Vec<Row<'_>> {
    let published = published(report);
    let with_sd = |mean: f64, sd: Option<f64>| {
        sd.map_or_else(|| real(mean), |sd| format!("{} (sd {})", real(mean), real(sd)))
    };
    let arms = report.levels.iter().flat_map(|level| level.arms.iter().map(move |arm| (level, arm)));
    arms.map(|(level, arm)| Row {
        connections: level.connections,
        arm: &arm.name,
        tls: arm.tls.as_ref().map(|tls| format!("{} {}", tls.version, tls.cipher)),
        trials: arm.trials.len(),
        mean: if arm.trials.is_empty() { "–".into() } else { real(arm.mean) },
        deviation: arm.deviation.map(real),
        interval: arm.low.zip(arm.high).map(|(low, high)| format!("{} to {}", real(low), real(high))),
        p95_ms: arm.p95_ms.map(|ms| with_sd(ms, arm.p95_deviation_ms)),
        client_us: arm.client_cpu_us_per_query.map(real),
        server_us: arm.server_cpu_us_per_query.map(real),
        copy: arm.copy.as_ref().map(|copy| CopyCells {
            mb_per_s: real(copy.bytes_per_s / 1e6),
            cpu_s_per_gb: copy.cpu_s_per_gb.map(real),
            rows_per_s: copy.donor_rows_per_s.map(real),
            row_ms_max: copy.donor_row_ms_max.map(real),
        }),
        published: published
            .iter()
            .find(|row| row.arm == arm.name && row.connections == Some(level.connections))
            .map(|row| {
                let p95 = row.p95_ms.map(|ms| format!("; p95 {} ms", with_sd(ms, row.p95_deviation_ms)));
                with_sd(row.per_s, row.deviation) + p95.as_deref().unwrap_or_default()
            }),
    })
    .collect()
}
