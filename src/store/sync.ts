/** A transaction ends when its body returns, so a body that goes on later would work outside it. */
export function mustBeSync<T>(result: T): T {
  if (result instanceof Promise) throw new TypeError('invariant broken: the body of a transaction must be synchronous')
  return result
}
