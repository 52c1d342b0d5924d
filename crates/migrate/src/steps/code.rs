//! Views, routines, triggers and events as steps make them, and when they run.

use change::StepError;
use net::Client;

use super::{Migration, RESUME, asked, fail};
use crate::code::{self, Item, Kind};
use crate::{End, dialect};

/// The view by which the target is asked for an account.
const ASKING: &str = "sealion asks for a definer";

fn make(target: &mut Client, items: &[&Item], is_as_it_was: bool) -> Result<(), StepError> {
    code::make_all(target, items, is_as_it_was)
        .map_err(|why| fail("the target cannot have what the source has", why, RESUME))
}

impl Migration<'_> {
    /// Of a MariaDB source; from MySQL none moves.
    fn code(&self) -> Result<Vec<Item>, StepError> {
        let mut source = self.client(End::Source)?;
        if dialect::is_mysql(&source) {
            return Ok(Vec::new());
        }
        code::all(&mut source, &self.ends.schemas).map_err(asked(End::Source))
    }

    /// What needs no rows. Events do not run yet.
    pub(super) fn make_code(&self) -> Result<(), StepError> {
        let all = self.code()?;
        let items: Vec<&Item> = all.iter().filter(|item| item.kind != Kind::Trigger).collect();
        make(&mut self.client(End::Target)?, &items, false)
    }

    /// Behind the rows, for which they must not fire.
    pub(super) fn make_triggers(&self) -> Result<(), StepError> {
        let all = self.code()?;
        let items: Vec<&Item> = all.iter().filter(|item| item.kind == Kind::Trigger).collect();
        make(&mut self.client(End::Target)?, &items, false)
    }

    /// Nobody who follows the target has a part in it: there they stay disabled, and on the source they are as they were.
    fn set_events(&self, are_enabled: bool) -> Result<(), StepError> {
        let all = self.code()?;
        let items: Vec<&Item> = all.iter().filter(|item| item.kind == Kind::Event).collect();
        if items.is_empty() {
            return Ok(());
        }
        let mut target = self.client(End::Target)?;
        target.execute("SET SESSION sql_log_bin = 0").map_err(asked(End::Target))?;
        make(&mut target, &items, are_enabled)
    }

    pub(super) fn enable_events(&self) -> Result<(), StepError> {
        self.set_events(true)
    }

    pub(super) fn disable_events(&self) -> Result<(), StepError> {
        self.set_events(false)
    }

    /// An event whose definer may write to a read-only server would do so.
    pub(super) fn schedule(&self, is_on: bool) -> Result<(), StepError> {
        if !self.was_scheduled {
            return Ok(());
        }
        let value = if is_on { "ON" } else { "OFF" };
        let mut source = self.client(End::Source)?;
        source
            .execute(&format!("SET GLOBAL event_scheduler = {value}"))
            .map(|_| ())
            .map_err(asked(End::Source))
    }

    /// Definers without an account on the target, with what would fail there.
    pub(super) fn missing_definers(&self) -> Result<Option<String>, StepError> {
        let all = self.code()?;
        let mut target = self.client(End::Target)?;
        let missing = code::missing_definers(&mut target, &all, ASKING).map_err(asked(End::Target))?;
        let of = |definer: &String| {
            let mut items = all.iter().filter(|item| item.definer == *definer);
            let first = items.next().map(Item::named).unwrap_or_default();
            match items.count() {
                0 => format!("{definer} of {first}"),
                more => format!("{definer} of {first} and {more} more"),
            }
        };
        Ok((!missing.is_empty()).then(|| missing.iter().map(of).collect::<Vec<_>>().join(", ")))
    }
}
