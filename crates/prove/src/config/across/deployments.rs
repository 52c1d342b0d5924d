//! Deployments in which one file is laid over another: drop-ins of systemd, override files of compose, overlays of
//! Kubernetes, and variables or arguments that come over Spring's own files.

use formats::settings::pairs::{self, Unit};
use formats::settings::{HOLE, Node, yaml};

use super::{Member, Set};
use crate::config::{ConnectionSettings, Setting, Style, obstacle};

/// Obstacles of the files that are laid over this connection's.
pub(super) fn look(set: &Set, index: usize, found: &mut ConnectionSettings) {
    let Some(own) = set.members.get(index) else { return };
    let others = || set.members().filter(move |(other, _)| *other != index).map(|(_, member)| member);
    let over = match own.form.id {
        "systemd" => others().find_map(|other| systemd(own, other, found)),
        "yaml" if is_of_compose(own) => others().find_map(|other| compose(own, other, found)),
        "yaml" if found.style == Style::Query => kubernetes(set, own, found),
        _ => None,
    };
    found.settings.extend(over);
    if crate::config::is_of_spring(own.file_name()) {
        let over = others().find_map(|other| spring(other, found));
        found.settings.extend(over);
    }
}

/// The unit that a file is of, and the name of the drop-in where it is one.
fn unit_of(member: &Member) -> (&str, &str) {
    if let Some(unit) = member.folder().last().and_then(|folder| folder.strip_suffix(".d")) {
        return (unit, member.file_name());
    }
    (member.file_name(), "")
}

/// # Source
/// systemd.unit(5): drop-ins are read behind their unit, in the order of their names; systemd.exec(5):
/// `EnvironmentFile=` comes over `Environment=`, wherever either stands.
fn systemd(own: &Member, other: &Member, found: &ConnectionSettings) -> Option<Setting> {
    let (unit, drop_in) = unit_of(own);
    let (other_unit, other_drop_in) = unit_of(other);
    if unit != other_unit || other.form.id != "systemd" {
        return None;
    }
    let said: Unit = pairs::unit(&other.bytes).ok()?;
    if let Some((_, line)) = said.files.first() {
        return Some(other.obstacle(*line, "the file that is named there may set it again"));
    }
    if other_drop_in <= drop_in {
        return None;
    }
    if let Some(line) = said.unset {
        return Some(other.obstacle(line, "variables are taken away there"));
    }
    if let Some(pair) = said.environment.iter().find(|pair| pair.key == found.what) {
        return Some(other.obstacle(pair.line, "this drop-in sets it again"));
    }
    let text = String::from_utf8_lossy(&other.bytes);
    let cleared = text.lines().position(|line| line.replace(' ', "") == "Environment=");
    cleared.map(|at| other.obstacle(at + 1, "this drop-in takes back what was set"))
}

fn is_of_compose(member: &Member) -> bool {
    let name = member.file_name();
    member.form.id == "yaml" && (name.starts_with("compose.") || name.starts_with("docker-compose."))
}

/// `compose.yml`, `docker-compose.yaml`: what others are laid over.
fn is_base_of_compose(member: &Member) -> bool {
    member.file_name().matches('.').count() == 1
}

/// Of one service and one variable the later file counts, and that is never the base.
fn compose(own: &Member, other: &Member, found: &ConnectionSettings) -> Option<Setting> {
    if !is_of_compose(other)
        || other.folder() != own.folder()
        || !is_base_of_compose(own)
        || is_base_of_compose(other)
    {
        return None;
    }
    let mut keys = found.what.split('.').skip(1);
    let (service, variable) = (keys.next()?, found.what.rsplit('.').next()?);
    let documents = yaml::read(&other.bytes).ok()?;
    documents.iter().find_map(|document| {
        let service = document.get("services")?.get(service)?;
        let line = sets_variable(service.get("environment")?, variable)?;
        Some(other.obstacle(line, "this file is laid over it, and sets it again"))
    })
}

/// Where a map or a list of variables has this one.
fn sets_variable(environment: &Node, variable: &str) -> Option<usize> {
    let by_key = environment.entries().iter().find(|entry| entry.key == variable).map(|entry| entry.line);
    by_key.or_else(|| {
        let is_it = |item: &&Node| {
            item.text().is_some_and(|text| text.split('=').next() == Some(variable))
                || item.get("name").and_then(Node::text) == Some(variable)
        };
        environment.items().iter().find(is_it).map(|item| item.line)
    })
}

/// What an object is called: its kind and its name.
fn object(document: &Node) -> Option<(&str, &str)> {
    Some((document.get("kind")?.text()?, document.get("metadata")?.get("name")?.text()?))
}

/// The line on which any environment under this node has the variable.
fn anywhere(node: &Node, variable: &str) -> Option<usize> {
    let mut line = None;
    node.walk(&mut |keys, node| {
        if matches!(keys.last(), Some(&("env" | "data" | "stringData"))) && line.is_none() {
            line = sets_variable(node, variable);
        }
    });
    line
}

/// # Source
/// Kubernetes, `envFrom`: "values defined by an Env with a duplicate key will take precedence". Kustomize lays a patch
/// of the same kind and name over its base.
fn kubernetes(set: &Set, own: &Member, found: &ConnectionSettings) -> Option<Setting> {
    let variable = found.what.rsplit('.').next()?;
    let documents = yaml::read(&own.bytes).ok()?;
    let document = documents.iter().rev().find(|document| document.line <= found.line)?;
    let (kind, name) = object(document)?;
    let all = set.members().map(|(_, member)| member).filter(|member| member.form.id == "yaml");
    let is_map = matches!(kind, "ConfigMap" | "Secret");
    for member in all {
        let is_other = !std::ptr::eq(member, own);
        // To read each file for each connection is too much.
        let text = String::from_utf8_lossy(&member.bytes);
        if !text.contains(name) || !text.contains(variable) {
            continue;
        }
        for other in yaml::read(&member.bytes).unwrap_or_default() {
            let is_same = object(&other) == Some((kind, name));
            if is_same
                && is_other
                && !is_laid_over(own, member)
                && let Some(line) = anywhere(&other, variable)
            {
                return Some(member.obstacle(line, "another file says this of the same object"));
            }
            if is_map && let Some(line) = taken_and_set(&other, name, variable) {
                let why = "the container that takes this sets the variable itself";
                let own_obstacle = obstacle(line, why);
                return Some(if is_other { member.obstacle(line, why) } else { own_obstacle });
            }
        }
    }
    None
}

/// Whether `own` is the one that is laid over the other: the one of an overlay, or the one that lies above a base.
fn is_laid_over(own: &Member, other: &Member) -> bool {
    let is_overlay = |member: &Member| {
        member.folder().iter().any(|part| part.starts_with("overlay")) || member.file_name().contains("patch")
    };
    let is_base = |member: &Member| member.folder().iter().any(|part| part == "base");
    (is_overlay(own) && !is_overlay(other)) || (is_base(other) && !is_base(own))
}

/// The line of a variable in a container that takes all of a map besides.
fn taken_and_set(document: &Node, map: &str, variable: &str) -> Option<usize> {
    let mut line = None;
    document.walk(&mut |_, node| {
        let takes = node.get("envFrom").is_some_and(|from| {
            from.items().iter().any(|item| {
                ["configMapRef", "secretRef"].iter().any(|kind| {
                    item.get(kind).and_then(|of| of.get("name")).and_then(Node::text) == Some(map)
                })
            })
        });
        if takes && line.is_none() {
            line = node.get("env").and_then(|env| sets_variable(env, variable));
        }
    });
    line
}

/// # Source
/// Spring Boot, Externalized Configuration: arguments, `SPRING_APPLICATION_JSON`, system properties and variables come
/// over every `application` file.
fn spring(other: &Member, found: &ConnectionSettings) -> Option<Setting> {
    const HARMLESS: [&str; 7] = [
        "USERNAME",
        "PASSWORD",
        "DRIVERCLASSNAME",
        "NAME",
        "DRIVER",
        "HIKARIMAXIMUMPOOLSIZE",
        "HIKARIPOOLNAME",
    ];
    let name = other.file_name();
    let is_read = matches!(other.form.id, "yaml" | "env" | "systemd" | "text" | "json" | "properties");
    if !is_read || crate::config::is_of_spring(name) || !found.what.to_lowercase().contains("datasource") {
        return None;
    }
    let text = String::from_utf8_lossy(&other.bytes);
    text.lines().enumerate().find_map(|(at, line)| {
        if line.trim_start().starts_with(['#', ';']) {
            return None;
        }
        let big = line.replace(HOLE, "").to_uppercase();
        let is_over = big.contains("SPRING_APPLICATION_JSON")
            || ["SPRING_CONFIG_", "SPRING.CONFIG."].iter().any(|word| big.contains(word))
            || ["SPRING_DATASOURCE", "SPRING.DATASOURCE", "QUARKUS_DATASOURCE", "QUARKUS.DATASOURCE"]
                .iter()
                .any(|front| {
                    big.match_indices(front).any(|(begin, _)| {
                        let rest = big.get(begin + front.len()..).unwrap_or_default();
                        let key: String = rest
                            .chars()
                            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '['))
                            .filter(char::is_ascii_alphanumeric)
                            .collect();
                        !HARMLESS.contains(&key.as_str())
                    })
                });
        is_over.then(|| other.obstacle(at + 1, "what stands there comes over Spring's own files"))
    })
}
