//! `LOAD DATA LOCAL`: the server names the file.

use crate::attack::{Attack, Family};

pub(super) const LOCAL_INFILE: Attack = Attack {
    id: "local-infile",
    family: Family::File,
    is_fall: true,
    does: "The server answers the first query with a request for a file of the client.",
    defence: "Disable LOCAL INFILE (local-infile=0), or allow it for one directory only (MySQL: load-data-local-dir).",
    tls: None,
    asks_for_file: true,
    ..Attack::HONEST
};
