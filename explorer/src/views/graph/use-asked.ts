/** As `useAnswer`, of a question that is more than one operation, or whose answer must be opened first. */
import { useEffect } from 'preact/hooks'
import type { Answer } from '../../parts/use-answer.ts'
import { useStateOf } from '../../parts/use-state-of.ts'
import { asker } from '../../shell/session.ts'

/** Asked anew where `key` changes, or who asks. `key` null: there is nothing to ask. */
export function useAsked<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const owner = JSON.stringify([key, asker.value])
  const [answer, setAnswer] = useStateOf<Answer<T>>(owner, { value: null, error: null, isLoading: key !== null })
  useEffect(() => {
    if (key === null) return
    const controller = new AbortController()
    ask(controller.signal).then(
      value => {
        if (!controller.signal.aborted) setAnswer(() => ({ value, error: null, isLoading: false }))
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setAnswer(() => ({ value: null, error, isLoading: false }))
      },
    )
    return () => controller.abort()
  }, [owner])
  return answer
}
