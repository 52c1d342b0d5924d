//! What is generated from the arguments and committed: man pages and completions. The test says when they are stale.

use std::io::Write;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
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
    let mut bytes = Vec::new();
    // The date of a page would make it stale every day.
    clap_mangen::Man::new(command.clone().name(name.to_owned())).date("").render(&mut bytes)?;
    pages.push((format!("{name}.1"), bytes));
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        walk(sub, &format!("{name}-{}", sub.get_name()), pages)?;
    }
    Ok(())
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
        assert!(written == bytes, "{} is stale: UPDATE_DOCS=1 cargo test -p cli", path.display());
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
    fn long_help_ends_with_two_examples_that_are_understood() {
        for (words, mut command) in leaves() {
            let help = command.render_long_help().to_string();
            let (_, after) =
                help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{words} --help has no examples"));
            let examples: Vec<&str> =
                after.lines().take_while(|line| line.starts_with("  ")).map(str::trim).collect();
            let own: Vec<&&str> = examples.iter().filter(|line| line.starts_with(&words)).collect();
            assert!(own.len() >= 2, "{words} --help has {} examples of it", own.len());
            for example in own {
                // What a shell takes away, before it comes here.
                let typed = example.split(['>', '|']).next().unwrap_or_default();
                let typed: Vec<_> = typed
                    .split('\'')
                    .enumerate()
                    .flat_map(|(at, part)| match at % 2 {
                        0 => part.split_whitespace().collect::<Vec<_>>(),
                        _ => vec![part],
                    })
                    .map(std::ffi::OsString::from)
                    .collect();
                if let Err(error) = crate::parse(typed) {
                    panic!("{example}: {error}");
                }
            }
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
