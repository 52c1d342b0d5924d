//! Just enough DER to find one extension in a certificate. The `openssl` crate tells key usages but not whether a
//! certificate is a CA's.

const SEQUENCE: u8 = 0x30;
const EXTENSIONS: u8 = 0xa3;
const OBJECT_ID: u8 = 0x06;
const OCTET_STRING: u8 = 0x04;
const BOOLEAN: u8 = 0x01;

/// 2.5.29.19
const BASIC_CONSTRAINTS: [u8; 3] = [0x55, 0x1d, 0x13];

/// True if the certificate has basicConstraints with CA:TRUE. Anything unreadable is `false`.
pub(crate) fn is_ca(certificate_der: &[u8]) -> bool {
    ca_flag(certificate_der).unwrap_or(false)
}

// Source: RFC 5280, 4.1 (Certificate) and 4.2.1.9 (BasicConstraints).
fn ca_flag(der: &[u8]) -> Option<bool> {
    let (certificate, _) = expect(SEQUENCE, der)?;
    let (to_be_signed, _) = expect(SEQUENCE, certificate)?;
    let extensions = Elements(to_be_signed).find(|(tag, _)| *tag == EXTENSIONS)?.1;
    let (list, _) = expect(SEQUENCE, extensions)?;
    for (_, extension) in Elements(list) {
        let mut parts = Elements(extension);
        if parts.next()? != (OBJECT_ID, BASIC_CONSTRAINTS.as_slice()) {
            continue;
        }
        let (_, value) = parts.find(|(tag, _)| *tag == OCTET_STRING)?;
        let (constraints, _) = expect(SEQUENCE, value)?;
        let first = Elements(constraints).next();
        return Some(first.is_some_and(|(tag, content)| tag == BOOLEAN && content != [0]));
    }
    None
}

/// The elements that stand one after the other in these bytes, as far as they are well formed.
struct Elements<'a>(&'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (tag, content, rest) = element(self.0)?;
        self.0 = rest;
        Some((tag, content))
    }
}

fn expect(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = element(bytes)?;
    (found == tag).then_some((content, rest))
}

/// Tag, content and what follows. Lengths above four bytes do not occur in certificates.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let count = usize::from(first & 0x7f);
        if count == 0 || count > 4 {
            return None;
        }
        let (digits, rest) = rest.split_at_checked(count)?;
        let length = digits
            .iter()
            .try_fold(0_usize, |all, digit| all.checked_mul(256)?.checked_add(usize::from(*digit)))?;
        (length, rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bytes_panic() {
        for bytes in [
            &b""[..],
            b"\x30",
            b"\x30\x80",
            b"\x30\x85\xff",
            b"\x30\x84\xff\xff\xff\xff",
            b"\x30\x02\x30\x05",
        ] {
            assert!(!is_ca(bytes));
        }
    }
}
