import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CHROMA_BASE,
  compareVersions,
  Extensions,
  type SchemaExtension,
} from '../../../../../src/lenses/chroma/profiles/query-profile.ts'
import { PLUGIN_FIELDS } from '../../../../../src/lenses/chroma/tables.ts'
import type { EntryKey } from '../../../../../src/model/entry.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../../../support/entries.ts'

const ALL: SchemaExtension = {
  name: 'all',
  version: '1.0.0',
  columns: { word: 'text', size: 'real', count: 'integer', extra: 'json' },
}
const plugin = (code: string) => expect.objectContaining({ name: 'PluginError', code })

function storeWithEntry(): { readonly store: Store; readonly entry: EntryKey } {
  const store = openMemoryStore()
  const draft = draftOf({ id: 'a' })
  return { store, entry: store.write(1, writer => writer.put(draft, wholeChunk(draft)).key) }
}

describe('a schema extension', () => {
  it('is taken once; repeating it changes nothing (CQ-131)', () => {
    const extensions = new Extensions([ALL])
    extensions.register({ ...ALL })
    expect([...extensions.types]).toEqual(Object.entries(ALL.columns))
    expect(() => extensions.register({ ...ALL, version: '2.0.0' })).toThrow(plugin('extension_exists'))
    expect(() => extensions.register({ ...ALL, columns: { other: 'text' } })).toThrow(plugin('extension_exists'))
  })

  it('must not take a name of the core or of another plug-in (CQ-131)', () => {
    const extensions = new Extensions([CHROMA_BASE])
    const other = (column: string): SchemaExtension => ({ name: 'other', version: '1', columns: { [column]: 'text' } })
    for (const column of ['label', 'score', 'paradigm']) {
      expect(() => extensions.register(other(column))).toThrow(plugin('column_clash'))
    }
    extensions.register(other('free'))
  })

  it.each([
    ['null', null],
    ['a bad name', { ...ALL, name: 'All!' }],
    ['a bad version', { ...ALL, version: 'one' }],
    ['no columns', { ...ALL, columns: {} }],
    ['a bad column', { ...ALL, columns: { 'two words': 'text' } }],
    ['a bad type', { ...ALL, columns: { word: 'blob' } }],
    ['bad requirements', { ...ALL, requires: { other: '*' } }],
    ['a migration that is none', { ...ALL, migrate: true }],
  ])('is refused when it is %s (CQ-131)', (_, given) => {
    expect(() => new Extensions([given as SchemaExtension])).toThrow(plugin('invalid_extension'))
  })

  it('comes before the store is opened (CQ-131)', () => {
    const { store } = storeWithEntry()
    const extensions = new Extensions([ALL])
    extensions.start(store, 1)
    extensions.register(ALL)
    expect(() => extensions.register(CHROMA_BASE)).toThrow(plugin('registered_too_late'))
  })
})

describe('plug-in columns', () => {
  it('are null until set, and keep what is not named (CQ-077, CQ-132)', () => {
    const { store, entry } = storeWithEntry()
    const extensions = new Extensions([ALL])
    const unset = { word: null, size: null, count: null, extra: null }
    expect(extensions.read(store, entry)).toEqual(unset)
    const write = (fields: object): void =>
      store.write(2, writer => extensions.write(writer, entry, extensions.check(fields)))
    write({ word: 'x', extra: { deep: [1, null] } })
    write({ size: 0.5, count: -3 })
    expect(extensions.read(store, entry)).toEqual({ word: 'x', size: 0.5, count: -3, extra: { deep: [1, null] } })
    write({ word: null })
    expect(extensions.read(store, entry)).toMatchObject({ word: null, size: 0.5 })
    expect(new Extensions().read(store, entry)).toEqual({})
    store.write(3, writer => writer.delete(entry))
    expect(store.table(PLUGIN_FIELDS).count()).toBe(0)
  })

  it.each([
    ['word', 1],
    ['word', 'a\0b'],
    ['size', '1'],
    ['size', Number.POSITIVE_INFINITY],
    ['count', 1.5],
    ['count', true],
    ['extra', () => 1],
    ['extra', { at: new Date(0) }],
  ])('have their type: %s is not %s (CQ-132)', (column, value) => {
    expect(() => new Extensions([ALL]).check({ [column]: value })).toThrow(
      expect.objectContaining({ name: 'ValidationError', code: 'invalid_parameter' }),
    )
  })

  it('are the only ones that plug-ins write (CQ-132)', () => {
    const extensions = new Extensions([ALL])
    expect(() => extensions.check({ label: 'x' })).toThrow(plugin('core_field'))
    expect(() => extensions.check({ wrod: 'x' })).toThrow(
      expect.objectContaining({ name: 'ValidationError', code: 'unknown_column' }),
    )
    expect(() => extensions.check('x')).toThrow(expect.objectContaining({ code: 'invalid_parameter' }))
  })

  it('give back any JSON as it was (CQ-132)', () => {
    const { store, entry } = storeWithEntry()
    const extensions = new Extensions([ALL])
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), extra => {
        store.write(2, writer => extensions.write(writer, entry, extensions.check({ extra })))
        expect(JSON.stringify(extensions.read(store, entry)['extra'])).toBe(JSON.stringify(extra))
      }),
    )
  })
})

describe('requirements and migrations', () => {
  const dependent: SchemaExtension = {
    name: 'dependent',
    version: '1',
    columns: { more: 'text' },
    requires: { all: '1.1' },
  }

  it('are checked at start (CQ-133)', () => {
    const { store } = storeWithEntry()
    const refused = expect.objectContaining({ name: 'StartupError', code: 'requirement_missing' })
    expect(() => new Extensions([dependent]).start(store, 1)).toThrow(refused)
    expect(() => new Extensions([dependent, ALL]).start(store, 1)).toThrow(refused)
    for (const version of ['1.1', '1.1.0', '1.10', '2']) {
      new Extensions([dependent, { ...ALL, version }]).start(storeWithEntry().store, 1)
    }
  })

  it('run once, from the version the store has, and bring new columns (CQ-131, CQ-133)', () => {
    const { store, entry } = storeWithEntry()
    const first = new Extensions([ALL])
    first.start(store, 1)
    store.write(1, writer => first.write(writer, entry, first.check({ word: 'x' })))
    const seen: string[] = []
    const newer: SchemaExtension = {
      ...ALL,
      version: '1.2.0',
      columns: { ...ALL.columns, longer: 'text' },
      migrate: migration => {
        seen.push(`${migration.from} ${migration.to} ${migration.now}`)
        for (const key of migration.entriesWith('word')) {
          migration.write(key, 'longer', `${migration.read(key, 'word')}!`)
        }
      },
    }
    for (const now of [5, 6]) new Extensions([newer]).start(store, now)
    new Extensions([ALL]).start(store, 7)
    new Extensions([newer]).start(store, 8)
    expect(seen).toEqual(['1.0.0 1.2.0 5'])
    expect(new Extensions([newer]).read(store, entry)).toMatchObject({ word: 'x', longer: 'x!' })
  })

  it('leave nothing behind when they fail, and are tried again at the next start (CQ-133)', () => {
    const { store, entry } = storeWithEntry()
    const first = new Extensions([ALL])
    first.start(store, 1)
    store.write(1, writer => first.write(writer, entry, first.check({ word: 'x' })))
    let mayFail = true
    const newer: SchemaExtension = {
      ...ALL,
      version: '2',
      migrate: migration => {
        migration.write(entry, 'word', 'y')
        if (mayFail) throw new Error('no')
      },
    }
    const failed = expect.objectContaining({ name: 'StartupError', code: 'migration_failed' })
    expect(() => new Extensions([newer]).start(store, 2)).toThrow(failed)
    expect(first.read(store, entry)['word']).toBe('x')
    mayFail = false
    new Extensions([newer]).start(store, 3)
    expect(first.read(store, entry)['word']).toBe('y')
    const late = { ...ALL, version: '3', migrate: (async () => {}) as () => void }
    expect(() => new Extensions([late]).start(store, 4)).toThrow(failed)
  })

  it('compare versions number by number', () => {
    expect(['1.10', '1.9.9', '1.2', '2', '1.2.0'].sort(compareVersions)).toEqual(['1.2', '1.2.0', '1.9.9', '1.10', '2'])
  })
})
