/** Options of every command, as its help lists them. */
import type { Option } from 'commander'
import type { Known, KnownCommand } from './known.ts'
import { code, table } from './markdown.ts'

/** Most commands have these. */
const COMMON = ['--home', '--viewer', '--now', '--trust-plugins', '--json', '--format']

export function optionsSection({ commands }: Known): string {
  const all = commands.flatMap(({ command }) => command.options)
  const common = COMMON.flatMap(name => all.find(({ long }) => long === name) ?? [])
  const ownOf = ({ command }: KnownCommand): readonly Option[] =>
    command.options.filter(option => !option.hidden && !common.some(one => isSame(one, option)))
  const sections = commands.flatMap(command => {
    const own = ownOf(command)
    return own.length === 0 ? [] : [sectionOf(command, own)]
  })
  return [
    '## Options of commands\n\nMost commands take these:\n',
    optionTable(common),
    '`querent <command> --help` lists all that a command takes, with examples. These are the others:\n',
    ...sections,
  ].join('\n')
}

/** The same name may mean something else at another command. */
function isSame(one: Option, other: Option): boolean {
  return one.flags === other.flags && one.description === other.description
}

function sectionOf({ path, command }: KnownCommand, options: readonly Option[]): string {
  return `### querent ${path}\n\n${sentence(command.description())}\n\n${optionTable(options)}`
}

function optionTable(options: readonly Option[]): string {
  return table(
    ['Option', 'Meaning'],
    options.map(option => [code(option.flags), meaningOf(option)]),
  )
}

function meaningOf({ description, argChoices, defaultValue }: Option): string {
  const choices = argChoices === undefined ? '' : ` (${argChoices.map(code).join(', ')})`
  const isSaid = defaultValue === undefined || description.includes('default')
  return `${sentence(description + choices)}${isSaid ? '' : ` Default: ${code(String(defaultValue))}.`}`
}

function sentence(text: string): string {
  const ended = /[.!?]$/.test(text) ? text : `${text}.`
  return ended.charAt(0).toUpperCase() + ended.slice(1)
}
