#!/usr/bin/env python3
"""Programs that users would write first, beside hand-written loops and other libraries.

    PYTHONPATH=build/release/python python3 bench/users/run.py [--sets slow,fields] [--only NAME,..] [--threads 1] [--save FILE]
    python3 bench/users/run.py --against FILE

Prints one row a program: the time of rdim in milliseconds, and how many times as long rdim takes as the hand-written loop
and as the fastest of the other libraries.  Results are compared first, and a row with another result fails.  Libraries
that are not installed are left out.  Compilers are awaited: these are times of programs that run again and again.
With `--processor` times are the processor's, which on one thread hardly change where other programs run beside; JAX
is timed by the clock all the same, as it computes on a thread whose time the system counts too late.  `--save` keeps
the times, and `--against` prints how many times as long rdim takes as in a file that was saved.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable

HERE = Path(__file__).parent
SETS = ("slow", "fields", "fields_more", "fields_next")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", type=float, default=0.3, help="seconds for each time of each row")
    parser.add_argument("--processor", action="store_true", help="time of the processor in place of the clock")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--build", default="build/users", help="folder for the compiled hand-written loops")
    parser.add_argument("--save")
    parser.add_argument("--against")
    parser.add_argument("--explain", action="store_true")
    return parser.parse_args()


given = options()
os.environ.setdefault("OMP_NUM_THREADS", str(given.threads))
os.environ.setdefault("OPENBLAS_NUM_THREADS", str(given.threads))
os.environ.setdefault("NUMBA_NUM_THREADS", str(given.threads))
os.environ.setdefault("RDIM_TIER1", "sync")  # waits for the compiler
if given.threads == 1:
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
sys.path.insert(0, str(HERE))

import numpy as np  # noqa: E402

import rdim as rd  # noqa: E402
from program import Program, compiled, geometric_mean, seconds  # noqa: E402


def peer_module(name: str) -> Any:
    """The module a peer's program gets as its first argument, or None where it is not installed."""
    modules = {"numpy": "numpy", "scipy": "scipy", "torch": "torch", "jax": "jax", "bottleneck": "bottleneck",
               "numba": "numba", "opencv": "cv2"}
    try:
        module = importlib.import_module(modules[name])
    except ImportError:
        return None
    if name == "torch":
        module.set_num_threads(given.threads)
    if name == "opencv":
        module.setNumThreads(given.threads)
    if name == "jax":
        module.config.update("jax_enable_x64", True)
    return module


def converted(name: str, module: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays as a peer has them, so that conversion is not timed."""
    def one(value: Any) -> Any:
        if not isinstance(value, np.ndarray) or value.ndim == 0:
            return value
        if name == "torch":
            return module.from_numpy(value)
        return module.numpy.asarray(value) if name == "jax" else value
    return {key: one(value) for key, value in arrays.items()}


def peer_run(name: str, module: Any, program: Program, arrays: dict[str, Any]) -> Callable[[], Any]:
    theirs = converted(name, module, arrays)
    call = program.peers[name]
    if name != "jax":
        return lambda: call(module, theirs)
    fixed = {key: value for key, value in theirs.items() if not hasattr(value, "shape")}
    jitted = module.jit(lambda moving: call(module, {**fixed, **moving}))
    moving = {key: value for key, value in theirs.items() if key not in fixed}
    return lambda: module.block_until_ready(jitted(moving))


def parts(result: Any) -> list[np.ndarray]:
    return [np.asarray(part) for part in (result if isinstance(result, (tuple, list)) else (result,))]


def same(name: str, program: Program, got: Any, wanted: Any) -> None:
    for ours, theirs in zip(parts(got), parts(wanted), strict=True):
        scale = float(np.nanmax(np.abs(theirs.astype("f8")), initial=0.0)) if theirs.size else 0.0
        np.testing.assert_allclose(ours.astype("f8"), theirs.astype("f8").reshape(ours.shape), rtol=program.tolerance,
                                   atol=program.tolerance * scale, err_msg=f"{program.name} beside {name}")


def lazy(arrays: dict[str, Any]) -> dict[str, Any]:
    return {key: rd.asarray(value) if isinstance(value, np.ndarray) and value.ndim else value for key, value in arrays.items()}


def evaluated(program: Program, arrays: dict[str, Any]) -> Any:
    result = program.rdim(rd, arrays)
    return rd.compute(*result) if isinstance(result, tuple) else rd.compute(result)


def clock_of(name: str) -> Callable[[], float]:
    return time.process_time if given.processor and name != "jax" else time.perf_counter


def row_of(program: Program, hands: Any) -> dict[str, Any]:
    arrays = program.inputs(np.random.default_rng(20261129))
    ours = lazy(arrays)
    if given.explain:
        result = program.rdim(rd, ours)
        print(rd.explain(*result) if isinstance(result, tuple) else rd.explain(result))
    got = evaluated(program, ours)
    runs: dict[str, Callable[[], Any]] = {"rdim": lambda: evaluated(program, ours)}
    if program.hand:
        hand = program.hand
        same("hand", program, got, hand(hands, arrays))
        runs["hand"] = lambda: hand(hands, arrays)
    for name in () if given.no_peers else program.peers:
        module = peer_module(name)
        if module:
            runs[name] = peer_run(name, module, program, arrays)
            same(name, program, got, runs[name]())
    return {name: min(seconds(run, given.budget / 2, clock_of(name)) for _ in range(2)) * 1e3 for name, run in runs.items()}


def ratios(row: dict[str, float]) -> tuple[float | None, float | None, str]:
    peers = {name: taken for name, taken in row.items() if name not in ("rdim", "hand")}
    best = min(peers, key=lambda name: peers[name]) if peers else ""
    hand = row["rdim"] / row["hand"] if "hand" in row else None
    return hand, row["rdim"] / peers[best] if best else None, best


def cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def main() -> None:
    before = json.loads(Path(given.against).read_text()) if given.against else {}
    saved, by_hand, by_peer = {}, [], []
    print("| program | field | ms | / hand | / best peer | which | / before |\n| --- | --- | --- | --- | --- | --- | --- |")
    with rd.options(threads=given.threads):
        for name in given.sets.split(","):
            if not (HERE / f"{name}.py").exists():
                continue
            hands = compiled(HERE / f"{name}.c", Path(given.build))
            for program in importlib.import_module(name).PROGRAMS:
                if given.only and program.name not in given.only.split(","):
                    continue
                try:
                    row = row_of(program, hands)
                except Exception as error:  # a row that fails is a finding, and others go on
                    print(f"| {program.name} | {program.field} | failed: {str(error).strip()[:300]!r} |", flush=True)
                    continue
                saved[program.name] = row
                hand, peer, which = ratios(row)
                by_hand += [hand] if hand else []
                by_peer += [peer] if peer else []
                old = before.get(program.name, {}).get("rdim")
                print(f"| {program.name} | {program.field} | {row['rdim']:.4g} | {cell(hand)} | {cell(peer)} | {which} | "
                      f"{cell(row['rdim'] / old if old else None)} |", flush=True)
    print(f"| geometric mean | | | {geometric_mean(by_hand):.3g} | {geometric_mean(by_peer):.3g} | | |")
    print(f"\nslower than the best peer: {sum(r > 1 for r in by_peer)} of {len(by_peer)}; "
          f"above 3 of hand: {sum(r > 3 for r in by_hand)}, above 1.5: {sum(r > 1.5 for r in by_hand)}")
    if given.save:
        Path(given.save).write_text(json.dumps(saved, indent=1))


if __name__ == "__main__":
    main()
