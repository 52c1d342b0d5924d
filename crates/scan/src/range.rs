//! Ranges of addresses (CIDR), and which of them may be dialled. Nothing is expanded: a range yields its addresses one by
//! one.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A network and its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    network: IpAddr,
    prefix: u8,
}

impl Cidr {
    /// `10.0.0.0/24`, `fd00::/120`; an address alone is a range of one.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let network: IpAddr = address.parse().map_err(|_| format!("\"{address}\" is no address"))?;
        if network.to_canonical() != network {
            return Err(format!("\"{text}\" is IPv4 within IPv6: write it as IPv4"));
        }
        let bits = bits(network);
        let prefix = match prefix {
            None => bits,
            Some(digits) => digits
                .parse::<u8>()
                .ok()
                .filter(|prefix| *prefix <= bits && digits.bytes().all(|byte| byte.is_ascii_digit()))
                .ok_or_else(|| format!("\"{digits}\" is no prefix (0 to {bits})"))?,
        };
        let this = Self { network, prefix };
        let (first, _) = this.bounds();
        // Somebody who writes 10.0.0.7/24 may mean the host, or the network: better asked than guessed.
        if number(network) != first {
            return Err(format!(
                "{network} is inside of the network: write {}/{prefix}, or the address alone",
                address_of(first, network)
            ));
        }
        Ok(this)
    }

    /// Its first and its last address, as numbers.
    fn bounds(&self) -> (u128, u128) {
        let free = u32::from(bits(self.network) - self.prefix);
        let mask = u128::MAX.checked_shl(free).unwrap_or(0);
        let all = if self.network.is_ipv4() { u128::from(u32::MAX) } else { u128::MAX };
        let first = number(self.network) & mask;
        (first, first | (!mask & all))
    }

    /// The first and last address that a host may have.
    ///
    /// Sources: RFC 919 7 and RFC 950 2.1 (IPv4: all zeros is the network, all ones is everybody), RFC 3021 (a /31 has two
    /// hosts), RFC 4291 2.6.1 (IPv6: all zeros is any router), RFC 6164 (a /127 has two hosts). There is no broadcast in IPv6.
    fn host_bounds(&self) -> (u128, u128) {
        let (first, last) = self.bounds();
        match (self.network.is_ipv4(), bits(self.network) - self.prefix) {
            (_, 0 | 1) => (first, last),
            (true, _) => (first + 1, last - 1),
            (false, _) => (first + 1, last),
        }
    }

    /// How many hosts it may have.
    pub fn host_count(&self) -> u128 {
        let (first, last) = self.host_bounds();
        (last - first).saturating_add(1)
    }

    /// The addresses that hosts may have, in order, made as they are asked for.
    pub fn hosts(&self) -> impl Iterator<Item = IpAddr> + use<> {
        let (first, last) = self.host_bounds();
        let like = self.network;
        (first..=last).map(move |number| address_of(number, like))
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.prefix)
    }
}

const fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    }
}

fn address_of(number: u128, like: IpAddr) -> IpAddr {
    match like {
        // A range of IPv4 has no number above 32 bits.
        IpAddr::V4(_) => Ipv4Addr::from(u32::try_from(number).unwrap_or(u32::MAX)).into(),
        IpAddr::V6(_) => Ipv6Addr::from(number).into(),
    }
}

/// Addresses that somebody may dial: ranges, those that touch made one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    v4: Vec<(u128, u128)>,
    v6: Vec<(u128, u128)>,
}

impl Allowed {
    pub fn of(ranges: impl IntoIterator<Item = Cidr>) -> Self {
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for range in ranges {
            if range.network.is_ipv4() { &mut v4 } else { &mut v6 }.push(range.bounds());
        }
        Self { v4: merged(v4), v6: merged(v6) }
    }

    fn of_family(&self, address: IpAddr) -> &[(u128, u128)] {
        if address.is_ipv4() { &self.v4 } else { &self.v6 }
    }

    /// All of it, by one range or by several together.
    pub fn covers(&self, range: &Cidr) -> bool {
        let (first, last) = range.bounds();
        self.of_family(range.network).iter().any(|(from, to)| *from <= first && last <= *to)
    }

    pub fn holds(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let number = number(address);
        self.of_family(address).iter().any(|(from, to)| (*from..=*to).contains(&number))
    }
}

fn merged(mut ranges: Vec<(u128, u128)>) -> Vec<(u128, u128)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u128, u128)> = Vec::new();
    for (from, to) in ranges {
        match merged.last_mut() {
            Some((_, end)) if from <= end.saturating_add(1) => *end = (*end).max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hosts(text: &str) -> Vec<String> {
        Cidr::parse(text).unwrap().hosts().map(|ip| ip.to_string()).collect()
    }

    #[test]
    fn a_range_has_the_addresses_that_hosts_may_have() {
        assert_eq!(hosts("192.0.2.0/30"), ["192.0.2.1", "192.0.2.2"]);
        assert_eq!(hosts("192.0.2.4/31"), ["192.0.2.4", "192.0.2.5"]);
        assert_eq!(hosts("192.0.2.7/32"), ["192.0.2.7"]);
        assert_eq!(hosts("192.0.2.7"), ["192.0.2.7"]);
        assert_eq!(hosts("2001:db8::/126"), ["2001:db8::1", "2001:db8::2", "2001:db8::3"]);
        assert_eq!(hosts("2001:db8::/127"), ["2001:db8::", "2001:db8::1"]);
        for (text, count) in [
            ("10.0.0.0/8", (1 << 24) - 2),
            ("0.0.0.0/0", (1 << 32) - 2),
            ("fd00::/64", (1 << 64) - 1),
            ("::/0", u128::MAX),
            ("10.0.0.0/16", 65_534),
        ] {
            assert_eq!(Cidr::parse(text).unwrap().host_count(), count, "{text}");
        }
        // Not expanded: the first of 2^64 comes at once.
        assert_eq!(Cidr::parse("fd00::/64").unwrap().hosts().next().unwrap().to_string(), "fd00::1");
    }

    #[test]
    fn what_is_no_network_is_refused() {
        let check = |text: &str, part: &str| {
            let error = Cidr::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        };
        check("10.0.0.7/24", "write 10.0.0.0/24");
        check("10.0.0.0/33", "0 to 32");
        check("fd00::/129", "0 to 128");
        check("10.0.0.0/+8", "is no prefix");
        check("10.0.0.0/", "is no prefix");
        check("10.0.0/8", "is no address");
        check("db1/8", "is no address");
        check("::ffff:10.0.0.0/104", "write it as IPv4");
    }

    #[test]
    fn several_ranges_together_may_cover_one() {
        let allowed = |texts: &[&str]| Allowed::of(texts.iter().map(|text| Cidr::parse(text).unwrap()));
        let check = |texts: &[&str], range: &str, expected: bool| {
            assert_eq!(
                allowed(texts).covers(&Cidr::parse(range).unwrap()),
                expected,
                "{texts:?} and {range}"
            );
        };
        check(&["10.0.0.0/24"], "10.0.0.0/24", true);
        check(&["10.0.0.0/24"], "10.0.0.0/23", false);
        check(&["10.0.0.128/25", "10.0.0.0/25"], "10.0.0.0/24", true);
        check(&["10.0.0.0/25", "10.0.0.192/26"], "10.0.0.0/24", false);
        check(&["::/0"], "10.0.0.0/24", false);
        check(&["0.0.0.0/0"], "10.0.0.0/24", true);
        check(&["fd00::/64"], "fd00::/120", true);
        assert!(allowed(&["10.0.0.0/8"]).holds("::ffff:10.1.2.3".parse().unwrap()));
        assert!(!allowed(&["10.0.0.0/8"]).holds("11.0.0.0".parse().unwrap()));
        assert!(!Allowed::default().holds("127.0.0.1".parse().unwrap()));
    }

    proptest! {
        #[test]
        fn a_range_covers_itself_and_holds_its_hosts(bits in any::<u128>(), prefix in 0_u8..=128, is_v4 in any::<bool>()) {
            let (address, prefix) = if is_v4 {
                (IpAddr::from(Ipv4Addr::from((bits & 0xffff_ffff) as u32)), prefix % 33)
            } else {
                // Beside ::ffff:0:0/96, which is IPv4.
                (IpAddr::from(Ipv6Addr::from(bits | 1 << 127)), prefix)
            };
            let (first, _) = Cidr { network: address, prefix }.bounds();
            let network = address_of(first, address);
            let range = Cidr::parse(&format!("{network}/{prefix}")).unwrap();
            let allowed = Allowed::of([range]);
            prop_assert!(allowed.covers(&range) && allowed.holds(address));
            prop_assert!(range.hosts().take(5).all(|host| allowed.holds(host)));
            prop_assert_eq!(Cidr::parse(&range.to_string()), Ok(range));
        }
    }
}
