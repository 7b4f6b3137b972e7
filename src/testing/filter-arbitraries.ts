/** Generator of filter trees over the entries of `arbitraries.ts`: every operator on every sort of field. */
import fc from 'fast-check'
import { ENTRY_FIELDS, type Filter, type Scalar } from '../model/filter.ts'
import { HOLDERS, instants, numbers, scalars, texts } from './arbitraries.ts'

const OTHER_FIELDS = [
  'metadata',
  'metadata.a',
  'metadata.n',
  'metadata.list',
  'metadata.deep',
  'metadata.deep.a',
  'metadata.deep.n',
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
  const field = fc.constantFrom(...ENTRY_FIELDS, ...OTHER_FIELDS, ...aspectFields)
  const value: fc.Arbitrary<Scalar> = fc.oneof(
    scalars(),
    instants(),
    numbers(),
    fc.constantFrom('one', 'notes', 'Notes', 'note', 'memory', 'fox', '🦊', ...HOLDERS),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  )
  const comparison: fc.Arbitrary<Filter> = fc.oneof(
    fc.record({
      op: fc.constantFrom<'eq' | 'lt' | 'lte' | 'gt' | 'gte'>('eq', 'lt', 'lte', 'gt', 'gte'),
      field,
      value,
    }),
    fc.record({ op: fc.constant<'in'>('in'), field, values: fc.array(value, { maxLength: 4 }) }),
    fc.record({
      op: fc.constant<'contains'>('contains'),
      field,
      text: fc.oneof(texts(6), fc.constantFrom('O', 'x', 'İ')),
    }),
    fc.record({ op: fc.constant<'exists'>('exists'), field }),
  )
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
