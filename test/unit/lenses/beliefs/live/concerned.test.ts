/**
 * The oracle of `concerned` (BQ-158): whatever happens, when a fresh answer is another than the last one, it said so; and
 * time, of which it knows nothing, brings or takes nothing before `until`. Half of the histories are written to by two
 * processes. The long form, 1,000 histories: QUERENT_LONG=1.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { LiveBeliefQuery } from '../../../../../src/lenses/beliefs/live/live-belief-query.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import type { LiveState } from '../../../../../src/model/live.ts'
import { openMemoryStore, openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import { AGENTS, type BeliefsAct, beliefsStories, questions } from '../../../../support/beliefs-acts.ts'
import { LiveWorld } from '../../../../support/beliefs-live.ts'
import { assertUntil } from '../../../../support/until-met.ts'
import { checkQuery } from '../schema/checks.ts'

vi.mock('../../../../../src/identity/keys.ts', async original => {
  const { keptKeys } = await import('../../../../support/kept-keys.ts')
  return keptKeys(original)
})

const LONG = process.env['QUERENT_LONG'] === '1'
const RUNS = LONG ? 1000 : 12

const stood = fc.record({
  by: fc.constantFrom(...AGENTS),
  asked: questions(),
  limit: fc.constantFrom(1, 2, 3, 20),
  /** What is farther from the text than this is no candidate. */
  floor: fc.constantFrom(null, 0.2, 0.5),
})

it(`says so whenever the answer is another (${RUNS} histories; 1,000 with QUERENT_LONG=1)`, async () => {
  const figures = { checks: 0, different: 0, concerned: 0, spared: 0, byTime: 0 }
  const property = fc.asyncProperty(
    beliefsStories(),
    fc.array(stood, { minLength: 6, maxLength: 6 }),
    fc.boolean(),
    fc.nat(),
    async (acts, asked, isShared, seed) => {
      const folder = isShared ? mkdtempSync(join(tmpdir(), 'querent-live-')) : null
      const stores =
        folder === null
          ? [openMemoryStore()]
          : [openSqliteStore({ file: join(folder, 'store.db') }), openSqliteStore({ file: join(folder, 'store.db') })]
      const world = await LiveWorld.open(stores, seed)
      try {
        await play(world, acts, asked, figures)
      } finally {
        await world.close()
        if (folder !== null) rmSync(folder, { recursive: true })
      }
    },
  )
  await assertUntil(property, { numRuns: RUNS, endOnFailure: true }, () => {
    expect(figures.different).toBeGreaterThan(RUNS)
    expect(figures.byTime).toBeGreaterThan(0)
    // It is worth having only where it spares asking.
    expect(figures.spared).toBeGreaterThan(figures.checks / 4)
  })
  if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
}, 7_200_000)

interface Stood {
  /** The same question, never asked yet. */
  readonly begin: () => LiveBeliefQuery
  readonly question: LiveBeliefQuery
  readonly isDiverse: boolean
  last: LiveState
}

async function play(
  world: LiveWorld,
  acts: readonly BeliefsAct[],
  asked: readonly (typeof stood extends fc.Arbitrary<infer T> ? T : never)[],
  figures: { checks: number; different: number; concerned: number; spared: number; byTime: number },
): Promise<void> {
  const signal = new AbortController().signal
  const standing: Stood[] = []
  for (const [at, act] of acts.entries()) {
    if (at === 12) {
      for (const { by, asked: words, limit, floor } of asked) {
        const wire = world.queryOf(by, words)
        const bound = floor === null ? {} : { min_similarity: floor }
        const query = { ...wire, options: { ...(wire['options'] as object), ...bound, limit, offset: 0 } }
        const state = stateOf((world.engines[0] as (typeof world.engines)[0]).host('beliefs'))
        const checked = checkQuery(query, { id: by, trustGraph: null })
        const begin = () => new LiveBeliefQuery(state, { id: by }, checked, query as never)
        const question = begin()
        standing.push({
          begin,
          question,
          isDiverse: checked.options.diversity.enabled,
          last: await question.ask(signal),
        })
      }
    }
    await world.act(act)
    for (const one of standing) {
      const isConcerned = one.question.concerned(one.last)
      const isDue = world.now >= one.last.until || world.now < one.last.asOf
      const fresh = await freshOf(one)
      figures.checks++
      const isOther = JSON.stringify(reported(fresh)) !== JSON.stringify(reported(one.last))
      if (isOther) figures.different++
      if (isConcerned) figures.concerned++
      else figures.spared++
      if (isOther && act.do === 'wait') {
        figures.byTime++
        // What falls behind as it ages, or no longer stands for a copy, is left to the next asking.
        const isLeft = one.last.full || fresh.full || one.isDiverse || haveCopies(one.last, fresh)
        if (!isLeft && !isDue) expect([one.last.until, keys(fresh)]).toEqual([one.last.until, keys(one.last)])
      } else if (isOther && !isConcerned) {
        expect([act, reported(fresh)]).toEqual([act, reported(one.last)])
      }
      if (!isConcerned && !isDue && act.do !== 'wait') continue
      one.last = await one.question.ask(signal)
      // It goes on from what it found before.
      expect(one.last.items.map(({ key, score }) => [key, score])).toEqual(
        fresh.items.map(({ key, score }) => [key, score]),
      )
    }
  }
}

/** What the same question answers that was never asked. */
function freshOf({ begin }: Stood): Promise<LiveState> {
  return begin().ask(new AbortController().signal)
}

function keys(state: LiveState): readonly string[] {
  return reported(state)
    .map(([key]) => key)
    .sort()
}

/** Whether one has come in place of another with its id or content. */
function haveCopies(before: LiveState, after: LiveState): boolean {
  const gone = before.items.filter(({ key }) => !after.items.some(other => other.key === key))
  const come = after.items.filter(({ key }) => !before.items.some(other => other.key === key))
  const changed = [...gone, ...come]
  const all = [...before.items, ...come]
  return changed.some(one =>
    all.some(two => two.key !== one.key && (two.id === one.id || two.fields['content'] === one.fields['content'])),
  )
}

function reported({ items }: LiveState): readonly (readonly [string, string, string])[] {
  return items.map(({ key, id, version }) => [key, id, version])
}
