/** How much requesters from outside may ask, as settings say it. The local owner is not limited. */
import { z } from 'zod'
import { parseInput } from '../model/parse-input.ts'

export interface LimitSettings {
  /** Whether requests are counted at all (default true). */
  readonly enabled: boolean
  /** A question costs one unit, or more (default 200). */
  readonly unitsPerMinute: number
  /** Units that can be asked for at once after a quiet while (default 33). */
  readonly burst: number
  /** Live queries that one requester may have at a time (default 50). */
  readonly subscriptions: number
}

/** BQ-189, BQ-167. */
const DEFAULTS: LimitSettings = { enabled: true, unitsPerMinute: 200, burst: 33, subscriptions: 50 }

const count = z.number().int().min(1).max(1_000_000)

/** As in `config.json`. */
export const limitSettings = z.strictObject({
  enabled: z.boolean().optional(),
  units_per_minute: count.optional(),
  burst: count.optional(),
  subscriptions: count.optional(),
})

type FileSettings = z.output<typeof limitSettings>

/** Each setting from the first that has it: options, environment, file, default. */
export function resolveLimits(
  options: Partial<LimitSettings> = {},
  environment: Readonly<Record<string, string | undefined>>,
  file: FileSettings = {},
): LimitSettings {
  const { enabled, unitsPerMinute: units_per_minute, burst, subscriptions } = options
  const given = parseInput(limitSettings, { enabled, units_per_minute, burst, subscriptions }, 'limits')
  const layers = [given, fromEnvironment(environment), file]
  const first = <K extends keyof FileSettings>(name: K): FileSettings[K] =>
    layers.map(layer => layer[name]).find(value => value !== undefined)
  return {
    enabled: first('enabled') ?? DEFAULTS.enabled,
    unitsPerMinute: first('units_per_minute') ?? DEFAULTS.unitsPerMinute,
    burst: first('burst') ?? DEFAULTS.burst,
    subscriptions: first('subscriptions') ?? DEFAULTS.subscriptions,
  }
}

/** QUERENT_LIMITS is `on` or `off`; the numbers have variables of their own. */
function fromEnvironment(environment: Readonly<Record<string, string | undefined>>): FileSettings {
  const enabled = environment['QUERENT_LIMITS']
  const number = (name: string): number | undefined => {
    const value = environment[name]
    return value === undefined ? undefined : parseInput(numeral, value, name)
  }
  return {
    enabled: enabled === undefined ? undefined : parseInput(z.enum(['on', 'off']), enabled, 'QUERENT_LIMITS') === 'on',
    units_per_minute: number('QUERENT_LIMITS_UNITS_PER_MINUTE'),
    burst: number('QUERENT_LIMITS_BURST'),
    subscriptions: number('QUERENT_LIMITS_SUBSCRIPTIONS'),
  }
}

const numeral = z.string().regex(/^\d+$/, 'a whole number').transform(Number).pipe(count)
