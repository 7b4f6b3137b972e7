/**
 * The option `context index --watch`: reads source files again when they change, until a signal ends the command, which counts as success.
 */
import { basename, dirname, sep } from 'node:path'
import { watch } from 'chokidar'
import { contextOf } from '../../../openings/context.ts'
import type { CommonFlags } from '../flags.ts'
import { type Cli, EXIT, write } from '../io.ts'
import { withSession } from '../session.ts'

/**
 * Milliseconds without a further change before changed files are read: editors write a file in several steps, and switching a branch writes
 * many files.
 */
const QUIET_MS = 200

/** Number of changed files above which examining all files is faster than reading the named ones. */
const MAX_NAMED = 500
/**
 * Names of files with ignore rules: if one of them changes, all files must be examined, because other files may now be left out or
 * included.
 */
const RULE_FILES = new Set(['.gitignore', '.querentignore'])

/** Milliseconds before the next attempt after a failed run; doubled with each failure, up to `MAX_RETRY_MS`. */
const RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000

const UNWATCHED = new Set(['.git', '.hg', '.svn', '.querent', 'node_modules', '__pycache__', '.venv'])

type Envelope = Awaited<ReturnType<ReturnType<typeof contextOf>['call']>>

export async function watchCode(
  cli: Cli,
  flags: CommonFlags,
  params: Readonly<Record<string, unknown>>,
  show: (envelope: Envelope) => Promise<void>,
): Promise<void> {
  cli.endsBySignal = true
  await withSession(cli, flags, { create: true, onlyLenses: ['context'], background: true }, async session => {
    const { engine, context } = session
    const calls = contextOf(engine, context.viewer)
    const { home } = await engine.status(context)
    const watched = (params['paths'] as readonly string[] | undefined) ?? [dirname(home ?? cli.io.workingFolder)]
    let failures = 0
    const run = async (given: Readonly<Record<string, unknown>>): Promise<void> => {
      const envelope = await calls.call('/context/index', given, undefined, cli.signal)
      if (cli.signal.aborted) return
      // After a failed run it is unknown which files were read, so the next run must examine all files.
      if (envelope.status === 'error') changes.all()
      failures = envelope.status === 'error' ? failures + 1 : 0
      // A successful run has also done the work of failed runs before, so the exit code is reset to success.
      if (failures === 0) cli.exitCode = EXIT.answered
      const { indexed, deleted } = (envelope.result ?? {}) as Partial<Record<string, number>>
      const isNews = envelope.status === 'error' || (indexed ?? 0) + (deleted ?? 0) > 0
      if (isNews) await show(envelope)
    }
    const changes = new Changes()
    const isUnwatched = (path: string) => path.split(sep).some(part => UNWATCHED.has(part))
    // The watcher is started before the first run, so that no change during that run is missed. It is not persistent, because chokidar
    // never closes a folder that it begins to watch while it is being closed, which would keep the process from ending.
    const watcher = watch([...watched], { ignored: isUnwatched, ignoreInitial: true, persistent: false })
    const alive = setInterval(() => undefined, 60_000)
    try {
      let wake = (): void => undefined
      watcher.on('all', (event, path) => {
        changes.note(event, path)
        wake()
      })
      watcher.on('error', error => void write(cli.io.stderr, `querent: watching: ${String(error)}\n`))
      cli.signal.addEventListener('abort', () => wake())
      await new Promise<void>(resolve => watcher.once('ready', () => resolve()))
      await run(params)
      await write(cli.io.stderr, 'querent: watching; Ctrl-C ends\n')
      while (!cli.signal.aborted) {
        if (!changes.isAny) {
          const retry = failures === 0 ? undefined : Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (failures - 1))
          await new Promise<void>(resolve => {
            wake = resolve
            if (retry !== undefined) setTimeout(resolve, retry).unref()
          })
        }
        if (cli.signal.aborted) break
        await new Promise(resolve => setTimeout(resolve, QUIET_MS))
        const paths = changes.take()
        await run({ ...params, force: false, ...(paths !== null && { paths }) })
      }
    } finally {
      await watcher.close()
      clearInterval(alive)
    }
  })
}

/** Changes of files that the watcher has reported since the last run. */
class Changes {
  #paths = new Set<string>()
  #isAll = false
  /** Whether any change was reported since the last run. */
  isAny = false

  note(event: string, path: string): void {
    // A new folder is ignored, because the files in it are reported too.
    if (event === 'addDir') return
    this.isAny = true
    if (RULE_FILES.has(basename(path))) this.#isAll = true
    else this.#paths.add(path)
  }

  all(): void {
    this.#isAll = true
  }

  /** Returns the paths of changed files and forgets them; null: all files must be examined. */
  take(): readonly string[] | null {
    const paths = this.#isAll || this.#paths.size > MAX_NAMED ? null : [...this.#paths]
    this.#paths = new Set()
    this.#isAll = false
    this.isAny = false
    return paths
  }
}
