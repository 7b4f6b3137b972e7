/** Blocks of neighbouring messages of a session: what a message is about often stands around it. */

/** Messages of a block, and how many later the next one begins. */
const SIZE = 8
const STRIDE = 4

export interface Blocks {
  readonly count: number
  /** By message: the blocks that it is in; -1: none beside the first. */
  readonly first: Int32Array
  readonly second: Int32Array
  /** By block, the messages in it. */
  readonly members: readonly (readonly number[])[]
}

/** `sessions`: of each message, in order. A block begins only where it holds what the one before does not. */
export function blocksOf(sessions: Int32Array): Blocks {
  const first = new Int32Array(sessions.length)
  const second = new Int32Array(sessions.length).fill(-1)
  const sizes = new Map<number, number>()
  for (const session of sessions) sizes.set(session, (sizes.get(session) ?? 0) + 1)
  const firstBlocks = new Map<number, number>()
  let count = 0
  for (const [session, size] of sizes) {
    firstBlocks.set(session, count)
    count += blocksIn(size)
  }
  const members = Array.from({ length: count }, (): number[] => [])
  const passed = new Map<number, number>()
  for (const [at, session] of sessions.entries()) {
    const place = passed.get(session) ?? 0
    passed.set(session, place + 1)
    const base = firstBlocks.get(session) as number
    const last = blocksIn(sizes.get(session) as number) - 1
    const newest = Math.min(Math.floor(place / STRIDE), last)
    first[at] = base + newest
    members[base + newest]?.push(at)
    const before = newest - 1
    if (before < 0 || place >= before * STRIDE + SIZE) continue
    second[at] = base + before
    members[base + before]?.push(at)
  }
  return { count, first, second, members }
}

function blocksIn(size: number): number {
  return size <= SIZE ? 1 : 1 + Math.ceil((size - SIZE) / STRIDE)
}
