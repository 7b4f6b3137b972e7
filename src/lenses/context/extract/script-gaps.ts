/**
 * TypeScript that the compiler accepts and the grammar does not know. Each rule writes it as something of the same length
 * that the grammar reads as the same declarations: offsets stay true, and names are taken from the original.
 */
import { COMMENT, codeOnly } from './code-only.ts'
import type { Language } from './concept.ts'

type Rule = readonly [pattern: RegExp, write: (found: string) => string]

const blank = (found: string): string => found.replace(/[^\n]/g, ' ')

const RULES: readonly Rule[] = [
  // export type * from './a'
  [/(?<=\bexport\s+)type(?=\s*\*)/g, blank],
  // static accessor size = 1: as long as `readonly`
  [
    /(?<=(?:^|[{};]|\b(?:static|public|private|protected|override|declare|abstract))\s*)accessor(?=\s+(?!(?:in|instanceof|as|of|satisfies)\b)[\w$#["'])/gm,
    () => 'readonly',
  ],
  // A member that has the key word for its name
  [/\baccessor(?=\s*[(=:;?!])/g, () => 'accessoR'],
  // await using file = open(), for await (using file of files)
  [/\bawait(?=\s+using\s+[\w$]+\s*(?:=(?![=>])|of\b))/g, blank],
  [/\busing(?=\s+[\w$]+\s*(?:=(?![=>])|of\b))/g, () => 'const'],
  // import defer * as late from './a'
  [/(?<=\bimport\s+)defer(?=\s*\*)/g, blank],
  // interface Box<in out T, out U>
  [/(?<=[<,]\s*(?:const\s+)?)(?:in\s+out|in|out)(?=\s+(?!extends\b)[A-Za-z_$][\w$]*\s*(?:[,>=]|extends\b))/g, blank],
  // keyof readonly T[]
  [/(?<=\bkeyof\s+)readonly\b/g, blank],
  // { [type in Keys]: … }: a name that is a key word, in other letters
  [/(?<=\[\s*)type(?=\s+in\b)/g, () => 'typE'],
  // interface Node { abstract?: boolean }
  [/\babstract(?=\s*\??\s*:)/g, () => 'abstracT'],
  // import('./a').Name as a type: a name, whose text is still the whole import
  [
    /(?<!\bawait\s+)\bimport\s*\(\s*(?:"[^"\n]*"|'[^'\n]*')\s*(?:,\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}\s*)?\)(?=\s*\.\s*[\w$]+(?:\s*\.\s*[\w$]+)*(?![ \t]*[\w$.(]))/g,
    found => '_'.repeat(found.length),
  ],
  // @inline const a = 1: decorators where the language has none, which the compiler parses
  [
    /@[\w$.]+(?:\([^()\n]*\))?(?=(?:\s+@[\w$.]+(?:\([^()\n]*\))?){0,5}\s+(?:(?:export|declare)\s+){0,2}(?:const(?!\s+enum)|let|var|function)\b)/g,
    blank,
  ],
  [/(?<=\btypeof\s+)import\s*\(\s*(?:"[^"\n]*"|'[^'\n]*')\s*\)/g, found => '_'.repeat(found.length)],
]

/** What is looked at behind a `<` or a `(` for its end. */
const MAX_SIGNATURE = 4_000
/** Signatures looked at in a file: together with their length it bounds the cost. */
const MAX_SIGNATURES = 2_000

/** Null where there is nothing to rewrite. */
export function withoutGaps(text: string, language: Language): string | null {
  if (language !== 'typescript' && language !== 'tsx') return null
  const code = codeOnly(text, language)
  const edits: (readonly [at: number, written: string])[] = []
  for (const [pattern, write] of RULES) {
    for (const { index, 0: found } of code.matchAll(pattern)) edits.push([index, write(found)])
  }
  for (const { index } of firstOf(code.matchAll(/\blet(?=\s*\n)/g))) edits.push(...joinedLines(code, index + 3))
  for (const { index } of firstOf(code.matchAll(/(?<=\n\s*)</g))) {
    const at = isCallSignature(code, index) ? semicolonBefore(code, index) : null
    if (at !== null) edits.push([at, ';'])
  }
  for (const { index, 0: found } of firstOf(code.matchAll(/\bexport\s+default\s+(?:async\s+)?function\s*(?=[<(])/g))) {
    const body = emptyBody(code, index + found.length)
    if (body !== null) edits.push(body)
  }
  if (edits.length === 0) return null
  edits.sort(([a], [b]) => a - b)
  const parts: string[] = []
  let from = 0
  for (const [at, written] of edits) {
    if (at < from) continue
    parts.push(text.slice(from, at), written)
    from = at + written.length
  }
  return parts.join('') + text.slice(from)
}

function* firstOf<T>(all: Iterable<T>): Iterable<T> {
  let count = 0
  for (const one of all) {
    if (count++ === MAX_SIGNATURES) return
    yield one
  }
}

/** `let` and its first name on one line. */
function joinedLines(code: string, from: number): (readonly [number, string])[] {
  const edits: (readonly [number, string])[] = []
  for (let at = from; /\s/.test(code[at] ?? 'x'); at++) {
    if (code[at] === COMMENT) return []
    if (code[at] === '\n') edits.push([at, ' '])
  }
  return edits
}

/** `<T>(…): R` in an interface, behind a member that has no semicolon: it reads as arguments of that member's type. */
function isCallSignature(code: string, start: number): boolean {
  const angle = endOfBrackets(code, start)
  const open = angle === null ? null : afterSpace(code, angle)
  if (open === null || code[open] !== '(') return false
  const close = endOfBrackets(code, open)
  return close !== null && code[afterSpace(code, close)] === ':'
}

/** A white space in front that may be a semicolon instead, where what is in front of it may end a member. */
function semicolonBefore(code: string, end: number): number | null {
  let place: number | null = null
  let at = end - 1
  for (; /\s/.test(code[at] ?? 'x'); at--) {
    // The line feed behind a comment is the end of the comment.
    const isFree = code[at] === ' ' || code[at] === '\t' || (code[at] === '\n' && code[at - 1] !== COMMENT)
    if (isFree) place ??= at
  }
  return /[\w$\])}>"'`]/.test(code[at] ?? '') ? place : null
}

/**
 * Of `(…): T;` what is behind the brackets as an empty body and blanks; of `();` the body takes the place of a white
 * space. Null for a function that has a body.
 */
function emptyBody(code: string, start: number): readonly [at: number, written: string] | null {
  const open = code[start] === '<' ? endOfBrackets(code, start) : start
  const behind = open === null || code[open] !== '(' ? null : endOfBrackets(code, open)
  if (behind === null) return null
  if (code[behind] === ';') return /^;[ \t\n]/.test(code.slice(behind, behind + 2)) ? [behind, '{}'] : null
  if (code[behind] !== ':') return null
  for (let at: number | null = behind; at !== null && at < behind + MAX_SIGNATURE; ) {
    const sign: string = code[at] ?? ''
    if (sign === ';') return [behind, `{}${blank(code.slice(behind + 2, at))}`]
    if (/[([{]/.test(sign)) {
      const isBody: boolean = sign === '{' && /[)\w$\]}>]\s*$/.test(code.slice(Math.max(behind, at - 50), at))
      at = isBody ? null : endOfBrackets(code, at)
    } else at = sign === '' ? null : at + 1
  }
  return null
}

const CLOSERS: Readonly<Record<string, string>> = { '<': '>', '(': ')', '[': ']', '{': '}' }

/** Behind the bracket that closes the one at `start`; null: it is far away, or another one comes. */
function endOfBrackets(code: string, start: number): number | null {
  const open: string[] = []
  const end = Math.min(code.length, start + MAX_SIGNATURE)
  for (let at = start; at < end; at++) {
    const sign = code[at] as string
    const closer = CLOSERS[sign]
    if (closer !== undefined) open.push(closer)
    else if (sign === '>' && (code[at - 1] === '=' || open.at(-1) !== '>')) continue
    else if (/[>)\]}]/.test(sign) && open.pop() !== sign) return null
    if (open.length === 0) return at + 1
  }
  return null
}

function afterSpace(code: string, from: number): number {
  let at = from
  while (/\s/.test(code[at] ?? 'x')) at++
  return at
}
