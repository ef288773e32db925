"""NUMA status and pin, on whatever machine runs this, with a neuron-ls of our own where one is needed."""

import json
import os
import pathlib
import tempfile
import unittest

from neuronx_mem import numa

from support import output


class Status(unittest.TestCase):
    def test_keys_of_the_guidelines(self):
        status = numa.get_numa_status()
        self.assertEqual(
            list(status),
            ["numa_pin_enabled", "numa_pinned", "current_affinity", "topology_available", "num_devices"],
        )
        self.assertEqual(status["current_affinity"], sorted(os.sched_getaffinity(0)))
        details = numa.get_numa_details()
        self.assertEqual({key: details[key] for key in status}, status)
        self.assertEqual(details["numa_pinned"], details["reason"] is None)

    def test_arguments(self):
        with self.assertRaisesRegex(ValueError, "sideways"):
            numa.pin(0, "sideways")

    def test_no_topology(self):
        printed = output(
            """
            from neuronx_mem import numa
            import neuronx_mem
            for call in (numa.topology, lambda: numa.pin(0), numa.pin):
                try:
                    call()
                except (RuntimeError, ValueError) as error:
                    print(type(error).__name__, error)
            print(numa.get_numa_status()["numa_pin_enabled"], neuronx_mem.get_device_properties().pci_bus_id)
            """,
            PATH="/nonexistent",
            NEURON_NUMA_PIN="0",
            LOCAL_RANK="",
        )
        missing = "neuron-ls is neither on PATH nor in /opt/aws/neuron/bin"
        self.assertEqual(
            printed.splitlines(),
            [f"RuntimeError {missing}", f"RuntimeError {missing}", "ValueError no rank: give one, or set LOCAL_RANK",
             "False None"],
        )

    @unittest.skipUnless(os.path.isdir("/sys/devices/system/node/node0"), "the kernel shows no NUMA nodes")
    def test_pin_and_undo(self):
        device = {"neuron_device": 0, "bdf": "cc:00.0", "numa_node": "0", "nc_count": 2, "neuroncore_ids": [0, 1]}
        with tempfile.TemporaryDirectory() as folder:
            tool = pathlib.Path(folder, "neuron-ls")
            tool.write_text(f"#!/bin/sh\necho '{json.dumps([device])}'\n")
            tool.chmod(0o755)
            printed = output(
                """
                import os, threading
                from neuronx_mem import numa
                import neuronx_mem
                before = os.sched_getaffinity(0)
                print([device["pci"] for device in numa.topology()])
                pinned = numa.pin(mode="exclusive") if len(before) > 1 else numa.pin()
                after = os.sched_getaffinity(0)
                print(pinned.node, set(pinned.cpus) == after, after <= before, pinned.threads <= 1)
                print(numa.get_numa_status()["numa_pinned"], numa.get_numa_details()["device"])
                pinned.undo(), pinned.undo()
                print(os.sched_getaffinity(0) == before, pinned.cpus)
                print(neuronx_mem.get_device_properties().pci_bus_id)
                """,
                PATH=f"{folder}:/bin:/usr/bin",
                LOCAL_RANK="1",
            )
        self.assertEqual(
            printed.splitlines(), ["['0000:cc:00.0']", "0 True True True", "True 0", "True []", str(0xCC)]
        )


if __name__ == "__main__":
    unittest.main()
