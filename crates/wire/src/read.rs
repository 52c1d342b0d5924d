//! A cursor over a received slice; every step is checked.

use crate::WireError;

/// The rest of a message that is being read, and the name errors give it.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Self { rest: bytes, what }
    }

    /// The same place in the same bytes, under the name of the field that is read next.
    pub(crate) fn named(&mut self, what: &'static str) -> &mut Self {
        self.what = what;
        self
    }

    pub(crate) fn what(&self) -> &'static str {
        self.what
    }

    /// An error that blames the field being read.
    pub(crate) fn malformed(&self, reason: &'static str) -> WireError {
        WireError::Malformed { what: self.what, reason }
    }

    /// Nothing may follow: bytes that nobody explains are no success.
    pub(crate) fn end(&self) -> Result<(), WireError> {
        if self.is_empty() { Ok(()) } else { Err(self.malformed("bytes follow after its end")) }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        match self.rest.split_at_checked(count) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(WireError::Truncated {
                what: self.what,
                needed_bytes: count as u64,
                have_bytes: self.rest.len() as u64,
            }),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, WireError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u24(&mut self) -> Result<u32, WireError> {
        self.array().map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, WireError> {
        self.array().map(u64::from_le_bytes)
    }

    // TLS counts in network byte order.

    pub(crate) fn u16_be(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u24_be(&mut self) -> Result<u32, WireError> {
        self.array().map(|[a, b, c]| u32::from_be_bytes([0, a, b, c]))
    }

    pub(crate) fn u32_be(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_be_bytes)
    }

    /// Bytes behind a length of one byte. The limit of these three lengths is the message they stand in, which its
    /// collector has bounded.
    pub(crate) fn after_u8(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.u8()?;
        self.take(usize::from(length))
    }

    /// Bytes behind a length of two bytes.
    pub(crate) fn after_u16(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.u16_be()?;
        self.take(usize::from(length))
    }

    /// Bytes behind a length of three bytes.
    pub(crate) fn after_u24(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.u24_be()?;
        self.take(length as usize)
    }

    /// All that is left as codes of two bytes.
    pub(crate) fn codes(&mut self) -> Result<Vec<u16>, WireError> {
        let mut codes = Vec::with_capacity(self.rest.len() / 2);
        while !self.is_empty() {
            codes.push(self.u16_be()?);
        }
        Ok(codes)
    }

    /// Bytes up to a NUL, which is consumed.
    pub(crate) fn until_nul(&mut self) -> Result<&'a [u8], WireError> {
        let Some(end) = self.rest.iter().position(|byte| *byte == 0) else {
            return Err(WireError::Truncated {
                what: self.what,
                needed_bytes: self.rest.len() as u64 + 1,
                have_bytes: self.rest.len() as u64,
            });
        };
        let text = self.take(end)?;
        self.take(1)?;
        Ok(text)
    }

    /// Bytes up to a NUL or to the end: old servers forget the closing NUL.
    pub(crate) fn until_nul_or_end(&mut self) -> &'a [u8] {
        if let Ok(text) = self.until_nul() {
            return text;
        }
        std::mem::take(&mut self.rest)
    }

    pub(crate) fn lenenc_int(&mut self) -> Result<u64, WireError> {
        match self.u8()? {
            first @ 0..=0xfa => Ok(u64::from(first)),
            0xfc => self.u16().map(u64::from),
            0xfd => self.u24().map(u64::from),
            0xfe => self.u64(),
            0xfb | 0xff => {
                Err(WireError::Malformed { what: self.what, reason: "0xfb or 0xff is no length prefix here" })
            }
        }
    }

    pub(crate) fn lenenc_bytes(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.lenenc_int()?;
        // The limit of the length is the message itself, which PacketBuffer has already bounded.
        match usize::try_from(length) {
            Ok(count) => self.take(count),
            Err(_) => Err(WireError::Truncated {
                what: self.what,
                needed_bytes: length,
                have_bytes: self.rest.len() as u64,
            }),
        }
    }

    /// A cell of a text row: `None` is SQL NULL.
    pub(crate) fn lenenc_cell(&mut self) -> Result<Option<&'a [u8]>, WireError> {
        if self.rest.first() == Some(&0xfb) {
            self.take(1)?;
            return Ok(None);
        }
        self.lenenc_bytes().map(Some)
    }
}

/// Length-encoded integers and strings, the writing half.
pub mod lenenc {
    /// Appends a length-encoded integer in its shortest form.
    pub fn write_int(out: &mut Vec<u8>, value: u64) {
        let [b0, b1, b2, ..] = value.to_le_bytes();
        match value {
            0..=0xfa => out.push(b0),
            0xfb..=0xffff => out.extend_from_slice(&[0xfc, b0, b1]),
            0x1_0000..=0xff_ffff => out.extend_from_slice(&[0xfd, b0, b1, b2]),
            _ => {
                out.push(0xfe);
                out.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    /// Appends a length-encoded string.
    pub fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
        write_int(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }

    /// Reads a length-encoded integer: the value and how many bytes it took.
    pub fn read_int(bytes: &[u8]) -> Result<(u64, usize), crate::WireError> {
        let mut reader = super::Reader::new("length-encoded integer", bytes);
        let value = reader.lenenc_int()?;
        Ok((value, bytes.len() - reader.rest().len()))
    }
}
