//! Certificates of the right CA for somebody else, and the ways in which libraries look for the name.

use crate::attack::{Attack, Family, GOOD_TLS, Names, TlsLook};

const BASE: Attack = Attack {
    family: Family::Name,
    defence: "Make the client verify the host name (MySQL: ssl-mode=VERIFY_IDENTITY; MariaDB: ssl-verify-server-cert), and issue certificates with the name in the SAN.",
    ..Attack::HONEST
};

pub(super) const WRONG_NAME: Attack = Attack {
    id: "wrong-name",
    is_fall: true,
    does: "The right CA issued the certificate, but for another host.",
    tls: Some(TlsLook { names: Names::Other, ..GOOD_TLS }),
    ..BASE
};

pub(super) const CN_ONLY: Attack = Attack {
    id: "cn-only",
    does: "The certificate has the host name in its CN, and no SAN.",
    tls: Some(TlsLook { names: Names::CnOnly, ..GOOD_TLS }),
    ..BASE
};

pub(super) const CN_BESIDE_OTHER_SAN: Attack = Attack {
    id: "cn-beside-other-san",
    is_fall: true,
    does: "The certificate has the host name in its CN, and another host in its SAN.",
    tls: Some(TlsLook { names: Names::CnBesideOtherSan, ..GOOD_TLS }),
    ..BASE
};

pub(super) const WILDCARD: Attack = Attack {
    id: "wildcard",
    does: "The certificate has a wildcard that matches the host name.",
    tls: Some(TlsLook { names: Names::Wildcard, ..GOOD_TLS }),
    ..BASE
};

pub(super) const ADDRESS_AS_DNS: Attack = Attack {
    id: "address-as-dns",
    does: "The certificate has the IP address as a DNS name in its SAN.",
    tls: Some(TlsLook { names: Names::AddressAsDns, ..GOOD_TLS }),
    ..BASE
};

pub(super) const ADDRESS_IN_CN: Attack = Attack {
    id: "address-in-cn",
    does: "The certificate has the IP address in its CN, and no SAN.",
    tls: Some(TlsLook { names: Names::AddressInCn, ..GOOD_TLS }),
    ..BASE
};
