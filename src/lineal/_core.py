"""The native core, in the build that this processor runs best.

Two builds of the same sources are shipped (see CMakeLists.txt). ``LINEAL_ISA=generic`` forces the
portable one. Results are the same to rounding; the same bits are promised on one machine, not across
instruction sets. A build for one machine alone has the one that it runs best.
"""

import os

_is_portable_wanted = os.environ.get("LINEAL_ISA", "best") == "generic"
try:
    import lineal._core_generic as _chosen
except ModuleNotFoundError:
    if _is_portable_wanted:
        raise
    import lineal._core_avx2 as _chosen
else:
    if not _is_portable_wanted and _chosen.supports_avx2():
        import lineal._core_avx2 as _chosen

globals().update({name: getattr(_chosen, name) for name in dir(_chosen) if not name.startswith("_")})
build = _chosen.__name__.rpartition(".")[2].removeprefix("_core_")
