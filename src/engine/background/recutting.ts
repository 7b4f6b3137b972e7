/**
 * What an older version has cut into chunks is cut again, once for a store, in the background: entry by entry in the order of their keys,
 * by one process at a time. Its progress is in the store, so that an interrupted run goes on where it was. Until an entry is cut
 * again its old chunks answer; new ones keep the vectors of those with the same text, and wait for theirs otherwise.
 */
import { type Steps, Turns } from '../../base/turns.ts'
import type { Recut } from '../../ingest/recut.ts'
import type { EntryKey } from '../../model/entry.ts'
import { aroundDamage } from '../../pipeline/many-rows.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import { CHUNKER_VERSION } from '../../text/chunk.ts'
import type { BackgroundJob } from './background.ts'

/** In the store's own table: the version that has cut all entries, or `<version> <key>`: those up to this key. */
const MARK = 'chunker'
const COMPLETE = String(CHUNKER_VERSION)
/** Entries that are looked at between two writes, and UTF-16 units of content after which a write comes earlier. */
const BATCH = 64
const MAX_UNITS = 500_000
/** Keys that are read at once to count them. */
const PAGE = 1_000
/** After a failure. */
const AGAIN_MS = 10_000

/** Null where nothing is left to be done. */
export function recutting(store: Store): BackgroundJob | null {
  if (store.meta(MARK) === COMPLETE) return null
  const isNew = store.scanEntries(0, 1).length === 0
  let isComplete = false
  return {
    name: 'engine.chunks',
    get everyMs() {
      return isComplete ? Number.POSITIVE_INFINITY : AGAIN_MS
    },
    async run(now, signal, report, mustHold) {
      // What a new store holds by now, this version has cut. An import has set the mark.
      if (isNew && store.meta(MARK) === undefined) {
        await store.writeWhenFree(now, writer => writer.setMeta(MARK, COMPLETE))
        isComplete = true
        return
      }
      const { recut } = await import('../../ingest/recut.ts')
      const turns = new Turns()
      let total = 0
      for (const keys of entryKeys(store, PAGE)) {
        total += keys.length
        await turns.pauseIfDue()
      }
      let done = 0
      for (let after = keyIn(store); !signal.aborted; ) {
        const keys = nextKeys(store, after)
        const cuttings = aroundDamage(store, () =>
          store.entries(keys).flatMap(entry => aroundDamage(store, () => recut(store, entry)) ?? []),
        )
        const cut: Recut[] = []
        for (const cutting of cuttings) cut.push(...[(await turns.run(cutting)) ?? []].flat())
        after = keys.at(-1) ?? after
        const write = function* (writer: StoreWriter): Steps<void> {
          mustHold(writer)
          for (const one of cut) yield* putChunks(writer, one)
          writer.setMeta(MARK, keys.length === 0 ? COMPLETE : `${CHUNKER_VERSION} ${after}`)
        }
        await store.writeInSteps(now, write, turns)
        done += keys.length
        report({ phase: 'cut', done: Math.min(done, total), total })
        isComplete = keys.length === 0
        if (isComplete) return
        await new Promise(resolve => setImmediate(resolve))
      }
    },
  }
}

/** What was written by another version, as an import may be, is looked at again when the store is opened next. */
export function cutAgain(writer: StoreWriter): void {
  writer.setMeta(MARK, '')
}

/** Entries up to this key are cut by this version. */
function keyIn(reader: StoreReader): number {
  const [version, key = '0'] = (reader.meta(MARK) ?? '').split(' ')
  return version === COMPLETE ? Number(key) : 0
}

function nextKeys(reader: StoreReader, after: number): readonly number[] {
  const keys: number[] = []
  let units = 0
  for (const key of reader.scanEntries(after, BATCH)) {
    keys.push(key)
    units += aroundDamage(reader, () => reader.entry(key))?.content.length ?? 0
    if (units > MAX_UNITS) break
  }
  return keys
}

function* putChunks(writer: StoreWriter, { key, contentHash, chunks }: Recut): Steps<void> {
  const entry = aroundDamage(writer, () => writer.entry(key))
  // It may have been changed or deleted meanwhile.
  if (entry?.contentHash !== contentHash) return
  const { key: _key, partition: _partition, contentHash: _hash, ...draft } = entry
  yield* writer.putInSteps(draft, chunks)
}

/** The keys of all entries, ascending, a page at a time. */
export function* entryKeys(reader: StoreReader, page: number): Generator<readonly EntryKey[]> {
  for (let after: EntryKey | undefined = 0; after !== undefined; ) {
    const keys: readonly EntryKey[] = reader.scanEntries(after, page)
    if (keys.length > 0) yield keys
    after = keys.at(-1)
  }
}
