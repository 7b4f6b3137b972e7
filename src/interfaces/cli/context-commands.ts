/**
 * Commands `querent context …`, and `querent call /path …`: query the code of this folder. An answer is printed as a table, or as its
 * envelope: a JSON object with status, result, errors and metadata (CX-044 to CX-046).
 */
import { resolve } from 'node:path'
import type { Json, JsonObject } from '../../base/canonical.ts'
import { printable } from '../../base/printable.ts'
import { openEngineOrEmpty } from '../../engine/open.ts'
import { invalidArgument } from '../../model/errors.ts'
import { contextOf } from '../../openings/context.ts'
import { fileText, type Input, MAX_INPUT } from './commands/print.ts'
import { type CommonFlags, type FlagNames, wantsJson } from './flags.ts'
import { type Cli, EXIT, readAll, withErrorsAside, write, writeJson } from './io.ts'
import type { CommandGroup, Flags, OperationCommand } from './operation-command.ts'
import { type Report, withProgress } from './progress.ts'
import { all, cell, each, PLAIN_TEXT, type Print } from './render/answer.ts'
import { type SessionOptions, withSession } from './session.ts'

// Formats answers of the lens `context` as text: tables with tabs between the columns, as the lens's contract requires.

/** Formats a list as one line per record, below a title if one is given. Tabs separate the values, so tabs within a value become blanks. */
function tabbed(path: string, template: string, title = ''): Print<object> {
  const rows = each(path, template, 'cell')
  return (answer, shown) => (title === '' ? '' : `${title}\n`) + rows(answer, shown)
}

/** Joins several formatted parts of an answer with an empty line between them. */
function parts(...prints: readonly Print<object>[]): Print<object> {
  const texts: Print<object> = (answer, shown) =>
    prints
      .map(print => print(answer, shown))
      .filter(text => text !== '')
      .join('\n')
  return texts
}

const found: Print<object> = parts(
  tabbed('concepts', '{id}\t{name}\t{type}\t{relevance}\t{|score 3|}', 'ID\tNAME\tTYPE\tRELEVANCE\tSCORE'),
  tabbed('files', '{url}{:|start_line|}{-|end_line|}{ (|error.message|)}', 'FILES'),
  tabbed('graph.edges', '{source} --[{relation}]--> {target}', 'EDGES'),
  bundle => textAt((bundle as { readonly bundle?: object }).bundle ?? {}),
)

export const answerText: Print<object> = (answer, shown) =>
  each('concepts', '.')(answer, shown) === '' ? '(no concepts found)\n' : found(answer, shown)

const PLACE = '{|url|}{:|start_line|}{-|end_line|}'
const NAMED = '{id}\t{name}\t{type}'

const places: Print<object> = all(
  (answer, shown) =>
    ((answer as { definitions?: readonly object[] }).definitions ?? [])
      .map(one => tabbed('', `${NAMED}\t${PLACE}`)(one, shown) + textAt(one).replace(/\n$/, '\n\n'))
      .join(''),
  tabbed('references', `${NAMED}\t{relation}\t${PLACE}`),
  tabbed('callers', `${NAMED}\t{hops}\t${PLACE}`),
  (answer, shown) => {
    const { total = 0 } = (answer as { readonly unresolved?: { readonly total: number } }).unresolved ?? {}
    return total === 0
      ? ''
      : tabbed('unresolved.places', `${NAMED}\t{url}:{line}\t{text}`, `NOT RESOLVED (${total})`)(answer, shown)
  },
)

/** Formats the answer of `definition`, `references` or `callers`: one line per place in the code. */
const placesText: Print<object> = (answer, shown) => places(answer, shown) || '(nothing found)\n'

/** The field `text` of an answer, as text; empty if there is none. */
function textAt({ text }: { readonly text?: unknown }): string {
  return typeof text === 'string' && text !== '' ? `${printable(text)}\n` : ''
}

const OUTSIDE = ' of the folder that contains the store (create a store there, or name one with --home)'

interface WithErrors {
  readonly with_errors: { readonly files: readonly object[] }
}

/** Maximum number of files with syntax errors that are listed by name. */
const MAX_WITH_ERRORS = 10

export const indexText: Print<object> = all(
  each('', '{indexed} files read ({concepts} concepts), {skipped} unchanged, {deleted} deleted'),
  each('', '{left_out.total} left out{ (|left_out.reasons|)}, {errors.total} could not be read'),
  each('?with_errors.total', '{with_errors.total} read with errors: declarations in them may be missing'),
  each(answer => (answer as WithErrors).with_errors.files.slice(0, MAX_WITH_ERRORS), '  {url}: read with errors'),
  (answer, shown) =>
    each('errors.files', '  {url}: {reason}')(answer, shown).replaceAll(': outside\n', `: outside${OUTSIDE}\n`),
  answer => `${((answer as { ms: number }).ms / 1000).toFixed(1)} s, `,
  each('', '{files_per_second} files per second'),
)

const BY_MORE_THAN_SCORE =
  'SCORE is nearness in meaning; the order counts names and texts too (--explain --json shows the parts)'

/** Maximum number of ids that a line of advice lists. */
const MAX_IDS = 10

/** A line that says what to do next; empty if the answer itself says so. */
function adviceOn({
  errors,
  result,
  meta: { verdict, reason },
}: {
  readonly errors: unknown
  readonly result: unknown
  readonly meta: { readonly verdict?: string | undefined; readonly reason?: string | undefined }
}): readonly string[] {
  if (isNotIndexed(errors)) return ['no code is indexed in this store yet; run: querent context index']
  const { total, ...lists } = (result ?? {}) as Readonly<Record<string, unknown>>
  const shown = ['definitions', 'references', 'callers'].map(name => lists[name]).find(Array.isArray)
  const isCut = typeof total === 'number' && shown !== undefined && shown.length < total
  const ids = ((lists['of'] ?? []) as readonly { readonly id: number }[]).map(({ id }) => id)
  const some = ids.slice(0, MAX_IDS).join(', ')
  const isDoubtful = verdict !== undefined && verdict !== 'answered'
  const concepts = (lists['concepts'] ?? []) as readonly { readonly score?: number | null }[]
  const scores = concepts.flatMap(({ score }) => score ?? [])
  const isMixed = scores.some((score, at) => score > (scores[at - 1] ?? 1))
  return [
    ...(isDoubtful ? [`${verdict === 'weak' ? 'weak answer' : 'nothing relevant'}: ${reason}`] : []),
    ...(isMixed ? [BY_MORE_THAN_SCORE] : []),
    ...(isCut ? [`${shown.length} of ${total} shown; --limit ${total} shows all`] : []),
    ...(ids.length > 1 ? [`${ids.length} concepts have this name; give an id for one: ${some}`] : []),
  ]
}

function isNotIndexed(errors: unknown): boolean {
  return Object.values(errors ?? {}).some(([error]) => error?.code === 'not_initialized')
}

/** Formats errors as one line each, such as `query: query is required`. */
function errorLines(errors: unknown, at = ''): readonly string[] {
  return Object.entries(errors ?? {}).flatMap(([field, inner]) => {
    const path = at === '' ? field : `${at}.${field}`
    if (!Array.isArray(inner)) return errorLines(inner, path)
    return inner.map((error: { message?: unknown; code?: unknown }) =>
      cell(`${path}: ${String(error.message ?? error.code)}`),
    )
  })
}

type Envelope = Awaited<ReturnType<ReturnType<typeof contextOf>['call']>>

/** Paths of the operations that write, for which a store is created if there is none. */
const MAKES_STORE: ReadonlySet<string> = new Set(['/body/init', '/mind/init', '/context/index'])

const BOUNDS: FlagNames = { depth: { short: 'd' }, limit: { short: 'l' } }

const ENVELOPE = { hasOneExitCode: true, options: { '-j, --json': 'print the whole envelope' } } as const

/**
 * Makes a command that calls the operation at a path of the lens context. It prints the answer's result, formatted by `text`, or as JSON
 * the whole envelope (status, result, errors, metadata).
 */
function question(name: string, text: Print<object>, entry: Partial<OperationCommand>): OperationCommand {
  const path = `/context/${name.split(' ', 1)[0]}`
  return {
    ...ENVELOPE,
    name,
    run: async (input, flags, cli) => {
      const envelope = await call(cli, flags, path, input)
      await showEnvelope(cli, flags, envelope, text)
      for (const line of wantsJson(flags) ? [] : adviceOn(envelope)) {
        await write(cli.io.stderr, `querent: ${line}\n`)
      }
    },
    ...entry,
  }
}

/**
 * Makes a command that asks about one symbol of the code. The printed table contains ids, so that a further command can refer to its rows.
 */
function symbol(name: string): OperationCommand {
  return question(`${name} <name>`, placesText, {
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
      options: { ...ENVELOPE.options, '--watch': 'continue until a signal ends it' },
      run: (input, flags, cli) => index(cli, flags, input),
    },
    question('query <words...>', answerText, {
      examples: [
        'querent context query authentication  # by name and meaning',
        'querent context query -m exact -d 0 AuthService  # by name alone, without neighbours',
        'querent context query "user login" --max-tokens 4000  # with texts that fit into a prompt',
      ],
      arguments: ['query'],
      flags: { ...BOUNDS, mode: { short: 'm', isFree: true } },
      defaults: { mode: 'hybrid', rank: 'relevance', snippet: 'passage' },
    }),
    symbol('definition'),
    symbol('references'),
    symbol('callers'),
  ],
}

/** Runs `context index`. The `paths` in the input are still as the user gave them; they are made absolute here. */
async function index(cli: Cli, flags: Flags, { paths = [], ...input }: JsonObject): Promise<void> {
  const given = (paths as readonly Json[]).map(path => absolute(path, cli))
  const params = { ...(given.length > 0 && { paths: given }), force: false, wait: true, ...input }
  const show = (envelope: Envelope) => showEnvelope(cli, flags, envelope, indexText)
  if (flags['watch'] === true) return (await import('./commands/watch-code.ts')).watchCode(cli, flags, params, show)
  const envelope = await withProgress(cli.io, report => call(cli, flags, '/context/index', params, report))
  await show(envelope)
  // The command fails only if there were errors and not a single file was read: a few bad files among good ones are no failure.
  const { indexed, skipped, errors } = (envelope.result ?? {}) as {
    indexed?: number
    skipped?: number
    errors?: { total: number }
  }
  if (indexed === 0 && skipped === 0 && (errors?.total ?? 0) > 0) cli.exitCode = EXIT.failed
}

/** Runs `add --code`, which indexes source code. Other options of `add` are refused, because they apply to entries and not to code. */
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

/** Runs `querent call /path …`: prints the whole JSON envelope of the answer (status, result, errors, metadata) and nothing else. */
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
      // While embeddings are computed, the progress line shows how to skip the wait instead of the name of a file.
      ({ phase, current: done, total, message }) =>
        report?.({ phase, done, total, current: phase === 'embed' ? '--no-wait waits for none' : message }),
      cli.signal,
    ),
  )
}

/**
 * Prints an answer of the lens context. As JSON, the whole envelope (status, result, errors, metadata) goes to standard output; otherwise
 * the result does, and errors and warnings go to standard error.
 */
async function showEnvelope(cli: Cli, flags: CommonFlags, envelope: Envelope, text: Print<object>): Promise<void> {
  const { result, errors, meta, status } = envelope
  const { stdout, stderr } = cli.io
  const isJson = wantsJson(flags)
  if (isJson) await writeJson(stdout, envelope, 2)
  else if (result !== null) await write(stdout, text(result, { ...PLAIN_TEXT, folder: cli.io.workingFolder }))
  const warnings = isJson ? [] : ((meta['warnings'] ?? []) as readonly unknown[])
  // If the code was not indexed yet, the error itself is not printed: the advice after it names the command to run, while the error names
  // an operation path.
  const errorTexts = !isJson && isNotIndexed(errors) ? [] : errorLines(errors)
  for (const line of [...errorTexts, ...warnings.map(String)]) await write(stderr, `querent: ${line}\n`)
  if (status === 'error') cli.exitCode = EXIT.failed
}

/** Text of a file; undefined if there is no such file. */
async function textIfThere(cli: Cli, file: string): Promise<string | undefined> {
  try {
    return await fileText(cli, file)
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
