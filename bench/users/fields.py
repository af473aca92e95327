"""Programs of four fields, as new users would write them from the tutorial: climate, images, finance, genomics."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

import numpy as np

from program import Arrays, Program, pointer

Generator = np.random.Generator
Call = Callable[[Any, Arrays], Any]


def f4(x: Any) -> np.ndarray:
    return np.ascontiguousarray(x, dtype=np.float32)


def by_hand(name: str, inputs: str, results: list[tuple[Any, str]], *sizes: int) -> Callable[[ctypes.CDLL, Arrays], Any]:
    """A call of the function `name` of fields.c with the addresses of inputs and results, then the sizes."""
    def run(lib: ctypes.CDLL, a: Arrays) -> Any:
        fresh = [np.empty(shape, dtype) for shape, dtype in results]
        places = [pointer(a[key]) for key in inputs.split()] + [pointer(part) for part in fresh]
        getattr(lib, name)(*places, *[ctypes.c_int64(size) for size in sizes])
        return tuple(fresh)
    return run


def in_jax(program: Call) -> Call:
    """The same words with jax.numpy."""
    return lambda jax, a: program(jax.numpy, a)


def in_words_of_numpy(program: Call, **others: Call) -> dict[str, Call]:
    """Peers for a program whose words NumPy and JAX share with rdim."""
    return {"numpy": program, "jax": in_jax(program), **others}


def windows(x: np.ndarray, shape: Any, axis: Any = None) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(x, shape, axis=axis)


# ---- Climate: days, latitudes, longitudes ----------------------------------------------------------------
def temperatures(rng: Generator, days: int, *shape: int) -> np.ndarray:
    season = 10 * np.sin(np.arange(days) * (2 * np.pi / 365.25))
    return f4(285 + season.reshape(-1, *[1] * len(shape)) + 4 * rng.standard_normal((days, *shape)))


def zonal_anomaly(xp: Any, a: Arrays) -> Any:
    zonal = xp.mean(a["t"], axis=2)
    return zonal - xp.mean(zonal, axis=0)


def stations(rng: Generator) -> Arrays:
    low = rng.integers(-50, 200, (3653, 217))
    return {"tmin": low.astype(np.int16), "tmax": (low + rng.integers(20, 150, low.shape)).astype(np.int16)}


def degree_days(xp: Any, a: Arrays) -> Any:
    mean = (a["tmax"] + a["tmin"]) / 20.0  # tenths of a degree
    return xp.sum(xp.maximum(mean - 10.0, 0.0), axis=0)


def degree_days_torch(torch: Any, a: Arrays) -> Any:
    mean = (a["tmax"] + a["tmin"]) / 20.0
    return torch.sum(torch.clamp(mean - 10.0, min=0.0), dim=0)


def winds(rng: Generator) -> Arrays:
    return {"u": f4(3 + 4 * rng.standard_normal((8784, 53))), "v": f4(5 * rng.standard_normal((8784, 53)))}


def sector_of(xp: Any, a: Arrays) -> Any:
    direction = xp.degrees(xp.arctan2(-a["u"], -a["v"])) % 360
    return ((direction + 22.5) // 45).astype("int32") % 8


def wind_rose(rd: Any, a: Arrays) -> Any:
    speed, sector = rd.hypot(a["u"], a["v"]), sector_of(rd, a)
    return rd.bincount(sector.ravel(), minlength=8), rd.mean(speed, by=sector, groups=8)


def wind_rose_numpy(xp: Any, a: Arrays) -> Any:
    speed, sector = xp.hypot(a["u"], a["v"]).ravel(), sector_of(xp, a).ravel()
    count = xp.bincount(sector, minlength=8)
    return count, xp.bincount(sector, weights=speed, minlength=8) / count


def wind_rose_jax(jax: Any, a: Arrays) -> Any:
    xp = jax.numpy
    speed, sector = xp.hypot(a["u"], a["v"]).ravel(), sector_of(xp, a).ravel()
    count = xp.bincount(sector, length=8)
    return count, xp.bincount(sector, weights=speed, length=8) / count


def wind_rose_torch(torch: Any, a: Arrays) -> Any:
    speed = torch.hypot(a["u"], a["v"]).ravel()
    direction = torch.rad2deg(torch.atan2(-a["u"], -a["v"])) % 360
    sector = (((direction + 22.5) // 45).to(torch.int32) % 8).ravel()
    count = torch.bincount(sector, minlength=8)
    return count, torch.bincount(sector, weights=speed, minlength=8) / count


def dew_point(xp: Any, a: Arrays) -> Any:
    saturation = 6.112 * xp.exp(17.67 * a["t"] / (a["t"] + 243.5))  # hPa, Magnus
    g = xp.log(saturation * a["rh"] / 100 / 6.112)
    return saturation, 243.5 * g / (17.67 - g)


def eof_inputs(rng: Generator) -> Arrays:
    return {"x": rng.standard_normal((360, 22, 50)) + rng.standard_normal((360, 1, 50)), "lat": np.linspace(20, 83, 22)}


def eof_covariance(xp: Any, a: Arrays) -> Any:
    weight = xp.sqrt(xp.cos(xp.deg2rad(a["lat"])))[:, None]
    anomaly = ((a["x"] - xp.mean(a["x"], axis=0)) * weight).reshape(360, 1100)
    return anomaly.T @ anomaly / 359


def eof_covariance_torch(torch: Any, a: Arrays) -> Any:
    weight = torch.sqrt(torch.cos(torch.deg2rad(a["lat"])))[:, None]
    anomaly = ((a["x"] - torch.mean(a["x"], dim=0)) * weight).reshape(360, 1100)
    return anomaly.T @ anomaly / 359


def hottest_month(rd: Any, a: Arrays) -> Any:
    return rd.max(rd.rolling_mean(a["t"], 30, axis=0), axis=0)


def hottest_month_numpy(xp: Any, a: Arrays) -> Any:
    total = np.cumsum(a["t"], axis=0, dtype=np.float64)
    total[30:] -= total[:-30].copy()
    return total[29:].max(axis=0) / 30


def hottest_month_torch(torch: Any, a: Arrays) -> Any:
    series = a["t"].reshape(1461, 1, 851).permute(2, 1, 0)
    return torch.nn.functional.avg_pool1d(series, 30, stride=1).amax(dim=2).reshape(23, 37)


def exceedance(xp: Any, a: Arrays) -> Any:
    return xp.sum(a["t"] > xp.quantile(a["t"], 0.9, axis=0), axis=0)


# ---- Images --------------------------------------------------------------------------------------------
def picture(rng: Generator, *shape: int) -> np.ndarray:
    return rng.integers(0, 256, shape, dtype=np.uint8)


def gamma(xp: Any, a: Arrays) -> Any:
    return (xp.clip(a["x"], 0, 1) ** (1 / 2.2) * 255 + 0.5).astype("uint8")


def gamma_torch(torch: Any, a: Arrays) -> Any:
    return (torch.clip(a["x"], 0, 1) ** (1 / 2.2) * 255 + 0.5).to(torch.uint8)


GAUSS = f4(np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]) / 256)


def unsharp(rd: Any, a: Arrays) -> Any:
    around = rd.sliding_window_view(rd.pad(a["x"], 2, mode="edge"), (5, 5))
    blurred = rd.sum(around * a["kernel"], axis=(-2, -1))
    return rd.clip(a["x"] + 1.5 * (a["x"] - blurred), 0, 255)


def unsharp_numpy(xp: Any, a: Arrays) -> Any:
    blurred = np.einsum("ijkl,kl->ij", windows(np.pad(a["x"], 2, mode="edge"), (5, 5)), a["kernel"])
    return np.clip(a["x"] + 1.5 * (a["x"] - blurred), 0, 255)


def unsharp_scipy(scipy: Any, a: Arrays) -> Any:
    blurred = scipy.ndimage.correlate(a["x"], a["kernel"], mode="nearest")
    return np.clip(a["x"] + 1.5 * (a["x"] - blurred), 0, 255)


def unsharp_opencv(cv2: Any, a: Arrays) -> Any:
    blurred = cv2.filter2D(a["x"], -1, a["kernel"], borderType=cv2.BORDER_REPLICATE)
    return np.clip(cv2.addWeighted(a["x"], 2.5, blurred, -1.5, 0), 0, 255)


def unsharp_torch(torch: Any, a: Arrays) -> Any:
    edge = torch.nn.functional.pad(a["x"][None, None], (2, 2, 2, 2), mode="replicate")
    blurred = torch.nn.functional.conv2d(edge, a["kernel"][None, None])[0, 0]
    return torch.clip(a["x"] + 1.5 * (a["x"] - blurred), 0, 255)


def half(xp: Any, a: Arrays) -> Any:
    x = a["x"].astype("uint16")
    return ((x[::2, ::2] + x[1::2, ::2] + x[::2, 1::2] + x[1::2, 1::2] + 2) // 4).astype("uint8")


def local_contrast(rd: Any, a: Arrays) -> Any:
    around = rd.sliding_window_view(a["x"], (15, 15))
    return (a["x"][7:-7, 7:-7] - rd.mean(around, axis=(-2, -1))) / (rd.std(around, axis=(-2, -1)) + 1)


def local_contrast_numpy(xp: Any, a: Arrays) -> Any:
    around = windows(a["x"], (15, 15))
    return (a["x"][7:-7, 7:-7] - around.mean(axis=(-2, -1))) / (around.std(axis=(-2, -1)) + 1)


def local_contrast_scipy(scipy: Any, a: Arrays) -> Any:
    x = a["x"].astype(np.float64)
    mean, square = scipy.ndimage.uniform_filter(x, 15), scipy.ndimage.uniform_filter(x * x, 15)
    return ((x - mean) / (np.sqrt(square - mean * mean) + 1))[7:-7, 7:-7]


def local_contrast_opencv(cv2: Any, a: Arrays) -> Any:
    x = a["x"]
    mean, square = cv2.boxFilter(x, cv2.CV_64F, (15, 15)), cv2.sqrBoxFilter(x, cv2.CV_64F, (15, 15))
    return ((x - mean) / (np.sqrt(square - mean * mean) + 1))[7:-7, 7:-7]


def local_contrast_torch(torch: Any, a: Arrays) -> Any:
    x = a["x"].double()[None, None]
    mean = torch.nn.functional.avg_pool2d(x, 15, stride=1)
    square = torch.nn.functional.avg_pool2d(x * x, 15, stride=1)
    return ((x[..., 7:-7, 7:-7] - mean) / (torch.sqrt(square - mean * mean) + 1))[0, 0]


def value_saturation(rd: Any, a: Arrays) -> Any:
    value, low = rd.max(a["x"], axis=-1), rd.min(a["x"], axis=-1)
    return value, (value - low).astype("float32") / rd.maximum(value, 1)


def value_saturation_torch(torch: Any, a: Arrays) -> Any:
    value, low = torch.amax(a["x"], dim=-1), torch.amin(a["x"], dim=-1)
    return value, (value - low).to(torch.float32) / torch.clamp(value, min=1)


def value_saturation_opencv(cv2: Any, a: Arrays) -> Any:
    r, g, b = cv2.split(a["x"])
    value, low = cv2.max(cv2.max(r, g), b), cv2.min(cv2.min(r, g), b)
    return value, cv2.divide(cv2.subtract(value, low), cv2.max(value, 1), dtype=cv2.CV_32F)


def boxes(rng: Generator) -> Arrays:
    top, left = rng.integers(0, 700, 20_000), rng.integers(0, 960, 20_000)
    return {"x": picture(rng, 768, 1024), "top": top, "left": left, "bottom": top + rng.integers(4, 64, 20_000),
            "right": left + rng.integers(4, 64, 20_000)}


def box_means(xp: Any, a: Arrays) -> Any:
    table = xp.pad(xp.cumsum(xp.cumsum(a["x"], axis=0), axis=1), ((1, 0), (1, 0)))
    top, left, bottom, right = a["top"], a["left"], a["bottom"], a["right"]
    total = table[bottom, right] - table[top, right] - table[bottom, left] + table[top, left]
    return total / ((bottom - top) * (right - left))


def box_means_jax(jax: Any, a: Arrays) -> Any:
    xp = jax.numpy
    table = xp.pad(xp.cumsum(xp.cumsum(a["x"], axis=0, dtype="int64"), axis=1), ((1, 0), (1, 0)))
    top, left, bottom, right = a["top"], a["left"], a["bottom"], a["right"]
    total = table[bottom, right] - table[top, right] - table[bottom, left] + table[top, left]
    return total / ((bottom - top) * (right - left))


def box_means_opencv(cv2: Any, a: Arrays) -> Any:
    table = cv2.integral(a["x"])
    top, left, bottom, right = a["top"], a["left"], a["bottom"], a["right"]
    total = table[bottom, right] - table[top, right] - table[bottom, left] + table[top, left]
    return total / ((bottom - top) * (right - left))


def corners(rd: Any, a: Arrays) -> Any:
    x = a["x"]
    around = rd.sliding_window_view(rd.pad(x, 1, constant_values=-np.inf), (3, 3))
    peaks = (x == rd.max(around, axis=(-2, -1))) & (x > 1.5)
    return peaks, rd.count_nonzero(peaks)


def corners_numpy(xp: Any, a: Arrays) -> Any:
    x = a["x"]
    peaks = (x == windows(np.pad(x, 1, constant_values=-np.inf), (3, 3)).max(axis=(-2, -1))) & (x > 1.5)
    return peaks, np.count_nonzero(peaks)


def corners_scipy(scipy: Any, a: Arrays) -> Any:
    peaks = (a["x"] == scipy.ndimage.maximum_filter(a["x"], 3, mode="constant", cval=-np.inf)) & (a["x"] > 1.5)
    return peaks, np.count_nonzero(peaks)


def corners_opencv(cv2: Any, a: Arrays) -> Any:
    peaks = (a["x"] == cv2.dilate(a["x"], np.ones((3, 3), np.uint8))) & (a["x"] > 1.5)
    return peaks, np.count_nonzero(peaks)


def corners_torch(torch: Any, a: Arrays) -> Any:
    x = a["x"]
    peaks = (x == torch.nn.functional.max_pool2d(x[None, None], 3, stride=1, padding=1)[0, 0]) & (x > 1.5)
    return peaks, torch.count_nonzero(peaks)


def white_balance(xp: Any, a: Arrays) -> Any:
    mean = xp.mean(a["x"], axis=(0, 1))
    gain = xp.mean(mean) / mean
    return xp.clip(a["x"] * gain, 0, 255).astype("uint8")


def white_balance_torch(torch: Any, a: Arrays) -> Any:
    x = a["x"].to(torch.float32)
    mean = torch.mean(x, dim=(0, 1))
    return torch.clip(x * (torch.mean(mean) / mean), 0, 255).to(torch.uint8)


# ---- Finance -------------------------------------------------------------------------------------------
def prices(rng: Generator, days: int, n: int) -> np.ndarray:
    return 100 * np.exp(np.cumsum(0.01 * rng.standard_normal((days, n)), axis=0))


def drawdown(rd: Any, a: Arrays) -> Any:
    return rd.max(1 - a["p"] / rd.cummax(a["p"], axis=0), axis=0)


def drawdown_torch(torch: Any, a: Arrays) -> Any:
    return torch.amax(1 - a["p"] / torch.cummax(a["p"], dim=0).values, dim=0)


def minutes(rng: Generator) -> Arrays:
    price = 50 + np.cumsum(0.02 * rng.standard_normal((1500, 390)), axis=1)
    return {"price": f4(price), "volume": rng.integers(1, 5000, price.shape, dtype=np.int32)}


def vwap(xp: Any, a: Arrays) -> Any:
    return xp.cumsum(a["price"] * a["volume"], axis=1) / xp.cumsum(a["volume"], axis=1)


def vwap_torch(torch: Any, a: Arrays) -> Any:
    turnover = torch.cumsum(a["price"].double() * a["volume"], dim=1)
    return turnover / torch.cumsum(a["volume"], dim=1)


def macd(rd: Any, a: Arrays) -> Any:
    fast, slow = (rd.ewm_mean(a["p"], 2 / (n + 1), axis=0, adjust=False) for n in (12, 26))
    line = fast - slow
    return line, line - rd.ewm_mean(line, 2 / 10, axis=0, adjust=False)


def ewm_numpy(x: np.ndarray, alpha: float) -> np.ndarray:
    result = x.copy()
    for day in range(1, len(x)):
        result[day] = alpha * x[day] + (1 - alpha) * result[day - 1]
    return result


def macd_numpy(xp: Any, a: Arrays) -> Any:
    line = ewm_numpy(a["p"], 2 / 13) - ewm_numpy(a["p"], 2 / 27)
    return line, line - ewm_numpy(line, 2 / 10)


def macd_scipy(scipy: Any, a: Arrays) -> Any:
    def ewm(x: np.ndarray, alpha: float) -> np.ndarray:
        start = (1 - alpha) * x[:1]
        return scipy.signal.lfilter([alpha], [1, alpha - 1], x, axis=0, zi=start)[0]
    line = ewm(a["p"], 2 / 13) - ewm(a["p"], 2 / 27)
    return line, line - ewm(line, 2 / 10)


def macd_jax(jax: Any, a: Arrays) -> Any:
    def ewm(x: Any, alpha: float) -> Any:
        def step(level: Any, value: Any) -> Any:
            level = alpha * value + (1 - alpha) * level
            return level, level
        return jax.lax.scan(step, x[0], x)[1]
    line = ewm(a["p"], 2 / 13) - ewm(a["p"], 2 / 27)
    return line, line - ewm(line, 2 / 10)


def z_score(rd: Any, a: Arrays) -> Any:
    return (a["x"][19:] - rd.rolling_mean(a["x"], 20)) / rd.rolling_std(a["x"], 20)


def z_score_numpy(xp: Any, a: Arrays) -> Any:
    last = windows(a["x"], 20)
    return (a["x"][19:] - last.mean(axis=-1)) / last.std(axis=-1)


def z_score_bottleneck(bn: Any, a: Arrays) -> Any:
    return ((a["x"] - bn.move_mean(a["x"], 20)) / bn.move_std(a["x"], 20))[19:]


def z_score_torch(torch: Any, a: Arrays) -> Any:
    last = a["x"].unfold(0, 20, 1)
    return (a["x"][19:] - last.mean(dim=-1)) / last.std(dim=-1, correction=0)


def asian(xp: Any, a: Arrays) -> Any:
    steps = (0.03 - 0.5 * 0.2**2) / 252 + 0.2 * (1 / 252) ** 0.5 * a["z"]
    path = 100 * xp.exp(xp.cumsum(steps, axis=1))
    return np.exp(-0.03) * xp.mean(xp.maximum(xp.mean(path, axis=1) - 100, 0))


def asian_torch(torch: Any, a: Arrays) -> Any:
    steps = (0.03 - 0.5 * 0.2**2) / 252 + 0.2 * (1 / 252) ** 0.5 * a["z"]
    path = 100 * torch.exp(torch.cumsum(steps, dim=1))
    return np.exp(-0.03) * torch.mean(torch.clamp(torch.mean(path, dim=1) - 100, min=0))


def portfolios(rng: Generator) -> Arrays:
    factors = rng.standard_normal((230, 500))
    w = rng.uniform(0, 1, (1500, 230))
    return {"w": w / w.sum(axis=1, keepdims=True), "cov": factors @ factors.T / 500}


def portfolio_variance(xp: Any, a: Arrays) -> Any:
    return xp.sum((a["w"] @ a["cov"]) * a["w"], axis=1)


def bond_inputs(rng: Generator) -> Arrays:
    times = rng.uniform(0, 0.5, (2000, 1)) + 0.5 * np.arange(60)
    cash = np.where(np.arange(60) < rng.integers(2, 60, (2000, 1)), rng.uniform(0.5, 4, (2000, 1)), 0.0)
    return {"times": times, "cash": cash, "knots": np.array([0.0, 0.25, 0.5, 1, 2, 3, 5, 7, 10, 20, 31]),
            "rates": np.array([3.1, 3.2, 3.25, 3.3, 3.1, 3.0, 3.05, 3.2, 3.4, 3.8, 3.7]) / 100}


def bonds(xp: Any, a: Arrays) -> Any:
    rate = xp.interp(a["times"], a["knots"], a["rates"])
    return xp.sum(a["cash"] * xp.exp(-rate * a["times"]), axis=1)


def tree(rng: Generator) -> Arrays:
    level = np.arange(400, -1, -1)
    return {"s": 100 * np.exp(0.01 * (2 * level - 400.0)) * rng.uniform(0.8, 1.2, (300, 1)),
            "v": rng.uniform(0, 60, (300, 401)), "strike": rng.uniform(80, 120, 300)}


def binomial_step(xp: Any, a: Arrays) -> Any:
    s, v = a["s"], a["v"]
    goes_on = 0.9999 * (0.507 * v[:, :-1] + 0.493 * v[:, 1:])
    return xp.maximum(a["strike"][:, None] - s[:, :-1], goes_on)


# ---- Genomics ------------------------------------------------------------------------------------------
def bases(rng: Generator, n: int) -> np.ndarray:
    return np.frombuffer(b"ACGT", dtype=np.uint8)[rng.integers(0, 4, n)]


def gc_content(rd: Any, a: Arrays) -> Any:
    return rd.rolling_mean((a["s"] == ord("G")) | (a["s"] == ord("C")), 101)


def gc_content_numpy(xp: Any, a: Arrays) -> Any:
    sums = np.cumsum((a["s"] == ord("G")) | (a["s"] == ord("C")))
    sums[101:] -= sums[:-101].copy()
    return sums[100:] / 101


def gc_content_bottleneck(bn: Any, a: Arrays) -> Any:
    return bn.move_mean(((a["s"] == ord("G")) | (a["s"] == ord("C"))).astype(float), 101)[100:]


def gc_content_torch(torch: Any, a: Arrays) -> Any:
    gc = ((a["s"] == ord("G")) | (a["s"] == ord("C"))).float()
    return torch.nn.functional.avg_pool1d(gc[None], 101, stride=1)[0]


def k_mers(rd: Any, a: Arrays) -> Any:
    index = rd.sum(rd.sliding_window_view(a["s"], 6) * 4 ** np.arange(5, -1, -1), axis=-1)
    return rd.bincount(index, minlength=4096)


def k_mers_numpy(xp: Any, a: Arrays) -> Any:
    return np.bincount(windows(a["s"], 6) @ 4 ** np.arange(5, -1, -1), minlength=4096)


def k_mers_torch(torch: Any, a: Arrays) -> Any:
    index = torch.sum(a["s"].unfold(0, 6, 1) * torch.tensor([1024, 256, 64, 16, 4, 1]), dim=-1)
    return torch.bincount(index, minlength=4096)


def hamming(xp: Any, a: Arrays) -> Any:
    return xp.sum(a["s"][:, None] != a["s"][None], axis=-1)


def genotypes(rng: Generator, people: int, places: int) -> np.ndarray:
    return rng.binomial(2, rng.uniform(0.05, 0.95, places), (people, places)).astype(np.int8)


def hardy_weinberg(xp: Any, a: Arrays) -> Any:
    n0, n1, n2 = (xp.sum(a["g"] == k, axis=0) for k in (0, 1, 2))
    n = n0 + n1 + n2
    p = (n1 + 2 * n2) / (2 * n)
    e0, e1, e2 = n * (1 - p) ** 2, 2 * n * p * (1 - p), n * p**2
    return p, (n0 - e0) ** 2 / e0 + (n1 - e1) ** 2 / e1 + (n2 - e2) ** 2 / e2


def linkage(xp: Any, a: Arrays) -> Any:
    return xp.corrcoef(a["g"], rowvar=False) ** 2


def linkage_torch(torch: Any, a: Arrays) -> Any:
    return torch.corrcoef(a["g"].double().T) ** 2


def motif(rd: Any, a: Arrays) -> Any:
    letters = rd.sliding_window_view(a["s"], 12)
    return rd.sum(a["pwm"][rd.arange(12), letters], axis=-1)


def motif_numpy(xp: Any, a: Arrays) -> Any:
    return a["pwm"][np.arange(12), windows(a["s"], 12)].sum(axis=-1)


def motif_torch(torch: Any, a: Arrays) -> Any:
    return a["pwm"][torch.arange(12), a["s"].unfold(0, 12, 1).int()].sum(dim=-1)


def motif_jax(jax: Any, a: Arrays) -> Any:
    at = jax.numpy.arange(200_001 - 11)[:, None] + jax.numpy.arange(12)
    return a["pwm"][jax.numpy.arange(12), a["s"][at]].sum(axis=-1)


def fold_change(xp: Any, a: Arrays) -> Any:
    per_million = (a["c"] + 1) / xp.sum(a["c"], axis=0) * 1e6
    log = xp.log2(per_million)
    return xp.mean(log[:, :12], axis=1) - xp.mean(log[:, 12:], axis=1)


def fold_change_torch(torch: Any, a: Arrays) -> Any:
    log = torch.log2((a["c"] + 1).double() / torch.sum(a["c"], dim=0) * 1e6)
    return torch.mean(log[:, :12], dim=1) - torch.mean(log[:, 12:], dim=1)


def samples(rng: Generator) -> Arrays:
    column = np.tile(np.linspace(0.01, 30, 4001)[:, None], 25)  # without ties, as not all libraries keep their order
    return {"x": f4(rng.permuted(column, axis=0) * rng.uniform(0.8, 1.25, 25))}


def quantile_normal(xp: Any, a: Arrays) -> Any:
    rank = xp.argsort(xp.argsort(a["x"], axis=0), axis=0)
    return xp.mean(xp.sort(a["x"], axis=0), axis=1)[rank]


def quantile_normal_torch(torch: Any, a: Arrays) -> Any:
    rank = torch.argsort(torch.argsort(a["x"], dim=0), dim=0)
    return torch.mean(torch.sort(a["x"], dim=0).values, dim=1)[rank]


# ---- The programs ----------------------------------------------------------------------------------------
CLIMATE = [
    Program("zonal_anomaly", "climate", lambda rng: {"t": temperatures(rng, 731, 73, 144)}, zonal_anomaly,
            in_words_of_numpy(zonal_anomaly, torch=zonal_anomaly),
            by_hand("zonal_anomaly", "t", [((731, 73), "f4")], 731, 73, 144)),
    Program("degree_days", "climate", stations, degree_days, in_words_of_numpy(degree_days, torch=degree_days_torch),
            by_hand("degree_days", "tmax tmin", [(217, "f8")], 3653, 217)),
    Program("wind_rose", "climate", winds, wind_rose,
            {"numpy": wind_rose_numpy, "jax": wind_rose_jax, "torch": wind_rose_torch},
            by_hand("wind_rose", "u v", [(8, "i8"), (8, "f4")], 8784 * 53), tolerance=1e-3),
    Program("dew_point", "climate",
            lambda rng: {"t": rng.uniform(-20, 35, (181, 360)), "rh": rng.uniform(20, 100, (181, 360))}, dew_point,
            in_words_of_numpy(dew_point, torch=dew_point),
            by_hand("dew_point", "t rh", [((181, 360), "f8"), ((181, 360), "f8")], 181 * 360)),
    Program("eof_covariance", "climate", eof_inputs, eof_covariance,
            in_words_of_numpy(eof_covariance, torch=eof_covariance_torch),
            by_hand("eof_covariance", "x lat", [((1100, 1100), "f8")], 360, 22, 50)),
    Program("hottest_month", "climate", lambda rng: {"t": temperatures(rng, 1461, 23, 37)}, hottest_month,
            {"numpy": hottest_month_numpy, "bottleneck": lambda bn, a: np.nanmax(bn.move_mean(a["t"], 30, axis=0)[29:], axis=0),
             "torch": hottest_month_torch},
            by_hand("hottest_month", "t", [((23, 37), "f4")], 1461, 23 * 37)),
    Program("exceedance", "climate", lambda rng: {"t": temperatures(rng, 365, 60, 91)}, exceedance,
            in_words_of_numpy(exceedance, torch=lambda torch, a: torch.sum(a["t"] > torch.quantile(a["t"], 0.9, dim=0), dim=0)),
            by_hand("exceedance", "t", [((60, 91), "i8")], 365, 60 * 91)),
]

IMAGES = [
    Program("gamma", "images", lambda rng: {"x": f4(rng.uniform(-0.1, 1.2, (540, 960, 3)))}, gamma,
            in_words_of_numpy(gamma, torch=gamma_torch),
            by_hand("gamma_bytes", "x", [((540, 960, 3), "u1")], 540 * 960 * 3), tolerance=5e-3),
    Program("unsharp", "images", lambda rng: {"x": f4(rng.uniform(0, 255, (600, 811))), "kernel": GAUSS}, unsharp,
            {"numpy": unsharp_numpy, "scipy": unsharp_scipy, "opencv": unsharp_opencv, "torch": unsharp_torch},
            by_hand("unsharp", "x", [((600, 811), "f4")], 600, 811)),
    Program("half", "images", lambda rng: {"x": picture(rng, 1080, 1920, 3)}, half,
            in_words_of_numpy(half, opencv=lambda cv2, a: cv2.resize(a["x"], (960, 540), interpolation=cv2.INTER_AREA)),
            by_hand("half", "x", [((540, 960, 3), "u1")], 540, 960), tolerance=5e-3),
    Program("local_contrast", "images", lambda rng: {"x": f4(rng.uniform(0, 255, (300, 421)))}, local_contrast,
            {"numpy": local_contrast_numpy, "scipy": local_contrast_scipy, "opencv": local_contrast_opencv,
             "torch": local_contrast_torch},
            by_hand("local_contrast", "x", [((286, 407), "f4")], 300, 421)),
    Program("value_saturation", "images", lambda rng: {"x": picture(rng, 720, 1280, 3)}, value_saturation,
            in_words_of_numpy(value_saturation, torch=value_saturation_torch, opencv=value_saturation_opencv),
            by_hand("value_saturation", "x", [((720, 1280), "u1"), ((720, 1280), "f4")], 720 * 1280)),
    Program("box_means", "images", boxes, box_means, {"numpy": box_means, "jax": box_means_jax, "opencv": box_means_opencv},
            by_hand("box_means", "x top left bottom right", [(20_000, "f8")], 768, 1024, 20_000)),
    Program("corners", "images", lambda rng: {"x": f4(rng.standard_normal((480, 643)))}, corners,
            {"numpy": corners_numpy, "scipy": corners_scipy, "opencv": corners_opencv, "torch": corners_torch},
            by_hand("corners", "x", [((480, 643), "?"), ((), "i8")], 480, 643)),
    Program("white_balance", "images", lambda rng: {"x": picture(rng, 540, 960, 3)}, white_balance,
            in_words_of_numpy(white_balance, torch=white_balance_torch),
            by_hand("white_balance", "x", [((540, 960, 3), "u1")], 540 * 960), tolerance=5e-3),
]

FINANCE = [
    Program("drawdown", "finance", lambda rng: {"p": prices(rng, 2520, 97)}, drawdown,
            {"numpy": lambda xp, a: np.max(1 - a["p"] / np.maximum.accumulate(a["p"], axis=0), axis=0),
             "jax": lambda jax, a: jax.numpy.max(1 - a["p"] / jax.lax.cummax(a["p"], axis=0), axis=0),
             "torch": drawdown_torch},
            by_hand("drawdown", "p", [(97, "f8")], 2520, 97)),
    Program("vwap", "finance", minutes, vwap, in_words_of_numpy(vwap, torch=vwap_torch),
            by_hand("vwap", "price volume", [((1500, 390), "f8")], 1500, 390)),
    Program("macd", "finance", lambda rng: {"p": prices(rng, 2520, 61)}, macd,
            {"numpy": macd_numpy, "scipy": macd_scipy, "jax": macd_jax},
            by_hand("macd", "p", [((2520, 61), "f8"), ((2520, 61), "f8")], 2520, 61)),
    Program("z_score", "finance", lambda rng: {"x": rng.standard_normal(300_007)}, z_score,
            {"numpy": z_score_numpy, "bottleneck": z_score_bottleneck, "torch": z_score_torch},
            by_hand("z_score", "x", [(299_988, "f8")], 300_007)),
    Program("asian", "finance", lambda rng: {"z": f4(rng.standard_normal((12_000, 252)))}, asian,
            in_words_of_numpy(asian, torch=asian_torch), by_hand("asian", "z", [((), "f8")], 12_000, 252)),
    Program("portfolio_variance", "finance", portfolios, portfolio_variance,
            in_words_of_numpy(portfolio_variance, torch=portfolio_variance),
            by_hand("portfolio_variance", "w cov", [(1500, "f8")], 1500, 230)),
    Program("bonds", "finance", bond_inputs, bonds, in_words_of_numpy(bonds),
            by_hand("bonds", "times cash knots rates", [(2000, "f8")], 2000, 60, 11)),
    Program("binomial_step", "finance", tree, binomial_step, in_words_of_numpy(binomial_step, torch=binomial_step),
            by_hand("binomial_step", "s v strike", [((300, 400), "f8")], 300, 401)),
]

GENOMICS = [
    Program("gc_content", "genomics", lambda rng: {"s": bases(rng, 500_003)}, gc_content,
            {"numpy": gc_content_numpy, "bottleneck": gc_content_bottleneck, "torch": gc_content_torch},
            by_hand("gc_content", "s", [(499_903, "f8")], 500_003)),
    Program("k_mers", "genomics", lambda rng: {"s": rng.integers(0, 4, 400_003, dtype=np.uint8)}, k_mers,
            {"numpy": k_mers_numpy, "torch": k_mers_torch}, by_hand("k_mers", "s", [(4096, "i8")], 400_003)),
    Program("hamming", "genomics", lambda rng: {"s": bases(rng, 257 * 301).reshape(257, 301)}, hamming,
            in_words_of_numpy(hamming, torch=hamming), by_hand("hamming", "s", [((257, 257), "i8")], 257, 301)),
    Program("hardy_weinberg", "genomics", lambda rng: {"g": genotypes(rng, 600, 4001)}, hardy_weinberg,
            in_words_of_numpy(hardy_weinberg, torch=hardy_weinberg),
            by_hand("hardy_weinberg", "g", [(4001, "f8"), (4001, "f8")], 600, 4001)),
    Program("linkage", "genomics", lambda rng: {"g": genotypes(rng, 701, 350)}, linkage,
            in_words_of_numpy(linkage, torch=linkage_torch), by_hand("linkage", "g", [((350, 350), "f8")], 701, 350)),
    Program("motif", "genomics",
            lambda rng: {"s": rng.integers(0, 4, 200_001, dtype=np.uint8), "pwm": f4(rng.standard_normal((12, 4)))}, motif,
            {"numpy": motif_numpy, "torch": motif_torch, "jax": motif_jax},
            by_hand("motif", "s pwm", [(199_990, "f4")], 200_001, 12)),
    Program("fold_change", "genomics", lambda rng: {"c": rng.negative_binomial(2, 0.01, (20_011, 24)).astype(np.int32)},
            fold_change, in_words_of_numpy(fold_change, torch=fold_change_torch),
            by_hand("fold_change", "c", [(20_011, "f8")], 20_011, 24)),
    Program("quantile_normal", "genomics", samples, quantile_normal,
            in_words_of_numpy(quantile_normal, torch=quantile_normal_torch),
            by_hand("quantile_normal", "x", [((4001, 25), "f4")], 4001, 25)),
]

PROGRAMS = CLIMATE + IMAGES + FINANCE + GENOMICS
