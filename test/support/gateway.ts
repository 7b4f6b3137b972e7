/** A proxy in front of a server, for what the server itself cannot be made to do: to refuse, to fail, to lie under a path. */
import { type Loopback, type LoopbackRequest, sendJson, startLoopback } from './loopback.ts'

export interface Gateway extends Loopback {
  /** Asked before a request is passed on; what it returns is answered in the server's place. */
  answer: ((request: LoopbackRequest) => { readonly status: number; readonly body: unknown } | null) | null
}

/** `prefix`: what the address at the gateway has before the server's paths; other paths are not found. */
export async function startGateway(target: string, prefix = ''): Promise<Gateway> {
  const loopback = await startLoopback(async (request, response) => {
    const { method, path, body, headers } = request
    if (!path.startsWith(`${prefix}/`)) return sendJson(response, 404, '<html>not found</html>')
    const instead = gateway.answer?.(request) ?? null
    if (instead !== null) return sendJson(response, instead.status, instead.body)
    const passed = await fetch(target + path.slice(prefix.length), {
      method,
      headers: { 'content-type': headers['content-type'] ?? 'application/json' },
      ...(body === '' ? {} : { body }),
    })
    const text = await passed.text()
    response.writeHead(passed.status, { 'content-type': passed.headers.get('content-type') ?? 'text/plain' })
    response.end(text)
  })
  const gateway: Gateway = Object.assign(loopback, { url: loopback.url + prefix, answer: null })
  return gateway
}
