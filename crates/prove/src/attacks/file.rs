//! `LOAD DATA LOCAL`: the server names the file.

use crate::attack::{Attack, Family};

pub(super) const LOCAL_INFILE: Attack = Attack {
    id: "local-infile",
    family: Family::File,
    is_fall: true,
    does: "In answer to the first query, a file of the client is asked for by its path.",
    defence: "Switch LOCAL INFILE off (local-infile=0), or allow it for one directory.",
    tls: None,
    asks_for_file: true,
    ..Attack::HONEST
};
