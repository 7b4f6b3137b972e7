/**
 * Commands that call one operation. What such a command takes, and its help, come from the operation's input schema; a table
 * adds arguments, examples, other names of flags, and how the answer is printed.
 */
import type { Command } from 'commander'
import type { z } from 'zod'
import type { Json, JsonObject } from '../../base/canonical.ts'
import { nearNames } from '../../base/near-names.ts'
import { isRecord, withValue } from '../../base/record.ts'
import type { Operation, Progress } from '../../model/operation.ts'
import {
  declaredOperation,
  declaredOperations,
  type EngineOperation,
  findOperation,
  jsonSchema,
  lensesFor,
  makeCatalog,
} from '../../ops/catalog.ts'
import {
  assertLines,
  textOf as fileOrPiped,
  keepNextPage,
  nextPage,
  parsed,
  pipedText,
  print,
  printMembers,
} from './commands/print.ts'
import {
  addFlags,
  addShorthands,
  type CommonFlags,
  collect,
  define,
  type FlagNames,
  fieldAt,
  finiteNumber,
  groupOptions,
  lowerFirst,
  type OptionGroups,
  runs,
  type Shorthands,
  typesOf,
  wantsJson,
  withFormat,
  withOneExitCode,
  withPlace,
  withStream,
  wordsOf,
} from './flags.ts'
import { type Cli, EXIT, readAll, write, writeJson } from './io.ts'
import { progressText, type Report, withProgress } from './progress.ts'
import { PLAIN_TEXT, type Print, shape } from './render/answer.ts'
import { type SessionOptions, withSession } from './session.ts'

export type Flags = CommonFlags & Readonly<Record<string, unknown>>

/** What is said at the end of a stream of so many results, of all that its pieces held beside them. */
type StreamEnd = Print<JsonObject & { readonly count: number }>

export interface OperationCommand<Answer = never> {
  /** With its arguments, as commander spells them: `get <id>`. */
  readonly name: string
  /** Default: that of the command's name, in a group of the family's. Null: the command is no operation, and has `run`. */
  readonly operation?: string | null
  /** Default: the summary of the operation. */
  readonly about?: string
  /** Command lines; behind `  # ` what they do. */
  readonly examples?: readonly string[]
  /**
   * Fields that the arguments set, in their order; a path with dots. Words of a text are joined by blanks, and `-` alone reads
   * the text from standard input. `json`: the argument is a file of JSON, or `-`; an empty path is the whole input. Default:
   * fields with the names of the arguments.
   */
  readonly arguments?: readonly ArgumentPath[]
  readonly flags?: FlagNames
  readonly shorthands?: Shorthands
  readonly groups?: OptionGroups
  /** Of a command that is no operation: the schema that flags are made of. */
  readonly schema?: (cli: Cli) => Promise<z.ZodType>
  /**
   * Flags that are no field, with their help; `input` reads them. The value of `<name...>` is a list of all that are given, that of
   * `<number>`, `<seconds>`, `<bytes>` or `<days>` a number.
   */
  readonly options?: Readonly<Record<string, string>>
  /** Flags with more to say. */
  readonly more?: (command: Command) => Command
  /** The input, of what arguments and flags made. */
  readonly input?: (input: JsonObject, flags: Flags, cli: Cli) => JsonObject | Promise<JsonObject>
  /** Other operations that the command calls, so that they need no command of their own. */
  readonly covers?: readonly string[]
  /** Whether it makes a store where there is none. Default: false. */
  readonly creates?: boolean
  /** Whether it embeds a text: then the model loads while the store is opened. Default: false. */
  readonly embeds?: boolean
  /** Whether it asks what files hold, so that files that have changed are read first. Default: false. */
  readonly readsFiles?: boolean
  /** Whether it concerns the whole store, so that all lenses take part. Default: false. */
  readonly opensAll?: boolean
  /** With `--stream`: the list whose members are printed as they come, and what is said at the end, on standard error. */
  readonly stream?: {
    readonly list: string
    readonly end: StreamEnd
  }
  /** The answer for people. Default: by its shape. */
  readonly print?: Print<Answer>
  /** For people, on standard error: what the answer says beside its result. Default: nothing. */
  readonly aside?: Print<Answer>
  /** For people, when a signal stops the command: what becomes of what was done, behind how far it came. */
  readonly onStop?: string
  /** Whether the command ends with 1, of an answer that says so. Default: never. */
  readonly fails?: (answer: Answer) => boolean
  /** Whether the answer is JSON whatever the flags say. Default: false. */
  readonly isJson?: boolean
  /** For `--more`: where the input has the cursor, and the answer that of the next page. */
  readonly pages?: { readonly cursor: string; readonly next: string }
  /** In place of calling the operation, which `context.run` does: what is printed, null where nothing is. */
  readonly call?: (input: JsonObject, context: CallContext) => Promise<object | null>
  /** In place of `print`: does all, and has no `--format`. */
  readonly run?: (input: JsonObject, flags: Flags, cli: Cli, words: readonly unknown[], made: Command) => Promise<void>
  /** Whether it prints events or files, and has neither `--json` nor `--format`. Default: it has a `run` and an operation. */
  readonly isFormless?: boolean
  /** Whether it opens no store. Default: false. */
  readonly isPlaceless?: boolean
  /** Whether every failure ends with 1, also a wrong command line. Default: false. */
  readonly hasOneExitCode?: boolean
  /** Reports failures in the form of the command's contract. Default: that of its group, else as everywhere. */
  readonly around?: Around
  /** Commands below it. */
  readonly children?: readonly OperationCommand[]
}

/** What `call` may need. `run` calls the operation of the command, or another one, in the home of the flags or another one. */
export interface CallContext {
  readonly cli: Cli
  readonly flags: Flags
  readonly report: Report
  run<Answer = object>(more?: { readonly operation?: string; readonly home?: string }): Promise<Answer>
}

type Called = Omit<OperationCommand, 'operation'> & { readonly operation: string }

/** A table entry; the answer is what the operation declares, of which `print` shows a part. */
export function command<Answer>(entry: OperationCommand<Answer>): OperationCommand {
  return entry as unknown as OperationCommand
}

/** Adds the flags of a command, whose operation is loaded for it: when it was chosen, or help is made of all. */
const fillers = new WeakMap<Command, () => Promise<void>>()
const groups = new WeakSet<Command>()

export async function fillCommand(chosen: Command): Promise<void> {
  const filler = fillers.get(chosen)
  fillers.delete(chosen)
  await filler?.()
}

/** Also of a command whose flags are not yet made. */
export function takesFlags(made: Command): boolean {
  return made.options.length > 0 || (fillers.has(made) && !groups.has(made))
}

/** All commands below, with all their flags. */
export async function fillCommands(parent: Command): Promise<void> {
  await fillCommand(parent)
  for (const below of parent.commands) await fillCommands(below)
}

/** Commands below one name, of a family of operations. */
export interface CommandGroup {
  readonly commands: readonly OperationCommand[]
  readonly around?: Around
  /** Command lines at the end of its help. */
  readonly firstSteps?: readonly string[]
  /** Whether operations that the table does not name have no command. Default: false. */
  readonly isClosed?: boolean
}

type Around = (cli: Cli, body: () => Promise<void>) => Promise<void>

/**
 * A group of commands, made when one of them is asked for: those of the table, then one for each operation of the family that
 * the table does not name, with all its fields as flags.
 */
export function addGroup(program: Command, cli: Cli, name: string, about: string, load: () => Promise<CommandGroup>) {
  const group = program
    .command(name)
    .description(about)
    .hook('preSubcommand', (_, chosen) => fillCommand(chosen))
  groups.add(group)
  fillers.set(group, async () => {
    const [loaded, operations] = await Promise.all([load(), declaredOperations(name)])
    addCommands(group, cli, loaded, operations, name)
    if (loaded.firstSteps !== undefined) {
      group.addHelpText('after', `\nFirst steps:\n  ${loaded.firstSteps.join('\n  ')}\n`)
    }
  })
}

/** Those of the table, then one for each operation that it does not name. `family`: of the operations; empty: the engine's own. */
export function addCommands(
  parent: Command,
  cli: Cli,
  { commands, around, isClosed = false }: CommandGroup,
  operations: readonly Described[],
  family = '',
): void {
  const prefix = family === '' ? '' : `${family}.`
  const ownName = ({ name }: OperationCommand) => prefix + firstWord(name).replaceAll('-', '_')
  const entries = commands.map(entry => ({ operation: ownName(entry), ...entry }))
  const named = new Set(entries.flatMap(entry => [ownName(entry), entry.operation, ...(entry.covers ?? [])]))
  const others = operations.filter(({ name }) => !isClosed && !named.has(name))
  const made = others.map(({ name: operation, effect }) => {
    const name = operation.slice(prefix.length).replaceAll('_', '-')
    return { name, operation, creates: effect.kind === 'write' }
  })
  for (const entry of [...entries, ...made]) {
    const summary = operations.find(({ name }) => name === (entry.operation ?? ownName(entry)))?.summary ?? ''
    addOperationCommand(parent, cli, { about: lowerFirst(summary), ...(around && { around }), ...entry })
  }
}

function firstWord(text: string): string {
  return text.split(' ', 1)[0] ?? ''
}

/** Of the engine itself. */
export const OWN_OPERATIONS: readonly EngineOperation[] = [...makeCatalog({ lensOperations: [] }).values()]

type Described = Pick<Operation, 'name' | 'summary' | 'effect'>

function addOperationCommand(parent: Command, cli: Cli, entry: OperationCommand): void {
  const { name, examples, around = (_: Cli, body) => body() } = entry
  const called = entry.operation === undefined ? firstWord(name) : entry.operation
  const about = entry.about ?? ''
  const above = parent.parent ? `${parent.name()} ` : ''
  const made = define(parent, name, about, examples ?? [`querent ${above}${name}`])
  fillers.set(made, async () => {
    const schema = await schemaOf(entry, called, cli)
    const paths = called === null ? [] : (entry.arguments ?? made.registeredArguments.map(argument => argument.name()))
    const set = addFlags(made, schema, paths.map(pathOf), entry.flags)
    for (const [at, argument] of made.registeredArguments.entries())
      argument.description = argumentHelp(paths[at], schema)
    const setShort = addShorthands(made, entry.shorthands ?? {})
    for (const [flag, help] of Object.entries(entry.options ?? {})) addOption(made, flag, help)
    entry.more?.(made)
    if (entry.hasOneExitCode) withOneExitCode(made, cli)
    for (const child of entry.children ?? []) addOperationCommand(made, cli, child)
    if (entry.children !== undefined) refuseUnknownChild(made)
    if (entry.stream) withStream(made)
    if (entry.pages) withMore(made)
    if (entry.isPlaceless !== true) withPlace(made)
    if (!(entry.isFormless ?? (entry.run !== undefined && called !== null))) withFormat(made)
    groupOptions(made, entry.groups ?? {})
    if (takesWords(made, paths, schema)) made.allowUnknownOption()
    runs<readonly unknown[], Flags>(made, cli, (...given) => {
      const flags = given.at(-1) as Flags
      if (entry.hasOneExitCode) cli.usageExitCode = EXIT.failed
      const words = given.slice(0, -1).map(arg => (Array.isArray(arg) ? wordsOf(made, arg as readonly string[]) : arg))
      const inputOf = async (): Promise<JsonObject> => {
        if (flags['more'] === true) return nextPage(cli, flags, commandPath(made))
        const input = setShort(flags, set(flags, await argumentsOf(words, paths, schema, cli)))
        return (await entry.input?.(input, flags, cli)) ?? input
      }
      return around(cli, async () => {
        const whole = await inputOf()
        if (entry.run !== undefined) return entry.run(whole, flags, cli, words, made)
        await runEntry({ ...entry, operation: called ?? '' }, whole, flags, cli, commandPath(made))
      })
    })
  })
  made.hook('preSubcommand', (_, chosen) => fillCommand(chosen))
}

/** A command with commands below it takes no words: an unknown one is a misspelled command. */
function refuseUnknownChild(made: Command): void {
  made.allowExcessArguments().hook('preAction', (_, run) => {
    const [word] = made.args
    if (run !== made || word === undefined) return
    const near = nearNames(
      word,
      made.commands.map(child => child.name()),
      1,
    )
    const hint = near.length > 0 ? `\n(Did you mean ${near.join()}?)` : ''
    made.error(`error: unknown command '${word}'${hint}`)
  })
}

/** Then no argument is required. */
function withMore(made: Command): void {
  const required = made.registeredArguments.filter(argument => argument.required)
  for (const argument of required) argument.required = false
  made.option('--more', 'the next page of the last answer of this command').hook('preAction', () => {
    const missing = required[made.args.length]
    if (made.opts()['more'] === true || missing === undefined) return
    made.error(`error: missing required argument '${missing.name()}'`)
  })
}

/** `beliefs query`. */
function commandPath(made: Command): string {
  const above = made.parent?.parent ? `${made.parent.name()} ` : ''
  return above + made.name()
}

async function schemaOf({ schema }: OperationCommand, called: string | null, cli: Cli): Promise<JsonObject> {
  const input = called === null ? await schema?.(cli) : (await declaredOperation(called))?.input
  if (called !== null && input === undefined) throw new Error(`invariant broken: there is no operation ${called}`)
  return input === undefined ? {} : jsonSchema(input, 'input')
}

function addOption(made: Command, flag: string, help: string): void {
  const isList = flag.endsWith('...>')
  const isNumber = /<(number|seconds|bytes|days)>/.test(flag)
  if (isList) made.option(flag.replace('...', ''), help, collect)
  else if (isNumber) made.option(flag, help, finiteNumber)
  else made.option(flag, help)
}

type ArgumentPath = string | { readonly json: string }

function pathOf(one: ArgumentPath): string {
  return typeof one === 'string' ? one : one.json
}

/** By the field that the argument sets. */
function argumentHelp(path: ArgumentPath | undefined, schema: JsonObject): string {
  if (path === undefined) return ''
  if (typeof path !== 'string') return 'file of JSON; `-` reads standard input'
  const { description = '' } = fieldAt(schema, path.split('.'))
  const isText = /(^|\.)(text|content|query|semantic|input)$/.test(path)
  return lowerFirst(String(description)) + (isText ? '; `-` reads it from standard input' : '')
}

/** `-word` is part of a text: what begins so is no option of the command. */
function takesWords(made: Command, paths: readonly ArgumentPath[], schema: JsonObject): boolean {
  const isVariadic = made.registeredArguments.at(-1)?.variadic === true
  return isVariadic && !typesOf(fieldAt(schema, pathOf(paths.at(-1) ?? '').split('.'))).has('array')
}

async function argumentsOf(
  given: readonly unknown[],
  paths: readonly ArgumentPath[],
  schema: JsonObject,
  cli: Cli,
): Promise<JsonObject> {
  let input: JsonObject = {}
  for (const [at, path] of paths.entries()) {
    const words = given[at]
    if (words === undefined) continue
    const isFile = typeof path !== 'string'
    const steps = pathOf(path).split('.')
    const types = typesOf(fieldAt(schema, steps))
    const file = String(words)
    const value = isFile
      ? (parsed(await fileOrPiped(cli, file), file) as Json)
      : types.has('array')
        ? [words].flat()
        : await textOf(words, cli)
    const isNumber = !isFile && types.has('number') && Number.isFinite(Number(value))
    if (pathOf(path) === '') input = value as JsonObject
    else input = withValue(input, steps, isNumber ? Number(value) : (value as Json))
  }
  return input
}

/** A query is far shorter; this keeps a wrong pipe from filling memory. In bytes. */
const MAX_PIPED_QUERY = 1024 * 1024

/** Words make a query, one argument is a text of any length. */
async function textOf(words: unknown, cli: Cli): Promise<string> {
  if (!Array.isArray(words)) return words === '-' ? pipedText(cli) : String(words)
  if (words.length !== 1 || words[0] !== '-') return words.join(' ')
  return (await readAll(cli.io.stdin, MAX_PIPED_QUERY)).trim()
}

async function runEntry(entry: Called, input: JsonObject, flags: Flags, cli: Cli, path: string): Promise<void> {
  const { stream } = entry
  if (stream !== undefined && flags['stream'] === true) {
    assertLines(flags)
    if (cli.errors === 'text') cli.errors = 'json'
    // Each piece is of the state in which it leaves.
    const options = { ...sessionFor(entry, input), keepsState: false }
    const { rest, count } = await withSession(cli, flags, options, session =>
      printMembers(cli, session.stream(findOperation(session.catalog, entry.operation), input), stream.list),
    )
    const shown = { ...PLAIN_TEXT, hasMore: entry.pages !== undefined && !('cursor' in flags), input }
    await write(cli.io.stderr, stream.end({ ...rest, count }, shown))
    keepNext(entry, rest, input, flags, cli, path)
    return endWith(rest, flags, cli)
  }
  const onStop = async (last: Progress | null): Promise<void> => {
    if (entry.onStop === undefined || !cli.signal.aborted) return
    const reached = last === null ? '' : ` at ${progressText(last)}`
    await write(cli.io.stderr, `querent: stopped${reached}; ${entry.onStop}\n`)
  }
  const work = (report: Report) => {
    const run = ({ operation = entry.operation, home = flags.home }: { operation?: string; home?: string } = {}) => {
      const placed = home === undefined ? flags : { ...flags, home }
      return withSession(cli, placed, { ...sessionFor(entry, input), report }, ({ catalog, run }) =>
        run(findOperation(catalog, operation), input),
      )
    }
    // The cast: whoever calls it says what the operation answers.
    return entry.call?.(input, { cli, flags, report, run: run as CallContext['run'] }) ?? run()
  }
  const answer = await withProgress(cli.io, work, onStop)
  if (answer === null) return
  if (entry.isJson) await writeJson(cli.io.stdout, answer, 2)
  else await print(cli, flags, answer as never, entry.print ?? shape, input, entry.pages !== undefined)
  if (entry.aside && !wantsJson(flags)) await write(cli.io.stderr, entry.aside(answer as never, PLAIN_TEXT))
  if (entry.fails?.(answer as never)) cli.exitCode = EXIT.failed
  if (flags['more'] === true || !wantsJson(flags)) keepNext(entry, answer as object, input, flags, cli, path)
  endWith(answer, flags, cli)
}

/** For `--more`. */
function keepNext({ pages }: Called, answer: object, input: JsonObject, flags: Flags, cli: Cli, path: string): void {
  if (pages === undefined) return
  const next = (answer as JsonObject)[pages.next]
  keepNextPage(cli, flags, path, typeof next === 'string' ? withValue(input, pages.cursor.split('.'), next) : null)
}

/** The engine's own operations need the lens that the input names, and no other. */
export function sessionFor(
  {
    operation,
    creates = false,
    embeds = false,
    readsFiles = false,
    opensAll,
  }: Pick<Called, 'operation' | 'creates' | 'embeds' | 'readsFiles' | 'opensAll'>,
  input: JsonObject,
): SessionOptions {
  const onlyLenses = lensesFor(operation, input)
  const { timeout_ms: timeoutMs } = input
  return {
    create: creates,
    warm: embeds,
    readsFiles,
    keepsState: readsFiles,
    // The time of a query counts from here: a provider that does not answer must not keep it from being answered by words.
    ...(typeof timeoutMs === 'number' && timeoutMs > 0 && { embedderTimeoutMs: timeoutMs }),
    ...(opensAll !== true && onlyLenses !== undefined && { onlyLenses }),
  }
}

function endWith(answer: unknown, { failEmpty }: Flags, cli: Cli): void {
  const isEmpty = isRecord(answer) && answer['verdict'] === 'nothing_relevant'
  if (failEmpty === true && isEmpty) cli.exitCode = EXIT.nothingRelevant
}
