//! What the account that asks is allowed, as the server lists it. Only the privileges on `*.*` are read here: without one of them
//! a view shows fewer rows and says nothing, while a table that may not be read is an error.

use std::borrow::Cow;

use server::{Capabilities, Flavour, OwnGrants};

use crate::ask::{Ask, Refusal};

/// What the server says of the account that asks, with the roles that are active.
///
/// # Source
/// MySQL manual, SHOW GRANTS: privileges of roles are shown with USING; MariaDB manual, SHOW GRANTS FOR CURRENT_ROLE.
pub(crate) fn read(ask: &mut dyn Ask, capabilities: &Capabilities) -> Result<OwnGrants, Refusal> {
    let current = ask.rows("SELECT CURRENT_USER(), CURRENT_ROLE()");
    let (account, roles) = match &current {
        Ok(rows) => {
            let cell = |at: usize| rows.first().and_then(|row| row.at(at)).map(Cow::into_owned);
            (cell(0).unwrap_or_default(), cell(1).filter(|roles| !roles.is_empty() && roles != "NONE"))
        }
        Err(Refusal::Lost(why)) => return Err(Refusal::Lost(why.clone())),
        Err(_) => (String::new(), None),
    };
    let mut statements = vec!["SHOW GRANTS".to_owned()];
    if let Some(roles) = roles {
        statements.push(if capabilities.flavour == Flavour::MariaDb {
            "SHOW GRANTS FOR CURRENT_ROLE".to_owned()
        } else {
            // The server itself has quoted them.
            format!("SHOW GRANTS FOR CURRENT_USER() USING {roles}")
        });
    }
    let mut lines = Vec::new();
    for statement in statements {
        match ask.rows(&statement) {
            Ok(rows) => {
                lines.extend(rows.iter().filter_map(|row| row.at(0)).map(Cow::into_owned));
            }
            Err(Refusal::Lost(why)) => return Err(Refusal::Lost(why)),
            // A server that does not list them (skip_grant_tables) is judged by what it refuses.
            Err(_) => {}
        }
    }
    Ok(OwnGrants::of(&account, lines.iter().map(String::as_str)))
}
