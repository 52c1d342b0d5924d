//! sysfs, procfs and devices of the machine that this runs on.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use formats::luks::Parsed;

use super::{DeviceNumber, HeaderLook, Tree};
use crate::luks_file;

/// mountinfo of a host with thousands of containers has a few MB.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// This machine.
#[derive(Debug, Clone, Copy)]
pub struct Here;

/// `None` where there is nothing.
fn maybe<T>(found: io::Result<T>) -> Result<Option<T>, String> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

impl Tree for Here {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        let Some(file) = maybe(fs::File::open(path))? else { return Ok(None) };
        let mut bytes = Vec::new();
        let read = file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("{path}: {error}"))?;
        if bytes.len() as u64 > TEXT_BYTES_MAX {
            return Err(format!("{path} has more than {TEXT_BYTES_MAX} bytes"));
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn list(&self, dir: &str) -> Result<Option<Vec<String>>, String> {
        let Some(entries) = maybe(fs::read_dir(dir))? else { return Ok(None) };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(|error| format!("{dir}: {error}"))?.file_name();
            names.push(name.to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(Some(names))
    }

    fn real_path(&self, path: &str) -> Result<Option<String>, String> {
        Ok(maybe(fs::canonicalize(path))?.map(|path| path.display().to_string()))
    }

    fn device_of(&self, path: &str) -> Option<DeviceNumber> {
        let number = fs::metadata(path).ok()?.dev();
        let part = |part: u64| u32::try_from(part).ok();
        let (major, minor) = (nix::sys::stat::major(number), nix::sys::stat::minor(number));
        Some(DeviceNumber { major: part(major)?, minor: part(minor)? })
    }

    fn luks(&self, device: &str) -> HeaderLook {
        match luks_file::header(Path::new(device)) {
            Ok(Parsed::Header(header)) => {
                HeaderLook::Found { uuid: header.uuid.clone(), claim: header.claim() }
            }
            Ok(Parsed::Absent) => HeaderLook::Absent,
            Ok(Parsed::Unclear(why)) => HeaderLook::Unknown(why),
            Ok(Parsed::Needs(bytes)) => HeaderLook::Unknown(format!("it needs {bytes} bytes")),
            Err(error) => HeaderLook::Unknown(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::{Coverage, Stack};

    #[test]
    fn memory_is_told_from_disks() {
        let dir = tempfile::tempdir_in("/dev/shm").expect("a tmpfs");
        let stack = Stack::of_path(&Here, &dir.path().display().to_string());
        assert_eq!(stack.coverage(), Coverage::Memory, "{stack:?}");
        assert_eq!(Here.read("/proc/self/none"), Ok(None));
        assert_eq!(Here.list("/proc/none"), Ok(None));
        assert_eq!(Here.real_path("/dev/shm/../shm"), Ok(Some("/dev/shm".into())));
    }
}
