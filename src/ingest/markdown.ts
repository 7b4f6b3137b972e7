/** Markdown with front matter. The content is the file as it is, so line numbers are the file's. */
import type { Json, JsonObject } from '../base/canonical.ts'
import type { Steps } from '../base/turns.ts'
import type { FileReading, Ingester, SourceFile } from '../model/ingester.ts'
import { chunkInSteps } from '../text/chunk.ts'
import { markdownStructureInSteps } from '../text/markdown-structure.ts'
import { noteMarksInSteps } from '../text/note-links.ts'
import { firstHeading } from '../text/outline.ts'
import { readFrontMatter } from './front-matter.ts'
import { instantOf, kindOf, namesOf, tagsOf, titleOf, toJson } from './values.ts'
import { nameWithoutExtension, WHOLE_FILE } from './whole-file.ts'

const EXTENSIONS = ['md', 'markdown', 'mdx', 'mdown']

export const markdown: Ingester = {
  name: 'markdown',
  version: 3,
  accepts: file => EXTENSIONS.includes(file.extension),
  read,
}

/** Fields of front matter that have a place of their own; the others are metadata, and so is `date`, as in JSON Lines. */
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
