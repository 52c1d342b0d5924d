//! Java's `.properties`: Spring, Quarkus, and any other whose value is a JDBC URL. A YAML file of the same words is read by the same
//! rules ([`java`]).

use formats::settings::pairs::{self, Pair};

use super::{Form, Variables, ends};
use crate::config::{
    ConnectionSettings, Driver, Read, Setting, SettingValue, SettingsError, is_about_tls, obstacle, urls,
};

pub(super) const PROPERTIES: Form =
    Form { id: "properties", name: "a properties file", fits: |name| ends(name, &[".properties"]), read };

/// What a pool hands on to the driver, property by property, however it is written.
const HANDED_ON: [&str; 3] = ["datasourceproperties", "additionaljdbcproperties", "connectionproperties"];

/// Words of a data source, or of its pool, that say nothing about TLS.
const HARMLESS: [&str; 71] = [
    "url",
    "jdbcurl",
    "username",
    "user",
    "password",
    "name",
    "driverclassname",
    "driver",
    "platform",
    "type",
    "schema",
    "data",
    "initializationmode",
    "continueonerror",
    "separator",
    "sqlscriptencoding",
    "generateuniquename",
    "jndiname",
    "dbkind",
    "maximumpoolsize",
    "minimumidle",
    "idletimeout",
    "maxlifetime",
    "connectiontimeout",
    "validationtimeout",
    "leakdetectionthreshold",
    "connectiontestquery",
    "poolname",
    "autocommit",
    "readonly",
    "transactionisolation",
    "keepalivetime",
    "registermbeans",
    "allowpoolsuspension",
    "initializationfailtimeout",
    "isolateinternalqueries",
    "catalog",
    "maxactive",
    "maxidle",
    "minidle",
    "initialsize",
    "maxwait",
    "maxwaitmillis",
    "maxtotal",
    "testonborrow",
    "testwhileidle",
    "testonreturn",
    "validationquery",
    "validationinterval",
    "timebetweenevictionrunsmillis",
    "minevictableidletimemillis",
    "removeabandoned",
    "removeabandonedtimeout",
    "logabandoned",
    "jmxenabled",
    "maxage",
    "defaultautocommit",
    "defaulttransactionisolation",
    "maxsize",
    "minsize",
    "acquisitiontimeout",
    "idleremovalinterval",
    "backgroundvalidationinterval",
    "pool",
    "metrics",
    "metricsenabled",
    "health",
    "poolpreparedstatements",
    "maxopenpreparedstatements",
    "devservices",
    "devservicesenabled",
];

/// Pools whose words stand one level further in.
const POOLS: [&str; 8] =
    ["configuration", "hikari", "tomcat", "dbcp2", "oracleucp", "jdbc", "agroal", "c3p0"];

fn read(bytes: &[u8], _: &Variables) -> Result<Read, SettingsError> {
    let documents = pairs::documents(bytes)?;
    let mut read = Read::default();
    java(&documents, bytes, &mut read);
    Ok(read)
}

/// As Spring's relaxed binding does: neither case nor dashes count.
fn folded(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// What a key of another place may do to the data source behind `front`: nothing, where it is one of the words that say nothing about TLS.
fn speaks_of(front: &str, key: &str) -> bool {
    // Which URL, and by which driver, is more than a word beside them.
    const DECIDE: [&str; 6] = ["url", "jdbcurl", "jndiname", "driverclassname", "driver", "dbkind"];
    let (front, key) = (folded(front), folded(key));
    let Some(rest) = (!front.is_empty()).then(|| key.strip_prefix(&front)).flatten() else { return false };
    let mut words = rest.split('.').filter(|word| !POOLS.contains(word));
    match (words.next(), words.next()) {
        (Some(word), None) => DECIDE.contains(&word) || !HARMLESS.contains(&word),
        (None, _) => false,
        _ => true,
    }
}

/// Spring reads all files of these names that lie beside each other, and lays them over each other.
pub(in crate::config) fn is_of_spring(name: &str) -> bool {
    let stem = name.rsplit_once('.').filter(|(_, end)| matches!(*end, "properties" | "yml" | "yaml"));
    stem.is_some_and(|(stem, _)| {
        ["application", "bootstrap"].iter().any(|front| {
            stem.strip_prefix(front).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
    })
}

/// Whether a file of this name is laid under another that lies beside it: a profile's comes over the one of all.
pub(in crate::config) fn is_laid_under(name: &str, over: &str) -> bool {
    let stem = |name: &str| name.rsplit_once('.').map_or_else(String::new, |(stem, _)| stem.to_owned());
    // Of two profiles the order is not known.
    let stem_of_all = stem(name);
    matches!(stem_of_all.as_str(), "application" | "bootstrap")
        && stem(over).strip_prefix(&stem_of_all).is_some_and(|rest| rest.starts_with('-'))
}

/// The line of another of Spring's files that speaks of the data source of this connection; the file is read as far as it can be, and
/// one that cannot may speak of it.
pub(in crate::config) fn spoken_of(
    found: &ConnectionSettings,
    name: &str,
    bytes: &[u8],
    is_under: bool,
) -> Option<usize> {
    let front = front_of(&found.what);
    if front.is_empty() {
        return None;
    }
    let documents =
        if name.ends_with(".properties") { pairs::documents(bytes) } else { super::yaml::flat(bytes) };
    match documents {
        Ok(documents) => documents
            .iter()
            .flatten()
            .find(|pair| {
                // Of the same key the profile's counts.
                let is_covered = is_under && folded(&pair.key) == folded(&found.what);
                (speaks_of(&front, &pair.key) && !is_covered) || brings_more(&pair.key)
            })
            .map(|pair| pair.line),
        Err(error) => Some(error.line().unwrap_or(1)),
    }
}

/// `spring.config.import` and its like name other files, and come over this one.
fn brings_more(key: &str) -> bool {
    const KEYS: [&str; 4] = [
        "spring.config.import",
        "spring.config.location",
        "spring.config.additionallocation",
        "spring.cloud.config",
    ];
    let key = folded(key);
    KEYS.iter().any(|known| {
        key.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    })
}

/// The connections of all documents of a file, each with all that its pool is told besides. Of a URL that is no framework's
/// whatever `bytes` say about TLS anywhere may be for it.
pub(super) fn java(documents: &[Vec<Pair>], bytes: &[u8], read: &mut Read) {
    let anywhere = std::cell::OnceCell::new();
    for (index, pairs) in documents.iter().enumerate() {
        let mut counted = Vec::new();
        for (at, pair) in pairs.iter().enumerate() {
            // The last of several counts.
            let key = folded(&pair.key);
            if urls::found(&pair.value, pair.line, &pair.key).is_some()
                && pairs.iter().skip(at + 1).all(|other| folded(&other.key) != key)
            {
                counted.push(pair);
            }
            if counted.len() > crate::config::CONNECTIONS_MAX {
                break;
            }
        }
        for pair in counted {
            let Some(mut found) = urls::found(&pair.value, pair.line, &pair.key) else { continue };
            let front = front_of(&pair.key);
            beside(pair, &front, pairs, &mut found);
            if !is_of_framework(&front) {
                let doubt = || crate::config::beside::doubt(&String::from_utf8_lossy(bytes), &[]);
                found.settings.extend(anywhere.get_or_init(doubt).clone());
            }
            // A profile's document comes over what others say, or others over it.
            let is_other = |other: &&Pair| speaks_of(&front, &other.key);
            let others = documents.iter().enumerate().filter(|(other, _)| *other != index);
            if let Some(other) = others.flat_map(|(_, pairs)| pairs).find(is_other) {
                found.settings.push(obstacle(
                    other.line,
                    "another document of this file speaks of the same data source",
                ));
            }
            if let Some(other) = documents.iter().flatten().find(|pair| brings_more(&pair.key)) {
                found.settings.push(obstacle(other.line, "another file is read over this one"));
            }
            read.found.push(found);
        }
    }
}

/// Spring, Quarkus and Micronaut say what their data sources are made of, and it all stands behind the same front.
fn is_of_framework(front: &str) -> bool {
    let front = folded(front);
    let front = match front.split_once('.') {
        // A profile of Quarkus.
        Some((profile, rest)) if profile.starts_with('%') => rest,
        _ => &front,
    };
    ["spring.datasource.", "quarkus.datasource.", "datasources."].iter().any(|known| front.starts_with(known))
}

/// `spring.datasource.` of `spring.datasource.hikari.jdbc-url`.
fn front_of(key: &str) -> String {
    let mut parts: Vec<&str> = key.split('.').collect();
    parts.pop();
    while parts.last().is_some_and(|last| POOLS.contains(&folded(last).as_str())) {
        parts.pop();
    }
    if parts.is_empty() { String::new() } else { format!("{}.", parts.join(".")) }
}

/// What stands beside a URL and reaches the driver too.
fn beside(url: &Pair, front: &str, pairs: &[Pair], found: &mut ConnectionSettings) {
    // A data source of a framework has words of its own; of any other map only what sounds like TLS is one too many.
    let is_known = folded(front).contains("datasource");
    let folded_front = folded(front);
    for pair in pairs.iter().filter(|pair| pair.key != url.key && folded(&pair.key) != folded(&url.key)) {
        // The key in its own spelling behind the same number of dots.
        let depth = front.matches('.').count();
        let rest: Vec<&str> = pair.key.split('.').skip(depth).collect();
        let is_beside = folded(&pair.key).starts_with(&folded_front) && !rest.is_empty();
        if !is_beside {
            continue;
        }
        let own: &[&str] = match rest.split_first() {
            Some((pool, inner)) if POOLS.contains(&folded(pool).as_str()) && !inner.is_empty() => inner,
            _ => &rest,
        };
        let Some((first, inner)) = own.split_first() else { continue };
        let word = folded(first);
        if HANDED_ON.contains(&word.as_str()) {
            if !reaches_the_driver(&folded_front, rest.first().copied().unwrap_or_default(), &word, pairs) {
                let why = format!("whether the pool in use hands {} on is not known", shown(&pair.key));
                found.settings.push(obstacle(pair.line, &why));
            } else if inner.is_empty() {
                for part in pair.value.split([';', ',']).map(str::trim).filter(|part| !part.is_empty()) {
                    match part.split_once('=') {
                        Some((key, value)) => add(found, key.trim(), value.trim(), pair.line),
                        None => {
                            found.settings.push(obstacle(pair.line, "what the pool hands on is not read"));
                        }
                    }
                }
            } else {
                add(found, &inner.join("."), &pair.value, pair.line);
            }
            continue;
        }
        let is_harmless = HARMLESS.contains(&word.as_str())
            && (rest.len() == own.len() || !matches!(word.as_str(), "url" | "jdbcurl"));
        if is_known && (!is_harmless || (word == "jdbcurl" && folded(&url.key) != folded(&pair.key))) {
            found
                .settings
                .push(obstacle(pair.line, &format!("whether {} touches TLS is not known", shown(&pair.key))));
        } else if !is_known {
            let last = pair.key.rsplit('.').next().unwrap_or_default();
            let hands_on =
                ["propert", "param", "option", "args"].iter().any(|part| folded(last).contains(part));
            if is_about_tls(last)
                || hands_on
                || own
                    .iter()
                    .any(|part| ["propert", "option", "param"].iter().any(|word| folded(part).contains(word)))
            {
                found.settings.push(obstacle(
                    pair.line,
                    &format!("{} may be handed to the driver too", shown(&pair.key)),
                ));
            }
        }
    }
}

/// Whether properties under this word are handed on: by the pool that is in use, and at the level where it looks for them. Spring
/// takes Hikari unless `type` names another pool.
fn reaches_the_driver(front: &str, pool: &str, word: &str, pairs: &[Pair]) -> bool {
    if front.starts_with("spring.datasource.") {
        let has_type = pairs.iter().any(|pair| folded(&pair.key) == format!("{front}type"));
        return folded(pool) == "hikari" && word == "datasourceproperties" && !has_type;
    }
    // Quarkus and Micronaut.
    match word {
        "additionaljdbcproperties" => front.contains("quarkus.datasource.") && folded(pool) == "jdbc",
        "datasourceproperties" => front.starts_with("datasources."),
        _ => false,
    }
}

fn shown(key: &str) -> &str {
    if key.len() <= 80 && key.chars().all(|c| c.is_ascii_alphanumeric() || "._-[]".contains(c)) {
        key
    } else {
        "a key beside it"
    }
}

/// One more property. Whether it or the URL counts is another matter with each driver.
fn add(found: &mut ConnectionSettings, key: &str, value: &str, line: usize) {
    let is_same = |setting: &&Setting| setting.key.eq_ignore_ascii_case(key);
    if let Some(other) = found.settings.iter().find(is_same) {
        if other.given != SettingValue::Text(value.to_owned()) {
            found.settings.push(obstacle(line, &format!("{} stands in the URL and beside it", shown(key))));
        }
        return;
    }
    if matches!(found.driver, Driver::Family("connector-j" | "mariadb-connector-j") | Driver::Unknown { .. })
    {
        found.settings.push(Setting::new(key, SettingValue::Text(value.to_owned()), line));
    } else {
        found.settings.push(obstacle(line, "properties stand beside a URL of another kind"));
    }
}
