//! Key shares that any server takes, for a client that never finishes a handshake.
//!
//! They are the generators of the groups and, for ML-KEM, an encapsulation key of equal coefficients. Nobody needs a
//! secret for them: a scanner reads the server's first answer and closes. They must never carry data.
//!
//! Sources: RFC 7748 4 (base points), SEC 2 (generators), RFC 7919 3 (2 generates the subgroup, so 4 is in it),
//! FIPS 203 7.2 (a server refuses a coefficient of 3329 or more), draft-ietf-tls-ecdhe-mlkem (which half comes first).

use super::registry::groups as group;

/// The base point u = 9.
pub const X25519: [u8; 32] = {
    let mut key = [0; 32];
    key[0] = 9;
    key
};

/// The base point u = 5.
pub const X448: [u8; 56] = {
    let mut key = [0; 56];
    key[0] = 5;
    key
};

/// The generator of P-256, uncompressed.
#[rustfmt::skip]
pub const SECP256R1: [u8; 65] = [
    0x04, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40,
    0xf2, 0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2,
    0x96, 0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e,
    0x16, 0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51,
    0xf5,
];

/// The generator of P-384, uncompressed.
#[rustfmt::skip]
pub const SECP384R1: [u8; 97] = [
    0x04, 0xaa, 0x87, 0xca, 0x22, 0xbe, 0x8b, 0x05, 0x37, 0x8e, 0xb1, 0xc7, 0x1e, 0xf3, 0x20, 0xad,
    0x74, 0x6e, 0x1d, 0x3b, 0x62, 0x8b, 0xa7, 0x9b, 0x98, 0x59, 0xf7, 0x41, 0xe0, 0x82, 0x54, 0x2a,
    0x38, 0x55, 0x02, 0xf2, 0x5d, 0xbf, 0x55, 0x29, 0x6c, 0x3a, 0x54, 0x5e, 0x38, 0x72, 0x76, 0x0a,
    0xb7, 0x36, 0x17, 0xde, 0x4a, 0x96, 0x26, 0x2c, 0x6f, 0x5d, 0x9e, 0x98, 0xbf, 0x92, 0x92, 0xdc,
    0x29, 0xf8, 0xf4, 0x1d, 0xbd, 0x28, 0x9a, 0x14, 0x7c, 0xe9, 0xda, 0x31, 0x13, 0xb5, 0xf0, 0xb8,
    0xc0, 0x0a, 0x60, 0xb1, 0xce, 0x1d, 0x7e, 0x81, 0x9d, 0x7a, 0x43, 0x1d, 0x7c, 0x90, 0xea, 0x0e,
    0x5f,
];

/// The generator of P-521, uncompressed.
#[rustfmt::skip]
pub const SECP521R1: [u8; 133] = [
    0x04, 0x00, 0xc6, 0x85, 0x8e, 0x06, 0xb7, 0x04, 0x04, 0xe9, 0xcd, 0x9e, 0x3e, 0xcb, 0x66, 0x23,
    0x95, 0xb4, 0x42, 0x9c, 0x64, 0x81, 0x39, 0x05, 0x3f, 0xb5, 0x21, 0xf8, 0x28, 0xaf, 0x60, 0x6b,
    0x4d, 0x3d, 0xba, 0xa1, 0x4b, 0x5e, 0x77, 0xef, 0xe7, 0x59, 0x28, 0xfe, 0x1d, 0xc1, 0x27, 0xa2,
    0xff, 0xa8, 0xde, 0x33, 0x48, 0xb3, 0xc1, 0x85, 0x6a, 0x42, 0x9b, 0xf9, 0x7e, 0x7e, 0x31, 0xc2,
    0xe5, 0xbd, 0x66, 0x01, 0x18, 0x39, 0x29, 0x6a, 0x78, 0x9a, 0x3b, 0xc0, 0x04, 0x5c, 0x8a, 0x5f,
    0xb4, 0x2c, 0x7d, 0x1b, 0xd9, 0x98, 0xf5, 0x44, 0x49, 0x57, 0x9b, 0x44, 0x68, 0x17, 0xaf, 0xbd,
    0x17, 0x27, 0x3e, 0x66, 0x2c, 0x97, 0xee, 0x72, 0x99, 0x5e, 0xf4, 0x26, 0x40, 0xc5, 0x50, 0xb9,
    0x01, 0x3f, 0xad, 0x07, 0x61, 0x35, 0x3c, 0x70, 0x86, 0xa2, 0x72, 0xc2, 0x40, 0x88, 0xbe, 0x94,
    0x76, 0x9f, 0xd1, 0x66, 0x50,
];

/// Two bytes of it hold one coefficient and a third of the next: each is 0x111 = 273, which is below 3329. The last
/// 32 bytes, the seed of the matrix, may be anything.
const MLKEM_BYTE: u8 = 0x11;

pub const MLKEM512: [u8; 800] = [MLKEM_BYTE; 800];
pub const MLKEM768: [u8; 1184] = [MLKEM_BYTE; 1184];
pub const MLKEM1024: [u8; 1568] = [MLKEM_BYTE; 1568];

/// Key encapsulation first, unlike the other hybrids.
pub const X25519_MLKEM768: [u8; 1216] = joined(&MLKEM768, &X25519);
pub const SECP256R1_MLKEM768: [u8; 1249] = joined(&SECP256R1, &MLKEM768);
pub const SECP384R1_MLKEM1024: [u8; 1665] = joined(&SECP384R1, &MLKEM1024);
/// The draft that browsers spoke before; its Kyber keys look like those of ML-KEM.
pub const X25519_KYBER768_DRAFT00: [u8; 1216] = joined(&X25519, &MLKEM768);

pub const FFDHE2048: [u8; 256] = four();
pub const FFDHE3072: [u8; 384] = four();
pub const FFDHE4096: [u8; 512] = four();
pub const FFDHE6144: [u8; 768] = four();
pub const FFDHE8192: [u8; 1024] = four();

/// A client's share for this group, if there is one here; the others are found by an empty list of shares, which a
/// server answers with the group that it wants.
pub fn client_share(code: u16) -> Option<&'static [u8]> {
    Some(match code {
        group::X25519 => &X25519,
        group::X448 => &X448,
        group::SECP256R1 => &SECP256R1,
        group::SECP384R1 => &SECP384R1,
        group::SECP521R1 => &SECP521R1,
        group::FFDHE2048 => &FFDHE2048,
        group::FFDHE3072 => &FFDHE3072,
        group::FFDHE4096 => &FFDHE4096,
        group::FFDHE6144 => &FFDHE6144,
        group::FFDHE8192 => &FFDHE8192,
        group::MLKEM512 => &MLKEM512,
        group::MLKEM768 => &MLKEM768,
        group::MLKEM1024 => &MLKEM1024,
        group::X25519_MLKEM768 => &X25519_MLKEM768,
        group::SECP256R1_MLKEM768 => &SECP256R1_MLKEM768,
        group::SECP384R1_MLKEM1024 => &SECP384R1_MLKEM1024,
        group::X25519_KYBER768_DRAFT00 => &X25519_KYBER768_DRAFT00,
        _ => return None,
    })
}

/// The number 4, as long as the prime is: RFC 8446 4.2.8.1.
#[allow(clippy::indexing_slicing)] // Evaluated by the compiler: an index out of bounds does not build.
const fn four<const N: usize>() -> [u8; N] {
    let mut key = [0; N];
    key[N - 1] = 4;
    key
}

#[allow(clippy::indexing_slicing)] // Evaluated by the compiler: an index out of bounds does not build.
const fn joined<const A: usize, const B: usize, const N: usize>(
    first: &[u8; A],
    second: &[u8; B],
) -> [u8; N] {
    assert!(A + B == N);
    let mut key = [0; N];
    let mut at = 0;
    while at < N {
        key[at] = if at < A { first[at] } else { second[at - A] };
        at += 1;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::super::registry::GROUPS;
    use super::*;

    #[test]
    fn each_share_is_as_long_as_its_group_says() {
        for row in GROUPS {
            if let Some(share) = client_share(row.code) {
                assert_eq!(share.len(), usize::from(row.client_share_bytes), "{}", row.name);
            }
        }
        assert_eq!(client_share(0x001a), None);
    }

    #[test]
    fn coefficients_of_the_encapsulation_key_are_below_the_modulus() {
        for [a, b, c] in MLKEM768.as_chunks::<3>().0.iter().take(384) {
            let first = u16::from(*a) | (u16::from(*b) & 0x0f) << 8;
            let second = u16::from(*b) >> 4 | u16::from(*c) << 4;
            assert!(first < 3329 && second < 3329);
        }
    }
}
