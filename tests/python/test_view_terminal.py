"""`neuronx-mem view --terminal` on a pseudo-terminal: keys are typed, the screen is read.

Run by `cargo xtask test --python`, which sets NEURONX_MEM to the command. The working folder is the
root of the workspace. Waits for what must come, not for a time; a limit only ends a test that failed.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import unittest

COMMAND = os.environ["NEURONX_MEM"]
TRACE = "tests/data/traces/gpt2_bf16.csv.zst"
COLUMNS, LINES = 80, 24
LIMIT_S = 120

ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([a-zA-Z])")


class Screen:
    """What a terminal shows of the output so far: letters, and moves to a place; styles are left out."""

    def __init__(self):
        self.rows = [[" "] * COLUMNS for _ in range(LINES)]
        self.output = ""

    def write(self, text):
        self.output += text
        self.rows = [[" "] * COLUMNS for _ in range(LINES)]
        row = column = place = 0
        while place < len(self.output):
            found = ESCAPE.match(self.output, place)
            if not found:
                letter = self.output[place]
                place += 1
                if letter >= " " and row < LINES and column < COLUMNS:
                    self.rows[row][column] = letter
                    column += 1
                continue
            place = found.end()
            numbers, what = found.groups()
            if what == "H":
                row, column = (int(number) - 1 for number in (numbers or "1;1").split(";"))
            elif what == "J":
                self.rows = [[" "] * COLUMNS for _ in range(LINES)]

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.rows)


class Viewer:
    """The command on a terminal of its own."""

    def __init__(self, *arguments, environment=None):
        self.ours, self.its = pty.openpty()
        fcntl.ioctl(self.its, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.before = termios.tcgetattr(self.its)
        self.screen = Screen()
        self.rest = b""
        self.process = subprocess.Popen(
            [COMMAND, "view", "--terminal", *arguments],
            stdin=self.its,
            stdout=self.its,
            stderr=subprocess.PIPE,
            env={**os.environ, "TERM": "xterm-256color", **(environment or {})},
            start_new_session=True,
        )

    def read(self):
        ready, _, _ = select.select([self.ours], [], [], LIMIT_S)
        assert ready, f"nothing came any more:\n{self.screen.text()}"
        data = self.rest + os.read(self.ours, 65536)
        text = data.decode(errors="ignore")
        self.rest = data[len(text.encode()) :]
        self.screen.write(text)

    def wait_for(self, text):
        while text not in self.screen.text():
            self.read()

    def type(self, keys):
        os.write(self.ours, keys.encode())

    def end(self):
        """Waits for the end; returns the exit code and what went to standard error."""
        while "\x1b[?25h" not in self.screen.output.rpartition("\x1b[?1049l")[2]:
            self.read()
        _, errors = self.process.communicate(timeout=LIMIT_S)
        after = termios.tcgetattr(self.its)
        os.close(self.ours)
        os.close(self.its)
        assert after == self.before, "the terminal is not as it was"
        return self.process.returncode, errors


def replayed():
    done = subprocess.run([COMMAND, "replay", "--json", TRACE], capture_output=True, check=True)
    return json.loads(done.stdout)


class TestViewTerminal(unittest.TestCase):
    def test_keys_are_obeyed_and_the_terminal_is_given_back(self):
        viewer = Viewer(TRACE)
        viewer.wait_for(f"peak {replayed()['allocated_peak']:,} bytes at event")
        viewer.type("g")
        viewer.wait_for("event 0: before all events")
        viewer.type("\x1b[C\x1b[C")
        viewer.wait_for("event 286: ")
        viewer.type("?")
        viewer.wait_for("Blocks and stacks")
        viewer.type("x/step\r")
        viewer.wait_for("n for the next")
        self.assertIn("\x1b[?1049h", viewer.screen.output)
        viewer.type("q")
        self.assertEqual(viewer.end(), (0, b""))

    def test_a_signal_ends_it_and_gives_the_terminal_back(self):
        viewer = Viewer(TRACE)
        viewer.wait_for("Top stacks")
        viewer.process.send_signal(signal.SIGINT)
        self.assertEqual(viewer.end(), (0, b""))

    def test_a_terminal_that_goes_ends_it(self):
        viewer = Viewer(TRACE)
        viewer.wait_for("Top stacks")
        os.close(viewer.its)
        os.close(viewer.ours)
        _, errors = viewer.process.communicate(timeout=LIMIT_S)
        self.assertEqual(viewer.process.returncode, 2)
        self.assertEqual(errors.splitlines()[-1], b"neuronx-mem: error: terminal: the terminal has gone")

    def test_no_color_is_honoured(self):
        viewer = Viewer(TRACE, environment={"NO_COLOR": "1"})
        viewer.wait_for("Top stacks")
        viewer.type("q")
        self.assertEqual(viewer.end(), (0, b""))
        styles = {number for style, what in ESCAPE.findall(viewer.screen.output) if what == "m" for number in style.split(";")}
        self.assertLessEqual(styles, {"", "0", "1", "7", "22", "27", "39", "49", "59"})

    def test_a_pipe_gets_one_screen_of_plain_text(self):
        environment = {**os.environ, "COLUMNS": "90", "LINES": "30"}
        command = [COMMAND, "view", "--terminal", TRACE]
        done = subprocess.run(command, capture_output=True, check=True, env=environment)
        text = done.stdout.decode()
        self.assertEqual(len(text.splitlines()), 30)
        self.assertNotIn("\x1b", text)
        self.assertIn(f"peak {replayed()['allocated_peak']:,} bytes", text)


if __name__ == "__main__":
    unittest.main()
