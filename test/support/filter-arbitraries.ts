/** Generator of filter trees over the entries of `arbitraries.ts`: every operator on every sort of field. */
import fc from 'fast-check'
import { ENTRY_FIELDS, type Filter, type Scalar, TIME_FIELDS } from '../../src/model/filter.ts'
import { COLLECTIONS, HOLDERS, IDS, instants, KINDS, scalars, TAGS, texts } from './arbitraries.ts'

const METADATA_FIELDS = [
  'metadata.a',
  'metadata.n',
  'metadata.list',
  'metadata.deep',
  'metadata.deep.a',
  'metadata.deep.n',
]

const OTHER_FIELDS = [
  'metadata',
  'metadata.deep.deep.a',
  'metadata.with.dot',
  'metadata.with "quote',
  'metadata.',
  'metadata.__proto__',
  'metadata.__proto__.a',
  'metadata.ключ',
  'metadata.absent',
  'nothing',
  '',
] as const

/** `aspectFields` are added as they are, such as `mood.level`. */
export function filters(aspectFields: readonly string[] = []): fc.Arbitrary<Filter> {
  const fields = [...ENTRY_FIELDS, ...METADATA_FIELDS, ...METADATA_FIELDS, ...OTHER_FIELDS, ...aspectFields]
  const comparison = fc.constantFrom(...fields).chain(field => comparisons(field, valuesFor(field)))
  const { filter } = fc.letrec<{ filter: Filter }>(tie => ({
    filter: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      comparison,
      fc.record({ op: fc.constantFrom<'and' | 'or'>('and', 'or'), of: fc.array(tie('filter'), { maxLength: 3 }) }),
      fc.record({ op: fc.constant<'not'>('not'), of: tie('filter') }),
    ),
  }))
  return filter
}

function comparisons(field: string, value: fc.Arbitrary<Scalar>): fc.Arbitrary<Filter> {
  const text = fc.oneof(texts(6), fc.constantFrom('O', 'x', 'İ', 'OX', 'straß'))
  return fc.oneof(
    fc.record({ op: fc.constantFrom(...ORDERED), field: fc.constant(field), value }),
    fc.record({ op: fc.constant<'in'>('in'), field: fc.constant(field), values: fc.array(value, { maxLength: 4 }) }),
    fc.record({ op: fc.constant<'contains'>('contains'), field: fc.constant(field), text }),
    fc.record({ op: fc.constant<'exists'>('exists'), field: fc.constant(field) }),
  )
}

const ORDERED = ['eq', 'lt', 'lte', 'gt', 'gte'] as const

/** Mostly what the field may hold, sometimes what it cannot. */
function valuesFor(field: string): fc.Arbitrary<Scalar> {
  const odd = fc.oneof(scalars(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY))
  return fc.oneof({ weight: 4, arbitrary: likely(field) }, { weight: 1, arbitrary: odd })
}

function likely(field: string): fc.Arbitrary<Scalar> {
  if (TIME_FIELDS.includes(field)) return instants()
  switch (field) {
    case 'id':
      return fc.constantFrom(...IDS)
    case 'collection':
      return fc.constantFrom(...COLLECTIONS)
    case 'kind':
      return fc.constantFrom(...KINDS)
    case 'holder':
      return fc.constantFrom(...HOLDERS)
    case 'tag':
      return fc.oneof(fc.constantFrom(...TAGS), texts(8))
    case 'title':
    case 'origin':
      return texts(12)
    default:
      return fc.oneof(fc.integer({ min: -3, max: 3 }), scalars())
  }
}
