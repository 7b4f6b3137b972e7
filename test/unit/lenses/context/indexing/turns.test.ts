/** Runs of several engines on one store: one after the other, and each says what it waited for (CX-075). */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ProgressEvent } from '../../../../../src/lenses/context/call.ts'
import { Context } from '../../../../../src/lenses/context/operations.ts'
import type { LensHost } from '../../../../../src/lenses/lens.ts'
import type { Workspace } from '../../../../../src/model/workspace.ts'
import { LEASES } from '../../../../../src/store/core-tables.ts'
import { type CodeFolder, openCodeFolder } from '../../../../support/code-folder.ts'
import { openTestEngine } from '../../../../support/engines.ts'

const FILES = 40
const NAME = 'context:files'

function filesOf(version: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: FILES }, (_, at) => [
      `f${at}.ts`,
      `import { f${(at + 1) % FILES}v } from './f${(at + 1) % FILES}.ts'\nexport function f${at}v() { return f${(at + 1) % FILES}v() + ${version} }\n`,
    ]),
  )
}

/** Another engine on the same store, which waits at the first file that it reads. */
async function openHeld(code: CodeFolder) {
  const engine = await openTestEngine({ home: join(code.path, '.querent') })
  const host = engine.host('context')
  const reached = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const workspace = host.workspace as Workspace
  const held: Workspace = {
    url: workspace.url,
    storeFile: workspace.storeFile,
    urlOf: path => workspace.urlOf(path),
    mark: (url, signal) => workspace.mark(url, signal),
    list: (path, signal, leftOut) => workspace.list(path, signal, leftOut),
    async read(url) {
      reached.resolve()
      await goOn.promise
      return workspace.read(url)
    },
  }
  const context = new Context({ ...host, workspace: held } satisfies LensHost)
  return { engine, context, reached: reached.promise, goOn: goOn.resolve }
}

it('that find another at work wait for it, and say so (CX-075)', async () => {
  await using code = await openCodeFolder(filesOf(0))
  const held = await openHeld(code)
  await using _ = held.engine
  const first = held.context.call('/context/index')
  await held.reached
  const events: ProgressEvent[] = []
  const second = code.context.call('/context/index', {}, event => {
    events.push(event)
    if (event.phase === 'wait') held.goOn()
  })
  expect(await first).toMatchObject({ result: { indexed: FILES }, errors: null })
  expect((await first).result).not.toHaveProperty('waited_ms')
  expect(await second).toMatchObject({ result: { indexed: 0, skipped: FILES, waited_ms: expect.any(Number) } })
  expect(events[0]).toMatchObject({ phase: 'wait', message: 'another run is at work on this store' })
  expect(code.concepts()).toHaveLength(2 * FILES)
})

it('that wait end when their caller does, and leave the other at work', async () => {
  await using code = await openCodeFolder(filesOf(0))
  const held = await openHeld(code)
  await using _ = held.engine
  const first = held.context.call('/context/index')
  await held.reached
  const stop = new AbortController()
  const waiting = code.context.call('/context/index', {}, () => stop.abort(), stop.signal)
  expect(await waiting).toMatchObject({ errors: { handler: [{ code: 'cancelled' }] } })
  held.goOn()
  expect(await first).toMatchObject({ result: { indexed: FILES } })
})

it('whose process hung and lost its turn write nothing under the other, begin again, and say so (CX-075)', async () => {
  await using code = await openCodeFolder(filesOf(0))
  const held = await openHeld(code)
  await using _ = held.engine
  const first = held.context.call('/context/index')
  await held.reached
  // As if its term had passed: another process may take it.
  const { store } = code.engine.host('context')
  store.write(0, writer => writer.table(LEASES).delete({ name: NAME }))
  code.write(filesOf(1))
  expect(await code.do('/context/index')).toMatchObject({ indexed: FILES })
  held.goOn()
  expect(await first).toMatchObject({
    result: { indexed: 0, skipped: FILES },
    meta: { warnings: ['other runs took over 1 times, and this one began again'] },
  })
  await using fresh = await openCodeFolder(filesOf(1))
  await fresh.do('/context/index')
  expect(code.concepts()).toEqual(fresh.concepts())
  expect(code.relations()).toEqual(fresh.relations())
})

it('that find concepts deleted under them begin again, so that no link leads to what is gone', async () => {
  await using code = await openCodeFolder(filesOf(0))
  await code.do('/context/index')
  const id = code.ids().get('Function f1v f1.ts')
  code.write({ 'f0.ts': `${filesOf(0)['f0.ts']}// more\n` })
  await using other = await openTestEngine({ home: join(code.path, '.querent') })
  const context = new Context(other.host('context'))
  const ended = await code.context.call('/context/index', {}, ({ phase, current }) => {
    // By then the first file was taken, and with it all that is known of links.
    if (phase === 'read' && current === FILES) void context.call('/mind/concepts/delete', { id })
  })
  expect(ended).toMatchObject({ errors: null, meta: { warnings: [expect.stringContaining('began again')] } })
  expect(code.ids().has('Function f1v f1.ts')).toBe(false)
  expect(await code.engine.doctor()).toMatchObject({ ok: true })
})

it('read again what a forced /mind/init has emptied: no file is kept as read without its concepts (CX-047, CX-075)', async () => {
  await using code = await openCodeFolder(filesOf(0))
  await code.do('/context/index')
  const before = code.concepts()
  const relations = code.relations()
  await code.do('/mind/init', { force: true })
  expect(code.concepts()).toEqual([])
  expect(await code.engine.doctor()).toMatchObject({ ok: true })
  expect(await code.do('/context/index')).toMatchObject({ indexed: FILES, skipped: 0 })
  expect(code.concepts()).toEqual(before)
  expect(code.relations()).toEqual(relations)
})
