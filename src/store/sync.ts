import type { Steps } from '../base/turns.ts'

/** A transaction ends when its body returns, so a body that goes on later would work outside it. */
export function mustBeSync<T>(result: T): T {
  if (result instanceof Promise) throw new TypeError('invariant broken: the body of a transaction must be synchronous')
  return result
}

/** A body that does not pause, as one that may. */
// biome-ignore lint/correctness/useYield: it is the one step
export function* inOneStep<W, T>(writer: W, body: (writer: W) => T): Steps<T> {
  return mustBeSync(body(writer))
}
