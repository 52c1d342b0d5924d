//! `testbed`
