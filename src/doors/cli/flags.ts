/** Options that several commands share: how they are spelled, and what they become. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { nearNames } from '../../base/near-names.ts'

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
    .option('--home <folder>', 'the store to use (default: QUERENT_HOME, else .querent here or above)')
    .option('--viewer <name>', 'act as this agent (the local owner may)')
    .option('--now <time>', 'the moment that counts as now (default: QUERENT_NOW, else the clock)')
    .option('--trust-plugins <folder>', 'load the plug-ins of this folder without asking')
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

/** The words of a question as given, which are not options that this command does not have. */
export function wordsOf(command: Command, words: readonly string[]): readonly string[] {
  const unknown = words.find(word => /^--[a-z]/.test(word))
  if (unknown === undefined) return words
  const known = command.options.flatMap(option => option.long ?? [])
  const near = nearNames(unknown.split('=', 1)[0] ?? unknown, known, 1)
  const hint = near.length > 0 ? `\n(Did you mean ${near.join()}?)` : ''
  command.error(`error: unknown option '${unknown}'${hint}`)
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
