/** Generators of store histories: what `play` plays. */
import fc from 'fast-check'
import { OWNER } from '../../src/model/partition.ts'
import type { Row } from '../../src/model/table.ts'
import { givenEntries, instants, numbers, texts } from './arbitraries.ts'
import { type Act, HISTORY_MODELS, HISTORY_VIEWERS, type Step } from './play.ts'

export function histories(maxActs = 8): fc.Arbitrary<readonly Act[]> {
  const pick = fc.nat({ max: 20 })
  const leaf: fc.Arbitrary<Step> = fc.oneof(
    { weight: 8, arbitrary: givenEntries().map(given => ({ do: 'put' as const, ...given })) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom<'delete' | 'announce'>('delete', 'announce'), pick }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant<'touch'>('touch'),
        viewer: fc.constantFrom(...HISTORY_VIEWERS),
        picks: fc.array(pick, { maxLength: 4 }),
        now: instants(),
        gain: fc.constantFrom(0, 1, 0.1),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant<'setAccess'>('setAccess'),
        viewer: fc.constantFrom(...HISTORY_VIEWERS),
        pick,
        now: instants(),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant<'vectors'>('vectors'),
        model: fc.constantFrom(...HISTORY_MODELS),
        picks: fc.array(pick, { maxLength: 4 }),
        value: fc.constantFrom(0.5, -1, 0),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant<'mood'>('mood'), pick, row: moods() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom<'link' | 'unlink'>('link', 'unlink'), row: links() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant<'meta'>('meta'), name: texts(6), value: texts() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant<'prune'>('prune'), back: fc.nat({ max: 6 }) }) },
  )
  const { step } = fc.letrec<{ step: Step }>(tie => ({
    step: fc.oneof(
      { maxDepth: 2 },
      leaf,
      fc.record({
        do: fc.constant<'nested'>('nested'),
        steps: fc.array(tie('step'), { maxLength: 4 }),
        fails: fc.boolean(),
      }),
    ),
  }))
  const act = fc.record({
    now: instants(),
    steps: fc.array(step, { minLength: 1, maxLength: 5 }),
    fails: fc.nat({ max: 4 }).map(one => one === 0),
  })
  return fc.array(act, { maxLength: maxActs })
}

/** One act that fills a store with entries of all sorts, some accessed, some with a mood: something to ask about. */
export function populations(size = 30): fc.Arbitrary<readonly Act[]> {
  const entry = fc.record({ given: givenEntries(), row: moods(), now: instants(), moody: fc.boolean() })
  return fc.array(entry, { minLength: size, maxLength: size }).map(entries => {
    const steps = entries.flatMap(({ given, row, now, moody }, at): readonly Step[] => {
      // Ids meet again in the first third only; a pick beyond what is there touches nothing.
      const id = at < size / 3 ? given.draft.id : `${given.draft.id} ${at}`
      const put: Step = { do: 'put', ...given, draft: { ...given.draft, id } }
      const touch: Step = { do: 'touch', viewer: at % 2 ? 'ann' : OWNER, picks: [at], now, gain: 1 }
      return moody ? [put, touch, { do: 'mood', pick: at, row }] : [put]
    })
    return [{ now: 0, steps, fails: false }]
  })
}

function moods(): fc.Arbitrary<Row> {
  return fc.record({
    level: fc.integer({ min: -2, max: 2 }),
    warmth: fc.option(numbers()),
    word: fc.option(texts(8)),
    picture: fc.option(fc.uint8Array({ maxLength: 3 })),
  })
}

function links(): fc.Arbitrary<Row> {
  return fc.record({ source: texts(6), rank: fc.nat({ max: 3 }), weight: numbers(), note: fc.option(texts(6)) })
}
