//! `sealion`: arguments, prompts, progress and exit codes. It calls the use cases and decides nothing.

mod findings;
mod generated;
mod internal;
mod interrupt;
mod options;
mod show;
mod verbs;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use options::Format;
use verbs::Cli;

fn main() -> ExitCode {
    const { assert!(!::stream::HAS_CLEAR, "copies without TLS are for measurements alone") };
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
            "error: internal error of sealion\n  why:  {text}\n  next: please report this bug; to continue a \
             change: sealion resume"
        ));
    }));
    if let Err(error) = options::connect::no_password_in_argv() {
        eprintln!("error: {error}");
        return ExitCode::from(error.exit_code());
    }
    let cli = match parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                eprintln!("{}", reason_last(&error.render().to_string()));
                if let Some(tip) = verbs::tip(&error) {
                    eprintln!("  next: {tip}");
                }
            } else {
                let _ = error.print();
            }
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    show::set_color(cli.global.color);
    let result = std::panic::catch_unwind(|| verbs::run(&cli.global, cli.command));
    match result {
        Ok(Ok(0)) if show::has_lost() => ExitCode::from(2),
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(error)) => {
            eprintln!("{} {}", show::red("error:"), show::fitted_error(&error.to_string()));
            ExitCode::from(error.exit_code())
        }
        Err(_) => ExitCode::from(5),
    }
}

fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = Cli::command();
    let mut words: Vec<OsString> = words.into_iter().collect();
    let matches = match command.try_get_matches_from_mut(&words) {
        Err(error) if is_h_without_host(&error) => {
            let Some(at) = h_without_value(&words) else { return Err(error) };
            words[at] = "-?".into();
            command = Cli::command();
            command.try_get_matches_from_mut(&words)?
        }
        matches => matches?,
    };
    has_that_format(&mut command, &matches)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Where `-h` is the host, as in `mysql`, it is the help when no host follows.
fn is_h_without_host(error: &clap::Error) -> bool {
    let is_host =
        |value: &ContextValue| matches!(value, ContextValue::String(arg) if arg.starts_with("--host"));
    matches!(
        error.kind(),
        ErrorKind::InvalidValue | ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument
    ) && error.get(ContextKind::InvalidArg).is_some_and(is_host)
}

/// The place of a `-h` at the end, or before another option.
fn h_without_value(words: &[OsString]) -> Option<usize> {
    (0..words.len()).find(|&at| {
        words.get(at).is_some_and(|word| word == "-h")
            && words.get(at + 1).is_none_or(|next| next.to_string_lossy().starts_with('-'))
    })
}

/// `--format` may stand before the command, where clap takes any: only the command knows which it has.
fn has_that_format(mut command: &mut clap::Command, mut matches: &ArgMatches) -> Result<(), clap::Error> {
    while let Some((name, of_sub)) = matches.subcommand() {
        let Some(sub) = command.find_subcommand_mut(name) else { return Ok(()) };
        (command, matches) = (sub, of_sub);
    }
    if matches.value_source("format") != Some(ValueSource::CommandLine) {
        return Ok(());
    }
    let Some(format) = matches.get_one::<Format>("format") else { return Ok(()) };
    let own = command.get_arguments().find(|arg| arg.get_id() == "format" && !arg.is_hide_set());
    let known: Vec<String> = own.map_or_else(Vec::new, |arg| {
        arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
    });
    if known.iter().any(|name| name == format.name()) || (known.is_empty() && *format == Format::Table) {
        return Ok(());
    }
    let name = command.get_bin_name().unwrap_or("this command").to_owned();
    let why = match known.as_slice() {
        [] => format!("{name} has no --format"),
        known => format!("{name} has no --format {}; possible values: {}", format.name(), known.join(", ")),
    };
    Err(command.error(ErrorKind::InvalidValue, why))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_listed_and_json_is_a_format() {
        for (line, part) in
            [("sealion plan", "enable, disable, rotate"), ("sealion status --json", "--format json")]
        {
            let error = parse(line.split(' ').map(OsString::from)).expect_err(line);
            let tip = verbs::tip(&error).unwrap_or_default();
            assert!(tip.contains(part), "{line}: {tip}");
        }
        let error = parse(["sealion", "bench", "run"].map(OsString::from)).expect_err("no experiment");
        let tip = verbs::tip(&error).unwrap_or_default();
        let words: Vec<&str> = tip.split([' ', ',']).collect();
        assert!(::bench::experiments::EXPERIMENTS.iter().all(|one| words.contains(&one.name)), "{tip}");
        let error = parse(["sealion", "status", "--nonsense"].map(OsString::from)).expect_err("it is wrong");
        assert_eq!(verbs::tip(&error), None);
    }

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
            let error = parse(words.iter().map(OsString::from)).expect_err("it is wrong");
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
