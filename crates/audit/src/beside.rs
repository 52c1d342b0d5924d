//! What an audit is given beside SQL, by whoever connects: the certificate that clients are served, and the server's machine.

use std::path::{Path, PathBuf};

use host::{FileFacts, HostError, ProcessFacts, ReadHost, is_program};
use server::NodeView;
use server::options::Effective;
use server::sst::SstOptions;
use trust::CertificateInfo;

use crate::search::SearchWanted;

/// A pid, with a line feed.
const PID_FILE_BYTES_MAX: u64 = 64;
/// Programs of servers.
const SERVERS: [&str; 2] = ["mariadbd", "mysqld"];

/// Beside the session that SQL goes through.
pub struct Beside<'h> {
    /// The certificate that clients are served, or why none is known.
    pub served: Result<CertificateInfo, String>,
    /// The same as PEM, where it was seen.
    pub served_pem: Option<String>,
    /// What clients call the server; empty where it was asked over its socket, and no inventory says.
    pub names: Vec<String>,
    /// The machine that it runs on, or why that is not asked.
    pub machine: Result<Machine<'h>, String>,
    /// Whether its files are searched too.
    pub search: Option<SearchWanted<'h>>,
}

/// The machine of a server, and its option files as an inventory leads to them.
pub struct Machine<'h> {
    pub host: &'h dyn ReadHost,
    /// The file that it is started with; `None` where nobody has said.
    pub defaults_file: Option<PathBuf>,
    /// What its option files give, or why that is not known.
    pub options: Result<Effective, String>,
    /// What scripts of state transfers read.
    pub sst: Result<SstOptions, String>,
}

/// A server whose process was found on that machine: only then are the paths that it names paths of this machine.
pub(crate) struct Found<'m> {
    pub machine: &'m Machine<'m>,
    pub process: ProcessFacts,
    datadir: PathBuf,
}

impl<'m> Found<'m> {
    /// By its pid file.
    ///
    /// # Errors
    /// It leads to no process of a server, so that files here may be those of another one.
    pub fn of(machine: &'m Machine<'m>, view: &NodeView) -> Result<Self, String> {
        let datadir = PathBuf::from(view.variable("datadir").unwrap_or_default());
        let path = view.variable("pid_file").filter(|path| !path.is_empty());
        let path = datadir.join(path.ok_or("the server does not name its pid file")?);
        let elsewhere = |why: &str| {
            format!(
                "{} leads to no process of a server on this machine ({why}), so that its files may be others than the server's; run sealion \
                 audit as a user who may read it, where the server runs",
                path.display()
            )
        };
        let text = machine.host.read(&path, PID_FILE_BYTES_MAX).map_err(one_line)?;
        let text = text.ok_or_else(|| elsewhere("it is not there"))?;
        let pid = String::from_utf8_lossy(&text).trim().parse();
        let pid = pid.map_err(|_| elsewhere("it has no number"))?;
        let process = machine.host.process(pid).map_err(one_line)?;
        let process = process.filter(|process| is_program(process, &SERVERS));
        let process = process.ok_or_else(|| elsewhere("its process is another one, or gone"))?;
        Ok(Self { machine, process, datadir })
    }

    pub fn host(&self) -> &'m dyn ReadHost {
        self.machine.host
    }

    pub fn datadir(&self) -> &Path {
        &self.datadir
    }

    /// As the server reads a path that it was given.
    pub fn path(&self, given: &str) -> PathBuf {
        self.datadir.join(given)
    }

    /// # Errors
    /// Nobody can say.
    pub fn facts(&self, path: &Path) -> Result<Option<FileFacts>, String> {
        self.host().facts(path).map_err(one_line)
    }

    /// A file of the kernel about its process.
    pub fn of_process(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.process.pid))
    }

    /// Whether it was started without any option file, as its command line says.
    pub fn has_no_option_files(&self) -> bool {
        self.process.command_line.iter().any(|word| word == "--no-defaults")
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to map_err")]
pub(crate) fn one_line(error: HostError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
