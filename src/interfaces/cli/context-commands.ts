/** `querent context …`, and calls by path: the code of this folder, in envelopes or tables of them (CX-044 to CX-046). */
import { resolve } from 'node:path'
import type { Json, JsonObject } from '../../base/canonical.ts'
import { openEngineOrEmpty } from '../../engine/open.ts'
import { invalidArgument } from '../../model/errors.ts'
import { contextOf } from '../../openings/context.ts'
import { fileText, type Input, MAX_INPUT } from './commands/input.ts'
import { type CommonFlags, wantsJson } from './flags.ts'
import type { FlagNames } from './generated-flags.ts'
import { readAll, write, writeJson } from './io.ts'
import type { CommandGroup, Flags, OperationCommand } from './operation-command.ts'
import { type Report, withProgress } from './progress.ts'
import { PLAIN_TEXT, type Print } from './render/answer.ts'
import * as render from './render/context.ts'
import { type Cli, EXIT, withErrorsAside } from './run.ts'
import { type SessionOptions, withSession } from './session.ts'

type Envelope = Awaited<ReturnType<ReturnType<typeof contextOf>['call']>>

/** Paths that write make a store where there is none. */
const MAKES_STORE: ReadonlySet<string> = new Set(['/body/init', '/mind/init', '/context/index'])

const BOUNDS: FlagNames = { depth: { short: 'd' }, limit: { short: 'l' } }

const ENVELOPE = { hasOneExitCode: true, options: { '-j, --json': 'print the whole envelope' } } as const

/** A command that prints the envelope of a path, or what `text` makes of its result. */
function question(name: string, text: Print<object>, entry: Partial<OperationCommand>): OperationCommand {
  const path = `/context/${name.split(' ', 1)[0]}`
  return {
    ...ENVELOPE,
    name,
    run: async (input, flags, cli) => {
      const envelope = await call(cli, flags, path, input)
      await showEnvelope(cli, flags, envelope, text)
      for (const line of wantsJson(flags) ? [] : render.adviceOn(envelope)) {
        await write(cli.io.stderr, `querent: ${line}\n`)
      }
    },
    ...entry,
  }
}

/** Tables have ids, so that one can go on with them. */
function symbol(name: string): OperationCommand {
  return question(`${name} <name>`, render.placesText, {
    examples: [`querent context ${name} LoginService.login  # a name, a part of one, or an id`],
    flags: { ...BOUNDS, id: null },
    input: ({ name: given, ...input }) =>
      /^[1-9]\d{0,14}$/.test(String(given)) ? { ...input, id: Number(given) } : { ...input, name: String(given) },
  })
}

function absolute(path: Json, { io }: Cli): string {
  return resolve(io.workingFolder, String(path))
}

export const CONTEXT: CommandGroup = {
  around: withErrorsAside,
  isClosed: true,
  firstSteps: ['querent context index', 'querent context query authentication'],
  commands: [
    {
      ...ENVELOPE,
      name: 'index [folders...]',
      examples: [
        'querent context index src --no-wait  # one folder; names and words answer at once',
        'querent context index --watch  # and again whenever a file changes',
      ],
      arguments: ['paths'],
      flags: { path: null },
      options: { ...ENVELOPE.options, '--watch': 'go on until a signal ends it' },
      run: (input, flags, cli) => index(cli, flags, input),
    },
    question('query <words...>', render.answerText, {
      examples: [
        'querent context query authentication  # by name and meaning',
        'querent context query -m exact -d 0 AuthService  # by name alone, without neighbours',
        'querent context query "user login" --max-tokens 4000  # with texts that fit into a prompt',
      ],
      arguments: ['query'],
      flags: { ...BOUNDS, mode: { short: 'm', isFree: true } },
      input: input => ({ mode: 'hybrid', rank: 'relevance', snippet: 'passage', ...input }),
    }),
    symbol('definition'),
    symbol('references'),
    symbol('callers'),
  ],
}

/** `paths` of the input are as they were given. */
async function index(cli: Cli, flags: Flags, { paths = [], ...input }: JsonObject): Promise<void> {
  const given = (paths as readonly Json[]).map(path => absolute(path, cli))
  const params = { ...(given.length > 0 && { paths: given }), force: false, wait: true, ...input }
  const show = (envelope: Envelope) => showEnvelope(cli, flags, envelope, render.indexText)
  if (flags['watch'] === true) return (await import('./commands/watch-code.ts')).watchCode(cli, flags, params, show)
  const envelope = await withProgress(cli.io, report => call(cli, flags, '/context/index', params, report))
  await show(envelope)
  // Errors alone, and nothing read: some bad files among good ones are no failure.
  const { indexed, skipped, errors } = (envelope.result ?? {}) as {
    indexed?: number
    skipped?: number
    errors?: { total: number }
  }
  if (indexed === 0 && skipped === 0 && (errors?.total ?? 0) > 0) cli.exitCode = EXIT.failed
}

/** `add --code`: its other options are of entries, and code has none of them to choose. */
export async function addCode(
  cli: Cli,
  flags: Flags,
  { paths = [], wait = true, ...others }: JsonObject,
): Promise<null> {
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalidArgument(`--${other}`, other, 'not given together with --code')
  await index(cli, flags, { paths, wait })
  return null
}

/** `querent call /path …`: exactly the envelope. */
export async function callPath(
  cli: Cli,
  path: string,
  argument: string | undefined,
  flags: CommonFlags,
): Promise<void> {
  const isBare = argument === undefined && cli.io.stdin.isTTY === true
  const envelope = await withSession(cli, flags, sessionFor(path), ({ engine, context }) =>
    contextOf(engine, context.viewer).callText(
      path,
      isBare ? '' : argument,
      { readFile: file => textIfThere(cli, file), readStandardInput: () => readAll(cli.io.stdin, MAX_INPUT) },
      cli.signal,
    ),
  )
  await writeJson(cli.io.stdout, envelope)
  if (envelope.status === 'error') cli.exitCode = EXIT.failed
}

function sessionFor(path: string): SessionOptions {
  const options = { onlyLenses: ['context'], open: openEngineOrEmpty }
  return { ...options, create: MAKES_STORE.has(path), warm: path === '/context/query' }
}

async function call(cli: Cli, flags: CommonFlags, path: string, params: Input, report?: Report): Promise<Envelope> {
  return withSession(cli, flags, sessionFor(path), ({ engine, context }) =>
    contextOf(engine, context.viewer).call(
      path,
      params,
      // While vectors are made, what ends the wait is said where other phases name a file.
      ({ phase, current: done, total, message }) =>
        report?.({ phase, done, total, current: phase === 'embed' ? '--no-wait waits for none' : message }),
      cli.signal,
    ),
  )
}

/** The result, then errors and warnings on standard error, whatever the form. */
async function showEnvelope(cli: Cli, flags: CommonFlags, envelope: Envelope, text: Print<object>): Promise<void> {
  const { result, errors, meta, status } = envelope
  const { stdout, stderr } = cli.io
  const isJson = wantsJson(flags)
  if (isJson) await writeJson(stdout, envelope, 2)
  else if (result !== null) await write(stdout, text(result, { ...PLAIN_TEXT, folder: cli.io.workingFolder }))
  const warnings = isJson ? [] : ((meta['warnings'] ?? []) as readonly unknown[])
  for (const line of [...render.errorLines(errors), ...warnings.map(String)]) await write(stderr, `querent: ${line}\n`)
  if (status === 'error') cli.exitCode = EXIT.failed
}

/** Undefined: there is no such file. */
async function textIfThere(cli: Cli, file: string): Promise<string | undefined> {
  try {
    return await fileText(cli, file)
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
