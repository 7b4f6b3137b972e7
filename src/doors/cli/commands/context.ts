/** Bodies of `querent context …` and of calls by path: envelopes, or tables of them (CX-044 to CX-046). */
import { resolve } from 'node:path'
import { contextOf, openEngineOrEmpty } from '../../../engine/openings/open-context.ts'
import { invalidArgument } from '../../../model/errors.ts'
import type { Progress } from '../../../model/operation.ts'
import { EXIT } from '../failure.ts'
import { type CommonFlags, wantsJson } from '../flags.ts'
import { readAll, write, writeJson } from '../io.ts'
import { type Report, withProgress } from '../progress.ts'
import * as render from '../render/context.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'
import { type Envelope, tell } from './envelope.ts'
import { fileText, type Input, MAX_INPUT, textOf } from './input.ts'

export interface ContextQueryFlags extends CommonFlags {
  readonly depth?: number
  readonly limit?: number
  readonly mode?: string
  readonly rank: string
  readonly snippet: string
  readonly explain?: true
  readonly maxTokens?: number
}

export interface IndexFlags extends CommonFlags {
  readonly force?: true
  readonly wait: boolean
  readonly watch?: true
}

/** Paths that write make a store where there is none. */
const MAKES_STORE: ReadonlySet<string> = new Set(['/body/init', '/mind/init', '/context/index'])

export async function runContextQuery(cli: Cli, words: readonly string[], flags: ContextQueryFlags): Promise<void> {
  const { depth, limit, mode = 'hybrid', rank, snippet, explain, maxTokens } = flags
  const params = {
    ...{ query: words.join(' '), mode, rank, snippet },
    ...(depth !== undefined && { depth }),
    ...(limit !== undefined && { limit }),
    ...(explain && { explain }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  }
  await show(cli, flags, '/context/query', params, result => render.answerText(result as unknown as render.Answer))
}

export interface QuestionFlags extends CommonFlags {
  readonly depth?: number
  readonly limit?: number
  readonly relation?: string
  readonly maxTokens?: number
  readonly diff?: string
}

/** `definition`, `references` and `callers` of a name. */
export async function runSymbol(
  cli: Cli,
  question: 'definition' | 'references' | 'callers',
  name: string,
  { depth, limit, relation, ...flags }: QuestionFlags,
): Promise<void> {
  // The tables tell ids, so that one can go on with them.
  const params = { ...(/^[1-9]\d{0,14}$/.test(name) ? { id: Number(name) } : { name }), depth, limit, relation }
  await show(cli, flags, `/context/${question}`, params, result => render.placesText(result as render.Places))
}

export async function runImpact(cli: Cli, files: readonly string[], flags: QuestionFlags): Promise<void> {
  const { depth, limit } = flags
  const diff = flags.diff === undefined ? undefined : await textOf(cli, flags.diff)
  const params = { paths: files.map(file => resolve(cli.io.workingFolder, file)), diff, depth, limit }
  await show(cli, flags, '/context/impact', params, result => render.impactText(result as unknown as render.Impact))
}

export async function runMap(cli: Cli, folder: string | undefined, flags: QuestionFlags): Promise<void> {
  const path = folder === undefined ? undefined : resolve(cli.io.workingFolder, folder)
  const params = { path, max_tokens: flags.maxTokens }
  await show(cli, flags, '/context/map', params, result => render.mapText(result as unknown as render.CodeMap))
}

export async function runIndex(cli: Cli, folders: readonly string[], flags: IndexFlags): Promise<void> {
  const paths = folders.map(folder => resolve(cli.io.workingFolder, folder))
  const params = { ...(paths.length > 0 && { paths }), force: flags.force ?? false, wait: flags.wait }
  if (flags.watch === true) return (await import('./watch-code.ts')).watchCode(cli, flags, params)
  const envelope = await withProgress(cli.io, report =>
    call(cli, flags, '/context/index', params, sayingHowToEnd(report)),
  )
  await tell(cli, flags, envelope, result => render.indexText(result as unknown as render.IndexReport))
  if (isFailedRun(envelope.result)) cli.exitCode = EXIT.failed
}

/** While vectors are made, what ends the wait is said where other phases name a file. */
function sayingHowToEnd(report: Report): Report {
  return progress =>
    report(progress.phase === 'embed' ? { ...progress, current: '--no-wait waits for none' } : progress)
}

/** `add --code`: its other options are of entries, and code has none of them to choose. */
export async function runAddCode(
  cli: Cli,
  folders: readonly string[],
  flags: CommonFlags & { readonly wait: boolean },
): Promise<void> {
  const taken = ['collection', 'kind', 'tag', 'visibility', 'federation', 'map', 'lens']
  const other = taken.find(name => Object.hasOwn(flags, name))
  if (other !== undefined) throw invalidArgument(`--${other}`, other, 'not given together with --code')
  await runIndex(cli, folders, flags)
}

/** `querent call /path …`: exactly the envelope. */
export async function runPath(cli: Cli, path: string, argument: string | undefined, flags: CommonFlags): Promise<void> {
  const options = { create: MAKES_STORE.has(path), onlyLenses: ['context'], open: openEngineOrEmpty }
  const isBare = argument === undefined && cli.io.stdin.isTTY === true
  const envelope = await withSession(cli, flags, options, ({ engine, context }) =>
    contextOf(engine, context.viewer).callText(
      path,
      isBare ? '' : argument,
      {
        readFile: file => textIfThere(cli, file),
        readStandardInput: () => readAll(cli.io.stdin, MAX_INPUT),
      },
      cli.signal,
    ),
  )
  await writeJson(cli.io.stdout, envelope)
  if (envelope.status === 'error') cli.exitCode = EXIT.failed
}

export async function call(
  cli: Cli,
  flags: CommonFlags,
  path: string,
  params: Input,
  report?: (progress: Progress) => void,
): Promise<Envelope> {
  const create = MAKES_STORE.has(path)
  const options = { create, onlyLenses: ['context'], open: openEngineOrEmpty, warm: path === '/context/query' }
  return withSession(cli, flags, options, ({ engine, context }) =>
    contextOf(engine, context.viewer).call(
      path,
      params,
      ({ phase, current, total, message }) => report?.({ phase, done: current, total, current: message }),
      cli.signal,
    ),
  )
}

async function show(
  cli: Cli,
  flags: CommonFlags,
  path: string,
  params: Input,
  text: (result: Input) => string,
): Promise<void> {
  const envelope = await call(cli, flags, path, params)
  await tell(cli, flags, envelope, text)
  for (const line of wantsJson(flags) ? [] : render.adviceOn(envelope)) await write(cli.io.stderr, `querent: ${line}\n`)
}

/** Errors alone, and nothing read: some bad files among good ones are no failure. */
function isFailedRun(result: Input | null): boolean {
  const { indexed, skipped, errors } = (result ?? {}) as Partial<render.IndexReport>
  return indexed === 0 && skipped === 0 && (errors?.total ?? 0) > 0
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
