//! What a program does to a driver or to a connection besides giving it settings: a module that is loaded for what it does, a call of
//! a module of the project's own whose result nobody takes, an object that is changed or handed on after it was made. What
//! those do stands in other files, so nothing of this one is certain.

use std::collections::HashSet;

use formats::settings::code::{Import, Source, Touch};
use formats::settings::{Node, Value};

use super::nodes::name;

/// Modules that people load, none of which changes a driver: those of Python itself, drivers, and what stands around them. A module
/// of the project's own may.
const PYTHON: &str = "__future__ abc argparse array ast asyncio atexit base64 bisect calendar collections concurrent configparser \
    contextlib contextvars copy csv dataclasses datetime decimal enum errno faulthandler fnmatch functools getpass glob gzip hashlib hmac html http \
    importlib io ipaddress itertools json locale logging math mimetypes multiprocessing numbers operator os pathlib pickle platform \
    pprint queue random re secrets select shlex shutil signal smtplib socket sqlite3 ssl statistics string struct subprocess sys tempfile \
    textwrap threading time timeit traceback types typing unicodedata unittest urllib uuid warnings weakref xml zipfile zlib zoneinfo \
    typing_extensions \
    pymysql MySQLdb mysql aiomysql asyncmy cymysql mariadb cryptography certifi sqlalchemy sqlmodel alembic databases records pandas numpy \
    django environ environs decouple dotenv dj_database_url sentry_sdk celery kombu corsheaders rest_framework structlog loguru boto3 \
    botocore ldap django_auth_ldap flask flask_sqlalchemy flask_migrate fastapi starlette uvicorn pydantic pydantic_settings attr attrs \
    yaml toml tomllib tomli requests httpx redis click typer rich tqdm pytest tenacity";

/// Modules of Node that are loaded for what they do, which is nothing to a driver.
const NODE: [&str; 6] = [
    "dotenv",
    "dotenv/config",
    "dotenv-flow/config",
    "reflect-metadata",
    "source-map-support/register",
    "server-only",
];

/// Whether a module of Python is one that leaves drivers alone.
pub(super) fn is_known_to_python(module: &str) -> bool {
    let root = module.split('.').next().unwrap_or_default();
    !root.is_empty() && PYTHON.split_whitespace().any(|known| known == root)
}

/// An object that connects, and how.
pub(super) struct Object {
    /// As it is called in the file.
    pub(super) name: String,
    /// It is an engine or a pool, whose `connect()` is how one gets a connection.
    pub(super) is_engine: bool,
}

/// The names of what the calls on these lines made.
pub(super) fn objects(source: &Source, is_made: &dyn Fn(&Node) -> bool) -> Vec<Object> {
    let by_name = source
        .assigned
        .iter()
        .filter(|entry| matches!(entry.node.value, Value::Call { .. }) && is_made(&entry.node))
        .map(|entry| (entry.key.clone(), name(&entry.node)));
    let by_as = source
        .calls
        .iter()
        .enumerate()
        .filter(|(_, call)| is_made(call))
        .filter_map(|(index, call)| Some((source.bound_by_as(index)?.to_owned(), name(call))));
    by_name
        .chain(by_as)
        .map(|(name, called)| Object { name, is_engine: called.ends_with("engine") })
        .collect()
}

type Reason = (usize, String);

/// Of Python.
pub(super) fn of_python(source: &Source, imports: &[Import], objects: &[Object]) -> Option<Reason> {
    let unknown: Vec<&Import> = imports.iter().filter(|import| !is_known_to_python(&import.module)).collect();
    let root = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let roots: HashSet<String> = unknown.iter().map(|import| root(&import.name)).collect();
    // `import x` and nothing else with that name.
    let unused = unknown.iter().find(|import| {
        let own = root(&import.name);
        let bound = imports.iter().filter(|other| root(&other.name) == own).count();
        // A name that is only in its own import.
        let of_module = usize::from(root(&import.module) == own && !import.part.is_empty());
        source.places_of(&own) <= bound + of_module
    });
    let unused = unused.map(|import| (import.line, "it is loaded for what it does alone".to_owned()));
    let ran = source.calls.iter().enumerate().find(|(index, call)| {
        let called = name(call);
        roots.contains(&root(called)) && !only_logs(called) && source.is_statement(*index)
    });
    let ran = ran.map(|(_, call)| (call.line, format!("what {}() does is not in this file", name(call))));
    let handed = handed_on(source, objects, &|called| roots.contains(&root(called)));
    let changed = objects.iter().find_map(|object| {
        let touched = source.touches(&object.name);
        let touch = touched.iter().find(|touch| changes(touch, object.is_engine))?;
        Some((touch.line, format!("{} is changed after it was made", object.name)))
    });
    [unused, ran, handed, changed].into_iter().flatten().min()
}

/// Of JavaScript, where only files of the project are other files of it.
pub(super) fn of_javascript(source: &Source, imports: &[Import], objects: &[Object]) -> Option<Reason> {
    let is_own = |module: &str| module.starts_with(['.', '/', '~', '#']) || module.starts_with("@/");
    let loaded = source.loaded_for_effect();
    let loaded = loaded.iter().find(|(module, _)| !NODE.contains(&module.as_str()));
    let loaded = loaded.map(|(_, line)| (*line, "it is loaded for what it does alone".to_owned()));
    let is_own_function = |called: &str| {
        let root = called.split('.').next().unwrap_or_default();
        called.strip_prefix("require ").is_some_and(is_own)
            || imports.iter().any(|import| import.name == root && is_own(&import.module))
    };
    let handed = handed_on(source, objects, &is_own_function);
    // `pool.query = promisify(pool.query)` is what people write.
    let is_promise = |touch: &Touch| {
        source.assigned.iter().any(|entry| {
            entry.line == touch.line
                && name(&entry.node)
                    .rsplit('.')
                    .next()
                    .is_some_and(|last| matches!(last, "promisify" | "bind"))
        })
    };
    let changed = objects.iter().find_map(|object| {
        let touched = source.touches(&object.name);
        let touch = touched.iter().find(|touch| touch.is_set && !is_promise(touch))?;
        Some((touch.line, format!("a part of {} is set after it was made", object.name)))
    });
    [loaded, handed, changed].into_iter().flatten().min()
}

fn handed_on(source: &Source, objects: &[Object], is_own: &dyn Fn(&str) -> bool) -> Option<Reason> {
    objects.iter().find_map(|object| {
        let given = source.calls_given(&object.name);
        let (line, _) = given.iter().find(|(_, called)| is_own(called))?;
        Some((*line, format!("{} is handed on to what may change it", object.name)))
    })
}

/// A line in a log changes nothing.
fn only_logs(called: &str) -> bool {
    let last = called.rsplit('.').next().unwrap_or_default();
    called.contains('.')
        && matches!(last, "debug" | "info" | "warning" | "warn" | "error" | "exception" | "critical" | "log")
}

/// What gives a connection other options, or makes it connect once more.
fn changes(touch: &Touch, is_engine: bool) -> bool {
    const HARMLESS: [&str; 4] = [".autocommit", ".time_zone", ".sql_mode", ".row_factory"];
    if touch.is_set {
        return !HARMLESS.contains(&touch.rest.as_str());
    }
    touch.is_call
        && (matches!(
            touch.rest.as_str(),
            ".config" | ".reconnect" | ".set_config" | ".__init__" | ".add_connection" | ".cmd_change_user"
        ) || (touch.rest == ".connect" && !is_engine))
}
