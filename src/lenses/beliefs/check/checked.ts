/** What requests come to once they are checked: complete, normalised, and trusted inside the lens. */
import type { Instant } from '../../../base/clock.ts'
import type {
  Confidence,
  Derivation,
  DerivationType,
  Dimension,
  DimensionWeights,
  MergeStrategy,
  RankingWeights,
  Visibility,
} from '../model.ts'

/** Who asks, as the host has established it. */
export interface Asker {
  readonly id: string
  /** What its trust graph may be called in a request, beside its id; null: nothing else. */
  readonly trustGraph: string | null
  /** Whether a request may name whomever it likes: for looking at one without answering it. */
  readonly isAnybody?: boolean
}

export interface CheckedQuery {
  /** Null: list mode, which ranks without meaning. There is at least one filter then. */
  readonly semantic: CheckedText | null
  /** All must hold. Empty exactly if nothing is filtered; parts that ask for nothing are left out. */
  readonly filters: readonly CheckedFilters[]
  readonly context: CheckedContext
  readonly options: CheckedOptions
  /** Together 1: those of the context, with list mode and words of time worked in. */
  readonly weights: RankingWeights
  readonly warnings: readonly CheckedWarning[]
}

export interface CheckedWarning {
  readonly code: string
  readonly message: string
}

export interface CheckedText {
  /** As given, unpaired surrogates replaced and control characters made blanks. */
  readonly text: string
  /** What is embedded: signs and exclusions gone, included words and phrases in place (BQ-036). Not blank. */
  readonly base: string
  /** A word, or the words of a quote. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** White space made single blanks. */
  readonly phrases: readonly string[]
  readonly boosts: readonly Boost[]
}

interface Boost {
  readonly text: string
  /** In (0, 10], never 1. */
  readonly factor: number
}

/** One part of the filters: a belief must meet every member; null and empty exclusions ask for nothing. */
export interface CheckedFilters {
  readonly confidence: readonly ConfidenceBound[]
  readonly validAt: Instant | null
  /** Both ends are in. */
  readonly createdAfter: Instant | null
  readonly createdBefore: Instant | null
  /** Created at most so long before as_of. */
  readonly createdWithinMs: number | null
  /** Normalised; a belief needs a domain within one of them. Never empty. */
  readonly domainsInclude: readonly string[] | null
  readonly domainsExclude: readonly string[]
  /** As the requester is shown them. Empty admits nothing. */
  readonly holderIds: ReadonlySet<string> | null
  readonly excludeHolders: ReadonlySet<string>
  /** 0 to 1, inclusive. */
  readonly minHolderReputation: number | null
  /** The requester's own direct trust in the holder is above it, or the belief is its own. */
  readonly directTrustAbove: number | null
  /** Empty admits nothing. */
  readonly derivationTypes: ReadonlySet<DerivationType> | null
  readonly maxDerivationDepth: number | null
  /** Empty admits nothing. */
  readonly visibilityLevels: ReadonlySet<Visibility> | null
}

/** `temporal_freshness` is compared as it stands at as_of (BQ-045). What is null fails. */
export interface ConfidenceBound {
  readonly of: 'overall' | Dimension
  /** 0 to 1. */
  readonly bound: number
  /** Strict: above the bound; else at least it. */
  readonly strict: boolean
}

export interface CheckedContext {
  readonly requesterId: string
  /** 0 to 1. */
  readonly trustWeight: number
  /** Normalised, each once. */
  readonly queryDomains: readonly string[]
  /** 0 to 1. */
  readonly domainTrustWeight: number
  /** 1 to 5. */
  readonly maxTrustHops: number
  /** 0.1 to 0.9. */
  readonly transitiveDamping: number
  /** Together 1. */
  readonly confidenceWeights: DimensionWeights
  /** Together 1. */
  readonly weights: RankingWeights
  /** What was brought into its range. */
  readonly warnings: readonly CheckedWarning[]
}

export interface CheckedScope {
  readonly local: boolean
  readonly federated: boolean
  readonly network: boolean
  /** Null: all. */
  readonly nodes: readonly string[] | null
}

export interface CheckedDiversity {
  readonly enabled: boolean
  /** 0 to 1; null: no such limit. */
  readonly minDistance: number | null
  readonly maxPerHolder: number | null
  readonly maxPerDomain: number | null
  /** 0 to 1. */
  readonly lambda: number
}

export interface CheckedOptions {
  readonly scope: CheckedScope
  /** 1 to 1,000. */
  readonly limit: number
  /** 0 to 10,000; 0 beside a cursor. */
  readonly offset: number
  readonly cursor: string | null
  readonly includeDerivation: boolean
  readonly includeExplanation: boolean
  /** 1 to 10, of the chains of the answer. */
  readonly maxDerivationDepth: number
  readonly timeoutMs: number
  readonly approximate: boolean
  /** 10 to 1,000; null: the index's own. */
  readonly efSearch: number | null
  readonly diversity: CheckedDiversity
  readonly temporalIntent: boolean
  /** Nothing is counted as used. */
  readonly dryRun: boolean
  /** Of each source, where other nodes are asked: 1 to 1,000 (BQ-118). */
  readonly maxResultsPerNode: number
  /** For any one of them, as far as the time of the whole allows. */
  readonly timeoutPerNodeMs: number
  readonly mergeStrategy: MergeStrategy
  /** 1 to 100: results of a piece, where the answer is a stream. */
  readonly chunkSize: number
}

/** A belief as its holder writes it. */
export interface BeliefDraft {
  /** Null: make one. */
  readonly id: string | null
  readonly content: string
  readonly contentHash: string
  readonly confidence: Confidence
  readonly validFrom: Instant
  readonly validUntil: Instant | null
  readonly derivation: Derivation
  /** Normalised, each once. */
  readonly domains: readonly string[]
  readonly visibility: Visibility
  /** Each once, ascending; empty unless federated. */
  readonly federationIds: readonly string[]
}

/** What a new version changes; what is undefined stays as it was. */
export interface BeliefRevision {
  /** The version that it follows. */
  readonly of: string
  /** Of the new version; null: make one. */
  readonly id: string | null
  readonly content?: string | undefined
  readonly contentHash?: string | undefined
  readonly confidence?: Readonly<Partial<Confidence>> | undefined
  readonly validFrom?: Instant | undefined
  readonly validUntil?: Instant | null | undefined
  readonly derivation?: Derivation | undefined
  readonly domains?: readonly string[] | undefined
  readonly visibility?: Visibility | undefined
  readonly federationIds?: readonly string[] | undefined
}
