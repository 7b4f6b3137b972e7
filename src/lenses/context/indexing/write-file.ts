/** Writing what was read out of one file: its text, its concepts and its card. Run inside a write transaction. */
import { storableText } from '../../../base/storable.ts'
import { audience } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { LineStarts } from '../../../text/lines.ts'
import { indexText } from '../body/register.ts'
import type { Call } from '../call.ts'
import { READING_VERSION, type ReadConcept } from '../extract/concept.ts'
import {
  type ConceptAt,
  type ConceptDraft,
  conceptRow,
  conceptText,
  MAX_TEXT_LINES,
  putConcept,
  putProvenance,
} from '../mind/rows.ts'
import { CARDS, CONCEPTS, EXTRACTIONS, PROVENANCE, READ_ERRORS } from '../tables.ts'
import { cardRow } from './card-row.ts'
import type { CodeBase } from './code-base.ts'
import { dropConcept } from './drop-file.ts'
import { atOf, entryOf, rowsOf } from './file-rows.ts'
import type { ReadFile } from './look-over.ts'
import { movePatch } from './move-patch.ts'
import { isOfFile, symbolOf } from './symbols.ts'

export interface HeldFile extends Omit<ReadFile, 'isNew'> {
  /** Of the extraction. */
  readonly json: string | null
}

/** `movedFrom`: the URL that the same text stood at before, whose concepts go on here. */
export function writeFile(
  writer: StoreWriter,
  call: Call,
  codeBase: CodeBase,
  { path, stamp, text, extraction, json }: HeldFile,
  movedFrom: string | null,
): void {
  const { url, hash } = stamp
  const now = call.host.clock.now()
  const entry = indexText(writer, call, stamp, text, hash)
  writer.table(EXTRACTIONS).put({ entry, version: READING_VERSION, hash, extraction: json })
  if (extraction?.hasErrors === true) writer.table(READ_ERRORS).put({ entry, url })
  else writer.table(READ_ERRORS).delete({ entry })
  codeBase.entries.set(path, entry)
  writeCard(writer, codeBase, path)
  if (movedFrom !== null) movePatch(writer, movedFrom, url, now)
  const { own, patched } = rowsOf(writer, url)
  const before = new Map((own.length > 0 || movedFrom === null ? own : rowsOf(writer, movedFrom).own).map(bySymbol))
  const byId = new Map(patched.map(row => [row['id'] as number, row]))
  const old = new Map(writer.entries([...before.values(), ...patched].map(entryOf)).map(found => [found.key, found]))
  const ids = codeBase.idsIn(path)
  const symbols = new Set<string>()
  const lines = new LineStarts(text)
  for (const [at, concept] of (extraction?.concepts ?? []).entries()) {
    const symbol = symbolOf(concept.key)
    symbols.add(symbol)
    const draft = draftOf(concept, symbol, url, lines)
    // A moved file's own concept has its path for a name; it is the first.
    const moved = at === 0 && movedFrom !== null ? rowOfFile(before) : undefined
    const row = before.get(symbol) ?? moved ?? byId.get(ids.get(symbol) ?? 0)
    const known = row === undefined ? undefined : old.get(entryOf(row))
    if (row !== undefined) before.delete(row['symbol'] as string)
    const isSame = known?.content === conceptText(draft) && known.title === draft.name && known.origin === url
    const placed = isSame
      ? refreshed(writer, draft, row as Row)
      : putConcept(writer, draft, {
          audience: known?.audience ?? audience('private', call.viewer.id),
          now,
          before: row === undefined ? undefined : atOf(row),
          id: ids.get(symbol),
        })
    ids.set(symbol, placed.id)
    if (movedFrom !== null) writer.table(PROVENANCE).delete({ entry: placed.entry, url: movedFrom })
    putProvenance(writer, placed, url)
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

function bySymbol(row: Row): readonly [string, Row] {
  return [row['symbol'] as string, row]
}

function rowOfFile(rows: ReadonlyMap<string, Row>): Row | undefined {
  return [...rows.values()].find(row => isOfFile(row['symbol'] as string))
}
