//! The binary, as it is called: one program, so that it is linked once.

mod bench;
mod logins;
mod map;
mod scan;
