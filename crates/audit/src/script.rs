//! A server of tests: what it answers to which statement is written down.

use net::Rows;

use crate::ask::{Ask, Refusal};

type Cells<'c> = &'c [Option<&'c str>];
/// As [`Rows`] keeps them.
type Kept = Vec<Vec<Option<Vec<u8>>>>;

#[derive(Default)]
pub(crate) struct Script {
    answers: Vec<(String, Kept)>,
    pub asked: Vec<String>,
    /// Statements that begin so are an error.
    pub refuses: Option<&'static str>,
    /// Names of columns, where the statement has none.
    pub columns: Option<Vec<&'static str>>,
}

impl Script {
    /// A statement is answered by the first row of the script that is a part of it; others have no rows.
    pub fn new(answers: &[(&str, &[Cells<'_>])]) -> Self {
        let kept = |row: &Cells<'_>| -> Vec<Option<Vec<u8>>> {
            row.iter().map(|cell| cell.map(|text| text.as_bytes().to_vec())).collect()
        };
        let answers =
            answers.iter().map(|(sql, rows)| ((*sql).to_owned(), rows.iter().map(kept).collect())).collect();
        Self { answers, ..Self::default() }
    }
}

/// The names of what is selected: the last word of each expression, or the expression itself.
fn columns(sql: &str) -> Vec<String> {
    let Some(rest) = sql.strip_prefix("SELECT ") else { return vec![] };
    let list = rest.split(" FROM ").next().unwrap_or(rest);
    let (mut deep, mut names, mut name) = (0_usize, Vec::new(), String::new());
    for char in list.chars() {
        match char {
            '(' => deep += 1,
            ')' => deep = deep.saturating_sub(1),
            ',' if deep == 0 => {
                names.push(std::mem::take(&mut name));
                continue;
            }
            _ => {}
        }
        name.push(char);
    }
    names.push(name);
    let last = |name: &String| name.trim().rsplit([' ', '.']).next().unwrap_or_default().to_owned();
    names.iter().map(last).collect()
}

impl Ask for Script {
    fn rows(&mut self, sql: &str) -> Result<Rows, Refusal> {
        self.asked.push(sql.to_owned());
        if self.refuses.is_some_and(|begins| sql.starts_with(begins)) {
            return Err(Refusal::Failed { code: 1231, message: "no".into() });
        }
        let rows = self.answers.iter().find(|(part, _)| sql.contains(part.as_str()));
        Ok(Rows {
            columns: match &self.columns {
                Some(names) => names.iter().map(|&name| name.to_owned()).collect(),
                None => columns(sql),
            },
            rows: rows.map(|(_, rows)| rows.clone()).unwrap_or_default(),
            ..Rows::default()
        })
    }

    fn session_id(&self) -> u64 {
        7
    }
}
