/** The files of an answer with a piece of each one's text, or why there is none (CX-032 to CX-036). */
import { z } from 'zod'
import { compareText } from '../../../base/compare.ts'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import { isOwner } from '../../../model/viewer.ts'
import { LineStarts } from '../../../text/lines.ts'
import type { Call, Look } from '../call.ts'
import { id } from '../schemas.ts'
import type { Concept } from '../state.ts'
import { PROVENANCE } from '../tables.ts'

export const filePreview = z.lazy(() =>
  z.strictObject({
    url: z.string().describe('URL of the file'),
    concepts: z.array(id).describe('Numbers of the concepts that come from it, in the order of the answer'),
    preview: z.string().nullable().describe('Its first 500 characters, or a passage; null: see error'),
    start_line: z.int().min(1).optional().describe('First line of a passage, from 1'),
    end_line: z.int().min(1).optional().describe('Last line of a passage, included'),
    error: z
      .strictObject({
        code: z.enum(['not_indexed', 'not_found', 'unreadable', 'binary']).describe('What is the matter with it'),
        message: z.string().describe('A sentence for people'),
      })
      .optional()
      .describe('Why there is no preview'),
  }),
)
export type FilePreview = ReadonlyDeep<z.infer<typeof filePreview>>
type PreviewError = NonNullable<FilePreview['error']>

type Content = { readonly text: string } | { readonly error: PreviewError }

const UNAVAILABLE: PreviewError = { code: 'not_indexed', message: 'file content is not indexed' }

/** Each file once, in the order in which the concepts first name it. */
export async function filePreviews(
  call: Call,
  seen: Look,
  concepts: readonly Concept[],
  snippet: 'head' | 'passage',
): Promise<readonly FilePreview[]> {
  const byUrl = conceptsByUrl(call, concepts)
  const contents = await contentsOf(call, seen, [...byUrl.keys()])
  return [...byUrl].map(([url, named]) => {
    const ids = named.map(({ id }) => id)
    const content = contents.get(url) ?? { error: UNAVAILABLE }
    if ('error' in content) return { url, concepts: ids, preview: null, error: content.error }
    const at = named.find(concept => concept.url === url && concept.startLine !== null)?.startLine
    if (snippet === 'head' || at === undefined || at === null) {
      return { url, concepts: ids, preview: headOf(content.text) }
    }
    const { text, startLine, endLine } = linesFrom(content.text, at)
    return { url, concepts: ids, preview: text, start_line: startLine, end_line: endLine }
  })
}

/** Texts of these files that can be read. */
export async function textsOf(call: Call, seen: Look, urls: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const contents = await contentsOf(call, seen, urls)
  return new Map([...contents].flatMap(([url, content]) => ('text' in content ? [[url, content.text] as const] : [])))
}

function conceptsByUrl({ host }: Call, concepts: readonly Concept[]): ReadonlyMap<string, Concept[]> {
  const rows = host.store.table(PROVENANCE).scan({}, { entries: concepts.map(({ entry }) => entry) })
  const rowsOf = Map.groupBy(rows, row => row['entry'] as EntryKey)
  const byUrl = new Map<string, Concept[]>()
  for (const concept of concepts) {
    const urls = (rowsOf.get(concept.entry) ?? []).map(row => row['url'] as string)
    for (const url of urls.sort(compareText)) byUrl.set(url, [...(byUrl.get(url) ?? []), concept])
  }
  return byUrl
}

/** From the store; for the local owner, whose disk it is, what is missing there from the workspace. */
async function contentsOf(call: Call, seen: Look, urls: readonly string[]): Promise<ReadonlyMap<string, Content>> {
  const stored = storedContents(call, seen, urls)
  const missing = urls.filter(url => !stored.has(url))
  const read = await Promise.all(missing.map(async url => [url, await readContent(call, url)] as const))
  return new Map([...stored, ...read])
}

function storedContents({ host, state }: Call, { sight }: Look, urls: readonly string[]): Map<string, Content> {
  const files = state.files.visible(sight.partitions)
  const keys: EntryKey[] = []
  const elsewhere: string[] = []
  for (const url of urls) {
    const file = files.byUrl(url)
    if (file === undefined) elsewhere.push(url)
    else if (file.indexedHash !== null) keys.push(file.entry)
  }
  // Files that came in by an ordinary ingest know their URL as their origin.
  const others =
    elsewhere.length === 0
      ? []
      : host.store.matching(sight, {
          op: 'and',
          of: [
            { op: 'in', field: 'origin', values: elsewhere },
            { op: 'not', of: { op: 'eq', field: 'kind', value: 'concept' } },
          ],
        })
  const contents = new Map<string, Content>()
  for (const entry of host.store.entries([...keys, ...others]).toReversed()) {
    contents.set(urlOf(entry), { text: entry.content })
  }
  return contents
}

function urlOf({ origin }: Entry): string {
  return origin ?? ''
}

async function readContent({ host, viewer }: Call, url: string): Promise<Content> {
  const { workspace } = host
  if (workspace === undefined || !isOwner(viewer)) return { error: UNAVAILABLE }
  const file = await workspace.read(url)
  if (file.ok) {
    return file.text === null ? { error: { code: 'binary', message: 'file is binary' } } : { text: file.text }
  }
  switch (file.code) {
    case 'not_found':
      return { error: { code: 'not_found', message: 'file is gone' } }
    case 'outside':
      return { error: { code: 'not_indexed', message: 'file is not indexed and lies outside of the workspace' } }
    default:
      return { error: { code: 'unreadable', message: file.message } }
  }
}

/** Characters of a preview. */
const PREVIEW_LENGTH = 500
/** Lines of a passage before the line it is about. */
const LINES_BEFORE = 1

/** The first 500 characters, with dots when there is more. */
export function headOf(text: string): string {
  let units = 0
  let characters = 0
  for (const character of text) {
    if (characters === PREVIEW_LENGTH) return `${text.slice(0, units)}...`
    characters++
    units += character.length
  }
  return text
}

/** Whole lines from just before `line` on, as many as fit; at least that one, cut where it is longer than a preview. */
export function linesFrom(
  text: string,
  line: number,
): { readonly text: string; readonly startLine: number; readonly endLine: number } {
  const lines = new LineStarts(text)
  const startLine = Math.max(1, Math.min(line, lines.count) - LINES_BEFORE)
  let endLine = startLine
  while (endLine < lines.count) {
    const isFull = lines.between(startLine, endLine).length >= PREVIEW_LENGTH
    const isTooMuch = lines.between(startLine, endLine + 1).length >= PREVIEW_LENGTH
    if (isFull || (isTooMuch && endLine >= line)) break
    endLine++
  }
  const piece = lines.between(startLine, endLine)
  return { text: piece.length > 2 * PREVIEW_LENGTH ? headOf(piece) : piece, startLine, endLine }
}
