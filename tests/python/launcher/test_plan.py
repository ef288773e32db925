"""`neuronx-mem numa topology --plan` against the rules of torch.numa.binding, on machines made of files.

Run by `cargo xtask test --python`, which sets NEURONX_MEM to the command and makes torch available.
torch's devices are logical cores here. Both read the same files; torch is told where they are, which
node a core is on, and which CPUs are allowed, as it would hear from a device and the system.
"""

import builtins
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

import torch.numa.binding as binding

COMMAND = os.environ["NEURONX_MEM"]
OUTPUTS = pathlib.Path("crates/neuronx-mem-numa/tests/data")

# CPUs of the nodes, nodes in a package, distance of siblings, physical cores at a cache.
MACHINES = {
    "trn1.32xlarge": (["0-31,64-95", "32-63,96-127"], 1, 64, 16),
    "inf2.48xlarge": (["0-23,96-119", "24-47,120-143", "48-71,144-167", "72-95,168-191"], 2, 96, 4),
    "trn2.48xlarge": (["0-47,96-143", "48-95,144-191"], 1, 96, 8),
}

ALLOWED = ["0-191", "5-29,40-100,128-150,160", "0-2,30-34,64-70", "95"]


# What stands for a place where torch itself breaks.
BROKEN = "broken"


def numbers(text):
    return sorted(binding._get_set_of_int_from_ranges_str(text))


class Machine:
    """`/sys` and `/proc` below a folder."""

    def __init__(self, folder, name, allowed):
        self.root = pathlib.Path(folder)
        self.nodes, self.nodes_per_package, self.sibling, self.cores_per_cache = MACHINES[name]
        self.output = OUTPUTS / f"{name}.json"
        self.allowed = allowed
        last = len(self.nodes) - 1
        for file in ("online", "possible"):
            self.write(f"sys/devices/system/node/{file}", f"0-{last}")
        for node, cpus in enumerate(self.nodes):
            self.write(f"sys/devices/system/node/node{node}/cpulist", cpus)
            for cpu in numbers(cpus):
                self.write_cpu(cpu, node // self.nodes_per_package)
        self.write("proc/self/status", f"Cpus_allowed_list:\t{allowed}\nMems_allowed_list:\t0-{last}")

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    def write_cpu(self, cpu, package):
        system = "sys/devices/system/cpu"
        if cpu >= self.sibling:
            # The other half of a physical core says the same.
            (self.root / system / f"cpu{cpu}").symlink_to(f"cpu{cpu - self.sibling}")
            return
        first = cpu - cpu % self.cores_per_cache
        last = first + self.cores_per_cache - 1
        cores = f"{cpu},{cpu + self.sibling}"
        shared = f"{first}-{last},{first + self.sibling}-{last + self.sibling}"
        self.write(f"{system}/cpu{cpu}/topology/physical_package_id", str(package))
        self.write(f"{system}/cpu{cpu}/topology/thread_siblings_list", cores)
        caches = [("Data", 1, cores), ("Instruction", 9, cores), ("Unified", 3, shared)]
        if cpu != first:
            (self.root / system / f"cpu{cpu}/cache").symlink_to(f"../cpu{first}/cache")
            return
        for index, (kind, level, cpus) in enumerate(caches):
            folder = f"{system}/cpu{cpu}/cache/index{index}"
            self.write(f"{folder}/type", kind)
            self.write(f"{folder}/level", str(level))
            self.write(f"{folder}/shared_cpu_list", cpus)

    def ours(self, mode):
        """Set of CPUs or an error for each rank, and the node of each."""
        command = [COMMAND, "numa", "topology", "--json", "--plan", mode, "--root", self.root]
        done = subprocess.run([*command, "--neuron-ls", self.output], capture_output=True, check=False)
        assert done.returncode in (0, 1) and not done.stderr, done.stderr.decode()
        ranks = json.loads(done.stdout)["plan"]["ranks"]
        return [numbers(rank["cpus"]) if rank["cpus"] else None for rank in ranks]

    def theirs(self, mode):
        devices = json.loads(self.output.read_text())
        nodes = [int(device["numa_node"]) for device in devices for _ in device["neuroncore_ids"]]
        open_file, list_folder = builtins.open, os.listdir

        def below(path):
            return f"{self.root}{path}" if str(path).startswith("/sys/") else path

        with (
            mock.patch("builtins.open", lambda path, *rest, **named: open_file(below(path), *rest, **named)),
            mock.patch("os.listdir", lambda path: list_folder(below(path))),
            mock.patch.object(binding, "_get_device_count", lambda: len(nodes)),
            mock.patch.object(
                binding, "_get_numa_node_index_for_device_index", lambda *, device_index: nodes[device_index]
            ),
            mock.patch.object(
                binding, "_get_allowed_cpu_indices_for_current_thread", lambda: set(numbers(self.allowed))
            ),
        ):
            return [self.place(mode, rank) for rank in range(len(nodes))]

    @staticmethod
    def place(mode, rank):
        options = binding.NumaOptions(affinity_mode=binding.AffinityMode(mode))
        try:
            cpus = binding._get_logical_cpus_to_bind_to(device_index=rank, numa_options=options)
        except (RuntimeError, ZeroDivisionError):
            return None
        except ValueError as error:
            # torch asks every node for a CPU that is allowed, and breaks where one has none.
            assert mode == "socket" and "empty" in str(error)
            return BROKEN
        return sorted(cpus) or None


class Plan(unittest.TestCase):
    def test_every_mode_is_that_of_torch(self):
        n_placed = 0
        for name in MACHINES:
            for allowed in ALLOWED:
                with tempfile.TemporaryDirectory() as folder:
                    machine = Machine(folder, name, allowed)
                    for mode in ("node", "socket", "exclusive", "core-complex"):
                        with self.subTest(machine=name, allowed=allowed, mode=mode):
                            theirs, ours = machine.theirs(mode), machine.ours(mode)
                            pairs = [pair for pair in zip(theirs, ours, strict=True) if pair[0] != BROKEN]
                            self.assertEqual([our for _, our in pairs], [their for their, _ in pairs])
                            n_placed += sum(their is not None for their, _ in pairs)
        self.assertGreater(n_placed, 1000)

    def test_lists_of_cpus_are_written_alike(self):
        machine = "0-2,4,6-7"
        self.assertEqual(binding._get_ranges_str_from_ints(numbers(machine)), machine)


if __name__ == "__main__":
    unittest.main()
