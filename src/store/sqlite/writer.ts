/** Writing to a SQLite store. Only inside a transaction, which its store begins and ends. */
import { assert } from '../../base/assert.ts'
import type { Instant } from '../../base/clock.ts'
import type { AccessState, ChunkDraft, ChunkKey, EntryDraft, EntryKey } from '../../model/entry.ts'
import type { Audience, PartitionId } from '../../model/partition.ts'
import type { TableDeclaration } from '../../model/table.ts'
import type { Viewer } from '../../model/viewer.ts'
import { checkText, soundDraft } from '../check.ts'
import { planPut } from '../put-plan.ts'
import type { PutResult, StoreWriter, TableWriter } from '../store.ts'
import { countChange } from '../usage.ts'
import { writeMeta } from './meta.ts'
import { SqliteReader } from './reader.ts'
import { CHUNKS } from './tallies.ts'

export class SqliteWriter extends SqliteReader implements StoreWriter {
  /** Of the running transaction; null between transactions. */
  now: Instant | null = null
  /** Whether this transaction did anything but move access state or rows that stand aside; its store asks and resets. */
  wrote = false

  put(draft: EntryDraft, chunks: readonly ChunkDraft[]): PutResult {
    const now = this.#mustWrite()
    const { entries, partitions, changes, tallies } = this.parts
    const sound = soundDraft(draft, chunks)
    const known = entries.keyOf(sound.audience.holder, sound.id)
    const before = known === undefined ? undefined : this.entry(known)
    const plan = planPut(before, before ? this.chunksOf(before.key) : [], sound, chunks)
    if (before && !plan.entryChanged && !plan.chunksChanged) return { key: before.key, changed: false, created: false }

    const partition = partitions.intern(sound.audience)
    if (before) tallies.add(before.partition, tallies.ofEntry(before.key), -1)
    const key = before?.key ?? entries.insert(sound, partition)
    if (before && plan.entryChanged) entries.update(key, sound, partition)
    this.parts.chunks.write(key, chunks, plan)
    tallies.add(partition, before ? tallies.ofEntry(key) : new Map([[CHUNKS, chunks.length]]))
    if (before) this.parts.forgotten.note()
    countChange({ table: declaration => super.table(declaration) }, this, {
      ...{ key, holder: sound.audience.holder },
      before: () => before,
      after: sound,
    })
    const moved = before !== undefined && before.partition !== partition
    changes.tell('put', key, partition, moved ? before.partition : null, now)
    return { key, changed: true, created: before === undefined }
  }

  delete(key: EntryKey): boolean {
    const now = this.#mustWrite()
    const partition = this.parts.entries.partitionOf(key)
    if (partition === undefined) return false
    this.parts.tallies.add(partition, this.parts.tallies.ofEntry(key), -1)
    for (const { holder } of this.identities([key])) {
      const before = () => this.entry(key)
      countChange({ table: declaration => super.table(declaration) }, this, { key, holder, before, after: undefined })
    }
    this.parts.entries.delete(key)
    this.parts.forgotten.note()
    this.parts.changes.tell('delete', key, partition, null, now)
    return true
  }

  putVectors(model: string, vectors: readonly { readonly chunk: ChunkKey; readonly vector: Float32Array }[]): void {
    const now = this.#mustWrite()
    for (const { entry, partition } of this.parts.vectors.write(model, vectors)) {
      this.parts.changes.tell('vectors', entry, partition, null, now)
    }
  }

  announce(key: EntryKey): void {
    const now = this.#mustWrite()
    const partition = this.parts.entries.partitionOf(key)
    if (partition !== undefined) this.parts.changes.tell('put', key, partition, null, now)
  }

  touch(viewer: Viewer, entries: readonly EntryKey[], now: Instant, gain: number): void {
    this.#mustBeOpen()
    this.parts.access.touch(viewer, entries, now, gain)
  }

  setAccess(viewer: Viewer, entry: EntryKey, state: AccessState): void {
    this.#mustBeOpen()
    this.parts.access.set(viewer, entry, state)
  }

  intern(audience: Audience): PartitionId {
    this.#mustWrite()
    return this.parts.partitions.intern(audience)
  }

  override table(declaration: TableDeclaration): TableWriter {
    if (declaration.aside === true) this.#mustBeOpen()
    else this.#mustWrite()
    return this.parts.tables.writer(declaration)
  }

  setMeta(name: string, value: string): void {
    this.#mustWrite()
    checkText('meta', name)
    checkText('meta', value)
    writeMeta(this.parts.db, name, value)
  }

  pruneChanges(seq: number): void {
    this.#mustWrite()
    this.parts.changes.prune(seq)
  }

  /** The time of the running transaction, which from now on counts as a writing one. */
  #mustWrite(): Instant {
    this.wrote = true
    return this.#mustBeOpen()
  }

  #mustBeOpen(): Instant {
    assert(this.now !== null, 'a writer works only inside its transaction')
    return this.now
  }
}
