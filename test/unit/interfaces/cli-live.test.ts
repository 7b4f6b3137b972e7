/** Events of live queries, as people read them. */
import { expect, it } from 'vitest'
import { eventText } from '../../../src/interfaces/cli/commands/watch.ts'
import type { Style } from '../../../src/interfaces/cli/render/answer.ts'
import type { LiveEvent } from '../../../src/model/live.ts'

const same = (text: string): string => text
const plain: Style = { bold: same, dim: same, mark: same, good: same, bad: same }

const event: LiveEvent = {
  subscription_id: 's',
  seq: 1,
  timestamp: '2026-03-01T12:00:00.000Z',
  type: 'added',
  id: 'docs/decay.md',
  item: { id: 'docs/decay.md', title: 'Decay', excerpt: { text: 'Memory fades\nin seven days.' } },
  reason: 'new_match',
  text: 'It is new and matches.',
  details: {},
  resume_token: 't',
}

it('an event is a line: when, what, which, what it says, why', () => {
  expect(eventText(event, plain)).toBe(
    '2026-03-01T12:00:00Z  added     docs/decay.md  Decay: Memory fades in seven days.  It is new and matches.\n',
  )
  const { item: _, ...gone } = event
  expect(eventText({ ...gone, type: 'removed', text: 'It is no longer available.' }, plain)).toBe(
    '2026-03-01T12:00:00Z  removed   docs/decay.md  It is no longer available.\n',
  )
})

it('says once what title and excerpt both say', () => {
  const item = { title: 'Decay', excerpt: { text: '# Decay\n\nMemory fades.' } }
  expect(eventText({ ...event, item }, plain)).toContain('decay.md  Decay Memory fades.  It')
  expect(eventText({ ...event, item: { title: 'Decay' } }, plain)).toContain('decay.md  Decay  It')
})

it('a belief says its content, under either name', () => {
  const belief = { content: 'Octopuses have three hearts.' }
  expect(eventText({ ...event, item: { belief } }, plain)).toContain('  Octopuses have three hearts.  ')
  const { item: _, ...rest } = event
  const own = { ...rest, belief } as unknown as LiveEvent
  expect(eventText(own, plain)).toContain('  Octopuses have three hearts.  ')
})

it('what it says is cut to the width, its reason is not; nothing in it commands the terminal', () => {
  const long = { ...event, item: { content: `${'word '.repeat(100)}` } }
  const line = eventText(long, plain, 100)
  expect(line).toMatch(/word wor… {2}It is new and matches\.\n$/)
  expect(line.trimEnd()).toHaveLength(100)
  expect(eventText({ ...event, id: 'a\u001b[2Jb' }, plain)).toContain('a\ufffd[2Jb')
})

it('the kind of an event has a colour', () => {
  const style: Style = { ...plain, good: text => `<${text}>`, bad: text => `!${text}!` }
  expect(eventText(event, style)).toContain('Z  <added>     docs')
  expect(eventText({ ...event, type: 'removed' }, style)).toContain('Z  !removed!   docs')
})
