/** Reads plain text, lightweight markup other than Markdown, and source code. The content of the entry is the file unchanged. */
import type { Steps } from '../base/turns.ts'
import type { FileDocument, FileReading, Ingester, SourceFile } from '../model/ingester.ts'
import { chunkContentInSteps, chunkInSteps } from '../text/chunk.ts'
import { type OutlineFormat, type TextOutline, textOutlineInSteps } from '../text/text-outline.ts'
import { languageOf } from './file-types.ts'
import { nameWithoutExtension, titleOf, WHOLE_FILE } from './values.ts'

/**
 * Ingester for source code: the entry has kind `code` and a tag with the language. Its title is the file's path, because people refer to
 * source files by path.
 */
export const code: Ingester = {
  name: 'code',
  version: 1,
  accepts: file => languageOf(file) !== null,
  *read(file) {
    const language = languageOf(file) ?? 'text'
    const chunks = yield* chunkContentInSteps(file.text, { format: 'code' })
    const metadata = { path: file.path, language }
    return reading(file, { title: file.path, chunks, kind: 'code', tags: [language], metadata })
  },
}

const FORMATS: Readonly<Record<string, OutlineFormat>> = {
  rst: 'rst',
  rest: 'rst',
  adoc: 'asciidoc',
  asciidoc: 'asciidoc',
  asc: 'asciidoc',
  org: 'org',
}

/** Ingester for all files that no other one accepts: the title is the first heading, otherwise the file name (QE-010). */
export const plainText: Ingester = {
  name: 'plain-text',
  version: 2,
  accepts: () => true,
  *read(file) {
    const outline = yield* outlineOf(file)
    const { title } = outline
    const chunks = yield* chunkInSteps(file.text, { form: 'prose', ...outline })
    const metadata = { path: file.path }
    return reading(file, {
      ...{ title: titleOf(title) || nameWithoutExtension(file), chunks, kind: 'document', tags: [], metadata },
    })
  },
}

function outlineOf({ text, extension }: Pick<SourceFile, 'text' | 'extension'>): Steps<TextOutline> {
  return textOutlineInSteps(text, FORMATS[extension] ?? 'text')
}

function reading(
  { text }: SourceFile,
  of: Pick<FileDocument, 'title' | 'chunks' | 'kind' | 'tags' | 'metadata'>,
): FileReading {
  return { documents: text.trim() === '' ? [] : [{ ...WHOLE_FILE, ...of, content: text }], problems: [] }
}
