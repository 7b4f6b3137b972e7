/** How much one run takes in, and how long it waits for vectors (CX-075). */
import { describe, expect, it } from 'vitest'
import type { Embedder } from '../../../../../src/embed/embedder.ts'
import { CONTEXT_OPERATIONS, Context } from '../../../../../src/lenses/context/operations.ts'
import { checkSettings } from '../../../../../src/lenses/context/state.ts'
import type { LensHost } from '../../../../../src/lenses/lens.ts'
import type { Operation } from '../../../../../src/model/operation.ts'
import { LOCAL_OWNER } from '../../../../../src/model/viewer.ts'
import { openCodeFolder } from '../../../../support/code-folder.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'

const FILES = { 'a.ts': 'export const a = 1\n', 'b.ts': 'export const b = 1\n', 'lib/c.ts': 'export const c = 1\n' }

describe('a run of /context/index', () => {
  it('that finds more files than the setting allows reads none of them and says what to do (CX-075)', async () => {
    await using code = await openCodeFolder(FILES)
    const context = new Context({ ...code.engine.host('context'), settings: checkSettings({ max_files: 2 }) })
    const { result, errors } = await context.call('/context/index')
    expect(result).toBeNull()
    expect(errors).toMatchObject({
      paths: [{ code: 'too_many', message: expect.stringContaining('more than 2 files') }],
    })
    expect(JSON.stringify(errors)).toMatch(/`paths`.*\.querentignore.*lenses\.context\.max_files/)
    expect(code.concepts()).toEqual([])
    expect((await context.call('/context/index', { path: 'lib' })).result).toMatchObject({ indexed: 1 })
  })

  it('as an operation answers when vectors take too long, and names `wait` (CX-075)', async () => {
    await using code = await openCodeFolder(FILES, { embedder: neverDone() })
    const host = { ...code.engine.host('context'), settings: checkSettings({ max_wait: 0.05 }) }
    const operation: Operation<LensHost> | undefined = CONTEXT_OPERATIONS.find(({ name }) => name === 'context.index')
    const context = { viewer: LOCAL_OWNER, signal: new AbortController().signal }
    const answer = await operation?.run(host, {}, context)
    expect(answer).toMatchObject({
      result: { indexed: 3 },
      meta: {
        warnings: [expect.stringMatching(/not complete after 0\.05 s.*lenses\.context\.max_wait.*`wait: false`/)],
      },
    })
    const short = (await operation?.run(host, { wait: false }, context)) as { readonly meta: object }
    expect(short.meta).not.toHaveProperty('warnings')
  })
})

describe('the settings', () => {
  it('have these defaults', () => {
    expect(checkSettings(undefined)).toMatchObject({ max_files: 50_000, max_wait: 60 })
  })
})

/** Takes texts and never gives vectors, until it is cancelled. */
function neverDone(): Embedder {
  const toy = openToyEmbedder()
  const embed: Embedder['embed'] = (_texts, _kind, signal) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  return { ...toy, model: toy.model, embed, close: () => toy.close() }
}
