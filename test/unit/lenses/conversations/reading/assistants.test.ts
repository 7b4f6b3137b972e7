import { describe, expect, it } from 'vitest'
import { readAll } from '../../../../../src/lenses/conversations/reading/read.ts'
import { fileOf, fixtureFiles } from '../../../../support/export-files.ts'
import { linesOf, problemLines } from './lines-of.ts'

const read = (path: string, value: unknown) => readAll([fileOf(path, JSON.stringify(value))])

describe('the export of ChatGPT', () => {
  it('is its current branch, and what it leaves out is counted', async () => {
    const { conversations, problems, left } = await readAll(fixtureFiles('chatgpt'))
    const [firing, voice] = conversations
    expect(conversations.map(({ id, title, profile }) => [id, title, profile])).toEqual([
      ['c-firing', 'Firing', 'assistant'],
      ['c-voice', 'Voice', 'assistant'],
    ])
    expect(linesOf(firing as never)).toEqual([
      '03-14 10:01 User: How hot is a bisque firing of earthenware?',
      '03-14 10:01 browser: cone 04 = 1060',
      '03-14 10:01 ChatGPT: Cone 04, about 1060 °C. 🔥',
      '03-14 18:00 User: Is this crack normal? [image crack.jpg]',
    ])
    expect(firing?.messages.map(({ id, role, session }) => [id, role, session])).toEqual([
      ['q1b', 'user', 'q1b'],
      ['tool', 'tool', 'q1b'],
      ['a3', 'assistant', 'q1b'],
      ['q3', 'user', 'q3'],
    ])
    expect(linesOf(voice as never)).toEqual(['no time User: Buenos días [audio file_9]'])
    expect(problemLines(problems)).toEqual([
      'conversations.json | 2 | [0].mapping.a4 | content of the unknown type hologram',
      'conversations.json | 368 | [1] | the conversation has no mapping, so no messages',
      'conversations.json | 374 | [2] | expected a JSON object',
      'conversations.json | 375 | [3] | its current_node is not among its messages; the branch of its newest message was taken',
    ])
    expect(left).toEqual({
      'file that is not part of the export (chat.html, user.json)': 2,
      'hidden message': 1,
      'standing instruction': 1,
      'reasoning of an assistant': 1,
      'message of another branch': 4,
      'conversation without a message': 1,
    })
  })

  it('takes what was said, shown and answered out of every sort of content, without marks of sources', async () => {
    const contents = [
      { content_type: 'text', parts: ['Sunny \ue200cite\ue202turn0search1\ue201today.'] },
      { content_type: 'multimodal_text', parts: [{ content_type: 'audio_transcription', text: 'Hi' }] },
      {
        content_type: 'multimodal_text',
        parts: [
          {
            content_type: 'real_time_user_audio_video_asset_pointer',
            audio_asset_pointer: { asset_pointer: 'sediment://s' },
          },
        ],
      },
      {
        content_type: 'multimodal_text',
        parts: [
          {
            content_type: 'image_asset_pointer',
            asset_pointer: 'sediment://i',
            metadata: { dalle: { prompt: 'a pot' } },
          },
        ],
      },
      { content_type: 'code', language: 'python', text: 'print(1)' },
      { content_type: 'tether_quote', title: 'Page', text: 'words', url: 'https://example.org' },
      { content_type: 'tether_browsing_display', result: 'found' },
      { content_type: 'text', parts: [''] },
      { content_type: 'text', parts: ['  \n'] },
    ]
    const mapping = contents.map((content, n) => [
      `m${n}`,
      {
        parent: n === 0 ? null : `m${n - 1}`,
        message: { author: { role: 'assistant' }, content, create_time: 1741946400 },
      },
    ])
    const { conversations, problems, left } = await read('conversations.json', [
      { id: 'c', mapping: Object.fromEntries(mapping), current_node: 'm8' },
    ])
    expect(linesOf(conversations[0] as never).map(line => line.replace('03-14 10:00 ChatGPT: ', ''))).toEqual([
      'Sunny today.',
      'Hi',
      '[audio s]',
      '[image i a pot]',
      'print(1)',
      'Page\nwords\nhttps://example.org',
      'found',
    ])
    expect([problems, left]).toEqual([[], { 'empty message': 2 }])
  })

  it('goes up from its last node to a message that is missing, and round a circle once', async () => {
    const node = (id: string, parent: string | null, at: number) => [
      id,
      { id, parent, message: { id, author: { role: 'user' }, create_time: at, content: { parts: [id] } } },
    ]
    const gap = [node('a', null, 1741946400), node('c', 'b', 1741946402), node('d', 'c', 1741946403)]
    const circle = [node('x', 'y', 1741946400), node('y', 'x', 1741946401)]
    const { conversations, left } = await read('conversations.json', [
      { id: 'gap', mapping: Object.fromEntries(gap), current_node: 'd' },
      { id: 'circle', mapping: Object.fromEntries(circle), current_node: 'y' },
    ])
    expect(conversations.map(({ messages }) => messages.map(({ id }) => id))).toEqual([
      ['c', 'd'],
      ['x', 'y'],
    ])
    expect(left).toEqual({ 'message of another branch': 1 })
  })

  it('is read conversation by conversation: one that is broken or cut off is reported, and the others are read', async () => {
    const one = (id: string) =>
      `{"id":"${id}","mapping":{"a":{"id":"a","parent":null,"message":{"author":{"role":"user"},"content":{"parts":["${id}"]}}}},"current_node":"a"}`
    const whole = `[${one('x')},${one('y')},${one('z')}]`
    const read = async (text: string) => {
      const { conversations, problems } = await readAll([fileOf('conversations.json', text)])
      return { ids: conversations.map(({ id }) => id), problems: problemLines(problems) }
    }
    const broken = await read(whole.replace('"parts":["y"]', '"parts":[y]'))
    expect(broken).toEqual({ ids: ['x', 'z'], problems: [expect.stringContaining('[1] | not JSON')] })
    expect(await read(whole.slice(0, whole.indexOf('"parts":["z')))).toEqual({
      ids: ['x', 'y'],
      problems: [
        'conversations.json | 1 | [2] | the file ends within it; it was skipped',
        'conversations.json | the file ends before its JSON does: it was cut off',
      ],
    })
  })
})

describe('the export of Claude', () => {
  it('is its messages with what was attached, of a tree the current branch', async () => {
    const { conversations, problems, left } = await readAll(fixtureFiles('claude'))
    expect(conversations.map(({ id, title, profile }) => [id, title, profile])).toEqual([
      ['k-1', 'Glaze recipe', 'assistant'],
      ['k-2', '', 'assistant'],
    ])
    expect(linesOf(conversations[0] as never)).toEqual([
      '03-14 10:00 User: What is in this recipe? [document recipe.txt 40 feldspar, 30 silica]',
      '03-14 10:00 Claude: Feldspar and silica.\n\n40 to 30.',
      'no time robot: I am neither.',
    ])
    expect(linesOf(conversations[1] as never)).toEqual(['03-15 10:00 User: One?', '03-15 10:00 Claude: Second try.'])
    expect(problemLines(problems)).toEqual([
      'conversations.json | 2 | [0].chat_messages[3] | the sender robot is neither human nor assistant',
      'conversations.json | 2 | [0].chat_messages[3] | its created_at is not a time; it was stored without one',
    ])
    expect(left).toEqual({
      'file that is not part of the export (projects.json, users.json)': 2,
      'reasoning of an assistant': 1,
      'call of a tool': 1,
      'empty message': 1,
      'message of another branch': 1,
      'conversation without a message': 1,
    })
  })
})
