/**
 * Packs an answer into a number of tokens: first whole texts, by rank, then signatures of those that did not fit, then
 * bare names; and says what is left out. Nothing is cut: a piece is in it whole or not at all, and no text is in it
 * twice. The same input gives the same text.
 */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import { countTokens } from '../../../text/count-tokens.ts'
import { LineStarts } from '../../../text/lines.ts'
import type { Call, Look } from '../call.ts'
import { shownPath } from '../names.ts'
import { id, total } from '../schemas.ts'
import { type Concept, textsOfConcepts } from '../state.ts'
import { textsOf } from './previews.ts'

export interface PackItem {
  readonly id: number
  readonly name: string
  readonly type: string
  /** Where it stands: a path or URL, with lines where they are known; empty when nowhere. */
  readonly place: string
  /** Its text; null: there is none to show. */
  readonly text: string | null
  /** One line; null: there is none. */
  readonly signature: string | null
  /** The lines of `text`, from 1, both included. Lines that another text shows are not told again. */
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
export type Pack = ReadonlyDeep<z.infer<typeof bundle>>

const LEVELS = ['whole', 'signature', 'name'] as const
type Level = (typeof LEVELS)[number]

/** Ids that a notice names. */
const MOST_NAMED = 20

/** Counts the tokens of a text; may stop when there are more than `enough`. */
export type CountTokens = (text: string, enough?: number) => number

/** `items` by rank, best first. */
export function pack(items: readonly PackItem[], maxTokens: number, count: CountTokens): Pack {
  const told = filled(items, maxTokens, maxTokens, count)
  // A notice needs room only where something is left out.
  const levels = told.size === items.length ? told : filledBesideNotice(items, maxTokens, count)
  return fitted(items, levels, maxTokens, count)
}

type Levels = Map<PackItem, Level>

function filledBesideNotice(items: readonly PackItem[], maxTokens: number, count: CountTokens): Levels {
  const notices = noticesOf(items.map(({ id }) => id)).map(notice => count(`\n${notice}`))
  // What is told of a small answer should be the answer, and not what is missing.
  const reserve = notices.find(cost => cost <= maxTokens / 2) ?? 0
  return filled(items, maxTokens - reserve, maxTokens, count)
}

/** Takes what has room, in order of level and then rank. */
function filled(items: readonly PackItem[], tokens: number, maxTokens: number, count: CountTokens): Levels {
  const levels: Levels = new Map()
  const costs = (item: PackItem, form: Level | 'line') => {
    const block = blockOf(item, form)
    return block === null ? Number.POSITIVE_INFINITY : count(`${block}\n`, maxTokens)
  }
  let room = tokens
  for (const level of LEVELS) {
    for (const item of items) {
      if (levels.has(item)) continue
      let cost = costs(item, level === 'whole' && item.text !== null && isShown(item, items, levels) ? 'line' : level)
      // The texts within it need not be told a second time.
      for (const inner of level === 'whole' ? levels.keys() : []) {
        if (holds(item, inner) && !isShown(inner, items, levels)) cost -= costs(inner, 'whole') - costs(inner, 'line')
      }
      if (cost > room) continue
      levels.set(item, level)
      room -= cost
    }
  }
  return levels
}

/** Whether its text is told as part of another. */
function isShown(item: PackItem, items: readonly PackItem[], levels: ReadonlyMap<PackItem, Level>): boolean {
  return items.some(outer => levels.get(outer) === 'whole' && holds(outer, item, items))
}

/** Of two with the same lines, the better one holds the other. */
function holds(outer: PackItem, inner: PackItem, items: readonly PackItem[] = []): boolean {
  if (outer === inner || !outer.lines || !inner.lines || outer.lines.url !== inner.lines.url) return false
  const [a, b] = [outer.lines, inner.lines]
  if (a.start > b.start || a.end < b.end) return false
  return a.start < b.start || a.end > b.end || items.indexOf(outer) < items.indexOf(inner)
}

/** Tokens of pieces need not add up to those of the whole: what is too much goes, the last first. */
function fitted(items: readonly PackItem[], levels: Levels, maxTokens: number, count: CountTokens): Pack {
  for (;;) {
    const told = items.filter(item => levels.has(item))
    const omitted = items.filter(item => !levels.has(item)).map(({ id }) => id)
    const blocks = told.map(item => blockOf(item, formOf(item, items, levels)))
    for (const notice of omitted.length === 0 ? [''] : [...noticesOf(omitted), '']) {
      const text = [...blocks, notice].filter(part => part !== '').join('\n')
      const tokens = count(text)
      if (tokens <= maxTokens || (text === '' && tokens === 0)) return packed(text, tokens, told, levels, omitted)
    }
    const last = told.at(-1)
    if (last === undefined) return packed('', 0, [], levels, omitted)
    levels.delete(last)
  }
}

function formOf(item: PackItem, items: readonly PackItem[], levels: Levels): Level | 'line' {
  const level = levels.get(item) as Level
  return level === 'whole' && isShown(item, items, levels) ? 'line' : level
}

function packed(
  text: string,
  tokens: number,
  told: readonly PackItem[],
  levels: ReadonlyMap<PackItem, Level>,
  omitted: readonly number[],
): Pack {
  const at = (level: Level) => told.filter(item => levels.get(item) === level).map(({ id }) => id)
  return { text, tokens, whole: at('whole'), signatures: at('signature'), names: at('name'), omitted }
}

/** Null: the item cannot be told in that form. `line`: what it is and where, as its text stands elsewhere. */
function blockOf(item: PackItem, form: Level | 'line'): string | null {
  const { id, type, place, text, signature } = item
  // A name may hold anything, a line only one line.
  const name = item.name.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  const where = place === '' ? '' : ` ${place}`
  switch (form) {
    case 'whole':
      return text === null ? null : `## ${id} ${name} (${type})${where}\n${text.replace(/\n+$/, '')}`
    case 'line':
      return `- ${id} ${name} (${type})${where}`
    case 'signature':
      return signature === null ? null : `- ${id} ${signature}${where}`
    case 'name':
      return `- ${id} ${name} (${type})`
  }
}

/** What is not told, and how to get it: at length, and shorter for where there is less room. */
function noticesOf(ids: readonly number[]): readonly string[] {
  const named = ids.slice(0, MOST_NAMED).join(', ')
  const more = ids.length > MOST_NAMED ? ', …' : ''
  return [
    `(${ids.length} left out: ${named}${more}; ask with a larger max_tokens, or /mind/concepts/get by id)`,
    `(${ids.length} left out; ask with a larger max_tokens)`,
    `(${ids.length} left out)`,
  ]
}

/** The texts and signatures of concepts, by rank. */
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
