//! Published shapes: what is rendered is what the schema says: one program, so that it is linked once.

mod audit;
mod bench;
mod dashboards;
mod prove;
mod rest;
mod scan;
mod schema;
mod share;
mod show;
mod stream;
mod support;
mod trust;
mod watch;
