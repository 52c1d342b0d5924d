//! An owner, a reader, an archive.

use share::DataKey;
use share::archive::{ArchiveWriter, open_chunks, read_header};
use share::grant::{NewGrant, ProxyUrl, Terms};
use share::header::Header;
use share::keys::{Identity, Role};

pub const NOW: i64 = 1_800_000_000;

pub struct Case {
    pub owner: Identity,
    pub reader: Identity,
    pub key: DataKey,
    pub header: Header,
}

impl Case {
    pub fn new() -> Self {
        let (owner, reader) = (Identity::new(Role::Owner).unwrap(), Identity::new(Role::Reader).unwrap());
        let key = DataKey::new().unwrap();
        let header = Header::new((share::header::ROWS, "shop.orders"), NOW, &owner, &key).unwrap();
        Self { owner, reader, key, header }
    }

    pub fn archive(&self, header: &Header, plain: &[u8]) -> Vec<u8> {
        let mut writer = ArchiveWriter::new(Vec::new(), header, &self.key).unwrap();
        for piece in plain.chunks(1000) {
            writer.put(piece).unwrap();
        }
        let (bytes, count) = writer.finish().unwrap();
        assert_eq!(count, plain.len() as u64);
        bytes
    }

    /// As the owner opens it; `None` if anything was refused. What was written before a refusal is the second.
    pub fn opened(&self, bytes: &[u8]) -> (Option<Vec<u8>>, Vec<u8>) {
        let mut from = bytes;
        let mut out = Vec::new();
        let Ok(header) = read_header(&mut from, "archive") else { return (None, out) };
        if header.is_by(&self.owner.public).is_err() {
            return (None, out);
        }
        let Ok(key) = header.key_of_owner(&self.owner) else { return (None, out) };
        match open_chunks(&mut from, &header, &key, &mut out) {
            Ok(_) => (Some(out.clone()), out),
            Err(_) => (None, out),
        }
    }

    pub fn grant(&self, terms: &Terms) -> NewGrant {
        NewGrant::new(&self.header, &self.key, &self.owner, &self.reader.public, terms).unwrap()
    }
}

pub fn proxy(number: u8) -> ProxyUrl {
    format!("https://p{number}:7443#{}", format!("{number:02x}").repeat(32)).parse().unwrap()
}

pub fn terms(need: u8, count: u8) -> Terms {
    Terms { until_unix_s: NOW + 1000, max_opens: 3, need, proxies: (1..=count).map(proxy).collect() }
}
