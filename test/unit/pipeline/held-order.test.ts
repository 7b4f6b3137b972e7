/** An order that is made whole behind its page: as it was found then, without what finding it took. */
import { expect, it } from 'vitest'
import type { Ranked } from '../../../src/model/candidate.ts'
import type { Note } from '../../../src/model/page.ts'
import type { QueryContext } from '../../../src/pipeline/context.ts'
import { foundBy, orderLater, type RankedPage } from '../../../src/pipeline/held-order.ts'
import type { Plan, Retrieval, Scoring, Stages } from '../../../src/pipeline/stage.ts'

const ranked = (...entries: number[]) => entries.map(entry => ({ entry }) as Ranked)
const entriesOf = (order: readonly Ranked[]) => order.map(({ entry }) => entry)
const THEN = { partitions: [1] }
const NOW = { partitions: [1, 2] }

function retrieval(...entries: number[]): Retrieval {
  const candidates = entries.map(entry => ({ entry })) as unknown as Retrieval['candidates']
  return { candidates, depth: 100, allow: null, statistics: { rows: 5 }, exhausted: true, complete: true }
}

it('holds what is behind the last one shown, by the verdict and the notes of its page', () => {
  const notes: Note[] = [{ code: 'words_only', message: '' } as unknown as Note]
  const query = { after: null, diversity: 1, limit: 2 }
  const context = { query, sight: THEN, look: () => NOW, notes, reader: { newestEntry: () => 9 } }
  const seen: { context: QueryContext; sight: unknown; limit: number; candidates: number }[] = []
  const stages = {
    score: ({ candidates }: Retrieval, plan: Plan, asked: QueryContext) => {
      seen.push({ context: asked, sight: asked.sight, limit: plan.query.limit, candidates: candidates.length })
      return { scored: ranked(4), verdict: 'nothing_relevant', reason: 'none' }
    },
    // The whole of it puts two of those that were near the page elsewhere.
    *diversify() {
      yield
      return { ranked: ranked(2, 1, 4, 3, 5) }
    },
  }
  const plan = { query, mode: 'hybrid' } as unknown as Plan
  const near = { ...retrieval(1, 2, 3), whole: () => retrieval(1, 2, 3, 4, 5) }
  const page: RankedPage = {
    stages: stages as unknown as Stages,
    plan,
    found: foundBy(
      near,
      scoring => scoring,
      () => null,
      stages as unknown as Stages,
      plan,
      context as unknown as QueryContext,
    ),
    ranking: { ranked: ranked(1, 2, 3), scoring: { verdict: 'answered', reason: null } as unknown as Scoring },
    ...{ round: 0, last: 2, passages: null },
  }
  const make = orderLater(page, context as unknown as QueryContext)
  notes.push({ code: 'late', message: '' } as unknown as Note)
  const order = make()
  expect([entriesOf(order.before), entriesOf(order.rest)]).toEqual([
    [2, 1],
    [4, 3, 5],
  ])
  expect(order.scoring).toMatchObject({ verdict: 'answered', reason: null, scored: [] })
  expect(order.retrieval).toEqual({ ...retrieval(), candidates: [] })
  expect(order).toMatchObject({ newest: 9, round: 0, notes: [{ code: 'words_only' }] })
  expect(seen).toMatchObject([{ sight: THEN, limit: Number.MAX_SAFE_INTEGER, candidates: 5 }])
  // Explanations of later pages are made from what may be seen by then.
  expect(seen[0]?.context.sight).toBe(NOW)
})
