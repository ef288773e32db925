"""The examples of the pages about PyTorch run, and print what is written behind them."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def examples():
    """The Python blocks of both pages; of the one about the package, those that need PyTorch."""
    whole = (ROOT / "docs/pytorch.md").read_text()
    _, part = (ROOT / "docs/python.md").read_text().split("\n## PyTorch\n")
    return [block for text in (whole, part) for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]


class Pages(unittest.TestCase):
    def test_examples(self):
        self.assertEqual(len(examples()), 3)
        for block in examples():
            with self.subTest(block=block), tempfile.TemporaryDirectory() as folder:
                call = [sys.executable, "-c", block]
                done = subprocess.run(call, capture_output=True, text=True, check=False, env=dict(os.environ), cwd=folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                for expected in re.findall(r"^print\(.*\)\s+# (.*)$", block, re.MULTILINE):
                    self.assertIn(expected, done.stdout.splitlines())


if __name__ == "__main__":
    unittest.main()
