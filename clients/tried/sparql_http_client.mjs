import rdf from '@rdfjs/data-model'
import SimpleClient from 'sparql-http-client/SimpleClient.js'
import ParsingClient from 'sparql-http-client/ParsingClient.js'
import StreamClient from 'sparql-http-client/StreamClient.js'
import { GRAPH, MUSEUMS, NAMES, all, run, same, server } from './checks.mjs'

const addresses = { endpointUrl: `${server}/sparql`, updateUrl: `${server}/update`, storeUrl: `${server}/store` }
const parsing = new ParsingClient(addresses)
const streaming = new StreamClient(addresses)
const graph = rdf.namedNode('urn:sparql-http-client')

await run('sparql-http-client', {
  'SELECT, raw': async () => {
    const answer = await new SimpleClient(addresses).query.select(MUSEUMS)
    same((await answer.json()).results.bindings.map((row) => row.name.value), NAMES)
  },
  'SELECT, parsed': async () => same((await parsing.query.select(MUSEUMS)).map((row) => row.name.value), NAMES),
  'SELECT, as a stream': async () => same((await all(streaming.query.select(MUSEUMS))).length, 2),
  'SELECT as a form': async () => same((await parsing.query.select(MUSEUMS, { operation: 'postUrlencoded' })).length, 2),
  'SELECT as the body': async () => same((await parsing.query.select(MUSEUMS, { operation: 'postDirect' })).length, 2),
  ASK: async () => same(await parsing.query.ask('ASK { ?s ?p ?o }'), true),
  CONSTRUCT: async () => same((await all(streaming.query.construct(GRAPH))).length, 2),
  UPDATE: async () => {
    await parsing.query.update(`INSERT DATA { GRAPH <${graph.value}> { <urn:s> <urn:p> 1 } }`)
    same(await parsing.query.ask(`ASK { GRAPH <${graph.value}> { <urn:s> <urn:p> 1 } }`), true)
  },
  'the graph store: GET': async () => same((await all(streaming.store.get(graph))).length, 1),
})
