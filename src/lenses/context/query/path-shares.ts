/** How much of a question's words the paths of files have. */
import type { VisibleConcepts } from '../concepts.ts'
import { placesByWord, wordsOf } from '../names.ts'
import { pathOrTail } from '../urls.ts'
import { coversOf, type Worded } from './cover.ts'

interface Paths {
  readonly places: ReadonlyMap<string, number>
  readonly words: Worded
}

const KNOWN = new WeakMap<VisibleConcepts, Paths>()

/** Of a URL, 0 to 1. `root`: what the paths begin below. */
export function pathShares(
  concepts: VisibleConcepts,
  questionWords: readonly string[],
  root: string | undefined,
): (url: string) => number {
  const { places, words } = pathsOf(concepts, root)
  const covers = coversOf(questionWords, words)
  return url => {
    const place = places.get(url)
    return place === undefined ? 0 : covers.shareOf(place)
  }
}

function pathsOf(concepts: VisibleConcepts, root: string | undefined): Paths {
  const known = KNOWN.get(concepts)
  if (known !== undefined) return known
  const places = new Map<string, number>()
  const counts: number[] = []
  for (const { url } of concepts.all) {
    if (url === null) continue
    const place = places.get(url) ?? places.size
    places.set(url, place)
    counts[place] = (counts[place] ?? 0) + 1
  }
  const byWord = placesByWord([...places.keys()], url => new Set(wordsOf(pathOrTail(url, root))))
  const countOf = (place: number) => counts[place] ?? 0
  const made = { places, words: { byWord, length: places.size, total: concepts.all.length, countOf } }
  KNOWN.set(concepts, made)
  return made
}
