/** Later pages of an answer, whatever was asked and said meanwhile: questions share the memory that they do their sums in. */
import { expect, it } from 'vitest'
import type { ToldMessage } from '../../../../../src/lenses/conversations/asking/ask-schema.ts'
import { call } from '../../../../support/conversations.ts'
import { openTestEngine } from '../../../../support/engines.ts'

const WORDS = ['kiln', 'barn', 'clay', 'sand', 'door']
const OTHERS = ['sand at the door', 'barn', 'where is the clay kiln', 'nothing of it']

it.each([true, false])('are those of one long page (approximate: %s)', async approximate => {
  await using engine = await openTestEngine()
  for (let at = 0; at < 40; at++) {
    const text = [1, 2, 3].map(step => WORDS[(at * step) % WORDS.length]).join(' ')
    await call(engine, 'remember', { text: `${text} ${at}`, conversation: `c${at % 3}`, id: `m${at}` })
  }
  const asked = { text: 'clay in the kiln', explain: true, touch: false, approximate }
  const ask = (more: object) => call(engine, 'conversations.query', { ...asked, ...more })
  const told = ({ messages }: { readonly messages: readonly ToldMessage[] }) =>
    messages.map(({ id, score, why, explanation }) => ({ id, score, why, explanation }))
  const whole = told(await ask({ limit: 40 }))
  expect(whole.length).toBeGreaterThan(20)
  const paged: unknown[] = []
  let cursor: string | undefined
  for (let page = 0; cursor !== null; page++) {
    const answer = await ask({ limit: 3, cursor })
    paged.push(...told(answer))
    cursor = answer.cursor
    await call(engine, 'conversations.query', { text: OTHERS[page % OTHERS.length], touch: false })
    if (page === 2) await call(engine, 'remember', { text: 'The clay kiln.', conversation: 'c1', id: 'late' })
  }
  expect(paged).toEqual(whole)
})
