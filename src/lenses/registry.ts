/** The lenses of one engine. Fixed when it opens: two lenses that claim the same name are found then, not in use. */

import { QuerentError } from '../model/errors.ts'
import { MAX_NAME_LENGTH } from '../model/limits.ts'
import type { Operation } from '../model/operation.ts'
import type { TableDeclaration } from '../model/table.ts'
import { DEFAULT_STAGES } from '../pipeline/default-stages.ts'
import type { Stages } from '../pipeline/stage.ts'
import { CORE_TABLES } from '../store/core-tables.ts'
import { handingOver, type Taker } from './handing-over.ts'
import type { Lens, LensHost } from './lens.ts'

const LENS_NAME = /^[a-z][a-z0-9]{0,31}$/

/** A lens that this process did not load: the store knows its tables all the same. */
export interface SleepingLens extends Pick<Lens, 'name' | 'tables' | 'kinds'> {
  /** Whether it takes plug-ins. */
  readonly takesPlugins?: boolean | undefined
  load?(): Lens | Promise<Lens>
}

/** Of a lens that reads no operators. */
const PLAIN_STAGES: Stages = {
  ...DEFAULT_STAGES,
  parse: (query, context) => DEFAULT_STAGES.parse({ ...query, syntax: 'plain' }, context),
}

/** Whose questions may be another lens's. */
const DEFAULT = 'default'

export class LensRegistry {
  readonly #lenses: ReadonlyMap<string, Lens>
  readonly #asleep: readonly SleepingLens[]
  /** Loaded because a question needed their stages: of what else they bring nothing runs in this process. */
  readonly #woken = new Map<string, Lens>()

  /** Throws `conflict` when names of lenses, tables or operations meet, or lie outside their lens's. */
  constructor(lenses: readonly Lens[], asleep: readonly SleepingLens[] = []) {
    checkLenses([...lenses, ...asleep])
    this.#lenses = new Map(lenses.map(lens => [lens.name, lens]))
    this.#asleep = asleep
  }

  /** In the order they were given. */
  get all(): readonly Lens[] {
    return [...this.#lenses.values()]
  }

  /** All, those too that this process had not loaded: for what concerns the whole store. */
  async everyLens(): Promise<readonly Lens[]> {
    for (const { name } of this.#asleep) if (!this.#woken.has(name)) await this.#wake(name)
    return [...this.all, ...this.#woken.values()]
  }

  get tables(): readonly TableDeclaration[] {
    return [...this.all, ...this.#asleep].flatMap(lens => lens.tables ?? [])
  }

  /** Whether a lens that this process did not load takes plug-ins. */
  get hasTakersAsleep(): boolean {
    return this.#asleep.some(({ takesPlugins }) => takesPlugins === true)
  }

  get operations(): readonly { readonly lens: string; readonly operation: Operation<LensHost> }[] {
    return this.all.flatMap(lens => (lens.operations ?? []).map(operation => ({ lens: lens.name, operation })))
  }

  /** Throws `unknown_lens`, naming those there are. */
  must(name: string): Lens {
    const found = this.#lenses.get(name) ?? this.#woken.get(name)
    if (found !== undefined) return found
    const known = [...this.#lenses.keys(), ...this.#asleep.map(lens => lens.name)].sort()
    // From a file of settings it may be of any length.
    const lens = name.slice(0, MAX_NAME_LENGTH)
    throw new QuerentError('unknown_lens', `lens: there is no "${lens}"; there are ${known.join(', ')}`, {
      lens,
      known,
    })
  }

  /** The lens's stages, the default ones where it has none. Throws `unknown_lens`. */
  stages(name: string, host: (lens: string) => LensHost): Stages {
    const { stages, syntax } = this.must(name)
    const base = syntax === 'plain' ? PLAIN_STAGES : DEFAULT_STAGES
    const own = { ...base, ...(typeof stages === 'function' ? stages(host(name)) : stages) }
    return name === DEFAULT ? handingOver(own, this.#takers(host)) : own
  }

  #takers(host: (lens: string) => LensHost): readonly Taker[] {
    return [...this.all, ...this.#asleep].flatMap(({ name, kinds = [], tables = [] }) => {
      if (kinds.length === 0) return []
      const aspects = tables.flatMap(({ aspect }) => aspect ?? [])
      const stages = async () => {
        await this.#wake(name)
        return this.stages(name, host)
      }
      return [{ name, kinds, aspects, stages }]
    })
  }

  async #wake(name: string): Promise<void> {
    const lens = await this.#asleep.find(each => each.name === name)?.load?.()
    if (lens !== undefined) this.#woken.set(name, lens)
  }
}

function checkLenses(lenses: readonly (Lens | (SleepingLens & Partial<Lens>))[]): void {
  const taken = new Map<string, string>(CORE_TABLES.map(table => [`table ${table.name}`, 'the core']))
  const claim = (what: string, name: string, lens: SleepingLens): void => {
    const key = `${what} ${name}`
    const owner = taken.get(key)
    if (owner !== undefined) throw conflict(lens, `${what} "${name}" is already that of ${owner}`)
    taken.set(key, `lens ${lens.name}`)
  }
  for (const lens of lenses) {
    if (!LENS_NAME.test(lens.name)) throw conflict(lens, 'its name must be lower-case letters and digits')
    claim('the name', lens.name, lens)
    for (const table of lens.tables ?? []) {
      if (!table.name.startsWith(`${lens.name}_`))
        throw conflict(lens, `table "${table.name}" must begin with its name`)
      claim('table', table.name, lens)
      if (table.aspect !== undefined) claim('aspect', table.aspect, lens)
    }
    const families = [lens.name, ...(lens.families ?? [])]
    for (const family of lens.families ?? []) {
      if (!LENS_NAME.test(family)) throw conflict(lens, `family "${family}" must be lower-case letters and digits`)
      claim('the name', family, lens)
    }
    for (const { name } of lens.operations ?? []) {
      if (!families.some(family => name.startsWith(`${family}.`))) {
        throw conflict(lens, `operation "${name}" must begin with ${families.map(each => `"${each}."`).join(' or ')}`)
      }
      claim('operation', name, lens)
    }
    for (const { name } of lens.jobs ?? []) claim('job', name, lens)
  }
}

function conflict(lens: SleepingLens, message: string): QuerentError {
  return new QuerentError('conflict', `lens ${lens.name}: ${message}`, { lens: lens.name })
}
