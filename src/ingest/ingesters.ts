/** Which ingester reads a file: the first that accepts it, a lens's before the built-in ones. */
import type { Ingester, SourceFile } from '../model/ingester.ts'
import { html } from './html.ts'
import { jsonl } from './jsonl.ts'
import { markdown } from './markdown.ts'
import { code, plainText } from './plain-text.ts'

/** The last one accepts everything. */
const BUILT_IN: readonly Ingester[] = [markdown, html, jsonl, code, plainText]

export function ingesterFor(
  file: Pick<SourceFile, 'path' | 'name' | 'extension'>,
  others: readonly Ingester[],
): Ingester {
  return [...others, ...BUILT_IN].find(ingester => ingester.accepts(file)) ?? plainText
}
