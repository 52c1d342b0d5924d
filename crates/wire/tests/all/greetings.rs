//! Greetings of each flavour. Those in `testdata/` are recorded; the others are laid out after what is documented.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use wire::{Capabilities, FirstPacket, Flavour, Greeting, Sign, greeting};

fn read(payload: &[u8]) -> Greeting {
    match greeting::parse(payload).unwrap() {
        FirstPacket::Greeting(greeting) => greeting,
        FirstPacket::Refused(error) => panic!("{error:?}"),
    }
}

/// A greeting of protocol 10; `plugin` with its closing NUL, if it has one.
fn payload(version: &str, capabilities: u32, reserved: [u8; 10], auth_bytes: u8, plugin: &[u8]) -> Vec<u8> {
    let [c0, c1, c2, c3] = capabilities.to_le_bytes();
    let mut out = vec![10];
    out.extend_from_slice(version.as_bytes());
    out.extend_from_slice(b"\0\x07\0\0\0abcdefgh\0");
    out.extend_from_slice(&[c0, c1, 8, 2, 0, c2, c3, auth_bytes]);
    out.extend_from_slice(&reserved);
    out.extend_from_slice(b"ijklmnopqrst\0");
    out.extend_from_slice(plugin);
    out
}

const MARIADB_RESERVED: [u8; 10] = [0, 0, 0, 0, 0, 0, 0x1d, 0, 0, 0];
const MYSQL_RESERVED: [u8; 10] = [0; 10];

#[test]
fn reads_mysql_5_5_with_yassl_whose_plugin_name_has_no_end() {
    // Seen: MySQL 5.5.9, the packet ends with the name.
    let bytes = payload("5.5.9", 0xc00f_ffff, MYSQL_RESERVED, 21, b"mysql_native_password");
    let seen = read(&bytes);
    assert_eq!((seen.auth_plugin.as_deref(), seen.nonce.len()), (Some("mysql_native_password"), 20));
    assert!(seen.offers_tls() && !seen.is_mariadb());
    assert_eq!(seen.version_numbers(), Some((5, 5, 9)));
}

#[test]
fn reads_mysql_5_0_and_5_1_which_know_no_plugins() {
    for version in ["5.0.96-log", "5.1.73"] {
        // High capabilities and the length were reserved bytes then.
        let seen = read(&payload(version, 0x0000_f7df | 0x0800, MYSQL_RESERVED, 0, b""));
        assert_eq!(
            (seen.auth_plugin.as_deref(), seen.nonce.as_slice()),
            (None, &b"abcdefghijklmnopqrst"[..])
        );
        assert_eq!(seen.flavour().flavour, Flavour::MySql);
    }
}

#[test]
fn reads_a_greeting_of_protocol_9() {
    let seen = read(b"\x093.20.32\0\x05\0\0\0abcdefgh\0");
    assert_eq!((seen.protocol, seen.version.as_str(), seen.connection_id), (9, "3.20.32", 5));
    assert_eq!(
        (seen.nonce.as_slice(), seen.offers_tls(), seen.is_mariadb()),
        (&b"abcdefgh"[..], false, false)
    );
    assert_eq!(seen.flavour().signs, [Sign::Protocol9]);
    for cut in 0..13 {
        assert!(greeting::parse(&b"\x093.20.32\0\x05\0\0\0"[..cut]).is_err(), "cut at {cut}");
    }
}

#[test]
fn a_refusal_in_place_of_a_greeting_is_told_by_its_number() {
    for (bytes, code) in [
        (&b"\xff\x69\x04Host '10.0.0.1' is blocked because of many connection errors"[..], 1129),
        (b"\xff\x6a\x04Host '10.0.0.1' is not allowed to connect", 1130),
        (b"\xff\x10\x04Too many connections", 1040),
        (b"\xff\x10\x04#08004Too many connections", 1040),
    ] {
        let FirstPacket::Refused(error) = greeting::parse(bytes).unwrap() else { panic!() };
        assert_eq!((error.code, error.sqlstate.is_some()), (code, bytes[3] == b'#'));
    }
}

#[test]
fn other_protocols_are_no_greeting() {
    for bytes in [&b"SSH-2.0-OpenSSH"[..], b"\x08", b"\x0b1\0", b"", b"\x05\0\0\0\x0b"] {
        assert!(greeting::parse(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn guesses_the_flavour_and_says_why() {
    use Sign::{
        CachingSha2, ExtendedCapabilities, LongPasswordClear, NumberedBuild, ReplicationPrefix, VersionSays,
    };
    const MYSQL: u32 = 0xdfff_ffff;
    const MARIADB: u32 = 0x81ff_fffe;
    let native: &[u8] = b"mysql_native_password\0";
    let sha2: &[u8] = b"caching_sha2_password\0";
    for (version, capabilities, reserved, plugin, flavour, signs) in [
        (
            "5.5.5-10.11.19-MariaDB-0+deb12u1",
            MARIADB,
            MARIADB_RESERVED,
            native,
            Flavour::MariaDb,
            &[LongPasswordClear, ExtendedCapabilities, ReplicationPrefix, VersionSays("mariadb")][..],
        ),
        (
            "11.4.5-MariaDB",
            MARIADB,
            MARIADB_RESERVED,
            native,
            Flavour::MariaDb,
            &[LongPasswordClear, ExtendedCapabilities, VersionSays("mariadb")],
        ),
        // MariaDB with a version text of its owner's.
        (
            "8.0.99",
            MARIADB,
            MARIADB_RESERVED,
            native,
            Flavour::MariaDb,
            &[LongPasswordClear, ExtendedCapabilities],
        ),
        ("8.4.6", MYSQL, MYSQL_RESERVED, sha2, Flavour::MySql, &[CachingSha2]),
        // Percona Server 8 looks like this, and so does the package of Debian that was seen.
        ("9.7.4-2", MYSQL, MYSQL_RESERVED, sha2, Flavour::MySql, &[CachingSha2, NumberedBuild]),
        ("5.6.51-rel91.0-log", MYSQL, MYSQL_RESERVED, native, Flavour::Percona, &[VersionSays("-rel")]),
        ("8.0.11-TiDB-v8.5.0", MYSQL, MYSQL_RESERVED, native, Flavour::TiDb, &[VersionSays("tidb")]),
        (
            "8.0.30-Vitess",
            MYSQL,
            MYSQL_RESERVED,
            sha2,
            Flavour::Vitess,
            &[CachingSha2, VersionSays("vitess")],
        ),
        (
            "5.5.5-10.4.32 2.5.29-maxscale",
            MYSQL,
            MYSQL_RESERVED,
            native,
            Flavour::MaxScale,
            &[ReplicationPrefix, VersionSays("maxscale")],
        ),
    ] {
        let guess = read(&payload(version, capabilities, reserved, 21, plugin)).flavour();
        assert_eq!((guess.flavour, &guess.signs[..]), (flavour, signs), "{version}");
        assert_eq!(guess.against, [], "{version}");
    }
}

#[test]
fn a_contradiction_is_kept_as_one() {
    let guess = read(&payload("11.4.5-MariaDB", 0xdfff_ffff, MYSQL_RESERVED, 21, b"caching_sha2_password\0"))
        .flavour();
    assert_eq!((guess.flavour, guess.against), (Flavour::MariaDb, vec![Sign::CachingSha2]));
}

#[test]
fn versions_that_are_no_numbers_are_none() {
    for (version, numbers) in [
        ("5.5.5-10.11.19-MariaDB", Some((10, 11, 19))),
        ("8.0", None),
        ("", None),
        ("99999.1.1", None),
        ("five.one.two", None),
    ] {
        let seen =
            Greeting { version: version.into(), ..read(&payload("1.2.3", 0xffff, MYSQL_RESERVED, 0, b"")) };
        assert_eq!(seen.version_numbers(), numbers, "{version}");
    }
}

#[test]
fn a_cut_greeting_of_any_flavour_never_panics_and_is_no_success_before_its_fixed_part_ends() {
    for (capabilities, plugin) in [(0xc00f_ffff_u32, &b"mysql_native_password"[..]), (0xf7ff, b"")] {
        let whole = payload("5.1.73", capabilities, MYSQL_RESERVED, 21, plugin);
        let before_4_1 = 1 + 7 + 4 + 8 + 1 + 2;
        for cut in 0..whole.len() - plugin.len() {
            assert_eq!(greeting::parse(&whole[..cut]).is_ok(), cut == before_4_1, "cut at {cut}");
        }
        assert!(Capabilities(capabilities).contains(Capabilities::SECURE_CONNECTION));
    }
}
