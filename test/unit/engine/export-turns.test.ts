/** QE-019: an export pauses between its lines; what is written meanwhile is in none of them. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Turns } from '../../../src/base/turns.ts'
import { exportInTurns, exportLines } from '../../../src/engine/export.ts'
import { openMemoryStore, openSqliteStore, type SqliteStoreOptions } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { openTestEngine } from '../../support/engines.ts'
import { draftOf } from '../../support/entries.ts'
import { populations } from '../../support/histories.ts'
import { LINK, MOOD, play } from '../../support/play.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'

let folder: TempFolder
let files = 0
beforeEach(() => {
  folder = tempFolder()
})
afterEach(() => folder[Symbol.dispose]())

const onDisk = (options: Partial<SqliteStoreOptions> = {}) =>
  openSqliteStore({ file: folder.file(`${++files}.db`), timeoutMs: 100, ...options })
const TABLES = [MOOD, LINK]

/** Turns that pause before every line. `act` gets the number of the pause, from 1. */
function everyLine(act: (pause: number) => void = () => {}): Turns & { pauses: number } {
  let now = 0
  const clock = () => (now += 20)
  const turns = new Turns(undefined, clock, async () => act(++turns.pauses)) as Turns & { pauses: number }
  turns.pauses = 0
  return turns
}

async function linesOf(store: Store, turns: Turns): Promise<readonly unknown[]> {
  const lines: unknown[] = []
  for await (const line of exportInTurns({ store, tables: TABLES, lenses: [] }, turns, () => {})) lines.push(line)
  return lines
}

function linesAtOnce(store: Store): readonly unknown[] {
  return store.read(reader => [...exportLines(reader, TABLES, [])]).filter(line => line !== null)
}

describe('an export', () => {
  it('QE-019: pauses at every line, and is that of its first whatever is written at its pauses', async () => {
    const property = fc.asyncProperty(populations(12), populations(12), async (before, meanwhile) => {
      const store = onDisk()
      play(store, before)
      const expected = linesAtOnce(store)
      let written = 0
      const turns = everyLine(pause => {
        play(store, meanwhile)
        store.write(pause, writer => {
          const [oldest] = writer.scanEntries(0, 1)
          if (oldest !== undefined) writer.delete(oldest)
          writer.put(draftOf({ id: `late ${pause}` }), [])
        })
        written++
      })
      expect(await linesOf(store, turns)).toEqual(expected)
      expect(turns.pauses).toBeGreaterThanOrEqual(expected.length)
      expect(written).toBe(turns.pauses)
      expect(linesAtOnce(store)).not.toEqual(expected)
      store.close()
    })
    await fc.assert(property, { numRuns: 8 })
  })

  it.each([
    ['memory', () => openMemoryStore()],
    ['a file', () => onDisk()],
  ])(
    'QE-019: of %s pauses while it looks for what viewers have read, also where there is no line for long',
    async (_, make) => {
      const store = make()
      const VIEWERS = 30
      store.write(1, writer => {
        const keys = Array.from({ length: 250 }, (_, at) => writer.put(draftOf({ id: `e${at}` }), []).key)
        for (let at = 0; at < VIEWERS; at++) writer.touch({ id: `v${at}` }, keys.slice(-1), 1, 1)
      })
      const turns = everyLine()
      const lines = await linesOf(store, turns)
      // Three pages of entries for each viewer, of which the last has a line.
      expect(turns.pauses).toBeGreaterThanOrEqual(lines.length + 2 * VIEWERS)
    },
  )

  it('keeps nothing of the file when it ends, however it ends', async () => {
    const store = onDisk()
    const { upkeep } = store
    store.write(1, writer => writer.put(draftOf({ id: 'a' }), []))
    const begin = async () => {
      const lines = exportInTurns({ store, tables: TABLES, lenses: [] }, new Turns(), () => {})
      await lines.next()
      store.write(2, writer => writer.put(draftOf({ id: 'a', content: String(++files) }), []))
      expect(await upkeep?.fold('empty', 0)).toBe(false)
      return lines
    }
    await (await begin()).return(undefined)
    expect(await upkeep?.fold('empty', 1_000)).toBe(true)
    for await (const _ of await begin());
    expect(await upkeep?.fold('empty', 1_000)).toBe(true)
    await upkeep?.endThread()
    store.close()
  })

  it('is read at once where readers would keep writers waiting, so these never do', async () => {
    const store = onDisk({ walMode: false })
    for (const id of ['a', 'b']) store.write(1, writer => writer.put(draftOf({ id }), []))
    const expected = linesAtOnce(store)
    const lines: unknown[] = []
    for await (const line of exportInTurns({ store, tables: TABLES, lenses: [] }, everyLine(), () => {})) {
      store.write(2, writer => writer.put(draftOf({ id: 'late', content: String(lines.length) }), []))
      lines.push(line)
    }
    expect(lines).toEqual(expected)
    store.close()
  })

  it.each(['closed', 'cancelled'])('ends when it is %s between two of its lines', async how => {
    const engine = await openTestEngine({ home: folder.file('home') })
    await engine.put({ entries: [{ id: 'a', content: 'a' }] })
    const caller = new AbortController()
    const lines = engine.export({ signal: caller.signal })[Symbol.asyncIterator]()
    await lines.next()
    if (how === 'closed') await engine.close()
    else caller.abort()
    await expect(lines.next()).rejects.toMatchObject({ code: how === 'closed' ? 'invalid_argument' : 'cancelled' })
    await engine.close()
  })
})
