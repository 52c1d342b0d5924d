//! Crontabs and units of systemd: which commands they run.

use formats::shell_line::{Pipeline, pipelines};

/// What stands in front of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    /// `/etc/crontab`, `/etc/cron.d`: with the user.
    System,
    /// One user's.
    User,
    /// `/etc/anacrontab`: days, minutes, a name.
    Anacron,
}

impl Table {
    fn fields(self, is_named_time: bool) -> usize {
        match (self, is_named_time) {
            (Self::System, true) => 2,
            (Self::System, false) => 6,
            (Self::User, true) => 1,
            (Self::User, false) => 5,
            (Self::Anacron, _) => 3,
        }
    }
}

/// The commands of a table, each with its line. Variables that it sets stand as assignments.
///
/// # Source
/// crontab(5) of Debian's cron and of cronie, anacrontab(5).
pub(super) fn of_cron(text: &str, table: Table) -> Vec<Pipeline> {
    let mut all = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let command = if is_assignment(line) {
            line.to_owned()
        } else {
            let fields = table.fields(line.starts_with('@') && table != Table::Anacron);
            let Some(command) = behind_fields(line.trim_start_matches('-'), fields) else { continue };
            without_input(command)
        };
        all.extend(at_line(&command, number + 1));
    }
    all
}

fn is_assignment(line: &str) -> bool {
    line.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim_end();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn behind_fields(line: &str, count: usize) -> Option<&str> {
    let mut rest = line;
    for _ in 0..count {
        let at = rest.find([' ', '\t'])?;
        rest = rest.get(at..)?.trim_start();
    }
    Some(rest).filter(|rest| !rest.is_empty())
}

/// A `%` begins what the command is given to read, unless there is a backslash before it.
fn without_input(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    let mut chars = command.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' if chars.peek() == Some(&'%') => {
                chars.next();
                out.push('%');
            }
            '%' => break,
            other => out.push(other),
        }
    }
    out
}

fn at_line(command: &str, line: usize) -> Vec<Pipeline> {
    let mut all = pipelines(command);
    for pipeline in &mut all {
        pipeline.line = line;
    }
    all
}

/// The commands of a service, and the variables that it sets.
///
/// # Source
/// systemd.service(5): a command may have signs in front of it; systemd.exec(5): Environment.
pub(super) fn of_unit(text: &str) -> Vec<Pipeline> {
    let mut all = Vec::new();
    let mut whole = String::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(begin) = line.strip_suffix('\\') {
            whole.push_str(begin);
            whole.push(' ');
            continue;
        }
        whole.push_str(line);
        let line = std::mem::take(&mut whole);
        let Some((key, value)) = line.trim().split_once('=') else { continue };
        match key.trim() {
            "Environment" => all.extend(at_line(&value.replace(';', " "), number + 1)),
            key if key.starts_with("Exec") => {
                // A semicolon between two commands stands alone; otherwise it is a part of a word.
                for command in value.split(" ; ") {
                    let command = command.trim().trim_start_matches(['-', '@', ':', '+', '!', '|']);
                    all.extend(at_line(command, number + 1));
                }
            }
            _ => {}
        }
    }
    all
}

/// The service that a timer starts, where it names one.
pub(super) fn unit_of_timer(text: &str) -> Option<&str> {
    text.lines().filter_map(|line| line.trim().strip_prefix("Unit=")).next_back().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(all: &[Pipeline]) -> Vec<String> {
        all.iter().map(|one| format!("{}: {}", one.line, one.commands.concat().join("·"))).collect()
    }

    #[test]
    fn commands_stand_behind_the_fields_of_their_table() {
        let system = "# x\nSHELL=/bin/sh\n\n17 * * * * root cd / && run-parts /etc/cron.hourly\n@daily b mysqldump a\n* * *\n";
        assert_eq!(
            said(&of_cron(system, Table::System)),
            ["2: SHELL=/bin/sh", "4: cd·/", "4: run-parts·/etc/cron.hourly", "5: mysqldump·a"]
        );
        let user = "0 3 * * 1-5\tmysqldump a > /b/$(date +\\%F).sql%input\n@reboot x\nMYSQL_PWD = p\n";
        assert_eq!(
            said(&of_cron(user, Table::User)),
            ["1: date·+%F", "1: mysqldump·a", "2: x", "3: MYSQL_PWD·=·p"]
        );
        assert_eq!(
            said(&of_cron("1 5 cron.daily nice run-parts /etc/cron.daily\n", Table::Anacron)),
            ["1: nice·run-parts·/etc/cron.daily"]
        );
    }

    #[test]
    fn commands_of_a_unit_stand_behind_exec() {
        let unit = "[Service]\nType=oneshot\nEnvironment=\"MYSQL_PWD=p\" A=b\nExecStartPre=-/bin/true\nExecStart=@/b/x y \\\n  z ; /b/w\n";
        assert_eq!(said(&of_unit(unit)), ["3: MYSQL_PWD=p·A=b", "4: /bin/true", "6: /b/x·y·z", "6: /b/w"]);
        assert_eq!(unit_of_timer("[Timer]\nOnCalendar=daily\nUnit=backup.service\n"), Some("backup.service"));
        assert_eq!(unit_of_timer("[Timer]\n"), None);
    }
}
