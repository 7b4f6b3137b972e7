/**
 * Reads a Markdown file by the rules of `markdown-it`: one section per heading, links to files of the workspace, code spans that may name a
 * concept, and notes (TODO) in comments.
 */
import { lineStarts } from '../../../text/lines.ts'
import { type MarkdownToken, markdownTokens } from '../../../text/markdown-tokens.ts'
import { addCaveats, type Draft } from './draft.ts'

/** Pattern of a code span that may name a concept: a name, perhaps with members, or a path, perhaps followed by the brackets of a call. */
const NAME = /^[\p{L}_$#@.][\p{L}\p{N}_$#./@-]{0,200}(?:\(\))?$/u
const COMMENT = /<!--([\s\S]*?)(?:-->|$)/g
const HTML = /<a\s[^<>]{0,300}?\bhref\s{0,5}=\s{0,5}["']([^"'\s<>]{1,500})["']/gi
const DEFINITION = /^ {0,3}\[([^\]\n]{1,300})\]:/gm

/**
 * Largest length of a heading in characters; longer text is not taken as a heading, as in the chunker of texts. The line that underlines a
 * heading counts.
 */
const MAX_HEADING = 1_000
const MAX_HEADING_LINES = 6

interface Heading {
  readonly start: number
  readonly level: number
  readonly text: string
}

interface Section {
  readonly start: number
  readonly level: number
  readonly key: string
  readonly qualifiedName: string
}

export function readMarkdown(draft: Draft): void {
  const from = endOfFrontMatter(draft.text)
  const starts = lineStarts(draft.text.slice(from))
  const { tokens, addressOf } = markdownTokens(draft.text.slice(from))
  const startOf = ({ map }: MarkdownToken): number => from + (starts[map?.[0] ?? 0] as number)
  const headings = tokens.flatMap((token, at): Heading[] => {
    const { content = '', children = [] } = tokens[at + 1] ?? {}
    // Headings within lists and quotations do not begin a section.
    if (token.type !== 'heading_open' || token.level > 0) return []
    if (content.length > MAX_HEADING || content.split('\n').length >= MAX_HEADING_LINES) return []
    return [{ start: startOf(token), level: Number(token.tag.slice(1)), text: plainText(children ?? []) }]
  })
  const reader = new MarkdownReader(draft, readSections(draft, headings))
  for (const token of tokens) {
    if (token.map !== null) reader.goTo(startOf(token))
    reader.read(token)
    for (const inline of token.children ?? []) reader.read(inline)
  }
  reader.readDefinitions(addressOf)
}

function plainText(inline: readonly MarkdownToken[]): string {
  const shown = inline.map(({ type, content }) => (type === 'softbreak' ? ' ' : type === 'html_inline' ? '' : content))
  return shown.join('').replace(/\s+/g, ' ').trim()
}

class MarkdownReader {
  readonly #draft: Draft
  readonly #sections: readonly Section[]
  readonly #linked = new Set<string>()
  #at = 0
  /** Number of sections that begin at or before the place `#at`. */
  #begun = 0

  constructor(draft: Draft, sections: readonly Section[]) {
    this.#draft = draft
    this.#sections = sections
  }

  /** Moves the reading position to a place further down in the text. */
  goTo(place: number): void {
    this.#at = place
    while ((this.#sections[this.#begun]?.start ?? Number.POSITIVE_INFINITY) <= place) this.#begun++
  }

  read(token: MarkdownToken): void {
    this.#draft.step()
    const { type, content } = token
    if (type === 'html_block' || type === 'html_inline') this.#readHtml(content)
    if (type === 'link_open') this.#linkTo(String(token.attrGet('href')))
    if (type === 'image') this.#linkTo(String(token.attrGet('src')))
    if (type !== 'code_inline' || !NAME.test(content.trim())) return
    const name = content.trim().replace(/\(\)$/, '').replace(/^\.\//, '')
    this.#draft.refer(this.#source, 'MENTIONS', { name })
  }

  /** Reads link definitions (`[label]: address`); a definition that no link uses counts as a link at its own place. */
  readDefinitions(addressOf: (label: string) => string | undefined): void {
    this.#begun = 0
    for (const { index, 1: label } of this.#draft.text.matchAll(DEFINITION)) {
      const address = addressOf(label as string)
      this.goTo(index)
      if (address !== undefined && !this.#linked.has(address)) this.#linkTo(address)
    }
  }

  get #source(): string {
    return this.#sections[this.#begun - 1]?.key ?? this.#draft.fileKey
  }

  #readHtml(html: string): void {
    for (const [, address] of html.matchAll(HTML)) this.#linkTo(address as string)
    for (const [whole, comment] of html.matchAll(COMMENT)) {
      this.#at = Math.max(this.#at, this.#draft.text.indexOf('<!--', this.#at))
      addCaveats(this.#draft, comment as string, this.#at, this.#source)
      this.#at += whole.length
    }
  }

  #linkTo(address: string): void {
    this.#linked.add(address)
    if (isRelative(address)) this.#draft.refer(this.#source, 'LINKS_TO', { module: address, name: null })
  }
}

function readSections(draft: Draft, headings: readonly Heading[]): readonly Section[] {
  const sections: Section[] = []
  const open: Section[] = []
  const anchors = new Map<string, number>()
  for (const [at, { level, text, start }] of headings.entries()) {
    while ((open.at(-1)?.level ?? 0) >= level) open.pop()
    const above = open.at(-1)
    const name = text === '' ? '(untitled)' : text
    const qualifiedName = above === undefined ? name : `${above.qualifiedName} / ${name}`
    const signature = `${'#'.repeat(level)} ${name}`
    const end = endOf(draft, headings, at)
    const key = draft.add({ type: 'Section', name, qualifiedName, start, end, signature })
    draft.place(key, above?.key ?? draft.fileKey)
    const anchor = anchorOf(name)
    const times = anchors.get(anchor) ?? 0
    anchors.set(anchor, times + 1)
    draft.anchors.set(times === 0 ? anchor : `${anchor}-${times}`, key)
    const section = { start, level, key, qualifiedName }
    open.push(section)
    sections.push(section)
  }
  return sections
}

/**
 * End of a section: the start of the next heading of an equal or higher level, which is searched for among the next thousand headings only.
 */
function endOf(draft: Draft, headings: readonly Heading[], at: number): number {
  const { level } = headings[at] as Heading
  for (let next = at + 1; next < Math.min(headings.length, at + 1_000); next++) {
    const heading = headings[next] as Heading
    if (heading.level <= level) return heading.start
  }
  return draft.text.length
}

/** Anchor of a heading as code hosting sites form it: lower case, hyphens for spaces, no other punctuation. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

const FRONT_MATTER = /^---[ \t]*\r?\n(?:(?!(?:---|\.\.\.)[ \t]*\r?$).*\n){0,1000}(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m
/** Offset in the file at which the Markdown begins: after the front matter, which is between two lines of `---` at the top. */
function endOfFrontMatter(text: string): number {
  const match = text.startsWith('---') ? FRONT_MATTER.exec(text) : null
  return match?.index === 0 ? match[0].length : 0
}

/** Whether a link's address is relative, so that it stays within the site or folder. */
function isRelative(address: string): boolean {
  return !/^[a-z][a-z+.-]*:|^\/\//i.test(address)
}
