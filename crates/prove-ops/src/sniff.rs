//! `sealion prove sniff`: what somebody reads who listens on the way, from a capture file or an interface.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use capture::file::{FileError, HELD_BYTES_MAX, Reader};
pub use capture::words::Words;
use capture::{CaptureError, Spec};
use prove::sniff::Sniffer;
pub use prove::sniff::connection::word_name;
pub use prove::sniff::mysql::MysqlTraffic;
pub use prove::sniff::{Conclusion, Kind, Listed, Place, Report, What, guess};

use site::OpsError;

/// Read at once: large enough that the calls do not count, small enough to stay in the processor's cache.
const READ_BYTES: usize = 256 << 10;
/// So much of a file with words: sixteen of the longest, with air.
const WORDS_FILE_BYTES_MAX: u64 = 16 << 10;
/// Between two words about progress.
const TELL_BYTES: u64 = 64 << 20;

/// Where packets come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// `-` is standard input.
    File(PathBuf),
    Interface {
        name: String,
        /// Until the caller stops it, when left out.
        seconds: Option<u64>,
    },
}

/// What is said while it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// From now on nothing that passes on the interface is missed.
    Listening,
    Progress {
        bytes: u64,
        of_bytes: Option<u64>,
        packets: u64,
    },
}

/// The words of the user's that are looked for: those given, and the lines of a file.
///
/// # Errors
/// A file that cannot be read, a word that is too short or too long. The word itself is not told: it may be a secret.
pub fn words(given: &[String], file: Option<&Path>) -> Result<Words, OpsError> {
    Words::new(&raw_words(given, file)?).map_err(|error| {
        OpsError::usage(
            "cannot search for this text",
            error.to_string(),
            "choose a text that nobody sends by chance",
        )
    })
}

/// The same, as they were given; they are sound where [`words`] takes them.
///
/// # Errors
/// A file that cannot be read.
pub fn raw_words(given: &[String], file: Option<&Path>) -> Result<Vec<Vec<u8>>, OpsError> {
    let mut all: Vec<Vec<u8>> = given.iter().map(|word| word.as_bytes().to_vec()).collect();
    if let Some(path) = file {
        let refused = |why: String| {
            OpsError::usage(
                format!("cannot read texts to search for from {}", path.display()),
                why,
                "use a file with one text per line",
            )
        };
        let file = File::open(path).map_err(|error| refused(error.to_string()))?;
        let mut text = zeroize::Zeroizing::new(Vec::new());
        let read = file.take(WORDS_FILE_BYTES_MAX + 1).read_to_end(&mut text);
        let count = read.map_err(|error| refused(error.to_string()))?;
        if count as u64 > WORDS_FILE_BYTES_MAX {
            return Err(refused(format!("it is longer than {WORDS_FILE_BYTES_MAX} bytes")));
        }
        let lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        all.extend(lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
    }
    Ok(all)
}

/// What was seen, and how far that can be believed.
#[derive(Debug)]
pub struct Sniffed {
    pub report: Report,
    pub method: String,
    pub file_bytes: u64,
    pub elapsed: Duration,
    /// Why something may have been missed: each a sentence.
    pub doubts: Vec<String>,
}

/// Reads packets to the end of the file, or until it is time.
///
/// # Errors
/// Nothing can be read at all: no such file, no capture, no right to capture.
pub fn sniff(
    source: &Source,
    ports: &[u16],
    words: Words,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Word),
) -> Result<Sniffed, OpsError> {
    let began = Instant::now();
    let mut sniffer = Sniffer::with_words(ports, words);
    let mut doubts = vec![];
    let (method, file_bytes) = match source {
        Source::File(path) => {
            let read = file(path, &mut sniffer, stop, tell, &mut doubts)?;
            (format!("file {}", path.display()), read)
        }
        Source::Interface { name, seconds } => {
            (interface(name, *seconds, &mut sniffer, stop, tell, &mut doubts)?, 0)
        }
    };
    let report = sniffer.finish();
    let mut doubt = |count: u64, text: &str| {
        if count > 0 {
            doubts.push(format!("{count} {text}"));
        }
    };
    doubt(
        report.connections_over_limit,
        "or more connections were not decoded: too many were open at the same time",
    );
    doubt(report.missing_bytes, "bytes are missing in the capture");
    doubt(report.unread_bytes, "compressed bytes could not be decompressed");
    doubt(report.undecided, "connections are cleartext or TLS: the capture does not contain enough to know");
    doubt(report.conflicting_segments, "segments were sent twice with different bytes");
    doubt(
        report.joined_in_the_middle,
        "connections began before the capture, so it does not contain their logins",
    );
    for (kind, packets) in &report.not_looked_at {
        doubts.push(format!("{packets} packets were not decoded: {}", kind.text()));
    }
    if report.not_looked_at_of_other_kinds > 0 {
        let packets = report.not_looked_at_of_other_kinds;
        doubts.push(format!("{packets} packets of other kinds were not decoded"));
    }
    Ok(Sniffed { report, method, file_bytes, elapsed: began.elapsed(), doubts })
}

fn cannot_read(path: &Path, why: impl std::fmt::Display, next: &str) -> OpsError {
    OpsError::cannot_look(format!("cannot read {} as a capture", path.display()), why, next)
}

fn file(
    path: &Path,
    sniffer: &mut Sniffer,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Word),
    doubts: &mut Vec<String>,
) -> Result<u64, OpsError> {
    let failed = |error: std::io::Error| cannot_read(path, error, "choose a file that you may read");
    let (mut input, total): (Box<dyn Read>, Option<u64>) = if path == Path::new("-") {
        (Box::new(std::io::stdin().lock()), None)
    } else {
        let file = File::open(path).map_err(failed)?;
        let total = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|facts| facts.len());
        (Box::new(file), total)
    };
    let mut reader = Reader::new();
    let mut buffer = vec![0; READ_BYTES];
    let (mut held_bytes, mut read_bytes, mut told_bytes) = (0, 0_u64, 0);
    loop {
        if stop.load(Ordering::Relaxed) {
            doubts.push(format!("interrupted after {read_bytes} bytes of the file"));
            return Ok(read_bytes);
        }
        if buffer.len() - held_bytes < READ_BYTES / 2 {
            // A long block: it needs room, which the reader bounds.
            buffer.resize((buffer.len() * 2).min(HELD_BYTES_MAX + READ_BYTES), 0);
        }
        let room = buffer.get_mut(held_bytes..).unwrap_or_default();
        let count = match input.read(room) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) if read_bytes == 0 => return Err(failed(error)),
            Err(error) => {
                doubts.push(format!("cannot read beyond {read_bytes} bytes: {error}"));
                return Ok(read_bytes);
            }
        };
        read_bytes += count as u64;
        let have_bytes = held_bytes + count;
        let bytes = buffer.get(..have_bytes).unwrap_or_default();
        let used = reader.read(bytes, &mut |packet| {
            sniffer.frame(packet.link, packet.bytes, packet.unix_ms);
        });
        let used = match used {
            Ok(used) => used,
            // What came before the damage is good, and is told.
            Err(error) if sniffer.packets() > 0 => {
                doubts.push(format!("the file is damaged: {error}"));
                return Ok(read_bytes);
            }
            Err(error) => {
                let next = match error {
                    FileError::Compressed { .. } => {
                        "decompress it: zcat or zstdcat FILE | sealion prove sniff -"
                    }
                    _ => "use a pcap or pcapng file, as tcpdump -w and dumpcap write it",
                };
                return Err(cannot_read(path, error, next));
            }
        };
        buffer.copy_within(used..have_bytes, 0);
        held_bytes = have_bytes - used;
        if read_bytes - told_bytes >= TELL_BYTES {
            told_bytes = read_bytes;
            tell(Word::Progress { bytes: read_bytes, of_bytes: total, packets: sniffer.packets() });
        }
    }
    if read_bytes == 0 {
        return Err(cannot_read(path, "it is empty", "use a file that contains packets"));
    }
    if reader.is_cut_short(held_bytes) {
        doubts.push("the file ends in the middle of a packet".into());
    }
    Ok(read_bytes)
}

fn interface(
    name: &str,
    seconds: Option<u64>,
    sniffer: &mut Sniffer,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Word),
    doubts: &mut Vec<String>,
) -> Result<String, OpsError> {
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    // Every TCP port: what is not a database's is told by its first bytes.
    let spec = Spec { iface: name.to_owned(), ports: vec![], ring_bytes: 0 };
    let seen = std::cell::Cell::new((0_u64, 0_u64));
    let (mut last_told, mut is_listening) = (Instant::now(), false);
    let watched = capture::watch(
        &spec,
        &mut || {
            if !std::mem::replace(&mut is_listening, true) {
                tell(Word::Listening);
            }
            if last_told.elapsed() > Duration::from_secs(1) {
                last_told = Instant::now();
                let (bytes, packets) = seen.get();
                tell(Word::Progress { bytes, of_bytes: None, packets });
            }
            stop.load(Ordering::Relaxed) || until.is_some_and(|until| Instant::now() >= until)
        },
        &mut |ethertype, packet, unix_ms| {
            let (bytes, packets) = seen.get();
            seen.set((bytes + packet.len() as u64, packets + 1));
            sniffer.behind_link(ethertype, packet, unix_ms);
        },
    )
    .map_err(|error: CaptureError| {
        OpsError::cannot_look(
            format!("cannot capture on {name}"),
            error,
            "or read a capture made by tcpdump -w: sealion prove sniff FILE",
        )
    })?;
    if watched.kernel_drops > 0 {
        doubts.push(format!("the kernel dropped {} packets", watched.kernel_drops));
    }
    Ok(watched.method)
}
