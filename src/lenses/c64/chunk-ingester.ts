/**
 * Reads Markdown files about the Commodore 64 into entries, one file per entry: the title, tags found in the closing sections and in ROM
 * listings, and references to other files.
 */
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
    // Only the prose is split into chunks for embedding; program listings are left out, because they contain few meaningful words. The
    // prose is the beginning of `document`, so the positions of the chunks in both texts are equal.
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
  /** Title of the file: the text of its first heading; null: it has no heading. */
  readonly title: string | null
  readonly tags: readonly string[]
  readonly references: readonly HitReference[]
  /** The text of the file that is shown: all sections except the references. */
  readonly document: string
  /** The text of the file that is embedded: without references and without program listings, which contain few meaningful words. */
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
  /** Heading of the section in lower case; null: the part of the file before the first level 2 heading. */
  readonly heading: string | null
  /** Lines of the section: in `text` including its heading, in `lines` without it. */
  readonly text: readonly string[]
  readonly lines: readonly string[]
}

/** Splits a Markdown text into sections at its level 2 headings; lines within code blocks do not count as headings. */
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

/** Tags for all addresses in a list item such as `- $D000-$D00F - sprite positions`. */
function registerTags(line: string): readonly string[] {
  if (!/^\s*[-*]\s/.test(line)) return []
  const found = [...line.matchAll(/(?<![\w$])\$([0-9a-f]{2,4})(?:\s*[-–]\s*\$?([0-9a-f]{2,4}))?(?!\w)/gi)]
  return found.flatMap(([, first = '', last = first]) => {
    // If the end of a range has fewer digits than its beginning, it takes its leading digits from the beginning: "$D000-20" means $D000 to
    // $D020.
    const end = last.length < first.length ? first.slice(0, first.length - last.length) + last : last
    const range = { start: Number.parseInt(first, 16), end: Number.parseInt(end, 16) }
    return range.start <= range.end ? addressTags(range) : [toAddress(range.start), toAddress(range.end)]
  })
}

/** Tag for the address at the beginning of a ROM listing's line, such as `.,FFD2 6C 26 03 JMP ($0326)`. */
function listingTags(line: string): readonly string[] {
  const address = /^\s*\.[,:]([0-9a-f]{4})\b/i.exec(line)?.[1]
  return address === undefined ? [] : [toAddress(Number.parseInt(address, 16))]
}

/** Tag made from the first word of a Markdown list item, such as the name of a label or an instruction. */
function nameTags(line: string): readonly string[] {
  const name = /^\s*[-*]\s+[`*_]*([A-Za-z][A-Za-z0-9_]*)/.exec(line)?.[1]
  return name === undefined ? [] : [canonicalTag(name)]
}

/**
 * The reference to another file in a list item such as `- "chunk name" - what it adds`. A dash of any kind or a colon may separate name and
 * description.
 */
function reference(line: string): readonly HitReference[] {
  const match =
    /^\s*[-*]\s+(?:\[([^\]]+)\](?:\([^)]*\))?|["“`]([^"”`]+)["”`]|(.+?))(?:\s+[-–—]+\s+|\s*[:—]\s+|\s*$)(.*)$/.exec(
      line,
    )
  const chunk = (match?.[1] ?? match?.[2] ?? match?.[3] ?? '').trim()
  return chunk === '' ? [] : [{ chunk, description: (match?.[4] ?? '').trim() }]
}
