//! One statement by hand: `MYSQL_PWD=… query HOST:PORT|/SOCKET USER SSL_MODE SQL [CA [CERT KEY]]`,
//! or a direct TLS probe: `query probe IP:PORT [CA [CERT KEY]]`.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use net::{Client, ConnectOptions, Endpoint, TlsOptions, tls_probe};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next();
    let target = next().ok_or("no target")?;
    if target == "probe" {
        let address = next().ok_or("no address")?.parse()?;
        let tls = TlsOptions { ca: next().map(PathBuf::from), ..TlsOptions::default() };
        let tls = TlsOptions { cert: next().map(PathBuf::from), key: next().map(PathBuf::from), ..tls };
        let probe = tls_probe(address, None, &tls, Duration::from_secs(1));
        println!(
            "{}",
            probe.map_or_else(
                |error| error.to_string(),
                |probe| format!("{:?} {}", probe.outcome, probe.version)
            )
        );
        return Ok(());
    }
    let endpoint = match target.rsplit_once(':') {
        Some((host, port)) => Endpoint::tcp(host, port.parse()?),
        None => Endpoint::unix(target),
    };
    let mut options = ConnectOptions::new(endpoint, next().ok_or("no user")?);
    options.tls.mode = next().ok_or("no ssl-mode")?.parse()?;
    let sql = next().ok_or("no statement")?;
    options.tls.ca = next().map(PathBuf::from);
    options.tls.cert = next().map(PathBuf::from);
    options.tls.key = next().map(PathBuf::from);
    options.allow_public_key_retrieval = std::env::var_os("ALLOW_PUBLIC_KEY").is_some();
    if let Ok(password) = std::env::var("MYSQL_PWD") {
        options = options.password(password);
    }
    match Client::connect(&options) {
        Err(error) => println!("{error}"),
        Ok(mut client) => {
            if let Some(tls) = client.tls() {
                println!("{} {} {:?} ({})", tls.version, tls.cipher, tls.verified, tls.chain_verdict);
            }
            match client.query(&sql) {
                Err(error) => println!("{error}"),
                Ok(rows) => {
                    println!("{}", rows.columns.join("\t"));
                    for row in rows.iter().take(20) {
                        let cells = (0..rows.columns.len()).map(|at| row.at(at).unwrap_or("NULL".into()));
                        println!("{}", cells.collect::<Vec<_>>().join("\t"));
                    }
                    println!(
                        "{} rows, {} affected, id {}",
                        rows.len(),
                        rows.affected_rows,
                        rows.last_insert_id
                    );
                }
            }
            println!("{:?}", client.timings());
            client.ping()?;
            client.quit()?;
        }
    }
    Ok(())
}
