//! The machine that everything runs on, as reports name it.

use std::fs;
use std::path::PathBuf;

use report::shape;

fn line_of(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

pub fn os_class() -> String {
    os_class_of(&host::Local)
}

pub fn os_class_of(host: &dyn host::ReadHost) -> String {
    const BYTES_MAX: u64 = 64 * 1024;
    let bytes =
        host.read(std::path::Path::new("/etc/os-release"), BYTES_MAX).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map_or_else(|| "unknown".into(), |name| name.trim_matches('"').to_owned())
}

pub fn machine() -> shape::Machine {
    let memory_kib: u64 = line_of("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse().ok())
        .unwrap_or(0);
    shape::Machine {
        os: os_class(),
        kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
        cpu_model: line_of("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".into()),
        cores: std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1)),
        memory_bytes: memory_kib * 1024,
    }
}

/// `$XDG_STATE_HOME/sealion`: what is kept for this user, whatever the cluster. `None`: there is no home.
pub fn state_dir() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|text| !text.is_empty()).map(PathBuf::from);
    let state = of("XDG_STATE_HOME").or_else(|| of("HOME").map(|home| home.join(".local/state")));
    Some(state?.join("sealion"))
}

/// Where a program is: in `PATH`, or where those lie that only administrators are expected to start.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|dir| dir.join(name))
        .find(|path| path.is_file())
}
