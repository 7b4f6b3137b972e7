/** The profiles of one engine by name, and how their hooks are run: errors, retries, copies (CQ-078 to CQ-093). */

import { isRecord } from '../../../base/record.ts'
import { PluginError, QueryError } from '../errors.ts'
import type { EffectiveQuery, ResultRow, Warning } from '../model.ts'
import { type Sleep, sleepFor } from '../retry.ts'
import { CodeSearchQueryProfile } from './code-search.ts'
import { DefaultQueryProfile } from './default-profile.ts'
import type { Extensions, SchemaExtension } from './extensions.ts'
import {
  type CustomScoring,
  customScoringOf,
  type Parsed,
  type PostProcessed,
  parseOr,
  parseWith,
  postProcessWith,
  scoringHook,
} from './hooks.ts'
import { KnowledgePatchQueryProfile } from './knowledge-patch.ts'
import type { PostContext, ProfileHooks, ProfileView } from './query-profile.ts'

/** The built-in profile for plain language; the name is reserved. */
export const DEFAULT_PROFILE = 'default'

export interface ParsedText extends Parsed {
  /** The profile that made it, whose other hooks run now: not the one asked for after a fallback. */
  readonly profile: string
  readonly warnings: readonly Warning[]
}

export interface ProfilesOptions {
  readonly profiles?: Readonly<Record<string, ProfileHooks>> | undefined
  /** Waits between retries of a post-process hook. */
  readonly sleep?: Sleep | undefined
}

export class Profiles {
  readonly #builtIn = new DefaultQueryProfile()
  readonly #profiles = new Map<string, ProfileHooks>([
    ['knowledge_patch', new KnowledgePatchQueryProfile()],
    ['code_search', new CodeSearchQueryProfile()],
  ])
  readonly #sleep: Sleep
  #default = DEFAULT_PROFILE

  constructor(options: ProfilesOptions = {}) {
    this.#sleep = options.sleep ?? sleepFor
    // Given with the engine, a profile may take the place of one that ships with the lens.
    for (const [name, profile] of Object.entries(options.profiles ?? {}))
      this.register(name, profile, { replace: true })
  }

  /** In order of name, the built-in one included. */
  get names(): readonly string[] {
    return [DEFAULT_PROFILE, ...this.#profiles.keys()].sort()
  }

  get defaultName(): string {
    return this.#default
  }

  register(name: string, profile: ProfileHooks, options: { readonly replace?: boolean | undefined } = {}): void {
    mustBeName(name)
    if (name === DEFAULT_PROFILE) {
      throw new PluginError(
        'reserved_profile_name',
        `profile: "${name}" is the built-in profile; choose another name`,
        {
          profile: name,
        },
      )
    }
    mustHaveHooks(name, profile)
    if (this.#profiles.has(name) && options.replace !== true) {
      const message = `profile: ${JSON.stringify(name)} is registered already; pass { replace: true } to replace it`
      throw new PluginError('profile_exists', message, { profile: name })
    }
    this.#profiles.set(name, profile)
  }

  /** Undoes what is registered from here on when called: a plug-in is taken whole or not at all. */
  savepoint(): () => void {
    const before = [...this.#profiles]
    return () => {
      this.#profiles.clear()
      for (const [name, profile] of before) this.#profiles.set(name, profile)
    }
  }

  /** Which profile applies when a query names none (CQ-083). */
  setDefault(name: string): void {
    this.#must(name)
    this.#default = name
  }

  /** The name that applies: the one asked for, or the default one. Throws `QueryError` `unknown_profile` (CQ-018). */
  select(name: string | null | undefined): string {
    const selected = name ?? this.#default
    this.#must(selected)
    return selected
  }

  /** Parameters of a text. With `fallbackToDefault` the built-in profile tries what another could not parse (CQ-092). */
  async parse(
    name: string,
    text: string,
    view: ProfileView,
    options: { readonly fallbackToDefault?: boolean | undefined } = {},
  ): Promise<ParsedText> {
    const profile = this.#must(name)
    if (options.fallbackToDefault !== true || name === DEFAULT_PROFILE) {
      return { ...(await parseWith(name, profile, text, view)), profile: name, warnings: [] }
    }
    const { failure, parsed } = await parseOr(name, profile, text, view)
    if (parsed !== undefined) return { ...parsed, profile: name, warnings: [] }
    const message = `profile ${name} could not parse the text (${failure.message}); parsed by the default profile`
    const warning = { code: 'profile_fallback', message, details: { profile: name, code: failure.code } }
    const instead = await parseWith(DEFAULT_PROFILE, this.#builtIn, text, view)
    return { ...instead, profile: DEFAULT_PROFILE, warnings: [warning] }
  }

  /** Whether the profile has scoring of its own. */
  hasScoring(name: string): boolean {
    return scoringHook(this.#must(name)) !== null
  }

  /** The profile's own score for one query; null when the profile has no scoring of its own (CQ-080). */
  customScoring(name: string, query: EffectiveQuery): CustomScoring | null {
    return customScoringOf(name, this.#must(name), query)
  }

  /** What the profile makes of ranked rows; they stay as they are when its hook keeps failing (CQ-093). */
  postProcess(name: string, rows: readonly ResultRow[], context: PostContext): Promise<PostProcessed> {
    return postProcessWith(name, this.#must(name), rows, context, this.#sleep)
  }

  #must(name: string): ProfileHooks {
    const profile = name === DEFAULT_PROFILE ? this.#builtIn : this.#profiles.get(name)
    if (profile !== undefined) return profile
    const known = this.names
    const message = `profile: there is no profile ${JSON.stringify(name)}; known: ${known.join(', ')}`
    throw new QueryError('unknown_profile', message, { profile: String(name), known: [...known] })
  }
}

function mustBeName(name: unknown): asserts name is string {
  if (typeof name === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(name)) return
  const shown = JSON.stringify(name) ?? typeof name
  const message = `profile: expected a name of 1 to 64 letters, digits, hyphens or underscores, got ${shown.slice(0, 80)}`
  throw new PluginError('invalid_profile_name', message, { profile: shown.slice(0, 80) })
}

function mustHaveHooks(name: string, profile: unknown): void {
  const hooks = (typeof profile === 'object' && profile !== null ? profile : {}) as Record<string, unknown>
  const wrong = ['postProcess', 'customScoring'].find(hook => !['function', 'undefined'].includes(typeof hooks[hook]))
  if (typeof hooks['parseInput'] === 'function' && wrong === undefined) return
  const message = `profile ${name}: expected an object with ${wrong ?? 'parseInput'} as a function`
  throw new PluginError('invalid_profile', message, { profile: name, hook: wrong ?? 'parseInput' })
}

export interface PluginHost {
  readonly profiles: Pick<Profiles, 'register' | 'savepoint'>
  readonly extensions: Pick<Extensions, 'register' | 'savepoint'>
}

/** Whether a module exports anything that is taken here. */
export function isPlugin({ profiles, extensions }: Readonly<Record<string, unknown>>): boolean {
  return profiles !== undefined || extensions !== undefined
}

/** Throws `PluginError` and leaves nothing behind when any part is refused. */
export function installPlugin(exported: Readonly<Record<string, unknown>>, host: PluginHost): void {
  const { profiles, extensions } = exported
  if (!isPlugin(exported)) throw wrong('profiles', '`profiles` or `extensions`')
  if (profiles !== undefined && !isRecord(profiles)) throw wrong('profiles', '`profiles` as an object by name')
  if (extensions !== undefined && !Array.isArray(extensions)) throw wrong('extensions', '`extensions` as a list')
  const undo = [host.profiles.savepoint(), host.extensions.savepoint()]
  try {
    for (const extension of extensions ?? []) host.extensions.register(extension as SchemaExtension)
    for (const [name, profile] of Object.entries(profiles ?? {})) host.profiles.register(name, profile as ProfileHooks)
  } catch (error) {
    for (const step of undo) step()
    throw error
  }
}

function wrong(field: string, expected: string): PluginError {
  return new PluginError('invalid_plugin', `plug-in: expected the module to export ${expected}`, { field })
}
