/** Which connections are at work: Node counts one on which nothing has come yet as if it were, and would wait for it at the end. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export class Connections {
  /** Requests under way on each. */
  readonly #open = new Map<Socket, number>()
  /** The answer that is sent on each, or was last. */
  readonly #answers = new WeakMap<Socket, ServerResponse>()
  #isEnding = false

  /**
   * `stalledMs`: on which nothing moves for so long is closed, where only its client can be the reason. `changed`: one was
   * opened (1) or closed (-1).
   */
  constructor(server: Server, stalledMs: number, changed: (by: 1 | -1) => void) {
    server.setTimeout(stalledMs, socket => {
      if (this.#isIdle(socket) || this.#isUntaken(socket)) socket.destroy()
    })
    server.on('connection', socket => {
      this.#open.set(socket, 0)
      changed(1)
      socket.once('close', () => {
        this.#open.delete(socket)
        changed(-1)
      })
    })
    server.on('request', ({ socket }, response) => {
      this.#count(socket, 1)
      this.#answers.set(socket, response)
      response.once('close', () => this.#count(socket, -1))
    })
  }

  /** Closes those that are not at work, and the others when they have ended what they are at. */
  closeWhenIdle(): void {
    this.#isEnding = true
    for (const socket of this.#open.keys()) if (this.#isIdle(socket)) socket.destroySoon()
  }

  #isIdle(socket: Socket): boolean {
    return this.#open.get(socket) === 0
  }

  /** All of the answer is there, and its client does not take it. Streams wait for theirs in a way of their own. */
  #isUntaken(socket: Socket): boolean {
    const answer = this.#answers.get(socket)
    return answer?.writableEnded === true && !answer.writableFinished
  }

  #count(socket: Socket, by: number): void {
    const before = this.#open.get(socket)
    if (before === undefined) return
    this.#open.set(socket, before + by)
    if (this.#isEnding && before + by === 0) setImmediate(() => this.#isIdle(socket) && socket.destroySoon())
  }
}
