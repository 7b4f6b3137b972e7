/** The excerpt of a result. */
import type { Chunk, Entry } from '../model/entry.ts'
import type { Excerpt } from '../model/page.ts'
import type { Plan } from './stage.ts'

export function excerptOf(entry: Entry, chunk: Chunk | undefined, plan: Plan): Excerpt {
  const text = entry.content.slice(chunk?.start ?? 0, chunk?.end ?? 0).slice(0, plan.query.excerptLength)
  return { text, start_line: chunk?.startLine ?? 1, end_line: chunk?.endLine ?? 1, highlights: [] }
}
