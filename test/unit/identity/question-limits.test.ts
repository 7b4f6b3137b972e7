/** BQ-193: how many different questions may be asked, and how many that are nearly alike. */
import { describe, expect, it } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import { askedBy, likeness, QuestionLimits, type QuestionRules, RequesterLimits } from '../../../src/identity/limits.ts'

const HOUR = 3_600_000
const NOON = Date.UTC(2026, 5, 1, 12)

function limitsWith(rules: Partial<QuestionRules>) {
  const clock = new SettableClock(NOON)
  const limits = new QuestionLimits({ questionsPerDay: null, alikePerHour: null, ...rules }, clock)
  const ask = (input: unknown, viewer = 'ana', operation = 'beliefs.query') => limits.ask(viewer, { operation, input })
  return { clock, limits, ask }
}

/** Of letters, as words are. */
function letters(number: number): string {
  return [...String(number)].map(digit => 'abcdefghij'[Number(digit)]).join('')
}

const about = (text: string, more: object = {}) => ({ semantic: text, ...more })

describe('different questions in a day (BQ-193)', () => {
  it('are counted once each, and refused until the next day of UTC', () => {
    const { clock, ask } = limitsWith({ questionsPerDay: 3 })
    for (const text of ['rain', 'snow', 'rain', 'wind', 'snow']) expect(() => ask(about(text))).not.toThrow()
    expect(() => ask(about('hail'))).toThrow(
      expect.objectContaining({
        code: 'rate_limited',
        retryable: true,
        details: { retry_after_ms: 12 * HOUR, limit: 3, window_ms: 24 * HOUR },
      }),
    )
    expect(() => ask(about('rain'))).not.toThrow()
    clock.set(NOON + 12 * HOUR - 1)
    expect(() => ask(about('hail'))).toThrow('wait 1 ms')
    clock.set(NOON + 12 * HOUR)
    expect(() => ask(about('hail'))).not.toThrow()
  })

  it('are each requester’s own; keys that are no agent here are one', () => {
    const { ask } = limitsWith({ questionsPerDay: 1 })
    ask(about('rain'))
    expect(() => ask(about('snow'))).toThrow('too many different questions today')
    expect(() => ask(about('snow'), 'ben')).not.toThrow()
    ask(about('rain'), 'did:key:zone')
    expect(() => ask(about('snow'), 'did:key:zanother')).toThrow('too many')
  })

  it('are the same however they are read: pages, pieces, the order of members', () => {
    const { ask } = limitsWith({ questionsPerDay: 1 })
    ask({ semantic: 'rain', filters: { limit: 1 }, options: { limit: 5, scope: { local: true } } })
    const same = {
      options: { scope: { local: true }, cursor: 'c', limit: 9, stream: true },
      filters: { limit: 1 },
      semantic: 'rain',
    }
    expect(() => ask(same)).not.toThrow()
    for (const other of [
      { ...same, filters: { limit: 2 } },
      { ...same, options: { scope: { network: true } } },
      { ...same, semantic: 'Rain' },
    ]) {
      expect(() => ask(other)).toThrow('too many')
    }
    expect(() => ask(same, 'ana', 'beliefs.count')).toThrow('too many')
  })

  it('do not count where they were refused', () => {
    const { clock, ask } = limitsWith({ questionsPerDay: 10, alikePerHour: 1 })
    ask(about('the salary of bob is one'))
    for (let at = 0; at < 50; at++) {
      expect(() => ask(about(`the salary of bob is ${letters(at)}`))).toThrow('nearly alike')
    }
    clock.set(NOON + HOUR)
    for (let at = 0; at < 9; at++) expect(() => ask(about(letters(at)))).not.toThrow()
  })
})

describe('queries that are nearly alike (BQ-193)', () => {
  it('are those that differ in few of their words, or in numbers alone', () => {
    const words = (text: string) => askedBy({ operation: 'query', input: about(text) }).words
    const alike = (a: string, b: string) => likeness(words(a), words(b)) >= 0.6
    expect(alike('what does bob earn', 'what does bob own')).toBe(true)
    expect(alike('What does BOB earn?', 'bob, what does he earn')).toBe(true)
    expect(alike('belief 17', 'belief 18')).toBe(true)
    expect(alike('rain', 'snow')).toBe(false)
    expect(alike('rain in spain', 'snow in norway')).toBe(false)
    expect(likeness([], [])).toBe(1)
    // Two long texts that differ in one word of a thousand.
    const long = Array.from({ length: 1_000 }, (_, at) => letters(at))
    expect(words(long.join(' '))).toHaveLength(64)
    expect(alike(long.join(' '), [...long.slice(1), 'other'].join(' '))).toBe(true)
  })

  it('are refused beyond so many, until the oldest is an hour ago', () => {
    const { clock, ask } = limitsWith({ alikePerHour: 3 })
    const probe = (least: number) => ask({ semantic: 'salary of bob', filters: { min_confidence: least } })
    probe(0.5)
    clock.set(NOON + 60_000)
    probe(0.25)
    probe(0.375)
    expect(() => probe(0.3125)).toThrow(
      expect.objectContaining({
        code: 'rate_limited',
        details: { retry_after_ms: HOUR - 60_000, limit: 3, window_ms: HOUR },
      }),
    )
    // Asked again it is no other question; other questions are not touched. Another operation is no way round.
    expect(() => probe(0.25)).not.toThrow()
    expect(() => ask(about('rain in spain'))).not.toThrow()
    expect(() => ask({ semantic: 'salary of bob' }, 'ana', 'beliefs.count')).toThrow('nearly alike')
    clock.set(NOON + HOUR)
    expect(() => probe(0.3125)).not.toThrow()
    expect(() => probe(0.34375)).toThrow(`wait 60000 ms`)
  })
})

it('a question of any form is one: nested without end, or no JSON (BQ-193)', () => {
  const { ask } = limitsWith({ questionsPerDay: 3, alikePerHour: 9 })
  let deep: unknown = 'rain'
  for (let level = 0; level < 100_000; level++) deep = [deep]
  const endless: Record<string, unknown> = {}
  endless['self'] = endless
  for (const odd of [deep, endless, 1n, undefined, null, Number.NaN, () => 1]) expect(() => ask(odd)).not.toThrow()
})

describe('memory of questions (BQ-193)', () => {
  it('is none where nothing is counted', () => {
    const { limits, ask } = limitsWith({})
    for (let at = 0; at < 5_000; at++) ask(about(`rain ${letters(at)}`), `agent ${at}`)
    expect(limits.size).toBe(0)
  })

  it('does not grow with those who have nothing that counts any more', () => {
    const { clock, limits, ask } = limitsWith({ questionsPerDay: 5, alikePerHour: 5 })
    for (let at = 0; at < 5_000; at++) {
      clock.set(NOON + at * HOUR)
      ask(about('rain'), `agent ${at}`)
    }
    expect(limits.size).toBeLessThanOrEqual(1_024)
  })

  it('begins again where the clock was set back', () => {
    const { clock, ask } = limitsWith({ questionsPerDay: 1, alikePerHour: 1 })
    ask(about('rain'))
    clock.set(NOON - 48 * HOUR)
    expect(() => ask(about('rain 2'))).not.toThrow()
  })
})

it('is a part of the limits of requesters, where there are any', () => {
  const clock = new SettableClock(NOON)
  const rules = { questionsPerDay: 1, alikePerHour: null }
  const limits = new RequesterLimits({ unitsPerMinute: 1, burst: 1 }, () => 0, {
    questions: new QuestionLimits(rules, clock),
  })
  const ask = (semantic: string) => limits.ask('ana', { operation: 'query', input: { semantic } })
  ask('rain')
  expect(() => ask('snow')).toThrow('too many different questions today')
})
