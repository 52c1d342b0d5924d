//! The control: no attack.

use crate::attack::Attack;

pub(super) const HONEST: Attack = Attack::HONEST;
