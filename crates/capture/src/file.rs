//! Capture files: pcap and pcapng, read in pieces as they come, without copying a packet.
//!
//! [`Reader`] does no I/O: it is given what was read so far, says how much of it is used up, and wants the rest again
//! with more behind it. What it may ask to be held is bounded by [`HELD_BYTES_MAX`]; longer blocks that carry no packets
//! are stepped over as they pass.
//!
//! Sources: draft-ietf-opsawg-pcap (pcap) and draft-ietf-opsawg-pcapng (pcapng). Left out: Kuznetzov's and IXIA's variants
//! of pcap; name resolution, statistics and decryption secrets of pcapng (nothing here wants to decrypt).

use crate::link::Link;

/// Longer packets are damage: IP has 64 KiB, Linux joins up to 512 KiB for itself ("BIG TCP").
pub const PACKET_BYTES_MAX: u32 = 1 << 20;
/// A packet block: the packet, its fixed fields, and options (comments, hashes).
const PACKET_BLOCK_BYTES_MAX: u32 = PACKET_BYTES_MAX + (64 << 10);
/// A section or interface with longer options than this is damage.
const DESCRIPTION_BYTES_MAX: u32 = 64 << 10;
/// So many bytes at most must be held for the next call.
pub const HELD_BYTES_MAX: usize = PACKET_BLOCK_BYTES_MAX as usize;
/// One interface a file is usual, one per network device happens; who writes more wants our memory.
const INTERFACES_MAX: usize = 4096;

const PCAP_HEADER_BYTES: usize = 24;
const PCAP_RECORD_BYTES: usize = 16;
const PCAP_MICROSECONDS: u32 = 0xa1b2_c3d4;
const PCAP_NANOSECONDS: u32 = 0xa1b2_3c4d;

const BLOCK_SECTION: u32 = 0x0a0d_0d0a;
const BLOCK_INTERFACE: u32 = 1;
/// Obsolete, yet in old files.
const BLOCK_PACKET: u32 = 2;
const BLOCK_SIMPLE_PACKET: u32 = 3;
const BLOCK_ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Type, length, and the length again.
const BLOCK_BYTES_MIN: u32 = 12;
const OPTION_TIME_RESOLUTION: u16 = 9;
const OPTION_TIME_OFFSET: u16 = 14;

/// Why a file cannot be read on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("it is neither pcap nor pcapng: it begins with {first:02x?}")]
    NoCapture { first: [u8; 4] },
    #[error("it is compressed with {with}")]
    Compressed { with: &'static str },
    #[error("{what} at byte {at} announces {announced} bytes; the limit is {max}")]
    OverLimit { what: &'static str, at: u64, announced: u64, max: u64 },
    #[error("{what} at byte {at} is damaged: {why}")]
    Damaged { what: &'static str, at: u64, why: &'static str },
}

/// A packet as it lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePacket<'a> {
    pub link: Link,
    /// Zero where the file does not say when.
    pub unix_ms: u64,
    /// What was captured, from the link header on.
    pub bytes: &'a [u8],
}

/// Reads a capture file piece by piece.
#[derive(Debug, Default)]
pub struct Reader {
    form: Form,
    /// Bytes of the file before those that are given next.
    at: u64,
    /// Of a block that is none of ours, so many bytes are still to come.
    skip_bytes: u64,
}

#[derive(Debug, Default)]
enum Form {
    #[default]
    Unknown,
    Pcap {
        order: Endian,
        units_per_s: u64,
        link: Link,
    },
    Pcapng {
        order: Endian,
        interfaces: Vec<Interface>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endian {
    Little,
    Big,
}

#[derive(Debug, Clone, Copy)]
struct Interface {
    link: Link,
    /// Zero: no limit.
    snap_bytes: u32,
    units_per_s: u64,
    offset_s: i64,
}

impl Endian {
    fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }
}

/// Fixed fields from the beginning of a slice.
struct Fields<'a> {
    rest: &'a [u8],
    order: Endian,
}

impl<'a> Fields<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.rest.split_first_chunk::<N>()?;
        self.rest = tail;
        Some(*head)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(|bytes| self.order.u16(bytes))
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(|bytes| self.order.u32(bytes))
    }

    fn take(&mut self, count: u32) -> Option<&'a [u8]> {
        let (head, tail) = self.rest.split_at_checked(count as usize)?;
        self.rest = tail;
        Some(head)
    }
}

/// One step through the file.
enum Step<'a> {
    /// More bytes are needed.
    Wait,
    /// So many bytes are done with.
    Done(usize),
    /// As many bytes as this are none of ours, here or still to come.
    Skip(u64),
    Packet(usize, FilePacket<'a>),
}

impl Reader {
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads what is whole in `bytes`, gives each packet to `each`, and says how many bytes are used up. What is left is
    /// wanted again, in front of what comes next; it is never more than [`HELD_BYTES_MAX`].
    ///
    /// # Errors
    /// No capture file, or a damaged one; packets before the damage were given.
    pub fn read(&mut self, bytes: &[u8], each: &mut impl FnMut(FilePacket<'_>)) -> Result<usize, FileError> {
        let mut used = 0;
        loop {
            let rest = bytes.get(used..).unwrap_or_default();
            if self.skip_bytes > 0 {
                let now = usize::try_from(self.skip_bytes).unwrap_or(usize::MAX).min(rest.len());
                self.skip_bytes -= now as u64;
                self.at += now as u64;
                used += now;
                if self.skip_bytes > 0 {
                    return Ok(used);
                }
                continue;
            }
            let step = match &mut self.form {
                Form::Unknown => begin(rest, &mut self.form)?,
                Form::Pcap { order, units_per_s, link } => {
                    pcap_record(rest, *order, *units_per_s, *link, self.at)?
                }
                Form::Pcapng { order, interfaces } => block(rest, order, interfaces, self.at)?,
            };
            let done = match step {
                Step::Wait => return Ok(used),
                Step::Skip(count) => {
                    self.skip_bytes = count;
                    continue;
                }
                Step::Done(done) => done,
                Step::Packet(done, packet) => {
                    each(packet);
                    done
                }
            };
            self.at += done as u64;
            used += done;
        }
    }

    /// Does the file end in the midst of something, with so many bytes of it left? A tool that was killed leaves such
    /// files; what came before is good.
    pub fn is_cut_short(&self, left_bytes: usize) -> bool {
        left_bytes > 0 || self.skip_bytes > 0 || matches!(self.form, Form::Unknown)
    }
}

fn begin(bytes: &[u8], form: &mut Form) -> Result<Step<'static>, FileError> {
    let Some(first) = bytes.first_chunk::<4>() else { return Ok(Step::Wait) };
    if u32::from_be_bytes(*first) == BLOCK_SECTION {
        // The section says its byte order itself, so whichever stands here is replaced.
        *form = Form::Pcapng { order: Endian::Little, interfaces: Vec::new() };
        return Ok(Step::Done(0));
    }
    let order = match (u32::from_le_bytes(*first), u32::from_be_bytes(*first)) {
        (PCAP_MICROSECONDS | PCAP_NANOSECONDS, _) => Endian::Little,
        (_, PCAP_MICROSECONDS | PCAP_NANOSECONDS) => Endian::Big,
        _ => {
            return Err(match first {
                [0x1f, 0x8b, ..] => FileError::Compressed { with: "gzip" },
                [0x28, 0xb5, 0x2f, 0xfd] => FileError::Compressed { with: "zstd" },
                [0xfd, b'7', b'z', b'X'] => FileError::Compressed { with: "xz" },
                [0x04, 0x22, 0x4d, 0x18] => FileError::Compressed { with: "lz4" },
                _ => FileError::NoCapture { first: *first },
            });
        }
    };
    let Some(header) = bytes.get(..PCAP_HEADER_BYTES) else { return Ok(Step::Wait) };
    let units_per_s = if order.u32(*first) == PCAP_NANOSECONDS { 1_000_000_000 } else { 1_000_000 };
    let number = header.last_chunk::<4>().map_or(0, |bytes| order.u32(*bytes));
    // The upper bits tell of a frame check sequence behind each packet; IP says its own length, so it does no harm.
    let link = Link::of(u16::try_from(number & 0xffff).unwrap_or(u16::MAX));
    *form = Form::Pcap { order, units_per_s, link };
    Ok(Step::Done(PCAP_HEADER_BYTES))
}

fn pcap_record(
    bytes: &[u8],
    order: Endian,
    units_per_s: u64,
    link: Link,
    at: u64,
) -> Result<Step<'_>, FileError> {
    let mut fields = Fields { rest: bytes, order };
    let (Some(seconds), Some(units), Some(captured_bytes), Some(_sent_bytes)) =
        (fields.u32(), fields.u32(), fields.u32(), fields.u32())
    else {
        return Ok(Step::Wait);
    };
    check(captured_bytes, PACKET_BYTES_MAX, "a packet", at)?;
    let Some(packet) = fields.take(captured_bytes) else { return Ok(Step::Wait) };
    let unix_ms = u64::from(seconds) * 1000 + u64::from(units) / (units_per_s / 1000);
    Ok(Step::Packet(PCAP_RECORD_BYTES + packet.len(), FilePacket { link, unix_ms, bytes: packet }))
}

fn check(announced: u32, max: u32, what: &'static str, at: u64) -> Result<(), FileError> {
    if announced <= max {
        return Ok(());
    }
    Err(FileError::OverLimit { what, at, announced: announced.into(), max: max.into() })
}

fn block<'a>(
    bytes: &'a [u8],
    order: &mut Endian,
    interfaces: &mut Vec<Interface>,
    at: u64,
) -> Result<Step<'a>, FileError> {
    let damaged = |what, why| Err(FileError::Damaged { what, at, why });
    let Some((first, after_type)) = bytes.split_first_chunk::<4>() else { return Ok(Step::Wait) };
    // It reads the same in both orders.
    let is_section = u32::from_be_bytes(*first) == BLOCK_SECTION;
    if is_section {
        let Some(magic) = bytes.get(8..12).and_then(|bytes| bytes.first_chunk::<4>()) else {
            return Ok(Step::Wait);
        };
        *order = match (u32::from_le_bytes(*magic), u32::from_be_bytes(*magic)) {
            (BYTE_ORDER_MAGIC, _) => Endian::Little,
            (_, BYTE_ORDER_MAGIC) => Endian::Big,
            _ => return damaged("a section", "its byte order is none"),
        };
    }
    let kind = order.u32(*first);
    let Some(length) = after_type.first_chunk::<4>().map(|bytes| order.u32(*bytes)) else {
        return Ok(Step::Wait);
    };
    if length < BLOCK_BYTES_MIN || !length.is_multiple_of(4) {
        return damaged("a block", "its length is no multiple of four, or too small");
    }
    let (what, max) = match kind {
        BLOCK_SECTION => ("a section", DESCRIPTION_BYTES_MAX),
        BLOCK_INTERFACE => ("an interface", DESCRIPTION_BYTES_MAX),
        BLOCK_PACKET | BLOCK_SIMPLE_PACKET | BLOCK_ENHANCED_PACKET => {
            ("a packet block", PACKET_BLOCK_BYTES_MAX)
        }
        // A length that is not true makes what follows no block, and that is noticed there.
        _ => return Ok(Step::Skip(length.into())),
    };
    check(length, max, what, at)?;
    let Some(whole) = bytes.get(..length as usize) else { return Ok(Step::Wait) };
    if whole.last_chunk::<4>().map(|bytes| order.u32(*bytes)) != Some(length) {
        return damaged(what, "its two lengths differ");
    }
    let body = whole.get(8..whole.len() - 4).unwrap_or_default();
    let fields = Fields { rest: body, order: *order };
    let done = whole.len();
    match kind {
        BLOCK_SECTION => {
            interfaces.clear();
            Ok(Step::Done(done))
        }
        BLOCK_INTERFACE => {
            let Some(interface) = interface(fields) else { return damaged(what, "it ends early") };
            if interfaces.len() >= INTERFACES_MAX {
                return Err(FileError::OverLimit {
                    what: "the number of interfaces",
                    at,
                    announced: interfaces.len() as u64 + 1,
                    max: INTERFACES_MAX as u64,
                });
            }
            interfaces.push(interface);
            Ok(Step::Done(done))
        }
        _ => match packet(kind, fields, interfaces) {
            Ok(packet) => Ok(Step::Packet(done, packet)),
            Err(why) => damaged(what, why),
        },
    }
}

fn interface(mut fields: Fields<'_>) -> Option<Interface> {
    let link = Link::of(fields.u16()?);
    fields.u16()?;
    let snap_bytes = fields.u32()?;
    // Source: the draft, if_tsresol: 10^-6 s where the option is left out.
    let mut interface = Interface { link, snap_bytes, units_per_s: 1_000_000, offset_s: 0 };
    while let (Some(code), Some(length)) = (fields.u16(), fields.u16()) {
        // Values are padded to four bytes; an option that ends early ends the list.
        let Some(value) = fields.take(u32::from(length)) else { break };
        let _ = fields.take(u32::from(length).wrapping_neg() % 4);
        match (code, value) {
            (0, _) => break,
            (OPTION_TIME_RESOLUTION, [resolution]) => {
                let exponent = u32::from(resolution & 0x7f);
                let base = if resolution & 0x80 == 0 { 10_u64 } else { 2 };
                // Finer than 64 bits can count is no time of ours: such packets have none.
                interface.units_per_s = base.checked_pow(exponent).unwrap_or(0);
            }
            (OPTION_TIME_OFFSET, value) => {
                if let Some(bytes) = value.first_chunk::<8>() {
                    interface.offset_s = fields.order.u64(*bytes).cast_signed();
                }
            }
            _ => {}
        }
    }
    Some(interface)
}

impl Interface {
    fn unix_ms(&self, high: u32, low: u32) -> u64 {
        let units = u64::from(high) << 32 | u64::from(low);
        let (Some(seconds), Some(part)) =
            (units.checked_div(self.units_per_s), units.checked_rem(self.units_per_s))
        else {
            return 0;
        };
        // A part of a second in thousandths; the product may need more than 64 bits.
        let part_ms = u128::from(part) * 1000 / u128::from(self.units_per_s.max(1));
        let part_ms = u64::try_from(part_ms).unwrap_or(0);
        seconds.saturating_add_signed(self.offset_s).saturating_mul(1000).saturating_add(part_ms)
    }
}

fn packet<'a>(
    kind: u32,
    mut fields: Fields<'a>,
    interfaces: &[Interface],
) -> Result<FilePacket<'a>, &'static str> {
    const EARLY: &str = "it ends early";
    const UNKNOWN: &str = "its interface was not described";
    if kind == BLOCK_SIMPLE_PACKET {
        let interface = interfaces.first().ok_or(UNKNOWN)?;
        let sent_bytes = fields.u32().ok_or(EARLY)?;
        let captured_bytes = match interface.snap_bytes {
            0 => sent_bytes,
            snap_bytes => sent_bytes.min(snap_bytes),
        };
        let bytes = fields.take(captured_bytes).ok_or(EARLY)?;
        return Ok(FilePacket { link: interface.link, unix_ms: 0, bytes });
    }
    let number = if kind == BLOCK_PACKET {
        let number = fields.u16().ok_or(EARLY)?;
        fields.u16().ok_or(EARLY)?;
        u32::from(number)
    } else {
        fields.u32().ok_or(EARLY)?
    };
    let interface = interfaces.get(number as usize).ok_or(UNKNOWN)?;
    let (high, low) = (fields.u32().ok_or(EARLY)?, fields.u32().ok_or(EARLY)?);
    let captured_bytes = fields.u32().ok_or(EARLY)?;
    fields.u32().ok_or(EARLY)?;
    let bytes = fields.take(captured_bytes).ok_or("its packet is longer than the block")?;
    Ok(FilePacket { link: interface.link, unix_ms: interface.unix_ms(high, low), bytes })
}

/// Writes pcap files with nanoseconds and raw IP: what tests, examples and benchmarks feed a [`Reader`].
pub mod write {
    use super::PCAP_NANOSECONDS;

    /// Link type of the packets: they begin with their IP header.
    const RAW: u32 = 101;

    /// The head of a file.
    pub fn header() -> Vec<u8> {
        let mut out = PCAP_NANOSECONDS.to_le_bytes().to_vec();
        out.extend_from_slice(&[2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        out.extend_from_slice(&super::PACKET_BYTES_MAX.to_le_bytes());
        out.extend_from_slice(&RAW.to_le_bytes());
        out
    }

    /// Appends a packet. One that is longer than a [`super::Reader`] takes is not written.
    pub fn packet(out: &mut Vec<u8>, unix_ms: u64, packet: &[u8]) {
        let length = match u32::try_from(packet.len()) {
            Ok(length) if length <= super::PACKET_BYTES_MAX => length.to_le_bytes(),
            _ => return,
        };
        let part = |value: u64| u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes();
        out.extend_from_slice(&part(unix_ms / 1000));
        out.extend_from_slice(&part(unix_ms % 1000 * 1_000_000));
        out.extend_from_slice(&length);
        out.extend_from_slice(&length);
        out.extend_from_slice(packet);
    }
}

#[cfg(test)]
#[path = "file/tests.rs"]
mod tests;
