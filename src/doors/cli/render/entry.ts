/** One entry, and lists of entries, for people. */

import { printable } from '../../../base/printable.ts'
import type { EntryView, ListPage } from '../../../engine/engine.ts'
import { moreText, notes, type Print, rows } from './answer.ts'
import { shortOrigin } from './place.ts'
import { oneLine } from './style.ts'
import { markdownText } from './table.ts'

/** Head lines, an empty line, the content as it is (control characters apart). */
export const entryText: Print<EntryView> = (entry, { style, folder, isMarkdown }) => {
  const title = oneLine(entry.title) || '(untitled)'
  const head = facts(entry, folder).map(([name, value]) => {
    return isMarkdown ? `- ${name}: ${markdownText(value)}\n` : `${style.dim(`${name}:`)} ${value}\n`
  })
  const content = ended(printable(entry.content))
  return `${isMarkdown ? `# ${markdownText(title)}\n` : style.bold(title)}\n${head.join('')}\n${content}`
}

export const listText: Print<ListPage> = rows(
  'items',
  { ID: 'id', COLLECTION: 'collection', KIND: 'kind', UPDATED: 'updated_at minute', TITLE: 'title' },
  'no entries',
  ({ cursor, items, total }, shown) => {
    const count = `${items.length} of ${total}`
    if (shown.isMarkdown) return `\n${count}${cursor === null ? '' : `, more: \`--cursor ${cursor}\``}\n`
    return `${count}\n${notes(moreText(cursor, shown), shown)}`
  },
)

function facts(entry: EntryView, workingFolder: string): readonly (readonly [string, string])[] {
  const { audience, access } = entry
  const federations = audience.federations === undefined ? '' : ` (${audience.federations.join(', ')})`
  const rows: readonly (readonly [string, string | null])[] = [
    ['id', entry.id],
    ['collection', `${entry.collection} (${entry.kind})`],
    ['holder', `${entry.holder}, ${audience.kind}${federations}`],
    ['tags', entry.tags.length === 0 ? null : entry.tags.join(', ')],
    ['origin', entry.origin === null ? null : shortOrigin(entry.origin, workingFolder)],
    ['created', entry.created_at],
    ['updated', entry.updated_at === entry.created_at ? null : entry.updated_at],
    ['valid', validity(entry)],
    ['used', access === null ? null : `${access.count} times, last ${access.last_accessed}`],
    ['metadata', Object.keys(entry.metadata).length === 0 ? null : JSON.stringify(entry.metadata)],
  ]
  return rows.flatMap(([name, value]) => (value === null ? [] : [[name, oneLine(value)] as const]))
}

function validity({ valid_from, valid_until }: EntryView): string | null {
  if (valid_from === null && valid_until === null) return null
  return `${valid_from ?? 'always'} until ${valid_until ?? 'further notice'}`
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
