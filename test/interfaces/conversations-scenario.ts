/** The lens conversations at every interface, by the rules of `scenario.ts`. */
import { expect } from 'vitest'
import { recompute } from '../../src/model/explanation.ts'
import type { Step } from './scenario.ts'

export const CONVERSATIONS_STEPS: readonly Step[] = [
  {
    name: 'remember a question',
    operation: 'conversations.remember',
    input: {
      ...{ text: 'Did you find a place for the kiln?', speaker: 'Tom', conversation: 'home', id: 'q' },
      at: '2025-03-14T10:00:00Z',
    },
    expect: ({ result }) => expect(result).toMatchObject({ id: 'home/q', position: 0, created: true }),
  },
  {
    name: 'and its answer',
    operation: 'conversations.remember',
    input: {
      ...{ text: 'In the barn, since yesterday.', speaker: 'Mira', conversation: 'home', id: 'a', reply_to: 'q' },
      ...{ at: '2025-03-14T10:01:00Z', tags: ['pottery'] },
    },
    expect: ({ result }) => expect(result).toMatchObject({ id: 'home/a', session: 'q', position: 1 }),
  },
  {
    name: 'the same id again',
    operation: 'conversations.remember',
    input: { text: 'In the barn, since the day before yesterday.', conversation: 'home', id: 'a' },
    expect: ({ result }) => expect(result).toMatchObject({ position: 1, created: false }),
  },
  {
    name: 'ask for it',
    operation: 'query',
    input: { text: 'kiln', lens: 'conversations', touch: false },
    expect: ({ result }) => expect(result.items).toMatchObject([{ id: 'home/q' }, { title: 'Mira, 14 March 2025' }]),
  },
  {
    name: 'ask with all that is told of a message',
    operation: 'conversations.query',
    input: { text: 'When did Mira find a place for the kiln?', touch: false, explain: true, neighbours: 1 },
    expect: ({ result }) => {
      expect(result).toMatchObject({ order: 'rank', verdict: 'answered', cursor: null })
      expect(result.messages[0]).toMatchObject({
        ...{ id: 'home/a', speaker: 'Mira', conversation: 'home', partial: false, dates: ['12 March 2025'] },
        neighbours: [{ id: 'home/q', speaker: 'Tom' }],
      })
      for (const { score, explanation } of result.messages) expect(recompute(explanation)).toBe(score)
    },
  },
  {
    name: 'why a message is there',
    operation: 'conversations.explain',
    input: { query: { text: 'kiln', conversations: ['home'] }, id: 'home/q' },
    expect: ({ result }) => expect(result).toMatchObject({ id: 'home/q', dropped: null }),
  },
  {
    name: 'count messages',
    operation: 'conversations.count',
    input: { text: 'kiln', conversations: ['home'] },
    expect: ({ result }) => expect(result).toMatchObject({ exact: true, verdict: 'answered' }),
  },
  {
    name: 'watching messages has no whole answer',
    operation: 'conversations.watch',
    input: { text: 'kiln' },
    expect: ({ error }) => expect(error.code).toBe('invalid_argument'),
  },
  {
    name: 'ask for the first page',
    operation: 'conversations.query',
    input: { text: 'kiln', conversations: ['home'], limit: 1, touch: false },
    expect: ({ result }) => expect(result.messages).toMatchObject([{ id: 'home/q' }]),
  },
  {
    name: 'and for the next',
    operation: 'conversations.query',
    inputFrom: answers => ({
      ...{ text: 'kiln', conversations: ['home'], limit: 1, touch: false },
      cursor: answers.get('ask for the first page').cursor,
    }),
    expect: ({ result }) => expect(result.messages).toMatchObject([{ id: 'home/a', rank: 2 }]),
  },
  {
    name: 'ask within a budget, of one speaker, of a past moment',
    operation: 'conversations.query',
    input: { text: 'kiln', speakers: ['Tom'], max_tokens: 200, as_of: '2025-03-14T10:00:30Z', touch: false },
    expect: ({ result }) => expect(result).toMatchObject({ order: 'time', messages: [{ id: 'home/q' }] }),
  },
  {
    name: 'a question with a field that there is not',
    operation: 'conversations.query',
    input: { text: 'kiln', speaker: 'Tom' },
    expect: ({ error }) => expect(error).toMatchObject({ code: 'unknown_field' }),
  },
  {
    name: 'a condition on a field that no question may name',
    operation: 'query',
    input: { text: 'kiln', filter: { fields: { 'conversations.thread': 'x' } } },
    expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument' }),
  },
  {
    name: 'ask the default lens, of messages alone',
    operation: 'query',
    input: { text: 'kiln conversations.speaker:Mira', touch: false },
    expect: ({ result }) => {
      expect(result).toMatchObject({ lens: 'default', items: [{ id: 'home/a' }] })
      expect(result.items[0].components).toHaveProperty('neighbours')
    },
  },
  {
    name: 'why one message stands before another',
    operation: 'explain',
    input: { query: { text: 'kiln', lens: 'conversations' }, id: 'home/q', over: 'home/a' },
    expect: ({ result }) => expect(result).toMatchObject({ rank: 1, over: { id: 'home/a', rank: 2 } }),
  },
  { name: 'why it stands there', operation: 'explain', input: { query: { text: 'kiln' }, id: 'home/a' } },
  {
    name: 'read it',
    operation: 'get',
    input: { id: 'home/a' },
    expect: ({ result }) => expect(result.content).toContain('the day before yesterday'),
  },
  { name: 'list them', operation: 'list', input: { order: 'id' } },
  {
    name: 'an agent has a memory of its own',
    operation: 'conversations.remember',
    viewer: 'ana',
    input: { text: 'Nothing to see here.', conversation: 'home', id: 'q' },
    expect: ({ result }) => expect(result).toMatchObject({ position: 0, created: true }),
  },
  {
    name: 'and asks in it alone',
    operation: 'query',
    viewer: 'ana',
    input: { text: 'kiln', lens: 'conversations', touch: false },
    expect: ({ result }) => expect(result.items).toEqual([]),
  },
  {
    name: 'in whose words there is nothing of the others',
    operation: 'conversations.query',
    viewer: 'ana',
    input: { text: 'kiln', touch: false },
    expect: ({ result }) => expect(result.messages).toEqual([]),
  },
  {
    name: 'nothing to remember',
    operation: 'conversations.remember',
    input: { text: '' },
    expect: ({ error }) => expect(error).toMatchObject({ code: 'invalid_argument' }),
  },
  {
    name: 'a time that is none',
    operation: 'conversations.remember',
    input: { text: 'x', at: '2025-02-31' },
    expect: ({ error }) => expect(error.message).toContain('at'),
  },
  {
    name: 'forget it',
    operation: 'delete',
    input: { ids: ['home/a'] },
    expect: ({ result }) => expect(result).toEqual({ deleted: 1 }),
  },
]
