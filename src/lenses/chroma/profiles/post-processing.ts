/** Runs a profile's hook on the ranked rows: retried on fresh copies, then skipped with a warning (CQ-072, CQ-093). */
import { isRecord } from '../../../base/record.ts'
import { QueryProfileError, reasonOf } from '../errors.ts'
import type { Sleep } from '../machine-time.ts'
import type { ResultRow, Warning } from '../model.ts'
import type { PostContext } from './context.ts'
import { copyJson } from './copy.ts'
import { type ProfileHooks, QueryProfile } from './query-profile.ts'

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
      return { rows: checked(await postProcess.call(profile, copies, { ...context, query })), warnings: [] }
    } catch (error) {
      if (error instanceof QueryProfileError) throw error
      failure = error
    }
  }
  const message = `profile ${name}: postProcess failed ${RETRIES.length + 1} times (${reasonOf(failure)}); rows are as ranked`
  return { rows, warnings: [{ code: 'post_process_skipped', message, details: { profile: name } }] }
}

/** The answer leaves the engine as JSON, so what a hook returns has to be that. */
function checked(answer: unknown): readonly ResultRow[] {
  if (!Array.isArray(answer)) throw new TypeError('expected a list of rows')
  return answer.map((row, at) => {
    if (!isRecord(row)) throw new TypeError(`rows[${at}]: expected a row`)
    return copyJson(row as unknown as ResultRow, `rows[${at}]`)
  })
}
