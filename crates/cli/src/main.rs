//! `sealion`: arguments, prompts, progress and exit codes. It calls `ops` and decides nothing.

mod args;
mod bench;
mod bench_kept;
mod change;
mod connect;
mod generated;
mod internal;
mod interrupt;
mod labs;
mod look;
mod prove;
mod prove_config;
mod prove_relay;
mod prove_sniff;
mod prove_tour;
mod scan;
mod show;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::Parser;
use site::OpsError;

fn main() -> ExitCode {
    // Some commands of the lab are other processes of the same program; they take no options of people.
    if let Some(code) = internal::run() {
        return code;
    }
    // A closed pipe (`sealion status | head`) ends quietly: Rust ignores SIGPIPE and would panic in println.
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        if text.contains("Broken pipe") {
            std::process::exit(0);
        }
        // A full disk is no fault of the program.
        if let Some((_, why)) = text.split_once("failed printing to stdout: ") {
            show::tell_lost(why);
            std::process::exit(2);
        }
        show::tell(&format!(
            "error: sealion has a fault\n  why:  {text}\n  next: please report this; a change can be gone on with: sealion resume"
        ));
    }));
    if let Err(error) = connect::no_password_in_argv() {
        eprintln!("error: {error}");
        return ExitCode::from(error.exit_code());
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                eprintln!("{}", reason_last(&error.render().to_string()));
            } else {
                let _ = error.print();
            }
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    show::set_color(cli.global.color);
    let result = std::panic::catch_unwind(|| run(cli));
    match result {
        Ok(Ok(0)) if show::has_lost() => ExitCode::from(2),
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(error)) => {
            eprintln!("{} {error}", show::red("error:"));
            ExitCode::from(error.exit_code())
        }
        Err(_) => ExitCode::from(5),
    }
}

/// What is wrong is the last thing that is printed: a usage may be longer than the screen.
fn reason_last(text: &str) -> String {
    let text = text.trim_end();
    match text.split_once("\n\nUsage:") {
        Some((reason, usage)) if reason.starts_with("error:") => format!("Usage:{usage}\n\n{reason}"),
        // Without a command clap shows the help, and says nothing else.
        _ if !text.starts_with("error:") => {
            format!("{text}\n\nerror: a command is missing, see \"Commands\" above")
        }
        _ => match text.split_once("\n\n") {
            Some((reason, more)) => format!("{more}\n\n{reason}"),
            None => text.to_owned(),
        },
    }
}

fn run(cli: Cli) -> Result<u8, OpsError> {
    let Cli { global, command } = cli;
    let fits = match global.format {
        args::Format::Table | args::Format::Json => true,
        args::Format::Diff | args::Format::Sql | args::Format::Shell => matches!(command, Command::Plan(_)),
        args::Format::Csv => {
            matches!(command, Command::Scan(_) | Command::Bench(args::BenchCommand::Export(_)))
        }
        args::Format::Parquet => matches!(command, Command::Bench(args::BenchCommand::Export(_))),
        args::Format::Sarif | args::Format::Junit | args::Format::Prometheus | args::Format::Html => {
            matches!(command, Command::Scan(_))
        }
    };
    if !fits {
        return Err(OpsError::usage(
            "this command does not know that --format",
            "diff, sql and shell are forms of a plan; csv, sarif, junit, prometheus and html of a scan; csv and parquet of bench export",
            "use --format table or --format json",
        ));
    }
    match command {
        Command::Demo(args) => labs::demo(&global, &args),
        Command::Scan(args) => scan::scan(&global, &args),
        Command::Prove(command) => prove::prove(&global, &command),
        Command::Status(args) => look::status(&global, &args),
        Command::Plan(args) => change::plan(&global, &args),
        Command::Apply(args) => change::apply(&global, &args),
        Command::Enable(args) => change::change(&global, model::Verb::Enable, &args),
        Command::Disable(args) => change::change(&global, model::Verb::Disable, &args),
        Command::Rotate(args) => change::change(&global, model::Verb::Rotate, &args),
        Command::Resume(args) => change::go_on(&global, None, &args),
        Command::Undo(args) => change::undo(&global, &args),
        Command::Abandon(args) => change::abandon(&global, &args),
        Command::Bench(command) => bench::bench(&global, &command),
        Command::Lab(command) => labs::lab(&global, command),
        Command::Report(args) => look::report(&global, &args),
        Command::Config(args::ConfigCommand::Print(args)) => look::config(&global, &args),
        Command::Config(args::ConfigCommand::Inventory(args)) => look::inventory(&args),
        Command::Explain(args) => look::explain(&global, &args),
        Command::Completions { shell } => {
            use std::io::Write;
            // A closed pipe is no error worth a word.
            let _ = std::io::stdout().write_all(&generated::completion(shell));
            Ok(0)
        }
        Command::Man { dir } => {
            let write = || {
                std::fs::create_dir_all(&dir)?;
                for (name, page) in generated::man_pages()? {
                    std::fs::write(dir.join(name), page)?;
                }
                Ok(())
            };
            write().map_err(|error: std::io::Error| {
                OpsError::usage(
                    "cannot write the man pages",
                    error.to_string(),
                    "name a directory that you may write to",
                )
            })?;
            Ok(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn a_wrong_command_line_ends_with_its_reason() {
        for (words, reason) in [
            (
                &["sealion", "bench", "prepare", "--rows", "10"][..],
                "error: unexpected argument '--rows' found",
            ),
            (
                &["sealion", "bench", "prepare", "--tables", "x"],
                "error: invalid value 'x' for '--tables <N>'",
            ),
            (&["sealion", "bench"], "error: a command is missing"),
            (&["sealion", "nonsense"], "error: unrecognized subcommand 'nonsense'"),
        ] {
            let error = Cli::try_parse_from(words).expect_err("it is wrong");
            assert!(error.use_stderr(), "{words:?}");
            let text = reason_last(&error.render().to_string());
            let last = text.rfind("\nerror: ").map_or_else(|| panic!("{text}"), |at| &text[at + 1..]);
            assert!(
                last.starts_with(reason) && !last.contains("Usage:") && !last.contains("--help"),
                "{text}"
            );
        }
    }
}
