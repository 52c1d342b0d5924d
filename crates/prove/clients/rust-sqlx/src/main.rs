use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};
use sqlx::{ConnectOptions, Connection};
use std::env::var;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mode = std::env::args().nth(1).ok_or("a mode")?;
    if mode == "version" {
        println!("0.9.0");
        return Ok(());
    }
    let told = if mode == "settings" { var("SEALION_SETTINGS")? } else { String::new() };
    let options = format!("mysql://h/?{told}").parse::<MySqlConnectOptions>()?
        .host(&var("SEALION_HOST")?)
        .port(var("SEALION_PORT")?.parse()?)
        .username(&var("SEALION_USER")?)
        .password(&var("SEALION_PASSWORD")?);
    let ca = var("SEALION_CA")?;
    let options = match mode.as_str() {
        "default" | "settings" => options,
        "disabled" => options.ssl_mode(MySqlSslMode::Disabled),
        "required" => options.ssl_mode(MySqlSslMode::Required),
        "verify-ca" => options.ssl_mode(MySqlSslMode::VerifyCa).ssl_ca(ca),
        "verify-identity" => options.ssl_mode(MySqlSslMode::VerifyIdentity).ssl_ca(ca),
        other => return Err(format!("no mode {other}").into()),
    };
    let mut connection = options.connect().await?;
    sqlx::query("SELECT 1").execute(&mut connection).await?;
    connection.close().await?;
    Ok(())
}
