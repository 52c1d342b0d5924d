//! A plan for tests: steps that do nothing, S0 to the last.

use model::{Change, Noun, Plan, Step, StepId, StepNature, Verb};

pub fn plan(steps: usize) -> Plan {
    let step = |n: usize| Step {
        id: StepId(format!("S{n}")),
        kind: "k".into(),
        title: String::new(),
        nodes: vec![],
        restarts_server: false,
        no_op: false,
        only_looks: false,
        nature: StepNature::default(),
        part: None,
        shell: vec![],
        sql: vec![],
        diff: vec![],
        params: serde_json::Value::Null,
    };
    Plan {
        id: "p".into(),
        sequence: 0,
        change: Change::new(Verb::Enable, [Noun::Galera]),
        cluster: "c".into(),
        topology: "galera".into(),
        parts: vec![],
        made_unix_ms: 0,
        sealion_version: "0".into(),
        state_hash: "h".into(),
        inventory: std::collections::BTreeMap::new(),
        impact: vec![],
        rights: vec![],
        steps: (0..steps).map(step).collect(),
    }
}
