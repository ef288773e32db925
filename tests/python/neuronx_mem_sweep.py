"""Runs the sweep of `neuronx-mem tune` on any concurrent.futures.Executor, or on a dask cluster.

The command decides what to try and what follows from it; each round comes as jobs that are pure
functions of their text. Workers need the command and the inputs under the same paths.
"""

import json
import subprocess


def run_job(command, job):
    """Runs one job (a dict) with the command; returns its result (a dict)."""
    text = json.dumps(job).encode()
    done = subprocess.run([command, "tune", "--job"], input=text, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode().strip())
    return json.loads(done.stdout)


def tune(inputs, executor, command="neuronx-mem", arguments=()):
    """Tunes for the inputs; `executor` has `submit(function, *args)`. Returns the object of `tune --json`."""
    call = [command, "tune", "--drive", *map(str, arguments), *map(str, inputs)]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:
        for line in driver.stdout:
            answer = json.loads(line)
            if "jobs" not in answer:
                return answer
            futures = [executor.submit(run_job, command, job) for job in answer["jobs"]]
            results = [future.result() for future in futures]
            driver.stdin.write(json.dumps({"results": results}) + "\n")
            driver.stdin.flush()
    raise RuntimeError(f"{command} tune ended without an answer")
