/** Conversations and messages in the one form into which every export format is converted. */
import type { Instant } from '../../base/clock.ts'

/** Who takes part in a conversation: people with each other, or a person with an assistant. */
export type Profile = 'people' | 'assistant'

export type Role = 'user' | 'assistant' | 'system' | 'tool'
export const ROLES: readonly Role[] = ['user', 'assistant', 'system', 'tool']

/** An attachment of a message: a picture, a file. Its bytes are not read. */
export interface Attachment {
  /**
   * Kind of attachment: `image`, `video`, `audio`, `sticker`, `document`, `contact`, `location`, `link`, `media` (of an unknown kind) or
   * `file`.
   */
  readonly kind: string
  /** Text about the attachment: a description, a transcript of speech, the text of a document. */
  readonly caption: string | null
  readonly name: string | null
}

export interface Message {
  /** Id of the message; reading the export again gives the same id. */
  readonly id: string
  /** Id of the message's conversation. */
  readonly conversation: string
  /** Name of the session, a part of the conversation without long pauses, to which the message belongs. */
  readonly session: string
  /** Position of the message within the conversation, from 0. */
  readonly position: number
  /** Name of the speaker; empty where the export does not give it. */
  readonly speaker: string
  readonly role: Role | null
  readonly at: Instant | null
  /** Offset of the writer's clock from UTC in minutes, positive to the east; null where it is unknown. */
  readonly zone: number | null
  /** Id of the message that this one answers, which may be missing from an incomplete export. */
  readonly replyTo: string | null
  readonly text: string
  readonly attachments: readonly Attachment[]
  /** When the message was edited; null where that time is unknown. Absent: it was never edited. */
  readonly edited?: { readonly at: Instant | null } | undefined
  /** Whether the writer deleted the message; the text is empty then. */
  readonly deleted: boolean
}

export interface Conversation {
  readonly id: string
  /** Title of the conversation; empty where the export gives none. */
  readonly title: string
  readonly profile: Profile
  /** Messages of the conversation, in order of their positions. */
  readonly messages: readonly Message[]
}
