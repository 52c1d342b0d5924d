//! Laravel: `config/database.php` says what reaches PDO, and asks the `.env` beside it for values.
//!
//! # Source
//! `Illuminate\Foundation\Bootstrap\LoadEnvironmentVariables`: one file is loaded, `.env`, or `.env.NAME` where
//! `APP_ENV` is set from outside; a variable that the process has already is not replaced.

use formats::settings::code::Variables;

use super::{Member, Set, Standing};
use crate::config::{ConnectionSettings, Style, is_about_tls};

const FILE: &str = "database.php";

/// The environment of a `config/database.php`, where it is known.
pub(super) fn variables(set: &Set, php: &Member) -> Option<Variables> {
    let [env] = environments(set, php)[..] else { return None };
    let mut pairs = env.pairs();
    let mut is_whole = true;
    // What a container or a service sets comes over the file.
    for name in asked_for(&php.bytes).iter().filter(|name| decides(name)) {
        let is_set = |member: &Member| {
            matches!(member.form.id, "yaml" | "systemd" | "text" | "json")
                && crate::config::doubts::words(&String::from_utf8_lossy(&member.bytes), name)
                    .next()
                    .is_some()
        };
        if set.members().any(|(_, member)| is_set(member)) {
            pairs.retain(|pair| pair.key != *name);
            is_whole = false;
        }
    }
    Some(Variables { pairs, is_whole, ..Variables::default() })
}

/// Of a `.env` of Laravel what its `config/database.php` makes of it.
pub(super) fn look(set: &Set, index: usize, found: &mut ConnectionSettings) -> Option<Standing> {
    let env = set.members.get(index)?;
    let is_laravel = found.style == Style::Env;
    let is_url = matches!(found.what.as_str(), "DB_URL" | "DATABASE_URL");
    if env.form.id != "env" || !(is_laravel || is_url) {
        return None;
    }
    let (_, php) = set.members().find(|(_, php)| is_of(env, php))?;
    let read = set.read(&php.name, &php.bytes).ok().map(|(_, read)| read);
    let decides = read.as_ref().and_then(|read| read.found.first());
    let all = environments(set, php);
    let is_loaded = matches!(all[..], [only] if std::ptr::eq(only, env)) || env.is_example();
    match decides {
        Some(own) if is_loaded && (is_laravel || own.obstacle().is_none()) => {
            Some(Standing::Elsewhere(format!(
                "{}: {}:{} takes it, and decides what PDO is given; it is judged there",
                found.what, php.name, own.line
            )))
        }
        Some(own) if is_laravel => {
            found.settings.push(php.obstacle(
                own.line,
                "which environment file is loaded is not known, and PDO is given what stands there",
            ));
            Some(Standing::Judged)
        }
        None if is_laravel => {
            found.settings.push(php.obstacle(1, "it decides what PDO is given, and cannot be read"));
            Some(Standing::Judged)
        }
        _ => None,
    }
}

/// The environment files that this program may load.
fn environments<'a>(set: &'a Set, php: &Member) -> Vec<&'a Member> {
    // Tests have a file of their own, and nothing else loads it.
    let is_of_tests = |env: &Member| [".env.testing", ".env.dusk.local"].contains(&env.file_name());
    let all = set.members().map(|(_, env)| env);
    all.filter(|env| is_of(env, php) && !env.is_example() && !is_of_tests(env)).collect()
}

/// Whether they are of one program: `.env` lies beside `config/`, or both in one folder.
fn is_of(env: &Member, php: &Member) -> bool {
    let folder = php.folder();
    let is_beside = env.folder() == folder
        || folder.split_last().is_some_and(|(last, root)| last == "config" && env.folder() == root);
    php.file_name() == FILE
        && php.form.id == "php"
        && env.form.id == "env"
        && is_beside
        && env.pairs().iter().any(|pair| pair.key.starts_with("DB_"))
}

/// The names in `env('…')`.
fn asked_for(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut all: Vec<String> = text
        .match_indices("env(")
        .filter_map(|(at, call)| {
            let rest = text.get(at + call.len()..)?.trim_start();
            let inner = rest.strip_prefix(['\'', '"'])?;
            Some(inner.split(['\'', '"']).next()?.to_owned())
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Whether a variable may say something of TLS.
fn decides(name: &str) -> bool {
    let is_part = |part: &str| name.split('_').any(|word| word == part);
    is_about_tls(name) || ["CA", "URL", "OPTIONS"].iter().any(|part| is_part(part))
}
