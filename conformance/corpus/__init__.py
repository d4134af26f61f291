"""The corpus: the cases of SPEC.md's rules, how they are read and checked, and the rules as data.

Imports refengine and `conformance.schemas`. Begin with `case_file`, then `check_case`.
"""

from conformance.corpus.case_file import CASES as CASES
from conformance.corpus.case_file import Case as Case
from conformance.corpus.case_file import InvalidCase as InvalidCase
from conformance.corpus.case_file import cases as cases
from conformance.corpus.case_file import load as load
from conformance.corpus.case_file import profile_of as profile_of
from conformance.corpus.case_file import query_of as query_of
from conformance.corpus.case_file import query_table as query_table
from conformance.corpus.case_file import question_of as question_of
from conformance.corpus.case_file import relation as relation
from conformance.corpus.case_file import semantics_of as semantics_of
from conformance.corpus.case_file import static_of as static_of
from conformance.corpus.case_file import streams_of as streams_of
from conformance.corpus.case_file import term as term
from conformance.corpus.case_file import triples as triples
from conformance.corpus.check_case import by_pushes as by_pushes
from conformance.corpus.check_case import check as check
from conformance.corpus.check_case import in_parts as in_parts
from conformance.corpus.check_case import show as show
from conformance.corpus.check_case import show_term as show_term
