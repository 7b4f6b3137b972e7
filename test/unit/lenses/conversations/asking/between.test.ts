/** What changes between the page of an answer and the telling of its messages: what is hidden or gone by then is not told. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { askConversations } from '../../../../../src/lenses/conversations/asking/ask.ts'
import { call } from '../../../../support/conversations.ts'
import { openTestEngine } from '../../../../support/engines.ts'

type TestEngine = Awaited<ReturnType<typeof openTestEngine>>

const BEN = { id: 'ben' }
const BEN_CALLS = { viewer: BEN, signal: new AbortController().signal }
const SAID = ['The kiln is in the barn.', 'Its door is new.', 'The kiln is hot.']

let engine: TestEngine

beforeEach(async () => {
  engine = await openTestEngine()
  for (const [at, text] of SAID.entries()) {
    await call(engine, 'remember', { text, conversation: 'kiln', id: `m${at}`, visibility: 'public' }, 'ana')
  }
  return () => engine.close()
})

/** What Ben is told by name, where so much happens behind the page. */
async function told(change: (engine: Engine) => Promise<unknown>): Promise<string> {
  const host = engine.host('conversations')
  const later: typeof host = {
    ...host,
    query: async (input, viewer) => {
      const answer = await host.query(input, viewer)
      await change(engine)
      return answer
    },
  }
  return JSON.stringify(await askConversations(later, { text: 'kiln', neighbours: 1, touch: false }, BEN_CALLS))
}

async function hide(of: Engine, ids: readonly string[]): Promise<void> {
  const entries = []
  for (const id of ids) {
    const { collection, kind, content } = await call(of, 'get', { id }, 'ana')
    entries.push({ id, collection, kind, content, visibility: 'private' })
  }
  await call(of, 'put', { entries }, 'ana')
}

describe('between a page and the telling of its messages', () => {
  it('what stays is told with its neighbours', async () => {
    const all = await told(async () => {})
    for (const text of SAID) expect(all).toContain(text)
  })

  it('what is deleted is left out', async () => {
    const left = await told(of => call(of, 'delete', { ids: ['kiln/m0'] }, 'ana'))
    expect(left).toContain('kiln/m2')
    expect(left).not.toContain('kiln/m0')
  })

  it('what is no message any more has no neighbours', async () => {
    const left = await told(of =>
      call(
        of,
        'put',
        { entries: [{ id: 'kiln/m2', kind: 'note', content: 'The kiln is hot.', visibility: 'public' }] },
        'ana',
      ),
    )
    const { messages } = JSON.parse(left)
    for (const { id, neighbours } of messages) expect(neighbours.length).toBe(id === 'kiln/m2' ? 0 : 1)
  })

  it('what is hidden is left out, and what was hidden with it', async () => {
    const left = await told(of => hide(of, ['kiln/m0', 'kiln/m1']))
    expect(left).toContain('kiln/m2')
    for (const hidden of ['kiln/m0', 'kiln/m1', SAID[0], SAID[1]]) expect(left).not.toContain(hidden)
  })
})
