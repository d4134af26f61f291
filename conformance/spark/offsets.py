"""Numbers of rows that go on from one group of rows to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def with_offsets(rows: DataFrame, group: str) -> DataFrame:
    """Return rows with a column `offset`: how many rows are in the groups before. Rows with the
    same value in the column `group` are a group, and groups are in the order of these values.

    One task adds up the sizes of the groups. Groups of 3, 2 and 4 rows have the offsets 0, 3, 5.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    sizes = rows.groupBy(group).agg(f.count("*").alias("size"))
    in_order = Window.partitionBy(f.lit(0)).orderBy(group)
    earlier = in_order.rowsBetween(Window.unboundedPreceding, -1)
    offset = f.coalesce(f.sum("size").over(earlier), f.lit(0)).alias("offset")
    return rows.join(f.broadcast(sizes.select(group, offset)), group)
