//! The host of an account: how much of the world it lets in, and whether a session can have come by it.

use std::net::IpAddr;

/// As many leading bits of an address have to be chosen for a network: `10.1.%`, `10.1.0.0/16`, `2001:db8::/32`.
const BITS_MIN: (u32, u32) = (16, 32);
/// `127.0.0.0/8`
const LOOPBACK_BITS: u32 = 8;

/// From where an account may log in: `local`, `named` or `any`; `None` where its host is not understood.
pub fn from(host: &str) -> Option<&'static str> {
    if host.contains('/') {
        let (address, bits) = network(host)?;
        let (is_loopback, least) = match address {
            IpAddr::V4(v4) => (v4.is_loopback() && bits >= LOOPBACK_BITS, BITS_MIN.0),
            IpAddr::V6(v6) => (v6.is_loopback() && bits == 128, BITS_MIN.1),
        };
        return Some(match (is_loopback, bits >= least) {
            (true, _) => "local",
            (false, true) => "named",
            (false, false) => "any",
        });
    }
    let is_v4_pattern = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '%' | '_'));
    if host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
        || host.strip_prefix("127.").is_some_and(is_v4_pattern)
    {
        return Some("local");
    }
    if host.is_empty() {
        return Some("any");
    }
    let is_address = host.contains(':') || is_v4_pattern(host);
    // `_` is one character: of an address that is much, of a name (`app_1`) it is a few neighbours.
    let is_wild = host.contains('%') || (is_address && host.contains('_'));
    if !is_wild {
        return Some("named");
    }
    let is_fixed = |part: &&str| !part.is_empty() && !part.contains(['%', '_']);
    // Of an address only what stands before the first wildcard; a domain ends with what is chosen.
    let fixed = if host.contains(':') {
        host.split(':').take_while(is_fixed).count()
    } else if is_address {
        host.split('.').take_while(is_fixed).count()
    } else {
        host.split('.').filter(is_fixed).count()
    };
    // Two numbers of an address or a domain at the least are a choice; `%`, `1%` and `%.com` are nearly everybody.
    Some(if fixed < 2 { "any" } else { "named" })
}

/// Whether only a name server could tell who comes from there.
///
/// Source: `hostname_requires_resolving` of both servers: `:` is of an IPv6 address, `%` and `_` of a pattern, `/` of a network.
pub fn is_name(host: &str) -> bool {
    !host.eq_ignore_ascii_case("localhost")
        && !host.contains([':', '%', '_', '/'])
        && host.chars().any(|c| !c.is_ascii_digit() && c != '.')
}

/// `10.1.0.0/255.255.0.0` and `10.1.0.0/16`.
fn network(host: &str) -> Option<(IpAddr, u32)> {
    let (address, mask) = host.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = if let Ok(bits) = mask.parse::<u32>() {
        bits
    } else {
        let mask = u32::from(mask.parse::<std::net::Ipv4Addr>().ok().filter(|_| address.is_ipv4())?);
        // One with holes is no network; what is chosen in front counts.
        mask.leading_ones()
    };
    (bits <= most).then_some((address, bits))
}

/// Whether an account with this host can be the one of a session from `seen`, which is an address or a name; `None`
/// where only the server could tell (it looks addresses up).
pub fn lets_in(host: &str, seen: &str) -> Option<bool> {
    if matches!(host, "" | "%") || host.eq_ignore_ascii_case(seen) {
        return Some(true);
    }
    let address: Option<IpAddr> = seen.parse().ok().map(|ip: IpAddr| ip.to_canonical());
    if host.contains('/') {
        let (network, bits) = network(host)?;
        return match (network, address?) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
                Some(u32::from(network) & mask == u32::from(address) & mask)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
                Some(u128::from(network) & mask == u128::from(address) & mask)
            }
            _ => Some(false),
        };
    }
    let is_local = |text: &str| {
        text.eq_ignore_ascii_case("localhost")
            || text.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
    };
    if is_local(host) && is_local(seen) {
        return Some(true);
    }
    if is_local(host) || is_local(seen) {
        return Some(like(host, seen));
    }
    let is_name = |text: &str| !text.contains(':') && text.chars().any(|c| c.is_ascii_alphabetic());
    // A name on one side and an address on the other may be the same host.
    (is_name(host) == address.is_none()).then(|| like(host, seen))
}

/// SQL's LIKE without an escape, letter case aside.
pub fn like(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_ascii_lowercase(), text.to_ascii_lowercase());
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut of, mut star) = (0, 0, None);
    while of < text.len() {
        match pattern.get(at) {
            Some('%') => {
                star = Some((at, of));
                at += 1;
            }
            Some(one) if *one == '_' || Some(one) == text.get(of) => {
                at += 1;
                of += 1;
            }
            _ => {
                let Some((star_at, star_of)) = star else { return false };
                star = Some((star_at, star_of + 1));
                at = star_at + 1;
                of = star_of + 1;
            }
        }
    }
    pattern.iter().skip(at).all(|one| *one == '%')
}

/// Whether the same session can come by both hosts; where that is not plain, it can.
pub fn overlap(one: &str, other: &str) -> bool {
    let is_exact = |host: &str| !host.is_empty() && !host.contains(['%', '_', '/']);
    match (is_exact(one), is_exact(other)) {
        (true, true) => lets_in(one, other) != Some(false),
        (true, false) => lets_in(other, one) != Some(false),
        (false, true) => lets_in(one, other) != Some(false),
        (false, false) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_local_for_named_hosts_or_for_nearly_everybody() {
        for (host, expected) in [
            ("localhost", Some("local")),
            ("127.0.0.1", Some("local")),
            ("127.0.%", Some("local")),
            ("::1", Some("local")),
            ("::ffff:127.0.0.1", Some("local")),
            ("127.0.0.0/255.0.0.0", Some("local")),
            ("127.evil.com", Some("named")),
            ("10.0.0.7", Some("named")),
            ("10.0.%", Some("named")),
            ("10.0.0.0/255.255.255.0", Some("named")),
            ("10.0.0.0/16", Some("named")),
            ("app_1.example.com", Some("named")),
            ("app_1", Some("named")),
            ("%.example.com", Some("named")),
            ("2001:db8:1:2::%", Some("named")),
            ("2001:db8::/32", Some("named")),
            ("%", Some("any")),
            ("", Some("any")),
            ("1%", Some("any")),
            ("10.%", Some("any")),
            ("10.0.0.0/255.0.0.0", Some("any")),
            ("0.0.0.0/128.0.0.0", Some("any")),
            ("0.0.0.0/1", Some("any")),
            ("127.0.0.0/4", Some("any")),
            ("__.__._._", Some("any")),
            ("%.0.0.1", Some("any")),
            ("2001::%", Some("any")),
            ("2001::/16", Some("any")),
            ("%.com", Some("any")),
            ("10.0.0.0/wide", None),
            ("db/1", None),
        ] {
            assert_eq!(from(host), expected, "{host}");
        }
    }

    #[test]
    fn a_name_is_what_a_server_looks_up() {
        for (host, expected) in [
            ("db.example.com", true),
            ("vm", true),
            ("12.ab", true),
            ("localhost", false),
            ("10.0.0.1", false),
            ("10.0.%", false),
            ("%.example.com", false),
            ("::1", false),
            ("10.0.0.0/16", false),
            ("", false),
        ] {
            assert_eq!(is_name(host), expected, "{host}");
        }
    }

    #[test]
    fn a_session_comes_by_an_account_whose_host_lets_it_in() {
        for (host, seen, expected) in [
            ("%", "10.0.0.1", Some(true)),
            ("localhost", "10.0.0.1", Some(false)),
            ("localhost", "::1", Some(true)),
            ("10.0.%", "10.0.3.4", Some(true)),
            ("10.0.%", "10.1.3.4", Some(false)),
            ("10.0.0.0/255.255.0.0", "10.0.3.4", Some(true)),
            ("10.0.0.0/16", "10.1.3.4", Some(false)),
            ("0.0.0.0/0", "10.1.3.4", Some(true)),
            ("2001:db8::/32", "2001:db8::1", Some(true)),
            ("db.example.com", "10.0.0.1", None),
            ("10.0.%", "db.example.com", None),
            ("%.example.com", "db.example.com", Some(true)),
        ] {
            assert_eq!(lets_in(host, seen), expected, "{host} {seen}");
        }
        assert!(overlap("%", "10.0.0.1") && overlap("10.%", "1%") && !overlap("10.0.0.1", "10.0.0.2"));
        assert!(like("a%b_", "axxbc") && !like("a%b_", "axxb") && like("%", ""));
    }

    proptest::proptest! {
        #[test]
        fn any_host_is_judged_without_a_panic(host in ".{0,40}", seen in ".{0,40}") {
            let _ = (from(&host), lets_in(&host, &seen), overlap(&host, &seen));
        }
    }
}
