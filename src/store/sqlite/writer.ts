/** Writing to a SQLite store. Only inside a transaction, which its store begins and ends. */
import { assert } from '../../base/assert.ts'
import type { Instant } from '../../base/clock.ts'
import { atOnce, type Steps } from '../../base/turns.ts'
import type { AccessState, Chunk, ChunkDraft, ChunkKey, Entry, EntryDraft, EntryKey } from '../../model/entry.ts'
import type { Audience, PartitionId } from '../../model/partition.ts'
import type { TableDeclaration } from '../../model/table.ts'
import type { Viewer } from '../../model/viewer.ts'
import { checkText, type SoundDraft, soundDraft } from '../check.ts'
import type { PutResult, StoreWriter, TableWriter } from '../store.ts'
import { Accounts } from '../usage.ts'
import { planPut } from './chunks.ts'
import { writeMeta } from './meta.ts'
import { SqliteReader } from './reader.ts'
import { damaged } from './rows.ts'
import { CHUNKS } from './tallies.ts'

export class SqliteWriter extends SqliteReader implements StoreWriter {
  /** Of the running transaction; null between transactions. */
  now: Instant | null = null
  /** Whether this transaction did anything but move access state or rows that stand aside; its store asks and resets. */
  wrote = false
  readonly #accounts = new Accounts({
    read: declaration => super.table(declaration),
    write: declaration => {
      if (declaration.aside === true) this.#mustBeOpen()
      else this.#mustWrite()
      return this.parts.tables.writer(declaration)
    },
    holderOf: key => this.identities([key])[0]?.holder,
  })

  /** A transaction begins, which is none within another. */
  begin(): void {
    this.wrote = false
    this.#accounts.begin()
  }

  put(draft: EntryDraft, chunks: readonly ChunkDraft[]): PutResult {
    return atOnce(this.putInSteps(draft, chunks))
  }

  *putInSteps(draft: EntryDraft, chunks: readonly ChunkDraft[]): Steps<PutResult> {
    const now = this.#mustWrite()
    const { entries, partitions, changes, tallies } = this.parts
    const sound = soundDraft(draft, chunks)
    const known = entries.keyOf(sound.audience.holder, sound.id)
    const before = known === undefined ? null : yield* this.#before(known, sound)
    yield
    const plan = yield* planPut(before?.entry, before?.chunks ?? [], sound, chunks)
    if (before !== null && !plan.entryChanged && !plan.chunksChanged) {
      return { key: before.entry.key, changed: false, created: false }
    }

    const partition = partitions.intern(sound.audience)
    const from = known === undefined ? undefined : entries.partitionOf(known)
    if (known !== undefined && from !== undefined) this.#countOut(from, known)
    if (known !== undefined && before === null) this.parts.chunks.dropAll(known)
    const key = known ?? entries.insert(sound, partition)
    yield
    if (known !== undefined && plan.entryChanged) entries.update(key, sound, partition)
    yield
    yield* this.parts.chunks.write(key, chunks, plan)
    tallies.add(partition, known !== undefined ? tallies.ofEntry(key) : new Map([[CHUNKS, chunks.length]]))
    if (known !== undefined) this.parts.forgotten.note()
    this.#accounts.entry({
      ...{ key, holder: sound.audience.holder },
      before: () => {
        if (known !== undefined && before === null) throw damaged(`entry ${JSON.stringify(sound.id)}`, { id: sound.id })
        return before?.entry
      },
      after: sound,
    })
    const moved = from !== undefined && from !== partition
    changes.tell('put', key, partition, moved ? from : null, now)
    return { key, changed: true, created: known === undefined }
  }

  savepoint<T>(body: () => Steps<T>): Steps<T> {
    this.#mustBeOpen()
    return this.parts.db.writeInSteps(body)
  }

  delete(key: EntryKey): boolean {
    const now = this.#mustWrite()
    const partition = this.parts.entries.partitionOf(key)
    if (partition === undefined) return false
    this.#countOut(partition, key)
    if (this.#accounts.isUsed) this.#countDeletion(key)
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

  removeVectors(model: string, limit: number): number {
    this.#mustWrite()
    return this.parts.vectors.remove(model, limit)
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
    return this.#accounts.table(declaration)
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

  /** What a put replaces; null where it is damaged, so that nothing of it can be kept. */
  *#before(
    key: EntryKey,
    { id, audience }: SoundDraft,
  ): Steps<{ readonly entry: Entry; readonly chunks: readonly Chunk[] } | null> {
    let isWhole = true
    const note = () => {
      isWhole = false
    }
    const entry = this.around(note, () => this.entry(key))
    yield
    const chunks = yield* this.parts.chunks.ofInSteps(key, read => this.around(note, read))
    if (!isWhole || entry === undefined) return null
    // Not to write over another entry, to which a damaged index leads.
    if (entry.id !== id || entry.audience.holder !== audience.holder)
      throw damaged(`entry ${JSON.stringify(id)}`, { id })
    return { entry, chunks }
  }

  /** Also of its rows, which would go with it uncounted. */
  #countDeletion(key: EntryKey): void {
    for (const { holder } of this.identities([key])) {
      for (const table of this.parts.tables.all()) if (table.ofEntry) this.table(table).delete({ entry: key })
      this.#accounts.entry({ key, holder, before: () => this.entry(key), after: undefined })
    }
  }

  /** A damaged entry may name a partition that is not there, which has no counts. */
  #countOut(partition: PartitionId, key: EntryKey): void {
    const { partitions, tallies } = this.parts
    if (partitions.all().some(({ id }) => id === partition)) tallies.add(partition, tallies.ofEntry(key), -1)
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
