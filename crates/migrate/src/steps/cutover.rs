//! The moment in which the writes move, and the way back from there.

use std::time::{Duration, Instant};

use change::StepError;
use model::text::counted;
use net::sql_text::{name, text};
use net::{Client, NetError};

use super::compared::Compared;
use super::open_work;
use super::{Migration, WINDOW_S, asked, compared, fail, is_read_only};
use crate::flow::Flow;
use crate::inspect::mark;
use crate::{End, LOCK_WAIT_S, dialect};

/// Source: MariaDB manual, error 1205, ER_LOCK_WAIT_TIMEOUT.
const LOCK_WAIT_TIMEOUT: u16 = 1205;

impl Migration<'_> {
    pub(super) fn close_source(&mut self) -> Result<(), StepError> {
        let (mut source, mut target) = (self.client(End::Source)?, self.client(End::Target)?);
        // read_only goes with a restart.
        if !is_read_only(&mut target, End::Target)? {
            (self.tell)("the target was open for writes (was it restarted?): it is closed again");
            Self::close(&mut target, End::Target)?;
        }
        // While applications may still write: what is found here costs them nothing.
        if let Some(compared) = &mut self.compared {
            compared.only_rows_since(&mut source, &self.ends.schemas, End::Source)?;
        }
        self.schedule(false)?;
        self.closed = Some(Instant::now());
        Self::close(&mut source, End::Source)?;
        self.end_open_work(&mut source, End::Source)?;
        if let Some(compared) = &mut self.compared {
            compared.only_rows_since(&mut source, &self.ends.schemas, End::Source)?;
        }
        let forward = self.ends.forward();
        let last = forward.written(&mut source)?;
        forward.reach(&last, WINDOW_S)?;
        forward.nothing_since(&mut source)
    }

    /// What is open on a server that is closed cannot be committed any more, and yet an XA transaction could be prepared, as if it could.
    fn end_open_work(&mut self, client: &mut Client, end: End) -> Result<(), StepError> {
        let ended = open_work::end(client, end)?;
        if ended > 0 {
            let sessions = counted(ended, "session", "sessions");
            (self.tell)(&format!(
                "{sessions} of the {end} with an open transaction ended: it could not be committed"
            ));
        }
        open_work::prepared(client, end)
    }

    /// Waits for statements that write; transactions that are open fail when they commit.
    pub(super) fn close(client: &mut Client, end: End) -> Result<(), StepError> {
        client.set_io_timeout(Duration::from_secs(WINDOW_S)).map_err(asked(end))?;
        let close = format!("SET GLOBAL {} = ON", dialect::read_only(client));
        client.execute(&close).map(|_| ()).map_err(|error| match error {
            NetError::Refused { code: LOCK_WAIT_TIMEOUT, .. } => fail(
                &format!("the {end} cannot be closed for writes"),
                format!("a session holds table locks for more than {LOCK_WAIT_S} s (LOCK TABLES, or a long statement)"),
                "end that session, then sealion migrate resume; or sealion migrate rollback",
            ),
            other => asked(end)(other),
        })
    }

    pub(super) fn set_read_only(&self, end: End, is_on: bool) -> Result<(), StepError> {
        let mut client = self.client(end)?;
        // With it goes super_read_only of MySQL.
        let value = if is_on { "ON" } else { "OFF" };
        client.execute(&format!("SET GLOBAL read_only = {value}")).map(|_| ()).map_err(asked(end))
    }

    /// The source follows the target from here on. Both are closed, and the target has all of the source.
    pub(super) fn reverse(&self) -> Result<(), StepError> {
        let (forward, back) = (self.ends.forward(), self.back()?);
        forward.nothing_since(&mut forward.leader()?)?;
        let (mut target, mut source) = (back.leader()?, back.follower()?);
        // A transaction of the target's own, so that the position where the source begins is behind everything of its own. It says of
        // the schema what is said already.
        if let Some(schema) = self.ends.schemas.first() {
            let marked = mark(&self.plan_id);
            target
                .execute(&format!("ALTER DATABASE {} COMMENT {}", name(schema), text(&marked)))
                .map_err(asked(back.from))?;
        }
        let begins = target.query("SELECT @@GLOBAL.gtid_binlog_pos").map_err(asked(back.from))?;
        let begins = begins.scalar().map(std::borrow::Cow::into_owned).filter(|text| !text.is_empty());
        let Some(begins) = begins else {
            return Err(fail(
                "the source cannot follow the target",
                "the target's binary log has no position (gtid_binlog_pos is empty)",
                "log_bin=ON on the target; sealion migrate rollback",
            ));
        };
        source.execute("STOP SLAVE").map_err(asked(back.to))?;
        source.execute(&format!("SET GLOBAL gtid_slave_pos = {}", text(&begins))).map_err(asked(back.to))?;
        back.begin()
    }

    pub(super) fn end_reverse(&mut self) -> Result<(), StepError> {
        let back = self.back()?;
        back.stop()?;
        // Nobody follows by it any more; it is put back for whoever reads it.
        let put = format!("SET GLOBAL gtid_slave_pos = {}", text(&self.had_followed));
        if let Err(error) = back.follower()?.execute(&put) {
            (self.tell)(&format!("gtid_slave_pos of the source stays as it is: {}", error.in_one_line()));
        }
        Ok(())
    }

    pub(super) fn open(&mut self) -> Result<(), StepError> {
        let forward = self.ends.forward();
        let mut source = forward.leader()?;
        if !is_read_only(&mut source, End::Source)? {
            self.close_again(&mut source)?;
        }
        forward.nothing_since(&mut source)?;
        // Who may write to a closed server may have prepared one since.
        open_work::prepared(&mut source, End::Source)?;
        // First: what the source gets from the target must not come back.
        if dialect::is_mysql(&source) {
            // How far it has followed is known by its channel, which is asked once more when the target is open.
            forward.follower()?.execute("STOP SLAVE").map_err(asked(forward.to))?;
        } else {
            forward.stop()?;
        }
        self.raise_next_values(&mut source, &mut self.client(End::Target)?)?;
        self.set_read_only(End::Target, false)?;
        self.window = self.closed.map(|closed| closed.elapsed());
        self.enable_events()?;
        Ok(())
    }

    /// read_only goes with a restart. What the source took since then comes to a target that is not open yet; to one that is, it cannot.
    fn close_again(&mut self, source: &mut Client) -> Result<(), StepError> {
        (self.tell)("the source was open for writes (was it restarted?): it is closed again");
        if is_read_only(&mut self.client(End::Target)?, End::Target)? {
            self.close_source()
        } else {
            Self::close(source, End::Source)
        }
    }

    /// From MySQL the channel is ended last, when nothing was missing. Where there is none any more on a target that is open, that was so.
    pub(super) fn is_ended(&self, source: &Client, target: &mut Client) -> Result<bool, StepError> {
        Ok(dialect::is_mysql(source)
            && !self.ends.forward().is_set_up()?
            && !is_read_only(target, End::Target)?)
    }

    /// Nothing was written to the source since it was closed.
    pub(super) fn look_again(&self, target: &mut Client) -> Result<(), StepError> {
        let forward = self.ends.forward();
        let mut source = forward.leader()?;
        if self.is_ended(&source, target)? {
            return Ok(());
        }
        forward.nothing_since(&mut source)?;
        if dialect::is_mysql(&source) { forward.stop() } else { Ok(()) }
    }

    /// The writes go back to the source, which has followed. The target is closed; nothing that it took is only there.
    pub(super) fn give_back(&mut self) -> Result<(), StepError> {
        let Some(back) = self.ends.back() else { return Ok(()) };
        self.ends.forward().stop()?;
        self.disable_events()?;
        let mut target = back.leader()?;
        // One that is closed was never opened, or was compared before it was closed.
        let mut before = None;
        if !is_read_only(&mut target, End::Target)? {
            open_work::prepared(&mut target, End::Target)?;
            let mut compared = Compared::begin(&mut target, &self.ends.schemas, End::Target)?;
            let equal = compared::at_one_transaction(&back)?;
            (self.tell)(&equal);
            compared.only_rows_since(&mut target, &self.ends.schemas, End::Target)?;
            before = Some(compared);
            Self::close(&mut target, End::Target)?;
        }
        let given = self.given_back(&back, &mut target, before.as_mut());
        if let (Err(StepError(why)), Some(_)) = (&given, &before) {
            // Applications must be able to write somewhere.
            let opened = self.set_read_only(End::Target, false).and_then(|()| self.enable_events());
            let said = match opened {
                Ok(()) => "the target takes writes again".to_owned(),
                Err(StepError(why)) => format!("and both servers are closed for writes now: {why}"),
            };
            return Err(StepError(format!("{why}\n  note: {said}")));
        }
        given
    }

    fn given_back(
        &mut self,
        back: &Flow<'_>,
        target: &mut Client,
        before: Option<&mut Compared>,
    ) -> Result<(), StepError> {
        self.end_open_work(target, End::Target)?;
        if let Some(compared) = before {
            compared.only_rows_since(target, &self.ends.schemas, End::Target)?;
        }
        let last = back.written(target)?;
        back.reach(&last, WINDOW_S)?;
        back.nothing_since(target)
    }
}
