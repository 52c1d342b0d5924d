//! The questions, one file each.

mod accounts;
mod certificate;
mod channels;
mod command_line;
mod foreign;
mod galera;
mod group;
mod hardening;
mod logins;
mod logs;
mod ports;
mod rest;
mod routines;
mod sessions;
mod settings;
mod statements;

use crate::Question;

pub(crate) use rest::some;

/// In the order in which they are asked: sessions are told with what is known of their accounts.
pub const QUESTIONS: &[Question] = &[
    settings::QUESTION,
    certificate::QUESTION,
    ports::QUESTION,
    command_line::QUESTION,
    accounts::QUESTION,
    routines::QUESTION,
    sessions::QUESTION,
    logins::QUESTION,
    channels::QUESTION,
    foreign::QUESTION,
    group::QUESTION,
    galera::QUESTION,
    logs::QUESTION,
    rest::QUESTION,
    hardening::QUESTION,
    statements::QUESTION,
];
