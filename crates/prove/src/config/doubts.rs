//! What in a file may change a connection from afar, so that what stands at the connection itself says nothing for certain: hooks,
//! functions that are put in place of a driver's, names that are written with escapes. Seen with real drivers by an outsider.
//!
//! Each is looked for as text, anywhere in the file: what is found in a remark costs an `unknown`, and nobody is assured falsely.

use super::{ConnectionSettings, Driver, obstacle, shadows};

/// One word, and why it is a reason.
struct Doubt {
    /// Forms that it is looked for in; empty: all that are code.
    forms: &'static [&'static str],
    word: &'static str,
    why: &'static str,
}

const NODE: &[&str] = &["javascript"];
const PHP: &[&str] = &["php"];
const PYTHON: &[&str] = &["python"];

/// What switches certificate verification off for a whole Node program, wherever it is set.
pub const NODE_SWITCH: &str = "NODE_TLS_REJECT_UNAUTHORIZED";

const HANDED: &str = "all names of the file may be changed through it";
const LOADER: &str = "what a module is may be changed";
const PROTOTYPE: &str = "every object may be given options through it";
const DEAD: &str = "what stands under it never runs";

const DOUBTS: [Doubt; 36] = [
    Doubt { forms: NODE, word: "connectionSettings", why: "the options may be changed later" },
    Doubt { forms: NODE, word: "Object.prototype", why: PROTOTYPE },
    Doubt { forms: NODE, word: "__proto__", why: PROTOTYPE },
    Doubt { forms: NODE, word: "etPrototypeOf", why: PROTOTYPE },
    Doubt { forms: NODE, word: "._load", why: LOADER },
    Doubt { forms: NODE, word: "._extensions", why: LOADER },
    Doubt { forms: NODE, word: "._resolveFilename", why: LOADER },
    Doubt { forms: NODE, word: "._compile", why: LOADER },
    Doubt { forms: NODE, word: "require.cache", why: LOADER },
    Doubt { forms: NODE, word: "if (false)", why: DEAD },
    Doubt { forms: PHP, word: "if (false)", why: DEAD },
    Doubt { forms: PHP, word: "$$", why: "variables may be changed by their names" },
    Doubt { forms: PHP, word: "class_alias", why: "a class may have the name of another" },
    Doubt { forms: PYTHON, word: "if False", why: DEAD },
    Doubt { forms: PYTHON, word: "if 0:", why: DEAD },
    Doubt { forms: PYTHON, word: "sys.modules", why: LOADER },
    Doubt { forms: PYTHON, word: "inspect.", why: HANDED },
    Doubt { forms: PYTHON, word: "_getframe", why: HANDED },
    Doubt { forms: PYTHON, word: "setattr(", why: "a function of a module may be another one" },
    Doubt { forms: PYTHON, word: "globals", why: HANDED },
    Doubt { forms: PYTHON, word: "__dict__", why: HANDED },
    Doubt { forms: PYTHON, word: "__builtins__", why: HANDED },
    Doubt { forms: PYTHON, word: "import builtins", why: HANDED },
    Doubt {
        forms: NODE,
        word: NODE_SWITCH,
        why: "it decides for the whole program whether certificates are verified",
    },
    Doubt { forms: NODE, word: "process.env[", why: "what it sets in the environment may be anything" },
    Doubt { forms: NODE, word: "checkServerIdentity", why: "the name check may be another function" },
    Doubt { forms: NODE, word: "beforeConnect", why: "a hook may change the options" },
    Doubt { forms: NODE, word: "addHook", why: "a hook may change the options" },
    Doubt { forms: NODE, word: "connectionManager", why: "the options may be changed later" },
    Doubt { forms: NODE, word: "connectionConfig", why: "the options may be changed later" },
    Doubt { forms: PHP, word: "$GLOBALS", why: "variables may be changed by their names" },
    Doubt { forms: PHP, word: "${", why: "variables may be changed by their names" },
    Doubt { forms: PHP, word: "class PDO", why: "PDO is a class of this file" },
    Doubt { forms: PHP, word: "class mysqli", why: "mysqli is a class of this file" },
    Doubt { forms: &[], word: "\\u", why: "a name may be written with escapes" },
    Doubt { forms: &[], word: "\\x", why: "a name may be written with escapes" },
];

/// Forms in which names are written with escapes.
const CODE: [&str; 6] = ["javascript", "json", "python", "php", "ruby", "source"];

/// The line of the byte.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(1, |before| before.matches('\n').count() + 1)
}

/// The first reason why nothing in this file is certain, with its line.
pub fn of_file(form: &str, text: &str) -> Option<(usize, String)> {
    if !CODE.contains(&form) {
        return None;
    }
    let found = DOUBTS
        .iter()
        .filter(|doubt| doubt.forms.is_empty() || doubt.forms.contains(&form))
        .filter_map(|doubt| Some((text.find(doubt.word)?, doubt.why.to_owned())));
    let of_form = match form {
        "javascript" => [
            put_in_place(text),
            hoisted(text),
            two_dialects(text),
            set_later(text),
            shadows::of_a_module(text),
        ]
        .into_iter()
        .flatten()
        .min(),
        "php" => [spread_of_numbers(text), shadows::of_php(text)].into_iter().flatten().min(),
        "python" => [nothing_in_place_of_a_url(text), names_handed_on(text)].into_iter().flatten().min(),
        "source" => [shadows::of_java(text), shadows::of_go(text)].into_iter().flatten().min(),
        _ => None,
    };
    found.chain(of_form).min().map(|(at, why)| (line_of(text, at), why))
}

/// What concerns one connection and not the others of its file.
pub fn of_connection(form: &str, text: &str, found: &mut ConnectionSettings) {
    if form == "python"
        && found.driver == Driver::Family("mysqlclient")
        && let Some(at) = text.find("install_as_MySQLdb")
    {
        let line = line_of(text, at);
        found.settings.push(obstacle(line, &format!("line {line} puts PyMySQL in the place of MySQLdb")));
    }
}

fn is_word(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
}

/// Where a whole word stands.
pub(super) fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let bytes = text.as_bytes();
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        !is_word(before) && !is_word(bytes.get(at + word.len()).copied())
    })
}

/// `mysql.createPool = …`
fn put_in_place(text: &str) -> Option<(usize, String)> {
    let places = [".createPool", ".createConnection", ".createPoolCluster", ".connect", ".getConnection"];
    places.iter().find_map(|place| {
        text.match_indices(place).find_map(|(at, _)| {
            let rest = text.get(at + place.len()..)?.trim_start();
            let is_set = rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>");
            is_set.then(|| (at, "a function of the driver is put in its place".to_owned()))
        })
    })
}

/// `connection.config.ssl = null`: what a connection was made with can be changed before it connects.
fn set_later(text: &str) -> Option<(usize, String)> {
    let is_it = |&at: &usize| {
        let bytes = text.as_bytes();
        let of = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        let rest = text.get(at + ".config".len()..).unwrap_or_default();
        let is_name =
            [".js", ".ts", ".mjs", ".cjs", ".json", "'", "\"", "`"].iter().any(|end| rest.starts_with(end));
        // `require('dotenv').config()` is a function.
        !is_word(rest.bytes().next())
            && !is_name
            && !rest.starts_with('(')
            && (is_word(of) || matches!(of, Some(b')' | b'?' | b']')))
    };
    let mut all = text.match_indices(".config").map(|(at, _)| at);
    all.find(is_it).map(|at| (at, "the options may be changed later".to_owned()))
}

/// A `var` has no value yet where it is used before it is set: in the text, or by a function that is called before.
fn hoisted(text: &str) -> Option<(usize, String)> {
    let identifier = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    };
    let named = |keyword: &'static str| {
        words(text, keyword).filter_map(move |at| {
            let rest = text.get(at + keyword.len()..)?;
            let start = at + keyword.len() + (rest.len() - rest.trim_start().len());
            let name = identifier(start);
            (!name.is_empty()).then_some((start, name))
        })
    };
    // A function that is called in front of its own text.
    let called_early: Vec<usize> =
        named("function").filter_map(|(at, name)| words(text, name).find(|&call| call < at)).collect();
    named("var").find_map(|(at, name)| {
        let is_early = words(text, name).next().is_some_and(|first| first < at);
        let runs_early =
            called_early.iter().any(|call| *call < at) && words(text, name).any(|use_at| use_at > at);
        (is_early || runs_early).then(|| (at, "a var may be used before it is set".to_owned()))
    })
}

/// Sequelize takes the scheme of a URL and not the dialect beside it.
fn two_dialects(text: &str) -> Option<(usize, String)> {
    let at = text.find("Sequelize")?;
    let says = |scheme: &str, dialect: &str| {
        text.contains(scheme)
            && [format!("'{dialect}'"), format!("\"{dialect}\"")].iter().any(|word| text.contains(word))
    };
    (says("mysql://", "mariadb") || says("mariadb://", "mysql"))
        .then(|| (at, "the URL and the dialect name two drivers".to_owned()))
}

/// `[...$defaults]` numbers the keys anew, and PDO's options are numbers.
fn spread_of_numbers(text: &str) -> Option<(usize, String)> {
    let at = text.find("...")?;
    text.contains("PDO::").then(|| (at, "a spread numbers PDO's options anew, so they are lost".to_owned()))
}

/// `connect_args={'ssl': None}` counts over what a URL says.
fn nothing_in_place_of_a_url(text: &str) -> Option<(usize, String)> {
    if !text.contains("create_engine") && !text.contains("create_async_engine") {
        return None;
    }
    words(text, "None").next().map(|at| (at, "a None in the arguments counts over the URL".to_owned()))
}

/// `helper.settings(locals())`, `helper.settings(__name__)`: somebody else may change every name of the file.
fn names_handed_on(text: &str) -> Option<(usize, String)> {
    // What takes the name of a module for a name, and nothing else.
    const TAKERS: [&str; 7] =
        ["getLogger", "get_logger", "Flask", "Blueprint", "Celery", "getChild", "files"];
    let all = ["locals", "vars"].iter().flat_map(|word| words(text, word)).filter(|at| {
        let rest = text.get(*at..).unwrap_or_default();
        rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start().starts_with('(')
    });
    let modules = words(text, "__name__").filter(|at| {
        let before = text.get(..*at).unwrap_or_default().trim_end();
        let rest = text.get(at + "__name__".len()..).unwrap_or_default().trim_start();
        let is_compared = rest.starts_with("==") || before.ends_with("==");
        let is_taken =
            TAKERS.iter().any(|taker| before.strip_suffix('(').is_some_and(|call| call.ends_with(taker)));
        !is_compared && !is_taken && !before.ends_with('.')
    });
    all.chain(modules).min().map(|at| (at, HANDED.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of an outsider that were said to be safe, and whose drivers spoke cleartext or took any certificate.
    #[test]
    fn what_works_from_afar_is_a_doubt() {
        let check = |form: &str, text: &str| assert!(of_file(form, text).is_some(), "{form}: {text}");
        check("javascript", "const { env } = process; env.NODE_TLS_REJECT_UNAUTHORIZED ||= '0';");
        check("javascript", "require('tls').checkServerIdentity = () => undefined;");
        check("javascript", "const o = m.createPool; m.createPool = (x) => o({ ...x, ssl: undefined });");
        check("javascript", "s.addHook('beforeConnect', (c) => { delete c.ssl; });");
        check("javascript", "pool.pool.config.connectionConfig.ssl = false;");
        check("javascript", "const c = m.createConnection({ ssl });\nc.config.ssl = null;");
        check("javascript", "const k = m.createPool({ ssl }).pool.config;");
        check("javascript", "module.exports = m.createPool({ ssl });\nvar ssl = { verifyIdentity: true };");
        check(
            "javascript",
            "const p = open();\nvar ssl = { ca };\nfunction open() { return m.createPool({ ssl }); }",
        );
        check("javascript", "createPool({ ssl: {}, s\\u0073l: null })");
        check("javascript", "new Sequelize('mysql://h/d', { dialect: 'mariadb' })");
        check("json", "{\"ssl\": true, \"\\u0073sl\": null}");
        check("python", "create_engine('mysql+pymysql://h/d?ssl_ca=x', connect_args={'ssl': None})");
        check("python", "pymysql.connect(**{'ssl': {}, '\\x73sl': None})");
        check("php", "new PDO($d, $u, $p, [...$defaults]); PDO::MYSQL_ATTR_SSL_CA;");
        check("php", "$GLOBALS['o'] = [];");
        check("php", "${'o'} = [];");
        check("php", "class PDO extends \\PDO {}");
        check("php", "$n = 'o'; $$n = [];");
        check("php", "<?php\nnamespace A;\n$p = new PDO($d);");
        check("php", "<?php\nuse A\\PDO;\n$p = new PDO($d);");
        check("php", "<?php\nuse A\\P as PDO;\n$p = new PDO($d);");
        check("php", "<?php\nnamespace A;\nmysqli_ssl_set($l, null, null, '/ca', null, null);");
        check("javascript", "Object.prototype.verifyIdentity = false;");
        check("javascript", "Object.assign(require('tls'), o);");
        check("javascript", "const t = require('tls'); Object.assign(t, o);");
        check("javascript", "M._load = (n) => shim;");
        check("python", "import h\nh.settings(locals(), logging=False)\n");
        check("python", "import h\nh.configure(__name__)\n");
        check("python", "setattr(ssl, 'create_default_context', f)\n");
        check("python", "if False:\n    connect()\n");
        check("source", "class DriverManager {}\nDriverManager.getConnection(\"u\");");
        check("source", "import a.b.DriverManager;\nDriverManager.getConnection(\"u\");");
        check("source", "import (\n\td \"database/sql\"\n)\nvar sql o\nfunc f() { sql.Open(\"mysql\", x) }");
        check("source", "import \"database/sql\"\nfunc init() { sql.Register(\"m\", t{}) }");
    }

    #[test]
    fn ordinary_files_are_read() {
        let check = |form: &str, text: &str| assert_eq!(of_file(form, text), None, "{text}");
        check(
            "javascript",
            "var mysql = require('mysql');\nvar c = mysql.createConnection({ ssl: {} });\nc.connect(function (err) {});",
        );
        check("javascript", "const pool = mysql.createPool({ ssl: { ca } });\nfunction q() { return pool; }");
        check(
            "javascript",
            "require('dotenv').config();\nconst c = require('./db.config');\nimport d from './db.config.js';\nx.configure();",
        );
        check("php", "$pdo = new PDO($dsn, $u, $p, [PDO::MYSQL_ATTR_SSL_CA => '/ca.pem']);");
        check("python", "conn = pymysql.connect(ssl={'ca': '/ca.pem'}, database=None)");
        check("properties", "a=\\u0073sl");
        check("php", "<?php\nnamespace App;\nuse PDO;\n$p = new PDO($d, $u, $p);");
        check("php", "<?php\nnamespace App;\n$p = new \\PDO($d, $u, $p);\n$f = function () use ($pdo) {};");
        check("python", "log = logging.getLogger(__name__)\nif __name__ == '__main__':\n    main()\n");
        check("source", "import java.sql.DriverManager;\nDriverManager.getConnection(\"u\");");
        check("source", "import (\n\t\"database/sql\"\n)\nfunc f() { sql.Open(\"mysql\", x) }");
    }
}
