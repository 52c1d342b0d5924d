//! What was set in a running server and stands in no file: a restart forgets it.

use formats::optfile::is_secret_key;
use net::{Client, NetError};

use crate::options::Effective;

/// One global variable that somebody has set since the server was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSetting {
    /// In lower case, as `SHOW VARIABLES` gives it.
    pub name: String,
    pub value: String,
    /// What it would be without any option file.
    pub default: Option<String>,
}

/// # Source
/// MariaDB manual, information_schema.SYSTEM_VARIABLES: GLOBAL_VALUE_ORIGIN is SQL for what `SET GLOBAL` has changed. MySQL
/// manual, performance_schema.variables_info: VARIABLE_SOURCE is DYNAMIC. The first tried on 10.11.19.
pub fn live_settings(client: &mut Client) -> Result<Vec<LiveSetting>, NetError> {
    let mariadb = "SELECT VARIABLE_NAME, GLOBAL_VALUE, DEFAULT_VALUE FROM information_schema.SYSTEM_VARIABLES \
                   WHERE GLOBAL_VALUE_ORIGIN = 'SQL' ORDER BY VARIABLE_NAME";
    let mysql = "SELECT i.VARIABLE_NAME, g.VARIABLE_VALUE, NULL FROM performance_schema.variables_info i \
                 JOIN performance_schema.global_variables g USING (VARIABLE_NAME) \
                 WHERE i.VARIABLE_SOURCE = 'DYNAMIC' ORDER BY 1";
    let rows = client.query(mariadb).or_else(|_| client.query(mysql))?;
    let settings = rows.iter().filter_map(|row| {
        Some(LiveSetting {
            name: row.at(0)?.to_ascii_lowercase(),
            value: row.at(1).unwrap_or_default().into_owned(),
            default: row.at(2).map(std::borrow::Cow::into_owned),
        })
    });
    Ok(settings.collect())
}

/// What a restart makes of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterRestart {
    Same,
    /// What it will be, and where that stands.
    Other(String),
    /// The server does not show it, or nobody knows its default.
    CannotTell(String),
}

impl LiveSetting {
    pub fn after_restart(&self, files: &Effective) -> AfterRestart {
        let setting = files.effective(&self.name);
        if is_secret_key(&self.name) {
            return AfterRestart::CannotTell("its value is a secret".into());
        }
        match (setting, &self.default) {
            (Some(setting), _) => {
                // A bare option is on.
                let value = setting.value.as_deref().unwrap_or("ON");
                if is_same(value, &self.value) {
                    return AfterRestart::Same;
                }
                AfterRestart::Other(format!("{value} ({}:{})", setting.file.display(), setting.line))
            }
            (None, Some(default)) if is_same(default, &self.value) => AfterRestart::Same,
            (None, Some(default)) => AfterRestart::Other(format!("{default} (no file sets it)")),
            (None, None) => AfterRestart::CannotTell("no file sets it, and its default is not known".into()),
        }
    }
}

/// Two spellings of one value.
fn is_same(one: &str, other: &str) -> bool {
    normal(one) == normal(other)
}

fn normal(value: &str) -> String {
    let value = value.trim().trim_end_matches('/').to_ascii_lowercase();
    match value.as_str() {
        "true" | "on" => return "1".into(),
        "false" | "no" | "off" => return "0".into(),
        _ => {}
    }
    let (digits, factor) = match value.char_indices().last() {
        Some((end, 'k')) => (&value[..end], 1_u64 << 10),
        Some((end, 'm')) => (&value[..end], 1 << 20),
        Some((end, 'g')) => (&value[..end], 1 << 30),
        Some((end, 't')) => (&value[..end], 1 << 40),
        _ => (value.as_str(), 1),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    if let Some(bytes) = bytes {
        return bytes.to_string();
    }
    // 0.500000 is 0.5, and lists of words may be in any order.
    if let Ok(number) = value.parse::<f64>() {
        return number.to_string();
    }
    let mut words: Vec<&str> = value.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_are_the_same() {
        for (one, other) in [
            ("1", "ON"),
            ("256M", "268435456"),
            ("0.5", "0.500000"),
            ("/var/lib/mysql", "/var/lib/mysql/"),
            ("STRICT_TRANS_TABLES,NO_ZERO_DATE", "no_zero_date, strict_trans_tables"),
        ] {
            assert!(is_same(one, other), "{one} {other}");
        }
        for (one, other) in [("ON", "OFF"), ("256M", "256"), ("a,b", "a,b,c"), ("", "1")] {
            assert!(!is_same(one, other), "{one} {other}");
        }
    }
}
