/** Failures where MCP knows no result that says so: as errors of the protocol, with the code and details of ours. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { toldError } from '../../model/told-error.ts'
import type { Viewer } from '../../model/viewer.ts'

/** What is an error of the protocol already stays what it is. */
export function protocolError(thrown: unknown, viewer: Viewer): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown
  const error = toldError(thrown, viewer)
  const isTheirs = error.kind === 'usage' || error.kind === 'not_found'
  const code = isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
  return new ProtocolError(code, error.message, error.toJSON())
}
