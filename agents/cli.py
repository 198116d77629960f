"""What all command lines share: mistakes of the user are one line on standard error, not a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from agents.faults import Fault

FAULT, USAGE_ERROR, INTERRUPTED = 1, 2, 130  # the codes that shells and argparse use


def run_cli(main: Callable[[], object]) -> None:
    """Call `main`; a ValueError becomes `error: ...` and exit code 2, a Fault the same with 1, Ctrl-C exit code 130.

    Every other exception, and in development mode (`python -X dev`) these too, keeps its traceback.

    Raises:
        SystemExit: as above.
    """
    # As `python -m` does, so that "module:id" finds a module in the current folder.
    sys.path.insert(0, os.getcwd())
    try:
        main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except (ValueError, Fault) as error:
        if sys.flags.dev_mode:
            raise
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(FAULT if isinstance(error, Fault) else USAGE_ERROR) from None
