use std::path::PathBuf;
fn main() {
    let args: Vec<_> = std::env::args_os().collect();
    let verb = args.get(1).and_then(|a| a.to_str()).unwrap_or("");
    match verb {
        "__supervise" => {
            let r = lab::supervisor::run(&PathBuf::from(&args[2]), args.len() > 4, args[3].to_str().unwrap().parse().unwrap());
            if let Err(e) = r { eprintln!("{e}"); std::process::exit(5) }
        }
        "__server" => { eprintln!("{}", lab::supervisor::become_server(&PathBuf::from(&args[2]), &args[3..])); std::process::exit(5) }
        _ => {
            lab::namespace::enter_new().unwrap();
            let t = std::time::Instant::now();
            let servers = lab::bundle::Servers::find(false).unwrap();
            let l = lab::Lab::make(&lab::LabOptions{ name: "demo".into(), dir: "/tmp/sl1".into(), servers, sst_method: lab::SstMethod::Rsync, nodes: 3, number: 1, namespace: true, keep: false}).unwrap();
            l.seed(&l.file.nodes[0]).unwrap();
            eprintln!("seeded {:?}", t.elapsed());
            l.start("n1", &["--wsrep-new-cluster"], lab::Wait::Socket).unwrap();
            eprintln!("n1 {:?}", t.elapsed());
            l.start("n2", &[], lab::Wait::Socket).unwrap();
            eprintln!("n2 {:?}", t.elapsed());
            l.start("n3", &[], lab::Wait::Socket).unwrap();
            eprintln!("n3 {:?}", t.elapsed());
            std::thread::sleep(std::time::Duration::from_secs(args.get(2).map(|_|600).unwrap_or(1)));
        }
    }
}
