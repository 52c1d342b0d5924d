//! A driver or tool, as data: how it is installed, run, and in which ways its TLS can be set.
//!
//! A client is a small project of its own (`clients/<id>/`) with a lock file. Its program reads `SEALION_HOST`, `SEALION_PORT`,
//! `SEALION_USER`, `SEALION_PASSWORD` and `SEALION_CA`, connects as the mode named by its last word says, runs one query,
//! and ends with 0 if that worked. With the word `version` it prints its version. What it prints is for people: verdicts
//! are taken on the server's side, and none stands in this source.

/// One driver or tool.
#[derive(Debug)]
pub struct Client {
    /// Never changes its meaning.
    pub id: &'static str,
    pub name: &'static str,
    /// Files of its project, by their path in it.
    pub files: &'static [(&'static str, &'static str)],
    /// Programs that must be there, and how to get them.
    pub needs: &'static [&'static str],
    pub needs_hint: &'static str,
    /// Commands that install it in the directory of its project.
    pub install: &'static [&'static [&'static str]],
    /// What is run there; the mode is the word behind.
    pub run: &'static [&'static str],
    pub modes: &'static [Mode],
}

/// One way of setting its TLS.
#[derive(Debug)]
pub struct Mode {
    pub id: &'static str,
    /// As a person writes it for this driver.
    pub options: &'static str,
    /// What these options look like they promise.
    pub promises: Promise,
}

/// What somebody who has set an option believes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Promise {
    Nothing,
    /// Never in clear text.
    Encrypted,
    /// And only with a certificate of the CA.
    Chain,
    /// And only with one for this host.
    Identity,
}

impl std::fmt::Display for Promise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Nothing => "nothing",
            Self::Encrypted => "encryption",
            Self::Chain => "the CA",
            Self::Identity => "the host",
        })
    }
}
