/** What patches and calls have said of a file goes with it when it moves. Run inside a write transaction. */
import type { Instant } from '../../../base/clock.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { putConcept } from '../mind/rows.ts'
import { CONCEPTS, EDGES, PROVENANCE } from '../tables.ts'

/** Before the indexer's own concepts move: those are left to it. */
export function movePatch(writer: StoreWriter, from: string, to: string, now: Instant): void {
  const linked = writer.table(PROVENANCE).scan({ url: from })
  const entries = linked.map(row => row['entry'] as EntryKey)
  if (entries.length === 0) return
  const rows = new Map(
    writer
      .table(CONCEPTS)
      .scan({}, { entries })
      .map(row => [row['entry'], row]),
  )
  for (const link of linked) {
    const row = rows.get(link['entry'] ?? null)
    if (row === undefined || row['symbol'] !== null) continue
    writer.table(PROVENANCE).delete({ entry: link['entry'] as EntryKey, url: from })
    writer.table(PROVENANCE).put({ ...link, url: to })
    if (row['url'] === from) moveConcept(writer, row, to, now)
  }
  for (const edge of writer.table(EDGES).scan({ origin: from }, { entries })) {
    writer.table(EDGES).put({ ...edge, origin: to })
  }
}

function moveConcept(writer: StoreWriter, row: Row, url: string, now: Instant): void {
  const before = { id: row['id'] as number, entry: row['entry'] as EntryKey }
  const old = writer.entry(before.entry)
  if (old === undefined) return
  const draft = { name: row['name'] as string, type: row['type'] as string, url }
  putConcept(writer, draft, { audience: old.audience, now, before })
}
