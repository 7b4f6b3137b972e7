/** Options that several commands share: how they are spelled, and what they become. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { nearNames } from '../../base/near-names.ts'
import { type Cli, EXIT } from './run.ts'

export interface CommonFlags {
  readonly home?: string
  readonly viewer?: string
  readonly now?: string
  readonly trustPlugins?: string
  readonly json?: true
  readonly format?: 'table' | 'md' | 'json'
}

export function wantsJson({ json, format }: CommonFlags): boolean {
  return json === true || format === 'json'
}

export function withPlace(command: Command): Command {
  return command
    .option('--home <folder>', 'store to use (default: QUERENT_HOME, else .querent here or above)')
    .option('--viewer <name>', 'act as this agent; only the local owner can')
    .option('--now <time>', 'time to use as now (default: QUERENT_NOW, else the clock)')
    .option('--trust-plugins <folder>', 'load plug-ins from this folder without asking')
}

export function withFormat(command: Command): Command {
  return command
    .option('--json', 'print exactly one JSON document; the same as --format json')
    .addOption(new Option('--format <form>', 'how to print').choices(['table', 'md', 'json']))
}

export function withStream(command: Command): Command {
  return command.option('--stream', 'print results as they come, one JSON object a line')
}

/** Of commands that print events until they are ended. */
export function withLive(command: Command): Command {
  return command
    .option('--json', 'print events as JSON, one a line')
    .option('--count <number>', 'end after so many events', finiteNumber)
}

/** The words of a query as given. Refuses unknown options among them; behind `--` everything is a word. */
export function wordsOf(command: Command, words: readonly string[]): readonly string[] {
  const checked = words.slice(0, words.length - countBehindDashes(command))
  const unknown = checked.find(word => /^--[a-z]/.test(word))
  if (unknown === undefined) return words
  const known = command.options.flatMap(option => option.long ?? [])
  const near = nearNames(unknown.split('=', 1)[0] ?? unknown, known, 1)
  const hint = near.length > 0 ? `\n(Did you mean ${near.join()}?)` : ''
  command.error(`error: unknown option '${unknown}'${hint}`)
}

/** Arguments of the command line behind `--`. */
function countBehindDashes(command: Command): number {
  if (command.parent !== null) return countBehindDashes(command.parent)
  // Declared by no type: the arguments as they were parsed.
  const { rawArgs } = command as unknown as { readonly rawArgs: readonly string[] }
  const at = rawArgs.indexOf('--')
  return at === -1 ? 0 : rawArgs.length - at - 1
}

/** Repeatable options gather in a list. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Ranges are the operation's to check: it names its field and its bounds. */
export function finiteNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Expected a number.')
  return value
}

/** Command lines; behind `  # ` what they do. */
export type Examples = readonly string[]

/** `name` with its arguments, as commander spells them. */
export function define(program: Command, name: string, description: string, examples: Examples): Command {
  const pairs = examples.map(example => example.split('  # '))
  const width = Math.max(...pairs.map(([line = '']) => line.length))
  const lines = pairs.map(([line = '', what = '']) => `  ${line.padEnd(width)}  ${what}`.trimEnd())
  return program
    .command(name)
    .description(description)
    .addHelpText('after', `\nExamples:\n${lines.join('\n')}\n`)
}

/** Sets what the command does. `body` gets the flags last, as commander gives them. */
export function runs<Args extends readonly unknown[], Flags extends CommonFlags>(
  command: Command,
  cli: Cli,
  body: (...args: [...Args, Flags]) => Promise<void>,
): void {
  command.action(async (...given: readonly unknown[]) => {
    const flags = flagsOf<Flags>(command)
    if (wantsJson(flags)) cli.errors = 'json'
    // Commander calls with the declared arguments, the options, the command; the type says what was declared.
    await body(...(given.slice(0, -2) as unknown as Args), flags)
  })
}

/** The command's options, and what was given before it or before its group, as far as the command has it too. Its own count more. */
export function flagsOf<Flags>(command: Command): Flags {
  const { parent } = command
  if (parent === null) return command.opts() as Flags
  const given = flagsOf<Record<string, unknown>>(parent)
  const own = new Set(command.options.map(option => option.attributeName()))
  const isGroup = command.commands.length > 0
  const unknown = parent.options.find(option => {
    const name = option.attributeName()
    return !own.has(name) && !isGroup && parent.getOptionValueSource(name) === 'cli'
  })
  if (unknown !== undefined) command.error(`error: unknown option '${unknown.long ?? ''}' of ${command.name()}`)
  const handed = Object.entries(given).filter(([name]) => isGroup || own.has(name))
  return { ...Object.fromEntries(handed), ...command.opts() } as Flags
}

/** For commands whose contract has one exit code for every failure, also for a wrong command line. */
export function withOneExitCode(command: Command, cli: Cli): Command {
  return command.exitOverride(error => {
    cli.usageExitCode = EXIT.failed
    throw error
  })
}
