/** How long an answer may be: what a client asks of this door alone, beside the operation's own input. */
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { invalidArgument } from '../../../model/errors.ts'
import type { AnswerShape } from '../tools/choice.ts'
import { isObject } from './paths.ts'

export interface Room {
  readonly concise: boolean
  /** Estimated as a quarter of the bytes of the answer's JSON; null: as long as it is. */
  readonly maxTokens: number | null
}

/** Less holds no item of any answer. */
const LEAST_TOKENS = 100

/** Takes what is this door's out of the arguments. Throws `invalid_argument`. */
export function takeRoom(args: unknown, shape: AnswerShape): { readonly input: unknown; readonly room: Room } {
  if (!isObject(args)) return { input: args, room: { concise: false, maxTokens: null } }
  const { detail, max_tokens: maxTokens, ...input } = args
  // An operation whose answer cannot be made concise refuses the field itself, as one that it does not know.
  if (shape.concise === undefined && detail !== undefined)
    return { input: { ...input, detail }, room: roomOf(maxTokens) }
  if (detail !== undefined && detail !== 'concise' && detail !== 'detailed') {
    throw invalidArgument('detail', detail, 'concise or detailed')
  }
  return { input, room: { ...roomOf(maxTokens), concise: detail === 'concise' } }
}

function roomOf(maxTokens: Json | undefined): Room {
  if (maxTokens === undefined) return { concise: false, maxTokens: null }
  if (typeof maxTokens !== 'number' || !Number.isSafeInteger(maxTokens) || maxTokens < LEAST_TOKENS) {
    throw invalidArgument('max_tokens', maxTokens, `a whole number of at least ${LEAST_TOKENS}`)
  }
  return { concise: false, maxTokens }
}

export function tokensOf(value: JsonObject): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value)) / 4)
}
