//! What is generated from the arguments and committed: man pages and completions. The test says when they are stale.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;

pub fn completion(shell: Shell) -> Vec<u8> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sealion", &mut bytes);
    bytes
}

/// One page a command: `sealion.1`, `sealion-lab-up.1`.
pub fn man_pages() -> std::io::Result<Vec<(String, Vec<u8>)>> {
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
    use std::path::Path;

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
}
