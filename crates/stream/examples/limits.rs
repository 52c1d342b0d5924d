//! What a copy cannot be faster than here: `limits DIR MB`, a line `name,MB/s` for each.
//!
//! `disk`: MB of bytes that cannot be compressed into a new file of DIR and onto its disk, past the page cache, in pieces of 1 MiB from two
//! threads; `cache`: the same through the page cache, synced at the end. `memcpy`: 1 MiB that is warm, one processor. `aes128`, `aes256`,
//! `chacha20`: records of 16 KiB, one processor. `loopback`: a TCP connection, both ends here.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use stream::cipher::Speeds;

const PIECE_BYTES: usize = 1 << 20;
const ALIGNED_BYTES: usize = 4096;
/// As many as there are connections here.
const WRITERS: usize = 2;
const MEASURED: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [dir, mb] = &args[..] else {
        eprintln!("usage: limits DIR MB");
        return ExitCode::from(2);
    };
    match run(Path::new(dir), mb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(dir: &Path, mb: &str) -> Result<(), Box<dyn Error>> {
    let pieces = mb.parse::<usize>()?.max(WRITERS);
    for (name, flags) in [("disk", OFlag::O_DIRECT), ("cache", OFlag::empty())] {
        println!("{name},{:.0}", disk(dir, pieces, flags)?);
    }
    println!("memcpy,{:.0}", memcpy());
    let Speeds(speeds) = Speeds::measure();
    for (name, speed) in ["aes128", "aes256", "chacha20"].iter().zip(speeds) {
        println!("{name},{speed}");
    }
    println!("loopback,{:.0}", loopback()?);
    Ok(())
}

fn mb_per_s(bytes: usize, began: Instant) -> f64 {
    bytes as f64 / 1e6 / began.elapsed().as_secs_f64()
}

/// A piece for a direct write.
fn piece() -> Result<(Vec<u8>, usize), Box<dyn Error>> {
    let mut memory = vec![0; PIECE_BYTES + ALIGNED_BYTES];
    let begin = memory.as_ptr().addr().next_multiple_of(ALIGNED_BYTES) - memory.as_ptr().addr();
    openssl::rand::rand_bytes(memory.get_mut(begin..begin + PIECE_BYTES).ok_or("no room")?)?;
    Ok((memory, begin))
}

fn disk(dir: &Path, pieces: usize, flags: OFlag) -> Result<f64, Box<dyn Error>> {
    let path = dir.join("limits.tmp");
    let open = || OpenOptions::new().write(true).create(true).custom_flags(flags.bits()).open(&path);
    let file = open()?;
    nix::fcntl::fallocate(
        &file,
        nix::fcntl::FallocateFlags::empty(),
        0,
        i64::try_from(pieces * PIECE_BYTES)?,
    )?;
    let began = Instant::now();
    let written = std::thread::scope(|scope| {
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(open, writer, pieces))).collect();
        writers.into_iter().all(|writer| writer.join().is_ok_and(|written| written))
    });
    file.sync_all()?;
    let speed = mb_per_s(pieces * PIECE_BYTES, began);
    std::fs::remove_file(&path)?;
    if written { Ok(speed) } else { Err("the disk takes no more".into()) }
}

fn write(open: impl Fn() -> std::io::Result<File>, writer: usize, pieces: usize) -> bool {
    let (Ok(file), Ok((memory, begin))) = (open(), piece()) else { return false };
    let Some(bytes) = memory.get(begin..begin + PIECE_BYTES) else { return false };
    (writer..pieces).step_by(WRITERS).all(|at| file.write_all_at(bytes, (at * PIECE_BYTES) as u64).is_ok())
}

fn memcpy() -> f64 {
    let (from, mut to) = (vec![7_u8; PIECE_BYTES], vec![0_u8; PIECE_BYTES]);
    let (began, mut bytes) = (Instant::now(), 0);
    while began.elapsed() < MEASURED {
        std::hint::black_box(&mut to).copy_from_slice(std::hint::black_box(&from));
        bytes += PIECE_BYTES;
    }
    mb_per_s(bytes, began)
}

fn loopback() -> Result<f64, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let Ok(mut tcp) = TcpStream::connect(address) else { return };
            let (bytes, began) = (vec![7; 256 << 10], Instant::now());
            while began.elapsed() < MEASURED && tcp.write_all(&bytes).is_ok() {}
        });
        let (mut tcp, _) = listener.accept()?;
        let (mut room, mut bytes, began) = (vec![0; 256 << 10], 0, Instant::now());
        loop {
            match tcp.read(&mut room)? {
                0 => return Ok(mb_per_s(bytes, began)),
                count => bytes += count,
            }
        }
    })
}
