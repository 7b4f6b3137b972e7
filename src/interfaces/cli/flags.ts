/** Options that several commands share: how they are spelled, and what they become. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Json, JsonObject } from '../../base/canonical.ts'
import { nearNames } from '../../base/near-names.ts'
import { isRecord, withValue } from '../../base/record.ts'
import { type Cli, EXIT } from './io.ts'

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

const LETTER = /^-[a-z]$/i

/**
 * The words of a query as given. Refuses unknown options among them; behind `--` everything is a word. `-word` excludes a word, so of
 * options with one hyphen only a single letter in front of a text or a number is refused: `-l 3 ferry`, `ferry -l 3`.
 */
export function wordsOf(command: Command, words: readonly string[]): readonly string[] {
  const checked = words.slice(0, words.length - countBehindDashes(command))
  const [first = ''] = checked
  if (checked.length > 1 && LETTER.test(first)) {
    const where = `write it after the text to exclude the word '${first.slice(1)}'`
    command.error(`error: unknown option '${first}'; use the long form, such as --limit, or ${where}`)
  }
  const letter = checked.find((word, at) => LETTER.test(word) && /^\d+$/.test(checked[at + 1] ?? ''))
  if (letter !== undefined) {
    const where = `put the query in quotes to exclude the word '${letter.slice(1)}'`
    command.error(`error: unknown option '${letter}'; use the long form, such as --limit, or ${where}`)
  }
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

/** Headings of the help, in order, each with the names of its options; those without a heading come last. */
export type OptionGroups = Readonly<Record<string, readonly string[]>>

export function groupOptions(command: Command, groups: OptionGroups): void {
  const headings = Object.keys(groups)
  const placeOf = (option: Option) => {
    const at = headings.findIndex(heading => groups[heading]?.includes(option.name()))
    return at === -1 ? headings.length : at
  }
  for (const option of command.options) {
    const heading = headings[placeOf(option)]
    if (heading !== undefined) option.helpGroup(`${heading}:`)
  }
  // Commander prints the groups in the order of their first options.
  ;(command.options as Option[]).sort((a, b) => placeOf(a) - placeOf(b))
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

// Flags of a command made from the input schema of its operation: names, help, choices, and what they put into the input.

/** A value of the input that a flag can set. */
interface Field {
  /** From the root of the input: `['filter', 'tags']`. */
  readonly path: readonly string[]
  readonly schema: JsonObject
  /** Description of the object that it is in. */
  readonly within: string
}

/** By the path of a field, with dots: another name for its flag, or another help; null: neither it nor what is in it has a flag. */
export type FlagNames = Readonly<Record<string, string | FlagName | null>>

/** Names of the flags of a live query, whose fields are at this path of the input (with a dot at its end). */
export function liveFlags(path: string): FlagNames {
  return {
    [`${path}debounce_ms`]: { name: 'debounce', unit: 'ms' },
    [`${path}include_removals`]: 'removals',
    [`${path}include_reranks`]: 'reranks',
    [`${path}max_events_per_minute`]: 'max-events',
    [`${path}notify_on_connect`]: 'initial',
    [`${path}resume_token`]: 'resume',
  }
}

/** Flags for one value of a field each: `{ words: 'mode=words' }` makes `--words` the same as `--mode words`. */
export type Shorthands = Readonly<Record<string, string>>

/** Adds them; the result sets what they say. */
export function addShorthands(command: Command, shorthands: Shorthands): Setter {
  const setters = Object.entries(shorthands).map(([name, to]): Setter => {
    const [path = '', value = ''] = to.split('=')
    const steps = path.split('.')
    const option = new Option(`--${name}`, `the same as --${steps.at(-1)} ${value}`)
    command.addOption(option.conflicts(steps.at(-1) as string))
    return (flags, input) => (flags[name] === true ? withValue(input, steps, value) : input)
  })
  return (flags, input) => setters.reduce((whole, set) => set(flags, whole), input)
}

interface FlagName {
  readonly name?: string
  readonly help?: string
  /** A letter beside the name. */
  readonly short?: string
  /** Of an object: one flag with all of it as JSON, and none for its fields. */
  readonly isJson?: boolean
  /** Of a list of objects: the field of each that the flag gives. */
  readonly each?: string
  /** Of a duration. Default: seconds. */
  readonly unit?: 'ms'
  /** Whether the operation checks the choices, whose error is part of its contract. Default: false. */
  readonly isFree?: boolean
}

/** Sets what its flag says in the input. */
type Setter = (flags: Readonly<Record<string, unknown>>, input: JsonObject) => JsonObject

/** Levels of objects that become flags; what lies deeper is JSON. */
const MAX_DEPTH = 3

/**
 * Adds a flag for each field but those of `taken`. Names are those of the fields: `any_tags` is `--any-tag`, `timeout_ms`
 * `--timeout` in seconds; where two fields have one name, that of their object comes first (`--created-after`). A switch
 * has both forms, of which help shows the one that changes the default. Returns what makes the input of the flags.
 *
 *     const set = addFlags(command, { type: 'object', properties: { limit: { type: 'integer' } } }, [])
 *     set({ limit: 3 }, {})  // { limit: 3 }
 */
export function addFlags(
  command: Command,
  schema: JsonObject,
  taken: readonly string[],
  names: FlagNames = {},
): Setter {
  const fields = fieldsOf(schema, names).filter(
    ({ path }) => !taken.some(one => isAt(path, one)) && !isHidden(path, names),
  )
  const setters = fields.map(field => addFlag(command, field, nameOf(field, fields, names), names))
  return (flags, input) => setters.reduce((whole, set) => set(flags, whole), input)
}

/** Whether the field is at this path, or below it. */
function isAt(path: readonly string[], taken: string): boolean {
  const place = path.join('.')
  return place === taken || place.startsWith(`${taken}.`)
}

/** An object whose fields are flags has one of its own where it is named: the whole of it as JSON, which those flags change. */
function fieldsOf(schema: JsonObject, names: FlagNames, path: readonly string[] = []): readonly Field[] {
  const within = descriptionOf(schema)
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : []
  return properties.flatMap(([name, value]) => {
    const field = { path: [...path, name], schema: withoutNull(value as JsonObject), within }
    const named = flagName(field.path, names)
    const isOpen = !isRecord(field.schema['properties']) || field.path.length === MAX_DEPTH
    if (isOpen || named?.isJson) return [field]
    const whole = named ? [{ ...field, schema: { description: descriptionOf(field.schema) } }] : []
    return [...whole, ...fieldsOf(field.schema, names, field.path)]
  })
}

/** A flag sets a value; null is said by JSON. */
function withoutNull(schema: JsonObject): JsonObject {
  const { anyOf, ...own } = schema
  if (!Array.isArray(anyOf)) return schema
  const some = (anyOf as readonly JsonObject[]).filter(({ type }) => type !== 'null')
  return some.length === 1 ? { ...(some[0] as JsonObject), ...own } : { ...own, anyOf: some }
}

/** The schema of the field at a path; an empty one where there is none. */
export function fieldAt(schema: JsonObject, path: readonly string[]): JsonObject {
  return path.reduce<JsonObject>((at, step) => {
    const { properties } = withoutNull(at)
    return isRecord(properties) && isRecord(properties[step]) ? (properties[step] as JsonObject) : {}
  }, schema)
}

function nameOf({ path, schema }: Field, fields: readonly Field[], names: FlagNames): string {
  const named = flagName(path, names)?.name
  if (named !== undefined) return named
  const leaf = path.at(-1) as string
  const isShared = fields.some(other => other.path !== path && other.path.at(-1) === leaf)
  const words = isShared ? path.slice(-2) : [leaf]
  const name = words.join('-').replaceAll('_', '-').replace(/-ms$/, '')
  return schema['type'] === 'array' ? singular(name) : name
}

function isHidden(path: readonly string[], names: FlagNames): boolean {
  return path.some((_, at) => names[path.slice(0, at + 1).join('.')] === null)
}

function flagName(path: readonly string[], names: FlagNames): FlagName | null | undefined {
  const given = names[path.join('.')]
  return typeof given === 'string' ? { name: given } : given
}

function singular(name: string): string {
  return name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.replace(/(?<=[^s])s$/, '')
}

function addFlag(command: Command, field: Field, name: string, names: FlagNames): Setter {
  const { path, schema } = field
  const { help = helpOf(field, name), short, unit, each, isFree = false } = flagName(path, names) ?? {}
  const flag = flagOf(
    each === undefined ? schema : STRINGS,
    name,
    unit === undefined && path.at(-1)?.endsWith('_ms') === true,
  )
  if (flag.kind === 'switch') {
    // What is on by default is described as a command: what the flag turns off.
    const isOn = /Default: true/.test(help)
    command.addOption(new Option(`--${name}`, help).hideHelp(isOn))
    command.addOption(new Option(`--no-${name}`, `do not ${withoutDefault(help)}`).hideHelp(!isOn))
  } else {
    const option = new Option(
      `${short ? `-${short}, ` : ''}--${name} <${flag.placeholder}>`,
      flag.isList ? `${help} (repeatable)` : help,
    )
    if (flag.choices.length > 0 && !flag.isList && !isFree) option.choices(flag.choices)
    else if (flag.parse) option.argParser(flag.parse as (text: string, before: unknown) => unknown)
    command.addOption(option)
  }
  const key = new Option(`--${name}`).attributeName()
  return (flags, input) => {
    const value = flags[key]
    if (value === undefined) return input
    const given = value instanceof JsonValue ? value.value : (value as Json)
    return withValue(input, path, each === undefined ? given : (given as Json[]).map(one => ({ [each]: one })))
  }
}

const STRINGS: JsonObject = { type: 'array', items: { type: 'string' } }

interface Flag {
  readonly kind: 'switch' | 'value'
  readonly placeholder: string
  readonly isList: boolean
  readonly choices: readonly string[]
  readonly parse?: ((text: string, before: never) => unknown) | undefined
}

/** `inSeconds`: the field is in milliseconds. */
function flagOf(schema: JsonObject, name: string, inSeconds: boolean): Flag {
  const value = { kind: 'value', isList: false, choices: [] } as const
  const types = typesOf(schema)
  if (types.has('boolean') && types.size === 1) return { ...value, kind: 'switch', placeholder: '' }
  if (types.has('array') && types.size === 1) {
    const items = isRecord(schema['items']) ? (schema['items'] as JsonObject) : {}
    if (!typesOf(items).has('string')) return { ...value, placeholder: 'json', parse: json }
    return {
      ...value,
      isList: true,
      parse: collect,
      choices: choicesOf(items),
      placeholder: placeholderOf(items, name),
    }
  }
  const each = isRecord(schema['additionalProperties']) ? typesOf(schema['additionalProperties'] as JsonObject) : null
  if (each?.size === 1 && (each.has('number') || each.has('string'))) {
    return { ...value, isList: true, placeholder: 'name=value', parse: pairIn(each.has('number')) }
  }
  if (types.has('string')) {
    const isTime = types.has('integer') || types.has('number') || schema['format'] === 'date-time'
    return { ...value, choices: choicesOf(schema), placeholder: isTime ? 'time' : placeholderOf(schema, name) }
  }
  if (inSeconds) return { ...value, placeholder: 'seconds', parse: text => Math.round(finiteNumber(text) * 1000) }
  if (types.has('integer') || types.has('number')) {
    return { ...value, placeholder: placeholderByName(name) ?? 'number', parse: finiteNumber }
  }
  return { ...value, placeholder: 'json', parse: json }
}

/** JSON types that a value may have; an enumeration is a string. */
export function typesOf(schema: JsonObject): ReadonlySet<string> {
  const { type, anyOf } = schema
  if (Array.isArray(anyOf)) return new Set((anyOf as readonly JsonObject[]).flatMap(one => [...typesOf(one)]))
  if (Array.isArray(schema['enum'])) return new Set(['string'])
  return new Set([type].flat().filter((one): one is string => typeof one === 'string' && one !== 'null'))
}

function choicesOf(schema: JsonObject): readonly string[] {
  return Array.isArray(schema['enum']) ? (schema['enum'] as readonly string[]) : []
}

function placeholderOf(schema: JsonObject, name: string): string {
  if (choicesOf(schema).length > 0) return 'name'
  return placeholderByName(name) ?? 'text'
}

/** What a value is, where the last word of its flag says so. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  ...{ id: 'id', port: 'port', host: 'host', socket: 'path', cors: 'origin', body: 'bytes', connections: 'count' },
}

function placeholderByName(name: string): string | undefined {
  return PLACEHOLDERS[name.slice(name.lastIndexOf('-') + 1)]
}

/** Where the flag has the name of the object too, its description comes first. */
function helpOf({ path, schema, within }: Field, name: string): string {
  const own = descriptionOf(schema)
  const isPrefixed = path.length > 1 && name.startsWith(`${path.at(-2)?.replaceAll('_', '-')}-`)
  const help = isPrefixed && within !== '' ? `${withoutDefault(within)}: ${lowerFirst(own)}` : own
  return lowerFirst(help)
}

function withoutDefault(help: string): string {
  return help.replace(/\. Default: .*$/, '')
}

function descriptionOf({ description }: JsonObject): string {
  return typeof description === 'string' ? description : ''
}

/** `science/biology=0.9`, as often as given, in one object. */
function pairIn(isNumber: boolean): (text: string, before?: JsonObject) => JsonObject {
  return (text, before = {}) => {
    const [, name, value] = /^(.+)=([^=]+)$/.exec(text) ?? []
    if (name === undefined || value === undefined) throw new InvalidArgumentError('Expected name=value.')
    return { ...before, [name]: isNumber ? finiteNumber(value) : value }
  }
}

/** Help begins small; a name or an abbreviation stays as it is. */
export function lowerFirst(text: string): string {
  return text.replace(/^\p{Lu}(?!\p{Lu})/u, letter => letter.toLowerCase())
}

/** Commander takes null for a value that is missing. */
class JsonValue {
  readonly value: Json

  constructor(value: Json) {
    this.value = value
  }
}

function json(text: string): JsonValue {
  try {
    return new JsonValue(JSON.parse(text) as Json)
  } catch (error) {
    throw new InvalidArgumentError(`Expected JSON: ${(error as Error).message}.`)
  }
}
