/** The word list of the project: home-made words and phrases, and what to write instead. */

export interface Rule {
  /** A regular expression, without regard to case. */
  readonly pattern: string
  readonly advice: string
}

/** Parts of names that a file declares, in snake case. */
export const NAMES: readonly Rule[] = [
  { pattern: '(^|_)doors?(_|$)', advice: 'interface' },
  { pattern: '(^|_)sights?(_|$)', advice: 'visibility, access scope' },
  { pattern: '(^|_)(asker|guest)s?(_|$)', advice: 'requester, remote peer' },
  { pattern: '(^|_)mend(s|ed|ing)?(_|$)', advice: 'repair, fix' },
  // An extent of storage, a run of slots, is a standard term.
  { pattern: '(^|_)(shelf|shelves|crowds?|divisions?)(_|$)', advice: 'cache, cluster, partition, block' },
  { pattern: '(^|_)(taker|handover|handing)s?(_|$)', advice: 'handler, delegate' },
  { pattern: '(^|_)(told|tell|tells)(_|$)', advice: 'report, emit, return, notify' },
  { pattern: '(^|_)gather(ed)?(_|$)', advice: 'federated, merged' },
  { pattern: '^most_', advice: 'max' },
  { pattern: '^least_', advice: 'min' },
  { pattern: '(^|_)(statics|worth)(_|$)', advice: 'prior score' },
  { pattern: '(^|_)(opposition|sides)(_|$)', advice: 'contradiction' },
  { pattern: '(^|_)(held_orders?|standing_questions?)(_|$)', advice: 'cached result; subscription, live query' },
  { pattern: '^must_', advice: 'assertX, requireX, checkX' },
  { pattern: '(^|_)anew(_|$)', advice: 'again' },
]

/** In comments, messages, help, titles of tests and documentation. */
export const PHRASES: readonly Rule[] = [
  { pattern: '\\b(who|whoever) asks\\b', advice: 'the requester, the viewer, the caller' },
  { pattern: '\\b(askers?|guests?)\\b', advice: 'requester, remote peer' },
  {
    pattern: '\\b(is|are|was|were|be|been) told\\b(?! (apart|from)\\b)',
    advice: 'is notified, receives, learns, is reported',
  },
  { pattern: '\\btold of\\b', advice: 'reported, listed' },
  { pattern: '(?<=^ *(?:/?\\*\\*?|//) )Of what\\b', advice: 'begin with the subject' },
  { pattern: '\\bstands\\b(?! (for|alone)\\b)', advice: 'is, lies, remains' },
  { pattern: '\\banew\\b', advice: 'again' },
  { pattern: '\\bmend(s|ed|ing)?\\b', advice: 'repair, fix' },
  { pattern: '\\bcrowds?\\b', advice: 'cluster' },
  { pattern: '\\bgathered answers?\\b', advice: 'merged answer' },
  { pattern: '\\bstanding questions?\\b', advice: 'subscription, live query' },
  { pattern: '\\bheld orders?\\b', advice: 'cached result' },
  { pattern: '(?<!in |at first )\\bsights?\\b', advice: 'visibility, access scope' },
  { pattern: '\\b(he|his|him|she|her)\\b', advice: 'the user, the viewer; they' },
  { pattern: '\\bsqueezed (files?|code)\\b', advice: 'minified' },
  { pattern: '\\blet in\\b', advice: 'allowed, admitted' },
]

interface Unchecked {
  /** A folder or a file. */
  readonly path: string
  readonly reason: string
}

export const UNCHECKED: readonly Unchecked[] = [
  { path: 'src/text/stopwords.ts', reason: 'lists of words' },
  { path: 'src/text/language.ts', reason: 'lists of words' },
]

interface Exception {
  readonly file: string
  readonly found: string
  readonly reason: string
}

export const MAX_EXCEPTIONS = 40

export const EXCEPTIONS: readonly Exception[] = [
  { file: 'src/engine/live/live-queries.ts', found: 'anew', reason: 'a value of the wire format' },
  { file: 'src/lenses/conversations/reading/dates.ts', found: 'he', reason: 'a word that dates are searched by' },
  { file: 'src/lenses/conversations/reading/dates.ts', found: 'she', reason: 'a word that dates are searched by' },
  { file: 'src/interfaces/mcp/server.ts', found: 'were told', reason: 'a user tells an assistant' },
  { file: 'src/model/live.ts', found: 'anew', reason: 'a value of the wire format' },
  { file: 'explorer/src/views/live/watching.ts', found: 'anew', reason: 'a value of the wire format' },
  { file: 'docs/guide/live.md', found: 'anew', reason: 'a value of the wire format' },
  { file: 'docs/guide/conversations.md', found: 'stands', reason: 'a bicycle stands in a yard' },
]
