/** Checks a live query: the query, and how it is to be watched (BQ-156, BQ-157). */
import type { LiveOptions } from '../../../model/live.ts'
import type { Asker, CheckedQuery } from './checked.ts'
import { type Check, checked, type Place } from './faults.ts'
import { queryOf } from './query.ts'
import { isRecord, members } from './shapes.ts'
import { boolean, integerIn } from './values.ts'

interface CheckedWatch {
  readonly query: CheckedQuery
  readonly options: LiveOptions
}

/** `{query, options, resume_token}`. */
export function checkWatch(input: unknown, asker: Asker): CheckedWatch {
  const shape = { query: watchedQuery(asker), options: liveOptions, resume_token: resumeToken }
  return checked(input, (value, at) => {
    const given = members(value, at, shape, { required: ['query'] })
    if (given?.query === undefined) return undefined
    const options = given.options ?? DEFAULTS
    return { query: given.query, options: { ...options, resumeToken: given.resume_token ?? null } }
  })
}

/** What is watched is the beginning of the answer. */
function watchedQuery(asker: Asker): Check<CheckedQuery> {
  const query = queryOf(asker)
  return (value, at) => {
    const options = isRecord(value) ? value['options'] : undefined
    if (isRecord(options)) {
      const place = at.member('options')
      refuse(options['offset'], 0, place.member('offset'))
      refuse(options['cursor'], null, place.member('cursor'))
    }
    return query(value, at)
  }
}

function refuse(value: unknown, nothing: 0 | null, at: Place): void {
  if (value === undefined || value === nothing) return
  at.fault('not_watched', 'no place further down: a live query watches its first results, options.limit of them', value)
}

const DEFAULTS: Omit<LiveOptions, 'resumeToken'> = {
  debounceMs: 1_000,
  includeRemovals: true,
  includeReranks: false,
  maxEventsPerMinute: 60,
  notifyOnConnect: true,
}

const LIVE = {
  debounce_ms: integerIn({ least: 0, most: 60_000 }),
  include_removals: boolean,
  include_reranks: boolean,
  max_events_per_minute: integerIn({ least: 1, most: 600 }),
  notify_on_connect: boolean,
}

const liveOptions: Check<Omit<LiveOptions, 'resumeToken'>> = (value, at) => {
  const given = members(value, at, LIVE)
  return (
    given && {
      debounceMs: given.debounce_ms ?? DEFAULTS.debounceMs,
      includeRemovals: given.include_removals ?? DEFAULTS.includeRemovals,
      includeReranks: given.include_reranks ?? DEFAULTS.includeReranks,
      maxEventsPerMinute: given.max_events_per_minute ?? DEFAULTS.maxEventsPerMinute,
      notifyOnConnect: given.notify_on_connect ?? DEFAULTS.notifyOnConnect,
    }
  )
}

/** Whether it is one is found out by opening it. */
const resumeToken: Check<string> = (value, at) =>
  typeof value === 'string'
    ? value
    : at.fault('resume_invalid', 'the resume token of an event of a subscription to this query', value)
