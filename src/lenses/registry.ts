/**
 * The built-in lenses, and the lenses of one engine. This is the only module that names lenses: what others need of a lens, the lens
 * declares (`Lens`), and it is reached from here. The declarations (`LensDeclaration`) are always loaded; a lens's code is loaded only when
 * it is needed, since every loaded module delays a short command.
 */
import type { EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { Filter } from '../model/filter.ts'
import { MAX_NAME_LENGTH } from '../model/limits.ts'
import type { Operation } from '../model/operation.ts'
import type { TableDeclaration } from '../model/table.ts'
import { DEFAULT_LENS_STAGES, DEFAULT_STAGES } from '../pipeline/default-stages.ts'
import type { Plan, Stages } from '../pipeline/stage.ts'
import { CORE_TABLES } from '../store/core-tables.ts'
import type { StoreWriter } from '../store/store.ts'
import type { BELIEFS_OPERATIONS } from './beliefs/operations/beliefs-operations.ts'
import { BELIEFS_TABLES } from './beliefs/tables.ts'
import type { C64_OPERATIONS } from './c64/operations.ts'
import type { CHROMA_OPERATIONS } from './chroma/operations.ts'
import { CHROMA_TABLES } from './chroma/tables.ts'
import type { COLLECTIONS_OPERATIONS } from './collections/operations.ts'
import type { CONTEXT_OPERATIONS } from './context/operations.ts'
import { CONTEXT_TABLES } from './context/tables.ts'
import type { CONVERSATIONS_OPERATIONS } from './conversations/conversations-lens.ts'
import { CONVERSATIONS_TABLES, MESSAGE_KINDS } from './conversations/tables.ts'
import type { ImportChat, Lens, LensDeclaration, LensHost } from './lens.ts'

/** A lens whose code is loaded on demand. */
export interface LoadableLens extends LensDeclaration {
  /**
   * Optional functions that the lens has. The engine must know this before it loads the lens's code. A test compares this list with the
   * lens.
   */
  readonly hooks?: readonly ('install' | 'importChat' | 'beforeWrite')[] | undefined
  load(): Lens | Promise<Lens>
}

export const BUILT_IN_LENSES: readonly LoadableLens[] = [
  { name: 'default', load: () => defaultLens },
  {
    name: 'chroma',
    tables: CHROMA_TABLES,
    hooks: ['install'],
    load: async () => (await import('./chroma/chroma-lens.ts')).chromaLens(),
  },
  {
    name: 'collections',
    load: async () => (await import('./collections/collections-lens.ts')).collectionsLens,
  },
  {
    name: 'c64',
    hooks: ['install'],
    load: async () => (await import('./c64/c64-lens.ts')).c64Lens(),
  },
  {
    name: 'context',
    tables: CONTEXT_TABLES,
    load: async () => (await import('./context/context-lens.ts')).contextLens(),
  },
  {
    name: 'conversations',
    tables: CONVERSATIONS_TABLES,
    kinds: MESSAGE_KINDS,
    hooks: ['importChat', 'beforeWrite'],
    load: async () => (await import('./conversations/conversations-lens.ts')).conversationsLens,
  },
  {
    name: 'beliefs',
    tables: BELIEFS_TABLES,
    families: ['trust', 'agents', 'federations', 'nodes', 'peers'],
    hooks: ['install'],
    load: async () => (await import('./beliefs/beliefs-lens.ts')).beliefsLens,
  },
]

/** Type of all operations of the built-in lenses. */
export type BuiltInOperation = (
  | typeof BELIEFS_OPERATIONS
  | typeof C64_OPERATIONS
  | typeof CHROMA_OPERATIONS
  | typeof COLLECTIONS_OPERATIONS
  | typeof CONTEXT_OPERATIONS
  | typeof CONVERSATIONS_OPERATIONS
)[number]

/**
 * The built-in lens to which the operation with this full name belongs; undefined: the operation belongs to the engine, or does not exist.
 */
export function builtInLensOf(operation: string): LoadableLens | undefined {
  const family = operation.split('.', 1)[0] ?? ''
  return BUILT_IN_LENSES.find(({ name, families }) => name === family || families?.includes(family))
}

/** The built-in lenses, where the given lens replaces the built-in one with the same name. */
export function builtInWith(lens: Lens): readonly LoadableLens[] {
  return BUILT_IN_LENSES.map(each => (each.name === lens.name ? { ...each, load: () => lens } : each))
}

/** Declarations of all tables that every store has: the store's own tables, and those of every built-in lens. */
export function declaredTables(): readonly TableDeclaration[] {
  return [...CORE_TABLES, ...BUILT_IN_LENSES.flatMap(({ tables = [] }) => tables)]
}

const LENS_NAME = /^[a-z][a-z0-9]{0,31}$/

/** Default stages for a lens whose queries have no operators (syntax `plain`). */
const PLAIN_STAGES: Stages = {
  ...DEFAULT_STAGES,
  parse: (query, context) => DEFAULT_STAGES.parse({ ...query, syntax: 'plain' }, context),
}

/** Name of the lens whose queries may be passed on to another lens. */
const DEFAULT = 'default'

/**
 * The lenses of one engine, which are fixed when the engine opens, so that two lenses with the same name are detected then and not during
 * use.
 */
/** Names of all built-in lenses, loaded or not, and of the given lenses, without duplicates. */
export function lensNames(lenses: readonly Pick<Lens, 'name'>[]): readonly string[] {
  return [...new Set([...BUILT_IN_LENSES, ...lenses].map(({ name }) => name))]
}

export class LensRegistry {
  readonly #lenses: ReadonlyMap<string, Lens>
  readonly #unloaded: readonly LoadableLens[]
  /**
   * Lenses loaded after the engine was opened, because one of their functions was needed; their jobs and operations do not run in this
   * engine.
   */
  readonly #loaded = new Map<string, Lens>()

  /**
   * Throws `conflict` when the names of two lenses, tables or operations are equal, or when a name of a table or operation does not begin
   * with its lens's name.
   */
  constructor(lenses: readonly Lens[], unloaded: readonly LoadableLens[] = []) {
    checkLenses([...lenses, ...unloaded])
    this.#lenses = new Map(lenses.map(lens => [lens.name, lens]))
    this.#unloaded = unloaded
  }

  /** The lenses loaded when the engine opened, in the order in which they were given. */
  get all(): readonly Lens[] {
    return [...this.#lenses.values()]
  }

  get #here(): readonly Lens[] {
    return [...this.all, ...this.#loaded.values()]
  }

  /** All lenses, after loading those not loaded yet; for work on the whole store, such as an export. */
  async everyLens(): Promise<readonly Lens[]> {
    for (const { name } of this.#unloaded) await this.#load(name)
    return this.#here
  }

  get tables(): readonly TableDeclaration[] {
    return [...this.all, ...this.#unloaded].flatMap(lens => lens.tables ?? [])
  }

  /** Whether there is a lens not loaded yet that accepts plug-ins. */
  get mayTakeMorePlugins(): boolean {
    return this.#unloaded.some(({ hooks }) => hooks?.includes('install') === true)
  }

  /** The function that imports chats, from the lens that has one. Throws `unknown_lens` where no lens has it. */
  async importChat(): Promise<ImportChat> {
    const needed = this.#unloaded.find(({ hooks }) => hooks?.includes('importChat'))
    if (needed !== undefined) await this.#load(needed.name)
    const found = this.#here.find(lens => lens.importChat !== undefined)?.importChat
    if (found === undefined) throw new QuerentError('unknown_lens', 'chat: no lens here reads exports of chats', {})
    return found
  }

  /**
   * Calls the `beforeWrite` functions of all lenses for entries that are about to be written or deleted. Must be called in the transaction
   * before the write; the returned function must be called after it. Where a lens must be loaded first, throws an error that
   * `withLensesLoaded` handles.
   */
  beforeWrite(writer: StoreWriter, entries: readonly EntryKey[]): () => void {
    if (entries.length === 0) return () => undefined
    const hasAspect = ({ tables = [] }: LoadableLens) =>
      tables.some(table => table.aspect !== undefined && writer.table(table).scan({}, { entries, limit: 1 }).length > 0)
    const missing = this.#unloaded.find(
      lens => lens.hooks?.includes('beforeWrite') && !this.#loaded.has(lens.name) && hasAspect(lens),
    )
    if (missing !== undefined) throw new LensNeeded(missing.name)
    const after = this.#here.flatMap(lens => lens.beforeWrite?.(writer, entries) ?? [])
    return () => {
      for (const each of after) each()
    }
  }

  /**
   * Runs `write`, a transaction that calls `beforeWrite`; if that needs a lens which is not loaded, loads the lens and runs `write` again.
   */
  async withLensesLoaded<T>(write: () => T | Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write()
      } catch (error) {
        if (!(error instanceof LensNeeded)) throw error
        await this.#load(error.lens)
      }
    }
  }

  get operations(): readonly { readonly lens: string; readonly operation: Operation<LensHost> }[] {
    return this.all.flatMap(lens => (lens.operations ?? []).map(operation => ({ lens: lens.name, operation })))
  }

  /**
   * A loaded lens by name. Throws `unknown_lens`, which lists the known names; `field` is the input field that contains the name, for the
   * message.
   */
  must(name: string, field = 'lens'): Lens {
    const found = this.#lenses.get(name) ?? this.#loaded.get(name)
    if (found !== undefined) return found
    const known = [...this.#lenses.keys(), ...this.#unloaded.map(lens => lens.name)].sort()
    // The name is cut in the message, since one from a settings file may have any length.
    const lens = name.slice(0, MAX_NAME_LENGTH)
    throw new QuerentError('unknown_lens', `${field}: there is no lens "${lens}"; there are ${known.join(', ')}`, {
      lens,
      known,
    })
  }

  /** The stages that answer queries of the lens: its own, and default stages for the rest. Throws `unknown_lens`. */
  stages(name: string, host: (lens: string) => LensHost): Stages {
    const { stages, syntax } = this.must(name)
    const base = syntax === 'plain' ? PLAIN_STAGES : DEFAULT_STAGES
    const own = { ...base, ...(typeof stages === 'function' ? stages(host(name)) : stages) }
    return name === DEFAULT ? delegating(own, this.#delegates(host)) : own
  }

  #delegates(host: (lens: string) => LensHost): readonly Delegate[] {
    return [...this.all, ...this.#unloaded].flatMap(({ name, kinds = [], tables = [] }) => {
      if (kinds.length === 0) return []
      const aspects = tables.flatMap(({ aspect }) => aspect ?? [])
      const stages = async () => {
        await this.#load(name)
        return this.stages(name, host)
      }
      return [{ name, kinds, aspects, stages }]
    })
  }

  async #load(name: string): Promise<void> {
    if (this.#loaded.has(name)) return
    const lens = await this.#unloaded.find(each => each.name === name)?.load()
    if (lens !== undefined) this.#loaded.set(name, lens)
  }
}

/** Error that ends a transaction in which a lens is needed that is not loaded; both thrown and caught in this module. */
class LensNeeded extends Error {
  readonly lens: string

  constructor(lens: string) {
    super(`the lens ${lens} is not loaded`)
    this.lens = lens
  }
}

function checkLenses(lenses: readonly (Lens | (LensDeclaration & Partial<Lens>))[]): void {
  const taken = new Map<string, string>(CORE_TABLES.map(table => [`table ${table.name}`, 'the core']))
  const claim = (what: string, name: string, lens: LensDeclaration): void => {
    const key = `${what} ${name}`
    const owner = taken.get(key)
    if (owner !== undefined) throw conflict(lens, `${what} "${name}" is already taken by ${owner}`)
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

function conflict(lens: LensDeclaration, message: string): QuerentError {
  return new QuerentError('conflict', `lens ${lens.name}: ${message}`, { lens: lens.name })
}

export const defaultLens: Lens = {
  name: 'default',
  knowsLanguages: true,
  summary: 'Everything the store holds, by words and meaning',
  stages: DEFAULT_LENS_STAGES,
}

// A query of the default lens whose conditions allow only entries of one kind is passed on to the lens that ranks this kind, so that the
// answer is the same whether or not the query names that lens. The lens's code is loaded with the first such query.

/** A lens to which queries of the default lens may be passed on. */
export interface Delegate {
  readonly name: string
  readonly kinds: readonly string[]
  /** Names of the aspects (tables with one row per entry, usable in filters) that only entries of the lens's kinds have. */
  readonly aspects: readonly string[]
  stages(): Promise<Stages>
}

/** Name under which a query's plan, as shown to users, holds the lens to which the query was passed on. */
const DELEGATED_TO = 'delegated_to'

/**
 * Stages of the default lens. A query that only entries of one delegate (a lens that ranks its own kinds of entries) can answer runs
 * through that lens's stages, every other query through `own`.
 */
export function delegating(own: Stages, delegates: readonly Delegate[]): Stages {
  if (delegates.length === 0) return own
  const loaded = new Map<string, Stages>()
  const stagesOf = ({ facts }: Plan): Stages => loaded.get(String(facts[DELEGATED_TO])) ?? own
  return {
    parse: (query, context) => {
      const plan = own.parse(query, context)
      const { filter } = plan
      const delegate = filter === null ? undefined : delegates.find(each => isOnlyFor(filter, each))
      return delegate === undefined ? plan : { ...plan, facts: { ...plan.facts, [DELEGATED_TO]: delegate.name } }
    },
    enrich: async (plan, context) => {
      const delegate = delegates.find(({ name }) => name === plan.facts[DELEGATED_TO])
      if (delegate !== undefined && !loaded.has(delegate.name)) loaded.set(delegate.name, await delegate.stages())
      return stagesOf(plan).enrich(plan, context)
    },
    respell: function* (plan, context) {
      const { respell } = stagesOf(plan)
      return respell === undefined ? null : yield* respell(plan, context)
    },
    retrieve: (plan, depth, context) => stagesOf(plan).retrieve(plan, depth, context),
    score: (retrieval, plan, context) => stagesOf(plan).score(retrieval, plan, context),
    diversify: (scoring, plan, context) => stagesOf(plan).diversify(scoring, plan, context),
    present: (ranking, retrieval, plan, context) => stagesOf(plan).present(ranking, retrieval, plan, context),
  }
}

/**
 * Whether a filter can be met only by entries of the kinds that the delegate lens ranks, or by entries with one of its aspects (tables of
 * fields).
 */
function isOnlyFor(filter: Filter, delegate: Delegate): boolean {
  switch (filter.op) {
    case 'and':
      return filter.of.some(part => isOnlyFor(part, delegate))
    case 'or':
      return filter.of.length > 0 && filter.of.every(part => isOnlyFor(part, delegate))
    case 'not':
      return false
    default:
      return isOf(filter, delegate) || delegate.aspects.some(aspect => filter.field.startsWith(`${aspect}.`))
  }
}

function isOf(filter: Exclude<Filter, { of: unknown }>, { kinds }: Delegate): boolean {
  if (filter.field !== 'kind') return false
  if (filter.op === 'eq') return kinds.includes(String(filter.value))
  return filter.op === 'in' && filter.values.length > 0 && filter.values.every(value => kinds.includes(String(value)))
}
