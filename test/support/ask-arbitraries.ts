/**
 * Random knowledge and random questions about it. Few words, few collections and equal texts on purpose: then words meet,
 * scores tie, and filters hit something.
 */
import fc from 'fast-check'
import type { AccessState, EntryDraft } from '../../src/model/entry.ts'
import type { Audience } from '../../src/model/partition.ts'
import type { FilterInput, QueryInput } from '../../src/model/query-input.ts'
import { draftOf } from './entries.ts'

export const VOCABULARY: readonly string[] = [
  ...['fox', 'vixen', 'dog', 'car', 'automobile', 'road', 'garden', 'tulip'],
  ...['parseQuery', 'rain', 'quick', 'swift', 'the', 'año', 'jumping', 'jumps'],
]

export interface Known {
  readonly draft: EntryDraft
  /** Whether its chunk has a vector already. */
  readonly embedded: boolean
  /** The requester's use of it. */
  readonly access: AccessState | null
}

const DAY_MS = 86_400_000
const START = Date.UTC(2025, 0, 1)

export function sentences(): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...VOCABULARY), { minLength: 1, maxLength: 8 }).map(words => words.join(' '))
}

/** Days of 2025, so that many fall together. */
export function days(): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: 9 }).map(day => START + day * 30 * DAY_MS)
}

export function known(audiences: fc.Arbitrary<Audience>, ids: fc.Arbitrary<string>): fc.Arbitrary<Known> {
  const draft = fc
    .record({
      id: ids,
      collection: fc.constantFrom('notes', 'code'),
      kind: fc.constantFrom('note', 'code'),
      title: fc.oneof(fc.constant(''), sentences()),
      content: sentences(),
      tags: fc.subarray(['red', 'blue']),
      metadata: fc.constantFrom({}, { n: 1 }, { n: 2, list: ['a', 'b'] }),
      audience: audiences,
      origin: fc.constantFrom(null, 'file:///one', 'file:///two'),
      createdAt: days(),
      updatedAt: days(),
      validFrom: seldom(days()),
      validUntil: seldom(days()),
      knownAt: days(),
    })
    .map(draftOf)
  const access = fc.record({
    lastAccessed: days(),
    count: fc.integer({ min: 1, max: 5 }),
    strength: fc.constantFrom(0, 1, 2.5, 40),
  })
  return fc.record({
    draft,
    embedded: fc.nat({ max: 4 }).map(one => one > 0),
    access: fc.option(access, { freq: 2 }),
  })
}

/** Many entries; each id once for a holder. */
export function knowledge(audiences: fc.Arbitrary<Audience>, maxLength = 30): fc.Arbitrary<readonly Known[]> {
  const ids = fc.integer({ min: 0, max: 60 }).map(number => `e${number}`)
  return fc.uniqueArray(known(audiences, ids), {
    maxLength,
    size: 'max',
    selector: ({ draft }) => `${draft.id} ${draft.audience.holder}`,
  })
}

function questionTexts(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: sentences() },
    { weight: 1, arbitrary: fc.tuple(sentences(), fc.constantFrom(...VOCABULARY)).map(([a, b]) => `${a} +${b}`) },
    { weight: 1, arbitrary: fc.tuple(sentences(), fc.constantFrom(...VOCABULARY)).map(([a, b]) => `${a} -${b}`) },
    { weight: 1, arbitrary: fc.tuple(sentences(), sentences()).map(([a, b]) => `${a} "${b}"`) },
    { weight: 1, arbitrary: fc.tuple(sentences(), fc.constantFrom(...VOCABULARY)).map(([a, b]) => `${a} ${b}^3`) },
    { weight: 1, arbitrary: sentences().map(text => `${text} tag:red`) },
    { weight: 1, arbitrary: fc.constantFrom('tag:red', 'collection:notes', 'kind:code -tag:blue') },
  )
}

/** Questions of every kind, without cursors and limits; most have few conditions, so that they find something. */
export function questions(): fc.Arbitrary<QueryInput> {
  return fc.record({
    text: questionTexts(),
    mode: maybe(2, fc.constantFrom<'hybrid' | 'words' | 'meaning'>('hybrid', 'words', 'meaning')),
    meaning_weight: maybe(3, fc.constantFrom(0, 0.25, 0.7, 1)),
    group: maybe(2, fc.constant<'passage'>('passage')),
    memory: maybe(3, fc.boolean()),
    any: maybe(2, fc.boolean()),
    filter: maybe(3, filters()),
    as_of: maybe(3, fc.constantFrom('2025-02-05', '2025-08-05', '2026-02-01')),
    known_at: maybe(6, fc.constantFrom('2025-05-05', '2026-01-01')),
  })
}

function filters(): fc.Arbitrary<FilterInput> {
  const one: fc.Arbitrary<FilterInput> = fc.oneof(
    fc.record({ collections: fc.constantFrom<string[]>(['notes'], ['code', 'notes']) }),
    fc.record({ kinds: fc.constantFrom<string[]>(['code'], ['note']) }),
    fc.record({ tags: fc.constantFrom<string[]>(['red'], ['red', 'blue']) }),
    fc.record({ any_tags: fc.constant<string[]>(['red', 'blue']) }),
    fc.record({ not_tags: fc.constant<string[]>(['blue']) }),
    fc.record({ metadata: fc.constantFrom<FilterInput['metadata']>({ n: { gte: 2 } }, { list: 'a' }, { n: [1, 2] }) }),
    fc.record({ updated: fc.constantFrom({ after: '2025-03-01' }, { before: '2025-09-01' }) }),
    fc.record({ accessed: fc.constant({ after: '2025-03-01' }) }),
    fc.record({ valid_at: fc.constantFrom('2025-03-05', '2025-09-05') }),
  )
  return fc.oneof(
    one,
    fc.tuple(one, one).map(([a, b]) => ({ ...a, ...b })),
  )
}

/** Most entries hold for ever. */
function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return maybe(12, arbitrary).map(value => value ?? null)
}

/** One time in so many. */
function maybe<T>(oneIn: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
}
