/**
 * The property that hidden knowledge changes nothing visible: one history is replayed in two worlds, in one of them with
 * additions, changes and deletions strewn in that the viewer may not see; every answer must be the same to the byte.
 * Worlds differ by what is between question and store: the pipeline, the library, an interface.
 */
import fc from 'fast-check'
import type { Viewer } from '../../src/model/viewer.ts'
import type { Store } from '../../src/store/store.ts'
import { ANN, type Edit, placeOf, type Request, type Story, stories, timelineOf } from './hidden-stories.ts'

/** Both worlds of a pair must be opened with the same clock, the same randomness and the same secrets. */
export interface World {
  apply(edit: Edit): Promise<void>
  /** The whole answer, or the error, as the viewer gets it. Request ids and measured times left out. */
  ask(viewer: Viewer, request: Request): Promise<string>
  close(): Promise<void>
}

export interface NonInterferenceOptions {
  readonly open: () => Promise<World>
  /** What the world can be asked; default all. */
  readonly operations?: readonly Request['operation'][] | undefined
  readonly runs: number
  readonly seed?: number | undefined
  /** Whether to look for the shortest history that fails; default true. */
  readonly shrink?: boolean | undefined
}

/** Rejects, with a history and an `Interference` as the cause, when an answer depends on what is hidden. */
export async function checkNonInterference(options: NonInterferenceOptions): Promise<void> {
  const { open, runs: numRuns, seed, shrink = true } = options
  const property = fc.asyncProperty(stories(options.operations), async story => {
    const plain = await replay(story, await open(), [])
    const laced = await replay(story, await open(), story.hidden)
    for (const [at, { asked, answer }] of plain.entries()) {
      if (laced[at]?.answer !== answer) throw new Interference(asked, answer, laced[at]?.answer ?? '')
    }
  })
  await fc.assert(property, { numRuns, endOnFailure: !shrink, ...(seed === undefined ? {} : { seed }) })
}

/** An answer that depended on something hidden. */
export class Interference extends Error {
  override readonly name: string = 'Interference'
  constructor(asked: string, plain: string, laced: string) {
    const at = [...plain].findIndex((unit, place) => laced[place] !== unit)
    const around = (answer: string) => answer.slice(Math.max(0, at - 60), at + 60)
    super(`${asked}\n  without what is hidden: …${around(plain)}\n  with it:                …${around(laced)}`)
  }
}

interface Reported {
  readonly asked: string
  readonly answer: string
}

async function replay(story: Story, world: World, hidden: Story['hidden']): Promise<readonly Reported[]> {
  const reported: Reported[] = []
  try {
    const timeline = timelineOf(story)
    for (const [at, edit] of timeline.entries()) {
      for (const one of hidden) if (placeOf(one, timeline.length) === at) await world.apply(one.edit)
      if (edit !== null) await world.apply(edit)
      else for (const request of story.requests) reported.push(...(await askAll(world, request)))
    }
    return reported
  } finally {
    await world.close()
  }
}

/** Questions and lists are followed through their pages. */
async function askAll(world: World, request: Request): Promise<readonly Reported[]> {
  const found: Reported[] = []
  let next: Request = request
  for (let page = 0; page < 3; page++) {
    const answer = await world.ask(ANN, next)
    found.push({ asked: JSON.stringify(next), answer })
    const cursor = cursorIn(answer)
    if (cursor === null) break
    next = behind(next, cursor)
  }
  return found
}

function behind(request: Request, cursor: string): Request {
  switch (request.operation) {
    case 'query':
      return { operation: 'query', input: { ...request.input, cursor } }
    case 'list':
      return { operation: 'list', input: { ...request.input, cursor } }
    default:
      throw new Error(`no pages of ${request.operation}`)
  }
}

function cursorIn(answer: string): string | null {
  const page = JSON.parse(answer) as { readonly cursor?: unknown }
  return typeof page.cursor === 'string' ? page.cursor : null
}

/** A store with a leak: the methods that `leak` gives take the place of its own, also within its reads. */
export function leaking(store: Store, leak: (store: Store) => Partial<Store>): Store {
  const replaced = leak(store) as Record<PropertyKey, unknown>
  const leaky: Store = new Proxy(store, {
    get: (inner, name) => {
      if (name === 'read') return (body: (reader: Store) => unknown) => inner.read(() => body(leaky))
      const value = replaced[name] ?? Reflect.get(inner, name, inner)
      return typeof value === 'function' ? value.bind(inner) : value
    },
  })
  return leaky
}
