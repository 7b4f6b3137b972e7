// Renews docs/requirements.json from a folder with the full requirement rows, one JSON file a lens:
// `node scripts/import-requirements.ts <folder>`. Takes numbers and levels only, and keeps what is said of finished lenses.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const target = fileURLToPath(new URL('../docs/requirements.json', import.meta.url))
const [folder] = process.argv.slice(2)

if (folder === undefined) {
  console.error('usage: node scripts/import-requirements.ts <folder with one JSON file a lens>')
  process.exitCode = 2
} else {
  const { finished, excepted } = JSON.parse(readFileSync(target, 'utf8')) as Record<string, unknown>
  const files = readdirSync(folder).filter(name => name.endsWith('.json'))
  const lenses = Object.fromEntries(files.sort().map(name => [basename(name, '.json'), idsByLevel(join(folder, name))]))
  writeFileSync(target, `${JSON.stringify({ finished, excepted, lenses }, null, 2)}\n`)
}

function idsByLevel(file: string): Record<string, string[]> {
  const rows = JSON.parse(readFileSync(file, 'utf8')) as { id: string; level: string }[]
  const levels = [...new Set(rows.map(row => row.level))].sort()
  return Object.fromEntries(levels.map(level => [level, rows.filter(row => row.level === level).map(row => row.id)]))
}
