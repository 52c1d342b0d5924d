//! `prove`
