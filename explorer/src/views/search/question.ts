/** A question as the address holds it, and as input of `query`. */
import type { FilterInput, PeriodInput, QueryInput } from '../../../../src/model/query-input.ts'
import type { Settings } from '../../shell/router.ts'

export const MODES = ['hybrid', 'words', 'meaning'] as const
export type Mode = (typeof MODES)[number]

export interface Question {
  readonly text: string
  /** Empty: the store's own. */
  readonly lens: string
  readonly mode: Mode
  readonly collections: readonly string[]
  readonly kinds: readonly string[]
  readonly tags: readonly string[]
  /** Days, as `2026-03-01`; empty: no bound. `since` is included, `before` is not. */
  readonly since: string
  readonly before: string
  /** Also what is not relevant enough. */
  readonly any: boolean
}

/** Results of a page. */
const PAGE = 10

export function questionOf(settings: URLSearchParams): Question {
  const mode = settings.get('mode')
  return {
    text: settings.get('q') ?? '',
    lens: settings.get('lens') ?? '',
    mode: MODES.find(name => name === mode) ?? 'hybrid',
    collections: settings.getAll('collection'),
    kinds: settings.getAll('kind'),
    tags: settings.getAll('tag'),
    since: settings.get('since') ?? '',
    before: settings.get('before') ?? '',
    any: settings.has('any'),
  }
}

export function settingsOf({ text, lens, mode, collections, kinds, tags, since, before, any }: Question): Settings {
  return {
    q: text,
    lens,
    mode: mode === 'hybrid' ? undefined : mode,
    collection: collections,
    kind: kinds,
    tag: tags,
    since,
    before,
    any: any ? 'yes' : undefined,
  }
}

/** Null: there is nothing to ask yet. */
export function askedBy(question: Question): QueryInput | null {
  const { text, lens, mode, any } = question
  const filter = filterOf(question)
  if (text.trim() === '' && filter === null) return null
  return {
    text,
    limit: PAGE,
    ...(lens !== '' && { lens }),
    ...(mode !== 'hybrid' && { mode }),
    ...(any && { any }),
    ...(filter !== null && { filter }),
  }
}

/** How many conditions there are beside the text. */
export function countFilters({ collections, kinds, tags, since, before }: Question): number {
  return collections.length + kinds.length + tags.length + Number(since !== '') + Number(before !== '')
}

function filterOf(question: Question): FilterInput | null {
  if (countFilters(question) === 0) return null
  const { collections, kinds, tags, since, before } = question
  const updated: PeriodInput = { ...(since && { after: since }), ...(before && { before }) }
  return {
    ...(collections.length > 0 && { collections }),
    ...(kinds.length > 0 && { kinds }),
    ...(tags.length > 0 && { tags }),
    ...((since || before) && { updated }),
  }
}
