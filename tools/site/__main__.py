"""Build the site: `python -m tools.site FOLDER`, or the playground alone with `--playground`."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from tools.site.links import broken_links
from tools.site.pages import write_pages
from tools.site.playground_files import write_playground


def main() -> None:
    """Build what the command line asks for."""
    parser = argparse.ArgumentParser(prog="tools.site", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--playground", action="store_true", help="build the playground alone")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if not options.playground:
        build_pages(folder)
    write_playground(folder / "playground")
    if not options.playground and (wrong := broken_links(folder)):
        sys.exit("\n".join(["links that lead nowhere:", *wrong]))


def build_pages(folder: Path) -> None:
    """Write the pages of the site into a folder. Raises CalledProcessError for a broken one."""
    sources = folder.parent / "site-pages"
    write_pages(sources)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    subprocess.run(command, cwd=sources, check=True)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.move(sources / "built", folder)


if __name__ == "__main__":
    main()
