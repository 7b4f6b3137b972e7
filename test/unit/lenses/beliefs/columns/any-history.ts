/** Histories of beliefs: what agents, imports and other parts of an engine may do to them, in any order. */

import fc from 'fast-check'
import { expect } from 'vitest'
import { Turns } from '../../../../../src/base/turns.ts'
import { exportLines } from '../../../../../src/engine/export.ts'
import { importLines } from '../../../../../src/engine/import.ts'
import { beliefsLens } from '../../../../../src/lenses/beliefs/beliefs-lens.ts'
import { DERIVATION_TYPES } from '../../../../../src/lenses/beliefs/model.ts'
import { BELIEFS, BELIEFS_TABLES, VERSIONS } from '../../../../../src/lenses/beliefs/tables.ts'
import { audience } from '../../../../../src/model/partition.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { countingBytes } from '../../../../support/engines.ts'
import { draftOf, wholeChunk } from '../../../../support/entries.ts'
import { NOW, type World } from '../record/world.ts'

const HOLDERS = ['ann', 'bob', 'owner']
const IDS = ['a', 'b', 'c']
const CONTENTS = ['It rains.', 'It is dry.', 'Both.']
const DOMAINS = [[], ['tech/ai'], ['tech/ai', 'food']]

/** What may happen to beliefs, and beside them. */
export type Act =
  | { readonly do: 'put' | 'supersede'; readonly pick: number; readonly holder: string; readonly draft: Draft }
  | { readonly do: 'remove' | 'move' | 'drop' | 'vectors'; readonly pick: number }
  | { readonly do: 'note' | 'prune' | 'look' | 'fail' }
  | { readonly do: 'import'; readonly confidence: number | null }
type Draft = Readonly<Record<string, unknown>>

const drafts: fc.Arbitrary<Draft> = fc.record({
  content: fc.constantFrom(...CONTENTS),
  domains: fc.constantFrom(...DOMAINS),
  confidence: fc.record({
    corroboration: fc.option(fc.constantFrom(0, 0.25, 1)),
    method_quality: fc.option(fc.constant(1)),
  }),
  valid_until: fc.constantFrom(null, '2030-01-01T00:00:00Z'),
  derivation: fc.record({
    type: fc.constantFrom(...DERIVATION_TYPES),
    sources: fc.array(
      fc.record({
        belief_id: fc.constantFrom(...IDS, 'nobody'),
        contribution_type: fc.constantFrom('primary', 'supporting', 'contradicting'),
      }),
      { maxLength: 3 },
    ),
  }),
})
const audiences: fc.Arbitrary<Draft> = fc.constantFrom(
  { visibility: 'private' },
  { visibility: 'public' },
  { visibility: 'federated', federation_ids: ['f'] },
  { visibility: 'federated', federation_ids: ['f', 'g'] },
)
/** Federations only for what is federated. */
const wholeDrafts = fc.tuple(drafts, audiences).map(([draft, of]) => ({ ...draft, ...of }))
const pick = fc.nat({ max: 9 })
export const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: draftAct('put') },
  { weight: 4, arbitrary: draftAct('supersede') },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('remove' as const, 'move' as const, 'drop' as const, 'vectors' as const),
      pick,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('note' as const, 'prune' as const, 'look' as const, 'fail' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('import' as const), confidence: fc.constantFrom(null, 0.5) }) },
)

function draftAct<D extends 'put' | 'supersede'>(what: D): fc.Arbitrary<Act> {
  return fc.record({ do: fc.constant(what), pick, holder: fc.constantFrom(...HOLDERS), draft: wholeDrafts })
}

/** Ids that a test takes: of current beliefs, by key. */
function chosen(
  world: World,
  at: number,
): { readonly key: number; readonly id: string; readonly holder: string } | undefined {
  const keys = world.store
    .table(BELIEFS)
    .scan()
    .map(row => row['entry'] as number)
  return world.store.identities(keys)[at % Math.max(1, keys.length)]
}

/** `made`: how often something happened before, for ids of its own. */
export async function play(world: World, act: Act, made: number): Promise<void> {
  const { store } = world
  if (act.do === 'put') {
    const id = IDS[act.pick] ?? `id ${made}`
    if (!isTaken(world, act.holder, id)) world.put(act.holder, { id, ...act.draft })
  } else if (act.do === 'supersede') {
    const of = chosen(world, act.pick)
    if (of) world.supersede(of.holder, of.id, act.draft)
  } else if (act.do === 'remove') {
    const of = chosen(world, act.pick)
    if (of) world.remove(of.holder, of.id)
  } else if (act.do === 'move') {
    // As any part of the engine may: the same entry for another audience.
    const entry = store.entry(chosen(world, act.pick)?.key ?? -1)
    const of = audience(entry?.audience.kind === 'private' ? 'public' : 'private', entry?.audience.holder)
    if (entry) store.write(NOW, writer => writer.put({ ...entry, audience: of }, writer.chunksOf(entry.key)))
  } else if (act.do === 'drop') {
    const of = chosen(world, act.pick)
    if (of) store.write(NOW, writer => writer.delete(of.key))
  } else if (act.do === 'vectors') {
    const chunks = store.chunksOf(chosen(world, act.pick)?.key ?? -1)
    store.write(NOW, writer =>
      writer.putVectors(
        'm',
        chunks.map(({ key }) => ({ chunk: key, vector: Float32Array.of(1) })),
      ),
    )
  } else if (act.do === 'note') {
    const note = draftOf({ id: `note ${made}` })
    store.write(NOW, writer => writer.put(note, wholeChunk(note)))
  } else if (act.do === 'prune') {
    store.write(NOW, writer => writer.pruneChanges(writer.lastSeq()))
  } else if (act.do === 'fail') {
    expect(() => world.write('ann', failingWrite)).toThrow('on purpose')
  } else if (act.do === 'import') {
    const parts = { tables: BELIEFS_TABLES, lenses: [beliefsLens], now: NOW, random: countingBytes() }
    await importLines(store, altered(store, act.confidence), parts, new Turns())
  }
}

function isTaken(world: World, holder: string, id: string): boolean {
  return world.store.read(reader => {
    const past = reader.table(VERSIONS).get({ holder, id })
    const keys = reader.find(
      id,
      reader.partitions().map(partition => partition.id),
    )
    return past !== undefined || reader.identities(keys).some(found => found.holder === holder)
  })
}

const failingWrite: Parameters<World['write']>[1] = ({ writer }) => {
  const note = draftOf({ id: 'never' })
  writer.put(note, wholeChunk(note))
  throw new Error('on purpose')
}

/** An export of the store with another confidence in every belief: their entries stay as they are. */
async function* altered(store: Store, confidence: number | null): AsyncGenerator<unknown> {
  for (const line of [...exportLines(store, BELIEFS_TABLES, [beliefsLens])]) {
    if (line === null) continue
    const isBelief = line.type === 'row' && line.table === BELIEFS.name
    yield isBelief ? { ...line, row: { ...(line.row as object), source_reliability: confidence } } : line
  }
}
