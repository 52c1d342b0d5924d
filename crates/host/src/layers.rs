//! What lies below the paths of a machine, as [`disk::stack`] reads it, over whatever answers for that machine.

use std::collections::VecDeque;
use std::path::{Component, Path, PathBuf};

use disk::stack::{DeviceNumber, HeaderLook, Tree};

use crate::ReadHost;

const TEXT_BYTES_MAX: u64 = 16 << 20;
/// As the kernel follows.
const LINKS_MAX: usize = 40;

/// Of a machine that is asked file by file. It cannot say which device the kernel has for a path, nor what a device begins with.
pub struct OverHost<'h>(pub &'h dyn ReadHost);

/// Of a machine of which nothing is known.
pub struct NotSeen;

fn first_line(error: &crate::HostError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

impl Tree for OverHost<'_> {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        let bytes = self.0.read(Path::new(path), TEXT_BYTES_MAX).map_err(|error| first_line(&error))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn list(&self, dir: &str) -> Result<Option<Vec<String>>, String> {
        if self.0.facts(Path::new(dir)).map_err(|error| first_line(&error))?.is_none() {
            return Ok(None);
        }
        let paths = self.0.list(Path::new(dir)).map_err(|error| first_line(&error))?;
        let names = paths.iter().filter_map(|path| path.file_name());
        Ok(Some(names.map(|name| name.to_string_lossy().into_owned()).collect()))
    }

    fn real_path(&self, path: &str) -> Result<Option<String>, String> {
        let names = |path: &Path| -> VecDeque<PathBuf> {
            path.components()
                .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
                .map(|part| PathBuf::from(part.as_os_str()))
                .collect()
        };
        let (mut done, mut left, mut links) = (PathBuf::from("/"), names(Path::new(path)), 0);
        while let Some(name) = left.pop_front() {
            if name == Path::new("..") {
                done.pop();
                continue;
            }
            let here = done.join(name);
            let Some(target) = self.0.link(&here).map_err(|error| first_line(&error))? else {
                done = here;
                continue;
            };
            links += 1;
            if links > LINKS_MAX {
                return Err(format!("{path}: more than {LINKS_MAX} symbolic links"));
            }
            if target.is_absolute() {
                done = PathBuf::from("/");
            }
            let mut rest = names(&target);
            rest.append(&mut left);
            left = rest;
        }
        let is_there = self.0.facts(&done).map_err(|error| first_line(&error))?.is_some();
        Ok(is_there.then(|| done.display().to_string()))
    }

    fn device_of(&self, _: &str) -> Option<DeviceNumber> {
        None
    }

    fn luks(&self, device: &str) -> HeaderLook {
        HeaderLook::Unknown(format!("{device} is on another machine: run sealion status disk there"))
    }
}

impl Tree for NotSeen {
    fn read(&self, _: &str) -> Result<Option<String>, String> {
        Err("the mounts of that machine cannot be read".into())
    }

    fn list(&self, _: &str) -> Result<Option<Vec<String>>, String> {
        Err("the mounts of that machine cannot be read".into())
    }

    fn real_path(&self, _: &str) -> Result<Option<String>, String> {
        Err("the mounts of that machine cannot be read".into())
    }

    fn device_of(&self, _: &str) -> Option<DeviceNumber> {
        None
    }

    fn luks(&self, _: &str) -> HeaderLook {
        HeaderLook::Unknown("that machine cannot be asked".into())
    }
}
