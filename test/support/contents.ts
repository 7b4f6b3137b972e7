/** All that a store must keep for ever, in plain JSON: what fixture files are compared by. */
import type { Json } from '../../src/base/canonical.ts'
import type { TableDeclaration } from '../../src/model/table.ts'
import type { StoreReader } from '../../src/store/store.ts'

export function contentsOf(
  reader: StoreReader,
  models: readonly string[],
  tables: readonly TableDeclaration[],
  metaNames: readonly string[],
): Json {
  const keys = reader.scanEntries(0, 1e6)
  const contents = {
    storeId: reader.storeId,
    partitions: reader.partitions(),
    entries: reader.entries(keys),
    chunks: keys.flatMap(key => reader.chunksOf(key)),
    vectors: models.map(model => reader.scanVectors(model, 0, 1e6)),
    access: reader.accessViewers().map(id => [id, [...reader.access({ id }, keys)]]),
    feed: reader.changesSince(0, 1e6),
    tables: tables.map(table => reader.table(table).scan()),
    meta: metaNames.map(name => reader.meta(name) ?? null),
  }
  const bytesAsLists = (_: string, value: unknown) => (ArrayBuffer.isView(value) ? [...(value as Uint8Array)] : value)
  return JSON.parse(JSON.stringify(contents, bytesAsLists)) as Json
}
