"""Build the site: `python -m tools.site FOLDER`, or the playground alone with `--playground`."""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.site.playground_files import write_playground


def main() -> None:
    """Build what the command line asks for."""
    parser = argparse.ArgumentParser(prog="tools.site", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--playground", action="store_true", help="build the playground alone")
    options = parser.parse_args()
    write_playground((options.folder / "playground").resolve())


if __name__ == "__main__":
    main()
