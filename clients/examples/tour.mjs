// Statements in, a refusal decided, a question, a query: `node tour.mjs [URL]` (Node 18 or later, no packages).

const server = process.argv[2] ?? 'http://127.0.0.1:8000'
const URBAN = 'https://w3id.org/urbankg/urban#'
const LABEL = 'http://www.w3.org/2000/01/rdf-schema#label'
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
    statement(LABEL, { type: 'literal', value: 'JavaScript Hall', 'xml:lang': 'en' }),
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

// Yields the events of a POST as they come: steps, then the answer or a problem.
async function* events(path, body) {
  const answer = await fetch(server + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify(body),
  })
  let read = ''
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    read += part
    const blocks = read.split('\n\n')
    read = blocks.pop()
    for (const block of blocks) {
      const [, name, data] = block.match(/^event: (.*)\ndata: (.*)$/m) ?? []
      if (name) yield { name, data: JSON.parse(data) }
    }
  }
}

for await (const { name, data } of events('/ask', { question: 'Which museums are there?' })) {
  if (name === 'problem') throw new Error(data.detail)
  console.log(`${name}:`, name === 'step' ? data.thought : data.answer)
}
const query = new URLSearchParams({ query: `SELECT ?label { <${HALL}> <${LABEL}> ?label }` })
for (const row of (await call(`/sparql?${query}`)).results.bindings) console.log('found:', row.label.value)
