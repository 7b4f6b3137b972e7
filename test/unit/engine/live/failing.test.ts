/** What goes wrong with one subscription stays with it: hung and left questions, look-ups that fail, refusals. */
import { describe, expect, it } from 'vitest'
import { OPTIONS } from './items.ts'
import { ScriptedQuestion, ScriptedWorld, Watch } from './scripted.ts'

function hung(world: ScriptedWorld): { readonly question: ScriptedQuestion; readonly signals: AbortSignal[] } {
  const question = new ScriptedQuestion(world)
  const signals: AbortSignal[] = []
  question.ask = (signal?: AbortSignal) => {
    if (signal !== undefined) signals.push(signal)
    return new Promise(() => undefined)
  }
  return { question, signals }
}

describe('a question that does not answer (BQ-192)', () => {
  it('is given up after its time, told to stop, and holds up nobody else', async () => {
    const world = new ScriptedWorld()
    const { question, signals } = hung(world)
    const refused = world.live.subscribe(question, OPTIONS, new Watch(question).handlers).catch(error => error)
    const other = world.watch()
    await world.timers.pass(question.timeoutMs + 500)
    expect(await refused).toMatchObject({ code: 'deadline_exceeded', details: { timeout_ms: 5000 } })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    world.write(['a'])
    await world.timers.pass(1000)
    expect((await other).news()).toEqual(['added a now_matches'])
    expect(world.live.count()).toBe(1)
  })

  it('later on: is told and tried again, and what it says too late counts for nothing', async () => {
    const world = new ScriptedWorld()
    const watch = await world.watch()
    const late = Promise.withResolvers<void>()
    const { question } = watch
    question.ask = async () => {
      const state = world.state
      await late.promise
      return state
    }
    world.write(['a'])
    await world.timers.pass(6500)
    expect(watch.errors).toMatchObject([{ code: 'deadline_exceeded' }])
    question.ask = ScriptedQuestion.prototype.ask
    world.write(['b'])
    await world.timers.pass(1000)
    late.resolve()
    await world.timers.pass(5000)
    expect(watch.news()).toEqual(['added b now_matches'])
  })

  it('is left at once by a caller who goes, whose place is free then', async () => {
    const world = new ScriptedWorld({ mostPerViewer: 2 })
    const { question, signals } = hung(world)
    const [asked, queued] = [new AbortController(), new AbortController()]
    const begin = ({ signal }: AbortController) =>
      world.live.subscribe(question, OPTIONS, new Watch(question).handlers, signal).catch(error => error)
    const both = [begin(asked), begin(queued)]
    await world.timers.settle()
    await expect(world.watch()).rejects.toMatchObject({ code: 'rate_limited' })
    queued.abort()
    expect(await both[1]).toMatchObject({ code: 'cancelled' })
    asked.abort()
    expect(await both[0]).toMatchObject({ code: 'cancelled' })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await world.watch()
    await world.watch()
    expect(world.live.count()).toBe(2)
    expect(await begin(asked)).toMatchObject({ code: 'rate_limited' })
  })
})

describe('what cannot be looked up (BQ-155, BQ-161)', () => {
  it('is not shown: it is looked up again, and told as it is then', async () => {
    const world = new ScriptedWorld()
    const taken = Promise.withResolvers<void>()
    const watch = await world.watch({ debounceMs: 0 }, { onEvent: () => taken.promise })
    world.write(['a', 'b', 'c'])
    await world.timers.pass(100)
    expect(watch.news()).toEqual(['added a now_matches'])
    const failure = new Error('database is locked')
    watch.question.lost = () => {
      throw failure
    }
    world.hidden.add('b')
    taken.resolve()
    await world.timers.pass(5000)
    expect(watch.news()).toEqual([])
    // After one, two and four seconds.
    expect(watch.errors).toEqual([failure, failure, failure])
    watch.question.lost = ScriptedQuestion.prototype.lost
    await world.timers.pass(5000)
    expect(watch.news()).toEqual(['added c now_matches'])
  })

  it('is held against the store also behind removals that nobody wants to hear of', async () => {
    const world = new ScriptedWorld()
    world.write(['a', 'b'])
    const watch = await world.watch({ debounceMs: 0, includeRemovals: false, notifyOnConnect: false })
    const { question } = watch
    // Hidden after the answer was taken, and before it is told.
    question.lost = items => {
      const lost = ScriptedQuestion.prototype.lost.call(question, items)
      if (items.length > 1 && items.some(({ id }) => id === 'c')) world.hidden.add('c')
      return lost
    }
    world.write(['c', 'd'])
    await world.timers.pass(100)
    expect(watch.news()).toEqual(['added d now_matches'])
  })

  it('takes no answer either', async () => {
    const world = new ScriptedWorld()
    world.write(['a'])
    const watch = await world.watch({ debounceMs: 0 })
    watch.news()
    watch.question.lost = () => {
      throw new Error('database is locked')
    }
    world.write(['b'])
    await world.timers.pass(500)
    expect(watch.news()).toEqual([])
    watch.question.lost = ScriptedQuestion.prototype.lost
    await world.timers.pass(5000)
    expect(watch.news()).toEqual(['removed a no_match', 'added b now_matches'])
  })
})

it('a refusal ends the subscription that it concerns and no other, whichever way it comes (BQ-167)', async () => {
  const world = new ScriptedWorld()
  const [one, other] = [await world.watch(), await world.watch()]
  one.question.mayAsk = false
  world.write(['a'])
  await world.timers.pass(1000)
  expect([one.ends, one.news(), other.ends, other.news()]).toEqual([['unauthorized'], [], [], ['added a now_matches']])
})
