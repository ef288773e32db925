//! The JSON shapes.

use super::environment;
use crate::{lint, table, variables::*};

#[test]
fn a_row_is_a_flat_object_with_its_findings() {
    let rows = table(&environment(&["TORCH_NEURONX_LOG_LEVEL=9"]));
    let row = rows.iter().find(|row| row.name == TORCH_NEURONX_LOG_LEVEL.name()).unwrap();
    insta::assert_snapshot!(serde_json::to_string(row).unwrap(), @r#"{"name":"TORCH_NEURONX_LOG_LEVEL","group":"general","page":"reference","kind":"int","default":"1","value":"1","source":"invalid","honoured_by":["neuronx-mem-cli"],"problems":[{"kind":"bad_value","severity":"error","variable":"TORCH_NEURONX_LOG_LEVEL","message":"TORCH_NEURONX_LOG_LEVEL: `9` is not in 0 to 3; the default 1 holds"}]}"#);
}

#[test]
fn a_finding_is_kind_severity_variable_and_message() {
    let findings = lint(&environment(&["NEURON_NUMA_PINN=1", "RANK=x"]));
    insta::assert_snapshot!(serde_json::to_string(&findings).unwrap(), @r#"[{"kind":"unknown_name","severity":"warning","variable":null,"message":"unknown variable `NEURON_NUMA_PINN`; did you mean `NEURON_NUMA_PIN`?"},{"kind":"bad_value","severity":"error","variable":"RANK","message":"RANK: `x` is not a whole number in decimal digits; it counts as unset"}]"#);
    let small = (TORCH_NEURONX_LOG_LEVEL, TORCH_NEURONX_LOG_LEVEL.group(), crate::Origin::Unset);
    assert_eq!(serde_json::to_string(&small).unwrap(), r#"["TORCH_NEURONX_LOG_LEVEL","general","unset"]"#);
}
