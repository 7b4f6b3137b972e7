/** One entry, and lists of entries, for people. */
import { printable } from '../../../base/printable.ts'
import type { EntryView, ListPage } from '../../../engine/engine.ts'
import { type Columns, facts, moreText, notes, type Print, rows } from './answer.ts'
import { shortOrigin } from './place.ts'
import { oneLine } from './style.ts'
import { markdownText } from './table.ts'

const FACTS: Columns = [
  ...['id', 'collection', 'kind', 'holder', 'visibility=audience.kind', 'federations=audience.federations', 'tags'],
  ...['origin', 'created=created_at', 'updated=updated_at', 'valid from=valid_from', 'valid until=valid_until'],
  ...['used=access.count', 'last used=access.last_accessed', 'metadata'],
]

/** Title, facts, an empty line, the content as it is (control characters apart). */
export const entryText: Print<EntryView> = (entry, shown) => {
  const title = oneLine(entry.title) || '(untitled)'
  const origin = entry.origin && shortOrigin(entry.origin, shown.folder)
  const head = shown.isMarkdown ? `# ${markdownText(title)}\n` : shown.style.bold(title)
  return `${head}\n${facts('', FACTS)({ ...entry, origin }, shown)}\n${printable(entry.content).replace(/\n?$/, '\n')}`
}

export const listText: Print<ListPage> = rows(
  'items',
  ['id', 'collection', 'kind', 'UPDATED=updated_at minute', 'title'],
  'no entries',
  ({ cursor, items, total }, shown) => `\n${items.length} of ${total}\n${notes(moreText(cursor, shown), shown)}`,
)
