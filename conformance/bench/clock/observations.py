"""Wind speeds of LinkedSensorData, as the CLOCK paper joins them: ⟨sensor, reports, speed⟩ at the
sampling time.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from conformance.bench.clock.generators import iri
from conformance.bench.srbench.dumps import read_observations
from conformance.bench.srbench.observations import OM_OWL, WEATHER, WIND
from refengine.model.elements import Stream, Term, stream
from refengine.model.errors import InvalidStream

OBSERVED_PROPERTY = f"<{OM_OWL}observedProperty>"
PROCEDURE = f"<{OM_OWL}procedure>"
RESULT = f"<{OM_OWL}result>"
VALUE = f"<{OM_OWL}floatValue>"
WIND_SPEED = f"<{WEATHER}{WIND.observed_property}>"


def read_wind(folder: Path) -> Stream:
    """Return the wind speeds of the dumps in a folder, in the order of their sampling times. A
    speed is the term of the dump, in its unit. Raises InvalidStream, also if there is none.
    """
    observations = read_observations(folder)
    triples = [(triple, element.app) for element in observations for triple in element.graph]
    winds = {
        subject: time
        for (subject, predicate, thing), time in triples
        if predicate == OBSERVED_PROPERTY and thing == WIND_SPEED
    }
    plain = [triple for triple, _ in triples]
    sensors, results = _objects(plain, PROCEDURE), _objects(plain, RESULT)
    values = _objects(plain, VALUE)
    items = [
        ((sensors[one], iri("reports"), values[results[one]]), time)
        for one, time in sorted(winds.items(), key=lambda wind: (wind[1], wind[0]))
        if one in sensors and results.get(one) in values
    ]
    if not items:
        raise InvalidStream(
            "no observation of the wind's speed has a sensor and a value",
            rule="IO-1",
            place=str(folder),
        )
    return stream(items)


def _objects(triples: Iterable[tuple[Term, Term, Term]], predicate: Term) -> dict[Term, Term]:
    """Return the object of each subject that a predicate has."""
    return {subject: thing for subject, one, thing in triples if one == predicate}
