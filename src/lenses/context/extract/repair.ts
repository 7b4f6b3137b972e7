/**
 * Repairs source text with syntax errors, in any language. A parser that recovers from an error may put the rest of a file into one error
 * node, so the parts of the file, found by lines and indentation, are parsed separately: first the outermost parts, then the parts within
 * those that are broken. A part that cannot be parsed is replaced by blanks, except for its header where that can be parsed; then the whole
 * text is parsed again. Lines and offsets do not change.
 */
import type { Language } from './concept.ts'

/** Returns whether the grammar parses the text without an error. */
type IsSound = (text: string) => boolean

interface SoundText {
  /** The repaired source text, which has the length of the original. */
  readonly text: string
  /** Number of characters of source code that were replaced by blanks. */
  readonly blanked: number
}

/** A range of lines: from the first (included) to the last (excluded). */
type Span = readonly [from: number, until: number]

interface Around {
  readonly before: string
  readonly after: string
}

const MAX_DEPTH = 5
/**
 * Number of groups into which the parts of a text are divided for the first parses; usually most groups have no error, so their parts need
 * not be parsed one by one.
 */
const GROUPS = 8
/**
 * Largest total length, in characters, of a part's opening lines (such as the header of a class) and closing lines (such as its closing
 * bracket). A part for which they are longer is replaced by blanks as a whole.
 */
const MAX_FRAME = 4_000
/** Largest number of parses of parts in one file; together with `MAX_TIMES` it limits the time spent on a file with errors. */
const MAX_PARSES = 400
/** Largest number of characters that are parsed again, as a multiple of the file's length. */
const MAX_TIMES = 6

/**
 * Lines that continue a construct begun above, whatever their indentation, such as `}` and `else`; marks of merge conflicts are excluded.
 */
const CONTINUES =
  /^(?!<{7}|={7}|>{7}|\|{7})(?:[)\]}>{.,:;?|&=+*/%-]|(?:else|elif|elsif|except|finally|catch|rescue|ensure|end|then|where|when)\b)/
/** Lines that belong to the line below, such as decorators and attributes. */
const LEADS = /^(?:@(?!interface\b)|#\[|\[[\w.]+[^\]]*\]\s*$|template\b)/

/** The text with its broken parts replaced by blanks; null where no broken part smaller than the whole file was found. */
export function soundText(text: string, language: Language, isSound: IsSound): SoundText | null {
  return new Search(text, language, isSound).run()
}

class Search {
  readonly #text: string
  readonly #language: Language
  readonly #code: string
  readonly #isSound: IsSound
  readonly #starts: readonly number[]
  /** Indentation of each line: number of white space characters before its first code; -1 for a line without code. */
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
    // In PHP, text before the first `<?php` is not code, and a file without this tag has no code at all.
    const php =
      this.#language === 'php' ? this.#starts.findIndex((_, line) => this.#lineOf(line).includes('<?php')) : -1
    const before = this.#textOf([0, php + 1])
    const isFound = this.#search([php + 1, this.#starts.length], { before, after: '' }, 0)
    if (!isFound || this.#edits.length === 0) return null
    return { text: edited(this.#text, this.#edits), blanked: this.#blanked }
  }

  /**
   * Finds and repairs the broken parts of a range of lines that as a whole does not parse. Returns false when every part parses on its own,
   * so that none can be repaired.
   */
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
    // A part that leaves brackets open is replaced by blanks. In Python this applies also to brackets that could be closed, because a
    // bracket added at the end of a line would take the place of the line feed that ends the statement.
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

  /**
   * Text that fills the body of a block whose code was replaced by blanks: `pass` in Python, where a body must not be empty; nothing in
   * other languages.
   */
  #filler(): string {
    return this.#language === 'python' ? 'pass' : ''
  }

  #passes(span: Span, { before, after }: Around): boolean {
    return this.#passesText(`${before}${this.#textOf(span)}${after}`)
  }

  /** Whether the text parses without errors. Returns true without parsing when the limit of parses is reached. */
  #passesText(text: string): boolean {
    this.#parses--
    this.#characters -= text.length
    if (this.#parses < 0 || this.#characters < 0) {
      this.#parses = 0
      return true
    }
    return this.#isSound(text)
  }

  /**
   * Divides a range of lines into parts. A part begins at each line with the smallest indentation in the range, except lines that continue
   * the part above, such as `}` and `else`.
   */
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

  /**
   * The body of a part: from the first to the last of its lines that are indented further than its first line; null when there are none.
   */
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

  /** Replaces the code in a range of lines by blanks. Comments are kept, since they may document what follows. */
  #blank([from, until]: Span, filler: string): void {
    const start = (this.#starts[from] as number) + Math.max(0, this.#indents[from] as number)
    const end = this.#starts[until] ?? this.#text.length
    const code = this.#code.slice(start, end)
    this.#blanked += code.replace(/\s/g, '').length
    const blanks = this.#text.slice(start, end).replace(/[^\n]/g, ' ')
    const room = blanks.indexOf('\n') < 0 ? blanks.length : blanks.indexOf('\n')
    this.#edits.push([start, room < filler.length ? blanks : filler + blanks.slice(filler.length)])
  }

  /** Where a part without a body leaves exactly one bracket open, writes the closing bracket in place of the line feed after the part. */
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

/** The closing brackets for those that the code leaves open; null where the code closes a bracket that it did not open. */
function missingClosers(code: string): string | null {
  const open: string[] = []
  for (const sign of code) {
    if (sign === '(' || sign === '[' || sign === '{') open.unshift(sign === '(' ? ')' : sign === '[' ? ']' : '}')
    else if ((sign === ')' || sign === ']' || sign === '}') && open.shift() !== sign) return null
  }
  return open.join('')
}

// TypeScript syntax that the compiler accepts but the tree-sitter grammar does not know. Each rule replaces it by text of equal length that
// parses as the same declarations, so offsets stay valid; names are read from the original text. `behind`: a pattern that the text after
// the found place must match. It may be slow, so it is tried at few places.

type Rule = readonly [pattern: RegExp, write: (found: string) => string, behind?: RegExp]

const blank = (found: string): string => found.replace(/[^\n]/g, ' ')

const RULES: readonly Rule[] = [
  // Removes `type` from `export type * from './a'`.
  [/(?<=\bexport\s+)type(?=\s*\*)/g, blank],
  // Replaces `accessor` in `static accessor size = 1` by `readonly`, which has equal length.
  [
    /(?<=(?:^|[{};]|\b(?:static|public|private|protected|override|declare|abstract))\s*)accessor(?=\s+(?!(?:in|instanceof|as|of|satisfies)\b)[\w$#["'])/gm,
    () => 'readonly',
  ],
  // Changes the letter case of a member named `accessor`, which the grammar would take as a keyword.
  [/\baccessor(?=\s*[(=:;?!])/g, () => 'accessoR'],
  // Turns `await using file = open()` and `for await (using file of files)` into declarations with `const`.
  [/\bawait(?=\s+using\s+[\w$]+\s*(?:=(?![=>])|of\b))/g, blank],
  [/\busing(?=\s+[\w$]+\s*(?:=(?![=>])|of\b))/g, () => 'const'],
  // Removes `defer` from `import defer * as late from './a'`.
  [/(?<=\bimport\s+)defer(?=\s*\*)/g, blank],
  // Removes variance annotations, as in `interface Box<in out T, out U>`.
  [/(?<=[<,]\s*(?:const\s+)?)(?:in\s+out|in|out)(?=\s+(?!extends\b)[A-Za-z_$][\w$]*\s*(?:[,>=]|extends\b))/g, blank],
  // Removes `readonly` from `keyof readonly T[]`.
  [/(?<=\bkeyof\s+)readonly\b/g, blank],
  // Changes the letter case of `type` in `{ [type in Keys]: … }`, where the grammar takes this name as a keyword.
  [/(?<=\[\s*)type(?=\s+in\b)/g, () => 'typE'],
  // Changes the letter case of a member named `abstract`, as in `interface Node { abstract?: boolean }`.
  [/\babstract(?=\s*\??\s*:)/g, () => 'abstracT'],
  // Replaces `import('./a')` in the type `import('./a').Name` by a name of equal length; the text of the node is still read from the
  // original.
  [
    /(?<!\bawait\s+)\bimport\s*\(\s*(?:"[^"\n]*"|'[^'\n]*')\s*(?:,\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}\s*)?\)(?=\s*\.\s*[\w$]+(?:\s*\.\s*[\w$]+)*(?![ \t]*[\w$.(]))/g,
    found => '_'.repeat(found.length),
  ],
  // Removes a decorator before a declaration where the language allows none but the compiler parses it, as in `@inline const a = 1`.
  [
    /@[\w$.]+(?:\([^()\n]*\))?(?=(?:\s+@[\w$.]+(?:\([^()\n]*\))?){0,5}\s+(?:(?:export|declare)\s+){0,2}(?:const(?!\s+enum)|let|var|function)\b)/g,
    blank,
  ],
  [/(?<=\btypeof\s+)import\s*\(\s*(?:"[^"\n]*"|'[^'\n]*')\s*\)/g, found => '_'.repeat(found.length)],
  // Removes line feeds between `let` and its first name.
  [/(?<=\blet[ \t\n]{0,50})\n(?=[ \t\n]{0,50}[\w$[{])/g, () => ' '],
  // Ends an interface member with a semicolon before a call signature `<T>(…): R` on the next line, which the grammar would read as type
  // arguments of the member.
  [/(?<=[\w$\])}>"'`])(?:\n|[ \t](?=\s*\n))(?=\s*<)/g, () => ';', /^\s*<[^;{}]{1,400}?>\s*\([^;]{0,1000}?\)\s*:/],
  // Gives `export default function (…): T;` and `export default function ();` an empty body.
  [
    /(?<=\bexport\s+default\s+(?:async\s+)?function\s*(?:<[^;{}()]{0,1000}>\s*)?\((?:[^;{}()]|\([^;{}()]{0,500}\)){0,1000}\)\s*)(?:;[ \t\n]|:(?:[^;{}]|(?<=[:|&<(,[]\s*)\{[^{}]*\}){1,2000}(?=;))/g,
    found => `{}${blank(found.slice(2))}`,
  ],
]

/**
 * Largest number of places in a file at which a rule's slow pattern `behind` (for the text after a place) is tried. `MAX_BEHIND`: number of
 * characters that each try examines.
 */
const MAX_PLACES = 1_000
const MAX_BEHIND = 1_500

/**
 * The text with TypeScript syntax that the grammar does not know replaced by syntax that it knows; null where there is nothing to replace.
 */
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

/** Applies replacements to a text; each is as long as what it replaces. Of two at one place, the first is applied. */
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

// Masks the comments and strings of a source text, so that patterns find only words and brackets of code.

/**
 * Character that replaces each character of a comment except line feeds. Patterns treat it as white space, but it can be distinguished from
 * a blank.
 */
const COMMENT = '\u00a0'

/**
 * Length of the longest character literal in Rust, `'\u{10ffff}'` with its quotes; a longer range between two quotes is code between two
 * lifetimes.
 */
const MAX_RUST_CHARACTER = 13

interface Marks {
  /** Signs that begin a comment which ends with its line. */
  readonly line: readonly string[]
  readonly block: boolean
  /** Quotes of strings that may extend over several lines; longer quotes come first. */
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
 * Replaces comments by `COMMENT` characters and the inside of strings by blanks; length and line feeds do not change. One pass, without
 * tracking nested templates. Used only for texts that the grammar could not parse, where a wrong guess spoils nothing but the repair.
 */
function codeOnly(text: string, language: Language): string {
  const { line, block, long } = MARKS[language] ?? C
  const parts: string[] = []
  let from = 0
  /** Copies the text up to `start` unchanged and masks the text from `start` to `end` with `blank`. */
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

/**
 * Masks a string in source text and returns the offset at which to continue. A quote that is not closed on its line, such as an apostrophe
 * or a Rust lifetime, is left unchanged.
 */
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
