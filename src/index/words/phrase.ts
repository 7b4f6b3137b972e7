/** Which entries hold a phrase: words next to each other and in order, in one line of the title or in the content. */
import { Bitset } from '../../base/bitset.ts'
import type { Steps } from '../../base/turns.ts'
import { stem } from '../../text/stem.ts'
import { LANGUAGES, type Language } from '../../text/stopwords.ts'
import type { SearchScope } from '../contract.ts'
import { ByteReader } from './bytes.ts'
import { END, PostingCursor, type Run, readRuns } from './cursor.ts'
import { type SegmentView, viewsOf } from './lists.ts'
import { isDeadIn, type Segment, termKey } from './segment.ts'
import type { SegmentSet } from './segments.ts'

/** In steps, each of some thousand postings: what changes between them is not seen. */
export function* entriesWithPhrase(
  set: SegmentSet,
  words: readonly string[],
  scope: SearchScope,
  most: number,
  step: number,
): Steps<Bitset> {
  const found = new Bitset()
  if (words.length === 0) return found
  const views = viewsOf(set, new Set(scope.partitions))
  const dead = new Map(views.map(({ segment }) => [segment, segment.dead]))
  for (const view of views) {
    for (const language of view.segment.terms.languages) {
      const keys = words.map(word => termKey(language, stem(word, LANGUAGES[language] as Language)))
      const lists = listsOf(view, keys)
      if (lists === null) continue
      yield* addEntriesWith(view.segment, dead.get(view.segment) as Uint8Array, lists, scope, found, most, step)
      if (found.size >= most) return found
    }
  }
  return found
}

/** The visible runs of each term, or null when one has none. */
function listsOf({ segment, visible }: SegmentView, keys: readonly string[]): readonly (readonly Run[])[] | null {
  const lists: (readonly Run[])[] = []
  for (const key of keys) {
    const term = segment.terms.find(key)
    if (term < 0) return null
    const runs = readRuns(segment, term, visible)
    if (runs.length === 0) return null
    lists.push(runs)
  }
  return lists
}

function* addEntriesWith(
  segment: Segment,
  dead: Uint8Array,
  lists: readonly (readonly Run[])[],
  { allow }: SearchScope,
  found: Bitset,
  most: number,
  step: number,
): Steps<void> {
  const cursors = lists.map(runs => new PostingCursor(segment, runs))
  const rarest = cursors[rarestOf(lists)] as PostingCursor
  let left = step
  while (rarest.row !== END) {
    const { row } = rarest
    const first = entryStart(segment, row)
    const end = segment.entryEnd(row)
    const entry = segment.rows.entry[row] as number
    const isWanted = !isDeadIn(dead, row) && (allow === undefined || allow.has(entry))
    if (isWanted && (cursors.length === 1 || holdsPhrase(segment, cursors, first, end))) {
      found.add(entry)
      if (found.size >= most) return
    }
    rarest.seek(end)
    left -= cursors.length * COST
    if (left > 0) continue
    left = step
    yield
  }
}

/** What looking at one word in one entry costs, in postings read. */
const COST = 50

function rarestOf(lists: readonly (readonly Run[])[]): number {
  const sizes = lists.map(runs => runs.reduce((sum, run) => sum + run.df, 0))
  return sizes.indexOf(Math.min(...sizes))
}

function entryStart({ rows: { entry } }: Segment, row: number): number {
  let start = row
  while (start > 0 && entry[start - 1] === entry[row]) start--
  return start
}

/** Whether the entry with rows `first` to `end` has a place from which the words follow each other. */
function holdsPhrase(segment: Segment, cursors: readonly PostingCursor[], first: number, end: number): boolean {
  for (const cursor of cursors) {
    cursor.seek(first)
    if (cursor.row >= end) return false
  }
  let starts: Set<number> | null = null
  for (const [word, cursor] of cursors.entries()) {
    const next = new Set<number>()
    for (const place of placesIn(segment, cursor, first, end)) {
      if (starts === null || starts.has(place - word)) next.add(place - word)
    }
    if (next.size === 0) return false
    starts = next
  }
  return true
}

/** Far from every other place, so that nothing in one chunk's title is next to anything elsewhere. */
const TITLE_PLACES = 2 ** 33

/** Places of a term in an entry: of its content, counted through all chunks, and of each chunk's title. */
function* placesIn(segment: Segment, cursor: PostingCursor, first: number, end: number): Generator<number> {
  for (cursor.seek(first); cursor.row < end; cursor.next()) {
    const { row, block, at } = cursor
    const inTitle = block.inTitle[at] as number
    const inText = block.inText[at] as number
    const reader = new ByteReader(segment.places, block.placesOf(segment, at))
    let place = (row - first + 1) * TITLE_PLACES
    for (let next = 0; next < inTitle; next++) {
      place += reader.number()
      yield place
    }
    place = segment.rows.place[row] as number
    for (let next = 0; next < inText; next++) {
      place += reader.number()
      yield place
    }
  }
}
