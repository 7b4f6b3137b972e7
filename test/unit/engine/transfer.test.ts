/** Export and import: nothing is lost, nothing comes in by half, and a bad line is named. */
import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Engine, ExportLine } from '../../../src/engine/engine.ts'
import type { Lens } from '../../../src/lenses/lens.ts'
import type { QuerentError } from '../../../src/model/errors.ts'
import type { TableDeclaration } from '../../../src/model/table.ts'
import { MEMBERSHIPS } from '../../../src/store/core-tables.ts'
import { openMemoryStore, openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { openTestEngine } from '../../support/engines.ts'
import { populations } from '../../support/histories.ts'
import { LINK, MOOD, play } from '../../support/play.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'

/** Tables of every column type, of entries and not. */
const moods: Lens = { name: 'toy', summary: 'moods and links', tables: [renamed(MOOD), renamed(LINK)] }

function renamed(table: TableDeclaration): TableDeclaration {
  return { ...table, name: `toy_${table.name}` }
}

let folder: TempFolder
let files = 0
beforeEach(() => {
  folder = tempFolder()
})
afterEach(() => folder[Symbol.dispose]())

const STORES: readonly (readonly [string, () => Store])[] = [
  ['memory', () => openMemoryStore()],
  ['SQLite', () => openSqliteStore({ file: folder.file(`${++files}.db`) })],
]

const open = (store: Store) => openTestEngine({ store, lenses: [moods] })

async function exported(engine: Engine): Promise<string> {
  const lines: string[] = []
  for await (const line of engine.export()) lines.push(JSON.stringify(line))
  return lines.join('\n')
}

async function* linesOf(text: string): AsyncGenerator<unknown> {
  for (const line of text.split('\n')) yield JSON.parse(line)
}

/** A store in which everything that an export holds occurs. */
async function fill(store: Store, acts: Parameters<typeof play>[1]): Promise<void> {
  const engine = await open(store)
  play(store, acts)
  store.write(5, writer => {
    for (const [federation, agent, status] of [
      ['lab', 'ann', 'active'],
      ['lab', 'bob', 'left'],
    ] as const) {
      writer.table(MEMBERSHIPS).put({ federation, agent, status, updated_at: 5 })
    }
    // Moods and links of the history, in the tables of the lens.
    for (const table of [MOOD, LINK]) {
      for (const row of writer.table(table).scan()) writer.table(renamed(table)).put(row)
    }
    for (const rank of [0, 1]) writer.table(renamed(LINK)).put({ source: `s ${rank}`, rank, weight: -0.5, note: null })
  })
  writeFileSync(folder.file('fox.md'), '---\ntags: [red]\n---\n# Fox\n\nThe fox jumps.\n\n## More\n\nText.\n')
  await engine.add({ paths: [folder.file('fox.md')] })
  const page = await engine.query({ text: 'the fox jumps', touch: true })
  expect(page.items.length).toBeGreaterThan(0)
}

describe('export and import', () => {
  it.each(STORES)('from %s are lossless, into either store', async (_, make) => {
    const property = fc.asyncProperty(populations(12), async acts => {
      const store = make()
      await fill(store, acts)
      const before = await exported(await open(store))
      const kinds = new Set(before.split('\n').map(line => (JSON.parse(line) as ExportLine).type))
      expect([...kinds]).toEqual(['querent', 'entry', 'access', 'row'])
      for (const [name, other] of STORES) {
        const target = other()
        const engine = await open(target)
        const counts = await engine.import(linesOf(before))
        expect(await exported(engine), name).toBe(before)
        expect(counts.entries).toBe((await engine.status()).entries)
        // A second time changes nothing.
        await engine.import(linesOf(before))
        expect(await exported(engine), name).toBe(before)
        expect(await asked(target)).toEqual(await asked(store))
        await engine.close()
      }
      store.close()
    })
    await fc.assert(property, { numRuns: 4 })
  })

  it('carry keys of metadata that JavaScript keeps for itself', async () => {
    const engine = await openTestEngine()
    const metadata = JSON.parse('{"__proto__": {"constructor": 1}, "a": [null, {"b": -1.5e-7}]}')
    await engine.put({ entries: [{ id: 'a', content: 'a', metadata }] })
    const lines = await exported(engine)
    const other = await openTestEngine()
    await other.import(linesOf(lines))
    expect(await exported(other)).toBe(lines)
    expect(JSON.stringify((await other.get({ id: 'a' })).metadata)).toContain('"__proto__":{"constructor":1}')
  })

  it('are the owner’s alone', async () => {
    const engine = await openTestEngine()
    const viewer = { id: 'ann' }
    await expect(engine.export({ viewer })[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'denied' })
    await expect(engine.import(linesOf('{}'), { viewer })).rejects.toMatchObject({ code: 'denied' })
  })
})

/** The answers to different viewers, which go through partitions, access and tables. */
async function asked(store: Store): Promise<unknown> {
  const engine = await open(store)
  const of = (id: string) => ({ viewer: { id } })
  return Promise.all(
    ['owner', 'ann', 'bob'].flatMap(id => [
      engine.query({ text: 'fox hound red', any: true, touch: false }, of(id)),
      engine.list({ order: 'accessed', limit: 5 }, of(id)),
      engine.list({ filter: { metadata: { a: { exists: true } } } }, of(id)),
    ]),
  )
}

describe('an import', () => {
  const entry = (fields: object = {}, id = 'b') => ({
    type: 'entry',
    entry: {
      ...{ id, collection: 'notes', kind: 'note', title: '', content: 'new fox', tags: [], metadata: {} },
      ...{ audience: { kind: 'private', holder: 'owner' }, origin: null, createdAt: 1, updatedAt: 1 },
      ...{ validFrom: null, validUntil: null, knownAt: 1 },
      chunks: [{ start: 0, end: 7, startLine: 1, endLine: 1, headings: [] }],
      ...fields,
    },
  })
  const chunk = (fields: object) => ({ start: 0, end: 7, startLine: 1, endLine: 1, headings: [], ...fields })
  const mood = (row: object, of = 'b') => ({
    ...{ type: 'row', table: 'toy_moods', entry: { holder: 'owner', id: of } },
    row: { level: 1, warmth: null, word: null, picture: null, ...row },
  })
  const access = (state: object, id = 'b') => ({
    ...{ type: 'access', viewer: 'ann', holder: 'owner', id },
    state: { lastAccessed: 1, count: 1, strength: 1, ...state },
  })

  it.each<[string, unknown, string, string]>([
    ['is no object', 'entry', 'invalid_argument', 'line 3: '],
    ['is of no known type', { type: 'entity' }, 'invalid_argument', 'line 3: type: '],
    [
      'is of another version',
      { type: 'querent', version: 2 },
      'invalid_argument',
      'line 3: version: expected one of 1, got 2',
    ],
    ['has a field too much', entry({ colour: 'red' }), 'unknown_field', 'line 3: entry.colour: '],
    ['lacks a field', entry({ content: undefined }), 'invalid_argument', 'line 3: entry.content: '],
    ['holds NUL', entry({ content: 'new\0fox' }), 'invalid_argument', 'line 3: content: '],
    ['holds half a character', entry({ title: '\ud800' }), 'invalid_argument', 'line 3: title: '],
    ['has a chunk beyond the content', entry({ chunks: [chunk({ end: 8 })] }), 'invalid_argument', 'line 3: chunk: '],
    [
      'has a chunk that ends before it begins',
      entry({ chunks: [chunk({ start: 5, end: 2 })] }),
      'invalid_argument',
      'line 3: chunk: ',
    ],
    [
      'has a holder of two words',
      entry({ audience: { kind: 'private', holder: 'a b' } }),
      'invalid_argument',
      'line 3: holder: ',
    ],
    [
      'is shared with nobody that can be',
      entry({ audience: { kind: 'shared', holder: 'ann', federations: ['a,b'] } }),
      'invalid_argument',
      'line 3: federations: ',
    ],
    ['has a time that is none', entry({ createdAt: 1.5 }), 'invalid_argument', 'line 3: entry.createdAt: '],
    ['has metadata without end', entry({ metadata: { a: deep(40) } }), 'invalid_argument', 'line 3: entry.metadata: '],
    ['counts below zero', access({ count: -1 }), 'invalid_argument', 'line 3: state.count: '],
    ['tells of the use of an entry that did not come', access({}, 'later'), 'invalid_argument', 'line 3: id: '],
    ['is the row of an entry that did not come', mood({}, 'later'), 'invalid_argument', 'line 3: id: '],
    [
      'is the row of a table that there is not',
      { type: 'row', table: 'nope', row: {} },
      'invalid_argument',
      'line 3: table: ',
    ],
    ['is a row with a column that there is not', mood({ colour: 1 }), 'invalid_argument', 'line 3: table toy_moods: '],
    ['is a row that lacks a column', mood({ level: undefined }), 'invalid_argument', 'line 3: row.level: '],
    ['is a row of another type', mood({ level: 'much' }), 'invalid_argument', 'line 3: toy_moods.level: '],
    ['is a row whose bytes are none', mood({ picture: { base64: '%%' } }), 'invalid_argument', 'line 3: row.picture'],
  ])('with a line that %s writes nothing and names it', async (_, line, code, message) => {
    for (const [, make] of STORES) {
      const engine = await open(make())
      await engine.put({ entries: [{ id: 'a', content: 'an old fox' }] })
      const before = await exported(engine)
      const lines = [{ type: 'querent', version: 1 }, entry({}, 'b'), line, entry({}, 'c')]
      const refused = (await engine.import(stream(lines)).catch((error: unknown) => error)) as QuerentError
      expect(refused).toMatchObject({ code })
      expect(refused.message.slice(0, message.length)).toBe(message)
      expect(await exported(engine)).toBe(before)
      expect((await engine.query({ text: 'new fox', any: true })).items.map(item => item.id)).toEqual(['a'])
      await engine.close()
    }
  })

  it('whose stream breaks off writes nothing', async () => {
    const engine = await openTestEngine()
    async function* broken(): AsyncGenerator<unknown> {
      yield entry()
      throw new Error('connection lost')
    }
    await expect(engine.import(broken())).rejects.toThrow('connection lost')
    expect((await engine.status()).entries).toBe(0)
  })

  it('replaces what is there, and keeps what it does not speak of', async () => {
    const engine = await openTestEngine()
    await engine.put({ entries: ['a', 'b'].map(id => ({ id, content: `an old ${id}` })) })
    expect(await engine.import(stream([entry()]))).toEqual({ entries: 1, rows: 0, warnings: [] })
    expect((await engine.get({ id: 'a' })).content).toBe('an old a')
    expect((await engine.get({ id: 'b' })).content).toBe('new fox')
    expect((await engine.query({ text: 'new fox', mode: 'words' })).items.map(item => item.id)).toEqual(['b'])
  })
})

function deep(levels: number): unknown {
  return levels === 0 ? 1 : [deep(levels - 1)]
}

async function* stream(lines: readonly unknown[]): AsyncGenerator<unknown> {
  yield* lines
}
