"""Processes, interpreters and signals: forks in the midst of things, pools, subinterpreters, handlers of signals."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import rdim as rd

np = pytest.importorskip("numpy")


# ---- Pools ----------------------------------------------------------------------------------------------------------
def total(k):
    return float(rd.sum(rd.sin(rd.asarray(np.arange(200_000.0)) + k)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_pools_of_processes(how):
    """The parent has evaluated with threads before, so that its children have none of these."""
    wanted = [total(k) for k in range(8)]
    with multiprocessing.get_context(how).Pool(2) as pool:
        assert pool.map_async(total, range(8)).get(timeout=120) == wanted
    assert [total(k) for k in range(8)] == wanted


FORKED = """
import os, threading
import numpy as np, rdim as rd
x = rd.asarray(np.random.default_rng(0).random(300_000))
y = rd.sum(rd.gamma(x))
wanted, stop = float(y), threading.Event()
def others():
    while not stop.is_set():
        assert float(rd.sum(rd.gamma(x))) == wanted
threads = [threading.Thread(target=others) for _ in range(3)]
for thread in threads: thread.start()
children = []
for k in range(10):
    child = os.fork()
    if child == 0:  # it ends as any process: what the library has at its end runs, too
        z = rd.asarray(np.arange(10.0)) + k
        assert float(y) == wanted and float(rd.sum(z)) == 45 + 10 * k
        grandchild = os.fork()
        if grandchild == 0:
            assert float(y) == wanted
            os._exit(0)
        assert os.waitpid(grandchild, 0)[1] == 0
        stop.set()
        threads.clear()
        raise SystemExit(0)
    children.append(child)
ends = [os.waitpid(child, 0)[1] for child in children]
stop.set()
for thread in threads: thread.join()
print(ends)
"""


def run(code, timeout=120):
    return subprocess.run([sys.executable, "-W", "ignore", "-X", "faulthandler", "-c", code], capture_output=True, text=True, timeout=timeout)


def test_children_that_end_as_any_process():
    ran = run(FORKED)
    assert ran.stdout == f"{[0] * 10}\n" and ran.returncode == 0, (ran.returncode, ran.stdout, ran.stderr)


# ---- Subinterpreters --------------------------------------------------------------------------------------------------
SECOND = """
import sys, warnings
import numpy as np, rdim as rd
try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        print("none"); raise SystemExit
x = rd.asarray(np.arange(3.0))
code = '''
import sys, warnings
warnings.simplefilter("ignore")
sys.path = {path}
try:
    import rdim
    print("imported", flush=True)
except ImportError as error:
    print("refused", "rdim" in str(error), flush=True)
'''
interpreters.run_string(interpreters.create(), code.format(path=repr(sys.path)))
print(rd.asarray([1.0, 2]).dtype == np.float64, type(rd.sum(x).compute()).__name__, (x + np.ones(3)).compute().tolist())
"""


def test_a_second_interpreter_is_refused():
    ran = run(SECOND)
    if ran.stdout == "none\n":
        pytest.skip("no module of this Python makes subinterpreters")
    assert ran.returncode == 0, ran.stderr
    said, after = ran.stdout.splitlines()
    assert said == "refused True" and after.startswith("True ") and after.endswith("[1.0, 2.0, 3.0]")


# ---- Signals ----------------------------------------------------------------------------------------------------------
class Late(Exception):
    """What a handler raises."""


def late(*_):
    raise Late


def send(number, after):
    """Sends this process a signal after so many seconds, from another thread; answers when that was."""
    sent = []

    def work():
        time.sleep(after)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, sent


LONG = {"map": lambda x: rd.sum(rd.gamma(x) + rd.gamma(x + 1)), "scan": lambda x: rd.cumsum(rd.gamma(x))}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1])
@pytest.mark.parametrize("kind", LONG)
def test_handlers_that_raise_end_an_evaluation(number, kind):
    """Handlers of Python run about ten times a second: seconds are for busy machines."""
    x = rd.asarray(np.linspace(0.1, 3, 20_000_000).reshape(20_000, 1000))
    y = LONG[kind](x.reshape(-1)) if kind == "scan" else LONG[kind](x)
    old = signal.signal(number, late)
    try:
        thread, sent = send(number, 0.1)
        with pytest.raises(Late):
            while not sent or time.perf_counter() - sent[0] < 10:
                rd.sum(y).compute()
        assert time.perf_counter() - sent[0] < 10
        thread.join()
        assert float(rd.sum(rd.asarray(np.ones(5)))) == 5
    finally:
        signal.signal(number, old)


ROWS = {"sort": rd.sort, "argsort": rd.argsort, "median": rd.median, "top_k": lambda x: rd.top_k(x, x.size // 4)}
IGNORED = """
import os, signal, threading
import numpy as np, rdim as rd
x = rd.asarray(np.random.default_rng(0).random(2_000_000))
wanted = float(rd.sum(rd.gamma(x)))
signal.signal(signal.SIGINT, signal.{how})
thread = threading.Thread(target=lambda: [os.kill(os.getpid(), signal.SIGINT) for _ in range(50)])
thread.start()
print([float(rd.sum(rd.gamma(x))) == wanted for _ in range(3)])
thread.join()
"""


def test_an_ignored_signal_changes_nothing():
    ran = run(IGNORED.format(how="SIG_IGN"))
    assert ran.stdout == "[True, True, True]\n" and ran.returncode == 0, ran.stderr


def test_without_a_handler_the_signal_ends_the_process():
    assert run(IGNORED.format(how="SIG_DFL")).returncode == -signal.SIGINT


@pytest.mark.parametrize("kind", ROWS)
def test_ctrl_c_amid_a_long_row(kind):
    """Processor time, whatever else the machine does: a row that is left in its first third takes less than all of it."""
    x = rd.asarray(np.random.default_rng(0).random(4_000_000))
    y = ROWS[kind](x)
    for _ in range(20):
        begun, clock = time.process_time(), time.perf_counter()
        y.compute()
        whole, clock = time.process_time() - begun, time.perf_counter() - clock
        thread, _ = send(signal.SIGINT, clock / 4)
        begun = time.process_time()
        try:
            y.compute()
            thread.join()
            time.sleep(0.01)
        except KeyboardInterrupt:
            if time.process_time() - begun < 0.7 * whole:
                return
        finally:
            thread.join()
    pytest.fail(f"{kind}: Ctrl-C is not heard before the end")
