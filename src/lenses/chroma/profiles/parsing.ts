/** Runs a profile's parse hook and checks the shape of what it returns (CQ-079, CQ-091). */
import type { Json } from '../../../base/canonical.ts'
import { ChromaError, QueryProfileError, reasonOf } from '../errors.ts'
import type { QueryParams } from '../model.ts'
import { completed, isValidSet } from './complete.ts'
import type { ProfileView } from './context.ts'
import { copyJson } from './copy.ts'
import type { ProfileHooks } from './query-profile.ts'

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
    const set = completed(hashtags, view)
    for (const hashtag of set.added) added.add(hashtag)
    return set.hashtags
  }
  const context = {
    now: view.now,
    defaults: copyJson(view.defaults),
    completeHashtags: view.completeHashtags,
    resolve: (hashtag: string) => view.resolve(hashtag),
    tagsIn: (words: string) => [...view.tagsIn(words)],
    nodesWith: (hashtag: string) => view.nodesWith(hashtag),
    complete,
    isValid: (hashtags: readonly string[]) => isValidSet(hashtags, view),
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
