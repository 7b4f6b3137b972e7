/** Store files of every released schema open for ever, and hold what was put into them. */
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CORE_TABLES } from '../../../src/store/core-tables.ts'
import { SCHEMA } from '../../../src/store/sqlite/schema.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { contentsOf } from '../../support/contents.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const FIXTURES = fileURLToPath(new URL('../../fixtures/stores/', import.meta.url))
const GROWN: ReadonlySet<string> = new Set([
  ...['did', 'reputation', 'reputation_by_domain', 'trust_graph', 'joining', 'results', 'anonymity', 'role'],
  ...['permissions', 'joined_at'],
])

const schemas = readdirSync(FIXTURES).flatMap(name => /^schema-(\d+)\.db$/.exec(name)?.[1] ?? [])

it('has a fixture of every schema there ever was', () => {
  expect(schemas.map(Number).toSorted((a, b) => a - b)).toEqual(Array.from({ length: SCHEMA }, (_, at) => at + 1))
})

describe.each(schemas)('a store of schema %s', schema => {
  const made = JSON.parse(readFileSync(join(FIXTURES, `schema-${schema}.json`), 'utf8')) as {
    models: string[]
    tables: string[]
    meta: string[]
    contents: unknown
  }
  const open = () => {
    const folder = tempFolder()
    onTestFinished(() => folder[Symbol.dispose]())
    const file = folder.file('store.db')
    copyFileSync(join(FIXTURES, `schema-${schema}.db`), file)
    const store = openSqliteStore({ file })
    onTestFinished(() => store.close())
    return store
  }

  it('holds what was put into it', () => {
    const tables = CORE_TABLES.filter(table => made.tables.includes(table.name))
    expect(tables).toHaveLength(made.tables.length)
    // Columns that a table has grown since are null, and were not there to be written down.
    const told = (contents: unknown) =>
      JSON.parse(
        JSON.stringify(contents, (key, value) => (value === null && GROWN.has(key) ? undefined : value)),
      ) as unknown
    expect(told(contentsOf(open(), made.models, tables, made.meta))).toEqual(told(made.contents))
  })

  it('is sound, can be asked, and takes more', () => {
    const store = open()
    const accessScope = { viewer: { id: 'ann' }, partitions: store.partitions().map(partition => partition.id) }
    const ids = (field: string, value: string | number | boolean) =>
      store
        .list({ accessScope: accessScope, filter: { op: 'eq', field, value }, order: 'id', limit: 9, after: null })
        .map(entry => entry.id)
    expect(store.check()).toEqual([])
    expect(ids('tag', 'fox')).toEqual(['plain', 'Ωμέγα 🦊'])
    expect(ids('metadata.deep.a.b', 'c')).toEqual(['Ωμέγα 🦊'])
    expect(ids('metadata.flag', true)).toEqual(['Ωμέγα 🦊'])
    expect(ids('accessed', 1_700_000_000_600)).toEqual(['Ωμέγα 🦊'])
    const [key] = store.find('Ωμέγα 🦊', accessScope.partitions) as [number]
    const draft = draftOf({ id: 'new' })
    store.write(1, writer => {
      writer.put(draft, wholeChunk(draft))
      writer.delete(key)
    })
    expect(store.countVectors(made.models[0] as string, accessScope.partitions)).toBe(0)
    expect(store.check()).toEqual([])
  })
})
