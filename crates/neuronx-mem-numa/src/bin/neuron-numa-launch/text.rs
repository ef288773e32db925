//! The texts of the launcher.

/// Without arguments.
pub(crate) const USAGE: &str = "\
Usage: neuron-numa-launch [--dry-run] SCRIPT [ARGUMENT...]
       neuron-numa-launch --help
";

/// With `--version`.
pub(crate) const VERSION: &str = concat!("neuron-numa-launch ", env!("CARGO_PKG_VERSION"), "\n");

/// With `--help`.
pub(crate) const HELP: &str = "\
Runs Python on the NUMA node of the rank's Neuron device, from its first allocation on.

Usage: neuron-numa-launch [--dry-run] SCRIPT [ARGUMENT...]

Everything from SCRIPT on goes to Python as it is; `-m MODULE` and `-c CODE` do too.

Example:
  torchrun --no-python --nproc_per_node 64 neuron-numa-launch ./train.py --lr 0.1

Becomes `numactl --membind=N --cpunodebind=N python3 SCRIPT ARGUMENT...`, where N is the node of
the device that has the logical core LOCAL_RANK, as neuron-ls lists them. Plain Python starts
instead when LOCAL_RANK, neuron-ls or numactl is missing or of no use, with one line that says why.

Options, as the first argument only:
  --dry-run  print the command instead of becoming it
  --help     print this text
  --version  print the version

Environment:
  LOCAL_RANK                rank on this host; torchrun sets it
  NEURON_NUMA_PIN           0 starts plain Python
  NEURON_LOGICAL_NC_CONFIG  physical cores in a logical one, where neuron-ls says another number
  PYTHON_EXEC               the Python to start; else the one beside this program, else on PATH
  NEURONX_MEM_NUMA_LAUNCHED set to N for the program that is started

Exit codes: those of the program; 2 usage, 126 and 127 when it cannot be started.
";
