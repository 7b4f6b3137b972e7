/** What others do while a long export comes in: in this process, between its batches, and in others, on the same store. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Engine } from '../../../../src/engine/engine.ts'
import { MESSAGES } from '../../../../src/lenses/conversations/tables.ts'
import type { Progress } from '../../../../src/model/operation.ts'
import { openMemoryStore } from '../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import { call, type Line, line, writeLines } from '../../../support/conversations.ts'
import { idsOf, openTestEngine } from '../../../support/engines.ts'
import { type TempFolder, tempFolder } from '../../../support/temp-folder.ts'

/** Of which an import makes three transactions. */
const MESSAGES_IN_ALL = 1_200

let folder: TempFolder
let store: Store
let engine: Engine
beforeEach(async () => {
  folder = tempFolder()
  store = openMemoryStore()
  engine = await openTestEngine({ store })
})
afterEach(async () => {
  await engine.close()
  folder[Symbol.dispose]()
})

function longChat(count = MESSAGES_IN_ALL): readonly Line[] {
  const from = Date.UTC(2025, 2, 14)
  return Array.from({ length: count }, (_, at) =>
    line(`m${at}`, at % 2 === 0 ? 'Mira' : 'Tom', new Date(from + at * 60_000).toISOString(), `Brick number ${at}.`),
  )
}

function add(lines: readonly Line[], report: (progress: Progress) => void = () => {}) {
  const path = writeLines(folder.path, lines)
  return engine.add({ paths: [path], chat: {} }, { viewer: { id: 'owner' }, report })
}

const positions = () =>
  store
    .table(MESSAGES)
    .scan({ conversation: 'kiln' })
    .map(row => Number(row['position']))
    .sort((a, b) => a - b)

const inOrder = (count: number) => Array.from({ length: count }, (_, at) => at)

describe('while a long export comes in', () => {
  it('others on this thread have their turn between its batches', async () => {
    let turns = 0
    let isDone = false
    const turn = (): void => {
      turns++
      if (!isDone) setImmediate(turn)
    }
    let before = 0
    const between: number[] = []
    const adding = add(longChat(), ({ done }) => {
      if (done > 0) between.push(turns - before)
      before = turns
    })
    setImmediate(turn)
    expect(await adding).toMatchObject({ added: MESSAGES_IN_ALL })
    isDone = true
    expect(between.slice(1).every(count => count > 0)).toBe(true)
    expect(between.length).toBe(3)
  })

  it('what is remembered meanwhile in the same conversation has a place of its own', async () => {
    const remembered: Promise<unknown>[] = []
    const adding = add(longChat(), ({ done }) => {
      if (done === 500) {
        remembered.push(call(engine, 'remember', { text: 'It rains.', conversation: 'kiln', speaker: 'Ada', id: 'r' }))
      }
    })
    expect(await adding).toMatchObject({ added: MESSAGES_IN_ALL, errors: [] })
    expect(await Promise.all(remembered)).toMatchObject([{ id: 'kiln/r', position: 500 }])
    expect(positions()).toEqual(inOrder(MESSAGES_IN_ALL + 1))
  })

  it('the same export may come in a second time at once', async () => {
    const path = writeLines(folder.path, longChat())
    const other = await openTestEngine({ store })
    const both = [engine, other].map(each => each.add({ paths: [path], chat: {} }))
    const reports = await Promise.all(both)
    expect(reports.reduce((sum, { added }) => sum + added, 0)).toBe(MESSAGES_IN_ALL)
    expect(reports.reduce((sum, { unchanged }) => sum + unchanged, 0)).toBe(MESSAGES_IN_ALL)
    expect(positions()).toEqual(inOrder(MESSAGES_IN_ALL))
    await other.close()
  })

  it('one that begins later comes in beside it, and each message has a place of its own', async () => {
    const chat = longChat()
    const path = writeLines(folder.path, chat.slice(600), 'later.jsonl')
    const other = await openTestEngine({ store })
    const both = [add(chat), other.add({ paths: [path], chat: {} })]
    await Promise.all(both)
    const all = positions()
    expect(all.length).toBe(MESSAGES_IN_ALL)
    expect(new Set(all).size).toBe(MESSAGES_IN_ALL)
    await other.close()
  })

  it('its words come into the index along the way, so that the next question need not wait for all of them', async () => {
    await engine.query({ text: 'brick' })
    await add(longChat(5_600))
    expect(engine.feedLag()).toBeLessThan(5_000)
    expect(idsOf(await engine.query({ text: 'brick 5599', mode: 'words', limit: 1 }))).toEqual(['kiln/m5599'])
  })

  it('a caller who has gone is noticed, and what was written stays', async () => {
    const gone = new AbortController()
    const path = writeLines(folder.path, longChat())
    const adding = engine.add(
      { paths: [path], chat: {} },
      {
        viewer: { id: 'owner' },
        signal: gone.signal,
        report: ({ done }) => {
          if (done === 500) setImmediate(() => gone.abort())
        },
      },
    )
    await expect(adding).rejects.toMatchObject({ code: 'cancelled', details: { added: 500 } })
    expect(positions()).toEqual(inOrder(500))
  })
})
