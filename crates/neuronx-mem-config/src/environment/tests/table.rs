//! The rows of the table.

use super::{environment, lines};
use crate::{Environment, Variable, table};

#[test]
fn there_is_a_row_for_each_variable_in_order() {
    let names: Vec<_> = table(&Environment::default()).iter().map(|row| row.name).collect();
    let expected: Vec<_> = Variable::all().map(Variable::name).collect();
    assert_eq!(names, expected);
}

#[test]
fn a_row_has_the_value_in_force_and_its_problems() {
    let environment = environment(&[
        "TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG= kRoundupPower2Divisions=8,kPoolBoundary=x",
        "TORCH_NEURONX_ENABLE_HOST_CC=on",
        "TORCH_NEURONX_ENABLE_STREAMS=0",
        "NEURON_RT_VISIBLE_CORES=0-3",
        "TORCH_NEURONX_NEFF_CACHE_DIR=/fsx/neff",
        "TORCH_NEURONX_LOG_LEVEL=9",
    ]);
    let rows = table(&environment);
    let changed = rows.iter().filter(|row| row.source == "set" || row.source == "invalid");
    let texts = changed.map(|row| {
        let head = format!("{} {} [{}] = {} ({})", row.name, row.kind, row.default, row.value, row.source);
        format!("{head}\n{}", lines(&row.problems)).trim_end().to_owned()
    });
    insta::assert_snapshot!(texts.collect::<Vec<_>>().join("\n"), @r#"
    TORCH_NEURONX_NEFF_CACHE_DIR path [/tmp/neff_cache] = /fsx/neff (set)
    TORCH_NEURONX_LOG_LEVEL int [1] = 1 (invalid)
    error bad_value TORCH_NEURONX_LOG_LEVEL: TORCH_NEURONX_LOG_LEVEL: `9` is not in 0 to 3; the default 1 holds
    TORCH_NEURONX_ENABLE_STREAMS bool [1] = 0 (set)
    TORCH_NEURONX_ENABLE_HOST_CC bool [0] = 1 (set)
    error host_collectives_without_streams TORCH_NEURONX_ENABLE_HOST_CC: TORCH_NEURONX_ENABLE_HOST_CC is on while TORCH_NEURONX_ENABLE_STREAMS is off: collectives have no other stream to run on
    TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG keys [""] = kRoundupPower2Divisions=8 (set)
    warning white_space TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG: TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG: ` kRoundupPower2Divisions=8`: white space around the key or the value is trimmed
    error not_decimal TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG: TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG: kPoolBoundary: `x` is ignored because it is not a plain decimal number
    NEURON_RT_VISIBLE_CORES list [not stated] = 0-3 (set)
    "#);
}
