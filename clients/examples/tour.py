"""Statements in, a refusal decided, a question, a query: `python tour.py [URL]`."""

import sys

from urbankg_client import AskAnswer, Client, NewStatement, iri, literal

URBAN = "https://w3id.org/urbankg/urban#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
HALL = "https://example.org/tour/python-hall"

with Client(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000") as graph:
    known = [
        NewStatement(HALL, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", iri(URBAN + "Museum")),
        NewStatement(HALL, LABEL, literal("Python Hall", language="en")),
    ]
    print("accepted:", len(graph.candidates(known, source="the tour").accepted))

    wrong = NewStatement(HALL, URBAN + "height", literal("very tall"))
    for refused in graph.candidates([wrong]).rejected:
        print("refused:", refused.violations[0].message)
    for item in graph.review(text="very tall"):
        graph.reject(item.id, reason="no number", by="Ada")
        print("rejected:", item.id)

    for step in graph.ask_in_steps("Which museums are there?"):
        if isinstance(step, AskAnswer):
            print("answer:", step.answer)
        else:
            print("step:", step.thought)
    for row in graph.query(f"SELECT ?label {{ <{HALL}> <{LABEL}> ?label }}"):
        print("found:", row["label"])
