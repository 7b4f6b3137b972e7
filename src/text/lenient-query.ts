/**
 * Lenient parsing of a query: whatever is not certainly an operator is read as text, and this is reported. The reason is that people and
 * programs paste commands, logs and error messages. The rules and their reasons: docs/decisions/016.
 */
import type { QuerentError } from '../model/errors.ts'
import type { FieldToken, QueryToken, Span, WordToken } from '../model/plan.ts'
import { isBlank, lexQuery } from './query-lexer.ts'
import { isStopWord } from './stopwords.ts'

/** A part of the query that looks like an operator but was read as text, and why. */
export interface Unread extends Span {
  readonly text: string
  readonly why: string
}

export interface LenientOptions {
  readonly isField: (name: string) => boolean
  /** Returns the error for a field condition whose value the field cannot have, or null where the value is valid. */
  readonly faultOf: (token: FieldToken) => QuerentError | null
  /** Largest number of phrases, signs and field conditions that are read as operators; further ones are read as text. */
  readonly mostConditions: number
}

export interface LenientReading {
  readonly tokens: readonly QueryToken[]
  readonly unread: readonly Unread[]
}

/**
 * Splits a query into tokens by lenient rules; never throws. `given`: the query as given, with its line breaks. `text`: the same query with
 * line breaks and other control characters replaced by blanks (`cleanText`).
 */
export function lexLeniently(given: string, text: string, options: LenientOptions): LenientReading {
  const { isField, faultOf, mostConditions } = options
  const unread: Unread[] = []
  const report = ({ position, length }: Span, why: string): void => {
    unread.push({ position, length, text: text.slice(position, position + length), why })
  }
  let tokens = lexQuery(text, { isField, forgive: (at, error) => report(at, reasonOf(error)) })
  /** Turns operator tokens into plain words where `reasonFor` returns a reason, and reports them. */
  const demote = (reasonFor: (token: QueryToken, at: number) => string | null): void => {
    tokens = tokens.flatMap((token, at): readonly QueryToken[] => {
      const why = reasonFor(token, at)
      if (why === null) return [token]
      report(token, why)
      return wordsIn(text, token)
    })
  }
  demote(token => {
    const fault = token.kind === 'field' ? faultOf(token) : null
    return fault === null ? null : reasonOf(fault)
  })
  demote(token => (token.kind === 'phrase' && !/[\p{L}\p{N}]/u.test(token.text) ? 'it has no word' : null))
  const pasted = looksPasted(given, tokens, text)
  demote(token => (isSigned(token) ? signFault(token, pasted) : null))
  const lastText = tokens.findLastIndex(token => !isCondition(token))
  const before = tokens
  demote((token, at) => {
    if (token.kind !== 'word' || token.sign !== '-') return null
    if (at < lastText) return 'text follows it; to exclude it, write it at the end or in quotes'
    return followsFunctionWord(before, at) ? 'a function word comes before it; to exclude it, put it in quotes' : null
  })
  if (tokens.every(token => token.sign === '-')) {
    demote(token => (token.kind === 'field' ? null : 'there is nothing else to search for'))
  }
  let conditions = 0
  demote(token => {
    const isText = token.kind === 'word' && token.sign === null
    if (!isText) conditions++
    return isText || conditions <= mostConditions ? null : `only ${mostConditions} operators are read`
  })
  return { tokens, unread: unread.sort((a, b) => a.position - b.position) }
}

/** The words in a part of the query, as typed, without reading operators in it. */
export function wordsIn(text: string, { position, length }: Span): readonly WordToken[] {
  const words: WordToken[] = []
  const end = position + length
  for (let at = position; at < end; at++) {
    if (isBlank(text.charAt(at))) continue
    const start = at
    while (at < end && !isBlank(text.charAt(at))) at++
    const word = text.slice(start, at)
    const span = { position: start, length: word.length }
    words.push({ kind: 'word', sign: null, text: word, boost: 1, glued: false, ...span })
  }
  return words
}

type Signed = Exclude<QueryToken, FieldToken>

function isSigned(token: QueryToken): token is Signed {
  return token.kind !== 'field' && token.sign !== null
}

function isCondition(token: QueryToken): boolean {
  return token.kind === 'field' || token.sign !== null
}

/**
 * Pattern of a word that a minus sign can exclude: a letter, then letters and digits, parts joined by hyphens or apostrophes. Numbers and
 * addresses (`+0x3f`) begin with a digit and so are not words here.
 */
const WORD = /^\p{L}[\p{L}\p{N}\p{M}]*(?:['’-][\p{L}\p{N}\p{M}]+)*$/u
/**
 * Shortest ASCII word, in letters, that a minus sign can exclude: a shorter one is rather an option of a command, such as `-w` or `-rf`.
 */
const SHORTEST_EXCLUSION = 3

function signFault(token: Signed, pasted: boolean): string | null {
  const inQuotes = 'to use the sign, put the word in quotes'
  if (pasted) return 'the text looks like a command, a log or code'
  if (token.kind === 'phrase') return null
  if (!WORD.test(token.text)) return `what follows the sign is no word; ${inQuotes}`
  const isShort = token.text.length < SHORTEST_EXCLUSION && /^[\x20-\x7e]*$/.test(token.text)
  return token.sign === '-' && isShort ? `it looks like an option; ${inQuotes}` : null
}

/**
 * Whether a function word precedes the sign. People do not write one between what they search and what they exclude, so in `the -wal file`
 * and `what is -wal` the sign is text.
 */
function followsFunctionWord(tokens: readonly QueryToken[], at: number): boolean {
  const before = tokens[at - 1]
  if (before?.kind !== 'word' || before.sign !== null) return false
  const word = before.text.toLowerCase()
  return isStopWord(word, 'en') && !JOINS.has(word)
}

const JOINS: ReadonlySet<string> = new Set(['and', 'or', 'but', 'not', 'nor'])

/** Patterns of words that show that a query contains a command line, a log, a stack trace, a diff or code. */
const TECHNICAL: readonly RegExp[] = [
  /[\p{L}\p{N})\]]:$/u, // Pattern of a label such as `error:`.
  /^-{1,2}(?=[\dA-Za-z]*[A-Za-z])[\dA-Za-z]{1,2}$/, // Pattern of short command options: -w, -rf, -O2.
  /^--[a-z]/i, // Pattern of long command options: --verbose.
  /^(?:~|\.{1,2})?\/./, // Pattern of paths: /etc/hosts, ./run.
  /[=|<>{}\\`]|&&|\$\w|\(\)|::|:\d\d:\d\d/, // Pattern of code and times: a=b, x | y, $HOME, f(), std::vector, 12:30:01.
]

function looksPasted(given: string, tokens: readonly QueryToken[], text: string): boolean {
  if (/[\r\n]/.test(given.trim())) return true
  return tokens.some(({ kind, position, length }) => {
    if (kind !== 'word') return false
    const word = text.slice(position, position + length)
    return TECHNICAL.some(sign => sign.test(word))
  })
}

function reasonOf({ message }: QuerentError): string {
  return message.split(' (at position ', 1)[0] as string
}
