use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, SslOpts};
use std::env::var;
use std::path::PathBuf;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mode = std::env::args().nth(1).ok_or("a mode")?;
    if mode == "version" {
        println!("28.0.4");
        return Ok(());
    }
    let ca = PathBuf::from(var("SEALION_CA")?);
    if mode == "settings" {
        // A machine whose own store has the CA.
        std::env::set_var("SSL_CERT_FILE", &ca);
        let url = format!("mysql://h/?{}", var("SEALION_SETTINGS")?);
        let options = OptsBuilder::from_opts(mysql::Opts::from_url(&url)?)
            .ip_or_hostname(Some(var("SEALION_HOST")?))
            .tcp_port(var("SEALION_PORT")?.parse()?)
            .user(Some(var("SEALION_USER")?))
            .pass(Some(var("SEALION_PASSWORD")?))
            .prefer_socket(false);
        Conn::new(options)?.query_drop("SELECT 1")?;
        return Ok(());
    }
    let tls = match mode.as_str() {
        "default" => None,
        "system" => {
            // A machine whose own store has the CA.
            std::env::set_var("SSL_CERT_FILE", &ca);
            Some(SslOpts::default())
        }
        "ca" => Some(SslOpts::default().with_root_cert_path(Some(ca))),
        "skip-domain" => {
            Some(SslOpts::default().with_root_cert_path(Some(ca)).with_danger_skip_domain_validation(true))
        }
        "invalid-certs" => Some(SslOpts::default().with_danger_accept_invalid_certs(true)),
        other => return Err(format!("no mode {other}").into()),
    };
    let options = OptsBuilder::new()
        .ip_or_hostname(Some(var("SEALION_HOST")?))
        .tcp_port(var("SEALION_PORT")?.parse()?)
        .user(Some(var("SEALION_USER")?))
        .pass(Some(var("SEALION_PASSWORD")?))
        .tcp_connect_timeout(Some(Duration::from_secs(5)))
        .read_timeout(Some(Duration::from_secs(5)))
        .prefer_socket(false)
        .ssl_opts(tls);
    Conn::new(options)?.query_drop("SELECT 1")?;
    Ok(())
}
