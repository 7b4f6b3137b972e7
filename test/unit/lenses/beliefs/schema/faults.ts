/** What a check refuses, for tests to compare. */
import { BeliefsError } from '../../../../../src/lenses/beliefs/errors.ts'

export interface ReportedFault {
  readonly code: string
  readonly path: string
  readonly reason: string
  readonly constraint: string
  readonly value: string | null
}

/** The error of a call that must refuse. */
export function refusal(call: () => unknown): BeliefsError {
  try {
    call()
  } catch (error) {
    if (error instanceof BeliefsError) return error
    throw error
  }
  throw new Error('it was accepted')
}

/** All faults that it tells, in order. */
export function faults(call: () => unknown): readonly ReportedFault[] {
  return refusal(call).details['all'] as unknown as readonly ReportedFault[]
}

/** `path: reason` of each. */
export function reported(call: () => unknown): readonly string[] {
  return faults(call).map(({ path, reason }) => `${path}: ${reason}`)
}
