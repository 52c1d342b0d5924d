//! `ops`
