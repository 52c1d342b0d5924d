//! `wsrep_provider_options`: one string of `key = value;` that the server replaces whole, never merges.
//!
//! So it is read, edited key by key, and written back with every key that we do not know.

use std::fmt;

/// The string as ordered pairs; the last of a repeated key wins, as in the provider.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProviderOptions {
    pairs: Vec<(String, String)>,
}

impl ProviderOptions {
    /// Reads both spellings: `a=1;b=2` as in files and `a = 1; b = 2; ` as the server reads it back.
    ///
    /// # Source
    /// Seen on Galera 26.4.23; gu_config's parser: `;` separates, `\` escapes, space round `=` is dropped.
    pub fn parse(text: &str) -> Self {
        let mut pairs = Vec::new();
        for part in split_unescaped(text) {
            let part = part.trim();
            if part.is_empty() {
                continue;
            }
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            pairs.push((key.trim().to_owned(), value.trim().to_owned()));
        }
        Self { pairs }
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// False as well where it is not set, or to nothing that the provider knows.
    pub fn is_on(&self, key: &str) -> bool {
        self.get(key).and_then(boolean) == Some(true)
    }

    /// Whether a provider that is started with these options uses TLS: as `socket.ssl` says, and without it where there is a key.
    ///
    /// # Source
    /// Seen on Galera 26.4.23: `socket.ssl=NO` beside key and certificate is plain.
    pub fn uses_tls(&self) -> bool {
        let has_key = self.get("socket.ssl_key").is_some_and(|path| !path.is_empty());
        self.get("socket.ssl").and_then(boolean).unwrap_or(has_key)
    }

    pub fn set(&mut self, key: &str, value: &str) {
        self.remove_where(|name, at_last| name == key && !at_last);
        match self.pairs.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => value.clone_into(old),
            None => self.pairs.push((key.to_owned(), value.to_owned())),
        }
    }

    pub fn remove(&mut self, key: &str) {
        self.pairs.retain(|(name, _)| name != key);
    }

    pub fn remove_prefix(&mut self, prefix: &str) {
        self.pairs.retain(|(name, _)| !name.starts_with(prefix));
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    fn remove_where(&mut self, drop: impl Fn(&str, bool) -> bool) {
        let last = |pairs: &[(String, String)], at: usize| {
            let name = &pairs[at].0;
            !pairs.iter().skip(at + 1).any(|(later, _)| later == name)
        };
        let flags: Vec<bool> = (0..self.pairs.len()).map(|at| last(&self.pairs, at)).collect();
        let mut at = 0;
        self.pairs.retain(|(name, _)| {
            at += 1;
            !drop(name, flags.get(at - 1).copied().unwrap_or(true))
        });
    }

    /// Whether every pair of `self` is in force in `live`, apart from what the server rewrites by itself.
    /// Returns the keys that differ.
    pub fn differences(&self, live: &Self) -> Vec<String> {
        let in_force = |(at, (key, _)): &(usize, &(String, String))| {
            // Of a key that stands there twice, the provider takes the last one.
            !self.pairs.iter().skip(at + 1).any(|(later, _)| later == key)
        };
        self.pairs
            .iter()
            .enumerate()
            .filter(in_force)
            .map(|(_, pair)| pair)
            .filter(|(key, value)| {
                // The provider turns the listener's scheme to ssl:// when TLS is strict.
                let bare =
                    |text: &str| text.trim_start_matches("tcp://").trim_start_matches("ssl://").to_owned();
                match live.get(key) {
                    Some(seen) if key.ends_with("listen_addr") => bare(seen) != bare(value),
                    Some(seen) => !same_value(seen, value),
                    None => true,
                }
            })
            .map(|(key, _)| key.clone())
            .collect()
    }
}

/// As the provider reads a boolean; `None`: it refuses it.
///
/// # Source
/// gu_str2bool of Galera 26.4; seen on 26.4.23 for `NO`, `false`, `true` and `on`.
fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "0" | "n" | "f" | "no" | "off" | "false" | "disable" => Some(false),
        "1" | "y" | "t" | "yes" | "on" | "true" | "enable" => Some(true),
        _ => None,
    }
}

/// `YES`, `yes` and `1` are one value to the provider; sizes are read back as they were given.
fn same_value(a: &str, b: &str) -> bool {
    a == b || a.eq_ignore_ascii_case(b) || boolean(a).is_some_and(|value| boolean(b) == Some(value))
}

fn split_unescaped(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut escaped) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            _ if escaped => {
                part.push('\\');
                part.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            ';' => parts.push(std::mem::take(&mut part)),
            c => part.push(c),
        }
    }
    if escaped {
        part.push('\\');
    }
    parts.push(part);
    parts
}

impl fmt::Display for ProviderOptions {
    /// `a=1;b=2`, as files have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (key, value)) in self.pairs.iter().enumerate() {
            let separator = if at == 0 { "" } else { ";" };
            write!(f, "{separator}{key}={value}")?;
        }
        Ok(())
    }
}

/// How a node's group communication speaks, read from the live string, never from a plan or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GaleraState {
    /// No socket.ssl* at all.
    Plain,
    /// ssl=YES and dynamic=YES: guesses per link, so it may be plain.
    Dynamic,
    /// ssl=YES, no dynamic, listens on ssl://: speaks nothing else.
    Strict,
    /// A mixture that is refused: such nodes have crashed their donors.
    Other(String),
}

impl GaleraState {
    pub fn of(live: &ProviderOptions) -> Self {
        let any_ssl = live.iter().any(|(key, value)| {
            // `socket.ssl_reload`, an empty cipher and ssl=NO alone say nothing.
            key.starts_with("socket.ssl_") && key != "socket.ssl_reload" && !value.is_empty()
        });
        if live.get("gmcast.mcast_addr").is_some_and(|address| !address.is_empty()) {
            return Self::Other(
                "gmcast.mcast_addr is set: writesets go by UDP multicast, which has no TLS".into(),
            );
        }
        let listens_ssl = live.get("gmcast.listen_addr").is_some_and(|address| address.starts_with("ssl://"));
        match (live.is_on("socket.ssl"), live.is_on("socket.dynamic"), listens_ssl, any_ssl) {
            (false, false, false, false) => Self::Plain,
            (true, true, false, _) => Self::Dynamic,
            (true, false, true, _) => Self::Strict,
            (true, false, false, _) => {
                Self::Other("socket.ssl=YES without socket.dynamic, but it listens on tcp://".into())
            }
            (true, true, true, _) => Self::Other("socket.dynamic=YES, but it listens on ssl://".into()),
            (false, true, _, _) => Self::Other("socket.dynamic=YES without socket.ssl".into()),
            (false, false, _, true) => Self::Other(
                "key or certificate paths with socket.ssl=NO: IST would ask for ssl:// and crash the donor"
                    .into(),
            ),
            (false, false, true, false) => Self::Other("listens on ssl:// without socket.ssl".into()),
        }
    }

    /// The same of the string that a provider is started with, which may leave out what follows from the rest.
    ///
    /// # Source
    /// Seen on Galera 26.4.23: key and certificate alone turn TLS on; the scheme of `gmcast.listen_addr` is made to fit.
    pub fn at_start(given: &ProviderOptions) -> Self {
        let mut live = given.clone();
        let (tls, dynamic) = (given.uses_tls(), given.is_on("socket.dynamic"));
        live.set("socket.ssl", if tls { "YES" } else { "NO" });
        let scheme = if tls && !dynamic { "ssl://" } else { "tcp://" };
        live.set("gmcast.listen_addr", scheme);
        Self::of(&live)
    }

    pub fn letter(&self) -> char {
        match self {
            Self::Plain => 'P',
            Self::Dynamic => 'D',
            Self::Strict => 'S',
            Self::Other(_) => 'X',
        }
    }
}

impl fmt::Display for GaleraState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => f.pad("plain"),
            Self::Dynamic => f.pad("dynamic"),
            Self::Strict => f.pad("strict"),
            Self::Other(why) => write!(f, "mixed up ({why})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Seen on Galera 26.4.23: the last one counts.
    #[test]
    fn of_a_key_that_stands_there_twice_the_last_one_counts_and_is_changed() {
        let text = "gcache.size=64M; socket.ssl = NO ;gcache.size=128M;socket.ssl=YES;pc.weight=2";
        let mut options = ProviderOptions::parse(text);
        assert_eq!((options.get("gcache.size"), options.get("socket.ssl")), (Some("128M"), Some("YES")));
        let live = ProviderOptions::parse("gcache.size = 128M; pc.weight = 2; socket.ssl = YES; ");
        assert_eq!(options.differences(&live), Vec::<String>::new());
        let old = ProviderOptions::parse("gcache.size = 64M; pc.weight = 2; socket.ssl = YES; ");
        assert_eq!(options.differences(&old), ["gcache.size"]);
        // What is not ours stays as it stands there.
        options.set("socket.ssl", "NO");
        assert_eq!(options.to_string(), "gcache.size=64M;gcache.size=128M;socket.ssl=NO;pc.weight=2");
        options.remove("gcache.size");
        assert_eq!(options.to_string(), "socket.ssl=NO;pc.weight=2");
    }

    #[test]
    fn reads_both_spellings_and_keeps_what_it_does_not_know() {
        let mut options =
            ProviderOptions::parse("base_port = 4567; gcache.size = 128M; some.future_key = x; ");
        options.set("socket.ssl", "YES");
        options.set("gcache.size", "256M");
        assert_eq!(options.to_string(), "base_port=4567;gcache.size=256M;some.future_key=x;socket.ssl=YES");
    }

    #[test]
    fn the_last_of_a_repeated_key_wins_and_set_leaves_one() {
        let mut options = ProviderOptions::parse("a=1;b=2;a=3");
        assert_eq!(options.get("a"), Some("3"));
        options.set("a", "4");
        assert_eq!(options.to_string(), "b=2;a=4");
    }

    #[test]
    fn states_are_read_as_the_reference_lists_them() {
        let check = |text: &str, letter| {
            assert_eq!(GaleraState::of(&ProviderOptions::parse(text)).letter(), letter, "{text}");
        };
        check("gmcast.listen_addr = tcp://0.0.0.0:4567; socket.checksum = 2; ", 'P');
        check(
            "gmcast.listen_addr = tcp://1:4567; socket.ssl = YES; socket.ssl_key = k; socket.dynamic = YES; ",
            'D',
        );
        check(
            "gmcast.listen_addr = ssl://1:4567; socket.ssl = YES; socket.ssl_key = k; socket.ssl_cipher = ; ",
            'S',
        );
        check("gmcast.listen_addr = tcp://1:4567; socket.ssl = NO; socket.ssl_key = k; ", 'X');
        check("gmcast.listen_addr = tcp://1:4567; socket.dynamic = YES; ", 'X');
        check("gmcast.listen_addr = ssl://1:4567; socket.ssl = YES; gmcast.mcast_addr = 239.1.1.1; ", 'X');
        check("gmcast.listen_addr = ssl://1:4567; socket.ssl = YES; gmcast.mcast_addr = ; ", 'S');
        check("gmcast.listen_addr = ssl://1:4567; socket.ssl = YES; socket.dynamic = YES; ", 'X');
    }

    #[test]
    fn files_are_read_as_the_provider_reads_them() {
        let check = |text: &str, expected: (bool, bool)| {
            let options = ProviderOptions::parse(text);
            assert_eq!((options.uses_tls(), options.is_on("socket.dynamic")), expected, "{text}");
        };
        for off in ["NO", "no", "0", "off", "false", "disable", "N", "n", "f"] {
            check(&format!("socket.ssl_key=/k;socket.ssl_cert=/c;socket.ssl={off}"), (false, false));
        }
        for on in ["true", "on", "YES", "1", "enable", "Y", "t"] {
            check(&format!("socket.ssl_key=/k;socket.dynamic={on}"), (true, true));
        }
        check("socket.ssl_key=/k;socket.ssl_cert=/c", (true, false));
        check("socket.ssl_key=", (false, false));
        check("gcache.size=1G", (false, false));
    }

    #[test]
    fn the_listeners_scheme_is_not_a_difference_but_a_size_is() {
        let file = ProviderOptions::parse("gmcast.listen_addr=tcp://1:4567;gcache.size=128M;socket.ssl=yes");
        let live = ProviderOptions::parse(
            "gmcast.listen_addr = ssl://1:4567; gcache.size = 64M; socket.ssl = YES; ",
        );
        assert_eq!(file.differences(&live), vec!["gcache.size"]);
    }

    proptest! {
        #[test]
        fn parse_and_print_agree(pairs in proptest::collection::vec(("[a-z._]{1,12}", "[a-zA-Z0-9:/._-]{0,12}"), 0..8)) {
            let options = ProviderOptions { pairs };
            prop_assert_eq!(ProviderOptions::parse(&options.to_string()), options);
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = GaleraState::of(&ProviderOptions::parse(&text));
        }
    }
}
