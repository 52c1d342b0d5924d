//! Replication from one of the two servers to the other: set up, waited for, ended. There are two ways: to the target until the
//! cutover, and from it back to the source afterwards, so that a rollback loses nothing that the target took.

use std::time::{Duration, Instant};

use change::StepError;
use net::sql_text::text;
use net::{Client, ExposeSecret, NetError};

use crate::place::{Place, is_at_or_behind};
use crate::steps::{RESUME, asked, fail};
use crate::{End, Ends, ReplicationLogin, dialect, gtid};

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

/// Where to begin, as CHANGE MASTER has it.
pub(crate) fn begins_at(place: &Place) -> String {
    match place {
        Place::Gtid(_) => "MASTER_USE_GTID=slave_pos".to_owned(),
        Place::Log { file, at } => {
            format!("MASTER_USE_GTID=no, MASTER_LOG_FILE={}, MASTER_LOG_POS={at}", text(file))
        }
    }
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

    /// The follower will begin there.
    pub(crate) fn stand_at(&self, place: &Place) -> Result<(), StepError> {
        let mut follower = self.follower()?;
        match place {
            Place::Gtid(gtid) => {
                let stand = format!("SET GLOBAL gtid_slave_pos = {}", text(gtid));
                follower.execute(&stand).map(|_| ()).map_err(asked(self.to))
            }
            Place::Log { .. } => {
                follower.execute("STOP SLAVE").map_err(asked(self.to))?;
                self.change_master(&mut follower, "", &begins_at(place))
            }
        }
    }

    /// Where the follower is; `None`: it follows nobody.
    pub(crate) fn stands_at(&self) -> Result<Option<Place>, StepError> {
        let mut follower = self.follower()?;
        if dialect::is_mysql(&self.leader()?) {
            return self.applied(&mut follower);
        }
        position(&mut follower, self.to, "gtid_slave_pos").map(|gtid| Some(Place::Gtid(gtid)))
    }

    /// Of one that follows by file and position.
    fn applied(&self, follower: &mut Client) -> Result<Option<Place>, StepError> {
        let rows = follower.query("SHOW SLAVE STATUS").map_err(asked(self.to))?;
        let at = rows.text(0, "Exec_Master_Log_Pos").and_then(|text| text.parse().ok());
        let file = rows.text(0, "Relay_Master_Log_File").filter(|file| !file.is_empty());
        Ok(file.zip(at).map(|(file, at)| Place::Log { file: file.into_owned(), at }))
    }

    /// From where the follower is.
    pub(crate) fn begin(&self) -> Result<(), StepError> {
        let mut follower = self.follower()?;
        follower.execute("STOP SLAVE").map_err(asked(self.to))?;
        self.set_filter(&mut follower)?;
        let place = match self.stands_at()? {
            Some(place) => begins_at(&place),
            None => {
                return Err(fail(
                    &format!("the {} does not know from where to follow", self.to),
                    "its channel is gone (RESET SLAVE ALL?)",
                    "sealion migrate rollback, and migrate again",
                ));
            }
        };
        self.change_master(&mut follower, "", &place)?;
        follower.execute("START SLAVE").map(|_| ()).map_err(asked(self.to))
    }

    /// Everything else that is written there has no place here.
    fn set_filter(&self, follower: &mut Client) -> Result<(), StepError> {
        follower
            .execute(&format!("SET GLOBAL replicate_wild_do_table = {}", text(&self.filter())))
            .map(|_| ())
            .map_err(asked(self.to))
    }

    /// A server that was started again follows by itself, and everything: its filter is gone with the restart. It is set again; what came
    /// meanwhile is said.
    pub(crate) fn filter_again(&self, follower: &mut Client) -> Result<Option<String>, StepError> {
        let rows = follower.query("SHOW SLAVE STATUS").map_err(asked(self.to))?;
        if rows.is_empty()
            || rows.text(0, "Replicate_Wild_Do_Table").as_deref() == Some(self.filter().as_str())
        {
            return Ok(None);
        }
        follower.execute("STOP SLAVE").map_err(asked(self.to))?;
        self.set_filter(follower)?;
        follower.execute("START SLAVE").map_err(asked(self.to))?;
        Ok(Some(format!(
            "the {} had lost its filter of schemas (was it restarted?), which is set again: see whether other schemas there were changed by what \
             the {} has written since",
            self.to, self.from
        )))
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

    /// Waits until the follower has it.
    pub(crate) fn reach(&self, place: &Place, at_most_s: u64) -> Result<(), StepError> {
        let mut follower = self.follower()?;
        let began = Instant::now();
        let mut is_started = false;
        loop {
            // Short, so that nobody waits on the server for somebody who is dead.
            if self.has_reached(&mut follower, place, WAIT_S)? {
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
    pub(crate) fn reach_until(&self, place: &Place) -> Result<(), StepError> {
        let mut follower = self.follower()?;
        let began = Instant::now();
        loop {
            if self.has_reached(&mut follower, place, WAIT_S)? {
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
            let has_ended = of("Slave_SQL_Running") == "No" && !self.has_reached(&mut follower, place, 0)?;
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

    /// Whether the follower has all up to there, or gets it within so many seconds.
    pub(crate) fn has_reached(
        &self,
        follower: &mut Client,
        place: &Place,
        at_most_s: u64,
    ) -> Result<bool, StepError> {
        let gtid = match place {
            Place::Gtid(gtid) => gtid,
            Place::Log { file, at } => return self.has_applied(follower, (file, *at), at_most_s),
        };
        let rows = follower
            .query(&format!("SELECT MASTER_GTID_WAIT({}, {at_most_s})", text(gtid)))
            .map_err(asked(self.to))?;
        Ok(rows.scalar().as_deref() == Some("0"))
    }

    fn has_applied(
        &self,
        follower: &mut Client,
        wanted: (&str, u64),
        at_most_s: u64,
    ) -> Result<bool, StepError> {
        if at_most_s > 0 {
            // It answers at once where the applier does not run. Without end it would wait for 0 s.
            let wait = format!("SELECT MASTER_POS_WAIT({}, {}, {at_most_s})", text(wanted.0), wanted.1);
            follower.query(&wait).map_err(asked(self.to))?;
        }
        let Some(Place::Log { file, at }) = self.applied(follower)? else { return Ok(false) };
        is_at_or_behind((&file, at), wanted).ok_or_else(|| {
            fail(
                &format!("whether the {} has caught up cannot be determined", self.to),
                format!(
                    "it is at {file}:{at}, and {}:{} is waited for: they are not of one binary log",
                    wanted.0, wanted.1
                ),
                RESUME,
            )
        })
    }

    /// How far `leader` has written. What it has of the follower's own, where it writes that into its binary log, is none of it.
    pub(crate) fn written(&self, leader: &mut Client) -> Result<Place, StepError> {
        if dialect::is_mysql(leader) {
            return self.log_end(leader);
        }
        let mut follower = self.follower()?;
        let rows = follower.query("SELECT @@GLOBAL.server_id").map_err(asked(self.to))?;
        let server_id = rows.scalar().and_then(|text| text.parse::<u32>().ok());
        let state = position(leader, self.from, "gtid_binlog_state")?;
        let last = position(leader, self.from, "gtid_binlog_pos")?;
        let others = server_id.and_then(|id| gtid::without_server(&last, &state, id));
        Ok(Place::Gtid(others.unwrap_or(last)))
    }

    pub(crate) fn log_end(&self, leader: &mut Client) -> Result<Place, StepError> {
        dialect::log_end(leader).map_err(asked(self.from))?.ok_or_else(|| {
            fail(
                &format!("the {} does not report its position", self.from),
                "it writes no binary log, or the account may not see it",
                RESUME,
            )
        })
    }

    /// Behind a RESET MASTER positions begin anew, and a replica that has nothing of what follows would have "all" of it.
    pub(crate) fn is_same_log(&self, leader: &mut Client, follower: &mut Client) -> Result<(), StepError> {
        let (from, to) = (self.from, self.to);
        // In this order: what is written in between the follower may have already.
        let (seen, written, is_so) = if dialect::is_mysql(leader) {
            let (seen, written) = (self.applied(follower)?, self.log_end(leader)?);
            let is_so = match (&seen, &written) {
                (Some(Place::Log { file, at }), Place::Log { file: end, at: end_at }) => {
                    is_at_or_behind((end, *end_at), (file, *at))
                }
                _ => None,
            };
            (seen.map_or_else(String::new, |place| place.to_string()), written.to_string(), is_so)
        } else {
            let seen = position(follower, to, "gtid_slave_pos")?;
            let written = position(leader, from, "gtid_binlog_pos")?;
            let is_so = gtid::has_written(&written, &seen);
            (seen, written, is_so)
        };
        let told = format!("it is at \"{written}\", and the {to} has followed it to \"{seen}\"");
        match is_so {
            Some(true) => Ok(()),
            Some(false) => Err(fail(
                &format!("the binary log of the {from} was begun anew"),
                format!("{told} (RESET MASTER?)"),
                "sealion migrate rollback, and migrate again: nobody can tell what was written in between",
            )),
            None => Err(fail(
                &format!("whether the {to} follows the {from}'s binary log cannot be determined"),
                format!("{told}: these are not two positions of one binary log"),
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
        if let (Place::Log { .. }, Some(Place::Log { file, at })) = (&written, self.applied(&mut follower)?) {
            match dialect::has_transaction_behind(leader, (&file, at)) {
                Ok(false) => return Ok(()),
                Ok(true) => {}
                Err(error) => {
                    return Err(fail(
                        &format!(
                            "whether the {from} was written to since it was closed cannot be determined"
                        ),
                        format!(
                            "it is at {written}, the {to} at {file}:{at}, and what is between them is not shown: {}",
                            error.in_one_line()
                        ),
                        &format!(
                            "look there: SHOW BINLOG EVENTS IN '{file}' FROM {at}, and in later files. If there is no transaction, RESET SLAVE \
                             ALL on the {to} where that takes writes already; else GRANT REPLICATION SLAVE to the account; then sealion migrate resume"
                        ),
                    ));
                }
            }
        }
        Err(fail(
            &format!("the {from} was written to although it is read-only"),
            format!(
                "it is at {written}, which the {to} has not: an account with SUPER or READ ONLY ADMIN has written, or it was started anew"
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
