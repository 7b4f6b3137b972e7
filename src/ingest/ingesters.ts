/** Which ingester reads a file: the first that accepts it, a lens's before the built-in ones. */
import type { DocumentIngester, FileName, Ingester } from '../model/ingester.ts'
import { delimited } from './delimited.ts'
import { documents } from './documents/documents.ts'
import { html } from './html.ts'
import { json } from './json.ts'
import { jsonl } from './jsonl.ts'
import { markdown } from './markdown.ts'
import { notebook } from './notebook.ts'
import { code, plainText } from './plain-text.ts'
import { subtitles } from './subtitles.ts'

/** The last one accepts everything. */
const BUILT_IN: readonly (Ingester | DocumentIngester)[] = [
  ...[markdown, html, json, jsonl, notebook, delimited, subtitles],
  ...documents,
  ...[code, plainText],
]

export function ingesterFor(file: FileName, others: readonly Ingester[]): Ingester | DocumentIngester {
  return [...others, ...BUILT_IN].find(ingester => ingester.accepts(file)) ?? plainText
}
