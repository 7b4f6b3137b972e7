/** Files that are one document. */
import type { FileDocument, SourceFile } from '../model/ingester.ts'

/** What a document has that is the whole file, and says nothing of times. */
export const WHOLE_FILE: Pick<
  FileDocument,
  'id' | 'part' | 'line' | 'createdAt' | 'updatedAt' | 'validFrom' | 'validUntil'
> = { id: null, part: null, line: null, createdAt: null, updatedAt: null, validFrom: null, validUntil: null }

/** Its title where it gives none. */
export function nameWithoutExtension(file: Pick<SourceFile, 'name' | 'extension'>): string {
  return file.extension === '' ? file.name : file.name.slice(0, -file.extension.length - 1)
}
