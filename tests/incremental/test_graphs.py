"""GRAPH, named windows and several windows over several streams, maintained: by hand, and drawn
beside the definition.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from body_trials import draw_trial
from conftest import draws
from incremental_trials import P, agree, chosen

from refengine import Body, from_table, incremental, stream
from refengine.core import r2r
from refengine.incremental.algebra.body import MaintainedBody
from refengine.incremental.algebra.graphs import DEFAULT_GRAPH
from refengine.incremental.algebra.named_graphs import (
    MOST_COPIES,
    MaintainedGraphName,
    needs_triples,
)
from refengine.incremental.algebra.nodes import MaintainedNode
from refengine.incremental.answer_delta import AnswerDelta
from refengine.incremental.coverage import NotCovered
from refengine.model import compare
from refengine.model.elements import Bag, Quad, Triple
from refengine.sparql import algebra
from refengine.sparql.algebra import Variable
from refengine.sparql.values import computed_term

A, B, C = "<urn:a>", "<urn:b>", "<urn:c>"
V, W = "<urn:v>", "<urn:w>"  # the names of two graphs
