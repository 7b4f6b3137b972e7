/** One entry, and lists of entries, for people. */

import { printable } from '../../../base/printable.ts'
import type { EntryView, ListPage } from '../../../engine/engine.ts'
import { shortOrigin } from './place.ts'
import { oneLine, type Style } from './style.ts'
import { type Column, markdownTable, markdownText, textTable } from './table.ts'

/** Head lines, an empty line, the content as it is (control characters apart). */
export function entryText(entry: EntryView, style: Style, workingFolder: string): string {
  const head = facts(entry, workingFolder).map(([name, value]) => `${style.dim(`${name}:`)} ${value}\n`)
  return `${style.bold(oneLine(entry.title) || '(untitled)')}\n${head.join('')}\n${ended(printable(entry.content))}`
}

export function entryMarkdown(entry: EntryView, workingFolder: string): string {
  const head = facts(entry, workingFolder).map(([name, value]) => `- ${name}: ${markdownText(value)}\n`)
  return `# ${markdownText(oneLine(entry.title) || '(untitled)')}\n\n${head.join('')}\n${ended(printable(entry.content))}`
}

export function listText(page: ListPage, style: Style, width: number | undefined): string {
  const more = page.cursor === null ? '' : style.dim(`more: --cursor ${page.cursor}\n`)
  return `${textTable(COLUMNS, page.items, style, width)}${page.items.length} of ${page.total}\n${more}`
}

export function listMarkdown(page: ListPage): string {
  const more = page.cursor === null ? '' : `, more: \`--cursor ${page.cursor}\``
  return `${markdownTable(COLUMNS, page.items)}\n${page.items.length} of ${page.total}${more}\n`
}

const COLUMNS: readonly Column<ListPage['items'][number]>[] = [
  { title: 'ID', cell: entry => entry.id },
  { title: 'COLLECTION', cell: entry => entry.collection },
  { title: 'KIND', cell: entry => entry.kind },
  { title: 'UPDATED', cell: entry => entry.updated_at.slice(0, 16).replace('T', ' ') },
  { title: 'TITLE', cell: entry => entry.title },
]

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
