/** Gets what `pack` packs: texts and signatures of concepts. */
import { countTokens } from '../../text/count-tokens.ts'
import { LineStarts } from '../../text/lines.ts'
import type { Call } from './call.ts'
import { type Concept, textsOfConcepts } from './concepts.ts'
import type { Look } from './mind/look.ts'
import { type Pack, type PackItem, pack } from './pack.ts'
import { textsOf } from './query/previews.ts'
import { shownPath } from './urls.ts'

export async function packAnswer(
  call: Call,
  seen: Look,
  concepts: readonly Concept[],
  maxTokens: number,
): Promise<Pack> {
  const entries = concepts.map(({ entry }) => entry)
  const signatures = textsOfConcepts(call.host.store, 'signature', entries)
  const urls = [...new Set(concepts.flatMap(({ url }) => url ?? []))]
  const texts = await textsOf(call, seen, urls)
  const root = call.host.workspace?.url
  const items = concepts.map((concept): PackItem => {
    const { id, name, type, url } = concept
    const lines = linesOf(concept)
    const content = url === null ? undefined : texts.get(url)
    return {
      ...{ id, name, type },
      place: url === null ? '' : `${shownPath(url, root)}${lines === null ? '' : `:${lines.start}-${lines.end}`}`,
      text: content === undefined || lines === null ? null : new LineStarts(content).between(lines.start, lines.end),
      signature: signatures.get(concept.entry) || null,
      lines: url === null || lines === null ? undefined : { url, ...lines },
    }
  })
  return pack(items, maxTokens, countTokens)
}

function linesOf({ startLine, endLine }: Concept): { readonly start: number; readonly end: number } | null {
  return startLine === null || endLine === null ? null : { start: startLine, end: endLine }
}
