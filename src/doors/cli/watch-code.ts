/** `context index --watch`: indexes again whenever files change, until a signal ends it, which is a good end. */

import { dirname, sep } from 'node:path'
import { watch } from 'chokidar'
import { contextOf } from '../../engine/open-context.ts'
import { tell } from './commands/envelope.ts'
import type { CommonFlags } from './flags.ts'
import { write } from './io.ts'
import { type IndexReport, indexText } from './render/context.ts'
import type { Cli } from './run.ts'
import { withSession } from './session.ts'

/** Editors write a file in several steps, and switching a branch writes many. */
const QUIET_MS = 200

const UNWATCHED = new Set(['.git', '.hg', '.svn', '.querent', 'node_modules', '__pycache__', '.venv'])

export async function watchCode(
  cli: Cli,
  flags: CommonFlags,
  params: Readonly<Record<string, unknown>>,
): Promise<void> {
  cli.endsBySignal = true
  await withSession(cli, flags, { create: true, onlyLenses: ['context'], background: true }, async session => {
    const { engine, context } = session
    const calls = contextOf(engine, context.viewer)
    const { home } = await engine.status(context)
    const watched = (params['paths'] as readonly string[] | undefined) ?? [dirname(home ?? cli.io.workingFolder)]
    const run = async (given: Readonly<Record<string, unknown>>): Promise<void> => {
      const envelope = await calls.call('/context/index', given, undefined, cli.signal)
      if (cli.signal.aborted) return
      const { indexed, deleted, renamed } = (envelope.result ?? {}) as Partial<IndexReport>
      const isNews = envelope.status === 'error' || (indexed ?? 0) + (deleted ?? 0) + (renamed ?? 0) > 0
      if (isNews) await tell(cli, flags, envelope, result => indexText(result as unknown as IndexReport))
    }
    const isUnwatched = (path: string) => path.split(sep).some(part => UNWATCHED.has(part))
    // Before the first run, so that nothing that changes during it is missed.
    const watcher = watch([...watched], { ignored: isUnwatched, ignoreInitial: true })
    try {
      let wake = (): void => undefined
      let isDirty = false
      watcher.on('all', () => {
        isDirty = true
        wake()
      })
      watcher.on('error', error => void cli.io.stderr.write(`querent: watching: ${String(error)}\n`))
      cli.signal.addEventListener('abort', () => wake())
      await new Promise<void>(resolve => watcher.once('ready', () => resolve()))
      await run(params)
      await write(cli.io.stderr, 'querent: watching; Ctrl-C ends\n')
      while (!cli.signal.aborted) {
        if (!isDirty) await new Promise<void>(resolve => (wake = resolve))
        if (cli.signal.aborted) break
        await new Promise(resolve => setTimeout(resolve, QUIET_MS))
        isDirty = false
        await run({ ...params, force: false })
      }
    } finally {
      await watcher.close()
    }
  })
}
