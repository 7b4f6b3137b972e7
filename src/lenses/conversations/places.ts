/** The places of an export's messages while they are written, batch by batch: others may write in between. */
import type { Audience } from '../../model/partition.ts'
import { entriesChangedAfter } from '../../pipeline/feed.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Conversation } from './model.ts'
import { placedMessages } from './place-messages.ts'
import type { Placed } from './write-message.ts'

export class Places {
  readonly #conversation: Conversation
  readonly #audience: Audience
  #placed: readonly Placed[] | null = null
  #seq = 0

  constructor(conversation: Conversation, audience: Audience) {
    this.#conversation = conversation
    this.#audience = audience
  }

  /** Of the messages from one number to another, in the store as it is now. */
  of(reader: StoreReader, from: number, to: number): readonly Placed[] {
    if (this.#placed === null || this.#isOvertaken(reader)) {
      this.#placed = placedMessages(reader, this.#conversation, this.#audience)
    }
    return this.#placed.slice(from, to)
  }

  /** All that was written until now was these messages, or is known to their places. */
  written(reader: StoreReader): void {
    this.#seq = reader.lastSeq()
  }

  #isOvertaken(reader: StoreReader): boolean {
    return entriesChangedAfter(reader, this.#seq)?.entries.size !== 0
  }
}
