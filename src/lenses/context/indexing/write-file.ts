/**
 * Writes what was read out of one file (its text, concepts, links, and the card from which the next run knows whose links a change
 * affects), and deletes what came from deleted files or is no longer in the file. Everything runs within a write transaction.
 */
import { storableText } from '../../../base/storable.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import { audience } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { LineStarts } from '../../../text/lines.ts'
import { forgetFile, indexText, type OwnFile } from '../body.ts'
import type { Call } from '../call.ts'
import { changeRevision, nextNumbers } from '../counters.ts'
import { READING_VERSION, type ReadConcept } from '../extract/concept.ts'
import {
  type ConceptAt,
  type ConceptDraft,
  conceptRow,
  conceptText,
  deleteConcept,
  MAX_TEXT_LINES,
  NOTE,
  putConcept,
  putProvenance,
} from '../mind/rows.ts'
import { CARDS, CONCEPTS, EDGES, EXTRACTIONS, FILES, PROVENANCE, READ_ERRORS } from '../tables.ts'
import { type CodeBase, cardRow, packageSymbol, symbolOf } from './code-base.ts'
import type { ChangedFile, ReadFile } from './look-over.ts'

/** Rows of the concepts that the indexer has read out of a file. */
function rowsOf(reader: StoreReader, url: string): readonly Row[] {
  return reader
    .table(CONCEPTS)
    .scan({ url })
    .filter(row => row['symbol'] !== null)
}

/** The concepts that the indexer has read out of a file, by symbol. */
function conceptsOf(reader: StoreReader, url: string): ReadonlyMap<string, ConceptAt> {
  return new Map(rowsOf(reader, url).map(row => [row['symbol'] as string, atOf(row)]))
}

function entryOf(row: Row): EntryKey {
  return row['entry'] as EntryKey
}

function atOf(row: Row): ConceptAt {
  return { id: row['id'] as number, entry: entryOf(row) }
}

/** Deletes a file together with its concepts and everything else that comes only from this file. */
export function dropFile(writer: StoreWriter, codeBase: CodeBase, file: OwnFile, path: string | null): void {
  dropConceptsOf(writer, file.url)
  if (path !== null) codeBase.drop(path)
  forgetFile(writer, file)
}

/** Deletes the concepts of files that are no longer registered, because a scan found them deleted. */
export function dropOrphans(writer: StoreWriter): void {
  const files = writer.table(FILES).scan({}, { columns: ['entry', 'url'] })
  const known = new Set(files.map(({ url }) => url))
  const urls = new Set<string>()
  for (const { url, symbol } of writer.table(CONCEPTS).scan({}, { columns: ['entry', 'url', 'symbol'] })) {
    if (url !== null && symbol !== null && !known.has(url)) urls.add(url as string)
  }
  for (const url of urls) dropConceptsOf(writer, url)
}

/**
 * Removes a concept from a file that no longer has it. A concept that comes from another file too is kept with that file; otherwise it is
 * deleted.
 */
function dropConcept(writer: StoreWriter, row: Row, url: string): void {
  const entry = entryOf(row)
  writer.table(PROVENANCE).delete({ entry, url })
  const [other] = writer.table(PROVENANCE).scan({ entry })
  if (other === undefined) {
    deleteConcept(writer, atOf(row))
    return
  }
  writer.table(CONCEPTS).put({ ...row, url: other['url'] ?? null, start_line: null, end_line: null, symbol: null })
  writer.announce(entry)
}

/**
 * Deletes a concept outside an indexing run. When a file loses its last concept, the next run reads the file again, so that no file without
 * concepts stays recorded as read (CX-075).
 */
export function deleteByCall(writer: StoreWriter, at: ConceptAt): void {
  const row = writer.table(CONCEPTS).get({ entry: at.entry })
  deleteConcept(writer, at)
  if (row === undefined || row['symbol'] === null) return
  changeRevision(writer)
  const url = row['url'] as string | null
  if (url === null || rowsOf(writer, url).length > 0) return
  for (const { entry } of writer.table(FILES).scan({ url }, { columns: ['entry', 'url'] })) {
    writer.table(EXTRACTIONS).delete({ entry: entry as EntryKey })
    writer.table(CARDS).delete({ entry: entry as EntryKey })
    writer.table(READ_ERRORS).delete({ entry: entry as EntryKey })
  }
}

function dropConceptsOf(writer: StoreWriter, url: string): void {
  for (const row of rowsOf(writer, url)) dropConcept(writer, row, url)
  for (const link of writer.table(PROVENANCE).scan({ url })) {
    const entry = link['entry'] as EntryKey
    const row = writer.table(CONCEPTS).get({ entry })
    writer.table(PROVENANCE).delete({ entry, url })
    const isLeft = writer.table(PROVENANCE).count({ entry }) > 0 || row?.['type'] === NOTE
    if (row !== undefined && !isLeft) deleteConcept(writer, atOf(row))
  }
}

/**
 * Assigns ids to the concepts of changed files. A concept whose symbol (name within its file) is already stored keeps its id; new ones get
 * the next numbers.
 */
export function giveIds(writer: StoreWriter, codeBase: CodeBase, changed: readonly ChangedFile[]): void {
  for (const { path, symbols } of changed) {
    const ids = codeBase.idsIn(path)
    const fresh = symbols.filter(symbol => !ids.has(symbol))
    let id = fresh.length === 0 ? 0 : nextNumbers(writer, 'concept', fresh.length)
    for (const symbol of fresh) ids.set(symbol, id++)
  }
}

interface HeldFile extends Omit<ReadFile, 'isNew'> {
  /** The data read out of the file, as JSON; null when it has no concepts. */
  readonly json: string | null
}

export function writeFile(
  writer: StoreWriter,
  call: Call,
  codeBase: CodeBase,
  { path, stamp, text, extraction, json }: HeldFile,
): void {
  const { url, hash } = stamp
  const now = call.host.clock.now()
  const entry = indexText(writer, call, stamp, text, hash)
  writer.table(EXTRACTIONS).put({ entry, version: READING_VERSION, hash, extraction: json })
  if (extraction?.hasErrors === true) writer.table(READ_ERRORS).put({ entry, url })
  else writer.table(READ_ERRORS).delete({ entry })
  codeBase.entries.set(path, entry)
  writeCard(writer, codeBase, path)
  const before = new Map(rowsOf(writer, url).map(row => [row['symbol'] as string, row]))
  const old = new Map(writer.entries([...before.values()].map(entryOf)).map(found => [found.key, found]))
  const ids = codeBase.idsIn(path)
  const symbols = new Set<string>()
  const lines = new LineStarts(text)
  for (const concept of extraction?.concepts ?? []) {
    const symbol = symbolOf(concept.key)
    symbols.add(symbol)
    const draft = draftOf(concept, symbol, url, lines)
    const row = before.get(symbol)
    const known = row === undefined ? undefined : old.get(entryOf(row))
    before.delete(symbol)
    const placed =
      row !== undefined && isSame(draft, row, known)
        ? atOf(row)
        : putConcept(writer, draft, {
            audience: known?.audience ?? audience('private', call.viewer.id),
            now,
            before: row === undefined ? undefined : atOf(row),
            id: ids.get(symbol),
          })
    ids.set(symbol, placed.id)
    putProvenance(writer, placed, url)
  }
  for (const row of before.values()) dropConcept(writer, row, url)
  for (const symbol of ids.keys()) if (!symbols.has(symbol)) ids.delete(symbol)
}

/**
 * Writes the card of a file: hashes of the names and of the facts about other files on which its links depend. The file's entry must
 * already be written.
 */
export function writeCard(writer: StoreWriter, { entries, graph }: CodeBase, path: string): void {
  const entry = entries.get(path)
  const card = graph.card(path)
  if (entry === undefined) return
  if (card === undefined) writer.table(CARDS).delete({ entry })
  else writer.table(CARDS).put(cardRow(entry, card))
}

/** Whether a concept is unchanged except for its line numbers; then only its row is written, and its vector is kept. */
function isSame(draft: ConceptDraft, row: Row, known: Entry | undefined): boolean {
  if (known?.content !== conceptText(draft) || known.title !== draft.name || known.origin !== draft.url) return false
  return Object.entries(conceptRow(draft, atOf(row))).every(([name, value]) => row[name] === value)
}

function draftOf(concept: ReadConcept, symbol: string, url: string, lines: LineStarts): ConceptDraft {
  const { name, type, startLine, endLine, signature, doc } = concept
  return {
    name: storableText(name),
    type,
    url,
    startLine,
    endLine,
    signature: storableText(signature),
    doc: storableText(doc),
    symbol,
    text: lines.between(startLine, Math.min(endLine, startLine + MAX_TEXT_LINES - 1)),
  }
}

/** Origin of the links that the indexer wrote. The indexer never changes links that calls wrote. */
const ORIGIN = 'code'

/** A link with its target already resolved, so that writing it needs no reads within the transaction. */
interface FoundLink {
  readonly symbol: string
  readonly relation: string
  readonly weight: number
  readonly target: number | { readonly package: string }
}

interface Wanted {
  readonly entry: EntryKey
  readonly source: number
  readonly target: number
  readonly relation: string
  readonly weight: number
}

/** The links of a file as the graph computes them now. Concepts without an id are not in the store, so they get no links. */
export function findLinks(codeBase: CodeBase, path: string): readonly FoundLink[] {
  return codeBase.graph.links(path).flatMap(({ source, relation, target: place, weight }) => {
    const target = 'package' in place ? place : codeBase.idOf(place)
    return target === undefined ? [] : [{ symbol: symbolOf(source), relation, weight, target }]
  })
}

/** Writes the links of a file within a write transaction; links that are already stored unchanged are not written again. */
export function writeLinks(
  writer: StoreWriter,
  call: Call,
  codeBase: CodeBase,
  url: string,
  links: readonly FoundLink[],
): void {
  const concepts = conceptsOf(writer, url)
  const wanted = new Map<string, Wanted>()
  for (const { symbol, relation, target: place, weight } of links) {
    const from = concepts.get(symbol)
    if (from === undefined) continue
    const target = typeof place === 'number' ? place : packageId(writer, call, codeBase, storableText(place.package))
    const edge = { entry: from.entry, source: from.id, target, relation, weight }
    wanted.set(nameOf(edge), edge)
  }
  const entries = [...concepts.values()].map(({ entry }) => entry)
  const touched = new Set<EntryKey>()
  const table = writer.table(EDGES)
  for (const row of entries.length === 0 ? [] : table.scan({ origin: ORIGIN }, { entries })) {
    const name = nameOf(row as unknown as Wanted)
    if (wanted.delete(name)) continue
    table.delete({ id: row['id'] as number })
    touched.add(row['entry'] as EntryKey)
  }
  let id = wanted.size === 0 ? 0 : nextNumbers(writer, 'edge', wanted.size)
  for (const edge of wanted.values()) {
    table.put({ id: id++, ...edge, origin: ORIGIN })
    touched.add(edge.entry)
  }
  for (const entry of touched) writer.announce(entry)
}

/** Deletes the concepts of packages to which no file refers any more. */
export function dropUnusedPackages(writer: StoreWriter, { packages }: CodeBase): void {
  const edges = writer.table(EDGES)
  for (const [name, at] of packages) {
    if (edges.scan({ target: at.id, origin: ORIGIN }, { columns: ['id'], limit: 1 }).length > 0) continue
    deleteConcept(writer, at)
    packages.delete(name)
  }
}

function packageId(writer: StoreWriter, { host, viewer }: Call, { packages }: CodeBase, name: string): number {
  const known = packages.get(name)
  if (known !== undefined) return known.id
  const draft = { name, type: 'Package', symbol: packageSymbol(name) }
  const made = putConcept(writer, draft, { audience: audience('private', viewer.id), now: host.clock.now() })
  packages.set(name, made)
  return made.id
}

function nameOf({ source, target, relation, weight }: Wanted): string {
  return `${source} ${target} ${relation} ${weight}`
}
