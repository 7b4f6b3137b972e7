/** The state of the store, asked again and again while somebody looks: oftener while it is being embedded. */
import { useEffect } from 'preact/hooks'
import type { Status } from '../../../../src/engine/engine.ts'
import { call } from '../../api/call.ts'
import { pause } from '../../api/pause.ts'
import type { Answer } from '../../parts/use-answer.ts'
import { useStateOf } from '../../parts/use-state-of.ts'
import { asker } from '../../shell/session.ts'

const AT_WORK_MS = 1_000
const AT_REST_MS = 5_000

const BEGINNING: Answer<Status> = { value: null, error: null, isLoading: true }

export function useStatus(): Answer<Status> {
  const [answer, setAnswer] = useStateOf<Answer<Status>>(asker.value, BEGINNING)
  useEffect(() => {
    const controller = new AbortController()
    void poll(controller.signal, answer => setAnswer(() => answer))
    return () => controller.abort()
  }, [asker.value])
  return answer
}

/** Never two at a time, however long one takes. */
async function poll(signal: AbortSignal, tell: (answer: Answer<Status>) => void): Promise<void> {
  let value: Status | null = null
  while (!signal.aborted) {
    if (document.visibilityState === 'visible') {
      try {
        value = await call<Status>('status', {}, signal)
        tell({ value, error: null, isLoading: false })
      } catch (error) {
        if (signal.aborted) return
        tell({ value, error, isLoading: false })
      }
    }
    await pause(value !== null && isAtWork(value) ? AT_WORK_MS : AT_REST_MS, signal)
  }
}

function isAtWork({ embedder, chunks, embedded }: Status): boolean {
  return embedder !== null && embedded < chunks
}
