/** A question to the server as state of a component: asked anew when what it depends on changes, the last one wins. */
import { useEffect } from 'preact/hooks'
import { call } from '../api/call.ts'
import { asker } from '../shell/session.ts'
import { useStateOf } from './use-state-of.ts'

export interface Answer<T> {
  /** The last answer to the same asker; stays while the next one is on its way. */
  readonly value: T | null
  readonly error: unknown
  readonly isLoading: boolean
}

/** `input` null: there is nothing to ask yet. Compared by what it says. */
export function useAnswer<T>(operation: string, input: object | null): Answer<T> {
  const [answer, setAnswer] = useStateOf<Answer<T>>(asker.value, {
    value: null,
    error: null,
    isLoading: input !== null,
  })
  const key = JSON.stringify([operation, input, asker.value])
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
