//! What was done and spent over time: a row for each second, or for several of a long measurement.

use ::bench::load::Interim;
use report::shape::SecondRow;

/// More points than that are no picture, and no small file: then each stands for twice as long.
const ROWS_MAX: usize = 600;

pub struct Seconds {
    /// Whatever passes in this network is of the measurement.
    watches_network: bool,
    last: Option<(Interim, Option<u64>)>,
    /// Since the warm-up began.
    measured_since_s: Option<f64>,
    rows: Vec<SecondRow>,
    /// Of so many looks is a row.
    looks: u32,
    skipped: u32,
}

impl Seconds {
    pub fn new(watches_network: bool) -> Self {
        Self { watches_network, last: None, measured_since_s: None, rows: Vec::new(), looks: 1, skipped: 0 }
    }

    /// Every second or so.
    pub fn note(&mut self, now: Interim) {
        let network = if self.watches_network { received_bytes() } else { None };
        self.note_with(now, network);
    }

    fn note_with(&mut self, now: Interim, network_bytes: Option<u64>) {
        let Some((before, network_before)) = self.last else {
            self.last = Some((now, network_bytes));
            return;
        };
        if !before.is_warm {
            self.last = Some((now, network_bytes));
            return;
        }
        // The second in which it ends is a part of one, and waiting for last answers is none.
        if now.is_over {
            return;
        }
        self.skipped += 1;
        if self.skipped < self.looks {
            return;
        }
        self.skipped = 0;
        self.last = Some((now, network_bytes));
        let took_s = now.elapsed.saturating_sub(before.elapsed).as_secs_f64();
        if took_s <= 0.0 {
            return;
        }
        let since_s = *self.measured_since_s.get_or_insert(before.elapsed.as_secs_f64());
        let per_s = |now: u64, before: u64| now.saturating_sub(before) as f64 / took_s;
        let both = |now: Option<u64>, before: Option<u64>| now.zip(before);
        self.rows.push(SecondRow {
            at_s: now.elapsed.as_secs_f64() - since_s,
            queries_per_s: per_s(now.queries, before.queries),
            client_cpu_s_per_s: per_s(now.client_cpu_us, before.client_cpu_us) / 1e6,
            server_cpu_s_per_s: both(now.server_cpu_us, before.server_cpu_us)
                .map(|(now, before)| per_s(now, before) / 1e6),
            network_bytes_per_s: both(network_bytes, network_before).map(|(now, before)| per_s(now, before)),
        });
        if self.rows.len() >= ROWS_MAX {
            self.rows = self.rows.chunks(2).filter_map(merged).collect();
            self.looks = self.looks.saturating_mul(2);
        }
    }

    pub fn into_rows(self) -> Vec<SecondRow> {
        self.rows
    }
}

/// Two rows of the same length.
fn merged(rows: &[SecondRow]) -> Option<SecondRow> {
    let (first, last) = (rows.first()?, rows.last()?);
    let half = |of: fn(&SecondRow) -> f64| f64::midpoint(of(first), of(last));
    let both = |of: fn(&SecondRow) -> Option<f64>| of(first).zip(of(last)).map(|(a, b)| f64::midpoint(a, b));
    Some(SecondRow {
        at_s: last.at_s,
        queries_per_s: half(|row| row.queries_per_s),
        client_cpu_s_per_s: half(|row| row.client_cpu_s_per_s),
        server_cpu_s_per_s: both(|row| row.server_cpu_s_per_s),
        network_bytes_per_s: both(|row| row.network_bytes_per_s),
    })
}

/// By all devices of this thread's network since they are there, loopback too; `None` where the kernel does not say.
///
/// # Source
/// proc(5): /proc/thread-self/net/dev (threads may have networks of their own), two lines of heads, then a device a line; its first number is received bytes.
fn received_bytes() -> Option<u64> {
    received_in(&std::fs::read_to_string("/proc/thread-self/net/dev").ok()?)
}

fn received_in(text: &str) -> Option<u64> {
    let bytes = |line: &str| line.split_once(':')?.1.split_whitespace().next()?.parse::<u64>().ok();
    text.lines().skip(2).map(bytes).try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(second: u64, is_warm: bool) -> Interim {
        Interim {
            elapsed: Duration::from_secs(second),
            is_warm,
            queries: second * 100,
            client_cpu_us: second * 250_000,
            server_cpu_us: Some(second * 500_000),
            ..Interim::default()
        }
    }

    #[test]
    fn a_row_is_a_second_that_was_measured() {
        let mut seconds = Seconds::new(true);
        for second in 1..=5 {
            seconds.note_with(at(second, second > 2), Some(second * 1_000));
        }
        let rows = seconds.into_rows();
        assert_eq!(rows.len(), 2);
        assert_eq!(
            rows[1],
            SecondRow {
                at_s: 2.0,
                queries_per_s: 100.0,
                client_cpu_s_per_s: 0.25,
                server_cpu_s_per_s: Some(0.5),
                network_bytes_per_s: Some(1000.0),
            }
        );
    }

    #[test]
    fn a_long_measurement_has_longer_rows() {
        let mut seconds = Seconds::new(false);
        for second in 0..86_400 {
            seconds.note_with(at(second, true), None);
        }
        let rows = seconds.into_rows();
        assert!((200..ROWS_MAX).contains(&rows.len()), "{}", rows.len());
        assert!(rows.iter().all(|row| (row.queries_per_s - 100.0).abs() < 1e-6));
        assert!(rows.windows(2).all(|pair| pair[0].at_s < pair[1].at_s));
        assert!(rows.last().is_some_and(|last| last.at_s > 85_000.0), "{:?}", rows.last());
    }

    #[test]
    fn devices_are_added_up() {
        let text = "Inter-|   Receive |  Transmit\n face |bytes packets\n    lo: 100 2 0\neth0:7 1 0\n";
        assert_eq!(received_in(text), Some(107));
        assert_eq!(received_in("a\nb\n  lo: many\n"), None);
        assert!(received_bytes().is_some());
    }
}
