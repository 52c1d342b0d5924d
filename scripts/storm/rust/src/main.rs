//! Connects and says goodbye, again and again: HOST PORT CA|- SECONDS THREADS. Prints how often, and in how many seconds.

use std::path::PathBuf;
use std::time::Instant;

use mysql_async::{Conn, Opts, OptsBuilder, SslOpts};

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [host, port, ca, seconds, threads] = &words[..] else { return Err("HOST PORT CA|- SECONDS THREADS".into()) };
    let (seconds, threads): (f64, usize) = (seconds.parse()?, threads.parse()?);
    let tls = (ca != "-").then(|| SslOpts::default().with_root_certs(vec![PathBuf::from(ca).into()]));
    let options: Opts = OptsBuilder::default()
        .ip_or_hostname(host.clone())
        .tcp_port(port.parse()?)
        .user(Some("root"))
        .prefer_socket(false)
        .ssl_opts(tls)
        .into();
    let began = Instant::now();
    let running: Vec<_> = (0..threads)
        .map(|_| {
            let options = options.clone();
            tokio::spawn(async move {
                let mut count = 0_u64;
                while began.elapsed().as_secs_f64() < seconds {
                    Conn::new(options.clone()).await?.disconnect().await?;
                    count += 1;
                }
                Ok::<u64, Failure>(count)
            })
        })
        .collect();
    let mut count = 0;
    for one in running {
        count += one.await??;
    }
    println!("{count} {}", began.elapsed().as_secs_f64());
    Ok(())
}
