"""The rows in PyTorch on the CPU.  Inputs lie in NumPy's memory, which asks for huge pages."""
import numpy as np
import torch
from catalogue_numpy import LABELLED, SERIES
from common import AXES, CUBE, LONG, POINTS, ROW_SHAPES, THREADS, Peer, halves, image, index, patterns, uniform
from everyday_torch import everyday

torch.set_num_threads(THREADS)
torch.set_grad_enabled(False)
peer = Peer("torch")


def tensor(which, shape, t):
    return torch.from_numpy(uniform(which, shape, t))


def sums(dtype, t):
    x, small, hundred = tensor(0, CUBE, t), tensor(0, (64, 64, 64), t), tensor(0, (100,), t)
    for case, axes in AXES.items():
        peer("W1", case, dtype, lambda: x.sum(axes))
        peer("W2", case, dtype, lambda: small.sum(axes))
    peer("W2", "eval100", dtype, lambda: hundred.sum())
    peer("W10", "onerow", dtype, lambda: x[:, 256, :].sum(0))
    peer("W4", "perm201", dtype, lambda: x.permute(2, 0, 1).contiguous())


def maps(dtype, t):
    x, y = tensor(0, (8192, 8192), t), tensor(1, (8192, 8192), t)
    for axis in (0, 1):
        peer("W3", f"sqdiff({axis})", dtype, lambda: ((x - y) ** 2).sum(axis))
        peer("W3", f"meanvar({axis})", dtype, lambda: torch.var_mean(x, axis, unbiased=False))
        peer("W3", f"lse({axis})", dtype, lambda: torch.logsumexp(x, axis))
        peer("W3", f"max({axis})", dtype, lambda: x.amax(axis))
        peer("W3", f"argmax({axis})", dtype, lambda: x.argmax(axis))
        peer("W11", f"cumsum({axis})", dtype, lambda: x.cumsum(axis))
    peer("W3", "sumexp", dtype, lambda: x.exp().sum())
    peer("W3", "count", dtype, lambda: (x.abs() > 0.5).sum())
    peer("W4", "A+BT(0)", dtype, lambda: (x + y.T).sum(0))
    peer("W4", "A*BT(0)", dtype, lambda: torch.einsum("ij,ji->j", x, y))
    peer("W7", "mmmv(0)", dtype, lambda: (x.amin(0), x.amax(0), torch.var_mean(x, 0, unbiased=False)))


def distances(x, y):
    d = x @ y.T
    d.mul_(-2)
    d.add_((x * x).sum(1)[:, None])
    d.add_((y * y).sum(1))
    return d


def gauss(x, y, w):
    parts = [distances(x[start:start + 500], y).neg_().exp_() @ w for start in range(0, len(x), 500)]
    return torch.cat(parts)


def pairs(dtype, t):
    for case, n in POINTS.items():
        x, y, w = tensor(0, (n, 3), t), tensor(1, (n, 3), t), tensor(2, (n,), t)
        if n == 10000 or dtype == "f32":
            peer("W5", case, dtype, lambda: gauss(x, y, w))
    for d in (3, 50):
        x, y = tensor(0, (10000, d), t), tensor(1, (10000, d), t)
        peer("W5", f"nn{d}", dtype, lambda: torch.cdist(x, y).argmin(1))
        peer("W5", f"near{d}", dtype, lambda: torch.cdist(x, y).topk(5, largest=False))


def rows(dtype, t):
    for name, shape in ROW_SHAPES.items():
        x = tensor(0, shape, t)
        peer("W6", "softmax" + name, dtype, lambda: torch.softmax(x, 1))
        peer("W6", "layernorm" + name, dtype, lambda: torch.nn.functional.layer_norm(x, shape[1:], eps=0.0))
    heads = [tensor(k, (8, 1024, 64), t) for k in range(3)]
    peer("W6", "attention.causal", dtype,
         lambda: torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=True))


def products(dtype, t):
    a, b = tensor(0, (2048, 2048), t), tensor(1, (2048, 2048), t)
    p, q = tensor(0, (10000, 16, 16), t), tensor(1, (10000, 16, 16), t)
    peer("W9", "gemm2048", dtype, lambda: a @ b)
    peer("W9", "bmm16", dtype, lambda: torch.bmm(p, q))


def catalogue(dtype, t):
    def row(case, f):
        peer("W14", case, dtype, f)

    kind = torch.float32 if t is np.float32 else torch.float64
    row("random.uniform", lambda: torch.rand(SERIES, dtype=kind))
    row("random.normal", lambda: torch.randn(SERIES, dtype=kind))
    x = tensor(0, (1, SERIES), t)
    for n in (31, 500):
        row(f"rolling.mean{n}", lambda: torch.nn.functional.avg_pool1d(x, n, 1))
        row(f"rolling.max{n}", lambda: torch.nn.functional.max_pool1d(x, n, 1))
    y, z = (torch.view_as_complex(tensor(which, (4194304, 2), t)) for which in (0, 1))
    row("complex.sum", lambda: y.sum())
    row("complex.dot", lambda: torch.dot(y, z))
    row("complex.product", lambda: y * z)
    row("complex.abs", lambda: y.abs())
    x, y = tensor(0, (4096, 4096), t), tensor(1, (4096, 4096), t)
    for axis in (0, 1):
        row(f"order.median({axis})", lambda: x.median(axis))
        row(f"order.top10({axis})", lambda: x.topk(10, axis))
        row(f"order.sort({axis})", lambda: x.sort(axis))
    row("einsum3", lambda: x @ (y @ x[0]))
    x = tensor(0, (LABELLED,), t)
    row("sigmoid", lambda: x.sigmoid())
    row("erf", lambda: x.erf())
    row("gelu", lambda: torch.nn.functional.gelu(x))
    row("histogram256", lambda: torch.histc(x, 256, 0, 1))
    for name, groups in (("10", 10), ("1000", 1000), ("1e6", 1000000)):
        label = torch.from_numpy(index(1, LABELLED, groups))
        row("label.sum" + name, lambda: torch.zeros(groups, dtype=kind).index_add_(0, label, x))


for dtype, t in (("f32", np.float32), ("f64", np.float64)):
    for wanted, group in ((("W1", "W2", "W4", "W10"), sums), (("W3", "W4", "W7", "W11"), maps), (("W5",), pairs),
                          (("W6",), rows), (("W9",), products), (("W12",), lambda *of: everyday(peer, *of)),
                          (("W14",), catalogue)):
        if any(map(peer.wants, wanted)):
            group(dtype, t)
if peer.wants("W8"):
    u8 = torch.from_numpy(image((4096, 4096, 3)))
    peer("W8", "u8mean", "u8", lambda: u8.sum((0, 1)) / (4096.0 * 4096))
    f16 = torch.from_numpy(halves((4096, 4096, 3)))
    peer("W8", "f16mean", "f16", lambda: f16.mean((0, 1), dtype=torch.float32))
if peer.wants("ACC"):
    long = tensor(0, (LONG,), np.float32)
    peer("ACC", "sum1e8", "f32", lambda: long.sum())
for name, pos, crd, _ in patterns() if peer.wants("W13") else ():
    for dtype, t in (("f32", np.float32), ("f64", np.float64)):
        n = len(pos) - 1
        a = torch.sparse_csr_tensor(torch.from_numpy(pos), torch.from_numpy(crd), tensor(0, (len(crd),), t), (n, n))
        column, columns = tensor(1, (n,), t), tensor(1, (n, 16), t)
        peer("W13", f"spmv.{name}", dtype, lambda: a @ column)
        peer("W13", f"spmm16.{name}", dtype, lambda: a @ columns)
