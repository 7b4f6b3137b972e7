import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../../src/base/canonical.ts'
import { checkCamel } from '../../../../../src/lenses/chroma/errors.ts'
import { type Condition, queryOptions } from '../../../../../src/lenses/chroma/model.ts'
import { fieldValue, testOf } from '../../../../../src/lenses/chroma/nodes/stored.ts'

const checkFilters = (metadataFilters: unknown) => checkCamel(queryOptions, { metadataFilters }, 'options')

const passes = (condition: Condition, value: Json | undefined): boolean => testOf(condition)(value)

describe('a filter', () => {
  it.each([['x'], [[]], [new Map()], [{ '': 1 }]])('CQ-016: %j is refused', given => {
    expect(() => checkFilters(given)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }))
  })

  it('CQ-016: of no keys is fine', () => {
    expect(() => checkFilters({})).not.toThrow()
  })

  it.each<[string, unknown]>([
    ['an unknown operator', { $regex: 'x' }],
    ['an inherited name', { constructor: 1 }],
    ['no operator', {}],
    ['a wrong operand', { $gt: true }],
    ['a number that is none', { $gte: Number.NaN }],
    ['an infinite number', Number.POSITIVE_INFINITY],
    ['a list with an object', [{}]],
    ['$in without a list', { $in: 'x' }],
    ['$in of lists', { $in: [['x']] }],
    ['$contains of a number', { $contains: 5 }],
    ['$exists of text', { $exists: 'yes' }],
    ['a function', () => 1],
    ['a big integer', 5n],
  ])('CQ-061: %s is refused', (_, condition) => {
    expect(() => checkFilters({ field: condition })).toThrow(
      expect.objectContaining({ code: 'invalid_parameter', name: 'ValidationError' }),
    )
  })
})

describe('the field that a key names', () => {
  it('CQ-058: is a column that is set, then a key, then a path', () => {
    const metadata: JsonObject = { year: 1, 'a.b': 2, a: { b: 3, c: { d: 4 } }, list: [{ x: 1 }] }
    expect(fieldValue('year', metadata, { year: 9 })).toBe(9)
    expect(fieldValue('year', metadata, { year: null })).toBe(1)
    expect(fieldValue('a.b', metadata, {})).toBe(2)
    expect(fieldValue('a.c.d', metadata, {})).toBe(4)
    expect(fieldValue('a.c.e', metadata, {})).toBeUndefined()
    expect(fieldValue('list.0', metadata, {})).toBeUndefined()
    expect(fieldValue('constructor', metadata, {})).toBeUndefined()
    expect(fieldValue('year', null, {})).toBeUndefined()
  })
})

describe('a condition', () => {
  it.each<[Condition, Json | undefined, boolean]>([
    [2024, '2024', false],
    ['1', 1, false],
    [true, 1, false],
    ['Ab', 'ab', false],
    ['ab', 'ab', true],
    [null, undefined, true],
    [null, null, true],
    [null, 0, false],
    [0, null, false],
  ])('CQ-059: %j on %j is %s', (condition, value, expected) => {
    expect(passes(condition, value)).toBe(expected)
  })

  it.each<[Condition, Json | undefined, boolean]>([
    [['public', 'lts'], 'lts', true],
    [['public', 'lts'], 'beta', false],
    [[], 'lts', false],
    [[], undefined, false],
    [[null], undefined, true],
    [['1'], 1, false],
  ])('CQ-060: membership %j on %j is %s', (condition, value, expected) => {
    expect(passes(condition, value)).toBe(expected)
  })

  it.each<[Condition, Json | undefined, boolean]>([
    [{ $gte: '2025-06-01', $lt: '2026-01-01' }, '2025-11-20', true],
    [{ $gte: '2025-06-01', $lt: '2026-01-01' }, '2026-01-01', false],
    [{ $gt: 1, $lte: 3 }, 3, true],
    [{ $gt: 1 }, 1, false],
    [{ $gt: 1 }, '2', false],
    [{ $gt: '1' }, 2, false],
    [{ $gt: 1 }, undefined, false],
    [{ $lt: 'a' }, 'Z', true],
    [{ $gt: '\u{ffff}' }, '\u{10000}', false],
  ])('CQ-062: a range %j on %j is %s', (condition, value, expected) => {
    expect(passes(condition, value)).toBe(expected)
  })

  it.each<[Condition, Json | undefined, boolean]>([
    [{ $contains: 'ASYNC' }, 'Python async io', true],
    [{ $contains: '' }, 'x', true],
    [{ $contains: '' }, 5, false],
    [{ $contains: '' }, undefined, false],
    [{ $contains: 'É' }, 'cafe\u0301', true],
    [{ $exists: true }, 0, true],
    [{ $exists: true }, null, false],
    [{ $exists: false }, undefined, true],
    [{ $ne: 5 }, undefined, true],
    [{ $ne: 5 }, 5, false],
    [{ $ne: null }, undefined, false],
    [{ $nin: ['a'] }, undefined, true],
    [{ $nin: ['a', null] }, undefined, false],
    [{ $eq: 1, $ne: 2 }, 1, true],
  ])('CQ-063: %j on %j is %s', (condition, value, expected) => {
    expect(passes(condition, value)).toBe(expected)
  })

  it.each<[Condition, Json | undefined, boolean]>([
    [{ $gte: 2, $lte: 3 }, [1, 5], false],
    [{ $gte: 2, $lte: 3 }, [1, 2.5], true],
    ['x', ['y', 'x'], true],
    [{ $ne: 'x' }, ['y', 'x'], false],
    [{ $nin: ['x'] }, ['y'], true],
    [{ $ne: 'x' }, [], true],
    ['x', [], false],
    [{ $contains: 'A', $ne: 'b' }, ['ab', 'c'], true],
    [{ $eq: 'x' }, { x: 'x' }, false],
    [['x'], { x: 'x' }, false],
    [{ $exists: true }, { x: 1 }, true],
    [{ $ne: 'x' }, { x: 'x' }, true],
  ])('CQ-064: %j on the list or object %j is %s', (condition, value, expected) => {
    expect(passes(condition, value)).toBe(expected)
  })
})
