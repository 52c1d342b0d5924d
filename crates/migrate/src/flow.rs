//! Replication from one of the two servers to the other: set up, waited for, ended. There are two ways: to the target until the
//! cutover, and from it back to the source afterwards, so that a rollback loses nothing that the target took.

use std::time::{Duration, Instant};

use change::StepError;
use net::sql_text::text;
use net::{Client, ExposeSecret, NetError};

use crate::steps::{RESUME, asked, fail};
use crate::{End, Ends, ReplicationLogin, gtid};

/// A replica that was just told to follow is waited for.
const FOLLOW_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(100);
/// A replica that lags is waited for as long as it comes nearer.
pub(crate) const CATCH_UP_S: u64 = 600;
/// One wait on the server.
const WAIT_S: u64 = 2;

/// A replica whose channel does not run, or not as it was set up.
pub(crate) struct NotFollowing {
    pub why: String,
    pub has_error: bool,
}

/// `to` follows `from`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow<'e> {
    pub ends: &'e Ends,
    pub from: End,
    pub to: End,
    pub login: &'e ReplicationLogin,
}

impl Ends {
    pub(crate) fn forward(&self) -> Flow<'_> {
        Flow { ends: self, from: End::Source, to: End::Target, login: &self.replication }
    }

    /// `None`: nobody said how the source logs in to the target.
    pub(crate) fn back(&self) -> Option<Flow<'_>> {
        let login = self.back.as_ref()?;
        Some(Flow { ends: self, from: End::Target, to: End::Source, login })
    }
}

/// All tables of a schema, as a filter of replication names them: `_` and `%` in the name are themselves.
///
/// # Source
/// MariaDB manual, replicate_wild_do_table.
fn wild(schema: &str) -> String {
    format!("{}.%", schema.replace('\\', "\\\\").replace('_', "\\_").replace('%', "\\%"))
}

/// Empty is a position: nothing was written. No answer is none.
fn position(client: &mut Client, end: End, variable: &str) -> Result<String, StepError> {
    let rows = client.query(&format!("SELECT @@GLOBAL.{variable}")).map_err(asked(end))?;
    let position = rows.scalar().map(std::borrow::Cow::into_owned);
    position.ok_or_else(|| {
        fail(&format!("the {end} does not report its position"), format!("{variable} is NULL"), RESUME)
    })
}

impl Flow<'_> {
    pub(crate) fn leader(&self) -> Result<Client, StepError> {
        self.ends.session(self.from).map_err(asked(self.from))
    }

    pub(crate) fn follower(&self) -> Result<Client, StepError> {
        self.ends.session(self.to).map_err(asked(self.to))
    }

    /// `channel`: as SQL, or empty. `place`: where it begins.
    pub(crate) fn change_master(
        &self,
        follower: &mut Client,
        channel: &str,
        place: &str,
    ) -> Result<(), StepError> {
        let login = self.login;
        let change = net::SecretString::from(format!(
            "CHANGE MASTER {channel} TO MASTER_HOST={}, MASTER_PORT={}, MASTER_USER={}, MASTER_PASSWORD={}, MASTER_SSL=1, \
             MASTER_SSL_CA={}, MASTER_SSL_VERIFY_SERVER_CERT=1, {place}",
            text(&login.host),
            login.port,
            text(&login.user),
            text(login.password.expose_secret()),
            text(&login.ca.display().to_string())
        ));
        self.keep_out_of_logs(follower)?;
        // The server's answer could repeat the statement.
        follower.execute(change.expose_secret()).map_err(|error| match error {
            NetError::Refused { code, .. } => fail(
                &format!("the {} takes no CHANGE MASTER", self.to),
                format!("it answers with error {code}"),
                RESUME,
            ),
            other => asked(self.to)(other),
        })?;
        Ok(())
    }

    /// The next statement holds a password: MariaDB writes it into its logs as it is.
    fn keep_out_of_logs(&self, follower: &mut Client) -> Result<(), StepError> {
        for (log, off) in [
            ("general_log", "SET SESSION sql_log_off = ON"),
            ("slow_query_log", "SET SESSION slow_query_log = OFF"),
        ] {
            let rows = follower.query(&format!("SELECT @@GLOBAL.{log}")).map_err(asked(self.to))?;
            if rows.scalar().as_deref() == Some("0") {
                continue;
            }
            follower.execute(off).map_err(|error| {
                fail(
                    &format!("the password of replication would stand in the {}'s log ({log})", self.to),
                    error.in_one_line(),
                    &format!("SET GLOBAL {log} = OFF there for the time being, then sealion migrate resume"),
                )
            })?;
        }
        Ok(())
    }

    /// As the server must be told, and as it says it.
    fn filter(&self) -> String {
        self.ends.schemas.iter().map(|schema| wild(schema)).collect::<Vec<_>>().join(",")
    }

    /// From where `gtid_slave_pos` of the follower is.
    pub(crate) fn begin(&self) -> Result<(), StepError> {
        let mut follower = self.follower()?;
        follower.execute("STOP SLAVE").map_err(asked(self.to))?;
        self.set_filter(&mut follower)?;
        self.change_master(&mut follower, "", "MASTER_USE_GTID=slave_pos")?;
        follower.execute("START SLAVE").map(|_| ()).map_err(asked(self.to))
    }

    /// Everything else that is written there has no place here.
    fn set_filter(&self, follower: &mut Client) -> Result<(), StepError> {
        follower
            .execute(&format!("SET GLOBAL replicate_wild_do_table = {}", text(&self.filter())))
            .map(|_| ())
            .map_err(asked(self.to))
    }

    pub(crate) fn is_set_up(&self) -> Result<bool, StepError> {
        let rows = self.follower()?.query("SHOW SLAVE STATUS").map_err(asked(self.to))?;
        Ok(!rows.is_empty())
    }

    /// `None`: it follows, over verified TLS. Else what is not so. Its threads are asked first: one can stop without an error.
    fn not_following(&self, follower: &mut Client) -> Result<Option<NotFollowing>, StepError> {
        let rows = follower.query("SHOW SLAVE STATUS").map_err(asked(self.to))?;
        let of = |column: &str| rows.text(0, column).unwrap_or_default().into_owned();
        let errors = [of("Last_IO_Error"), of("Last_SQL_Error")].join(" ");
        let filter = self.filter();
        let wanted = [
            ("Slave_IO_Running", "Yes"),
            ("Slave_SQL_Running", "Yes"),
            ("Master_SSL_Allowed", "Yes"),
            ("Master_SSL_Verify_Server_Cert", "Yes"),
            ("Replicate_Wild_Do_Table", &filter),
        ];
        Ok(wanted.iter().find(|(column, value)| of(column) != *value).map(|(column, _)| {
            let said = if errors.trim().is_empty() {
                "without an error; its error log may say why"
            } else {
                errors.trim()
            };
            NotFollowing {
                why: format!("{column} is \"{}\", {said}", of(column)),
                has_error: !errors.trim().is_empty(),
            }
        }))
    }

    pub(crate) fn wait_following(&self) -> Result<(), StepError> {
        let mut follower = self.follower()?;
        let began = Instant::now();
        loop {
            let Some(NotFollowing { why, has_error }) = self.not_following(&mut follower)? else {
                return Ok(());
            };
            // The other one said no: waiting does not help.
            if began.elapsed() > FOLLOW_MAX || has_error {
                return Err(self.does_not_follow(&why));
            }
            std::thread::sleep(POLL);
        }
    }

    fn does_not_follow(&self, why: &str) -> StepError {
        fail(&format!("the {} does not follow the {}", self.to, self.from), why, RESUME)
    }

    /// Waits until the follower has `gtid`.
    pub(crate) fn reach(&self, gtid: &str, at_most_s: u64) -> Result<(), StepError> {
        let mut follower = self.follower()?;
        let began = Instant::now();
        let mut is_started = false;
        loop {
            // Short, so that nobody waits on the server for somebody who is dead.
            if self.has_reached(&mut follower, gtid, WAIT_S)? {
                return Ok(());
            }
            let stopped = self.not_following(&mut follower)?.map(|stopped| stopped.why);
            if let Some(why) = &stopped {
                // Whoever was killed may have left its threads stopped; a server that was started again has lost its filter.
                if is_started {
                    return Err(self.does_not_follow(why));
                }
                is_started = true;
                follower.execute("STOP SLAVE").map_err(asked(self.to))?;
                self.set_filter(&mut follower)?;
                follower.execute("START SLAVE").map_err(|error| {
                    self.does_not_follow(&format!("{why}; START SLAVE: {}", error.in_one_line()))
                })?;
            }
            if began.elapsed() > Duration::from_secs(at_most_s) {
                let why = stopped.unwrap_or_else(|| format!("{at_most_s} s were not enough"));
                return Err(fail(&format!("the {} has not caught up", self.to), why, RESUME));
            }
        }
    }

    /// The same for threads that end there.
    pub(crate) fn reach_until(&self, gtid: &str) -> Result<(), StepError> {
        let mut follower = self.follower()?;
        let began = Instant::now();
        loop {
            if self.has_reached(&mut follower, gtid, WAIT_S)? {
                return Ok(());
            }
            let rows = follower.query("SHOW SLAVE STATUS").map_err(asked(self.to))?;
            let of = |column: &str| rows.text(0, column).unwrap_or_default().into_owned();
            let errors: Vec<String> = ["Last_IO_Error", "Last_SQL_Error"]
                .into_iter()
                .map(of)
                .filter(|text| !text.is_empty())
                .collect();
            let lasts_too_long = began.elapsed() > Duration::from_secs(CATCH_UP_S);
            // It ends by itself only behind that transaction, which it has not reached.
            let has_ended = of("Slave_SQL_Running") == "No" && !self.has_reached(&mut follower, gtid, 0)?;
            if !errors.is_empty() || lasts_too_long || has_ended {
                let why = if errors.is_empty() {
                    format!(
                        "Slave_SQL_Running is {}, without an error; its error log may say why",
                        of("Slave_SQL_Running")
                    )
                } else {
                    errors.join("; ")
                };
                return Err(fail(&format!("the {} has not caught up", self.to), why, RESUME));
            }
        }
    }

    /// Whether the follower has the transaction `gtid`, or gets it within so many seconds.
    pub(crate) fn has_reached(
        &self,
        follower: &mut Client,
        gtid: &str,
        at_most_s: u64,
    ) -> Result<bool, StepError> {
        let rows = follower
            .query(&format!("SELECT MASTER_GTID_WAIT({}, {at_most_s})", text(gtid)))
            .map_err(asked(self.to))?;
        Ok(rows.scalar().as_deref() == Some("0"))
    }

    /// How far `leader` has written. What it has of the follower's own, where it writes that into its binary log, is none of it.
    pub(crate) fn written(&self, leader: &mut Client) -> Result<String, StepError> {
        let mut follower = self.follower()?;
        let rows = follower.query("SELECT @@GLOBAL.server_id").map_err(asked(self.to))?;
        let server_id = rows.scalar().and_then(|text| text.parse::<u32>().ok());
        let state = position(leader, self.from, "gtid_binlog_state")?;
        let last = position(leader, self.from, "gtid_binlog_pos")?;
        Ok(server_id.and_then(|id| gtid::without_server(&last, &state, id)).unwrap_or(last))
    }

    /// Behind a RESET MASTER positions begin anew, and a replica that has nothing of what follows would have "all" of it.
    pub(crate) fn is_same_log(&self, leader: &mut Client, follower: &mut Client) -> Result<(), StepError> {
        let (from, to) = (self.from, self.to);
        // In this order: what is written in between the follower may have already.
        let seen = position(follower, to, "gtid_slave_pos")?;
        let written = position(leader, from, "gtid_binlog_pos")?;
        let told = format!("it is at \"{written}\", and the {to} has followed it to \"{seen}\"");
        match gtid::has_written(&written, &seen) {
            Some(true) => Ok(()),
            Some(false) => Err(fail(
                &format!("the binary log of the {from} was begun anew"),
                format!("{told} (RESET MASTER?)"),
                "sealion migrate rollback, and migrate again: nobody can tell what was written in between",
            )),
            None => Err(fail(
                &format!("whether the {to} follows the {from}'s binary log cannot be determined"),
                format!("{told}: these are no GTID positions of MariaDB"),
                RESUME,
            )),
        }
    }

    /// The follower has everything that the leader has written. The text of a position can differ where the position does not, so the
    /// follower is asked.
    pub(crate) fn nothing_since(&self, leader: &mut Client) -> Result<(), StepError> {
        let mut follower = self.follower()?;
        self.is_same_log(leader, &mut follower)?;
        let written = self.written(leader)?;
        if self.has_reached(&mut follower, &written, 0)? {
            return Ok(());
        }
        let (from, to) = (self.from, self.to);
        Err(fail(
            &format!("the {from} was written to although it is read-only"),
            format!(
                "it is at {written}, which the {to} has not: an account with SUPER or READ ONLY ADMIN has written"
            ),
            &format!(
                "end those sessions; what they wrote is on the {from} only. sealion migrate resume, while the {to} is read-only"
            ),
        ))
    }

    pub(crate) fn stop(&self) -> Result<(), StepError> {
        let mut follower = self.follower()?;
        for sql in ["STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL replicate_wild_do_table = ''"] {
            follower.execute(sql).map_err(asked(self.to))?;
        }
        Ok(())
    }
}
