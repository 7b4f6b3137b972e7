import { useEffect } from 'preact/hooks'
import { useStateOf } from '../../parts/use-state-of.ts'
import { asker } from '../../shell/session.ts'
import { type Cloud, cloudsOf } from './cloud.ts'

export interface Loading {
  /** As far as it has come. */
  readonly cloud: Cloud | null
  readonly error: unknown
}

const BEGINNING: Loading = { cloud: null, error: null }

/** The nodes of whoever looks; begun anew when that changes. */
export function useCloud(): Loading {
  const [loading, setLoading] = useStateOf<Loading>(asker.value, BEGINNING)
  useEffect(() => {
    const controller = new AbortController()
    const load = async (): Promise<void> => {
      for await (const cloud of cloudsOf(controller.signal)) {
        if (!controller.signal.aborted) setLoading(() => ({ cloud, error: null }))
      }
    }
    load().catch((error: unknown) => {
      if (!controller.signal.aborted) setLoading(({ cloud }) => ({ cloud, error }))
    })
    return () => controller.abort()
  }, [asker.value])
  return loading
}
