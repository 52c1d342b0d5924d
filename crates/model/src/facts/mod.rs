//! Every fact that there is, by what it is about.

pub mod account;
pub mod cluster;
pub mod job;
pub mod log;
pub mod rest;
pub mod server;
pub mod session;
pub mod statement;
pub mod tls;
pub mod wire;

use crate::fact::Fact;

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Fact> {
    [
        wire::ALL,
        tls::ALL,
        server::ALL,
        session::ALL,
        account::ALL,
        cluster::ALL,
        rest::ALL,
        log::ALL,
        job::ALL,
        statement::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fact_has_a_name_of_its_own_and_says_what_it_means() {
        let mut names: Vec<&str> = all().map(|fact| fact.name).collect();
        names.sort_unstable();
        for pair in names.windows(2) {
            assert_ne!(pair[0], pair[1], "declared twice");
        }
        for fact in all() {
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' || c == '_';
            assert!(fact.name.contains('.') && fact.name.chars().all(is_plain), "{}", fact.name);
            assert!(fact.meaning.len() > 15, "{}: \"{}\" says too little", fact.name, fact.meaning);
        }
    }
}
