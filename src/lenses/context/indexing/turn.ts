/**
 * One call at a time reads files and writes what is known of them, whichever process it runs in: the others wait. So what
 * was looked up before a transaction still holds in it. A process that was suspended may lose its turn, and a call may
 * delete concepts meanwhile: then nothing more is written, and the work begins again from the start.
 */
import { QuerentError } from '../../../model/errors.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { Call } from '../call.ts'
import { revisionOf } from '../counters.ts'
import { refusal } from '../envelope.ts'

/** Times that the work begins. Files that are written are not read again, so each start has less to do. */
const MAX_STARTS = 20

export interface Turn {
  /** Its signal is aborted when the turn is lost, too. */
  readonly call: Call
  /** One transaction, committed only while the turn lasts. Rejects with what makes the work begin again. */
  write<T>(body: (writer: StoreWriter) => T): Promise<T>
}

export interface Done<T> {
  readonly value: T
  /** How long it waited for others, in whole ms; 0 when it did not. */
  readonly waitedMs: number
  /** How often it lost its turn and began again. */
  readonly restarts: number
}

/** Rejects with `Refusal` (`overtaken`, `cancelled`) and with what the body rejects with. */
export async function inTurn<T>(call: Call, body: (turn: Turn) => Promise<T>): Promise<Done<T>> {
  let waitedMs = 0
  const waited = (ms: number) => {
    waitedMs += Math.ceil(ms)
  }
  for (let restarts = 0; restarts < MAX_STARTS; restarts++) {
    try {
      return { value: await once(call, body, waited), waitedMs, restarts }
    } catch (error) {
      if (call.signal.aborted || isCancelled(error)) throw refusal('handler', 'cancelled', 'the call was cancelled')
      if (!(error instanceof Overtaken)) throw error
    }
  }
  throw refusal(
    'handler',
    'overtaken',
    `other runs took over ${MAX_STARTS} times; nothing is half written, run it again`,
  )
}

/** Throws what makes the work begin again unless the store is at this revision. */
export function requireRevision(reader: StoreReader, revision: number): void {
  if (revisionOf(reader) !== revision) throw new Overtaken()
}

/** What makes the work begin again. */
export class Overtaken extends Error {}

async function once<T>(call: Call, body: (turn: Turn) => Promise<T>, waited: (ms: number) => void): Promise<T> {
  const { host, signal, emit } = call
  if (host.exclusive === undefined) throw new Error('invariant broken: an engine gives turns')
  let waitsSince: number | null = null
  const onWait = () => {
    waitsSince = performance.now()
    emit({ phase: 'wait', current: 0, total: null, message: 'another run is at work on this store' })
  }
  return host.exclusive('files', { signal, onWait }, async turn => {
    if (waitsSince !== null) waited(performance.now() - waitsSince)
    try {
      return await body({
        call: { ...call, signal: turn.signal },
        write: write =>
          host.store.writeWhenFree(host.clock.now(), writer => {
            turn.mustHold(writer)
            return write(writer)
          }),
      })
    } catch (error) {
      const isLost = (turn.signal.aborted && !signal.aborted) || isCancelled(error)
      throw isLost ? new Overtaken() : error
    }
  })
}

function isCancelled(error: unknown): boolean {
  return error instanceof QuerentError && error.code === 'cancelled'
}
