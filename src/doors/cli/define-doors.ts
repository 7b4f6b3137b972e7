/** Commands that open other doors, and the one that runs any operation. */

import { type Command, Option } from 'commander'
import type { McpFlags } from './commands/serve.ts'
import { define, runs } from './define.ts'
import { defineMcpInstall } from './define-assistants.ts'
import { type CommonFlags, collect, finiteNumber, withFormat, withPlace, withStream } from './flags.ts'
import { write } from './io.ts'
import type { Cli } from './run.ts'

export function defineDoorCommands(program: Command, cli: Cli): void {
  defineServe(program, cli)
  defineMcp(program, cli)
  defineCall(program, cli)
}

function defineServe(program: Command, cli: Cli): void {
  const serve = define(program, 'serve [paths...]', 'add files and folders, then answer over HTTP', [
    ['querent serve notes --open', 'a folder, in the browser'],
    ['querent serve', 'the local owner, from this machine only'],
    ['querent serve --host 0.0.0.0 --tokens tokens.json', 'one bearer token a viewer: {"<token>": "<viewer>"}'],
    ['querent serve --socket ~/querent.sock', 'on a machine that others use too: for this user alone'],
    ['querent serve --workers 4 --log text', 'four processes on one port, a line for each request'],
  ])
  withPlace(serve)
    .option('--open', 'open the page in the default browser')
    .option('--collection <name>', 'the collection to add the paths to')
    .option('--port <number>', 'port; 0 takes a free one', finiteNumber, 7411)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(
      new Option(
        '--socket <path>',
        'listen on this Unix socket, which only this user can open, and on no port',
      ).conflicts(['port', 'host', 'open', 'workers']),
    )
    .option('--tokens <file>', 'JSON of tokens and the viewers they stand for; implies --require-token')
    .option(
      '--require-token',
      'answer nobody as the owner without a token: behind a proxy, or where others use the machine',
    )
    .option('--allow-host <name>', 'also answer requests for this host name (repeatable)', collect)
    .option('--cors <origin>', 'also answer pages of this site, such as https://notes.example (repeatable)', collect)
    .option(
      '--workers <number>',
      'processes on the one port and store; each keeps its share of all limits',
      finiteNumber,
      1,
    )
    .option('--request-timeout <seconds>', 'refuse what is not answered after so long', finiteNumber)
    .option('--max-body <bytes>', 'refuse longer bodies of requests (default 4194304)', finiteNumber)
    .option(
      '--receive-timeout <seconds>',
      'to send a request, a sixth for its head, or to take what is sent (default 60)',
      finiteNumber,
    )
    .option('--max-connections <number>', 'of each process; further ones are closed (default 4000)', finiteNumber)
    .option('--grace <seconds>', 'how long requests under way may go on at the end (default 3)', finiteNumber)
    .addOption(
      new Option('--log [form]', 'note requests on standard error, a line each; alone: json')
        .choices(['json', 'text', 'off'])
        .preset('json'),
    )
    .option(
      '--log-queries <days>',
      'note questions of the lens beliefs with their texts, to be kept so many days',
      finiteNumber,
    )
  type Flags = Parameters<typeof import('./commands/serve.ts').runServe>[2]
  runs<[readonly string[]], Flags>(serve, cli, async (paths, flags) => {
    await (await import('./commands/serve.ts')).runServe(cli, paths, flags)
  })
}

function defineMcp(program: Command, cli: Cli): void {
  const mcp = define(program, 'mcp', 'serve an agent over MCP on standard input and output', [
    ['querent mcp --viewer ana', 'as the agent ana'],
    ['querent mcp --lens chroma --lens beliefs', 'with the tools of these lenses'],
    ['querent mcp --tools query,get,context_callers', 'with these tools alone'],
    ['querent mcp --lens chroma --list-tools', 'which those are, and what they cost an agent to read'],
  ])
  withFormat(withPlace(mcp))
    .option('--lens <name>', 'offer the tools of this lens (repeatable)', collect)
    .option('--tools <names>', 'offer these tools, with commas between (repeatable)', collect)
    .addOption(
      new Option('--detail <form>', 'form of answers where a call does not say')
        .choices(['concise', 'detailed'])
        .default('detailed'),
    )
    .option('--list-tools', 'print the tools with the tokens of each, and serve nothing')
  runs<[], CommonFlags & McpFlags & { listTools?: true }>(mcp, cli, async flags => {
    if (flags.listTools === true) await (await import('./commands/mcp-tools.ts')).runListTools(cli, flags)
    else await (await import('./commands/serve.ts')).runMcp(cli, flags)
  })
  defineMcpInstall(mcp, cli)
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
        await write(cli.io.stdout, `\nOperations:\n${await body.operationList()}`)
      } else if (name === undefined) {
        call.error(`error: missing operation\n\nOperations:\n${await body.operationList()}`)
      } else await body.runCall(cli, name, input, flags)
    },
  )
}
