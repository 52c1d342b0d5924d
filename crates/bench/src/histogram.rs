//! Latencies as text that is kept, merged and drawn: HdrHistogram's V2 with zlib, in base64, which other tools read too.
//!
//! # Source
//! HdrHistogram, "V2 compressed encoding": <https://github.com/HdrHistogram/HdrHistogram>.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use crate::load::measure::Latencies;

/// Points of a curve between a share and the one that leaves out half as many.
const POINTS_A_HALVING: u32 = 5;
/// A histogram of ours to three digits has some ten thousand counts; what is longer was not written by us.
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    #[error("a histogram of {0} bytes is larger than any that sealion writes")]
    TooLong(usize),
    #[error("not base64: {0}")]
    NotBase64(#[from] base64::DecodeError),
    #[error("not an HdrHistogram V2: {0}")]
    NotAHistogram(#[from] hdrhistogram::serialization::DeserializeError),
    #[error("cannot be added to another histogram: {0}")]
    Unlike(#[from] hdrhistogram::AdditionError),
}

/// `None` of nothing measured.
pub fn encode(latencies: &Latencies) -> Option<String> {
    if latencies.is_empty() {
        return None;
    }
    let mut bytes = Vec::new();
    // Only a histogram of more than 4 GiB cannot be written to memory.
    V2DeflateSerializer::new().serialize(latencies, &mut bytes).ok()?;
    Some(STANDARD.encode(bytes))
}

/// # Errors
/// What [`encode`] did not write.
pub fn decode(text: &str) -> Result<Latencies, HistogramError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(HistogramError::TooLong(text.len()));
    }
    Ok(Deserializer::new().deserialize(&mut STANDARD.decode(text)?.as_slice())?)
}

/// All of them as one. `None` of nothing.
///
/// # Errors
/// One of them was not written by [`encode`].
pub fn merge<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Option<Latencies>, HistogramError> {
    let mut all: Option<Histogram<u64>> = None;
    for text in texts {
        let one = decode(text)?;
        match &mut all {
            Some(all) => all.add(&one)?,
            None => all = Some(one),
        }
    }
    Ok(all)
}

/// A curve: the share of events that took at most so many ms, rising, up to the slowest one.
pub fn percentiles(latencies: &Latencies) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for step in latencies.iter_quantiles(POINTS_A_HALVING) {
        let point = (step.quantile_iterated_to(), step.value_iterated_to() as f64 / 1e6);
        // The iterator ends with several steps on the slowest event.
        if points.last().is_none_or(|(share, _)| *share < point.0) {
            points.push(point);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl Iterator<Item = u64>) -> Latencies {
        let mut all = Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("good bounds");
        values.for_each(|value| all.saturating_record(value));
        all
    }

    #[test]
    fn what_is_kept_comes_back_and_two_halves_are_the_whole() {
        let (low, high) = (of((1..5_000).map(|n| n * 1_000)), of((5_000..10_000).map(|n| n * 1_000)));
        let texts = [encode(&low).expect("some"), encode(&high).expect("some")];
        assert_eq!(decode(&texts[0]).expect("it was written so"), low);
        let whole = merge(texts.iter().map(String::as_str)).expect("both are good").expect("two");
        assert_eq!(whole, of((1..10_000).map(|n| n * 1_000)));
        assert!(texts.iter().all(|text| text.len() < 8_000), "{}", texts[0].len());
        assert_eq!((encode(&of(std::iter::empty())), merge(std::iter::empty()).expect("none")), (None, None));
    }

    #[test]
    fn what_we_did_not_write_is_an_error() {
        assert!(matches!(decode("%%"), Err(HistogramError::NotBase64(_))));
        assert!(matches!(decode("AAAA"), Err(HistogramError::NotAHistogram(_))));
        let text = encode(&of([7, 9, 1_000_000].into_iter())).expect("some");
        let bytes = STANDARD.decode(&text).expect("base64");
        // Behind all counts stands zlib's checksum of four bytes, which nobody reads.
        for end in 0..bytes.len() - 4 {
            let cut = STANDARD.encode(bytes.get(..end).expect("shorter"));
            assert!(decode(&cut).is_err(), "{end} bytes of {} are taken", bytes.len());
        }
        assert!(matches!(decode(&"A".repeat(TEXT_BYTES_MAX + 4)), Err(HistogramError::TooLong(_))));
    }

    #[test]
    fn a_curve_rises_and_ends_at_the_slowest() {
        let points = percentiles(&of((1..=1_000).map(|n| n * 1_000_000)));
        let pairs = points.windows(2);
        assert!(pairs.clone().all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1), "{points:?}");
        let at = |share: f64| points.iter().find(|point| point.0 >= share).expect("it goes up to 1").1;
        // 1000 ms as a histogram to three digits has it.
        assert!((at(0.5) - 500.0).abs() < 1.0 && (at(1.0) - 1000.0).abs() < 1.0, "{points:?}");
        assert!(points.len() < 100 && percentiles(&of(std::iter::empty())).is_empty());
    }
}
