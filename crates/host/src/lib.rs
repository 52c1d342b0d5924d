//! `host`
