/** Exports of every format: read back as they were written, cut anywhere, with bytes changed, and with anything in their fields. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ChatFormat, readAll } from '../../../../../src/lenses/conversations/reading/read.ts'
import type { ExportFile } from '../../../../../src/lenses/conversations/reading/reader.ts'
import { type Said, WRITERS } from '../../../../support/chat-writers.ts'
import { fileOf } from '../../../../support/export-files.ts'

describe('an export of any content', () => {
  const START = Date.parse('2025-03-14T10:00:00Z')
  const RUNS = { numRuns: process.env['QUERENT_LONG'] === '1' ? 3_000 : 60 }

  const NAMES = ['Ana', 'Tom O’Hara', 'נועה', 'Mira 🌿', 'Ángel Ñ', '李雷']
  const WORDS = [
    ...['kiln', 'From here', 'ñandú 🎉', 'שלום', 'a "quoted" word', '{"mapping": [', '] }', '\\', '1 < 2 & 3 > 2'],
    ...['12:30', 'C:\\pots', '10/10', 'wrote', '🧑‍🚒', 'e\u0301', '<b>'],
  ]
  /** Lines that every format can tell apart from its own marks, and that mail does not take for a quotation or signature. */
  const text = fc
    .array(
      fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }).map(words => words.join(' ')),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .map(lines => lines.join('\n'))
  /** In order, to the minute, some of them days apart. */
  const chat = fc
    .array(
      fc.record({
        speaker: fc.constantFrom(...NAMES),
        text,
        minutes: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 300, max: 5000 })),
      }),
      { minLength: 1, maxLength: 12 },
    )
    .map(parts => {
      let at = START
      return parts.map(({ speaker, text, minutes }): Said => {
        at += minutes * 60_000
        return { speaker, text, at }
      })
    })

  describe.each(WRITERS)('%s', (_, format, write) => {
    it('is read back as it was written, whatever the pieces it comes in', async () => {
      await fc.assert(
        fc.asyncProperty(chat, fc.integer({ min: 1, max: 5000 }), async (messages, pieceSize) => {
          const { conversations } = await readAll(write(messages).files(pieceSize))
          expect(conversations).toHaveLength(1)
          const read = conversations[0]?.messages.map(({ speaker, text, at }) => ({ speaker, text, at }))
          expect(read?.map(one => ({ ...one, at: Math.floor((one.at ?? 0) / 1000) * 1000 }))).toEqual(messages)
        }),
        RUNS,
      )
    })

    it('loses no whole message before the place where it was cut, and never throws', async () => {
      await fc.assert(
        fc.asyncProperty(chat, fc.nat(), fc.integer({ min: 1, max: 5000 }), async (messages, place, pieceSize) => {
          const written = write(messages)
          const length = place % (written.length + 1)
          const { conversations, problems } = await readAll(written.files(pieceSize, length), { format })
          const read = conversations.flatMap(conversation => conversation.messages)
          // There a conversation is one record, which is read whole or reported.
          if (format === 'chatgpt' || format === 'claude') {
            expect([0, messages.length]).toContain(read.length)
            if (length < written.length - 2) expect(problems).not.toEqual([])
            return
          }
          const whole = messages.filter((_, index) => (written.ends[index] as number) <= length)
          const texts = read.slice(0, whole.length).map(one => one.text)
          // In plain text the beginning of the next message looks like one more line of the last.
          const isPlain = format === 'whatsapp' || format === 'mail'
          const last = whole.at(-1)?.text ?? ''
          if (isPlain && texts.at(-1)?.startsWith(`${last}\n`)) texts[texts.length - 1] = last
          expect(texts).toEqual(whole.map(one => one.text))
          expect(read.length - whole.length).toBeLessThanOrEqual(1)
          if (format === 'slack' && length < written.length - 2) expect(problems).not.toEqual([])
        }),
        RUNS,
      )
    })

    it('keeps ids, positions and sessions when more was written since', async () => {
      await fc.assert(
        fc.asyncProperty(chat, fc.nat(), async (messages, count) => {
          const first = messages.slice(0, 1 + (count % messages.length))
          const [before, after] = [await readAll(write(first).files(1000)), await readAll(write(messages).files(1000))]
          const known = (reading: typeof before) =>
            reading.conversations.flatMap(({ messages }) =>
              messages.map(({ id, conversation, session, position }) => ({ id, conversation, session, position })),
            )
          expect(known(after).slice(0, first.length)).toEqual(known(before))
          const ids = known(after).map(({ id }) => id)
          expect(new Set(ids).size).toBe(ids.length)
        }),
        RUNS,
      )
    })

    it('is read without a throw when bytes of it are changed', async () => {
      await fc.assert(
        fc.asyncProperty(
          chat,
          fc.nat(),
          fc.uint8Array({ minLength: 1, maxLength: 20 }),
          async (messages, place, noise) => {
            const written = write(messages)
            const files = written.files(1 << 20)
            const last = files.at(-1) as ExportFile
            const [bytes] = [...(last.bytes() as Iterable<Uint8Array>)]
            const changed = new Uint8Array(bytes ?? [])
            changed.set(noise.subarray(0, changed.length - (place % changed.length)), place % changed.length)
            const file = { path: last.path, bytes: () => [changed] }
            const { conversations } = await readAll([...files.slice(0, -1), file], { format })
            for (const { messages } of conversations) {
              expect(messages.map(({ position }) => position)).toEqual(messages.map((_, index) => index))
              expect(messages.every(one => one.text.isWellFormed() && !one.text.includes('\0'))).toBe(true)
            }
          },
        ),
        RUNS,
      )
    })
  })
})

describe('an export with anything in its fields', () => {
  const LONG = process.env['QUERENT_LONG'] === '1'

  /** Mostly what belongs there, sometimes anything. */
  const or = <T>(value: fc.Arbitrary<T>) => fc.oneof({ weight: 4, arbitrary: value }, fc.jsonValue({ maxDepth: 2 }))
  const record = (fields: Record<string, fc.Arbitrary<unknown>>) => or(fc.record(fields, { requiredKeys: [] }))
  const list = (value: fc.Arbitrary<unknown>) => or(fc.array(value, { maxLength: 4 }))
  const id = or(fc.constantFrom('a', 'b', 'c', 'd', '__proto__', 'constructor'))
  const text = or(fc.string({ unit: 'binary', maxLength: 8 }))
  const seconds = or(fc.constantFrom<unknown>(1741946400, 0, -1, 1e17, '1741946400.000100', '2025-03-14T10:00:00Z'))

  const part = record({
    content_type: or(fc.constantFrom('image_asset_pointer', 'audio_transcription')),
    text,
    asset_pointer: text,
  })
  const chatgptMessage = record({
    id,
    author: record({ role: or(fc.constantFrom('user', 'assistant', 'system', 'tool')), name: text }),
    create_time: seconds,
    content: record({
      content_type: or(fc.constantFrom('text', 'multimodal_text', 'code')),
      parts: list(or(part)),
      text,
    }),
    metadata: record({ attachments: list(record({ id, name: text })) }),
  })
  const chatgpt = record({
    id,
    title: text,
    create_time: seconds,
    current_node: id,
    mapping: or(
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', '__proto__'), record({ parent: id, message: chatgptMessage })),
    ),
  })
  const claude = record({
    uuid: id,
    name: text,
    current_leaf_message_uuid: id,
    chat_messages: list(
      record({
        uuid: id,
        parent_message_uuid: id,
        sender: or(fc.constantFrom('human', 'assistant', 'constructor')),
        text,
        content: list(record({ type: or(fc.constantFrom('text', 'thinking', 'constructor')), text })),
        created_at: seconds,
        attachments: list(record({ file_name: text, extracted_content: text })),
      }),
    ),
  })
  const slack = record({
    type: or(fc.constant('message')),
    subtype: or(fc.constantFrom('bot_message', 'tombstone', 'channel_join')),
    user: id,
    ts: seconds,
    thread_ts: seconds,
    text,
    edited: record({ ts: seconds }),
    files: list(record({ name: text, mimetype: text })),
    attachments: list(record({ text, from_url: text })),
    blocks: list(record({ text: or(record({ text })), elements: list(record({ text })) })),
  })
  const jsonl = record({
    id,
    conversation: id,
    speaker: text,
    role: or(fc.constantFrom('user', 'x')),
    at: seconds,
    text,
    reply_to: id,
  })

  const FORMATS: readonly (readonly [ChatFormat, fc.Arbitrary<unknown>])[] = [
    ['chatgpt', chatgpt],
    ['claude', claude],
    ['slack', slack],
    ['jsonl', jsonl],
  ]

  describe.each(FORMATS)('an export like %s with anything in its fields', (format, value) => {
    it('is read without a throw into messages that can be kept, whose ids are their own', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(value, { maxLength: 5 }), async values => {
          const lines = values.map(one => JSON.stringify(one))
          const content = format === 'jsonl' ? lines.join('\n') : `[${lines.join(',')}]`
          const { conversations, problems, left } = await readAll([fileOf('2025-03-14.json', content)], { format })
          for (const { id, messages } of conversations) {
            expect(new Set(messages.map(one => one.id)).size).toBe(messages.length)
            for (const message of messages) {
              expect(message.conversation).toBe(id)
              expect(`${message.text}${message.speaker}${message.id}`.isWellFormed()).toBe(true)
              expect(message.at === null || Number.isInteger(message.at)).toBe(true)
              expect(message.zone).toBe(null)
              expect(message.text !== '' || message.attachments.length > 0 || message.deleted).toBe(true)
            }
          }
          const reported =
            conversations.length + problems.length + Object.values(left).reduce((sum, count) => sum + count, 0)
          expect(values.length === 0 || reported > 0).toBe(true)
        }),
        { numRuns: LONG ? 20_000 : 200 },
      )
    })
  })
})
