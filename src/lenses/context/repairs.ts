/**
 * What the doctor finds missing and the lens makes again: concepts of files that are kept as read. The next run would pass
 * such a file over, since its hash is the same (CX-075).
 */
import type { EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Row } from '../../model/table.ts'
import type { StoreReader } from '../../store/store.ts'
import type { LensRepair } from '../lens.ts'
import { Context } from './context.ts'
import { READING_VERSION } from './extract/concept.ts'
import { leaveUnfinished } from './indexing/revision.ts'
import { CONCEPTS, EXTRACTIONS, FILES } from './tables.ts'

export const READINGS: LensRepair = {
  check: 'context files',
  sound: 'every file that was read has its concepts',
  find: reader => filesWithoutConcepts(reader).map(url => `no concepts of ${url}, which is kept as read`),
  async repair(host, signal) {
    const { store, clock } = host
    const urls = filesWithoutConcepts(store)
    // Links of other files may be missing as well: the run compares all.
    await store.writeWhenFree(clock.now(), leaveUnfinished)
    const { result, errors } = await new Context(host).call(
      '/context/index',
      { paths: urls, force: true, wait: false },
      undefined,
      signal,
    )
    if (result === null) throw notRead(errors)
    return `read ${result['indexed']} of ${urls.length} files again (${result['concepts']} concepts)`
  },
}

/** URLs, ascending. */
function filesWithoutConcepts(reader: StoreReader): readonly string[] {
  const concepts = reader.table(CONCEPTS).scan({}, { columns: ['entry', 'url', 'symbol'] })
  const withConcepts = new Set(concepts.filter(({ symbol }) => symbol !== null).map(({ url }) => url))
  const read = new Set(
    reader
      .table(EXTRACTIONS)
      .scan({ version: READING_VERSION }, { columns: ['entry'] })
      .map(({ entry }) => entry),
  )
  return reader
    .table(FILES)
    .scan({}, { columns: ['entry', 'url', 'size'] })
    .filter(row => read.has(row['entry'] ?? null) && !withConcepts.has(row['url']) && shouldHaveSome(reader, row))
    .map(({ url }) => url as string)
    .sort()
}

/** A file may be kept as a text alone, where it is too large or too slow to read: then its text is there. */
function shouldHaveSome(reader: StoreReader, { entry, size }: Row): boolean {
  const isTextAlone = reader.table(EXTRACTIONS).get({ entry: entry as EntryKey })?.['extraction'] === null
  return !isTextAlone || (Number(size) > 0 && reader.entry(entry as EntryKey)?.content === '')
}

function notRead(errors: unknown): QuerentError {
  return new QuerentError('io_failed', `the files were not read: ${JSON.stringify(errors)}`, {})
}
