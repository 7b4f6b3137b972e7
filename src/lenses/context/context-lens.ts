/** The lens `context`: a code base as concepts (files, types, functions and other declarations) and the links between them. */

import type { Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Cell, Row } from '../../model/table.ts'
import { countStrays, tablePages } from '../../pipeline/many-rows.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import type { StoreReader } from '../../store/store.ts'
import type { CodePaths, Lens, LensHost, LensRepair } from '../lens.ts'
import { readErrorProblem } from './call.ts'
import { beginRevision, counter, counterName, type Numbered, placeOf } from './counters.ts'
import { READING_VERSION } from './extract/concept.ts'
import { CONCEPT_KIND } from './mind/rows.ts'
import { CONTEXT_OPERATIONS, Context } from './operations.ts'
import { contextOptions } from './query/request.ts'
import { contextStages } from './query/stages.ts'
import { checkSettings } from './state.ts'
import { CONCEPTS, CONTEXT_TABLES, EDGES, EXTRACTIONS, FILES, LINKS, PROVENANCE } from './tables.ts'

export function contextLens(): Lens {
  return {
    name: 'context',
    summary: 'Concepts of a code base by name and meaning, with their neighbours, files and links',
    syntax: 'plain',
    options: contextOptions,
    stages: contextStages,
    tables: CONTEXT_TABLES,
    linkIndexes: [LINKS],
    operations: CONTEXT_OPERATIONS,
    settings: checkSettings,
    check: function* (reader) {
      const problems = (yield* checkTables(reader)).map(message => ({ message, help: null }))
      const note = yield* readErrorProblem(reader)
      return note === null ? problems : [...problems, { message: note, help: null, isNote: true }]
    },
    repairs: [READINGS],
    readCode,
  }
}

// Checks of the `doctor` command (CX-075) on the tables of the lens `context`: rows for missing entries, entries that are no concepts,
// counters that would repeat a number, and files recorded as read without concepts. A repair has these files read again, since an indexing
// run skips a file with an unchanged hash.

/**
 * Problems found in the tables, one line per kind of problem; empty when there are none. Pauses after each page of rows so that other work
 * can run.
 */
export function* checkTables(reader: StoreReader): Steps<readonly string[]> {
  const entryOf = new Map<Cell | undefined, Cell | undefined>()
  const entries = new Set<EntryKey>()
  const highest = { concept: new Map<number, number>(), edge: new Map<number, number>() }
  for (const rows of tablePages(reader, CONCEPTS, ['entry', 'id'])) {
    for (const { entry, id } of rows) {
      entryOf.set(id, entry)
      entries.add(entry as EntryKey)
      raise(highest.concept, id)
    }
    yield
  }
  let [sourceless, targetless, unlinked] = [0, 0, 0]
  for (const rows of tablePages(reader, EDGES, ['id', 'entry', 'source', 'target'])) {
    for (const { id, entry, source, target } of rows) {
      if (entryOf.get(source) !== entry) sourceless++
      if (!entryOf.has(target)) targetless++
      raise(highest.edge, id)
    }
    yield
  }
  for (const rows of tablePages(reader, PROVENANCE, ['entry', 'concept'])) {
    unlinked += rows.filter(({ concept, entry }) => entryOf.get(concept) !== entry).length
    yield
  }
  return [
    counted(entries.size - entryOf.size, 'concepts share a number with another one'),
    counted(
      yield* countStrays(reader, CONCEPT_KIND, entries),
      'concepts have no entry, or entries of concepts no concept',
    ),
    counted(sourceless, 'links have no source'),
    counted(targetless, 'links have no target'),
    counted(unlinked, 'links to files have no concept'),
    ...behind(reader, 'concept', highest.concept),
    ...behind(reader, 'edge', highest.edge),
  ].filter(problem => problem !== '')
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}`
}

function raise(highest: Map<number, number>, id: Cell | undefined): void {
  const { sequence, count } = placeOf(id as number)
  highest.set(sequence, Math.max(highest.get(sequence) ?? 0, count))
}

function behind(reader: StoreReader, of: Numbered, highest: ReadonlyMap<number, number>): readonly string[] {
  return [...highest].flatMap(([sequence, most]) => {
    const next = counter(reader, counterName(of, sequence)) ?? 1
    return next > most ? [] : [`the counter of ${of}s is at ${next}, but ${most} is in use (sequence ${sequence})`]
  })
}

export const READINGS: LensRepair = {
  check: 'context files',
  sound: 'every file that was read has its concepts',
  *find(reader) {
    return (yield* filesWithoutConcepts(reader)).map(url => `no concepts of ${url}, which is kept as read`)
  },
  async repair(host, signal) {
    const { store, clock } = host
    const urls = await turnsUntil(signal).run(filesWithoutConcepts(store))
    // Links from other files may be missing as well. A new revision of the indexer's data makes the next indexing run compare all files.
    await store.writeWhenFree(clock.now(), beginRevision)
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

async function readCode(host: LensHost, { paths, forget }: CodePaths, signal: AbortSignal): Promise<number> {
  const request = { paths, forget, wait: false }
  const { result, errors } = await new Context(host).call('/context/index', request, undefined, signal)
  if (result === null) throw notRead(errors)
  return result['deleted'] as number
}

/** Number of files that are examined before the check pauses for other work; the extracted data of each file may be long. */
const FILES_AT_ONCE = 100

/** URLs of the registered files that have no concepts in the store, ascending. */
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

/**
 * Whether a file should have concepts. True for a file read by the present version of the indexer, unless it was stored as text only
 * because it was too large or too slow to read.
 */
function shouldHaveSome(reader: StoreReader, { entry, size }: Row): boolean {
  const reading = reader.table(EXTRACTIONS).get({ entry: entry as EntryKey })
  if (reading?.['version'] !== READING_VERSION) return false
  return reading['extraction'] !== null || (Number(size) > 0 && reader.entry(entry as EntryKey)?.content === '')
}

function notRead(errors: unknown): QuerentError {
  return new QuerentError('io_failed', `the files were not read: ${JSON.stringify(errors)}`, {})
}
