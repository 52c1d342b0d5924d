//! What can be typed. Nothing happens here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use model::Noun;

/// Where the inventory is looked for.
pub const DEFAULT_INVENTORY: &str = "sealion.toml";

/// A change needs each node's files and service, which connection options do not tell.
const NODES: &str = "Nodes, login and places come from the inventory (--inventory FILE, sealion.toml when left out). \
                     `sealion config inventory -h HOST -u USER -p > sealion.toml` drafts one.";

/// Shows, proves, turns on and keeps encryption of MariaDB Galera clusters.
#[derive(Debug, Parser)]
#[command(
    name = "sealion",
    version,
    about,
    long_about = "Shows, proves, turns on and keeps encryption of MariaDB Galera clusters, while they serve.\n\n\
                  Looks change nothing. Changes print a plan and ask; without a terminal --yes must name the plan's hash.",
    after_help = "Exit codes: 0 all fine, 1 findings at or above --fail-on, 2 usage, 3 could not look, 4 a change stopped \
                  and is resumable, 5 internal error, 6 refused, nothing changed, 7 measurement not usable.",
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Clone, Args)]
pub struct Global {
    /// The inventory of the cluster
    #[arg(
        long,
        global = true,
        env = "SEALION_INVENTORY",
        value_name = "FILE",
        default_value = DEFAULT_INVENTORY
    )]
    pub inventory: PathBuf,
    /// Table for people, JSON for programs; `plan` also knows diff, sql and shell, `scan` csv, sarif, junit, prometheus and html, `bench export` csv and parquet
    #[arg(long, global = true, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// Say more; twice says everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Json,
    Diff,
    Sql,
    Shell,
    Csv,
    Parquet,
    Sarif,
    Junit,
    Prometheus,
    Html,
}

impl Format {
    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Json => "json",
            Self::Diff => "diff",
            Self::Sql => "sql",
            Self::Shell => "shell",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Sarif => "sarif",
            Self::Junit => "junit",
            Self::Prometheus => "prometheus",
            Self::Html => "html",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// A real three-node cluster from clear text to proven TLS, with a report
    Demo(DemoArgs),
    /// The TLS of anything that speaks MySQL, seen from outside, without a password
    Scan(ScanArgs),
    /// What an attacker on the path would get from your own client, tried on a rogue server
    #[command(subcommand)]
    Prove(ProveCommand),
    /// What is configured, what is effective, what is seen
    Status(Box<StatusArgs>),
    /// What a change would do; changes nothing
    #[command(after_help = NODES)]
    Plan(PlanArgs),
    /// Apply a plan that was saved with `plan --format json`
    Apply(ApplyArgs),
    /// Turn TLS on while the cluster serves
    #[command(after_help = NODES)]
    Enable(ChangeArgs),
    /// Turn TLS off while the cluster serves
    #[command(after_help = NODES)]
    Disable(ChangeArgs),
    /// New certificates without a restart
    #[command(after_help = NODES)]
    Rotate(ChangeArgs),
    /// Finish a change that was interrupted
    Resume(GoOnArgs),
    /// Go back to what was before the newest change
    Undo(UndoArgs),
    /// Close an open change as it is, and print what is left how
    Abandon(AbandonArgs),
    /// What a server can do, and what encryption costs it
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Real servers on loopback
    #[command(subcommand)]
    Lab(LabCommand),
    /// Kept runs, or the page of a report.json
    Report(ReportArgs),
    /// Effective options with the file and line that set each
    #[command(subcommand)]
    Config(ConfigCommand),
    /// What a rule means, why it matters, how to mend it
    Explain(ExplainArgs),
    /// Shell completions
    #[command(hide = true)]
    Completions { shell: clap_complete::Shell },
    /// Man pages, one file a command
    #[command(hide = true)]
    Man { dir: PathBuf },
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Leave the cluster up and print how to connect
    #[arg(long)]
    pub keep: bool,
    /// Where report.html and report.json go
    #[arg(long, value_name = "DIR", default_value = "sealion-demo")]
    pub out: PathBuf,
    /// Also rotate, disable, undo, and enable again
    #[arg(long)]
    pub full: bool,
    /// Use the servers that the system has installed
    #[arg(long)]
    pub system: bool,
    /// Use the host's loopback, not a namespace of its own
    #[arg(long)]
    pub no_namespace: bool,
    /// Look through relays in front of the ports, as is done where packets may not be captured
    #[arg(long)]
    pub relay: bool,
    /// How joiners get their data: rsync, or mariabackup where relays look, since none can stand before rsync's daemon
    #[arg(long, value_enum)]
    pub sst: Option<Sst>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sst {
    Rsync,
    Mariabackup,
}

impl From<Sst> for lab::SstMethod {
    fn from(sst: Sst) -> Self {
        match sst {
            Sst::Rsync => Self::Rsync,
            Sst::Mariabackup => Self::Mariabackup,
        }
    }
}

#[derive(Debug, Args)]
pub struct ScanArgs {
    /// HOST, HOST:PORT, an address, [IPv6]:PORT, NETWORK/PREFIX[:PORT] or srv:_mysql._tcp.NAME; a host alone is asked on all
    /// usual ports. The inventory's nodes when left out
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// More targets, one on a line; - reads them from stdin
    #[arg(long, value_name = "FILE")]
    pub targets_file: Option<PathBuf>,
    /// Ranges that may be scanned, one on a line; nothing outside of them is dialled. Without it no range is scanned
    #[arg(long, value_name = "FILE")]
    pub authorized_range: Option<PathBuf>,
    /// Complete a scan that was ended: the JSON that it left, with the targets and settings in it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["targets", "targets_file"])]
    pub resume: Option<PathBuf>,
    /// Write the JSON to this file, whatever --format says; also when Ctrl-C ends the scan
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write a page for people to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Show only what has changed since this JSON was written; --fail-on judges only what is new
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Every suite, group and signature scheme: up to 65 connections a port instead of 35
    #[arg(long, conflicts_with = "first")]
    pub full: bool,
    /// Only the greeting, one handshake and the certificate
    #[arg(long)]
    pub first: bool,
    /// Also ask what may harm an old server: Heartbleed, early CCS, ROBOT, or only those of LIST. A server with such a
    /// fault may hand out bytes of its memory over it, or end. Up to 17 connections more a port
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
    /// Connections that may be made to one address in a day; servers turn a host away at 100 by default
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub max_handshakes: u32,
    /// Forget first how many connections were made: the servers have forgotten them too, by a good login from this host or a
    /// flush of their host cache
    #[arg(long)]
    pub forget_budget: bool,
    /// New connections a second over all targets
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: Option<u32>,
    /// Targets that are asked at once; each has one connection at a time
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub at_once: u32,
    /// Give one connection up after this long
    #[arg(long, value_name = "MS", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    pub timeout_ms: u64,
    /// Send a PROXY header with our own address first, for servers that expect one of their load balancer
    #[arg(long, value_enum, value_name = "VERSION")]
    pub proxy_protocol: Option<ProxyArg>,
    /// CAs that the chains must lead to; the system's are tried too
    #[arg(long, value_name = "FILE")]
    pub ssl_ca: Option<PathBuf>,
    /// Exit with 1 when a finding of this severity failed, with 3 when one could not be judged or a target not be looked at. What is accepted in
    /// sealion.toml does not count until it expires
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<SeverityArg>,
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

#[derive(Debug, Subcommand)]
pub enum ProveCommand {
    /// Run a client against every attack, and say what it gave away
    ///
    /// {host}, {port}, {user}, {password}, {ca} and {crl} in CMD are filled in. They also stand in its environment as SEALION_HOST,
    /// SEALION_PORT, SEALION_USER, SEALION_PASSWORD and SEALION_CA. User and password are of this run alone and open
    /// nothing. The command is run once for each attack; the first one is an honest server.
    #[command(
        after_help = "Example: sealion prove client -- mariadb -h {host} -P {port} -u {user} --ssl-ca={ca} -e 'SELECT 1'\n\n\
                            Exit code 1: the client has fallen to an attack. 3: it did not even accept the honest server, or a case was not tried."
    )]
    Client(ProveClientArgs),
    /// Try drivers and tools, in every way that their TLS can be set
    Clients(ProveClientsArgs),
    /// Read the settings of applications, and say what each connection in them would give away
    ///
    /// Option files, .mylogin.cnf, .env, units of systemd, properties, YAML (Rails, Spring, compose, Kubernetes), JSON, JavaScript, Python
    /// (Django, SQLAlchemy), PHP (Laravel, WordPress), Ruby, Perl; connection URLs and DSNs. The name of a file decides how it is
    /// read. Predictions are those of docs/reference/clients; no host is dialled, and no password is shown.
    #[command(after_help = "Example: sealion prove config .env config/database.yml --fail-on high\n\n\
                            Exit code 1: a finding at or above --fail-on. 3: with --fail-on, something is unknown; without, \
                            everything is. 5: a prediction did not hold (--confirm).")]
    Config(ProveConfigArgs),
    /// Listen for clients, one port per attack, and say what each gave away
    Serve(ProveServeArgs),
    /// Say what an eavesdropper reads, from a capture file or an interface
    ///
    /// Nothing secret is kept or shown: of a statement its shape without one value, of a login how it could be guessed.
    #[command(after_help = "Example: tcpdump -i eth0 -s 0 -w db.pcap tcp; sealion prove sniff db.pcap\n\n\
                            Exit code 1: something readable was seen (with --fail-on-clear). 3: nothing could be looked at, \
                            or with --fail-on-clear not all of it.")]
    Sniff(ProveSniffArgs),
    /// Stand between a client and a real server: listen, or strip TLS, substitute the RSA key, change a result
    ///
    /// Point the client at the relay instead of at the server. Nothing secret is kept or shown: of a password only
    /// whether it matches the one that you give.
    #[command(after_help = "Examples: sealion prove relay --to db1:3306\n          \
                            sealion prove relay --to /run/mysqld/mysqld.sock --listen /tmp/seen.sock\n          \
                            sealion prove relay --to 127.0.0.1:3306 --strip --substitute-key --password-file FILE\n\n\
                            Exit code 1: a client has fallen to an attack (or, with --fail-on-clear, something readable was seen). \
                            3: no client came, or the server was not reached.")]
    Relay(ProveRelayArgs),
    /// Play the classic attacks on real servers of our own: each succeeding, what stops it, and each failing
    ///
    /// Six parts: sniffing, stripping, untrusted-ca, host-names, rsa-key, loose-ends. A MariaDB 10.11 and a MySQL 9.7 are
    /// started in a network of their own and removed again.
    #[command(after_help = "Needs: sealion lab fetch galera-10.11; sealion lab fetch mysql-9.7\n\n\
                            Exit code 1: something was not as it should be. 3: it cannot be played here.")]
    Tour(ProveTourArgs),
    /// The attacks, and what helps against each
    List,
}

#[derive(Debug, Args)]
pub struct ProveTourArgs {
    /// Only this part (its id); may be given several times, or several with commas between them
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Also write a page to teach from
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write what `--format json` prints
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ProveRelayArgs {
    /// The real server: HOST:PORT, or the path of its unix socket
    #[arg(long, value_name = "PLACE")]
    pub to: String,
    /// Where clients are to connect to: a port of 127.0.0.1 (the kernel chooses one when left out), or a path for a unix
    /// socket
    #[arg(long, value_name = "PORT|PATH", default_value = "0")]
    pub listen: String,
    /// Listen on this address instead of 127.0.0.1. Whoever reaches it can be attacked: only where you may
    #[arg(long, value_name = "ADDR")]
    pub authorized_bind: Option<std::net::IpAddr>,
    /// Take the offer of TLS out of the server's greeting
    #[arg(long)]
    pub strip: bool,
    /// Show an RSA key of our own where a password is to be encrypted (caching_sha2_password, sha256_password)
    #[arg(long)]
    pub substitute_key: bool,
    /// Change a marked value of results on its way to the client
    #[arg(long, value_name = "FROM=TO")]
    pub change_result: Option<String>,
    /// The first line of this file is the password that what is obtained is compared with; it is not kept
    #[arg(long, value_name = "FILE", requires = "substitute_key")]
    pub password_file: Option<PathBuf>,
    /// Also look for this text, and say where it stood; may be given several times. It is never shown again
    #[arg(long = "canary", value_name = "TEXT")]
    pub canaries: Vec<String>,
    /// The same for each line of a file, for what should not stand in a list of processes
    #[arg(long, value_name = "FILE")]
    pub canary_file: Option<PathBuf>,
    /// End after so long; on Ctrl-C when left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: Option<u64>,
    /// End with 1 when something readable was seen
    #[arg(long)]
    pub fail_on_clear: bool,
}

#[derive(Debug, Args)]
pub struct Stage {
    /// Only this attack (`sealion prove list`); may be given several times, or several with commas between them
    #[arg(long = "case", alias = "cases", value_name = "ID", value_delimiter = ',')]
    pub cases: Vec<String>,
    /// What clients connect to, "localhost" when left out; it stands in the certificates that are right
    #[arg(long, value_name = "NAME", conflicts_with = "namespace")]
    pub host: Option<String>,
    /// In a network of its own, with a routable address and a name: some libraries check less for localhost
    #[arg(long, conflicts_with = "authorized_bind")]
    pub namespace: bool,
    /// Listen on this address instead of 127.0.0.1. Whoever reaches it can be attacked: only where you may
    #[arg(long, value_name = "ADDR")]
    pub authorized_bind: Option<std::net::IpAddr>,
}

#[derive(Debug, Args)]
pub struct ProveClientArgs {
    #[command(flatten)]
    pub stage: Stage,
    /// The client speaks first, TLS from its first byte or bytes of its own: an SST donor, socat, stunnel
    #[arg(long)]
    pub stream: bool,
    /// End one run of the client after this long
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout_s: u64,
    /// The client and its words
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub struct ProveClientsArgs {
    /// Only this client (its id); may be given several times, or several with commas between them
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub only: Vec<String>,
    /// These attacks as columns (`sealion prove list`), in place of strip and certificates; the honest server comes first
    #[arg(long = "case", alias = "cases", value_name = "ID", value_delimiter = ',')]
    pub cases: Vec<String>,
    /// Install what is not there, from the registry of its language
    #[arg(long)]
    pub install: bool,
    /// On the host's loopback instead of a network of its own; some libraries check less there
    #[arg(long)]
    pub no_namespace: bool,
    /// Have clients connect to an address in place of a name: libraries look for those in other ways
    #[arg(long)]
    pub by_address: bool,
    /// Where clients are installed; sealion's cache when left out
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Also write the matrix as a page of markdown, and as data for `prove config` beside it (its name with .json). Without
    /// --case it has a second table: attacks on the login, on the default and on the strictest way
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// End one run of a client after this long
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout_s: u64,
}

#[derive(Debug, Args)]
pub struct ProveConfigArgs {
    /// Files, connection URLs and DSNs; - reads these from standard input, one a line
    #[arg(value_name = "FILE|URL", required = true)]
    pub what: Vec<PathBuf>,
    /// The driver of URLs that do not name theirs (mysql://)
    #[arg(long, value_name = "NAME")]
    pub driver: Option<String>,
    /// Also run each driver with these settings against the rogue server, and compare
    #[arg(long)]
    pub confirm: bool,
    /// Install drivers that are not there, from the registry of their language
    #[arg(long, requires = "confirm")]
    pub install: bool,
    /// Predict from this run of `prove clients --format json` instead of the one that is built in
    #[arg(long, value_name = "FILE")]
    pub matrix: Option<PathBuf>,
    /// Exit with 1 when a connection is as bad as this, with 3 when something is unknown
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<SeverityArg>,
    /// On the host's loopback instead of a network of its own; some libraries check less there
    #[arg(long, requires = "confirm")]
    pub no_namespace: bool,
    /// Where drivers are installed; sealion's cache when left out
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// End one run of a driver after this long
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout_s: u64,
}

#[derive(Debug, Args)]
pub struct ProveServeArgs {
    #[command(flatten)]
    pub stage: Stage,
    /// Port of the first attack, the others follow; the kernel chooses when left out
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
}

#[derive(Debug, Args)]
pub struct ProveSniffArgs {
    /// A pcap or pcapng file of any size; - reads standard input
    #[arg(value_name = "FILE", required_unless_present = "iface")]
    pub file: Option<PathBuf>,
    /// Listen on this network interface instead
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    pub iface: Option<String>,
    /// Listen for so long; until Ctrl-C when left out
    #[arg(long, value_name = "N", requires = "iface", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: Option<u64>,
    /// MySQL also listens here; may be given several times. A greeting is recognised on any port
    #[arg(long = "port", value_name = "N")]
    pub ports: Vec<u16>,
    /// Also look for this text, and say where it stood; may be given several times. It is never shown again
    #[arg(long = "canary", value_name = "TEXT")]
    pub canaries: Vec<String>,
    /// The same for each line of a file, for what should not stand in a list of processes
    #[arg(long, value_name = "FILE")]
    pub canary_file: Option<PathBuf>,
    /// End with 1 when something readable was seen
    #[arg(long)]
    pub fail_on_clear: bool,
    /// Show so many connections, the worst first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// The workloads and the experiments
    List,
    /// Make and fill the tables of the workloads, in a schema of their own
    Prepare(Box<BenchPrepareArgs>),
    /// One measurement of one workload
    #[command(
        after_help = "Exit codes: 7 when the figures are not those of the whole measurement (connections were lost, a \
                            statement was refused, Ctrl-C); they are printed all the same, and why. 2: the command line cannot be done, or what was \
                            measured could not be kept. 3: nothing could be measured. 6: it would write where sealion has not made the \
                            tables."
    )]
    Load(Box<BenchLoadArgs>),
    /// An experiment: blocks of trials in random order, and what can be said of them
    #[command(
        after_help = "Exit codes: 7 when the figures are not usable (the machine did something else, they drift, a trial \
                            broke off); they are printed all the same, and why. 2, 3 and 6: as those of load."
    )]
    Run(Box<BenchRunArgs>),
    /// What a sysbench command line says, by our own generator
    #[command(
        after_help = "sealion bench sysbench -- oltp_read_only --mysql-host=db1 --mysql-user=bench --tables=8 --time=60 run\n\nThe \
                            same in our own words is printed on stderr, and run. Options that change no number are named and left \
                            out; what would mean something else is refused. Tables that sysbench made are read; they are written to \
                            with --own-tables only."
    )]
    Sysbench(BenchSysbenchArgs),
    /// Drop the schema that `prepare` made
    Cleanup(Box<BenchCleanupArgs>),
    /// Measurements that were kept, the newest first
    Runs(BenchRunsArgs),
    /// A kept measurement as it was printed, and its page with pictures
    #[command(after_help = MEASUREMENT)]
    Show(BenchShowArgs),
    /// Two runs of the same experiment: each arm with itself, and each effect with itself
    #[command(
        after_help = "RUN is an id of `sealion bench runs`, or a beginning of it that no other has, or a file that `bench run` or \
                            `bench load` wrote with --format json.\n\nExit codes: 7 when one of the two is not usable; they are compared all \
                            the same. 2: they are of different experiments or units, or one of them is not there."
    )]
    Compare(BenchCompareArgs),
    /// Every trial of a measurement with all its figures: CSV, --format parquet, or the whole of it as --format json
    #[command(after_help = MEASUREMENT)]
    Export(BenchExportArgs),
    /// What a machine carries with each setting, and what another one would save, by measured CPU costs
    #[command(
        after_help = "Without RUN and without a server: the newest usable run of each experiment that is kept, or the newest where none is usable. With a server \
                            (-h HOST): connect, tls and bulk are measured first, in short trials, and kept; their tables come \
                            from `sealion bench prepare`. The options of a measurement (-c, --ssl-mode, --seed, ...) count only then. --store \
                            FILE is where runs are looked for, and where those are kept that are measured.\n\nExit codes: 7 when a run \
                            that it goes by is not usable. 2: there is no run, or it could not be kept. 3: nothing could be measured."
    )]
    Advise(Box<BenchAdviseArgs>),
}

/// How a measurement is named.
const MEASUREMENT: &str = "RUN is an id of `sealion bench runs`, or a beginning of it that no other has, or a file that \
                           `bench run` or `bench load` wrote with --format json.";

/// Where measurements are kept, for who makes one.
#[derive(Debug, Clone, Args)]
pub struct BenchKeep {
    /// Keep the measurement in this file; that of the inventory's cluster, or your own, when left out
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Do not keep the measurement
    #[arg(long, conflicts_with = "store")]
    pub no_store: bool,
}

/// Where measurements are kept, for who looks for one.
#[derive(Debug, Clone, Args)]
pub struct BenchStore {
    /// Look in this file; in that of the inventory's cluster and in your own when left out
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct BenchRunsArgs {
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: u32,
    #[command(flatten)]
    pub store: BenchStore,
}

#[derive(Debug, Args)]
pub struct BenchShowArgs {
    /// Which one
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Write a page with its pictures here
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub store: BenchStore,
}

#[derive(Debug, Args)]
pub struct BenchCompareArgs {
    /// The one that is compared with
    #[arg(value_name = "RUN")]
    pub first: String,
    /// The one that is compared
    #[arg(value_name = "RUN")]
    pub second: String,
    #[command(flatten)]
    pub store: BenchStore,
}

#[derive(Debug, Args)]
pub struct BenchExportArgs {
    /// Which one
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Write it there instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub store: BenchStore,
}

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct BenchAdviseArgs {
    /// Measurements to go by: ids of `sealion bench runs`, or files of --format json
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub trial: BenchTrial,
    #[command(flatten)]
    pub keep: BenchKeep,
}

#[derive(Debug, Args)]
pub struct BenchSysbenchArgs {
    /// What stands after `sysbench`: TEST, its options, and prepare, run or cleanup
    #[arg(value_name = "SYSBENCH", required = true, last = true)]
    pub words: Vec<String>,
    /// Ask for the password; it is never taken from the command line
    #[arg(short = 'p', long)]
    pub password: bool,
    /// Take the password from the first line of a file that only you can read
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Take the password from this open file descriptor
    #[arg(long, value_name = "FD")]
    pub password_fd: Option<u32>,
    /// Read only this option file
    #[arg(long, value_name = "FILE")]
    pub defaults_file: Option<PathBuf>,
    /// `run` may write to the schema, although sealion has not made it
    #[arg(long)]
    pub own_tables: bool,
    #[command(flatten)]
    pub keep: BenchKeep,
}

/// Sizes and counts, in sysbench's words.
#[derive(Debug, Clone, Args)]
pub struct BenchTables {
    /// The schema of the tables
    #[arg(long, value_name = "NAME", default_value = bench_ops::SCHEMA)]
    pub database: String,
    /// How many tables
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub tables: u32,
    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=2_000_000_000))]
    pub table_size: u32,
    /// Of the random numbers: the same seed makes the same rows
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct BenchPrepareArgs {
    #[command(flatten)]
    pub connect: Connect,
    #[command(flatten)]
    pub tables: BenchTables,
    /// Print help
    #[arg(short = '?', long, action = clap::ArgAction::Help)]
    pub help: Option<bool>,
    /// Tables that are filled at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Storage engine; the server's default when left out
    #[arg(long, value_name = "NAME", default_value = "", value_parser = engine)]
    pub engine: String,
    /// No index on column k
    #[arg(long)]
    pub no_secondary: bool,
    /// Empty tables for bulk_insert, which has one for each connection
    #[arg(long, conflicts_with_all = ["no_secondary", "table_size"])]
    pub bulk: bool,
}

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct BenchCleanupArgs {
    #[command(flatten)]
    pub connect: Connect,
    /// Print help
    #[arg(short = '?', long, action = clap::ArgAction::Help)]
    pub help: Option<bool>,
    /// The schema that was made
    #[arg(long, value_name = "NAME", default_value = bench_ops::SCHEMA)]
    pub database: String,
}

/// One trial, in sysbench's words.
#[derive(Debug, Args)]
pub struct BenchTrial {
    #[command(flatten)]
    pub connect: Connect,
    #[command(flatten)]
    pub tables: BenchTables,
    /// Print help
    #[arg(short = '?', long, action = clap::ArgAction::Help)]
    pub help: Option<bool>,
    /// Connections that are used at once
    #[arg(short = 'c', long, visible_alias = "threads", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub connections: u32,
    /// Threads of the generator; when left out two, or one for four processors where that is more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub workers: Option<u32>,
    /// How ids are drawn: special, uniform, gaussian or pareto
    #[arg(long, value_name = "NAME", default_value = "special")]
    pub rand_type: bench_ops::Distribution,
    /// Rows of a range
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub range_size: u32,
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub point_selects: u32,
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub simple_ranges: u32,
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub sum_ranges: u32,
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub order_ranges: u32,
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub distinct_ranges: u32,
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub index_updates: u32,
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub non_index_updates: u32,
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub delete_inserts: u32,
    /// No ranges at all
    #[arg(long)]
    pub no_range_selects: bool,
    /// No BEGIN and COMMIT
    #[arg(long)]
    pub skip_trx: bool,
    /// All statements go as text, where the workloads of sysbench have them prepared: its --db-ps-mode=disable
    #[arg(long)]
    pub text_protocol: bool,
    /// The schema may be written to, although sealion has not made it
    #[arg(long)]
    pub own_tables: bool,
    /// Oldest TLS version: 1.0 to 1.3
    #[arg(long, value_name = "VERSION")]
    pub tls_min: Option<net::TlsVersion>,
    /// Newest TLS version
    #[arg(long, value_name = "VERSION")]
    pub tls_max: Option<net::TlsVersion>,
    /// Cipher suites up to TLS 1.2, in OpenSSL's spelling
    #[arg(long, value_name = "LIST")]
    pub ssl_cipher: Option<String>,
    /// Cipher suites of TLS 1.3
    #[arg(long, value_name = "LIST")]
    pub tls_ciphersuites: Option<String>,
    /// Groups of the key exchange, best first (X25519MLKEM768:X25519)
    #[arg(long, value_name = "LIST")]
    pub tls_groups: Option<String>,
    /// What the server may sign its handshake with (and the client, with --ssl-cert), best first:
    /// ECDSA+SHA256:rsa_pss_rsae_sha256
    #[arg(long, value_name = "LIST")]
    pub tls_sigalgs: Option<String>,
    /// No TLS record of data that is sent holds more: 32 to 16384
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(32..=16_384))]
    pub tls_record_bytes: Option<u16>,
    /// Who does TLS here
    #[arg(long, value_name = "NAME", value_enum, default_value_t = TlsLibrary::Openssl)]
    pub tls_library: TlsLibrary,
    /// Go on with a TLS session that the server gave before, where it gave one; =session-id: of TLS 1.2, and not by a ticket. With
    /// --tls-library rustls
    #[arg(long, value_name = "HOW", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "any")]
    pub resume: Option<Resume>,
}

/// What a TLS session of before is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Resume {
    Any,
    SessionId,
}

/// What is not measured yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WarmUp {
    Seconds(f64),
    /// It ends by what is seen.
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TlsLibrary {
    Openssl,
    Rustls,
}

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct BenchLoadArgs {
    /// What to do: `sealion bench list`
    #[arg(value_name = "WORKLOAD", required_unless_present_any = ["script", "replay", "replay_digests"])]
    pub workload: Option<String>,
    /// Your own statements, each with a ; at the end of a line; all in order are an event. {id}, {table}, {int:FROM..TO} and
    /// {digits:N} are filled anew each time
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "replay", "replay_digests"])]
    pub script: Option<PathBuf>,
    /// The statements of a general query log, one of them by chance for each event
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "replay_digests"])]
    pub replay: Option<PathBuf>,
    /// What the server has counted in the schema (performance_schema): a sample of each digest, as often as the digest came
    #[arg(long, conflicts_with = "workload")]
    pub replay_digests: bool,
    #[command(flatten)]
    pub trial: BenchTrial,
    /// Measure for so long: 10 when left out, without end with --events
    #[arg(long, value_name = "S", value_parser = some_seconds)]
    pub time: Option<f64>,
    /// Before anything counts: 2 when left out, and none with --events; auto: until the throughput does not change any more, for a
    /// minute at most
    #[arg(long, value_name = "S", value_parser = warm_up)]
    pub warm_up: Option<WarmUp>,
    /// End after so many events, or when --time is over if that is given and comes first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub events: Option<u64>,
    /// Begin so many events a second, whether or not others have ended: latencies then count from when each was to begin
    #[arg(long, value_name = "N", value_parser = rate)]
    pub rate: Option<f64>,
    /// One measurement after the other with rates that rise by the same factor, in 8 steps if not said, until the server keeps
    /// up no more (1000..20000/12)
    #[arg(long, value_name = "FROM..TO[/STEPS]", conflicts_with_all = ["rate", "events"])]
    pub rate_ramp: Option<bench_ops::ramp::Ramp>,
    #[command(flatten)]
    pub keep: BenchKeep,
}

/// Options of [`Connect`] that say nothing where the servers are made.
const OF_A_SERVER: &[&str] = &[
    "host",
    "port",
    "user",
    "password",
    "password_file",
    "password_fd",
    "socket",
    "defaults_file",
    "defaults_extra_file",
    "defaults_group_suffix",
    "login_path",
    "ssl_mode",
    "ssl",
    "skip_ssl",
    "ssl_verify_server_cert",
    "ssl_ca",
    "ssl_crl",
    "ssl_cert",
    "ssl_key",
];

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct BenchRunArgs {
    /// Which one (`sealion bench list`), `all`, or a .toml file with one of your own
    #[arg(value_name = "EXPERIMENT")]
    pub experiment: String,
    /// On servers of its own, which are made for it, on this machine, and end with it; without, the arms that need such servers
    /// are left out
    #[arg(long, conflicts_with_all = OF_A_SERVER)]
    pub lab: bool,
    #[command(flatten)]
    pub trial: BenchTrial,
    /// Blocks: in each of them every arm runs once
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub blocks: u32,
    /// Go on until every ratio is known to so many percent of it, up and down; 60 blocks at most
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub precision: Option<f64>,
    /// Length of a trial
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = some_seconds)]
    pub trial_time: f64,
    /// Before a trial counts
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    pub warm_up: f64,
    /// Three trials of less than a second an arm, at three levels at most: points and no interval
    #[arg(long, conflicts_with_all = ["blocks", "precision", "trial_time", "warm_up"])]
    pub quick: bool,
    /// Write a page with pictures here
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub keep: BenchKeep,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(number) if (0.1..=50.0).contains(&number) => Ok(number),
        _ => Err("a number of percent from 0.1 to 50 is wanted".into()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=86_400.0).contains(&number) => Ok(number),
        _ => Err("a number of seconds from 0 to 86400 is wanted".into()),
    }
}

fn warm_up(text: &str) -> Result<WarmUp, String> {
    if text == "auto" {
        return Ok(WarmUp::Auto);
    }
    seconds(text).map(WarmUp::Seconds).map_err(|why| format!("{why}, or auto"))
}

fn some_seconds(text: &str) -> Result<f64, String> {
    seconds(text).and_then(|number| {
        if number > 0.0 { Ok(number) } else { Err("nothing can be measured in no time".into()) }
    })
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.001..=10_000_000.0).contains(&number) => Ok(number),
        _ => Err("a number from 0.001 to 10000000 is wanted".into()),
    }
}

fn engine(text: &str) -> Result<String, String> {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && text.len() <= 64 {
        return Ok(text.to_owned());
    }
    Err("letters, digits and _ are taken".into())
}

/// One server instead of an inventory, in the words of `mysql` and `mariadb`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "One server, without an inventory")]
pub struct Connect {
    /// Name or address
    #[arg(short = 'h', long, value_name = "HOST")]
    pub host: Option<String>,
    #[arg(short = 'P', long, value_name = "PORT")]
    pub port: Option<u16>,
    #[arg(short = 'u', long, value_name = "USER")]
    pub user: Option<String>,
    /// Ask for the password; it is never taken from the command line
    #[arg(short = 'p', long)]
    pub password: bool,
    /// Take the password from the first line of a file that only you can read
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Take the password from this open file descriptor
    #[arg(long, value_name = "FD")]
    pub password_fd: Option<u32>,
    #[arg(short = 'S', long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Read only this option file
    #[arg(long, value_name = "FILE")]
    pub defaults_file: Option<PathBuf>,
    /// Read this option file after the usual ones
    #[arg(long, value_name = "FILE")]
    pub defaults_extra_file: Option<PathBuf>,
    /// Also read groups with this suffix
    #[arg(long, value_name = "TEXT")]
    pub defaults_group_suffix: Option<String>,
    /// Group of ~/.mylogin.cnf
    #[arg(long, value_name = "NAME")]
    pub login_path: Option<String>,
    /// DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY
    #[arg(long, value_name = "MODE")]
    pub ssl_mode: Option<String>,
    /// TLS or nothing, as mariadb's --ssl
    #[arg(long, conflicts_with = "skip_ssl")]
    pub ssl: bool,
    #[arg(long)]
    pub skip_ssl: bool,
    /// Check chain and name, as mariadb's option of that name
    #[arg(long)]
    pub ssl_verify_server_cert: bool,
    #[arg(long, value_name = "FILE")]
    pub ssl_ca: Option<PathBuf>,
    /// What that CA has revoked
    #[arg(long, value_name = "FILE")]
    pub ssl_crl: Option<PathBuf>,
    #[arg(long, value_name = "FILE")]
    pub ssl_cert: Option<PathBuf>,
    #[arg(long, value_name = "FILE")]
    pub ssl_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct StatusArgs {
    #[command(flatten)]
    pub connect: Connect,
    /// Print help
    #[arg(short = '?', long, action = clap::ArgAction::Help)]
    pub help: Option<bool>,
    /// Watch the wire for this long; 0 does not
    #[arg(long, value_name = "MS", default_value_t = 1500)]
    pub look_ms: u64,
    /// Write a canary row on every node meanwhile (schema sealion_canary, removed again)
    #[arg(long)]
    pub canaries: bool,
    /// Exit with 1 when a finding of this severity failed, with 3 when one could not be judged
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<SeverityArg>,
}

/// Probes that may harm an old server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IntrusiveArg {
    Heartbleed,
    Ccs,
    Robot,
    /// One login as "sealion_scan", refused and logged: is the RSA key of the password plugins offered in clear text?
    Login,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SeverityArg {
    Info,
    Low,
    Medium,
    High,
    Critical,
}

impl From<SeverityArg> for model::Severity {
    fn from(word: SeverityArg) -> Self {
        match word {
            SeverityArg::Info => Self::Info,
            SeverityArg::Low => Self::Low,
            SeverityArg::Medium => Self::Medium,
            SeverityArg::High => Self::High,
            SeverityArg::Critical => Self::Critical,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerbArg {
    Enable,
    Disable,
    Rotate,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    #[arg(value_enum)]
    pub verb: VerbArg,
    /// Of galera, sst, clients; all when left out
    #[arg(value_delimiter = ',')]
    pub nouns: Vec<Noun>,
    #[command(flatten)]
    pub how: How,
}

#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// From `sealion plan … --format json`
    pub plan: PathBuf,
    #[command(flatten)]
    pub yes: Yes,
    #[command(flatten)]
    pub how: How,
    #[command(flatten)]
    pub over: TakeOver,
}

#[derive(Debug, Args)]
pub struct ChangeArgs {
    /// Of galera, sst, clients; all when left out
    #[arg(value_delimiter = ',')]
    pub nouns: Vec<Noun>,
    #[command(flatten)]
    pub yes: Yes,
    #[command(flatten)]
    pub how: How,
    #[command(flatten)]
    pub over: TakeOver,
}

#[derive(Debug, Args)]
pub struct GoOnArgs {
    #[command(flatten)]
    pub how: How,
    #[command(flatten)]
    pub over: TakeOver,
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    #[command(flatten)]
    pub yes: Yes,
    #[command(flatten)]
    pub go_on: GoOnArgs,
}

#[derive(Debug, Args)]
pub struct AbandonArgs {
    #[command(flatten)]
    pub yes: Yes,
    #[command(flatten)]
    pub over: TakeOver,
}

#[derive(Debug, Args)]
pub struct TakeOver {
    /// Continue even though another sealion still holds the lease of this cluster; make sure that it has ended
    #[arg(long)]
    pub take_over: bool,
}

#[derive(Debug, Args)]
pub struct Yes {
    /// Do not ask; HASH is the plan's, as `sealion plan` prints it
    #[arg(long, value_name = "HASH")]
    pub yes: Option<String>,
}

/// How a change is done.
#[derive(Debug, Args)]
pub struct How {
    /// The file with the passphrase of the CA key (mode 0600)
    #[arg(long, value_name = "FILE")]
    pub ca_passphrase_file: Option<PathBuf>,
    /// RSA keys of this size instead of P-256
    #[arg(short, long, value_name = "BITS")]
    pub bits: Option<u32>,
    /// Days until a node's certificate expires
    #[arg(long, value_name = "DAYS", default_value_t = 397)]
    pub leaf_days: u32,
    /// Change servers of a version that we have not run ourselves
    #[arg(long)]
    pub allow_untested: bool,
    /// Refuse clear text though it could not be seen whether clients still use it
    #[arg(long)]
    pub accept_unknown_clients: bool,
    /// Close the change although the last check could not prove it; that stays in `status` and in the journal
    #[arg(long)]
    pub accept_unproven: bool,
    /// Seconds for which client connections are watched before cleartext is refused; clients that connect less often are not seen
    #[arg(long, value_name = "S", default_value_t = 5)]
    pub watch_clients_s: u64,
    /// Upper bound for a restarted node to be Synced again; a running state transfer is waited for
    #[arg(long, value_name = "S", default_value_t = 300)]
    pub sync_s_max: u64,
    /// Upper bound for sessions to leave a drained node
    #[arg(long, value_name = "S", default_value_t = 30)]
    pub drain_s_max: u64,
}

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Start a cluster on loopback and leave it up
    Up(LabUpArgs),
    /// Run a program inside the lab, e.g. `sealion lab exec -- mariadb`
    Exec(LabExecArgs),
    /// What runs
    Status(LabDirArgs),
    /// End the lab and remove its files
    Down(LabDirArgs),
    /// Fetch a server without root
    Fetch {
        /// galera-10.11, mariadb-11.8, mysql-9.7 or mysql-5.5
        #[arg(default_value = "galera-10.11")]
        server: String,
    },
    /// Start a node
    Start(LabNodeArgs),
    /// Stop a node
    Stop(LabNodeArgs),
    /// Kill a node as a power cut would
    Kill(LabNodeArgs),
    /// Exit 0 while a node's process runs
    #[command(hide = true)]
    Alive(LabNodeArgs),
}

#[derive(Debug, Args)]
pub struct LabDirArgs {
    /// The lab's directory
    #[arg(long, value_name = "DIR", env = "SEALION_LAB")]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct LabNodeArgs {
    pub node: String,
    #[command(flatten)]
    pub lab: LabDirArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabKind {
    Galera,
    Mariadb,
}

#[derive(Debug, Args)]
pub struct LabUpArgs {
    #[arg(value_enum, default_value_t = LabKind::Galera)]
    pub kind: LabKind,
    /// How many nodes of a Galera cluster
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=9))]
    pub nodes: u8,
    /// Enable TLS before it is handed over
    #[arg(long)]
    pub tls: bool,
    /// Use the servers that the system has installed
    #[arg(long)]
    pub system: bool,
    /// Use the host's loopback, not a namespace of its own
    #[arg(long)]
    pub no_namespace: bool,
    /// Put relays in front of the ports and look through them, as where packets may not be captured
    #[arg(long)]
    pub relay: bool,
    /// How joiners get their data: rsync, or mariabackup where relays look
    #[arg(long, value_enum)]
    pub sst: Option<Sst>,
    #[command(flatten)]
    pub lab: LabDirArgs,
}

#[derive(Debug, Args)]
pub struct LabExecArgs {
    #[command(flatten)]
    pub lab: LabDirArgs,
    #[arg(last = true, required = true)]
    pub command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A report.json of `sealion demo`; without it, the runs kept for the inventory's cluster are listed
    pub report: Option<PathBuf>,
    /// Write the page here instead of a summary to the terminal
    #[arg(long, value_name = "FILE", requires = "report")]
    pub html: Option<PathBuf>,
    /// One kept run with all it saw, as JSON
    #[arg(long, value_name = "ID", conflicts_with = "report")]
    pub run: Option<String>,
    /// List at most this many runs
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: u32,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print effective options
    Print(ConfigArgs),
    /// Draft a sealion.toml from what one server tells of its cluster
    Inventory(Box<InventoryArgs>),
}

#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Read only this file and what it includes
    #[arg(long, value_name = "FILE")]
    pub defaults_file: Option<PathBuf>,
    /// Read this file after the usual ones
    #[arg(long, value_name = "FILE")]
    pub defaults_extra_file: Option<PathBuf>,
    /// Also read groups with this suffix
    #[arg(long, value_name = "TEXT")]
    pub defaults_group_suffix: Option<String>,
    /// Groups to read, as a server or client would; a MariaDB server's when left out
    #[arg(long = "group", short = 'g', value_name = "GROUP")]
    pub groups: Vec<String>,
}

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct InventoryArgs {
    #[command(flatten)]
    pub connect: Connect,
    /// Print help
    #[arg(short = '?', long, action = clap::ArgAction::Help)]
    pub help: Option<bool>,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Like SL1001; all are listed when left out
    pub rule: Option<String>,
}
