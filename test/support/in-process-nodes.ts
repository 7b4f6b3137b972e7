/**
 * Several nodes in one process: a transport that hands messages to functions, with delays and faults of one's choosing
 * (BQ-117). What is handed over is copied as JSON, as it would be on its way.
 */
import type { Json } from '../../src/base/canonical.ts'
import { type NodeMessage, type NodeTransport, TransportFailure } from '../../src/pipeline/transport.ts'

/** Throws what a node refuses with: an object with an HTTP `status`, or anything. */
export type NodeHandler = (path: string, body: Json | null, signal: AbortSignal) => Promise<unknown>

export interface NodeFault {
  /** Before the message arrives. */
  readonly delayMs?: number
  /** Nobody answers at the address. */
  readonly isDead?: boolean
  /** Takes the message and never answers. */
  readonly isSilent?: boolean
  /** Changes what is answered, or what was asked. */
  readonly answers?: (answer: unknown, asked: Json | null) => unknown | Promise<unknown>
}

export class InProcessNodes implements NodeTransport {
  readonly #handlers = new Map<string, NodeHandler>()
  readonly #faults = new Map<string, NodeFault>()
  /** Every message that was sent, in order. */
  readonly sent: { readonly address: string; readonly message: NodeMessage }[] = []
  /** Messages that have neither been answered nor given up. */
  underWay = 0
  /** How many were under way at once. */
  mostUnderWay = 0

  add(address: string, handler: NodeHandler): void {
    this.#handlers.set(address, handler)
  }

  /** Until the next one; an empty one takes it away. */
  fault(address: string, fault: NodeFault): void {
    this.#faults.set(address, fault)
  }

  async send(address: string, message: NodeMessage, signal: AbortSignal): Promise<unknown> {
    this.sent.push({ address, message })
    this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay)
    try {
      return await this.#answer(address, message, signal)
    } finally {
      this.underWay--
    }
  }

  async #answer(address: string, message: NodeMessage, signal: AbortSignal): Promise<unknown> {
    const { delayMs = 0, isDead = false, isSilent = false, answers } = this.#faults.get(address) ?? {}
    const handler = this.#handlers.get(address)
    if (delayMs > 0) await pause(delayMs, signal)
    if (isDead || handler === undefined) throw new TransportFailure('unreachable', 'no server answers at the address')
    if (isSilent) await pause(Number.POSITIVE_INFINITY, signal)
    const asked = copied(message.body) as Json | null
    const given = await handled(handler(message.path, asked, signal))
    const text = JSON.stringify(answers === undefined ? given : await answers(copied(given), asked))
    if (Buffer.byteLength(text) > message.maxBytes) throw new TransportFailure('too_large', 'too many bytes')
    return JSON.parse(text)
  }

  async close(): Promise<void> {}
}

async function handled(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (thrown) {
    const status = (thrown as { readonly status?: unknown }).status
    throw new TransportFailure('refused', 'refused', {
      status: typeof status === 'number' ? status : 500,
      cause: thrown,
    })
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined
    const stop = () => {
      clearTimeout(timer)
      reject(new TransportFailure('aborted', 'the message was given up'))
    }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
  })
}

function copied(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value))
}
