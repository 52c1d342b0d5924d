//! `sealion scan`: what was typed, what is written where, and how it ends.

mod broker;
mod table;
mod worker;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::report::formats::scan::SCAN_FORMATS;
use ::report::shape::{ScanReport, SeverityWord, TargetRow};
use ::scan::interrogation::Depth;
use ::scan::intrude::Intrusive;
use model::text::counted;
use scan_ops::{AgreedOptions, Authorized, Budget, Gate, Listener, Settings, TargetSpec, TypedOptions};
use site::OpsError;

use clap::{Args, ValueEnum};

use crate::options::{DEFAULT_INVENTORY, Format, Global, SeverityArg, formats};
use crate::show;

const FORMATS: &[Format] = &[
    Format::Table,
    Format::Json,
    Format::Csv,
    Format::Sarif,
    Format::Junit,
    Format::Prometheus,
    Format::Html,
];

#[derive(Debug, Args)]
#[command(
    arg = formats(FORMATS),
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_long_help = "Examples:
  sealion scan db1 db2:3307
  sealion scan --full --format sarif db1 > db1.sarif
  sealion scan 10.0.0.0/24 --authorized-range ranges.txt --rate 20
  sealion scan --baseline last-week.json --fail-on high db1
  sealion scan --workers nats://broker:4222 --nats-ca ca.pem --nats-login scan.creds --targets-file all.txt

Each connection of a scan may leave a line \"Aborted connection\" in the server's error log: up to 35 for each port, 65 with --full.

Exit codes: 0 no finding at or above --fail-on, 1 at least one, 3 nothing answered or the scan is not complete, or with --fail-on: a rule could
not be judged or a target not be reached."
)]
pub struct ScanArgs {
    #[command(subcommand)]
    pub what: Option<ScanCommand>,
    /// HOST, HOST:PORT, [IPv6]:PORT, NETWORK/PREFIX or srv:NAME; the nodes of the inventory if omitted
    ///
    /// HOST, HOST:PORT, an address, [IPv6]:PORT, NETWORK/PREFIX[:PORT] or srv:_mysql._tcp.NAME. A host without a port is scanned
    /// on all usual ports. If no target is given, the nodes of the inventory are scanned.
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Read more targets from FILE, one a line; - is standard input
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub targets_file: Option<PathBuf>,
    /// File with the address ranges that may be scanned, one a line
    ///
    /// File with the address ranges that may be scanned, one a line. No address outside of them is contacted. NETWORK/PREFIX
    /// targets need this option.
    #[arg(long, value_name = "FILE")]
    pub authorized_range: Option<PathBuf>,
    /// Complete an interrupted scan from the JSON file it left
    ///
    /// Complete an interrupted scan from the JSON file it left, with the targets and settings in that file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["targets", "targets_file"], hide_short_help = true)]
    pub resume: Option<PathBuf>,
    /// Also write the result as JSON to FILE
    ///
    /// Also write the result as JSON to FILE, whatever --format is, and also if Ctrl-C ends the scan.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Also write an HTML page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Show only what changed since this JSON file was written
    ///
    /// Show only what changed since this JSON file was written; --fail-on then counts only new findings.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Test every cipher suite, group and signature scheme
    ///
    /// Test every cipher suite, group and signature scheme: up to 65 connections a port, not 35.
    #[arg(long, conflicts_with = "first")]
    pub full: bool,
    /// Read only the greeting, one handshake and the certificate
    #[arg(long)]
    pub first: bool,
    /// Also test for Heartbleed, early CCS and ROBOT
    ///
    /// Also test for Heartbleed, early CCS and ROBOT, or only for those in LIST. A vulnerable server may leak memory or crash. Up to
    /// 19 more connections a port.
    #[arg(
        long,
        value_enum,
        value_name = "LIST",
        value_delimiter = ',',
        num_args = 0..,
        require_equals = true,
        default_missing_values = ["heartbleed", "ccs", "robot"],
        conflicts_with = "first"
    )]
    pub intrusive: Vec<IntrusiveArg>,
    /// Connections to one address a day
    ///
    /// Connections to one address a day, over all scans of this user. A server blocks a host after max_connect_errors connections
    /// (100 by default) without a login in between. Loopback addresses are not counted.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub max_handshakes: u32,
    /// Reset the count of connections of --max-handshakes
    ///
    /// Reset the count of connections of --max-handshakes: use it after a successful login from this host, or after FLUSH HOSTS,
    /// when the servers have reset theirs.
    #[arg(long, hide_short_help = true)]
    pub forget_budget: bool,
    /// Log in once afterwards, so that servers reset their count
    ///
    /// After the scan, log in once to each MySQL port with user and password of the [client] group of FILE: the server then resets
    /// its count of connections without a login, and sealion resets its own for that address. The password is sent only to a server
    /// whose certificate --ssl-ca verifies, with its host name. Not with NETWORK/PREFIX targets.
    #[arg(long, value_name = "FILE", requires = "ssl_ca", conflicts_with = "resume", hide_short_help = true)]
    pub login_file: Option<PathBuf>,
    /// Let workers scan: a NATS broker (nats://HOST:PORT), or a file for workers on this machine
    ///
    /// Let workers scan, which are started with `sealion scan worker`: nats://HOST:PORT is a NATS broker with JetStream (2.10 or newer,
    /// with TLS), several with commas; anything else is a file that workers on this machine read too.
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["rate", "at_once", "login_file", "forget_budget"])]
    pub workers: Option<String>,
    /// Zone of the workers: ZONE, NETWORK/PREFIX=ZONE or .DOMAIN=ZONE
    ///
    /// Zone whose workers scan: ZONE for all targets, NETWORK/PREFIX=ZONE for addresses, .DOMAIN=ZONE for names. The first one that
    /// fits counts; "default" if none does.
    #[arg(long = "zone", value_name = "ZONE", requires = "workers", hide_short_help = true)]
    pub zones: Vec<String>,
    /// Give a target to another worker after so many seconds without a sign of life
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600), requires = "workers", hide_short_help = true)]
    pub lease_s: u64,
    /// End the scan if no worker answers for so many seconds
    #[arg(long, value_name = "S", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=86_400), requires = "workers", hide_short_help = true)]
    pub silence_s: u64,
    #[command(flatten)]
    pub broker: broker::BrokerArgs,
    /// New connections a second, for all targets together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    pub rate: Option<u32>,
    /// Targets scanned in parallel, with one connection each
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=10_000), hide_short_help = true)]
    pub at_once: u32,
    /// Timeout of one connection in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=600_000), hide_short_help = true)]
    pub timeout_ms: u64,
    /// Send a PROXY header first, for servers behind a load balancer
    #[arg(long, value_enum, value_name = "VERSION", hide_short_help = true)]
    pub proxy_protocol: Option<ProxyArg>,
    /// CA certificates to verify against, beside those of the system
    #[arg(long, value_name = "FILE")]
    pub ssl_ca: Option<PathBuf>,
    /// Exit with 1 if a finding has this severity or a higher one
    ///
    /// Exit with 1 if a finding has this severity or a higher one, with 3 if a rule could not be judged or a target not be reached.
    /// Findings that sealion.toml accepts do not count until they expire.
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<SeverityArg>,
}

#[derive(Debug, clap::Subcommand)]
pub enum ScanCommand {
    /// Scan targets for others: take them from a queue, and hand the results in
    ///
    /// Scan targets that `sealion scan --workers` publishes: take them from a queue, and hand the results in. (A host named "worker" is
    /// scanned as worker:3306.)
    Worker(Box<worker::WorkerArgs>),
}

/// Probes that may harm an old server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IntrusiveArg {
    Heartbleed,
    Ccs,
    Robot,
    /// One login as "sealion_scan", refused and logged: is the RSA key of the password plugins offered in cleartext?
    Login,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProxyArg {
    V1,
    V2,
}

impl From<ProxyArg> for scan_ops::ProxyVersion {
    fn from(word: ProxyArg) -> Self {
        match word {
            ProxyArg::V1 => Self::V1,
            ProxyArg::V2 => Self::V2,
        }
    }
}

/// As a shell's `>` would make it: nothing in it is secret, whoever reaches the servers can see it.
const RESULT_MODE: u32 = 0o644;
/// When --out is written first, unless all is done by then.
const KEEP_FIRST: Duration = Duration::from_secs(1);
/// A scan that takes less says nothing of its progress.
const PROGRESS_FIRST: Duration = Duration::from_secs(2);
const PROGRESS_EVERY: Duration = Duration::from_millis(500);
/// Between two times that --out is written before the end.
const KEEP_EVERY: Duration = Duration::from_secs(5);

pub fn scan(global: &Global, args: &ScanArgs) -> Result<u8, OpsError> {
    if let Some(ScanCommand::Worker(args)) = &args.what {
        return worker::worker(args);
    }
    let typed = TypedOptions {
        depth: match (args.full, args.first) {
            (true, _) => Some(Depth::Full),
            (_, true) => Some(Depth::First),
            _ => None,
        },
        ssl_ca: args.ssl_ca.clone(),
        proxy: args.proxy_protocol.map(Into::into),
        authorized: args.authorized_range.clone(),
        intrusive: intrusive(&args.intrusive),
    };
    let earlier = args.resume.as_deref().map(scan_ops::read_result).transpose()?;
    let agreed = match (&earlier, &args.resume) {
        (Some(earlier), Some(path)) => typed.agree_with(earlier, path)?,
        _ => typed.alone(),
    };
    let target_specs = if earlier.is_some() { vec![] } else { target_specs(global, args)? };
    let settings = settings(global, args, agreed)?;
    let baseline = match &args.baseline {
        Some(path) => {
            let then = scan_ops::read_result(path)?;
            let name = path.display().to_string();
            scan_ops::comparable(&name, &then, scan_ops::depth_word(settings.depth))?;
            Some((name, then))
        }
        None => None,
    };
    for path in [&args.out, &args.html].into_iter().flatten() {
        writable(path)?;
    }
    if let (Some(out), Some(html)) = (&args.out, &args.html) {
        differ(out, html)?;
    }
    let login = args.login_file.as_deref().map(|path| closing_login(path, &target_specs)).transpose()?;
    let zones = scan_ops::workers::ZoneMap::read(args.zones.iter().map(String::as_str))?;
    let place = args.workers.as_deref().map(|place| args.broker.place(place, ::queue::rights::PUBLISHER));
    let queue = place.transpose()?.map(|place| scan_ops::workers::open(&place)).transpose()?;
    // The report says that it is not complete.
    let stop = crate::interrupt::flag()?;
    let mut budget = Budget::open();
    if args.forget_budget
        && let Err(why) = budget.forget()
    {
        tell(&format!("note: the connection counts could not be reset: {why}"));
    }
    if let Some(why) = budget.complaint() {
        tell(&format!("note: the connection counts may be incomplete: {why}"));
    }
    let is_table = global.format == Format::Table;
    let began = Instant::now();
    let mut screen = Screen::default();
    let mut progress = Progress {
        screen: &mut screen,
        // With a baseline only the differences are of interest, and they show at the end.
        shows_rows: is_table && baseline.is_none(),
        depth: settings.depth,
        is_kept: args.out.is_some() || args.html.is_some(),
        out: args.out.as_deref().filter(|path| !is_written_to(path)),
        keep_at: began + KEEP_FIRST,
        ports_done: 0,
        targets_done: None,
        began,
        line_at: began + PROGRESS_FIRST,
        stop: &stop,
    };
    let report = match (queue, &earlier) {
        (Some(mut queue), _) => scan_ops::workers::scan_with_workers(
            earlier.as_ref(),
            &target_specs,
            &settings,
            scan_ops::workers::Publishing {
                queue: queue.as_mut(),
                zones,
                lease: Duration::from_secs(args.lease_s),
                silence_max: Duration::from_secs(args.silence_s),
                notes: &tell,
            },
            &stop,
            &mut progress,
        ),
        (None, Some(earlier)) => scan_ops::complete(earlier, &settings, &mut budget, &stop, &mut progress),
        (None, None) => scan_ops::scan(&target_specs, &settings, &mut budget, &stop, &mut progress),
    };
    show::progress("");
    if let Err(why) = budget.save() {
        tell(&format!("note: the connection counts could not be saved: {why}"));
    }
    let mut report = report?;
    if let (Some(login), Some(ca)) = (&login, &args.ssl_ca) {
        log_in_after(&report, login, ca, &mut budget);
    }
    if let Some((name, then)) = &baseline {
        report.changes = Some(scan_ops::changes(name, then, &report)?);
    }
    // Before anything is printed: who reads it may be gone.
    let out = args.out.as_ref().map(|path| write(path, &rendered("json", &report)?)).transpose();
    let html = args.html.as_ref().map(|path| write(path, &rendered("html", &report)?)).transpose();
    let is_lost = out.is_err() || (html.is_err() && args.out.is_none());
    if is_table {
        screen.put(&end(&report, began));
    } else {
        screen.put(&rendered(global.format.name(), &report)?);
    }
    if is_lost && global.format != Format::Json {
        // An hour of work, perhaps: not for a full disk to take away.
        screen.put(&rendered("json", &report)?);
    }
    out?;
    html?;
    if let Some(error) = screen.error.filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
        return Err(OpsError::usage(
            "cannot print the result",
            error.to_string(),
            "print it where there is space, or write it to a file: --out FILE",
        ));
    }
    if let (false, Some(path)) = (report.is_complete, &args.out) {
        tell(&format!("complete it with: sealion scan --resume {} --out {}", path.display(), path.display()));
    }
    Ok(match scan_ops::gate(&report, args.fail_on.map(word)) {
        Gate::Passed => 0,
        Gate::Failed => 1,
        Gate::Blind => 3,
    })
}

/// Whom to log in as after the scan.
fn closing_login(path: &Path, target_specs: &[TargetSpec]) -> Result<site::ConnectOptions, OpsError> {
    if let Some(range) = target_specs.iter().find(|spec| matches!(spec, TargetSpec::Range { .. })) {
        return Err(OpsError::usage(
            format!("--login-file is not for ranges ({range})"),
            "a password is only sent to servers that were named",
            "name the hosts, or scan without --login-file",
        ));
    }
    site::inventory::login_from(path)
}

/// What became of each login goes to stderr: the result is the same with and without.
fn log_in_after(report: &ScanReport, login: &site::ConnectOptions, ca: &Path, budget: &mut Budget) {
    match scan_ops::log_in_after(report, login, ca.to_owned(), budget) {
        Ok(logins) => {
            for one in logins {
                if let Err(why) = one.outcome {
                    tell(&format!("note: no login to {}, its server keeps its count: {why}", one.target));
                }
            }
        }
        Err(why) => tell(&format!("note: the connection counts could not be reset: {why}")),
    }
}

/// Rows as they come, and --out as far as it is: an hour of work is not lost with the process.
struct Progress<'p> {
    screen: &'p mut Screen,
    shows_rows: bool,
    depth: Depth,
    /// It is written to a file at the end.
    is_kept: bool,
    /// Where it is kept on the way.
    out: Option<&'p Path>,
    keep_at: Instant,
    /// For the line of progress.
    ports_done: u32,
    /// With workers: how many, and of how many.
    targets_done: Option<(usize, usize)>,
    began: Instant,
    line_at: Instant,
    stop: &'p AtomicBool,
}

impl Listener for Progress<'_> {
    fn row(&mut self, row: &TargetRow) {
        self.ports_done += 1;
        show::progress("");
        if self.shows_rows {
            let mut text = String::new();
            table::print_row(&mut text, row, self.depth);
            self.screen.put(&text);
            if self.screen.error.is_some() && !self.is_kept {
                // Nobody reads it, and it is written nowhere.
                self.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    fn progress(&mut self, done: usize, of: usize) {
        self.targets_done = Some((done, of));
    }

    fn so_far(&mut self, report: &dyn Fn() -> ScanReport) {
        let began = Instant::now();
        if began >= self.line_at {
            let elapsed_s = self.began.elapsed().as_secs_f64();
            show::progress(&match self.targets_done {
                Some((done, of)) => of_workers(done, of, elapsed_s),
                None => format!(
                    "{} scanned, {:.1} ports/s, {elapsed_s:.0} s",
                    counted(self.ports_done, "port", "ports"),
                    f64::from(self.ports_done) / elapsed_s
                ),
            });
            self.line_at = began + PROGRESS_EVERY;
        }
        let Some(path) = self.out.filter(|_| began >= self.keep_at) else { return };
        // What fails here fails again at the end, and is said there.
        let _ = rendered("json", &report()).and_then(|text| write(path, &text));
        // Long results take a while: most of the time is for the scan.
        self.keep_at = Instant::now() + KEEP_EVERY.max(began.elapsed() * 20);
    }
}

fn of_workers(done: usize, of: usize, elapsed_s: f64) -> String {
    let per_s = done as f64 / elapsed_s;
    let left = if done == 0 {
        String::new()
    } else {
        format!(", about {} left", show::duration((of - done) as f64 / per_s))
    };
    format!("{done} of {of} targets, {per_s:.0} targets/s{left}")
}

/// Stdout, which may be a pipe that nobody reads any more, or a disk that is full.
#[derive(Default)]
struct Screen {
    error: Option<std::io::Error>,
}

impl Screen {
    fn put(&mut self, text: &str) {
        if self.error.is_none() {
            let mut out = std::io::stdout().lock();
            self.error = out.write_all(text.as_bytes()).and_then(|()| out.flush()).err();
        }
    }
}

/// On stderr, if anybody reads it.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn settings(global: &Global, args: &ScanArgs, agreed: AgreedOptions) -> Result<Settings, OpsError> {
    Ok(Settings {
        depth: agreed.depth,
        limits: ::scan::Limits {
            targets_at_once: args.at_once as usize,
            connection_ms: args.timeout_ms,
            connections_per_s: args.rate,
            intrusive: agreed.intrusive,
            ..::scan::Limits::default()
        },
        connections_per_address: args.max_handshakes,
        roots: scan_ops::roots(agreed.ssl_ca.as_deref())?,
        // The result is perhaps completed from another directory.
        ssl_ca: agreed.ssl_ca.map(|path| std::path::absolute(&path).unwrap_or(path)),
        proxy: agreed.proxy,
        authorized: agreed.authorized.as_deref().map(Authorized::read).transpose()?,
        nameservers: scan_ops::system_nameservers(),
        accepted: scan_ops::accepted::read(
            &global.inventory,
            global.inventory == Path::new(DEFAULT_INVENTORY),
        )?,
        ..Settings::default()
    })
}

fn end(report: &ScanReport, began: Instant) -> String {
    let mut out = String::new();
    match &report.changes {
        Some(changes) => table::print_changes(&mut out, changes),
        None => table::print_across(&mut out, report),
    }
    let silent = report.targets.iter().filter(|row| row.service.is_none()).count();
    table::put(
        &mut out,
        format_args!(
            "{} of {} answered, {}, {:.1} s{}",
            report.targets.len() - silent,
            counted(report.targets.len(), "port", "ports"),
            counted(
                report.targets.iter().fold(0, |sum: u32, row| sum.saturating_add(row.connections)),
                "connection",
                "connections"
            ),
            began.elapsed().as_secs_f64(),
            if report.is_complete { "" } else { "; interrupted, the rest was not scanned" }
        ),
    );
    out
}

fn rendered(name: &str, report: &ScanReport) -> Result<String, OpsError> {
    let known = SCAN_FORMATS.iter().find(|format| format.name() == name);
    let format = known.ok_or_else(|| OpsError::internal("no such format of a scan", name))?;
    Ok(format.render(report))
}

fn cannot_write(path: &Path, why: impl std::fmt::Display) -> OpsError {
    OpsError::usage(
        format!("cannot write the result to {}", path.display()),
        why.to_string(),
        "choose a file in a directory that you may write to",
    )
}

/// A device, a pipe or a descriptor is written to; only a file can be replaced by another.
fn is_written_to(path: &Path) -> bool {
    path.starts_with("/dev")
        || path.starts_with("/proc")
        || path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Said before the scan: an hour later it would be lost.
pub(crate) fn writable(path: &Path) -> Result<(), OpsError> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(cannot_write(path, "it is a directory"));
    }
    let asked = if is_written_to(path) { path } else { dir };
    nix::unistd::access(asked, nix::unistd::AccessFlags::W_OK)
        .map_err(|errno| cannot_write(path, format!("{}: {errno}", asked.display())))
}

/// One would replace the other.
fn differ(out: &Path, html: &Path) -> Result<(), OpsError> {
    let full = |path: &Path| {
        path.canonicalize().unwrap_or_else(|_| {
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            match (absolute.parent().and_then(|dir| dir.canonicalize().ok()), absolute.file_name()) {
                (Some(dir), Some(name)) => dir.join(name),
                _ => absolute,
            }
        })
    };
    if is_written_to(out) || full(out) != full(html) {
        return Ok(());
    }
    Err(OpsError::usage(
        "--out and --html name the same file",
        format!("{} would contain only one of them", out.display()),
        "give two files",
    ))
}

fn write(path: &Path, text: &str) -> Result<(), OpsError> {
    if is_written_to(path) {
        let open = std::fs::OpenOptions::new().write(true).open(path);
        return open
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| cannot_write(path, error));
    }
    trust::file::write_atomically(path, text.as_bytes(), RESULT_MODE, None)
        .map_err(|error| cannot_write(path, error))
}

fn word(severity: SeverityArg) -> SeverityWord {
    model::Severity::from(severity).into()
}

/// What was allowed by name, if anything was.
fn intrusive(words: &[IntrusiveArg]) -> Option<Intrusive> {
    let is = |word| words.contains(&word);
    (!words.is_empty()).then_some(Intrusive {
        heartbleed: is(IntrusiveArg::Heartbleed),
        early_ccs: is(IntrusiveArg::Ccs),
        robot: is(IntrusiveArg::Robot),
        login: is(IntrusiveArg::Login),
    })
}

fn target_specs(global: &Global, args: &ScanArgs) -> Result<Vec<TargetSpec>, OpsError> {
    let mut target_specs = scan_ops::target_specs(args.targets.iter().map(String::as_str))?;
    if let Some(path) = &args.targets_file {
        target_specs.extend(scan_ops::target_specs_of_file(path)?);
    } else if target_specs.is_empty() {
        let cluster = site::Cluster::read(&global.inventory)?;
        for node in &cluster.nodes {
            for port in [node.port, node.galera_port] {
                target_specs.push(TargetSpec::place(&node.address, port));
            }
        }
    }
    if target_specs.is_empty() {
        return Err(OpsError::usage(
            "nothing to scan",
            "no target was given",
            "sealion scan HOST[:PORT] …, or --targets-file FILE",
        ));
    }
    Ok(target_specs)
}
