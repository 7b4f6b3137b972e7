/** Writing what was read out of one file: its text, its concepts and its links. Run inside a write transaction. */
import { storableText } from '../../../base/storable.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { audience } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { forgetFile, indexText, type OwnFile } from '../body/register.ts'
import type { Call } from '../call.ts'
import type { Concept, Extraction } from '../extract/concept.ts'
import {
  type ConceptAt,
  type ConceptDraft,
  conceptRow,
  conceptText,
  deleteConcept,
  NOTE,
  putConcept,
  putProvenance,
} from '../mind/rows.ts'
import { CARDS, CONCEPTS, EXTRACTIONS, FILES, PROVENANCE } from '../tables.ts'
import { type CodeBase, cardRow, READING_VERSION, symbolOf } from './code-base.ts'
import type { ReadFile } from './look-over.ts'
import { movePatch } from './move-patch.ts'

export interface HeldFile extends Omit<ReadFile, 'isNew'> {
  /** Of the extraction. */
  readonly json: string | null
}

/** `movedFrom`: the URL that the same text stood at before, whose concepts go on here. */
export function writeFile(
  writer: StoreWriter,
  call: Call,
  codeBase: CodeBase,
  { path, facts, text, extraction, json }: HeldFile,
  movedFrom: string | null,
): void {
  const entry = indexText(writer, call, facts, text, facts.hash)
  writer.table(EXTRACTIONS).put({
    entry,
    version: READING_VERSION,
    hash: facts.hash,
    extraction: json,
  })
  codeBase.entries.set(path, entry)
  writeCard(writer, codeBase, path)
  if (movedFrom !== null) movePatch(writer, movedFrom, facts.url, call.host.clock.now())
  const [own, named] = rowsOf(writer, facts.url)
  const before = new Map((own.length > 0 || movedFrom === null ? own : ownRows(writer, movedFrom)).map(bySymbol))
  const patched = new Map(named.map(row => [row['id'] as number, row]))
  const old = new Map(writer.entries([...before.values(), ...named].map(entryOf)).map(found => [found.key, found]))
  const ids = codeBase.idsIn(path)
  const symbols = new Set<string>()
  const lines = text.split('\n')
  for (const [at, concept] of (extraction?.concepts ?? []).entries()) {
    const symbol = symbolOf(concept.key)
    symbols.add(symbol)
    const draft = draftOf(concept, symbol, facts.url, lines)
    // A moved file's own concept has its path for a name; it is the first.
    const moved = at === 0 && movedFrom !== null ? firstOf(before) : undefined
    const row = before.get(symbol) ?? moved ?? patched.get(ids.get(symbol) ?? 0)
    const known = row === undefined ? undefined : old.get(entryOf(row))
    if (row !== undefined) before.delete(row['symbol'] as string)
    const isSame = known?.content === conceptText(draft) && known.title === draft.name && known.origin === facts.url
    const placed = isSame
      ? refreshed(writer, draft, row as Row)
      : putConcept(writer, draft, {
          audience: known?.audience ?? audience('private', call.viewer.id),
          now: call.host.clock.now(),
          before: row === undefined ? undefined : atOf(row),
          id: ids.get(symbol),
        })
    ids.set(symbol, placed.id)
    if (movedFrom !== null) writer.table(PROVENANCE).delete({ entry: placed.entry, url: movedFrom })
    putProvenance(writer, placed, facts.url)
  }
  for (const row of before.values()) dropConcept(writer, row, row['url'] as string)
  for (const symbol of ids.keys()) if (!symbols.has(symbol)) ids.delete(symbol)
}

/** Of a file that is written. */
export function writeCard(writer: StoreWriter, { entries, graph }: CodeBase, path: string): void {
  const entry = entries.get(path)
  const card = graph.card(path)
  if (entry === undefined) return
  if (card === undefined) writer.table(CARDS).delete({ entry })
  else writer.table(CARDS).put(cardRow(entry, card))
}

/** With its concepts, and whatever else comes from it alone. */
export function dropFile(writer: StoreWriter, codeBase: CodeBase, file: OwnFile, path: string | null): void {
  dropConceptsOf(writer, file.url)
  if (path !== null) codeBase.drop(path)
  forgetFile(writer, file)
}

/** Concepts of files that are registered no more: a scan has found them gone. */
export function dropOrphans(writer: StoreWriter): void {
  const known = new Set(
    writer
      .table(FILES)
      .scan({}, { columns: ['entry', 'url'] })
      .map(({ url }) => url),
  )
  const urls = new Set<string>()
  for (const { url, symbol } of writer.table(CONCEPTS).scan({}, { columns: ['entry', 'url', 'symbol'] })) {
    if (url !== null && symbol !== null && !known.has(url)) urls.add(url as string)
  }
  for (const url of urls) dropConceptsOf(writer, url)
}

function dropConceptsOf(writer: StoreWriter, url: string): void {
  for (const row of ownRows(writer, url)) dropConcept(writer, row, url)
  for (const link of writer.table(PROVENANCE).scan({ url })) {
    const entry = link['entry'] as EntryKey
    const row = writer.table(CONCEPTS).get({ entry })
    writer.table(PROVENANCE).delete({ entry, url })
    const isLeft = writer.table(PROVENANCE).count({ entry }) > 0 || row?.['type'] === NOTE
    if (row !== undefined && !isLeft) deleteConcept(writer, atOf(row))
  }
}

/** Symbol -> where the concept is; of those that were read out of the file. */
export function conceptsOf(writer: StoreWriter, url: string): ReadonlyMap<string, ConceptAt> {
  return new Map(ownRows(writer, url).map(row => [row['symbol'] as string, atOf(row)]))
}

/** Concepts that a patch named before the indexer read them: each is the one of that type and name that has no id yet. */
export function takeUp(
  writer: StoreWriter,
  ids: Map<string, number>,
  url: string,
  concepts: () => readonly Concept[],
  viewer: Viewer,
): void {
  const [, found] = rowsOf(writer, url)
  if (found.length === 0) return
  const holders = new Map(writer.identities(found.map(entryOf)).map(({ key, holder }) => [key, holder]))
  const patched = found.filter(row => holders.get(entryOf(row)) === viewer.id)
  const known = new Map(patched.map(row => [`${row['type']} ${row['name']}`, row['id'] as number]))
  for (const { key, name, type } of concepts()) {
    const id = known.get(`${type} ${storableText(name)}`)
    if (id === undefined || ids.has(symbolOf(key))) continue
    ids.set(symbolOf(key), id)
    known.delete(`${type} ${storableText(name)}`)
  }
}

/** What also comes from another file stays, as if a call had made it. */
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

/** Only where it stands may have changed: it need not be embedded again. */
function refreshed(writer: StoreWriter, draft: ConceptDraft, before: Row): ConceptAt {
  const at = atOf(before)
  const row = conceptRow(draft, at)
  if (Object.entries(row).some(([name, value]) => before[name] !== value)) {
    writer.table(CONCEPTS).put(row)
    writer.announce(at.entry)
  }
  return at
}

function draftOf(concept: Concept, symbol: string, url: string, lines: readonly string[]): ConceptDraft {
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
    text: lines.slice(startLine - 1, Math.min(endLine, startLine + 12)).join('\n'),
  }
}

function ownRows(writer: StoreWriter, url: string): readonly Row[] {
  return rowsOf(writer, url)[0]
}

/** Those of the indexer, and those that only a patch knows of. */
function rowsOf(writer: StoreWriter, url: string): readonly [own: readonly Row[], patched: readonly Row[]] {
  const rows = writer.table(CONCEPTS).scan({ url })
  return [rows.filter(row => row['symbol'] !== null), rows.filter(row => row['symbol'] === null)]
}

function bySymbol(row: Row): readonly [string, Row] {
  return [row['symbol'] as string, row]
}

function firstOf(rows: ReadonlyMap<string, Row>): Row | undefined {
  return [...rows.values()].find(row => /^(?:Module|Document|Entity) /.test(row['symbol'] as string))
}

function entryOf(row: Row): EntryKey {
  return row['entry'] as EntryKey
}

function atOf(row: Row): ConceptAt {
  return { id: row['id'] as number, entry: entryOf(row) }
}

/** Symbols of a file, in the order of its concepts. */
export function symbolsOf(extraction: Extraction | null): readonly string[] {
  return extraction?.concepts.map(({ key }) => symbolOf(key)) ?? []
}
