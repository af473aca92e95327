"""Programs of a line each, as users of other libraries write them.

`N` is the package: rdim, or NumPy for the value.  A line that is NumPy's as it stands has its value from NumPy; behind
`=>` stands what it is in NumPy otherwise, and `-` says that NumPy has no short word for it.  test_idioms.py says what is
asked of them."""

import numpy as np


def data():
    """Names that the lines use: dense arrays of a few hundred kilobytes, without NaN but in `h`."""
    rng = np.random.default_rng(7)

    def f32(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    def f64(*shape):
        return rng.standard_normal(shape)

    holes = f64(400, 500)
    holes[rng.random(holes.shape) < 0.1] = np.nan
    return {
        "x": f32(400, 500), "y": f32(400, 500), "d": f64(400, 500), "h": holes,  # tables
        "v": f32(500), "w": f32(400), "u": f64(500),                             # a row, two columns
        "b": rng.random((400, 500)) < 0.5,                                       # a mask
        "i": rng.integers(-1000, 1000, (400, 500), dtype=np.int32),
        "j": rng.integers(0, 500, 400, dtype=np.int64),                          # places
        "k": f32(3, 3), "k5": f32(5),                                            # filters
        "t": f64(48, 40, 50), "e": f32(60, 90, 100),                             # time, latitude, longitude
        "area": rng.random(40) + 0.1,
        "month": np.arange(48) % 12,
        "rgb": rng.integers(0, 256, (160, 200, 3), dtype=np.uint8),
        "g": rng.integers(0, 256, (320, 400), dtype=np.uint8),                   # a grey image
        "f": rng.random((320, 400)).astype(np.float32),                          # the same in floats
        "m3": f32(3, 3), "m34": f32(3, 4),
        "p": f32(700, 3), "q": f32(600, 3), "z": f32(600),                       # points, and a weight of each
        "big": f32(500, 64), "ref": f32(400, 64),
        "s": f64(60000), "r": f64(60000) * 0.01, "n": rng.integers(0, 100, 60000),  # series
        "label": rng.integers(0, 30, 60000, dtype=np.int32),
        "X": f32(800, 40), "Y": rng.integers(0, 2, 800).astype(np.float32), "beta": f32(40),
        "W": f32(40, 64), "bias": f32(64), "logits": f32(600, 50),
        "target": rng.integers(0, 50, 600), "seq": f32(8, 120, 64),
        "conv": f32(4, 8, 60, 60),
    }


NUMPY = """
x + y
x * 2 + 1
N.sqrt(x * x + y * y)
N.hypot(x, y)
N.abs(x - y).sum()
N.abs(x - y).max(axis=0)
x.sum()
x.sum(axis=0)
x.sum(axis=1)
x.mean(axis=1)
d.mean(axis=0)
d.std(axis=0)
d.std(axis=1)
d.var()
x.min(axis=1)
x.max(axis=0)
x.argmin(axis=1)
x.argmax(axis=0)
x.prod(axis=0)
N.cumsum(d, axis=0)
N.cumsum(x, axis=1)
N.cumprod(d, axis=0)
N.diff(x, axis=0)
N.diff(x, axis=1)
x.T + y.T
x[::2] + x[1::2]
x[:, ::-1] * v
x[::-1] - y
x[:, 1:] - x[:, :-1]
x[1:-1, 1:-1] * 4 - x[:-2, 1:-1] - x[2:, 1:-1] - x[1:-1, :-2] - x[1:-1, 2:]
x * v
x * w[:, None]
x - x.mean(axis=0)
x - x.mean(axis=1, keepdims=True)
(x - x.mean(axis=0)) / x.std(axis=0)
x / N.linalg.norm(x, axis=1, keepdims=True)
N.linalg.norm(x, axis=0)
N.where(b, x, y)
N.where(x > 0, x, 0)
N.clip(x, -1, 1)
N.maximum(x, y)
N.minimum(x, 0.5)
(x > 0).sum()
(x > 0).sum(axis=0)
(x > 0).mean(axis=1)
N.count_nonzero(b, axis=1)
b.any(axis=1)
b.all(axis=0)
N.isnan(h).sum(axis=0)
N.nanmean(h, axis=0)
N.nansum(h, axis=1)
N.nanmax(h, axis=1)
N.exp(x)
N.log1p(N.abs(x))
N.sin(x) * N.cos(y)
N.tanh(x)
N.arctan2(x, y)
N.power(N.abs(x), 1.5)
x ** 3
1 / (1 + N.exp(-x))
N.exp(x).sum(axis=1)
N.logaddexp(x, y)
N.sign(x) * N.sqrt(N.abs(x))
N.floor(x * 10)
N.round(d, 2)
N.mod(d, 0.3)
i // 7
i % 7
i * i + 3
(i & 255) ^ 17
i.sum(axis=1)
i.max(axis=0)
i.astype(N.float32) / 3
x.astype(N.float64).sum(axis=0)
(x * 100).astype(N.int32)
(x * 10).astype(N.int8)
N.dot(x, v)
N.dot(w, x)
x @ y.T
N.outer(w, v)
N.einsum("ij,ij->i", x, y)
N.einsum("ij,ij->j", x, y)
N.vdot(x, y)
N.trace(x)
N.diagonal(x) * 2
N.take(x, j, axis=1)
x[:, j]
x[j[:300] % 400]
N.concatenate([x, y])
N.concatenate([x, y], axis=1)
N.stack([x, y], axis=2)
N.roll(x, 1, axis=0) - x
N.roll(x, 1, axis=1) - x
N.pad(x, 1)
N.tile(v, (40, 1)) + 1
N.ptp(x, axis=1)
N.median(x, axis=1)
N.sort(x, axis=1)
N.polyval(k5, d)
N.cov(x[:60])
N.corrcoef(x[:60])
N.interp(d, N.linspace(-3, 3, 40), N.arange(40.0))
N.average(x, axis=0, weights=w)
N.meshgrid(v, w)[0] + N.meshgrid(v, w)[1]
N.trapezoid(d, axis=1)
N.gradient(d, axis=0)
N.gradient(d, axis=1)
N.heaviside(x, 0.5)
N.cross(p, p[::-1])
"""

XARRAY = """
t.mean(axis=0)
t.mean(axis=(1, 2))
t - t.mean(axis=0)
(t - t.mean(axis=0)) / t.std(axis=0)
(t * area[:, None]).sum(axis=(1, 2)) / (area.sum() * 50)
N.average(t.mean(axis=2), axis=1, weights=area)
t.max(axis=0) - t.min(axis=0)
t.argmax(axis=0)
t.mean(axis=2)
t.sum(axis=1)
t.var(axis=0)
e.mean(axis=0)
e.std(axis=(1, 2))
N.diff(t, axis=0)
N.cumsum(t, axis=0)
t[::3].mean(axis=0)
t[:, ::-1]
t[:, 10:30, 5:45].mean(axis=(1, 2))
t.reshape(4, 12, 40, 50).mean(axis=0)
t.reshape(16, 3, 40, 50).mean(axis=1)
e.reshape(60, 45, 2, 50, 2).mean(axis=(2, 4))
N.where(t > 0, t, N.nan)
N.nanmean(N.where(t > 0, t, N.nan), axis=0)
(t > 1).sum(axis=0)
N.mean(t, axis=0, by=month, groups=12) => -
t - N.mean(t, axis=0, by=month, groups=12)[month] => -
N.sum(t, axis=0, by=month, groups=12) => -
N.max(t, axis=0, by=month, groups=12) => -
N.rolling_mean(t, 5, axis=0) => -
N.rolling_mean(t, 5, axis=2) => -
N.rolling_sum(e, 7, axis=0) => -
N.rolling_max(e, 3, axis=1) => -
N.gradient(t, axis=0)
N.gradient(t, axis=2)
(t[2:] - t[:-2]) / 2
(t * t).mean(axis=0) - t.mean(axis=0) ** 2
((t - t.mean(axis=0)) * (N.roll(t, 1, axis=0) - t.mean(axis=0))).mean(axis=0)
N.quantile(t, 0.9, axis=0)
N.median(t, axis=0)
N.clip(t, 0, None).sum(axis=0)
N.sqrt(t[:-1] ** 2 + t[1:] ** 2)
N.hypot(e, e[::-1])
N.exp(e / 10).mean(axis=(0, 2))
N.moveaxis(e, 0, 2).sum(axis=2)
N.roll(e, 10, axis=2)
N.take(e, j[:30] % 90, axis=1)
"""

KEOPS = """
((p[:, None] - q) ** 2).sum(axis=2)
((p[:, None] - q) ** 2).sum(axis=2).min(axis=1)
((p[:, None] - q) ** 2).sum(axis=2).argmin(axis=1)
((p[:, None] - q) ** 2).sum(axis=2).min(axis=0)
N.exp(-((p[:, None] - q) ** 2).sum(axis=2)).sum(axis=1)
N.exp(-((p[:, None] - q) ** 2).sum(axis=2)) @ z
(N.exp(-((p[:, None] - q) ** 2).sum(axis=2)) * z).sum(axis=1)
N.exp(-N.sqrt(((p[:, None] - q) ** 2).sum(axis=2))).sum(axis=1)
(1 / (1 + ((p[:, None] - q) ** 2).sum(axis=2))).sum(axis=1)
N.abs(p[:, None] - q).sum(axis=2).min(axis=1)
N.abs(p[:, None] - q).max(axis=2).min(axis=1)
N.sqrt(((p[:, None] - q) ** 2).sum(axis=2)).mean(axis=1)
N.log(N.exp(-((p[:, None] - q) ** 2).sum(axis=2)).sum(axis=1))
N.logsumexp(-((p[:, None] - q) ** 2).sum(axis=2), axis=1) => -
N.logsumexp(z - ((p[:, None] - q) ** 2).sum(axis=2), axis=1) => -
N.softmax(-((p[:, None] - q) ** 2).sum(axis=2), axis=1) @ q => -
((p[:, None] * q).sum(axis=2)).max(axis=1)
((p[:, None] * q).sum(axis=2) ** 2) @ z
N.maximum((p[:, None] * q).sum(axis=2), 0) @ z
(((p[:, None] - q) ** 2).sum(axis=2) < 0.5).sum(axis=1)
N.where(((p[:, None] - q) ** 2).sum(axis=2) < 0.5, z, 0).sum(axis=1)
((big[:, None] - ref) ** 2).sum(axis=2).min(axis=1)
((big[:, None] - ref) ** 2).sum(axis=2).argmin(axis=1)
N.exp(-((big[:, None] - ref) ** 2).sum(axis=2) / 64).sum(axis=1)
N.abs(big[:, None] - ref).sum(axis=2).min(axis=1)
N.cdist(big, ref).min(axis=1) => -
N.sort(((p[:, None] - q) ** 2).sum(axis=2), axis=1)[:, :5]
(p[:, None] - q).mean(axis=1)
((p[:, None] - q) / (0.01 + ((p[:, None] - q) ** 2).sum(axis=2))[:, :, None] ** 1.5).sum(axis=1)
N.minimum(x[:, :60, None], y[:60, :80]).max(axis=1)
(x[:, :60, None] + y[:60, :80]).min(axis=1)
"""

OPENCV = """
rgb.astype(N.float32).mean(axis=2)
rgb[:, :, 0] * 0.299 + rgb[:, :, 1] * 0.587 + rgb[:, :, 2] * 0.114
(rgb.astype(N.float32) @ m3)
255 - g
255 - rgb
g > 128
N.where(g > 128, 255, 0).astype(N.uint8)
N.clip(g.astype(N.int16) * 2 - 30, 0, 255).astype(N.uint8)
N.clip(g * 1.5 + 10, 0, 255).astype(N.uint8)
g.max(axis=1)
g.sum()
g.sum(axis=0)
g.mean()
rgb.mean(axis=(0, 1))
rgb.max(axis=2)
rgb.max(axis=2) - rgb.min(axis=2)
N.abs(g[1:].astype(N.int16) - g[:-1])
N.abs(g[:, 1:].astype(N.int16) - g[:, :-1]).sum()
g[::2, ::2]
g[::2, ::2].astype(N.float32) + g[1::2, ::2] + g[::2, 1::2] + g[1::2, 1::2]
g[::-1]
g[:, ::-1]
rgb[:, :, ::-1]
N.rot90(g) + 1
g.T + 1
(f * 255).astype(N.uint8)
g.astype(N.float32) / 255
f[:-2, 1:-1] + f[2:, 1:-1] + f[1:-1, :-2] + f[1:-1, 2:] - 4 * f[1:-1, 1:-1]
f[:-2, 2:] + 2 * f[1:-1, 2:] + f[2:, 2:] - f[:-2, :-2] - 2 * f[1:-1, :-2] - f[2:, :-2]
(N.lib.stride_tricks.sliding_window_view(f, (3, 3)) * k).sum(axis=(2, 3))
N.lib.stride_tricks.sliding_window_view(f, (3, 3)).mean(axis=(2, 3))
N.lib.stride_tricks.sliding_window_view(f, (3, 3)).max(axis=(2, 3))
N.lib.stride_tricks.sliding_window_view(g, (3, 3)).max(axis=(2, 3))
N.lib.stride_tricks.sliding_window_view(g, (3, 3)).min(axis=(2, 3))
N.median(N.lib.stride_tricks.sliding_window_view(f, (3, 3)).reshape(318, 398, 9), axis=2)
(N.lib.stride_tricks.sliding_window_view(f, 5, axis=1) * k5).sum(axis=2)
(N.lib.stride_tricks.sliding_window_view(f, 5, axis=0) * k5).sum(axis=2)
N.cumsum(N.cumsum(f, axis=0), axis=1)
N.rolling_sum(N.rolling_sum(f, 7, axis=0), 7, axis=1) => -
f.reshape(160, 2, 200, 2).mean(axis=(1, 3))
f.reshape(160, 2, 200, 2).max(axis=(1, 3))
f ** 0.45
N.sqrt(f)
((f - f.mean()) / f.std())
N.pad(f, 2)
N.bitwise_and(g, 15)
g & (g >> 1)
(g // 32) * 32
N.roll(f, (1, 1), axis=(0, 1))
(f > 0.5).sum(axis=1)
"""

SKLEARN = """
(X - X.mean(axis=0)) / X.std(axis=0)
(X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
X / N.abs(X).max(axis=0)
X / N.linalg.norm(X, axis=1, keepdims=True)
(X - N.median(X, axis=0)) / (N.quantile(X, 0.75, axis=0) - N.quantile(X, 0.25, axis=0))
(X > 0).astype(N.float32)
X @ beta
1 / (1 + N.exp(-(X @ beta)))
(X.T @ (1 / (1 + N.exp(-(X @ beta))) - Y)) / 800
-(Y * N.log(1 / (1 + N.exp(-(X @ beta)))) + (1 - Y) * N.log(1 - 1 / (1 + N.exp(-(X @ beta))))).mean()
N.log1p(N.exp(-(2 * Y - 1) * (X @ beta))).mean()
N.maximum(0, 1 - (2 * Y - 1) * (X @ beta)).mean()
((X @ beta - Y) ** 2).mean()
N.abs(X @ beta - Y).mean()
1 - ((X @ beta - Y) ** 2).sum() / ((Y - Y.mean()) ** 2).sum()
X.T @ X
(X - X.mean(axis=0)).T @ (X - X.mean(axis=0)) / 799
N.cov(X.T)
N.corrcoef(X.T)
X @ X.T
(X @ X.T + 1) ** 3
N.tanh(0.01 * (X @ X.T) + 1)
N.exp(-0.1 * ((X[:, None] - X[:200]) ** 2).sum(axis=2))
((X[:, None] - X[:200]) ** 2).sum(axis=2).argmin(axis=1)
((X[:, None] - X[:200]) ** 2).sum(axis=2).min(axis=1).sum()
N.abs(X[:, None] - X[:200]).sum(axis=2)
logits.argmax(axis=1)
N.exp(logits) / N.exp(logits).sum(axis=1, keepdims=True)
N.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1)
(logits.argmax(axis=1) == target).mean()
-N.log(N.take_along_axis(N.exp(logits) / N.exp(logits).sum(axis=1, keepdims=True), target[:, None], axis=1)).mean()
N.sort(logits, axis=1)[:, -5:]
N.argsort(logits, axis=1)
X.var(axis=0) > 0.5
N.maximum(X @ W + bias, 0)
N.maximum(N.maximum(X @ W + bias, 0) @ W.T, 0)
((X > 0) & (Y > 0)[:, None]).sum(axis=0)
((X > 0) == (Y > 0)[:, None]).mean(axis=0)
(X * Y[:, None]).sum(axis=0) / Y.sum()
N.mean(x[:, :40], axis=0, by=j % 5, groups=5) => -
N.bincount(label, minlength=30)
N.bincount(label, weights=s, minlength=30)
N.sum(s, by=label, groups=30) => -
N.var(s, by=label, groups=30) => -
N.max(s, by=label, groups=30) => -
N.histogram(s, bins=20, range=(-3, 3))[0]
N.digitize(s, N.linspace(-3, 3, 20))
N.searchsorted(N.linspace(-3, 3, 200), s)
N.polyval(k5, s)
N.where(N.isnan(h), N.nanmean(h, axis=0), h)
N.log(N.abs(X) + 1e-6).mean(axis=0)
"""

PANDAS = """
r.cumsum()
N.cumprod(1 + r)
N.cumprod(1 + r)[-1] - 1
N.diff(s)
s[1:] / s[:-1] - 1
N.log(N.abs(s[1:]) / N.abs(s[:-1]))
N.rolling_mean(s, 20) => N.convolve(s, N.ones(20) / 20, mode="valid")
N.rolling_sum(s, 20) => N.convolve(s, N.ones(20), mode="valid")
N.rolling_std(s, 20) => -
N.rolling_max(s, 20) => N.lib.stride_tricks.sliding_window_view(s, 20).max(axis=1)
N.rolling_min(s, 5) => N.lib.stride_tricks.sliding_window_view(s, 5).min(axis=1)
N.rolling_median(s, 9) => N.median(N.lib.stride_tricks.sliding_window_view(s, 9), axis=1)
N.ewm_mean(s, alpha=0.1) => -
N.cummax(s) => N.maximum.accumulate(s)
s / N.cummax(N.abs(s)) - 1 => s / N.maximum.accumulate(N.abs(s)) - 1
N.ffill(h, axis=0) => -
N.ffill(h, axis=1) => -
N.nanmean(h, axis=0)
N.nanstd(h, axis=0)
N.isnan(h).sum(axis=0)
N.where(N.isnan(h), 0, h)
N.clip(s, -2, 2)
(s > 0).sum()
(s > s.mean()).mean()
s.mean() / s.std()
((s - s.mean()) ** 3).mean() / s.std() ** 3
N.skewness(s) => -
N.kurtosis(s) => -
((s - s.mean()) * (r - r.mean())).mean() / (s.std() * r.std())
N.corrcoef(s, r)
N.quantile(s, 0.05)
N.sort(s)
N.argsort(s)
N.ranks(s) => -
N.mean(s, by=label, groups=30) => -
N.sum(s, by=label, groups=30) => -
N.std(s, by=label, groups=30) => -
N.min(r, by=label, groups=30) => -
s - N.mean(s, by=label, groups=30)[label] => -
N.sum(s * n, by=label, groups=30) / N.sum(n, by=label, groups=30) => -
d.sum(axis=1)
d.mean(axis=1)
(d * u).sum(axis=1)
d.max(axis=1) - d.min(axis=1)
d - d.mean(axis=1)[:, None]
d / d.sum(axis=1, keepdims=True)
(d > 0) & (d < 1)
n % 10
n * s
N.cumsum(n)
s.reshape(-1, 60).mean(axis=1)
s.reshape(-1, 60)[:, 0]
"""

PYTORCH = """
N.maximum(x, 0)
N.where(x > 0, x, 0.01 * x)
N.relu(x) => N.maximum(x, 0)
N.gelu(x) => -
N.silu(x) => -
N.sigmoid(x) => 1 / (1 + N.exp(-x))
N.softplus(x) => N.log1p(N.exp(x))
N.tanh(x @ y.T)
N.softmax(logits, axis=1) => -
N.log_softmax(logits, axis=1) => -
N.logsumexp(logits, axis=1) => -
-N.take_along_axis(N.log_softmax(logits, axis=1), target[:, None], axis=1).mean() => -
N.layer_norm(seq) => -
N.rms_norm(seq) => -
N.normalise(seq) => -
(conv - conv.mean(axis=(0, 2, 3), keepdims=True)) / N.sqrt(conv.var(axis=(0, 2, 3), keepdims=True) + 1e-5)
(conv - conv.mean(axis=(2, 3), keepdims=True)) / N.sqrt(conv.var(axis=(2, 3), keepdims=True) + 1e-5)
conv.reshape(4, 8, 30, 2, 30, 2).max(axis=(3, 5))
conv.reshape(4, 8, 30, 2, 30, 2).mean(axis=(3, 5))
conv.mean(axis=(2, 3))
conv.max(axis=1)
seq @ N.moveaxis(seq, 1, 2)
N.softmax(seq @ N.moveaxis(seq, 1, 2) / 8, axis=2) @ seq => -
N.einsum("bik,bjk->bij", seq, seq)
N.einsum("bik,kj->bij", seq, W.T)
N.einsum("bij->bji", seq) * 2
N.matmul(seq, W.T)
X @ W + bias
N.maximum(X @ W + bias, 0)
((x - y) ** 2).mean()
N.abs(x - y).mean()
N.where(N.abs(x - y) < 1, 0.5 * (x - y) ** 2, N.abs(x - y) - 0.5).mean()
(x * y).sum(axis=1) / (N.linalg.norm(x, axis=1) * N.linalg.norm(y, axis=1))
N.cosine_distance(x, y) => -
N.minimum(N.maximum(x, -0.5), 0.5)
x * b
N.where(b, x, -N.inf).max(axis=1)
N.cumsum(seq, axis=1)
N.cumsum(seq, axis=2)
N.flip(seq, 1)
N.swapaxes(seq, 1, 2) + 1
N.tril(x[:, :400])
N.triu(x[:, :400]).sum(axis=1)
N.diff(seq, axis=1)
N.top_k(logits, 5)[0] => -
logits.argmax(axis=1)
N.eye(50)[target]
W[target % 40]
N.erf(x) => -
N.exp(x) * N.log(N.abs(y) + 1)
N.mean(conv, axis=(0, 2, 3))
N.var(conv, axis=1)
N.std(seq, axis=2)
seq.reshape(960, 64).mean(axis=0)
N.stack([x, y]).max(axis=0)
N.concatenate([conv, conv], axis=1)
N.repeat(N.repeat(conv, 2, axis=2), 2, axis=3)
N.isfinite(x).all()
N.square(x).sum(axis=0)
1 / N.sqrt(N.abs(x))
"""

GROUPS = {"numpy": NUMPY, "xarray": XARRAY, "keops": KEOPS, "opencv": OPENCV, "sklearn": SKLEARN, "pandas": PANDAS,
          "pytorch": PYTORCH}


def idioms():
    """(group, line, what it is in NumPy or None) of all."""
    for group, text in GROUPS.items():
        for line in text.strip().splitlines():
            mine, _, other = line.partition(" => ")
            yield group, mine, None if other == "-" else other or mine
