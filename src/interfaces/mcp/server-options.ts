/** On whose behalf a server answers, how, and what becomes of failures. */
import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server'
import { printable } from '../../base/printable.ts'
import { reportedError } from '../../model/reported-error.ts'
import type { Viewer } from '../../model/viewer.ts'
import { bugReport } from '../../ops/bug-report.ts'

export interface ServerOptions {
  readonly viewer: Viewer
  /** For queries that name no lens. */
  readonly lens: string | undefined
  /** Whether answers are concise where a call does not say. Default: false. */
  readonly concise?: boolean | undefined
  /** Whether the client's requests count against its viewer's limits: over HTTP, not over standard input. */
  readonly remote?: boolean | undefined
  /** Where bugs are reported; default: standard error. */
  readonly log?: ((text: string) => void) | undefined
}

/** Where MCP has no result that says so: an error of the protocol, with the code and details of ours. An error of the protocol is left as it is. */
export function protocolError(thrown: unknown, viewer: Viewer): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown
  const error = reportedError(thrown, viewer)
  const isTheirs = error.kind === 'usage' || error.kind === 'not_found'
  const code = isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
  return new ProtocolError(code, error.message, error.toJSON())
}

/** Writes a bug of ours to the log, under the request's id, and the client's trace where it has one; the client learns only that there was one. `asked`: the tool, or what else was asked for. */
export function reportBug(thrown: unknown, asked: string, { mcpReq }: ServerContext, options: ServerOptions): void {
  // What the protocol calls an error is none of ours.
  if (thrown instanceof ProtocolError) return
  const trace = mcpReq._meta?.['traceparent']
  const where = typeof trace === 'string' ? `${asked}, trace ${trace.slice(0, 55)}` : asked
  const report = bugReport(thrown, `${mcpReq.id} (${where})`)
  if (report !== null) (options.log ?? toStderr)(report)
}

function toStderr(text: string): void {
  process.stderr.write(printable(text))
}
