//! The classes and functions of PHP's drivers under all the names that a file may have for them, and the ways to connect with them
//! that nobody reads: those are said, so that a file is not taken for one without a connection.

use formats::settings::Node;
use formats::settings::code::Source;

use crate::config::nodes::{args, name};
use crate::config::{Read, Unread};

/// Names that `use` gives to the classes of the drivers: small letters, and what they stand for.
pub(super) fn aliases(text: &str) -> Vec<(String, String)> {
    const CLASSES: [&str; 3] = ["pdo", "mysqli", "pdo\\mysql"];
    let of = |line: &str| {
        let statement = line.trim().to_ascii_lowercase();
        let imported =
            statement.strip_prefix("use ")?.split(';').next()?.trim().trim_start_matches('\\').to_owned();
        let (class, alias) = match imported.split_once(" as ") {
            Some((class, alias)) => (class.trim(), alias.trim()),
            None => (imported.as_str(), imported.rsplit('\\').next()?),
        };
        (CLASSES.contains(&class) && class != alias).then(|| (alias.to_owned(), class.to_owned()))
    };
    text.lines().filter_map(of).collect()
}

/// The name of a class or a function in small letters, without the `\` of the outermost namespace.
pub(super) fn canonical(name: &str, aliases: &[(String, String)]) -> String {
    let small = name.trim_start_matches(['\\', '@']).to_ascii_lowercase();
    let (class, rest) = small.split_once("::").map_or((small.as_str(), ""), |(class, rest)| (class, rest));
    match aliases.iter().find(|(alias, _)| alias == class) {
        Some((_, class)) if rest.is_empty() => class.clone(),
        Some((_, class)) => format!("{class}::{rest}"),
        None => small,
    }
}

/// Why a call connects, or may, and is not read.
pub(super) fn passed_over(
    function: &str,
    call: &Node,
    source: &Source,
    aliases: &[(String, String)],
) -> Option<String> {
    let first = args(call).first();
    match function {
        "mysql_connect" | "mysql_pconnect" => {
            Some(format!("{function}() is of a driver that is not in the matrix"))
        }
        "call_user_func" | "call_user_func_array"
            if first.and_then(Node::text).is_some_and(|name| {
                matches!(canonical(name, &[]).as_str(), "mysqli_connect" | "mysqli_real_connect")
            }) =>
        {
            Some(format!("what {function}() connects with is not read"))
        }
        _ if function.ends_with("drivermanager::getconnection") => {
            Some("what Doctrine connects with is not read".into())
        }
        _ => {
            let object = function.strip_suffix("->connect")?;
            let is_link = source.assigned.iter().any(|entry| {
                entry.key.eq_ignore_ascii_case(object)
                    && matches!(canonical(name(&entry.node), aliases).as_str(), "mysqli" | "mysqli_init")
            });
            (object.is_empty() || is_link).then(|| format!("what {object}->connect() is given is not read"))
        }
    }
}

/// Classes that are made of a driver's, and names of its classes in texts: what they connect with is not read.
pub(super) fn derived(text: &str, source: &Source, read: &mut Read) {
    let is_driver = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
        matches!(word.as_str(), "pdo" | "mysqli" | "pdo\\mysql")
    };
    let extends = text.lines().position(|line| {
        let code = line.trim_start();
        if code.starts_with(['#', '*']) || code.starts_with("//") || code.starts_with("/*") {
            return false;
        }
        let mut words = code.split([' ', '{', '\t']).filter(|word| !word.is_empty());
        words.any(|word| word.eq_ignore_ascii_case("extends")) && words.next().is_some_and(is_driver)
    });
    // `(new mysqli)->real_connect(…)`: the link has no name to look for.
    let nameless = text.lines().position(|line| {
        let small = line.to_ascii_lowercase();
        ["new mysqli)->", "new mysqli())->", "mysqli_init()->"].iter().any(|sign| small.contains(sign))
    });
    if let Some(at) = nameless {
        read.unread.push(Unread {
            line: at + 1,
            why: "what a link without a name connects with is not read".into(),
        });
    }
    if let Some(at) = extends {
        read.unread.push(Unread {
            line: at + 1,
            why: "what a class that is made of the driver's connects with is not read".into(),
        });
    }
    let by_text = source.assigned.iter().find(|entry| {
        entry.key.starts_with('$')
            && !entry.key.contains("->")
            && entry.node.text().is_some_and(is_driver)
            && source.calls.iter().any(|call| name(call) == entry.key)
    });
    if let Some(entry) = by_text {
        read.unread.push(Unread { line: entry.line, why: "which class connects stands in a text".into() });
    }
}
