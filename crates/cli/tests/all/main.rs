//! The binary, as it is called: one program, so that it is linked once.

mod bench;
mod map;
mod scan;
