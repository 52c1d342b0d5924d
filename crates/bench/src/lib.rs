//! `bench`
