/**
 * Runs one command line from argv to exit code. Commands are described in `program.ts` and its neighbours; their bodies
 * are loaded when they run, because most of a short command's time is loading.
 */
import { CommanderError } from 'commander'
import { worded } from '../../model/reported-error.ts'
import { Endings, exitCodeOf, type Io, write, writeJson } from './io.ts'
import { makeProgram } from './program.ts'
import { asQuerentError, type Cli, EXIT, failureText, type Servers } from './run.ts'

/** Resolves to the exit code; never rejects. `servers` are those that `serve` and `mcp` open. */
export async function runCli(argv: readonly string[], servers: Servers, io: Io): Promise<number> {
  const endings = new Endings(io)
  const { signal } = endings
  const cli: Cli = {
    io,
    servers,
    signal,
    exitCode: EXIT.answered,
    usageExitCode: EXIT.usage,
    endsBySignal: false,
    errors: 'text',
  }
  try {
    // A path is called: `querent /context/query '{…}'`.
    const words = argv[0]?.startsWith('/') ? ['call', ...argv] : argv
    await makeProgram(cli).parseAsync(words, { from: 'user' })
    return endings.ending === null || cli.endsBySignal ? cli.exitCode : exitCodeOf(endings.ending)
  } catch (thrown) {
    if (endings.ending !== null) return exitCodeOf(endings.ending)
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.answered : cli.usageExitCode
    return await fail(cli, thrown)
  } finally {
    endings.stop()
  }
}

async function fail(cli: Cli, thrown: unknown): Promise<number> {
  const error = worded(asQuerentError(thrown), operation =>
    operation === 'chroma.suggest_hashtags' ? 'querent chroma suggest' : `querent call ${operation}`,
  )
  if (cli.errors === 'text') await write(cli.io.stderr, failureText(error))
  else await writeJson(cli.errors === 'json-aside' ? cli.io.stderr : cli.io.stdout, { error })
  if (cli.io.env['QUERENT_DEBUG'] && thrown instanceof Error) await write(cli.io.stderr, `${thrown.stack}\n`)
  return error.kind === 'usage' ? cli.usageExitCode : EXIT.failed
}
