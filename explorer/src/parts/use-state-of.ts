/** State that belongs to something: where that is another, nothing of it is shown, from the very first picture on. */
import { useRef, useState } from 'preact/hooks'

/** `owner`: what it belongs to, compared by its text. What is told late, of an owner that is gone, is dropped. */
export function useStateOf<T>(owner: string, beginning: T): readonly [T, (change: (last: T) => T) => void] {
  const [held, setHeld] = useState({ owner, value: beginning })
  const current = useRef(owner)
  current.current = owner
  const change = (of: (last: T) => T): void => {
    if (current.current !== owner) return
    setHeld(last => ({ owner, value: of(last.owner === owner ? last.value : beginning) }))
  }
  return [held.owner === owner ? held.value : beginning, change]
}
