//! Routines that build statements from text, and those whose definer is gone. The server looks into the bodies: only names and definers are
//! read.

use model::{Fact, Value, facts};
use server::{Capabilities, Flavour};

use super::rest::some;
use crate::Question;
use crate::ask::Refusal;
use crate::asking::{Administrator, Asking, missing};
use crate::grant::Grant;

const FACTS: &[&Fact] = &[&facts::server::ROUTINES_FROM_TEXT, &facts::server::ROUTINES_ORPHANED];

pub const QUESTION: Question = Question { name: "routines", facts: FACTS, grants, ask };

/// Its column of bodies is not asked for by itself: what the statement compares the account must be able to read.
fn grants(capabilities: &Capabilities) -> Vec<Grant> {
    if capabilities.flavour == Flavour::MariaDb {
        vec![Grant::Select {
            table: "mysql.proc",
            columns: vec!["body_utf8", "db", "definer", "name", "security_type"],
        }]
    } else {
        vec![Grant::Global("SHOW_ROUTINE")]
    }
}

// Sources: MariaDB manual, mysql.proc Table; MySQL manual, The INFORMATION_SCHEMA ROUTINES Table: without SHOW_ROUTINE it lists fewer
// rows. Schemas of the server itself have routines of its maker.
const OF_MARIADB: &str = "SELECT db, name, definer, security_type, \
     (UPPER(CONVERT(body_utf8 USING utf8mb4)) LIKE '%PREPARE%' \
     OR UPPER(CONVERT(body_utf8 USING utf8mb4)) LIKE '%EXECUTE IMMEDIATE%') \
     AND (UPPER(CONVERT(body_utf8 USING utf8mb4)) LIKE '%CONCAT%' OR CONVERT(body_utf8 USING utf8mb4) LIKE '%||%') \
     FROM mysql.proc WHERE db NOT IN ('mysql', 'sys')";
const OF_MYSQL: &str = "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, DEFINER, SECURITY_TYPE, \
     UPPER(ROUTINE_DEFINITION) LIKE '%PREPARE%' \
     AND (UPPER(ROUTINE_DEFINITION) LIKE '%CONCAT%' OR ROUTINE_DEFINITION LIKE '%||%') \
     FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA NOT IN ('mysql', 'sys')";

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let is_mariadb = asking.capabilities.flavour == Flavour::MariaDb;
    let sql = if is_mariadb { OF_MARIADB } else { OF_MYSQL };
    let grants = grants(asking.capabilities);
    let rows = if is_mariadb || asking.rights.has("SHOW_ROUTINE") {
        asking.rows_with(&grants, sql)?
    } else {
        Err(missing(&grants))
    };
    let rows = match rows {
        Ok(rows) => rows,
        Err(why) => {
            asking.unknown(asking.subject(), FACTS, &why, sql);
            return Ok(());
        }
    };
    let Some(accounts) = asking.administrators.clone() else {
        let is_none = rows.iter().next().is_none();
        let value = if is_none {
            Value::Absent
        } else {
            Value::Unknown("which accounts administer could not be read".into())
        };
        for fact in FACTS {
            asking.note(fact, value.clone(), sql);
        }
        return Ok(());
    };
    let (mut from_text, mut unclear, mut orphaned) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows.iter() {
        let text = |at: usize| row.at(at).unwrap_or_default();
        if text(3) != "DEFINER" {
            continue;
        }
        let routine = format!("{}.{} (definer {})", text(0), text(1), text(2));
        let definer = definer(&accounts, &text(2));
        if definer.is_none() {
            orphaned.push(routine.clone());
        }
        match (row.at(4).as_deref(), definer.map(|account| account.administers)) {
            (Some("1"), Some(Some(true))) => from_text.push(routine),
            (Some("1"), Some(None)) => unclear.push(routine),
            (None, _) => unclear.push(format!("{routine}, whose body is not shown")),
            _ => {}
        }
    }
    let value = if from_text.is_empty() && !unclear.is_empty() {
        Value::Unknown(format!("what these do or may do is not known: {}", unclear.join(", ")))
    } else {
        some(from_text.into_iter())
    };
    asking.note(&facts::server::ROUTINES_FROM_TEXT, value, sql);
    asking.note(&facts::server::ROUTINES_ORPHANED, some(orphaned.into_iter()), sql);
    Ok(())
}

/// The account of `user@host`; a name may have an `@` of its own, a host none.
fn definer<'a>(accounts: &'a [Administrator], written: &str) -> Option<&'a Administrator> {
    let (user, host) = written.rsplit_once('@').unwrap_or((written, ""));
    accounts.iter().find(|account| account.user == user && account.host.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    #[test]
    fn a_routine_is_judged_by_who_it_runs_as() {
        let check = |definer: &str, security: &str, builds: Option<&str>| {
            let row: &[Option<&str>] = &[Some("app"), Some("r"), Some(definer), Some(security), builds];
            let mut script = Script::new(&[("mysql.proc", &[row])]);
            let capabilities = Capabilities::of("10.11.19-MariaDB", "", false);
            let (view, rights, mut seen) = Default::default();
            let mut asking = Asking::new(&mut script, "n1", &view, &capabilities, &rights, &mut seen, 0);
            let account =
                |user: &str, administers| Administrator { user: user.into(), host: "h".into(), administers };
            asking.administrators =
                Some(vec![account("adm", Some(true)), account("app", Some(false)), account("may", None)]);
            ask(&mut asking).expect("it answers");
            let word = |fact| match seen.newest("n1", fact).map(|one| one.value.clone()) {
                Some(Value::Text(_)) => "found",
                Some(Value::Absent) => "absent",
                Some(Value::Unknown(_)) => "unknown",
                other => panic!("{other:?}"),
            };
            (word(FACTS[0]), word(FACTS[1]))
        };
        assert_eq!(check("adm@h", "DEFINER", Some("1")), ("found", "absent"));
        assert_eq!(check("adm@h", "DEFINER", Some("0")), ("absent", "absent"));
        assert_eq!(check("adm@h", "INVOKER", Some("1")), ("absent", "absent"));
        assert_eq!(check("app@h", "DEFINER", Some("1")), ("absent", "absent"));
        assert_eq!(check("may@h", "DEFINER", Some("1")), ("unknown", "absent"));
        assert_eq!(check("adm@h", "DEFINER", None), ("unknown", "absent"));
        assert_eq!(check("gone@h", "DEFINER", Some("1")), ("absent", "found"));
    }
}
