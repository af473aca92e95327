"""Run by script/wheel where there is neither a compiler nor NumPy."""

import array

import rdim as rd

x = rd.asarray(array.array("d", [1, 2, 3, 4]))
assert float(rd.sum(x * 2)) == 20
assert (x + 1).compute().tolist() == [2, 3, 4, 5]
assert rd.asarray([[1, 2], [3, 4]]).shape == (2, 2)
print("rdim works here:", rd.mean(x))
