"""The blocks of Python in docs/scale.md run one after the other, over files of this machine."""

from __future__ import annotations

import re
from pathlib import Path

from cluster import ROOT, spark

PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python spark\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
COLUMNS = "time long, element long, subject string, predicate string, object string"
RECORDING = "number long, bindings array<map<string, string>>, instant long"
EACH = [(at, 0, f"<urn:{at}>", "<urn:p>", '"1"') for at in (0, 9_999, 10_000, 20_000)]


@spark
def test_the_blocks_of_the_page_run(connected, tmp_path: Path, capsys):
    """[0, 10000) holds two elements and [10000, 20000) one. The engine's recording has the first
    of these answers alone, and the other one is missing at its end.
    """
    for name in ("triples", "arriving"):
        connected.createDataFrame(EACH, COLUMNS).write.parquet(str(tmp_path / name))
    (tmp_path / "stream").mkdir()
    lines = [f'{row[2]} {row[3]} {row[4]} "{row[0]}" .\n' for row in EACH]
    (tmp_path / "stream" / "1.n3t").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "static.nq").write_text("<urn:a> <urn:b> <urn:c> .\n", encoding="utf-8")
    answer = [{"x": row[2], "y": row[4]} for row in EACH[:2]]
    recorded = connected.createDataFrame([(1, answer, 10_000)], RECORDING)
    recorded.write.parquet(str(tmp_path / "engine"))

    names = {"spark": connected}
    for block in BLOCKS:
        text = re.sub(r'"(s3a://bucket/|(?=stream/|copy/))', f'"{tmp_path}/', block)
        exec(compile(text, "docs/scale.md", "exec"), names)
    running = names["running"]
    running.processAllAvailable()
    running.stop()

    assert len(BLOCKS) == 4
    assert names["reports"].count() == 2
    assert connected.read.format("n3t").load(str(tmp_path / "copy")).count() == len(EACH)
    assert names["static"].count() == 1
    assert capsys.readouterr().out
