// What every program here does: it runs its checks against a server and prints one line of JSON for each.
import { readFileSync } from 'node:fs'

export const server = process.argv[2] ?? 'http://127.0.0.1:8000'
const PREFIXES = 'PREFIX urban: <https://w3id.org/urbankg/urban#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> '
export const MUSEUMS = `${PREFIXES} SELECT ?name ?museum { ?museum a urban:Museum ; rdfs:label ?name } ORDER BY ?name`
export const GRAPH = `${PREFIXES} CONSTRUCT { ?museum rdfs:label ?name } { ?museum a urban:Museum ; rdfs:label ?name }`
export const NAMES = ['Clock Museum', 'Harbour Museum']

export async function run(client, checks) {
  const { version } = JSON.parse(readFileSync(new URL(`node_modules/${client}/package.json`, import.meta.url)))
  for (const [does, check] of Object.entries(checks)) {
    let error = null
    try {
      await check()
    } catch (thrown) {
      error = String(thrown.stack ?? thrown)
    }
    console.log(JSON.stringify({ client, version, does, error }))
  }
}

export function same(found, expected) {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)]
  if (left !== right) throw new Error(`found ${left}, expected ${right}`)
}

// All that a stream of objects gives.
export async function all(stream) {
  const found = []
  for await (const one of stream) found.push(one)
  return found
}
