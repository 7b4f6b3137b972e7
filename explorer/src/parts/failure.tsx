import { ApiError } from '../api/call.ts'
import { isTokenWanted } from '../shell/session.ts'

/** An error as the server worded it: what was wrong, and what to do. */
export function Failure({ error }: { readonly error: unknown }) {
  // The dialog asks for what is missing.
  if (isTokenWanted.value) return null
  const message = error instanceof Error ? error.message : String(error)
  return (
    <div class="failure" role="alert">
      <p>{message}</p>
      {error instanceof ApiError && <code>{error.code}</code>}
    </div>
  )
}
