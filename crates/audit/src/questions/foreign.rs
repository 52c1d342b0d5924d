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
    let sql = "SELECT Server_name, Host, Username FROM mysql.servers WHERE Username <> ''";
    let value = match asking.rows_with(&grants, sql)? {
        Ok(rows) if rows.is_empty() => Value::Absent,
        Ok(rows) => {
            let one = |row: net::RowRef<'_>| {
                let text = |at: usize| row.at(at).unwrap_or_default();
                format!("{} ({} at {})", text(0), text(2), text(1))
            };
            Value::Text(rows.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        Err(why) => Value::Unknown(why),
    };
    asking.note(&facts::server::FOREIGN_LOGINS, value, sql);
    Ok(())
}
