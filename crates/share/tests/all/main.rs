//! Archives that were altered, shares that do not belong, and proxies that are asked what they must refuse.
#![allow(clippy::unwrap_used)]

mod archives;
mod proxies;
mod support;
mod vectors;
