//! What drivers do under attack: the matrix that `sealion prove clients` measured, to be filtered.

use std::sync::LazyLock;

use report::shape::{ProveClientsReport, ProveModeRow};

use super::{
    Asked, Deserialize, IntoResponse, Response, Serialize, Site, State, StatusCode, Value, context, header,
    now_unix_ms, query,
};

/// As the book has it.
const MATRIX: &str = include_str!("../../../../docs/src/reference/clients.json");
static DRIVERS: LazyLock<Option<ProveClientsReport>> = LazyLock::new(|| serde_json::from_str(MATRIX).ok());

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
    let mut promises: Vec<&str> =
        all.iter().flat_map(|driver| &driver.modes).map(|mode| mode.promises.as_str()).collect();
    promises.sort_unstable();
    promises.dedup();
    let cases: Vec<&str> = all
        .iter()
        .flat_map(|driver| &driver.modes)
        .max_by_key(|mode| mode.cases.len())
        .map(|mode| mode.cases.iter().map(|case| case.case.as_str()).collect())
        .unwrap_or_default();
    let context = context! {
        rows => Value::from_serialize(&rows),
        promises, cases,
        wanted => Value::from_serialize(&wanted),
        now => now_unix_ms(),
        version => env!("CARGO_PKG_VERSION"),
    };
    site.pages.page(StatusCode::OK, "drivers.html", context)
}

pub async fn drivers_json() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], MATRIX).into_response()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_matrix_of_the_book_is_read() {
        let report = super::DRIVERS.as_ref().expect("it is of this shape");
        assert!(report.clients.len() > 30, "{}", report.clients.len());
    }
}
