//! Files that are given together: what one of them says of a connection in another.
//!
//! A file alone is judged as if it decided. Beside it may lie the one that does: code that takes a URL out of the
//! environment and adds to it ([`urls`]), the `config/database.php` of Laravel ([`laravel`]), settings that replace
//! others, a module whose dictionary an importer changes ([`modules`]), a framework's settings that a program sets anew
//! ([`rewrites`]), code that asks a file of settings for its parts ([`takers`]), a deployment that is laid over another
//! ([`deployments`]). A connection that another file has a say in
//! gets an obstacle with that file and line, as a form gives one for what it does not know. Nothing here opens a
//! file: the caller hands in all of them.

mod deployments;
mod laravel;
mod modules;
mod rewrites;
mod takers;
mod urls;

use std::cell::OnceCell;

use formats::settings::code::{self, Language, Source, Variables};
use formats::settings::pairs::{self, Pair};

use super::{ConnectionSettings, Form, Read, Setting, SettingsError, forms, obstacle};

/// Files that are looked at against each other. More are a tree of sources, and each costs a look at all others.
const FILES_MAX: usize = 512;

/// All files that were given.
#[derive(Default)]
pub struct Set {
    members: Vec<Member>,
    definitions: OnceCell<Vec<urls::Definition>>,
}

/// One file.
pub(super) struct Member {
    /// As the user wrote it.
    name: String,
    /// Folders and name, from the root of the file system.
    place: Vec<String>,
    bytes: Vec<u8>,
    form: &'static Form,
    source: OnceCell<Option<Source>>,
}

/// What is left of a connection when all files were looked at.
#[derive(Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is judged, with whatever was added to it.
    Judged,
    /// Another file decides, and has it among its own; a sentence for people.
    Elsewhere(String),
}

impl Set {
    /// `files`: the name as it was given, the path from the root, and what is in it.
    pub fn new(files: Vec<(String, String, Vec<u8>)>) -> Self {
        let member = |(name, place, bytes): (String, String, Vec<u8>)| Member {
            form: forms::form(&place),
            place: place.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect(),
            name,
            bytes,
            source: OnceCell::new(),
        };
        Self {
            members: files.into_iter().take(FILES_MAX).map(member).collect(),
            definitions: OnceCell::new(),
        }
    }

    /// Reads one of the files in the environment that the others give it.
    ///
    /// # Errors
    /// As [`super::read`].
    pub fn read(&self, name: &str, bytes: &[u8]) -> Result<(&'static Form, Read), SettingsError> {
        match self.index(name) {
            Some(index) => super::read_in(name, bytes, &self.variables(index)),
            None => super::read(name, bytes),
        }
    }

    /// What the other files have to say of a connection in this one.
    pub fn look(&self, name: &str, found: &mut ConnectionSettings) -> Standing {
        let Some(index) = self.index(name) else { return Standing::Judged };
        if let Some(standing) = laravel::look(self, index, found) {
            return standing;
        }
        urls::look(self, index, found);
        modules::look(self, index, found);
        rewrites::look(self, index, found);
        takers::look(self, index, found);
        deployments::look(self, index, found);
        Standing::Judged
    }

    /// Whether another file asks for this entry of a `database.yml` by its name.
    pub fn is_asked_for(&self, name: &str, entry: &str) -> bool {
        let (Some(index), Some(key)) = (self.index(name), entry.split('.').next()) else { return false };
        let others = self.members.iter().enumerate().filter(|(other, _)| *other != index);
        others.into_iter().any(|(_, member)| {
            let text = String::from_utf8_lossy(&member.bytes);
            let is_ruby = member.form.id == "ruby";
            ["RAILS_ENV", "RACK_ENV"].iter().any(|variable| {
                super::doubts::words(&text, variable)
                    .any(|at| text.get(at..).is_some_and(|rest| starts_with_value(rest, variable, key)))
            }) || (is_ruby
                && super::doubts::words(&text, key).any(|at| {
                    let before = text.get(..at).unwrap_or_default();
                    before.ends_with([':', '"', '\''])
                }))
        })
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|member| member.name == name)
    }

    fn variables(&self, index: usize) -> Variables {
        let Some(member) = self.members.get(index) else { return Variables::default() };
        match member.form.id {
            "php" => laravel::variables(self, member).unwrap_or_else(|| urls::variables(self, index)),
            "python" => {
                Variables { names: modules::names(self, index, member), ..urls::variables(self, index) }
            }
            _ => urls::variables(self, index),
        }
    }

    fn members(&self) -> impl Iterator<Item = (usize, &Member)> {
        self.members.iter().enumerate()
    }
}

/// `RAILS_ENV=shared`, `RAILS_ENV: shared`
fn starts_with_value(rest: &str, variable: &str, wanted: &str) -> bool {
    let value = rest.get(variable.len()..).unwrap_or_default().trim_start_matches(['=', ':', ' ', '"', '\'']);
    value
        .strip_prefix(wanted)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

impl Member {
    /// As code, where it is some.
    fn source(&self) -> Option<&Source> {
        let language = match self.form.id {
            "python" => Language::Python,
            "javascript" => Language::JavaScript,
            "php" => Language::Php,
            "ruby" => Language::Ruby,
            "perl" => Language::Perl,
            "source" => Language::CLike,
            _ => return None,
        };
        self.source.get_or_init(|| code::read(&self.bytes, language).ok()).as_ref()
    }

    /// As an environment, where it is one.
    fn pairs(&self) -> Vec<Pair> {
        if self.form.id == "env" { pairs::env(&self.bytes).unwrap_or_default() } else { vec![] }
    }

    fn file_name(&self) -> &str {
        self.place.last().map_or("", String::as_str)
    }

    fn folder(&self) -> &[String] {
        self.place.split_last().map_or(&[], |(_, folder)| folder)
    }

    /// How many folders two files share.
    fn common(&self, other: &Self) -> usize {
        self.folder().iter().zip(other.folder()).take_while(|(one, other)| one == other).count()
    }

    /// Something in this file makes a connection of another one uncertain.
    fn obstacle(&self, line: usize, why: &str) -> Setting {
        Setting { file: Some(self.name.clone()), ..obstacle(line, why) }
    }

    /// It is there to be copied, and no program reads it.
    fn is_example(&self) -> bool {
        let name = self.file_name().to_lowercase();
        ["example", "sample", "template", ".dist"].iter().any(|word| name.contains(word))
    }
}
