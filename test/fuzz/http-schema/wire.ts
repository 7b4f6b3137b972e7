/** A request sent as it is, over a socket, and what came back. */
import { Agent, request } from 'node:http'
import type { Json } from '../../../src/base/canonical.ts'
import { wireText } from '../engine/json-kind.ts'
import type { Asked } from './request.ts'

export interface Answered {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly requestId: string | undefined
}

/** Streams that never end are left. */
const MOST_WAIT_MS = 60
/** No answer takes so long: it hangs. */
const HANGS_MS = 60_000

export const newAgent = (): Agent => new Agent({ keepAlive: true, maxSockets: 4 })

export function targetOf({ path, params, query }: Asked): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(textOf(params[name] ?? '')))
  const fields = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) && value.length > 0 ? value : [value]).map(
      one => `${encoded(name)}=${encoded(textOf(one as Json))}`,
    ),
  )
  return fields.length === 0 ? filled : `${filled}?${fields.join('&')}`
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : wireText(value)
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).slice(0, 6_000).replace(/%.?$/, '')
}

/** Null: Node would not send it. Rejects where no answer came. */
export function send(url: string, agent: Agent, asked: Asked): Promise<Answered | null> {
  const { method, headers, body, raw } = asked
  const text = raw ?? (body === null ? null : wireText(body))
  return new Promise((resolve, reject) => {
    try {
      const sent = request(url + targetOf(asked), { method, agent, headers: fieldsOf(headers), timeout: HANGS_MS })
      sent.on('response', response => {
        let said = ''
        const { statusCode: status = 0, headers: told } = response
        const type = told['content-type'] ?? ''
        const requestId = told['x-request-id'] as string | undefined
        const done = () => resolve({ status, type, body: said, requestId })
        if (/ndjson|event-stream/.test(type)) setTimeout(() => sent.destroy(), MOST_WAIT_MS)
        response.setEncoding('utf8').on('data', part => {
          said += part
        })
        response.once('close', done).on('error', done)
      })
      sent.on('timeout', () => sent.destroy(new Error(`no answer in ${HANGS_MS} ms`)))
      sent.on('error', reject)
      sent.end(text ?? undefined)
    } catch {
      resolve(null)
    }
  })
}

function fieldsOf(headers: Asked['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
