/** Runs a profile's parse hook and checks the shape of what it returns (CQ-079, CQ-091). */
import type { Json } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { filledWith, keepsRules, neighboursOf } from '../colour/completion.ts'
import { mustBeValid } from '../colour/coordinates.ts'
import { ChromaError, QueryProfileError, reasonOf } from '../errors.ts'
import type { Binding, EffectiveQuery, QueryParams, ResultRow, Warning } from '../model.ts'
import type { Sleep } from '../retry.ts'
import { copyJson, type PostContext, type ProfileHooks, type ProfileView, QueryProfile } from './query-profile.ts'

export interface Parsed {
  /** As the profile gave them: values are the core's to check. */
  readonly params: QueryParams
  /** Tags that completion added, in the order it added them. */
  readonly completed: readonly string[]
  /** The parse state where it is JSON data, for telling the caller what was made of the text; else null. */
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
  const added = new Set<string>()
  const complete = (hashtags: readonly string[]): readonly string[] => {
    const matched = boundOf(hashtags, view)
    if (!view.completeHashtags) mustBeValid(matched)
    const others = keepsRules(matched) ? [] : neighboursOf(matched, view.nodesWith, view.resolve)
    const set = filledWith(matched, others).map(({ hashtag }) => hashtag)
    for (const hashtag of set.slice(matched.length)) added.add(hashtag)
    return set
  }
  const context = {
    now: view.now,
    defaults: copyJson(view.defaults),
    completeHashtags: view.completeHashtags,
    resolve: (hashtag: string) => view.resolve(hashtag),
    tagsIn: (words: string) => [...view.tagsIn(words)],
    nodesWith: (hashtag: string) => view.nodesWith(hashtag),
    complete,
    isValid: (hashtags: readonly string[]) => keepsRules(boundOf(hashtags, view)),
  }
  let params: QueryParams
  try {
    params = checked(await profile.parseInput(text, context))
  } catch (error) {
    if (error instanceof ChromaError) throw error
    const message = `profile ${name} could not parse the text: ${reasonOf(error)}`
    throw new QueryProfileError('profile_parse_failed', message, { profile: name }, error)
  }
  const asked = new Set(params.hashtags.filter(hashtag => added.has(hashtag)))
  return { params, completed: [...added].filter(hashtag => asked.has(hashtag)), reported: reportable(params.state) }
}

/** Tags that are not assigned are passed over. */
function boundOf(hashtags: readonly string[], view: ProfileView): readonly Binding[] {
  const bound = hashtags.flatMap(hashtag => view.resolve(hashtag) ?? [])
  return [...new Map(bound.map(binding => [binding.hashtag, binding])).values()]
}

/** As `parseWith`, with the `QueryProfileError` it may fail with as a value. */
export async function parseOr(
  name: string,
  profile: ProfileHooks,
  text: string,
  view: ProfileView,
): Promise<{ parsed: Parsed; failure?: never } | { parsed?: never; failure: QueryProfileError }> {
  try {
    return { parsed: await parseWith(name, profile, text, view) }
  } catch (error) {
    if (error instanceof QueryProfileError) return { failure: error }
    throw error
  }
}

function checked(value: unknown): QueryParams {
  if (typeof value !== 'object' || value === null) throw new TypeError('expected query parameters, an object')
  const { state, ...parameters } = value as Record<string, unknown>
  if (!Array.isArray(parameters['hashtags'])) throw new TypeError('hashtags: expected a list')
  const unknown = Object.keys(parameters).find(key => !PARAMETERS.includes(key))
  if (unknown !== undefined) {
    throw new TypeError(`${unknown}: not a query parameter; expected some of ${PARAMETERS.join(', ')}`)
  }
  // The core must not see what the profile changes later; `state` is its own.
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

/** Entries named in the warning; the rest are counted. */
const MAX_NAMED = 10

export interface CustomScoring {
  /** From 0 to 1; null: it gave none. `row.score` is the memory score. What was scored with the same one is not scored again. */
  score(entry: EntryKey, row: ResultRow): Promise<number | null>
  /** One at most: which entries kept their memory score, and why the first did. */
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

/** Null: the profile leaves the score to memory. */
export function scoringHook({ customScoring }: ProfileHooks): QueryProfile['customScoring'] | null {
  return customScoring === undefined || customScoring === QueryProfile.prototype.customScoring ? null : customScoring
}

export interface PostProcessed {
  readonly rows: readonly ResultRow[]
  readonly warnings: readonly Warning[]
}

/** How long to wait before each retry, ms. */
const RETRIES: readonly number[] = [0, 100, 500]

export async function postProcessWith(
  name: string,
  profile: ProfileHooks,
  rows: readonly ResultRow[],
  context: PostContext,
  sleep: Sleep,
): Promise<PostProcessed> {
  const { postProcess } = profile
  // The base class returns its input: then nothing needs to be copied.
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

/** The answer leaves the engine as JSON, so what a hook returns has to be that. */
function checkedRows(answer: unknown): readonly ResultRow[] {
  if (!Array.isArray(answer)) throw new TypeError('expected a list of rows')
  return answer.map((row, at) => {
    if (!isRecord(row)) throw new TypeError(`rows[${at}]: expected a row`)
    return copyJson(row as unknown as ResultRow, `rows[${at}]`)
  })
}
