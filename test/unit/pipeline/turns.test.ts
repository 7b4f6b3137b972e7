/** A long question yields to others between its steps (QE-019): what they write meanwhile, and what it answers then. */
import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/clock.ts'
import { Turns } from '../../../src/base/turns.ts'
import { audience } from '../../../src/model/partition.ts'
import type { QueryInput } from '../../../src/model/query-input.ts'
import type { Viewer } from '../../../src/model/viewer.ts'
import { DEFAULT_LENS_STAGES } from '../../../src/pipeline/default-stages.ts'
import type { Stages } from '../../../src/pipeline/stage.ts'
import type { AskWorld } from '../../support/ask-world.ts'
import { WORLD_NOW } from '../../support/ask-world.ts'
import { openWorld } from './world.ts'

const ANN: Viewer = { id: 'ann' }
const ENTRIES = 30
const publicly = audience('public', 'ben')

async function world(): Promise<AskWorld> {
  const made = openWorld()
  for (let at = 0; at < ENTRIES; at++) {
    made.put({ id: `e${at}`, content: `fox dog word${at} word${at % 7}`, audience: publicly })
  }
  await made.embedAll()
  return made
}

/** Turns that pause after every step: their clock goes on 20 ms at each look. `act` gets the number of the pause, from 1. */
function everyStep(act: (pause: number) => void = () => {}): Turns & { pauses: number } {
  let now = 0
  const clock = () => {
    now += 20
    return now
  }
  const turns = new Turns(undefined, clock, async () => {
    turns.pauses++
    act(turns.pauses)
  }) as Turns & { pauses: number }
  turns.pauses = 0
  return turns
}

/** Puts as another does, and asks, so that the indexes follow. */
function write(to: AskWorld, id: string, content: string, of = publicly): void {
  to.put({ id, content, audience: of })
  to.context({ text: 'x' }, { viewer: { id: 'ben' } })
}

const QUESTIONS: readonly QueryInput[] = [
  { text: 'fox word3', limit: 20, explain: true },
  { text: 'fox word3', limit: 20, diversity: 0.5 },
  { text: 'fox word3', limit: 20, diversity: 0.5, approximate: false },
  { text: '', filter: { kinds: ['note'] }, limit: 20 },
  { text: 'fox word3', limit: 20, group: 'passage', explain: true },
  { text: '', filter: { kinds: ['note'] }, limit: 20, group: 'passage' },
]

describe('a question that pauses at every step', () => {
  it.each(QUESTIONS)(
    'QE-019: takes a pause for each item at least and answers as without, whatever hidden entries come: %j',
    async input => {
      const quiet = await (await world()).pages(input, { viewer: ANN, turns: new Turns(undefined, () => 0) })
      const without = ({ page }: (typeof quiet)[number]) => ({ ...page, cursor: null })
      const hidden = audience('private', 'ben')
      for (const isWritten of [false, true]) {
        const asked = await world()
        const turns = everyStep(pause => isWritten && write(asked, `hidden${pause}`, 'fox word3 word3 dog', hidden))
        const first = await asked.ask(input, { viewer: ANN, turns })
        expect(first.page.items).toHaveLength(20)
        expect(turns.pauses).toBeGreaterThanOrEqual(20)
        const second = await asked.ask({ ...input, cursor: first.page.cursor ?? '' }, { viewer: ANN })
        expect([first, second].map(without)).toEqual(quiet.map(without))
      }
    },
  )

  it.each(QUESTIONS.slice(0, 2))('goes on behind its page when something visible came at a pause: %j', async input => {
    const asked = await world()
    const turns = everyStep(pause => write(asked, `late${pause}`, `fox dog late${pause}`))
    const first = await asked.ask(input, { viewer: ANN, turns })
    const second = await asked.ask({ ...input, cursor: first.page.cursor ?? '' }, { viewer: ANN })
    const ids = [...first.page.items, ...second.page.items].map(({ id }) => id).filter(id => !id.startsWith('late'))
    expect(ids.toSorted()).toEqual(Array.from({ length: ENTRIES }, (_, at) => `e${at}`).toSorted())
  })

  it('shows nothing that was deleted or hidden, and nothing as it was before it was changed, at its last pause', async () => {
    const asked = await world()
    const input = { text: 'fox word3', limit: ENTRIES, any: true }
    const [gone, secret, changed] = (await asked.ask(input, { viewer: ANN })).page.items
    const counted = everyStep()
    await asked.ask(input, { viewer: ANN, turns: counted })
    const turns = everyStep(pause => {
      if (pause !== counted.pauses) return
      const { store } = asked.parts
      const key = store.find(
        gone?.id ?? '',
        store.partitions().map(({ id }) => id),
      )[0] as number
      store.write(WORLD_NOW, writer => writer.delete(key))
      asked.put({ id: secret?.id ?? '', content: 'fox', audience: audience('private', 'ben') })
      asked.put({ id: changed?.id ?? '', content: 'fox word3 rewritten', audience: publicly })
    })
    const { page } = await asked.ask(input, { viewer: ANN, turns })
    expect(turns.pauses).toBeGreaterThanOrEqual(counted.pauses)
    const ids = page.items.map(({ id }) => id)
    expect(ids).toHaveLength(ENTRIES - 2)
    expect(ids).not.toContain(gone?.id)
    expect(ids).not.toContain(secret?.id)
    expect(page.items.find(({ id }) => id === changed?.id)?.excerpt.text).toContain('rewritten')
    expect(page.items.map(({ rank }) => rank)).toEqual(ids.map((_, at) => at + 1))
  })

  it.each([
    ['phrases that few hold', Array.from({ length: 40 }, (_, at) => `"fox dog word${at % 30}"`).join(' ')],
    ['words that must be there', Array.from({ length: 40 }, () => '+fox').join(' ')],
    ['words that must not be there', `fox ${Array.from({ length: 40 }, (_, at) => `-word${at}`).join(' ')}`],
  ])('QE-019: takes a pause for each of %s, and answers as without', async (_, text) => {
    const asked = await world()
    const turns = everyStep()
    const input = { text, limit: 1, mode: 'words' as const }
    const { page } = await asked.ask(input, { viewer: ANN, turns })
    const plain = await (await world()).ask(input, { viewer: ANN, turns: new Turns(undefined, () => 0) })
    expect(page).toEqual({ ...plain.page, cursor: page.cursor })
    expect(page.notes).toEqual(plain.page.notes)
    expect(turns.pauses).toBeGreaterThanOrEqual(40)
  })

  it('ends at the next pause when its caller cancels it', async () => {
    const asked = await world()
    const caller = new AbortController()
    const deadline = new Deadline(Number.POSITIVE_INFINITY, caller.signal)
    let pauses = 0
    let now = 0
    const check = () => deadline.signal.throwIfAborted()
    const turn = async () => {
      pauses++
      if (pauses === 5) caller.abort(new Error('gone'))
    }
    const turns = new Turns(check, () => (now += 20), turn)
    const answer = asked.ask({ text: 'fox', limit: 20, explain: true }, { viewer: ANN, deadline, turns })
    await expect(answer).rejects.toThrow('gone')
    expect(pauses).toBe(5)
  })
})

it('QE-019: makes scores in a piece of its own, after a pause behind retrieval', async () => {
  const asked = await world()
  const turns = everyStep()
  const { retrieve, score } = DEFAULT_LENS_STAGES
  const pauses = { retrieved: -1, scored: -1 }
  const stages: Stages = {
    ...DEFAULT_LENS_STAGES,
    retrieve: async (...args) => {
      const found = await retrieve(...args)
      pauses.retrieved = turns.pauses
      return found
    },
    score: (...args) => {
      if (pauses.scored < 0) pauses.scored = turns.pauses
      return score(...args)
    },
  }
  await asked.ask({ text: 'fox word3', limit: 20 }, { viewer: ANN, turns, stages })
  expect(pauses.scored).toBe(pauses.retrieved + 1)
})

describe('an explanation that pauses at every step', () => {
  const WORDS = 40
  // Only the last word is in the entry; each is looked up for the question, and again for what dropped the entry.
  const others = Array.from({ length: WORDS - 1 }, (_, at) => `-word${at + 1}`).join(' ')
  const input: QueryInput = { text: `fox ${others} -word0`, limit: 5 }
  const target = { id: 'e0' }

  it('QE-019: takes a pause for each word that it looks up to find what dropped the entry', async () => {
    const asked = await world()
    const turns = everyStep()
    const answer = await asked.explain(input, target, { viewer: ANN, turns })
    expect(answer).toEqual(await (await world()).explain(input, target, { viewer: ANN }))
    expect(answer.dropped?.stage).toBe('exclusion')
    expect(answer.dropped?.reason).toContain('word0')
    expect(turns.pauses).toBeGreaterThanOrEqual(2 * WORDS)
  })

  it('answers the same whatever hidden entries come at its pauses', async () => {
    const asked = await world()
    const hidden = audience('private', 'ben')
    const turns = everyStep(pause => write(asked, `hidden${pause}`, 'fox word0 word3 dog', hidden))
    const answer = await asked.explain(input, target, { viewer: ANN, turns })
    expect(answer).toEqual(await (await world()).explain(input, target, { viewer: ANN }))
  })

  it.each(['deleted', 'hidden'])('says that there is no entry which was %s at its last pause', async how => {
    const asked = await world()
    const counted = everyStep()
    await asked.explain(input, target, { viewer: ANN, turns: counted })
    const turns = everyStep(pause => {
      if (pause !== counted.pauses) return
      const { store } = asked.parts
      const partitions = store.partitions().map(({ id }) => id)
      const [key] = store.find(target.id, partitions)
      if (how === 'deleted') store.write(WORLD_NOW, writer => writer.delete(key as number))
      else asked.put({ id: target.id, content: 'fox', audience: audience('private', 'ben') })
    })
    await expect(asked.explain(input, target, { viewer: ANN, turns })).rejects.toMatchObject({ code: 'not_found' })
    expect(turns.pauses).toBeGreaterThanOrEqual(counted.pauses)
  })
})
