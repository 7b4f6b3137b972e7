/** Answers that are one JSON document: the text of `JSON.stringify`, written in pieces where it is long (QE-019). */
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { openEngine } from '../../src/engine/open.ts'
import { jsonInSteps } from '../../src/interfaces/http/answer.ts'
import { makeApp } from '../../src/interfaces/http/app.ts'
import { Authenticator } from '../../src/interfaces/http/auth.ts'
import { namesOf } from '../../src/interfaces/http/guard.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { turnsOf } from '../support/turns-of.ts'

vi.mock('../../src/base/turns.ts', async original => (await import('../support/turns-of.ts')).alwaysDue(original))

function written(value: unknown): { readonly text: string; readonly steps: number } {
  const writing = jsonInSteps(value)
  for (let steps = 0; ; steps++) {
    const step = writing.next(false)
    if (step.done === true) return { text: step.value.join(''), steps }
  }
}

it('are the text of JSON.stringify, whatever is in them', () => {
  const anything = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.date({ noInvalidDate: true }))
  const values = fc.oneof(anything, fc.dictionary(fc.string(), fc.oneof(anything, fc.array(anything))))
  fc.assert(
    fc.property(values, value => {
      expect(written(value).text).toBe(JSON.stringify(value) ?? 'null')
    }),
  )
})

it('QE-019: are written in a step for every 64 Ki characters', () => {
  const value = { a: 1, lines: Array.from({ length: 300 }, (_, at) => 'x'.repeat(1024 + at)), b: ['y'] }
  const { text, steps } = written(value)
  expect(text).toBe(JSON.stringify(value))
  expect(steps).toBe(Math.floor(text.length / (64 * 1024)))
  expect(written({ lines: [1, 2] }).steps).toBe(0)
})

it('QE-019: an export as one document is written in turns, and has the lines of a stream', async () => {
  const CONTENT = 20_000
  const ENTRIES = 60
  using folder = tempFolder()
  const engine = await openEngine({ home: folder.file('home'), embedder: 'none', background: false })
  await engine.put({
    entries: Array.from({ length: ENTRIES }, (_, at) => ({ id: `e${at}`, content: `é${at}`.padEnd(CONTENT, 'x') })),
  })
  const app = makeApp(engine, makeCatalog(engine), {
    authenticator: new Authenticator({ local: true }),
    names: namesOf(true, [], []),
    requestId: () => 'one',
    log: text => expect.fail(text),
    ending: new AbortController().signal,
  })
  const asked = async (accept: string) => {
    const headers = { host: '127.0.0.1', accept, 'content-type': 'application/json' }
    const response = await app.request('http://127.0.0.1/v1/ops/export', { method: 'POST', headers, body: '{}' })
    expect(response.headers.get('content-type')).toBe(accept)
    return response.text()
  }
  const lines: unknown[] = []
  for await (const line of engine.export()) lines.push(line)
  const read = await turnsOf(async () => {
    for await (const _ of engine.export());
  })
  const { turns, result } = await turnsOf(() => asked('application/json'))
  expect(result).toBe(JSON.stringify({ lines }))
  expect((await asked('application/x-ndjson')).trim().split('\n')).toEqual(lines.map(line => JSON.stringify(line)))
  expect(turns).toBeGreaterThanOrEqual(read.turns + (2 * ENTRIES * CONTENT) / (68 * 1024) - 2)
  await engine.close()
})
