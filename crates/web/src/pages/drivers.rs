//! What drivers do under attack: the matrix that `sealion prove clients` measured, to be filtered.

use std::sync::LazyLock;

use report::drivers::matrix;
use report::shape::{ProveClientsReport, ProveDriverRow, ProveModeRow};

use super::{
    Asked, Deserialize, IntoResponse, Response, Serialize, Site, State, StatusCode, Value, context, header,
    now_unix_ms, query,
};

/// As the book has it.
static DRIVERS: LazyLock<Option<ProveClientsReport>> = LazyLock::new(|| serde_json::from_str(matrix()).ok());

#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Wanted {
    /// A part of a driver's name, or of its options.
    #[serde(default)]
    q: String,
    #[serde(default)]
    promise: String,
    /// `kept`, `broken`, or both.
    #[serde(default)]
    kept: String,
}

impl Wanted {
    fn takes(&self, name: &str, mode: &ProveModeRow) -> bool {
        let part = self.q.to_lowercase();
        let is_kept = match self.kept.as_str() {
            "kept" => mode.is_controlled && mode.broken_by.is_none(),
            "broken" => mode.broken_by.is_some(),
            _ => true,
        };
        is_kept
            && (self.promise.is_empty() || self.promise == mode.promises)
            && (name.to_lowercase().contains(&part) || mode.options.to_lowercase().contains(&part))
    }
}

#[derive(Serialize)]
struct ModeView<'m> {
    name: &'m str,
    version: Option<&'m str>,
    mode: &'m ProveModeRow,
}

pub async fn drivers(State(site): State<Site>, wanted: Asked<Wanted>) -> Response {
    let wanted = match query(wanted) {
        Ok(wanted) => wanted,
        Err(problem) => return site.pages.problem(&problem, false),
    };
    let all = DRIVERS.as_ref().map(|report| report.clients.as_slice()).unwrap_or_default();
    let rows: Vec<_> = all
        .iter()
        .flat_map(|driver| driver.modes.iter().map(move |mode| (driver, mode)))
        .filter(|(driver, mode)| wanted.takes(&driver.name, mode))
        .map(|(driver, mode)| ModeView { name: &driver.name, version: driver.version.as_deref(), mode })
        .collect();
    let (promises, cases) = (promises(all), cases(all));
    let context = context! {
        rows => Value::from_serialize(&rows),
        promises, cases,
        wanted => Value::from_serialize(&wanted),
        now => now_unix_ms(),
        version => env!("CARGO_PKG_VERSION"),
    };
    site.pages.page(StatusCode::OK, "drivers.html", context)
}

fn promises(all: &[ProveDriverRow]) -> Vec<&str> {
    let mut promises: Vec<&str> =
        all.iter().flat_map(|driver| &driver.modes).map(|mode| mode.promises.as_str()).collect();
    promises.sort_unstable();
    promises.dedup();
    promises
}

fn cases(all: &[ProveDriverRow]) -> Vec<&str> {
    let modes = all.iter().flat_map(|driver| &driver.modes);
    let widest = modes.max_by_key(|mode| mode.cases.len());
    widest.map(|mode| mode.cases.iter().map(|case| case.case.as_str()).collect()).unwrap_or_default()
}

pub async fn drivers_json() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], matrix()).into_response()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::path::Path;

    use super::*;

    /// The same matrix as a page of the book.
    const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/drivers.md");
    const HEAD: &str = "# Drivers: what each TLS setting promises and keeps

Made from [`clients.json`](clients.json) by `UPDATE_DOCS=1 cargo test --profile ci -p web`; `sealion web` has the same page at `/drivers`. [How it was
measured, and what the letters mean](clients.md). Bold: the first attack that shows that the
setting does not keep its promise.

";

    fn escaped(text: &str) -> String {
        let mut safe = String::new();
        for char in text.chars() {
            match char {
                '&' => safe += "&amp;",
                '<' => safe += "&lt;",
                '>' => safe += "&gt;",
                '"' => safe += "&quot;",
                // Markdown would end the block, or see a table.
                '\n' | '\r' => safe.push(' '),
                char => safe.push(char),
            }
        }
        safe
    }

    /// Without scripts it is the whole table; the form is shown by the script that answers it.
    fn page(all: &[ProveDriverRow]) -> String {
        let mut out = HEAD.to_owned();
        let (promises, cases) = (promises(all), cases(all));
        let ways: usize = all.iter().map(|driver| driver.modes.len()).sum();
        out += "<form id=\"driver-filter\" hidden>\n<label>driver or option <input name=\"q\" size=\"20\"></label>\n";
        out += "<label>promises <select name=\"promise\"><option value=\"\">anything</option>";
        for one in promises {
            let _ = write!(out, "<option>{}</option>", escaped(one));
        }
        out += "</select></label>\n<label>promise <select name=\"kept\"><option value=\"\">kept or not</option>\
                <option>kept</option><option>broken</option></select></label>\n</form>\n";
        let _ = writeln!(out, "<p><span id=\"driver-count\">{ways}</span> of {ways} settings.</p>");
        out += "<table id=\"drivers\">\n<thead><tr><th>driver</th><th>setting</th><th>promises</th><th>kept</th>";
        for case in &cases {
            let _ = write!(out, "<th>{}</th>", escaped(case));
        }
        out += "</tr></thead>\n<tbody>\n";
        for driver in all {
            for mode in &driver.modes {
                let name = format!("{} {}", driver.name, driver.version.as_deref().unwrap_or_default());
                // A setting with which the driver does not even reach the honest server says nothing about attacks.
                let kept = match (&mode.broken_by, mode.is_controlled) {
                    (Some(by), _) => format!("broken by {by}"),
                    (None, true) => "kept".into(),
                    (None, false) => "not known".into(),
                };
                let word = kept.split(' ').next().unwrap_or_default();
                let _ = write!(
                    out,
                    "<tr data-kept=\"{word}\"><th>{}</th><td><code>{}</code></td><td>{}</td><td>{}</td>",
                    escaped(name.trim()),
                    escaped(&mode.options),
                    escaped(&mode.promises),
                    escaped(&kept)
                );
                for wanted in &cases {
                    let seen = mode.cases.iter().find(|case| case.case == *wanted);
                    let cell = seen.map_or_else(String::new, |seen| {
                        let letter = escaped(&seen.verdict);
                        let is_broken = mode.broken_by.as_deref() == Some(wanted);
                        let letter = if is_broken { format!("<b>{letter}</b>") } else { letter };
                        format!("<span title=\"{}\">{letter}</span>", escaped(&seen.text))
                    });
                    let _ = write!(out, "<td>{cell}</td>");
                }
                out += "</tr>\n";
            }
        }
        out += "</tbody>\n</table>\n";
        out + include_str!("../../assets/book-drivers.html")
    }

    #[test]
    fn the_matrix_of_the_book_is_read() {
        let report = DRIVERS.as_ref().expect("it is of this shape");
        assert!(report.clients.len() > 30, "{}", report.clients.len());
    }

    #[test]
    fn the_page_of_the_book_is_current_and_whole() {
        let all = &DRIVERS.as_ref().expect("it is of this shape").clients;
        let page = page(all);
        let path = Path::new(BOOK);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).expect("writable");
        }
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(found == page, "run UPDATE_DOCS=1 cargo test --profile ci -p web, and commit {BOOK}");
        let ways: usize = all.iter().map(|driver| driver.modes.len()).sum();
        assert_eq!(page.matches("<tr data-kept").count(), ways, "every setting is there without a script");
        let table = page.split("<form").nth(1).expect("a form");
        // An empty line would end the block, and Markdown would read the rest.
        assert!(!table.trim_end().contains("\n\n"));
        let broken = page.matches("data-kept=\"broken\"").count();
        assert_eq!(
            broken,
            all.iter().flat_map(|one| &one.modes).filter(|one| one.broken_by.is_some()).count()
        );
    }

    #[test]
    fn names_are_text_in_the_book_too() {
        assert_eq!(escaped("<script>\n\"&"), "&lt;script&gt; &quot;&amp;");
    }
}
