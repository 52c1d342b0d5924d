//! Option files (`my.cnf`): what one client reads in its groups. Which files and groups those are is resolved by the caller, who
//! has a file system; a single file can be read here.

use formats::optfile::{Item, OptionFile, groups_equal};

use super::{Form, Variables, ends};
use crate::client::Client;
use crate::clients::CLIENTS;
use crate::config::{
    ConnectionSettings, Driver, Read, Setting, SettingValue, SettingsError, Style, is_about_tls,
    is_socket_key, obstacle,
};

pub(super) const OPTION_FILE: Form = Form {
    id: "option-file",
    name: "an option file",
    fits: |name| ends(name, &[".cnf"]) || name == "my.ini",
    read,
};

/// One line that a client reads: key and value as written, file and line.
#[derive(Clone)]
pub struct Line {
    pub key: String,
    pub value: Option<String>,
    pub file: Option<String>,
    pub line: usize,
}

/// The clients that read option files of their own accord.
pub fn readers() -> impl Iterator<Item = &'static Client> {
    CLIENTS
        .iter()
        .copied()
        .filter(|client| client.settings.is_some_and(|settings| !settings.groups.is_empty()))
}

/// What these lines are for `client`, or nothing where there is none.
pub fn found(client: &'static Client, lines: &[Line]) -> Option<ConnectionSettings> {
    let settings = client.settings?;
    let first = lines.first()?;
    let host = lines.iter().rev().find(|line| line.key == "host").and_then(|line| line.value.clone());
    let mut found = ConnectionSettings {
        line: first.line,
        what: format!("[{}]", settings.groups.join("] [")),
        driver: Driver::Family(settings.family),
        host: host.unwrap_or_default(),
        settings: settings_of(client, lines),
        style: Style::OptionFile,
        front: None,
    };
    super::super::settle(&mut found);
    Some(found)
}

/// A socket counts where the file says that it is used: another host on the command line goes past it.
///
/// # Source
/// `client.c` of Connector/C and of libmysqlclient: a socket only without a host or with `localhost`, whatever the protocol; with
/// `localhost` and no protocol it is one unless a port on the command line says otherwise.
fn settings_of(client: &'static Client, lines: &[Line]) -> Vec<Setting> {
    let host = lines.iter().rev().find(|line| line.key == "host");
    let host_name = host.and_then(|line| line.value.as_deref()).unwrap_or_default();
    let is_elsewhere = !host_name.is_empty() && host_name != "localhost";
    let is_mariadb = client.settings.is_some_and(|settings| settings.family.starts_with("mariadb"));
    let protocol =
        lines.iter().rev().find(|line| line.key == "protocol").and_then(|line| line.value.as_deref());
    let is_socket = protocol.is_some_and(|word| word.eq_ignore_ascii_case("socket"));
    let mut all: Vec<Setting> = lines.iter().filter_map(setting).collect();
    let place = |line: &Line, why: &str| Setting { file: line.file.clone(), ..obstacle(line.line, why) };
    if let Some(host) = host.filter(|_| is_socket && is_elsewhere && !is_mariadb) {
        all.push(place(host, "a socket is asked for, and another host than localhost"));
    }
    if let Some(host) = host.filter(|_| protocol.is_none() && host_name == "localhost") {
        all.push(place(
            host,
            "localhost is a Unix socket, unless a port or a protocol is asked for elsewhere",
        ));
    }
    let is_socket = is_socket && !is_elsewhere;
    all.retain(|setting| is_socket || !is_socket_key(&setting.key));
    if is_socket && !all.iter().any(|setting| is_socket_key(&setting.key)) {
        let line = lines.iter().rev().find(|line| line.key == "protocol").map_or(1, |line| line.line);
        all.push(Setting::new("socket", SettingValue::Text("the default one".into()), line));
    }
    all
}

/// `skip-ssl`, `disable-ssl`, `enable-ssl` and an option alone are switches; `loose-` says only that another may not know it.
///
/// # Source
/// `my_getopt.c`, `handle_options()`: behind such a prefix only the value `0` counts, and turns it round.
fn setting(line: &Line) -> Option<Setting> {
    let key = line.key.replace('_', "-");
    // Somebody has forgotten a `=`: what stands there may be a password.
    if key.contains(|c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c)) {
        return is_about_tls(&key).then(|| Setting {
            key: "(no word for ssl)".into(),
            given: SettingValue::Unread("the line is no option".into()),
            line: line.line,
            file: line.file.clone(),
        });
    }
    let key = key.strip_prefix("loose-").unwrap_or(&key);
    let is_zero = line.value.as_deref() == Some("0");
    let (key, given) = if let Some(off) = key.strip_prefix("skip-").or_else(|| key.strip_prefix("disable-")) {
        (off, SettingValue::Flag(is_zero))
    } else if let Some(on) = key.strip_prefix("enable-") {
        (on, SettingValue::Flag(!is_zero))
    } else {
        (key, line.value.clone().map_or(SettingValue::Flag(true), SettingValue::Text))
    };
    Some(Setting { key: key.to_owned(), given, line: line.line, file: line.file.clone() })
}

/// The lines of one file alone that `client` reads, and whether it has a group for it.
pub fn lines(file: &OptionFile, client: &Client) -> (Vec<Line>, bool) {
    let groups = client.settings.map_or(&[][..], |settings| settings.groups);
    let is_ours = |group: &str| groups.iter().any(|known| groups_equal(known, group));
    let mut has_group = false;
    let mut lines = Vec::new();
    for item in file.items() {
        match item {
            Item::Group { name, .. } => has_group |= is_ours(name),
            Item::Option(option) if is_ours(option.group) => lines.push(Line {
                key: option.key.to_owned(),
                value: option
                    .value
                    .map(str::to_owned)
                    .filter(|_| !formats::optfile::is_secret_key(option.key)),
                file: None,
                line: option.line,
            }),
            _ => {}
        }
    }
    (lines, has_group)
}

fn read(bytes: &[u8], _: &Variables) -> Result<Read, SettingsError> {
    let file = OptionFile::parse(bytes, "it").map_err(|_| SettingsError::Syntax {
        line: 1,
        why: "no client reads it: sealion config print says where the mistake is",
    })?;
    let mut read = Read::default();
    for client in readers() {
        let (lines, _) = lines(&file, client);
        read.found.extend(found(client, &lines));
    }
    if file.items().any(|item| matches!(item, Item::Include { .. } | Item::IncludeDir { .. })) {
        read.notes.push("it includes other files".into());
    }
    Ok(read)
}
