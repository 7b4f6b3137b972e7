/**
 * Packs the concepts of an answer into a limited number of tokens: first whole texts by rank, then signatures of concepts whose text did
 * not fit, then bare names; a notice says how much is left out. No piece is cut: it is included as a whole or not at all, and a concept
 * whose lines are part of a text already shown gets one line. Equal input gives equal output.
 */
import { z } from 'zod'
import { compareText } from '../../../base/compare.ts'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import { isOwner } from '../../../model/viewer.ts'
import { countTokens } from '../../../text/blocks.ts'
import { LineStarts } from '../../../text/lines.ts'
import type { Call, Look } from '../call.ts'
import { id, total } from '../envelope.ts'
import { shownPath } from '../names.ts'
import { type Concept, textsOfConcepts } from '../state.ts'
import { PROVENANCE } from '../tables.ts'

export interface PackItem {
  readonly id: number
  readonly name: string
  readonly type: string
  /** Where the item is: path or URL, with line numbers where they are known; the empty text when it is in no file. */
  readonly place: string
  /** Source text of the item; null when it has none that can be shown. */
  readonly text: string | null
  /** Signature of the item on one line; null when it has none. */
  readonly signature: string | null
  /** The lines of the file that `text` consists of, counted from 1; the first and last are both included. */
  readonly lines?: { readonly url: string; readonly start: number; readonly end: number } | undefined
}

export const bundle = z.lazy(() =>
  z.strictObject({
    text: z.string().describe('Whole texts, then signatures, then names, by rank; nothing is cut'),
    tokens: total.describe('Length of text in tokens'),
    whole: z.array(id).describe('Numbers of the concepts whose text is in it, also within that of another'),
    signatures: z.array(id).describe('Numbers of those whose signature is in it'),
    names: z.array(id).describe('Numbers of those whose name alone is in it'),
    omitted: z.array(id).describe('Numbers of those that did not fit'),
  }),
)
type Pack = ReadonlyDeep<z.infer<typeof bundle>>

const LEVELS = ['whole', 'signature', 'name'] as const
type Level = (typeof LEVELS)[number]

/** Returns the number of tokens of a text; may stop counting as soon as the number exceeds `enough`. */
type CountTokens = (text: string, enough?: number) => number

/** A piece of the packed text, with its level of detail (text, signature or name). */
interface Piece {
  readonly level: Level
  readonly block: string
}

/** Packs items, ordered best first, into at most `maxTokens` tokens. */
export function pack(items: readonly PackItem[], maxTokens: number, count: CountTokens): Pack {
  const pieces = taken(items, maxTokens, count)
  if (pieces.size === items.length) return fitted(items, pieces, maxTokens, count)
  // The items do not all fit, so tokens are kept free for a notice of how many are left out.
  return fitted(items, taken(items, maxTokens - count(noticeOf(items.length)), count), maxTokens, count)
}

function noticeOf(omitted: number): string {
  return `(${omitted} left out; ask with a larger max_tokens)`
}

/** The pieces that fit into a number of tokens; higher levels of detail first, and within a level by rank. */
function taken(items: readonly PackItem[], tokens: number, count: CountTokens): Map<PackItem, Piece> {
  const pieces = new Map<PackItem, Piece>()
  let room = tokens
  for (const level of LEVELS) {
    for (const item of items) {
      if (pieces.has(item)) continue
      const block = level === 'whole' && isShown(item, pieces) ? nameOf(item, true) : blockOf(item, level)
      const cost = block === null ? Number.POSITIVE_INFINITY : count(`${block}\n`, tokens)
      if (block === null || cost > room) continue
      pieces.set(item, { level, block })
      room -= cost
    }
  }
  return pieces
}

/** Whether the item's lines are part of a text of another item that is shown. */
function isShown({ lines }: PackItem, pieces: ReadonlyMap<PackItem, Piece>): boolean {
  if (lines === undefined) return false
  return [...pieces].some(([{ lines: outer }, { level }]) => {
    const isOfFile = level === 'whole' && outer?.url === lines.url
    return isOfFile && outer.start <= lines.start && outer.end >= lines.end
  })
}

/**
 * Joins the pieces into the packed text. Tokens of pieces need not add up to the tokens of the whole text, so while the text is too long,
 * the last piece is removed.
 */
function fitted(items: readonly PackItem[], pieces: Map<PackItem, Piece>, maxTokens: number, count: CountTokens): Pack {
  for (;;) {
    const shown = items.filter(item => pieces.has(item))
    const omitted = items.filter(item => !pieces.has(item)).map(({ id }) => id)
    const blocks = shown.map(item => pieces.get(item)?.block ?? '')
    for (const more of omitted.length === 0 ? [[]] : [[noticeOf(omitted.length)], []]) {
      const text = [...blocks, ...more].join('\n')
      const tokens = count(text)
      if (tokens > maxTokens) continue
      const at = (level: Level) => shown.filter(item => pieces.get(item)?.level === level).map(({ id }) => id)
      return { text, tokens, whole: at('whole'), signatures: at('signature'), names: at('name'), omitted }
    }
    pieces.delete(shown.at(-1) as PackItem)
  }
}

/** The text that shows an item at a level of detail; null when the item has nothing for that level. */
function blockOf(item: PackItem, level: Level): string | null {
  const { id, place, text, signature } = item
  switch (level) {
    case 'whole':
      return text === null ? null : `## ${nameOf(item, true).slice(2)}\n${text.replace(/\n+$/, '')}`
    case 'signature':
      return signature === null ? null : `- ${id} ${signature}${place === '' ? '' : ` ${place}`}`
    case 'name':
      return nameOf(item, false)
  }
}

/** A line with the item's id, name and type. Control characters and line breaks in the name are replaced by blanks. */
function nameOf({ id, name, type, place }: PackItem, withPlace: boolean): string {
  const where = withPlace && place !== '' ? ` ${place}` : ''
  return `- ${id} ${name.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')} (${type})${where}`
}

/** Packs the texts and signatures of concepts, given best first, into at most `maxTokens` tokens. */
export function packAnswer(call: Call, concepts: readonly Concept[], contents: Contents, maxTokens: number): Pack {
  const entries = concepts.map(({ entry }) => entry)
  const signatures = textsOfConcepts(call.host.store, 'signature', entries)
  const texts = textsIn(contents)
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

// The files of an answer, each with a preview of its text or the reason why there is none (CX-032 to CX-036).

export const filePreview = z.lazy(() =>
  z.strictObject({
    url: z.string().describe('URL of the file'),
    concepts: z.array(id).describe('Numbers of the concepts that come from it, in the order of the answer'),
    preview: z.string().nullable().describe('Its first 500 characters, or a passage; null: see error'),
    start_line: z.int().min(1).optional().describe('First line of a passage, from 1'),
    end_line: z.int().min(1).optional().describe('Last line of a passage, included'),
    error: z
      .strictObject({
        code: z.enum(['not_indexed', 'not_found', 'unreadable', 'binary']).describe('Problem'),
        message: z.string().describe('A sentence for people'),
      })
      .optional()
      .describe('Why there is no preview'),
  }),
)
type FilePreview = ReadonlyDeep<z.infer<typeof filePreview>>
type PreviewError = NonNullable<FilePreview['error']>

type Content = { readonly text: string } | { readonly error: PreviewError }

/** Texts of files, or the reasons why they cannot be shown, by URL. */
export type Contents = ReadonlyMap<string, Content>

const UNAVAILABLE: PreviewError = { code: 'not_indexed', message: 'file content is not indexed' }

/** Previews of the files of an answer, each file once, in the order in which the answer's concepts first name them. */
export function filePreviews(
  byUrl: ReadonlyMap<string, readonly Concept[]>,
  contents: Contents,
  snippet: 'head' | 'passage',
): readonly FilePreview[] {
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

/** Texts of the given files; files that cannot be read are left out. */
export async function textsOf(call: Call, seen: Look, urls: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return textsIn(await contentsOf(call, seen, urls))
}

function textsIn(contents: Contents): ReadonlyMap<string, string> {
  return new Map([...contents].flatMap(([url, content]) => ('text' in content ? [[url, content.text] as const] : [])))
}

/** The concepts that come from each file, by URL, in the order in which the concepts are given. */
export function conceptsByUrl({ host }: Call, concepts: readonly Concept[]): ReadonlyMap<string, Concept[]> {
  const rows = host.store.table(PROVENANCE).scan({}, { entries: concepts.map(({ entry }) => entry) })
  const rowsOf = Map.groupBy(rows, row => row['entry'] as EntryKey)
  const byUrl = new Map<string, Concept[]>()
  for (const concept of concepts) {
    const urls = (rowsOf.get(concept.entry) ?? []).map(row => row['url'] as string)
    for (const url of urls.sort(compareText)) byUrl.set(url, [...(byUrl.get(url) ?? []), concept])
  }
  return byUrl
}

/**
 * Contents of files: from the store; for the local owner, who may read the disk, files missing in the store are read from the workspace.
 */
export async function contentsOf(call: Call, seen: Look, urls: readonly string[]): Promise<Contents> {
  const stored = storedContents(call, seen, urls)
  const missing = urls.filter(url => !stored.has(url))
  const read = await Promise.all(missing.map(async url => [url, await readContent(call, url)] as const))
  return new Map([...stored, ...read])
}

function storedContents({ host, state }: Call, { accessScope }: Look, urls: readonly string[]): Map<string, Content> {
  const files = state.files.visible(accessScope.partitions)
  const keys: EntryKey[] = []
  const elsewhere: string[] = []
  for (const url of urls) {
    const file = files.byUrl(url)
    if (file === undefined) elsewhere.push(url)
    else if (file.indexedHash !== null) keys.push(file.entry)
  }
  // A file that was added to the store without this lens is found by its URL, which its entry has as origin.
  const others =
    elsewhere.length === 0
      ? []
      : host.store.matching(accessScope, {
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

/** Length of the preview of a file, in Unicode characters. */
const PREVIEW_LENGTH = 500
/** Number of lines that a preview shows before the line that it is about. */
const LINES_BEFORE = 1

/** The first 500 characters of a text, with dots added when there is more. */
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

/**
 * A preview of whole lines, from just before `line` on, as many as fit. It has at least `line` itself, shortened where it alone is too
 * long.
 */
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
