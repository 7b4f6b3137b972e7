/**
 * Reads Markdown: a section per heading, links to files of the workspace, and code spans that may name a concept. What is in
 * fenced code counts for nothing. Line by line and linear in the text: see `text/markdown-outline.ts` for why no parser.
 */
import { markdownHeadings } from '../../../text/markdown-outline.ts'
import type { Heading } from '../../../text/outline.ts'
import { addCaveats } from './comments.ts'
import type { Draft } from './draft.ts'

const LINK =
  /\[[^\]\n]{0,300}\]\(\s*<?([^\s()<>]{1,500})>?(?:\s+["'(][^\n)]{0,300})?\s*\)|^ {0,3}\[[^\]\n]{1,300}\]:\s*<?([^\s<>]{1,500})/g
const SPAN = /(?<!`)(`{1,3})(?!`)([^`\n]{1,200})\1(?!`)/g
/** A name, perhaps with members, a path, and perhaps the brackets of a call. */
const NAME = /^[\p{L}_$#@.][\p{L}\p{N}_$#./@-]*(?:\(\))?$/u
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/
const COMMENT = /<!--(.*?)(?:-->|$)/s
/** Longer lines are generated. */
const MAX_LINE = 20_000

interface OpenSection {
  readonly level: number
  readonly key: string
  readonly qualifiedName: string
}

export function readMarkdown(draft: Draft): void {
  const headings = markdownHeadings(draft.text)
  const open: OpenSection[] = []
  const anchors = new Map<string, number>()
  let next = 0
  for (const { start, line } of proseLines(draft)) {
    for (; next < headings.length && (headings[next] as Heading).start <= start; next++) {
      addSection(draft, headings, next, open, anchors)
    }
    const source = open.at(-1)?.key ?? draft.fileKey
    readLine(draft, line, start, source)
  }
  for (; next < headings.length; next++) addSection(draft, headings, next, open, anchors)
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

function readLine(draft: Draft, line: string, start: number, source: string): void {
  for (const [, inline, reference] of line.replace(SPAN, ' ').matchAll(LINK)) {
    const address = inline ?? (reference as string)
    if (!/^[a-z][a-z+.-]*:|^\/\//i.test(address)) draft.refer(source, 'LINKS_TO', { module: address, name: null })
  }
  for (const [, , span] of line.matchAll(SPAN)) {
    const name = (span as string).trim()
    if (NAME.test(name)) draft.refer(source, 'MENTIONS', { name: name.replace(/\(\)$/, '').replace(/^\.\//, '') })
  }
  const comment = COMMENT.exec(line)?.[1]
  if (comment !== undefined) addCaveats(draft, comment, start, source)
}

/** Lines outside fenced code. */
function* proseLines(draft: Draft): Iterable<{ readonly start: number; readonly line: string }> {
  const { text } = draft
  let fence: string | null = null
  for (let start = 0; start < text.length; ) {
    draft.step()
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed
    const line = text.slice(start, Math.min(end, start + MAX_LINE)).replace(/\r$/, '')
    const mark = FENCE.exec(line)
    if (fence !== null) {
      if (mark !== null && (mark[1] as string).startsWith(fence) && (mark[2] as string).trim() === '') fence = null
    } else if (mark !== null) fence = mark[1] as string
    else yield { start, line }
    start = end + 1
  }
}
