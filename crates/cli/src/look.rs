//! Commands that only look.

use model::{Rule, Severity, Verdict};
use site::OpsError;

use crate::args::{ConfigArgs, ExplainArgs, Format, Global, ReportArgs, StatusArgs};
use crate::show;

pub fn status(global: &Global, args: &StatusArgs) -> Result<u8, OpsError> {
    let cluster = crate::connect::cluster(global, &args.connect)?;
    let started_unix_ms = model::Clock::unix_ms(&model::SystemClock);
    // Of the nodes of an inventory others may answer; of one server there is nothing else.
    if !cluster.has_files {
        status_ops::status::reach(&cluster)?;
    }
    let status = status_ops::status::status(&cluster, args.look_ms, args.canaries);
    if let Some(why) = change_ops::history::keep_status(&cluster, started_unix_ms, &status) {
        eprintln!("note: this run was not kept: {why}");
    }
    let open = if cluster.has_files { change_ops::roll::open_change(&cluster)? } else { None };
    let unproven = if cluster.has_files { change_ops::roll::unproven(&cluster)? } else { None };
    let lease = match change_ops::lease::holder(&cluster) {
        _ if !cluster.has_files => None,
        Ok(held) => held.map(|held| held.holder),
        Err(why) => Some(format!("cannot tell ({why})")),
    };
    let open = open.and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
    if global.format == Format::Json {
        let json = serde_json::json!({
            "schema": "sealion.status/1",
            "sealion_version": env!("CARGO_PKG_VERSION"),
            "cluster": status.cluster,
            "nodes": status.nodes,
            "links": status.sights,
            "findings": status.findings,
            "observations": status.observations,
            "not_looked_at": status.not_looked_at,
            "not_applicable": status.not_applicable,
            "open_change": open.as_deref(),
            "unproven_change": unproven.as_deref(),
            "lease": lease,
        });
        println!(
            "{}",
            serde_json::to_string_pretty(&json)
                .map_err(|error| OpsError::internal("cannot write JSON", error))?
        );
    } else {
        if let Some(open) = &open {
            println!(
                "{} {open} is not finished; next: sealion resume, sealion undo, or sealion abandon",
                show::bold("open change:")
            );
        }
        if let Some(holder) = &lease {
            println!("{} {holder}", show::bold("at work now:"));
        }
        if let Some(unproven) = &unproven {
            println!("{} {unproven}", show::bold("closed without proof:"));
        }
        print_status(&status);
    }
    if status.nodes.iter().all(|node| node.version.is_none()) {
        return Ok(3);
    }
    let worst = status
        .findings
        .iter()
        .filter(|finding| matches!(finding.verdict, Verdict::Fail(_)))
        .map(|finding| finding.severity)
        .max();
    // What a gate was to judge and could not be seen has not passed it.
    let blind = status
        .findings
        .iter()
        .filter(|finding| matches!(finding.verdict, Verdict::Unknown(_)))
        .map(|finding| finding.severity)
        .max();
    Ok(match (args.fail_on.map(Severity::from), worst) {
        (Some(limit), Some(worst)) if worst >= limit => 1,
        (Some(limit), _) if blind.is_some_and(|blind| blind >= limit) => 3,
        _ if status.nodes.iter().any(|node| node.version.is_none()) => 3,
        _ => 0,
    })
}

pub fn print_status(status: &status_ops::status::Status) {
    let cluster = &status.cluster;
    let is_outside = |node: &status_ops::status::NodeStatus| {
        !node.rows.is_empty() && node.rows.iter().all(|row| row.what == "client")
    };
    if status.nodes.iter().all(is_outside) && !status.not_applicable.is_empty() {
        println!("{} {}", show::bold("server"), cluster.name);
        for node in &status.nodes {
            println!("  version      {}", node.version.as_deref().unwrap_or("not known"));
        }
        println!("  system       {}", cluster.os_class);
    } else {
        println!("{} {}", show::bold("cluster"), cluster.name);
        println!("  address      {}", cluster.address);
        println!(
            "  Galera port  {}   arbitrators {}   members {}",
            cluster.galera_port, cluster.arbitrators, cluster.size
        );
        println!("  system       {}   Galera {}", cluster.os_class, cluster.galera_version);
    }
    let mut rows = Vec::new();
    for node in &status.nodes {
        for (at, row) in node.rows.iter().enumerate() {
            rows.push(vec![
                if at == 0 { node.node.clone() } else { String::new() },
                row.what.clone(),
                row.configured.clone(),
                row.effective.clone(),
                show::seen(&row.seen),
                show::day(row.not_after_unix),
            ]);
        }
        if !node.state.is_empty() && !node.state.starts_with("Synced, Primary") && !is_outside(node) {
            rows.push(vec![node.node.clone(), "state".into(), node.state.clone()]);
        }
        if let Some(why) = &node.why_not {
            rows.push(vec![
                node.node.clone(),
                "no answer".into(),
                why.lines().map(str::trim).collect::<Vec<_>>().join("; "),
            ]);
        }
    }
    println!("{}", show::table(&["node", "traffic", "configured", "effective", "seen", "expires"], rows));
    for node in &status.nodes {
        for row in node.rows.iter().filter(|row| row.certificate.is_some()) {
            let path = |path: &Option<std::path::PathBuf>| {
                path.as_ref().map_or_else(|| "-".into(), |path| path.display().to_string())
            };
            println!(
                "  {} {:<8} key {}  certificate {}",
                node.node,
                row.what.split(' ').next().unwrap_or(""),
                path(&row.key),
                path(&row.certificate)
            );
        }
    }
    let bad: Vec<_> = status
        .findings
        .iter()
        .filter(|finding| matches!(finding.verdict, Verdict::Fail(_) | Verdict::Unknown(_)))
        .collect();
    if bad.is_empty() {
        println!("{}", show::green("no findings"));
    } else {
        let rows = bad
            .iter()
            .map(|finding| {
                let why = match &finding.verdict {
                    Verdict::Fail(why) | Verdict::Unknown(why) => why.clone(),
                    _ => String::new(),
                };
                vec![
                    finding.rule.clone(),
                    format!("{} {}", finding.verdict.word(), finding.severity),
                    finding.subject.clone(),
                    why,
                ]
            })
            .collect();
        println!("{}", show::table(&["rule", "verdict", "subject", "why"], rows));
    }
    for line in &status.not_applicable {
        println!("not applicable: {line}");
    }
    for line in &status.not_looked_at {
        println!("not looked at: {line}");
    }
}

pub fn config(global: &Global, args: &ConfigArgs) -> Result<u8, OpsError> {
    let printed = status_ops::config_print::print(
        args.defaults_file.clone(),
        args.defaults_extra_file.clone(),
        args.defaults_group_suffix.as_deref(),
        &args.groups,
    )?;
    if global.format == Format::Json {
        println!(
            "{}",
            serde_json::to_string_pretty(&printed)
                .map_err(|error| OpsError::internal("cannot write JSON", error))?
        );
        return Ok(0);
    }
    for row in &printed.options {
        let value = row.value.as_ref().map_or_else(String::new, |value| format!("={value}"));
        println!("{}{value}", row.key);
        println!("    {}:{} [{}]", row.file.display(), row.line, row.group);
        for one in &row.overrode {
            println!(
                "    overrode {} from {}:{}",
                one.value.as_deref().unwrap_or("(no value)"),
                one.file.display(),
                one.line
            );
        }
    }
    for note in &printed.notes {
        eprintln!("note: {note}");
    }
    Ok(0)
}

pub fn inventory(args: &crate::args::InventoryArgs) -> Result<u8, OpsError> {
    let cluster = crate::connect::one_server(&args.connect)?;
    // Where user and password came from, if it was a file of their own.
    let login = args.connect.defaults_file.clone().or_else(|| args.connect.defaults_extra_file.clone());
    let login = login
        .map(std::path::absolute)
        .transpose()
        .map_err(|error| OpsError::usage("--defaults-file is no path", error.to_string(), "name a file"))?;
    print!("{}", change_ops::draft::draft(&cluster, login.as_deref())?);
    Ok(0)
}

pub fn explain(global: &Global, args: &ExplainArgs) -> Result<u8, OpsError> {
    let Some(id) = &args.rule else {
        if global.format == Format::Json {
            let all: Vec<_> = rules::RULES.iter().map(|rule| rule_json(*rule)).collect();
            println!(
                "{}",
                serde_json::to_string_pretty(&all)
                    .map_err(|error| OpsError::internal("cannot write JSON", error))?
            );
        } else {
            for rule in rules::RULES {
                println!("{}  {:<8}  {}", rule.id(), rule.severity(), rule.title());
            }
        }
        return Ok(0);
    };
    let rule = rules::by_id(id).ok_or_else(|| {
        OpsError::usage(
            format!("there is no rule \"{id}\""),
            "rules are named like SL1001",
            "sealion explain     lists them all",
        )
    })?;
    if global.format == Format::Json {
        println!(
            "{}",
            serde_json::to_string_pretty(&rule_json(rule))
                .map_err(|error| OpsError::internal("cannot write JSON", error))?
        );
        return Ok(0);
    }
    println!("{} {}\n{}\n\n{}\n", show::bold(rule.id()), rule.severity(), rule.title(), rule.explanation());
    println!("remedy:     {}", rule.remedy());
    for reference in rule.references() {
        println!("reference:  {reference}");
    }
    Ok(0)
}

fn rule_json(rule: &dyn Rule) -> serde_json::Value {
    serde_json::json!({
        "rule": rule.id(), "severity": rule.severity(), "title": rule.title(), "explanation": rule.explanation(),
        "remedy": rule.remedy(), "references": rule.references(),
    })
}

pub fn report(global: &Global, args: &ReportArgs) -> Result<u8, OpsError> {
    let Some(path) = &args.report else {
        return runs(global, args);
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        OpsError::usage(
            format!("{} cannot be read", path.display()),
            error.to_string(),
            "name a report.json that sealion wrote",
        )
    })?;
    let report = ::report::DemoReport::from_json(&text).map_err(|error| {
        OpsError::usage(
            format!("{} is not a report", path.display()),
            error.to_string(),
            "use the sealion that wrote it, or a newer one",
        )
    })?;
    match &args.html {
        None => print!("{}", ::report::render_summary(&report)),
        Some(path) => std::fs::write(path, ::report::render_html(&report)).map_err(|error| {
            OpsError::usage(
                format!("{} cannot be written", path.display()),
                error.to_string(),
                "name a place that you may write to",
            )
        })?,
    }
    Ok(0)
}

/// Kept runs: a list, or one of them whole.
fn runs(global: &Global, args: &ReportArgs) -> Result<u8, OpsError> {
    let cluster = site::Cluster::read(&global.inventory)?;
    if let Some(id) = &args.run {
        println!("{}", change_ops::history::export(&cluster, id)?);
        return Ok(0);
    }
    let runs = change_ops::history::runs(&cluster, args.limit)?;
    if global.format == Format::Json {
        let list: Vec<_> = runs
            .iter()
            .map(|run| {
                serde_json::json!({
                    "id": run.id, "command": run.command, "sealion_version": run.sealion_version,
                    "started_unix_ms": run.started_unix_ms, "ended_unix_ms": run.ended_unix_ms,
                    "findings_failed": run.findings_failed, "findings_unknown": run.findings_unknown,
                    "links_plain": run.links_plain,
                })
            })
            .collect();
        println!("{}", serde_json::json!({"schema": "sealion.runs/1", "runs": list}));
        return Ok(0);
    }
    let rows = runs
        .iter()
        .map(|run| {
            vec![
                run.id.clone(),
                run.command.clone(),
                model::clock::rfc3339(run.started_unix_ms).get(..19).unwrap_or_default().replace('T', " "),
                run.findings_failed.to_string(),
                run.findings_unknown.to_string(),
                run.links_plain.to_string(),
            ]
        })
        .collect();
    println!("{}", show::table(&["run", "command", "when (UTC)", "failed", "unknown", "plain links"], rows));
    Ok(0)
}
