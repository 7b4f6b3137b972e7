/**
 * Reads HTML pages. The content of the entry is the text of the page's main part, so line numbers count lines of that text and not of the
 * HTML file.
 */
import type { Steps } from '../base/turns.ts'
import type { FileReading, Ingester, SourceFile } from '../model/ingester.ts'
import { chunkInSteps } from '../text/chunk.ts'
import { htmlTextInSteps } from '../text/html-text.ts'
import { firstHeading } from '../text/outline.ts'
import { instantOf, nameWithoutExtension, tagsOf, titleOf, WHOLE_FILE } from './values.ts'

export const html: Ingester = {
  name: 'html',
  version: 3,
  accepts: file => ['html', 'htm', 'xhtml'].includes(file.extension),
  read,
}

function* read(file: SourceFile): Steps<FileReading> {
  const page = yield* htmlTextInSteps(file.text, { part: 'main' })
  const title = titleOf(page.title) || titleOf(firstHeading(page.headings))
  if (page.text === '' && title === '') return { documents: [], problems: [] }
  const { description = '', keywords = '', date = '' } = page.meta
  const document = {
    ...WHOLE_FILE,
    title: title || nameWithoutExtension(file),
    content: page.text,
    chunks: yield* chunkInSteps(page.text, { form: 'prose', headings: page.headings, blocks: page.blocks }),
    kind: 'document',
    tags: tagsOf(keywords.includes(',') ? keywords : [keywords]),
    metadata: {
      path: file.path,
      ...(titleOf(description) !== '' && { description: titleOf(description) }),
      ...(titleOf(date) !== '' && { date: titleOf(date) }),
      ...(titleOf(page.language) !== '' && { lang: titleOf(page.language) }),
    },
    createdAt: instantOf(date),
  }
  return { documents: [document], problems: [] }
}
