//! Kinds of steps that only servers outside of Galera need.

pub mod channel;
pub mod live_files;
pub mod restart;

pub use channel::ChannelParams;
pub use live_files::LiveFilesParams;
pub use restart::RestartParams;
