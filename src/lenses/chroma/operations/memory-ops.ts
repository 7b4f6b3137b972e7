/** Memory as a whole: its background work done now, its numbers, its future, its picture. */
import { z } from 'zod'
import type { CallContext } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { Chroma } from '../chroma.ts'
import type { RunOptions } from '../memory/batches.ts'
import { decayReport, runDecayCycle } from '../memory/decay.ts'
import { DAY } from '../memory/formulas.ts'
import { lifecycleReport, runLifecycleCheck } from '../memory/lifecycle.ts'
import { statistics } from '../memory/statistics.ts'
import { hashtagList, queryOptions } from '../model.ts'
import { foretold } from '../nodes/foretell.ts'
import { pointsOptions, pointsPage } from '../nodes/points.ts'
import { drawMap, drawnMap } from '../picture/draw-map.ts'
import { secondsNow, stateOf } from '../state.ts'
import { chromaOperation } from './chroma-operation.ts'

const nothing = z.strictObject({})

const decay = chromaOperation({
  name: 'chroma.decay',
  summary: 'Let what was not used decay up to now; running it again changes nothing',
  input: nothing,
  output: decayReport,
  effect: { kind: 'write', idempotent: true },
  run: (host, _input, call) => runDecayCycle(stateOf(host).memory, call.viewer.id, runOptions(host, call)),
})

const lifecycle = chromaOperation({
  name: 'chroma.lifecycle',
  summary: 'Let strong nodes ascend and forgotten ones rot',
  input: nothing,
  output: lifecycleReport,
  effect: { kind: 'write', idempotent: true },
  run: (host, _input, call) => runLifecycleCheck(stateOf(host).memory, call.viewer.id, runOptions(host, call)),
})

const counts = chromaOperation({
  name: 'chroma.statistics',
  summary: 'Count nodes by state and mode, with their strength and health',
  input: nothing,
  output: statistics,
  effect: { kind: 'read', idempotent: true },
  run: (host, _input, { viewer }) => new Chroma(host, viewer).getStatistics(),
})

const forecast = chromaOperation({
  name: 'chroma.forecast',
  summary: 'Say what will rot, ascend or fade up to a date if nothing is used; changes nothing',
  input: z
    .strictObject({
      until: z.int().optional().describe('Up to when, Unix seconds, not before now; either this or days'),
      days: z.int().min(0).optional().describe('Up to so many days of 24 hours from now; either this or until'),
      limit: z.int().min(0).optional().describe('Most items, at least 0; totals count all. Default: 100'),
    })
    .refine(({ until, days }) => (until === undefined) !== (days === undefined), {
      path: ['until'],
      error: 'either until or days',
    })
    .meta({ oneOf: [{ required: ['until'] }, { required: ['days'] }], examples: [{ days: 30 }] }),
  output: foretold,
  effect: { kind: 'read', idempotent: true },
  run: (host, { until, days = 0, limit }, { viewer }) =>
    new Chroma(host, viewer).forecast(until ?? secondsNow(host) + days * DAY, { limit }),
})

const points = chromaOperation({
  name: 'chroma.points',
  summary: 'Give nodes as points of the colour space by pages, newest first, with what time will do to each if unused',
  input: pointsOptions,
  output: pointsPage,
  effect: { kind: 'read', idempotent: true },
  run: (host, options, { viewer }) => new Chroma(host, viewer).points(options),
})

const map = chromaOperation({
  name: 'chroma.map',
  summary: 'Draw all nodes in the plane of their colours as an SVG, with a query and its hits if one is given',
  input: z
    .strictObject({
      hashtags: hashtagList.optional().describe(`${hashtagList.description}. Default: no query is drawn`),
      input: z.string().optional().describe('A text, which the profile reads; instead of hashtags'),
      k: queryOptions.shape.k.unwrap().unwrap().optional().describe('Most hits to draw, at least 1. Default: 5'),
      query: queryOptions
        .optional()
        .describe('Further options of chroma.query; k above beats the one in here. Default: none'),
    })
    .refine(({ hashtags, input }) => hashtags === undefined || input === undefined, {
      path: ['hashtags'],
      error: 'a list of hashtags, or `input` with a text, and not both',
    })
    .meta({ not: { required: ['hashtags', 'input'] } }),
  output: drawnMap,
  effect: { kind: 'read', idempotent: true },
  run: (host, { hashtags, input, k, query = {} }, call) =>
    drawMap(stateOf(host), call, { ...query, hashtags, input, ...(k !== undefined && { k }) }),
})

export const MEMORY_OPERATIONS = [decay, lifecycle, counts, forecast, points, map] as const

function runOptions(host: LensHost, { signal, report }: CallContext): RunOptions {
  return { now: secondsNow(host), signal, ...(report && { report }) }
}
