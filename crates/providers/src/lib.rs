//! `providers`
