/**
 * Makes the fixture of the schema that this version writes: `test/fixtures/stores/schema-<n>.db`, and beside it what is
 * in it as JSON. Run once for every new schema number; a fixture that is there is kept, since it must open for ever:
 * `node scripts/make-store-fixture.ts`.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import type { EntryDraft } from '../src/model/entry.ts'
import { AGENTS, CORE_TABLES, FILES } from '../src/store/core-tables.ts'
import { SCHEMA } from '../src/store/sqlite/schema.ts'
import { openSqliteStore } from '../src/store/sqlite-store.ts'
import type { StoreWriter } from '../src/store/store.ts'
import { contentsOf } from '../test/support/contents.ts'

const FIXTURE_MODEL = 'fixture@1'
const FIXTURE_META = 'a setting'

const DRAFTS: readonly EntryDraft[] = [
  {
    id: 'plain',
    collection: 'notes',
    kind: 'note',
    title: 'A plain note',
    content: 'First line about foxes.\nSecond line about hounds.',
    tags: ['animals', 'fox'],
    metadata: {},
    audience: { kind: 'private', holder: 'owner' },
    origin: null,
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000,
    validFrom: null,
    validUntil: null,
    knownAt: 1_700_000_000_000,
  },
  {
    id: 'Ωμέγα 🦊',
    collection: 'code',
    kind: 'document',
    title: '"Quoted" \\ and 100%',
    content: 'Ein Fuchs läuft.\n日本語の一行\n🦊',
    tags: ['ünïcode', 'x', 'fox'],
    metadata: { n: 0.1, big: 9007199254740991, flag: true, list: ['a', 2, null, { deep: 1 }], deep: { a: { b: 'c' } } },
    audience: { kind: 'shared', holder: 'ann', federations: ['guild', 'lab'] },
    origin: 'file:///somewhere/else.md',
    createdAt: -1,
    updatedAt: 1_700_000_000_001,
    validFrom: 0,
    validUntil: 8_640_000_000_000_000,
    knownAt: 1_700_000_000_002,
  },
  {
    id: 'plain',
    collection: 'notes',
    kind: 'memory',
    title: '',
    content: '',
    tags: [],
    metadata: { 'with.point': 1, '': 2 },
    audience: { kind: 'public', holder: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' },
    origin: '',
    createdAt: 5,
    updatedAt: 5,
    validFrom: null,
    validUntil: 6,
    knownAt: 5,
  },
]

function fill(writer: StoreWriter): void {
  const keys = DRAFTS.map(draft => writer.put(draft, linesOf(draft.content)).key)
  const [first = 0, second = 0, third = 0] = keys
  const chunks = writer.chunksOf(second)
  writer.putVectors(
    FIXTURE_MODEL,
    chunks.map(({ key }) => ({ chunk: key, vector: Float32Array.of(0.6, -0.8, 0, key) })),
  )
  writer.touch({ id: 'owner' }, [first, second], 1_700_000_000_500, 0.25)
  writer.touch({ id: 'ann' }, [second], 1_700_000_000_600, 1)
  writer.table(AGENTS).put({ id: 'ann', label: null, created_at: 7 })
  writer.table(FILES).put({ entry: first, root: '/r', path: 'a.md', hash: 'ab', size: 3, modified_at: 9 })
  writer.setMeta(FIXTURE_META, 'its value')
  writer.put({ ...(DRAFTS[0] as EntryDraft), title: 'Moved', audience: { kind: 'public', holder: 'owner' } }, [])
  const gone = writer.put({ ...(DRAFTS[2] as EntryDraft), id: 'gone' }, [])
  writer.delete(gone.key)
  writer.announce(third)
}

function linesOf(content: string) {
  let start = 0
  return content.split('\n').map((line, at) => {
    const chunk = { start, end: start + line.length, startLine: at + 1, endLine: at + 1, headings: ['Top', 'Below'] }
    start = chunk.end + 1
    return chunk
  })
}

const folder = fileURLToPath(new URL('../test/fixtures/stores/', import.meta.url))
const file = `${folder}schema-${SCHEMA}.db`
if (existsSync(file)) {
  console.error(`${file} is there already and is kept`)
} else {
  mkdirSync(folder, { recursive: true })
  const store = openSqliteStore({ file, storeId: `fixture-${SCHEMA}` })
  store.write(1_700_000_001_000, fill)
  const models = [FIXTURE_MODEL]
  const tables = CORE_TABLES.map(table => table.name)
  const contents = contentsOf(store, models, CORE_TABLES, [FIXTURE_META])
  store.close()
  // Without the free pages.
  const db = new DatabaseSync(file)
  db.exec('vacuum')
  db.close()
  writeFileSync(
    `${folder}schema-${SCHEMA}.json`,
    `${JSON.stringify({ models, tables, meta: [FIXTURE_META], contents }, null, 1)}\n`,
  )
  console.error(`made ${file}`)
}
