/** Events of a live query, a line each. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { LiveEvent } from '../../../model/live.ts'
import { cut, oneLine, type Style } from './style.ts'

const TYPE_WIDTH = 8
/** Characters of what an item says: so many where there is hardly room, so many where there is any. */
const LEAST_GIST = 20
const MOST_GIST = 100

/** `2026-03-01T12:00:00Z  added     docs/decay.md  Memory fades …  It is new and matches.` */
export function eventText(event: LiveEvent, style: Style, width: number = Number.POSITIVE_INFINITY): string {
  const { timestamp, type, id, passage, text } = event
  // Under another name in the contract of the lens beliefs.
  const item = event.item ?? (event as { readonly belief?: JsonObject }).belief
  const time = timestamp.replace(/\.\d+Z$/, 'Z')
  const paint = { added: style.good, updated: style.mark, removed: style.bad, reranked: style.dim }[type]
  const head = `${time}  ${type.padEnd(TYPE_WIDTH)}  ${oneLine(id)}${passage === undefined ? '' : `  passage ${passage}`}`
  const reason = oneLine(text)
  const room = Math.max(LEAST_GIST, Math.min(MOST_GIST, width - head.length - reason.length - 4))
  const gist = item === undefined ? '' : `  ${cut(oneLine(gistOf(item)), room)}`
  return `${head.replace(type, paint(type))}${gist}  ${style.dim(reason)}\n`
}

/** What an item of any lens says, in short: its title and excerpt, or its content. */
function gistOf(item: JsonObject): string {
  const { title, excerpt, content, belief } = item
  const texts = [
    textIn({ title }, 'title'),
    textIn(excerpt, 'text'),
    textIn({ content }, 'content'),
    textIn(belief, 'content'),
  ]
  const [first = '', second = ''] = texts.map(text => text.replace(/^#+ /, '')).filter(text => text !== '')
  // An excerpt may begin with its title.
  return second === '' || second.startsWith(first) ? second || first : `${first}: ${second}`
}

function textIn(value: unknown, name: string): string {
  const text =
    typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined
  return typeof text === 'string' ? text : ''
}
