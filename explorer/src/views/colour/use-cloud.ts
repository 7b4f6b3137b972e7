import { useEffect, useState } from 'preact/hooks'
import { token, viewer } from '../../shell/session.ts'
import { type Cloud, cloudsOf } from './cloud.ts'

export interface Loading {
  /** As far as it has come. */
  readonly cloud: Cloud | null
  readonly error: unknown
}

/** The nodes of whoever looks; begun anew when that changes. */
export function useCloud(): Loading {
  const [loading, setLoading] = useState<Loading>({ cloud: null, error: null })
  useEffect(() => {
    const controller = new AbortController()
    setLoading({ cloud: null, error: null })
    const load = async (): Promise<void> => {
      for await (const cloud of cloudsOf(controller.signal)) {
        if (!controller.signal.aborted) setLoading({ cloud, error: null })
      }
    }
    load().catch((error: unknown) => {
      if (!controller.signal.aborted) setLoading(({ cloud }) => ({ cloud, error }))
    })
    return () => controller.abort()
  }, [token.value, viewer.value])
  return loading
}
