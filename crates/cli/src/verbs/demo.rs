//! `sealion demo`.

use std::path::PathBuf;

use clap::Args;
use lab::LabOptions;
use site::{OpsError, labs};

use super::lab::{Sst, namespace, namespace_of_hosts, print_connect, sst_method};
use crate::show;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion demo
  sealion demo --full --out /tmp/demo
  sealion demo --hosts

Exit codes: 0 proven, 1 something was not as it must be, 3 the servers cannot run here.")]
pub struct DemoArgs {
    /// Keep the cluster running and print how to connect
    #[arg(long)]
    pub keep: bool,
    /// Directory for report.html and report.json
    #[arg(long, value_name = "DIR", default_value = "sealion-demo")]
    pub out: PathBuf,
    /// Also rotate certificates, disable TLS, undo, and enable it again
    #[arg(long)]
    pub full: bool,
    /// Use the MariaDB and Galera that are installed on this system
    #[arg(long)]
    pub system: bool,
    /// Use the host's loopback interface, not a network namespace
    #[arg(long)]
    pub no_namespace: bool,
    /// Observe traffic through relays, as is done where packets may not be captured
    #[arg(long)]
    pub relay: bool,
    /// Make each node a host of its own, with a network and a sshd, and reach it by ssh
    #[arg(long, conflicts_with_all = ["no_namespace", "relay"])]
    pub hosts: bool,
    /// SST method of joiners; default: rsync, or mariabackup with --relay
    #[arg(long, value_enum, value_name = "METHOD")]
    pub sst: Option<Sst>,
}

pub fn demo(args: &DemoArgs) -> Result<u8, OpsError> {
    let dir = if args.keep {
        labs::default_dir("demo")
    } else {
        // Short, and its own: unix sockets have at most 107 bytes of path, and two demos may run at once.
        std::env::temp_dir().join(format!("sealion-{}", std::process::id()))
    };
    lab::remains::make_room(&dir)?;
    let servers = lab::bundle::Servers::find(args.system)?;
    let out = std::path::absolute(&args.out)
        .map_err(|error| OpsError::usage("--out is not a path", error.to_string(), "give a directory"))?;
    let namespace = if args.hosts { namespace_of_hosts(&dir)? } else { namespace(args.no_namespace)? };
    let relay = args.relay || !lab::namespace::may_capture();
    let options = ::demo::DemoOptions {
        lab: LabOptions {
            name: "demo".into(),
            dir,
            servers,
            sst_method: sst_method(args.sst, relay),
            nodes: 3,
            arbitrators: 0,
            // A host cannot be added later.
            beside: vec![],
            spares: u8::from(args.hosts),
            galera: true,
            replicas: false,
            number: if namespace { 1 } else { 3 },
            namespace,
            relay,
            hosts: args.hosts,
            proxy: false,
            operator_is_client: args.hosts,
            provider_options: String::new(),
            tls: false,
            keep: args.keep,
        },
        out,
        full: args.full,
        settings: change_ops::roll::Settings::default(),
    };
    // The lab's supervisor dies with us and takes servers and files along; with --keep they stay.
    let kept = args.keep.then(|| lab::layout::dir_option(&options.lab.dir));
    ctrlc::set_handler(move || {
        show::tell(&match &kept {
            Some(dir) => format!("\ninterrupted\n  next: sealion lab status{dir}, or sealion lab down{dir}"),
            None => "\ninterrupted; stopping the lab".to_owned(),
        });
        std::process::exit(130);
    })
    .map_err(|error| OpsError::internal("cannot handle Ctrl-C", error))?;
    let began = std::time::Instant::now();
    let (demo, up) = ::demo::run(&options, &mut |line| {
        let at = began.elapsed().as_secs_f64();
        if line.starts_with('\u{25b8}') {
            show::tell(&format!("{at:6.1} s  {}", show::bold(line)));
        } else {
            show::tell(&format!("{at:6.1} s    {line}"));
        }
    })?;
    print!("{}", ::report::render_summary(&demo.report));
    println!("\nreport  {}\n        {}", demo.html.display(), demo.json.display());
    if args.keep {
        print_connect(&up);
    }
    let proven = demo.report.summary.verdict != ::report::shape::Outcome::Failed;
    drop(up);
    Ok(u8::from(!proven))
}
