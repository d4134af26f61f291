"""One item a question to an engine: `pytest conformance/ --engine=rsp-js`."""


def test_engine(conformance_item, conformance_settle):
    """The engine does what it sets out to do, or what it is known to do otherwise."""
    conformance_settle(conformance_item)
