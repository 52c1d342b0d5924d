//! Modules of Python that change what another one says: settings of Django over those that they import, an importer
//! that writes into a dictionary, and the `env.py` of Alembic over its `alembic.ini`.

use std::collections::BTreeSet;

use formats::settings::code::{Import, Source, Why};
use formats::settings::{Entry, Node, Value};

use super::{Member, Set};
use crate::config::ConnectionSettings;
use crate::config::nodes::{args, name, words};

/// How many names of other files are looked up for one.
const NAMES_MAX: usize = 64;

/// Over how many files a name may come to the one that changes it.
const STEPS_MAX: usize = 3;

/// Obstacles of the modules that change this connection.
pub(super) fn look(set: &Set, index: usize, found: &mut ConnectionSettings) {
    let Some(own) = set.members.get(index) else { return };
    if own.form.id == "python" {
        if let Some(source) = own.source() {
            importers(set, index, own, source, found);
        }
    } else if own.form.id == "text" {
        alembic(set, own, found);
    }
}

fn importers(set: &Set, index: usize, own: &Member, source: &Source, found: &mut ConnectionSettings) {
    const SETTINGS: &str = "DATABASES";
    let names: BTreeSet<&str> = source
        .assigned
        .iter()
        .map(|entry| entry.key.as_str())
        // What nobody uses here says nothing of a connection here.
        .filter(|key| !key.contains('.') && (*key == SETTINGS || source.places_of(key) > 1))
        .collect();
    for (other, member) in set.members().filter(|(other, _)| *other != index) {
        let Some(theirs) = member.source().filter(|_| member.form.id == "python") else { continue };
        for wanted in &names {
            let is_settings = *wanted == SETTINGS && found.what.starts_with(SETTINGS);
            let mut change: Option<Why> = None;
            for known in names_of(set, other, index, wanted, STEPS_MAX) {
                change = change.or_else(|| theirs.changes(&known.name, known.is_part_of_module));
                // `from .base import *`, and a value of its own for a name of Django.
                let replaces = theirs
                    .assigned
                    .iter()
                    .find(|entry| entry.key == *wanted && is_settings && known.name == *wanted);
                change = change.or_else(|| {
                    replaces
                        .map(|entry| Why { line: entry.line, text: format!("{wanted} is set again here") })
                });
            }
            // `from django.conf import settings`
            if is_settings && change.is_none() && own.common(member) + 1 >= own.folder().len() {
                let by_django = |import: &Import| import.module == "django.conf" && import.part == "settings";
                let local = theirs.imports().into_iter().find(by_django).map(|import| import.name);
                change = local.and_then(|local| theirs.changes(&format!("{local}.{SETTINGS}"), true));
            }
            if let Some(why) = change {
                return found.settings.push(member.obstacle(why.line, &why.text));
            }
        }
    }
}

/// The values of names that a file takes from others that were given: where one file alone may be meant, and nobody
/// changes them.
pub(super) fn names(set: &Set, index: usize, member: &Member) -> Vec<(String, Node)> {
    let Some(source) = member.source() else { return vec![] };
    let mut all = Vec::new();
    for import in source.imports().into_iter().filter(|import| !import.part.is_empty()).take(NAMES_MAX) {
        let [of] = files_near(set, member, &import.module)[..] else { continue };
        let Some(theirs) = set.members.get(of).and_then(Member::source).filter(|_| of != index) else {
            continue;
        };
        // What makes its own connections uncertain makes its names so.
        let is_certain = set.members.get(of).is_some_and(|file| {
            crate::config::read(&file.name, &file.bytes).is_ok_and(|(_, read)| read.doubt.is_none())
        });
        if !is_certain {
            continue;
        }
        let mut places = theirs.assigned.iter().enumerate().filter(|(_, entry)| entry.key == import.part);
        let (Some((at, entry)), None) = (places.next(), places.next()) else { continue };
        let is_changed = |(other, member): (usize, &Member)| {
            other != of
                && member.form.id == "python"
                && names_of(set, other, of, &import.part, STEPS_MAX).iter().any(|known| {
                    member
                        .source()
                        .is_none_or(|source| source.changes(&known.name, known.is_part_of_module).is_some())
                })
        };
        if theirs.may_differ(at).is_none() && !set.members().any(is_changed) {
            all.push((import.name, closed(theirs, &entry.node, import.line, STEPS_MAX)));
        }
    }
    all
}

/// A value as another file sees it: what is written out, and names of this file that stand for that. It stands where
/// it is imported.
fn closed(source: &Source, node: &Node, line: usize, steps: usize) -> Node {
    let of = |node: &Node| closed(source, node, line, steps);
    let value = match &node.value {
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|entry| Entry { key: entry.key.clone(), line, node: of(&entry.node) })
                .collect(),
        ),
        Value::List(items) => Value::List(items.iter().map(of).collect()),
        Value::Name(name) if steps > 0 => match source.resolve(name) {
            Ok(other) => closed(source, &other, line, steps - 1).value,
            Err(_) => Value::Unread,
        },
        // `dict(a=1)` is `{"a": 1}`.
        Value::Call { name, args, named } if name == "dict" && args.is_empty() && steps > 0 => {
            closed(source, &Node::new(line, Value::Map(named.clone())), line, steps - 1).value
        }
        Value::Name(_) | Value::Call { .. } | Value::Unread => Value::Unread,
        plain => plain.clone(),
    };
    Node::new(line, value)
}

/// How a name of one file is called in another.
struct Known {
    name: String,
    /// `config.DB`: to give it another value is to change the module.
    is_part_of_module: bool,
}

/// Whether the file `at` has this name from the file `of`.
pub(super) fn has_name_of(set: &Set, at: usize, of: usize, wanted: &str) -> bool {
    !names_of(set, at, of, wanted, STEPS_MAX).is_empty()
}

/// The names that `wanted` of the file `of` has in the file `at`.
fn names_of(set: &Set, at: usize, of: usize, wanted: &str, steps: usize) -> Vec<Known> {
    let Some((member, source)) = set.members.get(at).and_then(|member| Some((member, member.source()?)))
    else {
        return vec![];
    };
    let mut all = Vec::new();
    let stars = source.star_imports().into_iter().map(|(module, line)| Import {
        name: wanted.to_owned(),
        module,
        part: wanted.to_owned(),
        line,
    });
    for import in source.imports().into_iter().chain(stars) {
        let whole = if import.module.ends_with('.') {
            format!("{}{}", import.module, import.part)
        } else {
            format!("{}.{}", import.module, import.part)
        };
        if import.part.is_empty() {
            if leads_to(set, member, &import.module, of, wanted, steps) {
                all.push(Known { name: format!("{}.{wanted}", import.name), is_part_of_module: true });
            }
        } else if import.part == wanted && leads_to(set, member, &import.module, of, wanted, steps) {
            all.push(Known { name: import.name, is_part_of_module: false });
        } else if leads_to(set, member, &whole, of, wanted, steps) {
            all.push(Known { name: format!("{}.{wanted}", import.name), is_part_of_module: true });
        }
    }
    all
}

/// Whether the name `wanted` of this module is the one of the file `of`: it is that file, or one that has the name
/// from there.
fn leads_to(set: &Set, from: &Member, module: &str, of: usize, wanted: &str, steps: usize) -> bool {
    let files = files_of(set, from, module);
    files.contains(&of)
        || (steps > 0
            && files.iter().any(|file| {
                names_of(set, *file, of, wanted, steps - 1).iter().any(|known| known.name == wanted)
            }))
}

/// The files that a module may be, where its program looks for it.
fn files_near(set: &Set, from: &Member, module: &str) -> Vec<usize> {
    files(set, from, module, false)
}

/// The files that a module may be. One that is not found by its whole name is looked for beside the file that loads
/// it: files that were collected lie in other folders than in their program.
fn files_of(set: &Set, from: &Member, module: &str) -> Vec<usize> {
    files(set, from, module, true)
}

fn files(set: &Set, from: &Member, module: &str, is_far_too: bool) -> Vec<usize> {
    let dots = module.chars().take_while(|c| *c == '.').count();
    let parts: Vec<&str> = module.split('.').filter(|part| !part.is_empty()).collect();
    let Some(last) = parts.last() else {
        // `from . import x`: the package itself.
        let folder = from.folder();
        let top = folder.len().checked_sub(dots.saturating_sub(1)).and_then(|end| folder.get(..end));
        let is_package =
            |member: &Member| member.file_name() == "__init__.py" && Some(member.folder()) == top;
        return set.members().filter(|(_, member)| is_package(member)).map(|(index, _)| index).collect();
    };
    let is_module = |member: &Member, folder: &[String]| {
        let file = member.file_name();
        (file == format!("{last}.py") && member.folder() == folder)
            || (file == "__init__.py" && member.folder().split_last() == Some((&(*last).to_owned(), folder)))
    };
    let inner: Vec<String> =
        parts.split_last().map_or(&[][..], |(_, rest)| rest).iter().map(|part| (*part).to_owned()).collect();
    let all = |is_it: &dyn Fn(&Member) -> bool| -> Vec<usize> {
        set.members()
            .filter(|(_, member)| member.form.id == "python" && !std::ptr::eq(*member, from) && is_it(member))
            .map(|(index, _)| index)
            .collect()
    };
    if dots > 0 {
        let folder = from.folder();
        let Some(top) = folder.len().checked_sub(dots - 1).and_then(|end| folder.get(..end)) else {
            return vec![];
        };
        let target = [top, &inner].concat();
        return all(&|member| is_module(member, &target));
    }
    // From any folder around the file that loads it, the nearest first.
    for end in (0..=from.folder().len()).rev() {
        let target = [from.folder().get(..end).unwrap_or_default(), &inner].concat();
        let found = all(&|member| is_module(member, &target));
        if !found.is_empty() {
            return found;
        }
    }
    if !is_far_too {
        return vec![];
    }
    all(&|member| {
        let (file, folder) = (member.file_name(), member.folder());
        let is_under = |folder: &[String]| inner.is_empty() || folder.ends_with(&inner);
        let is_last = file == format!("{last}.py") && is_under(folder);
        let is_beside = file == format!("{last}.py") && folder == from.folder();
        is_beside || (is_last && !inner.is_empty())
    })
}

/// `env.py` of Alembic connects, and asks `alembic.ini` for the URL, unless it has one of its own.
fn alembic(set: &Set, own: &Member, found: &mut ConnectionSettings) {
    let text = String::from_utf8_lossy(&own.bytes);
    let is_url = text
        .lines()
        .nth(found.line.saturating_sub(1))
        .is_some_and(|line| line.trim_start().starts_with("sqlalchemy.url"));
    if !is_url {
        return;
    }
    let others =
        || set.members().map(|(_, other)| other).filter(|other| other.file_name() == own.file_name());
    for (_, member) in set.members().filter(|(_, member)| member.form.id == "python") {
        let nearest = others().map(|other| other.common(member)).max().unwrap_or(0);
        let Some(source) = member.source().filter(|_| own.common(member) == nearest) else { continue };
        if !source.imports().iter().any(|import| import.module.split('.').next() == Some("alembic")) {
            continue;
        }
        if let Some((line, why)) = replaced(source) {
            return found.settings.push(member.obstacle(line, &why));
        }
    }
}

fn replaced(source: &Source) -> Option<(usize, String)> {
    const PLAIN: [&str; 8] = [
        "prefix",
        "poolclass",
        "future",
        "echo",
        "pool_pre_ping",
        "pool_recycle",
        "isolation_level",
        "url_prefix",
    ];
    let by_call = source.calls.iter().find_map(|call| {
        let last = name(call).rsplit('.').next().unwrap_or_default();
        let first = args(call).first().and_then(|arg| arg.text());
        let why = match last {
            "set_main_option" if first.is_none_or(|key| key == "sqlalchemy.url") => "it sets the URL itself",
            "set_section_option" => "it sets options of the connection itself",
            "create_engine" | "create_async_engine" => "it connects with a URL of its own",
            "engine_from_config" | "async_engine_from_config"
                if words(call).iter().any(|entry| !PLAIN.contains(&entry.key.as_str())) =>
            {
                "it gives the engine more than the URL"
            }
            _ => return None,
        };
        Some((call.line, format!("{why}: {}()", name(call))))
    });
    // `configuration["sqlalchemy.url"] = …`, `{"sqlalchemy.url": …}`
    let asked: Vec<usize> = source
        .calls
        .iter()
        .filter(|call| name(call).ends_with("get_main_option"))
        .map(|call| call.line)
        .collect();
    let by_key = source
        .mentions("sqlalchemy.url")
        .into_iter()
        .find(|mention| !asked.contains(&mention.line))
        .map(|mention| (mention.line, "it sets the URL itself".to_owned()));
    let by_tls = source
        .first_word(&|word| matches!(word, "connect_args" | "ssl" | "SSLContext") || word.starts_with("ssl."))
        .map(|line| (line, "it says something of TLS itself".to_owned()));
    [by_call, by_key, by_tls].into_iter().flatten().min()
}
