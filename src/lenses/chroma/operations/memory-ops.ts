/** Memory as a whole: its background work done now, its numbers, its future, its picture. */
import type { CallContext, Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, described, fields, INTEGER, OBJECT, OBJECTS, TEXT, type WireInput } from '../../wire-schema.ts'
import { Chroma } from '../chroma.ts'
import { invalidParameter } from '../errors.ts'
import type { RunOptions } from '../memory/batches.ts'
import { runDecayCycle } from '../memory/decay.ts'
import { DAY } from '../memory/formulas.ts'
import { runLifecycleCheck } from '../memory/lifecycle.ts'
import { MOST_POINTS } from '../nodes/points.ts'
import { drawMap } from '../picture/draw-map.ts'
import { secondsNow, stateOf } from '../state.ts'
import { inputOf, OPTION_FIELDS } from './query-ops.ts'
import { camelCased, only, TAGS } from './wire.ts'

const NUMBERS = { processed: INTEGER, strength_decayed: INTEGER, health_decayed: INTEGER, errors: INTEGER }

const decay: Operation<LensHost> = {
  name: 'chroma.decay',
  summary: 'Let what was not used decay up to now; running it again changes nothing',
  input: fields({}),
  output: answers(NUMBERS),
  effect: { kind: 'write', idempotent: true },
  async run(host, given, call) {
    only(given as WireInput, [])
    return runDecayCycle(stateOf(host).memory, call.viewer.id, runOptions(host, call))
  },
}

const lifecycle: Operation<LensHost> = {
  name: 'chroma.lifecycle',
  summary: 'Let strong nodes ascend and forgotten ones rot',
  input: fields({}),
  output: answers({ ascensions: INTEGER, rots: INTEGER, errors: INTEGER }),
  effect: { kind: 'write', idempotent: true },
  async run(host, given, call) {
    only(given as WireInput, [])
    return runLifecycleCheck(stateOf(host).memory, call.viewer.id, runOptions(host, call))
  },
}

const statistics: Operation<LensHost> = {
  name: 'chroma.statistics',
  summary: 'Count nodes by state and mode, with their strength and health',
  input: fields({}),
  output: answers({ total_nodes: INTEGER, permanent_nodes: INTEGER, rotten_nodes: INTEGER, decay_disabled: INTEGER }),
  effect: { kind: 'read', idempotent: true },
  async run(host, given, { viewer }) {
    only(given as WireInput, [])
    return new Chroma(host, viewer).getStatistics()
  },
}

const forecast: Operation<LensHost> = {
  name: 'chroma.forecast',
  summary: 'Say what will rot, ascend or fade up to a date if nothing is used; changes nothing',
  input: fields({
    until: described(INTEGER, 'Unix seconds; or give days'),
    days: described(INTEGER, 'From now'),
    limit: described(INTEGER, 'How many to name'),
  }),
  output: answers({ items: OBJECTS }),
  effect: { kind: 'read', idempotent: true },
  async run(host, given, { viewer }) {
    const { until, days, limit } = only(given as WireInput, ['until', 'days', 'limit'])
    if ((until === undefined) === (days === undefined)) throw invalidParameter('until', until, 'either until or days')
    if (days !== undefined && (!Number.isInteger(days) || (days as number) < 0)) {
      throw invalidParameter('days', days, 'a whole number of at least 0')
    }
    const end = days === undefined ? (until as number) : secondsNow(host) + (days as number) * DAY
    return new Chroma(host, viewer).forecast(end, limit === undefined ? {} : { limit: limit as number })
  },
}

const points: Operation<LensHost> = {
  name: 'chroma.points',
  summary: 'Give nodes as points of the colour space by pages, newest first, with what time will do to each if unused',
  input: fields({
    offset: described(INTEGER, 'How many to leave out; default 0'),
    limit: described(INTEGER, `1 to ${MOST_POINTS}; default 1000`),
  }),
  output: answers({ now: INTEGER, total: INTEGER, points: OBJECTS }),
  effect: { kind: 'read', idempotent: true },
  async run(host, given, { viewer }) {
    const { offset, limit } = only(given as WireInput, ['offset', 'limit'])
    const options = {
      ...(offset !== undefined && { offset: offset as number }),
      ...(limit !== undefined && { limit: limit as number }),
    }
    return new Chroma(host, viewer).points(options)
  },
}

const map: Operation<LensHost> = {
  name: 'chroma.map',
  summary: 'Draw all nodes in the plane of their colours as an SVG, with a query and its hits if one is given',
  input: fields({
    hashtags: TAGS,
    input: described(TEXT, 'Instead of hashtags: a text for the profile'),
    k: described(INTEGER, 'How many hits'),
    query: described(OBJECT, 'Further options of chroma.query'),
  }),
  output: answers({ svg: TEXT, nodes: INTEGER }),
  effect: { kind: 'read', idempotent: true },
  async run(host, given, { viewer }) {
    const { hashtags, input, k, query } = only(given as WireInput, ['hashtags', 'input', 'k', 'query'])
    const asked = hashtags === undefined && input === undefined ? undefined : inputOf(hashtags, input)
    const options = {
      ...camelCased((query ?? {}) as WireInput, OPTION_FIELDS),
      ...(k !== undefined && { k: k as number }),
    }
    return drawMap(stateOf(host), viewer, asked, options)
  },
}

export const MEMORY_OPERATIONS: readonly Operation<LensHost>[] = [decay, lifecycle, statistics, forecast, points, map]

function runOptions(host: LensHost, { signal, report }: CallContext): RunOptions {
  return { now: secondsNow(host), signal, ...(report && { report }) }
}
