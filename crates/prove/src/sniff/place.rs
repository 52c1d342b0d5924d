//! Where in the protocol something stood: the word for a canary's place.

/// A position in what passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Place {
    Login,
    Statement,
    PreparedStatement,
    Parameter,
    /// Another command of the client.
    Command,
    FileContents,
    ResultHead,
    ResultRow,
    Error,
    BinlogRows,
    BinlogStatement,
    BinlogOther,
    WriteSet,
    GroupMessage,
    Ist,
    Sst,
    /// Bytes that were not understood, or a packet that did not end.
    #[default]
    Other,
}

impl Place {
    pub const ALL: [Self; 17] = [
        Self::Login,
        Self::Statement,
        Self::PreparedStatement,
        Self::Parameter,
        Self::Command,
        Self::FileContents,
        Self::ResultHead,
        Self::ResultRow,
        Self::Error,
        Self::BinlogRows,
        Self::BinlogStatement,
        Self::BinlogOther,
        Self::WriteSet,
        Self::GroupMessage,
        Self::Ist,
        Self::Sst,
        Self::Other,
    ];

    /// Stable, for programs.
    pub fn id(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Statement => "statement",
            Self::PreparedStatement => "prepared-statement",
            Self::Parameter => "parameter",
            Self::Command => "command",
            Self::FileContents => "file",
            Self::ResultHead => "result-head",
            Self::ResultRow => "result-row",
            Self::Error => "error",
            Self::BinlogRows => "binlog-rows",
            Self::BinlogStatement => "binlog-statement",
            Self::BinlogOther => "binlog-event",
            Self::WriteSet => "write-set",
            Self::GroupMessage => "group-message",
            Self::Ist => "ist",
            Self::Sst => "sst",
            Self::Other => "other",
        }
    }

    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Login => "a login",
            Self::Statement => "a statement",
            Self::PreparedStatement => "the text of a prepared statement",
            Self::Parameter => "a parameter of a prepared statement",
            Self::Command => "a command",
            Self::FileContents => "a LOAD DATA LOCAL file",
            Self::ResultHead => "the column names of a result",
            Self::ResultRow => "a result row",
            Self::Error => "the text of an error",
            Self::BinlogRows => "a row event in the binary log",
            Self::BinlogStatement => "a statement in the binary log",
            Self::BinlogOther => "another event in the binary log",
            Self::WriteSet => "a Galera write set",
            Self::GroupMessage => "a message between Galera nodes",
            Self::Ist => "an incremental state transfer (IST)",
            Self::Sst => "state transfers with all data (SST)",
            Self::Other => "bytes that could not be decoded",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_an_id_of_its_own() {
        let mut ids = Place::ALL.map(Place::id).to_vec();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), Place::ALL.len());
    }
}
