//! `store`
