//! sysbench's command lines, in our own words.
//!
//! [`translate`] is words in, words out: what it gives is a command line of `sealion bench`, so that there is one way to
//! measure and not two. What does not change a measurement is named and left out; what would change it, and we do not have,
//! is refused: a number that means something else than it says is worse than none.
//!
//! # Source
//! sysbench 1.0.20: `src/sysbench.c`, `src/drivers/mysql/drv_mysql.c`, `src/lua/oltp_common.lua`, `src/sb_rand.c`.

use std::collections::BTreeMap;

use crate::load::workload::WORKLOADS;

/// It has tables of its own, one for each thread, and an event of it is a row.
const BULK: &str = "bulk_insert";

/// Where Debian, and `make install` of sysbench, put its scripts.
const SCRIPT_PLACES: [&str; 2] = ["/usr/share/sysbench/", "/usr/local/share/sysbench/"];
/// sysbench's own default for `--mysql-ignore-errors`, which is what our generator begins again.
const IGNORED_ERRORS: [&str; 3] = ["1020", "1205", "1213"];

/// A command line of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    /// After `sealion`.
    pub words: Vec<String>,
    /// What was left out, and what differs.
    pub notes: Vec<String>,
}

/// Why it cannot be translated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}\n  why:  {why}\n  next: {next}")]
pub struct Refusal {
    pub what: String,
    pub why: String,
    pub next: String,
}

fn refuse<T>(what: impl Into<String>, why: impl Into<String>, next: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { what: what.into(), why: why.into(), next: next.into() })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Prepare,
    Run,
    Cleanup,
}

/// What becomes of an option.
#[derive(Debug, Clone, Copy)]
enum Fate {
    /// Looked at below, by name.
    Meant,
    /// It changes no number: named, and left out.
    LeftOut,
    /// One of these values changes nothing; any other would, and is refused.
    Only(&'static [&'static str]),
}

use Fate::{LeftOut, Meant, Only};

const OFF: &[&str] = &["off", "false", "no", "0"];
const ON: &[&str] = &["on", "true", "yes", "1"];

/// Every option that sysbench 1.0 takes for MySQL's OLTP scripts, with `-` for `_`.
const OPTIONS: &[(&str, Fate)] = &[
    ("threads", Meant),
    ("events", Meant),
    ("time", Meant),
    ("rate", Meant),
    ("warmup-time", Meant),
    ("rand-type", Meant),
    ("rand-seed", Meant),
    ("mysql-host", Meant),
    ("mysql-port", Meant),
    ("mysql-socket", Meant),
    ("mysql-user", Meant),
    ("mysql-password", Meant),
    ("mysql-db", Meant),
    ("mysql-ssl", Meant),
    ("mysql-ssl-ca", Meant),
    ("mysql-ssl-cert", Meant),
    ("mysql-ssl-key", Meant),
    ("mysql-ssl-cipher", Meant),
    ("mysql-ignore-errors", Meant),
    ("mysql-storage-engine", Meant),
    ("tables", Meant),
    ("table-size", Meant),
    ("range-size", Meant),
    ("point-selects", Meant),
    ("simple-ranges", Meant),
    ("sum-ranges", Meant),
    ("order-ranges", Meant),
    ("distinct-ranges", Meant),
    ("index-updates", Meant),
    ("non-index-updates", Meant),
    ("delete-inserts", Meant),
    ("range-selects", Meant),
    ("skip-trx", Meant),
    ("create-secondary", Meant),
    // What it prints, and how it ends.
    ("report-interval", LeftOut),
    ("percentile", LeftOut),
    ("histogram", LeftOut),
    ("verbosity", LeftOut),
    ("debug", LeftOut),
    ("db-debug", LeftOut),
    ("mysql-debug", LeftOut),
    ("forced-shutdown", LeftOut),
    ("thread-init-timeout", LeftOut),
    ("thread-stack-size", LeftOut),
    // The OLTP scripts have nothing to validate.
    ("validate", LeftOut),
    ("db-driver", Only(&["mysql"])),
    ("db-ps-mode", Meant),
    ("auto-inc", Only(ON)),
    ("secondary", Only(OFF)),
    ("reconnect", Only(&["0"])),
    ("create-table-options", Only(&[""])),
    ("report-checkpoints", Only(&[""])),
    ("mysql-compression", Only(OFF)),
    ("mysql-dry-run", Only(OFF)),
    ("rand-spec-iter", Only(&["12"])),
    ("rand-spec-pct", Only(&["1"])),
    ("rand-spec-res", Only(&["75"])),
    ("rand-pareto-h", Only(&["0.2"])),
];

/// Old names that sysbench 1.0 still takes.
const ALIASES: [(&str, &str); 4] =
    [("num-threads", "threads"), ("max-requests", "events"), ("max-time", "time"), ("tx-rate", "rate")];

/// Is this word a password for a server, in sysbench's words or the client's? It is in every process list then.
pub fn gives_password(word: &str) -> bool {
    let word = word.replace('_', "-");
    if (word.starts_with("-p") && word.len() > 2) || word.starts_with("--password=") {
        return true;
    }
    // Without `=` the secret would be the next word; an empty one is none.
    ["--mysql-password", "--pgsql-password"]
        .iter()
        .filter_map(|name| word.strip_prefix(name))
        .any(|rest| rest.is_empty() || (rest.starts_with('=') && rest.len() > 1))
}

/// Translates what would stand after `sysbench`.
///
/// # Errors
/// What we do not have, what would mean something else, and passwords.
pub fn translate(words: &[String]) -> Result<Translation, Refusal> {
    if words.iter().any(|word| gives_password(word)) {
        return refuse(
            "a password on the command line is refused",
            "every user of this machine can read it in the process list, and it may be in your shell's history now",
            "use -p (it prompts), --password-file FILE, --password-fd FD or --defaults-file FILE, all before the \
             --, and change that password",
        );
    }
    let (mut options, mut positional) = (BTreeMap::new(), Vec::new());
    let mut notes = Vec::new();
    for word in words {
        match word.strip_prefix("--") {
            Some(option) => read_option(option, &mut options, &mut notes)?,
            None if word.starts_with('-') => {
                return refuse(
                    format!("\"{word}\" is not an option of sysbench"),
                    "its options begin with --",
                    "sealion's own options come before the --",
                );
            }
            None => positional.push(word.as_str()),
        }
    }
    let (workload, command) = match positional[..] {
        [workload, command] => (read_workload(workload)?, read_command(command)?),
        _ => {
            return refuse(
                format!("a test and a command are needed, but {} words were given", positional.len()),
                "a sysbench command line ends like this: oltp_read_only --tables=8 run; values are given with = \
                 (--time=60)",
                "sealion bench sysbench -- oltp_read_only --mysql-host=db1 --tables=8 run",
            );
        }
    };
    let mut out = Out { options: &options, words: vec!["bench".into()], notes };
    if workload == BULK {
        out.bulk()?;
    }
    match command {
        Command::Run => {
            out.words.extend(["load".into(), workload.into()]);
            out.connect()?;
            out.run()?;
        }
        Command::Prepare => {
            out.words.push("prepare".into());
            out.connect()?;
            if workload == BULK {
                out.prepare_bulk();
            } else {
                out.prepare()?;
            }
        }
        Command::Cleanup => {
            out.words.push("cleanup".into());
            out.connect()?;
            out.notes.push("cleanup drops the whole schema; sysbench drops only its tables".into());
        }
    }
    Ok(Translation { words: out.words, notes: out.notes })
}

type SysbenchOptions = BTreeMap<String, String>;

/// Keeps what has a meaning, names what has none, refuses the rest. The last of two wins, as with sysbench.
fn read_option(option: &str, options: &mut SysbenchOptions, notes: &mut Vec<String>) -> Result<(), Refusal> {
    let (name, value) = match option.split_once('=') {
        Some((name, value)) => (name, value),
        // sysbench's switches may stand alone.
        None => (option, "on"),
    };
    let typed = name;
    let name = name.replace('_', "-");
    let name = ALIASES.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| (*new).to_owned());
    let Some((_, fate)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
        return refuse(
            format!("unknown option --{typed}"),
            "its effect on the measurement is not known, so nothing is measured",
            "leave it out, or use sealion bench load (sealion bench load --help)",
        );
    };
    match fate {
        Meant => {
            options.insert(name, value.to_owned());
        }
        LeftOut => notes.push(format!("--{typed} is ignored: it does not change the result")),
        Only(values) if values.contains(&value) => {}
        Only(values) => {
            let usual = values.first().copied().unwrap_or_default();
            return refuse(
                format!("--{typed}={value} is not supported"),
                format!(
                    "the load generator works like --{typed}={usual}; the figures would not be those of this command"
                ),
                format!("leave --{typed} out, or use sysbench"),
            );
        }
    }
    Ok(())
}

fn read_workload(word: &str) -> Result<&str, Refusal> {
    let script = SCRIPT_PLACES.iter().find_map(|place| word.strip_prefix(place));
    let name = script.unwrap_or(word);
    let name = name.strip_suffix(".lua").filter(|_| script.is_some()).unwrap_or(name);
    let ours = || {
        WORKLOADS
            .iter()
            .map(|workload| workload.name)
            .filter(|name| name.starts_with("oltp_") || *name == BULK)
    };
    if ours().any(|known| known == name) {
        return Ok(name);
    }
    refuse(
        format!("the test \"{word}\" is not supported"),
        format!("known are {}", ours().collect::<Vec<_>>().join(", ")),
        "sealion bench list",
    )
}

fn read_command(word: &str) -> Result<Command, Refusal> {
    match word {
        "prepare" => Ok(Command::Prepare),
        "run" => Ok(Command::Run),
        "cleanup" => Ok(Command::Cleanup),
        _ => refuse(
            format!("the command \"{word}\" is not supported"),
            "known are prepare, run and cleanup",
            "for a warm-up use run --warmup-time=S",
        ),
    }
}

struct Out<'g> {
    options: &'g SysbenchOptions,
    words: Vec<String>,
    notes: Vec<String>,
}

impl Out<'_> {
    fn given(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    fn put(&mut self, ours: &str, value: &str) {
        // One word: a value that begins with - stays a value.
        self.words.push(format!("{ours}={value}"));
    }

    /// As it is, under our name.
    fn pass(&mut self, theirs: &str, ours: &str) {
        if let Some(value) = self.options.get(theirs) {
            self.put(ours, value);
        }
    }

    fn is_on(&self, name: &str, otherwise: bool) -> Result<bool, Refusal> {
        match self.given(name) {
            None => Ok(otherwise),
            Some(value) if ON.contains(&value) => Ok(true),
            Some(value) if OFF.contains(&value) => Ok(false),
            Some(value) => {
                refuse(format!("--{name}={value} is neither on nor off"), "it is a switch", "on or off")
            }
        }
    }

    fn number(&self, name: &str, otherwise: f64) -> Result<f64, Refusal> {
        let Some(text) = self.given(name) else { return Ok(otherwise) };
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => refuse(
                format!("--{name}={text} is not a number"),
                "a number from 0 is needed",
                format!("--{name}=N"),
            ),
        }
    }

    /// Who and where. sysbench's defaults are said, so that no option file fills them in otherwise.
    fn connect(&mut self) -> Result<(), Refusal> {
        for name in ["mysql-host", "mysql-port", "mysql-socket"] {
            if let Some(list) = self.given(name).filter(|value| value.contains(',')) {
                return refuse(
                    format!("--{name}={list}: only one server is possible"),
                    "the load generator reads several servers from an inventory",
                    "sealion config inventory, then sealion bench load without -h",
                );
            }
        }
        match self.given("mysql-socket") {
            Some(socket) if !socket.is_empty() => {
                let socket = socket.to_owned();
                self.put("--socket", &socket);
            }
            _ => {
                let host = self.given("mysql-host").unwrap_or("localhost").to_owned();
                if host == "localhost" {
                    self.notes.push("localhost is a TCP connection here; sysbench uses the socket".into());
                }
                let port = self.given("mysql-port").unwrap_or("3306").to_owned();
                self.put("--host", &host);
                self.put("--port", &port);
            }
        }
        let user = self.given("mysql-user").unwrap_or("sbtest").to_owned();
        let schema = self.given("mysql-db").unwrap_or("sbtest").to_owned();
        self.put("--user", &user);
        self.tls()?;
        self.put("--database", &schema);
        if let Some(list) = self.given("mysql-ignore-errors") {
            let mut codes: Vec<&str> = list.split(',').map(str::trim).collect();
            codes.sort_unstable();
            if codes != IGNORED_ERRORS {
                return refuse(
                    format!("--mysql-ignore-errors={list} is not supported"),
                    "errors 1213, 1205 and 1020 restart the event, any other error ends the measurement",
                    "leave it out",
                );
            }
        }
        Ok(())
    }

    fn tls(&mut self) -> Result<(), Refusal> {
        let mode = self.given("mysql-ssl").unwrap_or("off");
        let upper = mode.to_ascii_uppercase();
        if ON.contains(&mode) {
            // What sysbench 1.0 gives to its library, which checks the chain when it has a CA.
            self.put("--ssl-mode", "VERIFY_CA");
            for (theirs, ours, file) in [
                ("mysql-ssl-ca", "--ssl-ca", "cacert.pem"),
                ("mysql-ssl-cert", "--ssl-cert", "client-cert.pem"),
                ("mysql-ssl-key", "--ssl-key", "client-key.pem"),
            ] {
                let file = self.given(theirs).unwrap_or(file).to_owned();
                self.put(ours, &file);
            }
            self.notes.push(
                "--mysql-ssl=on uses cacert.pem, client-cert.pem and client-key.pem of this directory, as sysbench \
                 1.0 does; --mysql-ssl=REQUIRED needs no files"
                    .into(),
            );
        } else {
            let mode = match upper.as_str() {
                _ if OFF.contains(&mode) => "DISABLED",
                "DISABLED" | "PREFERRED" | "REQUIRED" | "VERIFY_CA" | "VERIFY_IDENTITY" => upper.as_str(),
                _ => {
                    return refuse(
                        format!("unknown mode --mysql-ssl={mode}"),
                        "sysbench 1.0 has on and off; later versions have the modes of mysql's --ssl-mode",
                        "--mysql-ssl=REQUIRED",
                    );
                }
            };
            self.put("--ssl-mode", mode);
            if mode != "DISABLED" {
                self.pass("mysql-ssl-ca", "--ssl-ca");
                self.pass("mysql-ssl-cert", "--ssl-cert");
                self.pass("mysql-ssl-key", "--ssl-key");
            }
        }
        Ok(())
    }

    fn tables(&mut self) {
        self.pass("tables", "--tables");
        self.pass("table-size", "--table-size");
        // 0 is sysbench's "by the clock"; ours is the same each time.
        if let Some(seed) = self.options.get("rand-seed").filter(|seed| *seed != "0") {
            self.put("--seed", seed);
        }
    }

    fn run(&mut self) -> Result<(), Refusal> {
        self.tables();
        for name in [
            "range-size",
            "point-selects",
            "simple-ranges",
            "sum-ranges",
            "order-ranges",
            "distinct-ranges",
            "index-updates",
            "non-index-updates",
            "delete-inserts",
            "rand-type",
        ] {
            self.pass(name, &format!("--{name}"));
        }
        if !self.is_on("range-selects", true)? {
            self.words.push("--no-range-selects".into());
        }
        if self.is_on("skip-trx", false)? {
            self.words.push("--skip-trx".into());
        }
        match self.given("db-ps-mode") {
            None | Some("auto") => {}
            Some("disable") => self.words.push("--text-protocol".into()),
            Some(other) => {
                return refuse(
                    format!("unknown mode --db-ps-mode={other}"),
                    "sysbench has auto (prepared statements) and disable (text)",
                    "one of these two",
                );
            }
        }
        self.pass("threads", "--connections");
        let (time, events) = (self.number("time", 10.0)?, self.number("events", 0.0)?);
        if time == 0.0 && events == 0.0 {
            return refuse(
                "it would never end",
                "--time=0 and no --events is without a limit",
                "--time=S or --events=N",
            );
        }
        if time > 0.0 {
            let time = self.given("time").unwrap_or("10").to_owned();
            self.put("--time", &time);
        }
        if events > 0.0 {
            self.pass("events", "--events");
        }
        if self.number("rate", 0.0)? > 0.0 {
            self.pass("rate", "--rate");
        }
        let warm_up = self.given("warmup-time").unwrap_or("0").to_owned();
        self.put("--warm-up", &warm_up);
        if self.given("mysql-ssl-cipher").is_some_and(|list| !list.is_empty()) {
            self.pass("mysql-ssl-cipher", "--ssl-cipher");
        }
        Ok(())
    }

    /// What its script knows nothing of, sysbench refuses too.
    fn bulk(&mut self) -> Result<(), Refusal> {
        const KNOWN: [&str; 6] = ["threads", "time", "warmup-time", "events", "rate", "rand-seed"];
        let is_known = |name: &str| KNOWN.contains(&name) || name.starts_with("mysql-");
        if let Some(name) = self.options.keys().find(|name| !is_known(name)) {
            return refuse(
                format!("{BULK} has no --{name}"),
                "it has one table per thread, and statements of one size",
                "leave it out",
            );
        }
        for name in ["events", "rate"] {
            if self.number(name, 0.0)? > 0.0 {
                return refuse(
                    format!("--{name} counts rows in sysbench's {BULK}, but statements here"),
                    "an event of sysbench is one row, sent together with others as half a MiB",
                    "--time=S",
                );
            }
        }
        self.notes.push(
            "an event of sysbench's bulk_insert is a row, one of sealion a statement of half a MiB: compare its \
             events/s with \"rows written\""
                .into(),
        );
        Ok(())
    }

    fn prepare_bulk(&mut self) {
        self.words.push("--bulk".into());
        let tables = self.given("threads").unwrap_or("1").to_owned();
        self.put("--tables", &tables);
        let engine = self.given("mysql-storage-engine").unwrap_or_default().to_owned();
        if !engine.is_empty() {
            self.put("--engine", &engine);
        }
        self.notes.push("the tables are created again; sysbench keeps existing ones".into());
    }

    fn prepare(&mut self) -> Result<(), Refusal> {
        self.tables();
        self.pass("threads", "--threads");
        let engine = self.given("mysql-storage-engine").unwrap_or("innodb").to_owned();
        self.put("--engine", &engine);
        if !self.is_on("create-secondary", true)? {
            self.words.push("--no-secondary".into());
        }
        Ok(())
    }
}

/// A command line that a shell reads as these words.
pub fn shown(words: &[String]) -> String {
    let plain = |word: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=./:,@%+".contains(&byte);
        !word.is_empty() && word.bytes().all(is_plain)
    };
    let quoted = |word: &String| {
        if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Translation, Refusal> {
        translate(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn check(line: &str, expected: &str) {
        assert_eq!(shown(&of(line).expect("it can be said").words), expected, "{line}");
    }

    #[test]
    fn says_the_same_in_our_words() {
        check(
            "oltp_read_only --db-driver=mysql --mysql-host=db1 --mysql-port=3307 --mysql-user=b --mysql-db=s --mysql-ssl=required \
             --tables=8 --table-size=1000 --threads=16 --time=60 --rate=500 --rand-type=uniform --point-selects=5 \
             --range-selects=off --skip-trx=on --warmup-time=3 --rand-seed=7 run",
            "bench load oltp_read_only --host=db1 --port=3307 --user=b --ssl-mode=REQUIRED --database=s --tables=8 \
             --table-size=1000 --seed=7 --point-selects=5 --rand-type=uniform --no-range-selects --skip-trx \
             --connections=16 --time=60 --rate=500 --warm-up=3",
        );
        check(
            "--threads=4 oltp_write_only --mysql-host=h --tables=2 --create_secondary=off prepare",
            "bench prepare --host=h --port=3306 --user=sbtest --ssl-mode=DISABLED --database=sbtest --tables=2 --threads=4 \
             --engine=innodb --no-secondary",
        );
        check(
            "oltp_insert --mysql-socket=/run/s cleanup",
            "bench cleanup --socket=/run/s --user=sbtest --ssl-mode=DISABLED --database=sbtest",
        );
    }

    #[test]
    fn underscores_old_names_bare_switches_and_paths_are_read_as_sysbench_does() {
        check(
            "/usr/share/sysbench/oltp_point_select.lua --mysql_host=h --num-threads=2 --max_requests=9 --max-time=0 --skip_trx run",
            "bench load oltp_point_select --host=h --port=3306 --user=sbtest --ssl-mode=DISABLED --database=sbtest --skip-trx \
             --connections=2 --events=9 --warm-up=0",
        );
        // Both limits, as sysbench has them: its --time is 10 unless said otherwise. The last of two wins.
        let both = of("oltp_insert --mysql-host=h --events=5 --events=9 run").expect("good").words;
        assert!(both.contains(&"--time=10".into()) && both.contains(&"--events=9".into()), "{both:?}");
    }

    #[test]
    fn tls_that_is_on_takes_the_files_that_sysbench_takes() {
        let on = of("oltp_insert --mysql-host=h --mysql-ssl run").expect("good");
        let line = shown(&on.words);
        assert!(line.contains(
            "--ssl-mode=VERIFY_CA --ssl-ca=cacert.pem --ssl-cert=client-cert.pem --ssl-key=client-key.pem"
        ));
        assert!(on.notes.iter().any(|note| note.contains("cacert.pem")), "{on:?}");
        check(
            "oltp_insert --mysql-host=h --mysql-ssl=VERIFY_IDENTITY --mysql-ssl-ca=ca.pem --mysql-ssl-cipher=AES128-SHA run",
            "bench load oltp_insert --host=h --port=3306 --user=sbtest --ssl-mode=VERIFY_IDENTITY --ssl-ca=ca.pem \
             --database=sbtest --time=10 --warm-up=0 --ssl-cipher=AES128-SHA",
        );
    }

    #[test]
    fn what_changes_no_number_is_named_and_left_out() {
        let plain = of("oltp_read_only --mysql-host=h run").expect("good");
        let more = of("oltp_read_only --mysql-host=h --report-interval=1 --percentile=99 --histogram --db-ps-mode=auto run")
            .expect("good");
        assert_eq!((plain.words, plain.notes.len()), (more.words, 0));
        let named = |name: &str| more.notes.iter().any(|note| note.contains(name));
        assert!(
            named("--report-interval") && named("--percentile") && named("--histogram"),
            "{:?}",
            more.notes
        );
    }

    #[test]
    fn what_would_mean_something_else_is_refused() {
        for (options, about) in [
            ("--db-ps-mode=perhaps run", "--db-ps-mode=perhaps"),
            ("--db-driver=pgsql run", "--db-driver=pgsql"),
            ("--reconnect=5 run", "--reconnect=5"),
            ("--secondary run", "--secondary=on"),
            ("--auto_inc=off run", "--auto_inc=off"),
            ("--rand-spec-pct=10 run", "--rand-spec-pct=10"),
            ("--mysql-compression=on run", "--mysql-compression=on"),
            ("--mysql-ignore-errors=all run", "--mysql-ignore-errors=all"),
            ("--report-checkpoints=5,10 run", "--report-checkpoints"),
            ("--mysql-host=a,b run", "one server"),
            ("--mysql-ssl=perhaps run", "--mysql-ssl=perhaps"),
            ("--skip-trx=perhaps run", "--skip-trx=perhaps"),
            ("--oltp-table-size=5 run", "--oltp-table-size"),
            ("--config-file=x run", "--config-file"),
            ("--time=0 run", "never end"),
            ("--time=-1 run", "--time=-1"),
            ("--time=nan run", "--time=nan"),
            ("-h run", "\"-h\""),
            ("--threads 8 run", "3 words"),
            ("", "1 words"),
            ("warmup", "\"warmup\""),
        ] {
            let refusal = of(&format!("oltp_read_only {options}")).expect_err(options);
            assert!(refusal.what.contains(about), "{options}: {refusal}");
        }
        for test in [
            "fileio",
            "stream",
            "connect",
            "select_random_points",
            "./oltp_read_only.lua",
            "/tmp/oltp_insert",
        ] {
            let refusal = of(&format!("{test} run")).expect_err(test);
            assert!(refusal.what.contains(test) && refusal.why.contains("oltp_read_write"), "{refusal}");
        }
    }

    #[test]
    fn a_password_is_refused_and_never_said() {
        for word in [
            "--mysql-password=hunter2",
            "--mysql_password=hunter2",
            "--mysql-password",
            "-phunter2",
            "--password=hunter2",
        ] {
            assert!(gives_password(word), "{word}");
            let refusal = of(&format!("oltp_read_only {word} hunter2 run")).expect_err(word);
            assert!(
                !refusal.to_string().contains("hunter2") && refusal.next.contains("--password-file"),
                "{refusal}"
            );
        }
        // An empty one is none.
        assert!(!gives_password("--mysql-password=") && !gives_password("--mysql-host=h"));
        check(
            "oltp_insert --mysql-host=h --mysql-password= cleanup",
            "bench cleanup --host=h --port=3306 --user=sbtest --ssl-mode=DISABLED --database=sbtest",
        );
    }

    #[test]
    fn a_value_stays_one_word_for_parser_and_shell() {
        let words = ["oltp_insert", "--mysql-host=h", "--mysql-user=-o'x y", "cleanup"].map(str::to_owned);
        let said = translate(&words).expect("good").words;
        assert!(said.contains(&"--user=-o'x y".to_owned()), "{said:?}");
        assert!(shown(&said).contains(r"'--user=-o'\''x y'"), "{}", shown(&said));
    }
}
