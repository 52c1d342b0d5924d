//! The page and the summary: nothing escapes, nothing is fetched, the numbers and words are there.

use report::contradictions::contradictions;
use report::shape::{Outcome, SeenWord};
use report::{DemoReport, render_html, render_summary};
use serde_json::Value;

fn changed(change: impl FnOnce(&mut DemoReport)) -> DemoReport {
    let mut report = crate::support::sample();
    change(&mut report);
    report
}

#[track_caller]
fn shows(page: &str, fragments: &[&str]) {
    for fragment in fragments {
        assert!(page.contains(fragment), "the page does not show {fragment:?}");
    }
}

#[test]
fn no_string_of_a_report_becomes_markup() {
    let payload = "\"'><script>alert(1)</script><img src=x onerror=y>";
    let report = crate::support::with_every_string(payload);
    assert_eq!(report.refusals[0].answer, payload);
    assert_eq!(report.summary.links[0].a, payload);
    for report in [&report, &changed_links(report.clone())] {
        let page = render_html(report);
        for raw in ["<script", "<img", "\"'>", "onerror=y>"] {
            assert!(!page.contains(raw), "{raw} is in the page as markup");
        }
        assert!(page.contains("&lt;script&gt;"));
    }
}

/// Links and nodes of the same hostile name, so that they are drawn.
fn changed_links(mut report: DemoReport) -> DemoReport {
    for (place, link) in report.summary.links.iter_mut().enumerate() {
        link.b = format!("{}{place}", link.a);
    }
    report
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let page = render_html(&crate::support::sample());
    for way_out in
        ["http://", "https://", "<link", "<script", "@import", "<iframe", "<img", "srcset", "javascript:"]
    {
        assert!(!page.contains(way_out), "the page has {way_out}");
    }
    // The only url() is a pattern of the same page.
    assert_eq!(page.matches("url(").count(), page.matches("url(#drain)").count());
}

#[test]
fn tags_are_balanced_and_headings_in_order() {
    let page = render_html(&crate::support::sample());
    for tag in [
        "section", "table", "thead", "tbody", "tr", "td", "th", "svg", "figure", "div", "dl", "ul", "ol",
        "pre", "mark", "details", "span", "g", "text", "p",
    ] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        let closed = page.matches(&format!("</{tag}>")).count();
        assert_eq!(opened, closed, "<{tag}>");
    }
    assert_eq!(page.matches("<h1").count(), 1);
    let tables = page.matches("<table").count();
    assert_eq!(page.matches("<caption>").count(), tables, "every table says what it is");
    let pictures = page.matches("role=\"img\"").count();
    assert_eq!(pictures, 5, "two topologies, the timeline and two plots have a text");
}

#[test]
fn the_page_shows_the_numbers_with_units_and_the_words_verbatim() {
    let report = crate::support::sample();
    let page = render_html(&report);
    shows(
        &page,
        &[
            "under 35,588 acknowledged writes, none of them lost.",
            "412 ms",
            "97 <span class=\"to\"",
            "galera: cleartext",
            "joins later",
            "<mark>53 4c 43 41</mark>",
            "longest stall 412 ms, n3",
            "acknowledged writes per 500 ms",
            "Connections using insecure transport are prohibited while --require_secure_transport=ON.",
            "no causal interval is claimed",
            "0 client connections cut",
            "no bytes flowed on this link while we looked",
            "Not checked",
            "sealion demo --keep",
            "7.75 GiB memory",
            "prefers-color-scheme: dark",
            "@media print",
        ],
    );
    // The same on every run: no clock, no random source.
    assert_eq!(page, render_html(&report));
}

#[test]
fn one_bucket_is_one_point_and_the_line_is_not_smoothed() {
    let report = crate::support::sample();
    let page = render_html(&report);
    let points = page.matches("class=\"point\"").count();
    assert_eq!(points, report.roll.acknowledged_per_bucket.len());
    let steps = page.split("class=\"steps\"").next().and_then(|head| head.rsplit("<path d=\"").next());
    let steps = steps.expect("the steps are a path");
    assert!(!steps.contains(['C', 'Q', 'S', 'T']), "only straight lines");
    let samples = page.matches("class=\"sample ").count();
    let price = report.price.expect("the sample has a price");
    assert_eq!(samples, price.before.per_s_samples.len() + price.after.per_s_samples.len());
}

#[test]
fn a_report_with_nothing_in_it_is_shown_too() {
    let report = changed(|report| {
        report.summary.links.clear();
        report.summary.throughput_ratio = None;
        report.summary.verdict = Outcome::Unproven;
        report.status_before.clear();
        report.status_after.clear();
        report.findings_before.clear();
        report.findings_after.clear();
        report.refusals.clear();
        (report.join, report.price, report.rotation) = (None, None, None);
        (report.disable, report.undo, report.enable_again) = (None, None, None);
        report.roll.steps.clear();
        report.roll.stalls.clear();
        report.roll.drains.clear();
        report.roll.acknowledged_per_bucket.clear();
        report.roll.buckets_ms = 0;
        report.roll.ended_unix_ms = report.roll.started_unix_ms;
        report.not_looked_at.clear();
        report.see_again.clear();
        report.phases.clear();
        report.servers.clear();
    });
    let page = render_html(&report);
    shows(&page, &["No workload was run.", "No intruder was tested.", "not everything could be verified"]);
    assert!(!page.contains("NaN") && !page.contains("inf\""));
    render_summary(&report);
}

#[test]
fn absurd_numbers_are_drawn_without_panic_or_nan() {
    // Every number, one kind of absurdity at a time; what does not fit its type stays as it is.
    for absurd in
        [Value::from(0u64), Value::from(u64::MAX), Value::from(u32::MAX), Value::from(1e300), Value::from(-1)]
    {
        let mut value = crate::support::sample_value();
        replace_numbers(&mut value, &absurd);
        if let Ok(report) = DemoReport::from_json(&value.to_string()) {
            let page = render_html(&report);
            assert!(!page.contains("NaN") && !page.contains("\"inf"), "with {absurd}");
            render_summary(&report);
        }
    }
}

fn replace_numbers(value: &mut Value, with: &Value) {
    match value {
        Value::Number(_) => {
            // A type keeps its limits: floats take anything, ports and counts what fits.
            let is_float = value.is_f64();
            let fits = is_float
                || with.as_u64().is_some_and(|number| number == 0 || u16::try_from(number).is_ok())
                || (with.is_u64() && value.as_u64().is_some_and(|number| number > u64::from(u32::MAX)));
            if fits {
                *value = if is_float { Value::from(with.as_f64().unwrap_or(0.0)) } else { with.clone() };
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|item| replace_numbers(item, with)),
        Value::Object(map) => map.values_mut().for_each(|item| replace_numbers(item, with)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[test]
fn a_sound_report_does_not_contradict_itself() {
    assert_eq!(contradictions(&crate::support::sample()), Vec::<String>::new());
}

#[test]
fn a_claim_that_the_numbers_do_not_carry_is_not_made() {
    let check = |change: fn(&mut DemoReport), why: &str| {
        let report = changed(change);
        let found = contradictions(&report);
        assert!(found.iter().any(|sentence| sentence.contains(why)), "{why}: {found:?}");
        let page = render_html(&report);
        shows(&page, &["This report contradicts itself."]);
        assert!(!page.contains("none of them lost"));
        assert!(render_summary(&report).starts_with("THIS REPORT CONTRADICTS ITSELF"));
    };
    check(|report| report.summary.links[0].seen_after = SeenWord::Plain, "is plain after");
    check(|report| report.summary.links[0].seen_after = SeenWord::Unknown, "is unknown after");
    check(|report| report.summary.links[0].control_seen_after = false, "the control not seen");
    check(|report| report.summary.links[0].kernel_drops_after = 1, "1 dropped packets");
    check(
        |report| report.summary.links[0].canaries_after = 1,
        "is reported as sealed after, with 1 canaries",
    );
    check(|report| report.summary.acknowledged_writes_lost = 1, "1 lost writes");
    check(|report| report.summary.failed_transactions = 2, "2 failed transactions");
    check(|report| report.refusals[1].refused = false, "the plain node was accepted");
    check(|report| report.summary.links.clear(), "no link was checked");
    // No state transfer at all was seen sealed: then an unknown one is a gap.
    check(
        |report| {
            report
                .summary
                .links
                .retain(|link| !(link.kind.as_str() == "sst" && link.seen_after == SeenWord::Sealed));
        },
        "sst n1-n3 is unknown after",
    );
}

#[test]
fn unknown_is_drawn_unlike_sealed_and_said_with_its_reason() {
    let page = render_html(&changed(|report| {
        report.summary.verdict = Outcome::Unproven;
        let link = &mut report.summary.links[0];
        (link.seen_after, link.why_after) = (SeenWord::Unknown, Some("the kernel dropped 3 packets".into()));
    }));
    shows(
        &page,
        &["class=\"link unknown\"", "galera ?", "the kernel dropped 3 packets", ">unproven</strong>"],
    );
}

#[test]
fn the_summary_fits_eighty_columns_and_holds_no_control_characters() {
    let long = "w\u{1b}[31mörter ".repeat(40) + &"x".repeat(300);
    for report in [crate::support::sample(), crate::support::with_every_string(&long)] {
        let text = render_summary(&report);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
        assert!(text.chars().all(|char| char == '\n' || !char.is_control()));
    }
}

#[test]
fn the_summary_names_verdict_numbers_and_every_link() {
    let text = render_summary(&crate::support::sample());
    shows(
        &text,
        &[
            "PROVEN: all cluster traffic is encrypted, as captured packets show\n",
            "  writes acknowledged      35,588, of these lost: 0\n",
            "  longest stall            412 ms\n",
            "  canaries on the wire     97 before, 0 after\n",
            "  intruders rejected       3 of 3\n",
            "  galera  n1 - n2             plain    sealed       180 KiB    207 KiB     seen\n",
            "  data at rest             9 of 141 files of n1 are plain; 1 more cannot be\n                           encrypted\n",
            "  - Data at rest of the other nodes, temporary files, freed blocks, memory and\n",
        ],
    );
}
