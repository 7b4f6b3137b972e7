/**
 * Pages and streams while others write (lenses of the pipeline): 1,000 histories each with QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { Engine } from '../../../src/engine/engine.ts'
import type { EntryDraft } from '../../../src/model/entry.ts'
import { type Audience, audience } from '../../../src/model/partition.ts'
import type { QueryInput } from '../../../src/model/query-input.ts'
import { lookAt } from '../../../src/pipeline/access.ts'
import { CachedOrders } from '../../../src/pipeline/later-pages.ts'
import { MEMBERSHIPS } from '../../../src/store/core-tables.ts'
import type { Store } from '../../../src/store/store.ts'
import { type Known, known, questions } from '../../support/ask-arbitraries.ts'
import { openTestEngine, PLAIN_LENS, TEST_NOW } from '../../support/engines.ts'
import { wholeChunk } from '../../support/entries.ts'
import { expectOfNow, partNow, reportedBy, wholeAnswer } from '../../support/paged-history.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'
import { assertUntil } from '../../support/until-met.ts'

const RUNS = process.env['QUERENT_LONG'] === '1' ? 1000 : 12
const ANN = { id: 'ann' }
const LATER = TEST_NOW + 1

const SEEN: readonly Audience[] = [
  audience('public', 'bob'),
  audience('private', 'ann'),
  audience('shared', 'bob', ['lab']),
]
const ANY: readonly Audience[] = [...SEEN, audience('private', 'bob'), audience('shared', 'bob', ['moon'])]

type Write =
  | { readonly do: 'put'; readonly draft: EntryDraft }
  /** The entry of this place among those there are is changed so, and may become visible or hidden. */
  | { readonly do: 'edit'; readonly at: number; readonly draft: EntryDraft }
  | { readonly do: 'delete'; readonly at: number }
  | { readonly do: 'member'; readonly status: 'active' | 'left' }
  | { readonly do: 'embed' }
  /** By somebody else: changes nothing, but brings the indexes forward. */
  | { readonly do: 'ask'; readonly text: string }

interface Page {
  readonly limit: number
  /** Before it. */
  readonly writes: readonly Write[]
}

const drafts = known(
  fc.constantFrom(...ANY),
  fc.integer({ min: 0, max: 60 }).map(number => `e${number}`),
).map(({ draft }) => draft)

const much: fc.Arbitrary<readonly Known[]> = fc.uniqueArray(
  known(
    fc.constantFrom(...SEEN, ...SEEN, ...ANY),
    fc.integer({ min: 0, max: 60 }).map(number => `e${number}`),
  ),
  { minLength: 20, maxLength: 60, selector: ({ draft }) => `${draft.id} ${draft.audience.holder}` },
)

function writes(): fc.Arbitrary<Write> {
  const at = fc.nat({ max: 59 })
  return fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant('put' as const), draft: drafts }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('edit' as const), at, draft: drafts }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), at }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('member' as const), status: fc.constantFrom('active', 'left') }),
    },
    { weight: 1, arbitrary: fc.constant<Write>({ do: 'embed' }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('ask' as const), text: fc.constantFrom('fox', 'rain car') }) },
  )
}

const pages: fc.Arbitrary<readonly Page[]> = fc.array(
  fc.record({ limit: fc.integer({ min: 1, max: 9 }), writes: fc.array(writes(), { maxLength: 4 }) }),
  { minLength: 1, maxLength: 8 },
)

const inputs: fc.Arbitrary<QueryInput> = fc
  .tuple(
    questions(),
    fc.record({
      any: fc.constantFrom(true, true, false),
      touch: fc.boolean(),
      approximate: fc.boolean(),
      diversity: fc.constantFrom(1, 1, 1, 0.7),
      per_collection: fc.constantFrom(undefined, undefined, undefined, 3),
      explain: fc.boolean(),
    }),
  )
  .map(([question, more]) => ({ ...question, ...more }))

async function openWith(all: readonly Known[]): Promise<{ engine: Engine; store: Store }> {
  const engine = await openTestEngine({ embedder: openToyEmbedder(), lenses: [PLAIN_LENS] })
  const { store } = engine.host('default')
  store.write(TEST_NOW, writer => {
    for (const agent of ['ann', 'bob']) {
      writer.table(MEMBERSHIPS).put({ federation: 'lab', agent, status: 'active', updated_at: TEST_NOW })
    }
  })
  for (const isEmbedded of [true, false]) {
    for (const { draft, embedded, access } of all) {
      if (embedded !== isEmbedded) continue
      store.write(TEST_NOW, writer => {
        const { key } = writer.put(draft, wholeChunk(draft))
        if (access !== null) writer.setAccess(ANN, key, access)
      })
    }
    if (isEmbedded) await engine.embedded()
  }
  return { engine, store }
}

async function perform(write: Write, engine: Engine, store: Store): Promise<void> {
  if (write.do === 'embed') return engine.embedded()
  if (write.do === 'ask') return void (await engine.query({ text: write.text, limit: 2 }, { viewer: { id: 'eve' } }))
  const keys = store.scanEntries(0, 1000)
  const key = 'at' in write ? (keys[write.at % Math.max(1, keys.length)] ?? -1) : -1
  store.write(LATER, writer => {
    if (write.do === 'member') {
      writer.table(MEMBERSHIPS).put({ federation: 'lab', agent: 'ann', status: write.status, updated_at: LATER })
    } else if (write.do === 'put') {
      writer.put({ ...write.draft, createdAt: LATER, updatedAt: LATER, knownAt: LATER }, wholeChunk(write.draft))
    } else if (write.do === 'delete') {
      if (key >= 0) writer.delete(key)
    } else {
      const entry = writer.entry(key)
      if (entry === undefined) return
      const { id, createdAt, knownAt } = entry
      const moved: Audience =
        write.draft.audience.holder === entry.audience.holder ? write.draft.audience : entry.audience
      writer.put({ ...write.draft, id, createdAt, knownAt, updatedAt: LATER, audience: moved }, wholeChunk(write.draft))
    }
  })
}

function pagesOf(lens: string, tried = { long: 0 }): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(much, inputs, pages, async (all, asked, turns) => {
    const { engine, store } = await openWith(all)
    const input = { ...asked, lens }
    const whole = await wholeAnswer(engine, store, input, ANN)
    tried.long += Number(whole.length > 9)
    let cursor: string | null = null
    let from = 0
    for (const [turn, { limit, writes }] of turns.entries()) {
      for (const write of turn === 0 ? [] : writes) await perform(write, engine, store)
      const { reported, to, isLast } = partNow(whole, from, limit, store, ANN)
      const page = await engine.query({ ...input, limit, ...(cursor !== null && { cursor }) }, { viewer: ANN })
      expect(reportedBy(page.items, store, ANN)).toEqual(reported)
      expectOfNow(page.items, store, ANN)
      if (isLast !== null) expect(page.cursor === null).toBe(isLast)
      if (page.cursor === null) break
      cursor = page.cursor
      from = to
    }
    await engine.close()
  })
}

describe.each(['default', 'plain'])(`lens %s (${RUNS} histories; 1,000 with QUERENT_LONG=1)`, lens => {
  it('pages joined are the answer of the first one’s moment, less what has gone', {
    timeout: PATIENCE_MS,
  }, async () => {
    const tried = { long: 0 }
    // Enough of them are long enough to have something to get wrong.
    await assertUntil(pagesOf(lens, tried), { numRuns: RUNS }, () => expect(tried.long).toBeGreaterThan(RUNS / 5))
  })

  it('chunks of a stream are the answer of its beginning, less what has gone', { timeout: PATIENCE_MS }, async () => {
    const sizes = fc.record({ chunk_size: fc.integer({ min: 1, max: 7 }), limit: fc.integer({ min: 1, max: 40 }) })
    await fc.assert(
      fc.asyncProperty(much, inputs, sizes, pages, async (all, asked, size, turns) => {
        const { engine, store } = await openWith(all)
        const input = { ...asked, ...size, lens }
        const whole = await wholeAnswer(engine, store, input, ANN)
        let from = 0
        let shown = 0
        let progress = 0
        let turn = 0
        let isDone = false
        for await (const chunk of engine.stream(input, { viewer: ANN })) {
          const wanted = Math.min(size.chunk_size, size.limit - shown)
          const { reported, to, isLast } = partNow(whole, from, wanted, store, ANN)
          expect(reportedBy(chunk.items, store, ANN)).toEqual(reported)
          expect(chunk.items.map(item => item.rank)).toEqual(reported.map((_, at) => shown + at + 1))
          from = to
          shown += reported.length
          expect([isDone, chunk.progress >= progress, chunk.progress <= 1]).toEqual([false, true, true])
          const isEnd = shown === size.limit ? true : (isLast ?? chunk.done)
          expect([chunk.done, chunk.progress === 1]).toEqual([isEnd, isEnd])
          ;({ progress, done: isDone } = chunk)
          for (const write of turns[++turn]?.writes ?? []) await perform(write, engine, store)
        }
        expect(isDone).toBe(true)
        await engine.close()
      }),
      { numRuns: RUNS },
    )
  })
})

/** With a seed of which one of the first histories shows it; others show it later. */
it.each([
  ['no order were held', 1, () => vi.spyOn(CachedOrders.prototype, 'find').mockReturnValue(null)],
  [
    'orders were made whole when they are asked for',
    13,
    () => vi.spyOn(CachedOrders.prototype, 'settleSome').mockReturnValue(false),
  ],
])('would be found wrong if %s', { timeout: PATIENCE_MS }, async (_, seed, plant) => {
  const planted = plant()
  const checked = fc.assert(pagesOf('default'), { numRuns: 3000, endOnFailure: true, seed })
  await expect(checked).rejects.toThrow('Property failed')
  planted.mockRestore()
})

it('ranks later pages by what was there at the first, while not all has a vector (QE-007)', async () => {
  const rows: readonly (readonly [id: string, title: string, content: string, isEmbedded: boolean])[] = [
    ...Array.from({ length: 5 }, (_, at) => [`e${at}`, 'fox', 'fox', true] as const),
    ['by-title', 'garden', 'fox', true],
    ['by-words', 'fox', 'garden fox', true],
    ['first', '', 'automobile fox', true],
    ['own', '', 'garden', true],
    ['waiting', 'fox', 'garden fox', false],
    ...Array.from({ length: 4 }, (_, at) => [`late${at}`, 'fox', 'fox', false] as const),
  ]
  const [sample] = fc.sample(known(fc.constant(audience('public', 'bob')), fc.constant('x')), { numRuns: 1, seed: 1 })
  const all = rows.map(([id, title, content, embedded]): Known => {
    const plain = { validFrom: null, validUntil: null, tags: [], metadata: {}, origin: null }
    const draft = { ...(sample as Known).draft, ...plain, id, title, content }
    return { draft, embedded, access: null }
  })
  const { engine, store } = await openWith(all)
  const input = { text: 'garden +automobile', any: true, touch: false, lens: 'plain' }
  const whole = await wholeAnswer(engine, store, input, ANN)
  let page = await engine.query({ ...input, limit: 1 }, { viewer: ANN })
  const reported = [...reportedBy(page.items, store, ANN)]
  const gone = whole[1]?.key ?? -1
  store.write(LATER, writer => writer.delete(gone))
  while (page.cursor !== null) {
    page = await engine.query({ ...input, limit: 1, cursor: page.cursor }, { viewer: ANN })
    reported.push(...reportedBy(page.items, store, ANN))
  }
  expect(reported).toEqual(whole.filter(({ key }) => key !== gone))
})

describe('an answer beyond its first retrieval', () => {
  const contents = ['fox', 'fox rain', 'fox dog', 'fox vixen car', 'fox fox garden']
  const drafted = fc.record({ content: fc.constantFrom(...contents), shown: fc.boolean() })

  it.each([
    { text: 'fox rain' },
    { text: 'fox', mode: 'words' as const },
    { text: 'kind:note' },
    { text: 'fox', per_collection: 400 },
    { text: 'fox rain', approximate: false },
  ])('neither repeats nor skips, and takes in nothing new: $text $mode $per_collection', async question => {
    const changes = fc.array(
      fc.record({ at: fc.nat(), how: fc.constantFrom('edit', 'delete', 'hide', 'put'), to: drafted }),
      { minLength: 1, maxLength: 12 },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(changes, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 20, max: 90 }),
        async (all, limit) => {
          const { engine, store } = await openWith([])
          const draftOf = (id: string, content: string, seen = true, at = TEST_NOW): EntryDraft => ({
            ...{ id, content, title: '', collection: 'notes', kind: 'note', tags: [], metadata: {}, origin: null },
            ...{ audience: audience(seen ? 'public' : 'private', 'bob'), validFrom: null, validUntil: null },
            ...{ createdAt: at, updatedAt: at, knownAt: at },
          })
          const put = (draft: EntryDraft, now: number) =>
            store.write(now, writer => writer.put(draft, wholeChunk(draft)))
          for (let at = 0; at < 260; at++)
            put(draftOf(`e${at}`, contents[at % 5] as string, true, TEST_NOW - at), TEST_NOW)
          await engine.embedded()
          const before = new Set(store.scanEntries(0, 1000).map(key => store.entry(key)?.id as string))
          const lost = new Set<string>()
          const seen: string[] = []
          let cursor: string | null = null
          for (let page = 0; page === 0 || cursor !== null; page++) {
            for (const { at, how, to } of page === 0 ? [] : (all[page - 1] ?? [])) {
              const id = `e${at % 260}`
              if (how === 'put') put(draftOf(`n${at}`, to.content, true, LATER), LATER)
              else if (how === 'edit' && !lost.has(id)) put(draftOf(id, to.content, true, LATER), LATER)
              else {
                lost.add(id)
                const key = store.find(id, lookAt(store, { id: 'owner' }).partitions)[0]
                if (how === 'hide' && key !== undefined) put(draftOf(id, to.content, false, LATER), LATER)
                else if (key !== undefined) store.write(LATER, writer => writer.delete(key))
              }
            }
            const asked = { ...question, any: true, limit, ...(cursor === null ? {} : { cursor }) }
            const { items, cursor: next } = await engine.query(asked, { viewer: ANN })
            seen.push(...items.map(item => item.id))
            cursor = next
          }
          expect(new Set(seen).size).toBe(seen.length)
          expect(seen.filter(id => !before.has(id))).toEqual([])
          expect([...before].filter(id => !lost.has(id) && !seen.includes(id))).toEqual([])
          await engine.close()
        },
      ),
      { numRuns: Math.ceil(RUNS / 10) },
    )
  })
})
