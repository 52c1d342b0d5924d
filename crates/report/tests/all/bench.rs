//! The shapes of `sealion bench …`, and their schemas.

use std::io::Write as _;

use crate::support::json::{check, errors};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use report::formats::bench::{trials_csv, trials_parquet};
use report::html::render_bench_html;
use report::shape::{AdviseReport, CompareReport, LoadReport, RunReport, RunsReport};
use report::{
    BENCH_ADVISE_SCHEMA, BENCH_COMPARE_SCHEMA, BENCH_LOAD_SCHEMA, BENCH_RUN_SCHEMA, BENCH_RUNS_SCHEMA,
};

#[test]
fn the_shape_of_a_load_is_the_published_one() {
    let sample = include_str!("../../testdata/bench-load.json");
    let (schema, mut broken) = check::<LoadReport>(BENCH_LOAD_SCHEMA, sample, |_| {});
    broken["latency_ms"].as_object_mut().expect("an object").remove("p95").expect("it is there");
    broken["queries"] = "many".into();
    assert_eq!(errors(&schema, &broken).len(), 2);
}

#[test]
fn the_shape_of_an_experiment_is_the_published_one() {
    let sample = include_str!("../../testdata/bench-run.json");
    let (schema, mut broken) = check::<RunReport>(BENCH_RUN_SCHEMA, sample, |_| {});
    broken["levels"][0]["comparisons"][0]["ratio"] = "much".into();
    broken["unit"] = "miles".into();
    assert_eq!(errors(&schema, &broken).len(), 2);
}

#[test]
fn the_shape_of_what_is_kept_is_the_published_one() {
    let sample = include_str!("../../testdata/bench-runs.json");
    let (schema, mut broken) = check::<RunsReport>(BENCH_RUNS_SCHEMA, sample, |_| {});
    broken["runs"][0]["kind"] = "walk".into();
    broken.as_object_mut().expect("an object").remove("unread").expect("it is there");
    assert_eq!(errors(&schema, &broken).len(), 2);
}

#[test]
fn the_shape_of_a_comparison_is_the_published_one() {
    let sample = include_str!("../../testdata/bench-compare.json");
    let (schema, mut broken) = check::<CompareReport>(BENCH_COMPARE_SCHEMA, sample, |_| {});
    broken["rows"][0]["ratio"] = "much".into();
    broken["first"].as_object_mut().expect("an object").remove("run").expect("it is there");
    assert_eq!(errors(&schema, &broken).len(), 2);
}

#[test]
fn the_shape_of_advice_is_the_published_one() {
    let sample = include_str!("../../testdata/bench-advise.json");
    // What is unknown has no proof: that list is empty.
    let (schema, mut broken) = check::<AdviseReport>(BENCH_ADVISE_SCHEMA, sample, |whole| {
        let rows = whole["advice"].as_array_mut().expect("rows");
        rows.retain(|row| row["verdict"] != "unknown");
    });
    broken["advice"][0]["verdict"] = "perhaps".into();
    broken["capacity"][0]["server_alone_per_s"] = "many".into();
    assert_eq!(errors(&schema, &broken).len(), 2);
}

fn run() -> RunReport {
    serde_json::from_str(include_str!("../../testdata/bench-run.json")).expect("a sample")
}

#[test]
fn an_export_has_a_line_a_trial_and_cells_that_no_spreadsheet_computes() {
    let mut report = run();
    report.server_version = "=cmd|' /C calc'!A0, \"x\"".into();
    let csv = trials_csv(&report);
    let lines: Vec<&str> = csv.split("\r\n").collect();
    let trials: usize = report.levels.iter().flat_map(|level| &level.arms).map(|arm| arm.samples.len()).sum();
    // The header, and the end of the last line.
    assert_eq!((lines.len(), lines.last()), (trials + 2, Some(&"")));
    let columns: Vec<&str> = lines[0].split(',').collect();
    assert!(
        columns.contains(&"latency_p95_ms") && columns.contains(&"server_cpu_us_per_query"),
        "{columns:?}"
    );
    let quoted = "\"'=cmd|' /C calc'!A0, \"\"x\"\"\"";
    assert!(lines[1].contains(quoted), "{}", lines[1]);
    // That cell has the only comma inside.
    assert_eq!(lines[1].replace(quoted, "version").split(',').count(), columns.len(), "{}", lines[1]);
    assert!(lines[trials].contains("TLSv1.3,TLS_AES_256_GCM_SHA384"), "{}", lines[trials]);
}

#[test]
fn a_parquet_file_has_the_columns_of_the_csv_with_their_types() {
    let report = run();
    let bytes = trials_parquet(&report).expect("written");
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&bytes).expect("room for it");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let csv = trials_csv(&report);
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let fields = reader.metadata().file_metadata().schema_descr();
    let found: Vec<String> = fields.columns().iter().map(|column| column.name().to_owned()).collect();
    assert_eq!(found, names);
    let rows: Vec<_> = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), lines.clone().count());
    for (row, line) in rows.iter().zip(lines) {
        let cells: Vec<String> = row
            .get_column_iter()
            .map(|(_, field)| match field {
                Field::Null => String::new(),
                Field::Str(text) => text.clone(),
                Field::Bool(is) => is.to_string(),
                Field::Long(count) => count.to_string(),
                Field::Double(value) => value.to_string(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(cells.join(","), line);
    }
}

#[test]
fn a_page_has_every_arm_and_no_text_of_a_server_becomes_markup() {
    let mut report = run();
    report.server_version = "<script>alert(1)</script>".into();
    report.levels[0].arms[1].name = "TLS <b>\"'&".into();
    let page = render_bench_html(&report);
    assert!(
        !page.contains("<script") && !page.contains("<b>\"") && !page.contains("NaN"),
        "markup or no number"
    );
    assert!(page.contains("&lt;script&gt;") && page.contains("TLS &lt;b&gt;"));
    for word in [
        "cleartext",
        "What does TLS cost a client that connects",
        "not usable",
        "Published",
        "Each trial",
        "CPU time per connection",
    ] {
        assert!(page.contains(word), "{word}");
    }
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing is fetched");
}

#[test]
fn a_page_of_nothing_or_of_nonsense_is_a_page() {
    let mut nothing = run();
    (nothing.levels, nothing.published) = (vec![], None);
    assert!(render_bench_html(&nothing).contains("Not measured."));
    let mut nonsense = run();
    for arm in nonsense.levels.iter_mut().flat_map(|level| &mut level.arms) {
        (arm.mean, arm.low, arm.high) = (f64::NAN, Some(f64::INFINITY), Some(-1.0));
        arm.trials = vec![f64::NAN, -5.0, f64::INFINITY];
        arm.latency_percentiles.iter_mut().for_each(|point| point.ms = 0.0);
        arm.server_cpu_us_per_query = Some(f64::NAN);
    }
    let page = render_bench_html(&nonsense);
    for attribute in ["=\"NaN", "=\"inf", "=\"-inf", " NaN", ",NaN", "NaN,"] {
        assert!(!page.contains(attribute), "{attribute}");
    }
    let mut bare = run();
    for arm in bare.levels.iter_mut().flat_map(|level| &mut level.arms) {
        arm.trials.clear();
        arm.samples.clear();
        arm.latency_percentiles.clear();
    }
    assert!(render_bench_html(&bare).contains("no complete trial"));
}
