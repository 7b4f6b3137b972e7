/** Options that several commands share: how they are spelled, and what they become. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { GROUPS, type Group, PHRASE_USES, type PhraseUse, SYNTAXES, type Syntax } from '../../model/query.ts'
import type { QueryInput } from '../../model/query-input.ts'
import { nearNames } from '../../ops/near-names.ts'

export interface CommonFlags {
  readonly home?: string
  readonly viewer?: string
  readonly now?: string
  readonly trustPlugins?: string
  readonly json?: true
  readonly format?: 'table' | 'md' | 'json'
}

export interface FilterFlags {
  readonly collection?: readonly string[]
  readonly kind?: readonly string[]
  readonly tag?: readonly string[]
}

export interface AskFlags extends CommonFlags, FilterFlags {
  readonly limit?: number
  readonly cursor?: string
  readonly lens?: string
  readonly mode?: 'hybrid' | 'words' | 'meaning'
  readonly words?: true
  readonly syntax?: Syntax
  readonly phrase?: PhraseUse
  readonly touch?: boolean
  readonly any?: true
  readonly timeout?: number
  readonly asOf?: string
  readonly knownAt?: string
  readonly passages?: number
  readonly group?: Group
  readonly explain?: true
  readonly failEmpty?: true
  readonly stream?: true
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

/** What may be said of a live query beside the question. */
export function withLive(command: Command): Command {
  return command
    .option('--json', 'print events as JSON, one a line')
    .option('--debounce <ms>', 'gather changes for so long, 0 to 60000 (default 1000)', finiteNumber)
    .option('--no-removals', 'do not tell what leaves the answer')
    .option('--reranks', 'also tell what only changes its place')
    .option(
      '--max-events <number>',
      'at most so many a minute, 1 to 600 (default 60); the rest is told together',
      finiteNumber,
    )
    .option('--no-initial', 'do not tell first what is in the answer now')
    .option('--resume <token>', 'go on after the event that had this token')
    .option('--count <number>', 'end after so many events', finiteNumber)
}

export function withFilter(command: Command): Command {
  return command
    .option('--collection <name>', 'only this collection (repeatable)', collect)
    .option('--kind <name>', 'only this kind (repeatable)', collect)
    .option('--tag <name>', 'only entries with this tag (repeatable: with all of them)', collect)
}

export function withPaging(command: Command): Command {
  return command
    .option('--limit <number>', 'how many at most', finiteNumber)
    .option('--cursor <text>', 'go on where the last page ended')
}

/**
 * What `query`, `watch` and `explain` share. No option here has a short form, and unknown ones are left to `wordsOf`: `-word` is
 * part of a question, and must not be taken for `-w ord`.
 */
export function withQuestion(command: Command): Command {
  return withSyntax(withFilter(command))
    .allowUnknownOption()
    .option('--lens <name>', 'the way to ask (see `querent lenses`)')
    .addOption(new Option('--mode <mode>', 'words, meaning, or both').choices(['hybrid', 'words', 'meaning']))
    .addOption(new Option('--words', 'the same as --mode words').conflicts('mode'))
    .addOption(groupOption())
    .option('--any', 'show what there is even where nothing is relevant enough')
    .option(...TIMEOUT)
}

export function groupOption(): Option {
  return new Option('--group <what>', 'what a result is: an entry (default) or one passage').choices([...GROUPS])
}

export const TIMEOUT = ['--timeout <seconds>', 'time for the question (default 30)', finiteNumber] as const

/**
 * For `timeout_ms`. The default of a command is longer than that of an engine that stays open, because it loads the model
 * first: seconds where the machine is busy.
 */
export function timeoutMs(seconds = 30): number {
  return Math.round(seconds * 1000)
}

export function withMoments(command: Command): Command {
  return command
    .option('--as-of <time>', 'ask as if it were this moment')
    .option('--known-at <time>', 'only what was known at this moment')
}

/** How the words of a question are read. */
export function withSyntax(command: Command): Command {
  return command
    .addOption(
      new Option('--syntax <syntax>', 'how the words are read (default: lenient; plain has no operators)').choices([
        ...SYNTAXES,
      ]),
    )
    .addOption(
      new Option('--phrase <use>', 'whether a phrase in quotes must occur (default: by how many hold it)').choices([
        ...PHRASE_USES,
      ]),
    )
}

/** Both forms: in the lens chroma being listed counts as use, elsewhere it does not. */
export function withTouch(command: Command): Command {
  return command.option('--touch', 'count being listed as use').option('--no-touch', 'do not count being listed as use')
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

export function filterOf(flags: FilterFlags): NonNullable<QueryInput['filter']> | undefined {
  const { collection, kind, tag } = flags
  if (collection === undefined && kind === undefined && tag === undefined) return undefined
  return {
    ...(collection && { collections: [...collection] }),
    ...(kind && { kinds: [...kind] }),
    ...(tag && { tags: [...tag] }),
  }
}

/** The question as the operation takes it. Times are checked there. */
export function questionOf(text: string, flags: AskFlags): QueryInput {
  const filter = filterOf(flags)
  const mode = flags.words === true ? 'words' : flags.mode
  return {
    text,
    ...(filter && { filter }),
    ...(mode && { mode }),
    ...(flags.syntax && { syntax: flags.syntax }),
    ...(flags.phrase && { phrase: flags.phrase }),
    ...(flags.touch !== undefined && { touch: flags.touch }),
    ...(flags.lens !== undefined && { lens: flags.lens }),
    ...(flags.limit !== undefined && { limit: flags.limit }),
    ...(flags.cursor !== undefined && { cursor: flags.cursor }),
    ...(flags.any && { any: true }),
    timeout_ms: timeoutMs(flags.timeout),
    ...(flags.asOf !== undefined && { as_of: flags.asOf }),
    ...(flags.knownAt !== undefined && { known_at: flags.knownAt }),
    ...(flags.passages !== undefined && { passages: flags.passages }),
    ...(flags.group !== undefined && { group: flags.group }),
    ...(flags.explain && { explain: true }),
  }
}
