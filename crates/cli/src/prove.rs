//! `sealion prove`: the rogue server, and what clients gave it.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use prove::Protocol;
use prove_ops::drivers::{self, COLUMNS, Kept, LOGINS, State, Tried, Wanted};
use prove_ops::{ATTACKS, CLIENTS, Ground, Outcome, Stage, attack};
use report::shape::{PROVE_CLIENT_SCHEMA_ID, ProveClientReport};
use serde_json::{Value, json};
use site::OpsError;

use crate::args::{self, Format, Global, ProveClientArgs, ProveClientsArgs, ProveCommand, ProveServeArgs};
use crate::{interrupt, show};

/// What the first line of `prove serve --format json` says.
const PROVE_SERVE_SCHEMA_ID: &str = "sealion/prove-serve/1";
const POLL: Duration = Duration::from_millis(200);

pub fn prove(global: &Global, command: &ProveCommand) -> Result<u8, OpsError> {
    prove_ops::keep_memory_private()?;
    match command {
        ProveCommand::Client(args) => client(global, args),
        ProveCommand::Clients(args) => clients(global, args),
        ProveCommand::Config(args) => crate::prove_config::run(global, args, &interrupt::flag),
        ProveCommand::Serve(args) => serve(global, args),
        ProveCommand::Sniff(args) => {
            let stop = interrupt::flag()?;
            crate::prove_sniff::run(global, args, &stop)
        }
        ProveCommand::Relay(args) => {
            let stop = interrupt::flag()?;
            crate::prove_relay::run(global, args, &stop)
        }
        ProveCommand::Tour(args) => crate::prove_tour::run(global, args),
        ProveCommand::List => Ok(list(global)),
    }
}

fn list(global: &Global) -> u8 {
    if global.format == Format::Json {
        let all: Vec<Value> = ATTACKS
            .iter()
            .map(|one| {
                json!({ "case": one.id, "family": one.family.to_string(), "does": one.does, "defence": one.defence })
            })
            .collect();
        show::out(&format!("{:#}", Value::from(all)));
    } else {
        let rows =
            ATTACKS.iter().map(|one| vec![one.id.into(), one.family.to_string(), one.does.into()]).collect();
        show::out(&show::table(&["case", "about", "what is done"], rows));
    }
    0
}

/// The attacks of these ids, the honest server first: without it a refusal means nothing.
fn chosen(ids: &[String]) -> Result<Vec<&'static prove::Attack>, OpsError> {
    let mut found = vec![];
    for id in std::iter::once("honest").chain(ids.iter().map(String::as_str)) {
        let one = attack(id).ok_or_else(|| {
            OpsError::usage(format!("\"{id}\" is no case"), "no attack has this id", "sealion prove list")
        })?;
        if !found.iter().any(|known: &&prove::Attack| known.id == one.id) {
            found.push(one);
        }
    }
    Ok(found)
}

/// All of them, where none was named.
fn chosen_or_all(stage: &args::Stage) -> Result<Vec<&'static prove::Attack>, OpsError> {
    if stage.cases.is_empty() { Ok(ATTACKS.to_vec()) } else { chosen(&stage.cases) }
}

/// The same, of those that the protocol has: one that was asked for by name and is not played there is an error.
fn chosen_for(stage: &args::Stage, protocol: Protocol) -> Result<Vec<&'static prove::Attack>, OpsError> {
    let mut attacks = chosen_or_all(stage)?;
    let missing = attacks.iter().find(|one| !one.is_played_in(protocol));
    if let (Some(missing), false) = (missing, stage.cases.is_empty()) {
        return Err(OpsError::usage(
            format!("{} is not tried on a stream", missing.id),
            "it is about what MySQL says around TLS",
            "leave out --stream, or this --case",
        ));
    }
    attacks.retain(|one| one.is_played_in(protocol));
    Ok(attacks)
}

/// Before any thread is there: a namespace is entered by the whole process.
fn ground(stage: &args::Stage) -> Result<Ground, OpsError> {
    if stage.namespace {
        return Ground::named();
    }
    let bind = stage.authorized_bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    Ok(Ground::at(bind, stage.host.as_deref().unwrap_or("localhost")))
}

fn client(global: &Global, args: &ProveClientArgs) -> Result<u8, OpsError> {
    let protocol = if args.stream { Protocol::Stream } else { Protocol::MySql };
    let attacks = chosen_for(&args.stage, protocol)?;
    let ground = ground(&args.stage)?;
    let stop = interrupt::flag()?;
    let stage = Stage::set(&attacks, &[protocol], &ground, 0)?;
    let is_table = global.format == Format::Table;
    let at_most = Duration::from_secs(args.timeout_s);
    let judged =
        prove_ops::client(&stage, &attacks, protocol, &args.command, at_most, &stop, &mut |outcome| {
            if is_table {
                print_outcome(global, outcome);
            }
        })?;
    let fallen: Vec<&Outcome> = judged.outcomes.iter().filter(|one| one.has_fallen()).collect();
    let is_whole = judged.outcomes.len() == attacks.len();
    if is_table {
        print_end(&judged.outcomes, &fallen, judged.is_controlled);
        if !is_whole {
            show::out("Ended early: the other attacks were not tried.");
        }
    } else {
        let report = ProveClientReport {
            schema: PROVE_CLIENT_SCHEMA_ID.into(),
            sealion_version: env!("CARGO_PKG_VERSION").into(),
            is_complete: is_whole,
            is_controlled: judged.is_controlled,
            fallen: count(fallen.len()),
            cases: judged.outcomes.iter().map(drivers::case_row).collect(),
        };
        show::out(&report.to_json());
    }
    // A case in which it did not even dial is not one that it has passed.
    let is_whole = is_whole && judged.outcomes.iter().all(|one| one.verdict != prove::Verdict::NotConnected);
    Ok(match (fallen.is_empty(), judged.is_controlled && is_whole) {
        (false, _) => 1,
        (true, false) => 3,
        (true, true) => 0,
    })
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn print_outcome(global: &Global, one: &Outcome) {
    let mark = if one.has_fallen() { show::red("FELL") } else { "    ".into() };
    let guess =
        if one.is_guessable && one.has_fallen() { "; fit for guessing the password offline" } else { "" };
    let late = match one.late {
        0 => String::new(),
        count => format!("; {count} of its connections behind its turn"),
    };
    show::out(&format!(
        "{mark} {:<21} {:<4} {}{guess}{late}",
        one.attack.id,
        one.verdict.letters(),
        one.verdict
    ));
    if global.verbose > 0 {
        let connections = if one.connections == 1 { "connection" } else { "connections" };
        show::out(&format!("       {}, {} {connections}", one.exit, one.connections));
        for line in &one.trace {
            show::out(&format!("       . {line}"));
        }
        for line in one.words.lines().take(5) {
            show::out(&format!("       > {line}"));
        }
    }
}

fn print_end(all: &[Outcome], fallen: &[&Outcome], is_controlled: bool) {
    show::out("");
    if let Some(client) = all.iter().find_map(|one| one.client.as_deref()) {
        show::out(&format!("The client calls itself {client}."));
    }
    if !is_controlled {
        show::out(
            "It did not accept the honest server: what it refuses elsewhere proves nothing. With -v its own words are shown.",
        );
    }
    let silent: Vec<&str> = all
        .iter()
        .filter(|one| one.verdict == prove::Verdict::NotConnected)
        .map(|one| one.attack.id)
        .collect();
    if !silent.is_empty() {
        show::out(&format!("It did not connect, so nothing is known of: {}.", silent.join(", ")));
    }
    if fallen.is_empty() {
        show::out("It has fallen to nothing that was tried.");
        return;
    }
    show::out(&format!("It has fallen to {} of {} attacks. What helps:", fallen.len(), all.len()));
    let mut told: Vec<&str> = vec![];
    for one in fallen {
        if !told.contains(&one.attack.defence) {
            told.push(one.attack.defence);
            let about: Vec<&str> = fallen
                .iter()
                .filter(|other| other.attack.defence == one.attack.defence)
                .map(|other| other.attack.id)
                .collect();
            show::out(&format!("- {} ({})", one.attack.defence, about.join(", ")));
        }
    }
}

fn clients(global: &Global, args: &ProveClientsArgs) -> Result<u8, OpsError> {
    let mut chosen = vec![];
    for id in &args.only {
        let one = CLIENTS.iter().copied().find(|client| client.id == *id).ok_or_else(|| {
            let known: Vec<&str> = CLIENTS.iter().map(|client| client.id).collect();
            OpsError::usage(
                format!("\"{id}\" is no client"),
                "none has this id",
                format!("one of {}", known.join(" ")),
            )
        })?;
        chosen.push(one);
    }
    if chosen.is_empty() {
        chosen = CLIENTS.to_vec();
    }
    let attacks = if args.cases.is_empty() {
        COLUMNS.iter().filter_map(|id| attack(id)).collect()
    } else {
        self::chosen(&args.cases)?
    };
    // The page has them beside the columns that it always has; elsewhere they would only take time.
    let logins: Vec<_> = match (&args.page, args.cases.is_empty()) {
        (Some(_), true) => LOGINS.iter().filter_map(|id| attack(id)).collect(),
        _ => vec![],
    };
    let place = args.dir.clone().unwrap_or_else(drivers::default_place);
    if let Some(path) = &args.page {
        show::is_writable(path)?;
    }
    // Before the namespace: it has no way out to a registry.
    let prepared = drivers::prepare(&chosen, &place, args.install, &mut |word| show::progress(word))?;
    let ground = if args.no_namespace {
        Ground::loopback()
    } else {
        Ground::named().unwrap_or_else(|why| {
            show::tell(&format!("note: on the host's loopback, where some libraries check less: {why}"));
            Ground::loopback()
        })
    };
    let ground = if args.by_address { ground.by_address() } else { ground };
    let stop = interrupt::flag()?;
    let stage =
        Stage::set(&[&attacks[..], &logins].concat(), &[Protocol::MySql, Protocol::Stream], &ground, 0)?;
    let wanted = Wanted {
        clients: &prepared,
        attacks: &attacks,
        logins: &logins,
        place: &place,
        at_most: Duration::from_secs(args.timeout_s),
    };
    let is_table = global.format == Format::Table;
    if is_table {
        let heads = attacks.iter().map(|one| format!("{:<1$}", one.id, width(one)));
        show::out(&format!("{:<1$}{2}", "", OPTIONS_COLUMNS + 2, heads.collect::<String>().trim_end()));
    }
    let all = drivers::clients(&stage, &wanted, &stop, &mut |word| show::progress(word), &mut |tried| {
        if is_table {
            show::progress("");
            print_tried(tried);
        }
    })?;
    show::progress("");
    let is_whole = !stop.load(Ordering::Relaxed);
    if let Some(path) = args.page.as_ref().filter(|_| is_whole) {
        let day = show::day(i64::try_from(model::Clock::unix_ms(&model::SystemClock) / 1000).ok());
        // Of one run, so that neither can be older than the other.
        write(path, &drivers::page(&all, &attacks, &day))?;
        write(&path.with_extension("json"), &drivers::data(&all))?;
    }
    let kept = Kept::of(&all);
    if is_table {
        if kept.promising > 0 {
            show::out(&format!(
                "\n{} of {} ways of setting TLS do not keep what they look like they promise; {} of them go on in clear text.",
                kept.broken, kept.promising, kept.in_clear
            ));
        }
    } else {
        show::out(&drivers::report(&all).to_json());
    }
    if !is_whole {
        let page = if args.page.is_some() { "; no page was written" } else { "" };
        show::tell(&format!("Ended early: the others were not tried{page}."));
    }
    let is_tried = is_whole && all.iter().any(|one| matches!(one.state, State::Tried { .. }));
    Ok(if is_tried { 0 } else { 3 })
}

fn write(path: &Path, text: &str) -> Result<(), OpsError> {
    std::fs::write(path, text).map_err(|error| {
        OpsError::usage(
            format!("{} cannot be written", path.display()),
            error.to_string(),
            "name a file that you may write",
        )
    })
}

/// For the options of a client, in a table of 80.
const OPTIONS_COLUMNS: usize = 22;

/// Of a column.
fn width(attack: &prove::Attack) -> usize {
    (attack.id.len() + 1).max(5)
}

fn print_tried(one: &Tried) {
    match &one.state {
        State::NotHere { why, next } => {
            show::out(&format!("{}: not tried: {why} ({next})", show::bold(one.client.name)));
        }
        State::Tried { version, rows, .. } => {
            show::out(&format!("{} {version}", show::bold(one.client.name)));
            for row in rows {
                let cells = row
                    .outcomes
                    .iter()
                    .map(|one| format!("{:<1$}", one.verdict.letters(), width(one.attack)));
                let cells: String = cells.collect();
                // Options that are longer have a line of their own.
                let options = row.mode.options;
                if options.chars().count() < OPTIONS_COLUMNS {
                    show::out(&format!("  {options:<OPTIONS_COLUMNS$}{}", cells.trim_end()));
                } else {
                    show::out(&format!("  {options}\n  {:<OPTIONS_COLUMNS$}{}", "", cells.trim_end()));
                }
                match (row.is_controlled(), row.broken_promise()) {
                    (false, _) => show::out("    does not accept the honest server"),
                    (_, Some(broken)) => show::out(&show::red(&format!(
                        "    promises {}, and {} takes it",
                        row.mode.promises, broken.attack.id
                    ))),
                    _ => {}
                }
            }
        }
    }
}

fn serve(global: &Global, args: &ProveServeArgs) -> Result<u8, OpsError> {
    let attacks = chosen_or_all(&args.stage)?;
    let ground = ground(&args.stage)?;
    let stop = interrupt::flag()?;
    let stage = Stage::set(&attacks, &[Protocol::MySql], &ground, args.port)?;
    let ports = stage.rogue.ports(Protocol::MySql);
    if global.format == Format::Json {
        let ports: Vec<Value> = ports
            .iter()
            .map(|(attack, address)| json!({ "case": attack.id, "port": address.port() }))
            .collect();
        let first = json!({
            "schema": PROVE_SERVE_SCHEMA_ID,
            "host": stage.host,
            "user": prove_ops::USER,
            "password": stage.password(),
            "ca": stage.ca_path().display().to_string(),
            "ports": ports,
        });
        show::out(&first.to_string());
    } else {
        let rows = ports
            .iter()
            .map(|(attack, address)| vec![address.port().to_string(), attack.id.into(), attack.does.into()])
            .collect();
        show::out(&show::table(&["port", "case", "what is done"], rows));
        show::out(&format!(
            "user {}, password {}, CA {}\nConnect to {}, and SELECT anything: the answer says what happened. Ctrl-C ends it.",
            prove_ops::USER,
            stage.password(),
            stage.ca_path().display(),
            stage.host,
        ));
    }
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(POLL);
        match stage.rogue.turned_away() {
            0 => {}
            count => show::tell(&format!("note: {count} connections found their port full, and were closed")),
        }
        for visit in stage.rogue.visits(Duration::ZERO) {
            let verdict = prove::Verdict::of(&visit.seen);
            if global.format == Format::Json {
                let line = json!({ "case": visit.attack.id, "from": visit.from.to_string(), "verdict": verdict.letters() });
                show::out(&line.to_string());
            } else {
                show::out(&format!(
                    "{:<21} {:<4} {verdict}, from {}",
                    visit.attack.id,
                    verdict.letters(),
                    visit.from
                ));
            }
        }
    }
    Ok(0)
}
