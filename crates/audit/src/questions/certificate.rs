//! The certificate that clients are served, as the session that asks was shown it.

use model::{Value, facts};

use crate::Question;
use crate::asking::Asking;

pub const QUESTION: Question = Question {
    name: "the certificate that is served",
    facts: &[
        &facts::tls::TLS_CERTIFICATE_WEAK_KEY,
        &facts::tls::TLS_CERTIFICATE_WEAK_SIGNATURE,
        &facts::tls::TLS_CERTIFICATE_OF_NOBODY,
        &facts::tls::TLS_CERTIFICATE_NAME_MISMATCH,
    ],
    grants: |_| vec![],
    ask: |asking| {
        note(asking);
        Ok(())
    },
};

fn note(asking: &mut Asking<'_>) {
    let found = |text: Option<String>| text.map_or(Value::Absent, Value::Text);
    let values = match asking.served {
        Err(why) => std::array::from_fn(|_| Value::Unknown(why.clone())),
        Ok(leaf) => [
            found(scan::leaf::weak_key(leaf)),
            found(scan::leaf::weak_signature(leaf)),
            found(scan::leaf::of_nobody(leaf)),
            if asking.names.is_empty() {
                Value::Unknown(
                    "it was asked over its socket, where no name is verified, and no inventory says what clients call it: sealion audit -h \
                     NAME, as clients connect"
                        .into(),
                )
            } else {
                let bad = asking.names.iter().filter_map(|name| scan::leaf::name_mismatch(leaf, name));
                super::some(bad)
            },
        ],
    };
    let facts = [
        &facts::tls::TLS_CERTIFICATE_WEAK_KEY,
        &facts::tls::TLS_CERTIFICATE_WEAK_SIGNATURE,
        &facts::tls::TLS_CERTIFICATE_OF_NOBODY,
        &facts::tls::TLS_CERTIFICATE_NAME_MISMATCH,
    ];
    for (fact, value) in facts.into_iter().zip(values) {
        asking.note_of_wire(
            fact,
            value,
            "openssl s_client -starttls mysql -connect HOST:3306 | openssl x509 -noout -text",
        );
    }
}
