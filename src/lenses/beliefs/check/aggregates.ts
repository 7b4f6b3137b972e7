/** Checks what is asked of a federation whose results are aggregates, and how one is founded (BQ-105). */
import { DEFAULT_ANSWER, DEFAULT_DAY, type GivenRules, inOnes, thousandths } from '../aggregates/rules.ts'
import { type AggregateQuestion, type Topic, textTopic } from '../aggregates/topic.ts'
import { tokensOf } from '../matching/literal.ts'
import { type Check, checked, type Place } from './faults.ts'
import { members } from './shapes.ts'
import { boolean, domain, id, numberIn, textUpTo } from './values.ts'

/** Characters of a topic. */
export const MOST_TOPIC = 500

/** `federations.aggregate`: a federation, and of `topic` and `domain` one. Throws INVALID_QUERY with all faults. */
export function checkAggregate(input: unknown): AggregateQuestion {
  return checked(input, (value, at) => {
    const given = members(value, at, QUESTION, { required: ['federation'] })
    if (given?.federation === undefined) return undefined
    const { federation, topic: text, domain: path } = given
    if (text !== undefined && path !== undefined)
      return at.member('domain').fault('not_alone', 'either a topic or a domain, not both', path)
    const topic: Topic | undefined = text ?? (path === undefined ? undefined : { kind: 'domain', domain: path })
    if (topic !== undefined) return { federation, topic }
    return at.member('topic').fault('required', 'a topic, or a domain in its place')
  })
}

/** Epsilon, both ends in. */
export const PER_ANSWER = { least: 0.1, most: 5 }
export const PER_DAY = { least: 0.1, most: 50 }

/** Members of `federations.create`. */
export const AGGREGATE_RULES = {
  sensitive: boolean,
  query_epsilon: thousandthsIn(PER_ANSWER),
  daily_epsilon: thousandthsIn(PER_DAY),
}

interface GivenWith extends GivenRules {
  readonly results?: string | undefined
}

/** They go with aggregates, and a day has room for one answer. */
export function checkAggregateRules(given: GivenWith, at: Place): void {
  if (given.results !== 'aggregate') {
    const named = (Object.keys(AGGREGATE_RULES) as (keyof GivenRules)[]).filter(name => given[name] !== undefined)
    for (const name of named)
      at.member(name).fault('not_aggregate', 'no such member unless results is aggregate', given[name])
    return
  }
  const { query_epsilon: answer = inOnes(DEFAULT_ANSWER), daily_epsilon: day = inOnes(DEFAULT_DAY) } = given
  if (day < answer) at.member('daily_epsilon').fault('range', `a number of at least query_epsilon, ${answer}`, day)
}

function thousandthsIn(range: { readonly least: number; readonly most: number }): Check<number> {
  return (value, at) => {
    const given = numberIn(range)(value, at)
    if (given === undefined || inOnes(thousandths(given)) === given) return given
    return at.fault('malformed', 'a number with at most three decimals', value)
  }
}

/** Whether there is a letter or a digit in it. */
export function saysSomething(text: string): boolean {
  return tokensOf(text).length > 0
}

const QUESTION = { federation: id, topic, domain }

function topic(value: unknown, at: Place): Topic | undefined {
  const text = textUpTo(MOST_TOPIC)(value, at)
  if (text === undefined) return undefined
  // Some characters fold to several.
  const folded = textTopic(text)
  if (folded.text.length > MOST_TOPIC)
    return at.fault('range', `text of at most ${MOST_TOPIC} characters, folded`, value)
  return saysSomething(text) ? folded : at.fault('malformed', 'a topic with a letter or a digit in it', value)
}
