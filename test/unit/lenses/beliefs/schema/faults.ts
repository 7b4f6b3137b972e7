/** What a check refuses, for tests to compare. */
import { BeliefsError } from '../../../../../src/lenses/beliefs/errors.ts'

export interface ToldFault {
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
export function faults(call: () => unknown): readonly ToldFault[] {
  return refusal(call).details['all'] as unknown as readonly ToldFault[]
}

/** `path: reason` of each. */
export function told(call: () => unknown): readonly string[] {
  return faults(call).map(({ path, reason }) => `${path}: ${reason}`)
}
