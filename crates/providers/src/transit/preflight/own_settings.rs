//! Settings of the same purpose that are not ours are not overwritten.

use model::{Noun, Verb};

use super::{Problem, Seen, problem};
use crate::transit::world::Transit;
use crate::transit::{CA_FILE, CERT_FILE, KEY_FILE};

pub fn check(transit: &mut Transit<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if seen.change.verb == Verb::Rotate {
        return problems;
    }
    for (name, _) in seen.up() {
        let Ok(node) = transit.node(name) else { continue };
        let tls_dir = node.spec().tls_dir.clone();
        let ours = |file: &str| tls_dir.join(file).display().to_string();
        let mut wanted: Vec<(bool, &str, String)> = Vec::new();
        if seen.change.has(Noun::Clients) {
            wanted.extend([
                (false, "ssl_ca", ours(CA_FILE)),
                (false, "ssl_cert", ours(CERT_FILE)),
                (false, "ssl_key", ours(KEY_FILE)),
            ]);
        }
        if seen.change.has(Noun::Sst) {
            wanted.extend([
                (true, "tca", ours(CA_FILE)),
                (true, "tcert", ours(CERT_FILE)),
                (true, "tkey", ours(KEY_FILE)),
            ]);
        }
        let (Ok(server), Ok(sst)) = (node.effective(), node.effective_sst()) else { continue };
        for (is_sst, key, value) in wanted {
            let effective = if is_sst { &sst } else { &server };
            if let Some(setting) = effective.effective(key)
                && setting.value.as_deref() != Some(value.as_str())
            {
                problems.push(problem(
                    name,
                    format!("{key} is set already, to another file"),
                    format!(
                        "{}:{} says {}",
                        setting.file.display(),
                        setting.line,
                        setting.value.as_deref().unwrap_or("nothing")
                    ),
                    format!(
                        "set tls_dir in the inventory so that it becomes {value}, or remove that line first"
                    ),
                ));
            }
        }
    }
    problems
}
