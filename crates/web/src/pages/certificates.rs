//! The calendar of certificates: by week on a page, and as appointments.

use std::fmt::Write;

use super::{
    Asked, Deserialize, IntoResponse, OfCluster, Pages, Response, Serialize, Site, State, StatusCode, Value,
    WatchCertificateRow, WatchCertificatesReport, context, header, json, query, read,
};
use crate::words;

/// On the page; the JSON has all.
const ROWS_MAX: usize = 400;
const DAY_S: i64 = 86_400;
const WEEK_S: i64 = 7 * DAY_S;
/// A Monday, 1970-01-05.
const MONDAY_S: i64 = 4 * DAY_S;
const ICS_LINE_BYTES_MAX: usize = 75;
/// Appointments a year ahead are enough, and a calendar of thousands is of no use.
const ICS_EVENTS_MAX: usize = 5000;

#[derive(Debug, Default, Deserialize)]
pub struct Wanted {
    #[serde(default)]
    cluster: String,
}

#[derive(Serialize)]
struct Week<'r> {
    class: &'static str,
    title: String,
    rows: Vec<&'r OfCluster<WatchCertificateRow>>,
}

const fn monday(unix: i64) -> i64 {
    (unix - MONDAY_S).div_euclid(WEEK_S) * WEEK_S + MONDAY_S
}

/// In the order of the ends: what has ended, week by week, and what nobody has read.
fn weeks<'r>(rows: &[&'r OfCluster<WatchCertificateRow>], now_unix_ms: u64) -> Vec<Week<'r>> {
    let now = i64::try_from(now_unix_ms / 1000).unwrap_or(i64::MAX);
    let mut weeks: Vec<Week<'r>> = Vec::new();
    for row in rows {
        let (class, title) = match row.row.not_after_unix {
            None => ("unknown", "Not known".to_owned()),
            Some(end) if end < now => ("bad", "Ended".to_owned()),
            Some(end) => {
                let title = format!("Week of {}", words::day(monday(end)));
                (words::urgency(end, now_unix_ms), title)
            }
        };
        match weeks.last_mut().filter(|week| week.title == title) {
            Some(week) => week.rows.push(row),
            None => weeks.push(Week { class, title, rows: vec![row] }),
        }
    }
    weeks
}

impl Pages {
    fn certificates(&self, report: &WatchCertificatesReport, wanted: &Wanted) -> Response {
        let of = |one: &&OfCluster<WatchCertificateRow>| {
            wanted.cluster.is_empty() || one.cluster == wanted.cluster
        };
        let all: Vec<_> = report.certificates.iter().filter(of).collect();
        let shown = all.get(..ROWS_MAX).unwrap_or(&all);
        let context = context! {
            weeks => Value::from_serialize(weeks(shown, report.at_unix_ms)),
            count => all.len(),
            more => all.len() - shown.len(),
            cluster => wanted.cluster,
            now => report.at_unix_ms,
            version => report.sealion_version,
        };
        self.page(StatusCode::OK, "certificates.html", context)
    }
}

pub async fn certificates(State(site): State<Site>, wanted: Asked<Wanted>) -> Response {
    let wanted = match query(wanted) {
        Ok(wanted) => wanted,
        Err(problem) => return site.pages.problem(&problem, false),
    };
    match read(&site, watch::view::read_certificates).await {
        Ok(report) => site.pages.certificates(&report, &wanted),
        Err(problem) => site.pages.problem(&problem, false),
    }
}

pub async fn certificates_json(State(site): State<Site>) -> Response {
    match read(&site, watch::view::read_certificates).await {
        Ok(report) => json(StatusCode::OK, &report),
        Err(problem) => site.pages.problem(&problem, true),
    }
}

pub async fn certificates_ics(State(site): State<Site>) -> Response {
    match read(&site, watch::view::read_certificates).await {
        Ok(report) => {
            let kind = [
                (header::CONTENT_TYPE, "text/calendar; charset=utf-8"),
                (header::CONTENT_DISPOSITION, "attachment; filename=\"sealion-certificates.ics\""),
            ];
            (kind, calendar(&report)).into_response()
        }
        Err(problem) => site.pages.problem(&problem, true),
    }
}

/// Source: RFC 5545 sections 3.1 (lines end in CRLF and are folded at 75 bytes), 3.3.11 (what a text escapes), 3.6.1.
fn calendar(report: &WatchCertificatesReport) -> String {
    let mut out = String::new();
    let stamp = |unix_ms: u64| {
        let text = words::moment(unix_ms);
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        match (digits.get(..8), digits.get(8..14)) {
            (Some(day), Some(time)) => format!("{day}T{time}Z"),
            _ => "19700101T000000Z".into(),
        }
    };
    for text in ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//sealion//certificates//EN"] {
        line(&mut out, text);
    }
    let ends = report.certificates.iter().filter_map(|one| Some((one, one.row.not_after_unix?)));
    for (one, end) in ends.take(ICS_EVENTS_MAX) {
        let row = &one.row;
        let Some(at_ms) = u64::try_from(end).ok().and_then(|end| end.checked_mul(1000)) else { continue };
        let whose = format!("{} {} {} {}", one.cluster, row.server, row.usage, row.seen);
        let id = row.fingerprint.as_deref().unwrap_or_default();
        line(&mut out, "BEGIN:VEVENT");
        line(&mut out, &format!("UID:{}", text(&format!("{id} {whose}@sealion").replace(' ', "-"))));
        line(&mut out, &format!("DTSTAMP:{}", stamp(report.at_unix_ms)));
        line(&mut out, &format!("DTSTART:{}", stamp(at_ms)));
        let what = format!("Certificate ends: {} {} ({})", one.cluster, row.server, row.usage);
        line(&mut out, &format!("SUMMARY:{}", text(&what)));
        let read = if row.is_current { "" } else { " It was not read at the last check." };
        let about = format!("Read from {}; SHA-256 {id}.{read} To replace it: sealion rotate", row.seen);
        line(&mut out, &format!("DESCRIPTION:{}", text(&about)));
        for text in ["TRANSP:TRANSPARENT", "END:VEVENT"] {
            line(&mut out, text);
        }
    }
    line(&mut out, "END:VCALENDAR");
    out
}

fn text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\\' => safe.push_str("\\\\"),
            ';' => safe.push_str("\\;"),
            ',' => safe.push_str("\\,"),
            '\n' => safe.push_str("\\n"),
            char if char.is_control() => {}
            char => safe.push(char),
        }
    }
    safe
}

fn line(out: &mut String, text: &str) {
    let mut used = 0;
    for char in text.chars() {
        if used + char.len_utf8() > ICS_LINE_BYTES_MAX {
            out.push_str("\r\n ");
            used = 1;
        }
        out.push(char);
        used += char.len_utf8();
    }
    // Writing to a String cannot fail.
    let _ = write!(out, "\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(cluster: &str, end: Option<i64>) -> OfCluster<WatchCertificateRow> {
        let row = WatchCertificateRow {
            server: "db1".into(),
            usage: "server".into(),
            seen: "wire".into(),
            fingerprint: Some("ab".repeat(32)),
            not_before_unix: None,
            not_after_unix: end,
            is_current: true,
            why: String::new(),
            reload_pending: None,
            first_seen_unix_ms: 0,
            last_seen_unix_ms: 0,
        };
        OfCluster { cluster: cluster.into(), is_stale: false, row }
    }

    #[test]
    fn certificates_are_in_the_week_in_which_they_end() {
        // 2026-11-28 is a Saturday.
        let now = 1_795_824_000;
        let ends = [
            Some(now - 1),
            Some(now + 1),
            Some(now + 2 * DAY_S),
            Some(now + 8 * DAY_S),
            Some(now + 40 * DAY_S),
            None,
        ];
        let all: Vec<_> = ends.iter().map(|end| one("c", *end)).collect();
        let rows: Vec<_> = all.iter().collect();
        let weeks = weeks(&rows, u64::try_from(now).unwrap_or_default() * 1000);
        let told: Vec<_> =
            weeks.iter().map(|week| (week.class, week.title.as_str(), week.rows.len())).collect();
        assert_eq!(
            told,
            [
                ("bad", "Ended", 1),
                ("bad", "Week of 2026-11-23", 1),
                ("bad", "Week of 2026-11-30", 2),
                ("", "Week of 2027-01-04", 1),
                ("unknown", "Not known", 1)
            ]
        );
    }

    #[test]
    fn a_calendar_keeps_to_its_lines_whatever_a_name_holds() {
        let evil = "a;b,c\\d\r\nBEGIN:VALARM é".repeat(9);
        let report = WatchCertificatesReport {
            schema: String::new(),
            sealion_version: String::new(),
            at_unix_ms: 1_795_824_000_000,
            certificates: vec![one(&evil, Some(1_796_000_000)), one("none", None), one("old", Some(-5))],
        };
        let text = calendar(&report);
        assert!(
            text.starts_with("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n") && text.ends_with("END:VCALENDAR\r\n"),
            "{text}"
        );
        assert_eq!(text.matches("BEGIN:VEVENT\r\n").count(), 1, "only what has an end: {text}");
        assert!(text.contains("\r\nDTSTAMP:20261128T000000Z\r\nDTSTART:20261130T005320Z\r\n"), "{text}");
        for line in text.split("\r\n") {
            assert!(
                line.len() <= ICS_LINE_BYTES_MAX && !line.contains('\n') && !line.starts_with("BEGIN:VALARM"),
                "{line}"
            );
        }
        let unfolded = text.replace("\r\n ", "");
        assert!(unfolded.contains("SUMMARY:Certificate ends: a\\;b\\,c\\\\d\\nBEGIN:VALARM é"), "{unfolded}");
    }
}
