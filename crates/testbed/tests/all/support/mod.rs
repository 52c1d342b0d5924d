pub mod browser;
pub mod config;
