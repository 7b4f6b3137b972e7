/** Between pieces of long work: lets others on this thread have their turn, and callers be heard who have gone. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
