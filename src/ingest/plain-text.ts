/** Plain text and source code: the content is the file as it is. */
import type { FileReading, Ingester, SourceFile } from '../model/ingester.ts'
import { chunkContent } from '../text/chunk.ts'
import { languageOf } from './file-types.ts'
import { nameWithoutExtension, WHOLE_FILE } from './whole-file.ts'

/** Kind `code`, tagged with the language. Titled by its path: that is how people speak of it. */
export const code: Ingester = {
  name: 'code',
  version: 1,
  accepts: file => languageOf(file) !== null,
  read: file => {
    const language = languageOf(file) ?? 'text'
    return document(file, 'code', file.path, [language], { path: file.path, language })
  },
}

/** Whatever else is text. */
export const plainText: Ingester = {
  name: 'plain-text',
  version: 1,
  accepts: () => true,
  read: file => document(file, 'document', nameWithoutExtension(file), [], { path: file.path }),
}

function document(
  file: SourceFile,
  kind: 'code' | 'document',
  title: string,
  tags: readonly string[],
  metadata: Readonly<Record<string, string>>,
): FileReading {
  if (file.text.trim() === '') return { documents: [], problems: [] }
  const chunks = chunkContent(file.text, { format: kind === 'code' ? 'code' : 'plain' })
  return { documents: [{ ...WHOLE_FILE, title, content: file.text, chunks, kind, tags, metadata }], problems: [] }
}
