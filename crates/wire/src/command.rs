//! Commands a client sends after its login.

pub const COM_QUIT: u8 = 0x01;
pub const COM_QUERY: u8 = 0x03;
pub const COM_PING: u8 = 0x0e;
pub const COM_RESET_CONNECTION: u8 = 0x1f;

/// Writes a `COM_QUERY` payload over what `out` held.
pub fn query(out: &mut Vec<u8>, sql: &str) {
    out.clear();
    out.push(COM_QUERY);
    out.extend_from_slice(sql.as_bytes());
}
