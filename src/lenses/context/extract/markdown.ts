/** Reads Markdown: a section per heading, links to files of the workspace, and code spans that may name a concept. */
import { markdownStructure } from '../../../text/markdown-structure.ts'
import type { Heading } from '../../../text/outline.ts'
import { addCaveats } from './comments.ts'
import type { Draft } from './draft.ts'
import { isRelative, type Links, linksIn } from './markdown-links.ts'
import { endOfFrontMatter, proseOf } from './markdown-prose.ts'

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
