/**
 * What the doctor finds missing and the lens makes again: concepts of files that are kept as read. The next run would pass
 * such a file over, since its hash is the same (CX-075).
 */
import type { Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Cell, Row } from '../../model/table.ts'
import { tablePages } from '../../pipeline/table-pages.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import type { StoreReader } from '../../store/store.ts'
import type { LensRepair } from '../lens.ts'
import { Context } from './context.ts'
import { READING_VERSION } from './extract/concept.ts'
import { leaveUnfinished } from './indexing/revision.ts'
import { CONCEPTS, EXTRACTIONS, FILES } from './tables.ts'

export const READINGS: LensRepair = {
  check: 'context files',
  sound: 'every file that was read has its concepts',
  *find(reader) {
    return (yield* filesWithoutConcepts(reader)).map(url => `no concepts of ${url}, which is kept as read`)
  },
  async repair(host, signal) {
    const { store, clock } = host
    const urls = await turnsUntil(signal).run(filesWithoutConcepts(store))
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

/** Files read for one step: what was read out of each may be long. */
const FILES_AT_ONCE = 100

/** URLs, ascending. */
function* filesWithoutConcepts(reader: StoreReader): Steps<readonly string[]> {
  const withConcepts = new Set<Cell | undefined>()
  for (const rows of tablePages(reader, CONCEPTS, ['url', 'symbol'])) {
    for (const { url, symbol } of rows) if (symbol !== null) withConcepts.add(url)
    yield
  }
  const urls: string[] = []
  for (const rows of tablePages(reader, FILES, ['entry', 'url', 'size'], FILES_AT_ONCE)) {
    for (const row of rows) {
      if (withConcepts.has(row['url']) || !shouldHaveSome(reader, row)) continue
      urls.push(row['url'] as string)
      yield
    }
    yield
  }
  return urls.sort()
}

/** Where it was read by this version. It may be kept as a text alone, where it is too large or too slow to read: then its text is there. */
function shouldHaveSome(reader: StoreReader, { entry, size }: Row): boolean {
  const reading = reader.table(EXTRACTIONS).get({ entry: entry as EntryKey })
  if (reading?.['version'] !== READING_VERSION) return false
  return reading['extraction'] !== null || (Number(size) > 0 && reader.entry(entry as EntryKey)?.content === '')
}

function notRead(errors: unknown): QuerentError {
  return new QuerentError('io_failed', `the files were not read: ${JSON.stringify(errors)}`, {})
}
