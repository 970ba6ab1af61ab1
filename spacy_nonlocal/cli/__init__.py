"""Verbs under `python -m spacy nonlocal …`."""

from .app import nonlocal_cli
from .calibration import calibration_cli
from .changes import changes_cli
from .compare import compare_cli
from .docbin import docbin_cli
from .show import show_cli

__all__ = [
    "calibration_cli",
    "changes_cli",
    "compare_cli",
    "docbin_cli",
    "nonlocal_cli",
    "show_cli",
]
