/** That the scenarios call every operation there is, at every interface that offers it, and every readable route and tool. */
import { beforeAll, expect, it } from 'vitest'
import { openEngine } from '../../src/engine/open.ts'
import { ROUTES } from '../../src/interfaces/http/mount.ts'
import { makeTools } from '../../src/interfaces/mcp/tools.ts'
import { type Catalog, fullName, makeCatalog } from '../../src/ops/catalog.ts'
import { BELIEFS_STEPS } from './beliefs-scenario.ts'
import { C64_STEPS } from './c64-scenario.ts'
import { CHROMA_STEPS } from './chroma-scenario.ts'
import { COLLECTIONS_STEPS } from './collections-scenario.ts'
import { CONTEXT_STEPS } from './context-scenario.ts'
import { CONVERSATIONS_STEPS } from './conversations-scenario.ts'
import { CORE_TOOLS } from './interfaces.ts'
import { byRoute } from './route-request.ts'
import { type Step, scenario } from './scenario.ts'

/** By the lens whose tools MCP offers; without one the common ones. */
const SCENARIOS: Readonly<Record<string, readonly Step[]>> = {
  '': scenario('docs'),
  beliefs: BELIEFS_STEPS,
  c64: C64_STEPS,
  chroma: CHROMA_STEPS,
  collections: COLLECTIONS_STEPS,
  context: CONTEXT_STEPS,
  conversations: CONVERSATIONS_STEPS,
}

/** Operation -> why no scenario calls it. */
const UNCALLED: Readonly<Record<string, string>> = {}

/** Routes that answer as streams, without end or piece by piece: `http-streams.test.ts` and `http-live.test.ts` ask them. */
const STREAMED = ROUTES.filter(({ streams }) => streams !== undefined)

const called = new Set(
  Object.values(SCENARIOS)
    .flat()
    .map(({ operation }) => fullName(operation)),
)

let catalog: Catalog
let lenses: readonly string[]
beforeAll(async () => {
  await using engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
  catalog = makeCatalog(engine)
  lenses = engine.lenses.map(({ name }) => name)
})

it('every operation is called by a scenario, which goes through the library, the command line and HTTP', () => {
  expect([...catalog.keys()].filter(name => !called.has(name) && !(name in UNCALLED))).toEqual([])
  expect(Object.keys(UNCALLED).filter(name => called.has(name) || !catalog.has(name))).toEqual([])
})

it('every lens has a scenario', () => {
  const own = [...catalog.keys()].filter(name => name.includes('.')).map(name => name.split('.', 1)[0] ?? '')
  const families = new Set(own.filter(family => lenses.includes(family)))
  expect([...families].sort()).toEqual(Object.keys(SCENARIOS).filter(Boolean).sort())
})

it.each(Object.entries(SCENARIOS))('every tool of the lens "%s" is called by its scenario', (lens, steps) => {
  const tools = makeTools(catalog, lens === '' ? { tools: CORE_TOOLS } : { lenses: [lens] }, lenses)
  const asked = new Set(steps.map(({ operation }) => fullName(operation)))
  expect(tools.length).toBeGreaterThan(0)
  expect(tools.map(({ operation }) => operation.name).filter(name => !asked.has(name))).toEqual([])
})

it('every readable route that answers at once stands for an operation that a scenario calls', () => {
  const whole = ROUTES.filter(route => !STREAMED.includes(route))
  expect(whole.filter(({ operation }) => !called.has(operation)).map(({ path }) => path)).toEqual([])
})

it('steps whose input is fixed take the readable routes, all that there are for their operations', () => {
  const taken = Object.values(SCENARIOS)
    .flat()
    .flatMap(({ operation, input }) => (input === undefined ? [] : [byRoute(fullName(operation), input)]))
  const isTaken = (method: string, path: string) => {
    const shape = new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}(?:[?]|$)`)
    return taken.some(request => request?.method === method && shape.test(request.path))
  }
  const untaken = ROUTES.filter(route => !STREAMED.includes(route) && !isTaken(route.method, route.path))
  expect(untaken.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})
