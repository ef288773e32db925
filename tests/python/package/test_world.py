"""One world a process: how it is described, and what cannot be changed later."""

import unittest

from support import output, run


class World(unittest.TestCase):
    maxDiff = None

    def test_defaults_and_environment(self):
        code = """
            import neuronx_mem
            properties = neuronx_mem.get_device_properties()
            print(properties.name, properties.lnc, properties.total_memory >> 20, properties.core_memory >> 20,
                  neuronx_mem.device_count(), properties.is_simulated)
            """
        self.assertEqual(output(code), "trn2 2 24576 24576 1 True\n")
        # The guide: at LNC 1 the total is the whole stack, of which a core has half.
        self.assertEqual(output(code, NEURONX_MEM_LNC="1"), "trn2 1 24576 12288 1 True\n")
        changed = {"NEURONX_MEM_DEVICE": "trn3", "NEURONX_MEM_DEVICES": "4", "NEURONX_MEM_MEMORY": "10GiB"}
        self.assertEqual(output(code, **changed), "trn3 2 10240 10240 4 True\n")
        for name, text in (("DEVICE", "gpu"), ("LNC", "x"), ("LNC", "3"), ("DEVICES", "0"), ("MEMORY", "many")):
            done = run(code, **{f"NEURONX_MEM_{name}": text})
            self.assertEqual(done.returncode, 1)
            last = done.stderr.splitlines()[-1]
            self.assertRegex(last, "^ValueError: .*" + text)

    def test_configure(self):
        printed = output(
            """
            import neuronx_mem as m
            print(m._native.is_started())
            m.configure("trn1", devices=2, memory="1GiB", config="kRoundupPower2Divisions=8")
            print(m._native.is_started(), m._native.world().config, m.mem_get_info(1))
            m.configure("trn1", devices=2, memory=1 << 30, config="kRoundupPower2Divisions=8")
            try:
                m.configure("trn2")
            except RuntimeError as error:
                print(error)
            for bad in ({"device": "tpu"}, {"lnc": 3}, {"devices": 200}, {"memory": 0}, {"memory": "1 piece"},
                        {"config": "kNo=1"}, {"memory": 1.5}):
                try:
                    m.configure(**bad)
                except (ValueError, TypeError) as error:
                    print(type(error).__name__, error)
            """
        )
        self.assertEqual(
            printed.splitlines(),
            [
                "False",
                "True kRoundupPower2Divisions=8 (1073741824, 1073741824)",
                "the simulated device was started with other settings: call configure() before anything else",
                'ValueError device "tpu": unknown device: expected trn1, inf2, trn2 or trn3',
                "ValueError lnc is 3, not 1 or 2",
                "ValueError devices is 200, not 1 to 128",
                "ValueError memory is 0 bytes",
                'ValueError a size is a number of bytes or a text like "24GiB", not "1 piece"',
                "ValueError config: unknown key `kNo` is ignored",
                'TypeError a size is a number of bytes or a text like "24GiB", not 1.5',
            ],
        )

    def test_configuration_of_the_environment(self):
        code = "import neuronx_mem; print(neuronx_mem._native.world().config)"
        keys = "kPoolBoundary=65536"
        self.assertEqual(output(code, TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG=keys), keys + "\n")

    def test_nothing_of_pytorch_is_imported(self):
        code = """
            import sys, neuronx_mem, neuronx_mem.__main__
            print([name for name in sys.modules if name.split(".")[0] in ("torch", "numpy")])
            """
        self.assertEqual(output(code), "[]\n")


if __name__ == "__main__":
    unittest.main()
