//! Tables are not symbolic links.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const SYMBOLIC_LINKS: FactRule = FactRule {
    id: "SL2812",
    title: "Tables are not symbolic links",
    severity: Severity::Low,
    references: &[
        "MariaDB manual: have_symlink",
        "MySQL manual: Using Symbolic Links for MyISAM Tables on Unix",
    ],
    explanation: "With symbolic links a MyISAM or Aria table can be a link to a file elsewhere: whoever may create tables, and whoever may write in the directory, makes the server read and remove other files.",
    remedy: "skip-symbolic-links in the [mysqld] group of the option file, then restart",
    fact: &server::SYMBOLIC_LINKS,
    judge: |value| crate::verdicts::no(value, "symbolic links are used"),
};
