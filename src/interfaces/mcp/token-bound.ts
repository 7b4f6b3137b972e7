/**
 * No fewer tokens than the tokenizers of today's large models make of a text, and in prose and JSON about a third more
 * (compared with o200k and cl100k in `test/unit/interfaces/mcp-token-bound.test.ts`). For limits that must not be exceeded; an
 * estimate that is right on average is `text/count-tokens.ts`.
 */
const RUNS = /[A-Za-z0-9_-]+|[^\S\n]*\n\s*|[^\S\n]+|["{}[\],:\\]{1,2}|[!-,./:-@[-^`{-~]|\P{ASCII}+|./gu
const WORDS = /[A-Z]?[a-z]+|[A-Z]+|\d{1,3}|[_-]+/g
/** Keys, hashes and handles: nothing that occurs in prose. */
const RANDOM = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)|^[\w-]{33,}$/

/** What the shortest texts may have more than their parts. */
const SHORT = 4

export function maxTokensOf(text: string): number {
  let tokens = SHORT
  for (const [run] of text.matchAll(RUNS)) tokens += tokensOfRun(run)
  return tokens
}

function tokensOfRun(run: string): number {
  if (run.charCodeAt(0) > 0x7f) return Math.ceil(Buffer.byteLength(run) / 1.5)
  // A blank goes with the word behind it.
  if (run === ' ') return 0
  if (!/[\w-]/.test(run)) return 1
  if (RANDOM.test(run)) return Math.ceil(run.length * 0.85)
  let tokens = 0
  for (const [word] of run.matchAll(WORDS)) tokens += tokensOfWord(word)
  return tokens
}

/** Letters that no word has in this order are split after every second one. */
function tokensOfWord(word: string): number {
  const vowels = word.match(/[aeiouy]/gi)?.length ?? 0
  const isWord = /[^a-z]/i.test(word) || vowels * 5 >= word.length
  return Math.ceil(word.length / (isWord ? 5 : 1.8))
}
