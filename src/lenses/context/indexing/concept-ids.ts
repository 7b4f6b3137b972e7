/** Ids of concepts before they are written: files that are written one after the other name each other's concepts. */
import { storableText } from '../../../base/storable.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { ReadConcept } from '../extract/concept.ts'
import { nextNumbers } from '../numbering.ts'
import type { CodeBase } from './code-base.ts'
import { conceptsOf, entryOf, rowsOf } from './file-rows.ts'
import type { Changes } from './report.ts'
import { isOfFile, symbolOf } from './symbols.ts'

/** What has an id keeps it: where it stands, where it moved, where a patch named it first. Others get the next ones. */
export function giveIds(writer: StoreWriter, codeBase: CodeBase, { changed, renamed }: Changes, viewer: Viewer): void {
  for (const { path, stamp, symbols } of changed) {
    const ids = codeBase.idsIn(path)
    const before = renamed.get(stamp.url)
    if (before !== undefined) takeOver(writer, ids, before.url, symbols)
    takeUp(writer, ids, stamp.url, () => codeBase.shelf.get(path)?.concepts ?? [], viewer)
    const fresh = symbols.filter(symbol => !ids.has(symbol))
    let id = fresh.length === 0 ? 0 : nextNumbers(writer, 'concept', fresh.length)
    for (const symbol of fresh) ids.set(symbol, id++)
  }
}

/** Concepts of a moved file keep their ids. */
function takeOver(writer: StoreWriter, ids: Map<string, number>, from: string, symbols: readonly string[]): void {
  const [first, ...rest] = symbols
  const before = [...conceptsOf(writer, from)].map(([symbol, { id }]) => [symbol, id] as const)
  const own = before.find(([symbol]) => isOfFile(symbol))
  if (first !== undefined && own !== undefined) ids.set(first, own[1])
  const byName = new Map(before)
  for (const symbol of rest) {
    const id = byName.get(symbol)
    if (id !== undefined) ids.set(symbol, id)
  }
}

/** Concepts that a patch named before the indexer read them: each is the one of that type and name that has no id yet. */
function takeUp(
  writer: StoreWriter,
  ids: Map<string, number>,
  url: string,
  concepts: () => readonly ReadConcept[],
  viewer: Viewer,
): void {
  const { patched } = rowsOf(writer, url)
  if (patched.length === 0) return
  const holders = new Map(writer.identities(patched.map(entryOf)).map(({ key, holder }) => [key, holder]))
  const mine = patched.filter(row => holders.get(entryOf(row)) === viewer.id)
  const known = new Map(mine.map(row => [`${row['type']} ${row['name']}`, row['id'] as number]))
  for (const { key, name, type } of concepts()) {
    const id = known.get(`${type} ${storableText(name)}`)
    if (id === undefined || ids.has(symbolOf(key))) continue
    ids.set(symbolOf(key), id)
    known.delete(`${type} ${storableText(name)}`)
  }
}
