/** Many long conversations of made-up words, as JSON Lines: the same ones in every run. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seededUniform } from '../../../test/support/seeded.ts'
import { ZipfTexts } from '../text-data.ts'

const SPEAKERS = ['Mira', 'Tom', 'Ada', 'Ben']
const BEGIN = Date.UTC(2024, 0, 1, 18)
const DAY_MS = 24 * 60 * 60 * 1000
const MINUTE_MS = 60_000
/** Messages of one sitting; a sitting a day. */
const SITTING = 20
const SHORTEST = 6
const LONGEST = 30
const ASKING = 0.3

export function chatName(at: number): string {
  return `chat-${at}`
}

/** A file each in a new folder. */
export function writeChats(folder: string, conversations: number, messages: number): void {
  mkdirSync(folder)
  const texts = new ZipfTexts(11)
  const uniform = seededUniform(12)
  for (let at = 0; at < conversations; at++) {
    const lines = Array.from({ length: messages }, (_, place) => {
      const words = SHORTEST + Math.floor(uniform() * (LONGEST - SHORTEST))
      const sitting = Math.floor(place / SITTING)
      const time = BEGIN + sitting * DAY_MS + (place % SITTING) * MINUTE_MS
      const record = {
        id: `m${place}`,
        conversation: chatName(at),
        speaker: SPEAKERS[(at + place) % 2 ? at % SPEAKERS.length : (at + 1) % SPEAKERS.length],
        at: new Date(time).toISOString(),
        text: `${texts.prose(words)}${uniform() < ASKING ? '?' : '.'}`,
      }
      return `${JSON.stringify(record)}\n`
    })
    writeFileSync(join(folder, `${chatName(at)}.jsonl`), lines.join(''))
  }
}
