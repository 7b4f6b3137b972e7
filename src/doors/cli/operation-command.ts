/**
 * Commands that call one operation. What such a command takes, and its help, come from the operation's input schema; a table
 * adds arguments, examples, other names of flags, and how the answer is printed.
 */
import type { Command } from 'commander'
import type { Json, JsonObject } from '../../base/canonical.ts'
import { isRecord } from '../../base/record.ts'
import { BUILT_IN_LENSES } from '../../engine/builtins.ts'
import type { Operation } from '../../model/operation.ts'
import { findOperation, fullName, makeCatalog } from '../../ops/catalog.ts'
import { jsonSchema } from '../../ops/schemas.ts'
import { textOf as fileOrPiped, parsed, pipedText } from './commands/input.ts'
import { type Forms, print } from './commands/print.ts'
import { mustTakeLines, printMembers } from './commands/stream.ts'
import { define, type Examples, runs } from './define.ts'
import { EXIT } from './failure.ts'
import { type CommonFlags, withFormat, withPlace, withStream, wordsOf } from './flags.ts'
import { addFlags, type FlagNames, fieldAt, lowerFirst, typesOf, withValue } from './generated-flags.ts'
import { readAll, write } from './io.ts'
import { withProgress } from './progress.ts'
import type { Cli } from './run.ts'
import { type SessionOptions, withSession } from './session.ts'

export type Flags = CommonFlags & Readonly<Record<string, unknown>>

/** What is said at the end of a stream of so many results, of all that its pieces held beside them. */
type StreamEnd = (rest: JsonObject, count: number, flags: Flags) => Promise<string>

export interface OperationCommand<Answer = never> {
  /** With its arguments, as commander spells them: `get <id>`. */
  readonly name: string
  readonly operation: string
  readonly about: string
  readonly examples: Examples
  /**
   * Fields that the arguments set, in their order; a path with dots. Words of a text are joined by blanks, and `-` alone reads
   * the text from standard input. `json`: the argument is a file of JSON, or `-`; an empty path is the whole input.
   */
  readonly arguments?: readonly (string | { readonly json: string })[]
  readonly flags?: FlagNames
  /** Flags that are no field; `input` reads them. */
  readonly more?: (command: Command) => Command
  /** The input, of what arguments and flags made. */
  readonly input?: (input: JsonObject, flags: Flags, cli: Cli) => JsonObject | Promise<JsonObject>
  /** The operation that is called in place of the one whose fields the flags are. */
  readonly instead?: (flags: Flags) => string | undefined
  /** Other operations that the command calls, so that they need no command of their own. */
  readonly covers?: readonly string[]
  /** Whether it makes a store where there is none. Default: false. */
  readonly creates?: boolean
  /** Whether it embeds a text: then the model loads while the store is opened. Default: false. */
  readonly embeds?: boolean
  /** With `--stream`: the list whose members are printed as they come, and what is said at the end, on standard error. */
  readonly stream?: {
    readonly list: string
    readonly end: StreamEnd
  }
  readonly print?: (answer: Answer, cli: Cli, flags: Flags, input: JsonObject) => Forms | Promise<Forms>
  /** What is printed, of what the operation answers. Default: its answer. */
  readonly answer?: (answer: Answer, cli: Cli, flags: Flags) => Promise<object>
  /** Whether the answer is printed as JSON whatever the flags say. Default: false. */
  readonly isJson?: boolean
  /** In place of `print`: does all, and has no `--format`. */
  readonly run?: (input: JsonObject, flags: Flags, cli: Cli) => Promise<void>
}

/** A table entry; the answer is what the operation declares, of which `print` shows a part. */
export function command<Answer>(entry: OperationCommand<Answer>): OperationCommand {
  return entry as unknown as OperationCommand
}

/** Adds the flags of a command, whose operation is loaded for it: when it was chosen, or help is made of all. */
const fillers = new WeakMap<Command, () => Promise<void>>()

export async function fillCommand(chosen: Command): Promise<void> {
  const filler = fillers.get(chosen)
  fillers.delete(chosen)
  await filler?.()
}

/** Also of a command whose flags are not yet made. */
export function takesFlags(made: Command): boolean {
  return made.options.length > 0 || (fillers.has(made) && made.commands.length === 0)
}

/** All commands below, with all their flags. */
export async function fillCommands(parent: Command): Promise<void> {
  await fillCommand(parent)
  for (const below of parent.commands) await fillCommands(below)
}

/** Commands below one name. */
export interface CommandGroup {
  readonly name: string
  readonly about: string
  readonly commands: readonly OperationCommand[]
  /** Reports failures in the form of the group's contract. Default: as everywhere. */
  readonly around?: Around
}

type Around = (cli: Cli, body: () => Promise<void>) => Promise<void>

export function addGroup(program: Command, cli: Cli, { name, about, commands, around }: CommandGroup): Command {
  const group = program
    .command(name)
    .description(about)
    .hook('preSubcommand', (_, chosen) => fillCommand(chosen))
  for (const entry of commands) addOperationCommand(group, cli, entry, around)
  fillers.set(group, async () => {
    const named = new Set(commands.flatMap(({ operation, covers = [] }) => [operation, ...covers]))
    for (const operation of await operationsOf(name)) {
      if (!named.has(operation.name)) addOperationCommand(group, cli, plainCommand(operation), around)
    }
  })
  return group
}

/** Operations of a lens that comes with the engine, or of a family of one. */
async function operationsOf(family: string): Promise<readonly Pick<Operation, 'name' | 'summary' | 'effect'>[]> {
  const operations = (await lensOf(family)?.load())?.operations ?? []
  return operations.filter(({ name }) => name.startsWith(`${family}.`))
}

/** Of an operation that no table names: all its fields are flags, and the answer is JSON. */
function plainCommand({ name, summary, effect }: Pick<Operation, 'name' | 'summary' | 'effect'>): OperationCommand {
  return {
    name: name.slice(name.indexOf('.') + 1).replaceAll('_', '-'),
    operation: name,
    about: lowerFirst(summary),
    examples: [[`querent call ${name} '{…}'`, 'the same, with the input as JSON']],
    creates: effect.kind === 'write',
    isJson: true,
    print: () => ({ table: () => '' }),
  }
}

export function addOperationCommand(
  parent: Command,
  cli: Cli,
  entry: OperationCommand,
  around: Around = (_, body) => body(),
): void {
  const { name, about, examples } = entry
  const made = define(parent, name, about, examples)
  fillers.set(made, async () => {
    const operation = await declaredOperation(entry.operation)
    if (operation === undefined) throw new Error(`invariant broken: there is no operation ${entry.operation}`)
    const schema = jsonSchema(operation.input, 'input')
    const set = addFlags(made, schema, pathsOf(entry), entry.flags)
    entry.more?.(made)
    if (entry.stream) withStream(made)
    withPlace(made)
    if (entry.print) withFormat(made)
    if (takesWords(made, entry, schema)) made.allowUnknownOption()
    runs<readonly unknown[], Flags>(made, cli, (...given) => {
      const flags = given.at(-1) as Flags
      const words = given.slice(0, -1).map(arg => (Array.isArray(arg) ? wordsOf(made, arg as readonly string[]) : arg))
      return around(cli, async () => {
        const input = set(flags, await argumentsOf(words, entry.arguments ?? [], schema, cli))
        await runEntry(entry, (await entry.input?.(input, flags, cli)) ?? input, flags, cli)
      })
    })
  })
}

/** An operation of the engine or of a lens that comes with it, before any engine is open. Undefined: there is none. */
export async function declaredOperation(alias: string): Promise<Operation | undefined> {
  const name = fullName(alias)
  const operations = (await lensOf(name)?.load())?.operations ?? [...makeCatalog({ lensOperations: [] }).values()]
  // The cast: the host of an operation does not matter before there is one.
  return operations.find(operation => operation.name === name) as Operation | undefined
}

function pathsOf({ arguments: given = [] }: OperationCommand): readonly string[] {
  return given.map(one => (typeof one === 'string' ? one : one.json))
}

/** `-word` is part of a text: what begins so is no option of the command. */
function takesWords(made: Command, entry: OperationCommand, schema: JsonObject): boolean {
  const isVariadic = made.registeredArguments.at(-1)?.variadic === true
  return isVariadic && !typesOf(fieldAt(schema, pathsOf(entry).at(-1)?.split('.') ?? [])).has('array')
}

function lensOf(operation: string): (typeof BUILT_IN_LENSES)[number] | undefined {
  const family = fullName(operation).split('.', 1)[0] ?? ''
  return BUILT_IN_LENSES.find(({ name, families }) => name === family || families?.includes(family))
}

async function argumentsOf(
  given: readonly unknown[],
  paths: NonNullable<OperationCommand['arguments']>,
  schema: JsonObject,
  cli: Cli,
): Promise<JsonObject> {
  let input: JsonObject = {}
  for (const [at, path] of paths.entries()) {
    const words = given[at]
    if (words === undefined) continue
    if (typeof path !== 'string') {
      const value = parsed(await fileOrPiped(cli, String(words)), String(words)) as Json
      input = path.json === '' ? (value as JsonObject) : withValue(input, path.json.split('.'), value)
      continue
    }
    const steps = path.split('.')
    const types = typesOf(fieldAt(schema, steps))
    const value = types.has('array') ? [words].flat() : await textOf(words, cli)
    const isNumber = types.has('number') && Number.isFinite(Number(value))
    input = withValue(input, steps, isNumber ? Number(value) : (value as Json))
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

async function runEntry(entry: OperationCommand, input: JsonObject, flags: Flags, cli: Cli): Promise<void> {
  const { print: formsOf, run: ownRun, stream } = entry
  if (ownRun !== undefined) return ownRun(input, flags, cli)
  if (formsOf === undefined) throw new Error(`invariant broken: the command ${entry.name} prints nothing`)
  if (stream !== undefined && flags['stream'] === true) {
    mustTakeLines(flags)
    if (cli.errors === 'text') cli.errors = 'json'
    const { rest, count } = await withSession(cli, flags, sessionFor(entry, input), session =>
      printMembers(cli, session.stream(findOperation(session.catalog, entry.operation), input), stream.list),
    )
    await write(cli.io.stderr, await stream.end(rest, count, flags))
    return endWith(rest, flags, cli)
  }
  const answer = await withProgress(cli.io, report =>
    withSession(cli, flags, { ...sessionFor(entry, input), report }, ({ catalog, run }) =>
      run(findOperation(catalog, entry.instead?.(flags) ?? entry.operation), input),
    ),
  )
  const shown = (await entry.answer?.(answer as never, cli, flags)) ?? answer
  const forms = await formsOf(answer as never, cli, flags, input)
  await print(cli, entry.isJson ? { ...flags, json: true } : flags, shown, forms)
  endWith(answer, flags, cli)
}

/** The engine's own operations need the lens that the input names, and no other. */
export function sessionFor(
  { operation, creates = false, embeds = false }: Pick<OperationCommand, 'operation' | 'creates' | 'embeds'>,
  input: JsonObject,
): SessionOptions {
  const lens = lensOf(operation)?.name ?? lensIn(input) ?? lensIn(input['query'])
  return { create: creates, warm: embeds, onlyLenses: lens === undefined ? [] : [lens] }
}

function lensIn(input: Json | undefined): string | undefined {
  const lens = isRecord(input) ? input['lens'] : undefined
  return typeof lens === 'string' ? lens : undefined
}

function endWith(answer: unknown, { failEmpty }: Flags, cli: Cli): void {
  const isEmpty = isRecord(answer) && answer['verdict'] === 'nothing_relevant'
  if (failEmpty === true && isEmpty) cli.exitCode = EXIT.nothingRelevant
}
