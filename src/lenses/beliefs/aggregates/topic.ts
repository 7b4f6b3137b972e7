/** What an aggregate is asked of, in one form: what differs in case and blanks alone is one topic, with one answer (BQ-105). */
import { canonicalJson, sha256 } from '../../../base/canonical.ts'
import { foldContent } from '../matching/literal.ts'

export type Topic =
  /** Beliefs near it in meaning, and those in which it stands. */
  | { readonly kind: 'text'; readonly text: string }
  /** Beliefs in this domain and below it; normalised. */
  | { readonly kind: 'domain'; readonly domain: string }

export interface AggregateQuestion {
  readonly federation: string
  readonly topic: Topic
}

export function textTopic(text: string): Extract<Topic, { kind: 'text' }> {
  return { kind: 'text', text: foldContent(text).trim() }
}

/** What it is kept under: nobody's words are. */
export function topicKey(topic: Topic): string {
  return sha256(canonicalJson({ ...topic }))
}
