/**
 * What of an entry the word index holds. The title of a chunk is the entry's title and the headings above the chunk, a
 * gap after each line so that no phrase runs from one into the next. The content is cut into words once, so a word has
 * one place in its entry however chunks overlap; a word belongs to every chunk that its first character is in.
 */
import { type Chunk, chunkTitle, type Entry } from '../../model/entry.ts'
import { language, SAMPLE } from '../../text/language.ts'
import type { Language } from '../../text/stopwords.ts'
import { eachToken } from '../../text/tokenise.ts'

/** Raised whenever a text may give other words, places, stems or another language: older snapshots are then refused. */
export const TEXT_RULES = 2

/** Decides which language's stems stand for an entry's words. */
export function entryLanguage(entry: Pick<Entry, 'title' | 'content'>): Language {
  return language(`${entry.title}\n${entry.content.slice(0, SAMPLE)}`)
}

export type PlacedVisitor = (term: string, place: number, alias: boolean) => void

/** Visits the words of a chunk's title with their places. Returns how many are no alias. */
export function eachTitleWord(entry: Entry, chunk: Chunk, visit: PlacedVisitor): number {
  let place = 0
  let words = 0
  for (const line of chunkTitle(entry, chunk).split('\n')) {
    let before = -1
    eachToken(line, (term, _start, _end, alias) => {
      if (!alias) {
        before++
        words++
      }
      visit(term, place + before, alias)
    })
    place += before + 2
  }
  return words
}
