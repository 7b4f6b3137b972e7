import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChatFormat } from '../../../../../src/lenses/conversations/reading/read.ts'
import { readAll } from '../../../../../src/lenses/conversations/reading/read.ts'
import { fileOf } from '../../../../support/export-files.ts'

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
        const told = conversations.length + problems.length + Object.values(left).reduce((sum, count) => sum + count, 0)
        expect(values.length === 0 || told > 0).toBe(true)
      }),
      { numRuns: LONG ? 20_000 : 200 },
    )
  }, 600_000)
})
