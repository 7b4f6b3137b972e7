/** The lens conversations at every door, by the rules of `scenario.ts`. */
import { expect } from 'vitest'
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
    expect: ({ result }) => expect(result.items).toMatchObject([{ id: 'home/a', title: 'Mira, 14 March 2025' }, {}]),
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
