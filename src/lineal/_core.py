"""The native core, in the build that this processor runs best.

Two builds of the same sources are shipped (see CMakeLists.txt). ``LINEAL_ISA=generic`` forces the
portable one. Results are the same to rounding; the same bits are promised on one machine, not across
instruction sets.
"""

import os

from lineal import _core_generic

if os.environ.get("LINEAL_ISA", "best") != "generic" and _core_generic.supports_avx2():
    from lineal import _core_avx2 as _chosen
else:
    _chosen = _core_generic

globals().update({name: getattr(_chosen, name) for name in dir(_chosen) if not name.startswith("_")})
build = _chosen.__name__.rpartition(".")[2].removeprefix("_core_")
