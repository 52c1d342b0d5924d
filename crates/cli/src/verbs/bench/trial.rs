//! What every measurement takes: connections, tables, statements, TLS.

use std::time::Duration;

use bench_ops::effect::WithoutEffect;
use bench_ops::workload::Options;
use bench_ops::{Load, TlsWish};
use clap::{Args, ValueEnum};
use site::{Cluster, OpsError};

use super::{BenchTables, reached};
use crate::options::Connect;

/// One trial, in sysbench's words.
#[derive(Debug, Args)]
pub struct BenchTrial {
    #[command(flatten)]
    pub tables: BenchTables,
    /// Concurrent connections
    #[arg(short = 'c', long, visible_alias = "threads", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000), display_order = 1)]
    pub connections: u32,
    /// Threads of the load generator; default: two, or one for every four processors if that is more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256), hide_short_help = true)]
    pub workers: Option<u32>,
    /// Allow writes to a schema that sealion did not create
    #[arg(long, hide_short_help = true)]
    pub own_tables: bool,
    #[command(flatten)]
    pub statements: Statements,
    #[command(flatten)]
    pub tls: TlsChoice,
    #[command(flatten)]
    pub connect: Connect,
}

/// What an event of the workloads is made of.
#[derive(Debug, Args)]
#[command(next_help_heading = "Statements of the workloads, as in sysbench")]
pub struct Statements {
    /// Distribution of row IDs: special, uniform, gaussian or pareto
    #[arg(long, value_name = "NAME", default_value = "special", hide_short_help = true)]
    pub rand_type: bench_ops::Distribution,
    /// Rows in a range query
    #[arg(long, value_name = "N", default_value_t = 100, hide_short_help = true)]
    pub range_size: u32,
    /// Point selects in a transaction
    #[arg(long, value_name = "N", default_value_t = 10, hide_short_help = true)]
    pub point_selects: u32,
    /// Range selects in a transaction
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub simple_ranges: u32,
    /// SELECT SUM() queries in a transaction
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub sum_ranges: u32,
    /// Range selects with ORDER BY in a transaction
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub order_ranges: u32,
    /// Range selects with DISTINCT in a transaction
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub distinct_ranges: u32,
    /// Updates of an indexed column in a transaction
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub index_updates: u32,
    /// Updates of a column without an index in a transaction
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub non_index_updates: u32,
    /// DELETE and INSERT pairs in a transaction
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub delete_inserts: u32,
    /// No range queries
    #[arg(long, hide_short_help = true)]
    pub no_range_selects: bool,
    /// No BEGIN and COMMIT
    #[arg(long, hide_short_help = true)]
    pub skip_trx: bool,
    /// Send all statements as text, as sysbench does with --db-ps-mode=disable
    #[arg(long, hide_short_help = true)]
    pub text_protocol: bool,
}

/// How connections are encrypted.
#[derive(Debug, Args)]
#[command(next_help_heading = "TLS of the connections")]
pub struct TlsChoice {
    /// Lowest TLS version: 1.0 to 1.3
    #[arg(long, value_name = "VERSION", hide_short_help = true)]
    pub tls_min: Option<net::TlsVersion>,
    /// Highest TLS version
    #[arg(long, value_name = "VERSION", hide_short_help = true)]
    pub tls_max: Option<net::TlsVersion>,
    /// Cipher suites up to TLS 1.2, as OpenSSL names them
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    pub ssl_cipher: Option<String>,
    /// Cipher suites of TLS 1.3
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    pub tls_ciphersuites: Option<String>,
    /// Key exchange groups in order of preference (X25519MLKEM768:X25519)
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    pub tls_groups: Option<String>,
    /// Signature algorithms in order of preference (ECDSA+SHA256:rsa_pss_rsae_sha256)
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    pub tls_sigalgs: Option<String>,
    /// Maximum size of a TLS record that is sent: 32 to 16384
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(32..=16_384), hide_short_help = true)]
    pub tls_record_bytes: Option<u16>,
    /// TLS library of the load generator
    #[arg(long, value_name = "NAME", value_enum, default_value_t = TlsLibrary::Openssl, hide_short_help = true)]
    pub tls_library: TlsLibrary,
    /// Resume TLS sessions, with --tls-library rustls
    ///
    /// Resume TLS sessions, with --tls-library rustls. =session-id: those of TLS 1.2 by session ID, not by ticket.
    #[arg(long, value_name = "HOW", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "any", hide_short_help = true)]
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

pub(super) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(number) if (0.1..=50.0).contains(&number) => Ok(number),
        _ => Err("a percentage from 0.1 to 50 is needed".into()),
    }
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=86_400.0).contains(&number) => Ok(number),
        _ => Err("a number of seconds from 0 to 86400 is needed".into()),
    }
}

pub(super) fn warm_up(text: &str) -> Result<WarmUp, String> {
    if text == "auto" {
        return Ok(WarmUp::Auto);
    }
    seconds(text).map(WarmUp::Seconds).map_err(|why| format!("{why}, or auto"))
}

pub(super) fn some_seconds(text: &str) -> Result<f64, String> {
    seconds(text).and_then(|number| {
        if number > 0.0 { Ok(number) } else { Err("the time must be longer than 0".into()) }
    })
}

pub(super) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.001..=10_000_000.0).contains(&number) => Ok(number),
        _ => Err("a number from 0.001 to 10000000 is needed".into()),
    }
}

fn library(args: &BenchTrial) -> Result<net::TlsLibrary, OpsError> {
    match (args.tls.tls_library, args.tls.resume) {
        (TlsLibrary::Rustls, Some(Resume::SessionId)) if args.tls.tls_max != Some(net::TlsVersion::Tls12) => {
            Err(OpsError::usage(
                "--resume=session-id would have no effect",
                "TLS 1.3 has no session resumption by session ID",
                "add --tls-max 1.2",
            ))
        }
        (TlsLibrary::Rustls, resumes) => Ok(net::TlsLibrary::Rustls {
            resumes: match resumes {
                None => net::Resumes::No,
                Some(Resume::Any) => net::Resumes::Any,
                Some(Resume::SessionId) => net::Resumes::ById,
            },
        }),
        (TlsLibrary::Openssl, None) => Ok(net::TlsLibrary::OpenSsl),
        (TlsLibrary::Openssl, Some(_)) => Err(OpsError::usage(
            "sealion cannot resume sessions with OpenSSL",
            "its Rust binding has no safe function for that",
            "add --tls-library rustls",
        )),
    }
}

/// What the command line chooses of TLS.
pub(super) fn wish(args: &BenchTrial) -> Result<TlsWish, OpsError> {
    Ok(TlsWish {
        min_version: args.tls.tls_min,
        max_version: args.tls.tls_max,
        ciphers: args.tls.ssl_cipher.clone(),
        ciphersuites: args.tls.tls_ciphersuites.clone(),
        groups: args.tls.tls_groups.clone(),
        signature_algorithms: args.tls.tls_sigalgs.clone(),
        record_bytes: args.tls.tls_record_bytes,
        library: library(args)?,
    })
}

pub(super) fn targets(cluster: &Cluster, args: &BenchTrial) -> Result<Vec<net::ConnectOptions>, OpsError> {
    let targets = reached(cluster, &args.connect, &wish(args)?);
    // Wherever it was said: on the command line, or in an option file.
    if args.tls.resume.is_some() && targets.iter().any(|target| target.tls.mode == net::SslMode::Disabled) {
        return Err(OpsError::usage(
            "there is no TLS session to resume",
            "the connection is cleartext",
            "leave out --resume, or add --ssl-mode REQUIRED",
        ));
    }
    Ok(targets)
}

/// Options that change nothing are not taken.
pub(super) fn none_without_effect(found: Option<WithoutEffect>) -> Result<(), OpsError> {
    let Some(WithoutEffect { option, why }) = found else { return Ok(()) };
    Err(OpsError::usage(
        format!("{option} would have no effect"),
        why,
        format!("leave out {option}, or what contradicts it"),
    ))
}

/// A trial of ten seconds; the caller says of what, and how long.
pub(super) fn trial(args: &BenchTrial, workload: &str) -> Load {
    Load {
        workload: workload.to_owned(),
        own: None,
        options: Options {
            tables: args.tables.tables,
            table_size: args.tables.table_size,
            range_size: args.statements.range_size,
            point_selects: args.statements.point_selects,
            simple_ranges: args.statements.simple_ranges,
            sum_ranges: args.statements.sum_ranges,
            order_ranges: args.statements.order_ranges,
            distinct_ranges: args.statements.distinct_ranges,
            index_updates: args.statements.index_updates,
            non_index_updates: args.statements.non_index_updates,
            delete_inserts: args.statements.delete_inserts,
            range_selects: !args.statements.no_range_selects,
            skip_trx: args.statements.skip_trx,
            is_text: args.statements.text_protocol,
            distribution: args.statements.rand_type,
        },
        schema: args.tables.database.clone(),
        connections: args.connections as usize,
        workers: args.workers.map(|workers| workers as usize),
        warm_up: Duration::from_secs(1),
        detects_warm_up: false,
        watches_network: false,
        time: Some(Duration::from_secs(10)),
        events: None,
        rate_per_s: None,
        sends_together: true,
        seed: args.tables.seed,
        has_own_tables: args.own_tables,
        is_echo: false,
        beside_pids: vec![],
    }
}
