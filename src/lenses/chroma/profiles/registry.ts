/**
 * The query profiles of one engine by name, and the calls of their hooks with error handling, retries and copies of the data (CQ-078 to
 * CQ-093).
 */
import type { Json } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { keepsRules } from '../colour/coordinates.ts'
import { ChromaError, PluginError, QueryError, QueryProfileError, reasonOf, type Sleep, sleepFor } from '../errors.ts'
import type { EffectiveQuery, QueryParams, ResultRow, Warning } from '../model.ts'
import { CodeSearchQueryProfile, DefaultQueryProfile } from './default-profile.ts'
import { KnowledgePatchQueryProfile } from './knowledge-patch.ts'
import {
  copyJson,
  type Extensions,
  type PostContext,
  type ProfileHooks,
  type ProfileView,
  QueryProfile,
  type SchemaExtension,
} from './query-profile.ts'

/** Name of the built-in profile for plain language; no other profile can have it. */
export const DEFAULT_PROFILE = 'default'

export interface ParsedText extends Parsed {
  /**
   * Name of the profile that parsed the text, whose other hooks then run for this query too. Where the requested profile failed, it is the
   * built-in profile that parsed the text instead.
   */
  readonly profile: string
  readonly warnings: readonly Warning[]
}

export interface ProfilesOptions {
  readonly profiles?: Readonly<Record<string, ProfileHooks>> | undefined
  /** Waits before the retries of a post-process hook; tests replace it. */
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
    // A profile given in the options of the engine may replace a profile that is built into the lens and has the same name.
    for (const [name, profile] of Object.entries(options.profiles ?? {}))
      this.register(name, profile, { replace: true })
  }

  /** Names of all registered profiles and the built-in one, sorted. */
  get names(): readonly string[] {
    return [DEFAULT_PROFILE, ...this.#profiles.keys()].sort()
  }

  register(name: string, profile: ProfileHooks, options: { readonly replace?: boolean | undefined } = {}): void {
    assertName(name)
    if (name === DEFAULT_PROFILE) {
      throw new PluginError(
        'reserved_profile_name',
        `profile: "${name}" is the built-in profile; choose another name`,
        {
          profile: name,
        },
      )
    }
    assertHooks(name, profile)
    if (this.#profiles.has(name) && options.replace !== true) {
      const message = `profile: ${JSON.stringify(name)} is registered already; pass { replace: true } to replace it`
      throw new PluginError('profile_exists', message, { profile: name })
    }
    this.#profiles.set(name, profile)
  }

  /** Returns a function that removes all profiles registered after this call. With it, a plug-in is installed as a whole or not at all. */
  savepoint(): () => void {
    const before = [...this.#profiles]
    return () => {
      this.#profiles.clear()
      for (const [name, profile] of before) this.#profiles.set(name, profile)
    }
  }

  /** Sets the profile that is used for queries that name no profile (CQ-083). */
  setDefault(name: string): void {
    this.#must(name)
    this.#default = name
  }

  /**
   * Name of the profile to use: the requested one, or the default when none is requested. Throws `QueryError` `unknown_profile` (CQ-018).
   */
  select(name: string | null | undefined): string {
    const selected = name ?? this.#default
    this.#must(selected)
    return selected
  }

  /**
   * Parses a text into query parameters with the named profile. With `fallbackToDefault`, the built-in profile parses a text for which the
   * named one fails (CQ-092).
   */
  async parse(
    name: string,
    text: string,
    view: ProfileView,
    options: { readonly fallbackToDefault?: boolean | undefined } = {},
  ): Promise<ParsedText> {
    const profile = this.#must(name)
    try {
      return { ...(await parseWith(name, profile, text, view)), profile: name, warnings: [] }
    } catch (error) {
      const isReplaced = options.fallbackToDefault === true && name !== DEFAULT_PROFILE
      if (!isReplaced || !(error instanceof QueryProfileError)) throw error
      const message = `profile ${name} could not parse the text (${error.message}); parsed by the default profile`
      const warning = { code: 'profile_fallback', message, details: { profile: name, code: error.code } }
      const instead = await parseWith(DEFAULT_PROFILE, this.#builtIn, text, view)
      return { ...instead, profile: DEFAULT_PROFILE, warnings: [warning] }
    }
  }

  /** Whether the profile has a scoring hook. */
  hasScoring(name: string): boolean {
    return scoringHook(this.#must(name)) !== null
  }

  /** The scoring of entries by a profile, for one query; null when the profile has no scoring hook (CQ-080). */
  customScoring(name: string, query: EffectiveQuery): CustomScoring | null {
    return customScoringOf(name, this.#must(name), query)
  }

  /** The ranked rows after the profile's post-process hook; the unchanged rows when the hook fails in every attempt (CQ-093). */
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

function assertName(name: unknown): asserts name is string {
  if (typeof name === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(name)) return
  const shown = JSON.stringify(name) ?? typeof name
  const message = `profile: expected a name of 1 to 64 letters, digits, hyphens or underscores, got ${shown.slice(0, 80)}`
  throw new PluginError('invalid_profile_name', message, { profile: shown.slice(0, 80) })
}

function assertHooks(name: string, profile: unknown): void {
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

/** Whether an imported module is a plug-in: it exports profiles or schema extensions. */
export function isPlugin({ profiles, extensions }: Readonly<Record<string, unknown>>): boolean {
  return profiles !== undefined || extensions !== undefined
}

/**
 * Registers the profiles and schema extensions that a plug-in exports. When any part is refused, it throws `PluginError` and removes the
 * parts already registered.
 */
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

// Runs the parse hook of a query profile and checks the shape of its result (CQ-079, CQ-091).

export interface Parsed {
  /** Query parameters as the profile's hook returned them; their values are checked later. */
  readonly params: QueryParams
  /**
   * The value `state` that the profile's parse hook returned, shown to the caller as the way in which the text was understood; null where
   * it is not JSON data.
   */
  readonly reported: Json
}

const PARAMETERS: readonly string[] = [
  'hashtags',
  'k',
  'maxDistance',
  'temporalRange',
  'metadataFilters',
  'includeRotten',
  'scoreWeights',
  'state',
]

export async function parseWith(name: string, profile: ProfileHooks, text: string, view: ProfileView): Promise<Parsed> {
  const { now, completeHashtags, resolve, tagsIn } = view
  const boundOf = (hashtags: readonly string[]) => {
    const bound = hashtags.flatMap(hashtag => resolve(hashtag) ?? [])
    return [...new Map(bound.map(binding => [binding.hashtag, binding])).values()]
  }
  const complete = (hashtags: readonly string[]) => boundOf(hashtags).map(({ hashtag }) => hashtag)
  const isValid = (hashtags: readonly string[]) => keepsRules(boundOf(hashtags))
  const context = { now, defaults: copyJson(view.defaults), completeHashtags, resolve, tagsIn, complete, isValid }
  let params: QueryParams
  try {
    params = checked(await profile.parseInput(text, context))
  } catch (error) {
    if (error instanceof ChromaError) throw error
    const message = `profile ${name} could not parse the text: ${reasonOf(error)}`
    throw new QueryProfileError('profile_parse_failed', message, { profile: name }, error)
  }
  return { params, reported: reportable(params.state) }
}

function checked(value: unknown): QueryParams {
  if (typeof value !== 'object' || value === null) throw new TypeError('expected query parameters, an object')
  const { state, ...parameters } = value as Record<string, unknown>
  if (!Array.isArray(parameters['hashtags'])) throw new TypeError('hashtags: expected a list')
  const unknown = Object.keys(parameters).find(key => !PARAMETERS.includes(key))
  if (unknown !== undefined) {
    throw new TypeError(`${unknown}: not a query parameter; expected some of ${PARAMETERS.join(', ')}`)
  }
  // The parameters are copied, so that later changes by the profile have no effect; `state` is passed on as it is, since it belongs to the
  // profile.
  return { ...structuredClone(parameters), ...(state === undefined ? {} : { state }) } as unknown as QueryParams
}

function reportable(state: unknown): Json {
  try {
    return state === undefined ? null : (copyJson(state, 'state') as Json)
  } catch {
    return null
  }
}

export const MEMORY_SHARE = 0.7
export const CUSTOM_SHARE = 0.3

/** Largest number of entries that a warning about failed scoring names; further ones are only counted. */
const MAX_NAMED = 10

export interface CustomScoring {
  /**
   * The profile's score for an entry, from 0 to 1; null when the profile gave none. `row.score` is the score by memory (relevance, recency,
   * strength). Scores are cached: an entry is scored again only when its memory score has changed.
   */
  score(entry: EntryKey, row: ResultRow): Promise<number | null>
  /**
   * At most one warning, which says which entries kept their memory score because the profile's scoring failed, and why the first one
   * failed.
   */
  readonly warnings: readonly Warning[]
}

export function customScoringOf(name: string, profile: ProfileHooks, query: EffectiveQuery): CustomScoring | null {
  const hook = scoringHook(profile)
  if (hook === null) return null
  const failures: { readonly entry: string; readonly why: string }[] = []
  const known = new Map<EntryKey, { readonly memory: number; readonly own: number | null }>()
  const failed = ({ entry_id }: ResultRow, why: string): null => {
    failures.push({ entry: entry_id, why })
    return null
  }
  const clamped = (row: ResultRow, own: unknown): number | null => {
    if (typeof own === 'number' && Number.isFinite(own)) return Math.min(1, Math.max(0, own))
    return failed(row, `expected a finite number, got ${typeof own === 'number' ? own : typeof own}`)
  }
  return {
    score: async (entry, row) => {
      const before = known.get(entry)
      if (before?.memory === row.score) return before.own
      let own: number | null
      try {
        own = clamped(row, await hook.call(profile, copyJson(row, 'entry'), copyJson(query, 'query')))
      } catch (error) {
        own = failed(row, reasonOf(error))
      }
      known.set(entry, { memory: row.score, own })
      return own
    },
    get warnings() {
      const [first] = failures
      if (first === undefined) return []
      const message = `profile ${name}: customScoring gave no score for ${failures.length} entries (${first.why}); they keep their memory score`
      const entries = failures.slice(0, MAX_NAMED).map(({ entry }) => entry)
      return [{ code: 'custom_scoring_failed', message, details: { profile: name, entries, failed: failures.length } }]
    },
  }
}

/** The profile's scoring hook; null when the profile has none, so that memory alone scores. */
export function scoringHook({ customScoring }: ProfileHooks): QueryProfile['customScoring'] | null {
  return customScoring === undefined || customScoring === QueryProfile.prototype.customScoring ? null : customScoring
}

export interface PostProcessed {
  readonly rows: readonly ResultRow[]
  readonly warnings: readonly Warning[]
}

/** Waits before the retries of a failed post-process hook, in ms. */
const RETRIES: readonly number[] = [0, 100, 500]

export async function postProcessWith(
  name: string,
  profile: ProfileHooks,
  rows: readonly ResultRow[],
  context: PostContext,
  sleep: Sleep,
): Promise<PostProcessed> {
  const { postProcess } = profile
  // A profile that inherits the hook from the base class returns its rows unchanged, so no copy is made and no hook called.
  if (postProcess === undefined || postProcess === QueryProfile.prototype.postProcess) return { rows, warnings: [] }
  let failure: unknown
  for (const wait of [null, ...RETRIES]) {
    if (wait !== null && wait > 0) await sleep(wait)
    try {
      const copies = rows.map(row => copyJson(row, 'row'))
      const query = copyJson(context.query, 'query')
      return { rows: checkedRows(await postProcess.call(profile, copies, { ...context, query })), warnings: [] }
    } catch (error) {
      if (error instanceof QueryProfileError) throw error
      failure = error
    }
  }
  const message = `profile ${name}: postProcess failed ${RETRIES.length + 1} times (${reasonOf(failure)}); rows are as ranked`
  return { rows, warnings: [{ code: 'post_process_skipped', message, details: { profile: name } }] }
}

/** Requires that the hook returned rows of JSON data, since the engine passes answers on as JSON. */
function checkedRows(answer: unknown): readonly ResultRow[] {
  if (!Array.isArray(answer)) throw new TypeError('expected a list of rows')
  return answer.map((row, at) => {
    if (!isRecord(row)) throw new TypeError(`rows[${at}]: expected a row`)
    return copyJson(row as unknown as ResultRow, `rows[${at}]`)
  })
}
