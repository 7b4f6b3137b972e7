/** How this very program can be started again, later and by others. */
import { isAbsolute } from 'node:path'

/** npx keeps what it fetched there only until its cache is emptied. */
const CACHE_OF_NPX = /[\\/]_npx[\\/]/

/** Node and the script it runs; null: they do not stay where they are, or it is not known where. */
export function lastingProgram(node: string, script: string): readonly [node: string, script: string] | null {
  const stays = (path: string): boolean => isAbsolute(path) && !CACHE_OF_NPX.test(path)
  return stays(node) && stays(script) ? [node, script] : null
}
