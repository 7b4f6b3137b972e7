/** An answer made to fit: fewer fields, then shorter texts, then fewer items; and what was left out is told. */
import type { Json, JsonObject } from '../../../base/canonical.ts'
import type { AnswerShape } from '../tools/choice.ts'
import { isObject, valueAt, withValueAt } from './paths.ts'
import { type Room, tokensOf } from './room.ts'

/** UTF-16 units that texts are cut to, one after the other, while the answer is too long. */
const TEXT_LENGTHS = [400, 200, 100] as const
/** Room for saying what was left out. */
const TELLING = 80

/** Asks again for so many items alone; its cursor then goes on after them. */
export type AskAgain = (limit: number) => Promise<JsonObject>

/** The answer within its room. Never without its first item, whatever the room. */
export async function fit(answer: JsonObject, shape: AnswerShape, room: Room, again: AskAgain): Promise<JsonObject> {
  const shown = room.concise ? concise(answer, shape) : answer
  const { maxTokens } = room
  if (maxTokens === null || tokensOf(shown) <= maxTokens) return shown
  const tokens = maxTokens - TELLING
  if (shape.items === undefined) return cutOne(shown, shape, tokens)
  const short = withShorterTexts(shown, shape, tokens)
  if (tokensOf(short) <= tokens) return told(short, shape, 0)
  const whole = itemsOf(shown, shape)
  const count = fitting(short, shape, tokens)
  if (shape.page === undefined)
    return told(withItems(short, shape, itemsOf(short, shape).slice(0, count)), shape, whole.length - count)
  const fewer = await again(count)
  const cut = withShorterTexts(room.concise ? concise(fewer, shape) : fewer, shape, tokens)
  return told(cut, shape, whole.length - itemsOf(cut, shape).length)
}

export function itemsOf(answer: JsonObject, { items }: AnswerShape): readonly JsonObject[] {
  const list = items === undefined ? undefined : answer[items]
  return Array.isArray(list) ? list.filter(isObject) : []
}

function withItems(answer: JsonObject, { items = '' }: AnswerShape, list: readonly JsonObject[]): JsonObject {
  return { ...answer, [items]: list }
}

function concise(answer: JsonObject, shape: AnswerShape): JsonObject {
  const { concise: kept = [] } = shape
  const pick = (item: JsonObject): JsonObject =>
    withoutRepeat(Object.fromEntries(Object.entries(item).filter(([name]) => kept.includes(name))))
  if (shape.items === undefined) return pick(answer)
  const short = withItems(answer, shape, itemsOf(answer, shape).map(pick))
  const { nearest } = answer
  return Array.isArray(nearest)
    ? { ...short, nearest: nearest.map(each => (isObject(each) ? pick(each) : each)) }
    : short
}

/** The best passage has the text of the excerpt: one of the two is enough. */
function withoutRepeat(item: JsonObject): JsonObject {
  const { excerpt, passages, ...others } = item
  if (excerpt === undefined || !Array.isArray(passages)) return item
  return passages.length > 1 ? { ...others, passages } : { ...others, excerpt }
}

/** One long text: as much of it as there is room for. */
function cutOne(answer: JsonObject, { text = '' }: AnswerShape, tokens: number): JsonObject {
  const content = String(valueAt(answer, text))
  let length = content.length
  let cut = answer
  while (length > 0 && tokensOf(cut) > tokens) {
    const over = (tokensOf(cut) - tokens) * 4
    length = Math.max(0, Math.min(length - 1, length - Math.floor(over / 3)))
    cut = withValueAt(answer, text, head(content, length))
  }
  const next = 'The resource of this entry holds the whole text; or ask again with more max_tokens.'
  return { ...cut, left_out: { characters: content.length - String(valueAt(cut, text)).length, next } }
}

function withShorterTexts(answer: JsonObject, shape: AnswerShape, tokens: number): JsonObject {
  const { text } = shape
  if (text === undefined) return answer
  let short = answer
  for (const length of TEXT_LENGTHS) {
    if (tokensOf(short) <= tokens) return short
    short = withItems(
      answer,
      shape,
      itemsOf(answer, shape).map(item => shortItem(item, text, length)),
    )
  }
  return short
}

function shortItem(item: JsonObject, path: string, length: number): JsonObject {
  const { excerpt, passages } = item
  const text = valueAt(item, path)
  const isCut = typeof text === 'string' && text.length > length
  return {
    ...(isCut ? withValueAt(item, path, head(text, length)) : item),
    ...(isObject(excerpt) && { excerpt: shortExcerpt(excerpt, length) }),
    ...(Array.isArray(passages) && {
      passages: passages.map(each => (isObject(each) ? shortExcerpt(each, length) : each)),
    }),
  }
}

function shortExcerpt(excerpt: JsonObject, length: number): JsonObject {
  const { text, highlights } = excerpt
  if (typeof text !== 'string' || text.length <= length || !Array.isArray(highlights)) return excerpt
  // Spans of what is no longer there would point nowhere.
  const within = highlights.filter(span => Array.isArray(span) && Number(span[1]) <= length)
  return { ...excerpt, text: head(text, length), highlights: within, cut_end: true }
}

/** Whole characters: half a surrogate pair is none. */
function head(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

/** How many items fit, at least one. */
function fitting(answer: JsonObject, shape: AnswerShape, tokens: number): number {
  const list = itemsOf(answer, shape)
  let count = list.length
  while (count > 1 && tokensOf(withItems(answer, shape, list.slice(0, count))) > tokens) count--
  return count
}

function told(answer: JsonObject, shape: AnswerShape, items: number): JsonObject {
  const cursor: Json = shape.page === undefined ? null : (answer[shape.page.cursor] ?? null)
  const next =
    items === 0
      ? 'Texts are shorter than they are stored; get reads one whole.'
      : cursor === null
        ? 'Ask again with more max_tokens for the rest.'
        : `Ask again with ${shape.page?.cursor} as the cursor for the rest.`
  return { ...answer, left_out: { items, next } }
}
