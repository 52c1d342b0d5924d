//! `sealion-share`: a series of archives for a reader, written by a machine that cannot open them.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, Parser, Subcommand};
use share::grant::{Policy, ProxyUrl, SignedGrant, Terms};
use share::keys::{Identity, PublicIdentity, Role};
use share::proxy::serve::Proxy;
use share::{ShareError, files, piped, shown_time, until};
use share_umbral::scope::{Receiver, Scope, Signed, wrong};
use share_umbral::series::{self, Answer};
use share_umbral::umbral::Umbral;

/// Of a grant; it is below 24 KiB.
const GRANT_BYTES_MAX: u64 = 64 * 1024;

/// Share a series of archives with a reader, written by a machine that cannot open them
///
/// Share a series of archives with a reader, written by a machine that cannot open them. A scope is a series, as orders/2026-11: its writer has the public
/// key of the scope alone, and a grant is for all its archives, those that come too. Keys are those of `sealion share init` and `identity`; grants
/// are listed, audited and revoked by `sealion share`.
#[derive(Debug, Parser)]
#[command(version, disable_help_subcommand = true)]
struct Program {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// State a scope, as its owner: the file goes to its writer
    Scope(ScopeArgs),
    /// State the key that a reader receives with: the file goes to the owner
    Reader(ReaderArgs),
    /// Write what comes on standard input into an archive of a scope
    Create(CreateArgs),
    /// Allow a reader all archives of a scope, until a date and so many opens
    Grant(GrantArgs),
    /// Open an archive as a reader with a grant of its scope
    Open(OpenArgs),
    /// Open an archive as the owner of its scope, without any proxy
    Own(OwnArgs),
    /// Show what a scope, a reader's file or a grant says, with the fingerprints in it
    Show(ShowArgs),
    /// Run a proxy that re-encrypts, and hands out shares as `sealion share proxy`
    Proxy(ProxyArgs),
}

#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  sealion-share scope orders/2026-11 --keys own --writer backup.json --out orders-2026-11.scope")]
struct ScopeArgs {
    /// Its name; a grant is for all of it, so give each period one
    #[arg(value_name = "NAME")]
    name: String,
    /// Directory of the owner's keys
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// Public.json of the writer, made by `sealion share init` there
    #[arg(long, value_name = "FILE")]
    writer: PathBuf,
    /// File to write, which is not there yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  sealion-share reader --keys auditor --out auditor.reader")]
struct ReaderArgs {
    /// Directory of the reader's keys
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// File to write, which is not there yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  mariadb-dump shop orders | sealion-share create --keys backup --owner owner.json --scope o.scope --name orders-27 --out orders-27.share")]
struct CreateArgs {
    /// Directory of the writer's keys
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// The owner's public.json; a scope of anybody else is refused
    #[arg(long, value_name = "FILE")]
    owner: PathBuf,
    /// The scope, by its owner
    #[arg(long, value_name = "FILE")]
    scope: PathBuf,
    /// Name of what comes; it stands in the archive in the clear
    #[arg(long, value_name = "NAME", value_parser = piped::name)]
    name: String,
    /// Archive to write, which is not there yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  sealion-share grant --keys own --scope o.scope --reader a.reader --until 2026-12-31 --max-opens 40 --need 1 --proxy URL --out a.grant")]
struct GrantArgs {
    /// Directory of the owner's keys
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// The scope
    #[arg(long, value_name = "FILE")]
    scope: PathBuf,
    /// The reader's file, from sealion-share reader
    #[arg(long, value_name = "FILE")]
    reader: PathBuf,
    /// Last day (2026-12-04), or time (2026-12-04T18:00:00Z)
    #[arg(long, value_name = "DATE", value_parser = until)]
    until: i64,
    /// How many archives each proxy helps to open
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_opens: u32,
    /// How many of the proxies the reader needs
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u8).range(1..=16))]
    need: u8,
    /// A proxy; once for each
    #[arg(long = "proxy", value_name = "URL", required = true)]
    proxy: Vec<ProxyUrl>,
    /// Grant to write, which goes to the reader
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  sealion-share open orders-27.share --keys auditor --owner owner.json --grant auditor.grant --out orders-27.sql")]
struct OpenArgs {
    /// Archive of a scope
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,
    /// Directory of the reader's keys
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// The owner's public.json; an archive of anybody else is refused
    #[arg(long, value_name = "FILE")]
    owner: PathBuf,
    /// Grant of the owner
    #[arg(long, value_name = "FILE")]
    grant: PathBuf,
    /// File for what is in it, which is not there yet (mode 0600)
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  sealion-share own orders-27.share --keys own --out orders-27.sql")]
struct OwnArgs {
    /// Archive of a scope
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,
    /// Directory of the owner's keys
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// File for what is in it, which is not there yet (mode 0600)
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  sealion-share show auditor.reader")]
struct ShowArgs {
    /// A file that somebody has sent
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  sealion-share proxy /var/lib/share-proxy --owner owner.json --listen 192.0.2.7:7443")]
struct ProxyArgs {
    /// Directory of this proxy (mode 0700); it is made if it is not there
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Public.json of the owner that it obeys
    #[arg(long, value_name = "FILE")]
    owner: PathBuf,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7443")]
    listen: SocketAddr,
    /// File in which it keeps where its log ends, outside of DIR and of its backups
    #[arg(long, value_name = "FILE")]
    mark: Option<PathBuf>,
}

fn main() -> ExitCode {
    let program = Program::parse();
    let done = share::without_core().and_then(|()| match &program.verb {
        Verb::Scope(args) => scope(args),
        Verb::Reader(args) => reader(args),
        Verb::Create(args) => create(args),
        Verb::Grant(args) => grant(args),
        Verb::Open(args) => open(args),
        Verb::Own(args) => own(args),
        Verb::Show(args) => show(args),
        Verb::Proxy(args) => proxy(args),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("error: {error}"));
            ExitCode::from(match error {
                ShareError::Usage { .. } => 2,
                ShareError::Unreachable { .. } => 3,
                ShareError::Internal { .. } => 5,
                ShareError::Refused { .. } => 6,
            })
        }
    }
}

fn out(text: &impl Display) -> Result<(), ShareError> {
    let mut stdout = std::io::stdout();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(ShareError::Internal {
            what: "standard output cannot be written".into(),
            why: error.to_string(),
        }),
        _ => Ok(()),
    }
}

fn tell(text: &str) {
    // Without it there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn scope(args: &ScopeArgs) -> Result<(), ShareError> {
    let owner = Identity::read(&args.keys, Role::Owner)?;
    let writer = PublicIdentity::read(&args.writer, Role::Owner)?;
    let (scope, signed) = Scope::new(&args.name, &owner, &writer)?;
    signed.write(&args.out)?;
    out(&format!("scope {}", scope.label))?;
    out(&format!("writer: {}", writer.fingerprint()))?;
    out(&format!("now give {} to the writer: it holds no secret", args.out.display()))
}

fn reader(args: &ReaderArgs) -> Result<(), ShareError> {
    let reader = Identity::read(&args.keys, Role::Reader)?;
    let (_, signed) = Receiver::new(&reader)?;
    signed.write(&args.out)?;
    out(&format!("reader: {}", reader.public.fingerprint()))?;
    out(&format!(
        "now give {} to the owner, and read the fingerprint to each other over the telephone",
        args.out.display()
    ))
}

fn create(args: &CreateArgs) -> Result<(), ShareError> {
    let writer = Identity::read(&args.keys, Role::Owner)?;
    let signed = Signed::read(&args.scope)?;
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(ShareError::Usage {
            what: "there is nothing on standard input".into(),
            why: "it is a terminal".into(),
            next: "mariadb-dump ... | sealion-share create ...".into(),
        });
    }
    let owner = PublicIdentity::read(&args.owner, Role::Owner)?;
    let bytes = series::create((&writer, &owner), &signed, &args.name, &mut stdin.lock(), &args.out)?;
    out(&format!("{}: {}, {bytes} bytes before encryption", args.out.display(), args.name))?;
    out(&"this machine cannot open it: its key was sealed to the scope, and forgotten")
}

fn grant(args: &GrantArgs) -> Result<(), ShareError> {
    let owner = Identity::read(&args.keys, Role::Owner)?;
    let scope =
        Scope::by(&Signed::read(&args.scope)?, &owner.public).map_err(|why| wrong(&args.scope, why))?;
    let receiver = Receiver::of(&Signed::read(&args.reader)?).map_err(|why| wrong(&args.reader, why))?;
    let terms = Terms {
        until_unix_s: args.until,
        max_opens: args.max_opens,
        need: args.need,
        proxies: args.proxy.clone(),
    };
    // Before the proxies hold it.
    let mut file = files::Whole::new(&args.out)?;
    let (policy, signed, answers) = series::grant(&args.keys, &owner, &scope, &receiver, &terms)?;
    out(&format!("grant {}", policy.id.hex()))?;
    let text = serde_json::to_vec_pretty(&signed).map_err(|error| error.to_string());
    let written = text.and_then(|text| file.write_all(&text).map_err(|error| error.to_string()));
    written.map_err(|why| ShareError::Internal { what: "the grant cannot be written".into(), why })?;
    file.finish()?;
    out(&format!("reader: {}", receiver.reader.fingerprint()))?;
    out(&format!(
        "all archives of {}, until {}, {} opens at each proxy, {} of {} needed",
        scope.label,
        shown_time(policy.until_unix_s),
        policy.max_opens,
        policy.need,
        policy.proxies.len()
    ))?;
    for (url, answer) in &answers {
        match answer {
            Ok(()) => out(&format!("{url}: holds its fragment"))?,
            Err(failure) => out(&format!("{url}: {failure}"))?,
        }
    }
    out(&format!("now give {} to the reader", args.out.display()))
}

fn read_grant(path: &Path) -> Result<SignedGrant, ShareError> {
    let bytes = files::read_small(path, GRANT_BYTES_MAX)?;
    serde_json::from_slice(&bytes).map_err(|error| wrong(path, error.to_string()))
}

fn open(args: &OpenArgs) -> Result<(), ShareError> {
    let reader = Identity::read(&args.keys, Role::Reader)?;
    let owner = PublicIdentity::read(&args.owner, Role::Owner)?;
    let grant = read_grant(&args.grant)?;
    let mut heard = |(url, answer): &Answer| match answer {
        Ok(opens) => tell(&format!("{url}: gave its fragment (open number {opens})")),
        Err(failure) => tell(&format!("{url}: {failure}")),
    };
    let opened = series::open(&args.archive, &grant, &owner, (&reader, &args.keys), &args.out, &mut heard)?;
    out(&format!("{}: {}, {} bytes", args.out.display(), opened.table, opened.plain_bytes))
}

fn own(args: &OwnArgs) -> Result<(), ShareError> {
    let owner = Identity::read(&args.keys, Role::Owner)?;
    let opened = series::open_own(&args.archive, &owner, &args.out)?;
    out(&format!("{}: {}, {} bytes", args.out.display(), opened.table, opened.plain_bytes))
}

/// Whose it is, people compare.
fn show(args: &ShowArgs) -> Result<(), ShareError> {
    if let Ok(signed) = Signed::read(&args.file) {
        if let Ok(receiver) = Receiver::of(&signed) {
            return out(&format!("reader: {}", receiver.reader.fingerprint()));
        }
        let scope = Scope::of_anybody(&signed).map_err(|why| wrong(&args.file, why))?;
        out(&format!("scope {}", scope.label))?;
        out(&format!("owner: {}", scope.owner.fingerprint()))?;
        return out(&format!("writer: {}", scope.writer.fingerprint()));
    }
    let grant = read_grant(&args.file)?;
    let claimed: Policy =
        serde_json::from_slice(&grant.policy.0).map_err(|error| wrong(&args.file, error.to_string()))?;
    let policy = grant.by(&claimed.owner).map_err(|why| wrong(&args.file, why))?;
    out(&format!(
        "grant {} of {}, until {}",
        policy.id.hex(),
        policy.table,
        shown_time(policy.until_unix_s)
    ))?;
    out(&format!("owner: {}", policy.owner.fingerprint()))?;
    out(&format!("reader: {}", policy.reader.fingerprint()))
}

fn proxy(args: &ProxyArgs) -> Result<(), ShareError> {
    let owner = PublicIdentity::read(&args.owner, Role::Owner)?;
    let obeyed = owner.fingerprint();
    let proxy = Proxy::new(&args.dir, owner, args.listen)?.reencrypting(Arc::new(Umbral));
    let proxy = match &args.mark {
        Some(mark) => proxy.marked(mark, &args.dir)?,
        None => proxy,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    ctrlc::set_handler(move || asked.store(true, Ordering::Relaxed)).map_err(|error| {
        ShareError::Internal { what: "Ctrl-C cannot be handled".into(), why: error.to_string() }
    })?;
    out(&format!("obeys the owner {obeyed}"))?;
    if proxy.address.ip().is_unspecified() {
        out(&format!("--proxy https://HOST:{}#{}", proxy.address.port(), proxy.certificate.hex()))?;
    } else {
        out(&format!("--proxy {}", proxy.url()))?;
    }
    tell(&format!("listening on {}; Ctrl-C ends it", proxy.address));
    proxy.run(move || stop.load(Ordering::Relaxed))
}
