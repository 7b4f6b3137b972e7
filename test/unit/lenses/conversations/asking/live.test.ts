/** Messages piece by piece and as live questions: the same order as the page, and what is remembered is told. */
import { expect, it } from 'vitest'
import { parseInput } from '../../../../../src/model/parse-input.ts'
import { findOperation, makeCatalog } from '../../../../../src/ops/catalog.ts'
import { call } from '../../../../support/conversations.ts'
import { openTestEngine } from '../../../../support/engines.ts'

const ASKED = { text: 'kiln', lens: 'conversations', touch: false }

it('gives the pieces of a stream in the order of a page', async () => {
  await using engine = await openTestEngine()
  for (let at = 0; at < 30; at++) {
    await call(engine, 'remember', {
      text: `The kiln ${'hot '.repeat(at % 7)}${at}`,
      conversation: `c${at % 3}`,
      id: `${at}`,
    })
  }
  const page = await engine.query({ ...ASKED, limit: 30 })
  const streamed: string[] = []
  const asking = { viewer: { id: 'owner' }, signal: new AbortController().signal }
  for await (const chunk of engine.stream({ ...ASKED, limit: 30, chunk_size: 4 }, asking)) {
    streamed.push(...chunk.items.map(({ id }) => id))
  }
  expect(page.items.length).toBe(30)
  expect(streamed).toEqual(page.items.map(({ id }) => id))
})

it('tells a live question of a message as soon as it is remembered', async () => {
  await using engine = await openTestEngine()
  await call(engine, 'remember', { text: 'The kiln is cold.', conversation: 'home', id: 'a' })
  const stop = new AbortController()
  const watch = findOperation(makeCatalog(engine), 'watch')
  const input = parseInput(watch.input, { text: 'kiln', lens: 'conversations' })
  const events = watch.stream?.(engine, input as never, { viewer: { id: 'owner' }, signal: stop.signal })
  const told: string[] = []
  for await (const event of events ?? []) {
    told.push(JSON.stringify(event))
    if (told.at(-1)?.includes('home/a'))
      await call(engine, 'remember', { text: 'The kiln is hot.', conversation: 'home', id: 'b' })
    if (told.at(-1)?.includes('home/b')) break
  }
  expect(told.some(event => event.includes('home/a') && !event.includes('home/b'))).toBe(true)
  expect(told.at(-1)).toContain('home/b')
  stop.abort()
})
