//! The forms of files in which connections stand: one file each, one line in [`FORMS`].

mod env;
mod javascript;
mod loose;
mod mylogin;
pub mod option_file;
mod perl;
mod php;
mod php_classes;
pub(super) mod properties;
pub(super) mod python;
mod ruby;
mod source;
mod systemd;
mod text;
mod yaml;

pub use env::LARAVEL_CA;

use formats::settings::code::Variables;

use super::{Read, SettingsError};

/// One kind of file.
#[derive(Debug)]
pub struct Form {
    pub id: &'static str,
    /// For people: `a .env file`.
    pub name: &'static str,
    /// By the name of the file alone, in small letters.
    pub fits: fn(&str) -> bool,
    /// Bytes, and what the program that has them is known to have in its environment.
    pub read: fn(&[u8], &Variables) -> Result<Read, SettingsError>,
}

/// The first that fits reads it; the last fits everything.
pub const FORMS: &[&Form] = &[
    &mylogin::MYLOGIN,
    &option_file::OPTION_FILE,
    &systemd::SYSTEMD,
    &env::ENV,
    &properties::PROPERTIES,
    &yaml::YAML,
    &javascript::JSON,
    &javascript::JAVASCRIPT,
    &python::PYTHON,
    &php::PHP,
    &ruby::RUBY,
    &perl::PERL,
    &source::SOURCE,
    &text::TEXT,
];

/// The form of a file of this name.
pub fn form(name: &str) -> &'static Form {
    let mut parts = name.rsplit('/');
    let name = parts.next().unwrap_or_default().to_lowercase();
    // A drop-in is told by its folder alone: `shop.service.d/override.conf`.
    let is_drop_in =
        |folder: &str| folder.strip_suffix(".d").is_some_and(|unit| (systemd::SYSTEMD.fits)(unit));
    if ends(&name, &[".conf"]) && parts.next().is_some_and(is_drop_in) {
        return &systemd::SYSTEMD;
    }
    FORMS.iter().copied().find(|form| (form.fits)(&name)).unwrap_or(&text::TEXT)
}

/// Whether the name ends with one of these.
fn ends(name: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_its_form() {
        for (name, id) in [
            ("/home/u/.mylogin.cnf", "mylogin"),
            ("/etc/mysql/my.cnf", "option-file"),
            ("/home/u/.my.cnf", "option-file"),
            ("my.ini", "option-file"),
            ("/etc/systemd/system/app.service", "systemd"),
            ("/etc/systemd/system/app.service.d/override.conf", "systemd"),
            ("/etc/app.d/override.conf", "text"),
            (".env", "env"),
            (".env.production", "env"),
            ("app.env", "env"),
            ("application.properties", "properties"),
            ("compose.yml", "yaml"),
            ("config.json", "json"),
            ("db.mjs", "javascript"),
            ("settings.py", "python"),
            ("wp-config.php", "php"),
            ("db.rb", "ruby"),
            ("report.pl", "perl"),
            ("main.go", "source"),
            ("notes", "text"),
        ] {
            assert_eq!(form(name).id, id, "{name}");
        }
    }

    #[test]
    fn every_form_has_an_id_of_its_own() {
        let ids: std::collections::BTreeSet<&str> = FORMS.iter().map(|form| form.id).collect();
        assert_eq!(ids.len(), FORMS.len());
    }
}
