//! Who has logged in without TLS since the server counts, connected now or not.

use model::{Value, facts};
use server::Flavour;

use crate::Question;
use crate::ask::Refusal;
use crate::asking::{Asking, missing};
use crate::grant::Grant;

pub const QUESTION: Question = Question {
    name: "logins since the start",
    facts: &[&facts::session::LOGINS_CLEARTEXT],
    grants: |capabilities| {
        if capabilities.flavour == Flavour::MariaDb { vec![Grant::Global("PROCESS")] } else { vec![] }
    },
    ask,
};

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let sql =
        "SELECT CLIENT, TOTAL_CONNECTIONS, TOTAL_SSL_CONNECTIONS FROM information_schema.CLIENT_STATISTICS";
    let value = counted(asking, sql)?;
    asking.note(&facts::session::LOGINS_CLEARTEXT, value, sql);
    Ok(())
}

/// Source: MariaDB manual, User Statistics; tried on 10.11.19. Without PROCESS there are no rows, and no error.
fn counted(asking: &mut Asking<'_>, sql: &str) -> Result<Value, Refusal> {
    match asking.view.variable("userstat") {
        Some("ON") => {}
        Some(_) => {
            return Ok(Value::Unknown(
                "the server does not count logins (userstat is OFF); SET GLOBAL userstat = ON counts from then on"
                    .into(),
            ));
        }
        None => return Ok(Value::Unknown("this server does not count logins by their transport".into())),
    }
    let grants = (QUESTION.grants)(asking.capabilities);
    if !asking.rights.has("PROCESS") {
        return Ok(Value::Unknown(missing(&grants)));
    }
    let rows = match asking.rows_with(&grants, sql)? {
        Ok(rows) => rows,
        Err(why) => return Ok(Value::Unknown(why)),
    };
    let mut clear = Vec::new();
    for row in rows.iter() {
        let number = |at: usize| row.at(at).and_then(|text| text.parse::<u64>().ok());
        let (Some(host), Some(all), Some(tls)) = (row.at(0), number(1), number(2)) else {
            return Ok(Value::Unknown("CLIENT_STATISTICS has a row that is not understood".into()));
        };
        // That is the socket.
        if host != "localhost" && all > tls {
            clear.push(format!("{host} ({} of {all} logins)", all - tls));
        }
    }
    Ok(if clear.is_empty() { Value::Absent } else { Value::Text(clear.join(", ")) })
}
