"""One item a CSRBench query: `pytest conformance/ --engine=cqels --answers=DIR`."""

import pytest

from conformance.judge import Outcome
from refengine.errors import RefengineError


@pytest.mark.csrbench
def test_csrbench(csrbench_item, record_property):
    """A recording is judged; what is unsupported or disputed is no failure of the engine."""
    try:
        result = csrbench_item()
    except RefengineError as error:
        pytest.fail(f"error: {error}", pytrace=False)
    record_property("outcome", str(result.outcome))
    match result.outcome:
        case Outcome.PASS:
            return
        case Outcome.UNSUPPORTED | Outcome.DISPUTED:
            pytest.skip(result.argument)
        case _:
            pytest.fail(result.argument, pytrace=False)
