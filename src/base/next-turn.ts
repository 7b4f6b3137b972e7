/** Those who wait for their turn, first come first. */
const waiting: (() => void)[] = []

/**
 * Between pieces of long work: lets others on this thread go first, and cancellations arrive. Of all that wait, one goes on
 * in each turn of the event loop: however many work at a time, others wait for one piece of one of them.
 */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(goOn)
  })
}

function goOn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(goOn)
}
