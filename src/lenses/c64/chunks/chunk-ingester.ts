/** Reads Markdown chunks of a collection about the Commodore 64 into entries: see `chunk-file.ts` for what they hold. */
import type { Steps } from '../../../base/turns.ts'
import type { FileDocument, FileReading, Ingester, SourceFile } from '../../../model/ingester.ts'
import { MAX_TAGS } from '../../../model/limits.ts'
import { chunkContentInSteps } from '../../../text/chunk.ts'
import { readChunkFile } from './chunk-file.ts'

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
