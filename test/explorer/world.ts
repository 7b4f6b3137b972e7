/** A store for the explorer to look at: the example notes, many small entries, one that is hostile, one that is hidden. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { PutInput } from '../../src/model/entry-input.ts'
import { querentHere } from '../support/in-process.ts'

const notes = fileURLToPath(new URL('../../examples/notes', import.meta.url))

/** What a browser would run, were it ever read as HTML. */
export const HOSTILE =
  '<img src=x onerror="window.hostile = true"><script>window.hostile = true</script> kestrel <b>bold</b>'

export interface World extends Disposable {
  readonly home: string
  /** What `querent call <operation>` prints. */
  call(operation: string, input: object, viewer?: string): Promise<Record<string, unknown>>
}

export async function makeWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'querent-explorer-'))
  const home = join(folder, 'home')
  expect(await querentHere(['add', notes, '--home', home], { cwd: folder })).toMatchObject({ status: 0 })
  const call = async (operation: string, input: object, viewer?: string): Promise<Record<string, unknown>> => {
    const args = ['call', operation, '-', '--home', home, ...(viewer === undefined ? [] : ['--viewer', viewer])]
    const { status, stdout } = await querentHere(args, { cwd: folder, stdin: JSON.stringify(input) })
    expect(status, stdout).toBe(0)
    return JSON.parse(stdout)
  }
  await call('put', { entries: [...SMALL, entry('hostile', `${HOSTILE} title`, HOSTILE, ['<i>tag</i>'])] })
  await call(
    'put',
    { entries: [{ ...entry('hidden', 'Of Ben alone', 'kestrel in private'), visibility: 'private' }] },
    'ben',
  )
  return { home, call, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

const SMALL = Array.from({ length: 25 }, (_, at) =>
  entry(`falcon-${at}`, `Falcon ${at}`, `A falcon was seen on day ${at}${' again'.repeat(at % 5)}.`, ['birds']),
)

function entry(id: string, title: string, content: string, tags: readonly string[] = []): PutInput {
  return { id, title, content, tags, collection: 'sightings', kind: 'note', visibility: 'public' }
}
