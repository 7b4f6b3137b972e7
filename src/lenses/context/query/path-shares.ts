/** How much of a question's words the paths of files have. */
import type { VisibleConcepts } from '../concepts.ts'
import { wordsOf } from '../names.ts'
import { coversOf } from './cover.ts'

interface PathWords {
  readonly byWord: ReadonlyMap<string, readonly string[]>
  /** Concepts that stand in the file. */
  readonly counts: ReadonlyMap<string, number>
  readonly total: number
}

const KNOWN = new WeakMap<VisibleConcepts, PathWords>()

/** By URL, 0 to 1. `root`: what their paths begin below. */
export function pathShares(
  concepts: VisibleConcepts,
  questionWords: readonly string[],
  root: string | undefined,
): (url: string) => number {
  const { byWord, counts, total } = pathWords(concepts, root)
  return coversOf(questionWords, { byWord, total, countOf: url => counts.get(url) ?? 0 }).shareOf
}

function pathWords(concepts: VisibleConcepts, root: string | undefined): PathWords {
  const known = KNOWN.get(concepts)
  if (known !== undefined) return known
  const counts = new Map<string, number>()
  for (const { url } of concepts.all) if (url !== null) counts.set(url, (counts.get(url) ?? 0) + 1)
  const byWord = new Map<string, string[]>()
  for (const url of counts.keys()) {
    for (const word of new Set(wordsOf(pathOf(url, root)))) {
      const urls = byWord.get(word)
      if (urls === undefined) byWord.set(word, [url])
      else urls.push(url)
    }
  }
  const made = { byWord, counts, total: concepts.all.length }
  KNOWN.set(concepts, made)
  return made
}

/** Outside of the workspace the last parts say more than where it lies. */
function pathOf(url: string, root: string | undefined): string {
  const path =
    root !== undefined && url.startsWith(`${root}/`) ? url.slice(root.length + 1) : url.split('/').slice(-3).join('/')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
