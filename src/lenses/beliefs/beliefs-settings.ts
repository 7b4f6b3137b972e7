/** The lens's part of the configuration: `lenses.beliefs`. */
import { z } from 'zod'
import { invalidArgument } from '../../model/errors.ts'
import { parseWith } from '../../model/parse-input.ts'
import { type CamelCased, camelCased } from '../camel-name.ts'
import { DAY_MS, DEFAULT_DECAY, type DecayTable } from './measures/decay.ts'
import { normaliseDomain } from './measures/domains.ts'
import { flag, integerIn, numberIn, oneOf, share } from './schema/values.ts'

/** Rate of all domains that no other names. */
const OTHER = 'other'
const DOMAIN = `a domain such as news/world, or ${OTHER}`

const decay = z
  .record(z.string().refine(isRateName, DOMAIN), numberIn(0), 'an object')
  .transform((given): DecayTable => {
    const { [OTHER]: otherwise = DEFAULT_DECAY.otherwise, ...rates } = given
    // The cast: names that are no domains were refused.
    const own = Object.entries(rates).map(([name, rate]) => [normaliseDomain(name) as string, rate] as const)
    return { rates: new Map([...DEFAULT_DECAY.rates, ...own]), otherwise }
  })

function isRateName(name: string): boolean {
  return name === OTHER || normaliseDomain(name) !== null
}

export interface SetThresholds {
  readonly include: number
  readonly exclude: number
  /** Null: not set. -1: no belief is too far from a text. */
  readonly floor: number | null
}

const cosine = numberIn(-1, 1)
const cuts = z
  .strictObject({ include: cosine, exclude: cosine.nullish(), floor: cosine.nullish() }, 'include, exclude or floor')
  .transform(({ include, exclude, floor }): SetThresholds => {
    return { include, exclude: exclude ?? include, floor: floor ?? null }
  })
const thresholds = z
  .record(z.string(), cuts, 'an object')
  .transform((given): ReadonlyMap<string, SetThresholds> => new Map(Object.entries(given)))

const FIELDS = {
  decay: decay.describe('Rates a day, which replace or join the built-in ones; `other` is that of all else'),
  // BQ-075, BQ-076
  sybil_threshold: integerIn(1, 10).describe('Ways that trust must come by, lest it be capped'),
  sybil_cap: share.describe('What it is capped at'),
  sybil_rule: oneOf(['first_hops', 'disjoint']).describe(
    'What counts as ways: those whom one trusts oneself, or routes that share nobody',
  ),
  new_agent_cap: flag.describe('Whether agents that are new here pass on less trust'),
  default_trust: numberIn(0, 0.5).describe('Trust in agents of whom nothing is known'),
  // BQ-174
  conflicts: oneOf(['both_shown', 'one_penalized', 'one_excluded']).describe(
    'What becomes of the later one of two results that contradict each other',
  ),
  // BQ-137, BQ-140, BQ-141
  cache_duration_ms: integerIn(0, DAY_MS).describe(
    'Milliseconds for which what other nodes answered is good; 0: they are asked each time',
  ),
  stale_while_revalidate: flag.describe(
    'Whether it may be shown ten times as long, marked `stale`, while it is asked for anew',
  ),
  invalidate_on_update: flag.describe(
    'Whether nodes are asked to tell when something has changed, while what they answered is kept',
  ),
  answer_nodes: flag.describe(
    'Whether other nodes are answered at all; who this one is, and that it answers nobody, it tells in any case',
  ),
  answer_network: flag.describe(
    'Whether any node that asks is told public beliefs; members of a federation are told what it shares in any case',
  ),
  answers_per_minute: integerIn(1, 1_000_000).describe(
    'Questions that are answered to each node or agent known here, and to all others together; to others at one address a fifth of it. Of each process',
  ),
  // BQ-040, BQ-043
  thresholds: thresholds.describe(
    'By model, cosines from where on `+` and `-` hold, and how near to a text a belief must be to take part, in place of calibrated values',
  ),
} as const

export const settingsSchema = z.strictObject(FIELDS).partial()

/** By the names of the library. */
export type BeliefsSettings = CamelCased<{ readonly [Name in keyof typeof FIELDS]: z.output<(typeof FIELDS)[Name]> }>

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

/** Throws `invalid_argument` for unknown names and values out of range; fields are `lenses.beliefs.<name>`. */
export function checkSettings(given: unknown): BeliefsSettings {
  const set = parseWith(settingsSchema, given ?? {}, ([fault]) => {
    const { path = [], kind, value, issue } = fault ?? {}
    const expected =
      kind === 'unknown' && path.length === 1 ? `one of ${Object.keys(FIELDS).join(', ')}` : issue?.message
    return invalidArgument(['lenses.beliefs', ...path].join('.'), value, expected ?? 'another value')
  })
  return { ...DEFAULTS, ...camelCased(set) }
}
