import { QueryEngine } from '@comunica/query-sparql'
import { GRAPH, MUSEUMS, NAMES, all, run, same, server } from './checks.mjs'

const engine = new QueryEngine()
const endpoint = { sources: [{ type: 'sparql', value: `${server}/sparql` }] }
const names = async (sources) => (await all(await engine.queryBindings(MUSEUMS, { sources }))).map((row) => row.get('name').value)

await run('@comunica/query-sparql', {
  'SELECT of a SPARQL source': async () => same(await names(endpoint.sources), NAMES),
  'SELECT of a source whose kind it finds out': async () => same(await names([`${server}/sparql`]), NAMES),
  CONSTRUCT: async () => same((await all(await engine.queryQuads(GRAPH, endpoint))).length, 2),
  ASK: async () => same(await engine.queryBoolean('ASK { ?s ?p ?o }', endpoint), true),
  'a join of the endpoint with a file': async () => {
    const query = 'SELECT ?note { ?museum <http://www.w3.org/2000/01/rdf-schema#label> "Clock Museum"@en ; <urn:note> ?note }'
    const value = '<https://w3id.org/urbankg/id/clock-museum> <urn:note> "closed" .'
    const file = { type: 'serialized', value, mediaType: 'text/turtle', baseIRI: 'urn:file' }
    const rows = await all(await engine.queryBindings(query, { sources: [...endpoint.sources, file] }))
    same(rows.map((row) => row.get('note').value), ['closed'])
  },
  UPDATE: async () => {
    const destination = { type: 'sparql', value: `${server}/update` }
    const update = 'INSERT DATA { GRAPH <urn:comunica> { <urn:s> <urn:p> 1 } }'
    await engine.queryVoid(update, { ...endpoint, destination })
    same(await engine.queryBoolean('ASK { GRAPH <urn:comunica> { <urn:s> <urn:p> 1 } }', endpoint), true)
  },
})
