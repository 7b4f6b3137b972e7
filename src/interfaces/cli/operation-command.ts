/**
 * Commands that call one operation. Arguments and help of these commands come from the input schema of the operation; a table of commands
 * adds positional arguments, examples, other flag names, and how the answer is printed.
 */
import type { Command } from 'commander'
import type { z } from 'zod'
import type { Json, JsonObject } from '../../base/canonical.ts'
import { nearNames } from '../../base/near-names.ts'
import { isRecord, withValue } from '../../base/record.ts'
import type { Progress } from '../../model/operation.ts'
import type { Described } from '../../ops/own-operations.ts'
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

/** Formats the text at the end of a streamed answer, from the number of results and the answer's other fields. */
type StreamEnd = Print<JsonObject & { readonly count: number }>

export interface OperationCommand<Answer = never> {
  /** Name of the command with its arguments, in commander's syntax: `get <id>`. */
  readonly name: string
  /**
   * Name of the operation that the command calls. Default: the command's name, in a group with the group's prefix (`query` in the group
   * `beliefs` calls `beliefs.query`). Null: the command calls no operation and has `run` instead.
   */
  readonly operation?: string | null
  /** Description of the command in the help. Default: the summary of its operation. */
  readonly about?: string
  /** Example command lines; the text after `  # ` says what each does. */
  readonly examples?: readonly string[]
  /**
   * Input fields that the positional arguments set, in order, as paths with dots. Several words for a text field are joined by blanks, and
   * `-` alone reads the text from standard input. `json`: the argument is the name of a JSON file, or `-`; an empty path means the whole
   * input. Default: fields with the names of the arguments.
   */
  readonly arguments?: readonly ArgumentPath[]
  readonly flags?: FlagNames
  readonly shorthands?: Shorthands
  readonly groups?: OptionGroups
  /** For a command that calls no operation: the schema from which its flags are made. */
  readonly schema?: (cli: Cli) => Promise<z.ZodType>
  /**
   * Flags that set no field of the input, with their help texts; the function `input` reads them. A flag with `<name...>` gives a list of
   * all its values; one with `<number>`, `<seconds>`, `<bytes>` or `<days>` gives a number.
   */
  readonly options?: Readonly<Record<string, string>>
  /** Function that adds flags that need more than a help text. */
  readonly more?: (command: Command) => Command
  /** Values of input fields that are not given, where they differ from the operation's own defaults; the help names them. */
  readonly defaults?: JsonObject
  /** Computes the operation's input from the fields that arguments and flags have set. */
  readonly input?: (input: JsonObject, flags: Flags, cli: Cli) => JsonObject | Promise<JsonObject>
  /** Other operations that the command calls; they then get no command of their own. */
  readonly covers?: readonly string[]
  /** Whether a missing store is created. Default: false. */
  readonly creates?: boolean
  /** Whether the command embeds a text; the embedding model is then loaded while the store is being opened. Default: false. */
  readonly embeds?: boolean
  /** Whether the answer depends on the contents of added files; files that have changed are then read first. Default: false. */
  readonly readsFiles?: boolean
  /** Whether the command concerns the whole store, so that all lenses must be loaded. Default: false. */
  readonly opensAll?: boolean
  /**
   * For the option `--stream`: the list in the answer whose members are printed as they arrive, and the text printed at the end on standard
   * error.
   */
  readonly stream?: {
    readonly list: string
    readonly end: StreamEnd
  }
  /** Formats the answer as text. Default: a general format for any shape of answer. */
  readonly print?: Print<Answer>
  /** Text printed on standard error in addition to the answer. Default: nothing. */
  readonly aside?: Print<Answer>
  /** Text printed after the last progress message when a signal ends the command; it says what happens to the work done so far. */
  readonly onStop?: string
  /** Whether this answer means that the command failed, with exit code 1. Default: never. */
  readonly fails?: (answer: Answer) => boolean
  /** Whether the answer is printed as JSON even if no format was requested. Default: false. */
  readonly isJson?: boolean
  /** For the option `--more`: the input field that takes a cursor, and the field of the answer that has the cursor of the next page. */
  readonly pages?: { readonly cursor: string; readonly next: string }
  /**
   * Function that runs in place of the operation; it may call the operation with `context.run`. Returns the answer to print, or null if
   * there is nothing to print.
   */
  readonly call?: (input: JsonObject, context: CallContext) => Promise<object | null>
  /** Function that runs the whole command, including printing. A command that has it gets no flag `--format`. */
  readonly run?: (input: JsonObject, flags: Flags, cli: Cli, words: readonly unknown[], made: Command) => Promise<void>
  /**
   * Whether the command's output is events or files, so that it has neither `--json` nor `--format`. Default: true if the command has both
   * `run` and an operation.
   */
  readonly isFormless?: boolean
  /** Whether the command works without opening a store. Default: false. */
  readonly isPlaceless?: boolean
  /** Whether every failure, including a wrong command line, has exit code 1. Default: false. */
  readonly hasOneExitCode?: boolean
  /**
   * Function that wraps the whole command and reports its failures in the form that the command's specification requires. Default: the
   * function of the command's group; if it has none, failures are reported as by all commands.
   */
  readonly around?: Around
  /** Subcommands of this command. */
  readonly children?: readonly OperationCommand[]
}

/**
 * What the function `call` of a command gets. Its `run` calls the command's operation, or another operation, in the home that the flags
 * give, or in another home.
 */
export interface CallContext {
  readonly cli: Cli
  readonly flags: Flags
  readonly report: Report
  run<Answer = object>(more?: { readonly operation?: string; readonly home?: string }): Promise<Answer>
}

type Called = Omit<OperationCommand, 'operation'> & { readonly operation: string }

/** Makes an entry of the table of commands. `Answer`: type of the operation's answer, or of the part of it that `print` shows. */
export function command<Answer>(entry: OperationCommand<Answer>): OperationCommand {
  return entry as unknown as OperationCommand
}

/**
 * For each command, the function that adds its flags. It loads the command's operation, so it is called only when the command was chosen or
 * when help for all commands is printed.
 */
const fillers = new WeakMap<Command, () => Promise<void>>()
const groups = new WeakSet<Command>()

export async function fillCommand(chosen: Command): Promise<void> {
  const filler = fillers.get(chosen)
  fillers.delete(chosen)
  await filler?.()
}

/** Whether a command takes flags, even if the function that adds them has not been called yet. */
export function takesFlags(made: Command): boolean {
  return made.options.length > 0 || (fillers.has(made) && !groups.has(made))
}

/** Adds the flags of a command and of all its subcommands. */
export async function fillCommands(parent: Command): Promise<void> {
  await fillCommand(parent)
  for (const below of parent.commands) await fillCommands(below)
}

/** The commands for one family of operations, such as `beliefs`. */
export interface CommandGroup {
  readonly commands: readonly OperationCommand[]
  readonly around?: Around
  /** Example command lines that are printed at the end of the help of the whole group. */
  readonly firstSteps?: readonly string[]
  /**
   * Whether an operation that is not in the table of commands gets no command. Default: false, it gets one with all its fields as flags.
   */
  readonly isClosed?: boolean
}

type Around = (cli: Cli, body: () => Promise<void>) => Promise<void>

/**
 * Adds a group of commands to the program; its commands are created only when one of them is used. They are the commands of the table, then
 * one for each other operation of the family, with all its fields as flags.
 */
export function addGroup(program: Command, cli: Cli, name: string, about: string, load: () => Promise<CommandGroup>) {
  const group = program
    .command(name)
    .description(about)
    .hook('preSubcommand', (_, chosen) => fillCommand(chosen))
  groups.add(group)
  fillers.set(group, async () => {
    const { declaredOperations } = await import('../../ops/catalog.ts')
    const [loaded, operations] = await Promise.all([load(), declaredOperations(name)])
    addCommands(group, cli, loaded, operations, name)
    if (loaded.firstSteps !== undefined) {
      group.addHelpText('after', `\nFirst steps:\n  ${loaded.firstSteps.join('\n  ')}\n`)
    }
  })
}

/**
 * Adds the commands of the table, then one command for each other operation of the family, which no command of the table calls. `family`:
 * prefix of the operations' names, such as `beliefs`; empty for the engine's own operations.
 */
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

function addOperationCommand(parent: Command, cli: Cli, entry: OperationCommand): void {
  const { name, examples, around = (_: Cli, body) => body() } = entry
  const called = entry.operation === undefined ? firstWord(name) : entry.operation
  const about = entry.about ?? ''
  const above = parent.parent ? `${parent.name()} ` : ''
  const made = define(parent, name, about, examples ?? [`querent ${above}${name}`])
  fillers.set(made, async () => {
    const schema = withDefaults(await schemaOf(entry, called, cli), entry.defaults ?? {})
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
        const given = setShort(flags, set(flags, await argumentsOf(words, paths, schema, cli)))
        const input = { ...entry.defaults, ...given }
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

/** Makes a command with subcommands reject an unknown word: such a command takes no words, so the word is a misspelled subcommand. */
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

/** Adds the option `--more` to a command; if it is given, the command's arguments are no longer required. */
function withMore(made: Command): void {
  const required = made.registeredArguments.filter(argument => argument.required)
  for (const argument of required) argument.required = false
  made.option('--more', 'the next page of the last answer of this command').hook('preAction', () => {
    const missing = required[made.args.length]
    if (made.opts()['more'] === true || missing === undefined) return
    made.error(`error: missing required argument '${missing.name()}'`)
  })
}

/** Name of the command in messages, with the name of its group, such as `beliefs query`. */
function commandPath(made: Command): string {
  const above = made.parent?.parent ? `${made.parent.name()} ` : ''
  return above + made.name()
}

async function schemaOf({ schema }: OperationCommand, called: string | null, cli: Cli): Promise<JsonObject> {
  const { declaredOperation, jsonSchema } = await import('../../ops/catalog.ts')
  const input = called === null ? await schema?.(cli) : (await declaredOperation(called))?.input
  if (called !== null && input === undefined) throw new Error(`invariant broken: there is no operation ${called}`)
  return input === undefined ? {} : jsonSchema(input, 'input')
}

/** The schema with these defaults in the descriptions of its fields. */
function withDefaults(schema: JsonObject, defaults: JsonObject): JsonObject {
  const properties = { ...(schema['properties'] as Record<string, JsonObject> | undefined) }
  for (const [name, value] of Object.entries(defaults)) {
    const description = String(properties[name]?.['description'] ?? '').replace(/\. Default: .*$/s, '')
    properties[name] = { ...properties[name], description: `${description}. Default: ${value}` }
  }
  return { ...schema, properties }
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

/** Help text of a positional argument, from the description of the input field that the argument sets. */
function argumentHelp(path: ArgumentPath | undefined, schema: JsonObject): string {
  if (path === undefined) return ''
  if (typeof path !== 'string') return 'file of JSON; `-` reads standard input'
  const { description = '' } = fieldAt(schema, path.split('.'))
  const isText = /(^|\.)(text|content|query|semantic|input)$/.test(path)
  return lowerFirst(String(description)) + (isText ? '; `-` reads it from standard input' : '')
}

/** Whether the command's arguments are the words of a text, so that `-word` is part of the text and not an option. */
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

/** Maximum size of a query piped to standard input, in bytes. Queries are much shorter, but a wrong pipe must not fill memory. */
const MAX_PIPED_QUERY = 1024 * 1024

/** The text that arguments give: several words are joined by blanks, `-` reads standard input (limited in size if it is a query). */
async function textOf(words: unknown, cli: Cli): Promise<string> {
  if (!Array.isArray(words)) return words === '-' ? pipedText(cli) : String(words)
  if (words.length !== 1 || words[0] !== '-') return words.join(' ')
  return (await readAll(cli.io.stdin, MAX_PIPED_QUERY)).trim()
}

async function runEntry(entry: Called, input: JsonObject, flags: Flags, cli: Cli, path: string): Promise<void> {
  const { findOperation } = await import('../../ops/catalog.ts')
  const { stream } = entry
  if (stream !== undefined && flags['stream'] === true) {
    assertLines(flags)
    if (cli.errors === 'text') cli.errors = 'json'
    // A stream is read without holding one state of the store: each piece is of the store's state at the moment when the piece is made.
    const options = { ...(await sessionFor(entry, input)), keepsState: false }
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
    const run = async ({
      operation = entry.operation,
      home = flags.home,
    }: {
      operation?: string
      home?: string
    } = {}) => {
      const placed = home === undefined ? flags : { ...flags, home }
      return withSession(cli, placed, { ...(await sessionFor(entry, input)), report }, ({ catalog, run }) =>
        run(findOperation(catalog, operation), input),
      )
    }
    // The cast is safe: the caller states the type of the operation's answer as a type argument.
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

/** Stores the input with which `--more` requests the next page. */
function keepNext({ pages }: Called, answer: object, input: JsonObject, flags: Flags, cli: Cli, path: string): void {
  if (pages === undefined) return
  const next = (answer as JsonObject)[pages.next]
  keepNextPage(cli, flags, path, typeof next === 'string' ? withValue(input, pages.cursor.split('.'), next) : null)
}

/**
 * Options for opening the engine for a command. If the operation is one of the engine itself, only the lens that the input names is loaded.
 */
export async function sessionFor(
  {
    operation,
    creates = false,
    embeds = false,
    readsFiles = false,
    opensAll,
  }: Pick<Called, 'operation' | 'creates' | 'embeds' | 'readsFiles' | 'opensAll'>,
  input: JsonObject,
): Promise<SessionOptions> {
  const { lensesFor } = await import('../../ops/catalog.ts')
  const onlyLenses = lensesFor(operation, input)
  const { timeout_ms: timeoutMs } = input
  return {
    create: creates,
    warm: embeds && !isByWords(input),
    isQuery: embeds,
    readsFiles,
    keepsState: readsFiles,
    // The query's time limit also limits opening the embedder: if a provider does not respond, the query must still be answered by words.
    ...(typeof timeoutMs === 'number' && timeoutMs > 0 && { embedderTimeoutMs: timeoutMs }),
    ...(opensAll !== true && onlyLenses !== undefined && { onlyLenses }),
  }
}

/** Whether a query, or the query of an explanation, is answered by words alone, so that the embedding model is not needed. */
function isByWords({ mode, query }: JsonObject): boolean {
  return (mode ?? (isRecord(query) ? query['mode'] : undefined)) === 'words'
}

function endWith(answer: unknown, { failEmpty }: Flags, cli: Cli): void {
  const isEmpty = isRecord(answer) && answer['verdict'] === 'nothing_relevant'
  if (failEmpty === true && isEmpty) cli.exitCode = EXIT.nothingRelevant
}
