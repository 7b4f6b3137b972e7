/** Messages that answer a question, for people. */

import { printable } from '../../../base/printable.ts'
import type { Explanation } from '../../../model/explanation.ts'
import type { Print } from './answer.ts'
import { explanationText } from './explanation.ts'
import { footer, type PageEnd } from './page.ts'
import { oneLine, type Style } from './style.ts'

/** As the operation answers. */
export interface Recalled extends PageEnd {
  readonly messages: readonly RecalledMessage[]
  readonly nearest?: readonly RecalledMessage[]
}

interface Said {
  readonly speaker: string
  readonly position: number
  readonly at: string | null
  readonly text: string
}

interface RecalledMessage extends Said {
  readonly rank: number
  readonly id: string
  readonly score: number
  readonly dates: readonly string[]
  readonly newer_statement_of: readonly string[]
  readonly neighbours?: readonly Said[]
  readonly why: string
  readonly explanation?: Explanation
}

export const recallText: Print<Recalled> = (answer, shown) => {
  const texts = (messages: readonly RecalledMessage[]) => {
    return messages.map(message => messageText(message, shown.style)).join('')
  }
  const { messages, nearest = [] } = answer
  const near = nearest.length === 0 ? '' : `\nnearest, not an answer:\n${texts(nearest)}`
  return texts(messages) + footer(answer, { ...shown, input: { any: true } }) + near
}

/**
 * 1. Mira, 2025-03-14 10:02  2.028  kiln/m3
 *    Yes, we moved it to the barn last weekend.
 *    dates: weekend of 8 March 2025
 */
function messageText(message: RecalledMessage, style: Style): string {
  const { rank, id, score, text, dates, newer_statement_of: older, neighbours = [], why, explanation } = message
  const indent = ' '.repeat(`${rank}. `.length)
  const aside = (label: string, text: string) => `${indent}${style.dim(`${label}: ${oneLine(text)}`)}\n`
  const near = (isBefore: boolean) =>
    neighbours
      .filter(({ position }) => position < message.position === isBefore)
      .map(each => `${indent}${style.dim(`${nameOf(each.speaker)}: ${oneLine(each.text)}`)}\n`)
      .join('')
  const head = `${style.bold(whoAndWhen(message))}  ${style.dim(`${score.toFixed(3)}  ${oneLine(id)}`)}`
  return [
    `${rank}. ${head}\n`,
    near(true),
    ...printable(text)
      .split('\n')
      .filter(line => line.trim() !== '')
      .map(line => `${indent}${line}\n`),
    near(false),
    dates.length === 0 ? '' : aside('dates', dates.join('; ')),
    older.length === 0 ? '' : aside('newer than', older.join(', ')),
    aside('why', why),
    explanation === undefined ? '' : explanationText(explanation, style, indent),
  ].join('')
}

function whoAndWhen({ speaker, at }: RecalledMessage): string {
  const time = at === null ? '' : at.slice(0, 16).replace('T', ' ')
  return [nameOf(speaker), time].filter(part => part !== '').join(', ')
}

function nameOf(speaker: string): string {
  return oneLine(speaker) || '(no name)'
}
