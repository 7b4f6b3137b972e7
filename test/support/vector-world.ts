/**
 * A small store with vectors, for suites of vector indexes. Every line of an entry is a chunk, and the line says which
 * vector it has; there are few vectors, so equal scores are common and ties get tested.
 */
import fc from 'fast-check'
import { Bitset } from '../../src/base/bitset.ts'
import type { VectorSearch } from '../../src/index/contract.ts'
import { toUnit } from '../../src/math/vector.ts'
import type { Store, StoreWriter } from '../../src/store/store.ts'
import { draftOf, lineChunks } from './entries.ts'
import { AUDIENCE_NAMES, AUDIENCES, type AudienceName, deleteHeld, IndexWorld } from './index-world.ts'
import { seededNormal } from './seeded.ts'

export const MODEL = 'test@1'
export const WIDTH = 24

export interface VectorEdit {
  readonly do: 'put' | 'delete' | 'prune'
  readonly id: string
  readonly audience: AudienceName
  /** Which vector each chunk has; those above 40 have none yet. */
  readonly lines?: readonly number[]
}

export interface VectorQuestion {
  readonly vector: number
  readonly k: number
  readonly partitions: readonly AudienceName[]
  /** Which entries to allow, or null for all; by the order of their keys, as `entries`. */
  readonly allow: readonly number[] | null
  readonly least: number | null
  readonly approximate: boolean
  /** Entries to be scored. */
  readonly entries: readonly number[]
}

export function vectorEdits(maxLength = 60): fc.Arbitrary<VectorEdit[]> {
  const line = fc.nat({ max: 45 })
  const edit = fc.record({
    do: fc.constantFrom('put' as const, 'put' as const, 'put' as const, 'delete' as const, 'prune' as const),
    id: fc.constantFrom(...'abcdefghijklmnopqrstuvw'),
    audience: fc.constantFrom(...AUDIENCE_NAMES),
    lines: fc.array(line, { maxLength: 6 }),
  })
  return fc.array(edit, { maxLength, size: 'max' })
}

export function vectorQuestions(): fc.Arbitrary<VectorQuestion[]> {
  const picks = fc.array(fc.nat({ max: 60 }), { maxLength: 30 })
  const question = fc.record({
    vector: fc.nat({ max: 60 }),
    k: fc.oneof(fc.nat({ max: 12 }), fc.constant(1000)),
    partitions: fc.subarray([...AUDIENCE_NAMES]),
    allow: fc.option(picks),
    least: fc.option(fc.constantFrom(-1, 0, 0.2)),
    approximate: fc.boolean(),
    entries: fc.uniqueArray(fc.nat({ max: 60 }), { maxLength: 10 }),
  })
  return fc.array(question, { minLength: 1, maxLength: 4 })
}

export class VectorWorld extends IndexWorld<VectorEdit> {
  constructor(store: Store) {
    super(store, edit)
  }

  request(question: VectorQuestion): VectorSearch {
    const { allow } = question
    return {
      vector: vectorOf(question.vector),
      k: question.k,
      partitions: this.partitionsOf(...question.partitions),
      approximate: question.approximate,
      allow: allow === null ? undefined : Bitset.of(allow.map(pick => this.entryAt(pick))),
      // Near this an approximate answer may have one hit more or less.
      least: question.approximate ? undefined : (question.least ?? undefined),
    }
  }
}

/** Another one for each number. */
export function vectorOf(number: number): Float32Array {
  const normal = seededNormal(number + 1)
  return toUnit(Array.from({ length: WIDTH }, normal)) as Float32Array
}

function edit(writer: StoreWriter, change: VectorEdit): void {
  switch (change.do) {
    case 'put':
      put(writer, change)
      break
    case 'delete':
      deleteHeld(writer, change.id, change.audience)
      break
    case 'prune':
      writer.pruneChanges(writer.lastSeq())
  }
}

function put(writer: StoreWriter, { id, audience, lines = [] }: VectorEdit): void {
  const content = lines.map(line => `line ${line}`).join('\n')
  const draft = draftOf({ id, content, audience: AUDIENCES[audience] })
  const { key } = writer.put(draft, lineChunks(draft))
  const vectors = writer.chunksOf(key).flatMap(chunk => {
    const line = Number(content.slice(chunk.start, chunk.end).replace('line ', ''))
    return line > 40 ? [] : [{ chunk: chunk.key, vector: vectorOf(line) }]
  })
  writer.putVectors(MODEL, vectors)
}
