/** As `useAnswer`, of a question that is more than one operation, or whose answer must be opened first. */
import { useEffect, useState } from 'preact/hooks'
import type { Answer } from '../../parts/use-answer.ts'
import { token, viewer } from '../../shell/session.ts'

/** Asked anew where `key` changes, or who asks. `key` null: there is nothing to ask. */
export function useAsked<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ value: null, error: null, isLoading: key !== null })
  useEffect(() => {
    setAnswer({ value: null, error: null, isLoading: key !== null })
    if (key === null) return
    const controller = new AbortController()
    ask(controller.signal).then(
      value => setAnswer({ value, error: null, isLoading: false }),
      (error: unknown) => {
        if (!controller.signal.aborted) setAnswer({ value: null, error, isLoading: false })
      },
    )
    return () => controller.abort()
  }, [key, token.value, viewer.value])
  return answer
}
