//! `rules`
