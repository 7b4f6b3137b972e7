/**
 * What comes with the lens to try it on: twelve agents in three federations, what they hold true and whom they trust.
 * Nine of them mean well, and not all of those are right; three repeat one false claim and vouch for each other.
 */
import type { DerivationType, Visibility } from '../model.ts'
import agentsFile from './agents.json' with { type: 'json' }
import beliefsFile from './beliefs.json' with { type: 'json' }
import federationsFile from './federations.json' with { type: 'json' }

/** One version. Days are counted back from when the sample is loaded; below 0: days to come. */
export interface SampleBelief {
  readonly holder: string
  readonly id: string
  readonly content: string
  readonly domains: readonly string[]
  readonly visibility: Visibility
  readonly federations?: readonly string[]
  readonly daysAgo: number
  /** In the order of `DIMENSIONS`. */
  readonly confidence: readonly (number | null)[]
  readonly type: DerivationType
  readonly sources?: readonly SampleSource[]
  /** Default `daysAgo`. */
  readonly validFromDaysAgo?: number
  /** Default: without end. */
  readonly validUntilDaysAgo?: number
  /** The version of the same holder that it follows. */
  readonly supersedes?: string
}

export interface SampleSource {
  readonly belief?: string
  readonly external?: string
  /** Default primary. */
  readonly as?: 'supporting' | 'contradicting' | 'context'
}

interface SampleAgent {
  readonly id: string
  readonly label: string
  readonly sinceDays: number
  readonly reputation: number | null
  readonly reputationByDomain?: Readonly<Record<string, number>>
  readonly trustGraph?: string
  readonly trusts: readonly {
    readonly target: string
    readonly level: number
    readonly domains?: Readonly<Record<string, number>>
  }[]
}

interface SampleFederation {
  readonly id: string
  readonly label: string
  readonly joining: 'open' | 'invited'
  readonly anonymity: 'pseudonyms' | 'strict'
  readonly sinceDays: number
  readonly members: readonly {
    readonly agent: string
    readonly role?: 'founder' | 'admin' | 'moderator'
    readonly status?: 'suspended' | 'departed'
  }[]
}

// What the files hold is tried by a test that loads all of it; these types say what it is.
export const SAMPLE_AGENTS: readonly SampleAgent[] = agentsFile as unknown as readonly SampleAgent[]
export const SAMPLE_FEDERATIONS: readonly SampleFederation[] = federationsFile as unknown as readonly SampleFederation[]

/** By holder, in the order of the file: one line a version. */
export const SAMPLE_BELIEFS: ReadonlyMap<string, readonly SampleBelief[]> = Map.groupBy(
  beliefsFile as unknown as readonly SampleBelief[],
  ({ holder }) => holder,
)
