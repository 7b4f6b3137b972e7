/** Offsets and cursors of `beliefs.query`. */
import { describe, expect, it } from 'vitest'
import { openMemoryStore, openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import { EVERYWHERE } from '../../../../support/beliefs-paging.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { ids, LIST, MINUTE, World } from './world.ts'

describe('BQ-142: an offset', () => {
  it('skips as many results as it says; past the end the page is empty and the count right', async () => {
    const world = await World.open()
    await world.fill(9)
    const whole = await world.ask({ limit: 20 })
    expect(ids(await world.ask({ limit: 3, offset: 4 }))).toEqual(ids(whole).slice(4, 7))
    expect(await world.ask({ offset: 9 })).toMatchObject({ beliefs: [], total_count: 9 })
    expect(await world.ask({ offset: 10_000 })).toMatchObject({ beliefs: [], total_count: 9 })
    expect(await world.ask({ offset: 9 })).not.toHaveProperty('next_cursor')
    // Pages go on behind what an offset skipped.
    expect((await world.pages(2, { offset: 0 })).flatMap(ids)).toEqual(ids(whole))
    const first = await world.ask({ limit: 2, offset: 3 })
    expect(ids(await world.ask({ limit: 4, cursor: first.next_cursor as string }))).toEqual(ids(whole).slice(5, 9))
  })

  it('is refused beside a cursor', async () => {
    const world = await World.open()
    await world.fill(4)
    const { next_cursor: cursor } = await world.ask({ limit: 2 })
    expect(await world.refused({ cursor, offset: 1 })).toMatchObject({ reason: 'offset_with_cursor' })
    expect(ids(await world.ask({ cursor, offset: 0 }))).toHaveLength(2)
  })
})

describe('BQ-143: pages joined', () => {
  it.each([
    ['by meaning', undefined, {}],
    ['in list mode, where many tie', LIST, {}],
    ['with diversity', undefined, { diversity: { enabled: true, lambda: 0.5, max_per_holder: 6 } }],
  ])('are the one-page list for every page size, %s', async (_, query, options) => {
    const world = await World.open()
    await world.fill(11)
    const whole = await world.ask({ ...options, limit: 100 }, query)
    expect(whole).not.toHaveProperty('next_cursor')
    for (let size = 1; size <= whole.beliefs.length; size++) {
      const pages = await world.pages(size, options, query)
      expect(pages.flatMap(page => page.beliefs)).toEqual(whole.beliefs)
      // Nothing follows an empty page, or a full one that was the last.
      expect(pages).toHaveLength(Math.ceil(whole.beliefs.length / size))
    }
  })
})

describe('BQ-146: a cursor', () => {
  it('has the same bytes for equal states, whatever is hidden, and shows nothing', async () => {
    const cursors = []
    for (const isLaced of [false, true]) {
      const world = await World.open()
      if (isLaced) await world.call('beliefs.put', 'dan', { id: 'hidden', content: 'fox' })
      await world.fill(7)
      if (isLaced) {
        await world.call('beliefs.put', 'bob', { id: 'secret', content: 'honey fox' })
        await world.call('trust.set', 'dan', { target: 'bob', trust_level: 0.5 })
      }
      cursors.push((await world.ask({ limit: 3 })).next_cursor as string)
    }
    expect(cursors[0]).toBe(cursors[1])
    const bytes = Buffer.from(cursors[0] as string, 'base64url').toString('latin1')
    for (const text of ['ann', 'b0', 'fox', '2026']) expect(bytes).not.toContain(text)
  })

  it('differs for what its requester is shown differently', async () => {
    const worlds = [await World.open(), await World.open(), await World.open()] as const
    for (const world of worlds) await world.fill(7)
    await worlds[1].call('beliefs.put', 'bob', { id: 'more', content: 'sea', visibility: 'public' })
    await worlds[2].call('trust.set', 'ann', { target: 'cyd', trust_level: 0.4 })
    const cursors = await Promise.all(worlds.map(async world => (await world.ask({ limit: 1 })).next_cursor))
    expect(new Set(cursors).size).toBe(3)
  })
})

describe('BQ-147: refused is', () => {
  const forged = (cursor: string): readonly string[] => {
    const at = Math.floor(cursor.length / 2)
    const other = cursor[at] === 'A' ? 'B' : 'A'
    return [
      '',
      'x',
      cursor.slice(0, -1),
      cursor.slice(4),
      `${cursor}AA`,
      cursor.slice(0, at) + other + cursor.slice(at + 1),
    ]
  }

  it('what is altered, cut, or of another store', async () => {
    const world = await World.open()
    await world.fill(5)
    const { next_cursor: cursor } = (await world.ask({ limit: 2 })) as { next_cursor: string }
    for (const wrong of forged(cursor).filter(text => text !== '')) {
      expect(await world.refused({ cursor: wrong })).toMatchObject({
        ...{ code: 'INVALID_QUERY', path: 'options.cursor', reason: 'cursor_invalid' },
      })
    }
    const other = await World.open(openMemoryStore())
    await other.call('agents.create', 'owner', { id: 'another' })
    await other.fill(5)
    const foreign = (await other.ask({ limit: 2 })).next_cursor
    expect(await world.refused({ cursor: foreign })).toMatchObject({ reason: 'cursor_invalid' })
  })

  it('one of another query or requester, with a message that does not say which', async () => {
    const world = await World.open()
    await world.fill(5)
    const { next_cursor: cursor } = await world.ask({ limit: 2 })
    const others = [
      await world.refused({ cursor }, { semantic: 'fox' }),
      await world.refused({ cursor }, { semantic: 'fox honey', filters: 'recent' }),
      await world.refused({ cursor }, { semantic: 'fox honey', context: { trust_weight: 0.9 } }),
      await world.refused({ cursor, scope: { network: true } }),
      await world.refused({ cursor, diversity: { enabled: true } }),
      await world.refused({ cursor }, undefined, 'bob'),
    ]
    for (const other of others) expect(other).toMatchObject({ code: 'INVALID_QUERY', reason: 'cursor_mismatch' })
    expect(new Set(others.map(({ message }) => message)).size).toBe(1)
    // What does not change the order may change.
    const more = { include_explanation: true, include_derivation: true, timeout_ms: 9_000, dry_run: true }
    expect(ids(await world.ask({ cursor, ...more }))).toHaveLength(3)
  })

  it('one that is older than fifteen minutes', async () => {
    const world = await World.open()
    await world.fill(5)
    const { next_cursor: cursor } = await world.ask({ limit: 2 })
    world.wait(15 * MINUTE - 1)
    expect(ids(await world.ask({ cursor }))).toHaveLength(3)
    world.wait(1)
    expect(await world.refused({ cursor })).toMatchObject({ code: 'INVALID_QUERY', reason: 'cursor_expired' })
  })

  it('in another engine, one whose order cannot be known any more', async () => {
    using folder = tempFolder()
    const file = folder.file('store.db')
    const one = await World.open(openSqliteStore({ file }))
    await one.fill(8)
    const reopen = async () => World.open(openSqliteStore({ file }), { clock: one.clock, isNew: false })
    const whole = await one.ask({ limit: 50 })
    const { next_cursor: cursor } = await one.ask({ limit: 3 })
    // Used, so that its edges are fresher; and something hidden, and something new.
    one.wait(2 * MINUTE)
    await one.ask()
    await one.call('beliefs.put', 'dan', { id: 'hidden', content: 'fox honey' })
    await one.call('beliefs.put', 'bob', { id: 'late', content: 'fox honey', visibility: 'public' })
    const other = await reopen()
    const rest = await other.ask({ limit: 50, cursor })
    expect(rest.beliefs).toEqual(whole.beliefs.slice(3))
    expect(rest.as_of).toBe(whole.as_of)
    await other.engine.close()
    await one.call('trust.set', 'ann', { target: 'bob', trust_level: 0.2 })
    const third = await reopen()
    expect(await third.refused({ cursor })).toMatchObject({ code: 'INVALID_QUERY', reason: 'cursor_expired' })
    await third.engine.close()
    await one.engine.close()
  })
})

describe('BQ-149: the count', () => {
  it('is of all that matched at the moment of the first page, on every page', async () => {
    const world = await World.open()
    await world.fill(9)
    await world.call('beliefs.put', 'bob', { id: 'one', content: 'the same', visibility: 'public' })
    await world.call('beliefs.put', 'ann', { id: 'two', content: 'the same' })
    const first = await world.ask({ limit: 4, diversity: { enabled: true, max_per_holder: 2 } })
    await world.call('beliefs.put', 'cyd', { id: 'late', content: 'fox', visibility: 'public' })
    const rest = await world.ask({ cursor: first.next_cursor, diversity: { enabled: true, max_per_holder: 2 } })
    for (const page of [first, rest]) expect(page).toMatchObject({ total_count: 10, count_exact: true })
    expect(first.beliefs.length + rest.beliefs.length).toBeLessThan(10)
  })

  it('and explanations go on in the same order', async () => {
    const world = await World.open()
    await world.fill(6)
    const options = { include_explanation: true, scope: EVERYWHERE }
    const whole = await world.ask({ ...options, limit: 50 })
    expect((await world.pages(2, options)).flatMap(page => page.beliefs)).toEqual(whole.beliefs)
  })
})
