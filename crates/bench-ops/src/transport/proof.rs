//! What passed while a copy was made: cleartext or TLS, and with which cipher. A relay has looked at every byte of it.

use ::bench::experiments::TransportCipher;
use ::bench::load::TlsShape;
use capture::{Agreed, Canary, CaptureReport, Flow};
use wire::tls::registry::{self, Version};

/// Less than this is no copy: it went another way.
const BYTES_MIN: u64 = 1_000_000;

/// # Errors
/// It is not what it was to be, and why.
pub fn judge(
    seen: &CaptureReport,
    word: &Canary,
    cipher: TransportCipher,
) -> Result<Option<TlsShape>, String> {
    if !seen.is_complete() {
        return Err("not all of it was seen".into());
    }
    let ways = || seen.flows.iter().flat_map(|flow| [&flow.ab, &flow.ba]);
    let bytes: u64 = ways().map(|way| way.bytes).sum();
    if bytes < BYTES_MIN {
        return Err(format!("only {bytes} bytes of it were seen"));
    }
    let words: u64 = ways().filter_map(|way| way.canaries.get(word.tag())).sum();
    if cipher == TransportCipher::ClearText {
        return match words {
            0 => Err("it should be cleartext, but a text that was sent was not seen".into()),
            _ => Ok(None),
        };
    }
    if words > 0 {
        return Err(format!("it should be TLS, but a text that was sent was seen {words} times"));
    }
    let mut found: Option<Agreed> = None;
    for flow in seen.flows.iter().filter(|flow| flow.ab.bytes + flow.ba.bytes > 0) {
        let Some(agreed) = agreed(flow) else {
            return Err("it should be TLS, but a connection of it has no TLS handshake".into());
        };
        if !fits(cipher, agreed) {
            return Err(format!("it uses {}", shape(agreed).cipher));
        }
        found = Some(agreed);
    }
    match found {
        Some(agreed) => Ok(Some(shape(agreed))),
        None => Err("it should be TLS, but no connection of it was seen".into()),
    }
}

/// Both ends begin with records, and nothing stands outside of them.
fn agreed(flow: &Flow) -> Option<Agreed> {
    let is_all_tls = |way: &capture::Direction| way.before_tls_bytes == 0 && way.after_tls_bytes == 0;
    let agreed = flow.ab.agreed.or(flow.ba.agreed)?;
    (is_all_tls(&flow.ab) && is_all_tls(&flow.ba)).then_some(agreed)
}

/// Of TLS 1.3, and of TLS 1.2 with ECDHE-ECDSA.
fn fits(cipher: TransportCipher, agreed: Agreed) -> bool {
    match cipher {
        TransportCipher::ClearText => false,
        TransportCipher::Default => agreed.version == Version::TLS13.0,
        TransportCipher::Aes128 => [0x1301, 0xc02b].contains(&agreed.cipher_suite),
        TransportCipher::Aes256 => [0x1302, 0xc02c].contains(&agreed.cipher_suite),
        TransportCipher::ChaCha20 => [0x1303, 0xcca9].contains(&agreed.cipher_suite),
    }
}

fn shape(Agreed { version, cipher_suite }: Agreed) -> TlsShape {
    let version = Version(version);
    TlsShape {
        version: version.mysql_name().map_or_else(|| version.to_string(), str::to_owned),
        cipher: registry::cipher_suite(cipher_suite).map_or_else(
            || format!("suite 0x{cipher_suite:04x}"),
            |suite| suite.openssl_name.unwrap_or(suite.name).to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(canary: Option<&Canary>, agreed: Option<(u16, u16)>) -> Flow {
        let agreed = agreed.map(|(version, cipher_suite)| Agreed { version, cipher_suite });
        let way = |agreed| capture::Direction {
            bytes: BYTES_MIN,
            agreed,
            canaries: canary.iter().map(|canary| (canary.tag().to_owned(), 3)).collect(),
            ..capture::Direction::default()
        };
        Flow {
            a: ([127, 0, 0, 1], 1).into(),
            b: ([127, 0, 0, 1], 2).into(),
            client: None,
            first_unix_ms: 0,
            last_unix_ms: 0,
            saw_start: true,
            no_session: None,
            login_user: None,
            login_driver: None,
            ab: way(None),
            ba: way(agreed),
        }
    }

    #[test]
    fn what_is_not_as_it_was_to_be_is_refused() {
        let word = Canary::new([7; 16]);
        let judged = |flows: Vec<Flow>, cipher| {
            judge(&CaptureReport { flows, ..CaptureReport::default() }, &word, cipher)
        };
        let (plain, tls13, tls12) =
            (TransportCipher::ClearText, Some((0x0304, 0x1302)), Some((0x0303, 0xc02b)));
        assert_eq!(judged(vec![flow(Some(&word), None)], plain), Ok(None));
        let shape = judged(vec![flow(None, tls13), flow(None, tls13)], TransportCipher::Default);
        let shape = shape.expect("TLS").expect("a shape");
        assert_eq!((shape.version.as_str(), shape.cipher.as_str()), ("TLSv1.3", "TLS_AES_256_GCM_SHA384"));
        assert!(judged(vec![flow(None, tls12)], TransportCipher::Aes128).is_ok());
        let refused = |flows, cipher, why: &str| {
            let said = judged(flows, cipher).expect_err(why);
            assert!(said.contains(why), "{said}");
        };
        refused(vec![flow(None, tls13)], plain, "should be cleartext");
        refused(vec![flow(Some(&word), tls13)], TransportCipher::Default, "was seen 6 times");
        refused(vec![flow(None, tls13), flow(None, None)], TransportCipher::Default, "no TLS handshake");
        refused(vec![flow(None, tls12)], TransportCipher::Default, "ECDHE-ECDSA-AES128-GCM-SHA256");
        refused(vec![flow(None, tls13)], TransportCipher::ChaCha20, "TLS_AES_256_GCM_SHA384");
        refused(vec![], TransportCipher::Default, "only 0 bytes");
        // Bytes beside the records of one that has shaken hands.
        let mut beside = flow(None, tls13);
        beside.ba.after_tls_bytes = 1;
        refused(vec![beside], TransportCipher::Default, "no TLS handshake");
        let mut missed = flow(None, tls13);
        missed.ab.missing_bytes = 1;
        refused(vec![missed], TransportCipher::Default, "not all of it was seen");
    }
}
