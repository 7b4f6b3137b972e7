import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, utimesSync } from 'node:fs'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type IngestContext, type IngestRequest, ingest } from '../../../src/ingest/ingest.ts'
import type { IngestReport } from '../../../src/ingest/ingest-report.ts'
import { plainText } from '../../../src/ingest/plain-text.ts'
import type { Entry } from '../../../src/model/entry.ts'
import { QuerentError } from '../../../src/model/errors.ts'
import type { Ingester } from '../../../src/model/ingester.ts'
import type { Progress } from '../../../src/model/operation.ts'
import { FILE_LINKS, FILES } from '../../../src/store/core-tables.ts'
import { openMemoryStore, openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { draftOf } from '../../support/entries.ts'
import { locked, tempFolder, writeFiles } from './temp-folder.ts'

const NOW = Date.parse('2026-03-10T15:00:00Z')
const LATER = NOW + 60_000

function context(over: Partial<IngestContext> = {}): IngestContext {
  return { viewer: { id: 'owner' }, now: NOW, signal: new AbortController().signal, ...over }
}

function add(
  store: Store,
  paths: string | readonly string[],
  over: Partial<IngestRequest> = {},
  with_: Partial<IngestContext> = {},
): Promise<IngestReport> {
  return ingest(store, { paths: [paths].flat(), collection: 'docs', ...over }, context(with_))
}

function counts({ added, updated, unchanged, deleted }: IngestReport): string {
  return `+${added} ~${updated} =${unchanged} -${deleted}`
}

function entries(store: Store): readonly Entry[] {
  return store.entries(store.scanEntries(0, 1_000_000))
}

/** Ids without the name of the temporary folder. */
function ids(store: Store, root: string): readonly string[] {
  return entries(store)
    .map(entry => entry.id.replace(`${basename(root)}/`, ''))
    .sort()
}

function entry(store: Store, end: string): Entry {
  const found = entries(store).filter(({ id }) => id.endsWith(end))
  expect(found, end).toHaveLength(1)
  return found[0] as Entry
}

const STORES: readonly (readonly [string, () => Store])[] = [
  ['memory', openMemoryStore],
  ['SQLite', () => openSqliteStore({ file: join(tempFolder(), 'store.db') })],
]

describe.each(STORES)('into %s:', (_, openStore) => {
  describe('ingest', () => {
    it('makes an entry of each file, with chunks, times, origin and provenance', async () => {
      const root = tempFolder({ 'guide/intro.md': '# Intro\n\nFirst words.\n', 'src/a.ts': 'export const a = 1\n' })
      const modified = Date.parse('2026-01-02T03:04:05.678Z')
      utimesSync(join(root, 'guide/intro.md'), modified / 1000, modified / 1000)
      const store = openStore()
      const report = await add(store, root, { tags: ['mine'] })
      expect(report).toEqual({
        added: 2,
        updated: 0,
        unchanged: 0,
        deleted: 0,
        skipped: [],
        errors: [],
        warnings: [],
        chunks: 2,
        visibility_changes: [],
      })
      const intro = entry(store, 'intro.md')
      expect(intro).toMatchObject({
        id: `${basename(root)}/guide/intro.md`,
        collection: 'docs',
        kind: 'document',
        title: 'Intro',
        content: '# Intro\n\nFirst words.\n',
        tags: ['mine'],
        metadata: { path: 'guide/intro.md' },
        audience: { kind: 'private', holder: 'owner' },
        origin: `file://${root}/guide/intro.md`,
        createdAt: modified,
        updatedAt: modified,
        knownAt: NOW,
      })
      expect(store.chunksOf(intro.key)).toMatchObject([
        { start: 0, end: 22, startLine: 1, endLine: 3, headings: ['Intro'] },
      ])
      expect(store.table(FILES).get({ entry: intro.key })).toMatchObject({
        root,
        path: 'guide/intro.md',
        size: 22,
        modified_at: modified,
      })
      expect(entry(store, 'a.ts')).toMatchObject({ kind: 'code', tags: ['typescript', 'mine'] })
    })

    it('sees what is new, changed, gone and the same, by content', async () => {
      const root = tempFolder({ 'same.md': 'same', 'touched.md': 'touched', 'changed.md': 'before', 'gone.md': 'gone' })
      const store = openStore()
      expect(counts(await add(store, root))).toBe('+4 ~0 =0 -0')
      const before = store.version()
      expect(counts(await add(store, root))).toBe('+0 ~0 =4 -0')
      expect(store.version()).toBe(before)

      writeFiles(root, { 'changed.md': 'after', 'new.md': 'new' })
      utimesSync(join(root, 'touched.md'), 1_000_000, 1_000_000)
      rmSync(join(root, 'gone.md'))
      const keys = entries(store).map(({ id, key }) => [id, key])
      expect(counts(await add(store, root, {}, { now: LATER }))).toBe('+1 ~1 =2 -1')
      expect(ids(store, root)).toEqual(['changed.md', 'new.md', 'same.md', 'touched.md'])
      expect(entry(store, 'changed.md')).toMatchObject({ content: 'after', knownAt: LATER })
      expect(entry(store, 'same.md').knownAt).toBe(NOW)
      expect(keys).toContainEqual([entry(store, 'changed.md').id, entry(store, 'changed.md').key])
    })

    it('writes again when it would be written differently', async () => {
      const root = tempFolder({ 'a.md': 'a' })
      const store = openStore()
      await add(store, root)
      const { createdAt, knownAt } = entry(store, 'a.md')
      expect(counts(await add(store, root, { tags: ['t'] }, { now: LATER }))).toBe('+0 ~1 =0 -0')
      expect(entry(store, 'a.md')).toMatchObject({ tags: ['t'], createdAt, knownAt })
      expect(counts(await add(store, root, { collection: 'other', visibility: 'public' }))).toBe('+0 ~1 =0 -0')
      expect(entry(store, 'a.md')).toMatchObject({ collection: 'other', tags: ['t'], audience: { kind: 'public' } })
    })

    it('reads files in the way of the lens that was named the first time (QE-011)', async () => {
      const asked: string[] = []
      const ingestersOf = (lens: string): readonly Ingester[] => {
        asked.push(lens)
        return [plainText]
      }
      const root = tempFolder({ 'a.md': '# a' })
      const store = openStore()
      await add(store, root, { lens: 'odd', collection: undefined }, { ingestersOf })
      expect(counts(await add(store, root, { collection: undefined }, { ingestersOf }))).toBe('+0 ~0 =1 -0')
      expect(asked).toEqual(['odd', 'odd'])
      expect(entry(store, 'a.md')).toMatchObject({ collection: 'odd', title: 'a', content: '# a' })
    })

    it('lets entries of files go that are left out now', async () => {
      const root = tempFolder({ 'a.md': 'a', 'b.md': 'b', 'c.md': 'c', 'd.md': 'd' })
      const store = openStore()
      await add(store, root)
      writeFiles(root, { '.querentignore': 'a.md', 'b.md': Buffer.from([0, 1]), 'c.md': ' \n' })
      const report = await add(store, root)
      expect(counts(report)).toBe('+1 ~0 =1 -3')
      expect(report.skipped).toEqual([
        { path: `${root}/a.md`, reason: 'ignored' },
        { path: `${root}/b.md`, reason: 'binary' },
      ])
      expect(ids(store, root)).toEqual(['.querentignore', 'd.md'])
    })

    it('tells why files were skipped', async () => {
      const root = tempFolder({
        'big.txt': 'x'.repeat(200),
        'empty.md': '',
        'latin.txt': Buffer.from([0x61, 0xe9, 0x62]),
        'a.png': 'x',
        'a.md': 'a',
      })
      symlinkSync('a.md', join(root, 'link.md'))
      const store = openStore()
      const report = await add(store, root, { maxBytes: 100 })
      expect(report.skipped.map(({ path, reason }) => `${basename(path)} ${reason}`).sort()).toEqual([
        'a.png media',
        'big.txt too_large',
        'empty.md empty',
        'latin.txt binary',
        'link.md symlink',
      ])
      expect(ids(store, root)).toEqual(['a.md'])
    })

    it('takes one file alone, and leaves its neighbours as they are', async () => {
      const root = tempFolder({ 'a.md': 'a', 'b.md': 'b' })
      const store = openStore()
      await add(store, root)
      rmSync(join(root, 'b.md'))
      writeFiles(root, { 'a.md': 'changed' })
      expect(counts(await add(store, join(root, 'a.md')))).toBe('+0 ~1 =0 -0')
      expect(ids(store, root)).toEqual(['a.md', 'b.md'])
    })

    it('follows a link that is named itself', async () => {
      const root = tempFolder({ 'real/a.md': 'a' })
      symlinkSync('real', join(root, 'link'))
      const store = openStore()
      await add(store, join(root, 'link'))
      expect(counts(await add(store, join(root, 'real')))).toBe('+0 ~0 =1 -0')
    })
  })

  describe('ids', () => {
    it('are the same from run to run, in whatever order files come', async () => {
      const root = tempFolder({ 'a.md': 'a', 'sub/a.md': 'b' })
      const [one, two] = [openStore(), openStore()]
      await add(one, root)
      await add(two, [join(root, 'a.md'), root])
      expect(ids(two, root)).toEqual(ids(one, root))
    })

    it('tell folders of one name apart', async () => {
      const root = tempFolder({ 'x/docs/a.md': 'x', 'y/docs/a.md': 'y' })
      const store = openStore()
      await add(store, join(root, 'x/docs'))
      await add(store, join(root, 'y/docs'))
      expect(entries(store).map(({ id }) => id)).toEqual([
        'docs/a.md',
        expect.stringMatching(/^docs\/a\.md~[0-9a-f]{6}$/),
      ])
      writeFiles(root, { 'x/docs/a.md': 'x2', 'y/docs/a.md': 'y2' })
      const report = await add(store, [join(root, 'y/docs'), join(root, 'x/docs')])
      expect(counts(report)).toBe('+0 ~2 =0 -0')
      rmSync(join(root, 'x/docs/a.md'))
      await add(store, join(root, 'x/docs'))
      writeFiles(root, { 'y/docs/a.md': 'y3' })
      await add(store, join(root, 'y/docs'))
      expect(entries(store)).toMatchObject([{ content: 'y3', id: expect.stringContaining('~') }])
    })

    it('double nothing when a folder and one within it are added', async () => {
      const root = tempFolder({ 'top.md': 't', 'docs/a.md': 'a', 'docs/sub/b.md': 'b' })
      const store = openStore()
      await add(store, join(root, 'docs'))
      expect(counts(await add(store, root))).toBe('+1 ~0 =2 -0')
      expect(counts(await add(store, join(root, 'docs/sub')))).toBe('+0 ~0 =1 -0')
      expect(counts(await add(store, [join(root, 'docs/sub'), root, join(root, 'docs')]))).toBe('+0 ~0 =3 -0')
      rmSync(join(root, 'docs/sub/b.md'))
      expect(counts(await add(store, root))).toBe('+0 ~0 =2 -1')
    })

    it('keeps what another folder brought, though this one would ignore it', async () => {
      const root = tempFolder({ '.querentignore': 'build', 'a.md': 'a', 'build/b.md': 'b' })
      const store = openStore()
      await add(store, join(root, 'build'))
      expect(counts(await add(store, root))).toBe('+2 ~0 =0 -0')
      expect(entries(store)).toHaveLength(3)
    })

    it('spell out control characters and cut what is too long', async () => {
      const folder = 'd'.repeat(200)
      const root = tempFolder({ 'line\nend %.md': 'a', [`${folder}/${folder}/${folder}/a.md`]: 'b' })
      const store = openStore()
      expect(counts(await add(store, root))).toBe('+2 ~0 =0 -0')
      expect(ids(store, root)[1]).toBe('line%0Aend %25.md')
      expect(ids(store, root)[0]?.length).toBeLessThanOrEqual(512)
      expect(counts(await add(store, root))).toBe('+0 ~0 =2 -0')
    })

    it('belong to a holder: two may add the same folder', async () => {
      const root = tempFolder({ 'a.md': 'a' })
      const store = openStore()
      await add(store, root)
      expect(counts(await add(store, root, {}, { viewer: { id: 'ann' } }))).toBe('+1 ~0 =0 -0')
      rmSync(join(root, 'a.md'))
      expect(counts(await add(store, root, {}, { viewer: { id: 'ann' } }))).toBe('+0 ~0 =0 -1')
      expect(entries(store).map(({ audience: { holder } }) => holder)).toEqual(['owner'])
    })

    it('never take an entry away from someone else', async () => {
      const root = tempFolder({ 'a.jsonl': '{"id":"taken","text":"from the file"}\n{"id":"free","text":"x"}' })
      const store = openStore()
      store.write(NOW, writer => writer.put(draftOf({ id: 'taken', content: 'was here' }), []))
      const report = await add(store, root)
      expect(report.errors).toEqual([
        {
          path: `${root}/a.jsonl`,
          message: 'line 1: the id taken belongs to another entry; delete that one or change the id',
        },
      ])
      expect(entries(store).map(({ id, content }) => `${id}: ${content}`)).toEqual(['taken: was here'])
    })
  })

  describe('a file that is moved', () => {
    const keysOf = (store: Store) => Object.fromEntries(entries(store).map(({ id, key }) => [basename(id), key]))
    const placesOf = (store: Store, root: string) =>
      Object.fromEntries(entries(store).map(({ id, origin }) => [basename(id), origin?.replace(`file://${root}/`, '')]))

    it('keeps its entries with all that hangs on them, also when it is changed or moved again (QE-012)', async () => {
      const root = tempFolder({
        'a.md': '# One\n\n[[b]]\n',
        'b.md': '# Two\n',
        'c.jsonl': '{"text":"x"}\n{"text":"y"}',
      })
      const store = openStore()
      await add(store, root)
      const before = keysOf(store)
      mkdirSync(join(root, 'deep'))
      for (const name of ['a.md', 'c.jsonl']) renameSync(join(root, name), join(root, 'deep', `new-${name}`))
      expect(counts(await add(store, root))).toBe('+0 ~3 =1 -0')
      expect(keysOf(store)).toEqual(before)
      expect(placesOf(store, root)).toMatchObject({ 'a.md': 'deep/new-a.md', 'b.md': 'b.md' })
      expect(store.table(FILE_LINKS).scan({ entry: before['a.md'] as number })).toMatchObject([{ target: 'b' }])
      writeFiles(root, { 'deep/new-a.md': '# One\n\nAnother text.\n' })
      expect(counts(await add(store, root))).toBe('+0 ~1 =3 -0')
      renameSync(join(root, 'deep/new-a.md'), join(root, 'a.md'))
      expect(counts(await add(store, root))).toBe('+0 ~1 =3 -0')
      expect(keysOf(store)).toEqual(before)
    })

    it('leaves its place to others, as often as that happens (QE-012)', async () => {
      const root = tempFolder({ 'log.md': 'day 0' })
      const store = openStore()
      await add(store, root)
      for (let day = 1; day < 5; day++) {
        renameSync(join(root, 'log.md'), join(root, `log-${day}.md`))
        expect(counts(await add(store, root))).toBe(`+0 ~1 =${day - 1} -0`)
        writeFiles(root, { 'log.md': `day ${day}` })
        expect(counts(await add(store, root))).toBe(`+1 ~0 =${day} -0`)
      }
      expect(entries(store).map(({ content, origin }) => `${content} ${basename(origin ?? '')}`)).toEqual([
        'day 0 log-1.md',
        'day 1 log-2.md',
        'day 2 log-3.md',
        'day 3 log-4.md',
        'day 4 log.md',
      ])
    })

    it('is not one that was copied, or one whose bytes are read with other options (QE-012)', async () => {
      const root = tempFolder({ 'a.md': 'same', 'b.md': 'same', 'other/c.md': 'c' })
      const store = openStore()
      await add(store, root)
      await add(store, join(root, 'other'), { tags: ['other'] })
      writeFiles(root, { 'copy.md': 'same' })
      expect(counts(await add(store, root))).toBe('+1 ~0 =3 -0')
      renameSync(join(root, 'a.md'), join(root, 'other/a.md'))
      expect(counts(await add(store, root))).toBe('+1 ~0 =3 -1')
    })
  })

  describe('records', () => {
    it('come, change and go one by one', async () => {
      const line = (id: number, text: string) => JSON.stringify({ id, text })
      const root = tempFolder({ 'a.jsonl': [line(1, 'one'), line(2, 'two'), line(3, 'three')].join('\n') })
      const store = openStore()
      expect(counts(await add(store, root))).toBe('+3 ~0 =0 -0')
      writeFiles(root, { 'a.jsonl': [line(4, 'four'), line(3, 'three'), line(2, 'changed')].join('\n') })
      expect(counts(await add(store, root))).toBe('+1 ~1 =1 -1')
      expect(
        entries(store)
          .map(({ id }) => id)
          .sort(),
      ).toEqual(['2', '3', '4'])
    })

    it('without an id stay themselves when they move', async () => {
      const root = tempFolder({ 'a.jsonl': '{"text":"one"}\n{"text":"two"}' })
      const store = openStore()
      await add(store, root)
      const before = ids(store, root)
      writeFiles(root, { 'a.jsonl': '\n{"text":"two"}\n{"text":"one"}\nbad' })
      const report = await add(store, root)
      expect(counts(report)).toBe('+0 ~0 =2 -0')
      expect(report.errors).toEqual([{ path: `${root}/a.jsonl`, message: expect.stringMatching(/^line 4: not JSON/) }])
      expect(ids(store, root)).toEqual(before)
    })

    it('are read again with another map', async () => {
      const root = tempFolder({ 'a.jsonl': '{"id":"x","headline":"H","body":"B","other":"O"}' })
      const store = openStore()
      await add(store, root)
      expect(counts(await add(store, root, { map: { content: 'other' } }))).toBe('+0 ~1 =0 -0')
      expect(entries(store)).toMatchObject([{ title: 'H', content: 'O' }])
    })
  })

  describe('trouble', () => {
    it('warns of what ends before it begins, and takes it without bounds', async () => {
      const store = openStore()
      const line = (until: string) => JSON.stringify({ text: until, valid_from: '2026-02-01', valid_until: until })
      const root = tempFolder({
        'a.md': '---\nvalid_from: 2026-02-01\nvalid_until: 2026-01-01\n---\nOne.',
        'b.jsonl': `${line('2026-03-01')}\n${line('2026-02-01')}\n`,
      })
      const { errors, warnings } = await add(store, root)
      expect(errors).toEqual([])
      expect(warnings.map(({ message }) => message)).toEqual([
        'valid_until is not after valid_from; both were left out',
        'line 2: valid_until is not after valid_from; both were left out',
      ])
      const bounds = entries(store).map(({ validFrom, validUntil }) => [validFrom !== null, validUntil !== null])
      expect(bounds).toEqual([
        [false, false],
        [true, true],
        [false, false],
      ])
      store.close()
    })

    it.each([['/no/such/place'], ['bad\0path']])('refuses the path %j before anything is done', async path => {
      const root = tempFolder({ 'a.md': 'a' })
      const store = openStore()
      const failure = add(store, [root, path]).catch((error: unknown) => error)
      expect(await failure).toMatchObject({ code: 'invalid_argument', details: { field: 'paths.1' } })
      expect(entries(store)).toEqual([])
    })

    it('refuses a map with unknown fields', async () => {
      await expect(add(openStore(), tempFolder(), { map: { head: 'x' } })).rejects.toBeInstanceOf(QuerentError)
    })

    it('keeps entries of what cannot be read now', async () => {
      const root = tempFolder({ 'a.md': 'a', 'shut/b.md': 'b', 'shut/sub/c.md': 'c', 'z.md': 'z' })
      const store = openStore()
      await add(store, root)
      const report = await locked(join(root, 'shut'), () => add(store, root))
      expect(counts(report)).toBe('+0 ~0 =2 -0')
      expect(report.errors).toEqual([{ path: `${root}/shut`, message: 'permission denied' }])

      const file = await locked(join(root, 'a.md'), () => add(store, root))
      expect(file.errors).toEqual([{ path: `${root}/a.md`, message: 'permission denied' }])
      expect(entries(store)).toHaveLength(4)
    })

    it('tells of a file that vanishes while others are read, and lets its entry go next time', async () => {
      const root = tempFolder(
        Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at + 10}.md`, `text ${at}`])),
      )
      const store = openStore()
      await add(store, root)
      const vanish = ({ phase, done }: Progress) => {
        if (phase === 'read' && done === 16) rmSync(join(root, '49.md'))
      }
      const report = await add(store, root, {}, { report: vanish })
      expect(report.errors).toEqual([{ path: `${root}/49.md`, message: 'it disappeared before it could be read' }])
      expect(counts(report)).toBe('+0 ~0 =39 -0')
      expect(counts(await add(store, root))).toBe('+0 ~0 =39 -1')
    })

    it('reads few files at the same time where they are large', async () => {
      const names = ['1.md', '2.md', '3.md', '4.md', '5.md']
      const root = tempFolder(Object.fromEntries(names.map(name => [name, name])))
      for (const name of ['2.md', '3.md']) truncateSync(join(root, name), 20 * 1024 * 1024)
      const begun: number[] = []
      const report = ({ phase, done }: Progress) => void (phase === 'read' && begun.push(done))
      await add(openStore(), root, {}, { report })
      expect(begun).toEqual([0, 2, 5])
    })

    it('tells of a file that became a folder', async () => {
      const root = tempFolder(Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at + 10}.md`, 'x'])))
      const swap = ({ phase, done }: Progress) => {
        if (phase !== 'read' || done !== 16) return
        renameSync(join(root, '29.md'), join(root, 'moved'))
        mkdirSync(join(root, '29.md'))
      }
      const report = await add(openStore(), root, {}, { report: swap })
      expect(report.skipped).toEqual([{ path: `${root}/29.md`, reason: 'special' }])
    })

    it('writes a file whole or not at all, and the others all the same', async () => {
      const root = tempFolder({ 'a.md': 'a', 'b.odd': 'b', 'c.md': 'c' })
      const odd: Ingester = {
        ...plainText,
        name: 'odd',
        accepts: ({ extension }) => extension === 'odd',
        *read(file, settings) {
          const [document] = (yield* plainText.read(file, settings)).documents
          if (document === undefined) throw new Error('the file has text')
          return {
            documents: [
              { ...document, id: 'good' },
              { ...document, id: 'x'.repeat(600) },
            ],
            problems: [],
          }
        },
      }
      const store = openStore()
      const report = await add(store, root, { lens: 'odd' }, { ingestersOf: () => [odd] })
      expect(ids(store, root)).toEqual(['a.md', 'c.md'])
      expect(report.errors).toEqual([{ path: `${root}/b.odd`, message: expect.stringContaining('id') }])
    })

    it('passes on what is not the fault of a file', async () => {
      const store = openStore()
      const failing: Store = Object.assign(Object.create(store), {
        writeWhenFree: async () => {
          throw new QuerentError('store_locked', 'locked')
        },
      })
      await expect(add(failing, tempFolder({ 'a.md': 'a' }))).rejects.toMatchObject({ code: 'store_locked' })
    })

    it('stops between files when told to, and deletes nothing then', async () => {
      const files = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at + 10}.md`, `text ${at}`]))
      const root = tempFolder({ ...files, '00.md': 'gone' })
      const store = openStore()
      await add(store, join(root, '00.md'))
      rmSync(join(root, '00.md'))
      const controller = new AbortController()
      const report = ({ phase, done }: Progress) => {
        if (phase === 'read' && done === 16) controller.abort()
      }
      const failure = await add(store, root, {}, { report, signal: controller.signal }).catch((error: unknown) => error)
      expect(failure).toMatchObject({ code: 'cancelled', details: { added: 32 } })
      expect(entries(store)).toHaveLength(33)
      expect(counts(await add(store, root))).toBe('+8 ~0 =32 -1')
    })

    it('tells how far it is', async () => {
      const root = tempFolder(Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at + 10}.md`, 'x'])))
      const seen: string[] = []
      await add(openStore(), root, {}, { report: p => seen.push(`${p.phase} ${p.done}/${p.total}`) })
      expect(seen.filter(line => line.startsWith('read'))).toEqual(['read 0/20', 'read 16/20', 'read 20/20'])
      expect(seen.filter(line => line.startsWith('find')).at(-1)).toBe('find 20/null')
    })
  })

  describe("a lens's ingester", () => {
    it('writes rows of its tables with the entry', async () => {
      const table = {
        name: 'odd_parts',
        columns: [
          { name: 'entry', type: 'integer' },
          { name: 'part', type: 'text' },
        ],
        key: ['entry', 'part'],
        ofEntry: true,
      } as const
      const odd: Ingester = {
        ...plainText,
        name: 'odd',
        accepts: () => true,
        *read(file, settings) {
          const { documents, problems } = yield* plainText.read(file, settings)
          const rows = file.text.split(' ').map(part => ({ table, row: { part } }))
          return { documents: documents.map(document => ({ ...document, rows })), problems }
        },
      }
      const root = tempFolder({ 'a.odd': 'one two' })
      const store = openStore()
      await add(store, root, { lens: 'odd' }, { ingestersOf: () => [odd] })
      const { key } = entry(store, 'a.odd')
      expect(
        store
          .table(table)
          .scan({ entry: key })
          .map(row => row['part']),
      ).toEqual(['one', 'two'])
      writeFiles(root, { 'a.odd': 'two three' })
      await add(store, root, { lens: 'odd' }, { ingestersOf: () => [odd] })
      expect(
        store
          .table(table)
          .scan({ entry: key })
          .map(row => row['part']),
      ).toEqual(['three', 'two'])
    })
  })

  describe('any history of a folder', () => {
    const names = ['a.md', 'b.txt', 'sub/c.md', 'sub/deep/d.ts', 'e.jsonl']
    const texts = ['one', 'two words', '# Head\n\ntext', '{"text":"r"}', '', ' ']
    const step = fc.record({ name: fc.constantFrom(...names), text: fc.option(fc.constantFrom(...texts)) })

    it('ends with what a fresh store would hold', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 4 }), async rounds => {
          const root = tempFolder()
          const store = openStore()
          for (const round of rounds) {
            for (const { name, text } of round) {
              if (text === null) rmSync(join(root, name), { force: true })
              else writeFiles(root, { [name]: text })
            }
            await add(store, root)
          }
          const fresh = openStore()
          await add(fresh, root)
          const essence = (of: Store) =>
            entries(of)
              .map(({ id, title, content, kind }) => [id, title, content, kind].join('|'))
              .sort()
          expect(essence(store)).toEqual(rounds.length === 0 ? [] : essence(fresh))
        }),
        { numRuns: 40 },
      )
    })
  })
})

it('stops while a document is read when its caller goes, and says so', async () => {
  const pdf = readFileSync(new URL('../../fixtures/documents/reportlab.pdf', import.meta.url))
  const root = tempFolder({ 'a.pdf': pdf, 'b.pdf': pdf, 'c.pdf': pdf })
  const gone = new AbortController()
  const report = ({ phase }: Progress) => {
    if (phase === 'read') setTimeout(() => gone.abort(), 20)
  }
  const store = openMemoryStore()
  const adding = add(store, root, {}, { signal: gone.signal, report })
  await expect(adding).rejects.toMatchObject({ code: 'cancelled' })
  expect(entries(store)).toEqual([])
})
