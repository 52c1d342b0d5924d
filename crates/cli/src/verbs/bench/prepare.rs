//! `sealion bench prepare` and `cleanup`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use ::bench::load::tables::{Kind, Plan};
use clap::Args;
use site::OpsError;

use super::{BenchTables, first};
use crate::options::{Connect, Global};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion bench prepare -h db1 -u bench -p --tables 8 --table-size 1000000
  sealion bench prepare -h db1 -u bench -p --bulk --tables 16")]
pub struct BenchPrepareArgs {
    #[command(flatten)]
    pub tables: BenchTables,
    /// Tables that are filled in parallel
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Storage engine; default: the server's default
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true, value_parser = engine)]
    pub engine: String,
    /// No index on column k
    #[arg(long)]
    pub no_secondary: bool,
    /// Empty tables for bulk_insert, one for each connection
    #[arg(long, conflicts_with_all = ["no_secondary", "table_size"])]
    pub bulk: bool,
    #[command(flatten)]
    pub connect: Connect,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion bench cleanup -h db1 -u bench -p
  sealion bench cleanup -h db1 -u bench -p --database loadtest")]
pub struct BenchCleanupArgs {
    /// Schema to drop; refused if `prepare` did not create it
    #[arg(long, value_name = "NAME", default_value = bench_ops::SCHEMA)]
    pub database: String,
    #[command(flatten)]
    pub connect: Connect,
}

fn engine(text: &str) -> Result<String, String> {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && text.len() <= 64 {
        return Ok(text.to_owned());
    }
    Err("allowed are letters, digits and _".into())
}

pub(super) fn plan(tables: &BenchTables) -> Plan {
    Plan {
        kind: Kind::Oltp,
        schema: tables.database.clone(),
        tables: tables.tables,
        table_size: tables.table_size,
        secondary_index: true,
        engine: String::new(),
        seed: tables.seed,
        threads: 1,
    }
}

pub fn prepare(global: &Global, args: &BenchPrepareArgs) -> Result<u8, OpsError> {
    let target = first(global, &args.connect)?;
    let stop = interrupt::flag()?;
    let plan = Plan {
        kind: if args.bulk { Kind::Bulk } else { Kind::Oltp },
        secondary_index: !args.no_secondary,
        engine: args.engine.clone(),
        threads: args.threads,
        ..plan(&args.tables)
    };
    let rows = u64::from(plan.tables) * u64::from(plan.table_size);
    let (began, told_s) = (Instant::now(), AtomicU64::new(1));
    bench_ops::prepare(&target, &plan, &stop, &|done| {
        let elapsed = began.elapsed();
        // Once a second, by whoever comes first.
        let next = told_s.load(Ordering::Relaxed);
        let is_due = elapsed.as_secs() >= next
            && told_s.compare_exchange(next, next + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_due {
            let per_s = done as f64 / elapsed.as_secs_f64();
            let left_s = rows.saturating_sub(done) as f64 / per_s.max(1.0);
            show::progress(&format!("{done} of {rows} rows, {per_s:.0} rows/s, {left_s:.0} s left"));
        }
    })?;
    let rows = if args.bulk { "no".to_owned() } else { plan.table_size.to_string() };
    show::tell(&format!(
        "{} of {rows} rows in the schema {}, {:.1} s",
        model::text::counted(plan.tables, "table", "tables"),
        plan.schema,
        began.elapsed().as_secs_f64()
    ));
    Ok(0)
}

pub fn cleanup(global: &Global, args: &BenchCleanupArgs) -> Result<u8, OpsError> {
    let target = first(global, &args.connect)?;
    if bench_ops::cleanup(&target, &args.database)? {
        show::tell(&format!("dropped the schema {}", args.database));
    } else {
        show::tell(&format!("there is no schema {}; nothing to do", args.database));
    }
    Ok(0)
}
