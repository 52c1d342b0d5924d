//! What a scan sees, against servers made for it and real ones: one program, so that it is linked once.

mod controls;
mod hostile;
mod intrusive;
mod proxy;
mod real_servers;
mod refusals;
mod servers;
