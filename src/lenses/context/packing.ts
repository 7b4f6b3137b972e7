/** Gets what `pack` packs: texts and signatures of concepts. */
import type { JsonObject } from '../../base/canonical.ts'
import type { EntryKey } from '../../model/entry.ts'
import { countTokens } from '../../text/count-tokens.ts'
import type { Call } from './call.ts'
import type { Concept } from './concepts.ts'
import type { Look } from './mind/look.ts'
import { type PackItem, pack } from './pack.ts'
import { textsOf } from './query/previews.ts'
import { CONCEPTS } from './tables.ts'

export async function packAnswer(
  call: Call,
  seen: Look,
  concepts: readonly Concept[],
  maxTokens: number,
): Promise<JsonObject> {
  const entries = concepts.map(({ entry }) => entry)
  const rows = call.host.store.table(CONCEPTS).scan({}, { entries, columns: ['entry', 'signature'] })
  const signatures = new Map(rows.map(row => [row['entry'] as EntryKey, row['signature'] as string | null]))
  const urls = [...new Set(concepts.flatMap(({ url }) => url ?? []))]
  const texts = await textsOf(call, seen, urls)
  const root = call.host.workspace === undefined ? '' : `${call.host.workspace.url}/`
  const items = concepts.map((concept): PackItem => {
    const { id, name, type, url, startLine, endLine } = concept
    const lines = startLine === null || endLine === null ? '' : `:${startLine}-${endLine}`
    const content = url === null ? undefined : texts.get(url)
    const signature = signatures.get(concept.entry) ?? ''
    return {
      ...{ id, name, type },
      place: url === null ? '' : `${shortened(url, root)}${lines}`,
      text: content === undefined || lines === '' ? null : linesBetween(content, startLine ?? 1, endLine ?? 1),
      signature: signature === '' ? null : signature,
      lines:
        url === null || startLine === null || endLine === null ? undefined : { url, start: startLine, end: endLine },
    }
  })
  return { ...pack(items, maxTokens, countTokens) }
}

/** A path from the workspace, as people write it; the URL of what lies elsewhere, or has a name of more than one line. */
export function shortened(url: string, root: string): string {
  if (root === '' || !url.startsWith(root)) return url
  try {
    const path = url.slice(root.length).split('/').map(decodeURIComponent).join('/')
    return /\p{Cc}/u.test(path) ? url : path
  } catch {
    return url
  }
}

function linesBetween(text: string, start: number, end: number): string {
  return text
    .split('\n')
    .slice(start - 1, end)
    .join('\n')
}
