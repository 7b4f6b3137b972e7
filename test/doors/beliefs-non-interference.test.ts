/**
 * What a viewer may not see changes not one byte of what HTTP answers it of the lens `beliefs`, headers included (BQ-111).
 * The same histories as without the door. The long form, 10,000 histories: QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { afterAll, expect, it, vi } from 'vitest'
import { serveHttp } from '../../src/doors/http/serve.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { ASKER, hiddenStories } from '../support/beliefs-hidden.ts'
import { type Door, mustNotInterfere } from '../support/beliefs-hidden-world.ts'
import { assertUntil } from '../support/until-met.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const RUNS = LONG ? 10_000 : 12
const TOKENS = { 'token-of-ann-in-tests': ASKER }
vi.mock('../../src/identity/keys.ts', async original => {
  const { keptKeys } = await import('../support/kept-keys.ts')
  return keptKeys(original)
})

const logged = vi.fn()
afterAll(() => expect(logged).not.toHaveBeenCalled())

async function serve(engine: Engine): Promise<Door> {
  const end = new AbortController()
  const options = { host: '127.0.0.1', port: 0, tokens: TOKENS, log: logged }
  const { url, served } = await new Promise<{ url: string; served: Promise<void> }>(resolve => {
    const running = serveHttp(engine, makeCatalog(engine), options, end.signal, address =>
      resolve({ url: address, served: running }),
    )
  })
  return {
    ask: async ({ operation, input }) => {
      const headers = { authorization: 'Bearer token-of-ann-in-tests', 'content-type': 'application/json' }
      const response = await fetch(`${url}/v1/ops/${operation}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(input),
      })
      // How long an answer is depends on how many digits its measured times have.
      const measured = ['x-request-id', 'date', 'content-length']
      const shown = [...response.headers].filter(([name]) => !measured.includes(name))
      return `${response.status} ${JSON.stringify(shown)} ${await response.text()}`
    },
    close: async () => {
      end.abort()
      await served
    },
  }
}

it(`no hidden history changes an answer (${RUNS} histories; 10,000 with QUERENT_LONG=1)`, async () => {
  const statuses = new Map<string, number>()
  const property = fc.asyncProperty(hiddenStories(), async story => {
    for (const answer of await mustNotInterfere(story, serve)) {
      const status = answer.slice(0, 3)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  await assertUntil(property, { numRuns: RUNS }, () =>
    expect([...statuses.keys()]).toEqual(expect.arrayContaining(['200', '400'])),
  )
  if (LONG) process.stderr.write(`${JSON.stringify([...statuses])}\n`)
  expect([...statuses.keys()]).not.toContain('500')
}, 7_200_000)
