//! A tour as one page, to teach a class from. Start reading at [`render_tour_html`], then `templates/tour.html`.

use minijinja::{Value, context};

use super::{STYLE, environment, safe};
use crate::shape::ProveTourReport;

const TOUR_STYLE: &str = include_str!("templates/tour.css");

/// The whole page.
pub fn render_tour_html(report: &ProveTourReport) -> String {
    environment()
        .get_template("tour.html")
        .and_then(|page| {
            page.render(context! {
                r => Value::from_serialize(report),
                style => safe(format!("{STYLE}\n{TOUR_STYLE}")),
            })
        })
        // Only a mistake in the template can fail here, and the tests of this crate render it.
        .expect("the template is compiled in and speaks of fields that exist")
}
