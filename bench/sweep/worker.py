"""NumPy's side of rdim-sweep: arrays come as files, programs as text, times go back."""
import sys
import time
import warnings

import numpy as np

np.seterr(all="ignore")
warnings.simplefilter("ignore")


def array(words):
    """dtype first path rank extents strides"""
    flat = np.fromfile(words[2], dtype=words[0])
    rank = int(words[3])
    shape = [int(n) for n in words[4:4 + rank]]
    strides = [int(n) * flat.itemsize for n in words[4 + rank:4 + 2 * rank]]
    return np.lib.stride_tricks.as_strided(flat[int(words[1]):], shape, strides, writeable=False)


def function(code, names):
    body = "".join("    " + line + "\n" for line in code.splitlines())
    space = {"np": np}
    exec("def f(%s):\n%s    return y0\n" % (", ".join(names), body), space)
    return space["f"]


def main():
    call = None
    print("ready", flush=True)
    for line in sys.stdin:
        words = line.split()
        try:
            if words[0] == "load":
                arrays = [array(sys.stdin.readline().split()) for _ in range(int(words[1]))]
                code = "".join(sys.stdin.readline() for _ in range(int(words[2])))
                f = function(code, ["x%d" % k for k in range(len(arrays))])
                call = lambda f=f, arrays=arrays: f(*arrays)
                print("ok", float(np.nansum(np.abs(np.asarray(call(), dtype=np.float64)))), flush=True)
            else:
                times = int(words[1])
                start = time.perf_counter()
                for _ in range(times):
                    call()
                print((time.perf_counter() - start) / times, flush=True)
        except Exception as error:  # what NumPy refuses is not timed
            print("error", repr(error)[:200].replace("\n", " "), flush=True)


main()
