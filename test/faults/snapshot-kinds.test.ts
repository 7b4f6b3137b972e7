/**
 * Snapshots of every kind of index, those that lenses declare among them: a bit flipped anywhere, or another version's
 * writing, and the index is built again; no answer changes, and a sound snapshot is written again.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import type { Index, Link, LinkIndex } from '../../src/index/contract.ts'
import { openLinkIndex } from '../../src/index/links.ts'
import { openPointIndex } from '../../src/index/points.ts'
import { loadSnapshot } from '../../src/index/snapshot.ts'
import { openVectorIndex } from '../../src/index/vectors.ts'
import { openWordIndex } from '../../src/index/words.ts'
import { NODES } from '../../src/lenses/chroma/tables.ts'
import { CONCEPTS, LINKS } from '../../src/lenses/context/tables.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { callOperation } from '../support/beliefs-engine.ts'
import { type CodeFolder, openCodeFolder } from '../support/code-folder.ts'
import { openTestEngine } from '../support/engines.ts'
import { openToyEmbedder, TOY_KEY, TOY_MODEL } from '../support/toy-embedder.ts'
import { NODE_TAGS } from './io/life.ts'

const MODEL = TOY_KEY
const KINDS: Readonly<Record<string, (store: Store) => Index>> = {
  'words.snapshot': () => openWordIndex(),
  'vectors-toy_toy.snapshot': store =>
    openVectorIndex({ model: MODEL, dimensions: TOY_MODEL.dimensions, source: keys => store.vectorsOnly(MODEL, keys) }),
  'points.snapshot': () => openPointIndex({ name: 'points', table: NODES, columns: ['l', 'a', 'b'] }),
  'links.snapshot': () => openLinkIndex(LINKS),
}
/** Bytes flipped one by one at the front, where everything is a number or a name, and so many spread over the rest. */
const [AT_FRONT, SPREAD] = [400, 400]
/** Of the file: magic, format, length and checksum of the header. */
const PREFIX = 20

let code: CodeFolder
let home: string
let right: string
let sound: ReadonlyMap<string, Buffer>

beforeAll(async () => {
  const calls = (name: string, at: number) => `export function ${name}${at}() { return ${name}${at + 1}() }\n`
  const files = ['a', 'b'].map(name => Array.from({ length: 30 }, (_, at) => calls(name, at)).join(''))
  code = await openCodeFolder({ 'src/a.ts': files[0] as string, 'src/b.ts': files[1] as string })
  home = join(code.path, '.querent')
  await code.do('/context/index')
  const zone = (tag: string) => ({ c: 'Core', m: 'Mid' })[tag.charAt(0)] ?? 'Outer'
  const assignments = NODE_TAGS.map(hashtag => ({ hashtag, zone: zone(hashtag) }))
  await callOperation(code.engine, 'chroma.assign', 'owner', { assignments })
  for (let at = 0; at < 8; at++) {
    const node = { hashtags: NODE_TAGS, label: `node ${at}`, content: `node ${at} of rain` }
    await callOperation(code.engine, 'chroma.store', 'owner', node)
  }
  const entries = Array.from({ length: 250 }, (_, at) => ({
    id: `e${at}`,
    content: `the ${at}th quick fox in the rain`,
  }))
  await code.engine.put({ entries })
  await code.engine.close()
  // The first engine had no embedder; this one makes vectors, and all four snapshots.
  await within(engine => engine.embedded())
  right = await within(answers, { readOnly: true })
  const index = join(home, 'index')
  sound = new Map(readdirSync(index).map(name => [name, readFileSync(join(index, name))]))
  expect([...sound.keys()].sort()).toEqual(Object.keys(KINDS).sort())
})
afterAll(() => code[Symbol.asyncDispose]())

async function within<T>(body: (engine: Engine) => Promise<T>, more = {}): Promise<T> {
  await using engine = await openTestEngine({ home, embedder: openToyEmbedder(), ...more })
  return await body(engine)
}

/** What every index has to say: all links of all concepts, the nearest nodes, the best by words and by meaning. */
async function answers(engine: Engine): Promise<string> {
  const pages = await Promise.all(
    (['words', 'meaning', 'hybrid'] as const).map(mode =>
      engine.query({ text: 'quick fox rain', mode, explain: true, touch: false }),
    ),
  )
  const near = { hashtags: NODE_TAGS, k: 8, update_access: false }
  const host = engine.host('context')
  const links = host.index(LINKS.name) as LinkIndex
  const partitions = host.store.partitions().map(({ id }) => id)
  const reported = ({ node, relation, weight }: Link) => [node, links.relationName(relation), weight]
  const concepts = host.store.table(CONCEPTS).scan({}, { columns: ['id'] })
  expect(concepts.length).toBeGreaterThan(50)
  const graph = concepts.map(({ id }) => [
    ...links.out(Number(id), { partitions }).map(reported),
    ...links.in(Number(id), { partitions }).map(reported),
  ])
  return JSON.stringify([pages, await callOperation(engine, 'chroma.query', 'owner', near), graph])
}

/** Answers are right with this file in the place of a sound one, and a writer then puts a sound one back. */
async function expectRebuilt(name: string, bytes: Buffer, at: string): Promise<void> {
  const path = join(home, 'index', name)
  writeFileSync(path, bytes)
  expect(await within(answers, { readOnly: true }), at).toBe(right)
  const { findings } = await within(engine => engine.doctor())
  // The broken file is reported by its name; nothing else is wrong because of it.
  expect(findings.filter(({ ok, check }) => !ok && !check.startsWith('snapshot '))).toEqual([])
  expect(readFileSync(path).equals(sound.get(name) as Buffer), at).toBe(true)
}

describe.each(Object.entries(KINDS))('%s', (name, make) => {
  const file = () => sound.get(name) as Buffer

  it('is not taken with a bit flipped anywhere', () => {
    const store = openSqliteStore({ file: join(home, 'store.db'), readOnly: true })
    const path = join(home, 'index', name)
    const { length } = file()
    const step = Math.max(1, Math.floor((length - AT_FRONT) / SPREAD))
    const places = Array.from({ length }, (_, at) => at).filter(
      at => at < AT_FRONT || at % step === 0 || at >= length - 8,
    )
    const taken: number[] = []
    for (const place of places) {
      const damaged = Buffer.from(file())
      damaged[place] = (damaged[place] as number) ^ (1 << (place % 8))
      writeFileSync(path, damaged)
      const index = make(store)
      if (loadSnapshot(path, index, store).ok || index.position !== 0) taken.push(place)
    }
    writeFileSync(path, file())
    expect(taken).toEqual([])
    expect(loadSnapshot(path, make(store), store)).toEqual({ ok: true })
    store.close()
  })

  it.each([PREFIX - 9, PREFIX + 5, 300, 0.5, -1])('with a bit flipped at %d is built again', async at => {
    const damaged = Buffer.from(file())
    const place = at < 0 ? damaged.length + at : at < 1 ? Math.floor(damaged.length * at) : at
    damaged[place] = (damaged[place] as number) ^ 16
    await expectRebuilt(name, damaged, `byte ${place}`)
  })

  it('that an older or a newer version wrote is built again', async () => {
    for (const format of [0, 2, 99]) {
      const other = Buffer.from(file())
      other.writeUInt32LE(format, 8)
      await expectRebuilt(name, other, `the layout ${format} of the file`)
    }
    for (const shift of [-1, 1]) await expectRebuilt(name, ofOtherFormat(file(), shift), `format ${shift} of the index`)
  })
})

/** As another version of the index would have written it: all checksums are right. */
function ofOtherFormat(bytes: Buffer, shift: number): Buffer {
  const end = PREFIX + bytes.readUInt32LE(12)
  const payload = Buffer.from(bytes.subarray(end))
  const mark = payload.indexOf('"format":')
  expect(mark).toBeGreaterThanOrEqual(0)
  const digit = mark + '"format":'.length
  payload[digit] = (payload[digit] as number) + shift
  const header = JSON.parse(bytes.subarray(PREFIX, end).toString()) as { crc: number }
  const json = Buffer.from(JSON.stringify({ ...header, crc: crc32(payload) }))
  const prefix = Buffer.from(bytes.subarray(0, PREFIX))
  prefix.writeUInt32LE(json.length, 12)
  prefix.writeUInt32LE(crc32(json), 16)
  return Buffer.concat([prefix, json, payload])
}
