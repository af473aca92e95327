"""Lazy arrays: expressions that are evaluated, fused, when their elements are asked for."""
from . import _dtypes
from ._core import *
from . import _core
from . import _leaves, _results
from ._leaves import asarray, from_dlpack, frombuffer, pairs
from ._results import compute, persist
from ._options import options, progress
from . import sparse
from ._user import block, function, map
from ._reducers import reducer
from ._formulas import formula, formulas
from . import random
from . import _printing
