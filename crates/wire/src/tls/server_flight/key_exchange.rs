//! ServerKeyExchange: its shape depends on the suite that the ServerHello chose.
//!
//! Sources: RFC 5246 7.4.3 (DHE), RFC 4346 7.4.3 (RSA export), RFC 8422 5.4 (curves), RFC 4279 and 5489 (PSK),
//! RFC 5054 2.5.3 (SRP).

use super::super::registry::{KeyExchange, Version};
use crate::WireError;
use crate::read::Reader;

/// RFC 8422 5.4.
const CURVE_EXPLICIT_PRIME: u8 = 1;
const CURVE_EXPLICIT_CHAR2: u8 = 2;
const CURVE_NAMED: u8 = 3;
const BASIS_TRINOMIAL: u8 = 1;
const BASIS_PENTANOMIAL: u8 = 2;

/// A number of any size, as sent: the most significant byte first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BigNumber(pub Vec<u8>);

impl BigNumber {
    /// Its length in bits, zeros in front not counted.
    pub fn bits(&self) -> usize {
        let zeros = self.0.iter().take_while(|byte| **byte == 0).count();
        match self.0.get(zeros) {
            Some(first) => (self.0.len() - zeros) * 8 - first.leading_zeros() as usize,
            None => 0,
        }
    }
}

/// On which curve the server's point lies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EcParameters {
    Named(u16),
    /// A curve of the server's own making, over a prime field of so many bits.
    ExplicitPrime {
        prime: BigNumber,
        order: BigNumber,
    },
    /// The same over a binary field.
    ExplicitChar2 {
        field_bits: u16,
        order: BigNumber,
    },
}

/// The parameters in front of the signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerParameters {
    Dhe {
        p: BigNumber,
        g: BigNumber,
        public_key: BigNumber,
    },
    Ecdhe {
        curve: EcParameters,
        point: Vec<u8>,
    },
    /// The weak key of an export suite.
    RsaExport {
        modulus: BigNumber,
        exponent: BigNumber,
    },
    /// Only a hint which key is meant.
    Psk,
    Srp {
        modulus: BigNumber,
        generator: BigNumber,
    },
    /// The suite is not known, or its message is not taken apart here.
    Other {
        bytes: usize,
    },
}

/// What the server proves its key by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Only TLS 1.2 names it; before, RSA signs MD5 with SHA-1, and the others SHA-1.
    pub scheme: Option<u16>,
    pub bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerKeyExchange {
    pub parameters: ServerParameters,
    /// `None` where nobody signs: anonymous suites, pre-shared keys.
    pub signature: Option<Signature>,
    /// Bytes of the hint, with a pre-shared key.
    pub psk_identity_hint_bytes: Option<usize>,
}

/// `key_exchange` and `is_anon` are those of the chosen suite; `None` for a suite that nobody knows.
pub(super) fn parse(
    body: &[u8],
    version: Version,
    key_exchange: Option<KeyExchange>,
    is_anon: bool,
) -> Result<ServerKeyExchange, WireError> {
    use KeyExchange as K;
    let mut reader = Reader::new("ServerKeyExchange", body);
    let reader = &mut reader;
    let has_hint = matches!(key_exchange, Some(K::Psk | K::DhePsk | K::EcdhePsk | K::RsaPsk));
    let psk_identity_hint_bytes =
        if has_hint { Some(reader.named("PSK identity hint").after_u16()?.len()) } else { None };
    let parameters = match key_exchange {
        Some(K::Dhe | K::DhePsk) => ServerParameters::Dhe {
            p: number(reader.named("DH prime"))?,
            g: number(reader.named("DH generator"))?,
            public_key: number(reader.named("DH public key"))?,
        },
        Some(K::Ecdhe | K::EcdhePsk) => ServerParameters::Ecdhe {
            curve: curve(reader)?,
            point: reader.named("ECDH point").after_u8()?.to_vec(),
        },
        // An RSA suite sends this message only when it is an export suite, or when it should not (FREAK).
        Some(K::Rsa) => ServerParameters::RsaExport {
            modulus: number(reader.named("RSA modulus"))?,
            exponent: number(reader.named("RSA exponent"))?,
        },
        Some(K::Psk | K::RsaPsk) => ServerParameters::Psk,
        Some(K::Srp) => {
            let modulus = number(reader.named("SRP modulus"))?;
            let generator = number(reader.named("SRP generator"))?;
            reader.named("SRP salt").after_u8()?;
            number(reader.named("SRP public value"))?;
            ServerParameters::Srp { modulus, generator }
        }
        _ => {
            return Ok(ServerKeyExchange {
                parameters: ServerParameters::Other { bytes: body.len() },
                signature: None,
                psk_identity_hint_bytes,
            });
        }
    };
    // SRP signs only with a certificate; whether it does is seen by what is left.
    let is_unsigned = has_hint || is_anon || (key_exchange == Some(K::Srp) && reader.is_empty());
    let signature = if is_unsigned { None } else { Some(signature(reader, version)?) };
    reader.end()?;
    Ok(ServerKeyExchange { parameters, signature, psk_identity_hint_bytes })
}

fn number(reader: &mut Reader<'_>) -> Result<BigNumber, WireError> {
    let bytes = reader.after_u16()?;
    if bytes.is_empty() {
        return Err(reader.malformed("it is empty"));
    }
    Ok(BigNumber(bytes.to_vec()))
}

fn short_number(reader: &mut Reader<'_>) -> Result<BigNumber, WireError> {
    let bytes = reader.after_u8()?;
    if bytes.is_empty() {
        return Err(reader.malformed("it is empty"));
    }
    Ok(BigNumber(bytes.to_vec()))
}

fn curve(reader: &mut Reader<'_>) -> Result<EcParameters, WireError> {
    match reader.named("ECDH curve").u8()? {
        CURVE_NAMED => Ok(EcParameters::Named(reader.u16_be()?)),
        CURVE_EXPLICIT_PRIME => {
            let prime = short_number(reader.named("prime of an explicit curve"))?;
            let order = rest_of_curve(reader)?;
            Ok(EcParameters::ExplicitPrime { prime, order })
        }
        CURVE_EXPLICIT_CHAR2 => {
            let field_bits = reader.named("field of an explicit curve").u16_be()?;
            let terms = match reader.u8()? {
                BASIS_TRINOMIAL => 1,
                BASIS_PENTANOMIAL => 3,
                _ => return Err(reader.malformed("its basis is none of the two known")),
            };
            for _ in 0..terms {
                reader.after_u8()?;
            }
            let order = rest_of_curve(reader)?;
            Ok(EcParameters::ExplicitChar2 { field_bits, order })
        }
        _ => Err(reader.malformed("its kind is none of the three known")),
    }
}

/// Coefficients, base point, order, cofactor: the order is the one that tells the strength.
fn rest_of_curve(reader: &mut Reader<'_>) -> Result<BigNumber, WireError> {
    reader.named("coefficient of an explicit curve").after_u8()?;
    reader.after_u8()?;
    reader.named("base point of an explicit curve").after_u8()?;
    let order = short_number(reader.named("order of an explicit curve"))?;
    reader.named("cofactor of an explicit curve").after_u8()?;
    Ok(order)
}

fn signature(reader: &mut Reader<'_>, version: Version) -> Result<Signature, WireError> {
    reader.named("signature of the ServerKeyExchange");
    let scheme = if version >= Version::TLS12 { Some(reader.u16_be()?) } else { None };
    let bytes = reader.after_u16()?.len();
    Ok(Signature { scheme, bytes })
}
