/** How a server is set up, as flags and configuration say it. What `HttpOptions` have beside it comes from a program. */
import { z } from 'zod'
import type { HttpOptions } from './serve.ts'

const list = z.array(z.string()).optional()
const number = z.number().optional()

/** Its descriptions are the help of `querent serve`. Ranges are checked where a server is started. */
export const httpSettings = z.strictObject({
  port: number.describe('Port; 0 takes a free one. Default: 7411'),
  host: z.string().optional().describe('Address to listen on. Default: 127.0.0.1'),
  socket: z.string().optional().describe('Listen on this Unix socket, for this user alone, and on no port'),
  require_token: z
    .boolean()
    .optional()
    .describe('Answer nobody as the owner without a token: behind a proxy, or where others use the machine'),
  allow_hosts: list.describe('Also answer requests for this host name'),
  cors: list.describe('Also answer pages of this site, such as https://notes.example'),
  request_timeout_ms: number.describe('Refuse what is not answered after so long. Default: no bound'),
  max_body: number.describe('Refuse bodies of requests of more bytes. Default: 4194304'),
  receive_timeout_ms: number.describe(
    'To send a request, a sixth for its head, or to take what is sent (default: 60 seconds)',
  ),
  max_connections: number.describe('Of each process; further ones are closed. Default: 4000'),
  grace_ms: number.describe('How long requests under way may go on at the end (default: 3 seconds)'),
})

export type HttpSettings = z.output<typeof httpSettings>

export function optionsOf(settings: HttpSettings): Omit<HttpOptions, 'tokens'> {
  return {
    host: settings.host ?? '127.0.0.1',
    port: settings.port ?? 7411,
    socket: settings.socket,
    requireToken: settings.require_token,
    hosts: settings.allow_hosts,
    origins: settings.cors,
    timeoutMs: settings.request_timeout_ms,
    maxBodyBytes: settings.max_body,
    receiveMs: settings.receive_timeout_ms,
    maxConnections: settings.max_connections,
    graceMs: settings.grace_ms,
  }
}
