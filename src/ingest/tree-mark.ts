/** One text for all files at or below a path, by names, sizes and times: another one where any of them changed (QE-012). */
import { sha256 } from '../base/canonical.ts'
import type { Turns } from '../base/turns.ts'
import { seenNow, walk } from './walk.ts'

/** `folder`: whose rules say what is left out; both absolute. 5,000 files take some 30 ms, none is opened. Rejects with what `turns` end it with. */
export async function markOf(
  { folder, path }: { readonly folder: string; readonly path: string },
  { turns, signal }: { readonly turns: Turns; readonly signal: AbortSignal },
): Promise<string> {
  const lines: string[] = []
  for await (const found of walk(folder, signal, path)) {
    await turns.pauseIfDue()
    const seen = found.kind === 'file' ? seenNow(found.path) : null
    if (seen !== null) lines.push(`${found.path}\0${seen.size} ${seen.modifiedAt}`)
  }
  return sha256(lines.join('\n'))
}
