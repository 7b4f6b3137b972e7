/**
 * Finds links and tags in Markdown as note programs write them: `[[note]]`, `[[note|shown]]`, `[[note#heading]]`, `![[note]]`,
 * `[text](note.md)`, `#tag`, `#tag/sub`. Code, web addresses, HTML tags and comments are skipped. Time is linear in the text.
 */
import { StepPace, type Steps } from '../base/turns.ts'
import type { FileLink } from '../model/ingester.ts'
import type { Block } from './blocks.ts'

export interface NoteMarks {
  /** The links of a note, each once, in the order of the text. */
  readonly links: readonly FileLink[]
  readonly tags: readonly string[]
}

/** Largest number of links of one note; further ones are ignored. */
export const MAX_LINKS = 1_000
const MAX_TARGET = 1_000

/**
 * Finds links and tags in a note, pausing during a long note. `from`: offset where the Markdown begins, after front matter; links in the
 * front matter count too. `blocks`: blocks of the note, by which code is skipped.
 */
export function* noteMarksInSteps(text: string, from: number, blocks: readonly Block[]): Steps<NoteMarks> {
  const links = new Map<string, FileLink>()
  const tags = new Set<string>()
  const found: Found = {
    link: link => {
      if (links.size < MAX_LINKS) links.set(`${link.isRelative} ${link.target}`, link)
    },
    tag: tag => tags.add(tag),
  }
  yield* scan(text.slice(0, from), { ...found, tag: () => {} })
  let at = from
  for (const { start, end } of blocks.filter(block => block.isCode)) {
    if (end <= at) continue
    yield* scan(text.slice(at, Math.max(at, start)), found)
    at = end
  }
  yield* scan(text.slice(at), found)
  return { links: [...links.values()], tags: [...tags] }
}

interface Found {
  link(link: FileLink): void
  tag(tag: string): void
}

const SIGN = /[\\`<[\]#]|:\/\//g
const WIKI = /\[\[([^\][\n]{1,2000})\]\]/y
/** Pattern of the part of a Markdown link or picture from `](` on: its address, with an optional title. */
const ADDRESS =
  /\]\([ \t]*(?:<([^<>\n]{1,2000})>|((?:[^\s()<>]|\([^\s()]{0,200}\)){1,2000}))(?:[ \t]+(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'|\([^()\n]{0,500}\)))?[ \t]*\)/y
const DEFINITION = /\[[^\][\n]{1,500}\]:[ \t]*(?:<([^<>\n]{1,2000})>|(\S{1,2000}))/y
/** Pattern of a tag: `#`, then letters, digits, pictographs, `_`, `-` and `/`. */
const TAG = /#((?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic}_/-]|\u200d){1,200})/uy
const HTML = /<[/a-z!?][^<>]{0,2000}>/iy
const ADDRESS_END = /[^\s<>)\]]*/y

/** Number of characters that may begin a link, a tag or code, examined before the work pauses so that other requests can run. */
const SIGNS_AT_ONCE = 1 << 12

function* scan(text: string, found: Found): Steps<void> {
  const pace = new StepPace(SIGNS_AT_ONCE)
  const codeEnds = new CodeEnds(text)
  for (let match = taken(SIGN, text, 0); match !== null; ) {
    const behind = behindSign(match[0], match.index, text, codeEnds, found)
    if (pace.isOver(1)) yield
    match = taken(SIGN, text, behind)
  }
}

/**
 * Reads the link, tag, code, address or comment that begins with the sign at offset `at`, records links and tags, and returns the offset
 * after it.
 */
function behindSign(sign: string, at: number, text: string, codeEnds: CodeEnds, found: Found): number {
  switch (sign) {
    case '\\':
      return at + 2
    case '`':
      return codeEnds.behind(at)
    case '://':
      return at + sign.length + (taken(ADDRESS_END, text, at + sign.length)?.[0].length ?? 0)
    case '<': {
      if (text.startsWith('<!--', at)) return codeEnds.behindComment(at)
      return at + (taken(HTML, text, at)?.[0].length ?? 1)
    }
    case '#': {
      const tag = isFree(text, at) ? taken(TAG, text, at) : null
      const name = tag?.[1]?.replace(/\/+$/, '') ?? ''
      // A `#` followed only by a number is taken for the number of an issue, not for a tag.
      if (/[^\p{N}/_-]/u.test(name) && !name.startsWith('/')) found.tag(name)
      return at + (tag?.[0].length ?? 1)
    }
    case '[': {
      const wiki = taken(WIKI, text, at)
      if (wiki !== null) {
        take(wikiTarget(wiki[1] as string), false, found)
        return at + wiki[0].length
      }
      const definition = isLineStart(text, at) ? taken(DEFINITION, text, at) : null
      if (definition === null) return at + 1
      take(addressTarget(definition[1] ?? definition[2] ?? ''), true, found)
      return at + definition[0].length
    }
    default: {
      const address = taken(ADDRESS, text, at)
      if (address === null) return at + 1
      take(addressTarget(address[1] ?? address[2] ?? ''), true, found)
      return at + address[0].length
    }
  }
}

function take(target: string, isRelative: boolean, found: Found): void {
  const path = target.trim()
  if (path !== '' && path.length <= MAX_TARGET && path.isWellFormed()) found.link({ target: path, isRelative })
}

/** Name of the note in a wiki link `[[note|shown]]`, without a heading. In a table, the `|` before the shown text is escaped. */
function wikiTarget(inside: string): string {
  const [target = ''] = inside.split(/\\?\|/, 1)
  return beforeHeading(target)
}

/** Path of the file to which an address refers; empty for an address on a web site, and for a place in the same note. */
function addressTarget(address: string): string {
  if (/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(address)) return ''
  const [path = ''] = beforeHeading(address).split('?', 1)
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function beforeHeading(target: string): string {
  return (target.split('#', 1)[0] as string).split('^', 1)[0] as string
}

function taken(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/**
 * Whether a tag may begin at this offset: at the start of the text, or after a blank, comma, semicolon or opening parenthesis or bracket.
 */
function isFree(text: string, at: number): boolean {
  return at === 0 || /[\s,;([]/.test(text[at - 1] as string)
}

function isLineStart(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 4), at)
  return /(^|\n)[ ]{0,3}$/.test(before) && (at <= 3 || before.includes('\n'))
}

const BLANK_LINE = /\n[ \t]*\r?\n/g

/**
 * Finds where inline code (which contains no blank line) and comments end. The end of unclosed code is searched only once, so that time is
 * linear. Offsets must be requested in ascending order.
 */
class CodeEnds {
  readonly #text: string
  readonly #unclosed = new Set<string>()
  #blankLine = -1

  constructor(text: string) {
    this.#text = text
  }

  /** Offset after the inline code that begins at `at`; where the backticks are never closed, the offset after the backticks. */
  behind(at: number): number {
    const text = this.#text
    let open = at
    while (text[open] === '`') open++
    const signs = text.slice(at, open)
    if (this.#unclosed.has(signs)) return open
    const limit = this.#blankLineBehind(open)
    let close = text.indexOf(signs, open)
    if (close < 0) this.#unclosed.add(signs)
    while (close >= 0 && close < limit) {
      let end = close
      while (text[end] === '`') end++
      if (end - close === signs.length) return end
      close = text.indexOf(signs, end)
    }
    return open
  }

  #blankLineBehind(at: number): number {
    if (this.#blankLine < at) this.#blankLine = taken(BLANK_LINE, this.#text, at)?.index ?? this.#text.length
    return this.#blankLine
  }

  behindComment(at: number): number {
    const end = this.#unclosed.has('<!--') ? -1 : this.#text.indexOf('-->', at)
    if (end < 0) this.#unclosed.add('<!--')
    return end < 0 ? at + 4 : end + 3
  }
}
