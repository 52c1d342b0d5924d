//! Options that several commands share. Nothing happens here.

pub mod connect;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, Resettable, TypedValueParser};
use clap::{Arg, Args, ValueEnum};

pub use connect::Connect;

/// Where the inventory is looked for.
pub const DEFAULT_INVENTORY: &str = "sealion.toml";

/// The heading of what every command has, behind its own options.
pub const GLOBAL: &str = "Global options";

/// Behind the options of every other heading.
const LAST: usize = 900;

#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Inventory file of the cluster
    #[arg(
        long,
        global = true,
        env = "SEALION_INVENTORY",
        hide_env = true,
        value_name = "FILE",
        default_value = DEFAULT_INVENTORY,
        help_heading = GLOBAL,
        display_order = LAST
    )]
    pub inventory: PathBuf,
    // Each command says which formats it has, see [`formats`]; here it may stand before the command's name.
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, hide = true)]
    pub format: Format,
    /// When to use color
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t = Color::Auto,
        value_name = "WHEN",
        hide_short_help = true,
        help_heading = GLOBAL,
        display_order = LAST
    )]
    pub color: Color,
    /// Print more details; -vv prints everything
    #[arg(
        short,
        long,
        global = true,
        action = clap::ArgAction::Count,
        help_heading = GLOBAL,
        display_order = LAST
    )]
    pub verbose: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Json,
    Line,
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
            Self::Line => "line",
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

/// What most commands print: a table for people, JSON for programs.
pub const TABLE_OR_JSON: &[Format] = &[Format::Table, Format::Json];

/// The `--format` of one command, with what it can print and nothing else. The first one is the default.
pub fn formats(known: &'static [Format]) -> Arg {
    let values = known.iter().map(|format| PossibleValue::new(format.name()));
    let parser = PossibleValuesParser::new(values)
        .map(|word| Format::from_str(&word, false).expect("the names of formats are those that clap knows"));
    Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .value_parser(parser)
        .default_value(known.first().map_or("table", |format| format.name()))
        .help("Output format")
        .help_heading(Resettable::Reset)
        .display_order(LAST - 1)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
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
