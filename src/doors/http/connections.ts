/** Which connections are at work: Node counts one on which nothing has come yet as if it were, and would wait for it at the end. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export class Connections {
  /** Requests under way on each. */
  readonly #open = new Map<Socket, number>()
  #isEnding = false

  /** `changed`: one was opened (1) or closed (-1). */
  constructor(server: Server, changed: (by: 1 | -1) => void) {
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
      response.once('close', () => this.#count(socket, -1))
    })
  }

  /** Closes those that are not at work, and the others when they have ended what they are at. */
  closeWhenIdle(): void {
    this.#isEnding = true
    for (const [socket, requests] of this.#open) if (requests === 0) socket.destroySoon()
  }

  #count(socket: Socket, by: number): void {
    const before = this.#open.get(socket)
    if (before === undefined) return
    this.#open.set(socket, before + by)
    if (this.#isEnding && before + by === 0) setImmediate(() => this.#open.get(socket) === 0 && socket.destroySoon())
  }
}
