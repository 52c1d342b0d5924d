//! `lab` and `demo`.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use lab::supervisor::NodeState;
use lab::{Lab, LabFile, LabOptions, Wait};
use site::{OpsError, labs};

use crate::args::{DemoArgs, Format, Global, LabCommand, LabExecArgs, LabKind, LabUpArgs};
use crate::show;

pub fn lab(global: &Global, command: LabCommand) -> Result<u8, OpsError> {
    let dir = |given: Option<PathBuf>| given.unwrap_or_else(|| labs::default_dir("lab"));
    match command {
        LabCommand::Up(args) => up(global, &args),
        LabCommand::Exec(args) => exec(&args),
        LabCommand::Status(args) => {
            let file = LabFile::read(&dir(args.dir))?;
            let answer = lab::supervisor::ask(&file, &lab::supervisor::Request::Status)?;
            if global.format == Format::Json {
                println!(
                    "{}",
                    serde_json::json!({"schema": "sealion.lab/1", "lab": file, "nodes": answer.nodes})
                );
                return Ok(0);
            }
            println!("lab {} in {}", file.name, file.dir.display());
            for node in &file.nodes {
                let state = match answer.nodes.get(&node.name) {
                    Some(NodeState::Running { pid }) => format!("running, pid {pid}"),
                    Some(NodeState::Ended { how }) => format!("ended: {how}"),
                    _ => "not started".into(),
                };
                println!("  {:<4} {:<12} {state}", node.name, node.address);
            }
            Ok(0)
        }
        LabCommand::Down(args) => {
            Lab::open(&dir(args.dir))?.end()?;
            Ok(0)
        }
        LabCommand::Fetch { server } => {
            println!("{}", lab::bundle::fetch(&server)?.display());
            Ok(0)
        }
        LabCommand::Start(args) => {
            Lab::open(&dir(args.lab.dir))?.start(&args.node, &[], Wait::Nothing)?;
            Ok(0)
        }
        LabCommand::Stop(args) => {
            Lab::open(&dir(args.lab.dir))?.stop(&args.node)?;
            Ok(0)
        }
        LabCommand::Alive(args) => {
            let state = Lab::open(&dir(args.lab.dir))?.state(&args.node)?;
            Ok(u8::from(!matches!(state, NodeState::Running { .. })))
        }
        LabCommand::Kill(args) => {
            Lab::open(&dir(args.lab.dir))?.kill(&args.node)?;
            Ok(0)
        }
    }
}

fn refuse_taken(dir: &Path) -> Result<(), OpsError> {
    if LabFile::read(dir)
        .is_ok_and(|file| lab::supervisor::ask(&file, &lab::supervisor::Request::Status).is_ok())
    {
        return Err(OpsError::usage(
            format!("a lab runs in {} already", dir.display()),
            "its supervisor answers",
            "sealion lab down, or name another place with --dir",
        ));
    }
    // What a dead lab left behind, if it is one: never a directory of somebody else's.
    if lab::LabFile::read(dir).is_ok() {
        let _ = std::fs::remove_dir_all(dir);
    }
    Ok(())
}

/// Enters a namespace where that is wished and possible; says which it is.
pub fn namespace(refused: bool) -> Result<bool, OpsError> {
    namespace_by(refused, lab::namespace::enter_new)
}

/// The same, with another way in.
pub fn namespace_by(
    refused: bool,
    enter: impl FnOnce() -> Result<(), lab::LabError>,
) -> Result<bool, OpsError> {
    if !refused && lab::namespace::available() {
        enter()?;
        return Ok(true);
    }
    if nix::unistd::geteuid().is_root() {
        return Err(OpsError::cannot_look(
            "the lab's servers will not run as root",
            "no user namespace can be made here, in which root is an ordinary user",
            "run this as an ordinary user",
        ));
    }
    Ok(false)
}

fn sst_method(asked: Option<crate::args::Sst>, relay: bool) -> lab::SstMethod {
    asked.map_or(if relay { lab::SstMethod::Mariabackup } else { lab::SstMethod::Rsync }, Into::into)
}

fn up(_: &Global, args: &LabUpArgs) -> Result<u8, OpsError> {
    let dir = args.lab.dir.clone().unwrap_or_else(|| labs::default_dir("lab"));
    refuse_taken(&dir)?;
    let servers = lab::bundle::Servers::find(args.system)?;
    let namespace = namespace(args.no_namespace)?;
    let relay = args.relay || !lab::namespace::may_capture();
    let nodes = if args.kind == LabKind::Mariadb { 1 } else { args.nodes };
    let options = LabOptions {
        name: "lab".into(),
        dir: dir.clone(),
        servers,
        sst_method: sst_method(args.sst, relay),
        nodes,
        galera: args.kind == LabKind::Galera,
        number: if namespace { 1 } else { 2 },
        namespace,
        relay,
        provider_options: String::new(),
        keep: true,
    };
    let up = labs::first_node(&options, &dir.join("operator"))?;
    for n in 2..=nodes {
        eprintln!("n{n} joins by {}", up.lab.file.sst_method.as_str());
        labs::join(&up, &format!("n{n}"), usize::from(n))?;
    }
    if args.tls && args.kind == LabKind::Mariadb {
        labs::encrypt_single(&up)?;
    } else if args.tls {
        let settings = change_ops::roll::Settings::default();
        let passphrase = up.cluster.passphrase(None)?;
        let change = model::Change::new(model::Verb::Enable, model::Noun::ALL);
        let plan = change_ops::roll::plan(&up.cluster, &settings, passphrase.clone(), &change)?;
        let mut printer = crate::change::Printer { began: std::time::Instant::now(), verbose: false };
        change_ops::roll::apply(&up.cluster, &settings, passphrase, &plan, &mut |progress| {
            printer.tell(progress)
        })?;
    }
    print_connect(&up);
    Ok(0)
}

fn print_connect(up: &labs::Up) {
    let dir = up.lab.file.dir.display();
    println!("{} in {dir}; try", show::green("up"));
    println!("  sealion lab exec --dir {dir} -- mariadb");
    println!("  sealion lab exec --dir {dir} -- sealion status");
    println!("  sealion lab down --dir {dir}");
}

/// Becomes the given program, inside the lab's namespaces, with the lab's servers' clients on the PATH.
fn exec(args: &LabExecArgs) -> Result<u8, OpsError> {
    let dir = args.lab.dir.clone().unwrap_or_else(|| labs::default_dir("lab"));
    let file = LabFile::read(&dir)?;
    let alive = lab::supervisor::start_ticks(file.supervisor_pid) == Some(file.supervisor_start_ticks);
    if !alive {
        return Err(OpsError::cannot_look(
            format!("the lab in {} does not run", dir.display()),
            "its supervisor is gone",
            "sealion lab up",
        ));
    }
    if file.namespace {
        lab::namespace::join(file.supervisor_pid)?;
        lab::namespace::keep_net_raw_across_exec()?;
    }
    let (program, rest) = args.command.split_first().ok_or_else(|| {
        OpsError::usage("nothing to run", "no program was given", "sealion lab exec -- mariadb")
    })?;
    let name = program.to_string_lossy();
    let program = match name.as_ref() {
        "sealion" => std::env::current_exe()
            .map_err(|error| OpsError::internal("cannot find the running sealion", error))?,
        other => file.servers.program(other),
    };
    let mut command = Command::new(program);
    for (key, value) in file.servers.environment() {
        let old = std::env::var(&key).unwrap_or_default();
        // The user's own PATH stays behind the servers': `lab exec -- vim` should work too.
        command.env(&key, if key == "PATH" { format!("{value}:{old}") } else { value });
    }
    let is_client = name.starts_with("mariadb") || name.starts_with("mysql");
    let names_options =
        rest.iter().any(|word| word.to_string_lossy().starts_with("--defaults") || word == "--no-defaults");
    if is_client && !names_options {
        command.arg(format!("--defaults-extra-file={}", dir.join("operator.cnf").display()));
        if !rest.iter().any(|word| word.to_string_lossy().starts_with("-h"))
            && let Some(node) = file.nodes.first()
        {
            command.arg(format!("--host={}", node.address));
        }
    }
    command.env("SEALION_INVENTORY", labs::inventory_path(&dir)).env("SEALION_LAB", &dir).args(rest);
    let error = command.exec();
    Err(OpsError::usage(format!("{name} cannot be run"), error.to_string(), "name a program of the PATH"))
}

pub fn demo(_: &Global, args: &DemoArgs) -> Result<u8, OpsError> {
    let dir = if args.keep {
        labs::default_dir("demo")
    } else {
        // Short, and its own: unix sockets have at most 107 bytes of path, and two demos may run at once.
        std::env::temp_dir().join(format!("sealion-{}", std::process::id()))
    };
    refuse_taken(&dir)?;
    let servers = lab::bundle::Servers::find(args.system)?;
    let out = std::path::absolute(&args.out)
        .map_err(|error| OpsError::usage("--out is no path", error.to_string(), "name a directory"))?;
    let namespace = namespace(args.no_namespace)?;
    let relay = args.relay || !lab::namespace::may_capture();
    let options = demo::DemoOptions {
        lab: LabOptions {
            name: "demo".into(),
            dir,
            servers,
            sst_method: sst_method(args.sst, relay),
            nodes: 3,
            galera: true,
            number: if namespace { 1 } else { 3 },
            namespace,
            relay,
            provider_options: String::new(),
            keep: args.keep,
        },
        out,
        full: args.full,
        settings: change_ops::roll::Settings::default(),
    };
    // The lab's supervisor dies with us and takes servers and files along; with --keep they stay.
    let keep = args.keep;
    ctrlc::set_handler(move || {
        show::tell(if keep {
            "\ninterrupted; sealion lab status, sealion lab down"
        } else {
            "\ninterrupted; the lab is ended"
        });
        std::process::exit(130);
    })
    .map_err(|error| OpsError::internal("cannot handle Ctrl-C", error))?;
    let began = std::time::Instant::now();
    let (demo, up) = demo::run(&options, &mut |line| {
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
