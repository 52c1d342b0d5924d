//! A report as one HTML file: style and pictures inline, no script, nothing fetched.
//!
//! Templates (escaped by minijinja) hold the words; the pictures are drawn here, with [`svg::escape`] around every
//! value. Start reading at [`render_html`], then `templates/report.html`.

mod audit;
mod audit_map;
mod bench;
mod bench_plots;
mod findings;
mod hexdump;
mod latency;
mod marks;
mod samples;
mod scan;
mod svg;
mod timeline;
mod topology;
mod tour;

use minijinja::{Environment, UndefinedBehavior, Value, context};

use crate::contradictions::contradictions;
use crate::figures;
use crate::shape::{DemoReport, Price};
pub use audit::render_audit_html;
pub use bench::render_bench_html;
pub use scan::render_scan_html;
pub use tour::render_tour_html;

const TEMPLATES: &[(&str, &str)] = &[
    ("report.html", include_str!("templates/report.html")),
    ("words.html", include_str!("templates/words.html")),
    ("summary.html", include_str!("templates/summary.html")),
    ("links.html", include_str!("templates/links.html")),
    ("findings.html", include_str!("templates/findings.html")),
    ("status.html", include_str!("templates/status.html")),
    ("roll.html", include_str!("templates/roll.html")),
    ("intruders.html", include_str!("templates/intruders.html")),
    ("price.html", include_str!("templates/price.html")),
    ("more.html", include_str!("templates/more.html")),
    ("at_rest.html", include_str!("templates/at_rest.html")),
    ("method.html", include_str!("templates/method.html")),
    ("scan.html", include_str!("templates/scan.html")),
    ("audit.html", include_str!("templates/audit.html")),
    ("tour.html", include_str!("templates/tour.html")),
    ("bench.html", include_str!("templates/bench.html")),
];
const STYLE: &str = include_str!("templates/style.css");

/// The whole page.
pub fn render_html(report: &DemoReport) -> String {
    let findings = findings::sides(report);
    environment()
        .get_template("report.html")
        .and_then(|page| {
            page.render(context! {
                r => Value::from_serialize(report),
                style => safe(STYLE.to_owned()),
                contradictions => contradictions(report),
                topology_before => safe(topology::draw(report, topology::When::Before)),
                topology_after => safe(topology::draw(report, topology::When::After)),
                findings_open => Value::from_serialize(&findings.open),
                findings_quiet => Value::from_serialize(&findings.quiet),
                evidence => evidence(report),
                timeline => safe(timeline::draw(&report.roll)),
                samples => picture(report.price.as_ref(), samples::draw),
                latency => picture(report.price.as_ref(), latency::draw),
            })
        })
        // Only a mistake in a template can fail here, and every template is rendered by the tests of this crate.
        .expect("the templates are compiled in and speak of fields that exist")
}

fn picture(price: Option<&Price>, draw: fn(&Price) -> String) -> Value {
    price.map_or(Value::from(()), |price| safe(draw(price)))
}

/// One dump per kind of link: the first finding, in the order of the report, that has bytes.
fn evidence(report: &DemoReport) -> Value {
    let mut rows: Vec<Value> = Vec::new();
    let mut kinds: Vec<&str> = Vec::new();
    for before in &report.findings_before {
        let kind = before.subject.split(' ').next().unwrap_or(&before.subject);
        let Some(bytes) = &before.evidence else { continue };
        if kinds.contains(&kind) {
            continue;
        }
        kinds.push(kind);
        let after = report
            .findings_after
            .iter()
            .find(|after| after.rule == before.rule && after.subject == before.subject)
            .and_then(|after| after.evidence.as_ref());
        rows.push(context! {
            subject => before.subject,
            before => Value::from_serialize(bytes),
            before_dump => safe(hexdump::draw(bytes)),
            after => Value::from_serialize(after),
            after_dump => after.map(|bytes| safe(hexdump::draw(bytes))),
        });
    }
    Value::from(rows)
}

/// Marks text as HTML. Only for what this module made and escaped itself.
fn safe(html: String) -> Value {
    Value::from_safe_string(html)
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    // A misspelt field is an error, not a blank.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_filter("thousands", figures::thousands);
    environment.add_filter("real", figures::real);
    environment.add_filter("duration", figures::duration);
    environment.add_filter("bytes", figures::bytes);
    environment.add_filter("moment", figures::moment);
    environment.add_filter("day", figures::day);
    environment
        .add_filter("since", |ended: u64, started: u64| figures::duration(ended.saturating_sub(started)));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("the templates are compiled in and parsed by every test");
    }
    environment
}
