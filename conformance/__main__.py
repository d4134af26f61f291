"""`python -m conformance`: verdicts on recorded engines, and the golden vectors.

Exit codes: 0 the run worked (whatever the verdicts), 1 a self-check or a golden vector failed, 2 bad input,
3 unsupported, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from conformance import csrbench, secret
from refengine.errors import RefengineError
from refengine.r2r import WITNESSES


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="conformance", description="Hold RDF stream engines against the reference engine.")
    commands = parser.add_subparsers(dest="command", required=True)
    bench = commands.add_parser("csrbench", help="CSRBench's seven queries against every recording of a folder")
    bench.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="without it: our own engines, right and wrong")
    bench.add_argument("--format", choices=("table", "tsv", "json"), default="table")
    bench.add_argument("--results", type=Path, metavar="FILE", help="also write every verdict as NDJSON")
    bench.add_argument("--jobs", type=int, default=min(7, os.cpu_count() or 1), help="processes, at most one a query helps (default: one a core)")
    bench.add_argument("--witness", choices=sorted(WITNESSES), help="one witness alone (default: all)")
    vectors = commands.add_parser("secret", help="golden vectors of the SECRET simulator")
    vectors.add_argument("files", nargs="+", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        return {"csrbench": _csrbench, "secret": _secret}[options.command](options)
    except RefengineError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("conformance: interrupted; nothing was written", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _csrbench(options: argparse.Namespace) -> int:
    if options.jobs < 1:
        raise RefengineError(f"jobs must be > 0, got {options.jobs}", rule="usage")
    witnesses = (options.witness,) if options.witness else tuple(WITNESSES)
    if options.folder is None:
        tasks = [(csrbench.judge_ours, name, witnesses) for name in csrbench.QUERIES]
    else:
        chosen = csrbench.selected(csrbench.cells(options.folder))
        csrbench.stream(options.folder)
        tasks = [(csrbench.judge_query, options.folder, name, cells, witnesses) for name, cells in chosen.items()]
    with _replaced(options.results) as lines:
        results = [result for found in _spread(tasks, options.jobs) for result in found]
        lines.extend(json.dumps(result.as_json(), ensure_ascii=False, sort_keys=True) for result in results)
    _print(results, options.format)
    problems = csrbench.self_check(results) if options.folder is None else []
    for problem in problems:
        print(f"conformance: {problem}", file=sys.stderr)
    return 1 if problems else 0


def _print(results: list[csrbench.Result], form: str) -> None:
    match form:
        case "json":
            print(json.dumps([result.as_json() for result in results], indent=2, ensure_ascii=False))
        case "tsv":
            print("\n".join(csrbench.as_tsv(results)))
            for result in results:
                if result.suffix:
                    print(f"{result.engine} {result.query} {result.suffix}\n{result.argument}", file=sys.stderr)
        case _:
            print("\n".join(csrbench.as_text(results)))


def _spread(tasks: list[tuple[Callable, ...]], jobs: int) -> Iterator[list[csrbench.Result]]:
    """The results of all tasks in their order, over several processes where that helps."""
    bar = tqdm(total=len(tasks), desc="queries", unit="query", disable=not sys.stderr.isatty(), leave=False)
    with bar:
        if jobs == 1 or len(tasks) < 2:
            for function, *rest in tasks:
                yield function(*rest)
                bar.update()
            return
        pool = ProcessPoolExecutor(max_workers=jobs)
        try:
            futures = [pool.submit(*task) for task in reversed(tasks)]  # the joins are the last queries and take longest
            for future in reversed(futures):
                yield future.result()
                bar.update()
        except BrokenProcessPool:
            raise RefengineError("a worker process was killed; nothing was written", rule="usage") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _replaced(path: Path | None) -> Iterator[list[str]]:
    """Lines that replace a file at once when all of them are there, and leave it alone otherwise."""
    lines: list[str] = []
    if path is None:
        yield lines
        return
    if path.exists() and not path.is_file():
        raise RefengineError("cannot write: not a regular file", rule="usage", place=str(path))
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=path.name, delete=False) as draft:
            try:
                yield lines
                draft.writelines(f"{line}\n" for line in lines)
                draft.flush()
                os.replace(draft.name, path)
            except BaseException:
                Path(draft.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise RefengineError(f"cannot write: {error.strerror}", rule="usage", place=str(path)) from None


def _secret(options: argparse.Namespace) -> int:
    agreeing = total = 0
    for path in options.files:
        for vector in secret.read(path):
            total += 1
            line = secret.disagreement(vector)
            agreeing += line is None
            if line is not None:
                print(line)
    print(f"{agreeing} of {total} agree")
    return 0 if agreeing == total else 1


if __name__ == "__main__":
    sys.exit(main())
