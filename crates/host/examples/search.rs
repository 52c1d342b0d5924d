//! The search of `sealion audit --search` through files, for measurements: `search FILE...` prints how many bytes and hits there were.
//! scripts/bench-search.sh holds it against grep.

use std::path::PathBuf;
use std::process::ExitCode;

use host::{FarPath, Local, Place, ReadHost, Search, SearchProgress};

fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        eprintln!("usage: search FILE...");
        return ExitCode::from(2);
    }
    let places = files.into_iter().map(|file| Place::Log(FarPath(file))).collect();
    let search = Search { places, entries_max: 0, bytes_max: u64::MAX };
    match Local.search(&search, &SearchProgress::default()) {
        Ok(searched) if searched.unread.is_empty() && searched.missing.is_empty() => {
            let hits: u64 = searched.hits.iter().map(|hit| hit.count).sum();
            println!("{} bytes, {hits} hits", searched.bytes);
            ExitCode::SUCCESS
        }
        Ok(searched) => {
            eprintln!("not searched: {:?}, not there: {:?}", searched.unread, searched.missing);
            ExitCode::from(3)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}
