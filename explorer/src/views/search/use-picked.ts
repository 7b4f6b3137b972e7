/** The results that are picked to be compared: two at most, the one picked first goes when a third comes. */
import { useEffect, useState } from 'preact/hooks'
import type { Item } from '../../../../src/model/page.ts'

export interface Picked {
  readonly picked: readonly Item[]
  /** Again: not any more. */
  pick(item: Item): void
  clear(): void
}

/** `question`: where it changes, nothing is picked. */
export function usePicked(question: string): Picked {
  const [picked, setPicked] = useState<readonly Item[]>([])
  useEffect(() => setPicked([]), [question])
  return {
    picked,
    pick: item =>
      setPicked(last => (last.includes(item) ? last.filter(one => one !== item) : [...last, item].slice(-2))),
    clear: () => setPicked([]),
  }
}
