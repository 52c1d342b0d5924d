//! Which bundle of the lab has which release.

use ::bench::experiments::Release;
use lab::bundle::bundle;
use site::servers::{MARIADB, MARIADB_NEWER};

pub fn bundle_of(release: Release) -> &'static str {
    match release {
        Release::MariaDb1011 => MARIADB,
        Release::MariaDb118 => MARIADB_NEWER,
    }
}

pub fn has_bundle(release: Release) -> bool {
    bundle(bundle_of(release)).join("stamp").is_file()
}
