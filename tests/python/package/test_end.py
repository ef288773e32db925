"""The end of a process, and of a child that a fork made: nothing crashes, nothing hangs."""

import unittest

from support import output

START = """
    import os, sys, threading
    import neuronx_mem
    from neuronx_mem import _native, memory
    memory._record_memory_history(stacks={stacks!r})
    world = _native.world()
"""


class End(unittest.TestCase):
    def check(self, code, expected, stacks="python"):
        self.assertEqual(output(START.format(stacks=stacks) + code), expected)

    def test_live_blocks(self):
        for stacks in ("python", "all"):
            self.check(
                """
    kept = [world.allocate(1000) for _ in range(100)]
    sys.kept = kept                      # freed when the interpreter takes its modules apart
    class Holder:
        def __init__(self): self.block, self.me = world.allocate(5), self   # freed by the last collection
    Holder()
    print(memory.memory_allocated())
""",
                f"{100 * 1024 + 256}\n",
                stacks,
            )

    def test_allocator_that_outlives_its_name(self):
        self.check(
            """
    own = neuronx_mem.Allocator()
    block = own.allocate(100)
    del own
    block.free()
    print(block.is_freed)
""",
            "True\n",
        )

    def test_daemon_threads_that_go_on(self):
        self.check(
            """
    started = threading.Barrier(4)
    def use():
        started.wait()
        while True:
            world.allocate(1000).free()
    for _ in range(3):
        threading.Thread(target=use, daemon=True).start()
    started.wait()
    print("ends")
""",
            "ends\n",
        )

    def test_fork(self):
        self.check(
            """
    held = world.allocate(1000)
    child = os.fork()
    if child == 0:
        mine = world.allocate(2000)
        del held
        assert memory.memory_allocated() == 2048, memory.memory_allocated()
        assert memory._snapshot()["segments"]
        sys.exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), memory.memory_allocated())
""",
            "7 1024\n",
        )

    def test_collector_that_frees_during_a_snapshot(self):
        self.check(
            """
    import gc
    class Holder:
        def __init__(self): self.block, self.me = world.allocate(300), self
    gc.set_threshold(1)
    for _ in range(200):
        Holder()
        memory._snapshot()
    gc.collect()
    print(memory.memory_allocated())
""",
            "0\n",
        )


if __name__ == "__main__":
    unittest.main()
