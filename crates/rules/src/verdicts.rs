//! The few ways in which a value becomes a verdict. A value of another shape is `Unknown`, never a pass.

use model::{Value, Verdict};

pub fn unknown(value: &Value) -> Verdict {
    Verdict::Unknown(match value {
        Value::Unknown(why) => why.clone(),
        other => format!("the observation says \"{other}\", which this rule does not know"),
    })
}

/// `1 session`, `2 sessions`.
pub fn sessions(count: i64) -> String {
    model::text::counted(count, "session", "sessions")
}

pub fn yes(value: &Value, otherwise: &str) -> Verdict {
    match value {
        Value::Bool(true) => Verdict::Pass,
        Value::Bool(false) => Verdict::Fail(otherwise.into()),
        Value::Absent => Verdict::NotApplicable,
        other => unknown(other),
    }
}

pub fn no(value: &Value, otherwise: &str) -> Verdict {
    match value {
        Value::Bool(false) => Verdict::Pass,
        Value::Bool(true) => Verdict::Fail(otherwise.into()),
        Value::Absent => Verdict::NotApplicable,
        other => unknown(other),
    }
}

pub fn at_least(value: &Value, least: i64, unit: &str) -> Verdict {
    match value {
        Value::Number(number) if *number >= least => Verdict::Pass,
        Value::Number(number) => Verdict::Fail(format!("{number} {unit}; required: at least {least}")),
        Value::Absent => Verdict::NotApplicable,
        other => unknown(other),
    }
}

/// Days that something is still valid; below zero it is not any more.
pub fn days_left(value: &Value, least: i64) -> Verdict {
    match value {
        Value::Number(days) if *days < 0 => Verdict::Fail("it has expired".to_owned()),
        other => at_least(other, least, "days are left"),
    }
}

/// What a look on the wire said: `sealed`, or `plain` with or without a count.
pub fn seen(value: &Value) -> Verdict {
    match value {
        Value::Text(word) if word == "sealed" => Verdict::Pass,
        Value::Text(word) if word.starts_with("plain") => Verdict::Fail(format!("captured: {word}")),
        other => unknown(other),
    }
}

/// Nothing of the kind was found; a text names what was.
pub fn absent(value: &Value) -> Verdict {
    match value {
        Value::Absent => Verdict::Pass,
        Value::Text(what) => Verdict::Fail(what.clone()),
        other => unknown(other),
    }
}
