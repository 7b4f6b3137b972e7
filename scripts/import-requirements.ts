// Updates docs/requirements.json from a folder with the full requirement rows, one JSON file per lens:
// `node scripts/import-requirements.ts <folder>`. It copies ids, levels and dates of change, and keeps what the list says
// about finished lenses. A row that is new or has a new date becomes an exception until a test proves its new text.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Row {
  readonly id: string
  readonly level: string
  readonly changed?: string
}

interface List {
  readonly finished: readonly string[]
  readonly excepted: Readonly<Record<string, string>>
  readonly changed?: Readonly<Record<string, string>>
}

const target = fileURLToPath(new URL('../docs/requirements.json', import.meta.url))
const [folder] = process.argv.slice(2)

if (folder === undefined) {
  console.error('usage: node scripts/import-requirements.ts <folder with one JSON file per lens>')
  process.exitCode = 2
} else {
  const list = JSON.parse(readFileSync(target, 'utf8')) as List
  const lenses = readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .sort()
    .map(name => ({ name: basename(name, '.json'), rows: readRows(join(folder, name)) }))
  const finished = [...new Set([...list.finished, ...lenses.map(lens => lens.name)])].sort()
  const changed = Object.fromEntries(
    lenses.flatMap(lens => lens.rows.flatMap(row => (row.changed ? [[row.id, row.changed]] : []))),
  )
  const excepted = {
    ...list.excepted,
    ...newExceptions(
      lenses.flatMap(lens => lens.rows),
      list.changed ?? {},
    ),
  }
  const ids = Object.fromEntries(lenses.map(lens => [lens.name, idsByLevel(lens.rows)]))
  writeFileSync(target, `${JSON.stringify({ finished, excepted, changed, lenses: ids }, null, 2)}\n`)
}

function readRows(file: string): Row[] {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Only `must` rows need a test, so only they can be excepted. */
function newExceptions(rows: readonly Row[], known: Readonly<Record<string, string>>): Record<string, string> {
  const news = rows.filter(row => row.level === 'must' && row.changed !== undefined && row.changed !== known[row.id])
  return Object.fromEntries(news.map(row => [row.id, `changed ${row.changed}; no test proves the new text yet`]))
}

function idsByLevel(rows: readonly Row[]): Record<string, string[]> {
  const levels = [...new Set(rows.map(row => row.level))].sort()
  return Object.fromEntries(levels.map(level => [level, rows.filter(row => row.level === level).map(row => row.id)]))
}
