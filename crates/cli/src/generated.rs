//! What is generated from the arguments and committed: man pages and completions. The test says when they are stale.

use std::io::Write;
use std::path::Path;

use clap::{Arg, ArgAction, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::roff::{Roff, roman};
use site::OpsError;

use crate::verbs::Cli;

/// To standard output. A closed pipe is no error worth a word.
pub fn print_completion(shell: Shell) {
    let _ = std::io::stdout().write_all(&completion(shell));
}

/// # Errors
/// A place that cannot be written to.
pub fn write_man_pages(dir: &Path) -> Result<u8, OpsError> {
    let write = || {
        std::fs::create_dir_all(dir)?;
        for (name, page) in man_pages()? {
            std::fs::write(dir.join(name), page)?;
        }
        Ok(())
    };
    write().map_err(|error: std::io::Error| {
        OpsError::usage(
            "cannot write the man pages",
            error.to_string(),
            "choose a directory that you may write to",
        )
    })?;
    Ok(0)
}

fn completion(shell: Shell) -> Vec<u8> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sealion", &mut bytes);
    bytes
}

/// One page a command: `sealion.1`, `sealion-lab-up.1`.
fn man_pages() -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut pages = Vec::new();
    let mut root = Cli::command();
    root.build();
    walk(&root, "sealion", &mut pages)?;
    Ok(pages)
}

fn walk(command: &Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let bytes = page(command.clone().name(name.to_owned()))?;
    pages.push((format!("{name}.1"), bytes));
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        walk(sub, &format!("{name}-{}", sub.get_name()), pages)?;
    }
    Ok(())
}

/// The page of one command. The date would make it stale every day.
fn page(command: Command) -> std::io::Result<Vec<u8>> {
    // What the short help leaves out has its text in the page all the same.
    let command = command.mut_args(|arg| arg.hide_short_help(false));
    let usage = synopsis(&command);
    let after = command.get_after_long_help().or_else(|| command.get_after_help()).map(ToString::to_string);
    let has_subcommands = command.get_subcommands().any(|sub| !sub.is_hide_set());
    let has_version = command.get_version().is_some();
    let man = clap_mangen::Man::new(command.override_usage(usage)).date("");
    let (mut head, mut rest) = (Vec::new(), Vec::new());
    man.render_title(&mut head)?;
    let mut part = |render: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| {
        let mut bytes = Vec::new();
        render(&mut bytes)?;
        // Each part comes with the two lines that only the first of a page needs.
        rest.push(without_preamble(&String::from_utf8_lossy(&bytes)));
        std::io::Result::Ok(())
    };
    part(&|out| man.render_name_section(out))?;
    part(&|out| man.render_synopsis_section(out))?;
    part(&|out| man.render_description_section(out))?;
    part(&|out| man.render_options_section(out))?;
    if has_subcommands {
        part(&|out| man.render_subcommands_section(out))?;
    }
    if let Some(after) = after {
        part(&|mut out| after_help(&after).to_writer(&mut out))?;
    }
    if has_version {
        part(&|out| man.render_version_section(out))?;
    }
    head.extend(rest.concat().into_bytes());
    Ok(head)
}

fn without_preamble(part: &str) -> String {
    part.split_inclusive('\n').filter(|line| !line.starts_with(".ie ") && !line.starts_with(".el ")).collect()
}

/// On one line, with the value of each option.
fn synopsis(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut words = vec![name.to_owned()];
    let mut positional = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let text = arg_synopsis(arg);
        let text = if arg.is_required_set() { text } else { format!("[{text}]") };
        if arg.is_positional() { positional.push(text) } else { words.push(text) }
    }
    words.extend(positional);
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        words.push("COMMAND".into());
    }
    words.join(" ")
}

fn arg_synopsis(arg: &Arg) -> String {
    let values = arg.get_value_names().map_or_else(
        || arg.get_id().to_string().to_uppercase(),
        |names| names.iter().map(clap::builder::Str::as_str).collect::<Vec<_>>().join(" "),
    );
    let many = if matches!(arg.get_action(), ArgAction::Append) && arg.is_positional() { "..." } else { "" };
    if arg.is_positional() {
        let dashes = if arg.is_last_set() { "-- " } else { "" };
        return format!("{dashes}{values}{many}");
    }
    let flag = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}|--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, Some(long)) => format!("--{long}"),
        (None, None) => String::new(),
    };
    if !arg.get_action().takes_values() {
        return flag;
    }
    let is_optional = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    match (is_optional, arg.is_require_equals_set()) {
        (true, _) => format!("{flag}[={values}]"),
        (false, true) => format!("{flag}={values}"),
        (false, false) => format!("{flag} {values}"),
    }
}

/// Examples, notes and exit codes, each below the heading at which people look for it.
fn after_help(text: &str) -> Roff {
    let mut roff = Roff::default();
    let mut heading = "";
    for block in text.split("\n\n") {
        let first = block.lines().next().unwrap_or_default();
        let (next, lines): (_, Vec<&str>) = match (first, block.strip_prefix("Exit codes: ")) {
            ("Examples:", _) => ("EXAMPLES", block.lines().skip(1).collect()),
            (_, Some(codes)) => ("EXIT STATUS", codes.lines().collect()),
            _ => ("NOTES", block.lines().collect()),
        };
        if next == heading {
            roff.control("PP", []);
        } else {
            roff.control("SH", [next]);
            heading = next;
        }
        let is_as_typed = next == "EXAMPLES";
        if is_as_typed {
            roff.control("nf", []);
        }
        for line in lines {
            roff.text([roman(line)]);
        }
        if is_as_typed {
            roff.control("fi", []);
        }
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELLS: [(Shell, &str); 3] =
        [(Shell::Bash, "sealion.bash"), (Shell::Zsh, "_sealion"), (Shell::Fish, "sealion.fish")];

    fn check(path: &Path, bytes: &[u8]) {
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::create_dir_all(path.parent().expect("a file has a directory")).expect("writable");
            std::fs::write(path, bytes).expect("writable");
        }
        let written = std::fs::read(path).unwrap_or_default();
        assert!(
            written == bytes,
            "{} is stale: UPDATE_DOCS=1 cargo test --profile ci -p cli",
            path.display()
        );
    }

    #[test]
    fn committed_man_pages_and_completions_are_what_the_arguments_say() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"));
        for (name, bytes) in man_pages().expect("memory can be written to") {
            check(&root.join("man").join(name), &bytes);
        }
        for (shell, name) in SHELLS {
            check(&root.join("completions").join(name), &completion(shell));
        }
    }

    #[test]
    fn the_arguments_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_option_has_a_text_in_its_man_page_and_its_value_in_the_synopsis() {
        for (name, bytes) in man_pages().expect("memory can be written to") {
            let text = String::from_utf8(bytes).expect("it is text");
            assert_eq!(text.matches(".ie ").count(), 1, "{name} begins once");
            assert!(
                !text.contains("EXTRA") && text.contains(".SH EXAMPLES") || !text.contains("Examples:"),
                "{name}"
            );
            let lines: Vec<&str> = text.lines().collect();
            for (at, _) in lines.iter().enumerate().filter(|(_, line)| **line == ".TP") {
                let help = lines.get(at + 2).copied().unwrap_or_default();
                assert!(
                    !help.trim().is_empty() && !help.starts_with('.'),
                    "{name}: {:?} has no text",
                    lines.get(at + 1)
                );
            }
        }
        let pages = man_pages().expect("memory can be written to");
        let enable = pages.iter().find(|(name, _)| name == "sealion-enable.1").expect("it is there");
        let text = String::from_utf8_lossy(&enable.1).replace("\\-", "-");
        for part in ["[--yes HASH]", "[WHAT...]", ".SH EXAMPLES", ".SH \"EXIT STATUS\""] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }

    /// The words of an example, as a shell hands them on.
    fn typed(example: &str) -> Vec<std::ffi::OsString> {
        // What a shell takes away, before it comes here.
        let typed = example.split(['>', '|']).next().unwrap_or_default();
        typed
            .split('\'')
            .enumerate()
            .flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().collect::<Vec<_>>(),
                _ => vec![part],
            })
            .map(std::ffi::OsString::from)
            .collect()
    }

    const SCREEN_LINES: usize = 40;
    const SCREEN_COLUMNS: usize = 80;

    /// Commands that do something, each with the words that call it.
    fn leaves() -> Vec<(String, Command)> {
        fn walk(command: &Command, words: &str, found: &mut Vec<(String, Command)>) {
            let subs: Vec<_> = command
                .get_subcommands()
                .filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
                .collect();
            if subs.is_empty() {
                found.push((words.to_owned(), command.clone()));
            }
            for sub in subs {
                walk(sub, &format!("{words} {}", sub.get_name()), found);
            }
        }
        let mut root = Cli::command();
        root.build();
        let mut found = Vec::new();
        walk(&root, "sealion", &mut found);
        found
    }

    #[test]
    fn short_help_fits_a_screen() {
        let help = |(words, command): (String, Command)| {
            let help = command.term_width(SCREEN_COLUMNS).render_help().to_string();
            (words, help.lines().count(), help)
        };
        let longer: Vec<_> =
            leaves().into_iter().map(help).filter(|(_, lines, _)| *lines > SCREEN_LINES).collect();
        let told = longer.iter().map(|(words, lines, help)| format!("{words} -h: {lines} lines\n{help}"));
        assert!(longer.is_empty(), "{}", told.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn long_help_ends_with_two_examples_that_are_understood_and_name_what_exists() {
        for (words, mut command) in leaves() {
            let help = command.render_long_help().to_string();
            let (_, after) =
                help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{words} --help has no examples"));
            let examples: Vec<&str> =
                after.lines().take_while(|line| line.starts_with("  ")).map(str::trim).collect();
            let own: Vec<&&str> = examples.iter().filter(|line| line.starts_with(&words)).collect();
            assert!(own.len() >= 2, "{words} --help has {} examples of it", own.len());
            for example in own {
                match crate::parse(typed(example)) {
                    Ok(cli) => {
                        if let Err(why) = crate::verbs::knows_its_ids(&cli.command) {
                            panic!("{example}: {why}");
                        }
                    }
                    Err(error) => panic!("{example}: {error}"),
                }
            }
        }
    }

    #[test]
    fn h_without_a_value_is_the_short_help_also_where_it_is_the_host() {
        for (words, _) in leaves() {
            let line = format!("{words} -h");
            let error = crate::parse(line.split(' ').map(std::ffi::OsString::from)).expect_err(&line);
            assert_eq!(error.kind(), clap::error::ErrorKind::DisplayHelp, "{line}: {error}");
        }
        for (line, is_help) in [
            ("sealion status -h -u monitor", true),
            ("sealion status -h db1", false),
            ("sealion status --host", false),
        ] {
            let kind =
                crate::parse(line.split(' ').map(std::ffi::OsString::from)).err().map(|error| error.kind());
            assert_eq!(kind == Some(clap::error::ErrorKind::DisplayHelp), is_help, "{line}: {kind:?}");
        }
    }

    #[test]
    fn a_command_takes_only_its_own_formats_wherever_they_stand() {
        for (words, command) in leaves() {
            let own: Vec<String> = command
                .get_arguments()
                .filter(|arg| arg.get_id() == "format" && !arg.is_hide_set())
                .flat_map(clap::Arg::get_possible_values)
                .map(|value| value.get_name().to_owned())
                .collect();
            assert!(
                own.is_empty() || own.iter().any(|name| name == "json"),
                "{words} prints no JSON: {own:?}"
            );
        }
        let parsed = |line: &str| crate::parse(line.split(' ').map(std::ffi::OsString::from));
        for line in [
            "sealion status --format json",
            "sealion --format json status",
            "sealion plan --format sql enable",
        ] {
            assert!(parsed(line).is_ok(), "{line}");
        }
        for line in
            ["sealion status --format sql", "sealion --format sql status", "sealion --format json lab down"]
        {
            let error = parsed(line).expect_err(line).to_string();
            assert!(error.contains("--format"), "{line}: {error}");
        }
    }
}
