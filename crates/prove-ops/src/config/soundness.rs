//! What a file comes to, as a table: files that people write, and the traps in them. A verdict better than `unknown` is only
//! right where the whole expression that reaches the driver was read.

use super::*;

/// What is said of a whole file: the worst severity, `safe`, or `unknown` where any part of it is.
fn verdict(name: &str, text: &str, driver: Option<&'static str>) -> (String, String) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(name);
    std::fs::write(&path, text).expect("written");
    let matrix = Matrix::built_in().expect("it is built in");
    let looked = look(&ConfigRequest { files: &[path], texts: &[], driver }, &matrix);
    let shown = format!("{looked:#?}");
    let word = if !looked.unread.is_empty() || looked.connections.iter().any(Connection::is_unknown) {
        "unknown".to_owned()
    } else {
        looked
            .connections
            .iter()
            .filter_map(Connection::severity)
            .max()
            .map_or_else(|| "safe".to_owned(), |severity| severity.to_string())
    };
    (word, shown)
}

mod afar;
mod layers;
mod outsider;
mod rows;

#[test]
fn nothing_better_than_unknown_is_said_of_what_was_not_read_whole() {
    let mut wrong = Vec::new();
    let (mut unknown, mut all) = (0, 0);
    for (index, row) in rows::rows().iter().chain(&afar::rows()).chain(&outsider::rows()).enumerate() {
        let (said, shown) = verdict(row.name, &row.text, row.driver);
        all += 1;
        unknown += usize::from(said == "unknown");
        if said != row.want {
            wrong.push(format!(
                "row {index} {} said {said}, wanted {}\n{}\n{}",
                row.name,
                row.want,
                row.text,
                if std::env::var_os("SHOW").is_some() { shown.as_str() } else { "" }
            ));
        }
        assert!(!shown.contains("geheim"), "row {index}: a secret is in what was read");
    }
    // Traps and common forms that are read, in one table: how many of the rows that are no trap stay unknown is the share that counts.
    println!("{unknown} of {all} rows are unknown");
    assert!(all >= 60);
    assert!(
        wrong.is_empty(),
        "{} of {all} wrong ({unknown} unknown):\n{}",
        wrong.len(),
        wrong.join("\n---\n")
    );
}
