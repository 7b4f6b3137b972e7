/**
 * Stores of nodes for the lens `chroma`, made once and kept in bench/out: short prose under sets of 8 to 11 hashtags, half
 * of the nodes under a set that others have too; created over ninety days, an eighth of them used in the last week. Every
 * measurement works on a copy, so that none finds the traces of another.
 */
import { constants, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeIdOf } from '../../src/lenses/chroma/colour/coordinates.ts'
import { MODE_NAMES, MODES, reinforced } from '../../src/lenses/chroma/memory/formulas.ts'
import type { Binding, Color, Zone } from '../../src/lenses/chroma/model.ts'
import { NODE_COLLECTION, putNode } from '../../src/lenses/chroma/nodes/nodes.ts'
import { defaultMemory, logUses, writeMemory } from '../../src/lenses/chroma/tables.ts'
import { centreOfGravity } from '../../src/math/gravity.ts'
import { audience, OWNER } from '../../src/model/partition.ts'
import { type OpenChroma, openChroma } from '../../src/openings/chroma.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { StoreWriter } from '../../src/store/store.ts'
import { seededUniform } from '../../test/support/seeded.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { keptStore, madeOf } from './kept-store.ts'
import { ZipfTexts } from './text-data.ts'

const DAY = 86_400
/** Unix seconds: the store was just used. */
export const JUST_USED: number = Date.UTC(2026, 0, 1) / 1000
/** Five months later, with no use in between. */
export const MONTHS_LATER: number = JUST_USED + 150 * DAY

const HASHTAGS: readonly (readonly [zone: Zone, count: number])[] = [
  ['Core', 150],
  ['Mid', 900],
  ['Outer', 150],
]
const WORDS = 30
const BATCH = 1_000
/** To be raised when what is made here changes. */
const VERSION = 1

/** Gone when disposed of. */
export interface ChromaCopy extends Disposable {
  open(now: number): Promise<OpenChroma>
}

/** A copy of the store of so many nodes, which is made if it is not there. */
export async function chromaCopy(nodes: number): Promise<ChromaCopy> {
  const made = madeOf([VERSION], ['store/sqlite/schema.ts', 'lenses/chroma/tables.ts'])
  const kept = await keptStore(
    { name: `chroma-${nodes}`, ending: '.db', made, holds: `${nodes} nodes` },
    async folder => {
      const file = join(folder, 'store.db')
      await fill(file, nodes)
      return file
    },
  )
  const folder = tempFolder()
  const file = folder.file('store.db')
  copyFileSync(kept, file, constants.COPYFILE_FICLONE)
  return { open: now => openAt(file, () => now), [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

/** Sets of hashtags as nodes have them, in no order; every second one that there is a node of. */
export function tagSets(seed: number, count: number): readonly (readonly string[])[] {
  const [known, fresh] = [setMaker(SEED), setMaker(seed)]
  return Array.from({ length: count }, (_, at) => (at % 2 === 0 ? known() : fresh()))
}

const SEED = 11

function openAt(file: string, now: () => number): Promise<OpenChroma> {
  return openChroma({
    store: openSqliteStore({ file, cacheSizeMb: 64 }),
    background: false,
    onlyLenses: ['chroma'],
    now,
  })
}

async function fill(file: string, nodes: number): Promise<void> {
  const chroma = await openAt(file, () => JUST_USED)
  const all = HASHTAGS.flatMap(([zone, count]) =>
    Array.from({ length: count }, (_, at) => ({ hashtag: nameOf(zone, at), zone })),
  )
  const bindings = new Map((await chroma.assignHashtags(all)).map(one => [one.hashtag, one]))
  await chroma.close()
  const store = openSqliteStore({ file, cacheSizeMb: 64 })
  const make = nodeMaker(bindings)
  for (let from = 0; from < nodes; from += BATCH) {
    store.write(JUST_USED * 1000, writer => {
      for (let at = from; at < Math.min(nodes, from + BATCH); at++) make(writer, at)
    })
    if (from % 100_000 === 0) console.error(`  ${from} nodes`)
  }
  store.write(JUST_USED * 1000, writer => {
    logUses(writer, OWNER, null)
    // A feed that was tidied up, as it would be in a store of that age.
    writer.pruneChanges(writer.lastSeq())
  })
  store.close()
}

function nodeMaker(bindings: ReadonlyMap<string, Binding>): (writer: StoreWriter, at: number) => void {
  const uniform = seededUniform(5)
  const texts = new ZipfTexts(7)
  const next = setMaker(SEED)
  const places: { readonly tags: readonly string[]; readonly color: Color; readonly id: string }[] = []
  const place = () => {
    if (places.length > 0 && uniform() < 0.5) return places[Math.floor(uniform() * places.length)]
    const bound = next()
      .map(tag => bindings.get(tag) as Binding)
      .sort((a, b) => a.anchor_id - b.anchor_id)
    const color = centreOfGravity(bound)
    const made = { tags: bound.map(({ hashtag }) => hashtag), color, id: nodeIdOf(color) }
    places.push(made)
    return made
  }
  return (writer, at) => {
    const { tags, color, id: node_id } = place() as (typeof places)[number]
    const created_at = JUST_USED - Math.floor(uniform() * 90 * DAY)
    // Seven of ten of the default mode, one each of the others.
    const mode_name = MODE_NAMES[uniform() < 0.6 ? 1 : Math.floor(uniform() * 4)] as (typeof MODE_NAMES)[number]
    const entry = putNode(writer, {
      id: `node-${at}`,
      label: texts.prose(4),
      content: texts.prose(WORDS),
      metadata: { bucket: Math.floor(uniform() * 1000), kind: at % 3 === 0 ? 'note' : 'guide' },
      audience: audience('private', OWNER),
      collection: NODE_COLLECTION,
      aspect: {
        color,
        node_id,
        hashtags: tags,
        mode_name,
        decay_enabled: true,
        has_metadata: true,
        created_at,
        version: 0,
      },
      now: JUST_USED * 1000,
    })
    if (uniform() > 1 / 8) return
    let memory = defaultMemory(created_at)
    const used = Math.min(Math.floor(uniform() * 7 * DAY), JUST_USED - created_at)
    for (let use = 1 + Math.floor(uniform() * 12); use > 0; use--) {
      memory = reinforced(memory, MODES[mode_name], JUST_USED - used - use * 60)
    }
    writeMemory(writer, OWNER, entry, { ...memory, last_accessed: Math.max(memory.last_accessed, JUST_USED - used) })
  }
}

function setMaker(seed: number): () => readonly string[] {
  const uniform = seededUniform(seed)
  const some = (zone: Zone, of: number, count: number) => {
    const names = new Set<string>()
    while (names.size < count) names.add(nameOf(zone, Math.floor(uniform() * of)))
    return [...names]
  }
  return () => {
    const mid = 6 + Math.floor(uniform() * 3)
    return [...some('Core', 150, 1), ...some('Mid', 900, mid), ...some('Outer', 150, 1 + Math.floor(uniform() * 2))]
  }
}

function nameOf(zone: Zone, at: number): string {
  return `#${zone.toLowerCase()}-${at}`
}
