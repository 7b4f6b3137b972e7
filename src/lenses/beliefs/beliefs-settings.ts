/** The lens's part of the configuration. */
import { invalidArgument } from '../../model/errors.ts'
import { DAY_MS, DEFAULT_DECAY, type DecayTable } from './measures/decay.ts'
import { normaliseDomain } from './measures/domains.ts'
import type { Conflict } from './model.ts'

export interface SetThresholds {
  readonly include: number
  readonly exclude: number
  /** Null: not set. -1: no belief is too far from a text. */
  readonly floor: number | null
}

export interface BeliefsSettings {
  /** `decay`: an object of rates a day by domain, which replace or join the built-in ones; `other` is that of all else. */
  readonly decay: DecayTable
  /** `sybil_threshold`: first hops (or routes) that a transitive value needs lest it be capped (BQ-075). 1 to 10. */
  readonly sybilThreshold: number
  /** `sybil_cap`: 0 to 1. */
  readonly sybilCap: number
  /** `sybil_rule`: what is counted (BQ-076). */
  readonly sybilRule: 'first_hops' | 'disjoint'
  /** `new_agent_cap`: whether young agents are capped transitively and halve the routes through them (BQ-076). */
  readonly newAgentCap: boolean
  /** `default_trust`: in agents of whom nothing is known. 0 to 0.5. */
  readonly defaultTrust: number
  /** `conflicts`: what happens to the later one of two results that contradict each other (BQ-174). */
  readonly conflicts: Conflict['resolution']
  /** `cache_duration_ms`: for how long what other nodes answered is good; 0: nothing is kept (BQ-137). */
  readonly cacheDurationMs: number
  /** `stale_while_revalidate`: whether it may be shown a while longer, marked so, while it is asked for anew (BQ-141). */
  readonly staleWhileRevalidate: boolean
  /** `invalidate_on_update`: whether nodes are asked to tell of changes while their answers are kept (BQ-140). */
  readonly invalidateOnUpdate: boolean
  /** `answer_nodes`: whether other nodes are answered at all; who this one is, it tells in any case. */
  readonly answerNodes: boolean
  /** `answer_network`: whether other nodes that nobody here knows are told public beliefs; members of federations are in any case. */
  readonly answerNetwork: boolean
  /** `answers_per_minute`: questions of other nodes that are answered to each sender known here, and to all others together. */
  readonly answersPerMinute: number
  /** `thresholds`: raw cosines {include, exclude, floor} by key of the embedder's model, in place of calibrated ones (BQ-040, BQ-043). */
  readonly thresholds: ReadonlyMap<string, SetThresholds>
}

export const DEFAULTS: BeliefsSettings = {
  decay: DEFAULT_DECAY,
  sybilThreshold: 2,
  sybilCap: 0.3,
  sybilRule: 'first_hops',
  newAgentCap: false,
  defaultTrust: 0.1,
  conflicts: 'both_shown',
  cacheDurationMs: 60_000,
  staleWhileRevalidate: false,
  invalidateOnUpdate: true,
  answerNodes: true,
  answerNetwork: true,
  // Ten a second: over twenty thousand beliefs that is a tenth of a core for one sender (`npm run bench -- nodes`).
  answersPerMinute: 600,
  thresholds: new Map(),
}

/** What each may be and means, for the reference. */
export const SETTING_TEXTS: Readonly<Record<string, { readonly values: string; readonly means: string }>> = {
  decay: {
    values: 'an object of numbers of at least 0, by domain',
    means: 'Rates a day, which replace or join the built-in ones; `other` is that of all else',
  },
  sybil_threshold: { values: 'whole number, 1 to 10', means: 'Ways that trust must come by, lest it be capped' },
  sybil_cap: { values: 'number, 0 to 1', means: 'What it is capped at' },
  sybil_rule: {
    values: '`first_hops`, `disjoint`',
    means: 'What counts as ways: those whom one trusts oneself, or routes that share nobody',
  },
  new_agent_cap: { values: 'true or false', means: 'Whether agents that are new here pass on less trust' },
  default_trust: { values: 'number, 0 to 0.5', means: 'Trust in agents of whom nothing is known' },
  conflicts: {
    values: '`both_shown`, `one_penalized`, `one_excluded`',
    means: 'What becomes of the later one of two results that contradict each other',
  },
  cache_duration_ms: {
    values: 'whole number, 0 to 86400000',
    means: 'Milliseconds for which what other nodes answered is good; 0: they are asked each time',
  },
  stale_while_revalidate: {
    values: 'true or false',
    means: 'Whether it may be shown ten times as long, marked `stale`, while it is asked for anew',
  },
  invalidate_on_update: {
    values: 'true or false',
    means: 'Whether nodes are asked to tell when something has changed, while what they answered is kept',
  },
  answer_nodes: {
    values: 'true or false',
    means: 'Whether other nodes are answered at all; who this one is, and that it answers nobody, it tells in any case',
  },
  answer_network: {
    values: 'true or false',
    means:
      'Whether any node that asks is told public beliefs; members of a federation are told what it shares in any case',
  },
  answers_per_minute: {
    values: 'whole number, 1 to 1000000',
    means:
      'Questions that are answered to each node or agent known here, and to all others together; to others at one address a fifth of it. Of each process',
  },
  thresholds: {
    values: 'by model: `{"include", "exclude", "floor"}`, cosines',
    means:
      'From where on `+` and `-` hold, and how near to a text a belief must be to take part, in place of calibrated values',
  },
}

/** Throws `invalid_argument` for unknown names and values out of range; fields are `lenses.beliefs.<name>`. */
export function checkSettings(given: unknown): BeliefsSettings {
  const settings = { ...DEFAULTS }
  for (const [name, value] of entriesOf(given, PLACE)) {
    const reader = Object.hasOwn(READERS, name) ? READERS[name] : undefined
    if (reader === undefined)
      throw invalidArgument(`${PLACE}.${name}`, value, `one of ${Object.keys(READERS).join(', ')}`)
    Object.assign(settings, reader(value, `${PLACE}.${name}`))
  }
  return settings
}

const PLACE = 'lenses.beliefs'
const OTHER = 'other'
const MOST_ANSWERS = 1_000_000

const READERS: Readonly<Record<string, (value: unknown, field: string) => Partial<BeliefsSettings>>> = {
  decay: (value, field) => ({ decay: decayTable(value, field) }),
  sybil_threshold: (value, field) => {
    if (!Number.isInteger(value)) throw invalidArgument(field, value, 'an integer from 1 to 10')
    return { sybilThreshold: numberFrom(value, field, 1, 10) }
  },
  sybil_cap: (value, field) => ({ sybilCap: numberFrom(value, field, 0, 1) }),
  sybil_rule: (value, field) => {
    if (value !== 'first_hops' && value !== 'disjoint') throw invalidArgument(field, value, 'first_hops or disjoint')
    return { sybilRule: value }
  },
  new_agent_cap: (value, field) => ({ newAgentCap: boolean(value, field) }),
  default_trust: (value, field) => ({ defaultTrust: numberFrom(value, field, 0, 0.5) }),
  conflicts: (value, field) => {
    const known = (['both_shown', 'one_penalized', 'one_excluded'] as const).find(strategy => strategy === value)
    if (known === undefined) throw invalidArgument(field, value, 'both_shown, one_penalized or one_excluded')
    return { conflicts: known }
  },
  cache_duration_ms: (value, field) => {
    if (!Number.isInteger(value)) throw invalidArgument(field, value, 'a whole number from 0 to 86400000')
    return { cacheDurationMs: numberFrom(value, field, 0, DAY_MS) }
  },
  stale_while_revalidate: (value, field) => ({ staleWhileRevalidate: boolean(value, field) }),
  invalidate_on_update: (value, field) => ({ invalidateOnUpdate: boolean(value, field) }),
  answer_nodes: (value, field) => ({ answerNodes: boolean(value, field) }),
  answer_network: (value, field) => ({ answerNetwork: boolean(value, field) }),
  answers_per_minute: (value, field) => {
    if (!Number.isInteger(value)) throw invalidArgument(field, value, `a whole number from 1 to ${MOST_ANSWERS}`)
    return { answersPerMinute: numberFrom(value, field, 1, MOST_ANSWERS) }
  },
  thresholds: (value, field) => ({
    thresholds: new Map(
      entriesOf(value, field).map(([model, cuts]) => [model, thresholdsOf(cuts, `${field}.${model}`)]),
    ),
  }),
}

function boolean(value: unknown, field: string): boolean {
  if (typeof value !== 'boolean') throw invalidArgument(field, value, 'true or false')
  return value
}

function decayTable(value: unknown, field: string): DecayTable {
  const rates = new Map(DEFAULT_DECAY.rates)
  let { otherwise } = DEFAULT_DECAY
  for (const [name, given] of entriesOf(value, field)) {
    const rate = numberFrom(given, `${field}.${name}`, 0, Number.MAX_VALUE)
    const domain = normaliseDomain(name)
    if (name === OTHER) otherwise = rate
    else if (domain === null)
      throw invalidArgument(`${field}.${name}`, name, `a domain such as news/world, or ${OTHER}`)
    else rates.set(domain, rate)
  }
  return { rates, otherwise }
}

function thresholdsOf(value: unknown, field: string): SetThresholds {
  const cuts = new Map(entriesOf(value, field))
  for (const name of cuts.keys()) {
    if (name !== 'include' && name !== 'exclude' && name !== 'floor')
      throw invalidArgument(`${field}.${name}`, cuts.get(name), 'include, exclude or floor')
  }
  const include = numberFrom(cuts.get('include'), `${field}.include`, -1, 1)
  const floor = cuts.get('floor') ?? null
  return {
    include,
    exclude: numberFrom(cuts.get('exclude') ?? include, `${field}.exclude`, -1, 1),
    floor: floor === null ? null : numberFrom(floor, `${field}.floor`, -1, 1),
  }
}

/** Both ends are in. */
function numberFrom(value: unknown, field: string, least: number, most: number): number {
  if (typeof value === 'number' && value >= least && value <= most) return value
  const expected = most === Number.MAX_VALUE ? `a number of at least ${least}` : `a number from ${least} to ${most}`
  throw invalidArgument(field, value, expected)
}

/** Undefined and null are empty. */
function entriesOf(value: unknown, field: string): readonly (readonly [string, unknown])[] {
  if (value === undefined || value === null) return []
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidArgument(field, value, 'an object')
  return Object.entries(value)
}
