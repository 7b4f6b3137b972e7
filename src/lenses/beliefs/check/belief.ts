/** Checks what a holder writes (BQ-002, BQ-006 to BQ-010). */
import type { Instant } from '../../../base/clock.ts'
import type { BeliefDraft, BeliefRevision } from './checked.ts'

/** `asOf`: from when it is valid where the writer does not say. Throws INVALID_QUERY with all faults. */
export function checkDraft(input: unknown, asOf: Instant): BeliefDraft {
  throw new Error(`not written yet ${String(input)} ${asOf}`)
}

/** A new version: `belief_id` and what changes. */
export function checkRevision(input: unknown): BeliefRevision {
  throw new Error(`not written yet ${String(input)}`)
}

/** The old version with the changes; throws INVALID_QUERY where they do not go together. */
export function revised(old: BeliefDraft, revision: BeliefRevision): BeliefDraft {
  throw new Error(`not written yet ${old.content} ${revision.of}`)
}
