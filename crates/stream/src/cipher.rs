//! Which cipher suite is the fastest for two machines, of which one may have no AES in its processor.

use std::time::{Duration, Instant};

use openssl::cipher::{Cipher, CipherRef};
use openssl::cipher_ctx::CipherCtx;

/// What a suite is measured for at once, and how often: the best time counts, since whoever else had the processor has only made others
/// longer. All of it is a fortieth of a second.
const MEASURED: Duration = Duration::from_millis(2);
const ROUNDS: usize = 4;
/// A record of TLS.
const RECORD_BYTES: usize = 16 << 10;
/// AES-256 is taken where it is no slower than this part of the fastest, in percent: a longer key for little.
const STRONGER_PERCENT: u64 = 90;

/// A suite of TLS 1.3 that both ends know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    Aes128,
    Aes256,
    Chacha20,
}

/// In the order of [`Speeds`].
const SUITES: [Suite; 3] = [Suite::Aes128, Suite::Aes256, Suite::Chacha20];

impl Suite {
    /// As OpenSSL names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "TLS_AES_128_GCM_SHA256",
            Self::Aes256 => "TLS_AES_256_GCM_SHA384",
            Self::Chacha20 => "TLS_CHACHA20_POLY1305_SHA256",
        }
    }

    fn cipher(self) -> &'static CipherRef {
        match self {
            Self::Aes128 => Cipher::aes_128_gcm(),
            Self::Aes256 => Cipher::aes_256_gcm(),
            Self::Chacha20 => Cipher::chacha20_poly1305(),
        }
    }
}

/// MB/s of one processor, for each of [`SUITES`]; 0: not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Speeds(pub [u32; 3]);

impl Speeds {
    /// In turn, so that what else happens meanwhile is no suite's misfortune alone.
    pub fn measure() -> Self {
        let mut best = [0; 3];
        let mut record = vec![7; RECORD_BYTES];
        for _ in 0..ROUNDS {
            for (best, suite) in best.iter_mut().zip(SUITES) {
                *best = speed(suite, &mut record).unwrap_or(0).max(*best);
            }
        }
        Self(best)
    }

    /// The suite with which a byte takes the least time at both ends together.
    pub fn best_with(self, other: Self) -> Option<Suite> {
        let per_s = |at: usize| -> u64 {
            let one = |speeds: Self| u64::from(speeds.0.get(at).copied().unwrap_or(0));
            let (a, b) = (one(self), one(other));
            // Of two in a row.
            if a == 0 || b == 0 { 0 } else { a * b / (a + b) }
        };
        let best = (0..SUITES.len()).max_by_key(|at| per_s(*at))?;
        if per_s(best) == 0 {
            return None;
        }
        let stronger = per_s(1).saturating_mul(100) >= per_s(best).saturating_mul(STRONGER_PERCENT);
        SUITES.get(if stronger { 1 } else { best }).copied()
    }
}

fn speed(suite: Suite, record: &mut [u8]) -> Option<u32> {
    let mut context = CipherCtx::new().ok()?;
    let (key, iv) = ([7; 32], [7; 12]);
    let key = key.get(..suite.cipher().key_length())?;
    context.encrypt_init(Some(suite.cipher()), Some(key), Some(&iv)).ok()?;
    let (began, mut bytes) = (Instant::now(), 0_u64);
    while began.elapsed() < MEASURED {
        for _ in 0..8 {
            context.encrypt_init(None, None, Some(&iv)).ok()?;
            context.cipher_update_inplace(record, RECORD_BYTES).ok()?;
            context.cipher_final(&mut []).ok()?;
            bytes += RECORD_BYTES as u64;
        }
    }
    let micros = began.elapsed().as_micros().max(1);
    u32::try_from(u128::from(bytes) / micros).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_end_decides_and_the_stronger_cipher_where_it_costs_little() {
        let best = |a, b| Speeds(a).best_with(Speeds(b));
        let (hardware, none) = ([5200, 4900, 2300], [330, 250, 1260]);
        assert_eq!(best(hardware, hardware), Some(Suite::Aes256));
        assert_eq!(best([5200, 3900, 2300], hardware), Some(Suite::Aes128));
        assert_eq!(best(hardware, none), Some(Suite::Chacha20));
        assert_eq!(best(none, hardware), Some(Suite::Chacha20));
        assert_eq!(best(none, none), Some(Suite::Chacha20));
        assert_eq!(best(hardware, [0, 0, 0]), None);
        assert_eq!(best([0, 0, 7], hardware), Some(Suite::Chacha20));
    }

    #[test]
    fn every_suite_is_measured() {
        assert!(Speeds::measure().0.iter().all(|speed| *speed > 0));
    }
}
