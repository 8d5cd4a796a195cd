#!/bin/sh
# Statements in, a refusal decided, a question, a query: `sh tour.sh [URL]`. Needs curl.
set -eu
server=${1:-http://127.0.0.1:8000}
json='Content-Type: application/json'
label=http://www.w3.org/2000/01/rdf-schema#label
hall=https://example.org/tour/curl-hall

# Turtle goes through the same gate. The key makes it safe to send again (--retry) when the connection breaks.
curl --silent --show-error --fail --retry 4 --retry-connrefused -H "Idempotency-Key: $(date +%s)-$$-1" \
     -H 'Content-Type: text/turtle' --data-binary @- "$server/candidates?source=the%20tour" <<TURTLE
<$hall> a <https://w3id.org/urbankg/urban#Museum> ;
    <$label> "Curl Hall"@en .
TURTLE
echo

curl --silent --show-error --fail -H "$json" "$server/candidates" --data "{\"statements\": [{\"subject\": \"$hall\",
  \"predicate\": \"https://w3id.org/urbankg/urban#height\", \"object\": {\"type\": \"literal\", \"value\": \"quite tall\"}}]}"
echo

item=$(curl --silent --show-error --fail "$server/review?text=quite+tall" | sed 's/.*"items":\[{"id":"\([^"]*\)".*/\1/')
curl --silent --show-error --fail -H "$json" "$server/review/$item/reject" --data '{"reason": "no number", "by": "Ada"}'
echo

# The steps as they are taken (--no-buffer), then the answer.
curl --silent --show-error --fail --no-buffer -H "$json" -H 'Accept: text/event-stream' "$server/ask" --data '{"question": "Which museums are there?"}'
echo
curl --silent --show-error --fail -H 'Accept: text/csv' --data-urlencode "query=SELECT ?label { <$hall> <$label> ?label }" \
     "$server/sparql"
