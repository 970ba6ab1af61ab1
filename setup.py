"""Build the Cython kernels. Everything else about the package stands in setup.cfg."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

# With SPACY_NONLOCAL_BOUNDSCHECK=1 every index in the kernels is checked (slow; for the tests).
CHECKED = os.environ.get("SPACY_NONLOCAL_BOUNDSCHECK", "0") not in ("", "0")

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "initializedcheck": CHECKED,
    "cdivision": True,
    "embedsignature": True,
    "binding": True,
    "freethreading_compatible": False,
}

# -fno-trapping-math lets the compiler vectorise "take the larger"; infinities keep their meaning. -ffp-contract=off
# keeps it from fusing products and sums where the machine can, so that all machines round alike.
COMPILE_ARGS = (
    ["/O2"]
    if sys.platform == "win32"
    else ["-O3", "-fno-trapping-math", "-fno-math-errno", "-ffp-contract=off"]
)

extensions = [
    Extension(
        ".".join(path.with_suffix("").parts),
        [str(path)],
        include_dirs=[str(path.parent)],
        extra_compile_args=COMPILE_ARGS,
    )
    for path in sorted(Path("spacy_nonlocal").rglob("*.pyx"))
]

# Always from the start: cythonize looks at dates, and would miss that the directives have changed.
setup(
    ext_modules=cythonize(extensions, compiler_directives=DIRECTIVES, force=True),
    # As many compilers at once as there are processors: most of an installation is waiting for them.
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
