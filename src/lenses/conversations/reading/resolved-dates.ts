/** The relative dates of a conversation's messages, each counted from the day its message was written. */
import type { Conversation, Message } from '../model.ts'
import { type Day, dayOf } from './calendar.ts'
import { type RelativeDate, relativeDates } from './relative-dates.ts'

/** A list for each message, in order. */
export function resolvedDates({ messages }: Pick<Conversation, 'messages'>): readonly (readonly RelativeDate[])[] {
  const days = daysOf(messages)
  return messages.map(({ text }, index) => {
    const day = days[index]
    return day === null || day === undefined ? [] : relativeDates(text, day)
  })
}

/**
 * The day on the writer's own clock. A message without a time has the day of its session, which is that of the session's
 * first message with one; null where none has. A message with a time has its own: in a busy group a session lasts for days.
 */
function daysOf(messages: readonly Message[]): readonly (Day | null)[] {
  const sessions = new Map<string, Day>()
  for (const { session, at, zone } of messages) {
    if (at !== null && !sessions.has(session)) sessions.set(session, dayOf(at, zone))
  }
  return messages.map(({ session, at, zone }) => (at === null ? (sessions.get(session) ?? null) : dayOf(at, zone)))
}
