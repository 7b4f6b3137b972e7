/** Commands about the engine, and those that open other doors. */
import type { Command } from 'commander'
import { define, runs } from './define.ts'
import { type CommonFlags, finiteNumber, withFormat, withPlace, withStream } from './flags.ts'
import type { Cli } from './run.ts'

export function defineAdminCommands(program: Command, cli: Cli): void {
  const status = define(program, 'status', 'say what the store holds', [
    ['querent status', 'entries, vectors, indexes'],
  ])
  runs<[], CommonFlags>(withFormat(withPlace(status)), cli, async flags => {
    await (await import('./commands/admin.ts')).runStatus(cli, flags)
  })

  const doctor = define(program, 'doctor', 'check that all is well', [
    ['querent doctor', 'exit code 1 when something is not'],
    ['querent doctor --repair', 'mend what can be made again from what is there'],
  ])
  withFormat(withPlace(doctor))
    .option('--repair', 'mend what can be made again, and touch nothing else')
    .option('--no-backup', 'with --repair: do not copy the store before it is written to')
  runs<[], Parameters<typeof import('./commands/care.ts').runDoctor>[1]>(doctor, cli, async flags => {
    await (await import('./commands/care.ts')).runDoctor(cli, flags)
  })

  const backup = define(program, 'backup <file>', 'copy the store into one file, also while others write', [
    ['querent backup ~/backups/notes.db', 'a copy that is a store itself'],
    ['querent backup /mnt/usb/notes.db --overwrite', 'in the place of the last one'],
  ])
  withFormat(withPlace(backup))
    .option('--overwrite', 'take the place of a file that is there')
    .option('--skip-damaged', 'copy what can be read of a damaged store, and tell what was lost')
  runs<[string], Parameters<typeof import('./commands/care.ts').runBackup>[2]>(backup, cli, async (file, flags) => {
    await (await import('./commands/care.ts')).runBackup(cli, file, flags)
  })

  const lenses = define(program, 'lenses', 'list the ways to ask', [['querent lenses', 'names for --lens']])
  runs<[], CommonFlags>(withFormat(withPlace(lenses)), cli, async flags => {
    await (await import('./commands/admin.ts')).runLenses(cli, flags)
  })

  const bench = define(program, 'bench', 'measure this store: time a question, recall of the vector index', [
    ['querent bench --queries 200', 'with two hundred questions'],
  ])
  withFormat(withPlace(bench)).option('--queries <number>', 'how many questions to ask', finiteNumber, 50)
  runs<[], CommonFlags & { queries: number }>(bench, cli, async flags => {
    await (await import('./commands/bench.ts')).runBench(cli, flags)
  })

  const serve = define(program, 'serve', 'answer over HTTP', [
    ['querent serve', 'the local owner, from this machine only'],
    ['querent serve --host 0.0.0.0 --tokens tokens.json', 'one bearer token a viewer: {"<token>": "<viewer>"}'],
  ])
  withPlace(serve)
    .option('--port <number>', 'port; 0 takes a free one', finiteNumber, 7411)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--tokens <file>', 'JSON of tokens and the viewers they stand for')
    .option('--log', 'note requests of the lens beliefs on standard error, one JSON line each')
    .option('--log-queries <days>', 'as --log, with the texts of queries, to be kept so many days', finiteNumber)
  runs<[], Parameters<typeof import('./commands/serve.ts').runServe>[1]>(serve, cli, async flags => {
    await (await import('./commands/serve.ts')).runServe(cli, flags)
  })

  const mcp = define(program, 'mcp', 'serve an agent over MCP on standard input and output', [
    ['querent mcp --viewer ana', 'as the agent ana'],
    ['querent mcp --lens chroma', "with that lens's tools"],
  ])
  withPlace(mcp).option('--lens <name>', 'answer through this lens and offer its tools')
  runs<[], CommonFlags & { lens?: string }>(mcp, cli, async flags => {
    await (await import('./commands/serve.ts')).runMcp(cli, flags)
  })

  defineCall(program, cli)
}

function defineCall(program: Command, cli: Cli): void {
  const call = define(program, 'call [operation] [input]', 'run any operation by name: JSON in, JSON out', [
    ['querent call status', 'no input'],
    ['querent call query \'{"text": "decay"}\'', 'input as JSON'],
    ['querent call put @entries.json', 'input from a file'],
    ['querent call export --stream', 'piece by piece, a line each, where it has such a form'],
    ['echo \'{"text": "decay"}\' | querent call query', 'input from a pipe (or `-`)'],
  ])
  withStream(withPlace(call)).helpOption(false).option('-h, --help', 'show this help, with every operation')
  runs<[string | undefined, string | undefined], CommonFlags & { help?: true; stream?: true }>(
    call,
    cli,
    async (name, input, flags) => {
      const body = await import('./commands/call.ts')
      if (flags.help === true) {
        call.outputHelp()
        cli.io.stdout.write(`\nOperations:\n${await body.operationList()}`)
      } else if (name === undefined) {
        call.error(`error: missing operation\n\nOperations:\n${await body.operationList()}`)
      } else await body.runCall(cli, name, input, flags)
    },
  )
}
