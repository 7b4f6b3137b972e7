/**
 * Settings of the HTTP server that users set, by flags or in the configuration file. All other options of the server are set by programs
 * only.
 */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../base/readonly-deep.ts'

const list = z.array(z.string()).optional()
const number = z.number().optional()

/**
 * Schema of the server's settings. The descriptions are shown in the help of `querent serve`; ranges of values are checked when the server
 * is started.
 */
export const httpSettings = z.strictObject({
  port: number.describe('Port to listen on; 0 chooses a free one. Default: 7411'),
  host: z.string().optional().describe('Address to listen on. Default: 127.0.0.1'),
  socket: z.string().optional().describe('Listen on this Unix socket instead of a port; only this user can connect'),
  require_token: z
    .boolean()
    .optional()
    .describe('Never act as the owner without a token; use it behind a proxy or on a shared machine'),
  allow_hosts: list.describe('Accept requests for this host name too'),
  cors: list.describe('Allow pages of this origin to call the server, such as https://notes.example'),
  request_timeout_ms: number.describe('Longest time to answer a request. Default: no limit'),
  max_body: number.describe('Largest request body in bytes. Default: 4194304'),
  receive_timeout_ms: number.describe(
    'Longest time for a client to send a request (a sixth of it for the head) or to read an answer (default: 60 seconds)',
  ),
  max_connections: number.describe('Most connections of each process; more are closed. Default: 4000'),
  grace_ms: number.describe('Time for running requests to finish at shutdown (default: 3 seconds)'),
})

export type HttpSettings = ReadonlyDeep<z.output<typeof httpSettings>>
