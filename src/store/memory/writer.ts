/** Writing to the in-memory store. Only inside a transaction, which its store begins and ends. */
import { assert } from '../../base/assert.ts'
import { sha256 } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import { atOnce, type Steps } from '../../base/turns.ts'
import type { AccessState, ChunkDraft, ChunkKey, Entry, EntryDraft, EntryKey } from '../../model/entry.ts'
import { type Audience, type PartitionId, partitionKey } from '../../model/partition.ts'
import type { TableDeclaration } from '../../model/table.ts'
import type { Viewer } from '../../model/viewer.ts'
import { audienceOfPartition, checkAccess, checkText, checkVector, soundAudience, soundDraft } from '../check.ts'
import { planPut } from '../put-plan.ts'
import type { Change, PutResult, StoreWriter, TableWriter } from '../store.ts'
import { Accounts } from '../usage.ts'
import { MemoryReader } from './reader.ts'
import { nameOf } from './state.ts'

export class MemoryWriter extends MemoryReader implements StoreWriter {
  /** Of the running transaction; null between transactions. */
  now: Instant | null = null
  readonly #accounts = new Accounts({
    read: declaration => super.table(declaration),
    write: declaration => {
      this.#mustWrite()
      return this.state.table(declaration)
    },
    holderOf: key => this.state.entries.get(key)?.audience.holder,
  })

  /** A transaction begins, which is none within another. */
  begin(): void {
    this.#accounts.begin()
  }

  put(draft: EntryDraft, chunks: readonly ChunkDraft[]): PutResult {
    return atOnce(this.putInSteps(draft, chunks))
  }

  *putInSteps(draft: EntryDraft, chunks: readonly ChunkDraft[]): Steps<PutResult> {
    this.#mustWrite()
    const sound = soundDraft(draft, chunks)
    const { metadataJson: _, ...fields } = sound
    const known = this.state.entryKeys.get(nameOf(sound.audience.holder, sound.id))
    const before = known === undefined ? undefined : this.state.entries.get(known)
    yield
    const plan = yield* planPut(before, before ? this.chunksOf(before.key) : [], sound, chunks)
    yield
    const contentHash = sha256(sound.content)
    yield
    if (before && !plan.entryChanged && !plan.chunksChanged) return { key: before.key, changed: false, created: false }

    const key = before?.key ?? this.state.next('entry')
    const partition = this.intern(sound.audience)
    const entry: Entry = { ...fields, key, partition, contentHash }
    this.state.entries.set(key, this.#kept(entry))
    this.state.entryKeys.set(nameOf(sound.audience.holder, sound.id), key)
    for (const chunk of plan.dropped) this.#dropChunk(chunk.key)
    const chunkKeys = chunks.map((chunk, ordinal) => {
      const chunkKey = plan.kept[ordinal]?.key ?? this.state.next('chunk')
      const { start, end, startLine, endLine, headings, lead, sections } = chunk
      const stored = {
        ...{ key: chunkKey, entry: key, ordinal, start, end, startLine, endLine, headings: [...headings] },
        ...(lead !== undefined && { lead }),
        ...(sections !== undefined && { sections: structuredClone(sections) }),
      }
      this.state.chunks.set(chunkKey, this.#kept(stored))
      return chunkKey
    })
    this.state.chunkKeys.set(key, chunkKeys)
    this.#accounts.entry({
      ...{ key, holder: sound.audience.holder },
      before: () => before,
      after: sound,
    })
    const moved = before !== undefined && before.partition !== partition
    this.#tell({ entry: key, kind: 'put', partition, from: moved ? before.partition : null })
    return { key, changed: true, created: before === undefined }
  }

  *savepoint<T>(body: () => Steps<T>): Steps<T> {
    const mark = this.state.journal.mark()
    try {
      return yield* body()
    } catch (error) {
      this.state.journal.rollBack(mark)
      throw error
    }
  }

  delete(key: EntryKey): boolean {
    this.#mustWrite()
    const entry = this.state.entries.get(key)
    if (entry === undefined) return false
    const { holder } = entry.audience
    for (const { declaration } of this.state.tables())
      if (declaration.ofEntry) this.table(declaration).delete({ entry: key })
    this.#accounts.entry({ key, holder, before: () => entry, after: undefined })
    for (const chunk of this.chunksOf(key)) this.#dropChunk(chunk.key)
    this.state.chunkKeys.delete(key)
    this.state.access.delete(key)
    this.state.entries.delete(key)
    this.state.entryKeys.delete(nameOf(entry.audience.holder, entry.id))
    this.#tell({ entry: key, kind: 'delete', partition: entry.partition, from: null })
    return true
  }

  putVectors(model: string, vectors: readonly { readonly chunk: ChunkKey; readonly vector: Float32Array }[]): void {
    this.#mustWrite()
    checkText('model', model)
    const touched = new Set<EntryKey>()
    for (const { chunk: key, vector } of vectors) {
      checkVector(model, vector, this.state.dimensions.get(model))
      const chunk = this.state.chunks.get(key)
      if (chunk === undefined) continue
      if (!this.state.dimensions.has(model)) this.state.dimensions.set(model, vector.length)
      this.state.vectors.set(
        key,
        new Map(this.state.vectors.get(key)).set(model, this.state.copies ? vector.slice() : vector),
      )
      touched.add(chunk.entry)
    }
    for (const entry of [...touched].sort((a, b) => a - b)) {
      this.#tell({ entry, kind: 'vectors', partition: this.state.partitionOf(entry), from: null })
    }
  }

  touch(viewer: Viewer, entries: readonly EntryKey[], now: Instant, gain: number): void {
    checkAccess(viewer, { lastAccessed: now, count: 0, strength: gain })
    for (const key of entries) {
      const before = this.access(viewer, [key]).get(key)
      this.setAccess(viewer, key, {
        lastAccessed: Math.max(before?.lastAccessed ?? now, now),
        count: (before?.count ?? 0) + 1,
        strength: (before?.strength ?? 0) + gain,
      })
    }
  }

  setAccess(viewer: Viewer, entry: EntryKey, state: AccessState): void {
    this.#mustWrite()
    checkAccess(viewer, state)
    if (!this.state.entries.has(entry)) return
    const { lastAccessed, count, strength } = state
    const kept = Object.freeze({ lastAccessed, count, strength })
    this.state.access.set(entry, new Map(this.state.access.get(entry)).set(viewer.id, kept))
  }

  announce(key: EntryKey): void {
    this.#mustWrite()
    const entry = this.state.entries.get(key)
    if (entry) this.#tell({ entry: key, kind: 'put', partition: entry.partition, from: null })
  }

  intern(audience: Audience): PartitionId {
    this.#mustWrite()
    const sound = soundAudience(audience)
    const name = partitionKey(sound)
    const known = this.state.partitionIds.get(name)
    if (known !== undefined) return known
    const id = this.state.next('partition')
    this.state.partitionIds.set(name, id)
    this.state.partitions.set(id, this.#kept(audienceOfPartition(sound)))
    return id
  }

  override table(declaration: TableDeclaration): TableWriter {
    return this.#accounts.table(declaration)
  }

  setMeta(name: string, value: string): void {
    this.#mustWrite()
    checkText('meta', name)
    checkText('meta', value)
    this.state.meta.set(name, value)
  }

  pruneChanges(seq: number): void {
    this.#mustWrite()
    const last = Math.min(seq, this.lastSeq() - 1)
    for (let at = this.state.last('pruned') + 1; at <= last; at++) this.state.changes.delete(at)
    this.state.setPruned(Math.max(last, this.state.last('pruned')))
  }

  #kept<T>(value: T): T {
    return this.state.copies ? deepFreeze(value) : value
  }

  #dropChunk(key: ChunkKey): void {
    this.state.chunks.delete(key)
    this.state.vectors.delete(key)
  }

  #tell(change: Omit<Change, 'seq' | 'at'>): void {
    const seq = this.state.next('change')
    this.state.changes.set(seq, Object.freeze({ seq, ...change, at: this.#mustWrite() }))
  }

  /** The time of the running transaction. */
  #mustWrite(): Instant {
    assert(this.now !== null, 'a writer works only inside its transaction')
    return this.now
  }
}

/** Freezes plain objects and arrays all the way down, so that what is shared cannot be changed. */
function deepFreeze<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value
  for (const item of Object.values(value)) deepFreeze(item)
  return Object.freeze(value)
}
