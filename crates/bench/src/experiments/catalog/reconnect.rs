use crate::experiments::arms::{Arm, ArmTls, Experiment, Measure, Published, Via, arm, single};

const fn five_ms(name: &'static str, tls: ArmTls) -> Arm {
    arm(name, tls).via(Via::Line { one_way_ms: 5, mbit_per_s: 0 }).against("5 ms: cleartext")
}

pub const EXPERIMENT: Experiment = Experiment {
    name: "reconnect",
    question: "What does session resumption save, near the server and 5 ms away?",
    workload: "connect",
    measure: Measure::EventsPerS,
    arms: &[
        arm("cleartext", ArmTls::OFF),
        arm("TLS, OpenSSL", ArmTls::OPENSSL),
        arm("TLS, rustls", ArmTls::rustls(net::Resumes::No)),
        arm("resumed, rustls", ArmTls::rustls(net::Resumes::Any)),
        arm("TLS 1.2, rustls", ArmTls::rustls12(net::Resumes::No)),
        arm("TLS 1.2 resumed, rustls", ArmTls::rustls12(net::Resumes::Any)).against("TLS 1.2, rustls"),
        arm("TLS 1.2 resumed by id, rustls", ArmTls::rustls12(net::Resumes::ById)).against("TLS 1.2, rustls"),
        five_ms("5 ms: cleartext", ArmTls::OFF),
        five_ms("5 ms: TLS, OpenSSL", ArmTls::OPENSSL),
        five_ms("5 ms: TLS, rustls", ArmTls::rustls(net::Resumes::No)),
        five_ms("5 ms: resumed, rustls", ArmTls::rustls(net::Resumes::Any)),
    ],
    connections: &[1],
    published: Some(Published {
        source: "2017, MySQL 5.7.18 with yaSSL and the client library of that time; published in milliseconds \
                 per connection, shown here as connections per second (0.5 and 8 ms; 52 and 85 ms with 5 ms of \
                 delay)",
        rows: &[
            single("cleartext", 1, 2000.0),
            single("TLS, OpenSSL", 1, 125.0),
            single("5 ms: cleartext", 1, 19.2),
            single("5 ms: TLS, OpenSSL", 1, 11.8),
        ],
        findings: &[],
    }),
};
