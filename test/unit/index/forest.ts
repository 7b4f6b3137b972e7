/** Texts for word indexes of sizes that random small histories do not reach, and what an index says of them. */
import { Bitset } from '../../../src/base/bitset.ts'
import type { WordIndex, WordTerm } from '../../../src/index/contract.ts'
import { AUDIENCE_NAMES } from '../../support/index-world.ts'
import { seededUniform } from '../../support/seeded.ts'
import { textOf, type WordEdit, type WordWorld, word } from '../../support/word-world.ts'

const VOCABULARY: readonly string[] = [
  ...['alder', 'birch', 'cedar', 'dogwood', 'elm', 'fir', 'gum', 'holly', 'ivory', 'juniper', 'kapok', 'larch'],
]
/** Entries whose words fall off steeply, so that some lists have dozens of blocks and some a single posting. */
export function forest(entries: number, seed = 3): WordEdit[] {
  const uniform = seededUniform(seed)
  const tree = () => {
    const rank = Math.floor(400 * uniform() ** 4)
    return rank < VOCABULARY.length ? VOCABULARY[rank] : `tree${rank}`
  }
  const words = (count: number) => Array.from({ length: count }, tree).join(' ')
  return Array.from({ length: entries }, (_, at) =>
    textOf(`e${at}`, words(1 + Math.floor(uniform() * 40)), {
      title: uniform() < 0.3 ? words(2) : '',
      audience: AUDIENCE_NAMES[Math.floor(uniform() * 4)] ?? 'public',
      chunk: 60,
      overlap: 15,
    }),
  )
}

export function terms(...texts: readonly string[]): WordTerm[] {
  return texts.map(word)
}

const QUESTIONS = [
  terms('alder'),
  terms('alder', 'birch', 'cedar'),
  terms('tree399', 'alder'),
  terms('tree250', 'tree31', 'holly', 'larch', 'kapok', 'alder', 'elm', 'fir'),
  [...terms('alder', 'tree100'), { text: 'juniper', boost: 3 }],
]

export function answers(index: WordIndex, world: WordWorld): unknown {
  const scopes = [
    { partitions: world.partitionsOf(...AUDIENCE_NAMES) },
    { partitions: world.partitionsOf('ann', 'lab') },
    { partitions: world.partitionsOf('bob') },
    { partitions: world.partitionsOf(...AUDIENCE_NAMES), allow: Bitset.of([5, 60, 61, 300, 900, 901, 902]) },
    { partitions: world.partitionsOf('public'), allow: Bitset.of(Array.from({ length: 500 }, (_, at) => at * 2)) },
  ]
  const some = Array.from({ length: 60 }, (_, at) => at * 17)
  return scopes.map(scope => [
    ...QUESTIONS.map(asked => [
      ...[1, 10, 100].map(k => index.search({ ...scope, terms: asked, k })),
      index.score(asked, some, scope),
      index.weigh(asked, scope),
    ]),
    [...index.entriesWith('alder birch', scope)],
    [...index.entriesWith('alder alder alder', scope)],
    index.count(scope),
  ])
}
