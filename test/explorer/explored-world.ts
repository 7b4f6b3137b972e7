/** A world and a page on it, for as long as the tests of a group run. */
import { afterAll, beforeAll } from 'vitest'
import { type Explorer, openExplorer } from './support.ts'
import { makeWorld, type World } from './world.ts'

export interface ExploredWorld {
  /** To be read in tests and hooks only: before them there is none. */
  readonly world: World
  readonly explorer: Explorer
}

/** `argsOf`: further arguments of `querent serve`. */
export function exploredWorld(argsOf: (world: World) => readonly string[] = () => []): ExploredWorld {
  let world: World
  let explorer: Explorer
  beforeAll(async () => {
    world = await makeWorld()
    explorer = await openExplorer({ home: world.home, args: argsOf(world) })
  })
  afterAll(async () => {
    await explorer?.[Symbol.asyncDispose]()
    world?.[Symbol.dispose]()
  })
  return {
    get world() {
      return world
    },
    get explorer() {
      return explorer
    },
  }
}
