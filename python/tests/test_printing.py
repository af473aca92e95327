"""What arrays print, beside NumPy."""

import xml.etree.ElementTree as tree

import pytest

import rdim as rd

np = pytest.importorskip("numpy")


@pytest.mark.parametrize("a", [np.arange(6.0).reshape(2, 3), np.arange(3), np.array(2.5), np.float32([1, np.nan, np.inf]), np.zeros((0, 3)),
                               np.array([True, False]), np.array([1 + 2j]), np.arange(1000).reshape(10, 100), np.zeros((2, 2, 2), "i1")])
def test_few_elements_as_numpy(a):
    x = rd.asarray(a)
    assert "".join(repr(x).split()) == "".join(("rdim.A" + repr(a)[1:]).split())
    assert str(x) == str(a)
    lines = repr(x).split("\n")
    assert all(line.startswith(" " * 11) for line in lines[1:] if line.strip().startswith("["))


def test_many_elements():
    x = rd.asarray(np.zeros((1000, 1000))) * 2
    assert repr(x) == str(x) == "rdim.Array(shape=(1000, 1000), dtype=float64, 7.6 MiB, 7.6 MiB to be read)"
    slow = rd.sum(rd.exp(rd.asarray(np.zeros(100_000))[:, None] - rd.asarray(np.zeros(100_000))[None]))
    assert repr(slow).startswith("rdim.Array(shape=(), dtype=float64, 8 B, ")


def test_what_cannot_be_computed_is_printed_all_the_same():
    x = rd.asarray(np.arange(3.0))[np.array([0, 7])]
    assert "7" in repr(x) and "not to be computed" in repr(x)


def test_formats():
    x = rd.asarray(np.arange(3.0))
    assert f"{rd.sum(x):.2f}" == "3.00" and f"{x}" == "[0. 1. 2.]"


def test_html():
    x = rd.asarray(np.zeros((100, 50), "f4")) * 2
    page = rd.sum(x, axis=0)._repr_html_()
    tree.fromstring(page.replace("&nbsp;", " "))
    for part in ("(50,)", "float32", "200 B", "19.5 KiB", "<svg"):
        assert part in page, part
    assert 'fill="white"' not in page and "#555" not in page  # neither a white ground nor dark lines on a dark page
    assert "overflow-x:auto" in page
    many = [rd.asarray(np.zeros((100, 50), "f4"))._repr_html_() for _ in range(3)]
    assert len(set(many)) == 1


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
def test_types_that_numpy_lacks(name: str) -> None:
    x = rd.asarray([1.5, 2]).astype(name)
    if isinstance(x.dtype, np.dtype):  # ml_dtypes is there
        assert x.compute().dtype.name == name and x.compute().tolist() == [1.5, 2]
        return
    assert repr(x) == f"rdim.Array([1.5, 2. ], dtype={name})" and str(x) == "[1.5 2. ]"
    with pytest.raises(TypeError, match="ml_dtypes"):
        x.compute()
    assert x.tolist() == [1.5, 2]
