/** Memberships in federations of other nodes end with their statements. */
import type { Instant } from '../../../base/clock.ts'
import { QuerentError } from '../../../model/errors.ts'
import { MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { Job, LensHost } from '../../lens.ts'
import { STATEMENTS } from '../tables.ts'
import { raiseRevision } from '../trust/revisions.ts'

/** For the writers of other processes: a question has its time limit. */
const WAIT_MS = 50
const MINUTE_MS = 60_000

/** For questions of other lenses, and for whoever is not asked: before each question about beliefs it is done anyway. */
export const EXPIRY_JOB: Job = {
  name: 'memberships',
  everyMs: MINUTE_MS,
  run: async (host, now, _signal, _report, mustHold) => {
    if (!isDue(host, nextExpiry(host.store))) return
    await host.store.writeWhenFree(now, writer => {
      mustHold(writer)
      endExpired(writer, now, machineNow(host))
    })
  },
}

/** Looks whether one is over, as often as somebody asks: what is to be known for that is read when it changed. */
export class Expiry {
  readonly #host: LensHost
  #next: Instant | null = null
  #marks = ''

  constructor(host: LensHost) {
    this.#host = host
  }

  /** Not within a read. Where nothing can be written, whoever can does it. */
  end(): void {
    const { store, clock } = this.#host
    const marks = `${store.version(MEMBERSHIPS)},${store.version(STATEMENTS)}`
    if (marks !== this.#marks) this.#next = nextExpiry(store)
    this.#marks = marks
    if (!isDue(this.#host, this.#next)) return
    const now = clock.now()
    try {
      store.write(now, writer => endExpired(writer, now, machineNow(this.#host)), WAIT_MS)
    } catch (thrown) {
      if (!(thrown instanceof QuerentError)) throw thrown
    }
  }
}

function isDue(host: LensHost, next: Instant | null): boolean {
  return next !== null && next <= machineNow(host)
}

/** Null: none ends. */
function nextExpiry(reader: StoreReader): Instant | null {
  return stated(reader).reduce<Instant | null>((least, { expires }) => Math.min(least ?? expires, expires), null)
}

function endExpired(writer: StoreWriter, now: Instant, machine: Instant): void {
  const over = stated(writer).filter(({ expires }) => expires <= machine)
  for (const { row } of over) writer.table(MEMBERSHIPS).put({ ...row, status: 'departed', updated_at: now })
  if (over.length > 0) raiseRevision(writer, 'members')
}

/** Active ones. */
function stated(reader: StoreReader) {
  return reader
    .table(STATEMENTS)
    .scan()
    .flatMap(({ federation = null, agent = null, expires_at: expires }) => {
      const row = reader.table(MEMBERSHIPS).get({ federation, agent })
      return row?.['status'] === 'active' ? [{ row, expires: expires as Instant }] : []
    })
}

/** Statements come from other machines: whatever time it is here otherwise. */
export function machineNow({ node, clock }: LensHost): Instant {
  return node?.now() ?? clock.now()
}
