/** A page of results, for people: as text, and as Markdown. */

import { printable } from '../../../base/printable.ts'
import type { Excerpt, Item, Page, Passage } from '../../../model/page.ts'
import { moreText, notes, type Shown } from './answer.ts'
import { explanationText } from './explanation.ts'
import { place, sectionPath } from './place.ts'
import { oneLine, type Style } from './style.ts'
import { markdownText } from './table.ts'

interface PageAsked {
  /** What is not relevant enough was asked for too, or cannot be. */
  readonly any?: boolean | undefined
  /** So many passages of each were asked for, so that one is shown as several are. */
  readonly passages?: number | undefined
}

/** The head of a result has lines, section and score of its best passage; others need their own. */
function hasPassages({ passages }: Item, asked: PageAsked): boolean {
  return passages.length > 1 || (asked.passages !== undefined && passages.length > 0)
}

export function pageText(page: Page, shown: Shown): string {
  const { style, folder, input, isMarkdown } = shown
  const asked = { any: input['any'] === true, passages: input['passages'] as number | undefined }
  if (isMarkdown) return pageMarkdown(page, folder, asked)
  const items = page.items.map(item => `${itemText(item, style, folder, asked)}\n`).join('')
  return items + footer(page, shown) + nearestText(page, style, folder)
}

/** A line each: they are no answer, and `--any` shows them in full. */
function nearestText({ nearest = [] }: Page, style: Style, workingFolder: string): string {
  if (nearest.length === 0) return ''
  const lines = nearest.map(({ title, origin, excerpt, score }) =>
    style.dim(`  ${oneLine(title) || '(untitled)'}  ${place(origin, excerpt, workingFolder)}  ${score.toFixed(3)}`),
  )
  return ['nearest, not an answer:', ...lines].map(line => `${line}\n`).join('')
}

/**
 * 1. Kernel  docs/index.md:12-18  Kernel › Segments  0.83
 *    … the lines that match …
 *    why: matches "kernel" in title and text
 */
function itemText(item: Item, style: Style, workingFolder: string, asked: PageAsked): string {
  const indent = ' '.repeat(`${item.rank}. `.length)
  const where = style.dim(
    `${place(item.origin, item.excerpt, workingFolder)}${sectionPath(item.excerpt)}  ${item.score.toFixed(3)}  ${idOf(item)}`,
  )
  const head = `${item.rank}. ${style.bold(oneLine(item.title) || '(untitled)')}  ${where}\n`
  const body = hasPassages(item, asked)
    ? item.passages.map(passage => passageText(passage, style, indent)).join('')
    : lines(highlighted(item.excerpt, style.mark), indent)
  const why = `${indent}${style.dim(`why: ${oneLine(item.why)}`)}\n`
  return head + body + why + (item.explanation ? explanationText(item.explanation, style, indent) : '')
}

/** `docs/index.md`, or `docs/index.md  passage 3`. */
function idOf({ id, passage }: Item): string {
  return passage === undefined ? oneLine(id) : `${oneLine(id)}  passage ${passage}`
}

/**
 *    lines 12-18  Install › From source  0.83
 *      … the lines that match …
 */
function passageText(passage: Passage, style: Style, indent: string): string {
  const head = style.dim(`${passagePlace(passage)}  ${passage.score.toFixed(3)}`)
  const { explanation } = passage
  const why = explanation === undefined ? '' : explanationText(explanation, style, `${indent}  `)
  return `${indent}${head}\n${lines(highlighted(passage, style.mark), `${indent}  `)}${why}`
}

function passagePlace(passage: Passage): string {
  return place(null, passage, '') + sectionPath(passage)
}

/** Those that are not blank. */
function lines(text: string, indent: string): string {
  return text
    .split('\n')
    .filter(line => line.trim() !== '')
    .map(line => `${indent}${line}\n`)
    .join('')
}

/** What answers of several lenses say beside their results. */
export type PageEnd = Pick<Page, 'cursor' | 'verdict' | 'verdict_by' | 'reason' | 'did_you_mean' | 'mode' | 'notes'> & {
  readonly nearest?: readonly unknown[] | undefined
}

/** The verdict, what else there is to know, and how to get more. */
export function footer(page: PageEnd, shown: Shown): string {
  const byWords = page.verdict_by === 'words' && page.mode === 'hybrid' ? ['judged by words alone'] : []
  const spelling = page.did_you_mean === undefined ? [] : [`asked as: ${oneLine(page.did_you_mean)}`]
  const lines = [
    verdictLine(page, shown),
    ...byWords,
    ...spelling,
    ...page.notes.map(note => `note: ${oneLine(note.message)}`),
  ]
  return lines.map(line => `${line}\n`).join('') + notes(moreText(page.cursor, shown), shown)
}

function verdictLine(page: PageEnd, { style, input: { any } }: Shown): string {
  const reason = page.reason === null ? '' : `: ${oneLine(page.reason)}`
  switch (page.verdict) {
    case 'answered':
      return style.good('answered') + reason
    case 'weak':
      return `weak answer${reason}`
    case 'nothing_relevant': {
      const hint = any === true || page.nearest?.length === 0 ? '' : `\n${style.dim('--any shows what comes nearest')}`
      return `nothing relevant${reason}${hint}`
    }
  }
}

function pageMarkdown(page: Page, workingFolder: string, asked: PageAsked): string {
  const sections = (items: readonly Item[]) => items.map(item => itemMarkdown(item, workingFolder, asked)).join('')
  const { nearest = [] } = page
  const reason = page.reason === null ? '' : `: ${markdownText(oneLine(page.reason))}`
  const notes = page.notes.map(note => `- note: ${markdownText(oneLine(note.message))}\n`)
  const more = page.cursor === null ? '' : `- more: \`--cursor ${page.cursor}\`\n`
  const spelling = page.did_you_mean === undefined ? '' : `- asked as: ${markdownText(oneLine(page.did_you_mean))}\n`
  const near = nearest.length === 0 ? '' : `\nNearest, not an answer:\n\n${sections(nearest)}`
  const verdict = `- ${page.verdict.replace('_', ' ')}${reason}\n`
  return sections(page.items) + verdict + spelling + notes.join('') + more + near
}

function itemMarkdown(item: Item, workingFolder: string, asked: PageAsked): string {
  const passageMarkdown = (each: Passage) =>
    `${markdownText(passagePlace(each))}, score ${each.score.toFixed(3)}\n\n${quoteMarkdown(each)}`
  const quote = hasPassages(item, asked) ? item.passages.map(passageMarkdown).join('\n') : quoteMarkdown(item.excerpt)
  const where = markdownText(place(item.origin, item.excerpt, workingFolder) + sectionPath(item.excerpt))
  const head = `## ${item.rank}. ${markdownText(oneLine(item.title) || '(untitled)')}\n\n${where}, score ${item.score.toFixed(3)}, id ${markdownText(idOf(item))}\n`
  return `${head}\n${quote}\n${markdownText(oneLine(item.why))}\n\n`
}

function quoteMarkdown(excerpt: Excerpt): string {
  return highlightedMarkdown(excerpt)
    .split('\n')
    .map(line => `> ${line}\n`)
    .join('')
}

function highlightedMarkdown(excerpt: Excerpt): string {
  return highlighted(excerpt, text => `**${text}**`, markdownText)
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
