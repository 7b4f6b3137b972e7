/** A store that holds the records of the source suite, and the local source over it. */

import type { Audience } from '../../src/model/partition.ts'
import { OWNER } from '../../src/model/partition.ts'
import { type AccessScope, LOCAL_OWNER } from '../../src/model/viewer.ts'
import type { Source } from '../../src/pipeline/source.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { SUITE_DIMENSIONS, SUITE_RECORDS, type SuiteRecord } from '../suites/source-suite.ts'
import { draftOf, wholeChunk } from './entries.ts'
import { openLocalSource } from './local-source.ts'
import { openReferenceVectors } from './reference-vectors.ts'

export const SUITE_MODEL = 'suite@1'

export function storeOfSuite(): Store {
  const store = openMemoryStore()
  for (const [collection, records] of Object.entries(SUITE_RECORDS)) {
    for (const record of records) putRecord(store, collection, record)
  }
  return store
}

export function putRecord(
  store: Store,
  collection: string,
  { id, content, tags, metadata, vector }: SuiteRecord,
  audience: Audience = { kind: 'private', holder: OWNER },
): void {
  store.write(1000, writer => {
    const draft = draftOf({ id, collection, content, tags, metadata, audience })
    const { key } = writer.put(draft, wholeChunk(draft))
    const vectors = writer.chunksOf(key).map(chunk => ({ chunk: chunk.key, vector }))
    writer.putVectors(SUITE_MODEL, vectors)
  })
}

export function ownerScope(store: Store): AccessScope {
  return { viewer: LOCAL_OWNER, partitions: store.partitions().map(({ id }) => id) }
}

export function localSourceOf(store: Store): Source {
  const index = openReferenceVectors(SUITE_MODEL, SUITE_DIMENSIONS)
  return openLocalSource({
    reader: store,
    vectors: () => {
      index.refresh(store)
      return index
    },
  })
}
