//! Logins to other servers that are stored in this one.

use model::{Value, facts};

use crate::Question;
use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

pub const QUESTION: Question = Question {
    name: "foreign servers",
    facts: &[&facts::server::FOREIGN_LOGINS],
    // Not the column of passwords.
    grants: |_| {
        vec![Grant::Select { table: "mysql.servers", columns: vec!["Host", "Server_name", "Username"] }]
    },
    ask,
};

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let grants = (QUESTION.grants)(asking.capabilities);
    let sql = "SELECT Server_name, Host, Username FROM mysql.servers";
    let value = match asking.rows_with(&grants, sql)? {
        Ok(rows) => stored(&rows),
        Err(why) => Value::Unknown(why),
    };
    asking.note(&facts::server::FOREIGN_LOGINS, value, sql);
    Ok(())
}

/// A login without a name may have a password all the same, which is not read.
fn stored(rows: &net::Rows) -> Value {
    let (mut named, mut nameless) = (Vec::new(), Vec::new());
    for row in rows.iter() {
        let text = |at: usize| row.at(at).unwrap_or_default();
        if text(2).is_empty() {
            nameless.push(text(0).into_owned());
        } else {
            named.push(format!("{} ({} at {})", text(0), text(2), text(1)));
        }
    }
    match (named.is_empty(), nameless.is_empty()) {
        (true, true) => Value::Absent,
        (false, _) => Value::Text(named.join(", ")),
        (true, false) => Value::Unknown(format!(
            "{} has no user; whether a password is stored with it is not read: look into \
             mysql.servers",
            nameless.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Ask;
    use crate::script::Script;

    #[test]
    fn a_server_without_a_user_is_no_server_without_a_login() {
        let check = |rows: &[&[Option<&str>]]| {
            stored(
                &Script::new(&[("mysql.servers", rows)]).rows("SELECT a FROM mysql.servers").expect("rows"),
            )
        };
        let nameless: &[Option<&str>] = &[Some("s"), Some("h"), Some("")];
        assert_eq!(check(&[]), Value::Absent);
        assert!(matches!(check(&[nameless]), Value::Unknown(why) if why.starts_with("s has no user")));
        assert_eq!(check(&[nameless, &["t", "h", "u"].map(Some)]), Value::Text("t (u at h)".into()));
    }
}
