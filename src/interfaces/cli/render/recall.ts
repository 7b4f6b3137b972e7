/** Messages that answer a question, for people. */
import { printable } from '../../../base/printable.ts'
import type { Explanation } from '../../../model/explanation.ts'
import { all, each, type Print, type Shown } from './answer.ts'
import { explanationText, footer, indented, type PageEnd } from './page.ts'

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
  const named = { ...message, speaker: message.speaker.trim() || '(no name)' }
  return each('', head)(named, shown) + indented(body + tree, `${rank}. `.replace(/./g, ' '))
}
