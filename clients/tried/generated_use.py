"""What a developer writes with the client that `openapi-python-client` makes; mypy finds no `Any` in it."""

import sys

from urbankg_api import Client
from urbankg_api.api.ask import ask
from urbankg_api.api.extraction import extract
from urbankg_api.api.review import list_review, reject_review_item
from urbankg_api.models.ask_request import AskRequest
from urbankg_api.models.decision_request import DecisionRequest
from urbankg_api.models.extraction_request import ExtractionRequest
from urbankg_api.models.problem import Problem

client = Client(base_url=sys.argv[1])

extracted = extract.sync(client=client, body=ExtractionRequest(text="Clock Museum opened in 1931."))
if extracted is None or isinstance(extracted, Problem):
    raise SystemExit(f"not extracted: {extracted}")
years = [one.object_.value for one in extracted.accepted if one.predicate.endswith("#opened")]

listed = list_review.sync(client=client, text="rather high")
if listed is None or isinstance(listed, Problem):
    raise SystemExit(f"not listed: {listed}")
for item in listed.items:
    body = DecisionRequest(reason="no number", by="Ada")
    rejected = reject_review_item.sync(item.id, client=client, body=body)
    if rejected is None or isinstance(rejected, Problem):
        raise SystemExit(f"not rejected: {rejected}")

answered = ask.sync(client=client, body=AskRequest(question="Which museums are there?"))
if answered is None or isinstance(answered, Problem):
    raise SystemExit(f"not answered: {answered}")
print(years, [violation.message for item in listed.items for violation in item.violations], answered.answer)
