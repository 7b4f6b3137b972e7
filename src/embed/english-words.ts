/** English words and names that need no other spelling. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGED_MODEL_FOLDER } from './open-embedder.ts'

let words: ReadonlySet<string> | null = null

/**
 * Whether the built-in model has a token for the whole word, in lower case. Its vocabulary has 20,000 frequent words, names and
 * forms, without common misspellings. The first call reads the file of the tokenizer (700 kB, about 10 ms). False for every word if
 * there is no such file.
 */
export function isEnglishWord(word: string): boolean {
  words ??= readWords()
  return words.has(word)
}

function readWords(): ReadonlySet<string> {
  try {
    const tokenizer = JSON.parse(readFileSync(join(PACKAGED_MODEL_FOLDER, 'tokenizer.json'), 'utf8'))
    return new Set(Object.keys(tokenizer.model.vocab))
  } catch {
    return new Set()
  }
}
