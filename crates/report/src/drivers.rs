//! What `prove clients` saw of each driver when the page of the book was made.

use std::sync::LazyLock;

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clients.json.z"));
const MATRIX_BYTES_MAX: usize = 16 * 1024 * 1024;

static MATRIX: LazyLock<String> = LazyLock::new(|| {
    let text = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(PACKED, MATRIX_BYTES_MAX);
    // Packed by the build: a test unpacks it.
    String::from_utf8(text.unwrap_or_default()).unwrap_or_default()
});

/// `docs/src/reference/clients.json`, in the shape of [`crate::shape::ProveClientsReport`].
pub fn matrix() -> &'static str {
    &MATRIX
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_what_the_book_has() {
        assert!(super::matrix() == include_str!("../../../docs/src/reference/clients.json"));
    }
}
