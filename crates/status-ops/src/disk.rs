//! `sealion status disk`: what lies below a path, and what the LUKS header at its beginning says. The two are kept apart: a header
//! is a claim, and that what is read and written goes through it is told by the stack alone.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use ::disk::luks_weakness::{Weakness, weaknesses};
use ::disk::stack::{Coverage, DeviceNumber, Here, Layer, Stack};
use formats::luks::{Claim, Header, Kdf, Parsed, Priority, SlotKind, SlotState, Version};
use model::Severity;
use report::shape::{
    DiskCoverageWord, DiskHeaderWord, DiskLayerRow, DiskPathRow, DiskPathWord, DiskSwapRow, LuksHeaderRow,
    LuksSegmentRow, LuksSlotRow, LuksTokenRow, LuksWeaknessRow, STATUS_DISK_SCHEMA_ID, StatusDiskReport,
};
use site::OpsError;

const NOT_LOOKED_AT: &[&str] = &[
    "disks that encrypt by themselves, and what a hypervisor or a storage system does below its disks",
    "who has the keys: a volume that is open is readable for every process that may read its files",
    "memory, hibernation images and core dumps",
    "backups, copies and older header backups elsewhere: a header backup opens with the keys of its day",
];

/// Looks at each path, and at swap.
///
/// # Errors
/// A path is not there, or cannot be looked at.
pub fn disk(paths: &[PathBuf]) -> Result<StatusDiskReport, OpsError> {
    let paths = paths.iter().map(|path| path_row(path)).collect::<Result<_, _>>()?;
    let mut not_looked_at: Vec<String> = NOT_LOOKED_AT.iter().map(|text| (*text).to_owned()).collect();
    let swaps = match Stack::of_swaps(&Here) {
        Ok(swaps) => swaps.iter().map(|(name, stack)| swap_row(name, &stack.coverage())).collect(),
        Err(why) => {
            not_looked_at.push(format!("swap: {why}"));
            vec![]
        }
    };
    Ok(StatusDiskReport {
        schema: STATUS_DISK_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        paths,
        swaps,
        not_looked_at,
    })
}

/// Something could not be told: a stack, or whether a header is there.
pub fn has_unknown(report: &StatusDiskReport) -> bool {
    let unknown = |row: &DiskPathRow| {
        row.coverage == DiskCoverageWord::Unknown || row.header_is == DiskHeaderWord::Unknown
    };
    report.paths.iter().any(unknown)
}

/// The worst that was found.
pub fn worst(report: &StatusDiskReport) -> Option<report::shape::SeverityWord> {
    report.paths.iter().flat_map(|row| &row.weaknesses).map(|one| one.severity).max()
}

fn path_row(path: &Path) -> Result<DiskPathRow, OpsError> {
    let cannot = |error: io::Error| {
        let next = match error.kind() {
            io::ErrorKind::PermissionDenied => "run it as root",
            _ => "check the path; of a server: SELECT @@datadir",
        };
        OpsError::cannot_look(format!("{} cannot be looked at", path.display()), error, next)
    };
    let real = path.canonicalize().map_err(cannot)?;
    let about = fs::metadata(&real).map_err(cannot)?;
    let kind = match about.file_type() {
        kind if kind.is_block_device() => DiskPathWord::Device,
        kind if kind.is_dir() => DiskPathWord::Directory,
        kind if kind.is_file() => DiskPathWord::File,
        _ => {
            return Err(cannot(io::Error::other(
                "it is neither a file, nor a directory, nor a block device",
            )));
        }
    };
    let text = real.display().to_string();
    let stack = match kind {
        DiskPathWord::Device => Stack::of_device(&Here, number(about.rdev())),
        DiskPathWord::File | DiskPathWord::Directory => Stack::of_path(&Here, &text),
    };
    let coverage = stack.coverage();
    let mut row = DiskPathRow {
        path: text,
        kind,
        coverage: coverage_word(&coverage),
        coverage_why: coverage_why(&coverage),
        layers: layers(&stack.top),
        header_is: DiskHeaderWord::NotLookedFor,
        header_why: None,
        header: None,
        weaknesses: vec![],
    };
    if kind == DiskPathWord::Directory {
        row.weaknesses.extend(below_a_directory(&coverage));
        return Ok(row);
    }
    match ::disk::luks_file::header(&real) {
        Ok(Parsed::Header(header)) => {
            row.header_is = DiskHeaderWord::Found;
            row.weaknesses = weaknesses(&header).iter().map(weakness_row).collect();
            row.header = Some(header_row(&header));
        }
        Ok(Parsed::Absent) => row.header_is = DiskHeaderWord::Absent,
        Ok(Parsed::Unclear(why)) => (row.header_is, row.header_why) = (DiskHeaderWord::Unknown, Some(why)),
        Ok(Parsed::Needs(bytes)) => {
            let why = format!("more than {bytes} bytes would have to be read");
            (row.header_is, row.header_why) = (DiskHeaderWord::Unknown, Some(why));
        }
        Err(error) => {
            (row.header_is, row.header_why) = (DiskHeaderWord::Unknown, Some(error.to_string()));
        }
    }
    Ok(row)
}

/// What is said of a data directory whose disks are plain: what its server does not encrypt lies there in clear.
fn below_a_directory(coverage: &Coverage) -> Option<LuksWeaknessRow> {
    let text = match coverage {
        Coverage::Plain => {
            "no layer below it encrypts: what its server does not encrypt is on the disk in clear"
        }
        Coverage::Mixed => {
            "some ways down are encrypted and others are not: what its server does not encrypt is on a disk in clear"
        }
        Coverage::Encrypted | Coverage::Memory | Coverage::Unknown(_) => return None,
    };
    Some(weakness_row(&Weakness {
        name: "plain-disk",
        severity: Severity::Medium,
        text: text.into(),
        remedy:
            "sealion status rest says what of it is plain; LUKS below covers logs and temporary files, too"
                .into(),
    }))
}

fn number(dev: u64) -> DeviceNumber {
    let number = |part: u64| u32::try_from(part).unwrap_or(u32::MAX);
    DeviceNumber { major: number(nix::sys::stat::major(dev)), minor: number(nix::sys::stat::minor(dev)) }
}

fn swap_row(name: &str, coverage: &Coverage) -> DiskSwapRow {
    DiskSwapRow {
        name: name.to_owned(),
        coverage: coverage_word(coverage),
        coverage_why: coverage_why(coverage),
    }
}

fn coverage_word(coverage: &Coverage) -> DiskCoverageWord {
    match coverage {
        Coverage::Encrypted => DiskCoverageWord::Encrypted,
        Coverage::Plain => DiskCoverageWord::Plain,
        Coverage::Mixed => DiskCoverageWord::Mixed,
        Coverage::Memory => DiskCoverageWord::Memory,
        Coverage::Unknown(_) => DiskCoverageWord::Unknown,
    }
}

fn coverage_why(coverage: &Coverage) -> Option<String> {
    match coverage {
        Coverage::Unknown(why) => Some(why.clone()),
        _ => None,
    }
}

fn layers(top: &Layer) -> Vec<DiskLayerRow> {
    fn add(layer: &Layer, depth: u64, rows: &mut Vec<DiskLayerRow>) {
        rows.push(DiskLayerRow {
            depth,
            kind: layer.kind.word().into(),
            name: layer.name.clone(),
            about: layer.about.clone(),
        });
        layer.below.iter().for_each(|below| add(below, depth + 1, rows));
    }
    let mut rows = Vec::new();
    add(top, 0, &mut rows);
    rows
}

fn weakness_row(one: &Weakness) -> LuksWeaknessRow {
    LuksWeaknessRow {
        name: one.name.into(),
        severity: one.severity.into(),
        text: one.text.clone(),
        remedy: one.remedy.clone(),
    }
}

fn header_row(header: &Header) -> LuksHeaderRow {
    let (claims, claims_why) = match header.claim() {
        Claim::Encrypted => (DiskCoverageWord::Encrypted, None),
        Claim::Plain(why) => (DiskCoverageWord::Plain, Some(why)),
        Claim::Unclear(why) => (DiskCoverageWord::Unknown, Some(why)),
    };
    LuksHeaderRow {
        version: match header.version {
            Version::One => 1,
            Version::Two => 2,
        },
        uuid: header.uuid.clone(),
        label: header.label.clone(),
        claims,
        claims_why,
        ciphers: header.ciphers().map(ToString::to_string).collect(),
        key_bits: header.key_bits,
        hash: header.hash.clone(),
        is_detached: header.is_detached(),
        reencryption: header.reencryption.clone(),
        half_written: header.half_written(),
        requirements: header.requirements.clone(),
        segments: header
            .segments
            .iter()
            .map(|one| LuksSegmentRow {
                id: one.id,
                kind: one.kind.clone(),
                offset_bytes: one.offset_bytes,
                bytes: one.bytes,
                cipher: one.cipher.as_ref().map(ToString::to_string),
                sector_bytes: one.sector_bytes,
                integrity: one.integrity.clone(),
                flags: one.flags.clone(),
            })
            .collect(),
        slots: header.slots.iter().map(|slot| slot_row(header, slot)).collect(),
        tokens: header
            .tokens
            .iter()
            .map(|token| LuksTokenRow { id: token.id, kind: token.kind.clone(), slots: token.slots.clone() })
            .collect(),
    }
}

fn slot_row(header: &Header, slot: &formats::luks::Slot) -> LuksSlotRow {
    let mut row = LuksSlotRow {
        id: slot.id,
        state: match slot.state {
            SlotState::Active => "active",
            SlotState::Inactive => "inactive",
            SlotState::Unclear(_) => "unknown",
        }
        .into(),
        opens: slot.opens(),
        kind: match &slot.kind {
            SlotKind::Key => "key".into(),
            SlotKind::Reencryption => "reencryption".into(),
            SlotKind::Other(word) => word.clone(),
        },
        priority: match slot.priority {
            Priority::Ignored => "ignored",
            Priority::Normal => "normal",
            Priority::Preferred => "preferred",
        }
        .into(),
        kdf: None,
        kdf_hash: None,
        iterations: None,
        memory_kib: None,
        lanes: None,
        stripes: slot.stripes,
        tokens: header.tokens_of(slot.id).map(|token| token.id).collect(),
    };
    match &slot.kdf {
        // Of a slot of LUKS1 that is not in use it says nothing.
        _ if slot.state == SlotState::Inactive => {}
        Some(Kdf::Pbkdf2 { hash, iterations }) => {
            (row.kdf, row.kdf_hash, row.iterations) =
                (Some("pbkdf2".into()), Some(hash.clone()), Some(*iterations));
        }
        Some(Kdf::Argon2 { variant, time, memory_kib, lanes }) => {
            (row.kdf, row.iterations) = (Some(variant.clone()), Some(*time));
            (row.memory_kib, row.lanes) = (Some(*memory_kib), Some(*lanes));
        }
        Some(Kdf::Other(word)) => row.kdf = Some(word.clone()),
        None => {}
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_to_its_disks_or_says_why_not() {
        let dir = tempfile::tempdir().expect("tmp");
        let image = dir.path().join("image");
        let first = include_bytes!("../../formats/testdata/luks/luks2-argon2id-clevis.bin");
        fs::write(&image, first).expect("writable");
        let report = disk(&[dir.path().to_owned(), image]).expect("both are there");
        let [directory, image] = report.paths.as_slice() else { panic!("{report:?}") };
        // Which disks a machine has is its own affair; that the words fit each other is ours.
        assert_eq!(directory.coverage, image.coverage);
        assert_eq!(directory.coverage == DiskCoverageWord::Unknown, directory.coverage_why.is_some());
        assert_eq!(directory.layers[0].kind, "file system");
        assert_eq!(
            (directory.header_is, image.header_is),
            (DiskHeaderWord::NotLookedFor, DiskHeaderWord::Found)
        );
        let header = image.header.as_ref().expect("found");
        assert_eq!((header.version, header.claims), (2, DiskCoverageWord::Encrypted));
        assert_eq!(header.slots[1].tokens, [0]);
        assert!(image.weaknesses.iter().any(|one| one.name == "pbkdf2"));
        let error = disk(&[dir.path().join("none")]).expect_err("gone");
        assert_eq!(error.exit_code(), 3);
    }
}
