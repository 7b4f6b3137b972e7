import { describe, expect, it } from 'vitest'
import { ChatFields } from '../../../../../src/lenses/conversations/reading/jsonl.ts'
import { detect, readAll, readConversations } from '../../../../../src/lenses/conversations/reading/read.ts'
import { Findings } from '../../../../../src/lenses/conversations/reading/reader.ts'
import { fileOf, fixtureFiles } from '../../../../support/export-files.ts'

const one = (path: string, text: string) => [fileOf(path, text)]
const mail = 'From: ana@example.org\nDate: Fri, 14 Mar 2025 10:00:00 +0000\n\nHi\n'

describe('the format of an export', () => {
  it.each([
    ['records/chat.jsonl', 'jsonl', 1, 0],
    ['chatgpt', 'chatgpt', 1, 2],
    ['claude', 'claude', 1, 2],
    ['slack', 'slack', 6, 1],
    ['whatsapp', 'whatsapp', 3, 0],
    ['mail', 'mail', 2, 0],
    ['mail/kiln.mbox', 'mail', 1, 0],
  ] as const)('of %s is %s', async (name, format, files, others) => {
    const found = await detect(fixtureFiles(name))
    expect([found.format, found.files.length, found.others.length]).toEqual([format, files, others])
  })

  it.each([
    ['JSON Lines of another name', 'chat.txt', '{"from":"a","message":"b"}\n{"from":"b","message":"c"}\n', 'jsonl'],
    ['JSON Lines whose first line is broken', 'chat.jsonl', '{"text":\n{"text":"b"}\n', 'jsonl'],
    [
      'JSON Lines whose first line is longer than what is looked at',
      'chat.jsonl',
      `{"text":"${'x'.repeat(300_000)}"}\n{"text":"b"}\n`,
      'jsonl',
    ],
    ['one conversation by itself', 'c.json', '{"title":"T","mapping":{}}', 'chatgpt'],
    [
      'a conversation longer than what is looked at',
      'c.json',
      `[{"mapping":{"a":"${'x'.repeat(300_000)}"}}]`,
      'chatgpt',
    ],
    ['a list that is cut off', 'c.json', '[\n {"uuid":"k","chat_messages":[{"uuid":', 'claude'],
    ['a day of Slack of another name', 'day.json', '[{"user":"U1","ts":"1741946400.000100","text":"x"}]', 'slack'],
    ['a chat of iOS with a mark in front', '_chat.txt', '\u200e[14/03/25, 10:00:00] Ana: Hi', 'whatsapp'],
    ['a mail of another name', 'mail.txt', mail, 'mail'],
  ] as const)('is recognised: %s', async (_, path, text, format) => {
    expect((await detect(one(path, text))).format).toBe(format)
  })

  it.each([
    ['a text', 'notes.txt', '# Notes\n\nNothing said here.\n'],
    ['an empty file', 'empty.json', ''],
    ['an empty list', 'conversations.json', '[]'],
    ['records without a text', 'rows.jsonl', '{"id":1,"price":2}\n'],
    ['a settings file', 'package.json', '{\n "name": "x",\n "message": "y"\n}\n'],
    ['front matter', 'post.md', '---\ntitle: x\ndate: 2025-03-14\n---\nText\n'],
    ['bytes', 'photo.jpg', '\u0000\u0001'],
  ])('is refused for %s, naming those there are', async (_, path, text) => {
    await expect(detect(one(path, text))).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(new RegExp(`^format: ${path}: .*jsonl.*chatgpt.*claude.*slack.*whatsapp.*mail`)),
    })
  })

  it('is refused for files of several formats, and for none', async () => {
    const files = [...one('a.eml', mail), ...one('b.jsonl', '{"text":"x"}\n')]
    await expect(detect(files)).rejects.toMatchObject({
      message: expect.stringContaining('several formats: mail (a.eml), jsonl (b.jsonl)'),
    })
    await expect(detect([])).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(readAll([], { format: 'mail' })).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('of an archive among other files is not told: it says that it is added by its own path', async () => {
    await expect(detect(one('export.zip', 'PK\u0003\u0004'))).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('is added by its own path'),
    })
  })

  it('is recognised for mapped records by their map', async () => {
    const files = fixtureFiles('records/mapped.jsonl')
    await expect(detect(files)).rejects.toMatchObject({ code: 'invalid_argument' })
    expect((await detect(files, new ChatFields({ text: 'said.text' }))).format).toBe('jsonl')
  })

  it('can be named, and what then cannot be read is reported', async () => {
    const { conversations, problems } = await readAll(one('a.json', 'not JSON'), { format: 'claude' })
    expect(conversations).toEqual([])
    expect(problems.map(({ message }) => message)).toEqual(['not JSON: expected an array or an object'])
  })

  it('does not let one path come twice', async () => {
    const files = [...one('a.eml', mail), ...one('a.eml', mail)]
    await expect(readAll(files)).rejects.toMatchObject({ details: { field: 'files', value: '"a.eml"' } })
  })
})

describe('an export that is too large to hold', () => {
  it('is read conversation by conversation', async () => {
    let most = 0
    let held = 0
    const conversation = (n: number) =>
      `{"uuid":"c${n}","name":"","chat_messages":[{"uuid":"m","sender":"human","text":"${'x'.repeat(1000)}","created_at":"2025-03-14T10:00:00Z"}]}`
    const file = {
      path: 'conversations.json',
      *bytes() {
        const encoder = new TextEncoder()
        for (let n = 0; n < 2000; n++) {
          held++
          most = Math.max(most, held)
          yield encoder.encode(`${n === 0 ? '[' : ','}${conversation(n)}`)
        }
        yield encoder.encode(']')
      },
    }
    let count = 0
    held = 0
    for await (const { messages } of readConversations([file], { format: 'claude' }, new Findings())) {
      count += messages.length
      held--
    }
    expect(count).toBe(2000)
    expect(most).toBeLessThanOrEqual(2)
  })

  it('has its problems counted beyond a thousand', async () => {
    const { problems, unlisted } = await readAll(one('a.jsonl', '{\n'.repeat(1500)), { format: 'jsonl' })
    expect([problems.length, unlisted]).toEqual([1000, 500])
  })
})
