//! Files that a server reads and writes for its users (`SL28…`).

mod file_reach;
mod local_infile;

pub use file_reach::FILE_REACH;
pub use local_infile::LOCAL_INFILE;
