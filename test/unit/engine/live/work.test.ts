/** What events of a large answer cost: counted in steps through maps and characters turned to JSON, not in time. */
import { afterEach, expect, it, vi } from 'vitest'
import { ScriptedWorld } from './scripted.ts'

afterEach(() => vi.restoreAllMocks())

interface Work {
  readonly steps: number
  readonly characters: number
}

async function workOf(task: () => Promise<unknown>): Promise<Work> {
  const [iterators, { stringify }] = [Object.getPrototypeOf(new Map().values()), JSON]
  let [steps, characters] = [0, 0]
  const { next } = iterators
  const stepping = vi.spyOn(iterators, 'next').mockImplementation(function (this: unknown) {
    steps += 1
    return next.call(this)
  })
  const writing = vi.spyOn(JSON, 'stringify').mockImplementation((...given: Parameters<typeof stringify>) => {
    const text = stringify(...given)
    characters += text?.length ?? 0
    return text
  })
  await task()
  stepping.mockRestore()
  writing.mockRestore()
  return { steps, characters }
}

const letters = (count: number) => Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + at))

it.each([
  [
    'begin with',
    async (world: ScriptedWorld, texts: readonly string[]) => {
      world.write(texts)
      const watch = await world.watch()
      await world.timers.pass(100)
      return watch
    },
  ],
  [
    'come, change and go',
    async (world: ScriptedWorld, texts: readonly string[]) => {
      const watch = await world.watch({ debounceMs: 0, maxEventsPerMinute: 100_000 })
      for (const answer of [texts, texts.map(text => `${text}2`), []]) {
        world.write(answer)
        await world.timers.pass(100)
      }
      return watch
    },
  ],
])('four times as many items that %s cost four times as much, not sixteen times', async (_, act) => {
  const events: number[] = []
  const works: Work[] = []
  for (const count of [200, 800]) {
    const world = new ScriptedWorld()
    works.push(await workOf(async () => events.push((await act(world, letters(count))).events.length)))
  }
  const [few, many] = works as [Work, Work]
  expect((events[1] as number) / (events[0] as number)).toBe(4)
  // More by what a subscription costs that has nothing to tell: less than linear then.
  expect(many.steps).toBeLessThan(5 * few.steps)
  expect(many.characters).toBeLessThan(5 * few.characters)
})

it('the state of one that is pushed out again and again is not read for each event', async () => {
  const world = new ScriptedWorld({ mostPerViewer: 1000 })
  const texts = letters(100)
  world.write(texts)
  // More large ones of one viewer than are kept.
  for (let at = 0; at < 210; at++) await world.watch({ debounceMs: 0, notifyOnConnect: false })
  const only = await workOf(async () => {
    world.write(texts.map(text => `${text}2`))
    await world.timers.pass(100)
  })
  const events = 210 * 100
  expect(only.steps).toBeLessThan(40 * events)
})
