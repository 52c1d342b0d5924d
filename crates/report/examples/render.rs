//! `cargo run -p report --example render -- report.json html > report.html`: any report.json in any format.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (Some(path), Some(name)) = (args.next(), args.next()) else {
        eprintln!("usage: render REPORT.json FORMAT");
        return ExitCode::from(2);
    };
    let Some(format) = report::FORMATS.iter().find(|format| format.name() == name) else {
        eprintln!("{name:?} is not a format\n  next: one of html, json, text");
        return ExitCode::from(2);
    };
    let report = std::fs::read_to_string(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| report::DemoReport::from_json(&text).map_err(|error| error.to_string()));
    match report {
        Ok(report) => {
            print!("{}", format.render(&report));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::from(2)
        }
    }
}
