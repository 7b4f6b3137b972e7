/** Reads Markdown chunks of a collection about the Commodore 64 into entries: title, the tags that closing sections and ROM listings imply, and the chunks referred to. */
import type { Steps } from '../../base/turns.ts'
import type { FileDocument, FileReading, Ingester, SourceFile } from '../../model/ingester.ts'
import { MAX_TAGS } from '../../model/limits.ts'
import { chunkContentInSteps } from '../../text/chunk.ts'
import { addressTags, tagList } from './corpus.ts'
import type { HitReference } from './enrichment/hits.ts'
import { toAddress } from './enrichment/numbers.ts'
import { canonicalTag } from './names.ts'

const EXTENSIONS = ['md', 'markdown']
const EXAMPLE = /^example_/i

export const chunkIngester: Ingester = {
  name: 'c64-chunk',
  version: 1,
  accepts: ({ extension }) => EXTENSIONS.includes(extension),
  *read(file): Steps<FileReading> {
    return { documents: file.text.trim() === '' ? [] : [yield* documentOf(file)], problems: [] }
  },
}

function* documentOf({ name, text }: SourceFile): Steps<FileDocument> {
  const { title, tags, references, document, prose } = readChunkFile(text)
  const type = EXAMPLE.test(name) ? 'example' : 'documentation'
  return {
    id: null,
    part: null,
    title: title ?? name.replace(/\.[^.]*$/, ''),
    content: document,
    // The prose is the document's beginning; listings say little in words.
    chunks: yield* chunkContentInSteps(prose === '' ? document : prose, { format: 'markdown' }),
    kind: type,
    tags: tags.slice(0, MAX_TAGS),
    metadata: {
      type,
      filename: name,
      ...(references.length === 0 ? {} : { references: references.map(each => ({ ...each })) }),
    },
    createdAt: null,
    updatedAt: null,
    validFrom: null,
    validUntil: null,
    line: null,
  }
}

export interface ChunkFile {
  /** The first heading; null without one. */
  readonly title: string | null
  readonly tags: readonly string[]
  readonly references: readonly HitReference[]
  /** The text without its references: what is shown. */
  readonly document: string
  /** What is embedded: without listings too, which say little in words. */
  readonly prose: string
}

export function readChunkFile(markdown: string): ChunkFile {
  const sections = sectionsOf(markdown.replaceAll('\r\n', '\n'))
  const linesOf = (heading: string): readonly string[] =>
    sections.filter(section => section.heading === heading).flatMap(section => section.lines)
  const listing = sections.findIndex(section => section.heading === LISTING)
  const shown = sections.filter(section => section.heading !== REFERENCES)
  return {
    title: /^#{1,6}[ \t]+(\S.*?)[ \t#]*$/m.exec(withoutCode(markdown))?.[1] ?? null,
    tags: tagList(
      ...linesOf('key registers').flatMap(registerTags),
      ...linesOf(LISTING).flatMap(listingTags),
      ...[...linesOf('labels'), ...linesOf('mnemonics')].flatMap(nameTags),
    ),
    references: linesOf(REFERENCES).flatMap(reference),
    document: textOf(shown),
    prose: textOf(listing < 0 ? shown : sections.slice(0, listing).filter(({ heading }) => heading !== REFERENCES)),
  }
}

const LISTING = 'source code'
const REFERENCES = 'references'

interface Section {
  /** In small letters; null before the first heading of level 2. */
  readonly heading: string | null
  /** The heading's line included. */
  readonly text: readonly string[]
  readonly lines: readonly string[]
}

/** By headings of level 2, outside of code. */
function sectionsOf(markdown: string): readonly Section[] {
  const sections: { heading: string | null; text: string[]; lines: string[] }[] = [
    { heading: null, text: [], lines: [] },
  ]
  let inCode = false
  for (const line of markdown.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) inCode = !inCode
    const heading = inCode ? undefined : /^##[ \t]+(\S.*?)[ \t#]*$/.exec(line)?.[1]
    if (heading !== undefined) sections.push({ heading: heading.toLowerCase(), text: [line], lines: [] })
    else {
      sections.at(-1)?.text.push(line)
      sections.at(-1)?.lines.push(line)
    }
  }
  return sections
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^[ \t]*(```|~~~)[\s\S]*?^[ \t]*\1/gm, '')
}

function textOf(sections: readonly Section[]): string {
  return sections
    .map(({ text }) => text.join('\n').trim())
    .filter(text => text !== '')
    .join('\n\n')
}

/** `- $D000-$D00F - sprite positions`: the addresses that a line of the list begins with or names. */
function registerTags(line: string): readonly string[] {
  if (!/^\s*[-*]\s/.test(line)) return []
  const found = [...line.matchAll(/(?<![\w$])\$([0-9a-f]{2,4})(?:\s*[-–]\s*\$?([0-9a-f]{2,4}))?(?!\w)/gi)]
  return found.flatMap(([, first = '', last = first]) => {
    // "$D000-20" and the like: an end without all its digits belongs to the page of the beginning.
    const end = last.length < first.length ? first.slice(0, first.length - last.length) + last : last
    const range = { start: Number.parseInt(first, 16), end: Number.parseInt(end, 16) }
    return range.start <= range.end ? addressTags(range) : [toAddress(range.start), toAddress(range.end)]
  })
}

/** `.,FFD2 6C 26 03 JMP ($0326)`: a line of a ROM listing. */
function listingTags(line: string): readonly string[] {
  const address = /^\s*\.[,:]([0-9a-f]{4})\b/i.exec(line)?.[1]
  return address === undefined ? [] : [toAddress(Number.parseInt(address, 16))]
}

/** The first word of a line of a list. */
function nameTags(line: string): readonly string[] {
  const name = /^\s*[-*]\s+[`*_]*([A-Za-z][A-Za-z0-9_]*)/.exec(line)?.[1]
  return name === undefined ? [] : [canonicalTag(name)]
}

/** `- "chunk name" - what it adds`, with any dash or a colon between the two. */
function reference(line: string): readonly HitReference[] {
  const match =
    /^\s*[-*]\s+(?:\[([^\]]+)\](?:\([^)]*\))?|["“`]([^"”`]+)["”`]|(.+?))(?:\s+[-–—]+\s+|\s*[:—]\s+|\s*$)(.*)$/.exec(
      line,
    )
  const chunk = (match?.[1] ?? match?.[2] ?? match?.[3] ?? '').trim()
  return chunk === '' ? [] : [{ chunk, description: (match?.[4] ?? '').trim() }]
}
