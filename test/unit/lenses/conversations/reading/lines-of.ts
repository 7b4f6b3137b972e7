/** Conversations as lines that a test can compare with what a person would have written down. */
import type { Conversation, Message } from '../../../../../src/lenses/conversations/model.ts'
import type { Problem } from '../../../../../src/lenses/conversations/reading/reader.ts'

/** `10:01+01:00 Mira: text [image barn.jpg]`, the time as its writer's clock showed it. */
export function linesOf(conversation: Conversation): readonly string[] {
  return conversation.messages.map(lineOf)
}

function lineOf(message: Message): string {
  const { at, zone, speaker, text, attachments, edited, deleted } = message
  const shown = [
    at === null ? 'no time' : timeOf(at, zone),
    `${speaker}:`,
    ...(text === '' ? [] : [text]),
    ...attachments.map(({ kind, name, caption }) => `[${[kind, name, caption].filter(one => one !== null).join(' ')}]`),
    ...(edited === undefined ? [] : ['(edited)']),
    ...(deleted ? ['(deleted)'] : []),
  ]
  return shown.join(' ')
}

function timeOf(at: number, zone: number | null): string {
  const local = new Date(at + (zone ?? 0) * 60_000).toISOString().replace('T', ' ').slice(5, 16)
  if (zone === null) return local
  const minutes = Math.abs(zone)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${local}${zone < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

export function problemLines(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ path, line, at, message }) =>
    [path, line, at, message].filter(one => one !== null).join(' | '),
  )
}
