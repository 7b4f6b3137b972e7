/** An answer page by page: the first when the question changes, further ones when they are asked for. */
import { useEffect, useRef } from 'preact/hooks'
import type { Item, Page } from '../../../../src/model/page.ts'
import type { QueryInput } from '../../../../src/model/query-input.ts'
import { call } from '../../api/call.ts'
import { useStateOf } from '../../parts/use-state-of.ts'
import { asker, viewer } from '../../shell/session.ts'

export interface Pages {
  readonly first: Page | null
  readonly items: readonly Item[]
  /** Null: there are no more. */
  readonly cursor: string | null
  readonly error: unknown
  readonly isLoading: boolean
  more(): void
}

type State = Omit<Pages, 'more'>

const NOTHING: State = { first: null, items: [], cursor: null, error: null, isLoading: false }

export function usePages(asked: QueryInput | null): Pages {
  const key = JSON.stringify([asked, asker.value])
  const [state, setState] = useStateOf<State>(key, NOTHING)
  const controller = useRef(new AbortController())

  const load = (cursor: string | null): void => {
    const { signal } = controller.current
    // Looking as somebody else is no use of theirs.
    const input = { ...asked, explain: true, trace: cursor === null, touch: viewer.value === null }
    setState(last => ({ ...last, error: null, isLoading: true }))
    call<Page>('query', cursor === null ? input : { ...input, cursor }, signal).then(
      page => {
        setState(last => ({
          first: cursor === null ? page : last.first,
          items: cursor === null ? page.items : [...last.items, ...page.items],
          cursor: page.cursor,
          error: null,
          isLoading: false,
        }))
      },
      (error: unknown) => {
        if (!signal.aborted) setState(last => ({ ...(cursor === null ? NOTHING : last), error, isLoading: false }))
      },
    )
  }

  useEffect(() => {
    if (asked === null) return
    controller.current = new AbortController()
    load(null)
    return () => controller.current.abort()
  }, [key])

  const { cursor } = state
  return { ...state, more: () => cursor !== null && load(cursor) }
}
