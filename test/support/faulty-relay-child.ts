/**
 * Hands connections on, late and with losses: what a poor network does to them. A program of its own, so that it can run at
 * another host. Its one argument is a `Relay` as JSON; it says `ready` and ends with its standard input.
 */
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import { seededUniform } from './seeded.ts'

export interface Relay {
  readonly listen: { readonly host: string; readonly port: number } | { readonly path: string }
  readonly to: { readonly host: string; readonly port: number }
  /** For each piece, each way. */
  readonly delayMs: number
  /** Chance that a piece is lost at first and comes `LOST_MS` later, as TCP sends it again. */
  readonly loss: number
  /** Chance that a piece is the last one of its connection, which breaks. */
  readonly breaks: number
  readonly seed: number
}

/** The least time after which Linux sends again. */
const LOST_MS = 200

const relay = JSON.parse(process.argv[2] ?? '') as Relay
const uniform = seededUniform(relay.seed)

const server = createServer({ noDelay: true }, socket => {
  const other = connect({ ...relay.to, noDelay: true } as NetConnectOpts)
  handOn(socket, other)
  handOn(other, socket)
})
server.listen(relay.listen, () => process.stdout.write('ready\n'))
process.stdin.resume().on('end', () => process.exit())

function handOn(from: Socket, to: Socket): void {
  // One after the other: TCP keeps their order, and what is behind a lost piece waits for it.
  let before: Promise<void> = Promise.resolve()
  const after = (act: () => void) => {
    const delayMs = relay.delayMs + (uniform() < relay.loss ? LOST_MS : 0)
    const due = new Promise<void>(resolve => setTimeout(resolve, delayMs))
    before = before.then(() => due).then(act)
  }
  from.on('data', piece => {
    const isLast = uniform() < relay.breaks
    after(() => {
      if (isLast) {
        from.resetAndDestroy()
        to.resetAndDestroy()
      } else if (to.writable) to.write(piece)
    })
  })
  from.on('end', () => after(() => to.end()))
  from.on('error', () => to.destroy())
  from.on('close', hadError => {
    if (hadError) to.destroy()
  })
}
