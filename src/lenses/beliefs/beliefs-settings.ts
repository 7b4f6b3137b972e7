/** The section `lenses.beliefs` of the configuration: names, ranges and defaults of the lens's settings. */
import { z } from 'zod'
import { invalidArgument } from '../../model/errors.ts'
import { parseWith } from '../../model/parse-input.ts'
import { type CamelCased, camelCased } from '../camel-name.ts'
import { DAY_MS, DEFAULT_DECAY, type DecayTable } from './measures/confidence.ts'
import { flag, integerIn, normaliseDomain, numberIn, oneOf, share } from './schema/values.ts'

/** Key in the decay settings under which the decay rate of all domains without a rate of their own is given. */
const OTHER = 'other'
const DOMAIN = `a domain such as news/world, or ${OTHER}`

const decay = z
  .record(z.string().refine(isRateName, DOMAIN), numberIn(0), 'an object')
  .transform((given): DecayTable => {
    const { [OTHER]: otherwise = DEFAULT_DECAY.otherwise, ...rates } = given
    // The cast to text is safe: keys that are not valid domains were rejected before.
    const own = Object.entries(rates).map(([name, rate]) => [normaliseDomain(name) as string, rate] as const)
    return { rates: new Map([...DEFAULT_DECAY.rates, ...own]), otherwise }
  })

function isRateName(name: string): boolean {
  return name === OTHER || normaliseDomain(name) !== null
}

export interface SetThresholds {
  readonly include: number
  readonly exclude: number
  /** Lowest cosine to the query's text at which a belief becomes a candidate. Null: not set. -1: every belief can be a candidate. */
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
  decay: decay.describe(
    'Decay rates per day by domain. They replace or extend the built-in rates; `other` is the rate of all other domains',
  ),
  // Protection against Sybil attacks, in which one person vouches through many agents (BQ-075, BQ-076).
  sybil_threshold: integerIn(1, 10).describe('Sources that transitive trust needs; with fewer it is capped'),
  sybil_cap: share.describe('Largest transitive trust with too few sources'),
  sybil_rule: oneOf(['first_hops', 'disjoint']).describe(
    'What counts as a source. first_hops: agents that the requester trusts directly. disjoint: routes that share no agent',
  ),
  new_agent_cap: flag.describe('Whether transitive trust in, and through, agents younger than 30 days is reduced'),
  default_trust: numberIn(0, 0.5).describe('Trust in agents about which nothing is known'),
  // What happens when two results contradict each other (BQ-174).
  conflicts: oneOf(['both_shown', 'one_penalized', 'one_excluded']).describe(
    'What happens to the lower-ranked of two results that contradict each other',
  ),
  // How long answers of other nodes are cached and reused (BQ-137, BQ-140, BQ-141).
  cache_duration_ms: integerIn(0, DAY_MS).describe(
    'Milliseconds for which answers of other nodes are reused; 0: never',
  ),
  stale_while_revalidate: flag.describe(
    'Whether an answer may be reused ten times as long, marked `stale`, while it is refreshed in the background',
  ),
  invalidate_on_update: flag.describe('Whether to subscribe to changes of the nodes whose answers are reused'),
  answer_nodes: flag.describe(
    'Whether to answer queries of other nodes; the node still publishes its key and that it answers no queries',
  ),
  answer_network: flag.describe(
    'Whether to answer queries for public beliefs; members of a federation still get what it shares',
  ),
  answers_per_minute: integerIn(1, 1_000_000).describe(
    'Queries per minute and process that are answered for each known node or agent, and for all unknown ones together; a fifth of it for unknown ones at one address',
  ),
  // By embedding model: the cosines from which a required or excluded term counts as meant, and the lowest cosine of a candidate (BQ-040,
  // BQ-043).
  thresholds: thresholds.describe(
    'By model, cosines that replace the calibrated ones: from which `+` and `-` match, and the lowest cosine with a text of a candidate',
  ),
} as const

export const settingsSchema = z.strictObject(FIELDS).partial()

/** The settings as used in code: the same names as in the configuration, in camelCase. */
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
  // Default number of answers per minute for one sender: ten per second. With twenty thousand beliefs one sender then uses a tenth of a
  // processor core (`npm run bench -- nodes`).
  answersPerMinute: 600,
  thresholds: new Map(),
}

/**
 * Checks the section `lenses.beliefs` of the configuration. Throws `invalid_argument` for unknown names and values out of range, naming the
 * field as `lenses.beliefs.<name>`.
 */
export function checkSettings(given: unknown): BeliefsSettings {
  const set = parseWith(settingsSchema, given ?? {}, ([fault]) => {
    const { path = [], kind, value, issue } = fault ?? {}
    const expected =
      kind === 'unknown' && path.length === 1 ? `one of ${Object.keys(FIELDS).join(', ')}` : issue?.message
    return invalidArgument(['lenses.beliefs', ...path].join('.'), value, expected ?? 'another value')
  })
  return { ...DEFAULTS, ...camelCased(set) }
}
