//! A driver or tool, as data: how it is installed, run, and in which ways its TLS can be set.
//!
//! A client is a small project of its own (`clients/<id>/`) with a lock file. Its program reads `SEALION_HOST`, `SEALION_PORT`,
//! `SEALION_USER`, `SEALION_PASSWORD` and `SEALION_CA`, connects as the mode named by its last word says, runs one query,
//! and ends with 0 if that worked. With the word `version` it prints its version. What it prints is for people: verdicts
//! are taken on the server's side, and none stands in this source. One of Java takes `SEALION_FRONT`, scheme and hosts of a
//! URL, for what somebody's settings say with several hosts.

use crate::attack::Protocol;

/// One driver or tool.
#[derive(Debug)]
pub struct Client {
    /// Never changes its meaning.
    pub id: &'static str,
    pub name: &'static str,
    pub protocol: Protocol,
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
    /// `None` for what no application's settings speak of.
    pub settings: Option<&'static Settings>,
}

/// How its TLS is set in an application's settings, and which mode each way of setting it is. No verdicts: the matrix has those.
#[derive(Debug)]
pub struct Settings {
    /// Clients of one family read the same words, and nothing in the words tells which of them reads them.
    pub family: &'static str,
    /// One of an old series: where it does not know a word, that is no fault of whoever wrote it for a newer one.
    pub is_old: bool,
    /// Of two builds in one package: the switch that chooses, and what it must be for this one. Left out it
    /// is off where both are installed, so that nobody can say.
    pub chosen_by: Option<(&'static str, bool)>,
    /// Groups of option files that it reads; none for what reads no option file of its own accord.
    pub groups: &'static [&'static str],
    pub carry: SettingsEncoding,
    pub reads: Reads,
    /// Its word for a Unix socket. Another driver's word is none.
    pub socket: Option<&'static str>,
    pub keys: &'static [Key],
    /// A way of setting TLS that is not here was not measured.
    pub spelt: &'static [Spelt],
}

/// How a driver reads texts. Not all do it alike: `yes` is on for one and off for another, and `"False"` is true in Python.
#[derive(Debug, Clone, Copy)]
pub struct Reads {
    /// Texts that are known to switch on.
    pub on: &'static [&'static str],
    /// Texts that are known to switch off. What a driver makes of any other was not measured.
    pub off: &'static [&'static str],
    /// In these and in words, upper and lower case are the same.
    pub is_case_blind: bool,
    /// In words, `-` and `_` are the same too.
    pub is_dash_blind: bool,
}

impl Reads {
    /// No text is a switch.
    pub(crate) const NOTHING: Self = Self { on: &[], off: &[], is_case_blind: false, is_dash_blind: false };
    /// mysys' `my_getopt`: anything else is off, with a warning.
    pub(crate) const OPTION_FILE: Self = Self {
        on: &["1", "true", "on"],
        off: &["0", "false", "off"],
        is_case_blind: true,
        is_dash_blind: false,
    };
    /// A language in which every text with something in it is true.
    pub(crate) const TRUTHY: Self = Self { on: &["1", "true", "yes", "on"], ..Self::NOTHING };
    /// A language in which a text is the number that it begins with.
    pub(crate) const NUMBERS: Self = Self { on: &["1"], off: &["0"], ..Self::NOTHING };

    pub fn switch(&self, text: &str) -> Option<bool> {
        let is_in = |known: &[&str]| known.iter().any(|word| self.is_same(word, text));
        if is_in(self.on) { Some(true) } else { is_in(self.off).then_some(false) }
    }

    /// Whether a text is this word.
    pub fn is_same(&self, word: &str, text: &str) -> bool {
        let dashed = |text: &str| if self.is_dash_blind { text.replace('_', "-") } else { text.to_owned() };
        let (word, text) = (dashed(word), dashed(text));
        word == text || (self.is_case_blind && word.eq_ignore_ascii_case(&text))
    }
}

/// How `--confirm` hands settings to the program of the project, in `SEALION_SETTINGS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsEncoding {
    /// A flat object; `ssl.ca` is the key `ca` of what `ssl` is.
    Json,
    /// `key=value&key=value`
    Query,
    /// `key=value;key=value`
    Semicolons,
    /// Lines of an option file.
    Lines,
}

/// A word that has to do with TLS, as this driver knows it.
#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Names the CA, or holds it.
    Ca,
    /// Off is the same as left out.
    Flag,
    /// Off is something else than left out.
    Switch,
    /// One of some words; their case, and `-` or `_`, make no difference.
    Word,
    /// Changes nothing of what was measured, beside other settings: a client's own certificate, a list of ciphers.
    Beside,
    /// Says that the settings stand in another file.
    Elsewhere,
}

/// A mode, as it is spelt in settings: all of these, and no other.
#[derive(Debug)]
pub struct Spelt {
    pub mode: &'static str,
    pub settings: &'static [(&'static str, ExpectedValue)],
    /// What else must be so, and is not in the settings.
    pub provided: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedValue {
    Ca,
    On,
    Off,
    Word(&'static str),
    /// A name that the program has given to a configuration of its own.
    Named,
}

/// How what is `provided` begins where a name in the settings stands for something in the program.
pub const NAMED_ELSEWHERE: &str = "the configuration that the program registers under this name";

impl ExpectedValue {
    /// As text; the CA is at `ca`.
    pub fn text(self, ca: &str) -> &str {
        match self {
            Self::Ca => ca,
            Self::On => "true",
            Self::Off => "false",
            Self::Word(word) => word,
            Self::Named => "custom",
        }
    }
}

impl Spelt {
    pub(crate) const fn new(mode: &'static str, settings: &'static [(&'static str, ExpectedValue)]) -> Self {
        Self { mode, settings, provided: "" }
    }

    pub(crate) const fn provided(self, provided: &'static str) -> Self {
        Self { provided, ..self }
    }
}

impl Key {
    pub(crate) const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind }
    }
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
    /// Never in cleartext.
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
