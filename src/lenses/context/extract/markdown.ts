/** Reads Markdown: a section per heading, links to files of the workspace, and code spans that may name a concept. */
import { markdownStructure } from '../../../text/markdown-structure.ts'
import type { Heading } from '../../../text/outline.ts'
import type { Draft } from './draft.ts'
import { addCaveats } from './draft.ts'

const SPAN = /(?<!`)(`{1,3})(?!`)([^`\n]{1,200})\1(?!`)/g
/** A name, perhaps with members, a path, and perhaps the brackets of a call. */
const NAME = /^[\p{L}_$#@.][\p{L}\p{N}_$#./@-]*(?:\(\))?$/u

interface OpenSection {
  readonly level: number
  readonly key: string
  readonly qualifiedName: string
}

export function readMarkdown(draft: Draft): void {
  const from = endOfFrontMatter(draft.text)
  const { headings } = markdownStructure(draft.text, from)
  const breaks = headings.map(({ start }) => start)
  const open: OpenSection[] = []
  const anchors = new Map<string, number>()
  const byLabel = new Labels()
  let next = 0
  for (const prose of proseOf(draft.text, from, breaks, () => draft.step())) {
    for (; next < headings.length && (headings[next] as Heading).start <= prose.start; next++) {
      addSection(draft, headings, next, open, anchors)
    }
    const source = open.at(-1)?.key ?? draft.fileKey
    if (prose.isComment) addCaveats(draft, prose.text, prose.start, source)
    else readParagraph(draft, prose.text, source, byLabel)
  }
  for (; next < headings.length; next++) addSection(draft, headings, next, open, anchors)
  byLabel.refer(draft)
}

/** Links whose address stands elsewhere. */
class Labels {
  readonly #used = new Map<string, Set<string>>()
  readonly #defined = new Map<string, { readonly address: string; readonly source: string }>()

  add({ labels, definitions }: Links, source: string): void {
    for (const label of labels) this.#used.set(label, (this.#used.get(label) ?? new Set()).add(source))
    // The first definition counts.
    for (const { label, address } of definitions) {
      if (!this.#defined.has(label)) this.#defined.set(label, { address, source })
    }
  }

  /** One that nobody uses counts where it stands. */
  refer(draft: Draft): void {
    for (const [label, { address, source }] of this.#defined) {
      for (const user of this.#used.get(label) ?? [source]) linkTo(draft, user, address)
    }
  }
}

function addSection(
  draft: Draft,
  headings: readonly Heading[],
  at: number,
  open: OpenSection[],
  anchors: Map<string, number>,
): void {
  const { level, text, start } = headings[at] as Heading
  while ((open.at(-1)?.level ?? 0) >= level) open.pop()
  const above = open.at(-1)
  const name = text === '' ? '(untitled)' : text
  const qualifiedName = above === undefined ? name : `${above.qualifiedName} / ${name}`
  const key = draft.add({
    type: 'Section',
    name,
    qualifiedName,
    start,
    end: endOf(draft, headings, at),
    signature: `${'#'.repeat(level)} ${name}`,
  })
  draft.place(key, above?.key ?? draft.fileKey)
  const anchor = anchorOf(name)
  const times = anchors.get(anchor) ?? 0
  anchors.set(anchor, times + 1)
  draft.anchors.set(times === 0 ? anchor : `${anchor}-${times}`, key)
  open.push({ level, key, qualifiedName })
}

/** Up to the next heading of the same level or above; looked for among the next thousand. */
function endOf(draft: Draft, headings: readonly Heading[], at: number): number {
  const { level } = headings[at] as Heading
  for (let next = at + 1; next < Math.min(headings.length, at + 1_000); next++) {
    const heading = headings[next] as Heading
    if (heading.level <= level) return heading.start
  }
  return draft.text.length
}

/** As the sites make it that show repositories: lower case, hyphens for spaces, no other marks. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function readParagraph(draft: Draft, text: string, source: string, byLabel: Labels): void {
  const links = linksIn(text)
  for (const address of links.addresses) linkTo(draft, source, address)
  byLabel.add(links, source)
  for (const [, , span] of text.matchAll(SPAN)) {
    const name = (span as string).trim()
    if (NAME.test(name)) draft.refer(source, 'MENTIONS', { name: name.replace(/\(\)$/, '').replace(/^\.\//, '') })
  }
}

function linkTo(draft: Draft, source: string, address: string): void {
  if (isRelative(address)) draft.refer(source, 'LINKS_TO', { module: address, name: null })
}

interface Prose {
  readonly start: number
  readonly text: string
  readonly isComment: boolean
}

const FRONT_MATTER = /^---[ \t]*\r?\n(?:(?!(?:---|\.\.\.)[ \t]*\r?$).*\n){0,1000}(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m
const FENCE = /^[ \t]*(`{3,}|~{3,})(.*)$/
const QUOTE = /^(?: {0,3}> ?)+/
const ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/
const INDENTED = /^(?: {4}| {0,3}\t)/
/** Longer lines are generated. */
const MAX_LINE = 20_000
/** And longer paragraphs; they are taken in parts. */
const MAX_PARAGRAPH = 20_000

/** Where the Markdown begins, behind what stands between two lines of `---` at its top. */
function endOfFrontMatter(text: string): number {
  const match = text.startsWith('---') ? FRONT_MATTER.exec(text) : null
  return match?.index === 0 ? match[0].length : 0
}

/** `breaks`: places that begin a paragraph anyhow, in order. `onLine` is called for every line. */
function* proseOf(text: string, from: number, breaks: readonly number[], onLine: () => void): Iterable<Prose> {
  const reader = new ProseReader()
  let next = 0
  for (let start = from; start < text.length; ) {
    onLine()
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed
    const line = text.slice(start, Math.min(end, start + MAX_LINE)).replace(/\r$/, '')
    const isBreak = (breaks[next] ?? Number.POSITIVE_INFINITY) <= start
    while ((breaks[next] ?? Number.POSITIVE_INFINITY) <= start) next++
    if (isBreak) yield* reader.close()
    yield* reader.read(line, start)
    start = end + 1
  }
  yield* reader.close()
}

class ProseReader {
  #paragraph: { start: number; text: string } | null = null
  #fence: { readonly mark: string; readonly isQuoted: boolean } | null = null
  #isComment = false
  /** Within a list: what is indented belongs to an item. */
  #inList = false
  #isBlank = true

  /** What the line ends or is itself. */
  read(line: string, start: number): readonly Prose[] {
    if (this.#isComment) {
      const end = line.indexOf('-->')
      this.#isComment = end < 0
      return [{ start, text: end < 0 ? line : line.slice(0, end), isComment: true }]
    }
    const quote = QUOTE.exec(line)?.[0] ?? ''
    const inner = line.slice(quote.length)
    if (this.#isFenced(inner, quote !== '')) return this.close()
    const isBlank = inner.trim() === ''
    const isCode = this.#isBlank && !this.#inList && INDENTED.test(inner)
    if (ITEM.test(inner)) this.#inList = true
    else if (this.#isBlank && /^\S/.test(inner)) this.#inList = false
    if (isBlank) {
      this.#isBlank = true
      return this.close()
    }
    if (isCode) return []
    this.#isBlank = false
    return this.#readVisible(inner, start + quote.length)
  }

  close(): readonly Prose[] {
    const paragraph = this.#paragraph
    this.#paragraph = null
    return paragraph === null ? [] : [{ ...paragraph, isComment: false }]
  }

  /** Whether the line is within a fence, begins or ends one. */
  #isFenced(line: string, isQuoted: boolean): boolean {
    const [, mark = '', info = ''] = FENCE.exec(line) ?? []
    if (this.#fence === null) {
      if (mark === '' || (mark.startsWith('`') && info.includes('`'))) return false
      if (INDENTED.test(line) && !this.#inList) return false
      this.#fence = { mark, isQuoted }
      this.#isBlank = true
      return true
    }
    if (this.#fence.isQuoted && !isQuoted) {
      this.#fence = null
      return false
    }
    if (mark.startsWith(this.#fence.mark) && info.trim() === '') this.#fence = null
    return true
  }

  /** A comment that begins a line may go over many. */
  #readVisible(line: string, start: number): readonly Prose[] {
    const opening = /^ {0,3}<!--/.exec(line)?.[0]
    if (opening !== undefined) {
      const before = this.close()
      const end = line.indexOf('-->', opening.length)
      this.#isComment = end < 0
      if (end >= 0) this.#add(line.slice(end + 3), start + end + 3)
      return [...before, { start, text: line.slice(opening.length, end < 0 ? undefined : end), isComment: true }]
    }
    const inline = /<!--(.*?)-->/.exec(line)
    const isTooLong = this.#paragraph !== null && this.#paragraph.text.length + line.length > MAX_PARAGRAPH
    const before = isTooLong ? this.close() : []
    this.#add(inline === null ? line : line.replace(inline[0], ' '), start)
    return inline === null ? before : [...before, { start, text: inline[1] as string, isComment: true }]
  }

  #add(line: string, start: number): void {
    if (this.#paragraph === null) this.#paragraph = { start, text: line }
    else this.#paragraph.text += `\n${line}`
  }
}

/** Destination in angle brackets, or one that may hold pairs of round brackets; then perhaps a title. */
const INLINE =
  /(?<!\\)\]\(\s{0,20}(?:<([^<>\n]{1,500})>|((?:[^\s()<>\\]|\\.|\((?:[^\s()<>\\]|\\.){0,200}\)){1,500}))(?:\s{1,20}(?:"[^"]{0,300}"|'[^']{0,300}'|\([^()]{0,300}\)))?\s{0,20}\)/g
const HTML = /<a\s[^<>]{0,300}?\bhref\s{0,5}=\s{0,5}["']([^"'\s<>]{1,500})["']/gi
const DEFINITION = /^ {0,3}\[([^\]\n]{1,300})\]:\s{0,20}(?:<([^<>\n]{1,500})>|([^\s<>]{1,500}))/gm
/** `[text][label]`, `[label][]`, `[label]`. */
const BY_LABEL = /(?<!\\)\[([^\][]{1,300})\](?:\[([^\][]{0,300})\])?(?![(:])/g

interface Links {
  readonly addresses: readonly string[]
  readonly definitions: readonly { readonly label: string; readonly address: string }[]
  /** Names that may be defined; most are not. */
  readonly labels: readonly string[]
}

function linksIn(paragraph: string): Links {
  if (!/[[<]/.test(paragraph)) return { addresses: [], definitions: [], labels: [] }
  const text = withoutCode(paragraph)
  const definitions = [...text.matchAll(DEFINITION)].map(([, label, bracketed, plain]) => ({
    label: labelOf(label as string),
    address: bracketed ?? (plain as string),
  }))
  const prose = definitions.length === 0 ? text : text.replace(DEFINITION, '')
  const inline = [...prose.matchAll(INLINE)].map(([, bracketed, plain]) => bracketed ?? unescaped(plain as string))
  return {
    addresses: [...inline, ...[...prose.matchAll(HTML)].map(([, address]) => address as string)],
    definitions,
    labels: [...prose.matchAll(BY_LABEL)].map(([, text, label]) => labelOf(label || (text as string))),
  }
}

/** Not of another site. */
function isRelative(address: string): boolean {
  return !/^[a-z][a-z+.-]*:|^\/\//i.test(address)
}

/** A code span ends with as many marks as it began with; marks that nothing ends are text. */
function withoutCode(text: string): string {
  const runs = [...text.matchAll(/`+/g)]
  const last = new Map(runs.map(({ index, 0: marks }) => [marks.length, index]))
  let plain = ''
  let from = 0
  let opening: { readonly at: number; readonly length: number } | null = null
  for (const { index, 0: marks } of runs) {
    if (opening === null) {
      if ((last.get(marks.length) as number) > index) opening = { at: index, length: marks.length }
    } else if (marks.length === opening.length) {
      plain += `${text.slice(from, opening.at)} `
      from = index + marks.length
      opening = null
    }
  }
  return plain + text.slice(from)
}

function labelOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase()
}

function unescaped(address: string): string {
  return address.replace(/\\([!-/:-@[-`{-~])/g, '$1')
}
