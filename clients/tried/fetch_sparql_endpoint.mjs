import { SparqlEndpointFetcher } from 'fetch-sparql-endpoint'
import { GRAPH, MUSEUMS, NAMES, all, run, same, server } from './checks.mjs'

const endpoint = `${server}/sparql`
const fetchers = { POST: new SparqlEndpointFetcher({ method: 'POST' }), GET: new SparqlEndpointFetcher({ method: 'GET' }) }
const checks = {}
for (const [method, fetcher] of Object.entries(fetchers)) {
  checks[`SELECT by ${method}`] = async () =>
    same((await all(await fetcher.fetchBindings(endpoint, MUSEUMS))).map((row) => row.name.value), NAMES)
}
await run('fetch-sparql-endpoint', {
  ...checks,
  ASK: async () => same(await fetchers.POST.fetchAsk(endpoint, 'ASK { ?s ?p ?o }'), true),
  CONSTRUCT: async () => same((await all(await fetchers.POST.fetchTriples(endpoint, GRAPH))).length, 2),
  UPDATE: async () => {
    await fetchers.POST.fetchUpdate(`${server}/update`, 'INSERT DATA { GRAPH <urn:fetch> { <urn:s> <urn:p> 1 } }')
    same(await fetchers.POST.fetchAsk(endpoint, 'ASK { GRAPH <urn:fetch> { <urn:s> <urn:p> 1 } }'), true)
  },
})
