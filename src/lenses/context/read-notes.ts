/** What an answer must say of how its files were read: with errors (CX-077), or without links between files (CX-079). */
import type { Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import { tablePages } from '../../pipeline/table-pages.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Call, Look } from './call.ts'
import { linkedWithinFiles } from './extract/concept.ts'
import { shownPath } from './names.ts'
import { READ_ERRORS } from './tables.ts'

/** Files named in one note or finding; the others are counted. */
const MAX_NAMED = 5

/** URLs in order. */
export function ownFilesWithErrors({ host: { store }, viewer }: Call): readonly string[] {
  const rows = store.table(READ_ERRORS).scan()
  const urls = new Map(rows.map(row => [row['entry'] as EntryKey, row['url'] as string]))
  const own = store.identities([...urls.keys()]).filter(({ holder }) => holder === viewer.id)
  return own.map(({ key }) => urls.get(key) as string).sort()
}

/** One warning that names those of the files that the viewer sees and that were read with errors; none: there are none. */
export function readErrorNotes(
  { host, state }: Call,
  { sight }: Look,
  urls: Iterable<string | null>,
): readonly string[] {
  const table = host.store.table(READ_ERRORS)
  const files = state.files.visible(sight.partitions)
  const entries = [...new Set(urls)].flatMap(url => (url === null ? [] : (files.byUrl(url)?.entry ?? [])))
  const found = entries.length === 0 ? [] : table.scan({}, { entries }).map(row => row['url'] as string)
  if (found.length === 0) return []
  return [
    `${named(found.sort().map(url => shownPath(url, host.workspace?.url)))}: declarations in ${found.length === 1 ? 'it' : 'them'} may be missing`,
  ]
}

/** That callers and other references in other files are missing, where the language of a concept has no such links. */
export function languageNotes(urls: Iterable<string | null>): readonly string[] {
  const languages = new Set([...urls].flatMap(url => (url === null ? [] : (linkedWithinFiles(url) ?? []))))
  return [...languages]
    .sort()
    .map(language => `calls in ${language} are linked within a file only: those in other files are not listed`)
}

/** For the doctor, of everybody's files. */
export function* readErrorProblem(reader: StoreReader): Steps<string | null> {
  const urls: string[] = []
  for (const rows of tablePages(reader, READ_ERRORS, ['url'])) {
    urls.push(...rows.map(({ url }) => url as string))
    yield
  }
  return urls.length === 0
    ? null
    : `${urls.length} of the indexed files: ${named(urls.sort())}: declarations in them may be missing`
}

function named(files: readonly string[]): string {
  const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : ''
  return `${files.slice(0, MAX_NAMED).join(', ')}${more} ${files.length === 1 ? 'was' : 'were'} read with errors`
}

/** In `meta` of an answer; nothing where there is nothing to say. */
export function noted(...notes: readonly (readonly string[])[]): { readonly meta?: { readonly warnings: string[] } } {
  const warnings = notes.flat()
  return warnings.length === 0 ? {} : { meta: { warnings } }
}
