/** Options that several commands share: their names, and how their values are read. */
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

/** Options of commands that print events until a signal ends them. */
export function withLive(command: Command): Command {
  return command
    .option('--json', 'print events as JSON, one a line')
    .option('--count <number>', 'end after so many events', finiteNumber)
}

const LETTER = /^-[a-z]$/i

/**
 * The words of a query as given on the command line. Throws if there is an unknown option among them; after `--` everything is a word.
 * `-word` excludes a word from the results, but a single letter with a hyphen is refused if it comes first (`-l 3 ferry`) or before a
 * number (`ferry -l 3`), because it is probably meant as an option.
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

/** Number of the command line's arguments after `--`. */
function countBehindDashes(command: Command): number {
  if (command.parent !== null) return countBehindDashes(command.parent)
  // The command's arguments before parsing, which commander's types do not declare.
  const { rawArgs } = command as unknown as { readonly rawArgs: readonly string[] }
  const at = rawArgs.indexOf('--')
  return at === -1 ? 0 : rawArgs.length - at - 1
}

/** Headings of a command's help in order, each with the names of the options below it; options that are not listed come last. */
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
  // Options are added in the order of their headings, because commander prints a heading where its first option occurs.
  ;(command.options as Option[]).sort((a, b) => placeOf(a) - placeOf(b))
}

/** Collects the values of an option that may be given several times in a list. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Parses a number. Its range is checked by the operation, so that the error names the input field and its bounds. */
export function finiteNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Expected a number.')
  return value
}

/** Formats example command lines for the help; in each, the text after `  # ` says what the command does. */
export type Examples = readonly string[]

/** Adds a command to the program. `name` includes the command's arguments in commander's syntax, such as `get <id>`. */
export function define(program: Command, name: string, description: string, examples: Examples): Command {
  const pairs = examples.map(example => example.split('  # '))
  const width = Math.max(...pairs.map(([line = '']) => line.length))
  const lines = pairs.map(([line = '', what = '']) => `  ${line.padEnd(width)}  ${what}`.trimEnd())
  return program
    .command(name)
    .description(description)
    .addHelpText('after', `\nExamples:\n${lines.join('\n')}\n`)
}

/** Sets the function that runs a command. `body` gets the command's arguments, and the flags last. */
export function runs<Args extends readonly unknown[], Flags extends CommonFlags>(
  command: Command,
  cli: Cli,
  body: (...args: [...Args, Flags]) => Promise<void>,
): void {
  command.action(async (...given: readonly unknown[]) => {
    const flags = flagsOf<Flags>(command)
    if (wantsJson(flags)) cli.errors = 'json'
    // Commander passes the declared arguments, then the options and the command object. The type parameter `Args` states which arguments
    // were declared.
    await body(...(given.slice(0, -2) as unknown as Args), flags)
  })
}

/**
 * Values of the command's options, including values given before the command's name (to the program or the group) for options that the
 * command has too. A value given after the command's name takes precedence.
 */
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

/** Makes a wrong command line exit with the same code as any failure, for commands whose contract has a single exit code for failures. */
export function withOneExitCode(command: Command, cli: Cli): Command {
  return command.exitOverride(error => {
    cli.usageExitCode = EXIT.failed
    throw error
  })
}

// Generates the flags of a command from the JSON schema of its operation's input: their names, help texts and choices, and the input fields
// that they set.

/** A field of the operation's input that a flag can set. */
interface Field {
  /** Path of the field from the root of the operation's input, such as `['filter', 'tags']`. */
  readonly path: readonly string[]
  readonly schema: JsonObject
  /** Description, from the schema, of the object that contains the field. */
  readonly within: string
}

/**
 * By the path of an input field (joined with dots): another name or help text for its flag. null: there is no flag for the field or
 * anything in it.
 */
export type FlagNames = Readonly<Record<string, string | FlagName | null>>

/** Flag names for the fields that live queries have, where the query is in the input at `path` (with a dot at its end). */
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

/** Flags that set a field to a fixed value: `{ words: 'mode=words' }` adds `--words`, which means the same as `--mode words`. */
export type Shorthands = Readonly<Record<string, string>>

/** Adds flags that set a field to a fixed value; returns a function that applies the given flags to the input. */
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
  /** One-letter name of the flag, such as `l` for `-l`. */
  readonly short?: string
  /** For a field that is an object: true if a single flag takes the whole object as JSON, and the object's fields have no flags. */
  readonly isJson?: boolean
  /** For a field that is a list of objects: name of the field of each object that a value of the flag sets. */
  readonly each?: string
  /** Unit in which the flag gives a duration. Default: seconds, although the input field has milliseconds. */
  readonly unit?: 'ms'
  /**
   * Whether the operation, not the command line, checks the flag's choices, because the operation's error is part of its contract. Default:
   * false.
   */
  readonly isFree?: boolean
}

/** Function that returns the input with the values of the given flags set. */
type Setter = (flags: Readonly<Record<string, unknown>>, input: JsonObject) => JsonObject

/** Maximum nesting depth of objects in the input whose fields become flags; deeper objects are given as JSON. */
const MAX_DEPTH = 3

/**
 * Adds a flag to the command for each field of the input schema, except for fields in `taken`. Names come from the fields: `any_tags` is
 * `--any-tag`, `timeout_ms` is `--timeout` in seconds; if two fields have the same name, the name of the object around the field is put in
 * front (`--created-after`). A switch has a positive and a negative form, and the help shows the one that changes the default. Returns a
 * function that puts the flags' values into the input.
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

/** Whether the field with this path is the field `taken` or inside it. */
function isAt(path: readonly string[], taken: string): boolean {
  const place = path.join('.')
  return place === taken || place.startsWith(`${taken}.`)
}

/**
 * The fields of the input that become flags. If `names` names an object, the object gets a flag for its whole value as JSON in addition to
 * the flags of its fields, which then change that value.
 */
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

/** The schema without the alternative null: a flag always sets a value, and null can be given only in JSON. */
function withoutNull(schema: JsonObject): JsonObject {
  const { anyOf, ...own } = schema
  if (!Array.isArray(anyOf)) return schema
  const some = (anyOf as readonly JsonObject[]).filter(({ type }) => type !== 'null')
  return some.length === 1 ? { ...(some[0] as JsonObject), ...own } : { ...own, anyOf: some }
}

/** The schema of the field at a path of the input; an empty schema if there is no such field. */
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
    // For a switch that is on by default, the help shows only the form `--no-…`.
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

/** Kind of flag that suits a field with this schema. `inSeconds`: the flag gives seconds, although the field has milliseconds. */
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

/** JSON types that a value of this schema may have, without null; an enumeration counts as a string. */
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

/** Placeholders for the value of a flag in the help text, by the last word of the flag's name. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  ...{ id: 'id', port: 'port', host: 'host', socket: 'path', cors: 'origin', body: 'bytes', connections: 'count' },
}

function placeholderByName(name: string): string | undefined {
  return PLACEHOLDERS[name.slice(name.lastIndexOf('-') + 1)]
}

/** Help text of a flag. If the flag's name begins with the name of the object around the field, that object's description comes first. */
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

/** Returns a parser for values such as `science/biology=0.9`; the pairs of a repeated flag are collected in one object. */
function pairIn(isNumber: boolean): (text: string, before?: JsonObject) => JsonObject {
  return (text, before = {}) => {
    const [, name, value] = /^(.+)=([^=]+)$/.exec(text) ?? []
    if (name === undefined || value === undefined) throw new InvalidArgumentError('Expected name=value.')
    return { ...before, [name]: isNumber ? finiteNumber(value) : value }
  }
}

/** Makes the first letter of a help text lower case, unless the second letter is a capital too, as in an abbreviation. */
export function lowerFirst(text: string): string {
  return text.replace(/^\p{Lu}(?!\p{Lu})/u, letter => letter.toLowerCase())
}

/** A JSON value wrapped in an object, because commander treats null as if no value had been given. */
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
