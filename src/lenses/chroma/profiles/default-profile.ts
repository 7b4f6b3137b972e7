/**
 * The built-in profile: plain English or Spanish without a model and without a network. One time, one count, and every
 * assigned hashtag among the other words.
 */
import type { QueryParams } from '../model.ts'
import type { ParseContext } from './context.ts'
import { findCount } from './count-words.ts'
import { QueryProfile } from './query-profile.ts'
import { findTime } from './time/find-time.ts'

export class DefaultQueryProfile extends QueryProfile {
  override parseInput(text: string, context: ParseContext): QueryParams {
    const { hashtags, k, temporalRange } = readQuestion(text, context)
    return {
      hashtags: context.complete(hashtags),
      ...(k !== null && { k }),
      ...(temporalRange !== null && { temporalRange }),
    }
  }
}

export interface Question {
  /** Assigned tags named in the text, in its order. */
  readonly hashtags: readonly string[]
  readonly k: number | null
  readonly temporalRange: readonly [number, number] | null
}

/** The grammar by itself, for profiles that build on it (CQ-084). */
export function readQuestion(text: string, context: Pick<ParseContext, 'now' | 'tagsIn'>): Question {
  const time = findTime(text, context.now)
  const timeless = blanked(text, time)
  const count = findCount(timeless)
  return {
    hashtags: context.tagsIn(blanked(timeless, count)),
    k: count?.k ?? null,
    temporalRange: time && [time.period.start, time.period.end],
  }
}

function blanked(text: string, found: { readonly index: number; readonly length: number } | null): string {
  if (found === null) return text
  const { index, length } = found
  return text.slice(0, index) + ' '.repeat(length) + text.slice(index + length)
}
