// Statements in, a refusal decided, a question, a query: `node tour.mjs [URL]` (Node 18 or later, no packages).

const server = process.argv[2] ?? 'http://127.0.0.1:8000'
const URBAN = 'https://w3id.org/urbankg/urban#'
const HALL = 'https://example.org/tour/javascript-hall'

// Sends JSON and returns JSON. A write gets a key, so that it may be sent again when the connection breaks.
async function call(path, body) {
  const key = crypto.randomUUID()
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = await fetch(server + path, body && {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
        body: JSON.stringify(body),
      })
      const read = await answer.json()
      if (!answer.ok) throw new Error(`${read.status} ${read.title}: ${read.detail}`)
      return read
    } catch (error) {
      // fetch throws a TypeError when no answer comes.
      if (!(error instanceof TypeError) || attempt === 4) throw error
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt))
    }
  }
}

const statement = (predicate, object) => ({ subject: HALL, predicate, object })
const known = await call('/candidates', {
  source: 'the tour',
  statements: [
    statement('http://www.w3.org/1999/02/22-rdf-syntax-ns#type', { type: 'uri', value: URBAN + 'Museum' }),
    statement('http://www.w3.org/2000/01/rdf-schema#label', {
      type: 'literal', value: 'JavaScript Hall', 'xml:lang': 'en',
    }),
  ],
})
console.log('accepted:', known.accepted.length)

const wrong = statement(URBAN + 'height', { type: 'literal', value: 'rather tall' })
for (const one of (await call('/candidates', { statements: [wrong] })).rejected) {
  console.log('refused:', one.violations[0].message)
}
for (const item of (await call('/review?text=rather+tall')).items) {
  await call(`/review/${item.id}/reject`, { reason: 'no number', by: 'Ada' })
  console.log('rejected:', item.id)
}

console.log('answer:', (await call('/ask', { question: 'Which museums are there?' })).answer)
const query = new URLSearchParams({ query: `SELECT ?label { <${HALL}> rdfs:label ?label }` })
for (const row of (await call(`/sparql?${query}`)).results.bindings) console.log('found:', row.label.value)
