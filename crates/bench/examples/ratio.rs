//! The ratio of two arms with its interval, of numbers from anywhere: `ratio A B <CSV`.
//!
//! Lines are `name,block,arm,value`. For each name, in the order in which they come first: `name,mean of A,mean of B,B by
//! A,low,high,blocks`; low and high are empty with too few blocks. The statistics are those of `sealion bench run`
//! ([`bench::stats`]), for programs that it cannot run.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::process::ExitCode;

use bench::stats::{Blocks, mean_and_deviation};

/// Of the resampling: the same numbers give the same interval.
const SEED: u64 = 1;

/// The numbers of one name: by block, those of A and B.
#[derive(Default)]
struct Measure {
    name: String,
    blocks: BTreeMap<u32, [Option<f64>; 2]>,
}

fn main() -> ExitCode {
    let arms: Vec<String> = std::env::args().skip(1).collect();
    let [a, b] = &arms[..] else {
        eprintln!("usage: ratio A B <CSV");
        return ExitCode::from(2);
    };
    let mut measures: Vec<Measure> = Vec::new();
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        if let Err(why) =
            line.map_err(|error| error.to_string()).and_then(|line| take(&mut measures, &line, a, b))
        {
            eprintln!("line {}: {why}", number + 1);
            return ExitCode::from(2);
        }
    }
    for measure in &measures {
        let Some(row) = row(measure) else {
            eprintln!("{}: no block has both arms, with numbers over zero", measure.name);
            return ExitCode::from(1);
        };
        println!("{row}");
    }
    ExitCode::SUCCESS
}

fn take(measures: &mut Vec<Measure>, line: &str, a: &str, b: &str) -> Result<(), String> {
    let fields: Vec<&str> = line.split(',').collect();
    let [name, block, arm, value] = fields[..] else {
        return Err(format!("name,block,arm,value is wanted, not {line:?}"));
    };
    let block: u32 = block.parse().map_err(|_| format!("{block:?} is no number of a block"))?;
    let value: f64 = value.parse().map_err(|_| format!("{value:?} is no number"))?;
    let place = [a, b]
        .iter()
        .position(|known| *known == arm)
        .ok_or_else(|| format!("{arm:?} is neither {a} nor {b}"))?;
    let known = measures.iter().position(|measure| measure.name == name);
    let at = known.unwrap_or_else(|| {
        measures.push(Measure { name: name.to_owned(), ..Measure::default() });
        measures.len() - 1
    });
    if let Some(pair) = measures.get_mut(at).map(|measure| measure.blocks.entry(block).or_default())
        && let Some(place) = pair.get_mut(place)
        && place.replace(value).is_some()
    {
        return Err(format!("{name}, block {block}: {arm} is there twice"));
    }
    Ok(())
}

fn row(measure: &Measure) -> Option<String> {
    let mut blocks = Blocks::default();
    for pair in measure.blocks.values() {
        if let [Some(a), Some(b)] = *pair {
            // What is no number over zero is left out with its block.
            blocks.push(vec![a, b]);
        }
    }
    let ratio = blocks.ratio(0, 1, SEED)?;
    let mean = |arm| mean_and_deviation(&blocks.of(arm)).map(|(mean, _)| mean);
    let (low, high) = ratio
        .interval
        .map_or_else(Default::default, |(low, high)| (format!("{low:.3}"), format!("{high:.3}")));
    let (a, b, count) = (mean(0)?, mean(1)?, blocks.len());
    Some(format!("{},{a:.3},{b:.3},{:.3},{low},{high},{count}", measure.name, ratio.ratio))
}
