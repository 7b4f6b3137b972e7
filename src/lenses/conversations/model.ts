/** A conversation and its messages in the one form that every format is read into. */
import type { Instant } from '../../base/clock.ts'

/** Of whom a conversation is: people among each other, or somebody with an assistant. */
export type Profile = 'people' | 'assistant'

export type Role = 'user' | 'assistant' | 'system' | 'tool'
export const ROLES: readonly Role[] = ['user', 'assistant', 'system', 'tool']

/** What came with a message: a picture, a file. Its bytes are not read. */
export interface Attachment {
  /** `image`, `video`, `audio`, `sticker`, `document`, `contact`, `location`, `link`, `media` (of an unknown kind), `file`. */
  readonly kind: string
  /** What is said of it in words: a description, what was spoken, the text in a document. */
  readonly caption: string | null
  readonly name: string | null
}

export interface Message {
  /** The same whenever the same message is read again. */
  readonly id: string
  /** Id of its conversation. */
  readonly conversation: string
  /** Messages of one session were written in one sitting. */
  readonly session: string
  /** From 0, within the conversation. */
  readonly position: number
  /** Empty where the export does not say who it was. */
  readonly speaker: string
  readonly role: Role | null
  readonly at: Instant | null
  /** Minutes that its writer's clock was ahead of UTC; null where it is not known. */
  readonly zone: number | null
  /** Id of the message it answers. That one may be missing where an export is incomplete. */
  readonly replyTo: string | null
  readonly text: string
  readonly attachments: readonly Attachment[]
  /** When it was changed, or null with no time known; absent: it never was. */
  readonly edited?: { readonly at: Instant | null } | undefined
  /** Its writer took it back; the text is empty then. */
  readonly deleted: boolean
}

export interface Conversation {
  readonly id: string
  /** Empty where the export gives none. */
  readonly title: string
  readonly profile: Profile
  /** In order of position. */
  readonly messages: readonly Message[]
}
