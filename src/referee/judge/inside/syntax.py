"""Compile files without running them; one JSON object on standard output: `{"checked": n, "errors": [...]}`."""

from __future__ import annotations

import json
import sys
import warnings


def main(paths: list[str]) -> int:
    """0 if every file compiles, 1 if one does not."""
    errors = []
    warnings.simplefilter("ignore")
    for path in paths:
        try:
            with open(path, "rb") as file:
                compile(file.read(), path, "exec", dont_inherit=True)
        except SyntaxError as error:
            errors.append([path, error.lineno or 0, error.msg or "syntax error", (error.text or "").strip()[:200]])
        except (OSError, ValueError) as error:
            errors.append([path, 0, str(error), ""])
    sys.stdout.write(json.dumps({"checked": len(paths), "errors": errors}))
    return 1 if errors else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
