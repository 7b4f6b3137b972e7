/** How far a long call is, told to clients that ask for it. */
import type { ServerContext } from '@modelcontextprotocol/server'
import type { Progress } from '../../model/operation.ts'

/** Undefined where the client gave no token. What it tells only grows, over all phases together. */
export function progressTo({ mcpReq }: ServerContext): ((progress: Progress) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  let phase = ''
  let before = 0
  let told = -1
  return next => {
    if (next.phase !== phase) before = Math.max(0, told)
    phase = next.phase
    const progress = before + next.done
    if (progress <= told) return
    told = progress
    const message = next.current === undefined ? next.phase : `${next.phase}: ${next.current}`
    const total = next.total === null ? {} : { total: before + next.total }
    // A client that is gone needs no progress; the call itself ends by its signal.
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, ...total, message } })
      .catch(() => {})
  }
}
