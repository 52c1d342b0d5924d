use mysql_async::prelude::Queryable;
use mysql_async::{Conn, OptsBuilder, SslOpts};
use std::env::var;
use std::path::PathBuf;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mode = std::env::args().nth(1).ok_or("a mode")?;
    if mode == "version" {
        println!("0.37.1");
        return Ok(());
    }
    let ca = PathBuf::from(var("SEALION_CA")?);
    if mode == "settings" {
        // A machine whose own store has the CA.
        std::env::set_var("SSL_CERT_FILE", &ca);
        let url = format!("mysql://h/?{}", var("SEALION_SETTINGS")?);
        let options = OptsBuilder::from_opts(mysql_async::Opts::from_url(&url)?)
            .ip_or_hostname(var("SEALION_HOST")?)
            .tcp_port(var("SEALION_PORT")?.parse()?)
            .user(Some(var("SEALION_USER")?))
            .pass(Some(var("SEALION_PASSWORD")?))
            .prefer_socket(false);
        let mut connection = Conn::new(options).await?;
        connection.query_drop("SELECT 1").await?;
        connection.disconnect().await?;
        return Ok(());
    }
    let tls = match mode.as_str() {
        "default" => None,
        "system" => {
            // A machine whose own store has the CA.
            std::env::set_var("SSL_CERT_FILE", &ca);
            Some(SslOpts::default())
        }
        "ca" => Some(SslOpts::default().with_root_certs(vec![ca.into()])),
        "skip-domain" => Some(
            SslOpts::default().with_root_certs(vec![ca.into()]).with_danger_skip_domain_validation(true),
        ),
        "invalid-certs" => Some(SslOpts::default().with_danger_accept_invalid_certs(true)),
        other => return Err(format!("no mode {other}").into()),
    };
    let options = OptsBuilder::default()
        .ip_or_hostname(var("SEALION_HOST")?)
        .tcp_port(var("SEALION_PORT")?.parse()?)
        .user(Some(var("SEALION_USER")?))
        .pass(Some(var("SEALION_PASSWORD")?))
        .prefer_socket(false)
        .ssl_opts(tls);
    let mut connection = Conn::new(options).await?;
    connection.query_drop("SELECT 1").await?;
    connection.disconnect().await?;
    Ok(())
}
