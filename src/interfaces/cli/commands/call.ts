/** The command `call`: runs any operation by its name, with JSON as input, and prints exactly the JSON of the result. */
import type { Command } from 'commander'
import { openEngine, openEngineOrEmpty } from '../../../engine/open.ts'
import { type Catalog, declaredOperation, findOperation, lensesFor, makeCatalog } from '../../../ops/catalog.ts'
import { type Cli, EXIT, write, writeJson } from '../io.ts'
import type { Flags } from '../operation-command.ts'
import { withSession } from '../session.ts'
import { fileText, parsed, printPieces, textOf } from './print.ts'

export async function runCall(
  cli: Cli,
  flags: Flags,
  [name, argument]: readonly (string | undefined)[],
  made: Command,
): Promise<void> {
  if (flags['help'] === true) {
    made.outputHelp()
    return write(cli.io.stdout, `\nOperations:\n${await operationList()}`)
  }
  if (name === undefined) made.error(`error: missing operation\n\nOperations:\n${await operationList()}`)
  cli.errors = 'json'
  cli.usageExitCode = EXIT.failed
  if (name.startsWith('/')) return (await import('../context-commands.ts')).callPath(cli, name, argument, flags)
  const input = await inputOf(cli, argument)
  // The store is created if it does not exist and the operation writes.
  const effect = (await declaredOperation(name))?.effect
  const onlyLenses = lensesFor(name, input)
  const options = {
    create: effect?.kind === 'write',
    ...(onlyLenses !== undefined && { onlyLenses }),
    ...(effect?.storeless && { open: openEngineOrEmpty }),
  }
  if (flags['stream'] === true) {
    await withSession(cli, flags, options, ({ catalog, stream }) =>
      printPieces(cli, stream(findOperation(catalog, name), input)),
    )
    return
  }
  const result = await withSession(cli, flags, options, ({ catalog, run }) => run(findOperation(catalog, name), input))
  await writeJson(cli.io.stdout, result)
}

/**
 * A list of all operations with their summaries, one per line, including those of lenses. An engine with an empty store is opened for it,
 * because only an engine knows the operations of its lenses.
 */
async function operationList(): Promise<string> {
  await using engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
  const catalog: Catalog = makeCatalog(engine)
  const width = Math.max(...[...catalog.keys()].map(name => name.length))
  return [...catalog.values()].map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`).join('')
}

/**
 * Input of the operation from the argument: JSON, `@file`, or `-` for standard input. Without an argument, piped input is read; on a
 * terminal the operation gets no input.
 */
async function inputOf(cli: Cli, argument: string | undefined): Promise<unknown> {
  if (argument === undefined && cli.io.stdin.isTTY === true) return null
  const text = await givenText(cli, argument ?? '-')
  return text.trim() === '' ? null : parsed(text, 'input')
}

async function givenText(cli: Cli, argument: string): Promise<string> {
  if (argument === '-') return textOf(cli, argument)
  return argument.startsWith('@') ? fileText(cli, argument.slice(1), argument) : argument
}
