/**
 * Reading around errors, in any language. A parser that recovers may put the rest of a file into one error. So where a
 * file has errors, its parts are parsed alone, by its lines and how far they are indented: first its outermost parts, in
 * broken ones the parts within. What stays broken is blanked out, its header kept where that can be read; then the whole
 * is parsed again. Lines and offsets stay true.
 */
import type { Language } from './concept.ts'

/** Whether the grammar reads the text without an error. */
type IsSound = (text: string) => boolean

interface SoundText {
  /** Of the same length as the original. */
  readonly text: string
  /** Characters of code that were blanked out. */
  readonly blanked: number
}

/** Lines [from, until). */
type Span = readonly [from: number, until: number]

interface Around {
  readonly before: string
  readonly after: string
}

const MAX_DEPTH = 5
/** Parts that are looked at together, of which all are sound more often than not. */
const GROUPS = 8
/** Characters of the lines that open and close a part. */
const MAX_FRAME = 4_000
/** Parses of parts; with `MAX_TIMES` the bound on what a file with errors costs. */
const MAX_PARSES = 400
/** Characters parsed again, in lengths of the file. */
const MAX_TIMES = 6

/** Lines that go on with what the line above them began, at whatever depth they stand; not the marks of a conflict. */
const CONTINUES =
  /^(?!<{7}|={7}|>{7}|\|{7})(?:[)\]}>{.,:;?|&=+*/%-]|(?:else|elif|elsif|except|finally|catch|rescue|ensure|end|then|where|when)\b)/
/** Lines that belong to the next one. */
const LEADS = /^(?:@(?!interface\b)|#\[|\[[\w.]+[^\]]*\]\s*$|template\b)/

/** Null: nothing broken was found, or nothing smaller than the file. */
export function soundText(text: string, language: Language, isSound: IsSound): SoundText | null {
  return new Search(text, language, isSound).run()
}

class Search {
  readonly #text: string
  readonly #language: Language
  readonly #code: string
  readonly #isSound: IsSound
  readonly #starts: readonly number[]
  /** White space in front of the first sign of code; -1: there is none. */
  readonly #indents: readonly number[]
  readonly #edits: Edit[] = []
  #blanked = 0
  #parses = MAX_PARSES
  #characters: number

  constructor(text: string, language: Language, isSound: IsSound) {
    this.#text = text
    this.#language = language
    this.#isSound = isSound
    this.#code = codeOnly(text, language).replaceAll(COMMENT, ' ')
    const starts = [0]
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    this.#starts = starts
    this.#indents = starts.map((start, line) => {
      return this.#code.slice(start, starts[line + 1] ?? text.length).search(/\S/)
    })
    this.#characters = text.length * MAX_TIMES
  }

  run(): SoundText | null {
    // Text before the first PHP tag is no code, and without the mark nothing is.
    const php =
      this.#language === 'php' ? this.#starts.findIndex((_, line) => this.#lineOf(line).includes('<?php')) : -1
    const before = this.#textOf([0, php + 1])
    const isFound = this.#search([php + 1, this.#starts.length], { before, after: '' }, 0)
    if (!isFound || this.#edits.length === 0) return null
    return { text: edited(this.#text, this.#edits), blanked: this.#blanked }
  }

  /** The span is known to be broken. False: its parts are not, each alone. */
  #search(span: Span, around: Around, depth: number): boolean {
    const broken = this.#broken(this.#parts(span), around, true)
    for (const part of broken) this.#repair(part, around, depth)
    return broken.length > 0
  }

  #broken(parts: readonly Span[], around: Around, isKnown: boolean): Span[] {
    const [first] = parts
    const last = parts.at(-1)
    if (first === undefined || last === undefined || this.#parses <= 0) return []
    if (!isKnown && this.#passes([first[0], last[1]], around)) return []
    if (parts.length === 1) return [first]
    const size = Math.ceil(parts.length / GROUPS)
    const found: Span[] = []
    for (let at = 0; at < parts.length; at += size)
      found.push(...this.#broken(parts.slice(at, at + size), around, false))
    return found
  }

  #repair(part: Span, { before, after }: Around, depth: number): void {
    const body = this.#body(part)
    const head = this.#textOf([part[0], body?.[0] ?? part[1]])
    const foot = body === null ? '' : `${this.#textOf([body[1], part[1]])}\n`
    const isLong = head.length + foot.length > MAX_FRAME
    const closers = isLong ? null : missingClosers(codeOnly(`${head}\n${foot}`, this.#language))
    const filler = body !== null && closers ? closers : this.#filler()
    const alone = body === null ? `${head}\n${closers ?? ''}` : `${head}${filler}\n${foot}`
    // A bracket that is closed where the line ends would take the end of the line along.
    const isOpen = closers === null || (closers !== '' && this.#language === 'python')
    if (isOpen || !this.#passesText(before + alone + after)) this.#blank(part, this.#filler())
    else if (body === null) {
      if (closers === '') this.#blank(part, this.#filler())
      else this.#closeBehind(part, closers)
    } else {
      const within = { before: before + head, after: foot + after }
      const isDeep = closers !== '' || depth === MAX_DEPTH || this.#passes(body, within)
      if (isDeep || !this.#search(body, within, depth + 1)) this.#blank(body, filler)
    }
  }

  /** A body may not be empty in a language that has no brackets. */
  #filler(): string {
    return this.#language === 'python' ? 'pass' : ''
  }

  #passes(span: Span, { before, after }: Around): boolean {
    return this.#passesText(`${before}${this.#textOf(span)}${after}`)
  }

  /** True as well where no more may be parsed. */
  #passesText(text: string): boolean {
    this.#parses--
    this.#characters -= text.length
    if (this.#parses < 0 || this.#characters < 0) {
      this.#parses = 0
      return true
    }
    return this.#isSound(text)
  }

  /** Parts of a span: each begins with a line that is indented no further than the outermost ones. */
  #parts([from, until]: Span): Span[] {
    let outermost = Number.POSITIVE_INFINITY
    for (let line = from; line < until; line++) {
      const indent = this.#indents[line] as number
      if (indent >= 0 && indent < outermost && !this.#continues(line)) outermost = indent
    }
    const parts: Span[] = []
    let start = -1
    let end = -1
    let leads = false
    for (let line = from; line < until; line++) {
      const indent = this.#indents[line] as number
      if (indent < 0) continue
      if (indent <= outermost && !this.#continues(line) && !leads) {
        if (start >= 0) parts.push([start, end])
        start = line
      }
      if (start < 0) start = line
      end = line + 1
      leads = indent <= outermost && LEADS.test(this.#lineOf(line).trimStart())
    }
    if (start >= 0) parts.push([start, end])
    return parts
  }

  /** From the first to the last line that is indented further than the first one of the part; null: there is none. */
  #body([from, until]: Span): Span | null {
    const isInner = (line: number) => (this.#indents[line] as number) > (this.#indents[from] as number)
    let [first, end] = [from, until]
    while (first < until && !isInner(first)) first++
    while (end > first && !isInner(end - 1)) end--
    return first < end ? [first, end] : null
  }

  #continues(line: number): boolean {
    return CONTINUES.test(this.#lineOf(line).trimStart())
  }

  /** Its code alone: comments stay, they may document what follows. */
  #blank([from, until]: Span, filler: string): void {
    const start = (this.#starts[from] as number) + Math.max(0, this.#indents[from] as number)
    const end = this.#starts[until] ?? this.#text.length
    const code = this.#code.slice(start, end)
    this.#blanked += code.replace(/\s/g, '').length
    const blanks = this.#text.slice(start, end).replace(/[^\n]/g, ' ')
    const room = blanks.indexOf('\n') < 0 ? blanks.length : blanks.indexOf('\n')
    this.#edits.push([start, room < filler.length ? blanks : filler + blanks.slice(filler.length)])
  }

  /** In place of the line feed behind a part that has no body. */
  #closeBehind([, until]: Span, closers: string): void {
    const end = (this.#starts[until] ?? this.#text.length + 1) - 1
    if (closers.length === 1 && this.#text[end] === '\n') this.#edits.push([end, closers])
  }

  #lineOf(line: number): string {
    return this.#code.slice(this.#starts[line], this.#starts[line + 1] ?? this.#text.length)
  }

  #textOf([from, until]: Span): string {
    return this.#text.slice(this.#starts[from], this.#starts[until] ?? this.#text.length)
  }
}

/** Brackets that are open at the end, closed; null where one closes that is not open. */
function missingClosers(code: string): string | null {
  const open: string[] = []
  for (const sign of code) {
    if (sign === '(' || sign === '[' || sign === '{') open.unshift(sign === '(' ? ')' : sign === '[' ? ']' : '}')
    else if ((sign === ')' || sign === ']' || sign === '}') && open.shift() !== sign) return null
  }
  return open.join('')
}

// TypeScript that the compiler accepts and the grammar does not know. Each rule writes it as something of the same length that
// the grammar reads as the same declarations: offsets stay true, and names are taken from the original. `behind`: what must
// follow as well; it may take long, so it is looked for at a bounded number of places.

type Rule = readonly [pattern: RegExp, write: (found: string) => string, behind?: RegExp]

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
  // `let` and its first name on one line
  [/(?<=\blet[ \t\n]{0,50})\n(?=[ \t\n]{0,50}[\w$[{])/g, () => ' '],
  // <T>(…): R in an interface, behind a member that has no semicolon: it reads as arguments of that member's type
  [/(?<=[\w$\])}>"'`])(?:\n|[ \t](?=\s*\n))(?=\s*<)/g, () => ';', /^\s*<[^;{}]{1,400}?>\s*\([^;]{0,1000}?\)\s*:/],
  // export default function (…): T; and export default function (); get an empty body
  [
    /(?<=\bexport\s+default\s+(?:async\s+)?function\s*(?:<[^;{}()]{0,1000}>\s*)?\((?:[^;{}()]|\([^;{}()]{0,500}\)){0,1000}\)\s*)(?:;[ \t\n]|:(?:[^;{}]|(?<=[:|&<(,[]\s*)\{[^{}]*\}){1,2000}(?=;))/g,
    found => `{}${blank(found.slice(2))}`,
  ],
]

/** Places of a file where `behind` is looked for, and characters of each. */
const MAX_PLACES = 1_000
const MAX_BEHIND = 1_500

/** Null where there is nothing to rewrite. */
export function withoutGaps(text: string, language: Language): string | null {
  if (language !== 'typescript' && language !== 'tsx') return null
  const code = codeOnly(text, language)
  const edits = RULES.flatMap(([pattern, write, behind]) => {
    const found = [...code.matchAll(pattern)]
    const isBehind = ({ index }: RegExpExecArray) => behind?.test(code.slice(index, index + MAX_BEHIND)) === true
    const right = behind === undefined ? found : found.slice(0, MAX_PLACES).filter(isBehind)
    return right.map(({ index, 0: part }): Edit => [index, write(part)])
  })
  return edits.length === 0 ? null : edited(text, edits)
}

type Edit = readonly [at: number, written: string]

/** A replacement has the length of what it replaces. Of two at one place the first counts. */
function edited(text: string, edits: Edit[]): string {
  const parts: string[] = []
  let from = 0
  for (const [at, written] of edits.sort(([a], [b]) => a - b)) {
    if (at < from) continue
    parts.push(text.slice(from, at), written)
    from = at + written.length
  }
  return parts.join('') + text.slice(from)
}

// The same text without what comments and strings say, for rules that look at words and brackets alone.

/** Stands for each character of a comment but its line feeds: white space to a pattern, but no blank. */
const COMMENT = '\u00a0'

/** `'\u{10ffff}'` with its quotes; what is longer is no character but two lifetimes. */
const MAX_RUST_CHARACTER = 13

interface Marks {
  /** Starts of comments that end with their line. */
  readonly line: readonly string[]
  readonly block: boolean
  /** Quotes of strings that may go over several lines, longest first. */
  readonly long: readonly string[]
}

const C: Marks = { line: ['//'], block: true, long: [] }
const MARKS: Partial<Record<Language, Marks>> = {
  typescript: { ...C, long: ['`'] },
  tsx: { ...C, long: ['`'] },
  javascript: { ...C, long: ['`'] },
  go: { ...C, long: ['`'] },
  php: { ...C, line: ['//', '#'] },
  python: { line: ['#'], block: false, long: ['"""', "'''"] },
  ruby: { line: ['#'], block: false, long: [] },
}

/**
 * Same length, same line feeds: comments become `COMMENT`, the inside of a string blanks. One pass, with no memory of what
 * nests in a template; for texts that a grammar could not read, where a guess that is off costs nothing but its use.
 */
function codeOnly(text: string, language: Language): string {
  const { line, block, long } = MARKS[language] ?? C
  const parts: string[] = []
  let from = 0
  /** Everything up to `start` stays, what follows up to `end` becomes `blank`. */
  const cover = (start: number, end: number, blank: string): number => {
    parts.push(text.slice(from, start), text.slice(start, end).replace(/[^\n]/g, blank))
    from = end
    return end
  }
  const signs = /["'`/#]/g
  for (let found = signs.exec(text); found !== null; found = signs.exec(text)) {
    const at = found.index
    const quote = long.find(mark => text.startsWith(mark, at))
    if (quote !== undefined) {
      signs.lastIndex = cover(at + quote.length, endOfLong(text, at + quote.length, quote), ' ') + quote.length
    } else if (line.some(mark => text.startsWith(mark, at)))
      signs.lastIndex = cover(at, indexOr(text, '\n', at), COMMENT)
    else if (block && text.startsWith('/*', at)) signs.lastIndex = cover(at, indexOr(text, '*/', at + 2, 2), COMMENT)
    else if (found[0] === '"' || found[0] === "'") signs.lastIndex = coverString(text, at, language, cover)
  }
  parts.push(text.slice(from))
  return parts.join('')
}

/** Returns where to go on. One that does not end on its line, as an apostrophe or a lifetime, stays as it is. */
function coverString(
  text: string,
  start: number,
  language: Language,
  cover: (start: number, end: number, blank: string) => number,
): number {
  const quote = text[start]
  const isLifetime = language === 'rust' && quote === "'"
  const most = isLifetime ? Math.min(text.length, start + MAX_RUST_CHARACTER) : text.length
  for (let at = start + 1; at < most; at++) {
    const sign = text[at]
    if (sign === '\\') at++
    else if (sign === quote) return cover(start + 1, at, ' ') + 1
    else if (sign === '\n') return isLifetime ? start + 1 : at
  }
  return isLifetime ? start + 1 : most
}

function endOfLong(text: string, start: number, quote: string): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text.startsWith(quote, at)) return at
  }
  return text.length
}

function indexOr(text: string, wanted: string, from: number, beyond = 0): number {
  const at = text.indexOf(wanted, from)
  return at < 0 ? text.length : at + beyond
}
