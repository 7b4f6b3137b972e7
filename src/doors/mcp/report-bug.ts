/** Bugs of ours go to the log whole; the client is told that there was one. */
import { ProtocolError, type ServerContext } from '@modelcontextprotocol/server'
import { printable } from '../../base/printable.ts'
import { bugReport } from '../../ops/bug-report.ts'
import type { ServerOptions } from './server-options.ts'

/** Under the request's id, and the client's trace where it has one. `asked`: the tool, or what else was asked for. */
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
