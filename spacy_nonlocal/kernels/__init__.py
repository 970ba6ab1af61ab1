"""The compiled half of the package."""

from ..errors import Errors

try:
    from . import table as table
except ImportError as error:
    # Most likely a source tree that shadows the installed package.
    raise ImportError(Errors.NL601.format(error=error)) from error
