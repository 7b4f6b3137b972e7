/** Looking after a whole home: what the engine's doctor and backup do with its parts. */
import { existsSync, readdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { Turns } from '../../base/turns.ts'
import type { LensHost } from '../../lenses/lens.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import type { CallContext } from '../../model/operation.ts'
import type { BackupRequest, DoctorRequest } from '../../model/reports.ts'
import { copyStore } from '../../store/care/copy-store.ts'
import type { Backup, Examination } from '../engine.ts'
import type { Parts } from '../parts.ts'
import { PLUGIN_FOLDER, TRUST_FILE } from '../plugins.ts'
import { examine } from './doctor.ts'
import { type Examined, examination, repair } from './doctor-files.ts'

export class Care {
  readonly #parts: Parts
  readonly #embedNew: (call: CallContext) => Promise<unknown>
  readonly #hostOf: (lens: string) => LensHost

  /** `embedNew` makes vectors where there are none, as far as the embedder does. */
  constructor(parts: Parts, embedNew: (call: CallContext) => Promise<unknown>, hostOf: (lens: string) => LensHost) {
    this.#parts = parts
    this.#embedNew = embedNew
    this.#hostOf = hostOf
  }

  async doctor({ repair: repairs = false, backup = true }: DoctorRequest, call: CallContext): Promise<Examination> {
    const look = () => this.#examine(call.signal)
    if (!repairs) return examination(await look())
    hereOnly(call, 'doctor with repair')
    const { storeFile, clock } = this.#parts
    const follow = () => this.#followRepair(call)
    return repair({ examine: look, storeFile, backup, now: () => clock.now(), follow })
  }

  backup(request: BackupRequest, call: CallContext): Promise<Backup> {
    hereOnly(call, 'backup')
    return backUp(request, this.#parts, call)
  }

  #examine(signal: AbortSignal): Promise<readonly Examined[]> {
    const { store, home, storeFile, embedder, embedderError, embedding, jobs, indexes, registry, makeIndex } =
      this.#parts
    return examine({
      ...{ store, home, storeFile, embedder, embedderError, jobs, signal },
      machineNow: () => Date.now(),
      refused: embedding?.refused(store.partitions().map(({ id }) => id)) ?? null,
      names: indexes.names,
      indexOf: name => indexes.get(name),
      lenses: registry.all,
      tables: registry.tables,
      hostOf: this.#hostOf,
      fresh: index => makeIndex(index.name),
      loaded: indexes.tryLoading,
      renew: name => this.#renew(name),
    })
  }

  /** What is left over the doctor tells when it looks again. */
  async #followRepair(call: CallContext): Promise<void> {
    await this.#embedNew(call)
    for (const name of this.#parts.indexes.names) await this.#renew(name)
  }

  /** The file of the index is left to another process that is writing one just now. */
  async #renew(name: string): Promise<void> {
    const { indexes, snapshots } = this.#parts
    const mayWrite = await snapshots.take()
    try {
      await new Turns().run(indexes.renew(name, mayWrite))
    } finally {
      if (mayWrite) await snapshots.release()
    }
  }
}

/** What writes files of this machine is asked for on this machine. */
function hereOnly({ remote }: CallContext, what: string): void {
  if (remote !== true) return
  throw new QuerentError('denied', `${what} is for the local owner only, on this machine`, { operation: what })
}

/** A copy of the home's store, and what of the home is not in it. */
export interface BackupPlace {
  readonly storeFile: string | null
  readonly home: string | null
}

export async function backUp(
  { to, overwrite }: BackupRequest,
  { storeFile, home }: BackupPlace,
  { signal, report }: CallContext,
): Promise<Backup> {
  if (storeFile === null || home === null) {
    throw invalidArgument('to', to, 'a store on disk to copy: this one is in memory, or not in a home; use `export`')
  }
  // Relative to what? The working folder of a server is nobody's business.
  if (!isAbsolute(to)) throw invalidArgument('to', to, 'an absolute path')
  const copy = await copyStore({
    from: storeFile,
    to,
    overwrite,
    report: (done, total) => {
      signal.throwIfAborted()
      report?.({ phase: 'copying', done, total })
    },
  })
  return { ...copy, not_held: besides(home) }
}

/** Everything in a home but the store and what is derived from it. */
function besides(home: string): readonly string[] {
  const folder = join(home, PLUGIN_FOLDER)
  const plugins = existsSync(folder) && readdirSync(folder).length > 0 ? [PLUGIN_FOLDER] : []
  return [...['config.json', TRUST_FILE].filter(name => existsSync(join(home, name))), ...plugins]
}
