#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use super::*;
use proptest::prelude::*;

fn packet(sequence: u8, head: &[u8]) -> Packet<'_> {
    Packet { sequence, head, bytes: head.len() as u64 }
}

fn greeting(plugin: &str) -> Vec<u8> {
    wire::greeting::encode(&wire::Greeting {
        protocol: 10,
        version: "8.4.3".into(),
        connection_id: 7,
        nonce: vec![3; 20],
        capabilities: Capabilities(0xffff_ffff),
        mariadb_capabilities: 0,
        charset: 45,
        status: 2,
        auth_plugin: Some(plugin.into()),
    })
}

fn login(plugin: &str, answer: &[u8]) -> Vec<u8> {
    let capabilities = Capabilities::LONG_PASSWORD
        | Capabilities::PROTOCOL_41
        | Capabilities::SECURE_CONNECTION
        | Capabilities::PLUGIN_AUTH;
    let head = SslRequest { capabilities, mariadb_capabilities: 0, max_packet_bytes: 1, charset: 45 };
    let mut out = vec![];
    HandshakeResponse {
        head,
        user: b"u",
        auth_response: answer,
        database: None,
        auth_plugin: Some(plugin),
        attributes: vec![],
    }
    .encode(&mut out)
    .unwrap();
    out
}

/// A login with this plugin and this answer, and what follows: `true` from the client.
fn after_login(plugin: &str, answer: &[u8], more: &[(bool, &[u8])]) -> MysqlTraffic {
    let mut mysql = MySql::default();
    mysql.from_server(packet(0, &greeting("caching_sha2_password")));
    mysql.from_client(packet(1, &login(plugin, answer)));
    for (number, (is_client, bytes)) in more.iter().enumerate() {
        let packet = packet(u8::try_from(number).unwrap() + 2, bytes);
        if *is_client {
            mysql.from_client(packet)
        } else {
            mysql.from_server(packet)
        };
    }
    mysql.seen
}

#[test]
fn the_plugins_that_send_the_password_itself_are_told() {
    assert_eq!(after_login("mysql_clear_password", b"pw\0", &[]).passwords_in_clear, 1);
    let switch = wire::answer::encode_auth_switch("dialog", b"Password: ");
    let seen = after_login("mysql_native_password", &[1; 20], &[(false, &switch), (true, b"pw\0")]);
    assert_eq!((seen.passwords_in_clear, seen.logins.len()), (1, 1));
    // caching_sha2_password: 0x04 asks for more than the answer. One client asks for the key, a careless one does not.
    let key = [b"\x01-----BEGIN".as_slice(), &[b'A'; 300]].concat();
    let rsa: [(bool, &[u8]); 4] = [(false, b"\x01\x04"), (true, b"\x02"), (false, &key), (true, &[9; 256])];
    let seen = after_login("caching_sha2_password", &[1; 32], &rsa);
    assert_eq!((seen.passwords_in_clear, seen.logins.len()), (0, 1));
    let careless: [(bool, &[u8]); 2] = [(false, b"\x01\x04"), (true, b"pw\0")];
    assert_eq!(after_login("caching_sha2_password", &[1; 32], &careless).passwords_in_clear, 1);
}

#[test]
fn an_answer_is_kept_as_its_plugin_and_its_length() {
    for (plugin, bytes) in
        [("mysql_native_password", 20), ("caching_sha2_password", 32), ("client_ed25519", 64)]
    {
        let seen = after_login(plugin, &vec![0xee; bytes], &[]);
        assert_eq!(seen.logins, [Login { plugin: plugin.into(), answer_bytes: bytes }]);
        assert!(!format!("{seen:?}").contains("238"));
    }
    assert_eq!(after_login("mysql_native_password", b"", &[]).logins, []);
    assert_eq!(after_login("sha256_password", b"\x01", &[]).logins, []);
}

#[test]
fn counts_results_with_and_without_an_eof_behind_the_columns() {
    let ok: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
    let eof: &[u8] = &[0xfe, 0, 0, 2, 0];
    let end: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];
    let column =
        wire::ColumnDef { name: "c".into(), charset: 45, length_bytes: 9, column_type: 253, flags: 0 }
            .encode();
    for answer in
        [vec![&[1][..], &column, eof, b"\x01a", b"\x01b", eof], vec![&[1], &column, b"\x01a", b"\x01b", end]]
    {
        let mut mysql = MySql::default();
        mysql.from_server(packet(0, &greeting("mysql_native_password")));
        mysql.from_client(packet(1, &login("mysql_native_password", &[1; 20])));
        mysql.from_server(packet(2, ok));
        mysql.from_client(packet(0, b"\x03SELECT 'x'"));
        for bytes in answer {
            mysql.from_server(packet(1, bytes));
        }
        assert_eq!((mysql.seen.results, mysql.seen.rows, mysql.seen.errors), (1, 2, 0));
        mysql.from_client(packet(0, b"\x03bad"));
        mysql.from_server(packet(1, b"\xff\x28\x04#42000near 'zzvalue'"));
        assert_eq!(mysql.seen.error_codes, BTreeMap::from([(1064, 1)]));
        assert!(!format!("{:?}", mysql.seen).contains("zzvalue"));
    }
}

#[test]
fn what_a_replica_registers_with_is_a_secret() {
    let mut mysql = MySql { phase: Phase::Command, ..MySql::default() };
    mysql.from_client(packet(0, b"\x15\x01\x00\x00\x00\x01h\x01u\x02pw\x00\x00"));
    assert_eq!(mysql.seen.secrets, BTreeMap::from([(Secret::ReplicationPassword, 1)]));
}

proptest! {
    #[test]
    fn no_packets_panic(
        packets in proptest::collection::vec(
            (any::<bool>(), 0_u8..4, prop_oneof![Just(0_u8), Just(1), Just(3), Just(0xfe), Just(0xff), any::<u8>()],
             proptest::collection::vec(any::<u8>(), 0..60)), 0..60),
        with_greeting in any::<bool>(),
    ) {
        let mut mysql = MySql::default();
        if with_greeting {
            mysql.from_server(packet(0, &greeting("caching_sha2_password")));
            mysql.from_client(packet(1, &login("x", &[1; 20])));
        }
        for (is_client, sequence, first, mut bytes) in packets {
            bytes.insert(0, first);
            let packet = packet(sequence, &bytes);
            if is_client { mysql.from_client(packet) } else { mysql.from_server(packet) };
        }
        prop_assert!(mysql.seen.samples.len() <= SAMPLES_MAX && mysql.seen.logins.len() <= SAMPLES_MAX);
    }
}

#[test]
fn both_users_of_a_connection_that_changes_its_user_are_told() {
    let change = [&b"\x11second\0\x14"[..], &[5; 20], b"db\0\x2d\0mysql_native_password\0"].concat();
    let ok: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
    let mut mysql = MySql::default();
    mysql.from_server(packet(0, &greeting("mysql_native_password")));
    mysql.from_client(packet(1, &login("mysql_native_password", &[4; 20])));
    mysql.from_server(packet(2, ok));
    for _ in 0..3 {
        mysql.from_client(packet(0, &change));
        mysql.from_server(packet(1, ok));
    }
    assert_eq!(mysql.seen.users, ["u", "second"]);
    assert_eq!(mysql.seen.user.as_deref(), Some("second"));
}
