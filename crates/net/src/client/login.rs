//! From the greeting to the end of the login, TLS between them.

use std::sync::Arc;

use wire::login::CHARSET_UTF8MB4;
use wire::packet::BEFORE_LOGIN_BYTES_MAX;
use wire::{
    AuthAnswer, Capabilities, FirstPacket, Greeting, HandshakeResponse, PacketBuffer, SslRequest, greeting,
};
use zeroize::{Zeroize, Zeroizing};

use super::channel::{PacketChannel, Stream};
use crate::auth::{AuthStop, Channel, Exchange, Turn};
use crate::error::{Doing, NetError};
use crate::options::ConnectOptions;
use crate::tls;
use crate::tls_info::TlsInfo;

/// A login has at most a switch, a key and two more turns; a server that goes on longer plays games.
const AUTH_TURNS_MAX: usize = 8;

pub(super) fn read_greeting(channel: &mut PacketChannel) -> Result<Greeting, NetError> {
    const DOING: &str = "waiting for the greeting";
    let first = greeting::parse(channel.receive(DOING)?);
    let about = channel.doing(DOING);
    let greeting = match first.map_err(|error| about.wire(&error))? {
        FirstPacket::Refused(error) => return Err(about.refused(error)),
        FirstPacket::Greeting(greeting) => greeting,
    };
    let needed = Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION;
    if !greeting.capabilities.contains(needed) {
        return Err(NetError::Unsupported {
            endpoint: channel.endpoint.to_string(),
            why: format!("its version {} speaks a protocol from before MySQL 4.1", greeting.version_text()),
            next: "use the client that came with that server",
        });
    }
    Ok(greeting)
}

pub(super) fn wanted_capabilities(options: &ConnectOptions, greeting: &Greeting) -> Capabilities {
    let always = Capabilities::LONG_PASSWORD | Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION;
    let where_offered = Capabilities::LONG_FLAG
        | Capabilities::TRANSACTIONS
        | Capabilities::MULTI_RESULTS
        | Capabilities::PS_MULTI_RESULTS
        | Capabilities::PLUGIN_AUTH
        | Capabilities::PLUGIN_AUTH_LENENC_DATA
        | Capabilities::CONNECT_ATTRS
        | Capabilities::DEPRECATE_EOF;
    let database =
        if options.database.is_some() { Capabilities::CONNECT_WITH_DB } else { Capabilities::default() };
    let local = if options.loads_local { Capabilities::LOCAL_FILES } else { Capabilities::default() };
    always | database | ((where_offered | local) & greeting.capabilities)
}

pub(super) fn request(capabilities: Capabilities, mariadb_capabilities: u32) -> SslRequest {
    SslRequest { capabilities, mariadb_capabilities, max_packet_bytes: 1 << 24, charset: CHARSET_UTF8MB4 }
}

pub(super) fn start_tls(
    mut channel: PacketChannel,
    context: &tls::Context,
    options: &ConnectOptions,
    head: SslRequest,
) -> Result<(PacketChannel, TlsInfo), NetError> {
    const DOING: &str = "starting TLS";
    let mut payload = Vec::with_capacity(32);
    head.encode(&mut payload);
    channel.send(&payload, DOING)?;
    let PacketChannel { stream, incoming, read_bytes, outgoing, sequence, endpoint, timeout } = channel;
    let about = Doing { endpoint: &endpoint, step: DOING, after: timeout };
    let Stream::Plain(mut socket) = stream else {
        return Err(about.misbehaved("TLS was to be started inside TLS"));
    };
    // The server must be silent now until it has our ClientHello. Bytes that somebody slipped in before TLS
    // must never be read as if they had come over it; so they are neither dropped nor kept, they end it here.
    let injected =
        incoming.unread_bytes() > 0 || socket.has_unread_bytes().map_err(|error| about.io(&error))?;
    if injected {
        return Err(about.misbehaved("cleartext arrived between its greeting and the start of TLS"));
    }
    socket.expect_tls_record();
    let (stream, info) =
        tls::Session::begin(context, &options.tls, options.endpoint.verified_name(), socket, &about)?;
    let stream = Stream::Tls(stream);
    // A fresh buffer: nothing from before TLS can be in it.
    let incoming = PacketBuffer::new(BEFORE_LOGIN_BYTES_MAX);
    Ok((PacketChannel { stream, incoming, read_bytes, outgoing, sequence, endpoint, timeout }, info))
}

pub(super) fn log_in(
    channel: &mut PacketChannel,
    options: &ConnectOptions,
    greeting: &Greeting,
    head: SslRequest,
    protection: Channel,
) -> Result<(), NetError> {
    const DOING: &str = "logging in";
    let (mut exchange, plugin, answer) = Exchange::begin(
        options.password.as_ref(),
        protection,
        options.allow_public_key_retrieval,
        greeting.auth_plugin.as_deref(),
        &greeting.nonce,
    );
    let response = HandshakeResponse {
        head,
        user: options.user.as_bytes(),
        auth_response: &answer,
        database: options.database.as_deref().map(str::as_bytes),
        auth_plugin: Some(plugin),
        attributes: vec![
            ("_client_name", "sealion"),
            ("_client_version", env!("CARGO_PKG_VERSION")),
            ("program_name", &options.program_name),
        ],
    };
    let mut payload = Zeroizing::new(Vec::with_capacity(256));
    response
        .encode(&mut payload)
        .map_err(|error| NetError::Usage { why: error.to_string(), next: "check user and database name" })?;
    channel.send(&payload, DOING)?;
    for _ in 0..AUTH_TURNS_MAX {
        let endpoint = Arc::clone(&channel.endpoint);
        let about = Doing { endpoint: &endpoint, step: DOING, after: channel.timeout };
        let received = channel.receive(DOING)?;
        let turn = match AuthAnswer::parse(received).map_err(|error| about.wire(&error))? {
            AuthAnswer::Ok(_) => return Ok(()),
            AuthAnswer::Err(error) => return Err(about.refused(error)),
            AuthAnswer::Switch(switch) => exchange.switch(&switch.plugin, switch.nonce),
            AuthAnswer::SwitchToOldPassword => exchange.switch("mysql_old_password", &[]),
            AuthAnswer::More(data) => exchange.more(data),
        };
        match turn {
            Ok(Turn::Wait) => {}
            Ok(Turn::Send(bytes)) => {
                let sent = channel.send(&bytes, DOING);
                // It may have held the password.
                channel.outgoing.zeroize();
                sent?;
            }
            Err(AuthStop::PeerMisbehaved(why)) => return Err(about.misbehaved(why)),
            Err(AuthStop::Unsupported { why, next }) => {
                return Err(NetError::Unsupported { endpoint: endpoint.to_string(), why, next });
            }
        }
    }
    Err(channel.doing(DOING).misbehaved("the login does not end"))
}
