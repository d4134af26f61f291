"""The fixtures of tests/cluster.py, for all modules here: imported by each, they would be of each,
and each would start a server.
"""

from __future__ import annotations

from cluster import connect as connect
from cluster import installed as installed
from cluster import master as master
from cluster import server_folder as server_folder
