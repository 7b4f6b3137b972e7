/**
 * Reads Markdown files with front matter (fields in YAML at the beginning). The content of the entry is the file unchanged, so line numbers
 * are those of the file.
 */
import { parseDocument } from 'yaml'
import type { Json, JsonObject } from '../base/canonical.ts'
import { isRecord } from '../base/record.ts'
import { hasStorableTexts } from '../base/storable.ts'
import type { Steps } from '../base/turns.ts'
import type { FileReading, Ingester, SourceFile } from '../model/ingester.ts'
import { chunkInSteps } from '../text/chunk.ts'
import { markdownStructureInSteps } from '../text/markdown-structure.ts'
import { noteMarksInSteps } from '../text/note-links.ts'
import { firstHeading } from '../text/outline.ts'
import { instantOf, kindOf, namesOf, nameWithoutExtension, tagsOf, titleOf, toJson, WHOLE_FILE } from './values.ts'

const EXTENSIONS = ['md', 'markdown', 'mdx', 'mdown']

export const markdown: Ingester = {
  name: 'markdown',
  version: 3,
  accepts: file => EXTENSIONS.includes(file.extension),
  read,
}

/**
 * Fields of front matter that set properties of the entry, such as its title; all other fields become metadata, and so does `date` in
 * addition.
 */
const OWN = [
  'title',
  'tags',
  'tag',
  'keywords',
  'kind',
  'created',
  'updated',
  'modified',
  'lastmod',
  'valid_from',
  'valid_until',
]

function* read(file: SourceFile): Steps<FileReading> {
  const { fields, end, problem } = readFrontMatter(file.text)
  const structure = yield* markdownStructureInSteps(file.text, end)
  const time = (...names: readonly string[]) =>
    names.map(name => instantOf(fields[name])).find(at => at !== null) ?? null
  const heading = firstHeading(structure.headings)
  const marks = yield* noteMarksInSteps(file.text, end, structure.blocks)
  const isBlank = file.text.slice(end).trim() === ''
  const title = titleOf(fields['title']) || titleOf(heading)
  if (isBlank && title === '') return { documents: [], problems: problemsOf(problem) }
  const document = {
    ...WHOLE_FILE,
    title: title || nameWithoutExtension(file),
    content: file.text,
    chunks: yield* chunkInSteps(file.text, { form: 'prose', ...structure, start: end }),
    kind: kindOf(fields['kind']),
    tags: [...new Set([...['tags', 'tag', 'keywords'].flatMap(name => tagsOf(fields[name])), ...marks.tags])],
    links: marks.links,
    aliases: [...namesOf(fields['aliases']), ...namesOf(fields['alias'])],
    metadata: { ...metadataOf(fields), path: file.path },
    createdAt: time('created', 'date'),
    updatedAt: time('updated', 'modified', 'lastmod'),
    validFrom: time('valid_from'),
    validUntil: time('valid_until'),
  }
  return { documents: [document], problems: [], warnings: problemsOf(problem) }
}

function metadataOf(fields: Readonly<Record<string, unknown>>): JsonObject {
  const rest = Object.entries(fields).filter(([name]) => !OWN.includes(name))
  return Object.fromEntries(rest.map(([name, value]): [string, Json] => [name, toJson(value, 2)]))
}

function problemsOf(message: string | null): FileReading['problems'] {
  return message === null ? [] : [{ line: 1, message }]
}

/** The front matter of a file: the block of YAML fields between two lines of `---` at its beginning. */
interface FrontMatter {
  readonly fields: Readonly<Record<string, unknown>>
  /** Offset of the text after the front matter. */
  readonly end: number
  /** Message that says why the fields are not the ones that a YAML parser gives; null if they are. */
  readonly problem: string | null
}

/** Maximum length of a front matter block in UTF-16 units; a longer block is treated as ordinary text. */
const MAX_FRONT_MATTER = 64 * 1024
const UNKEPT = 'front matter: it contains NUL or a lone surrogate, which cannot be stored'
const NO_FIELDS: FrontMatter = { fields: {}, end: 0, problem: null }

/** Reads the front matter of a file. If the YAML is invalid, the fields are read line by line, and a message says so (QE-010). */
function readFrontMatter(text: string): FrontMatter {
  const opening = /^---[ \t]*\r?\n/.exec(text)?.[0]
  if (opening === undefined) return NO_FIELDS
  const block = text.slice(0, MAX_FRONT_MATTER)
  const closing = /^(---|\.\.\.)[ \t]*(\r?\n|$)/gm
  closing.lastIndex = opening.length
  const match = closing.exec(block)
  if (match === null) return NO_FIELDS
  return { ...parseFields(block.slice(opening.length, match.index)), end: match.index + match[0].length }
}

function parseFields(yaml: string): Omit<FrontMatter, 'end'> {
  const read = readYaml(yaml)
  if (!('refused' in read)) return { fields: read.fields, problem: null }
  const fields = readLines(yaml)
  if (read.refused === UNKEPT || !hasStorableTexts(fields)) return { fields: {}, problem: UNKEPT }
  const how = Object.keys(fields).length === 0 ? 'no field was read' : 'read line by line'
  return { fields, problem: `front matter: ${how}: ${read.refused}` }
}

function readYaml(yaml: string): { readonly fields: FrontMatter['fields'] } | { readonly refused: string } {
  try {
    const document = parseDocument(yaml, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' })
    const [error] = document.errors
    if (error !== undefined) return { refused: error.message }
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    if (value === null || value === undefined) return { fields: {} }
    if (!hasStorableTexts(value)) return { refused: UNKEPT }
    return isRecord(value) ? { fields: { ...value } } : { refused: 'expected fields such as `title: …`' }
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * Reads invalid YAML line by line: lines of the form `key: value`, and lines of the form `- item` below a key without a value. If a key
 * occurs twice the last value counts, as in the YAML parser used for valid front matter.
 */
function readLines(yaml: string): Readonly<Record<string, unknown>> {
  const fields = new Map<string, string | string[]>()
  let list: string[] | null = null
  for (const line of yaml.split(/\r?\n/)) {
    const item = /^\s*-\s+(.*)$/.exec(line)?.[1]
    if (item !== undefined) {
      list?.push(unquoted(item))
      continue
    }
    const [, key, rest = ''] = /^([^\s:#][^:]{0,99}):(?:\s+(.*))?$/.exec(line) ?? []
    if (key === undefined) continue
    list = rest.trim() === '' ? [] : null
    fields.set(key.trim(), list ?? unquoted(rest))
  }
  return Object.fromEntries([...fields].filter(([, value]) => value.length > 0))
}

function unquoted(value: string): string {
  const text = value.trim()
  return /^(["']).*\1$/s.exec(text) !== null || /^\[.*\]?$/s.test(text) ? text.slice(1).replace(/["'\]]$/, '') : text
}
