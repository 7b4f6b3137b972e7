/** A conversation of two people, as JSON lines, for tests of what becomes of messages. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../src/engine/engine.ts'
import { callOperation, makeCatalog } from '../../src/ops/catalog.ts'

export type Line = Readonly<Record<string, unknown>>

/** 14 March 2025 is a Friday. */
export const KILN: readonly Line[] = [
  line('m1', 'Mira', '2025-03-14T10:00:00Z', 'The clay came this morning.'),
  line('m2', 'Tom', '2025-03-14T10:01:00Z', 'Did you ever find a new place for the kiln?'),
  line('m3', 'Mira', '2025-03-14T10:02:00Z', 'Yes, we moved it to the barn last weekend.', { reply_to: 'm2' }),
  line('m4', 'Tom', '2025-03-16T10:00:00Z', 'I bought two bags of sand.'),
]

export function line(id: string, speaker: string, at: string, text: string, more: Line = {}): Line {
  return { conversation: 'kiln', id, speaker, at, text, ...more }
}

export function writeLines(folder: string, lines: readonly Line[], name = 'kiln.jsonl'): string {
  const path = join(folder, name)
  writeFileSync(path, lines.map(each => `${JSON.stringify(each)}\n`).join(''))
  return path
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, read in expectations only
export async function call(engine: Engine, name: string, input: unknown, viewer = 'owner'): Promise<any> {
  const context = { viewer: { id: viewer }, signal: new AbortController().signal }
  return await callOperation(makeCatalog(engine), engine, name, input, context)
}
