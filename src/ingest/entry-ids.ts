/**
 * Ids of entries that come from files: `<name of the folder added>/<path in it>`, so `docs/guide/intro.md`. They depend on
 * where the file is and on nothing else, so they stay the same from run to run. Two folders of one name may hold the same
 * path: then the one that comes second has `~` and six signs of a hash of its folder behind it.
 */
import { basename } from 'node:path'
import { sha256 } from '../base/canonical.ts'
import { MAX_ID_LENGTH } from '../model/limits.ts'

/** The ids it may have, the one to prefer first. */
export function idsOfFile(root: string, path: string, part: string | null): readonly [string, string] {
  const plain = plainId([basename(root), path].filter(name => name !== '').join('/'))
  const end = part === null ? '' : `#${part}`
  return [fitting(plain + end), fitting(`${plain}~${sha256(root).slice(0, 6)}${end}`)]
}

/** Control characters (a line end in a file name, say) as `%0A`; `%` itself then as `%25`. */
function plainId(path: string): string {
  return path.replace(/[\p{Cc}%]/gu, sign => encodeURIComponent(sign))
}

/** What is too long keeps its beginning and gets a hash of the whole. */
function fitting(id: string): string {
  if (id.length <= MAX_ID_LENGTH) return id
  return `${id.slice(0, MAX_ID_LENGTH - 17).toWellFormed()}~${sha256(id).slice(0, 16)}`
}
