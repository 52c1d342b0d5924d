//! Whether bytes without a header can be ciphertext: each value stands in it as often as the others do. Where that
//! does not hold, they are none. Where it holds they may as well be compressed, so nothing is said then.

/// What a stretch of a file without a header is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    Zero,
    /// No cipher writes this.
    Plain,
    Unknown(&'static str),
}

/// Fewer bytes tell too little.
const BYTES_MIN: u32 = 1024;
/// Of Pearson's chi-squared with 254 degrees of freedom, whose standard deviation is 22.5: ciphertext is above this
/// once in 10^14 stretches.
const CHI_SQUARED_MAX: f64 = 470.0;

/// Zero bytes are not counted: what is shorter than its place in a file has them behind it.
pub fn judge(bytes: &[u8]) -> Stretch {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let [_, values @ ..] = counts;
    let all: u32 = values.iter().sum();
    if all == 0 {
        return Stretch::Zero;
    }
    if all < BYTES_MIN {
        return Stretch::Unknown("too few bytes to tell whether they are encrypted");
    }
    let expected = f64::from(all) / 255.0;
    let chi_squared: f64 = values.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    if chi_squared > CHI_SQUARED_MAX {
        Stretch::Plain
    } else {
        Stretch::Unknown("its bytes are spread evenly: encrypted or compressed")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn cipher(bytes: usize, seed: u8) -> Vec<u8> {
        let aes = openssl::symm::Cipher::aes_128_ctr();
        openssl::symm::encrypt(aes, &[seed; 16], Some(&[0; 16]), &vec![0; bytes]).unwrap()
    }

    #[test]
    fn rows_are_plain_and_ciphertext_is_not() {
        assert_eq!(judge(&[0; 4096]), Stretch::Zero);
        assert_eq!(judge(&[]), Stretch::Zero);
        assert_eq!(judge(&b"a row of a table, ".repeat(250)), Stretch::Plain);
        // Numbers as they are sorted.
        let numbers: Vec<u8> = (0..1024_u32).flat_map(|n| (n * 7).to_be_bytes()).collect();
        assert_eq!(judge(&numbers), Stretch::Plain);
        for seed in 0..=255 {
            let mut bytes = cipher(4096, seed);
            assert!(matches!(judge(&bytes), Stretch::Unknown(_)), "{seed}");
            bytes[2000..].fill(0);
            assert!(matches!(judge(&bytes), Stretch::Unknown(_)), "{seed}, with nothing behind it");
        }
        assert!(matches!(judge(b"a short text"), Stretch::Unknown(_)));
    }
}
