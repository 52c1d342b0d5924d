//! The questions, one file each.

mod accounts;
mod channels;
mod command_line;
mod foreign;
mod group;
mod hardening;
mod logins;
mod logs;
mod ports;
mod rest;
mod sessions;
mod settings;
mod statements;

use crate::Question;

/// In the order in which they are asked: sessions are told with what is known of their accounts.
pub const QUESTIONS: &[Question] = &[
    settings::QUESTION,
    ports::QUESTION,
    command_line::QUESTION,
    accounts::QUESTION,
    sessions::QUESTION,
    logins::QUESTION,
    channels::QUESTION,
    foreign::QUESTION,
    group::QUESTION,
    logs::QUESTION,
    rest::QUESTION,
    hardening::QUESTION,
    statements::QUESTION,
];
