/** A good call of every operation: what fuzzing of operations begins with. */
import { BELIEFS_CALLS } from './beliefs-calls.ts'
import type { Call } from './call.ts'
import { CONTEXT_CALLS } from './context-calls.ts'
import { ENGINE_CALLS } from './engine-calls.ts'
import { PICTURE_CALLS } from './picture-calls.ts'

/** What takes away comes last: there is more to do before. */
export const SEED_CALLS: readonly Call[] = [...ENGINE_CALLS, ...PICTURE_CALLS, ...CONTEXT_CALLS, ...BELIEFS_CALLS].sort(
  (a, b) => Number(takesAway(a)) - Number(takesAway(b)),
)

function takesAway({ operation }: Call): boolean {
  return /delete|remove|leave|unassign|init/.test(operation)
}
