use crate::experiments::arms::{ArmTls, Experiment, Measure, arm};

pub const EXPERIMENT: Experiment = Experiment {
    name: "aa",
    question: "A/A test: compares a setting with itself; must find no difference",
    workload: "oltp_point_select",
    measure: Measure::QueriesPerS,
    arms: &[arm("once", ArmTls::AS_ASKED), arm("the same again", ArmTls::AS_ASKED)],
    connections: &[],
    published: None,
};
