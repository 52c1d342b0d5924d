//! One server.

use super::{
    JSON, LINKS_FROM_WORST, Pages, Problem, Response, Segment, Site, State, StatusCode, Value, WatchLinkRow,
    WatchServerReport, context, is_json, json, read,
};

impl Pages {
    fn server(&self, report: &WatchServerReport) -> Response {
        let mut links: Vec<&WatchLinkRow> = report.links.iter().collect();
        links.sort_by_key(|link| LINKS_FROM_WORST.iter().position(|state| *state == link.state));
        let context = context! {
            s => Value::from_serialize(&report.summary),
            one => Value::from_serialize(&report.server),
            r => Value::from_serialize(report),
            links => Value::from_serialize(&links),
            lasts_s => watch::state::UNKNOWN_LASTS_S,
            now => report.at_unix_ms,
            version => report.sealion_version,
        };
        self.page(StatusCode::OK, "server.html", context)
    }
}

/// The page of a server; with `.json` behind its name, the same as JSON.
pub async fn server(
    State(site): State<Site>,
    Segment((cluster, asked)): Segment<(String, String)>,
) -> Response {
    let is_json = is_json(&asked);
    let found = read(&site, move |store, now| {
        // A server may be called `a.json`.
        if let Some(report) = watch::view::read_server(store, &cluster, &asked, now)? {
            return Ok(Some((report, false)));
        }
        let Some(name) = asked.strip_suffix(JSON) else { return Ok(None) };
        Ok(watch::view::read_server(store, &cluster, name, now)?.map(|report| (report, true)))
    });
    match found.await {
        Ok(Some((report, true))) => json(StatusCode::OK, &report),
        Ok(Some((report, false))) => site.pages.server(&report),
        Ok(None) => {
            let (why, next) =
                ("the store has no server of this name in this cluster", "go to the list of clusters");
            site.pages.problem(&Problem::new(StatusCode::NOT_FOUND, "Not watched", why, next), is_json)
        }
        Err(problem) => site.pages.problem(&problem, is_json),
    }
}
