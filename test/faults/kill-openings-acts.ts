/** Homes that were never opened by this version, and what is done in them first. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Engine } from '../../src/engine/engine.ts'
import { AGENTS, CORE_TABLES, FEDERATIONS, MEMBERSHIPS } from '../../src/store/core-tables.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { contentsOf } from '../support/contents.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/stores/', import.meta.url))
const OLD = readdirSync(FIXTURES).filter(name => name.endsWith('.db'))
/** Enough to make more than one page of each table, in one transaction each. */
const ENTRIES = 40

/** The home of that number, made: every third one is new, the others hold a store file of an older version. */
export function layOut(folder: string, number: number): string {
  const home = join(folder, `home-${number}`)
  mkdirSync(home, { recursive: true })
  const old = oldOf(number)
  if (old !== null) copyFileSync(join(FIXTURES, old), join(home, 'store.db'))
  return home
}

/** Makes what a store of an older version lacks: tables of the core grow when they are written to first. */
export async function writeAll(engine: Engine): Promise<void> {
  await engine.put({ entries: Array.from({ length: ENTRIES }, (_, at) => ({ id: `new${at}`, content: `rain ${at}` })) })
  const { store } = engine.host('beliefs')
  store.write(1, writer => {
    for (const table of [AGENTS, FEDERATIONS, MEMBERSHIPS])
      writer.table(table).delete({ [table.key[0] as string]: '-' })
  })
}

/** What is wrong with the home after a kill while it was opened first, in lines. */
export function examineOpened(folder: string, number: number): readonly string[] {
  const file = join(folder, `home-${number}`, 'store.db')
  const old = oldOf(number)
  if (old !== null && !existsSync(file)) return ['the store file is gone']
  const store = openSqliteStore({ file })
  try {
    const wrong = [...store.check()]
    const keys = store.scanEntries(0, 1e6)
    const written = store.entries(keys).filter(({ id }) => id.startsWith('new')).length
    if (written !== 0 && written !== ENTRIES) wrong.push(`${written} of ${ENTRIES} entries of one transaction`)
    if (old !== null) wrong.push(...lost(contentsIn(store), old))
    return wrong
  } finally {
    store.close()
  }
}

function oldOf(number: number): string | null {
  return number % 3 === 0 ? null : (OLD[number % OLD.length] ?? null)
}

type Contents = {
  readonly entries: readonly { readonly key: number; readonly id: string }[]
  readonly tables: readonly unknown[]
}

function contentsIn(store: ReturnType<typeof openSqliteStore>): Contents {
  return contentsOf(store, [], CORE_TABLES, []) as unknown as Contents
}

/** Entries and rows that the file held before, and that are not there as they were. */
function lost(found: Contents, old: string): readonly string[] {
  const { contents, tables } = JSON.parse(readFileSync(join(FIXTURES, old.replace('.db', '.json')), 'utf8')) as {
    readonly contents: Contents
    readonly tables: readonly string[]
  }
  const kept = new Map(found.entries.map(entry => [entry.key, JSON.stringify(entry)]))
  const entries = contents.entries.filter(entry => kept.get(entry.key) !== JSON.stringify(entry))
  const short = tables.filter((name, at) => {
    const place = CORE_TABLES.findIndex(table => table.name === name)
    return (found.tables[place] as readonly unknown[]).length < (contents.tables[at] as readonly unknown[]).length
  })
  return [
    ...entries.map(({ id }) => `${old}: ${id} is not as it was`),
    ...short.map(name => `${old}: ${name} lost rows`),
  ]
}
