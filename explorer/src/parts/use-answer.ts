/** A question to the server as state of a component: asked again when what it depends on changes, the last one wins. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../api.ts'
import { requester } from '../shell/session.ts'

// State that belongs to something: where that is another, nothing of it is shown, from the very first picture on.

/** `owner`: what it belongs to, compared by its text. A change that arrives after the owner has gone is dropped. */
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

export interface Answer<T> {
  /** The last answer to the same requester; stays while the next one is on its way. */
  readonly value: T | null
  readonly error: unknown
  readonly isLoading: boolean
}

/** `input` null: there is nothing to ask yet. Compared by what it says. */
export function useAnswer<T>(operation: string, input: object | null): Answer<T> {
  const [answer, setAnswer] = useStateOf<Answer<T>>(requester.value, {
    value: null,
    error: null,
    isLoading: input !== null,
  })
  const key = JSON.stringify([operation, input, requester.value])
  useEffect(() => {
    if (input === null) {
      setAnswer(() => ({ value: null, error: null, isLoading: false }))
      return
    }
    const controller = new AbortController()
    setAnswer(last => ({ ...last, error: null, isLoading: true }))
    call<T>(operation, input, controller.signal).then(
      value => {
        if (!controller.signal.aborted) setAnswer(() => ({ value, error: null, isLoading: false }))
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setAnswer(() => ({ value: null, error, isLoading: false }))
      },
    )
    return () => controller.abort()
  }, [key])
  return answer
}
