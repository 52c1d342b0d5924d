//! Named groups: curves, finite fields, key encapsulation, and hybrids of them.
//!
//! Sources: IANA "TLS Supported Groups"; RFC 8422, 7027, 7919, 8446, 8734, 9189; sizes of shares from RFC 8446 4.2.8,
//! FIPS 203 table 3, draft-ietf-tls-ecdhe-mlkem and draft-ietf-tls-mlkem. Strengths are those of NIST SP 800-56A rev. 3
//! (tables 24 to 26) and FIPS 203; a curve that is in neither has half its bits, rounded down to the next step there.

/// What a group is built on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupKind {
    /// A curve over a prime field.
    Prime,
    /// A curve over a binary field.
    Binary,
    /// X25519, X448.
    Montgomery,
    /// Diffie-Hellman in a finite field.
    Ffdhe,
    /// Key encapsulation alone.
    MlKem,
    /// Key encapsulation beside a curve: broken only if both are.
    Hybrid,
    Gost,
    /// The server sends the parameters of a curve of its own.
    Explicit,
}

/// One row of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Group {
    pub code: u16,
    /// In IANA's spelling.
    pub name: &'static str,
    /// In OpenSSL's spelling, where it differs and a DBA meets it.
    pub openssl_name: Option<&'static str>,
    pub kind: GroupKind,
    /// Work of an attacker with an ordinary computer, as a power of two. 0 where the group does not fix it.
    pub strength_bits: u16,
    /// Length of a client's TLS 1.3 key share; 0 where TLS 1.3 has none.
    pub client_share_bytes: u16,
    /// Length of the server's answer to it.
    pub server_share_bytes: u16,
}

impl Group {
    /// Holds against an attacker who records now and has a quantum computer later.
    pub const fn resists_quantum_computers(&self) -> bool {
        matches!(self.kind, GroupKind::MlKem | GroupKind::Hybrid)
    }

    /// May be named in a key share or chosen by a server of TLS 1.3.
    pub const fn is_in_tls13(&self) -> bool {
        self.client_share_bytes > 0
    }
}

pub const SECP256R1: u16 = 0x0017;
pub const SECP384R1: u16 = 0x0018;
pub const SECP521R1: u16 = 0x0019;
pub const X25519: u16 = 0x001d;
pub const X448: u16 = 0x001e;
pub const FFDHE2048: u16 = 0x0100;
pub const FFDHE3072: u16 = 0x0101;
pub const FFDHE4096: u16 = 0x0102;
pub const FFDHE6144: u16 = 0x0103;
pub const FFDHE8192: u16 = 0x0104;
pub const MLKEM512: u16 = 0x0200;
pub const MLKEM768: u16 = 0x0201;
pub const MLKEM1024: u16 = 0x0202;
pub const SECP256R1_MLKEM768: u16 = 0x11eb;
pub const X25519_MLKEM768: u16 = 0x11ec;
pub const SECP384R1_MLKEM1024: u16 = 0x11ed;
pub const X25519_KYBER768_DRAFT00: u16 = 0x6399;
pub const EXPLICIT_PRIME: u16 = 0xff01;
pub const EXPLICIT_CHAR2: u16 = 0xff02;

const fn group(
    code: u16,
    name: &'static str,
    openssl_name: &'static str,
    kind: GroupKind,
    strength_bits: u16,
    share_bytes: (u16, u16),
) -> Group {
    Group {
        code,
        name,
        openssl_name: if openssl_name.is_empty() { None } else { Some(openssl_name) },
        kind,
        strength_bits,
        client_share_bytes: share_bytes.0,
        server_share_bytes: share_bytes.1,
    }
}

const NOT_IN_TLS13: (u16, u16) = (0, 0);

use GroupKind::{Binary, Explicit, Ffdhe, Gost, Hybrid, MlKem, Montgomery, Prime};

/// Every group that this crate knows, sorted by code.
#[rustfmt::skip]
pub static GROUPS: &[Group] = &[
//        code    name, name in OpenSSL, kind, strength, shares of client and server
    group(0x0001, "sect163k1", "", Binary, 80, NOT_IN_TLS13),
    group(0x0002, "sect163r1", "", Binary, 80, NOT_IN_TLS13),
    group(0x0003, "sect163r2", "", Binary, 80, NOT_IN_TLS13),
    group(0x0004, "sect193r1", "", Binary, 96, NOT_IN_TLS13),
    group(0x0005, "sect193r2", "", Binary, 96, NOT_IN_TLS13),
    group(0x0006, "sect233k1", "", Binary, 112, NOT_IN_TLS13),
    group(0x0007, "sect233r1", "", Binary, 112, NOT_IN_TLS13),
    group(0x0008, "sect239k1", "", Binary, 112, NOT_IN_TLS13),
    group(0x0009, "sect283k1", "", Binary, 128, NOT_IN_TLS13),
    group(0x000a, "sect283r1", "", Binary, 128, NOT_IN_TLS13),
    group(0x000b, "sect409k1", "", Binary, 192, NOT_IN_TLS13),
    group(0x000c, "sect409r1", "", Binary, 192, NOT_IN_TLS13),
    group(0x000d, "sect571k1", "", Binary, 256, NOT_IN_TLS13),
    group(0x000e, "sect571r1", "", Binary, 256, NOT_IN_TLS13),
    group(0x000f, "secp160k1", "", Prime, 80, NOT_IN_TLS13),
    group(0x0010, "secp160r1", "", Prime, 80, NOT_IN_TLS13),
    group(0x0011, "secp160r2", "", Prime, 80, NOT_IN_TLS13),
    group(0x0012, "secp192k1", "", Prime, 96, NOT_IN_TLS13),
    group(0x0013, "secp192r1", "prime192v1", Prime, 96, NOT_IN_TLS13),
    group(0x0014, "secp224k1", "", Prime, 112, NOT_IN_TLS13),
    group(0x0015, "secp224r1", "", Prime, 112, NOT_IN_TLS13),
    group(0x0016, "secp256k1", "", Prime, 128, NOT_IN_TLS13),
    group(0x0017, "secp256r1", "prime256v1", Prime, 128, (65, 65)),
    group(0x0018, "secp384r1", "", Prime, 192, (97, 97)),
    group(0x0019, "secp521r1", "", Prime, 256, (133, 133)),
    group(0x001a, "brainpoolP256r1", "", Prime, 128, NOT_IN_TLS13),
    group(0x001b, "brainpoolP384r1", "", Prime, 192, NOT_IN_TLS13),
    group(0x001c, "brainpoolP512r1", "", Prime, 256, NOT_IN_TLS13),
    group(0x001d, "x25519", "X25519", Montgomery, 128, (32, 32)),
    group(0x001e, "x448", "X448", Montgomery, 224, (56, 56)),
    group(0x001f, "brainpoolP256r1tls13", "", Prime, 128, (65, 65)),
    group(0x0020, "brainpoolP384r1tls13", "", Prime, 192, (97, 97)),
    group(0x0021, "brainpoolP512r1tls13", "", Prime, 256, (129, 129)),
    group(0x0022, "GC256A", "", Gost, 128, (64, 64)),
    group(0x0023, "GC256B", "", Gost, 128, (64, 64)),
    group(0x0024, "GC256C", "", Gost, 128, (64, 64)),
    group(0x0025, "GC256D", "", Gost, 128, (64, 64)),
    group(0x0026, "GC512A", "", Gost, 256, (128, 128)),
    group(0x0027, "GC512B", "", Gost, 256, (128, 128)),
    group(0x0028, "GC512C", "", Gost, 256, (128, 128)),
    group(0x0029, "curveSM2", "", Prime, 128, (65, 65)),
    group(0x0100, "ffdhe2048", "", Ffdhe, 112, (256, 256)),
    group(0x0101, "ffdhe3072", "", Ffdhe, 128, (384, 384)),
    group(0x0102, "ffdhe4096", "", Ffdhe, 152, (512, 512)),
    group(0x0103, "ffdhe6144", "", Ffdhe, 176, (768, 768)),
    group(0x0104, "ffdhe8192", "", Ffdhe, 200, (1024, 1024)),
    group(0x0200, "MLKEM512", "", MlKem, 128, (800, 768)),
    group(0x0201, "MLKEM768", "", MlKem, 192, (1184, 1088)),
    group(0x0202, "MLKEM1024", "", MlKem, 256, (1568, 1568)),
    group(0x11eb, "SecP256r1MLKEM768", "", Hybrid, 192, (65 + 1184, 65 + 1088)),
    group(0x11ec, "X25519MLKEM768", "", Hybrid, 192, (1184 + 32, 1088 + 32)),
    group(0x11ed, "SecP384r1MLKEM1024", "", Hybrid, 256, (97 + 1568, 97 + 1568)),
    group(0x11ee, "curveSM2MLKEM768", "", Hybrid, 192, (65 + 1184, 65 + 1088)),
    group(0x6399, "X25519Kyber768Draft00", "", Hybrid, 192, (32 + 1184, 32 + 1088)),
    group(0x639a, "SecP256r1Kyber768Draft00", "", Hybrid, 192, (65 + 1184, 65 + 1088)),
    group(0xff01, "arbitrary_explicit_prime_curves", "", Explicit, 0, NOT_IN_TLS13),
    group(0xff02, "arbitrary_explicit_char2_curves", "", Explicit, 0, NOT_IN_TLS13),
];
