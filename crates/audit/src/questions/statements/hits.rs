//! Statements with a sign, and who sent them: one line for each shape.

use std::collections::{BTreeMap, BTreeSet};

use model::account::quoted;

use crate::asking::Asking;

use super::digests::Digest;
use super::texts::{Kept, Sender};

/// So many are shown of a kind, the newest first.
const SHOWN_MAX: usize = 3;
/// Of each, so many characters.
const CHARS_MAX: usize = 160;
/// So many accounts are named with a shape.
const SENDERS_MAX: usize = 3;

#[derive(Default)]
pub struct Hits {
    /// By the name of a fact, then by shape.
    of: BTreeMap<&'static str, BTreeMap<String, Hit>>,
}

#[derive(Default)]
struct Hit {
    /// The first that was seen is the first that is told.
    rank: usize,
    /// How often and when last, where a digest says so.
    counted: Option<(u64, String)>,
    texts: usize,
    senders: BTreeSet<Sender>,
}

impl Hits {
    fn hit(&mut self, fact: &'static str, shape: &str) -> &mut Hit {
        let all = self.of.entry(fact).or_default();
        let rank = all.len();
        all.entry(shape.to_owned()).or_insert_with(|| Hit { rank, ..Hit::default() })
    }

    pub fn digest(&mut self, fact: &'static str, digest: &Digest) {
        let hit = self.hit(fact, &digest.text);
        hit.counted = Some((digest.count, digest.last.clone()));
    }

    /// It is told by its digest where that has the sign too, so that each is told once.
    pub fn text(&mut self, fact: &'static str, kept: &Kept) {
        let known = kept
            .digest
            .as_ref()
            .filter(|digest| self.of.get(fact).is_some_and(|all| all.contains_key(digest.as_str())));
        let shape = known.cloned().unwrap_or_else(|| kept.shape());
        let hit = self.hit(fact, &shape);
        hit.texts += 1;
        hit.senders.extend(kept.sender.clone());
    }

    /// The first of them, and how many more there are; `None` where there is none.
    pub fn of(&self, fact: &'static str, senders: &Senders) -> Option<String> {
        let mut all: Vec<(&String, &Hit)> = self.of.get(fact)?.iter().collect();
        all.sort_by_key(|(_, hit)| hit.rank);
        let lines: Vec<String> =
            all.iter().take(SHOWN_MAX).map(|(shape, hit)| hit.line(shape, senders)).collect();
        let more = all.len() - lines.len();
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        Some(lines.join("; ") + &more)
    }
}

impl Hit {
    fn line(&self, shape: &str, senders: &Senders) -> String {
        let begin: String = shape.chars().take(CHARS_MAX).collect();
        let cut = if begin.len() < shape.len() { "…" } else { "" };
        let seen = match &self.counted {
            Some((count, last)) => format!("{}, last {last}", model::text::counted(*count, "time", "times")),
            None => format!("in {} kept", model::text::counted(self.texts, "text that is", "texts that are")),
        };
        format!("{begin}{cut} ({seen}{})", senders.clause(&self.senders))
    }
}

/// What is known of the accounts that statements came from.
#[derive(Debug, Default)]
pub struct Senders {
    /// User, host, and the harm that can be done through it; empty where there is none.
    accounts: Vec<(String, String, String)>,
}

impl Senders {
    pub fn of(asking: &Asking<'_>) -> Self {
        let harm = asking.harm.iter().flatten();
        Self {
            accounts: harm.map(|((user, host), harm)| (user.clone(), host.clone(), harm.clone())).collect(),
        }
    }

    #[cfg(test)]
    pub fn known(accounts: &[(&str, &str, &str)]) -> Self {
        let owned = |&(user, host, harm): &(&str, &str, &str)| (user.into(), host.into(), harm.into());
        Self { accounts: accounts.iter().map(owned).collect() }
    }

    /// The account of a session, which is listed under its user and the host that it comes from, and the harm. Of several with one user name it is not
    /// known which it was.
    pub fn named(&self, (user, from): &Sender) -> (String, String) {
        let same: Vec<&(String, String, String)> =
            self.accounts.iter().filter(|(one, _, _)| one == user).collect();
        let host = match same.as_slice() {
            [(_, host, _)] => host,
            _ => from,
        };
        let harm: BTreeSet<&str> =
            same.iter().map(|(_, _, harm)| harm.as_str()).filter(|harm| !harm.is_empty()).collect();
        (quoted(user, host), harm.into_iter().collect::<Vec<_>>().join(", "))
    }

    fn clause(&self, senders: &BTreeSet<Sender>) -> String {
        if senders.is_empty() {
            return String::new();
        }
        let one = |sender: &Sender| match self.named(sender) {
            (account, harm) if harm.is_empty() => account,
            (account, harm) => format!("{account}, through which it may do harm: {harm}"),
        };
        let named: BTreeSet<String> = senders.iter().map(one).collect();
        let shown: Vec<&str> = named.iter().take(SENDERS_MAX).map(String::as_str).collect();
        let more = named.len() - shown.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!(", sent by {}{more}", shown.join(" and "))
    }
}
