/** A page of results, for people: as text, and as Markdown. */
import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { printable } from '../../../base/printable.ts'
import type { Explanation } from '../../../model/explanation.ts'
import type { Excerpt, Item, Note, Page, Passage } from '../../../model/page.ts'
import {
  all,
  each,
  lines,
  markdownText,
  moreText,
  notes,
  oneLine,
  type Print,
  type Shown,
  type Style,
} from './answer.ts'

export function pageText(page: Page, shown: Shown): string {
  const { nearest = [] } = page
  const rest = { ...page, notes: page.notes.filter(note => !isOfReading(note)) }
  if (shown.isMarkdown) {
    const sections = (items: readonly Item[]) => items.map(item => itemMarkdown(item, shown)).join('')
    const near = nearest.length === 0 ? '' : `\nNearest, not an answer:\n\n${sections(nearest)}`
    return (
      readingNotes(page, shown) + sections(page.items) + lines(footerLines(rest, shown).map(line => `- ${line}`)) + near
    )
  }
  const items = page.items.map(item => `${itemText(item, shown, page.mode !== 'list')}\n`).join('')
  // A line each: they are no answer, and `--any` shows them in full.
  const near = nearest.map(({ title, origin, excerpt, score }) =>
    shown.style.dim(`  ${titleText(title)}  ${place(origin, excerpt, shown.folder)}  ${score.toFixed(3)}`),
  )
  return (
    readingNotes(page, shown) +
    items +
    footer(rest, shown) +
    (near.length === 0 ? '' : lines(['nearest, not an answer:', ...near]))
  )
}

/** How the query was read: above the results, which depend on it. */
function readingNotes({ notes, items }: Pick<Page, 'notes' | 'items'>, { isMarkdown }: Shown): string {
  const texts = notes.filter(isOfReading).map(({ message }) => `note: ${oneLine(message)}`)
  const shown = lines(isMarkdown ? texts.map(text => `- ${markdownText(text)}`) : texts)
  return shown === '' || items.length === 0 ? shown : `${shown}\n`
}

function isOfReading({ code }: Note): boolean {
  return code === 'read_as_text' || code === 'condition_dropped' || code === 'text_cut'
}

function titleText(title: string): string {
  return oneLine(title) || '(untitled)'
}

/** The head of a result has lines, section and score of its best passage; others, or all that were asked for, need their own. */
function passagesOf({ passages }: Item, { input }: Shown): readonly Passage[] {
  return passages.length > 1 || input['passages'] !== undefined ? passages : []
}

/**
 * 1. Kernel  docs/index.md:12-18  Kernel › Segments  0.83
 *    … the lines that match …
 *    why: matches "kernel" in title and text
 */
function itemText(item: Item, shown: Shown, hasScore: boolean): string {
  const { style, folder } = shown
  const { rank, title, origin, excerpt, score, why, explanation } = item
  const where = style.dim(
    `${place(origin, excerpt, folder)}${sectionPath(excerpt)}${hasScore ? `  ${score.toFixed(3)}` : ''}  ${idOf(item)}`,
  )
  const passages = passagesOf(item, shown).map(passage => {
    const tree = passage.explanation === undefined ? '' : explanationText(passage.explanation, style)
    const head = style.dim(`${passagePlace(passage)}  ${passage.score.toFixed(3)}`)
    return `${head}\n${indented(`${highlighted(passage, style.mark)}\n${tree}`, '  ')}`
  })
  const body = passages.length > 0 ? passages.join('') : `${highlighted(excerpt, style.mark)}\n`
  const tree = explanation === undefined ? '' : explanationText(explanation, style)
  const rest = `${body}${style.dim(`why: ${oneLine(why)}`)}\n${tree}`
  return `${rank}. ${style.bold(titleText(title))}  ${where}\n${indented(rest, `${rank}. `.replace(/./g, ' '))}`
}

/** `docs/index.md`, or `docs/index.md  passage 3`. */
function idOf({ id, passage }: Item): string {
  return passage === undefined ? oneLine(id) : `${oneLine(id)}  passage ${passage}`
}

function passagePlace(passage: Passage): string {
  return place(null, passage, '') + sectionPath(passage)
}

/** Lines that are not blank. */
export function indented(text: string, indent: string): string {
  const filled = text.split('\n').filter(line => line.trim() !== '')
  return lines(filled.map(line => indent + line))
}

/** What answers of several lenses say beside their results. */
type PageEnd = Pick<Page, 'cursor' | 'verdict' | 'reason' | 'did_you_mean' | 'mode' | 'notes'> & {
  readonly nearest?: readonly unknown[] | undefined
}

/** The verdict, what else there is to know, and how to get more. */
export function footer(page: PageEnd, shown: Shown): string {
  return lines(footerLines(page, shown)) + notes(moreText(page.cursor, shown), shown)
}

function footerLines(page: PageEnd, shown: Shown): readonly string[] {
  const { style, input, isMarkdown } = shown
  const clean = (text: string) => (isMarkdown ? markdownText(oneLine(text)) : oneLine(text))
  const verdict = { answered: style.good('answered'), weak: 'weak answer', nothing_relevant: 'nothing relevant' }[
    page.verdict
  ]
  const isHinted = page.verdict === 'nothing_relevant' && input['any'] !== true && page.nearest?.length !== 0
  return [
    verdict + (page.reason === null ? '' : `: ${clean(page.reason)}`),
    ...(isHinted && !isMarkdown ? [style.dim('use --any to see the closest results')] : []),
    ...(page.did_you_mean === undefined ? [] : [`asked as: ${clean(page.did_you_mean)}`]),
    ...page.notes.map(note => `note: ${clean(note.message)}`),
    ...(isMarkdown ? moreText(page.cursor, shown).map(text => `${text.replace('more: ', 'more: `')}\``) : []),
  ]
}

function itemMarkdown(item: Item, shown: Shown): string {
  const { rank, title, origin, excerpt, score, why } = item
  const quote = (part: Excerpt) =>
    lines(
      highlighted(part, text => `**${text}**`, markdownText)
        .split('\n')
        .map(line => `> ${line}`),
    )
  const passages = passagesOf(item, shown).map(passage => {
    return `${markdownText(passagePlace(passage))}, score ${passage.score.toFixed(3)}\n\n${quote(passage)}`
  })
  const where = markdownText(place(origin, excerpt, shown.folder) + sectionPath(excerpt))
  const head = `## ${rank}. ${markdownText(titleText(title))}\n\n${where}, score ${score.toFixed(3)}, id ${markdownText(idOf(item))}\n`
  return `${head}\n${passages.length > 0 ? passages.join('\n') : quote(excerpt)}\n${markdownText(oneLine(why))}\n\n`
}

/** Highlights are spans of the text as it is, so it is cut first and cleaned after. `…` marks an end inside a sentence. */
function highlighted(excerpt: Excerpt, mark: (text: string) => string, plain = (text: string): string => text): string {
  const parts: string[] = excerpt.cut_start === true ? ['… '] : []
  let at = 0
  for (const [start, end] of excerpt.highlights) {
    if (start < at || end > excerpt.text.length) continue
    parts.push(plain(printable(excerpt.text.slice(at, start))), mark(plain(printable(excerpt.text.slice(start, end)))))
    at = end
  }
  return parts.join('') + plain(printable(excerpt.text.slice(at))) + (excerpt.cut_end === true ? ' …' : '')
}

export function place(origin: string | null, excerpt: Excerpt, workingFolder: string): string {
  const isOne = excerpt.start_line === excerpt.end_line
  const lines = isOne ? `${excerpt.start_line}` : `${excerpt.start_line}-${excerpt.end_line}`
  return origin === null ? `${isOne ? 'line' : 'lines'} ${lines}` : `${shortOrigin(origin, workingFolder)}:${lines}`
}

/** `Backups › Restoring`, with two blanks before it; empty where the excerpt is in no section. */
function sectionPath({ section }: Excerpt): string {
  return section.length === 0 ? '' : `  ${section.map(oneLine).join(' › ')}`
}

export function shortOrigin(origin: string, workingFolder: string): string {
  const path = origin.startsWith('file:') ? pathOf(origin) : origin
  if (!isAbsolute(path)) return oneLine(path)
  const short = relative(workingFolder, path)
  return oneLine(short === '' || short.startsWith('..') ? path : short)
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    return url
  }
}

const SIGNS = { sum: '+', product: '×', quotient: '÷', max: 'max' } as const

/** One line a node, each ending in a line feed; children two blanks further in. */
export function explanationText(tree: Explanation, style: Style, indent = ''): string {
  const how = tree.formula === undefined ? '' : ` (${SIGNS[tree.formula]})`
  const note = tree.note === undefined ? '' : style.dim(`  ${oneLine(tree.note)}`)
  const own = `${indent}${tree.value.toFixed(4)} ${oneLine(tree.label)}${how}${note}\n`
  return (
    own +
    (tree.children ?? [])
      .filter(child => !isOff(child))
      .map(child => explanationText(child, style, `${indent}  `))
      .join('')
  )
}

/** A part of the score whose weight is 0, such as the words of a query by meaning. */
function isOff({ formula, value, children = [] }: Explanation): boolean {
  return (
    formula === 'product' && value === 0 && children.some(part => part.value === 0 && part.label.startsWith('weight'))
  )
}

// Messages that answer a question, for people.

/** As the operation answers. */
interface Recalled extends PageEnd {
  readonly messages: readonly Message[]
  readonly nearest?: readonly Message[]
}

interface Message {
  readonly rank: number
  readonly position: number
  readonly speaker: string
  readonly text: string
  readonly neighbours?: readonly { readonly position: number }[]
  readonly explanation?: Explanation
}

export const recallText: Print<Recalled> = (answer, shown) => {
  const texts = (messages: readonly Message[]) => messages.map(message => messageText(message, shown)).join('')
  const { messages, nearest = [] } = answer
  const near = nearest.length === 0 ? '' : `\nnearest, not an answer:\n${texts(nearest)}`
  return texts(messages) + footer(answer, { ...shown, input: { any: true } }) + near
}

const ASIDE = all<Message>(
  each('?dates.length', 'dates: {dates}', 'note'),
  each('?newer_statement_of.length', 'newer than: {newer_statement_of}', 'note'),
  each('', 'why: {why}', 'note'),
)

/**
 * 1. Mira, 2025-03-14 10:02  2.028  kiln/m3
 *    Yes, we moved it to the barn last weekend.
 *    dates: weekend of 8 March 2025
 */
function messageText(message: Message, shown: Shown): string {
  const { rank, text, neighbours = [], explanation } = message
  const near = (isBefore: boolean) =>
    each(
      () => neighbours.filter(({ position }) => position < message.position === isBefore),
      '{speaker}: {text}',
      'note',
    )(message, shown)
  const body = `${near(true)}${printable(text)}\n${near(false)}${ASIDE(message, shown)}`
  const head = `{rank}. ${shown.style.bold('{speaker}{, |at minute|}')}  ${shown.style.dim('{score 3}  {id}')}`
  const tree = explanation === undefined ? '' : explanationText(explanation, shown.style)
  const named = { ...message, speaker: message.speaker.trim() || 'unknown speaker' }
  return each('', head)(named, shown) + indented(body + tree, `${rank}. `.replace(/./g, ' '))
}
