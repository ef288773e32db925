"""The examples of the documentation run, and print what is written behind them."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, variables

PAGES = ["docs/python.md", "crates/neuronx-mem-python/README.md"]


def examples(page):
    """The Python blocks of a page, up to its part about PyTorch."""
    text = (ROOT / page).read_text().split("\n## PyTorch")[0]
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


class Docs(unittest.TestCase):
    def test_examples(self):
        for page in PAGES:
            blocks = examples(page)
            self.assertTrue(blocks, page)
            for block in blocks:
                with self.subTest(page=page, block=block), tempfile.TemporaryDirectory() as folder:
                    os.symlink(ROOT / "tests", pathlib.Path(folder, "tests"))
                    call = [sys.executable, "-W", "error", "-c", block]
                    done = subprocess.run(
                        call, capture_output=True, text=True, check=False, env=variables(), cwd=folder
                    )
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    for expected in re.findall(r"^print\(.*\)\s+# (.*)$", block, re.MULTILINE):
                        self.assertIn(expected, done.stdout.splitlines())


if __name__ == "__main__":
    unittest.main()
