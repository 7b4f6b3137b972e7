/** The lens conversations at every interface, by the rules of `scenario.ts`. */
import { expect } from 'vitest'
import { recompute } from '../../src/model/explanation.ts'
import { by, refused, type Step, step } from './scenario.ts'

export const CONVERSATIONS_STEPS: readonly Step[] = [
  step(
    'remember a question',
    'conversations.remember',
    {
      ...{ text: 'Did you find a place for the kiln?', speaker: 'Tom', conversation: 'home', id: 'q' },
      at: '2025-03-14T10:00:00Z',
    },
    { id: 'home/q', position: 0, created: true },
  ),
  step(
    'and its answer',
    'conversations.remember',
    {
      ...{ text: 'In the barn, since yesterday.', speaker: 'Mira', conversation: 'home', id: 'a', reply_to: 'q' },
      ...{ at: '2025-03-14T10:01:00Z', tags: ['pottery'] },
    },
    { id: 'home/a', session: 'q', position: 1 },
  ),
  step(
    'the same id again',
    'conversations.remember',
    { text: 'In the barn, since the day before yesterday.', conversation: 'home', id: 'a' },
    { position: 1, created: false },
  ),
  step('ask for it', 'query', { text: 'kiln', lens: 'conversations', touch: false }, ({ result }) =>
    expect(result.items).toMatchObject([{ id: 'home/q' }, { title: 'Mira, 14 March 2025' }]),
  ),
  step(
    'ask with all that is told of a message',
    'conversations.query',
    { text: 'When did Mira find a place for the kiln?', touch: false, explain: true, neighbours: 1 },
    ({ result }) => {
      expect(result).toMatchObject({ order: 'rank', verdict: 'answered', cursor: null })
      expect(result.messages[0]).toMatchObject({
        ...{ id: 'home/a', speaker: 'Mira', conversation: 'home', partial: false, dates: ['12 March 2025'] },
        neighbours: [{ id: 'home/q', speaker: 'Tom' }],
      })
      for (const { score, explanation } of result.messages) expect(recompute(explanation)).toBe(score)
    },
  ),
  step(
    'why a message is there',
    'conversations.explain',
    { query: { text: 'kiln', conversations: ['home'] }, id: 'home/q' },
    { id: 'home/q', dropped: null },
  ),
  step(
    'count messages',
    'conversations.count',
    { text: 'kiln', conversations: ['home'] },
    { exact: true, verdict: 'answered' },
  ),
  step('watching messages has no whole answer', 'conversations.watch', { text: 'kiln' }, refused('invalid_argument')),
  step(
    'ask for the first page',
    'conversations.query',
    { text: 'kiln', conversations: ['home'], limit: 1, touch: false },
    ({ result }) => expect(result.messages).toMatchObject([{ id: 'home/q' }]),
  ),
  step(
    'and for the next',
    'conversations.query',
    answers => ({
      ...{ text: 'kiln', conversations: ['home'], limit: 1, touch: false },
      cursor: answers.get('ask for the first page').cursor,
    }),
    ({ result }) => expect(result.messages).toMatchObject([{ id: 'home/a', rank: 2 }]),
  ),
  step(
    'ask within a budget, of one speaker, of a past moment',
    'conversations.query',
    { text: 'kiln', speakers: ['Tom'], max_tokens: 200, as_of: '2025-03-14T10:00:30Z', touch: false },
    { order: 'time', messages: [{ id: 'home/q' }] },
  ),
  step(
    'a question with a field that there is not',
    'conversations.query',
    { text: 'kiln', speaker: 'Tom' },
    refused('unknown_field'),
  ),
  step(
    'a condition on a field that no question may name',
    'query',
    { text: 'kiln', filter: { fields: { 'conversations.thread': 'x' } } },
    refused('invalid_argument'),
  ),
  step(
    'ask the default lens, of messages alone',
    'query',
    { text: 'kiln conversations.speaker:Mira', touch: false },
    ({ result }) => {
      expect(result).toMatchObject({ lens: 'default', items: [{ id: 'home/a' }] })
      expect(result.items[0].components).toHaveProperty('neighbours')
    },
  ),
  step(
    'why one message stands before another',
    'explain',
    { query: { text: 'kiln', lens: 'conversations' }, id: 'home/q', over: 'home/a' },
    { rank: 1, over: { id: 'home/a', rank: 2 } },
  ),
  step('why it stands there', 'explain', { query: { text: 'kiln' }, id: 'home/a' }),
  step('read it', 'get', { id: 'home/a' }, ({ result }) =>
    expect(result.content).toContain('the day before yesterday'),
  ),
  step('list them', 'list', { order: 'id' }),
  by(
    'ana',
    step(
      'an agent has a memory of its own',
      'conversations.remember',
      { text: 'Nothing to see here.', conversation: 'home', id: 'q' },
      { position: 0, created: true },
    ),
  ),
  by(
    'ana',
    step('and asks in it alone', 'query', { text: 'kiln', lens: 'conversations', touch: false }, ({ result }) =>
      expect(result.items).toEqual([]),
    ),
  ),
  by(
    'ana',
    step(
      'in whose words there is nothing of the others',
      'conversations.query',
      { text: 'kiln', touch: false },
      ({ result }) => expect(result.messages).toEqual([]),
    ),
  ),
  step('nothing to remember', 'conversations.remember', { text: '' }, refused('invalid_argument')),
  step('a time that is none', 'conversations.remember', { text: 'x', at: '2025-02-31' }, ({ error }) =>
    expect(error.message).toContain('at'),
  ),
  step('forget it', 'delete', { ids: ['home/a'] }, ({ result }) => expect(result).toEqual({ deleted: 1 })),
]
