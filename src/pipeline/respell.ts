/**
 * Corrects the spelling of a query that finds nothing: each of its words that no visible passage contains is compared with words that some
 * visible passage contains. The vocabulary of hidden entries has no influence.
 */
import { editDistance } from '../base/near-names.ts'
import type { Steps } from '../base/turns.ts'
import { type Chunk, chunkText, chunkTitle } from '../model/entry.ts'
import type { Verdict } from '../model/page.ts'
import type { ParsedQuery } from '../model/plan.ts'
import { stem } from '../text/stem.ts'
import { isStopWord, LANGUAGES } from '../text/stopwords.ts'
import { type Token, tokenise } from '../text/tokenise.ts'
import type { QueryContext } from './context.ts'
import type { Plan, Retrieval } from './stage.ts'

/** Largest number of unknown words of one query that are corrected, since each is compared with all visible terms of the index. */
const MAX_WORDS = 8
/** Shortest word that is corrected, in letters: shorter ones resemble too many others. */
const SHORTEST = 4
const LONG = 8
/** Number of similar index terms for which a passage is read to find the spelling of a word. */
const MAX_TERMS = 12

/**
 * Whether another spelling of the query should be tried. While some passages have no vector, a weak answer is no reason to: once all have
 * one, the query as written may find a good answer (QE-007). `bmTop`: BM25 of the best passage; `expectedBase`: present only while some
 * passages have no vector.
 */
export function mayBeMisspelt(
  verdict: Verdict,
  { isUnembedded }: Plan,
  { bmTop = 0, expectedBase }: Retrieval['statistics'],
): boolean {
  const lacksVectors = isUnembedded === true || expectedBase !== undefined
  return verdict === 'nothing_relevant' || (verdict === 'weak' && (bmTop === 0 || !lacksVectors))
}

/**
 * Whether the corrected spelling gives a better answer than the query as written. A weak answer counts as better only where meaning was not
 * searched: by meaning, a word of an unrelated subject resembles some word of almost any vocabulary.
 */
export function isBetter(respelled: Verdict, asWritten: Verdict, { vector }: Plan): boolean {
  if (respelled === 'weak') return vector === null && asWritten === 'nothing_relevant'
  return respelled === 'answered' && asWritten !== 'answered'
}

/**
 * The query's text with each unknown word replaced by the nearest known spelling; null: nothing was replaced. A generator that pauses after
 * each word, so that other work can run.
 */
export function* respell({ parsed, mode, terms }: Plan, context: QueryContext): Steps<string | null> {
  if (mode === 'list') return null
  const { words, accessScope } = context
  // Words that retrieval found are known, and their statistics are still cached, so most words need no further look at the index.
  const found = new Set(words.weigh(terms, accessScope).flatMap(({ term, df }) => (df > 0 ? term : [])))
  const spellings = new Map<string, string | null>()
  let text = ''
  let end = 0
  for (const token of wordsOf(parsed)) {
    if (!spellings.has(token.term)) {
      if (spellings.size === MAX_WORDS) break
      spellings.set(
        token.term,
        found.has(token.term) || isKnown(token.term, context) ? null : nearest(token.term, context),
      )
      yield
    }
    const spelling = spellings.get(token.term) ?? null
    if (spelling === null) continue
    text += parsed.text.slice(end, token.start) + spelling
    end = token.end
  }
  return end === 0 ? null : text + parsed.text.slice(end)
}

/** The words of a query that are searched and consist of letters; words in conditions and excluded words are not corrected. */
function wordsOf({ text, tokens }: ParsedQuery): readonly Token[] {
  const skipped = tokens.filter(token => token.kind === 'field' || token.sign === '-')
  const isSkipped = (at: number) => skipped.some(({ position, length }) => at >= position && at < position + length)
  return tokenise(text).filter(({ term, start, alias }) => {
    return !alias && term.length >= SHORTEST && /^\p{L}+$/u.test(term) && !isSkipped(start)
  })
}

/**
 * Whether a word needs no correction: a stop word, a word in the spelling dictionary, or a word that some visible passage contains. A
 * correctly spelled word may be absent from the store only because its subject is.
 */
function isKnown(term: string, { words, accessScope, isWord }: QueryContext): boolean {
  if (LANGUAGES.some(language => isStopWord(term, language)) || isWord?.(term)) return true
  const weights = words.weigh([{ text: term, boost: 1 }], { partitions: accessScope.partitions })
  return weights.some(({ df }) => df > 0)
}

/**
 * The spelling, in a visible passage, that is nearest to a misspelt word; null: none is near enough. The index contains only stems, so the
 * spelling is read from a passage that contains the stem.
 */
function nearest(word: string, { words, reader, accessScope }: QueryContext): string | null {
  const most = word.length >= LONG ? 2 : 1
  let best: string | null = null
  let least = most + 1
  for (const { term, chunk } of words.nearTerms(word, most, { partitions: accessScope.partitions }, MAX_TERMS)) {
    const [found] = reader.chunks([chunk])
    if (found === undefined) continue
    for (const spelling of spellingsOf(term, found, { reader })) {
      // The distance to the stem counts too, since the passage may contain another form of the intended word: for `tabel` the passage has
      // `tables`, whose stem `tabl` is near enough.
      const edits = Math.min(editDistance(word, spelling, most), editDistance(word, term, most))
      if (edits >= least) continue
      best = spelling
      least = edits
    }
    if (least === 1) break
  }
  return best
}

/** Words of the passage whose stem, in one of the languages, is `term`; each once, in no particular order. */
function spellingsOf(term: string, chunk: Chunk, { reader }: Pick<QueryContext, 'reader'>): readonly string[] {
  const entry = reader.entry(chunk.entry)
  if (entry === undefined) return []
  const spellings = new Set<string>()
  for (const token of tokenise(`${chunkTitle(entry, chunk)}\n${chunkText(entry, chunk)}`)) {
    // Only words with the same first letter as the index term are stemmed: stemming never changes how a word begins.
    if (token.term[0] !== term[0]) continue
    if (!token.alias && LANGUAGES.some(language => stem(token.term, language) === term)) spellings.add(token.term)
  }
  return [...spellings]
}
